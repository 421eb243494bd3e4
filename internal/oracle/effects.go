package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// The kinds of effect.
const (
	EffectTurn = "model.turn"
	EffectCall = "tool.call"
)

// TurnPayload asks for one turn of the model: facts and record numbers, of which the request is built.
type TurnPayload struct {
	Class      classify.Type `json:"class"`
	Offered    []string      `json:"offered"`
	Turn       int           `json:"turn"`
	MaxTurns   int           `json:"max_turns"`
	Last       bool          `json:"last,omitempty"`
	Withdrawn  bool          `json:"withdrawn,omitempty"`
	TopicShift bool          `json:"topic_shift,omitempty"`
	HadError   bool          `json:"had_error,omitempty"`
	Large      bool          `json:"large,omitempty"`     // the conversation wants notes
	LastHint   string        `json:"last_hint,omitempty"` // what the conversation ends with
	Transcript []Entry       `json:"transcript,omitempty"`
}

// TurnReceipt is one turn of the model. Text is without signals.
type TurnReceipt struct {
	Text       string           `json:"text"`
	Calls      []model.ToolCall `json:"calls,omitempty"`
	Signal     *signal.Signal   `json:"signal,omitempty"`
	Extra      []signal.Signal  `json:"extra,omitempty"`
	Problems   []signal.Problem `json:"problems,omitempty"`
	Malformed  bool             `json:"malformed,omitempty"`
	Finish     model.Finish     `json:"finish"`
	Usage      model.Usage      `json:"usage"`
	Model      string           `json:"model"`
	Attempts   int              `json:"attempts,omitempty"`
	Native     *model.Native    `json:"native,omitempty"`
	Prompt     string           `json:"prompt"` // hash of the composed system prompt
	Segments   []string         `json:"segments"`
	LeftOut    []string         `json:"left_out,omitempty"`
	PromptSize int              `json:"prompt_tokens"`
	History    int              `json:"history_tokens"`  // of the conversation, this turn included, estimated
	Tries      []model.Try      `json:"tries,omitempty"` // models that were asked before the one that answered
}

// CallPayload asks for one call: which call of which turn, and the digest of its arguments.
type CallPayload struct {
	Turn   int64  `json:"turn"`
	Call   int    `json:"call"`
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// CallReceipt is what a tool gave. Exactly one of Result and Error is set.
type CallReceipt struct {
	Tool      string       `json:"tool"`
	Arguments string       `json:"arguments"`
	Result    *tool.Result `json:"result,omitempty"`
	Error     *tool.Error  `json:"error,omitempty"`
}

func askModel() bt.Leaf {
	type in struct {
		Class      classify.Classification `port:"class"`
		Offered    []string                `port:"offered" doc:"names of the tools offered"`
		Turn       int                     `port:"turn"`
		MaxTurns   int                     `port:"max_turns"`
		Last       bool                    `port:"last" doc:"no turn follows: tools are withdrawn"`
		Withdrawn  bool                    `port:"withdrawn" doc:"tools are withdrawn"`
		TopicShift bool                    `port:"topic_shift"`
		Ledger     Ledger                  `port:"ledger,optional"`
		Transcript []Entry                 `port:"transcript,optional"`
		LastHint   string                  `port:"last_hint,optional" doc:"what the model is told in the last turn"`
	}
	type out struct {
		Reply Reply  `port:"reply" doc:"what came back"`
		Note  string `port:",note"`
	}
	plan := func(i in) ([]bt.Request, error) {
		p := TurnPayload{Class: i.Class.QueryType, Offered: i.Offered, Turn: i.Turn, MaxTurns: i.MaxTurns, Last: i.Last,
			Withdrawn: i.Withdrawn, TopicShift: i.TopicShift, HadError: i.Ledger.Errors > 0, Transcript: i.Transcript}
		if i.Last {
			p.LastHint = i.LastHint
		}
		return []bt.Request{{Kind: EffectTurn, Label: fmt.Sprintf("turn %d of %d", i.Turn, i.MaxTurns), Payload: p}}, nil
	}
	collect := func(_ in, done []bt.Completion, o *out) error {
		if done[0].Err != nil {
			return done[0].Err
		}
		var r TurnReceipt
		if err := json.Unmarshal(done[0].Result, &r); err != nil {
			return fmt.Errorf("receipt of the turn: %w", err)
		}
		o.Reply = Reply{Ref: done[0].Ref, HasText: hasWords(r.Text), Asks: asks(r.Text), Signal: r.Signal, Malformed: r.Malformed,
			Extra: len(r.Extra), Tokens: r.tokens(), History: r.History, Prompt: r.PromptSize, Model: r.Model, Instead: r.instead()}
		if r.Malformed {
			o.Reply.Problem = r.Problems[0].Reason
		}
		for _, c := range r.Calls {
			o.Reply.Calls = append(o.Reply.Calls, CallFact{Name: c.Name, Digest: digest(c.Arguments), Key: callKey(c.Name, c.Arguments), Brief: brief(c.Arguments, 80)})
		}
		o.Note = fmt.Sprintf("%s: %d characters, %d calls", r.Model, len(r.Text), len(r.Calls))
		return nil
	}
	return bt.Task("AskModel", "Asks the model for one turn.", plan, collect)
}

func hasWords(text string) bool {
	for _, r := range text {
		if r > ' ' {
			return true
		}
	}
	return false
}

// asks says whether a text ends with a question.
func asks(text string) bool {
	return strings.HasSuffix(strings.TrimRight(text, " \t\r\n*_\"'”)"), "?")
}

// tokens is what the turn counts against a budget, estimated where the provider reports nothing.
func (r *TurnReceipt) tokens() int {
	if r.Usage != (model.Usage{}) {
		return spent(r.Usage)
	}
	return r.PromptSize + r.History
}

// instead says why another model than the first one answered; "" if the first did.
func (r *TurnReceipt) instead() string {
	var why []string
	for _, t := range r.Tries {
		why = append(why, t.String())
	}
	return strings.Join(why, "; ")
}

func runTools() bt.Leaf {
	type in struct {
		Reply   Reply      `port:"reply"`
		Offered []string   `port:"offered"`
		Tools   []ToolFact `port:"tools"`
		Ledger  Ledger     `port:"ledger,optional"`
		Most    int        `port:"most" default:"16" doc:"calls of one turn at most"`
	}
	type out struct {
		Ledger     Ledger  `port:"ledger"`
		Transcript []Entry `port:"transcript"`
		Note       string  `port:",note"`
	}
	may := func(i in, k int) (ToolFact, string) {
		if k >= i.Most {
			return ToolFact{}, fmt.Sprintf("a turn may call %d tools at most", i.Most)
		}
		return mayCall(i.Tools, i.Offered, i.Reply.Calls[k].Name, i.Ledger.Tainted)
	}
	plan := func(i in) ([]bt.Request, error) {
		var requests []bt.Request
		for k, c := range i.Reply.Calls {
			if t, refused := may(i, k); refused == "" {
				requests = append(requests, bt.Request{Kind: EffectCall, Label: c.Name + " " + c.Brief, Once: t.Once,
					Payload: CallPayload{Turn: i.Reply.Ref, Call: k, Name: c.Name, Digest: c.Digest}})
			}
		}
		return requests, nil
	}
	collect := func(i in, done []bt.Completion, o *out) error {
		o.Ledger = o.Ledger.clone()
		o.Transcript = slices.Clone(o.Transcript)
		entry := &o.Transcript[len(o.Transcript)-1]
		before := len(o.Ledger.Opened)
		entry.Tools = nil
		var refused []string
		for k, c := range i.Reply.Calls {
			t, why := may(i, k)
			if why != "" {
				entry.Tools = append(entry.Tools, ToolEntry{Refused: why})
				o.Ledger.Errors++
				o.Ledger.made(Made{Tool: c.Name, Key: c.Key, Digest: c.Name + " " + c.Digest, Error: digest(c.Name + why)})
				refused = append(refused, c.Name+": "+why)
				continue
			}
			entry.Tools = append(entry.Tools, ToolEntry{Ref: done[0].Ref})
			if err := o.Ledger.enter(t, c, done[0]); err != nil {
				return err
			}
			done = done[1:]
		}
		o.Ledger.Fresh = len(o.Ledger.Opened) > before
		o.Note = fmt.Sprintf("%d read so far", len(o.Ledger.Opened))
		if refused != nil {
			o.Note += "; refused: " + strings.Join(refused, "; ")
		}
		return nil
	}
	return bt.Task("RunTools", "Calls the tools that the reply asks for, as far as they are offered.", plan, collect)
}

// mayCall says whether a call is performed; if not, why. A run that has read text from strangers writes nothing.
func mayCall(tools []ToolFact, offered []string, name string, tainted bool) (ToolFact, string) {
	for _, t := range tools {
		if t.Name != name || !slices.Contains(offered, name) {
			continue
		}
		if t.Once && tainted {
			return t, "text from strangers was read in this run, so nothing is written; the person can ask for it anew"
		}
		return t, ""
	}
	return ToolFact{}, "it is not offered for this question"
}
