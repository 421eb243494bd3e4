package oracle_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/store/teststore"
	"sibyl/internal/tool"
	"sibyl/prompts"
	"sibyl/trees"
)

const owner journal.Owner = "ada"

// The questions of user story 1, one of each class that needs a source.
const (
	weather = "What's the weather in Paris?"
	auth    = "How does the auth middleware work?"
	caching = "What did we decide about caching?"
	thanks  = "Thanks, that helps!"
	save    = "Create a note about the caching decision"
)

// harness asks the Oracle: the real tree and prompts, the run engine over a journal in memory, a scripted model, and
// tools over a small made-up world. What it holds may be changed before the first question.
type harness struct {
	t       *testing.T
	script  *modeltest.Scripted
	model   model.Model // the script, unless replaced
	world   *world
	store   *journaltest.Waiting
	env     oracle.Env
	turns   int
	session string
	tree    trees.Tree
	timeout time.Duration // of a tool
	grace   time.Duration // for what is under way when a run is stopped
	opened  func(oracle.Env)

	classifier func(ctx context.Context, text string) ([]oracle.Score, error) // nil: none is configured
	judge      *classifier                                                    // the classifier of a conversation
	// the run is told of a classifier that this process has not
	configured bool
	// handed over with the questions of a conversation
	material string
	clock    *handClock // of a conversation
	// with code and notes of a conversation without a model
	folders string
	// what the journal keeps is without secrets; nil: it is kept as it is
	redact    func([]byte) []byte
	maxTokens int
	maxTime   time.Duration
	named     []tool.Source     // that the person named
	contract  model.Contract    // of the model
	guides    map[string]string // SIBYL.md, by folder
	asked     oracle.Options    // instructions and preset of all questions

	engine *run.Engine
	spec   run.Spec // of the last run
	last   *run.Live
	shown  string // the pieces of the last run, put together
	raw    []string
}

// TestMain gives the tests a folder of their own for what they share, and removes it.
func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sibyl-oracle-")
	if err == nil {
		err = errors.Join(os.Chmod(dir, 0o711), os.Setenv("TMPDIR", dir)) // PostgreSQL's own user has its folder in it
	}
	if err != nil {
		panic(err)
	}
	code := teststore.Main(m).Run()
	_ = os.RemoveAll(dir) // it is in nobody's way
	os.Exit(code)
}

func setUp(t *testing.T, turns ...modeltest.Turn) *harness {
	t.Helper()
	tree := assert.Must(trees.Set{}.Get(oracle.Name))(t)
	h := &harness{t: t, opened: func(oracle.Env) {}, world: newWorld(), store: journaltest.Await(teststore.Empty(t)),
		turns: 30, session: "talk", tree: tree,
		env: oracle.Env{CodeRoot: "/code", Vault: "/notes", Web: true, Model: "scripted:test"}}
	h.script = modeltest.Script(t, turns...)
	h.model = h.script
	h.openSession("talk")
	return h
}

func (h *harness) openSession(id string) {
	h.t.Helper()
	now := time.Now()
	h.store.Open(journal.Session{ID: id, Owner: owner, Assistant: oracle.Name, Title: id, CreatedAt: now,
		UpdatedAt: now})
	h.session = id
}

// newEngine is one process: what it drives is gone with it.
func (h *harness) newEngine(store journal.Store, holder string, clock run.Clock) *run.Engine {
	h.t.Helper()
	assistant := assert.Must(oracle.New(oracle.Deps{ToolTimeout: h.timeout, Classifier: h.classifier,
		Model: func(_ context.Context, env oracle.Env) (model.Model, error) {
			h.opened(env)
			return h.model, nil
		},
		Tools: func(context.Context, oracle.Env) (*tool.Set, func(), error) {
			return h.world.registry(), func() {}, nil
		}}))(h.t)
	outcome := assistant.Outcome
	assistant.Outcome = func(v *run.View, e run.Ending) run.Outcome {
		again, err := assistant.Recorded(store, journal.Run{ID: v.ID}, v.Records())
		if err != nil {
			h.t.Errorf("records of run %s: %v", v.ID, err)
		} else if !reflect.DeepEqual(again.Bodies(), v.Bodies()) {
			h.t.Errorf("what run %s knows is not what its records say (-read +known):\n%s", v.ID,
				cmp.Diff(again.Bodies(), v.Bodies()))
		}
		return outcome(v, e)
	}
	e, err := run.NewEngine(run.Config{Store: store, Assistants: []*run.Assistant{assistant, oracle.Shadow(assistant)},
		Build: "test", Holder: holder, Clock: clock,
		StopGrace: h.grace, Redact: h.redact})
	assert.NoError(h.t, err)
	return e
}

// question is what a person asks.
type question struct {
	assistant.Request
	oracle.Options
}

func (h *harness) question(text string) question {
	q := question{assistant.Request{Owner: owner, Session: h.session, Words: text}, oracle.Options{MaxTurns: h.turns,
		MaxTokens: h.maxTokens, MaxTime: h.maxTime}}
	q.Code.Path, q.Vault.Path = h.env.CodeRoot, h.env.Vault
	q.Instructions, q.Preset = h.asked.Instructions, h.asked.Preset
	for _, s := range h.named {
		switch s {
		case tool.Code:
			q.Code.Name = q.Code.Path
		case tool.Vault:
			q.AskNotes = true
		}
	}
	return q
}

// promptsOnce are the prompts, which never change.
var promptsOnce = sync.OnceValues(func() (*prompt.Set, error) { return prompt.Load(prompts.FS) })

// surroundings are those of the questions of a harness.
func (h *harness) surroundings(store journal.Store) oracle.Surroundings {
	known := func(context.Context, string) model.Info {
		return model.Info{Window: h.env.WindowTokens, BareCalls: h.env.BareCalls,
			NoTools: h.env.NoTools}
	}
	return oracle.Surroundings{Store: store, Known: known, Describe: known, Classifier: h.configured || h.classifier != nil, Web: h.env.Web,
		Fallback: h.env.Fallback,
		Contract: func(string) model.Contract { return h.contract },
		About:    func(string) string { return h.contract.Words() },
		Choose:   func(context.Context, string) (string, error) { return h.env.Model, nil },
		ReportForm: func(string) model.ReportForm {
			return map[bool]model.ReportForm{true: model.ReportTool}[h.env.ReportTool]
		},
		LearnKeys: func(context.Context, oracle.Env) {},
		LeftOut:   func() []bt.Why { return h.env.LeftOut },
		Prompts:   promptsOnce,
		Guide: func(_ context.Context, folder string) (string, error) {
			if text := h.guides[folder]; text != "" {
				return text, nil
			}
			return "", oracle.ErrNoGuide
		},
		Tools: func(context.Context, oracle.Env) (*tool.Set, func(), error) {
			return h.world.registry(), func() {}, nil
		}}
}

// begin makes the run of a question, as of no day.
func (h *harness) begin(ctx context.Context, store journal.Store, q question) (run.Spec, error) {
	spec, err := h.surroundings(store).Begin(ctx, q.Request, q.Options)
	if err != nil {
		return spec, err
	}
	env := spec.Env.(oracle.Env)
	env.Date, env.ShadowOf = "", h.env.ShadowOf
	spec.Owner, spec.Session, spec.Assistant, spec.Env = q.Owner, q.Session, oracle.Name, env
	spec.TreeFile, spec.Tree = h.tree.File, h.tree.Text
	return spec, nil
}

func (h *harness) start(text string) *run.Live {
	h.t.Helper()
	return h.startQuestion(h.question(text))
}

func (h *harness) startQuestion(q question) *run.Live {
	h.t.Helper()
	if h.engine == nil {
		h.engine = h.newEngine(h.store, "test", nil)
	}
	spec := assert.Must(h.begin(h.t.Context(), h.store, q))(h.t)
	spec.Replaces, spec.Follows = q.Replaces, q.Follows // which the service does
	h.spec = spec
	h.last = assert.Must(h.engine.Start(h.t.Context(), spec))(h.t)
	return h.last
}

// ask asks one question and waits for the end of its run. The script must have been played to its end by then.
func (h *harness) ask(text string) oracle.Answer {
	h.t.Helper()
	a := h.finish(h.start(text))
	left := h.script.Left()
	assert.That(h.t, left == 0, "%d turns of the script were never asked for", left)
	return a
}

// finish watches a run to its end.
func (h *harness) finish(live *run.Live) oracle.Answer {
	h.t.Helper()
	h.shown, h.raw = "", nil
	pieces := map[uint64]string{}
	var order []uint64
	for u := range live.Watch(h.t.Context(), 0) {
		if u.Piece == nil {
			continue
		}
		if _, known := pieces[u.Piece.Op]; !known {
			order = append(order, u.Piece.Op)
		}
		h.raw = append(h.raw, u.Piece.Text)
		pieces[u.Piece.Op] += u.Piece.Text
		if u.Piece.Retract {
			pieces[u.Piece.Op] = ""
		}
	}
	for _, op := range order {
		h.shown += pieces[op] + "\n"
	}
	end, err := live.Wait(h.t.Context())
	assert.NoErrorf(h.t, err, "the run stopped short")
	return answerOf(h.t, end)
}

func answerOf(t *testing.T, end run.EndRecord) oracle.Answer {
	t.Helper()
	var a oracle.Answer
	assert.NoError(t, json.Unmarshal(end.Outcome, &a))
	return a
}

// endedAnswers are the answers of the ended runs of a session, oldest first.
func (h *harness) endedAnswers(session string) (all []oracle.Answer) {
	h.t.Helper()
	runs := assert.Must(h.store.Runs(h.t.Context(), owner, journal.Filter{Session: session, Limit: 100}))(h.t)
	for _, r := range slices.Backward(runs) {
		if end, err := run.ReadEnd(h.t.Context(), h.store, owner, r.ID); err == nil {
			all = append(all, answerOf(h.t, end))
		} else if !errors.Is(err, journal.ErrNotFound) {
			h.t.Fatal(err)
		}
	}
	return all
}

// records are those of the last run.
func (h *harness) records() []journal.Record {
	h.t.Helper()
	recs := assert.Must(h.store.Records(h.t.Context(), owner, h.last.ID, 0))(h.t)
	return recs
}

// completions are the receipts of one kind of effect, in order.
func (h *harness) completions(kind string) (found []run.CompletionRecord) {
	h.t.Helper()
	for _, r := range h.records() {
		if r.Kind != run.KindCompletion {
			continue
		}
		var c run.CompletionRecord
		assert.NoError(h.t, json.Unmarshal(r.Data, &c))
		if c.Kind == kind {
			found = append(found, c)
		}
	}
	return found
}

// receipts are those of the model's turns.
func (h *harness) receipts() (found []agent.TurnReceipt[oracle.Heard]) {
	h.t.Helper()
	for _, c := range h.completions(agent.EffectTurn) {
		var r agent.TurnReceipt[oracle.Heard]
		assert.NoError(h.t, json.Unmarshal(c.Result, &r))
		found = append(found, r)
	}
	return found
}

// steps are what the last run decided.
func (h *harness) steps() []run.TraceStep {
	h.t.Helper()
	steps := assert.Must(h.newEngine(h.store, "explains", nil).Explain(h.t.Context(), owner, h.last.ID))(h.t)
	return steps
}

// trace is what the steps of the last run decided, one event a line: rule, status or type, and the event.
func (h *harness) trace() string {
	h.t.Helper()
	b := &strings.Builder{}
	for _, s := range h.steps() {
		for _, e := range s.Events {
			b.WriteString(strings.Join([]string{e.Rule, e.Status + e.Type, e.String()}, "\t") + "\n")
		}
		for _, asked := range s.Start {
			b.WriteString("asks for " + asked.Name() + "\n")
		}
	}
	return b.String()
}

// request is the model's nth request, counted from 1.
func (h *harness) request(n int) model.Request {
	h.t.Helper()
	all := h.script.Requests()
	assert.Require(h.t, n <= len(all), "the model was asked %d times; request %d was wanted", len(all), n)
	return all[n-1]
}

// offered are the tools that a request lets the model call, by name, sorted.
func offered(req model.Request) []string {
	names := inOrder(req)
	slices.Sort(names)
	return names
}

// inOrder are the tools that a request lets the model call, by name, in the order in which they are offered.
func inOrder(req model.Request) []string {
	names := []string{}
	if of, ok := req.Facts.(oracle.Situation); ok {
		for _, t := range of.Tools {
			names = append(names, t.Name)
		}
	}
	for _, t := range req.Tools {
		if t.Name == oracle.ReportTool && !req.NoCalls {
			names = append(names, t.Name)
		}
	}
	return names
}

// sentTools are the tools that a request lists, by name.
func sentTools(req model.Request) []string {
	names := []string{}
	for _, t := range req.Tools {
		names = append(names, t.Name)
	}
	return names
}

// prompted is what a request tells the model of the rules: the system prompt, and the note with the question.
func prompted(req model.Request) string {
	for _, m := range slices.Backward(req.Messages) {
		if note, _ := agent.SplitNote(m.Text); m.Role == model.User && note != "" {
			return req.System + "\n\n" + note
		}
	}
	return req.System
}

// withoutNotes are the messages of a request, as the user and the model said them.
func withoutNotes(req model.Request) []model.Message {
	all := slices.Clone(req.Messages)
	for i := range all {
		_, all[i].Text = agent.SplitNote(all[i].Text)
	}
	return all
}

// lastText is the text of the last message of a request.
func lastText(req model.Request) string { return req.Messages[len(req.Messages)-1].Text }

// textOfRole is all messages of one role, joined.
func textOfRole(req model.Request, role model.Role) string {
	var all []string
	for _, m := range req.Messages {
		if m.Role == role {
			all = append(all, m.Text)
		}
	}
	return strings.Join(all, "\n")
}

// whole is everything that a request tells the model.
func whole(req model.Request) string {
	b := &strings.Builder{}
	b.WriteString(req.System + "\n")
	for _, m := range req.Messages {
		b.WriteString(string(m.Role) + ": " + m.Text + "\n")
		for _, c := range m.ToolCalls {
			b.WriteString(c.Name + " " + c.Arguments + "\n")
		}
	}
	return b.String()
}

// same fails the test where two values differ.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	assert.NoDiff(t, cmp.Diff(want, got, cmpopts.IgnoreUnexported(agent.ToolUse{})), "%s (-want +got)", what)
}

// wantParts fails the test where a text lacks a part.
func wantParts(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	assert.Contains(t, what, text, parts...)
}

// wantNoParts fails the test where a text has a part.
func wantNoParts(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	assert.Lacks(t, what, text, parts...)
}

func cites(a oracle.Answer) []string {
	var all []string
	for _, s := range a.Sources {
		if s.Cited {
			all = append(all, s.Cite)
		}
	}
	return all
}

// element writes a signal with these fields, name and value in turn.
func element(kind, confidence string, fields ...string) string {
	b := &strings.Builder{}
	b.WriteString(`<signal type="` + kind + `">`)
	for i := 0; i+1 < len(fields); i += 2 {
		b.WriteString("<" + fields[i] + ">" + fields[i+1] + "</" + fields[i] + ">")
	}
	return b.String() + "<confidence>" + confidence + "</confidence></signal>"
}

func needTurn(reason string) string { return element("need_turn", "0.8", "reason", reason) }

func enough() string { return element("context_sufficient", "0.9", "sources_found", "1") }

func stuck(blocker string) string {
	return element("stuck", "0.8", "attempted", `["search"]`, "blocker", blocker)
}

func partial(missing string) string { return element("partial_answer", "0.7", "missing", missing) }

func needCapability(capability string) string {
	return element("need_capability", "0.8", "capability", capability, "reason", "the next step wants it")
}

func delegate(scope string) string {
	return element("delegation_recommended", "0.8", "reason", "it is too large", "scope", scope)
}

// shownNotices is what the person is told beside the answer: the notices that the command line shows.
func shownNotices(a oracle.Answer) (texts []string) {
	for _, n := range a.Notices {
		if n.Severity != agent.Info {
			texts = append(texts, n.Text)
		}
	}
	return texts
}
