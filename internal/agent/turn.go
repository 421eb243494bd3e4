package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// The kinds of effect.
const (
	EffectTurn  = "model.turn"
	EffectNotes = "model.notes" // notes of a long conversation; its payload is a TurnPayload too
	EffectCall  = "tool.call"
)

// TurnPayload asks for one turn of the model: facts and record numbers, of which the request is built.
type TurnPayload struct {
	Offered   []string `json:"offered"` // names of the tools offered
	Turn      int      `json:"turn"`
	MaxTurns  int      `json:"max_turns"`
	Last      bool     `json:"last,omitempty"`
	Withdrawn bool     `json:"withdrawn,omitempty"` // tools are withdrawn
	LastHint  string   `json:"last_hint,omitempty"` // what the conversation ends with
	Labels    Labels   `json:"labels,omitempty"`    // of all that the model is shown
	NoTools   bool     `json:"no_tools,omitempty"`  // the request describes no tool: the model can call none
	Fit       int      `json:"fit,omitempty"`       // tokens that the whole request may have; 0: as the window allows

	// The transcript is that of the turn in record After, if it is not 0, and Add.
	After int64   `json:"after,omitempty"`
	Add   []Entry `json:"add,omitempty"`

	Situation json.RawMessage `json:"situation,omitempty"` // what the assistant's prompt depends on
}

// SetTranscript puts a transcript into the payload. If the payload of its last turn has the rest, only the entries
// since then are added.
func (p *TurnPayload) SetTranscript(transcript []Entry) {
	last := len(transcript) - 1 // turn of the model
	for last > 0 && transcript[last].LookUp {
		last--
	}
	if last > 0 && transcript[last].Turn > transcript[0].Notes { // requested after the notes, if there are any
		p.After, p.Add = transcript[last].Turn, transcript[last:]
		return
	}
	p.Add = transcript
	if HasNotes(transcript) {
		p.Add = slices.Clone(transcript)
		p.Add[0].Of = nil // the payload of the notes has them
	}
}

// isFirst says whether the payload is of the first turn of a run, before which there was at most what a yes did, and
// what the tree looked up.
func (p *TurnPayload) isFirst() bool {
	return p.After == 0 && !slices.ContainsFunc(p.Add, func(e Entry) bool { return !e.isOfAllowedCalls() && !e.LookUp })
}

// TurnReceipt is one turn of the model. Report is what the assistant's Listener found in the reply; Text is the reply
// without it.
type TurnReceipt[R any] struct {
	Text       string           `json:"text"`
	Calls      []model.ToolCall `json:"calls,omitempty"`
	Report     R                `json:"report,omitzero"`
	Finish     model.Finish     `json:"finish"`
	Usage      model.Usage      `json:"usage"`
	Reported   *model.Usage     `json:"reported_usage,omitempty"` // by the provider, if it can't be true
	Model      string           `json:"model"`
	Attempts   int              `json:"attempts,omitempty"`      // if there was more than one
	Refused    []string         `json:"refused_tools,omitempty"` // tools whose schemas the provider refuses
	Dropped    int              `json:"dropped,omitempty"`       // fields of the answer that could not be read
	Native     *model.Native    `json:"native,omitempty"`
	Prompt     string           `json:"prompt"` // hash of the composed system prompt
	Segments   []string         `json:"segments,omitempty"`
	Note       string           `json:"note,omitempty"`  // with the question, of the first turn
	Found      string           `json:"found,omitempty"` // what the tree had looked up before it, likewise
	LeftOut    []string         `json:"left_out,omitempty"`
	ToolHashes []string         `json:"tools,omitempty"` // "name hash" of each tool as it was offered
	PromptSize int              `json:"prompt_tokens"`
	History    int              `json:"history_tokens"` // of the conversation, this turn included, estimated
	// results of tools were cut, so that it fits into the window
	Cut       bool        `json:"cut,omitempty"`
	SentBytes int         `json:"sent_bytes,omitempty"` // of the texts of the request
	Tries     []model.Try `json:"tries,omitempty"`      // models that were asked before the one that answered
}

// Reply is what a tree knows of one turn of the model. Ref is the record that holds it.
type Reply struct {
	Ref     int64      `json:"ref"`
	HasText bool       `json:"has_text"`
	Asks    bool       `json:"asks,omitempty"` // its text ends with a question
	Calls   []CallFact `json:"calls,omitempty"`
	Tokens  int        `json:"tokens,omitempty"`  // counted against the budget
	Sent    int        `json:"sent,omitempty"`    // tokens of the request and the reply, estimated
	Cut     bool       `json:"cut,omitempty"`     // results of tools were cut in the request
	Counted int        `json:"counted,omitempty"` // tokens of the request, as the provider counted them; 0: it did not
	History int        `json:"history,omitempty"` // tokens of the conversation with it, estimated
	Prompt  int        `json:"prompt,omitempty"`  // tokens of the system prompt
	Model   string     `json:"model"`
	Refused []string   `json:"refused,omitempty"` // tools that were not offered: the provider refuses their schemas
	Instead string     `json:"instead,omitempty"` // why another model than the first one answered
}

// CallFact is a proposed call. Digest identifies tool and arguments; Key does so without volatile arguments.
type CallFact struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
	Key    string `json:"key"`
	Brief  string `json:"brief"`
	Where  string `json:"where,omitempty"`  // the address that it asks for, as Address names it; "": none
	Size   int    `json:"size,omitempty"`   // bytes of its arguments, if the call may be held
	Twice  string `json:"twice,omitempty"`  // a name that its arguments have twice
	Length int    `json:"length,omitempty"` // characters of its query to a search engine
}

// AskTurn requests a turn.
func AskTurn(p TurnPayload) bt.Request {
	return bt.Request{Kind: EffectTurn, Label: fmt.Sprintf("turn %d of %d", p.Turn, p.MaxTurns), Payload: p}
}

// ReadTurn reads the receipt of a turn, and what a tree knows of the reply and its calls. err is the fault of a turn
// that failed.
func ReadTurn[R any](c bt.Completion, tools []ToolFact) (r TurnReceipt[R], reply Reply, err error) {
	if c.Err != nil {
		return r, reply, c.Err
	}
	if r, err = bt.ResultOf[TurnReceipt[R]](c); err != nil {
		return r, reply, fmt.Errorf("receipt of the turn: %w", err)
	}
	reply = Reply{Ref: c.Ref, HasText: hasWords(r.Text), Asks: endsWithQuestion(r.Text), Tokens: r.budgetTokens(),
		Sent: r.Sent(), Cut: r.Cut, Counted: r.Usage.InputTokens,
		History: r.History, Prompt: r.PromptSize, Model: r.Model, Instead: r.whyInstead(), Refused: r.Refused}
	for _, call := range r.Calls {
		reply.Calls = append(reply.Calls, factOfCall(call, tools))
	}
	return r, reply, nil
}

func factOfCall(call model.ToolCall, tools []ToolFact) CallFact {
	f := CallFact{Name: call.Name, Digest: Digest(call.Name, " ", call.Arguments),
		Key: callKey(call.Name, call.Arguments), Brief: text.Brief(call.Arguments, 80)}
	t := factOf(tools, call.Name)
	if t.Once || t.Out.To != "" {
		f.Digest, f.Twice, f.Size = digestOfCall(call.Name, call.Arguments), repeatedName(call.Arguments), len(call.Arguments)
	}
	if t.Out.Arg == "" {
		return f
	}
	text, _ := sentText(t.Out, call.Arguments)
	switch t.Out.To {
	case tool.ToAddress:
		f.Where = Address(text)
	case tool.ToEngine:
		f.Length = utf8.RuneCountInString(text)
	}
	return f
}

func hasWords(text string) bool { return strings.TrimSpace(text) != "" }

// endsWithQuestion says whether a text ends with a question.
func endsWithQuestion(text string) bool {
	return strings.HasSuffix(strings.TrimRight(text, " \t\r\n*_\"'”)"), "?")
}

// budgetTokens is how many tokens the turn counts against a budget, estimated if the provider reports nothing.
func (r *TurnReceipt[R]) budgetTokens() int {
	if r.Usage != (model.Usage{}) {
		return budgetTokens(r.Usage)
	}
	return r.Sent()
}

// Sent is the size of the turn's request without the tools, and of its reply, estimated.
func (r *TurnReceipt[R]) Sent() int { return r.PromptSize + r.History }

// budgetTokens is how many tokens count against a budget: those sent and not cached, and those written. So a cached
// conversation is not counted again with every turn.
func budgetTokens(u model.Usage) int { return max(0, u.InputTokens-u.CachedTokens) + u.OutputTokens }

// whyInstead says why another model than the first one answered; "" if the first did.
func (r *TurnReceipt[R]) whyInstead() string {
	var why []string
	for _, t := range r.Tries {
		why = append(why, t.String())
	}
	return strings.Join(why, "; ")
}

// CharsPerToken is how many characters a token has in estimates.
const CharsPerToken = 4

// Tokens estimates the tokens of a text: a quarter of its characters, rounded up.
func Tokens(text string) int { return TokensOf(utf8.RuneCountInString(text)) }

// TokensOf is Tokens for a number of characters.
func TokensOf(chars int) int { return (chars + CharsPerToken - 1) / CharsPerToken }

func callTokens(calls []model.ToolCall) (n int) {
	for _, c := range calls {
		n += Tokens(c.Name) + Tokens(c.Arguments)
	}
	return n
}

// Digest is a short hash of a text, which may be given in parts.
func Digest(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "")))
	return hex.EncodeToString(sum[:8])
}

// HasToolCalls is a check of the reply.
func HasToolCalls() bt.Leaf {
	type in struct {
		Reply Reply `port:"reply"`
	}
	return bt.Check("HasToolCalls", "Does the reply ask for tools?", func(i in) (bool, string) {
		var names []string
		for _, c := range i.Reply.Calls {
			names = append(names, c.Name)
		}
		return len(names) > 0, cmp.Or(strings.Join(names, ", "), "no calls")
	})
}
