package oracle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/tool"
)

func segmentIDs(p oracle.Preview) (ids []string) {
	for _, s := range p.Segments {
		ids = append(ids, s.ID)
	}
	return ids
}

// The preview is the very prompt that a run's first turn is asked with.
func TestPreviewIsThePromptOfTheFirstTurn(t *testing.T) {
	t.Parallel()
	for _, question := range []string{auth, caching, weather, thanks, save} {
		t.Run(question, func(t *testing.T) {
			h := setUp(t, modeltest.Say("Done. "+partial("all")))
			p := assert.Must(h.preview(question, false, false))(t)
			a := h.ask(question)
			same(t, "prompt", p.Prompt, h.request(1).System)
			same(t, "tools", p.Offered, offered(h.request(1)))
			same(t, "class", string(p.Class.QueryType), a.QueryType)
			same(t, "segments", segmentIDs(p), h.receipts()[0].Segments)
			total := 0
			for _, s := range p.Segments {
				total += s.Tokens
			}
			assert.That(t, p.Tokens >= total && p.Tokens <= total+20 && p.Limit == 8000,
				"%d tokens in segments of %d, limit %d", p.Tokens, total, p.Limit)
		})
	}
}

func TestPreviewOfALongConversationHasItsSegment(t *testing.T) {
	h := setUp(t)
	p := assert.Must(h.preview(auth, true, false))(t)
	same(t, "segments", segmentIDs(p), []string{"base", "signals", "tools", "code", "summarization", "closing"})
}

func TestPreviewAfterAnErrorIsWhatIsSent(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{}`), theEnd)
	h.world.replaceTool("code_search", fails(tool.NotFound, "", "no such folder"))
	p := assert.Must(h.preview(auth, false, true))(t)
	h.ask(auth)
	same(t, "prompt", p.Prompt, h.request(2).System)
	same(t, "what is said", p.Recovery, lastText(h.request(2)))
}

func (h *harness) preview(words string, large, failed bool) (oracle.Preview, error) {
	return h.surroundings(h.store).PreviewTurn(h.t.Context(), h.tree.File, h.tree.Text, words,
		h.question(words).Options,
		large, failed)
}

// noteCalls is a reply that writes these notes.
func noteCalls(paths ...string) modeltest.Turn {
	t := modeltest.Say(needTurn("write"))
	for _, p := range paths {
		t = t.AndCall("vault_write", fmt.Sprintf(`{"mode":"create","path":%q,"content":"x"}`, p))
	}
	return t
}

// refusing is a vault that takes no note of these paths.
func refusing(paths ...string) does {
	return func(c tool.Call) (tool.Result, error) {
		for _, p := range paths {
			if strings.Contains(string(c.Args), `"`+p+`"`) {
				return tool.Result{}, tool.Errorf(tool.Denied, "", "%s is read-only", p)
			}
		}
		return wrote, nil
	}
}

func TestWhatWasNotDoneIsInWarningsExportAndExplanation(t *testing.T) {
	done := modeltest.Say("It is written. " + enough())
	h := setUp(t, noteCalls("a.md"), done, done)
	h.world.replaceTool("vault_write", refusing("a.md"))
	a := h.ask(save)
	raw := assert.Must(json.Marshal(a))(t)
	shown := assert.Must(oracle.Describe(nil, oracle.Surroundings{}).Show(raw))(t)
	const line = "The note was not written: a.md (a.md is read-only)."
	same(t, "partial", shown.Partial, true)
	wantParts(t, "warnings", joined(shown.Warnings), line)
	wantParts(t, "export", shown.Footer, line)
	wantParts(t, "explanation", joined(shown.Ending), line)
}

func TestSentencesAboutWrites(t *testing.T) {
	w := agent.Writes{Asked: 9, Done: 1, Failed: 7, Unsure: 1}
	for i := range 7 {
		w.Missing = append(w.Missing, agent.Unwritten{Target: fmt.Sprint(i), Fate: agent.WriteFailed, Why: "no."})
	}
	w.Missing = append(w.Missing, agent.Unwritten{Target: "u", Fate: agent.WriteUnsure, Why: "lost"})
	same(t, "sentence", w.Why().Text,
		"7 of 9 changes were not made: 0 (no); 1 (no); 2 (no); 3 (no); 4 (no); and 2 more. 1 of 9 changes may not "+
			"have been made: u (lost).")
}

func joined(texts []string) string { return strings.Join(texts, "\n") }

// lost is a writer of which nobody can tell whether it wrote.
type lost struct{ fake }

func (l *lost) Found(context.Context, tool.Call) (tool.Result, bool, error) {
	return tool.Result{}, false, errors.New("its log is gone")
}

func TestWriteThatMayHaveHappenedBeforeACrashIsToldAndNotRepeated(t *testing.T) {
	for name, canTell := range map[string]bool{"its tool keeps no record": false, "its record can't be read": true} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t,
				modeltest.SayAndCall(needTurn("write the note"), "vault_write", `{"path":"a.md"}`),
				modeltest.Say("I am not sure that it is saved. "+partial("a look at the note")))
			dying := mortal(h.store, 0, false)
			spec := h.world.tools["vault_write"].Spec()
			f := fake{world: h.world, spec: spec, do: func(tool.Call) (tool.Result, error) {
				dying.Die()
				return wrote, nil
			}}
			h.world.addTool(&f)
			if canTell {
				h.world.addTool(&lost{f})
			}
			a := h.crashAndResume(save, dying)
			same(t, "writes", h.world.called(), []string{"vault_write"})
			wantParts(t, "the notices", joined(shownNotices(a)), "Not sure to be done: vault_write",
				"nobody can tell whether it took effect")
			wantParts(t, "what the model hears", textOfRole(h.request(2), model.ToolRole),
				"nobody can tell whether it took effect")
			same(t, "stop reason", a.StopReason, oracle.StopPartial)
			same(t, "writes in doubt", a.Writes.Unsure, 1)
			wantParts(t, "caveat", a.Caveat, "The note may not have been written: a.md (")
		})
	}
}

// signals is the audit of the last run's signals.
func (h *harness) signals() []oracle.AuditedSignal {
	h.t.Helper()
	return oracle.AuditSignals(h.bodies(), h.steps())
}

// bodies are what the records of the last run say.
func (h *harness) bodies() (all []any) {
	h.t.Helper()
	for _, rec := range h.records() {
		body := assert.Must(run.Read(rec))(h.t)
		all = append(all, body)
	}
	return all
}

// raw is the markup that a signal's entry holds.
func raw(s oracle.AuditedSignal) string {
	if s.Malformed != nil {
		return s.Malformed.Raw
	}
	return s.Signal.RawXML
}

func TestSignalThatTheTreeNeverSawIsInTheAudit(t *testing.T) {
	t.Run("of the last record there is", func(t *testing.T) {
		h := setUp(t, theEnd)
		h.ask(auth)
		same(t, "the reply's record", h.records()[1].Kind, run.KindCompletion)
		s := oracle.AuditSignals(h.bodies()[:2], nil)[0]
		same(t, "fate", s.Fate, oracle.Pending)
	})
}

func TestSignalsOfAnotherBuildAreReadAsFarAsTheyGo(t *testing.T) {
	body, err := run.Read(journal.Record{Seq: 1, Kind: run.KindCompletion,
		Data: []byte(`{"op":1,"kind":"model.turn","colour":"blue","result":{"text":"x","report":{` +
			`"signal":{"type":"stuck","confidence":0.5,"raw_xml":"<signal one>","mood":"low"},"extra":[{"type":"stuck","raw_xml":"<signal two>"}],` +
			`"problems":[{"reason":"odd","raw":"<signal three>"}]}}}`)})
	assert.NoError(t, err)
	var signals []string
	for _, s := range oracle.AuditSignals([]any{&run.StartRecord{}, body, nil, &run.EndRecord{}}, nil) {
		signals = append(signals, strings.Join([]string{raw(s), string(s.Fate), s.Why}, " | "))
	}
	same(t, "signals", signals, []string{"<signal one> | pending | the journal does not say what the tree did with it",
		"<signal two> | ignored | extra: only the first signal in a reply counts",
		"<signal three> | ignored | malformed: odd"})
}

func TestSignalsOfARunWithoutRepliesAreAnEmptyList(t *testing.T) {
	same(t, "signals", oracle.AuditSignals(nil, nil), []oracle.AuditedSignal{})
}
