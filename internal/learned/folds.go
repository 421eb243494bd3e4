package learned

import (
	"errors"
	"slices"
)

// Groups share folds if there are more of them: heldFolds to judge examples, calibrationFolds to find a temperature, which needs less.
const (
	heldFolds        = 8
	calibrationFolds = 3
)

// HeldOut gives the probabilities of each example by a model that was trained with the other groups alone. The probabilities are calibrated
// within those groups only if they are at least two.
func HeldOut(examples []Example, options Options) ([][]float64, error) {
	o, err := options.complete()
	if err != nil {
		return nil, err
	}
	set, err := o.set(examples)
	if err != nil {
		return nil, err
	}
	parts := folds(set, heldFolds)
	if len(parts) < 2 {
		return nil, errors.New("all examples are of one group: nothing would be left to train with")
	}
	out := make([][]float64, len(set))
	for _, fold := range parts {
		rest := without(set, fold)
		m := o.fit(rest).quantised(o)
		m.temperature = o.temperature(rest)
		for _, i := range fold {
			out[i] = softmax(m.scoresOf(set[i]), m.temperature)
		}
	}
	return out, nil
}

// folds are the places of rows that are held out together: a group each, in the order in which groups come first.
func folds(set []row, most int) [][]int {
	var groups []string
	for _, r := range set {
		if !slices.Contains(groups, r.group) {
			groups = append(groups, r.group)
		}
	}
	out := make([][]int, min(len(groups), most))
	for i, r := range set {
		at := slices.Index(groups, r.group) % most
		out[at] = append(out[at], i)
	}
	return out
}

// without leaves rows out whose places are given in ascending order.
func without(set []row, places []int) []row {
	out := make([]row, 0, len(set)-len(places))
	for i, r := range set {
		if _, found := slices.BinarySearch(places, i); !found {
			out = append(out, r)
		}
	}
	return out
}

// temperature is by what scores are divided so that probabilities of groups that were not seen are least wrong, by Brier's sum of squares.
func (o Options) temperature(set []row) float64 {
	parts := folds(set, calibrationFolds)
	if len(parts) < 2 {
		return o.Temperature
	}
	scores := make([][]float64, len(set))
	for _, fold := range parts {
		m := o.fit(without(set, fold)).quantised(o)
		for _, i := range fold {
			scores[i] = m.scoresOf(set[i])
		}
	}
	best, least := 1.0, -1.0
	for i := range 40 {
		t := float64(4+i) / 8
		sum := 0.0
		for j, r := range set {
			for k, p := range softmax(scores[j], t) {
				if k == r.class {
					p = 1 - p
				}
				sum += float64(float64(p*p) * r.weight)
			}
		}
		if least < 0 || sum < least {
			best, least = t, sum
		}
	}
	return best
}
