package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

const idempotencyKey = "Idempotency-Key"

// Begin is the body of a request that begins a run.
type Begin struct {
	service.Request
	Options json.RawMessage `json:"options,omitempty" doc:"Those of the assistant. Left out: as the server is set to."`
}

// Keyed is a request that begins a run. It is exported since huma leaves out embedded types that are not.
type Keyed[T any] struct {
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"Names the request, so that it can be sent again when its answer was lost: the same key of a user gives the same run, for as long as there is that run; with another request it is refused."`
	Over bool   `header:"Over-Limit" doc:"The user knows that the day has cost what it may (the problem over_limit), and goes on."`
	Body T
}

// Begun is a run that was begun, resumed or asked to stop.
type Begun struct {
	Run     string `json:"run" doc:"Its id."`
	Session string `json:"session" doc:"The id of its session."`
	run.Standing
}

type runList struct {
	Paging
	Session   string `query:"session" doc:"Only those of this session."`
	Assistant string `query:"assistant" doc:"Only those of this assistant."`
	Open      bool   `query:"open" doc:"Only those that have not ended."`
	Status    string `query:"status" enum:"running,done,failed,cancelled,needs_user" doc:"Only those of this status."`
	Times
	Waiting bool `query:"waiting" doc:"Only those that wait for the person, all in one part: nobody drives them, or their question is open. It stands alone."`
	Used    bool `query:"used" doc:"With what models took."`
}

// Times are the query parameters that limit a list by time.
type Times struct {
	From time.Time `query:"from" doc:"Not before this time."`
	To   time.Time `query:"to" doc:"Before this time."`
}

// RunPath is the part of an address that names a run.
type RunPath struct {
	Run string `path:"run" doc:"The id of the run."`
}

func (s *Server) runRoutes() {
	const all, one, tag = "/api/runs", "/api/runs/{run}", "runs"
	register(s, route{id: "beginRun", at: "POST " + all, tag: tag, summary: "Ask an assistant something",
		status: http.StatusCreated, takesTexts: true}, s.beginRun)
	registerForm(s, route{id: "listRuns", at: "GET " + all, tag: tag, summary: "The runs, the latest first"}, s.listRuns)
	registerForm(s, route{id: "getRun", at: "GET " + one, tag: tag,
		summary: "A run, with what came of it once it has ended"}, s.getRun)
	registerForm(s, route{id: "listResults", at: "GET /api/results", tag: tag,
		summary: "Runs by their ids, with what came of them", whole: true}, s.listResults)
	registerForm(s, route{id: "cancelRun", at: "POST " + one + "/cancel", tag: tag,
		summary: "Stop a run; what it has is kept", status: http.StatusAccepted}, s.cancelRun)
	registerForm(s, route{id: "resumeRun", at: "POST " + one + "/resume", tag: tag,
		summary: "Go on at once with a run that nobody drives", status: http.StatusAccepted}, s.resumeRun)
	register(s, route{id: "allowCalls", at: "POST " + one + "/allow", tag: tag, status: http.StatusCreated,
		summary: "Allow calls that a run waits to be allowed: a run begins that makes them and goes on"}, s.allowCalls)
	registerForm(s, route{id: "declineRun", at: "POST " + one + "/decline", tag: tag,
		summary: "Answer no to the calls that a run waits to be allowed"}, s.declineRun)
	registerForm(s, route{id: "explainRun", at: "GET " + one + "/explanation", tag: tag,
		summary: "Why a run did what it did", whole: true}, s.explainRun)
	registerForm(s, route{id: "treeOfRun", at: "GET " + one + "/tree", tag: tag, summary: "The tree that decides in a run",
		whole: true}, s.treeOfRun)
	registerForm(s, route{id: "getReceipt", at: "GET " + one + "/receipts/{record}", tag: tag,
		summary: "What an effect of a run sent, and what came back", whole: true}, s.getReceipt)
}

// withLocation is a body with the address of what was begun.
type withLocation[T any] struct {
	Location string `header:"Location"`
	Body     T
}

// runPath is the address of a run.
func runPath(id string) string { return "/api/runs/" + id }

func (s *Server) beginRun(ctx context.Context, in *Keyed[Begin]) (*withLocation[Begun], error) {
	r := in.Body.Request
	r.Key = in.Key
	begun, err := s.submitWords(ctx, r, assistant.GivenOptions{JSON: in.Body.Options})
	if err != nil {
		return nil, err
	}
	return &withLocation[Begun]{Location: runPath(begun.Run), Body: begunForm(begun)}, nil
}

func begunForm(b service.Submitted) Begun {
	f := Begun{Run: b.Run, Session: b.Session, Standing: run.Standing{State: run.StateRunning}}
	if b.Driven == nil {
		f.Cause = run.CauseQueued
	}
	return f
}

// submitWords begins a run of a user's words, with options that may name the user's folders.
func (s *Server) submitWords(
	ctx context.Context, r service.Request, said assistant.GivenOptions,
) (begun service.Submitted, err error) {
	if strings.TrimSpace(r.Words) == "" {
		return begun, badRequest("There are no words to answer.", "Say what you ask, in words.")
	}
	if r.Session != "" && !isID(r.Session) {
		return begun, journal.ErrNotFound
	}
	r.Options = s.withFolders(ctx, said)
	return s.submitRequest(ctx, r)
}

// withFolders adds to options which folders the user may name, and which of those of the session may be read.
func (s *Server) withFolders(ctx context.Context, said assistant.GivenOptions) assistant.GivenOptions {
	by := infoOf(ctx).token
	said.Folder, said.MayRead = s.folderFinder(by), s.mayRead(by)
	return said
}

// submitRequest begins a run, if its user has room for one more.
func (s *Server) submitRequest(ctx context.Context, r service.Request) (begun service.Submitted, err error) {
	owner := ownerOf(ctx)
	r.OverLimit = infoOf(ctx).overLimit
	err = s.withRoomForRun(ctx, owner, func() (err error) {
		begun, err = s.config.Service.Submit(ctx, owner, r)
		return err
	})
	infoOf(ctx).run = begun.Run
	return begun, err
}

// runState reads a run, and gives its ids and its state.
func (s *Server) runState(ctx context.Context, id string) (Begun, error) {
	r, err := s.findRun(ctx, id)
	return Begun{Run: r.ID, Session: r.Session, Standing: r.Standing}, err
}

func (s *Server) listRuns(ctx context.Context, in *runList) (f Runs, err error) {
	after, err := in.cursor()
	if err == nil {
		err = checkFilters(in.Session, in.Assistant)
	}
	if err != nil {
		return f, err
	}
	wanted := journal.Filter{Session: in.Session, Assistant: in.Assistant, Status: journal.Status(in.Status),
		Limit: in.Limit, After: after,
		From: in.From, To: in.To}
	if in.Open {
		wanted.Status = journal.Running
	}
	if in.Waiting {
		f.Runs, err = s.config.Service.Waiting(ctx, ownerOf(ctx), wanted)
	} else {
		f.Runs, err = s.config.Service.Runs(ctx, ownerOf(ctx), wanted)
		f.Next = nextCursor(in.Limit, f.Runs)
	}
	if err == nil && in.Used {
		err = s.config.Service.AddUsage(ctx, f.Runs)
	}
	return f, err
}

// findRun reads a run of the requesting user.
func (s *Server) findRun(ctx context.Context, id string) (service.Row, error) {
	return s.config.Service.Run(ctx, ownerOf(ctx), id)
}

func (s *Server) getRun(ctx context.Context, in *struct {
	RunPath
	Markup
}) (f RunWithResult, err error) {
	r, err := s.findRun(ctx, in.Run)
	if err != nil {
		return f, err
	}
	return s.withResult(ctx, r, in.HTML)
}

// listResults leaves out what can't be read, so that it hides nothing else. A request for that run alone says why.
func (s *Server) listResults(ctx context.Context, in *struct {
	Runs []string `query:"run" required:"true" nullable:"false" minItems:"1" maxItems:"20" doc:"Their ids. What is not there, or can't be read, is left out."`
	Markup
}) (all Results, err error) {
	if err := checkFilters(in.Runs...); err != nil {
		return all, err
	}
	for _, id := range in.Runs {
		r, err := s.findRun(ctx, id)
		if err != nil {
			continue
		}
		if f, err := s.withResult(ctx, r, in.HTML); err == nil {
			all.Runs = append(all.Runs, f)
		}
	}
	return all, ctx.Err()
}

// withResult adds the result to a run that has ended, if this build has its assistant.
func (s *Server) withResult(ctx context.Context, r service.Row, html bool) (RunWithResult, error) {
	f := RunWithResult{Row: r}
	var shown *assistant.Shown
	if r.Status != journal.Running {
		res, err := s.config.Service.Result(ctx, r.Owner, r.ID)
		if _, misuse := errors.AsType[*service.UsageError](err); misuse {
			return f, nil
		}
		if err != nil {
			return f, err
		}
		if html {
			res.AddHTML()
		}
		f.Result, shown = &res, &res.Shown
	}
	var err error
	f.Prospect, err = s.config.Service.Prospect(ctx, r, shown)
	return f, err
}

func (s *Server) cancelRun(ctx context.Context, in *RunPath) (Begun, error) {
	if err := s.config.Service.Cancel(context.WithoutCancel(ctx), ownerOf(ctx), in.Run,
		"stopped over HTTP"); err != nil {
		return Begun{}, err
	}
	return s.runState(ctx, in.Run)
}

// Allow says which calls are allowed.
type Allow struct {
	Calls   []int           `json:"calls" minItems:"1" maxItems:"16" uniqueItems:"true" nullable:"false" doc:"Their numbers, from 1, in the order of the result's list (waiting)."`
	Options json.RawMessage `json:"options,omitempty" doc:"Those of the assistant. Left out: as the server is set to."`
}

// allowRequest is the request for allowCalls.
type allowRequest struct {
	RunPath
	Keyed[Allow]
}

func (s *Server) allowCalls(ctx context.Context, in *allowRequest) (*withLocation[Begun], error) {
	r := service.Request{Key: in.Key, Allows: &assistant.Allowance{Run: in.Run, Calls: in.Body.Calls},
		Options: s.withFolders(ctx, assistant.GivenOptions{JSON: in.Body.Options})}
	begun, err := s.submitRequest(ctx, r)
	if err != nil {
		return nil, err
	}
	return &withLocation[Begun]{Location: runPath(begun.Run), Body: begunForm(begun)}, nil
}

func (s *Server) declineRun(ctx context.Context, in *RunPath) (RunWithResult, error) {
	if err := s.config.Service.Decline(context.WithoutCancel(ctx), ownerOf(ctx), in.Run); err != nil {
		return RunWithResult{}, err
	}
	r, err := s.findRun(ctx, in.Run)
	if err != nil {
		return RunWithResult{}, err
	}
	return s.withResult(ctx, r, false)
}

// resumeRequest says which run is resumed, and whether it is resumed even if it is set aside.
type resumeRequest struct {
	RunPath
	Force bool `query:"force" doc:"Try a run that is set aside once more."`
}

func (s *Server) resumeRun(ctx context.Context, in *resumeRequest) (Begun, error) {
	how := []run.ResumeOption{run.AtOnce}
	if in.Force {
		how = append(how, run.Forced)
	}
	if _, err := s.config.Service.Resume(context.WithoutCancel(ctx), ownerOf(ctx), in.Run, how...); err != nil {
		return Begun{}, err
	}
	return s.runState(ctx, in.Run)
}

func (s *Server) explainRun(ctx context.Context, in *RunPath) (service.Explanation, error) {
	return s.config.Service.Explain(ctx, ownerOf(ctx), in.Run)
}

// Tree is a behaviour tree, its nodes depth first: the first is the root.
type Tree struct {
	ID    string     `json:"id" doc:"Of the main tree."`
	Text  string     `json:"text" doc:"The file."`
	Nodes []TreeNode `json:"nodes"`

	Settings []bt.Setting `json:"settings" doc:"What of it can be changed by a number or a word."`
}

// TreeNode is one node of a tree, subtrees included.
type TreeNode struct {
	Node   int32    `json:"node" doc:"Its number, as events have it: its place in the list, from 0."`
	Parent int32    `json:"parent" doc:"The number of the node that it lies in; -1 for the root."`
	Type   string   `json:"type" doc:"Sequence, SubTree, or that of a leaf."`
	Name   string   `json:"name,omitempty" doc:"The name that the file gives it; of a SubTree the id of its tree."`
	Rule   string   `json:"rule" doc:"Where it is, by what cannot be renamed. Nodes may share it."`
	Leaf   bool     `json:"leaf" doc:"It decides or does something by itself."`
	Says   []string `json:"says" doc:"What the file decides there: numbers, conditions, constants."`
}

// RecordPath is the part of an address that names a record of a run.
type RecordPath struct {
	RunPath
	Record int64 `path:"record" minimum:"0" doc:"The number of the record."`
}

func (s *Server) treeOfRun(ctx context.Context, in *RunPath) (Tree, error) {
	t, err := s.config.Service.Tree(ctx, ownerOf(ctx), in.Run)
	if err != nil {
		return Tree{}, err
	}
	settings, err := s.config.Service.Settings(ctx, ownerOf(ctx), in.Run, t)
	if err != nil {
		return Tree{}, err
	}
	f := Tree{ID: t.ID, Text: string(t.Source), Nodes: make([]TreeNode, 0, t.Size()), Settings: settings}
	for n := range t.Nodes() {
		f.Nodes = append(f.Nodes, TreeNode{Node: n.ID, Parent: n.Parent, Type: n.Type, Name: n.Name, Rule: t.Rule(n.ID),
			Leaf: n.Leaf, Says: t.Says(n.ID)})
	}
	return f, nil
}

func (s *Server) getReceipt(ctx context.Context, in *RecordPath) (service.Receipt, error) {
	return s.config.Service.Receipt(ctx, ownerOf(ctx), in.Run, in.Record)
}
