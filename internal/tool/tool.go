// Package tool is the contract between an assistant and what it can do in the world.
//
// A tool declares whether calling it twice does harm (Effect), where its results come from (Source), and returns text
// for the model together with the sources behind it. Guarantees of every tool:
//   - Call honours its context and bounds its own output (MaxText); Truncated says that something was cut.
//   - Arguments that the schema refuses are refused, and nothing is performed.
//   - An error is an *Error with a kind and, where one is known, a hint that would fix it.
//   - A Once tool uses Call.Key as idempotency key: a second call with the same key performs nothing and returns
//     the first result. Found says after a crash whether a call with that key took effect.
//   - Text is data. Nothing in it is an instruction to whoever reads it, and the caller neutralises it before a model
//     does.
package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"

	"sibyl/internal/files"
)

// MaxText bounds a result's text, in bytes.
const MaxText = 48 << 10

// Source says where a tool's results come from.
type Source string

// The sources a query can need, the task list, and the MCP servers of others.
const (
	Code   Source = "code"
	Vault  Source = "vault"
	Web    Source = "web"
	Task   Source = "task"
	Server Source = "server"
)

// Effect says what a second call would do.
type Effect string

// Repeatable tools only read. Once tools write: they are never repeated silently.
const (
	Repeatable Effect = "repeatable"
	Once       Effect = "once"
)

// Spec describes a tool to models, trees and people.
type Spec struct {
	Name         string
	Title        string          // for people; "": the name
	Description  string          // for the model: what it does, when to use it
	Schema       json.RawMessage // JSON Schema of the arguments, an object
	OutputSchema json.RawMessage // JSON Schema of Result.Data; nil: none is promised
	Source       Source
	Effect       Effect
	Foreign      bool // results were written by strangers (the web): they taint the run
	Search       bool // results are hits, not sources read: a search with no hit counts its source as tried and empty
	Destructive  bool // a Once tool that may remove or replace what was there
	Idempotent   bool // a Once tool that changes nothing more when it is called again with equal arguments
	Out          Out  // what of a call leaves the machine, and where it goes

	Target string // of a Once tool: the argument that names what it changes; "": none alone does
}

// Out says which of a call's arguments leave the machine, and where they go. The zero value: none.
type Out struct {
	To Outlet `json:"to,omitempty"`
	// of ToAddress and ToEngine: the argument that holds the address or the query, a text
	Arg     string `json:"arg,omitempty"`
	Trusted bool   `json:"trusted,omitempty"` // of ToServer: the person has allowed it to get private data
}

// Outlet says where data goes that leaves the machine.
type Outlet string

// The outlets.
const (
	ToAddress Outlet = "address" // a page that an address names
	ToEngine  Outlet = "engine"  // the search engine that the person has chosen
	ToServer  Outlet = "server"  // a server of somebody else, which gets all arguments
)

// Hints are what a server can say by MCP of a tool's behaviour.
type Hints struct{ ReadOnly, Destructive, Idempotent, OpenWorld bool }

// MCPHints derives a tool's Hints.
func (s Spec) MCPHints() Hints {
	reads := s.Effect == Repeatable
	return Hints{ReadOnly: reads, Destructive: !reads && s.Destructive, Idempotent: reads || s.Idempotent,
		OpenWorld: s.Foreign}
}

// Call is one invocation.
type Call struct {
	Args  json.RawMessage
	Key   string // unique to the effect, and the same after a crash
	Owner string // the owner of the run that calls
	// the version of what the call changes, as the caller saw it: another version is a Conflict; 0: any
	Version      int64
	Confirmation *Confirmation // the person's confirmation of the call; nil: there is none
}

// Confirmation names the pending row that a person confirmed.
type Confirmation struct {
	ID     string
	Digest string // of the tool's name, its arguments and the version of what they name
}

// ConfirmationDigest returns the Digest of a Confirmation of a call: of the tool's name, its arguments and the version
// of what it changes. Equal arguments give equal digests, however their JSON is written.
func ConfirmationDigest(name string, args json.RawMessage, version int64) (string, error) {
	var parsed any
	if err := json.Unmarshal(args, &parsed); err != nil {
		return "", fmt.Errorf("arguments of %s: %w", name, err)
	}
	canonical, err := json.Marshal([]any{name, parsed, version})
	if err != nil {
		return "", fmt.Errorf("arguments of %s: %w", name, err)
	}
	return files.Hash(canonical), nil
}

// Ref is a place from which a result came. Lines count from 1 and are inclusive; 0 means the whole.
type Ref struct {
	Source Source `json:"source"`
	Path   string `json:"path,omitempty"` // slash-separated, relative to the root of its source
	URL    string `json:"url,omitempty"`
	Title  string `json:"title,omitempty"`
	Start  int    `json:"start,omitempty"`
	End    int    `json:"end,omitempty"`
	Paged  bool   `json:"paged,omitempty"` // Start and End are pages of a document, not lines
	Hash   string `json:"hash,omitempty"`  // "sha256:" + hex of the whole file or page as read
	Opened bool   `json:"opened"`          // false: a hit that was not read; it can't be cited
}

// String returns the form in which answers cite it: path:start-end, path:line, “path p. page”, “path pp. from-to”, path
// or URL.
func (r Ref) String() string {
	name := r.Path
	if name == "" {
		name = r.URL
	}
	switch {
	case r.Start == 0:
		return name
	case r.Paged && r.End <= r.Start:
		return fmt.Sprintf("%s p. %d", name, r.Start)
	case r.Paged:
		return fmt.Sprintf("%s pp. %d-%d", name, r.Start, r.End)
	case r.End <= r.Start:
		return fmt.Sprintf("%s:%d", name, r.Start)
	}
	return fmt.Sprintf("%s:%d-%d", name, r.Start, r.End)
}

// Result is what a call gave. Items counts hits, files, entries or notes; 0 from a Search tool means that nothing was
// found.
type Result struct {
	Text      string `json:"text"`
	Refs      []Ref  `json:"refs,omitempty"`
	Items     int    `json:"items"`
	Truncated bool   `json:"truncated,omitempty"`

	// Uncovered is what the call did not look at. Its text says the same.
	Uncovered []Uncovered `json:"uncovered,omitempty"`

	// Data is the structured result behind Text, for the offline model's rules. Its shape is documented by its tool.
	Data json.RawMessage `json:"data,omitempty"`
}

// WithData sets Data to the structured result, encoded.
func (r Result) WithData(data any) (Result, error) {
	encoded, err := json.Marshal(data)
	if err != nil {
		return Result{}, fmt.Errorf("encode the result: %w", err)
	}
	r.Data = encoded
	return r, nil
}

// Tool is one capability. Implementations are safe for concurrent use.
type Tool interface {
	Spec() Spec
	Call(ctx context.Context, call Call) (Result, error)
}

// Finder is implemented by Once tools that can tell whether a call took effect.
type Finder interface {
	// Found reports whether a call with this key was performed, and its result. An error means that this is unknown.
	Found(ctx context.Context, call Call) (Result, bool, error)
}

// Change is what a call would change: a text as it is, and as it would be then. Each has at most MaxText bytes.
type Change struct {
	Before string `json:"before"`
	Now    string `json:"now"`
}

// Previewer is implemented by Once tools that can tell beforehand what a call would do.
type Previewer interface {
	// Preview changes nothing. It refuses what Call would refuse as things are now. The change is nil if its texts are
	// too long.
	Preview(ctx context.Context, call Call) (*Change, error)
}

// Kind classifies failures by what the model or the person can do about them.
type Kind string

const (
	InvalidArgs Kind = "invalid_arguments" // the model can correct the call
	NotFound    Kind = "not_found"
	Denied      Kind = "denied"      // outside the roots, a private address, an ignored file
	TooLarge    Kind = "too_large"   // over a limit; the hint says which part is available
	Unavailable Kind = "unavailable" // not configured, or its server can't be reached
	Busy        Kind = "busy"        // not now, and nothing was done
	Timeout     Kind = "timeout"
	Cancelled   Kind = "cancelled" // the caller withdrew the call
	Conflict    Kind = "conflict"  // something changed since the caller read it
	Failed      Kind = "failed"    // input or output failed: disk full, unreadable
)

// Error is a failed call.
type Error struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Err     error  `json:"-"`
}

func (e *Error) Error() string {
	if e.Hint != "" {
		return e.Message + " (" + e.Hint + ")"
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an Error. A %w verb is kept as its cause.
func Errorf(kind Kind, hint, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: kind, Message: err.Error(), Hint: hint, Err: err}
}

// Set holds tools by name. It is filled once, then only read.
type Set struct{ byName map[string]Tool }

// NewSet makes a Set of the tools. Of several with one name it has the first.
func NewSet(tools ...Tool) *Set {
	s := &Set{byName: make(map[string]Tool, len(tools))}
	for _, t := range tools {
		if name := t.Spec().Name; s.byName[name] == nil {
			s.byName[name] = t
		}
	}
	return s
}

// Get returns the tool of that name.
func (s *Set) Get(name string) (Tool, bool) {
	t, ok := s.byName[name]
	return t, ok
}

// Specs lists all tools, sorted by name.
func (s *Set) Specs() []Spec {
	specs := make([]Spec, 0, len(s.byName))
	for _, t := range s.byName {
		specs = append(specs, t.Spec())
	}
	sort.Slice(specs, func(i, j int) bool { return specs[i].Name < specs[j].Name })
	return specs
}

// Keys of the _meta of a request to our own MCP server, and of a question that it asks.
const (
	MetaKey      = "sibyl/key"      // a text: the idempotency key of a write
	MetaVersion  = "sibyl/version"  // a number: the version of what the call changes, as the caller saw it
	MetaLook     = "sibyl/look"     // true: nothing is performed; the result under the key is returned
	MetaConfirms = "sibyl/confirms" // of a question to a person: the ConfirmationDigest that a yes confirms
)
