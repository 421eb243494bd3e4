package oracle

import (
	"context"
	"encoding/json"
	"fmt"

	"sibyl/internal/agent"
	"sibyl/internal/journal"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// Purpose names the Oracle's requests to the offline model; PurposeNotes those for notes of a long conversation.
const (
	Purpose      = "oracle.turn"
	PurposeNotes = "oracle.notes"
)

// Situation is what the offline model's rules know of a turn, beside the conversation itself.
type Situation struct {
	Question string
	Class    string
	Unsure   bool        // of the class
	Tools    []tool.Spec // offered in this turn
	Final    bool        // no tool may be called: answer
	Steps    []Step
	Material []document.Part // that was handed over
}

// Step is a call made before, and its receipt.
type Step = agent.Step

// asker is what the requests of a run are made of, beside its records.
type asker struct {
	view     *run.View
	env      Env
	given    Given
	prompts  *prompt.Set
	material material            // that was handed over
	again    map[string]material // of earlier runs, by their ids: pictures that are shown again
}

// reading gives the prompts that a run began with.
type reading func(context.Context, *run.View) (*prompt.Set, error)

// builder makes the requests of a run with these tools.
func builder(
	ctx context.Context, prompts reading, v *run.View, tools []tool.Spec,
) (*agent.Builder[Heard], *asker, error) {
	a := &asker{view: v, again: map[string]material{}}
	if err := json.Unmarshal(v.Start().Env, &a.env); err != nil {
		return nil, nil, fmt.Errorf("environment of the run: %w", err)
	}
	err := v.Given(&a.given)
	if err != nil {
		return nil, nil, err
	}
	if a.prompts, err = prompts(ctx, v); err != nil {
		return nil, nil, err
	}
	if a.material, err = materialIn(ctx, v, MaterialText); err != nil {
		return nil, nil, err
	}
	for _, id := range a.env.Past {
		if a.again[id], err = materialIn(ctx, v, earlierMaterial(id)); err != nil {
			return nil, nil, err
		}
	}
	b := &agent.Builder[Heard]{View: v, Tools: tools, Purpose: Purpose, Window: a.env.WindowTokens,
		Recovery: a.prompts.Content(recoverySegment), Of: a.asking}
	if a.env.ReportTool {
		b.Reports = []model.Tool{reportTool()}
	}
	return b, a, nil
}

// rebuilt makes the request of a turn, or of notes, anew, of what the run holds and the tools as it was given them.
func rebuilt(ctx context.Context, v *run.View, p agent.TurnPayload) (r agent.Request, a *asker, err error) {
	specs, err := agent.KeptTools(ctx, v)
	if err != nil {
		return r, nil, err
	}
	b, a, err := builder(ctx, promptsOf, v, specs)
	if err != nil {
		return r, nil, err
	}
	r, err = b.Build(ctx, p)
	return r, a, err
}

// spoken are the person's own words in the session: none that were piped in, or that a program passed on.
func (a *asker) spoken(ctx context.Context) (spoken string, err error) {
	hear := func(question string, piped, relayed bool) {
		if !piped && !relayed {
			spoken += "\n" + question
		}
	}
	hear(a.given.Question, a.given.Said.Piped, a.given.Said.Relayed)
	for _, id := range a.env.Past {
		e, err := a.earlier(ctx, id)
		if err != nil {
			return "", err
		}
		hear(e.Question, e.Piped, e.Relayed)
	}
	return spoken, nil
}

func (a *asker) earlier(ctx context.Context, id string) (Exchange, error) {
	r, err := a.view.Earlier(ctx, id)
	if err != nil {
		return Exchange{}, fmt.Errorf("earlier exchange: %w", err)
	}
	return exchangeOf(r)
}

// asking is one turn of an asker.
type asking struct {
	*asker
	TurnSituation
	agent.TurnPayload
}

func (a *asker) asking(p agent.TurnPayload) (agent.Asking, error) {
	s, err := situationOf(p)
	return asking{a, s, p}, err
}

// recoverySegment is told after the first call that failed, where it was not known that one would: the system prompt
// stays as it is.
const recoverySegment = "error-recovery"

func situationOf(p agent.TurnPayload) (s TurnSituation, err error) {
	if err = json.Unmarshal(p.Situation, &s); err != nil {
		err = fmt.Errorf("situation of the turn: %w", err)
	}
	return s, err
}

// Before gives the exchanges of earlier runs of the session, with their pictures and the signals they ended with, and
// the question with what it is about and what the person has said yes to. After a topic shift only the last exchange
// is kept.
func (a asking) Before(ctx context.Context, noted bool) ([]model.Message, error) {
	ids := a.env.Past
	switch {
	case noted:
		ids = nil
	case a.TopicShift && len(ids) > 1:
		ids = ids[len(ids)-1:]
	}
	var messages []model.Message
	for _, id := range ids {
		e, err := a.earlier(ctx, id)
		if err != nil {
			return nil, err
		}
		text := signal.Neutralise(e.Answer) // it may quote what strangers wrote
		if e.Signal != "" {
			text += "\n" + e.Signal
		}
		messages = append(messages, a.again[id].beside(agent.WithoutMarks(e.Question)),
			model.Message{Role: model.Assistant, Text: text})
	}
	asked := a.material.beside(agent.WithoutMarks(a.given.Question))
	if told := agent.AllowedText(a.given.Said.Yes, agent.BeginsWithAllowed(a.Add)); told != "" && !noted { // notes tell
		asked.Text += "\n\n" + told
	}
	return append(messages, asked), nil
}

func (a asking) System(offered []tool.Spec, history int, noted bool) (agent.System, error) {
	of := promptSituation(a.TurnSituation, a.TurnPayload, a.env, offered)
	of.HistoryTokens, of.Noted = history, a.Large || noted
	c, err := a.prompts.Compose(of)
	return composed(c), err
}

// promptSituation is what the prompt of a turn depends on, beside its history.
func promptSituation(s TurnSituation, p agent.TurnPayload, env Env, offered []tool.Spec) prompt.Situation {
	lines := make([]prompt.ToolLine, len(offered))
	for i, t := range offered {
		lines[i] = prompt.ToolLine{Name: t.Name, Description: t.Description, Source: string(t.Source)}
	}
	connected, missing := env.sources(s.Class)
	return prompt.Situation{QueryType: string(s.Class), Tools: lines, Sources: connected, Missing: missing,
		MaxTurns: p.MaxTurns, WindowTokens: env.WindowTokens,
		Date: env.Date, Signals: env.signals(), BareCalls: env.BareCalls}
}

func (a asking) Facts(offered []tool.Spec, steps []agent.Step) any {
	return Situation{Question: a.given.Question, Class: string(a.Class), Unsure: a.Unsure, Tools: offered,
		Final: a.Last || a.Withdrawn,
		Steps: steps, Material: a.material.parts}
}

// Exchange is what a session keeps of a run: the summary in its row.
type Exchange struct {
	Question  string `json:"question"`
	Answer    string `json:"answer"`
	QueryType string `json:"query_type"`
	Signal    string `json:"signal,omitempty"` // as it was written
	Tokens    int    `json:"tokens"`           // of question, pictures and answer, estimated
	Shift     bool   `json:"shift,omitempty"`  // it leaves the topic of those before
	Pictures  int    `json:"pictures,omitempty"`

	Labels  *agent.Labels `json:"labels,omitempty"`  // of all that its model saw
	Piped   bool          `json:"piped,omitempty"`   // the question was piped in: it is no word of the person
	Relayed bool          `json:"relayed,omitempty"` // a program passed it on

	// that search engines have returned by then, as agent.Address names them; the newest ones
	Addresses []string `json:"addresses,omitempty"`

	ShadowOf string `json:"shadow_of,omitempty"` // the run that a shadow is compared with
}

// labels are those of the exchange; the strictest, if it does not say.
func (e Exchange) labels() agent.Labels {
	if e.Labels == nil {
		return agent.LabelledAs(agent.Stranger, true)
	}
	return *e.Labels
}

func exchangeOf(r journal.Run) (e Exchange, err error) {
	if err := json.Unmarshal(r.Summary, &e); err != nil {
		return e, fmt.Errorf("summary of run %s: %w: %w", r.ID, journal.ErrCorrupt, err)
	}
	return e, nil
}
