package inquiry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/redact"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/store/teststore"
	"sibyl/prompts"
	"sibyl/trees"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(teststore.Main(m)) }

const (
	ada journal.Owner = "ada"
	bob journal.Owner = "bob"

	acting = "scripted:test" // the detective
	secret = "sk-hunter2-hunter2-hunter2"

	bridge = "The bridge was closed because of corrosion."
)

// The purposes of requests to the detective.
const (
	asking    = "inquiry.detective"
	analysing = "inquiry.analyse"
	summing   = "inquiry.summary"
)

// questions are twenty that ask for different things.
var questions = []string{
	"Who built the bridge?", "When was the tunnel opened?", "How much did the pump cost?", "Where is the archive kept?",
	"Why did the foreman resign?",
	"Which company delivered the steel?", "What colour has the northern gate?", "Who signed the inspection report?",
	"When did the river flood the meadow?", "How many trucks crossed daily?",
	"Where were the bolts manufactured?", "Why was the ferry cancelled?", "What did the surveyor photograph?",
	"Who paid the insurance premium?", "When will the museum reopen?",
	"How deep is the harbour basin?", "Where does the railway end?", "Which paint protects the railing?",
	"What happened to the lighthouse?", "Why are the archives incomplete?",
}

// house is what outlives processes: the journal, the folder of the sessions, and what the detective and the witness do.
type house struct {
	*testing.T
	journal journal.Store
	folder  string // of the sessions
	tree    string // of the Inquiry; "": the one that is shipped
	offline bool   // there is no detective

	asks     func(n int, req model.Request) modeltest.Turn // question n, from 1
	analyses func(n int, req model.Request) modeltest.Turn // the analysis after answer n
	sums     func(req model.Request) modeltest.Turn
	says     func(ctx context.Context, question string, n int) (witness.Answer, error) // answer n
	// what the witness answers from, or why it can't be heard
	opens func() ([]record.Document, error)
	// in place of the scripted detective
	other model.Model
	// why the detective can't be used
	broken error
	talks  bool // the witness is a model, too

	quotesNothing bool                    // the detective names no words that bear on the hypothesis
	testifies     string                  // it says besides a fact
	room          func(model.Request) int // tokens that a request may have; nil: any number
	takes         func(model.Request)     // is called with each request that has room

	reads func(inquiry.WitnessSpec) (witness.Witness, []record.Document, error) // a witness of real documents

	mu     sync.Mutex
	sent   []model.Request // to the detective, in order
	heard  []string        // the questions that the witness was asked, in order
	opened int             // how often the witness was called
}

func newHouse(t *testing.T) *house {
	t.Helper()
	return &house{T: t, journal: teststore.Empty(t), folder: filepath.Join(t.TempDir(), "sessions"),
		asks:     func(n int, _ model.Request) modeltest.Turn { return ask(questions[n-1]) },
		analyses: func(n int, _ model.Request) modeltest.Turn { return after(n, 3) },
		sums:     func(model.Request) modeltest.Turn { return modeltest.Say("It is settled (answer 1).") },
		says: func(_ context.Context, _ string, n int) (witness.Answer, error) {
			return witness.Answer{Text: fmt.Sprintf("Fact %d holds.", n), By: "scripted:witness"}, nil
		},
		opens: func() ([]record.Document, error) { return nil, nil },
	}
}

// ask is a question as the detective writes it.
func ask(text string, gaps ...string) modeltest.Turn {
	return asJSON(map[string]any{"question": text, "strategy": "depth", "aspect": "what",
		"gaps": append([]string{}, gaps...)})
}

func asJSON(v any) modeltest.Turn {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // what tests are made of can be encoded
	}
	return modeltest.Say(string(raw))
}

// gap and clash are parts of an analysis as the detective writes them. Pairs count from 1.
type gap struct {
	ID          string `json:"id"`
	Category    string `json:"category"`
	Severity    string `json:"severity"`
	Aspect      string `json:"aspect"`
	Description string `json:"description"`
	Pair        int    `json:"pair"`
}

type clash struct {
	First       int    `json:"first"`
	Second      int    `json:"second"`
	FirstWords  string `json:"first_words"`
	SecondWords string `json:"second_words"`
	Kind        string `json:"kind"`
	Description string `json:"description"`
}

type bearing struct {
	Pair  int    `json:"pair"`
	Words string `json:"words"`
	Says  string `json:"says"`
}

type said struct {
	Evidence       []bearing `json:"evidence"`
	Gaps           []gap     `json:"gaps"`
	Complete       int       `json:"completenessScore"`
	More           bool      `json:"requiresFollowUp"`
	Contradictions []clash   `json:"contradictions"`
	Retracted      []string  `json:"retracted"`
}

func (s said) turn() modeltest.Turn {
	s.Gaps, s.Contradictions = append([]gap{}, s.Gaps...), append([]clash{}, s.Contradictions...)
	s.Retracted, s.Evidence = append([]string{}, s.Retracted...), append([]bearing{}, s.Evidence...)
	return asJSON(s)
}

// missing is a gap that is new in pair n.
func missing(n int, severity string) gap {
	return gap{Category: "missing_information", Severity: severity, Aspect: "when",
		Description: fmt.Sprintf("No date is in answer %d.", n), Pair: n}
}

// after is an analysis that is satisfied with answer n if that is the last one, and has a gap of its own before.
func after(n, last int) modeltest.Turn {
	if n >= last {
		return said{Complete: 90}.turn()
	}
	return said{Gaps: []gap{missing(n, "high")}, Complete: min(10+n, 70), More: true}.turn()
}

// never is a detective that always wants to know more, and gets on.
func never(n int, _ model.Request) modeltest.Turn { return after(n, 100) }

// hashOf is the hash of a document.
func hashOf(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

// process is one that serves the Inquiry.
type process struct {
	*house
	service *service.Service
	desk    *inquiry.Desk
	engine  *run.Engine
}

func (h *house) process(holder string, store journal.Store) *process {
	h.Helper()
	d := h.deps(store)
	a := inquiry.Describe(assert.Must(inquiry.New(d))(h), d)
	p := &process{house: h}
	p.engine = assert.Must(run.NewEngine(run.Config{Store: store, Build: "test", Holder: holder,
		Assistants: []*run.Assistant{a.Assistant}, Redact: redact.New(secret).Bytes,
		Dead: func(holder string) bool { return strings.HasPrefix(holder, "dead") }}))(h)
	p.desk = &inquiry.Desk{Deps: d, Standings: p.engine.Standings}
	set := assert.Must(trees.Open(""))(h)
	p.service = assert.Must(service.New(service.Config{Store: store, Engine: p.engine,
		Assistants: []*assistant.Assistant{a}, Redact: redact.New(secret).String, Now: time.Now,
		Tree: func(name string) (string, []byte, error) {
			t, err := set.Get(name)
			if h.tree != "" {
				t.Text = []byte(h.tree)
			}
			return t.File, t.Text, err
		}}))(h)
	return p
}

func (h *house) deps(store journal.Store) inquiry.Deps {
	h.Helper()
	return inquiry.Deps{Store: store, Prompts: assert.Must(fs.Sub(prompts.FS, "inquiry"))(h),
		Files: func(owner journal.Owner) (*record.Folder, error) {
			return record.Open(filepath.Join(h.folder, string(owner)))
		},
		Choose: func(_ context.Context, asked string) (string, error) {
			switch {
			case asked != "":
				return asked, nil
			case h.offline:
				return model.OfflineRules, nil
			}
			return acting, nil
		},
		Model: func(context.Context, string) (model.Model, error) {
			switch {
			case h.broken != nil:
				return nil, h.broken
			case h.other != nil:
				return h.other, nil
			}
			return &detective{h, acting}, nil
		},
		Witness: func(_ context.Context, w inquiry.WitnessSpec) (witness.Witness, []record.Document, error) {
			h.mu.Lock()
			h.opened++
			h.mu.Unlock()
			documents, err := h.opens()
			if err != nil {
				return nil, nil, err
			}
			if h.reads != nil {
				return h.reads(w)
			}
			if h.talks {
				return witness.Model(&detective{h, acting}, w.Text), nil, nil
			}
			return &scripted{h, w.Name}, documents, nil
		},
	}
}

// detective is the model that plays the house's part. Its requests come one after another.
type detective struct {
	*house
	id string
}

func (d *detective) ID() string  { return d.id }
func (d *detective) Local() bool { return true }

var answerLine = regexp.MustCompile(`(?m)^Answer (\d+): `)

// answered is how many answers a request tells of.
func answered(req model.Request) int {
	n := 0
	for _, m := range answerLine.FindAllStringSubmatch(req.Messages[0].Text, -1) {
		n, _ = strconv.Atoi(m[1])
	}
	return n
}

func (d *detective) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	d.mu.Lock()
	d.sent = append(d.sent, req)
	d.mu.Unlock()
	if d.room != nil && req.Tokens() > d.room(req) {
		return model.Response{Model: d.id}, &model.Error{Kind: model.ContextLength, Model: d.id}
	}
	if d.takes != nil {
		d.takes(req)
	}
	var turn modeltest.Turn
	switch n := answered(req); req.Purpose {
	case asking:
		turn = d.asks(n+1, req)
	case analysing:
		if turn = d.analyses(n, req); !d.quotesNothing {
			turn.Text = withEvidence(turn.Text, n, req)
		}
	case summing:
		turn = d.sums(req)
	case witness.Purpose:
		turn = modeltest.Say(strings.TrimSpace(fmt.Sprintf("Fact %d holds. %s", len(req.Messages)/2+1, d.testifies)))
	default:
		turn = modeltest.Fail(model.Invalid)
	}
	return modeltest.Script(d.T, turn).As(d.id, true).Chat(ctx, req, emit)
}

// lastAnswer is what a request tells of the last answer.
var lastAnswer = regexp.MustCompile(`(?m)^Answer \d+: (.*)$`)

// withEvidence has an analysis that quotes nothing quote the last answer, for the hypothesis.
func withEvidence(analysis string, n int, req model.Request) string {
	all := lastAnswer.FindAllStringSubmatch(req.Messages[0].Text, -1)
	if all == nil || all[len(all)-1][1] == "" {
		return analysis
	}
	quoted, _ := json.Marshal([]bearing{{n, all[len(all)-1][1], "for"}}) // texts
	return strings.Replace(analysis, `"evidence":[]`, `"evidence":`+string(quoted), 1)
}

// requests are those of a purpose, in order.
func (h *house) requests(purpose string) (all []model.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, req := range h.sent {
		if req.Purpose == purpose {
			all = append(all, req)
		}
	}
	return all
}

// asked are the questions that the witness has heard.
func (h *house) asked() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.heard)
}

// scripted is the witness.
type scripted struct {
	*house
	name string
}

func (w *scripted) Name() string                { return w.name }
func (w *scripted) Check(context.Context) error { return nil }

func (w *scripted) Answer(ctx context.Context, question, _ string, earlier []witness.Exchange) (witness.Answer, error) {
	w.mu.Lock()
	w.heard = append(w.heard, question)
	w.mu.Unlock()
	return w.says(ctx, question, len(earlier)+1)
}

// speaking is a witness that gives these answers, one after another, and then none.
func speaking(answers ...string) func(context.Context, string, int) (witness.Answer, error) {
	return func(_ context.Context, _ string, n int) (witness.Answer, error) {
		if n > len(answers) {
			return witness.Answer{By: "scripted:witness"}, nil
		}
		return witness.Answer{Text: answers[n-1], By: "scripted:witness"}, nil
	}
}

// options are those of an inquiry of ten pairs at most.
func options() inquiry.Options {
	return inquiry.Options{Witness: schema.Folder{Name: "scripted:witness"}, Limit: 10}
}

func (p *process) begin(words string, o inquiry.Options) *service.Run {
	p.Helper()
	return assert.Must(p.service.Start(p.Context(), ada, service.Request{Assistant: inquiry.Name, Words: words,
		Options: o}))(p)
}

// inquire has an inquiry come to its end, and gives the session as it is opened then.
func (p *process) inquire(o inquiry.Options) (service.Result, record.Session) {
	p.Helper()
	return p.wait(p.begin(bridge, o))
}

// inquires has one process inquire as usual.
func (h *house) inquires() (*process, service.Result, record.Session) {
	h.Helper()
	p := h.process("one", h.journal)
	res, s := p.inquire(options())
	return p, res, s
}

func (p *process) wait(r *service.Run) (service.Result, record.Session) {
	p.Helper()
	ctx, enough := context.WithTimeout(p.Context(), time.Minute)
	defer enough()
	res := assert.Must(r.Wait(ctx))(p)
	return res, p.session(r.ID)
}

// session opens a session, and wants it to be right.
func (p *process) session(id string) record.Session {
	p.Helper()
	row := assert.Must(p.journal.Run(p.Context(), ada, id))(p)
	s := assert.Must(p.desk.Session(p.Context(), ada, row))(p).Session
	p.valid(s)
	return s
}

// file is the session's file as it lies there, byte for byte, and the session in it; it wants it to be right.
func (h *house) file() (record.Session, string) {
	h.Helper()
	files := assert.Must(filepath.Glob(filepath.Join(h.folder, string(ada), "session_*.json")))(h)
	assert.Require(h, len(files) == 1, "there are %d files: %v", len(files), files)
	raw := assert.Must(os.ReadFile(files[0]))(h)
	if broken := record.Check(raw); len(broken) > 0 {
		h.Errorf("%s breaks %v", filepath.Base(files[0]), broken)
	}
	s := assert.Must(record.Unmarshal(raw))(h)
	same(h, "name of the file", filepath.Base(files[0]), record.FileName(s))
	return s, string(raw)
}

// valid wants a session to follow all rules and the schema.
func (h *house) valid(s record.Session) {
	h.Helper()
	broken := s.Validate()
	assert.That(h, len(broken) == 0, "the session breaks %v", broken)
	broken = record.Check(assert.Must(record.Marshal(s))(h))
	assert.That(h, len(broken) == 0, "its text breaks %v", broken)
}

// ended wants a session to have ended so, with its file the same.
func (p *process) ended(s record.Session, status record.Status, reason record.EndReason, pairs int) {
	p.Helper()
	same(p, "status, reason and pairs", fmt.Sprint(s.Status, s.EndReason, len(s.Pairs)),
		fmt.Sprint(status, reason, pairs))
	audit := s.AuditResult
	if status != record.Completed {
		audit = s.ProvisionalAudit
	}
	assert.Require(p, audit != nil && (s.AuditResult == nil) != (status == record.Completed) && s.EndTime != nil,
		"its audit: %+v, %+v, its end: %v", s.AuditResult, s.ProvisionalAudit, s.EndTime)
	if (audit.ConsistencyScore == nil) == (audit.Unjudged == "") {
		p.Errorf("the score is %v, and it is unjudged since %q", audit.ConsistencyScore, audit.Unjudged)
	}
	if audit.ConsistencyScore != nil {
		same(p, "the sum", audit.Sum, record.Score(s.Pairs, audit.Contradictions))
		same(p, "the score", *audit.ConsistencyScore, audit.Sum.Score)
	}
	_, text := p.file()
	same(p, "the file", text, string(assert.Must(record.Marshal(s))(p)))
}

// trail is the audit trail, a line for each event, without the reasons.
func trail(s record.Session) (lines []string) {
	for _, e := range s.AuditTrail {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Event, e.FromProvider, e.ToProvider)))
	}
	return lines
}

// by says of each pair who asked, and who analysed.
func by(s record.Session) (all []string) {
	for _, p := range s.Pairs {
		all = append(all, p.ProviderUsed+" "+p.AnalysedBy)
	}
	return all
}

// rows are those of all runs, the last first.
func (h *house) rows() []journal.Run {
	h.Helper()
	return assert.Must(h.journal.Runs(h.Context(), ada, journal.Filter{Limit: 100, Summaries: true}))(h)
}

func contains(t testing.TB, text string, parts ...string) {
	t.Helper()
	assert.Contains(t, "it", text, parts...)
}

func lacks(t testing.TB, text string, parts ...string) {
	t.Helper()
	assert.Lacks(t, "it", text, parts...)
}

func same[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	assert.NoDiff(t, cmp.Diff(want, got, cmpopts.IgnoreUnexported(inquiry.Item{})), "%s (-want +got)", what)
}

// held waits a minute at most for what a test waits for.
func held[T any](t testing.TB, what string, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(time.Minute):
		t.Fatal("waiting for " + what)
	}
	return value
}
