package oracle

import (
	"encoding/json"
	"fmt"
	"slices"

	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/signal"
)

// EffectNotes is the kind of effect that asks the model for notes of a long conversation.
const EffectNotes = "model.notes"

// NotesPayload asks for notes of a conversation: Turn is what a turn without tools would be asked with.
type NotesPayload struct {
	Turn TurnPayload `json:"turn"`
}

// NotesReceipt is the notes.
type NotesReceipt struct {
	Text     string      `json:"text"`
	Usage    model.Usage `json:"usage"`
	Model    string      `json:"model"`
	Attempts int         `json:"attempts,omitempty"`
	Prompt   string      `json:"prompt"` // hash of the composed system prompt

	// Signals in notes steer nothing.
	Extra    []signal.Signal  `json:"extra,omitempty"`
	Problems []signal.Problem `json:"problems,omitempty"`

	PromptSize int `json:"prompt_tokens"`
	History    int `json:"history_tokens"` // of what was sent and written, estimated
}

// tokens is what notes count against a budget, estimated where the provider reports nothing.
func (r *NotesReceipt) tokens() int {
	if r.Usage != (model.Usage{}) {
		return spent(r.Usage)
	}
	return r.PromptSize + r.History
}

// keptWhole is how many turns at the end of a conversation stay as they are beside the notes.
const keptWhole = 2

func historyIsLong() bt.Leaf {
	type in struct {
		Ledger  Ledger  `port:"ledger,optional"`
		Past    int     `port:"past_tokens,optional" doc:"tokens of the session's earlier exchanges"`
		Last    int     `port:"last_tokens,optional" doc:"tokens of the last of them, the only one that is kept after a topic shift"`
		Shifted bool    `port:"topic_shift"`
		Window  int     `port:"window,optional" doc:"the model's window in tokens; 0: unknown"`
		Part    float64 `port:"part" default:"0.6" doc:"of the window, at most"`
		Most    int     `port:"most" default:"24000" doc:"tokens at most"`
	}
	return bt.Check("HistoryIsLong", "Does the conversation fill so much of the model's window that it wants notes in its place?", func(i in) (bool, string) {
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
		fresh := i.Ledger.Turn + 1 - i.Ledger.NotedAt
		switch {
		case n <= most:
			return false, fmt.Sprintf("%d of %d tokens", n, most)
		case i.Ledger.NotedAt > 0 && fresh <= keptWhole:
			return false, fmt.Sprintf("%d of %d tokens, but notes were taken %d turns ago", n, most, fresh)
		}
		return true, fmt.Sprintf("%d of %d tokens", n, most)
	})
}

func takeNotes() bt.Leaf {
	type in struct {
		Class      classify.Classification `port:"class"`
		Turn       int                     `port:"turn"`
		MaxTurns   int                     `port:"max_turns"`
		TopicShift bool                    `port:"topic_shift"`
		Past       int                     `port:"past_tokens,optional"`
		Transcript []Entry                 `port:"transcript,optional"`
		Ask        string                  `port:"ask" doc:"what the model is asked for"`
	}
	type out struct {
		Ledger     Ledger  `port:"ledger"`
		Transcript []Entry `port:"transcript"`
		Note       string  `port:",note"`
	}
	plan := func(i in) ([]bt.Request, error) {
		old := older(i.Transcript)
		if len(old) == 0 && (i.Past == 0 || hasNotes(i.Transcript)) {
			return nil, fmt.Errorf("all that is long is in the last %d turns", keptWhole)
		}
		p := TurnPayload{Class: i.Class.QueryType, Offered: []string{}, Turn: i.Turn, MaxTurns: i.MaxTurns, Withdrawn: true,
			TopicShift: i.TopicShift, Large: true, LastHint: i.Ask, Transcript: old}
		return []bt.Request{{Kind: EffectNotes, Label: "notes of the conversation so far", Payload: NotesPayload{Turn: p}}}, nil
	}
	collect := func(i in, done []bt.Completion, o *out) error {
		o.Ledger = o.Ledger.clone()
		o.Ledger.NotedAt = o.Ledger.Turn + 1 // also of notes that failed, so that they are not asked for in every turn
		var r NotesReceipt
		err := json.Unmarshal(done[0].Result, &r)
		if done[0].Err != nil {
			o.Ledger.Tokens += spent(r.Usage)
			return done[0].Err
		}
		if err != nil {
			return fmt.Errorf("receipt of the notes: %w", err)
		}
		o.Ledger.Tokens += r.tokens()
		if !hasWords(r.Text) {
			return fmt.Errorf("the notes are empty")
		}
		old := older(i.Transcript)
		o.Transcript = append([]Entry{{Notes: done[0].Ref, Of: slices.Clone(old)}}, i.Transcript[len(old):]...)
		o.Ledger.notice(NoticeSummarised, Info, pairs("turns", len(old), "tokens", prompt.Tokens(r.Text)),
			"The conversation was long: the model goes on from notes of it.")
		o.Note = fmt.Sprintf("%d turns became %d tokens of notes", len(old), prompt.Tokens(r.Text))
		return nil
	}
	return bt.Task("TakeNotes", "Asks the model for notes, which stand in place of the earlier exchanges and of all but the last turns from then on.", plan, collect)
}

// older is what notes replace of a transcript.
func older(transcript []Entry) []Entry { return transcript[:max(0, len(transcript)-keptWhole)] }

// turnsOf lists the turns of a transcript, those that notes stand for too.
func turnsOf(transcript []Entry) (turns []Entry) {
	for _, e := range transcript {
		if e.Notes != 0 {
			turns = append(turns, turnsOf(e.Of)...)
		} else {
			turns = append(turns, e)
		}
	}
	return turns
}

func hasNotes(transcript []Entry) bool { return len(transcript) > 0 && transcript[0].Notes != 0 }

// spent is what counts against a budget of tokens: what was sent anew, and what was written. A conversation that the provider
// has cached is not counted again with every turn.
func spent(u model.Usage) int { return max(0, u.InputTokens-u.CachedTokens) + u.OutputTokens }
