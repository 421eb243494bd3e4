// Package probe measures what a model does of what Sibyl needs, and makes a contract of it: one small request for each
// skill, over the same adapters as every run, and plain checks of the replies.
//
// Guarantees:
//   - No second model judges. A check is of words, calls, places and forms.
//   - What fails for another reason than the model (a server that is busy, gone or slow, a refused key) is untried, and
//     so is what was not reached. After two such failures in a row, or if the first probe fails so, the test ends.
//   - A reply that does not end is cut, and is wrong.
//   - Nothing is done: the tools are only described.
package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// Setting is what is known of the model before, and what a test needs of the assistants.
type Setting struct {
	Info     model.Info
	Endpoint string

	// Full is the Oracle's own request for a question about code, with its tools.
	Full model.Request
	// Report is the tool by which a model reports on itself, and ReadReport says what is wrong with its arguments.
	Report     model.Tool
	ReadReport func(arguments string) error

	// First bounds the first probe, for which a model may have to be loaded, Each the others, All the whole test; zero:
	// 5 min, 2 min and 15 min.
	First, Each, All time.Duration
}

// The usual bounds of a probe and of a test.
const (
	usualFirst = 5 * time.Minute
	usualEach  = 2 * time.Minute
	usualAll   = 15 * time.Minute
)

// Progress says that a probe begins or, with a Finding, that it has ended. N counts from 1 to Of.
type Progress struct {
	N, Of   int
	About   string // what is tried, in a person's words
	Finding *model.Finding
}

// probe tries one skill.
type probe struct {
	skill model.Skill
	about string
	try   func(ctx context.Context, x *tester) (model.Finding, error)
}

// tester asks a model for one test.
type tester struct {
	Setting
	m     model.Model
	usage model.Usage
	times timing
}

// Run tests a model. What ctx or the time leaves out is untried, and the contract partial. told may be nil.
func Run(ctx context.Context, m model.Model, s Setting, told func(Progress)) model.Contract {
	s.First, s.Each, s.All = cmp.Or(s.First, usualFirst), cmp.Or(s.Each, usualEach), cmp.Or(s.All, usualAll)
	if told == nil {
		told = func(Progress) {}
	}
	x := &tester{Setting: s, m: m}
	c := model.Contract{Model: m.ID(), Endpoint: s.Endpoint, Digest: s.Info.Digest,
		TestedAt: time.Now().UTC().Truncate(time.Second)}
	whole, end := context.WithTimeout(ctx, s.All)
	defer end()
	all, failures, ended := probes(), 0, ""
	for i, p := range all {
		if ended == "" {
			ended = whyEnded(ctx, whole, s.All)
		}
		f := model.Finding{Result: model.Untried, Reason: ended}
		at := Progress{N: i + 1, Of: len(all), About: p.about}
		if ended == "" {
			told(at)
			f = x.tryOne(whole, p)
			if f.Result == model.Untried {
				failures++
			} else {
				failures = 0
			}
			ended = whyEnded(ctx, whole, s.All)
			if ended != "" && f.Result == model.Untried {
				f.Reason = ended
			}
			if failures > 1 || i == 0 && failures > 0 {
				ended = "not reached, as the model did not answer: " + f.Reason
			}
			f.Skill = p.skill
			at.Finding = &f
			told(at)
		}
		f.Skill = p.skill
		c.Findings = append(c.Findings, f)
		c.Partial = c.Partial || f.Result == model.Untried
	}
	c.Window, c.Speed, c.Usage = x.times.window, x.times.speed(), x.usage
	return c
}

// whyEnded says why a test can't go on; "" if it can.
func whyEnded(ctx, whole context.Context, most time.Duration) string {
	switch {
	case ctx.Err() != nil:
		return "the test was stopped"
	case whole.Err() != nil:
		return fmt.Sprintf("the time for the test was over (%s)", most)
	}
	return ""
}

// tryOne tries a skill within the time for a probe.
func (x *tester) tryOne(ctx context.Context, p probe) model.Finding {
	most := x.Each
	if p.skill == model.SkillAnswer {
		most = x.First
	}
	limited, end := context.WithTimeout(ctx, most)
	defer end()
	begun := time.Now()
	f, err := p.try(limited, x)
	if err != nil {
		f = failed(err)
	}
	if late := limited.Err() != nil && f.Result == model.Untried; late && p.skill == model.SkillFull && ctx.Err() == nil {
		f = wrong("takes longer than %s", most) // which is too long for a person who asks, too
	} else if late {
		f.Reason = fmt.Sprintf("no answer within %s", most)
	}
	f.TookMS = time.Since(begun).Milliseconds()
	return f
}

// failed is the finding for a request that failed: the model's fault, or none of it.
func failed(err error) model.Finding {
	if errors.Is(err, errEndless) {
		return wrong("does not stop writing")
	}
	known, is := errors.AsType[*model.Error](err)
	if !is {
		return model.Finding{Result: model.Untried, Reason: text.Brief(err.Error(), maxReason)}
	}
	switch reason := text.Brief(known.Kind.Words()+": "+known.Message, maxReason); known.Kind {
	case model.Invalid, model.Refused, model.Garbled, model.Repeated, model.OutputLength, model.ContextLength:
		return wrong("%s", reason)
	default:
		return model.Finding{Result: model.Untried, Reason: reason}
	}
}

// maxReason bounds the reason of a finding, in characters.
const maxReason = 160

func right(form model.Form) model.Finding { return model.Finding{Result: model.Right, Form: form} }

// wrong is a finding with what the model did instead.
func wrong(format string, args ...any) model.Finding {
	return model.Finding{Result: model.Wrong, Reason: text.Brief(fmt.Sprintf(format, args...), maxReason)}
}

// judged is right or wrong.
func judged(ok bool, format string, args ...any) (model.Finding, error) {
	if ok {
		return right(""), nil
	}
	return wrong(format, args...), nil
}

// Bounds of a reply: in tokens by estimate, which the adapters keep, and in bytes, whatever they do.
const (
	usualBound = 400
	maxReply   = 32 << 10
)

var errEndless = errors.New("the reply has no end")

// reply is what came for a request. Calls are those that the server knew, or else those in the text.
type reply struct {
	text  string
	calls []model.ToolCall
	form  model.Form
	model.Usage
}

// brief is the reply for a reason.
func (r reply) brief() string {
	switch {
	case len(r.calls) > 0:
		return "calls " + r.calls[0].Name + " with " + text.Brief(r.calls[0].Arguments, 60)
	case r.text == "":
		return "says nothing"
	}
	return "says “" + text.Brief(r.text, 80) + "”"
}

// has says whether the text has a word, in any case.
func (r reply) has(word string) bool {
	return strings.Contains(strings.ToLower(r.text), strings.ToLower(word))
}

// ask makes one request. tools are those that the model is offered, of which a written call counts. A reply that had to
// be cut is errEndless, beside its beginning.
func (x *tester) ask(ctx context.Context, req model.Request, tools ...model.Tool) (r reply, err error) {
	if req.Bound == 0 {
		req.Bound = usualBound
	}
	req.Greedy, req.Tools = true, tools
	clock := stopwatch{begun: time.Now()}
	size := 0
	resp, err := x.m.Chat(ctx, req, func(d model.Delta) error {
		if d.Retract {
			size = 0
		}
		clock.note(d)
		if size += len(d.Text); size > maxReply {
			return errEndless
		}
		return nil
	})
	x.usage = x.usage.Add(resp.Usage)
	if err != nil {
		return reply{text: strings.TrimSpace(resp.Text), Usage: resp.Usage}, err
	}
	r = reply{text: strings.TrimSpace(resp.Text), calls: resp.ToolCalls, form: model.FormNative, Usage: resp.Usage}
	if len(r.calls) == 0 {
		r.form = model.FormText
		r.calls, r.text = agent.WrittenCalls(r.text, specsOf(tools))
	}
	if resp.Finish == model.FinishRepeated || resp.Finish == model.FinishLength {
		return r, errEndless // the server has not told its tokens
	}
	x.times.add(clock.ended(req, resp))
	return r, nil
}

// specsOf are the tools as they are read out of a text.
func specsOf(tools []model.Tool) (all []tool.Spec) {
	for _, t := range tools {
		all = append(all, tool.Spec{Name: t.Name, Description: t.Description, Schema: t.Schema, Effect: tool.Repeatable})
	}
	return all
}

// Cost estimates the requests of a test of a model, and their tokens.
func Cost(ctx context.Context, s Setting) (requests, tokens int) {
	m := &counter{}
	Run(ctx, m, s, nil)
	return m.requests, m.tokens
}

// counter is a model that counts what it is asked, and answers nothing.
type counter struct{ requests, tokens int }

func (*counter) ID() string  { return "counter:" }
func (*counter) Local() bool { return false }

func (c *counter) Chat(
	_ context.Context, req model.Request, _ func(model.Delta) error,
) (model.Response, error) {
	const answer = 50 // tokens of a reply, about
	c.requests++
	c.tokens += req.Tokens() + answer
	return model.Response{Finish: model.FinishStop}, nil
}
