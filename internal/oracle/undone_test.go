package oracle_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
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
