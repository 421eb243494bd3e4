package inquiry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/text"
)

// SumPayload asks what came of the inquiry, in words.
type SumPayload struct {
	Turns []Turn `json:"turns,omitempty"`
}

// SumReceipt is that, as Markdown. Failure says why the model has none to give.
type SumReceipt struct {
	Text    string      `json:"text"`
	By      string      `json:"by,omitempty"`
	Failure *bt.Fault   `json:"failure,omitempty"`
	Usage   model.Usage `json:"usage,omitzero"`
	Tries   []model.Try `json:"tries,omitempty"`
	model.Sent
}

func sumLeaf() bt.Leaf {
	type in struct {
		Turns     []Turn `port:"turns,optional"`
		Detective string `port:"detective"`
	}
	type out struct {
		Summary int64      `port:"summary"`
		Trail   []Trail    `port:"trail"`
		Events  []bt.Typed `port:",events"`
	}
	plan := func(i in) (bt.Request, error) {
		return bt.Request{Kind: EffectSum, Label: "the summary", Payload: SumPayload{i.Turns}}, nil
	}
	collected := func(i in, r SumReceipt, ref int64, o *out) error {
		o.Summary = ref
		if r.Failure != nil {
			o.Trail = failed(o.Trail, ref, r.Failure)
		}
		if r.By != "" {
			o.Trail, o.Events = switched(o.Trail, ref, i.Detective, r.Tries, r.By)
		}
		return nil
	}
	return bt.One("SumUp", "Has the detective sum up the inquiry. A failure leaves the findings without a summary.", plan, collected, nil)
}

func (p *performing) sum(ctx context.Context, job run.Job, asked SumPayload) (any, error) {
	all, latest, err := p.answered(asked.Turns)
	switch {
	case err != nil:
		return nil, err
	case !p.given.Model:
		return SumReceipt{Text: record.NotAudited}, nil
	case len(all) == 0:
		return SumReceipt{}, nil
	}
	q, err := p.prompt(ctx, textSummary, all, latest)
	if err != nil {
		return nil, err
	}
	m, err := p.Model(ctx, p.env.Detective)
	if err != nil {
		return SumReceipt{Failure: faultOf(err)}, nil
	}
	resp, err := m.Chat(ctx, q.Request, func(d model.Delta) error {
		job.Emit(run.Piece{Text: d.Text, Retract: d.Retract})
		return nil
	})
	r := SumReceipt{Text: strings.TrimSpace(resp.Text), By: resp.Model, Usage: resp.Usage, Tries: resp.Tries, Sent: q.Request.Sent()}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, faultOf(err)
	case err != nil:
		return SumReceipt{Failure: faultOf(err), Sent: r.Sent}, nil
	case r.Text == "":
		return SumReceipt{Failure: &bt.Fault{Kind: string(model.Garbled), Reason: resp.Model + ": the summary is empty"}, Usage: r.Usage, Sent: r.Sent}, nil
	}
	return r, nil
}

// worstGaps is how many open gaps the end of an inquiry names.
const worstGaps = 3

// brief tells in about fifteen lines of Markdown what came of a session: the verdict, the contradictions with both quotations, and the worst gaps.
func brief(s *record.Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n", record.Verdict(s))
	a := s.Audit()
	if a == nil {
		return b.String()
	}
	if !s.Judged() {
		quotations(&b, s)
	}
	told(&b, s, "Contradictions", false, a.Contradictions)
	told(&b, s, "Unconfirmed: the witness could not be asked about it any more", true, a.Contradictions)
	for _, u := range a.Unverified {
		fmt.Fprintf(&b, "\nNot verifiable: %s – %s\n", text.Brief(u.Description, mostTold), text.Brief(u.Reason, 2*mostTold))
	}
	gaps := slices.Clone(a.RemainingGaps)
	order := []record.Severity{record.High, record.Medium, record.Low}
	slices.SortStableFunc(gaps, func(a, b record.RemainingGap) int {
		return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
	})
	if len(gaps) > 0 {
		fmt.Fprintf(&b, "\n%s:\n\n", text.Count(len(gaps), "open gap"))
	}
	for _, g := range gaps[:min(len(gaps), worstGaps)] {
		fmt.Fprintf(&b, "- %s: %s\n", g.Severity, text.Brief(g.Description, mostTold))
	}
	return b.String()
}

// quotations lists what was collected, each quotation once, with where it stands.
func quotations(b *strings.Builder, s *record.Session) {
	var lines []string
	for _, pair := range s.Pairs {
		for _, c := range pair.Citations {
			line := fmt.Sprintf("- “%s” (%s, page %d)\n", text.Brief(c.Quote, 2*mostTold), c.Document, c.Page)
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	fmt.Fprintf(b, "\n%s", strings.Join(lines[:min(len(lines), mostQuotations)], ""))
	if more := len(lines) - mostQuotations; more > 0 {
		fmt.Fprintf(b, "\n%s more.\n", text.Count(more, "quotation"))
	}
}

// mostQuotations is how many quotations the end of an inquiry without a detective names.
const mostQuotations = 8

// told lists the contradictions that are confirmed, or those that are not, each quotation with where it stands.
func told(b *strings.Builder, s *record.Session, head string, unconfirmed bool, all []record.Contradiction) {
	for _, c := range all {
		if c.Unconfirmed != unconfirmed {
			continue
		}
		if head != "" {
			fmt.Fprintf(b, "\n%s:\n\n", head)
			head = ""
		}
		fmt.Fprintf(b, "- %s\n", text.Brief(c.Description, mostTold))
		for n, words := range c.Words {
			at := fmt.Sprintf("answer %d", c.Pairs[n]+1)
			if place := c.Places[n]; place.Document != "" {
				at = fmt.Sprintf("%s, page %d", place.Document, place.Page)
			}
			fmt.Fprintf(b, "  - “%s” (%s)\n", text.Brief(words, 2*mostTold), at)
		}
	}
}
