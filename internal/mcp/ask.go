package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/journal"
	"sibyl/internal/schema"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/tool"
)

// Assistants configures the assistants that can be asked.
type Assistants struct {
	Service *service.Service
	// the options that hold where a call says nothing, by the assistant's name; else the settings do
	Base    map[string]any
	Folders func(owner string) map[string]string // that a call may name, with their paths; nil: none
	// Begin wraps the start of each run and may refuse it with a *Fault; nil: nothing does.
	Begin   func(ctx context.Context, owner journal.Owner, do func() error) error
	Stays   bool          // a run continues when its client withdraws the call; otherwise it is stopped
	Waiting time.Duration // how long a run that nobody drives is waited for; 0: 10 s
}

// answerData is the result data of an assistant that answers.
type answerData struct {
	Run      string   `json:"run_id"`
	Session  string   `json:"session_id"`
	Answer   string   `json:"answer"`
	Partial  bool     `json:"partial"`
	Sources  []string `json:"sources"`
	Warnings []string `json:"warnings"`
}

// begunData is the result data of an assistant whose answer is not awaited.
type begunData struct {
	ID  string `json:"id"`
	Run string `json:"run_id"`
}

// Arguments of an assistant's tool besides words and options.
const (
	sessionArgument   = "session"    // the session to continue
	overLimitArgument = "over_limit" // the user has agreed that the day costs more than models.limit
)

// assistantsWithTools returns the assistants that have a tool.
func (s *Server) assistantsWithTools() (all []*assistant.Assistant) {
	if s.config.Assistants == nil {
		return nil
	}
	for _, a := range s.config.Assistants.Service.Assistants() {
		if a.Tool != nil {
			all = append(all, a)
		}
	}
	return all
}

// assistantTool returns the tool that asks an assistant: its words and its declared options.
func (s *Server) assistantTool(a *assistant.Assistant) offer {
	told := func(f *schema.Field) bool {
		return f.Tag.Get("tool") != "-" && (s.config.Assistants.Folders != nil || f.Tag.Get("names") != "folder")
	}
	words := map[string]*jsonschema.Schema{a.Tool.Words: {Type: "string", MinLength: jsonschema.Ptr(1)},
		overLimitArgument: {Type: "boolean", Description: "true: after " + string(OverLimit) +
			", the user agreed to go on"}}
	spec := tool.Spec{Name: a.Tool.Name, Title: a.Tool.Title, Description: a.Tool.Description, Foreign: true,
		Effect: tool.Once}
	result := schema.Result[begunData]()
	if a.Tool.Waits {
		words[sessionArgument] = &jsonschema.Schema{Type: "string", Description: "session_id of an earlier answer"}
		spec.Effect, result = tool.Repeatable, schema.Result[answerData]()
	}
	o := described(spec, a.Options.Part(told, words, a.Tool.Words), result)
	o.begins = true
	known := slices.Collect(maps.Keys(o.spec.InputSchema.(*jsonschema.Schema).Properties)) //nolint:forcetypeassert // it was made above
	slices.Sort(known)
	o.call = func(ctx context.Context, c call) (*sdk.CallToolResult, error) {
		r, err := s.request(a, c, known)
		if err != nil {
			return nil, err
		}
		return s.ask(ctx, a, c, r)
	}
	return o
}

// request builds the service request of a call to an assistant.
func (s *Server) request(a *assistant.Assistant, c call, known []string) (r service.Request, err error) {
	given := map[string]json.RawMessage{}
	if raw := c.req.Params.Arguments; len(raw) > 0 && json.Unmarshal(raw, &given) != nil {
		return r, invalid("arguments", "must be a JSON object")
	}
	for name := range given {
		if !slices.Contains(known, name) {
			return r, unknownArgument(known)
		}
	}
	r = service.Request{Assistant: a.Name, Relayed: a.Tool.Waits} // the client's model may have made the words
	for name, into := range map[string]*string{a.Tool.Words: &r.Words, sessionArgument: &r.Session} {
		if raw, said := given[name]; said && json.Unmarshal(raw, into) != nil {
			return r, invalid(name, "must be a text")
		}
		delete(given, name)
	}
	if raw, said := given[overLimitArgument]; said && json.Unmarshal(raw, &r.OverLimit) != nil {
		return r, invalid(overLimitArgument, "must be true or false")
	}
	delete(given, overLimitArgument)
	switch {
	case strings.TrimSpace(r.Words) == "":
		return r, invalid(a.Tool.Words, "is missing, or has no words")
	case !maybeID(r.Session):
		return r, journal.ErrNotFound
	case !a.Tool.Waits:
		r.Key = c.by.Key
	}
	rest, err := json.Marshal(given)
	r.Options = assistant.GivenOptions{JSON: rest, Base: s.config.Assistants.Base[a.Name],
		Folder: func(f *schema.Field, name string) (string, error) {
			return s.config.Assistants.folder(c.by.Owner, f.Name, name)
		}, MayRead: func(path string) bool { return s.config.Assistants.mayRead(c.by.Owner, path) }}
	return r, err
}

// folder returns the path of a folder that a field names; a *Fault lists the existing ones.
func (a *Assistants) folder(owner, field, name string) (string, error) {
	var all map[string]string
	if a.Folders != nil {
		all = a.Folders(owner)
	}
	if path := all[name]; path != "" {
		return path, nil
	}
	names := append([]string{}, slices.Sorted(maps.Keys(all))...)
	return "", &Fault{Code: NotFound, Text: "You have no folder of that name here.",
		Details: map[string]any{"field": field, "folders": names}}
}

// mayRead says whether a folder is one that a caller may name.
func (a *Assistants) mayRead(owner, path string) bool {
	return a.Folders != nil && slices.Contains(slices.Collect(maps.Values(a.Folders(owner))), path)
}

// ask begins a run, and waits for its end if the assistant's tool is to wait.
func (s *Server) ask(
	ctx context.Context, a *assistant.Assistant, c call, r service.Request,
) (*sdk.CallToolResult, error) {
	all, owner := s.config.Assistants, journal.Owner(c.by.Owner)
	var run service.Submitted
	begin := func() (err error) {
		run, err = all.Service.Submit(ctx, owner, r)
		return err
	}
	var err error
	if all.Begin != nil {
		err = all.Begin(ctx, owner, begin)
	} else {
		err = begin()
	}
	if held, ok := errors.AsType[*journal.ClaimedError](err); ok {
		return nil, &Fault{Code: Unavailable, Text: "One of yours goes on already, and there is one at a time.",
			Details: map[string]any{"run_id": held.Run}}
	}
	if err != nil {
		return nil, err
	}
	if a.Tool.Waits {
		w := &runWait{s: s, owner: owner, run: run.Run, req: c.req}
		if err := w.waitForEnd(ctx); err != nil {
			return nil, err
		}
		return w.answer(ctx, run.Session)
	}
	if row, err := all.Service.Run(ctx, owner, run.Run); err == nil && row.Assistant != a.Name {
		return nil, invalid("_meta."+MetaKey, "was used for something else")
	}
	return successResult(begunData{run.Session, run.Run}, a.Tool.Name+" has begun "+run.Session+".")
}

// longestID bounds the ids of sessions, in bytes.
const longestID = 64

// maybeID reports whether a text is empty or a possible id: the store would reject others in its own words.
func maybeID(id string) bool {
	return len(id) <= longestID && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// runWait is a call that waits for its run.
type runWait struct {
	s     *Server
	owner journal.Owner
	run   string
	req   *sdk.CallToolRequest
	told  int
}

// waitForEnd waits until the run has ended, and reports progress. It does not wait for a run that nobody drives. If the
// client withdraws the call, it stops the run, unless Stays is set.
func (w *runWait) waitForEnd(ctx context.Context) error {
	w.sendProgress(ctx, "run "+w.run)
	of := w.s.config.Assistants
	_, err := of.Service.Await(ctx, w.owner, w.run, cmp.Or(of.Waiting, 10*time.Second), func(u *service.Update) {
		if u == nil {
			w.sendProgress(ctx, "it goes on") // so that no proxy takes silence for the end
			return
		}
		if !u.Told.OfControl() {
			w.sendProgress(ctx, u.Told.Text)
		}
	})
	if ctx.Err() != nil {
		return w.withdraw(ctx)
	}
	return err
}

// sendProgress sends a line of progress to a client that asked for progress.
func (w *runWait) sendProgress(ctx context.Context, line string) {
	token := w.req.Params.GetProgressToken()
	if token == nil || line == "" {
		return
	}
	w.told++
	// who is gone reads none
	_ = w.req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token,
		Progress: float64(w.told), Message: line})
}

// withdraw ends a wait after its client has withdrawn the call.
func (w *runWait) withdraw(ctx context.Context) error {
	if w.s.config.Assistants.Stays {
		return w.unanswered("The request was withdrawn. The run goes on; its answer will be in its session.")
	}
	err := w.s.config.Assistants.Service.Cancel(context.WithoutCancel(ctx), w.owner, w.run, "withdrawn over MCP")
	if err != nil && !errors.Is(err, journal.ErrEnded) {
		return err
	}
	return w.unanswered("The request was withdrawn, and the run was stopped.")
}

func (w *runWait) unanswered(text string) *Fault {
	return &Fault{Code: Unavailable, Text: text, Details: map[string]any{"run_id": w.run}}
}

// answer returns the run's result.
func (w *runWait) answer(ctx context.Context, session string) (*sdk.CallToolResult, error) {
	res, err := w.s.config.Assistants.Service.Result(ctx, w.owner, w.run)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, w.unanswered("There is no answer yet: the run " + w.run +
			" waits for a process that takes it up, or for its model. " +
			"‘sibyl run resume’ goes on with it.")
	}
	if err != nil {
		return nil, err
	}
	if res.Failure != nil {
		return nil, w.failedAnswer(res.Shown)
	}
	data := answerData{Run: w.run, Session: session, Answer: res.Answer, Partial: res.Partial,
		Sources: append([]string{}, res.Sources...), Warnings: append([]string{}, res.Warnings...)}
	text := res.Answer
	for _, about := range []struct {
		what  string
		lines []string
	}{{"Note", res.Warnings}, {"Sources", res.Sources}} {
		if len(about.lines) > 0 {
			text += "\n\n" + about.what + ":\n- " + strings.Join(about.lines, "\n- ")
		}
	}
	return successResult(data, text)
}

// failedAnswer explains why there is no answer. The assistant's message is for people, its hint for those at this
// machine.
func (w *runWait) failedAnswer(shown assistant.Shown) *Fault {
	f := w.unanswered(fmt.Sprintf("There is no answer: %s.", strings.TrimPrefix(shown.Failure.Message, "no answer: ")))
	f.Details["kind"] = shown.Failure.Kind
	return f
}
