package agent

import (
	"fmt"
	"slices"

	"sibyl/internal/bt"
)

// Entry is one turn of the transcript: the record of the reply, the records of its tools' results, and what the
// control layer said after it. Tool i answers call i of the reply; a call that was not performed has Refused instead. The first
// entry may be notes in place of the entries Of, and of the session's earlier exchanges; or it is of no turn, and has the calls that the
// person has said yes to.
type Entry struct {
	Turn  int64       `json:"turn,omitempty"`
	Tools []ToolEntry `json:"tools,omitempty"`
	Hint  string      `json:"hint,omitempty"`

	Notes int64   `json:"notes,omitempty"` // their record
	Of    []Entry `json:"of,omitempty"`
}

// isAllowed says whether an entry is that of the calls that the person has said yes to.
func (e Entry) isAllowed() bool { return e.Turn == 0 && e.Notes == 0 }

// RanAllowed says whether a transcript begins with the calls that the person has said yes to.
func RanAllowed(transcript []Entry) bool { return len(transcript) > 0 && transcript[0].isAllowed() }

// ToolEntry is how one call of a turn ended. One that was held when it was to be made has both.
type ToolEntry struct {
	Ref     int64  `json:"ref,omitempty"`
	Refused string `json:"refused,omitempty"`
}

// TurnsOf lists the turns of a transcript, those that notes stand for too.
func TurnsOf(transcript []Entry) (turns []Entry) {
	for _, e := range transcript {
		if e.Notes != 0 {
			turns = append(turns, TurnsOf(e.Of)...)
		} else {
			turns = append(turns, e)
		}
	}
	return turns
}

// HasNotes says whether notes stand for the beginning of a transcript.
func HasNotes(transcript []Entry) bool { return len(transcript) > 0 && transcript[0].Notes != 0 }

// Hint adds to the transcript what the control layer says.
func Hint() bt.Leaf {
	type in struct {
		Text string `port:"text" doc:"what the control layer tells the model before its next turn"`
	}
	type out struct {
		Transcript []Entry    `port:"transcript"`
		Events     []bt.Typed `port:",events"`
	}
	return bt.Func("Hint", "Adds a message from the control layer to the last turn of the transcript.", func(i in, o *out) error {
		var err error
		o.Transcript, err = Told(o.Transcript, i.Text)
		o.Events = []bt.Typed{HintGiven(i)}
		return err
	})
}

// Told adds a message from the control layer to the last turn of a transcript, which stays as it is.
func Told(transcript []Entry, text string) ([]Entry, error) {
	if len(transcript) == 0 {
		return nil, fmt.Errorf("there is no turn yet to add a hint to")
	}
	transcript = slices.Clone(transcript)
	last := &transcript[len(transcript)-1]
	if last.Hint != "" {
		last.Hint += " "
	}
	last.Hint += text
	return transcript, nil
}
