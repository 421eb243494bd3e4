package command

import (
	"strings"
	"testing"

	"sibyl/cmd/sibyl-eval/scores/tasks"
	evaldata "sibyl/eval"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/model"
)

// played plays a set of dialogues without a model.
func played(t *testing.T, name string) (r tasks.Report) {
	t.Helper()
	dialogues, err := tasks.Load(evaldata.Files, name)
	assert.NoError(t, err)
	err = within(t.Context(), own(t), func(room room) error {
		r, err = tasks.Run(t.Context(), tasks.Set{Dialogues: dialogues, Parallel: 8},
			TaskWorld(room.app, model.OfflineRules))
		return err
	})
	assert.NoError(t, err)
	var text strings.Builder
	assert.NoError(t, r.WriteText(&text))
	t.Log(text.String())
	return r
}

// TestTaskAssistantKeepsTheBoundsOfItsDialogues: right tool and arguments in 90 % of the turns; no wrong task changed,
// no deletion without a yes, no effect of chit-chat or of a stray yes.
func TestTaskAssistantKeepsTheBoundsOfItsDialogues(t *testing.T) {
	needs.All(t, "many dialogues")
	for _, broken := range played(t, evaldata.TaskDialogues).Broken {
		t.Error(broken)
	}
}

// Dialogues of people who saw nothing of the assistant: what it does not know, it leaves alone.
func TestTaskAssistantDoesNoHarmInDialoguesOfOtherHands(t *testing.T) {
	for _, set := range []string{evaldata.TasksOfAnother, "tasks/unseen-de.jsonl"} {
		all := played(t, set).All
		assert.That(t, all.WrongTasks+all.Unconfirmed+all.Effects == 0, "%s: %+v, want no harm", set, all)
	}
}
