package bert

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Model is what the child computes with. Labels are in the order of the logits, as the model's configuration names them. Logits reads a
// text, and a hypothesis on it if that isn't empty, and gives a number for each label; its error says what the model can't do.
type Model interface {
	Labels() []string
	Logits(text, hypothesis string) ([]float32, error)
}

// KindOf tells by its labels how a model comes to its answer, and which of them is “entailment”; -1 in one that is not zero-shot.
func KindOf(labels []string) (kind ModelKind, entailment int) {
	entailment = slices.IndexFunc(labels, func(label string) bool { return strings.HasPrefix(alike(label), "entail") })
	if entailment < 0 {
		return Classification, entailment
	}
	return ZeroShot, entailment
}

// loaded is a model that can answer.
type loaded struct {
	Model
	traits
	entailment int
}

func newLoaded(m Model) *loaded {
	l := &loaded{Model: m, traits: traits{Labels: m.Labels()}}
	l.Kind, l.entailment = KindOf(l.traits.Labels)
	return l
}

// classify returns a score for each label of the question, best first.
func (m *loaded) classify(q question) ([]Score, error) {
	logits, err := m.weigh(q)
	if err != nil {
		return nil, err
	}
	scores := make([]Score, len(logits))
	for i, share := range shares(logits) {
		if math.IsNaN(share) {
			return nil, problemf(Unanswered, "the model's answer is not a number")
		}
		scores[i] = Score{q.Labels[i].Name, share}
	}
	slices.SortStableFunc(scores, func(a, b Score) int { return cmp.Compare(b.Score, a.Score) })
	return scores, nil
}

// weigh returns a logit for each label of the question, in its order.
func (m *loaded) weigh(q question) ([]float64, error) {
	weights := make([]float64, len(q.Labels))
	if m.Kind == ZeroShot {
		for i, l := range q.Labels {
			if l.Hypothesis == "" {
				return nil, problemf(Invalid, "the label %q has no hypothesis, which a zero-shot model needs", l.Name)
			}
			logits, err := m.Logits(q.Text, l.Hypothesis)
			if err != nil {
				return nil, problemf(Unanswered, "the model failed on this text: %s", Snippet(err.Error()))
			}
			weights[i] = float64(logits[m.entailment])
		}
		return weights, nil
	}
	index, err := m.match(q.Labels)
	if err != nil {
		return nil, err
	}
	logits, err := m.Logits(q.Text, "")
	if err != nil {
		return nil, problemf(Unanswered, "the model failed on this text: %s", Snippet(err.Error()))
	}
	for i := range weights {
		weights[i] = float64(logits[index[i]])
	}
	return weights, nil
}

// match finds each label among the model's own: they must be the same set.
func (m *loaded) match(labels []Label) ([]int, error) {
	index := make([]int, len(labels))
	for i, l := range labels {
		index[i] = slices.IndexFunc(m.traits.Labels, func(own string) bool { return alike(own) == alike(l.Name) })
		if index[i] < 0 || len(labels) != len(m.traits.Labels) {
			return nil, problemf(WrongLabels, "the model knows the labels %s; wanted are %s. Use a model trained on these, or a zero-shot one",
				strings.Join(m.traits.Labels, ", "), names(labels))
		}
	}
	return index, nil
}

// shares is the softmax.
func shares(logits []float64) []float64 {
	most := slices.Max(logits)
	out := make([]float64, len(logits))
	var sum float64
	for i, l := range logits {
		out[i] = math.Exp(l - most)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
