package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/assistant"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/service"
	"sibyl/internal/tool"
)

// askName is the tool that asks the Oracle.
const askName = "ask"

// Oracle is how questions are asked.
type Oracle struct {
	Service *service.Service
	Options oracle.Options                       // of every question; ReadOnly is set for it
	Folders func(owner string) map[string]string // that a question may name, with their paths; nil: none
	// Begin stands before each run that begins, and may refuse it by a *Fault. nil: nothing does.
	Begin   func(ctx context.Context, owner journal.Owner, do func() error) error
	Stays   bool          // a run goes on when nobody waits for it any more; else it ends
	Waiting time.Duration // how long a run that nobody drives is waited for; 0: 10 s
}

// answered is the data of ask.
type answered struct {
	Run      string   `json:"run_id"`
	Session  string   `json:"session_id"`
	Answer   string   `json:"answer"`
	Partial  bool     `json:"partial"`
	Sources  []string `json:"sources"`
	Warnings []string `json:"warnings"`
}

func (s *Server) askTool() offer {
	folders := ""
	if s.config.Oracle.Folders != nil {
		folders = `,
			"code": {"type": "string", "description": "a folder of code on the server"},
			"vault": {"type": "string", "description": "a folder of notes on the server"}`
	}
	return newOffer(tool.Spec{Name: askName, Title: "Ask the Oracle", Effect: tool.Repeatable, Foreign: true,
		Description: "Answers a question over code, notes and the web, with its sources. It may take minutes."},
		[]string{"question"}, `{
			"question": {"type": "string", "minLength": 1},
			"session": {"type": "string", "description": "session_id of an earlier answer"}`+folders+`}`,
		`{"type": "object", "properties": {"run_id": {"type": "string"}, "session_id": {"type": "string"}, "answer": {"type": "string"}, "partial": {"type": "boolean"},
			"sources": {"type": "array", "items": {"type": "string"}}, "warnings": {"type": "array", "items": {"type": "string"}}}}`, s.ask)
}

// ask begins a run, and waits for its end.
func (s *Server) ask(ctx context.Context, c call) (*sdk.CallToolResult, error) {
	q, err := s.request(c)
	if err != nil {
		return nil, err
	}
	owner := journal.Owner(c.by.Owner)
	var begun service.Submitted
	begin := func() (err error) {
		begun, err = s.config.Oracle.Service.Submit(ctx, owner, q)
		return err
	}
	if s.config.Oracle.Begin != nil {
		err = s.config.Oracle.Begin(ctx, owner, begin)
	} else {
		err = begin()
	}
	if err != nil {
		return nil, err
	}
	w := &wait{s: s, owner: owner, run: begun.Run, req: c.req}
	if err := w.forEnd(ctx); err != nil {
		return nil, err
	}
	return w.answer(ctx, begun.Session)
}

// request is what a question asks of the service.
func (s *Server) request(c call) (service.Request, error) {
	words := c.args.required("question")
	switch {
	case strings.TrimSpace(words) == "":
		c.args.wrong("question", "has no words")
	case len(words) > oracle.MaxQuestion:
		c.args.wrong("question", fmt.Sprintf("has more than %d bytes", oracle.MaxQuestion))
	}
	session := c.args.text("session")
	if c.args.err != nil {
		return service.Request{}, c.args.err
	}
	o := s.config.Oracle.Options
	o.ReadOnly, o.Relayed = true, true // the client's model may have made the words
	for name, path := range map[string]*string{"code": &o.CodeRoot, "vault": &o.Vault} {
		folder, err := c.args.text(name), c.args.err
		if err == nil && folder != nil {
			*path, err = folderOf(s.config.Oracle.Folders(c.by.Owner), name, *folder)
		}
		if err != nil {
			return service.Request{}, err
		}
	}
	r := service.Request{Assistant: oracle.Name, Words: words, Options: o}
	if session != nil {
		r.Session = *session
	}
	if !maybeID(r.Session) {
		return service.Request{}, journal.ErrNotFound
	}
	return r, nil
}

// longestID bounds the ids of sessions, in bytes.
const longestID = 64

// maybeID says that a text may be an id, or is empty: the store would complain about others in its own words.
func maybeID(id string) bool {
	return len(id) <= longestID && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
}

// wait is a call that waits for its run.
type wait struct {
	s     *Server
	owner journal.Owner
	run   string
	req   *sdk.CallToolRequest
	told  int
}

// update is what a watch gives.
type update struct {
	service.Update
	err error
}

// forEnd waits until the run has ended, and says meanwhile what it does. A run that nobody drives is not waited for.
func (w *wait) forEnd(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	in, over := make(chan update), make(chan struct{})
	go func() {
		defer close(over)
		defer close(in)
		for u, err := range w.s.config.Oracle.Service.Watch(ctx, w.owner, w.run, service.Place{}) {
			select {
			case in <- update{u, err}:
			case <-ctx.Done():
				return
			}
		}
	}()
	defer func() { cancel(); <-over }()
	w.tell(ctx, "run "+w.run)
	look := time.NewTicker(cmp.Or(w.s.config.Oracle.Waiting, 10*time.Second))
	defer look.Stop()
	for {
		select {
		case u, more := <-in:
			if !more && ctx.Err() == nil {
				return nil
			}
			if u.err != nil && ctx.Err() == nil {
				return u.err
			}
			for _, line := range u.Lines {
				w.tell(ctx, strings.TrimSpace(line))
			}
		case <-look.C:
			if r, err := w.s.config.Oracle.Service.Run(ctx, w.owner, w.run); err != nil || r.State != string(journal.Running) {
				return err
			}
			w.tell(ctx, "it goes on") // so that no proxy takes silence for the end
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return w.leave(ctx)
		}
	}
}

// tell sends a line of progress to a client that wants such.
func (w *wait) tell(ctx context.Context, line string) {
	token := w.req.Params.GetProgressToken()
	if token == nil || line == "" {
		return
	}
	w.told++
	_ = w.req.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Progress: float64(w.told), Message: line}) // who is gone reads none
}

// leave is the end of a wait that nobody wants any more.
func (w *wait) leave(ctx context.Context) error {
	if w.s.config.Oracle.Stays {
		return w.unanswered("The request was withdrawn. The run goes on; its answer will be in its session.")
	}
	err := w.s.config.Oracle.Service.Cancel(context.WithoutCancel(ctx), w.owner, w.run, "withdrawn over MCP")
	if err != nil && !errors.Is(err, journal.ErrEnded) {
		return err
	}
	return w.unanswered("The request was withdrawn, and the run was stopped.")
}

func (w *wait) unanswered(text string) *Fault {
	return &Fault{Code: Unavailable, Text: text, Details: map[string]any{"run_id": w.run}}
}

// answer is what came of the run.
func (w *wait) answer(ctx context.Context, session string) (*sdk.CallToolResult, error) {
	res, err := w.s.config.Oracle.Service.Result(ctx, w.owner, w.run)
	if errors.Is(err, journal.ErrNotFound) {
		return nil, w.unanswered("There is no answer yet: the run " + w.run + " waits for a process that takes it up, or for its model. " +
			"‘sibyl run resume’ goes on with it.")
	}
	if err != nil {
		return nil, err
	}
	if res.Failure != nil {
		return nil, w.failed(res.Shown)
	}
	data := answered{Run: w.run, Session: session, Answer: res.Answer, Partial: res.Partial,
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
	return succeeded(data, text)
}

// failed tells why there is no answer. A message of the assistant is for people, and its hint for those at this machine.
func (w *wait) failed(shown assistant.Shown) *Fault {
	f := w.unanswered(fmt.Sprintf("There is no answer: %s.", strings.TrimPrefix(shown.Failure.Message, "no answer: ")))
	f.Details["kind"] = shown.Failure.Kind
	return f
}
