package oracle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

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

func TestWritesThatFailedAreCountedAndSaidWhateverTheModelSays(t *testing.T) {
	allDone := modeltest.Say("All seven notes are written. " + enough())
	h := setUp(t, noteCalls("a.md", "b.md", "c.md", "d.md"), noteCalls("e.md", "f.md", "g.md"), allDone, allDone)
	h.world.on("vault_write", refusing("b.md", "f.md"))
	a := h.ask(save)
	const line = "2 of 7 notes were not written: b.md (b.md is read-only); f.md (f.md is read-only)."
	same(t, "stop reason", a.StopReason, oracle.StopPartial)
	same(t, "caveat", a.Caveat, line)
	same(t, "counts", []int{a.Writes.Asked, a.Writes.Done, a.Writes.Failed, a.Writes.Refused, a.Writes.Unsure}, []int{7, 5, 2, 0, 0})
	same(t, "missing", []string{a.Writes.Missing[0].Target, a.Writes.Missing[1].Target}, []string{"b.md", "f.md"})
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "JSON", string(raw), `"writes":{"asked":7,"done":5,"failed":2,"notes":true,"missing":[{"tool":"vault_write","target":"b.md","fate":"failed","why":"b.md is read-only","turn":1}`)
	holds(t, "what the model is told", lastText(h.request(4)), "[control] Not all was written: b.md (b.md is read-only); f.md (f.md is read-only).", "now with vault_write")
}

func TestWriteThatFailedAndWasMadeGoodIsDone(t *testing.T) {
	h := setUp(t, noteCalls("a.md"), noteCalls("a.md"), modeltest.Say("Written. "+enough()))
	tried := 0
	h.world.on("vault_write", func(tool.Call) (tool.Result, error) {
		if tried++; tried == 1 {
			return tool.Result{}, tool.Errorf(tool.Conflict, "", "it has changed")
		}
		return wrote, nil
	})
	a := h.ask(save)
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
	same(t, "caveat", a.Caveat, "")
	same(t, "writes", []int{a.Writes.Asked, a.Writes.Done}, []int{1, 1})
}

func TestWriteBesideTheLastWordsThatIsNotRunIsSaid(t *testing.T) {
	h := setUp(t, noteCalls("a.md"), modeltest.Say("Both are written. "+enough()).AndCall("vault_write", `{"path":"b.md"}`))
	a := h.ask(save)
	same(t, "what stands in the world", len(h.world.written()), 1)
	same(t, "stop reason", a.StopReason, oracle.StopPartial)
	same(t, "caveat", a.Caveat, "1 of 2 notes was not written: b.md (the run ended before it).")
}

func TestRefusedWriteIsSaid(t *testing.T) {
	h := setUp(t, modeltest.Say(needCapability("web")), modeltest.SayAndCall(needTurn("look"), "web_fetch", `{"url":"https://go.example/release"}`), noteCalls("a.md"),
		modeltest.Say("It is out, and noted. "+enough()))
	a := h.ask("Create a note about the latest release of Go")
	same(t, "what stands in the world", len(h.world.written()), 0)
	same(t, "counts", []int{a.Writes.Asked, a.Writes.Refused}, []int{1, 1})
	holds(t, "caveat", a.Caveat, "The note was not written: a.md (")
}

func TestWriteInDoubtIsSaidAndNotAskedForAgain(t *testing.T) {
	done := modeltest.Say("All are written. " + enough())
	h := setUp(t, noteCalls("a.md", "b.md"), done, done)
	h.world.on("vault_write", func(c tool.Call) (tool.Result, error) {
		if strings.Contains(string(c.Args), "b.md") {
			return tool.Result{}, context.DeadlineExceeded
		}
		return wrote, nil
	})
	a := h.ask(save)
	if a.Writes.Whole() || a.StopReason != oracle.StopPartial {
		t.Errorf("the answer is %s, with %+v", a.StopReason, *a.Writes)
	}
	holds(t, "caveat", a.Caveat, "b.md")
}

func TestWhatWasNotDoneIsInWarningsExportAndExplanation(t *testing.T) {
	done := modeltest.Say("It is written. " + enough())
	h := setUp(t, noteCalls("a.md"), done, done)
	h.world.on("vault_write", refusing("a.md"))
	a := h.ask(save)
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	shown, err := oracle.Describe(nil, oracle.Surroundings{}).Show(raw)
	if err != nil {
		t.Fatal(err)
	}
	const line = "The note was not written: a.md (a.md is read-only)."
	same(t, "partial", shown.Partial, true)
	holds(t, "warnings", joined(shown.Warnings), line)
	holds(t, "export", shown.Footer, line)
	holds(t, "explanation", joined(shown.Ending), line)
}

func TestSentencesAboutWrites(t *testing.T) {
	w := agent.Writes{Asked: 9, Done: 1, Failed: 7, Unsure: 1}
	for i := range 7 {
		w.Missing = append(w.Missing, agent.Unwritten{Target: fmt.Sprint(i), Fate: agent.WriteFailed, Why: "no."})
	}
	w.Missing = append(w.Missing, agent.Unwritten{Target: "u", Fate: agent.WriteUnsure, Why: "lost"})
	same(t, "sentence", w.String(), "7 of 9 changes were not made: 0 (no); 1 (no); 2 (no); 3 (no); 4 (no); and 2 more. 1 of 9 changes may not have been made: u (lost).")
}
