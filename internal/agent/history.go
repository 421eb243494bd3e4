package agent

import (
	"fmt"
	"slices"

	"sibyl/internal/bt"
)

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
	return bt.Check("HistoryIsLong", "Does the conversation fill so much of the context window that notes should replace it?", func(i in) (bool, string) {
		most := i.Most
		if i.Window > 0 {
			most = min(most, max(int(i.Part*float64(i.Window))-i.Ledger.Prompt, i.Window/5)) // the prompt stands in the window too
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

// AskNotes is the request for notes of all but the last turns of a transcript, and of the session's earlier exchanges where past says that
// there are any. p is what a turn without tools would be asked with.
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
	l.Notice(NoticeSummarised, Info, Pairs("turns", taken.Turns, "tokens", taken.Tokens), "The conversation was long: the model goes on from notes of it.")
	return append([]Entry{{Notes: c.Ref, Of: slices.Clone(old)}}, transcript[len(old):]...), taken, nil
}
