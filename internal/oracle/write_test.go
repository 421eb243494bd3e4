package oracle_test

import (
	"errors"
	"strings"
	"testing"

	"context"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

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
