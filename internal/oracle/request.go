package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/journal"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// Purpose names the Oracle's turns to the offline model; PurposeNotes names its requests for notes.
const (
	Purpose      = "oracle.turn"
	PurposeNotes = "oracle.notes"
)

// Situation is what the rules of the offline model know of a turn, besides the conversation.
type Situation struct {
	Question string
	Previous string // the question before it
	Class    string
	Unsure   bool        // of the class
	Sure     bool        // no other source is likely
	Tools    []tool.Spec // offered in this turn
	Final    bool        // no tool may be called: answer
	Steps    []agent.Step
	Material []document.Part // that was handed over
	Carried  []document.Part // what was handed over earlier, and is shown again
	Named    []tool.Source   // by the person
	LookUp   *LookUp         // set for calls of the tree itself
	General  bool            // it may be answered from the model's knowledge
	NoTools  bool            // the model is told of no tools
}

// requestData is what the requests of a run are built from, besides its records.
type requestData struct {
	view             *run.View
	env              Env
	given            Given
	prompts          *prompt.Set
	guides           []guide
	material         loadedMaterial            // that was handed over
	earlierMaterials map[string]loadedMaterial // what is shown again of that of earlier runs, by run id
}

// newBuilder makes the builder of requests for a run with these prompts and tools.
func newBuilder(
	ctx context.Context, v *run.View, prompts *prompt.Set, tools []tool.Spec,
) (*agent.Builder[Heard], *requestData, error) {
	a := &requestData{view: v, prompts: prompts, earlierMaterials: map[string]loadedMaterial{}}
	err := v.ReadStart(&a.env, &a.given)
	if err != nil {
		return nil, nil, err
	}
	if a.guides, err = loadGuides(ctx, v, a.env); err != nil {
		return nil, nil, err
	}
	if a.material, err = loadMaterial(ctx, v, MaterialText); err != nil {
		return nil, nil, err
	}
	for _, id := range slices.Concat(a.env.Past, a.env.Attached) {
		if a.earlierMaterials[id], err = loadMaterial(ctx, v, earlierMaterialName(id)); err != nil {
			return nil, nil, err
		}
	}
	b := &agent.Builder[Heard]{View: v, Tools: a.given.specsOf(tools), Purpose: Purpose, Window: a.env.WindowTokens,
		Recovery: a.prompts.Content(recoverySegment), Crowded: a.prompts.Content(crowdedSegment), IsLarge: a.isLarge,
		Shown: a.env.Shown, Of: a.newTurnRequest}
	if a.env.ReportTool {
		b.Reports = []model.Tool{reportTool()}
	}
	return b, a, nil
}

// specsOf are the tools that the run was given, in the order in which it was.
func (g *Given) specsOf(all []tool.Spec) (specs []tool.Spec) {
	for _, f := range g.Tools {
		if at := slices.IndexFunc(all, func(s tool.Spec) bool { return s.Name == f.Name }); at >= 0 {
			specs = append(specs, all[at])
		}
	}
	return specs
}

// isLarge says whether a conversation of so many tokens is large for the model.
func (a *requestData) isLarge(tokens int) bool {
	return prompt.Situation{HistoryTokens: tokens, WindowTokens: a.env.WindowTokens}.Large()
}

// rebuildRequest builds the request of a turn or of notes again, from what the run keeps and the tools as they were.
func rebuildRequest(
	ctx context.Context, v *run.View, p agent.TurnPayload,
) (r agent.Request, a *requestData, err error) {
	specs, err := agent.KeptTools(ctx, v)
	if err != nil {
		return r, nil, err
	}
	prompts, err := promptsOf(ctx, v)
	if err != nil {
		return r, nil, err
	}
	b, a, err := newBuilder(ctx, v, prompts, specs)
	if err != nil {
		return r, nil, err
	}
	r, err = b.Build(ctx, p)
	return r, a, err
}

// personsWords are the questions in the session that the person typed: not those piped in or passed on by a program.
func (a *requestData) personsWords(ctx context.Context) (spoken string, err error) {
	add := func(question string, piped, relayed bool) {
		if !piped && !relayed {
			spoken += "\n" + question
		}
	}
	add(a.given.Question, a.given.Said.Piped, a.given.Said.Relayed)
	for _, id := range a.env.Past {
		e, err := a.earlierExchange(ctx, id)
		if err != nil {
			return "", err
		}
		add(e.Question, e.Piped, e.Relayed)
	}
	return spoken, nil
}

func (a *requestData) earlierExchange(ctx context.Context, id string) (Exchange, error) {
	r, err := a.view.Earlier(ctx, id)
	if err != nil {
		return Exchange{}, fmt.Errorf("earlier exchange: %w", err)
	}
	return exchangeOf(r)
}

// turnRequest builds the request of one turn: it implements agent.TurnPrompt.
type turnRequest struct {
	*requestData
	TurnSituation
	agent.TurnPayload
}

func (a *requestData) newTurnRequest(p agent.TurnPayload) (agent.TurnPrompt, error) {
	s, err := turnSituation(p)
	return turnRequest{a, s, p}, err
}

// recoverySegment is sent after the first failed call, and crowdedSegment once the conversation is large, as messages:
// what was sent before stays the same.
const (
	recoverySegment = "error-recovery"
	crowdedSegment  = "summarization"
)

// foundSegment is sent after what was looked up, and mostRepeated bounds a question that is repeated there, in bytes.
const (
	foundSegment = "found"
	mostRepeated = 500
)

func turnSituation(p agent.TurnPayload) (s TurnSituation, err error) {
	if err = json.Unmarshal(p.Situation, &s); err != nil {
		err = fmt.Errorf("situation of the turn: %w", err)
	}
	return s, err
}

// Before returns the messages before the first turn: the earlier exchanges of the session, with their notes, pictures
// and final signals, then the question with its note, its material and the approved calls. After a topic shift only the
// last exchange is kept.
func (a turnRequest) Before(
	ctx context.Context, noted bool,
) (messages []model.Message, note agent.Note, err error) {
	ids := a.env.Past
	switch {
	case noted:
		ids = nil
	case a.TopicShift && len(ids) > 1:
		ids = ids[len(ids)-1:]
	}
	history := 0
	for _, id := range ids {
		e, err := a.earlierExchange(ctx, id)
		if err != nil {
			return nil, note, err
		}
		history += e.Tokens
		text := signal.Neutralise(e.Answer) // it may quote what strangers wrote
		if e.Signal != "" {
			text += "\n" + e.Signal
		}
		asked := a.earlierMaterials[id].messageWith(agent.WithoutMarks(e.Question))
		if asked.Text = agent.WithNote(e.Note, asked.Text); e.Found != "" {
			asked.Text += "\n\n" + e.Found
		}
		messages = append(messages, asked, model.Message{Role: model.Assistant, Text: text})
	}
	material := loadedMaterial{}
	for _, id := range a.env.Attached {
		if !slices.Contains(ids, id) { // the exchange is not sent, but what was handed over stays
			material = material.with(a.earlierMaterials[id])
		}
	}
	asked := material.with(a.material).messageWith(agent.WithoutMarks(a.given.Question))
	if told := agent.AllowedText(a.given.Said.Yes, agent.BeginsWithAllowed(a.Add)); told != "" && !noted {
		asked.Text += "\n\n" + told
	}
	of := promptSituation(a.TurnSituation, a.TurnPayload, a.env, a.guides, nil)
	of.HistoryTokens, of.Noted = history+agent.Tokens(asked.Text), noted
	c, err := a.prompts.Compose(of)
	note = noteOf(c)
	note.Crowded = of.Large()
	asked.Text = agent.WithNote(note.Text, asked.Text)
	return append(messages, asked), note, err
}

func (a turnRequest) System(shown []tool.Spec, note agent.Note) (agent.System, error) {
	of := promptSituation(a.TurnSituation, a.TurnPayload, a.env, a.guides, shown)
	c, err := a.prompts.Compose(of)
	system := agentSystem(c, note)
	system.Facts = slices.Concat([]string{of.Date}, of.Sources, of.Missing, guideTexts(a.guides))
	return system, err
}

// promptSituation is what the prompt of a turn depends on, besides its history. shown are the tools that are sent.
func promptSituation(
	s TurnSituation, p agent.TurnPayload, env Env, guides []guide, shown []tool.Spec,
) prompt.Situation {
	names := make([]string, len(shown))
	for i, t := range shown {
		names[i] = t.Name
	}
	connected, missing := env.sourceNames()
	of := prompt.Situation{QueryType: string(s.Class), Tools: names, Callable: p.Offered, Sources: connected,
		Missing: missing, MaxTurns: p.MaxTurns, WindowTokens: env.WindowTokens,
		Date: env.Date, Signals: env.signalForm(), BareCalls: env.BareCalls}
	setGuides(&of, guides)
	return of
}

// LookedUp shows the best lines of the places that were opened, those with most words of the question first. A model
// that is told of no tools reads the question once more behind them, as small ones have lost it by then.
func (a turnRequest) LookedUp(steps []agent.Step) (string, error) {
	if a.LookUp == nil {
		return "", nil
	}
	o := offline{sit: Situation{Question: a.given.Question, Steps: steps}, terms: classify.Terms(a.given.Question)}
	rows := a.LookUp.Lines
	if a.env.NoTools {
		rows = handyRows
	}
	places := o.withMostWords(o.openedPassages(), rows, a.General)
	all := o.shownPlaces(places, a.LookUp.Lines, a.LookUp.Tokens)
	if all == nil || !a.env.NoTools {
		return strings.Join(all, "\n\n"), nil
	}
	of := promptSituation(a.TurnSituation, a.TurnPayload, a.env, a.guides, nil)
	of.Found = slices.ContainsFunc(places, func(p passage) bool {
		return o.fits(p.excerpt(handyRows, o.sought())) == surelyAbout
	})
	behind, err := behindFound(a.prompts, of, a.given.Question, a.General)
	return strings.Join(append(all, behind), "\n\n"), err
}

// behindFound is what stands after what was looked up: the question once more, and what to do with it.
func behindFound(prompts *prompt.Set, of prompt.Situation, question string, general bool) (string, error) {
	of.LookedUp, of.General = true, general
	c, err := prompts.Compose(of)
	if err != nil {
		return "", err
	}
	var all []string
	if len(question) <= mostRepeated {
		all = append(all, "The question again: "+agent.WithoutMarks(question))
	}
	for _, s := range c.Segments {
		if s.ID == foundSegment {
			all = append(all, s.Text)
		}
	}
	return strings.Join(all, "\n\n"), nil
}

// carried is what is shown again of what was handed over earlier.
func (a *requestData) carried() (all []document.Part) {
	for _, id := range a.env.Attached {
		all = append(all, a.earlierMaterials[id].parts...)
	}
	return all
}

func (a turnRequest) Facts(offered []tool.Spec, steps []agent.Step) any {
	previous := ""
	if n := len(a.given.Previous); n > 0 {
		previous = a.given.Previous[n-1]
	}
	return Situation{Question: a.given.Question, Previous: previous, Class: string(a.Class), Unsure: a.Unsure,
		Sure: a.Sure, Tools: offered, Final: a.Last || a.Withdrawn,
		Steps: steps, Material: a.material.parts, Carried: a.carried(), Named: a.given.Named, LookUp: a.LookUp,
		General: a.General, NoTools: a.env.NoTools}
}

// Exchange is what a session keeps of a run: the summary in its row.
type Exchange struct {
	Question  string `json:"question"`
	Answer    string `json:"answer"`
	QueryType string `json:"query_type"`
	Signal    string `json:"signal,omitempty"` // as it was written
	Note      string `json:"note,omitempty"`   // that stood with the question
	Found     string `json:"found,omitempty"`  // what was looked up before its model was asked, as it was sent
	Shown     bool   `json:"shown,omitempty"`  // its model was sent tools
	Place     int    `json:"place,omitempty"`  // from 1, among the exchanges that its model was sent
	Tokens    int    `json:"tokens"`           // of question, note, pictures and answer, estimated
	Shift     bool   `json:"shift,omitempty"`  // it leaves the earlier topic
	Pictures  int    `json:"pictures,omitempty"`

	Model  string `json:"model,omitempty"`  // that answered, where it was offered tools and something was looked up
	Looked Looker `json:"looked,omitempty"` // who did that
	// it was not asked to report on itself in its text
	Unasked bool `json:"unasked,omitempty"`

	Labels  *agent.Labels `json:"labels,omitempty"`  // of all that its model saw
	Piped   bool          `json:"piped,omitempty"`   // the question was piped in: it is not the person's own words
	Relayed bool          `json:"relayed,omitempty"` // a program passed it on

	// the newest that search engines have returned by then, as agent.Address names them
	Addresses []string `json:"addresses,omitempty"`

	ShadowOf string `json:"shadow_of,omitempty"` // the run that a shadow is compared with
}

// Looker is who looked something up.
type Looker string

// The tree looks up what a model that is offered tools does not.
const (
	ByModel Looker = "model"
	ByTree  Looker = "tree"
)

// labels are the labels of the exchange; the strictest ones, if it has none.
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
