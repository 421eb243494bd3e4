// Package model is the contract between Sibyl and a chat model, whoever serves it.
//
// Guarantees of every adapter (checked by the suite in modeltest):
//   - Chat returns only after its last call to emit, and never calls emit concurrently.
//   - The concatenation of the emitted text since the last retract equals Response.Text.
//   - On an error the Response holds the text that had arrived, and the error is an *Error with a Kind.
//   - Cancelling the context ends the request itself, not only the waiting for it.
//   - Adapters never retry: the caller decides (see Retry).
//   - Adapters ignore Purpose and Facts; only the offline model reads them.
package model

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Role says who speaks a Message.
type Role string

// The roles of a conversation. The system prompt is Request.System, not a message.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Message is one turn of the conversation sent to a model.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`

	// Pictures stand before the text of a user message; in others they are not sent.
	Pictures []Picture `json:"pictures,omitempty"`

	// ToolCalls are the calls an assistant message asked for.
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`

	// ToolCallID and ToolName say which call a tool message answers.
	ToolCallID string `json:"tool_call_id,omitempty"`
	ToolName   string `json:"tool_name,omitempty"`
	IsError    bool   `json:"is_error,omitempty"`

	// Native is the assistant turn as its provider gave it, for providers that sign their thinking.
	// An adapter sends it back only if Native.Provider is its own; others use Text and ToolCalls.
	Native *Native `json:"native,omitempty"`
}

// Picture is the content of a picture file that a person shows a model. Its type is one of PictureTypes.
type Picture struct {
	Type string `json:"type"`
	Data []byte `json:"data"`
}

// PictureTypes are the media types of pictures that models take. Not each model takes each: the provider's error says
// so.
func PictureTypes() []string { return []string{"image/png", "image/jpeg", "image/webp", "image/gif"} }

// URL is the picture as a data URL.
func (p Picture) URL() string {
	return "data:" + p.Type + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}

// Native is a provider's own form of an assistant turn, and the thinking that was taken out of its text, which is never
// sent back. Turn is nil if there is no such form.
type Native struct {
	Provider string          `json:"provider"`
	Turn     json.RawMessage `json:"turn,omitempty"`
	Thinking string          `json:"thinking,omitempty"`
}

// ToolCall is a model's proposal to call a tool. Arguments is the text the model wrote: it may not be valid JSON.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Tool describes a tool to a model. Schema is a JSON Schema object for its arguments.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// Request asks a model for one assistant turn. No tools means that no tool may be called.
type Request struct {
	System          string
	Messages        []Message
	Tools           []Tool
	MaxOutputTokens int // 0: the provider's default

	// Bound ends an answer that goes on for longer, in tokens by estimate and without its thinking; 0: none. The
	// provider is not told, since many refuse a limit that the model or its window does not have. A limit of output
	// that the person has set replaces it. BoundTurn and others are there for it.
	Bound int

	// NoCalls says that no tool may be called. Tools still lists them, as in earlier requests of the conversation, so
	// that the provider's cache stays valid. If a protocol can't say so, the tools are left out.
	NoCalls bool

	// Greedy asks for the likeliest words, not for varied ones: a temperature of 0, where the server is the person's own.
	// Others have a temperature that fits their models, or refuse to have one set.
	Greedy bool

	// Schema, if set, asks for a text that is one JSON value. Providers enforce it if they can; see also Structured.
	Schema *Schema

	// Purpose names what the request is for ("oracle.turn"); Facts is the typed situation behind it.
	// The offline model answers from these, so that nobody parses a prompt.
	Purpose string
	Facts   any
}

// Sent is what a receipt keeps of a request, whose texts can be composed again.
type Sent struct {
	Hash  string `json:"sent,omitempty"`       // of its texts
	Bytes int    `json:"sent_bytes,omitempty"` // of them
	Cut   int    `json:"cut,omitempty"`        // tokens that it had to spare, so that it fits into the model's window
}

// Digest returns hash and size of the texts of a request: of the system prompt, and of the messages with their roles.
// Pictures are hashed too.
func (r Request) Digest() Sent {
	h, n := sha256.New(), 0
	add := func(what, text string) {
		n += len(text)
		_, _ = fmt.Fprintf(h, "%s %d\n%s", what, len(text), text) // a hash takes all
	}
	add("system", r.System)
	for _, m := range r.Messages {
		add(string(m.Role), m.Text)
		for _, p := range m.Pictures {
			h.Write(p.Data)
		}
	}
	return Sent{Hash: "sha256:" + hex.EncodeToString(h.Sum(nil)), Bytes: n}
}

// Schema is the form of an answer: a JSON Schema, and its name of at most 64 letters, digits, underscores and hyphens.
// Hosted providers enforce it only if each object in it forbids additional properties and requires all of its own.
type Schema struct {
	Name string
	JSON json.RawMessage
}

// Delta is one piece of a streamed answer. Retract withdraws all text and thinking emitted so far: an attempt failed,
// and another begins. Wait, if set, says when the next attempt begins. Reading, if set, says how much of the request is
// read; then there is nothing else. Thinking is what the model thinks, as its provider shows it: it is no part of the
// answer, and stands alone, too.
type Delta struct {
	Text     string
	Retract  bool
	Wait     *Wait
	Reading  *Reading
	Thinking string
}

// Wait is a pause between two attempts.
type Wait struct {
	Until   time.Time
	Model   string // that is asked again
	Kind    Kind   // why the attempt before failed
	Attempt int    // that failed, from 1
}

// Finish says why a model stopped.
type Finish string

// Why a model stopped. FinishOther covers what a provider says beyond these.
const (
	FinishStop   Finish = "stop"
	FinishTools  Finish = "tools"
	FinishLength Finish = "length"
	FinishFilter Finish = "filter"
	FinishOther  Finish = "other"

	// FinishRepeated: the model wrote the same again and again, and was stopped. The text is what came before.
	FinishRepeated Finish = "repeated"
)

// OrInferred returns f or, if it is empty, the usual Finish of a turn with these calls.
func (f Finish) OrInferred(calls []ToolCall) Finish {
	switch {
	case f != "":
		return f
	case len(calls) > 0:
		return FinishTools
	}
	return FinishStop
}

// Usage counts tokens as the provider reported them; zero where it reported none.
type Usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	CachedTokens int `json:"cached_tokens,omitempty"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.InputTokens + v.InputTokens, u.OutputTokens + v.OutputTokens, u.CachedTokens + v.CachedTokens}
}

// Response is one assistant turn. Model is stamped "provider:model"; the model part may hold dots, colons and slashes.
type Response struct {
	Text      string     `json:"text"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	Finish    Finish     `json:"finish"`
	Usage     Usage      `json:"usage"`
	Model     string     `json:"model"`
	Native    *Native    `json:"native,omitempty"`

	// Reported is the usage that the provider reported, if it can't be true. Usage is then a possible one.
	Reported *Usage `json:"reported,omitempty"`

	// LeftOut are tools that were not offered, since the provider refuses their schemas, or takes none.
	LeftOut []string `json:"left_out,omitempty"`

	// Dropped counts the fields of the answer that could not be read, none of which holds text or a call.
	Dropped int `json:"dropped,omitempty"`

	// Attempts counts the requests made for this answer, failed ones included.
	Attempts int `json:"attempts,omitempty"`

	// Tries are the models of a fallback chain that did not answer before the one that did, in order.
	Tries []Try `json:"tries,omitempty"`
}

// isThinkingAlone says whether nothing came but what the provider, or the text, marks as thinking.
func (r Response) isThinkingAlone() bool {
	return r.Native != nil && r.Finish == FinishStop && len(r.ToolCalls) == 0 && strings.TrimSpace(r.Text) == ""
}

// Try is a model of a fallback chain that did not answer. Cooling: it was not asked, since it had failed a short time
// before.
type Try struct {
	Model   string `json:"model"`
	Kind    Kind   `json:"kind"`
	Status  int    `json:"status,omitempty"` // of HTTP; 0 where there was none
	Message string `json:"message"`
	Cooling bool   `json:"cooling,omitempty"`
	Unsent  bool   `json:"unsent,omitempty"` // as in Error
}

func (t Try) String() string {
	if t.Cooling {
		return t.Model + " is left alone for a while (" + t.Kind.Words() + ")"
	}
	return t.Model + ": " + t.Kind.Words()
}

// OfflineRules is the Model.ID of answers that come from rules, not from a model.
const OfflineRules = "offline:rules"

// Model answers requests. Implementations are safe for concurrent use.
type Model interface {
	// ID is the stamp "provider:model".
	ID() string

	// Local says whether the model runs on this machine: then nothing sent to it leaves the machine.
	Local() bool

	// Chat asks for one turn, passing text to emit as it arrives. An error from emit ends the request and is returned
	// wrapped. emit may be nil.
	Chat(ctx context.Context, req Request, emit func(Delta) error) (Response, error)
}

// SplitID splits "provider:model" at the first colon. A text without a colon is a provider alone.
func SplitID(id string) (provider, name string) {
	provider, name, _ = strings.Cut(id, ":")
	return provider, name
}

// Info holds the known properties of a model; zero fields are unknown.
type Info struct {
	Window int `json:"window,omitempty"` // tokens that request and answer have together
	Output int `json:"output,omitempty"` // tokens of an answer at most

	NoChat     bool `json:"no_chat,omitempty"`     // it can't chat: it embeds
	NoTools    bool `json:"no_tools,omitempty"`    // it takes no tools
	Parameters int  `json:"parameters,omitempty"`  // that it consists of; 0: not known
	NoPictures bool `json:"no_pictures,omitempty"` // it takes text alone

	// BareCalls says that an answer with calls must have no text: the server would not see the calls.
	BareCalls bool `json:"bare_calls,omitempty"`

	// Digest identifies what stands behind the model's name, as its server tells it; "": it tells nothing.
	Digest string `json:"digest,omitempty"`
}

// DigestOf makes a Digest of what a server tells of a model; "" if that is nothing.
func DigestOf(told ...string) string {
	if strings.Join(told, "") == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(told, "\x00")))
	return hex.EncodeToString(sum[:12])
}

// Describer is an adapter that can ask its provider for the model's properties.
type Describer interface {
	// Describe asks the provider. Errors are *Error, as from Chat.
	Describe(ctx context.Context) (Info, error)
}

// Kind classifies failures by what the caller can do about them.
type Kind string

// The kinds of failure. RateLimit, Overloaded, Timeout, Server and most that are Garbled are worth another try.
const (
	RateLimit     Kind = "rate_limit"     // too many requests: wait
	Overloaded    Kind = "overloaded"     // the provider has too much to do, for everybody: wait
	Payment       Kind = "payment"        // no credit, or a quota that only money lifts
	OutputLength  Kind = "output_length"  // the limit of output was used up by thinking: there is no answer
	Auth          Kind = "auth"           // the key is missing, wrong or may not use this model
	ContextLength Kind = "context_length" // the request does not fit into the model's window
	Timeout       Kind = "timeout"        // no answer, or silence in the middle of one, past the deadline
	Server        Kind = "server"         // the provider failed, could not be reached, or cut the stream
	Refused       Kind = "refused"        // the provider will not answer this content
	Invalid       Kind = "invalid"        // the request was wrong: unknown model, bad argument
	Garbled       Kind = "garbled"        // the answer is not what the protocol promises
	Repeated      Kind = "repeated"       // the model wrote the same again and again: there is no answer
	Cancelled     Kind = "cancelled"      // the caller withdrew the request
)

// Words explains a kind to people.
func (k Kind) Words() string {
	return cmp.Or(map[Kind]string{
		RateLimit: "too many requests", Overloaded: "the provider is overloaded", Payment: "there is no credit",
		OutputLength: "the reply is too long", Auth: "the key is refused", ContextLength: "the request is too long",
		Timeout: "no answer in time", Server: "the provider failed or can't be reached",
		Refused: "the provider refused to answer", Invalid: "the request was refused",
		Garbled: "the reply is unusable", Repeated: "the model repeats itself", Cancelled: "the request was cancelled",
	}[k], string(k))
}

// The causes of a Timeout by an adapter's own clock. Its Error wraps one of them.
var (
	ErrUnanswered = errors.New("no answer began in time")
	ErrEndless    = errors.New("the answer had no end")
)

// The causes of a Garbled answer that the same request would bring again: it has more than any answer, or the model has
// only thought.
var (
	ErrOversized   = errors.New("the answer has no bounds")
	ErrOnlyThought = errors.New("the model has only thought")
)

// Error is a failed request. Its text names provider and model and never holds a key.
type Error struct {
	Kind       Kind
	Model      string        // "provider:model"
	Status     int           // HTTP status; 0 where there was none
	RetryAfter time.Duration // what the provider asked for; 0 where it asked nothing
	Lost       bool          // the answer broke off after some text
	Unsent     bool          // no server was reached, so nothing of the request was sent
	Message    string        // the provider's own words, shortened
	Err        error
}

func (e *Error) Error() string {
	text := e.text()
	who := strings.TrimSuffix(e.Model, ":") // without a model: the provider's list was asked for
	if e.Status != 0 {
		return fmt.Sprintf("%s: %s (HTTP %d): %s", who, e.Kind.Words(), e.Status, text)
	}
	if (e.Kind == Server || e.Kind == Invalid) && text != "" { // the text says more than the kind
		return who + ": " + text
	}
	return fmt.Sprintf("%s: %s: %s", who, e.Kind.Words(), text)
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable says whether the same request may succeed later.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case RateLimit, Overloaded, Timeout, Server:
		return true
	case Garbled: // a sample that broke
		_, unfit := errors.AsType[*SchemaError](e.Err)
		return !unfit && !errors.Is(e.Err, ErrOversized) && !errors.Is(e.Err, ErrOnlyThought)
	}
	return false
}

// KindOf returns the kind of err: Cancelled or Timeout for a bare context error, Server for anything unknown.
func KindOf(err error) Kind {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e.Kind
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Server
}
