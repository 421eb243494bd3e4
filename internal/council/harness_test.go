package council_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/redact"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/store/teststore"
	"sibyl/prompts"
	"sibyl/trees"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(teststore.Main(m)) }

const ada journal.Owner = "ada"

const (
	secret = "sk-hunter2-hunter2-hunter2"
	acting = "scripted:test" // the model that answers
)

// house is what outlives processes: the journal, the folder of the sessions, the oracles, and what their models and
// ears do.
type house struct {
	*testing.T
	journal journal.Store
	folder  string // of the sessions
	oracles string // the folder of the oracles
	id      string // of the session that the tests are about
	shelf   *persona.Shelf
	tree    string // of the Council; "": the one that is shipped

	offline bool
	window  int                                // of the model; 0: not known
	missing string                             // what would transcribe
	plays   func(model.Request) modeltest.Turn // what the model does; nil: everybody answers
	hears   func(file string) (session.Transcript, error)
	now     func() time.Time
	other   model.Model // in place of the one that plays
	shut    error       // why the folder of the sessions can't be opened

	mu    sync.Mutex
	asked []model.Request  // in the order of arrival
	in    council.SpokenIn // what the last recording was said to be spoken in
	heard []string         // names of files, in the order in which they were transcribed
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{T: t, journal: teststore.Empty(t), folder: filepath.Join(t.TempDir(), "sessions"), oracles: t.TempDir(),
		now: time.Now}
	h.shelf = persona.New(persona.Config{Dir: h.oracles, TTL: time.Hour})
	for _, name := range []string{"Ada", "Bob", "Cleo"} {
		h.oracle(name, "")
	}
	h.hears = func(file string) (session.Transcript, error) {
		return session.Transcript{Text: "What is said in " + filepath.Base(file) + ".", By: "test:ear", Language: "en"},
			nil
	}
	h.id = assert.Must(h.sessions().New(t.Context(), "", "en"))(h).ID
	return h
}

// oracle writes the file of an oracle; with no content one that is told by its title.
func (h *house) oracle(name, content string) (file string) {
	h.Helper()
	if content == "" {
		content = "# " + name + "\n\nYou are " + name + ".\n\n{{CONTEXT}}\n\nAnswer.\n"
	}
	file = filepath.Join(h.oracles, strings.ToLower(name)+".md")
	assert.NoError(h, os.WriteFile(file, []byte(content), 0o600))
	return file
}

// sessions opens the folder, as each process does.
func (h *house) sessions() *session.Store {
	h.Helper()
	s := assert.Must(session.Open(session.Config{Folder: h.folder, Now: func() time.Time { return h.now() }}))(h)
	h.Cleanup(func() { _ = s.Close() }) // nothing is written through it
	return s
}

// says adds words to the session.
func (h *house) says(texts ...string) {
	h.Helper()
	for _, text := range texts {
		assert.Must(h.sessions().AddText(h.Context(), h.id, text))(h)
	}
}

// records adds recordings to the session.
func (h *house) records(contents ...string) {
	h.Helper()
	for _, content := range contents {
		assert.Must(h.sessions().AddAudio(h.Context(), h.id, content+".ogg", strings.NewReader("OggS "+content)))(h)
	}
}

// session is the session as the folder holds it.
func (h *house) session() session.Session {
	h.Helper()
	return assert.Must(h.sessions().Get(h.Context(), h.id))(h)
}

// metadata is the session's metadata.json, byte for byte.
func (h *house) metadata() string {
	h.Helper()
	return string(assert.Must(os.ReadFile(filepath.Join(h.folder, h.id, "metadata.json")))(h))
}

// files are the names of the answers' files.
func (h *house) files() (names []string) {
	h.Helper()
	for _, e := range assert.Must(os.ReadDir(filepath.Join(h.folder, h.id, "llm_responses")))(h) {
		names = append(names, e.Name())
	}
	return names
}

// stored is the content of a file of an answer.
func (h *house) stored(name string) string {
	h.Helper()
	return string(assert.Must(os.ReadFile(filepath.Join(h.folder, h.id, "llm_responses", name)))(h))
}

// locked makes a folder of the session one that nothing can be written into, until unlock.
func (h *house) locked(name string) (unlock func()) {
	h.Helper()
	folder := filepath.Join(h.folder, h.id, name)
	h.moved(folder, folder+".aside")
	if err := os.WriteFile(folder, nil, 0o400); err != nil { // works for root as well, whom no permission stops
		h.Fatal(err)
	}
	return func() {
		h.Helper()
		assert.NoError(h, os.Remove(folder))
		h.moved(folder+".aside", folder)
	}
}

func (h *house) moved(from, to string) {
	h.Helper()
	assert.NoError(h, os.Rename(from, to))
}

// process is one that serves the Council.
type process struct {
	*house
	service *service.Service
	deps    council.Deps
	engine  *run.Engine
}

// houseOf is a house in whose session this was said.
func houseOf(t *testing.T, words ...string) *house {
	t.Helper()
	h := newHouse(t)
	h.says(words...)
	return h
}

func (h *house) process(holder string, store journal.Store) *process {
	h.Helper()
	p := &process{house: h}
	d := h.deps(store, p)
	made := assert.Must(council.New(d))(h)
	main := council.Describe(made, d)
	all := []*assistant.Assistant{main, council.DescribeTranscription(main, d), council.DescribeMember(main, d)}
	c := run.Config{Store: store, Build: "test", Holder: holder, Redact: redact.New(secret).Bytes,
		Dead: func(holder string) bool {
			return strings.HasPrefix(holder, "dead")
		}}
	for _, a := range all {
		c.Assistants = append(c.Assistants, a.Assistant)
	}
	p.engine = assert.Must(run.NewEngine(c))(h)
	set := assert.Must(trees.Open(""))(h)
	p.service = assert.Must(service.New(service.Config{Store: store, Engine: p.engine, Assistants: all,
		Redact: redact.New(secret).String, Now: func() time.Time { return h.now() },
		Tree: func(name string) (string, []byte, error) {
			t, err := set.Get(name)
			if h.tree != "" {
				t.Text = []byte(h.tree)
			}
			return t.File, t.Text, err
		}}))(h)
	p.deps = d
	return p
}

// desk opens the sessions of the tests' person.
func (p *process) desk() *council.Desk {
	p.Helper()
	return assert.Must(p.deps.Desk(ada))(p)
}

// driven says whether a process that lives drives a run.
func (p *process) driven(r journal.Run) bool { return p.engine.Driven(r) }

func (h *house) deps(store journal.Store, p *process) council.Deps {
	h.Helper()
	texts := assert.Must(fs.Sub(prompts.FS, "council"))(h)
	folder := h.sessions()
	return council.Deps{Store: store, Oracles: h.shelf, Prompts: texts, Now: func() time.Time { return h.now() },
		Sessions: func(journal.Owner) (*session.Store, error) { return folder, h.shut },
		Away: func(context.Context) error {
			if errors.Is(h.shut, session.ErrAway) {
				return h.shut
			}
			return nil
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
		Model: func(_ context.Context, id string) (model.Model, error) {
			if h.other != nil {
				return h.other, nil
			}
			return &cast{h, id}, nil
		},
		Known:   func(context.Context, string) model.Info { return model.Info{Window: h.window} },
		Missing: func() string { return h.missing },
		Spoken:  "nl",
		Driven:  p.driven,
		Transcribe: func(
			ctx context.Context, file string, in council.SpokenIn, _ council.Transcribing,
		) (session.Transcript, error) {
			h.mu.Lock()
			h.in = in
			h.heard = append(h.heard, filepath.Base(file))
			h.mu.Unlock()
			t, err := h.hears(file)
			if err != nil && model.KindOf(err) == model.Cancelled { // as of whoever transcribes, once it is
				<-ctx.Done()
			}
			return t, err
		},
		Within: func(ctx context.Context, owner journal.Owner, id string, o council.Options) (json.RawMessage, error) {
			r, err := p.service.Within(ctx, owner, id, service.Request{Assistant: council.MemberName, Options: o})
			return r.Outcome, err
		},
		Withdraw: func(ctx context.Context, owner journal.Owner, id string) error {
			return p.service.Withdraw(ctx, owner, id)
		}}
}

// cast is a model that plays all parts. Requests may come at the same time.
type cast struct {
	*house
	id string
}

func (c *cast) ID() string { return c.id }

func (c *cast) Local() bool { return true }

func (c *cast) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	c.mu.Lock()
	c.asked = append(c.asked, req)
	c.mu.Unlock()
	plays := c.plays
	if plays == nil {
		plays = everybody
	}
	return modeltest.Script(c.T, plays(req)).As(c.id, true).Chat(ctx, req, emit)
}

// hearing has something happen while the first request is answered.
func (h *house) hearing(does func()) {
	var once sync.Once
	h.plays = func(req model.Request) modeltest.Turn {
		once.Do(does)
		return everybody(req)
	}
}

// everybody answers what they are asked.
func everybody(req model.Request) modeltest.Turn {
	switch req.Purpose {
	case council.Purpose:
		return modeltest.Say(who(req) + " answers.")
	case council.EffectChair:
		return modeltest.Say(sentences("Ada answers. ~ Ada", "Bob answers. ~ Bob", "Cleo answers. ~ Cleo"))
	case council.EffectName:
		return modeltest.Say(`{"name":"The new office"}`)
	}
	return modeltest.Fail(model.Invalid)
}

// who is the oracle that is asked: its prompt begins with its title.
func who(req model.Request) string {
	title, _, _ := strings.Cut(strings.TrimPrefix(req.Messages[0].Text, "# "), "\n")
	return title
}

// headings are what the answers in a request are called, in their order.
func headings(req model.Request) (names []string) {
	for line := range strings.Lines(req.Messages[0].Text) {
		if name, is := strings.CutPrefix(line, "=== The answer of "); is {
			names = append(names, strings.TrimSuffix(strings.TrimSpace(name), " ==="))
		}
	}
	return names
}

// quoting is one whom a chair names for a sentence, with the words that it quotes.
type quoting struct {
	Oracle string `json:"oracle"`
	Words  string `json:"words"`
}

// point is a sentence as a chair writes it.
type point struct {
	Text     string    `json:"text"`
	By       []quoting `json:"by"`
	Minority *bool     `json:"minority,omitempty"`
}

// pointOf reads "text ~ name: words | name: words", with a "!" at the end of a minority's. Without words the text is
// quoted.
func pointOf(said string) (p point, minority bool) {
	said, minority = strings.CutSuffix(said, "!")
	text, names, _ := strings.Cut(said, " ~ ")
	p = point{Text: text, By: []quoting{}}
	for one := range strings.SplitSeq(names, " | ") {
		name, words, quotes := strings.Cut(one, ": ")
		if !quotes {
			words = text
		}
		if name != "" {
			p.By = append(p.By, quoting{name, words})
		}
	}
	return p, minority
}

// merged is what a chair writes: its sentences, and where answers agree and differ and what they overlook.
func merged(sentences, agree, differ, overlooked []string) string {
	points := func(all []string, sentence bool) []point {
		list := []point{}
		for _, one := range all {
			p, minority := pointOf(one)
			if sentence {
				p.Minority = &minority
			}
			list = append(list, p)
		}
		return list
	}
	raw, err := json.Marshal(map[string]any{"sentences": points(sentences, true), "agree": points(agree, false),
		"differ":     points(differ, false),
		"overlooked": append([]string{}, overlooked...)})
	if err != nil {
		panic(err) // strings can be encoded
	}
	return string(raw)
}

// sentences are what a chair writes who finds nothing else.
func sentences(all ...string) string { return merged(all, nil, nil, nil) }

// requests are those with a purpose, in the order of arrival.
func (h *house) requests(purpose string) (all []model.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, req := range h.asked {
		if req.Purpose == purpose {
			all = append(all, req)
		}
	}
	return all
}

// ask gives options for the session.
func (h *house) ask(oracles ...string) council.Options {
	return council.Options{Session: h.id, Oracles: oracles}
}

// begin starts a run, and fails the test if it is refused.
func (p *process) begin(name string, o council.Options) *service.Run {
	p.Helper()
	return assert.Must(p.service.Start(p.Context(), ada, service.Request{Assistant: name, Options: o}))(p)
}

// run has a run of the Council end.
func (p *process) run(o council.Options) (service.Result, council.Outcome) {
	p.Helper()
	return p.wait(p.begin(council.Name, o))
}

// transcribe has a transcription end.
func (p *process) transcribe(again bool) (service.Result, council.Outcome) {
	p.Helper()
	return p.wait(p.begin(council.TranscriptionName, council.Options{Session: p.id, Again: again}))
}

func (p *process) wait(r *service.Run) (service.Result, council.Outcome) {
	p.Helper()
	res := assert.Must(r.Wait(p.Context()))(p)
	return res, outcomeOf(p, res.Outcome)
}

func outcomeOf(t testing.TB, raw json.RawMessage) (o council.Outcome) {
	t.Helper()
	assert.NoError(t, json.Unmarshal(raw, &o))
	return o
}

// refused wants a request to be refused in words that hold these parts, with nothing begun.
func (p *process) refused(name string, o council.Options, parts ...string) {
	p.Helper()
	before := len(p.runs())
	_, err := p.service.Start(p.Context(), ada, service.Request{Assistant: name, Options: o})
	var asked *assistant.RequestError
	if !errors.As(err, &asked) {
		p.Errorf("it is not refused, but %v", err)
		return
	}
	contains(p, err.Error(), parts...)
	same(p, "runs that were begun", len(p.runs())-before, 0)
}

// runs are the rows of all runs, the last first.
func (h *house) runs() []journal.Run {
	h.Helper()
	return assert.Must(h.journal.Runs(h.Context(), ada, journal.Filter{Limit: 100, Summaries: true}))(h)
}

// names are those of the oracles who answered.
func names(all []council.Answer) (list []string) {
	for _, a := range all {
		list = append(list, a.Oracle.Name)
	}
	return list
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
	assert.NoDiff(t, cmp.Diff(want, got), "%s (-want +got)", what)
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

// sorted is a list in order.
func sorted(all []string) []string {
	all = slices.Clone(all)
	slices.Sort(all)
	return all
}

// processOf is a process whose model is another one.
func (h *house) processOf(holder string, m model.Model) *process {
	h.Helper()
	h.other = m
	return h.process(holder, h.journal)
}

// leave has a process that is dead let go of all that it drives.
func (p *process) leave() {
	now, cut := context.WithCancel(p.Context())
	cut()
	p.service.Drain(now)
}
