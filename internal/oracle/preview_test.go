package oracle_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

func segmentIDs(p oracle.Preview) (ids []string) {
	for _, s := range p.Segments {
		ids = append(ids, s.ID)
	}
	return ids
}

// The preview is the very request that a run's first turn is asked with.
func TestPreviewIsThePromptOfTheFirstTurn(t *testing.T) {
	t.Parallel()
	for _, question := range []string{auth, caching, weather, thanks, save} {
		t.Run(question, func(t *testing.T) {
			h := setUp(t, modeltest.Say("Done. "+partial("all")))
			p := assert.Must(h.preview(question, false, false))(t)
			a := h.ask(question)
			same(t, "prompt", p.Prompt, h.request(1).System)
			same(t, "messages", []string{withoutDate(p.Messages[0])}, []string{lastText(h.request(1))})
			same(t, "sent tools", p.Tools, h.request(1).Tools)
			same(t, "tools", p.Offered, inOrder(h.request(1)))
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

// withoutDate leaves the day out of a note: runs of a harness begin on none.
func withoutDate(note string) string {
	return regexp.MustCompile(`Today is [\d-]+\.\n`).ReplaceAllString(note, "")
}

// noteWith is the note with the first question of a session.
func noteWith(t *testing.T, question string) string {
	t.Helper()
	p := assert.Must(setUp(t).preview(question, false, false))(t)
	note, _ := agent.SplitNote(withoutDate(p.Messages[0]))
	return note
}

func TestPreviewOfALongConversationHasItsSegment(t *testing.T) {
	h := setUp(t)
	p := assert.Must(h.preview(auth, true, false))(t)
	same(t, "segments", segmentIDs(p), []string{"base", "signals", "tools", "code", "summarization", "now", "closing"})
}

func TestPreviewAfterAnErrorIsWhatIsSent(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{}`), theEnd)
	h.world.replaceTool("code_search", fails(tool.NotFound, "", "no such folder"))
	p := assert.Must(h.preview(auth, false, true))(t)
	h.ask(auth)
	same(t, "prompt", p.Prompt, h.request(2).System)
	same(t, "what is said", p.Recovery, lastText(h.request(2)))
}

func TestPreviewForAModelThatIsToldOfNoToolsIsWhatIsSent(t *testing.T) {
	for _, words := range []string{auth, "hello"} {
		h := setUp(t, modeltest.Say("none"))
		h.contract = measured(map[model.Skill]model.Result{model.SkillCall: model.Wrong})
		p := assert.Must(h.preview(words, false, true))(t)
		h.ask(words)
		sent, said := h.request(1), lastText(h.request(1))
		same(t, "prompt", p.Prompt, sent.System)
		same(t, "tools", len(p.Tools)+len(sent.Tools), 0)
		_, question := agent.SplitNote(p.Messages[0]) // the note is the date alone, and a test has none
		assert.That(t, strings.HasPrefix(said, question) && p.Recovery == "",
			"%q is sent; the preview has %q", said, p.Messages[0])
		same(t, "behind what was looked up", strings.Contains(p.Behind, "The question again: "+words), words == auth)
	}
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

// bytewise streams a text one byte at a time.
func bytewise(text string) modeltest.Turn { return modeltest.Turn{Chunks: strings.Split(text, "")} }

func TestNoSignalMarkupReachesAnswerPiecesOrSession(t *testing.T) {
	h := setUp(t,
		bytewise("Look here. "+needTurn("read <b>more</b>")).AndCall("code_read", lines("a.go", 1, 9)),
		bytewise("First <signal is only a word. "+element("done", "0.9")+" Then "+needTurn("more")+" after."),
		bytewise("The end, as it reads in `a.go:1`: a < b. "+enough()+"\n"+enough()))
	a := h.ask(auth)
	same(t, "answer", a.Answer, "The end, as it reads in `a.go:1`: a < b.")
	for _, p := range h.raw {
		wantNoParts(t, "a piece", p, "<signal ty", "</signal", "<reason", "<confidence")
	}
	same(t, "all that was shown", h.shown,
		"Look here. \nFirst <signal is only a word.  Then  after.\nThe end, as it reads in `a.go:1`: a < b. \n\n")
	all := h.endedAnswers(h.session)
	same(t, "the session's exchange", all, []oracle.Answer{a})
}

func TestAllSignalsAreInTheJournalWithTheirRawXML(t *testing.T) {
	signals := []string{needTurn("read more"), needCapability("sending an email"), stuck("no hit"), partial("the rest")}
	var turns []modeltest.Turn
	for _, s := range signals {
		turns = append(turns, modeltest.Say("Words. "+s))
	}
	h := setUp(t, turns...)
	a := h.ask(auth)
	var inReceipts, inAnswer []string
	for _, r := range h.receipts() {
		inReceipts = append(inReceipts, r.Report.Signal.RawXML)
	}
	for _, s := range a.Signals {
		inAnswer = append(inAnswer, s.RawXML)
	}
	same(t, "raw XML in the receipts", inReceipts, signals)
	same(t, "raw XML in the answer", inAnswer, signals)
}

func TestTimestampOfASignalIsTheDateAndTimeAtWhichItWasParsed(t *testing.T) {
	h := setUp(t, reading(1), modeltest.Say("Done. "+enough()+needTurn("an extra one")))
	before := time.Now().Truncate(time.Millisecond)
	a := h.ask(auth)
	same(t, "signals", len(a.Signals), 3)
	for _, s := range a.Signals {
		assert.That(t, !s.At.Before(before) && !s.At.After(time.Now()), "%s was parsed at %v", s.Type, s.At)
	}
	same(t, "timestamp of the last signal", a.Signal.At, a.Signals[1].At)
	raw := assert.Must(json.Marshal(h.signals()[0].Signal))(t)
	wantParts(t, "the audited signal", string(raw), `"timestamp":"`+a.Signals[0].At.Format(time.RFC3339Nano)+`"`)
}

func TestProvisionalTextIsMarkedWithItsTurn(t *testing.T) {
	h := setUp(t, modeltest.Say("one "+needTurn("more")), modeltest.Say("two "+partial("more")))
	live := h.start(auth)
	ops := map[string]uint64{}
	for u := range live.Watch(t.Context(), 0) {
		if u.Piece != nil {
			ops[strings.TrimSpace(u.Piece.Text)] = u.Piece.Op
		}
	}
	assert.Must(live.Wait(t.Context()))(t)
	assert.That(t, ops["one"] != 0 && ops["two"] != 0 && ops["one"] != ops["two"],
		"the operations of the two turns' text are %v", ops)
}

// fill gives every field a value that is not its zero value.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("some text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Map: // values of a reason, which may have such of their own
		v.Set(reflect.ValueOf(map[string]bt.Why{"name": bt.Because("some text")}))
	default:
		panic("an event has a field of the kind " + v.Kind().String())
	}
}

func TestEveryEventIsReadBackAsItWasToldAndTraced(t *testing.T) {
	words := run.NewVocabulary(oracle.Events()...)
	for _, e := range oracle.Events() {
		t.Run(e.EventType(), func(t *testing.T) {
			told := reflect.New(reflect.TypeOf(e))
			fill(told.Elem())
			raw := assert.Must(json.Marshal(told.Interface()))(t)
			kept := run.TraceEvent{Rule: "Oracle/Node", Type: e.EventType(), Data: raw}
			same(t, "what is read", words.Read(kept), told.Elem().Interface())
			if text := kept.String(); !strings.HasPrefix(text, e.EventType()+" ") || strings.Contains(text, "\n") {
				t.Errorf("it is traced as %q", text)
			}
			text := words.Story(kept).Text
			assert.That(t, !strings.ContainsAny(text, "{}\n"), "it is told as %q", text)
		})
	}
}

var (
	ownName = regexp.MustCompile(` name="[^"]*"`)
	openTag = regexp.MustCompile(`<([A-Z]\w*)`)
)

// What people and programs are told of a run hangs on no name that a tree gives to its nodes.
func TestNamesOfNodesChangeNothingThatIsTold(t *testing.T) {
	played := func(rename bool) *harness {
		h := setUp(t, modeltest.SayAndCall(needTurn("look"), "code_search", `{"query":"auth"}`),
			modeltest.Say(needTurn("a thought")),
			modeltest.Say(stuck("no hit")), modeltest.SayAndCall(needCapability("sending an email"), "code_read",
				lines("auth/middleware.go", 10, 30)),
			modeltest.Say("It checks a token (`auth/middleware.go:12`). "+enough()+partial("the rest")))
		if rename {
			n := 0
			h.tree.Text = openTag.ReplaceAllFunc(ownName.ReplaceAll(h.tree.Text, nil), func(tag []byte) []byte {
				if string(tag) == "<BehaviorTree" {
					return tag
				}
				n++
				return fmt.Appendf(slices.Clip(tag), ` name="renamed %d"`, n)
			})
			assert.Require(t, n >= 80, "only %d nodes were renamed", n)
		}
		h.engine = h.newEngine(h.store, "test", newHandClock())
		h.ask(auth)
		return h
	}
	h, renamed := played(false), played(true)
	same(t, "trace", renamed.trace(), h.trace())
	same(t, "steps", renamed.steps(), h.steps())
	same(t, "signals", cmp.Diff(h.signals(), renamed.signals(), cmpopts.IgnoreFields(signal.Signal{}, "At")), "")
	wantNoParts(t, "the trace", renamed.trace(), "renamed")
}
