package bert

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// loaded is a model that can answer.
type loaded struct {
	*folder
	tokens  *tokens
	network *network
}

// load reads the model and lets it answer once: whether it uses something that can't be computed shows only then.
func load(dir string) (*loaded, error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	m := &loaded{folder: f}
	if m.tokens, err = loadTokens(f); err != nil {
		return nil, problemf(LoadFailed, "%s can't be used: %s", tokenizerFile, snippet(err.Error()))
	}
	if m.network, err = loadNetwork(f); err == nil {
		err = m.try()
	}
	if err != nil {
		return nil, problemf(LoadFailed, "%s can't be used: %s", f.network, snippet(err.Error()))
	}
	return m, nil
}

func (m *loaded) try() error {
	hypothesis := ""
	if m.Kind == ZeroShot {
		hypothesis = "It works."
	}
	_, err := m.logits("A first try.", hypothesis)
	return err
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
			logits, err := m.logits(q.Text, l.Hypothesis)
			if err != nil {
				return nil, problemf(Unanswered, "the model failed on this text: %s", snippet(err.Error()))
			}
			weights[i] = float64(logits[m.entailment])
		}
		return weights, nil
	}
	index, err := m.match(q.Labels)
	if err != nil {
		return nil, err
	}
	logits, err := m.logits(q.Text, "")
	if err != nil {
		return nil, problemf(Unanswered, "the model failed on this text: %s", snippet(err.Error()))
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
		index[i] = slices.IndexFunc(m.Labels, func(own string) bool { return alike(own) == alike(l.Name) })
		if index[i] < 0 || len(labels) != len(m.Labels) {
			return nil, problemf(WrongLabels, "the model knows the labels %s; wanted are %s. Use a model trained on these, or a zero-shot one",
				strings.Join(m.Labels, ", "), names(labels))
		}
	}
	return index, nil
}

func (m *loaded) logits(text, hypothesis string) ([]float32, error) {
	r, err := m.tokens.row(text, hypothesis)
	if err != nil {
		return nil, err
	}
	return m.network.logits(r)
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
