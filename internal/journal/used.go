package journal

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Used is what a model used: tokens.
type Used struct {
	Model  string
	Input  int
	Cached int // of Input
	Output int
}

// SumUsed adds up the usage of each model, sorted by model. It never returns nil.
func SumUsed(all ...Used) []Used {
	byModel := map[string]Used{}
	for _, u := range all {
		sum := byModel[u.Model]
		byModel[u.Model] = Used{u.Model, sum.Input + u.Input, sum.Cached + u.Cached, sum.Output + u.Output}
	}
	return slices.SortedFunc(maps.Values(byModel), func(a, b Used) int { return strings.Compare(a.Model, b.Model) })
}

// UsedAt is the usage of a model in runs that began in a span of time.
type UsedAt struct {
	At   time.Time // when the first of them began
	Runs int       // each run is counted at one of its models
	Used
}

// Uncounted is a run whose usage is not kept: it is Running, or was ended by a process that did not count it.
type Uncounted struct {
	Key
	Assistant string
	StartedAt time.Time
	Ended     bool
}
