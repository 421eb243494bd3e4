// Package assistant is the contract between an assistant and the use cases: what a room brings so that its runs can be
// started, watched, shown, explained, audited and exported by every way in.
//
// Guarantees:
//   - Nothing outside an assistant's room decodes its outcomes, its receipts or its events: they are read by the
//     functions here.
//   - These functions are pure but for Begin, which may look at the outside, and starts nothing.
package assistant

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/schema"
)

// Assistant is a description of itself. Lines, Places, Effect, Audit and Texts may be nil.
type Assistant struct {
	*run.Assistant
	About     string        // what it does, in a line
	Tree      string        // the name of its tree
	Companion bool          // its runs accompany those of another assistant: “last” never means them
	Retention time.Duration // how long a session that nobody uses is kept; 0: until it is removed by hand
	Permanent bool          // no retention and no pruning removes its sessions
	// what was said in its sessions lies in a place of its own, and is found there; none of them is found by its runs
	Apart bool
	// a run whose claim another holds is refused at once (journal.ClaimedError): it is not waited for
	Exclusive bool
	Retakes   bool        // another run may take the place of its last one, unless that one has acted (Shown.Acted)
	Events    []bt.Typed  // one of each type that its leaves emit
	Reasons   []bt.Reason // those that its events give

	// Options are what can be said beside the words, declared by the struct that Begin takes: flags, settings, HTTP and
	// MCP are read into it. Nil: it can't be begun by a person.
	Options *schema.Object
	// Tool offers it over MCP; nil: it is not offered.
	Tool *Tool

	// Begin makes a run of what a person said, as BeginWith makes it: it checks words and options, and fills in all of
	// the Spec but owner and tree. A Request without a session may be given one that the options mean: the same each
	// time, and made with its first run.
	Begin func(ctx context.Context, r Request) (run.Spec, error)
	// Offers says what it would do with words that were said to another assistant, as a question to be answered by yes,
	// if they are plainly meant for it; else "". Nil: it offers nothing.
	Offers func(words string) (question string)
	// Form is the form of an outcome, for those who describe it: a zero value. Nil: an object that nothing is said of.
	Form any
	// Show reads the outcome of a run that has ended.
	Show func(outcome json.RawMessage) (Shown, error)
	// Words are what a run that has ended is found by. Nil: its question and its answer.
	Words func(outcome []byte) (string, error)
	// Lines are the progress of a run in words, for somebody who waits: of each event as it happens.
	Lines func(start *run.StartRecord, event bt.Typed) []string
	// Early reads from a receipt a part of the answer that is whole before the run has ended; nil if it has none. Nil:
	// the answer comes at the end.
	Early func(c *run.CompletionRecord) *EarlyPart
	// Places are what the answer cites, in its order, and then what else was read, in the order in which it was. Nil:
	// there are none.
	Places func(start *run.StartRecord, outcome json.RawMessage) []Place
	// Passages are the texts that a run opened, in the order of its receipts, each page of a document also alone, and
	// those that were handed over. Nil: there are none.
	Passages func(ctx context.Context, v *run.View) ([]Passage, error)
	// Effect gives what an audit says of an effect beside its receipt; nil for nothing.
	Effect func(c *run.CompletionRecord) any
	// Left says what an effect sent out of this program; nil: nothing but requests to models, which SentToModels has.
	Left func(c *run.CompletionRecord) []Left
	// Used says what a model took for an effect; false: none did. Nil: as UsedBy reads it.
	Used func(c *run.CompletionRecord) (Usage, bool)
	// ShowEffect shows what an effect sent and what came back, as far as v holds it; it performs nothing. Nil, or a zero
	// ShownEffect: the payload and the result of the receipt are shown.
	ShowEffect func(ctx context.Context, v *run.View, c *run.CompletionRecord) (ShownEffect, error)
	// Audit gives what else an audit says of a run, of its records as run.Read gives them and its steps.
	Audit func(bodies []any, steps []run.TraceStep) Findings
	// Texts gives the texts of a folder that stand in place of a run's own in a replay.
	Texts func(folder string) func(ctx context.Context, v *run.View) ([]run.Text, error)
}

// Request is what a person asks of an assistant.
type Request struct {
	Assistant string        `json:"assistant" minLength:"1" maxLength:"64"`
	Session   string        `json:"session,omitempty" maxLength:"64" doc:"The id of the session that it goes on with. Left out: a session begins with it."`
	Words     string        `json:"words" minLength:"1" doc:"What is asked of the assistant."`
	Replaces  string        `json:"replaces,omitempty" maxLength:"64" doc:"The id of the last run of the session, whose place this one takes: what comes later goes on from this one. One that waits is stopped. Left out: it takes none."`
	Owner     journal.Owner `json:"-"` // who asks
	Options   any           `json:"-"` // the assistant's own, or GivenOptions
	// a program passes the words on, and may have made them: they are no yes, and nothing is written
	Relayed bool `json:"-"`
	// another run of the session has gone on since the words were said: they are no answer to what that one said
	Late bool `json:"-"`

	OverLimit bool `json:"-"` // the person knows that the day has cost what it may, and agrees

	// what is submitted again under the same key is the same run, for good; "": it is another one
	Key      string        `json:"-"`
	Patience time.Duration `json:"-"` // with a run that holds what this one wants to claim; 0: half a minute
}

// UsesModels is implemented by the Env of runs that ask models.
type UsesModels interface {
	// Models are those that it may ask, as provider:model.
	Models() []string
}

// GivenOptions are options given over HTTP or MCP. What they leave out is as in Base, else as in the settings.
type GivenOptions struct {
	JSON json.RawMessage
	Base any // options of the assistant; nil: the settings
	// finds a folder that is named; its error is told as it is
	Folder func(f *schema.Field, name string) (path string, err error)
}

// BeginWith is a Begin that takes options of one type.
func BeginWith[O any](
	begin func(context.Context, Request, O) (run.Spec, error),
) func(context.Context, Request) (run.Spec, error) {
	return func(ctx context.Context, r Request) (run.Spec, error) {
		o, ok := r.Options.(O)
		if !ok {
			return run.Spec{}, fmt.Errorf("the options are %T, and not %T", r.Options, o)
		}
		return begin(ctx, r, o)
	}
}

// Tool is how an assistant is offered to other programs over MCP.
type Tool struct {
	Name        string
	Title       string
	Description string // for a model
	Words       string // the argument that has the words
	Waits       bool   // a call waits for the answer, and writes nothing; else it begins a run, and is done
}

// Shown is an outcome as it reaches people.
type Shown struct {
	Question string   `json:"question"`
	Answer   string   `json:"answer" doc:"Markdown."`
	Partial  bool     `json:"partial" doc:"There is an answer, but not a whole one."`
	Warnings []string `json:"warnings" doc:"In English."`
	Notes    []string `json:"notes"` // what else is worth a line
	Ending   []string `json:"ending" doc:"How it came to its end."`
	Footer   string   `json:"footer" doc:"Markdown: what the answer rests on."`
	Notices  []Notice `json:"notices" doc:"What happened beside the answer, in the form of the assistant."`
	Failure  *Failure `json:"failure,omitempty" doc:"Why there is no answer."`

	Usage   []Usage   `json:"usage,omitempty" doc:"Of the models that were asked, where they count; rules do not."`
	Waiting []Waiting `json:"waiting,omitempty" doc:"Calls that wait for a yes: their numbers, from 1, stand in the yes."`
	Asks    bool      `json:"asks,omitempty" doc:"The answer is a question to the person: the next message answers it."`
	Acted   bool      `json:"acted,omitempty" doc:"It changed something, or carried out what the person had allowed: no other run takes its place."`
	Files   []string  `json:"files,omitempty" doc:"The names of the files that were handed over with the question."`

	WarningCodes []bt.Coded `json:"warning_codes,omitempty" doc:"Of the warnings, in their order: what words each in other languages. The last ones may have none."`

	Calls     []Call     `json:"calls,omitempty" doc:"Of tools, in the order in which the model wanted them."`
	Citations []Citation `json:"citations,omitempty" doc:"What the answer cites, in its order."`

	Sources []string `json:"-"` // what the answer cites, each as it is cited there
	Came    []bt.Why `json:"-"` // the last lines of the story of its run: how it ended, and why the answer is not whole
	Beside  []Usage  `json:"-"` // of models that other runs asked for it
}

// Warn adds a warning with its code.
func (s *Shown) Warn(why bt.Why) {
	for len(s.WarningCodes) < len(s.Warnings) {
		s.WarningCodes = append(s.WarningCodes, bt.Coded{})
	}
	s.Warnings, s.WarningCodes = append(s.Warnings, why.Text), append(s.WarningCodes, why.Coded)
}

// Call is a call of a tool, as people are told of it.
type Call struct {
	Tool    string `json:"tool"`
	Target  string `json:"target,omitempty" doc:"What it was made to: a file, an address, the words of a search."`
	Items   int    `json:"items,omitempty" doc:"How much it found or read."`
	TookMS  int64  `json:"took_ms"`
	Failed  bool   `json:"failed,omitempty"`
	Refused bool   `json:"refused,omitempty" doc:"It was not made."`
}

// Citation is what an answer names a source by. Several texts may name one source.
type Citation struct {
	Text   string `json:"text" doc:"As it stands in the answer."`
	Number int    `json:"number" doc:"Of the source, from 1: the sources of the explanation have it, too."`
	Read   bool   `json:"read" doc:"The source was read."`
}

// Waiting is a call that waits for the person's yes. Nothing of it is done before that. Nothing in its texts can't be
// seen.
type Waiting struct {
	Call      string     `json:"call" doc:"The tool."`
	Target    string     `json:"target,omitempty" doc:"What it is made to: a note, an address, the words of a search."`
	Arguments []Argument `json:"arguments" doc:"What else it passes on, to the letter."`
	bt.Why               // it waits
	Writes    bool       `json:"writes,omitempty" doc:"It changes something."`
	Yes       string     `json:"yes" doc:"What the next message says to allow it, once; numbers allow several: yes 1 2."`
}

// callWords say what a call would do, before its target, in the words of the page (allow.call in web/src/words).
var callWords = map[string]string{
	"vault_write": "Write to the note",
	"thread_push": "Add to the thread",
	"web_fetch":   "Open the page",
	"web_search":  "Search the web for",
}

// String shows the call and why it waits, each argument on a line of its own: one of several lines can't pass for
// another argument.
func (w Waiting) String() string { return w.describe(cmp.Or(callWords[w.Call], "Call "+w.Call)) }

// Exact is the same for an audit, with the name of the tool.
func (w Waiting) Exact() string { return w.describe(w.Call) }

func (w Waiting) describe(what string) string {
	b := &strings.Builder{}
	b.WriteString(strings.TrimSpace(what + " " + w.Target))
	for _, a := range w.Arguments {
		fmt.Fprintf(b, "\n    %s: %s", a.Name, strings.ReplaceAll(a.Value, "\n", "\n      "))
	}
	if w.Text != "" {
		fmt.Fprintf(b, "\n    why: %s", w.Text)
	}
	return b.String()
}

// Argument is an argument of a call as people see it.
type Argument struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// EarlyPart is a finished part of an answer that is still being written. Its Markdown is that of the answer.
type EarlyPart struct {
	Markdown string
	Used     Usage // that no receipt of the run tells, as another run had it made
}

// Usage is how many tokens a model took, or several without a name, as their providers count them, and what they cost.
type Usage struct {
	Model  string   `json:"model,omitempty"`
	Input  int      `json:"input_tokens"`
	Cached int      `json:"cached_tokens,omitempty" doc:"Of the input."`
	Output int      `json:"output_tokens"`
	Cost   *float64 `json:"cost,omitempty" doc:"In the currency of the server. Left out: a model that took part has no price."`
}

// Sum adds up what models took. One without a price leaves the sum without one.
func Sum(all ...Usage) (sum Usage) {
	cost, priced := 0.0, len(all) > 0
	for _, u := range all {
		sum.Input += u.Input
		sum.Cached += u.Cached
		sum.Output += u.Output
		if priced = priced && u.Cost != nil; priced {
			cost += *u.Cost
		}
	}
	if priced {
		sum.Cost = &cost
	}
	return sum
}

// Place is a place that was read, or that the answer cites though nobody read it.
type Place struct {
	Number     int    // by which the citations of the answer name it; 0: none does
	Cite       string // as answers name it
	File       string // where it lies on this machine; "" for what is no file, or is not known
	Start, End int    // lines, from 1; 0: the whole
	Handed     bool   // it was attached to the question
	Hash       string // of the file as it was read, as files.Hash gives it; "": not known
	Read       bool
	Cited      bool
}

// ShownEffect is an effect as it is shown to people: what was sent to a model or a tool, in parts, and what came back.
type ShownEffect struct {
	To      string // the model that answered, or the tool
	Sent    []Part
	Got     []Part
	LeftOut []string // of a prompt, each with the reason
	Changed bool     // this build composes another prompt than the one that was sent: Sent has that other one
}

// Part is a part of what was sent or came back.
type Part struct {
	Kind   PartKind `json:"kind" enum:"segment,tool,person,control,model,call,result,data"`
	Name   string   `json:"name,omitempty" doc:"Of the segment or the tool."`
	Text   string   `json:"text" doc:"Of a long part, the beginning."`
	Tokens int      `json:"tokens,omitempty" doc:"Estimated."` // 0: it is for others to estimate
}

// PartKind says what a part is.
type PartKind string

// The kinds of part.
const (
	PartSegment PartKind = "segment" // of the prompt
	PartTool    PartKind = "tool"    // a tool that is offered, as the model is told of it
	PartPerson  PartKind = "person"  // what the person said
	PartControl PartKind = "control" // what the control layer said
	PartModel   PartKind = "model"   // what the model said
	PartCall    PartKind = "call"    // a call of a tool with its arguments
	PartResult  PartKind = "result"  // what a tool gave
	PartData    PartKind = "data"    // JSON, as a record keeps it
)

// Failure is why there is no answer.
type Failure struct {
	Kind    string `json:"kind"` // "refused" by the model, or an error kind
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty" doc:"What would help."`
}

// Notice is something that happened beside the answer, for those who collect such: its data encode as JSON.
type Notice any

// Findings are an assistant's part of an audit: a list that is put into its JSON under Name, and the same as text.
type Findings struct {
	Name  string
	Items any
	Text  []Finding
}

// Finding is one of them as text. Quoted is what a model or a stranger wrote.
type Finding struct{ Line, By, Quoted string }

// RequestError says what is wrong with a request. Why and Hint are for those who sent it from elsewhere: they repeat
// nothing of it but the names of a model and of what was attached, and tell nothing of this machine, its files and its
// settings. The text of the error is for the person at this machine.
type RequestError struct {
	Kind string // what is wrong, for programs; "": invalid_request
	bt.Why
	Hint string // what would be right; may be empty
	Err  error  // the same in full; nil: Why and Hint say it
}

// NoModel says that the model of a request can't be asked.
const NoModel bt.Reason = "request.model: the model can't be used here"

func (e *RequestError) Error() string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case e.Hint != "":
		return e.Text + ": " + e.Hint
	}
	return e.Text
}

// Unwrap gives the error in full.
func (e *RequestError) Unwrap() error { return e.Err }

// Passage is the text of a place as a run read it.
type Passage struct {
	Cite  string   // as answers name it
	Name  string   // of the file, which stands in citations before the lines that they name
	From  int      // the number of the first line; 0: the lines have none
	Lines []string // what the journal keeps of them, redacted
}

// Holds says whether a place that answers name by cite lies in the passage.
func (p Passage) Holds(cite string, start int) bool {
	return p.Cite == cite || p.From > 0 && strings.HasPrefix(cite, p.Name+":") && p.From <= start && start < p.From+
		len(p.Lines)
}

// Fenced is the passage in Markdown, within a fence longer than any in it that names the language by the file's ending.
func (p Passage) Fenced() string {
	fence := "```"
	text := strings.Join(p.Lines, "\n")
	for strings.Contains(text, fence) {
		fence += "`"
	}
	language := strings.TrimPrefix(path.Ext(p.Name), ".")
	if strings.ContainsFunc(language, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		language = ""
	}
	return fence + language + "\n" + text + "\n" + fence
}
