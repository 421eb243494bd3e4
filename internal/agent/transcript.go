package agent

import (
	"fmt"
	"slices"

	"sibyl/internal/bt"
)

// Entry is one turn of the transcript: the record of the reply, the records of its tools' results, and what the
// control layer said after it. Tool i answers call i of the reply; a call that was not performed has Refused instead.
// The first entry may be notes in place of the entries Of, and of the session's earlier exchanges; or it is of no turn,
// and has the calls that the person has said yes to.
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
	return bt.Func("Hint", "Adds a message from the control layer to the last turn of the transcript.",
		func(i in, o *out) error {
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

// keptWhole is how many turns at the end of a conversation stay as they are beside the notes.
const keptWhole = 2

// HistoryIsLong is a check.
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
				// the prompt stands in the window too
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
			case i.Ledger.NotedAt > 0 && fresh <= keptWhole:
				return false, fmt.Sprintf("%s, but notes were taken %d turns ago", why, fresh)
			}
			return true, why
		})
}

// older is what notes replace of a transcript.
func older(transcript []Entry) []Entry { return transcript[:max(0, len(transcript)-keptWhole)] }

// AskNotes is the request for notes of all but the last turns of a transcript, and of the session's earlier exchanges
// where past says that there are any. p is what a turn without tools would be asked with.
func AskNotes(p TurnPayload, transcript []Entry, past bool) ([]bt.Request, error) {
	old := older(transcript)
	if len(old) == 0 && (!past || HasNotes(transcript)) {
		return nil, fmt.Errorf("all that is long is in the last %d turns", keptWhole)
	}
	p.Offered, p.Withdrawn = []string{}, true
	p.Extends(old)
	return []bt.Request{{Kind: EffectNotes, Label: "notes of the conversation so far", Payload: p}}, nil
}

// TakeNotes puts notes in place of what they were taken of. The ledger is changed also where there are none.
func TakeNotes[R any](c bt.Completion, l *Ledger, transcript []Entry) ([]Entry, NotesTaken, error) {
	*l = l.Clone()
	l.NotedAt = l.Turn + 1 // also of notes that failed, so that they are not asked for in every turn
	r, err := bt.ResultOf[TurnReceipt[R]](c)
	if c.Err != nil {
		l.Tokens += spent(r.Usage)
		return nil, NotesTaken{}, c.Err
	}
	if err != nil {
		return nil, NotesTaken{}, fmt.Errorf("receipt of the notes: %w", err)
	}
	l.Tokens += r.tokens()
	if !hasWords(r.Text) {
		return nil, NotesTaken{}, fmt.Errorf("the notes are empty")
	}
	old := older(transcript)
	taken := NotesTaken{Turns: len(old), Tokens: Tokens(r.Text)}
	l.Notice(NoticeSummarised, Info, Pairs("turns", taken.Turns, "tokens", taken.Tokens),
		bt.Because("The conversation was long: the model goes on from notes of it."))
	return append([]Entry{{Notes: c.Ref, Of: slices.Clone(old)}}, transcript[len(old):]...), taken, nil
}
