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
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
)

// Composed is what a receipt keeps of a request about what was said.
type Composed struct {
	model.Sent
	Room int `json:"room,omitempty"` // tokens that the context was cut to; 0: it is whole
}

// modelTask is what a model is asked to do with the context and with answers.
type modelTask struct {
	purpose, about string // of the request, and the text that tells of it
	schema         model.Schema
	answers        []Answer
}

// modelTaskOf is the task that an effect gives a model; asks is false if it gives none of this kind.
func (p *performer) modelTaskOf(ctx context.Context, asked any) (m modelTask, asks bool, err error) {
	switch a := asked.(type) {
	case ChairPayload:
		m, asks = modelTask{purpose: EffectChair, about: textChair, schema: model.Schema{Name: "merged",
			JSON: schema.Answer[chairReply]()}}, true
		m.answers, err = p.readAnswers(a.Answers)
	case NamePayload:
		m, asks = modelTask{purpose: EffectName, about: textName, schema: model.Schema{Name: "name",
			JSON: schema.Answer[nameReply]()}}, true
	}
	return m, asks, err
}

// requestFor builds the request of a task: its prompt, the context, and the answers. Nothing in them reads as the
// heading of an answer, or as the header of an entry. room returns how many tokens the context may have beside so many
// others; 0: all.
func (p *performer) requestFor(
	ctx context.Context, m modelTask, room func(ctx context.Context, beside int) (int, error),
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
	q := &assistant.Prompt{Request: model.Request{Purpose: m.purpose}}
	q.AddSegment(m.about, string(told))
	q.AddSegment("language", "\n\nWrite in "+inEnglish(p.env.Language)+".")
	q.BeginMessage(model.User)
	q.AddPart(assistant.PartSegment, "context", fmt.Sprintf("What the person said:\n\n%s\n", plainHeadings(said.Text)))
	for n, a := range m.answers {
		q.AddPart(assistant.PartSegment, a.Oracle.Name, blocks[n])
	}
	c.Sent = q.Request.Digest()
	return q, c, nil
}

// inEnglish names a language.
func inEnglish(language string) string {
	return cmp.Or(allWords()[language].Name, "the language of what the person said")
}

// headings are the beginnings of lines that would read as the heading of an answer.
var headings = regexp.MustCompile(`(?m)^([\s\p{Z}\p{Cf}]*)(===)`)

// plainHeadings puts a backslash before each line that would read as the heading of an answer.
func plainHeadings(text string) string { return headings.ReplaceAllString(text, `$1\$2`) }

// askStructured asks the run's model to do a task, and decodes its reply into a value.
func (p *performer) askStructured(
	ctx context.Context, m modelTask, into any,
) (c Composed, resp model.Response, err error) {
	if err := p.notDeleted(ctx); err != nil {
		return c, resp, err
	}
	by, err := p.Model(ctx, p.env.Model)
	if err != nil {
		return c, resp, agent.ModelFault(err)
	}
	q, c, err := p.requestFor(ctx, m, p.contextRoom)
	if err != nil {
		return c, resp, err
	}
	if _, resp, err = model.Structured(ctx, by, q.Request, m.schema, into); err != nil {
		err = agent.ModelFault(err)
	}
	return c, resp, err
}

// oracleRequest is the request for an oracle's answer: its prompt.
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
	q := &assistant.Prompt{Request: model.Request{Purpose: Purpose}}
	q.BeginMessage(model.User)
	for _, s := range segmentsOf(oracle, string(composed)) {
		q.AddPart(assistant.PartSegment, s.name, s.text)
	}
	return q, nil
}

type segment struct{ name, text string }

// segmentsOf takes the prompt of an oracle apart: the persona, and the context that stands in it. What is not as it is
// put together here stays whole.
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
