// Package assistant is the contract between an assistant and the use cases: what an assistant's package provides so
// that the command line, the API and MCP can start, watch, show, explain, audit and export its runs.
//
// Guarantees:
//   - Nothing outside an assistant's package decodes its outcomes, receipts or events: the functions here read them.
//   - These functions have no side effects; only Begin, and those with a context, may read from outside.
package assistant

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/tool"
)

// Assistant is an assistant's description of itself. Begun, Audit and Texts may be nil: it has none then.
type Assistant struct {
	*run.Assistant
	About     string        // what it does, in a line
	Tree      string        // the name of its tree
	Companion bool          // its runs accompany those of another assistant: “last” never means them
	Retention time.Duration // how long a session that nobody uses is kept; 0: until it is removed by hand
	Permanent bool          // no retention and no pruning removes its sessions
	// its sessions are stored elsewhere, and found and listed there (service.Finder), not by their runs
	StoresSessions bool
	// a run whose claim another run holds is refused at once (journal.ClaimedError), without waiting
	Exclusive bool
	Retakes   bool        // its sessions have branches: a new run may replace one that has not acted, or follow any
	Events    []bt.Typed  // one of each type that its leaves emit
	Reasons   []bt.Reason // the sentences in its events

	// Options are the options of a request, declared by the struct that Begin takes: flags, settings, HTTP and MCP are
	// read into it. Nil: users can't begin its runs.
	Options *schema.Object
	// Tool offers it over MCP; nil: it is not offered.
	Tool *Tool

	// Begin makes the Spec of a run from a request: it checks words and options, and fills in all but owner and tree. It
	// starts nothing. BeginWith makes one. For a Request without a session it may name one that follows from the options,
	// always the same one, which is created with its first run.
	Begin func(ctx context.Context, r Request) (run.Spec, error)
	// Offers gives a yes-or-no question that offers this assistant for words that were said to another one; "" unless
	// they plainly ask for it. Nil: it offers nothing.
	Offers func(words string) (question string)
	// Setup gives what a session was set up with when a run of it began; "": the latest. Nil: its sessions keep nothing.
	Setup func(ctx context.Context, owner journal.Owner, session, run string) (Setup, error)
	// Form is a zero value of the type of its outcomes, for schemas. Nil: any object.
	Form any
	// Show reads the outcome of a run that has ended.
	Show func(outcome json.RawMessage) (Shown, error)
	// Words gives the text by which an ended run is found. Nil: its question and answer.
	Words func(outcome []byte) (string, error)
	// Begun gives what is told of a run when it begins, before any event: which model is asked.
	Begun func(start *run.StartRecord) bt.Why
	// Early reads from a receipt a part of the answer that is complete before the run ends; nil if there is none. Nil:
	// the answer comes only at the end.
	Early func(c *run.CompletionRecord) *EarlyPart
	// Places gives what the answer cites, in its order, and then what else was read, in the order of reading. Nil: it
	// has none.
	Places func(start *run.StartRecord, outcome json.RawMessage) []Place
	// Passages gives the texts that a run opened, in the order of its receipts, each page of a document also alone, and
	// those that were attached to the question. Nil: it has none.
	Passages func(ctx context.Context, v *run.View) ([]Passage, error)
	// Effect gives what an audit adds to the receipt of an effect; nil for nothing. Nil: as if it gave nil.
	Effect func(c *run.CompletionRecord) any
	// Left gives what an effect sent out of this program. Nil: only requests to models, as SentToModels reads them.
	Left func(c *run.CompletionRecord) []Left
	// ShowEffect shows what an effect sent and what came back, as far as v holds it; it performs nothing. Nil, or a zero
	// ShownEffect: the payload and the result of the receipt are shown.
	ShowEffect func(ctx context.Context, v *run.View, c *run.CompletionRecord) (ShownEffect, error)
	// Audit gives the assistant's part of a run's audit. bodies are the records as run.Read gives them, even with an
	// error.
	Audit func(bodies []any, steps []run.TraceStep) Findings
	// Texts gives a function with which a replay reads the texts of a folder instead of the run's own.
	Texts func(folder string) func(ctx context.Context, v *run.View) ([]run.Text, error)
}

// Request is what a user asks of an assistant.
type Request struct {
	Assistant string        `json:"assistant" minLength:"1" maxLength:"64"`
	Session   string        `json:"session,omitempty" maxLength:"64" doc:"The id of the session that it goes on with. Left out: a session begins with it."`
	Words     string        `json:"words" minLength:"1" doc:"What is asked of the assistant."`
	Replaces  string        `json:"replaces,omitempty" maxLength:"64" doc:"The id of a run of the session whose place this one takes, in a branch of its own: it goes on from what that one went on from. One that waits is stopped. Left out: it takes none."`
	Follows   string        `json:"follows,omitempty" maxLength:"64" doc:"The id of the run of the session that this one goes on from, where that has branches. Left out, without replaces: the latest run."`
	Owner     journal.Owner `json:"-"` // who asks
	Options   any           `json:"-"` // the assistant's own, or GivenOptions
	// a program passes the words on, perhaps its own: they count as no yes, and the run writes nothing
	Relayed bool `json:"-"`
	// its start waited for another run or was tried again: the words are no reply to what was said meanwhile
	Late bool `json:"-"`

	// whether the request itself sets an option, by its name in JSON: what it does not set is as the session was set up;
	// nil: it sets all
	Sets func(option string) bool `json:"-"`
	// whether a folder that the session was set up with may be read by who asks; nil: each may
	MayRead func(path string) bool `json:"-"`
	// the user allows calls of an earlier run: the words are that run's question, with which this one goes on; nil: the
	// words are the user's
	Allows *Allowance `json:"-"`

	OverLimit bool `json:"-"` // the user agrees to go beyond the day's limit of costs

	// requests with the same key give the same run, for good; "": each gives another run
	Key      string        `json:"-"`
	Patience time.Duration `json:"-"` // how long to wait for a run that holds its claim; 0: half a minute
}

// KeepModel sets the model of a request that sets none to the one that was chosen in its session before; "": none was.
// It returns the one that is chosen now; the usual model of the settings is not.
func (r Request) KeepModel(wanted *string, before string) (chosen string) {
	if r.Sets == nil || r.Sets("model") {
		return *wanted
	}
	*wanted = cmp.Or(before, *wanted)
	return before
}

// Setup is what a session was set up with. Its next run has the same, unless its request says otherwise. The names of
// its folders are paths, or those that whoever asks has for them.
type Setup struct {
	Code  string   `json:"code,omitempty" doc:"The folder of code that is searched."`
	Vault string   `json:"vault,omitempty" doc:"The folder of notes that is searched, and written to on request."`
	Web   *bool    `json:"web,omitempty" doc:"Whether the web is searched. Left out: as a question needs it."`
	Model string   `json:"model,omitempty" doc:"The model that was chosen. Left out: the usual one."`
	Files []string `json:"files,omitempty" doc:"The names of what was handed over in it, which is shown again as far as there is room."`
}

// Allowance is a user's yes to calls of a run that wait for it, by their numbers from 1.
type Allowance struct {
	Run   string
	Calls []int
}

// UsesModels is implemented by the Env of a run that asks models.
type UsesModels interface {
	// Models lists the models that the run may ask, as provider:model.
	Models() []string
}

// GivenOptions are options from a request over HTTP or MCP. What they leave out comes from Base, or else from the
// settings.
type GivenOptions struct {
	JSON json.RawMessage
	Base any // options of the assistant; nil: the settings
	// finds the folder of a name; its error is returned unchanged
	Folder func(f *schema.Field, name string) (path string, err error)
	// whether who asks may read a folder; nil: each
	MayRead func(path string) bool
}

// Set lists the options that the JSON sets; null sets one to nothing.
func (g GivenOptions) Set() []string {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(g.JSON, &all) // what is no object is refused where it is decoded
	return slices.Collect(maps.Keys(all))
}

// BeginWith makes an Assistant.Begin of a function that takes options of one type; others are an error.
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

// Tool describes an assistant as an MCP tool.
type Tool struct {
	Name        string
	Title       string
	Description string // for a model
	Words       string // the name of the argument with the words
	Waits       bool   // a call waits for the answer, and writes nothing; else it only begins a run
}

// Shown is an outcome as it is shown to people.
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
	Allowed bool      `json:"allowed,omitempty" doc:"It goes on with an earlier question, for which the person had allowed calls."`
	Acted   bool      `json:"acted,omitempty" doc:"It changed something, or carried out what the person had allowed: no other run takes its place."`
	Files   []string  `json:"files,omitempty" doc:"The names of the files that were handed over with the question."`

	WarningCodes []bt.Coded `json:"warning_codes,omitempty" doc:"Of the warnings, in their order: what words each in other languages. The last ones may have none."`

	Calls     []Call     `json:"calls,omitempty" doc:"Of tools, in the order in which the model wanted them."`
	Citations []Citation `json:"citations,omitempty" doc:"What the answer cites, in its order."`

	Sources []string `json:"-"` // the citations in the answer, as they are written there
	Noted   []Line   `json:"-"` // what the notes say, in their order; the last ones may have no other words
	Came    []bt.Why `json:"-"` // the last lines of the story of its run: how it ended, and why the answer is not whole
	Beside  []Usage  `json:"-"` // of models that other runs used on its behalf
}

// Note adds a note, before any that has no other words.
func (s *Shown) Note(line ...Clause) {
	s.Noted = append(s.Noted, line)
	s.Notes = append(s.Notes, Line(line).In(fmt.Sprintf))
}

// Warn adds a warning with its code; earlier warnings without one get an empty code.
func (s *Shown) Warn(why bt.Why) {
	for len(s.WarningCodes) < len(s.Warnings) {
		s.WarningCodes = append(s.WarningCodes, bt.Coded{})
	}
	s.Warnings, s.WarningCodes = append(s.Warnings, why.Text), append(s.WarningCodes, why.Coded)
}

// Call is a call of a tool as it is shown to people.
type Call struct {
	Tool    string `json:"tool"`
	Target  string `json:"target,omitempty" doc:"What it was made to: a file, an address, the words of a search."`
	Items   int    `json:"items,omitempty" doc:"How much it found or read."`
	TookMS  int64  `json:"took_ms"`
	Failed  bool   `json:"failed,omitempty"`
	Refused bool   `json:"refused,omitempty" doc:"It was not made."`
}

// Citation is how an answer names a source. Several texts may name one source.
type Citation struct {
	Text   string `json:"text" doc:"As it stands in the answer."`
	Number int    `json:"number" doc:"Of the source, from 1: the sources of the explanation have it, too."`
	Read   bool   `json:"read" doc:"The source was read."`
}

// Waiting is a call that waits for the user's yes, and is not performed before. Its texts have no invisible characters.
type Waiting struct {
	Call      string     `json:"call" doc:"The tool."`
	Target    string     `json:"target,omitempty" doc:"What it is made to: a note, an address, the words of a search."`
	Arguments []Argument `json:"arguments" doc:"What else it passes on, to the letter."`
	bt.Why               // why it waits
	Writes    bool       `json:"writes,omitempty" doc:"It changes something."`
	Yes       string     `json:"yes" doc:"What the next message says to allow it, once; numbers allow several: yes 1 2."`
	// from the run's receipts, without secrets
	Change *tool.Change `json:"change,omitempty" doc:"What it would change: the text as it was when it was held, and as it would be. Left out: not known, or too long."`
}

// callWords says what a call of a tool would do to its target, in the same words as allow.call in web/src/words.
var callWords = map[string]string{
	"vault_write": "Write to the note",
	"thread_push": "Add to the thread",
	"web_fetch":   "Open the page",
	"web_search":  "Search the web for",
}

// String describes the call and why it waits, each argument on a line of its own. Further lines of an argument are
// indented, so that they can't pass for another one.
func (w Waiting) String() string { return w.In(fmt.Sprintf) }

// In is String with the words of a language: say fills in formats that are given in English. Why it waits is w.Text.
func (w Waiting) In(say func(format string, values ...any) string) string {
	words, known := callWords[w.Call]
	if !known {
		return w.describe(say("Call %s", w.Call), say("why"))
	}
	return w.describe(say(words), say("why"))
}

// Exact is String for an audit: it gives the name of the tool instead of words.
func (w Waiting) Exact() string { return w.describe(w.Call, "why") }

func (w Waiting) describe(what, why string) string {
	b := &strings.Builder{}
	b.WriteString(strings.TrimSpace(what + " " + w.Target))
	for _, a := range w.Arguments {
		fmt.Fprintf(b, "\n    %s: %s", a.Name, strings.ReplaceAll(a.Value, "\n", "\n      "))
	}
	if w.Text != "" {
		fmt.Fprintf(b, "\n    %s: %s", why, w.Text)
	}
	return b.String()
}

// PendingID is the id of the pending row of a run's waiting call with that number, from 1. In their order they sort as
// the calls do.
func PendingID(run string, number int) string { return fmt.Sprintf("%s.%02d", run, number) }

// Argument is an argument of a call as people see it.
type Argument struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// EarlyPart is a part of an answer, given before its end. The answer will contain Markdown unchanged.
type EarlyPart struct {
	Markdown string
	Used     Usage // of another run that made this part; no receipt of this run has it
}

// Usage is the tokens that a model used, as its provider counts them, and their cost. A sum of several has no Model.
type Usage struct {
	Model  string   `json:"model,omitempty"`
	Input  int      `json:"input_tokens"`
	Cached int      `json:"cached_tokens,omitempty" doc:"Of the input."`
	Output int      `json:"output_tokens"`
	Cost   *float64 `json:"cost,omitempty" doc:"In the currency of the server. Left out: a model that took part has no price."`
}

// UsageOf gives the usage of a model, without its cost.
func UsageOf(u journal.Used) Usage {
	return Usage{Model: u.Model, Input: u.Input, Cached: u.Cached, Output: u.Output}
}

// Sum adds up usages, without a Model. If one of them has no Cost, neither has the sum.
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

// Place is a place that a run read, or that its answer cites though the run did not read it.
type Place struct {
	Number     int    // of the citations that name it; 0: none does
	Cite       string // as answers name it
	File       string // its path on this machine; "": it is no file, or the path is not known
	Start, End int    // lines, from 1; 0: the whole text
	Handed     bool   // it was attached to the question
	Hash       string // of the file as it was read, as files.Hash gives it; "": not known
	Read       bool
	Cited      bool
}

// ShownEffect is an effect as it is shown to people: the parts that were sent to a model or a tool, and what came back.
type ShownEffect struct {
	To      string // the model that answered, or the tool
	Sent    []Part
	Got     []Part
	LeftOut []string // of the prompt, each with the reason
	Changed bool     // this build composes a different prompt than was sent: Sent is the one of this build
}

// Part is a part of what was sent or came back.
type Part struct {
	Kind   PartKind `json:"kind" enum:"segment,tool,person,control,model,call,result,data"`
	Name   string   `json:"name,omitempty" doc:"Of the segment or the tool."`
	Text   string   `json:"text" doc:"Of a long part, the beginning."`
	Tokens int      `json:"tokens,omitempty" doc:"Estimated."` // 0: the reader estimates them
}

// PartKind says what a part is.
type PartKind string

// The kinds of part.
const (
	PartSegment PartKind = "segment" // of the prompt
	PartTool    PartKind = "tool"    // an offered tool, as it is described to the model
	PartPerson  PartKind = "person"  // what the user said
	PartControl PartKind = "control" // what the control layer said
	PartModel   PartKind = "model"   // what the model said
	PartCall    PartKind = "call"    // a call of a tool with its arguments
	PartResult  PartKind = "result"  // what a tool returned
	PartData    PartKind = "data"    // JSON as it is in a record
)

// Failure is why there is no answer.
type Failure struct {
	Kind    string `json:"kind"` // "refused" by the model, or an error kind
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty" doc:"What would help."`
}

// Notice is something that happened besides the answer, in the assistant's own type, which encodes as JSON.
type Notice any

// Findings is an assistant's part of an audit: Items, which the JSON has under Name, and the same as Text.
type Findings struct {
	Name  string
	Items any
	Text  []Finding
}

// Finding is a finding as text. Quoted is what a model or a stranger wrote.
type Finding struct{ Line, By, Quoted string }

// RequestError says what is wrong with a request. Why and Hint may be sent to other machines: of a request they repeat
// only the names of a model and of attachments, and they reveal nothing about this machine, its files and settings.
// The text of the error is for the user at this machine.
type RequestError struct {
	Kind string // a code for programs; "": invalid_request
	bt.Why
	Hint string // how to correct it; may be empty
	Err  error  // the error in full; nil: Why and Hint are all
}

const noModel bt.Reason = "request.model: the model can't be used here"

// ModelError is the error of a request whose model can't be used.
func ModelError(err error) error {
	return &RequestError{Why: noModel.With(), Hint: "leave it out to use the configured one", Err: err}
}

func (e *RequestError) Error() string {
	switch {
	case e.Err != nil:
		return e.Err.Error()
	case e.Hint != "":
		return e.Text + ": " + e.Hint
	}
	return e.Text
}

// Unwrap returns Err.
func (e *RequestError) Unwrap() error { return e.Err }

// Passage is the text of a place as a run read it.
type Passage struct {
	Cite  string   // as answers name it
	Name  string   // of the file, as it comes before the lines in citations
	From  int      // the number of the first line; 0: the lines have none
	Lines []string // as the journal keeps them, redacted
}

// Holds says whether the passage contains the place that answers cite as cite and that begins with line start.
func (p Passage) Holds(cite string, start int) bool {
	return p.Cite == cite || p.From > 0 && strings.HasPrefix(cite, p.Name+":") && p.From <= start && start < p.From+
		len(p.Lines)
}

// Fenced gives the passage as a Markdown code block, with a fence longer than any in it, and the file's language.
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
