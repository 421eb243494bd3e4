package inquiry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/inquiry/rules"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/sentence"
)

// SumPayload asks what came of the inquiry, in words.
type SumPayload struct {
	By    string `json:"by"`
	Turns []Turn `json:"turns,omitempty"`
}

// SumReceipt is that, as Markdown.
type SumReceipt struct {
	Text  string      `json:"text"`
	By    string      `json:"by"`
	Usage model.Usage `json:"usage,omitzero"`
	Tries []model.Try `json:"tries,omitempty"`
	model.Sent
}

func sumLeaf() bt.Leaf {
	type in struct {
		By        string `port:"by" doc:"‘model’, or ‘rules’ where none is there or it failed"`
		Turns     []Turn `port:"turns,optional"`
		Detective string `port:"detective"`
	}
	type out struct {
		Summary int64   `port:"summary"`
		Trail   []Trail `port:"trail"`
	}
	plan := func(i in) (bt.Request, error) {
		if len(i.Turns) == 0 && i.By == byModel {
			return bt.Request{}, errors.New("nothing was asked")
		}
		return bt.Request{Kind: EffectSum, Label: "the summary, by " + i.By, Payload: SumPayload{i.By, i.Turns}}, nil
	}
	fails := func(i in, why *bt.Fault, ref int64, o *out) {
		if i.By == byModel {
			o.Trail = tookOver(o.Trail, ref, i.Detective, why, "the rules sum up")
		}
	}
	collect := func(i in, r SumReceipt, ref int64, o *out) error {
		o.Summary, o.Trail = ref, switched(o.Trail, ref, r.Tries, r.By)
		return nil
	}
	return bt.One("SumUp", "Summarizes the inquiry in words.", plan, collect, fails)
}

func (p *performing) sum(ctx context.Context, job run.Job, asked SumPayload) (any, error) {
	all, latest, err := p.answered(asked.Turns)
	if err != nil {
		return nil, err
	}
	if asked.By == byRules {
		return SumReceipt{Text: summaryByRules(p.given.Language, p.given.Hypothesis, all, latest), By: model.OfflineRules}, nil
	}
	m, err := p.Model(ctx, p.env.Detective)
	if err != nil {
		return nil, agent.ModelFault(err)
	}
	q, err := p.prompt(ctx, textSummary, all, latest)
	if err != nil {
		return nil, err
	}
	resp, err := m.Chat(ctx, q.Request, func(d model.Delta) error {
		job.Emit(run.Piece{Text: d.Text, Retract: d.Retract})
		return nil
	})
	switch {
	case err != nil:
		return nil, agent.ModelFault(err)
	case strings.TrimSpace(resp.Text) == "":
		return nil, &bt.Fault{Kind: string(model.Garbled), Reason: resp.Model + " summed up nothing"}
	}
	return SumReceipt{strings.TrimSpace(resp.Text), resp.Model, resp.Usage, resp.Tries, q.Request.Sent()}, nil
}

// summaryWords are what a summary by rules is made of, in a language.
type summaryWords struct{ head, none, said, notFound, clash, open, nothingOpen, answer, answers, and string }

func wordsOf(language string) summaryWords {
	if language == "de" {
		return summaryWords{"*Zusammengestellt nach Regeln, ohne Sprachmodell: die Sätze sind die des Zeugen.*", "Der Zeuge hat nichts gesagt.", "Was gesagt wurde", "nicht in den Unterlagen",
			"Was einander widerspricht", "Was offen blieb", "Nichts blieb offen.", "Antwort", "Antworten", "und"}
	}
	return summaryWords{"*Put together by rules, without a language model: the sentences are the witness's own.*", "The witness has said nothing.", "What was said", "not in the documents",
		"What contradicts", "What is left open", "Nothing is left open.", "answer", "answers", "and"}
}

// summaryByRules is Markdown of what was said, what clashes and what is open.
func summaryByRules(language, hypothesis string, all []rules.Exchange, r AnalyseReceipt) string {
	w := wordsOf(language)
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s\n\n**%s**\n", w.head, strings.TrimSpace(hypothesis))
	if len(all) == 0 {
		fmt.Fprintf(b, "\n%s\n", w.none)
		return b.String()
	}
	fmt.Fprintf(b, "\n## %s\n\n", w.said)
	for _, s := range statements(all, "*"+w.notFound+"*") {
		answers := w.answer
		if len(s.answers) > 1 {
			answers = w.answers
		}
		fmt.Fprintf(b, "- %s (%s %s)\n", s.text, answers, agent.Listed(s.answers, w.and))
	}
	if len(r.Analysis.Contradictions) > 0 {
		fmt.Fprintf(b, "\n## %s\n\n", w.clash)
		for _, c := range r.Analysis.Contradictions {
			fmt.Fprintf(b, "- “%s” (%s %d) – “%s” (%s %d): %s\n", c.Words[0], w.answer, c.Pairs[0]+1, c.Words[1], w.answer, c.Pairs[1]+1, c.Reason)
		}
	}
	fmt.Fprintf(b, "\n## %s\n\n", w.open)
	if len(r.Analysis.Gaps) == 0 {
		fmt.Fprintf(b, "%s\n", w.nothingOpen)
	}
	bySeverity := slices.Clone(r.Analysis.Gaps)
	order := map[string]int{"high": 0, "medium": 1, "low": 2}
	slices.SortStableFunc(bySeverity, func(a, b rules.Gap) int { return order[a.Severity] - order[b.Severity] })
	for _, g := range bySeverity {
		fmt.Fprintf(b, "- %s (%s %d)\n", g.Description, w.answer, g.Pair+1)
	}
	return b.String()
}

// statement is what was said, and the numbers of the answers that say it.
type statement struct {
	text    string
	answers []string
}

// statements are the sentences of answers, each once, in the order in which they were first said; those that the same answers say stay together.
// What is empty or not found reads as silence.
func statements(all []rules.Exchange, silence string) (joined []statement) {
	var said []statement
	place := map[string]int{} // in said
	for n, e := range all {
		number, sentences := strconv.Itoa(n+1), sentence.Split(e.Answer)
		if e.NotFound || len(sentences) == 0 {
			sentences = []string{silence}
		}
		for _, text := range sentences {
			text = strings.Join(strings.Fields(text), " ")
			at, known := place[text]
			switch {
			case !known:
				place[text], said = len(said), append(said, statement{text, []string{number}})
			case !slices.Contains(said[at].answers, number):
				said[at].answers = append(said[at].answers, number)
			}
		}
	}
	for _, s := range said {
		last := len(joined) - 1
		if last >= 0 && s.text != silence && joined[last].text != silence && slices.Equal(joined[last].answers, s.answers) {
			joined[last].text += " " + s.text
		} else {
			joined = append(joined, s)
		}
	}
	return joined
}

// asWitnessed are the pairs as a witness knows them.
func asWitnessed(all []rules.Exchange) (earlier []witness.Exchange) {
	for _, e := range all {
		earlier = append(earlier, witness.Exchange{Question: e.Question, Answer: e.Answer, NotFound: e.NotFound})
	}
	return earlier
}
