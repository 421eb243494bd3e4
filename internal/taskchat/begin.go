package taskchat

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
	"sibyl/internal/taskchat/understand"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// MaxMessage bounds a message, in characters.
const MaxMessage = 4000

// Retention is how long a conversation is kept that nobody uses (requirement 3, Conversation State).
const Retention = 30 * 24 * time.Hour

// Deps is what the assistant needs of the outside.
type Deps struct {
	Store  run.History
	Choose func(ctx context.Context, asked string) (model string, err error)
	Model  func(ctx context.Context, id string) (model.Model, error)
	// Tools connects to the task tools of an owner, by MCP. close ends the connection.
	Tools func(ctx context.Context, owner, actor string) (tools *tool.Set, close func(), err error)
	// Prompt gives one of the Prompts by its name, which a run reads when it begins and keeps.
	Prompt func(name string) ([]byte, error)
	Now    func() time.Time
}

// Options are the options of a message.
type Options struct {
	Model string `json:"model,omitempty" flag:",m" names:"model" setting:"model" doc:"the model, by its name or as provider:model; offline:rules for none"`
	// Visible is what the person has before their eyes besides the conversation.
	Visible []Visible `json:"visible,omitempty" tool:"-" flag:"-" doc:"The tasks that the person sees beside the conversation, in their order: positions mean these, unless the last answer was a list."`
}

// Visible is a task that the person sees.
type Visible struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
}

// How many visible tasks have positions, and how much of their titles is kept, in characters.
const (
	mostVisible      = 50
	mostVisibleTitle = 200
)

// Env is what a run was begun on. It is journaled, and holds no secret.
type Env struct {
	Model string   `json:"model"`
	Asked string   `json:"asked,omitempty"` // the model that the person chose for the conversation
	Past  []string `json:"past,omitempty"`  // earlier runs of the conversation, oldest first
}

// Models implements assistant.UsesModels.
func (e Env) Models() []string { return []string{e.Model} }

// Turn is what a conversation keeps of a message: the summary of its run.
type Turn struct {
	Message  string   `json:"message"`
	Response string   `json:"response"`
	Status   Status   `json:"status"`
	Metadata Metadata `json:"metadata"`
	Place    int      `json:"place,omitempty"` // from 1, among the messages that its model was sent
	Read     *Glance  `json:"read,omitempty"`  // how the message was read, if that is said so shortly
}

// pastAfter is how many messages, with this one, the model is sent before the next. Where there would be too many, half
// of them are left out at once: what was sent before then stays for the messages that follow.
func (t Turn) pastAfter() int {
	switch {
	case t.Place == 0: // it does not say
		return mostPast
	case t.Place > mostPast:
		return mostPast / 2
	}
	return t.Place
}

const (
	// mostPast bounds how many earlier messages a model is shown with their responses, and mostRowsRead how many rows
	// are read to find them.
	mostPast     = 25
	mostRowsRead = 2 * mostPast
)

// New makes the assistant.
func New(d Deps) (*run.Assistant, error) {
	leaves, opt, err := Leaves()
	if err != nil {
		return nil, err
	}
	return &run.Assistant{Name: Name, Leaves: leaves, Options: opt, Outcome: outcome, Used: assistant.UsedBy,
		Effects: map[string]run.EffectType{EffectCall: run.EffectOf[CallPayload, agent.CallReceipt](),
			EffectIntent: run.EffectOf[IntentPayload, IntentReceipt](), EffectWords: run.EffectOf[WordsPayload,
				WordsReceipt]()},
		Open: func(_ context.Context, v *run.View) (map[string]run.Performer, func(), error) {
			c := &connection{open: func(ctx context.Context) (*tool.Set, func(), error) {
				return d.Tools(ctx, string(v.Owner), "chat: "+v.ID)
			}}
			call := &agent.Caller{View: v, Connect: c.tools, Of: decodeCall, Timeout: callTimeout}
			return map[string]run.Performer{EffectCall: call.Performer(), EffectIntent: {Do: agent.NewPerformer(d.readIntents)},
				EffectWords: {Do: agent.NewPerformer(d.translate)}}, c.close, nil
		}}, nil
}

// Describe tells how the assistant is begun and shown.
func Describe(a *run.Assistant, d Deps) *assistant.Assistant {
	return &assistant.Assistant{
		Assistant: a, About: "keeps your to-do list in conversation", Tree: Name, Retention: Retention,
		Options: schema.Of[Options](), Begin: assistant.BeginWith(d.begin), Setup: d.setup,
		Offers: describeWish, Form: AgentResponse{},
		Show: shownOutcome, ShowEffect: showEffect,
		Events: Events(), Reasons: whys()}
}

func (d Deps) begin(ctx context.Context, b assistant.Request, o Options) (run.Spec, error) {
	words := strings.TrimSpace(journal.Clean(b.Words))
	if n := utf8.RuneCountInString(words); n == 0 || n > MaxMessage {
		return run.Spec{}, &assistant.RequestError{Why: wrongMessage.With(MaxMessage)}
	}
	before, err := d.setup(ctx, b.Owner, b.Session, "")
	if err != nil {
		return run.Spec{}, err
	}
	asked := b.KeepModel("model", &o.Model, b.Session == "", before.Model)
	id, err := d.Choose(ctx, o.Model)
	if err != nil {
		return run.Spec{}, assistant.ModelError(err)
	}
	env := Env{Model: id, Asked: asked}
	given := Given{Words: words, Metadata: newMetadata(), Model: id != model.OfflineRules}
	_, given.Zone = d.Now().Local().Zone()
	spec := run.Spec{Title: text.Brief(words, journal.MostTitle)}
	for _, look := range looks() {
		prompt, err := d.Prompt(look.prompt)
		if err != nil {
			return run.Spec{}, fmt.Errorf("the prompt %s of the task assistant: %w", look.prompt, err)
		}
		spec.Texts = append(spec.Texts, run.Text{Name: look.text, Content: prompt})
	}
	if b.Session != "" {
		if env.Past, spec.Consume, err = d.readConversation(ctx, b, &given); err != nil {
			return run.Spec{}, err
		}
		spec.Claims = []string{claimKey(b.Session)}
	}
	if len(o.Visible) > 0 && given.Metadata.LastToolUsed != toolOf(understand.List) {
		given.Metadata.rememberVisible(o.Visible, d.Now())
	}
	given.Asked = given.Open.answerable()
	spec.Given, spec.Env = given, env
	return spec, nil
}

// setup tells which model was chosen in a conversation.
func (d Deps) setup(ctx context.Context, owner journal.Owner, session, _ string) (told assistant.Setup, err error) {
	if session == "" {
		return told, nil
	}
	last, err := d.Store.Runs(ctx, owner, journal.Filter{Session: session, Assistant: Name, Limit: 1})
	if err != nil || len(last) == 0 {
		return told, err
	}
	var env Env
	err = run.ReadStart(ctx, d.Store, owner, last[0].ID, &env, &Given{})
	return assistant.Setup{Model: env.Asked}, err
}

// claimKey is the claim that at most one running run of a conversation holds.
func claimKey(session string) string { return "conversation " + session }

// readConversation puts into given what the conversation remembers: its metadata, and the question it was left with.
// past are its last runs, oldest first; consume is the pending row of the latest one.
func (d Deps) readConversation(
	ctx context.Context, b assistant.Request, given *Given,
) (past, consume []string, err error) {
	runs, err := d.Store.Runs(ctx, b.Owner, journal.Filter{Session: b.Session, Assistant: Name, Summaries: true,
		Limit: mostRowsRead})
	if err != nil {
		return nil, nil, err
	}
	most := mostPast
	for n, r := range runs {
		switch {
		case r.Status == journal.Running:
			return nil, nil, &journal.ClaimedError{Key: claimKey(b.Session), Run: r.ID}
		case len(r.Summary) == 0 || len(past) == most: // it was ended without being folded
			continue
		}
		turn, err := decodeTurn(r)
		if err != nil {
			return nil, nil, err
		}
		switch {
		case past == nil:
			given.Metadata, most = turn.Metadata, turn.pastAfter()
		case len(past) == 1 && b.Late:
			given.Metadata.forgetUnseen(turn.Metadata)
		}
		if n == 0 {
			consume = []string{r.ID}
		}
		if given.Model && len(given.Said)+len(turn.Message) < MaxMessage {
			given.Said = turn.Message + "\n" + given.Said
		}
		past = append(past, r.ID)
	}
	if b.Late && len(past) == 1 {
		given.Metadata.forgetUnseen(newMetadata())
	}
	if len(consume) > 0 {
		given.Open, err = d.openQuestion(ctx, b, consume[0])
	}
	slices.Reverse(past)
	return past, consume, err
}

// openQuestion reads the question that a run left. It has lapsed if it waited too long, or if the message was sent
// before it was seen.
func (d Deps) openQuestion(ctx context.Context, b assistant.Request, id string) (o Open, err error) {
	rows, err := d.Store.Pending(ctx, b.Owner, b.Session, d.Now())
	if err != nil {
		return o, err
	}
	for _, row := range rows {
		if row.ID != id || row.Kind == journal.NoQuestion {
			continue
		}
		var l pendingData
		if err := json.Unmarshal(row.Data, &l); err != nil {
			return o, fmt.Errorf("pending row %s: %w: %w", row.ID, journal.ErrCorrupt, err)
		}
		if l.Question != nil {
			o = Open{Row: row.ID, Question: *l.Question, Lapsed: b.Late || !d.Now().Before(l.Until)}
		}
	}
	return o, nil
}

func decodeTurn(r journal.Run) (turn Turn, err error) {
	if err = json.Unmarshal(r.Summary, &turn); err == nil {
		err = turn.Metadata.Validate()
	}
	if err != nil {
		return turn, fmt.Errorf("summary of run %s: %w: %w", r.ID, journal.ErrCorrupt, err)
	}
	return turn, nil
}

// connection to the task tools: it is opened by the first call. Calls that only read may run at the same time; a driver
// performs writes one at a time.
type connection struct {
	open func(ctx context.Context) (*tool.Set, func(), error)
	mu   sync.Mutex
	set  *tool.Set
	end  func()
}

func (c *connection) tools(ctx context.Context) (*tool.Set, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set == nil {
		set, end, err := c.open(ctx)
		if err != nil {
			return nil, &bt.Fault{Kind: string(tool.Unavailable), Reason: err.Error()}
		}
		c.set, c.end = set, end
	}
	return c.set, nil
}

func (c *connection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.end != nil {
		c.end()
	}
}

// describeWish says what would be done with words that are plainly meant for the list; "" for all others.
func describeWish(words string) string {
	language, wanted := understand.ReadWish(words)
	var all []string
	for _, one := range wanted {
		all = append(all, describeAct(phrasesOf(language), Act{Intent: one.Intent, Entities: one.Entities}))
	}
	if len(all) == 0 {
		return ""
	}
	return text.Capitalize(strings.Join(all, "; ")) + "?"
}
