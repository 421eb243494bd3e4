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
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/tool"
)

// Deps is what the Oracle needs to perform the effects of a run with this Env.
type Deps struct {
	Model func(ctx context.Context, env Env) (model.Model, error)
	Tools func(ctx context.Context, env Env) (*tool.Set, func(), error)

	// Classifier scores the verdicts for a doubtful reply (docs/requirements.md, FR-019 to FR-022); nil if none is
	// configured. The text is the reply, with its signal and calls.
	Classifier func(ctx context.Context, text string) ([]Score, error)

	ToolTimeout time.Duration // one call; 0: 30 s
}

// Env is the environment that a run of the Oracle was started with. It is journaled, and has no secrets.
type Env struct {
	CodeRoot     string   `json:"code_root,omitempty"`
	Vault        string   `json:"vault,omitempty"`
	Model        string   `json:"model"`
	WindowTokens int      `json:"window_tokens,omitempty"`
	Past         []string `json:"past,omitempty"` // earlier runs of the session, oldest first
	// earlier runs of the session with which something was handed over, oldest first, and what is shown of it again
	Attached []string        `json:"attached,omitempty"`
	Carried  []document.Part `json:"carried,omitempty"`
	// how many of the first of Attached have something by a name that is shown no more
	Dropped map[string]int `json:"dropped,omitempty"`
	// what the person set, for the next run of the session; see setup
	Asked      string `json:"asked,omitempty"` // the model
	NoFallback bool   `json:"no_fallback,omitempty"`
	Preset     string `json:"preset,omitempty"` // "": none, or one that lies elsewhere than presets do
	// what of the session's setup changes with this run, or is left out
	Setup agent.Whys `json:"setup,omitempty"`
	// earlier questions of the session were sent with tools, so this one is, too
	Shown bool `json:"shown,omitempty"`
	Web   bool `json:"web,omitempty"`    // a search engine is there
	NoWeb bool `json:"no_web,omitempty"` // the run has no tool of the web
	// bytes of what was piped in or attached; 0: nothing was
	Material int             `json:"material,omitempty"`
	Parts    []document.Part `json:"parts,omitempty"` // of the material, without their texts
	Date     string          `json:"date,omitempty"`  // on which it was begun
	// the model's server recognises a call only if it stands alone
	BareCalls  bool `json:"bare_calls,omitempty"`
	ReportTool bool `json:"report_tool,omitempty"` // the model reports by a call, not in its text
	NoTools    bool `json:"no_tools,omitempty"`    // the model can't call tools, or is too small to
	NoReport   bool `json:"no_report,omitempty"`   // the model is asked for no report on itself

	About string `json:"about,omitempty"` // what was known of the model, in words

	Guides []string `json:"guides,omitempty"` // the names of what says how to answer, besides the prompts

	Fallback []string `json:"fallback,omitempty"`  // models that answer where Model does not, in order
	ShadowOf string   `json:"shadow_of,omitempty"` // the run that this one is compared with: it writes nothing
	// servers whose tools were not available, each with the reason
	LeftOut agent.Whys `json:"left_out,omitempty"`
}

// Models implements assistant.UsesModels.
func (e Env) Models() []string { return append([]string{e.Model}, e.Fallback...) }

func (e Env) signalForm() string {
	switch {
	case e.NoTools:
		return prompt.SignalsNone
	case e.ReportTool:
		return prompt.SignalsTool
	case e.NoReport:
		return prompt.SignalsOff
	}
	return prompt.SignalsFull
}

// sourceNames says which sources are connected and which are not, in one order for all questions. The names of folders
// are private, like their contents, and are left out.
func (e Env) sourceNames() (connected, missing []string) {
	webMissing := "web search (no search engine is set up)"
	if e.NoWeb {
		webMissing = "the web (it is off)"
	}
	for _, s := range sourcesByNearness("") {
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
	effects := agent.EffectTypes[Heard]()
	effects[EffectClassify] = run.EffectOf[ClassifyPayload, ClassifyReceipt]()
	sets := &promptSets{kept: map[string]*prompt.Set{}}
	return &run.Assistant{Name: Name, Leaves: leaves, Options: opt, Effects: effects, Outcome: composeOutcome,
		Used: assistant.UsedBy,
		Open: func(ctx context.Context, v *run.View) (map[string]run.Performer, func(), error) {
			return openPerformers(ctx, deps, sets, v)
		}, Sends: sends}, nil
}

func openPerformers(
	ctx context.Context, deps Deps, sets *promptSets, v *run.View,
) (map[string]run.Performer, func(), error) {
	prompts, err := sets.of(ctx, v)
	if err != nil {
		return nil, nil, err
	}
	b, a, err := newBuilder(ctx, v, prompts, nil)
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
	b.Tools = a.given.specsOf(tools.Specs())
	caller := &agent.Caller{View: v, Tools: tools, Of: agent.ProposedCall[Heard], Timeout: deps.ToolTimeout,
		DryRun: a.env.ShadowOf != "", Spoken: a.personsWords}
	return map[string]run.Performer{
		agent.EffectTurn:   agent.Turns(b, m, newListener),
		agent.EffectNotes:  agent.Notes(b, m, newListener, PurposeNotes),
		agent.EffectCall:   caller.Performer(),
		agent.EffectLookUp: agent.LookUps(b, proposeLookUp),
		EffectClassify:     {Do: agent.NewPerformer(deps.scoreReply)},
	}, closeTools, nil
}

func (d Deps) scoreReply(ctx context.Context, job run.Job, p ClassifyPayload) (any, error) {
	if d.Classifier == nil {
		return nil, &bt.Fault{Kind: "classifier", Reason: "no classifier is configured in this process"}
	}
	t, err := run.ResultAt[agent.TurnReceipt[Heard]](job.View, p.Turn)
	if err != nil {
		return nil, err
	}
	scores, err := d.Classifier(ctx, classifierText(p.Cause, t))
	if err != nil {
		return nil, &bt.Fault{Kind: "classifier", Reason: err.Error()}
	}
	return ClassifyReceipt{Scores: scores}, nil
}

// classifierText is what the classifier reads of a reply: its text, its signal, and the tools that it calls.
func classifierText(c Cause, t agent.TurnReceipt[Heard]) string {
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
