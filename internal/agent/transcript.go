package agent

import (
	"fmt"
	"slices"

	"sibyl/internal/bt"
)

// Entry is one turn of the transcript: the record of the reply, the records of its tools' results, and what the
// control layer said after it. Tool i answers call i of the reply; a call that was not performed has Refused instead.
// The first entry may be notes that replace the entries Of and the session's earlier exchanges; or it has no turn, and
// the calls that the user approved.
type Entry struct {
	Turn  int64       `json:"turn,omitempty"`
	Tools []ToolEntry `json:"tools,omitempty"`
	Hint  string      `json:"hint,omitempty"`

	LookUp bool `json:"look_up,omitempty"` // the tree itself proposed the calls

	Notes int64   `json:"notes,omitempty"` // their record
	Of    []Entry `json:"of,omitempty"`
}

// isOfAllowedCalls says whether an entry has the calls that the user approved.
func (e Entry) isOfAllowedCalls() bool { return e.Turn == 0 && e.Notes == 0 }

// BeginsWithAllowed says whether a transcript begins with calls that the user approved.
func BeginsWithAllowed(transcript []Entry) bool {
	return len(transcript) > 0 && transcript[0].isOfAllowedCalls()
}

// ToolEntry is how one call of a turn ended. A call that was held only when it was to be performed has both fields.
type ToolEntry struct {
	Ref     int64  `json:"ref,omitempty"`
	Refused string `json:"refused,omitempty"`
}

// TurnsOf lists the turns of a transcript, including those that notes replace.
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

// HasNotes says whether notes replace the beginning of a transcript.
func HasNotes(transcript []Entry) bool { return len(transcript) > 0 && transcript[0].Notes != 0 }

// Hint is the leaf that adds a message from the control layer to the transcript.
func Hint() bt.Leaf {
	type in struct {
		Text string `port:"text" doc:"what the control layer tells the model before its next turn"`
	}
	type out struct {
		Transcript []Entry    `port:"transcript"`
		Events     []bt.Typed `port:",events"`
	}
	return bt.Func("Hint", "Adds a message from the control layer to the last turn of the transcript.",
		func(i in, o *out) error { return AddHint(&o.Transcript, &o.Events, i.Text) })
}

// AddHint replaces a transcript by one with a message from the control layer in its last turn, and tells of it.
func AddHint(transcript *[]Entry, events *[]bt.Typed, text string) error {
	*events = append(*events, HintGiven{Text: text})
	if len(*transcript) == 0 {
		return fmt.Errorf("there is no turn yet to add a hint to")
	}
	*transcript = slices.Clone(*transcript)
	last := &(*transcript)[len(*transcript)-1]
	if last.Hint != "" {
		last.Hint += " "
	}
	last.Hint += text
	return nil
}

// keptTurns is how many turns at the end of a conversation stay as they are besides the notes.
const keptTurns = 2

func HistoryIsLong() bt.Leaf {
	type in struct {
		Ledger  Ledger  `port:"ledger,optional"`
		Past    int     `port:"past_tokens,optional" doc:"tokens of the session's earlier exchanges"`
		Last    int     `port:"last_tokens,optional" doc:"tokens of the last of them, the only one that is kept after a topic shift"`
		Shifted bool    `port:"topic_shift"`
		Window  int     `port:"window,optional" doc:"the model's window in tokens; 0: unknown"`
		Part    float64 `port:"part" default:"0.6" doc:"of the window, at most"`
		Most    int     `port:"most" default:"24000" doc:"tokens at most"`
	}
	return bt.Check("HistoryIsLong",
		"Does the conversation fill so much of the context window that notes should replace it?",
		func(i in) (bool, string) {
			most := i.Most
			if i.Window > 0 {
				// the prompt takes part of the window
				most = min(most, max(int(i.Part*float64(i.Window))-i.Ledger.Prompt, i.Window/5))
			}
			n := i.Ledger.History
			if i.Ledger.Turn == 0 {
				n = i.Past
				if i.Shifted {
					n = i.Last
				}
			}
			why := fmt.Sprintf("%d of %d tokens", n, most)
			fresh := i.Ledger.Turn + 1 - i.Ledger.NotedAt
			switch {
			case n <= most:
				return false, why
			case i.Ledger.NotedAt > 0 && fresh <= keptTurns:
				return false, fmt.Sprintf("%s, but notes were taken %d turns ago", why, fresh)
			}
			return true, why
		})
}

// entriesBeforeKept are the entries that notes replace.
func entriesBeforeKept(transcript []Entry) []Entry {
	return transcript[:max(0, len(transcript)-keptTurns)]
}

// AskNotes requests notes of all but the last turns of a transcript, and of the session's earlier exchanges if there
// are any. p is the payload of a turn.
func AskNotes(p TurnPayload, transcript []Entry, hasPast bool) ([]bt.Request, error) {
	old := entriesBeforeKept(transcript)
	if len(old) == 0 && (!hasPast || HasNotes(transcript)) {
		return nil, fmt.Errorf("all that is long is in the last %d turns", keptTurns)
	}
	p.Offered, p.Withdrawn = []string{}, true
	p.SetTranscript(old)
	return []bt.Request{{Kind: EffectNotes, Label: "notes of the conversation so far", Payload: p}}, nil
}

// ReplaceByNotes replaces the older turns by the notes of a completion. On an error, it still changes the ledger.
func ReplaceByNotes[R any](c bt.Completion, l *Ledger, transcript []Entry) ([]Entry, NotesTaken, error) {
	*l = l.Clone()
	l.NotedAt = l.Turn + 1 // also of notes that failed, so that they are not asked for in every turn
	r, err := bt.ResultOf[TurnReceipt[R]](c)
	if c.Err != nil {
		l.Tokens += budgetTokens(r.Usage)
		return nil, NotesTaken{}, c.Err
	}
	if err != nil {
		return nil, NotesTaken{}, fmt.Errorf("receipt of the notes: %w", err)
	}
	l.Tokens += r.budgetTokens()
	if !hasWords(r.Text) {
		return nil, NotesTaken{}, fmt.Errorf("the notes are empty")
	}
	old := entriesBeforeKept(transcript)
	taken := NotesTaken{Turns: len(old), Tokens: Tokens(r.Text)}
	l.Notice(NoticeSummarised, Info, Pairs("turns", taken.Turns, "tokens", taken.Tokens),
		bt.Because("The conversation was long: the model goes on from notes of it."))
	return append([]Entry{{Notes: c.Ref, Of: slices.Clone(old)}}, transcript[len(old):]...), taken, nil
}
