package oracle_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
)

// emitted is markup that a model wrote in one turn: as it stands in the reply, whether it is a signal, and a word that
// no other holds.
type emitted struct {
	turn       int
	xml, mark  string
	wellFormed bool
	failed     bool // with its turn
}

// author writes replies with any markup in them, and remembers what it wrote.
type author struct {
	*rapid.T
	wrote []emitted
	text  []string // words in signals that are only shown
	marks int
}

func (a *author) mark() string {
	a.marks++
	return fmt.Sprintf("mark%03d.", a.marks)
}

// reply is one turn with any number of signals, right and wrong ones, in fences and beside calls.
func (a *author) reply(turn int) modeltest.Turn {
	var b strings.Builder
	failed := rapid.IntRange(0, 11).Draw(a.T, "fails") == 0
	write := func(xml, mark string, wellFormed bool) {
		b.WriteString(xml)
		a.wrote = append(a.wrote, emitted{turn: turn, xml: xml, mark: mark, wellFormed: wellFormed, failed: failed})
	}
	for range rapid.IntRange(0, 4).Draw(a.T, "parts") {
		mark := a.mark()
		switch rapid.SampledFrom([]string{"words", "signal", "signal", "wrong", "fence"}).Draw(a.T, "part") {
		case "words":
			b.WriteString("Words < and > & <b>markup</b> <signal is none.\n")
		case "signal":
			write(a.signal(mark), mark, true)
		case "wrong":
			write(a.wrong(mark), mark, false)
		case "fence":
			b.WriteString("\n```xml\n" + needTurn(mark) + "\n```\nis how it is written.\n")
			a.text = append(a.text, mark)
		}
	}
	switch mark := a.mark(); rapid.SampledFrom([]string{"", "", "open fence", "cut"}).Draw(a.T, "end") {
	case "open fence":
		b.WriteString("\n~~~\n")
		write(needTurn(mark), mark, true)
	case "cut":
		write(`<signal type="stuck"><blocker>`+mark, mark, false)
	}
	t := modeltest.Turn{Chunks: a.chunks(b.String())}
	if rapid.Bool().Draw(a.T, "calls") {
		t = t.AndCall("code_read", lines("auth/middleware.go", 10, 30))
	}
	if failed {
		t.Err = &model.Error{Kind: model.Invalid, Message: "overloaded"}
	}
	return t
}

func (a *author) signal(mark string) string {
	confidence := rapid.SampledFrom([]string{"0", "0.1", "0.5", "1"}).Draw(a.T, "confidence")
	return rapid.SampledFrom([]string{
		element("need_turn", confidence, "reason", mark),
		element("need_turn", confidence, "reason", "the same", "expected_turns", "2", "note", mark),
		element("context_sufficient", confidence, "sources_found", "2", "source_types", `["`+mark+`"]`),
		element("stuck", confidence, "attempted", `["search"]`, "blocker", "&lt;"+mark+"&gt;\n"),
		element("need_capability", confidence, "capability", "email "+mark, "reason", "it wants one"),
		element("partial_answer", confidence, "missing", mark),
		element("delegation_recommended", confidence, "reason", mark, "scope", "all"),
	}).Draw(a.T, "signal")
}

func (a *author) wrong(mark string) string {
	return rapid.SampledFrom([]string{
		element("done", "0.5", "reason", mark),
		element("need_turn", "1.5", "reason", mark),
		element("need_turn", "high", "reason", mark),
		element("need_capability", "0.5", "reason", mark),
		`<signal type="stuck"><attempted><item>` + mark + `</attempted></signal>`,
		`<signal type="need_turn"><reason>` + mark + `</reason></signal>`,
		`<signal type="` + mark + `"/>`,
		stuck("\x1b[31m" + mark),
	}).Draw(a.T, "wrong signal")
}

// chunks cuts a text anywhere.
func (a *author) chunks(text string) []string {
	var all []string
	for len(text) > 0 {
		n := rapid.IntRange(1, len(text)).Draw(a.T, "chunk")
		all, text = append(all, text[:n]), text[n:]
	}
	return all
}

// SC-009: whatever the model writes, each signal that came in is in the audit once, raw, with its turn and its fate;
// and the audit of a run under way is the beginning of that of the whole.
func TestEverySignalThatCameInIsInTheAuditOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		a := &author{T: r}
		most := rapid.IntRange(1, 6).Draw(r, "turns")
		var turns []modeltest.Turn
		for n := range most {
			turns = append(turns, modeltest.Func(func(model.Request) modeltest.Turn { return a.reply(n + 1) }))
		}
		h := setUp(t, turns...)
		h.turns = most
		h.finish(h.start(rapid.SampledFrom([]string{auth, caching, thanks}).Draw(r, "question")))
		got := h.signals()
		a.check(got)
		bodies, steps := h.bodies(), h.steps()
		for n := range bodies {
			under := slices.DeleteFunc(slices.Clone(steps), func(s run.TraceStep) bool { return s.Record >= int64(n) })
			if part := oracle.AuditSignals(bodies[:n], under); len(part) > len(got) {
				r.Fatalf("%d signals after %d records, %d in all", len(part), n, len(got))
			} else if diff := cmp.Diff(got[:len(part)], part, cmpopts.IgnoreFields(oracle.AuditedSignal{}, "Fate",
				"Why", "Rule")); diff != "" {
				r.Fatalf("signals after %d records (-whole +part):\n%s", n, diff)
			}
		}
		again := h.signals()
		diff := cmp.Diff(got, again)
		assert.Require(r, diff == "", "another look (-first +second):\n%s", diff)
	})
}

// check wants each signal that the author wrote in the audit, in its turn, those that it quoted as mentions, and
// nothing else.
func (a *author) check(all []oracle.AuditedSignal) {
	var got []oracle.AuditedSignal
	quoted := 0
	for _, s := range all {
		if s.Mention == nil {
			got = append(got, s)
			continue
		}
		quoted++
		if s.Fate != oracle.Ignored || !slices.ContainsFunc(a.text, func(mark string) bool {
			return strings.Contains(s.Mention.Raw, mark)
		}) {
			a.Fatalf("%+v was not quoted, or not ignored", *s.Mention)
		}
	}
	assert.Require(a, quoted == len(a.text), "%d mentions are in the audit, %d signals were quoted", quoted, len(a.text))
	assert.Require(a, len(got) == len(a.wrote),
		"%d signals are in the audit, %d were written:\n%+v\n%+v", len(got), len(a.wrote), got, a.wrote)
	first := map[int]bool{}
	for _, w := range a.wrote {
		s := a.find(got, w.mark)
		fate := oracle.Ignored
		switch {
		case !w.wellFormed && !strings.HasPrefix(s.Why, "malformed: "):
			a.Fatalf("%s is malformed, and the audit says: %s", w.xml, s.Why)
		case w.wellFormed && first[w.turn] && !strings.HasPrefix(s.Why, "extra: "):
			a.Fatalf("%s came after another, and the audit says: %s", w.xml, s.Why)
		case w.wellFormed && !first[w.turn]:
			first[w.turn] = true
			if !w.failed {
				fate = oracle.Steered
			}
		}
		assert.Require(a, s.Turn == w.turn && (s.Fate == oracle.Ignored) == (fate == oracle.Ignored) &&
			s.Fate != oracle.Pending, "%s of turn %d is %s in turn %d: %s", w.xml, w.turn, s.Fate, s.Turn, s.Why)
		assert.Require(a, (!w.wellFormed || raw(s) == w.xml) && strings.HasPrefix(raw(s), w.xml) &&
			(s.Fate == oracle.Ignored || s.Rule != ""), "%s stands as %s, by the rule %q", w.xml, raw(s), s.Rule)
	}
	for _, mark := range a.text {
		for _, s := range got {
			assert.Require(a, !strings.Contains(raw(s), mark), "%s is text, and stands in the audit as %s", mark, raw(s))
		}
	}
}

func (a *author) find(got []oracle.AuditedSignal, mark string) (found oracle.AuditedSignal) {
	n := 0
	for _, s := range got {
		if strings.Contains(raw(s), mark) {
			found = s
			n++
		}
	}
	assert.Require(a, n == 1, "%s is in the audit %d times: %+v", mark, n, got)
	return found
}
