package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/mcp"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/service/servicetest"
	"sibyl/internal/store/teststore"
)

// study is a house whose Oracle is played by a panel of one, with what its runs were begun with.
type study struct {
	*house
	oracle  *mcp.Assistants
	service *service.Service
	options []oracle.Options
	relayed []bool
	answer  func(ctx context.Context) (string, error)
	prices  service.Prices // each run costs 1 EUR; without a limit unless one is set
	env     any            // of its runs; nil: that of the panel
}

func newStudy(t *testing.T) *study { return studyOf(t, 0) }

// studyOf is a study that drives so many runs at once; 0: all.
func studyOf(t *testing.T, most int) *study {
	s := &study{house: newHouse(t), answer: func(context.Context) (string, error) { return "in a.go:7", nil },
		prices: service.Prices{Currency: "EUR", Of: func(string, int, int, int) (float64, bool) { return 1, true }}}
	store := teststore.Empty(t)
	a := assert.Must(servicetest.Describe(store, run.Performer{Do: func(ctx context.Context, _ run.Job) (any, error) {
		return s.answer(ctx)
	}}))(t)
	begin, show := a.Begin, a.Show
	asked := oracle.Describe(a.Assistant, oracle.Surroundings{})
	a.Name, a.Options, a.Tool = oracle.Name, asked.Options, asked.Tool
	a.Begin = func(ctx context.Context, b assistant.Request) (run.Spec, error) {
		if len(b.Words) > oracle.MaxQuestion {
			return run.Spec{}, &assistant.RequestError{Why: bt.Because("it is too long")}
		}
		s.options, s.relayed = append(s.options, b.Options.(oracle.Options)), append(s.relayed, b.Relayed)
		b.Options = "pythia"
		spec, err := begin(ctx, b)
		if s.env != nil {
			spec.Env = s.env
		}
		return spec, err
	}
	a.Used = func(*run.CompletionRecord) (journal.Used, bool) {
		return journal.Used{Model: "test:pythia", Input: 1000, Output: 100}, true
	}
	a.Show = func(raw json.RawMessage) (assistant.Shown, error) {
		shown, err := show(raw)
		shown.Sources, shown.Warnings = []string{"a.go:7"}, []string{"cited, but not read: b.go"}
		return shown, err
	}
	engine := assert.Must(run.NewEngine(run.Config{Store: store, Build: "test", Holder: "one", MostRuns: most,
		Assistants: []*run.Assistant{a.Assistant}}))(t)
	tree := assert.Must(servicetest.Trees.ReadFile("panel.xml"))(t)
	s.service = assert.Must(service.New(service.Config{Store: store, Engine: engine, Assistants: []*assistant.Assistant{a},
		Redact: func(text string) string {
			return text
		}, Prices: &s.prices,
		Tree: func(string) (string, []byte, error) { return "panel.xml", tree, nil }}))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		engine.Drain(ctx)
	})
	s.oracle = &mcp.Assistants{Service: s.service, Base: map[string]any{oracle.Name: oracle.Options{MaxTurns: 3}},
		Folders: func(owner string) map[string]string {
			return map[string]map[string]string{"ada": {"code": "/srv/code"}}[owner]
		}}
	s.server = s.process(mcp.Config{Tasks: s.tasks, Assistants: s.oracle})
	return s
}

func TestQuestionIsAnsweredWithItsSourcesAndGoesOnInItsSession(t *testing.T) {
	s := newStudy(t)
	c := s.connect("ada", newer, nil)
	first := c.call("ask", `{"question":"Where is it?","code":"code"}`)
	assert.Require(t, first.Data["answer"] == "- pythia: in a.go:7\n" && first.Data["partial"] == false &&
		fmt.Sprint(first.Data["sources"]) == "[a.go:7]", "answered with %+v", first)
	if want := "- pythia: in a.go:7\n\n\nNote:\n- cited, but not read: b.go\n\nSources:\n- a.go:7"; first.text != want {
		t.Errorf("a person reads %q", first.text)
	}
	second := c.call("ask", fmt.Sprintf(`{"question":"And then?","session":%q}`, first.Data["session_id"]))
	assert.That(t, second.Data["session_id"] == first.Data["session_id"] && second.Data["run_id"] != first.Data["run_id"],
		"it goes on with %+v", second)
	want := []oracle.Options{{MaxTurns: 3, Code: schema.Folder{Name: "code", Path: "/srv/code"}}, {MaxTurns: 3}}
	assert.That(t, reflect.DeepEqual(s.options, want) && reflect.DeepEqual(s.relayed, []bool{true, true}),
		"runs were begun with %+v, relayed: %v", s.options, s.relayed)
}

func TestQuestionThatCannotBeAskedSaysWhy(t *testing.T) {
	s := newStudy(t)
	ada, eve := s.connect("ada", newer, nil), s.connect("eve", newer, nil)
	session := ada.call("ask", `{"question":"Where?"}`).Data["session_id"]
	ada.call("ask", `{}`).failed(t, mcp.Validation, "field", "question")
	ada.call("ask", `{"question":" "}`).failed(t, mcp.Validation, "field", "question")
	ada.call("ask", `{"question":"`+strings.Repeat("w", oracle.MaxQuestion+1)+`"}`).failed(t, mcp.Validation, "", "")
	ada.call("ask", `{"question":"Where?","code":"S3NT"}`).failed(t, mcp.NotFound, "field", "code")
	eve.call("ask", `{"question":"Where?","code":"code"}`).failed(t, mcp.NotFound, "field", "code")
	eve.call("ask", fmt.Sprintf(`{"question":"Where?","session":%q}`, session)).failed(t, mcp.NotFound, "", "")
	eve.call("ask", `{"question":"Where?","session":"../x"}`).failed(t, mcp.NotFound, "", "")
	s.oracle.Begin = func(context.Context, journal.Owner, func() error) error {
		return &mcp.Fault{Code: mcp.Unavailable, Text: "You have too many."}
	}
	ada.call("ask", `{"question":"Where?"}`).failed(t, mcp.Unavailable, "", "")
	s.oracle.Begin = nil
	s.answer = func(context.Context) (string, error) { return "", errors.New("silence") }
	failed := ada.call("ask", `{"question":"Where?"}`)
	failed.failed(t, mcp.Unavailable, "kind", "silent")
	assert.That(t, failed.Details["run_id"] != nil && strings.Contains(failed.text, "nobody answered"),
		"a run without an answer gives %+v", failed)
}

func TestProgressIsToldToWhoWantsIt(t *testing.T) {
	for _, revision := range []string{older, newer} {
		s := newStudy(t)
		var mu sync.Mutex
		var lines []string
		var last float64
		told := make(chan struct{}, 8)
		c := s.connectTo(s.server.For("ada", ""), revision, nil,
			&sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
				req *sdk.ProgressNotificationClientRequest) {
				mu.Lock()
				defer mu.Unlock()
				assert.That(t, req.Params.Progress > last, "progress goes from %v to %v", last, req.Params.Progress)
				last, lines = req.Params.Progress, append(lines, req.Params.Message)
				told <- struct{}{}
			}})
		p := &sdk.CallToolParams{Name: "ask", Arguments: json.RawMessage(`{"question":"Where is it?"}`)}
		p.SetProgressToken("t")
		res := assert.Must(c.session.CallTool(t.Context(), p))(t)
		for range 2 {
			select {
			case <-told:
			case <-time.After(deadline):
				t.Fatal("no second line of progress came")
			}
		}
		mu.Lock()
		want := []string{fmt.Sprintf("run %v", read(t, res).Data["run_id"]), "pythia: in a.go:7"}
		assert.That(t, slices.Equal(lines, want), "%s: told %q, want %q", revision, lines, want)
		mu.Unlock()
	}
}

func TestWithdrawnQuestionEndsItsRunUnlessRunsStay(t *testing.T) {
	for _, stays := range []bool{false, true} {
		t.Run(fmt.Sprintf("stays=%v", stays), func(t *testing.T) {
			s := newStudy(t)
			s.oracle.Stays = stays
			asked, release := s.held()
			c := s.connect("ada", newer, nil)
			ctx, cancel := context.WithCancel(t.Context())
			returned := make(chan error)
			go func() {
				_, err := c.session.CallTool(ctx, &sdk.CallToolParams{Name: "ask",
					Arguments: json.RawMessage(`{"question":"Where?"}`)})
				returned <- err
			}()
			<-asked
			cancel()
			err := <-returned
			assert.That(t, errors.Is(err, context.Canceled), "the call returned %v", err)
			want := journal.Cancelled
			if stays {
				want = journal.Done
				release()
			}
			s.endsAs(want)
		})
	}
}

// held has the Oracle think until the function is called.
func (s *study) held() (asked <-chan struct{}, release func()) {
	began, gate := make(chan struct{}, 8), make(chan struct{})
	s.answer = func(ctx context.Context) (string, error) {
		began <- struct{}{}
		select {
		case <-gate:
			return "late", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return began, sync.OnceFunc(func() { close(gate) })
}

func TestRunThatNobodyDrivesIsNotWaitedFor(t *testing.T) {
	s := studyOf(t, 1)
	s.oracle.Waiting = time.Millisecond
	asked, release := s.held()
	first := make(chan outcome)
	one, two := s.connect("ada", newer, nil), s.connect("ada", newer, nil)
	go func() { first <- one.call("ask", `{"question":"Where?"}`) }()
	<-asked // which is as much as this process drives at once
	waits := two.call("ask", `{"question":"And when?"}`)
	waits.failed(t, mcp.Unavailable, "", "")
	run, _ := waits.Details["run_id"].(string)
	assert.That(t, run != "" && strings.Contains(waits.text, run), "a run that waits is told of as %+v", waits)
	release()
	o := <-first
	assert.That(t, o.Success, "the run that is driven gives %+v", o)
}

func TestLongAnswerShowsSignsOfLife(t *testing.T) {
	s := newStudy(t)
	s.oracle.Waiting = time.Millisecond
	_, release := s.held()
	defer release()
	c := s.connectTo(s.server.For("ada", ""), newer, nil,
		&sdk.ClientOptions{ProgressNotificationHandler: func(_ context.Context,
			req *sdk.ProgressNotificationClientRequest) {
			if req.Params.Message == "it goes on" {
				release()
			}
		}})
	p := &sdk.CallToolParams{Name: "ask", Arguments: json.RawMessage(`{"question":"Where is it?"}`)}
	p.SetProgressToken("t")
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	res, err := c.session.CallTool(ctx, p)
	assert.NoErrorf(t, err, "no sign of life came")
	o := read(t, res)
	assert.That(t, o.Data["answer"] == "- pythia: late\n", "answered with %+v", o)
}

// endsAs waits for the end of the only run.
func (s *study) endsAs(want journal.Status) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), deadline)
	defer cancel()
	rows, err := s.service.Runs(ctx, "ada", journal.Filter{})
	assert.Require(s, err == nil && len(rows) == 1, "%d runs, %v", len(rows), err)
	for _, err := range s.service.Watch(ctx, "ada", rows[0].ID, service.Place{}) {
		assert.NoErrorf(s, err, "waiting for the end of the run")
	}
	row, err := s.service.Run(ctx, "ada", rows[0].ID)
	assert.That(s, err == nil && row.Status == want, "the run is %s, want %s; %v", row.Status, want, err)
}

// asking is the surroundings of a run that asks a model.
type asking struct{}

func (asking) Models() []string { return []string{"test:pythia"} }

func TestQuestionOverTheLimitOfADayIsRefusedWithItsCostsUntilTheUserAgrees(t *testing.T) {
	s := newStudy(t)
	s.prices.Limit = 0.5
	s.env = asking{}
	c := s.connect("ada", newer, nil)
	c.call("ask", `{"question":"Tea?"}`)
	refused := c.call("ask", `{"question":"Milk?"}`)
	refused.failed(t, mcp.OverLimit, "currency", "EUR")
	spent, _ := refused.Details["spent"].(float64)
	assert.That(t, spent >= 0.5 && refused.Details["limit"] == 0.5 &&
		strings.Contains(refused.text, "call again with over_limit: true"), "the refusal says %+v", refused)
	c.call("ask", `{"question":"Milk?","over_limit":false}`).failed(t, mcp.OverLimit, "", "")
	c.call("ask", `{"question":"Milk?","over_limit":1}`).failed(t, mcp.Validation, "field", "over_limit")
	agreed := c.call("ask", `{"question":"Milk?","over_limit":true}`)
	assert.That(t, agreed.Success, "after a yes: %+v", agreed)
	c.call("ask", `{"question":"Milk?"}`).failed(t, mcp.OverLimit, "", "") // a yes is for one question
	eves := s.connect("eve", newer, nil).call("ask", `{"question":"Tea?"}`)
	assert.That(t, eves.Success, "somebody else, whose day has cost nothing: %+v", eves)
}
