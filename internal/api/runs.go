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

// Begin is what a run begins with.
type Begin struct {
	service.Request
	Options json.RawMessage `json:"options,omitempty" doc:"Those of the assistant. Left out: as the server is set to."`
}

// keyed is a request that begins a run.
type keyed[T any] struct {
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"Names the request, so that it can be sent again when its answer was lost: the same key of a user gives the same run, for as long as there is that run."`
	Over bool   `header:"Over-Limit" doc:"The user knows that the day has cost what it may (the problem over_limit), and goes on."`
	Body T
}

// Begun is a run that was begun, resumed or asked to stop.
type Begun struct {
	Run     string `json:"run" doc:"Its id."`
	Session string `json:"session" doc:"The id of its session."`
	State   string `json:"state" doc:"How it stands, in a word."`
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

// Times bound when something was.
type Times struct {
	From time.Time `query:"from" doc:"Not before this time."`
	To   time.Time `query:"to" doc:"Before this time."`
}

// RunPath is in the address of whatever is about a run.
type RunPath struct {
	Run string `path:"run" doc:"The id of the run."`
}

func (s *Server) runRoutes() {
	const all, one, tag = "/api/runs", "/api/runs/{run}", "runs"
	register(s, route{id: "beginRun", at: "POST " + all, tag: tag, summary: "Ask an assistant something",
		status: http.StatusCreated, takesTexts: true}, s.beginRun)
	answer(s, route{id: "listRuns", at: "GET " + all, tag: tag, summary: "The runs, the latest first"}, s.runs)
	answer(s, route{id: "getRun", at: "GET " + one, tag: tag, summary: "A run, with what came of it once it has ended"},
		s.run)
	answer(s, route{id: "listResults", at: "GET /api/results", tag: tag,
		summary: "Runs by their ids, with what came of them", whole: true}, s.results)
	answer(s, route{id: "cancelRun", at: "POST " + one + "/cancel", tag: tag,
		summary: "Stop a run; what it has is kept", status: http.StatusAccepted}, s.cancel)
	answer(s, route{id: "resumeRun", at: "POST " + one + "/resume", tag: tag,
		summary: "Go on at once with a run that nobody drives", status: http.StatusAccepted}, s.resume)
	answer(s, route{id: "declineRun", at: "POST " + one + "/decline", tag: tag,
		summary: "Answer no to the calls that a run waits to be allowed"}, s.decline)
	answer(s, route{id: "explainRun", at: "GET " + one + "/explanation", tag: tag, summary: "Why a run did what it did",
		whole: true}, s.explain)
}

// at is something that was begun, with its address.
type at[T any] struct {
	Location string `header:"Location"`
	Body     T
}

// runPath is the address of a run.
func runPath(id string) string { return "/api/runs/" + id }

func (s *Server) beginRun(ctx context.Context, in *keyed[Begin]) (*at[Begun], error) {
	r := in.Body.Request
	r.Key = in.Key
	begun, err := s.submit(ctx, r, assistant.Said{JSON: in.Body.Options})
	if err != nil {
		return nil, err
	}
	return &at[Begun]{Location: runPath(begun.Run), Body: begunForm(begun)}, nil
}

func begunForm(b service.Submitted) Begun {
	f := Begun{Run: b.Run, Session: b.Session, State: service.Queued}
	if b.Driven != nil {
		f.State = string(journal.Running)
	}
	return f
}

// submit begins a run as a user asks for it in words.
func (s *Server) submit(
	ctx context.Context, r service.Request, said assistant.Said,
) (begun service.Submitted, err error) {
	if strings.TrimSpace(r.Words) == "" {
		return begun, newProblem(http.StatusBadRequest, "invalid_request", "There are no words to answer.",
			"Say what you ask, in words.")
	}
	if r.Session != "" && !isID(r.Session) {
		return begun, journal.ErrNotFound
	}
	said.Folder = s.folders(infoOf(ctx).token)
	r.Options = said
	return s.submitRequest(ctx, r)
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

// runState says how a run stands.
func (s *Server) runState(ctx context.Context, id string) (Begun, error) {
	r, err := s.findRun(ctx, id)
	return Begun{Run: r.ID, Session: r.Session, State: r.State}, err
}

func (s *Server) runs(ctx context.Context, in *runList) (f Runs, err error) {
	after, err := in.cursor()
	if err == nil {
		err = filtered(in.Session, in.Assistant)
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
		f.Runs, err = s.config.Service.Waiting(ctx, ownerOf(ctx), in.Limit)
	} else {
		f.Runs, err = s.config.Service.Runs(ctx, ownerOf(ctx), wanted)
		f.Next = next(in.Limit, f.Runs)
	}
	if err == nil && in.Used {
		err = s.config.Service.Count(ctx, f.Runs, costTime)
	}
	return f, err
}

// findRun is a run of whoever asks.
func (s *Server) findRun(ctx context.Context, id string) (service.Row, error) {
	return s.config.Service.Run(ctx, ownerOf(ctx), id)
}

func (s *Server) run(ctx context.Context, in *struct {
	RunPath
	Markup
}) (f RunWithResult, err error) {
	r, err := s.findRun(ctx, in.Run)
	if err != nil {
		return f, err
	}
	return s.withResult(ctx, r, in.HTML)
}

// results leaves out what can't be read, so that it hides nothing else; asked for by itself it says why.
func (s *Server) results(ctx context.Context, in *struct {
	Runs []string `query:"run" required:"true" nullable:"false" minItems:"1" maxItems:"20" doc:"Their ids. What is not there, or can't be read, is left out."`
	Markup
}) (all Results, err error) {
	if err := filtered(in.Runs...); err != nil {
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

// withResult is a run with what came of it, if it has ended and this build has its assistant.
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
			res.Mark()
		}
		f.Result, shown = &res, &res.Shown
	}
	var err error
	f.Prospect, err = s.config.Service.Prospect(ctx, r, shown)
	return f, err
}

func (s *Server) cancel(ctx context.Context, in *RunPath) (Begun, error) {
	if err := s.config.Service.Cancel(context.WithoutCancel(ctx), ownerOf(ctx), in.Run,
		"stopped over HTTP"); err != nil {
		return Begun{}, err
	}
	return s.runState(ctx, in.Run)
}

func (s *Server) decline(ctx context.Context, in *RunPath) (RunWithResult, error) {
	if err := s.config.Service.Decline(context.WithoutCancel(ctx), ownerOf(ctx), in.Run); err != nil {
		return RunWithResult{}, err
	}
	r, err := s.findRun(ctx, in.Run)
	if err != nil {
		return RunWithResult{}, err
	}
	return s.withResult(ctx, r, false)
}

// resumption is which run is gone on with, and whether at any risk.
type resumption struct {
	RunPath
	Force bool `query:"force" doc:"Try a run that is set aside once more."`
}

func (s *Server) resume(ctx context.Context, in *resumption) (Begun, error) {
	how := []run.ResumeOption{run.AtOnce}
	if in.Force {
		how = append(how, run.Forced)
	}
	if _, err := s.config.Service.Resume(context.WithoutCancel(ctx), ownerOf(ctx), in.Run, how...); err != nil {
		return Begun{}, err
	}
	return s.runState(ctx, in.Run)
}

func (s *Server) explain(ctx context.Context, in *RunPath) (service.Explanation, error) {
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

// RecordPath is in the address of whatever is about a record of a run.
type RecordPath struct {
	RunPath
	Record int64 `path:"record" minimum:"0" doc:"The number of the record."`
}

func (s *Server) whyRoutes() {
	const one, tag = "/api/runs/{run}", "runs"
	answer(s, route{id: "treeOfRun", at: "GET " + one + "/tree", tag: tag, summary: "The tree that decides in a run",
		whole: true}, s.tree)
	answer(s, route{id: "getReceipt", at: "GET " + one + "/receipts/{record}", tag: tag,
		summary: "What an effect of a run sent, and what came back", whole: true}, s.receipt)
}

func (s *Server) tree(ctx context.Context, in *RunPath) (Tree, error) {
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

func (s *Server) receipt(ctx context.Context, in *RecordPath) (service.Receipt, error) {
	return s.config.Service.Receipt(ctx, ownerOf(ctx), in.Run, in.Record)
}
