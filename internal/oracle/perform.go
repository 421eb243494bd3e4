package oracle

import (
	"context"
	"fmt"
	"strings"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/tool"
)

// Deps is what the Oracle needs of the outside, as its run's Env says.
type Deps struct {
	Model func(ctx context.Context, env Env) (model.Model, error)
	Tools func(ctx context.Context, env Env) (*tool.Set, func(), error)

	// Classifier scores what a reply calls for (FR-019 to FR-022); nil where none is configured. Text is the reply and
	// its circumstances; the labels are the verdicts.
	Classifier func(ctx context.Context, text string) ([]Score, error)

	ToolTimeout time.Duration // one call; 0: 30 s
}

// Env is what a run of the Oracle was started on. It is journaled, and holds no secret.
type Env struct {
	CodeRoot     string   `json:"code_root,omitempty"`
	Vault        string   `json:"vault,omitempty"`
	Model        string   `json:"model"`
	WindowTokens int      `json:"window_tokens,omitempty"`
	Past         []string `json:"past,omitempty"`   // earlier runs of the session, oldest first
	Web          bool     `json:"web,omitempty"`    // a search engine is there
	NoWeb        bool     `json:"no_web,omitempty"` // the run has no tool of the web
	// bytes of what was piped in or attached; 0: nothing was
	Material int             `json:"material,omitempty"`
	Parts    []document.Part `json:"parts,omitempty"` // of the material, without their texts
	Date     string          `json:"date,omitempty"`  // on which it was begun
	// the model's server sees a call only where it stands alone
	BareCalls  bool `json:"bare_calls,omitempty"`
	ReportTool bool `json:"report_tool,omitempty"` // the model reports by a call, and not in its text

	Fallback []string `json:"fallback,omitempty"`  // models that answer where Model does not, in order
	ShadowOf string   `json:"shadow_of,omitempty"` // the run that this one is compared with: it writes nothing
	// servers whose tools could not be had, each with the reason
	LeftOut agent.Whys `json:"left_out,omitempty"`
}

// Models implements assistant.Asks.
func (e Env) Models() []string { return append([]string{e.Model}, e.Fallback...) }

// smallWindow is a window, in tokens, in which the whole instructions for signals would take too much room.
const smallWindow = 10_000

// signals is the form in which the model is told to report.
func (e Env) signals() string {
	switch {
	case e.ReportTool:
		return prompt.SignalsTool
	case e.WindowTokens > 0 && e.WindowTokens <= smallWindow:
		return prompt.SignalsShort
	}
	return prompt.SignalsFull
}

// sources says what is connected and what is not, the likeliest for a type of question first. The names of folders are
// their owner's, as what is in them, and stay out.
func (e Env) sources(t classify.Type) (connected, missing []string) {
	webMissing := "web search (no search engine is set up)"
	if e.NoWeb {
		webMissing = "the web (it is off)"
	}
	for _, s := range sourcesByNearness(t) {
		is, name, without := e.CodeRoot != "", "code", "code"
		switch s {
		case tool.Vault:
			is, name, without = e.Vault != "", "vault", "vault"
		case tool.Web:
			is, name, without = e.Web, "web", webMissing
		}
		if is {
			connected = append(connected, name)
		} else {
			missing = append(missing, without)
		}
	}
	return connected, missing
}

// SegmentsText is the name under which a run keeps its prompt segments.
const SegmentsText = "prompt segments"

// MaterialText is the name under which a run keeps what was piped in or attached.
const MaterialText = "material"

// Name is the assistant's name in the journal.
const Name = "oracle"

// New makes the assistant.
func New(deps Deps) (*run.Assistant, error) {
	leaves, opt, err := Leaves()
	if err != nil {
		return nil, err
	}
	if deps.ToolTimeout == 0 {
		deps.ToolTimeout = 30 * time.Second
	}
	known := &promptTexts{byBlob: map[string]*prompt.Set{}}
	effects := agent.EffectTypes[Heard]()
	effects[EffectClassify] = run.EffectOf[ClassifyPayload, ClassifyReceipt]()
	return &run.Assistant{Name: Name, Leaves: leaves, Options: opt, Effects: effects, Outcome: outcome,
		Open: func(ctx context.Context, v *run.View) (map[string]run.Performer, func(), error) {
			return open(ctx, deps, known.of, v)
		}, Sends: sends}, nil
}

func open(ctx context.Context, deps Deps, prompts reading, v *run.View) (map[string]run.Performer, func(), error) {
	b, a, err := builder(ctx, prompts, v, nil)
	if err != nil {
		return nil, nil, err
	}
	m, err := deps.Model(ctx, a.env)
	if err != nil {
		return nil, nil, err
	}
	tools, closeTools, err := deps.Tools(ctx, a.env)
	if err != nil {
		return nil, nil, err
	}
	b.Tools = tools.Specs()
	caller := &agent.Caller{View: v, Tools: tools, Of: agent.Proposed[Heard], Timeout: deps.ToolTimeout,
		DryRun: a.env.ShadowOf != "", Spoken: a.spoken}
	return map[string]run.Performer{
		agent.EffectTurn:  agent.Turns(b, m, listen),
		agent.EffectNotes: agent.Notes(b, m, listen, PurposeNotes),
		agent.EffectCall:  caller.Performer(),
		EffectClassify: {Do: func(ctx context.Context, job run.Job) (any, error) {
			return score(ctx, deps.Classifier, job)
		}},
	}, closeTools, nil
}

func score(ctx context.Context, classifier func(context.Context, string) ([]Score, error), job run.Job) (any, error) {
	p, err := run.AskedOf[ClassifyPayload](job)
	if err != nil {
		return nil, err
	}
	if classifier == nil {
		return nil, &bt.Fault{Kind: "classifier", Reason: "no classifier is configured in this process"}
	}
	t, err := run.ResultAt[agent.TurnReceipt[Heard]](job.View, p.Turn)
	if err != nil {
		return nil, err
	}
	scores, err := classifier(ctx, circumstances(p.Cause, t))
	if err != nil {
		return nil, &bt.Fault{Kind: "classifier", Reason: err.Error()}
	}
	return ClassifyReceipt{Scores: scores}, nil
}

// circumstances is what the classifier reads of a reply: its words, what it says of itself, and what it calls.
func circumstances(c Cause, t agent.TurnReceipt[Heard]) string {
	b := &strings.Builder{}
	b.WriteString(strings.TrimSpace(t.Text))
	if s := t.Report.Signal; s != nil {
		for _, name := range []string{"reason", "blocker", "missing"} {
			if text := s.Text(name); text != "" {
				b.WriteString("\n" + text)
			}
		}
	}
	for _, call := range t.Calls {
		fmt.Fprintf(b, "\ncalls %s", call.Name)
	}
	if b.Len() == 0 {
		return string(c)
	}
	return b.String()
}
