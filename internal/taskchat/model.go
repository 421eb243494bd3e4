package taskchat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/assistant"
	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/taskchat/understand"
)

// EffectIntent is the kind of effect that asks a model what a message wants.
const EffectIntent = "tasks.intent"

// IntentPayload asks what a message wants. What the model is shown beside it is in the records that the run names.
type IntentPayload struct {
	Words string `json:"words"`
}

// IntentReceipt is what a model proposes.
type IntentReceipt struct {
	Wishes []Wish      `json:"wishes"`
	Model  string      `json:"model"`
	Usage  model.Usage `json:"usage"`
	model.Sent
}

// Wish is one thing that a model thinks is wanted. Task is how the person named the task, in their words.
type Wish struct {
	Intent      string  `json:"intent"`
	Confidence  float64 `json:"confidence"`
	Task        string  `json:"task"`
	Title       string  `json:"title"`
	Description string  `json:"description"`
	Status      string  `json:"status"`
	Reasoning   string  `json:"reasoning"`
}

// wishes is the schema of a model's answer.
var wishes = model.Schema{Name: "wishes", JSON: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["wishes"],"properties":{"wishes":{"type":"array","maxItems":32,"items":{"type":"object","additionalProperties":false,"required":["intent","confidence","task","title","description","status","reasoning"],"properties":{"intent":{"type":"string","enum":["create","list","update","complete","delete","help","chat"]},"confidence":{"type":"number","minimum":0,"maximum":1},"task":{"type":"string"},"title":{"type":"string"},"description":{"type":"string"},"status":{"type":"string","enum":["","pending","completed"]},"reasoning":{"type":"string"}}}}}}`)}

// promptText is the name under which a run keeps what its model is told.
const promptText = "prompt"

// intentTokens bounds a model's answer.
const intentTokens = 2000

// intent asks the model of the run.
func (d Deps) intent(ctx context.Context, job run.Job) (any, error) {
	var env Env
	var given Given
	if err := errors.Join(json.Unmarshal(job.View.Start().Env, &env), job.View.Given(&given)); err != nil {
		return nil, err
	}
	m, err := d.Model(ctx, env.Model)
	if err != nil {
		return nil, agent.ModelFault(err)
	}
	q, err := asking(ctx, job.View, &env, &given)
	if err != nil {
		return nil, err
	}
	var r IntentReceipt
	_, resp, err := model.Structured(ctx, m, q.Request, wishes, &r)
	if err != nil {
		return nil, agent.ModelFault(err)
	}
	r.Model, r.Usage, r.Sent = resp.Model, resp.Usage, q.Request.Sent()
	return r, nil
}

// asking is what the model is sent: what it is told, the last messages of the conversation, and this one.
func asking(ctx context.Context, v *run.View, env *Env, given *Given) (*assistant.Prompt, error) {
	prompt, err := v.Text(ctx, promptText)
	if err != nil {
		return nil, err
	}
	q := &assistant.Prompt{Request: model.Request{MaxOutputTokens: intentTokens, Purpose: EffectIntent}}
	q.Tell("intent", string(prompt))
	q.Tell("situation", given.situation())
	say := func(by model.Role, kind assistant.PartKind, text string) {
		q.Say(by)
		q.Part(kind, "", text)
	}
	for _, id := range env.Past {
		r, err := v.Earlier(ctx, id)
		if err != nil {
			return nil, err
		}
		turn, err := turnOf(r)
		if err != nil {
			return nil, err
		}
		say(model.User, assistant.PartPerson, turn.Message)
		say(model.Assistant, assistant.PartModel, turn.Response)
	}
	say(model.User, assistant.PartPerson, given.Words)
	return q, nil
}

// exchanged tells what the model was sent to read a message, and the calls that change tasks.
func exchanged(ctx context.Context, v *run.View, c *run.CompletionRecord) (x assistant.Exchanged, err error) {
	if told, ok := agent.ToldCall(c); ok {
		x = assistant.Exchanged{To: told.Tool, Sent: []assistant.Part{{Kind: assistant.PartCall, Name: told.Tool, Text: told.Arguments}}}
		if told.Gave != "" {
			x.Got = []assistant.Part{{Kind: assistant.PartResult, Name: told.Tool, Text: told.Gave}}
		}
		return x, nil
	}
	if c.Kind != EffectIntent {
		return x, nil
	}
	var env Env
	var given Given
	if err := errors.Join(json.Unmarshal(v.Start().Env, &env), v.Given(&given)); err != nil {
		return x, err
	}
	q, err := asking(ctx, v, &env, &given)
	if err != nil {
		return x, err
	}
	r, answered := c.Value.(IntentReceipt)
	var got []assistant.Part
	if answered && c.Err == nil {
		got = assistant.AnsweredJSON(r.Wishes)
	}
	return q.Exchanged(r.Model, wishes, r.Sent, got...), nil
}

// situation is what a model is told beside the messages.
func (g *Given) situation() string {
	b := &strings.Builder{}
	if n := len(g.Metadata.TaskReferences); n > 0 {
		fmt.Fprintf(b, "\n\nThe last list that was shown has %d tasks; a number or an ordinal may mean a position in it.", n)
	}
	if g.Open.Row != "" {
		fmt.Fprintf(b, "\n\nThe person was asked something about this: %s. What they say may be about something else.", g.Open.Act.Intent)
	}
	return b.String()
}

// ModelUnheard says that the model could not be asked, so that the rules' reading stands.
type ModelUnheard struct {
	Kind string `json:"kind"`
}

// EventType implements bt.Typed.
func (ModelUnheard) EventType() string { return "model.unheard" }

func (e ModelUnheard) String() string {
	return "the model could not be asked (" + e.Kind + "): rules read the message"
}

func askModel() bt.Leaf {
	type in struct {
		Words    string   `port:"words"`
		Metadata Metadata `port:"metadata"`
		Open     Open     `port:"open"`
		Language string   `port:"language"`
		Doubted  float64  `port:"doubted" default:"0.6" between:"0 1" doc:"the most confidence for what the rules read no wish for"`
	}
	type out struct {
		Acts   []Act      `port:"acts"`
		Events []bt.Typed `port:",events"`
	}
	plan := func(i in) ([]bt.Request, error) {
		return []bt.Request{{Kind: EffectIntent, Label: "what is wanted", Payload: IntentPayload{i.Words}}}, nil
	}
	collect := func(i in, done []bt.Completion, o *out) error {
		if err := done[0].Err; err != nil {
			o.Events = []bt.Typed{ModelUnheard{err.Kind}}
			return err
		}
		r, err := bt.ResultOf[IntentReceipt](done[0])
		if err != nil {
			return fmt.Errorf("receipt of the model: %w", err)
		}
		doubts := doubtsOf(o.Acts)
		var acts []Act
		for _, w := range r.Wishes {
			a := w.act(i.Words, i.Language, r.Model)
			if slices.Contains(doubts, a.Intent) || a.names() && unsaid(a.Entities.Reference, i.Words) {
				a.Confidence = min(a.Confidence, i.Doubted)
			}
			if guessed(a.Entities.Reference, i.Words, o.Acts) {
				a.Entities.Reference = nil
			}
			acts = append(acts, a)
		}
		if len(acts) > 0 {
			o.Acts, o.Events = acts, intentsRead(acts)
		}
		return nil
	}
	return bt.Task("AskModel", "Asks the model what is wanted. What it proposes is checked as what the rules read is; where they read no wish for a change, a change is in doubt.",
		plan, collect)
}

// surelyTalk is from where on the rules know what talk is: thanks, a question, a condition. Below, they could not read it.
const surelyTalk = 0.7

// doubtsOf are the intents that a model's word is not enough for, where the rules read no wish. What they could not read may be a task more.
func doubtsOf(read []Act) []understand.Intent {
	if slices.ContainsFunc(read, func(a Act) bool { return toolOf(a.Intent) != "" }) {
		return nil
	}
	doubts := []understand.Intent{understand.Update, understand.Complete, understand.Delete}
	if slices.ContainsFunc(read, func(a Act) bool { return a.Intent == understand.Chat && a.Confidence < surelyTalk }) {
		return doubts
	}
	return append(doubts, understand.Create)
}

// act is a wish as the tree checks it.
func (w Wish) act(words, language, by string) Act {
	a := Act{Intent: understand.Intent(w.Intent), Confidence: w.Confidence, Reasoning: w.Reasoning, By: by}
	a.Entities = understand.Entities{Title: asSaid(w.Title, words), Description: w.Description, HasDescription: w.Description != "", Status: w.Status}
	if w.Task != "" {
		a.Entities.Reference = understand.Refer(w.Task, language)
	}
	if a.Intent == understand.Update && a.Entities == (understand.Entities{Status: completed, Reference: a.Entities.Reference}) {
		a.Intent, a.Entities.Status = understand.Complete, ""
	}
	if a.Intent == understand.Complete || a.Intent == understand.Delete {
		a.Entities.Title = ""
	}
	return a
}

// unsaid says that a model names a task by words of which the person said none.
func unsaid(r *understand.Reference, words string) bool {
	if r == nil || r.Title == "" || strings.Contains(strings.ToLower(words), strings.ToLower(r.Title)) {
		return false
	}
	said := stems(words)
	return !slices.ContainsFunc(stems(r.Title), func(w string) bool { return slices.Contains(said, w) })
}

// guessed says that a model put a number, “it” or “all” in the place of what the person said: only their own words can mean these.
func guessed(r *understand.Reference, words string, read []Act) bool {
	if r == nil || len(r.Positions) == 0 && !r.It && !r.All {
		return false
	}
	return !strings.Contains(strings.ToLower(words), strings.ToLower(r.Words)) && !slices.ContainsFunc(read, func(a Act) bool {
		own := a.Entities.Reference
		return own != nil && own.It == r.It && own.All == r.All && own.Both == r.Both && slices.Equal(own.Positions, r.Positions)
	})
}

// asSaid is a title in the person's own letters, where they said it.
func asSaid(title, words string) string {
	at := strings.Index(strings.ToLower(words), strings.ToLower(title))
	if at < 0 || len(strings.ToLower(words)) != len(words) || len(strings.ToLower(title)) != len(title) {
		return title
	}
	return words[at : at+len(title)]
}
