package council

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/prompt"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text/language"
)

// Composed is what a receipt keeps of a request that contains the context.
type Composed struct {
	model.Sent
	Room int `json:"room,omitempty"` // tokens that the context was cut to; 0: not cut
}

// modelTask is what a model is asked to do with the context, and with answers if there are any.
type modelTask struct {
	purpose, about string // purpose of the request, and the name of the text with its instructions
	schema         model.Schema
	bound          int // of the reply, in tokens
	answers        []Answer
}

// modelTaskOf gives the task of an effect with this payload: merging or naming. asks is false for any other payload.
func (p *performer) modelTaskOf(ctx context.Context, asked any) (m modelTask, asks bool, err error) {
	switch a := asked.(type) {
	case ChairPayload:
		m, asks = modelTask{purpose: EffectChair, about: textChair, schema: model.Schema{Name: "merged",
			JSON: schema.Answer[chairReply]()}, bound: model.BoundTurn}, true
		if a.Briefly {
			m.about, m.schema = textBriefly, model.Schema{Name: "briefly", JSON: schema.Answer[briefReply]()}
		}
		m.answers, err = p.readAnswers(a.Answers)
	case NamePayload:
		m, asks = modelTask{purpose: EffectName, about: textName, schema: model.Schema{Name: "name",
			JSON: schema.Answer[nameReply]()}, bound: model.BoundName}, true
	}
	return m, asks, err
}

// requestFor builds the request of a task: its instructions, the context, and the answers. Nothing in them looks like
// the heading of an answer or the header of an entry. room gives the tokens that the context may have if the rest of
// the request has others; 0: no limit.
func (p *performer) requestFor(
	ctx context.Context, m modelTask, room func(ctx context.Context, others int) (int, error),
) (*assistant.Prompt, Composed, error) {
	told, err := p.view.Text(ctx, m.about)
	if err != nil {
		return nil, Composed{}, err
	}
	beside := agent.Tokens(string(told))
	blocks := make([]string, len(m.answers))
	for n, a := range m.answers {
		blocks[n] = fmt.Sprintf("\n=== The answer of %s ===\n\n%s\n", a.Oracle.Name,
			plainHeadings(strings.TrimSpace(prompt.Body(a.Text))))
		beside += agent.Tokens(blocks[n])
	}
	var c Composed
	if c.Room, err = room(ctx, beside); err != nil {
		return nil, c, err
	}
	said, err := p.contextWithin(ctx, c.Room)
	if err != nil {
		return nil, c, err
	}
	q := &assistant.Prompt{Request: model.Request{Purpose: m.purpose, Bound: m.bound}}
	q.AddSegment(m.about, string(told))
	q.AddSegment("language", "\n\nWrite in "+
		cmp.Or(language.Name(p.env.Language), "the language of what the person said")+".")
	q.BeginMessage(model.User)
	q.AddPart(assistant.PartSegment, "context", fmt.Sprintf("What the person said:\n\n%s\n", plainHeadings(said.Text)))
	for n, a := range m.answers {
		q.AddPart(assistant.PartSegment, a.Oracle.Name, blocks[n])
	}
	c.Sent = q.Request.Digest()
	return q, c, nil
}

// headings matches the beginnings of lines that look like the heading of an answer.
var headings = regexp.MustCompile(`(?m)^([\s\p{Z}\p{Cf}]*)(===)`)

// plainHeadings puts a backslash into each line that looks like the heading of an answer.
func plainHeadings(text string) string { return headings.ReplaceAllString(text, `$1\$2`) }

// askStructured has the run's model do a task, and decodes its reply into a value; a fault if the session was deleted.
// q is the request.
func (p *performer) askStructured(
	ctx context.Context, job run.Job, m modelTask, into any,
) (q *assistant.Prompt, c Composed, resp model.Response, err error) {
	if err := p.notDeleted(ctx); err != nil {
		return q, c, resp, err
	}
	by, err := p.Model(ctx, p.env.Model)
	if err != nil {
		return q, c, resp, agent.ModelFault(err)
	}
	q, c, err = p.requestFor(ctx, m, p.contextRoom)
	if err != nil {
		return q, c, resp, err
	}
	by = model.WithReading(by, agent.TellReading(job))
	if _, resp, err = model.Structured(ctx, by, q.Request, m.schema, into); err != nil {
		err = agent.ModelFault(err)
	}
	return q, c, resp, err
}

// oracleRequest builds the request for an oracle's answer from the prompt that the run stores.
func (p *performer) oracleRequest(ctx context.Context) (*assistant.Prompt, error) {
	var oracle persona.Persona
	content, err := p.view.Text(ctx, textOracle)
	if err == nil {
		err = json.Unmarshal(content, &oracle)
	}
	if err != nil {
		return nil, err
	}
	composed, err := p.view.Text(ctx, textPrompt)
	if err != nil {
		return nil, err
	}
	q := &assistant.Prompt{Request: model.Request{Purpose: Purpose, Bound: model.BoundTurn}}
	q.BeginMessage(model.User)
	for _, s := range segmentsOf(oracle, string(composed)) {
		q.AddPart(assistant.PartSegment, s.name, s.text)
	}
	return q, nil
}

type segment struct{ name, text string }

// segmentsOf splits the prompt of an oracle into the persona's text and the context in it. A prompt that this build
// would compose differently stays in one piece.
func segmentsOf(p persona.Persona, composed string) []segment {
	const mark = "\x00"
	frame := prompt.Compose(p, mark)
	before, after, found := strings.Cut(frame, mark)
	inside := strings.TrimPrefix(composed, before)
	if p.Content == "" || !found || strings.Contains(after, mark) || len(inside)+len(before) != len(composed) ||
		!strings.HasSuffix(inside, after) {
		return []segment{{textPrompt, composed}}
	}
	return []segment{{p.Name, before}, {textContext, strings.TrimSuffix(inside, after)}, {p.Name, after}}
}
