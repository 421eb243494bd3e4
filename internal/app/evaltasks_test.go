package app

import (
	"strings"
	"testing"

	evaldata "sibyl/eval"
	"sibyl/internal/eval/tasks"
)

// TestTaskAssistantKeepsTheBoundsOfItsDialogues: right tool and arguments in 95 % of the turns; no wrong task changed, no deletion without a yes,
// no effect of chit-chat or of a stray yes.
func TestTaskAssistantKeepsTheBoundsOfItsDialogues(t *testing.T) {
	dialogues, err := tasks.Load(evaldata.Files, evaldata.TaskDialogues)
	if err != nil {
		t.Fatal(err)
	}
	report, err := tasks.Run(t.Context(), tasks.Set{Dialogues: dialogues, Parallel: 8}, chatApp(t, "").TaskWorld("offline:rules"))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	t.Log(text.String())
	for _, broken := range report.Broken {
		t.Error(broken)
	}
}

// Dialogues of somebody who saw nothing of the assistant.
func TestTaskAssistantDoesNoHarmInDialoguesOfAnotherHand(t *testing.T) {
	dialogues, err := tasks.Load(evaldata.Files, evaldata.TasksOfAnother)
	if err != nil {
		t.Fatal(err)
	}
	report, err := tasks.Run(t.Context(), tasks.Set{Dialogues: dialogues, Parallel: 8}, chatApp(t, "").TaskWorld("offline:rules"))
	if err != nil {
		t.Fatal(err)
	}
	const right = 104 // as eval/README.md says
	if all := report.All; all.Right.Hits != right || all.WrongTasks+all.Unconfirmed+all.Effects > 0 {
		t.Errorf("%+v, want %d right and no harm", all, right)
	}
}
