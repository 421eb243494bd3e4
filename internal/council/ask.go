package council

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sibyl/internal/agent"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/prompt"
	"sibyl/internal/council/session"
	"sibyl/internal/files"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text/language"
)

// Composed is what a receipt keeps of a request that contains the context. Snapshot is of the context as it was sent,
// if that is less than the run has.
type Composed struct {
	model.Sent
	Snapshot *session.ContextSnapshot `json:"snapshot,omitempty"`
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

// snapshot is that of the context as it was sent. run is the one of the run's.
func (c Composed) snapshot(run session.ContextSnapshot) session.ContextSnapshot {
	if c.Snapshot != nil {
		return *c.Snapshot
	}
	return run
}

// composed is a request that contains the context.
type composed struct {
	assistant.Prompt
	context prompt.Context // as it was last sent; zero: the run's
}

// kept is what a receipt keeps of the request.
func (q *composed) kept(run session.ContextSnapshot) Composed {
	c := Composed{Sent: q.Sent()}
	if q.context.Text != "" {
		sent := run
		sent.Transcripts, sent.Responses, sent.TokensEstimate = q.context.Transcripts, q.context.Responses, &q.context.Tokens
		sent.Entries, sent.Cut = q.context.Included, slices.Concat(run.Cut, q.context.Cut)
		if sent.PromptHash != "" { // an oracle's prompt is the one message
			sent.PromptHash = files.Hash([]byte(q.Request.Messages[0].Text))
		}
		c.Snapshot = &sent
	}
	return c
}

// addContext adds the run's context, as text puts it. Where it is cut, it is assembled again of the run's entries, but
// for what was said last, which stays whole.
func (p *performer) addContext(
	ctx context.Context, q *composed, content string, text func(context string) string,
) error {
	if p.view.Blob(textEntries) == "" {
		q.AddPart(assistant.PartSegment, textContext, text(content))
		return nil
	}
	var entries []prompt.Entry
	stored, err := p.view.Text(ctx, textEntries)
	if err == nil {
		err = json.Unmarshal(stored, &entries)
	}
	q.AddSpare(assistant.SpareHistory, assistant.PartSegment, textContext, text(content), func(tokens int) string {
		room := tokens*model.BytesPerToken - len(text(""))
		runes := room * utf8.RuneCountInString(content) / max(1, len(content))
		q.context = prompt.Assemble(entries, prompt.Options{Language: p.env.Language, History: true,
			Budget: max(1, runes/agent.CharsPerToken), Whole: true})
		return text(q.context.Text)
	})
	return err
}

// requestFor builds the request of a task: its instructions, the context, and the answers. Nothing in them looks like
// the heading of an answer or the header of an entry.
func (p *performer) requestFor(ctx context.Context, m modelTask) (*composed, error) {
	told, err := p.view.Text(ctx, m.about)
	if err != nil {
		return nil, err
	}
	said, err := p.view.Text(ctx, textContext)
	if err != nil {
		return nil, err
	}
	q := &composed{Prompt: assistant.Prompt{Request: model.Request{Purpose: m.purpose, Bound: m.bound}}}
	q.AddSegment(m.about, string(told))
	q.AddSegment("language", "\n\nWrite in "+
		cmp.Or(language.Name(p.env.Language), "the language of what the person said")+".")
	q.BeginMessage(model.User)
	if err := p.addContext(ctx, q, string(said), func(context string) string {
		return fmt.Sprintf("What the person said:\n\n%s\n", plainHeadings(context))
	}); err != nil {
		return nil, err
	}
	for _, a := range m.answers {
		block := fmt.Sprintf("\n=== The answer of %s ===\n\n%s\n", a.Oracle.Name,
			plainHeadings(strings.TrimSpace(prompt.Body(a.Text))))
		q.AddSpare(assistant.SparePassage, assistant.PartSegment, a.Oracle.Name, block, assistant.Beginning(block))
	}
	return q, nil
}

// headings matches the beginnings of lines that look like the heading of an answer.
var headings = regexp.MustCompile(`(?m)^([\s\p{Z}\p{Cf}]*)(===)`)

// plainHeadings puts a backslash into each line that looks like the heading of an answer.
func plainHeadings(text string) string { return headings.ReplaceAllString(text, `$1\$2`) }

// askStructured has the run's model do a task, and decodes its reply into a value; a fault if the session was deleted.
// q is the request.
func (p *performer) askStructured(
	ctx context.Context, job run.Job, m modelTask, into any,
) (q *composed, resp model.Response, err error) {
	if err := p.notDeleted(ctx); err != nil {
		return nil, resp, err
	}
	by, err := p.Model(ctx, p.env.Model)
	if err != nil {
		return nil, resp, agent.ModelFault(err)
	}
	if q, err = p.requestFor(ctx, m); err != nil {
		return nil, resp, err
	}
	if over := q.Request.Tokens() - requestTokens(p.Known(ctx, p.env.Model).Window); over > 0 {
		q.Cut(over)
	}
	by = model.WithReading(by, agent.TellReading(job))
	if _, resp, err = model.Structured(ctx, q.For(by), q.Request, m.schema, into); err != nil {
		err = agent.ModelFault(err)
	}
	return q, resp, err
}

// oracleRequest builds the request for an oracle's answer from the prompt that the run stores.
func (p *performer) oracleRequest(ctx context.Context) (*composed, error) {
	var oracle persona.Persona
	content, err := p.view.Text(ctx, textOracle)
	if err == nil {
		err = json.Unmarshal(content, &oracle)
	}
	if err != nil {
		return nil, err
	}
	whole, err := p.view.Text(ctx, textPrompt)
	if err != nil {
		return nil, err
	}
	q := &composed{Prompt: assistant.Prompt{Request: model.Request{Purpose: Purpose, Bound: model.BoundTurn}}}
	q.BeginMessage(model.User)
	for _, s := range segmentsOf(oracle, string(whole)) {
		if s.name != textContext {
			q.AddPart(assistant.PartSegment, s.name, s.text)
		} else if err := p.addContext(ctx, q, s.text, func(context string) string { return context }); err != nil {
			return nil, err
		}
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
