// Package loops scores how a tree deals with models that repeat themselves: how many turns a loop wastes before it is
// ended, and how often an honest repetition is taken for one. Every figure is of played models and tools; the same seeds give
// the same figures.
package loops

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/journal"
	"sibyl/internal/journal/memory"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/tool"
)

//go:embed trees/*.xml
var files embed.FS

// Contestant is a tree that is scored.
type Contestant struct {
	Name string
	Tree []byte
}

// Baselines are the plain checks that ours is compared with: the turn limit only, and more than 5 identical calls among the last 10.
func Baselines() ([]Contestant, error) {
	all := []Contestant{{Name: "limit"}, {Name: "window"}}
	for i := range all {
		var err error
		if all[i].Tree, err = files.ReadFile("trees/" + all[i].Name + ".xml"); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Score is how one contestant did on one shape.
type Score struct {
	Contestant string         `json:"contestant"`
	Wasted     float64        `json:"wasted"`      // of a loop: turns between the last useful one and the end, the answer aside; mean
	MostWasted int            `json:"most_wasted"` // of any seed
	FalseStops int            `json:"false_stops"` // of an honest repetition: runs that were ended before the model was done
	Nudged     int            `json:"nudged"`      // runs in which the model was told that it repeats itself
	Stops      map[string]int `json:"stop_reasons"`
}

// Row is one shape.
type Row struct {
	Shape  string  `json:"shape"`
	Doc    string  `json:"doc"`
	Honest bool    `json:"honest"`
	Scores []Score `json:"scores"`
}

// Report is the scoreboard.
type Report struct {
	Seeds int   `json:"seeds"`
	Turns int   `json:"turns"` // the limit of each run
	Rows  []Row `json:"rows"`
}

// turnLimit is the limit of turns unless set otherwise (FR-007).
const turnLimit = 30

// Run plays every shape with so many seeds to each contestant.
func Run(ctx context.Context, seeds int, prompts *prompt.Set, contestants []Contestant) (Report, error) {
	report := Report{Seeds: seeds, Turns: turnLimit}
	for _, shape := range Shapes() {
		row := Row{Shape: shape.Name, Doc: shape.Doc, Honest: shape.Honest}
		for _, c := range contestants {
			s := Score{Contestant: c.Name, Stops: map[string]int{}}
			total := 0
			for seed := range seeds {
				r, err := play(ctx, shape.plan(rand.New(rand.NewPCG(uint64(seed), 42))), prompts, c) //nolint:gosec // the same seeds must give the same figures
				if err != nil {
					return report, fmt.Errorf("%s, seed %d, %s: %w", shape.Name, seed, c.Name, err)
				}
				total += r.wasted
				s.MostWasted = max(s.MostWasted, r.wasted)
				s.Stops[r.answer.StopReason]++
				if !r.finished {
					s.FalseStops++
				}
				if r.nudged {
					s.Nudged++
				}
			}
			s.Wasted = float64(total) / float64(seeds)
			if !shape.Honest {
				s.FalseStops = 0 // a loop is never finished
			}
			row.Scores = append(row.Scores, s)
		}
		report.Rows = append(report.Rows, row)
	}
	return report, nil
}

// played is one run.
type played struct {
	answer   oracle.Answer
	wasted   int
	finished bool // the model came to the end of its plan
	nudged   bool
}

const owner journal.Owner = "eval"

func play(ctx context.Context, p plan, prompts *prompt.Set, c Contestant) (played, error) {
	stage := &stage{plan: p, results: map[string]call{}}
	reg, err := tool.NewSet(stage.tools()...)
	if err != nil {
		return played{}, err
	}
	assistant, err := oracle.New(oracle.Deps{
		Model: func(context.Context, oracle.Env) (model.Model, error) { return stage, nil },
		Tools: func(context.Context, oracle.Env) (*tool.Set, func(), error) { return reg, func() {}, nil }})
	if err != nil {
		return played{}, err
	}
	store := memory.New()
	defer func() { _ = store.Close() }()
	now := time.Unix(0, 0)
	engine, err := run.NewEngine(run.Config{Store: store, Assistants: []*run.Assistant{assistant}, Build: "eval", Holder: "eval"})
	if err != nil {
		return played{}, err
	}
	spec, err := oracle.NewRun(ctx, store, oracle.Question{Text: "Create a note about how the parts work together",
		Owner: owner, Session: "s", MaxTurns: turnLimit, Env: oracle.Env{Vault: "/", Model: stage.ID()}, Tools: reg.Specs(), TreeFile: c.Name + ".xml",
		Tree: c.Tree, Prompts: prompts,
		NewSession: &journal.Session{ID: "s", Owner: owner, Assistant: oracle.Name, CreatedAt: now, UpdatedAt: now}})
	if err != nil {
		return played{}, err
	}
	live, err := engine.Start(ctx, spec)
	if err != nil {
		return played{}, err
	}
	end, err := live.Wait(ctx)
	if err != nil {
		return played{}, err
	}
	r := played{finished: stage.finished}
	if r.answer, err = oracle.ReadAnswer(end.Outcome); err != nil {
		return r, err
	}
	if r.answer.Error != nil {
		return r, r.answer.Error
	}
	r.nudged = slices.ContainsFunc(r.answer.Notices, func(n agent.Notice) bool { return n.Type == agent.NoticeLoop })
	if p.from >= 0 {
		r.wasted = max(0, r.answer.Turns-p.from-1)
	}
	return r, nil
}

// stage is the played model and its tools. The model heeds no hint; it answers when it has come to the end of its plan, or when no
// tool is offered any more.
type stage struct {
	mu       sync.Mutex
	plan     plan
	turn     int
	finished bool
	results  map[string]call // by tool and arguments
	calls    int
}

func (*stage) ID() string { return "played:loop" }

func (*stage) Local() bool { return true }

func (s *stage) Chat(_ context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, more := s.plan.at(s.turn)
	s.turn++
	resp := m.reply()
	if !more || len(req.Tools) == 0 {
		s.finished = !more
		resp = model.Response{Text: `That is what I found.<signal type="context_sufficient"><sources_found>1</sources_found><confidence>0.8</confidence></signal>`, Finish: model.FinishStop}
	}
	for _, c := range m.calls {
		s.results[c.tool+c.args] = c
	}
	resp.Model = s.ID()
	if emit == nil {
		return resp, nil
	}
	return resp, emit(model.Delta{Text: resp.Text})
}

// tools are those that the plans call.
func (s *stage) tools() (all []tool.Tool) {
	for _, spec := range []tool.Spec{
		{Name: "vault_read", Source: tool.Vault}, {Name: "vault_search", Source: tool.Vault, Search: true},
		{Name: "vault_check", Source: tool.Vault}, {Name: "vault_write", Source: tool.Vault, Effect: tool.Once},
	} {
		if spec.Effect == "" {
			spec.Effect = tool.Repeatable
		}
		spec.Description, spec.Schema = "Is played.", json.RawMessage(`{"type":"object"}`)
		all = append(all, prop{stage: s, spec: spec})
	}
	return all
}

// prop is a played tool.
type prop struct {
	stage *stage
	spec  tool.Spec
}

func (p prop) Spec() tool.Spec { return p.spec }

func (p prop) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	p.stage.mu.Lock()
	defer p.stage.mu.Unlock()
	known, ok := p.stage.results[p.spec.Name+string(c.Args)]
	if !ok {
		return tool.Result{}, tool.Errorf(tool.InvalidArgs, "", "this call is in no plan")
	}
	p.stage.calls++
	return known.gives(p.stage.calls - 1)
}
