package tasks

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"sibyl/cmd/sibyl-eval/scores"
)

// LeastRight is the share of turns that must be right.
const LeastRight = 0.90

// Report is how an assistant did on a set.
type Report struct {
	All        Figures            `json:"all"`
	ByLanguage map[string]Figures `json:"by_language"`
	Open       Figures            `json:"open"`
	Frozen     Figures            `json:"frozen"`
	Broken     []string           `json:"broken"` // bounds that do not hold, in words; empty: all hold
	// Failures are the turns that were missed. Those of frozen dialogues are left out unless only these were played:
	// whoever looks for what to mend must not see them.
	Failures []Failure `json:"failures"`
	Hidden   int       `json:"hidden_failures"`

	WithFailures bool `json:"-"` // WriteText writes a line for each
}

// Figures are of some of the turns.
type Figures struct {
	Dialogues int `json:"dialogues"`
	// of the turns: status, tools, arguments, and the list afterwards
	Right       eval.Share `json:"right"`
	Answered    eval.Share `json:"answered"`           // of the turns: what the answer shows, offers and says
	WrongTasks  int        `json:"wrong_tasks"`        // tasks changed that nobody meant
	Unconfirmed int        `json:"unconfirmed"`        // turns in which a task was deleted without a yes
	Effects     int        `json:"effects_of_nothing"` // turns of chit-chat, or a stray yes, that changed something
}

// Failure is a turn that was missed.
type Failure struct {
	Dialogue string   `json:"dialogue"`
	Turn     int      `json:"turn"` // from 1
	Frozen   bool     `json:"frozen"`
	Say      string   `json:"say"`
	Problems []string `json:"problems"`
	// the first turn of the dialogue that was missed before; this miss may come of it
	After int `json:"after,omitempty"`
}

// String is a failure in one line.
func (f Failure) String() string {
	follows := ""
	if f.After > 0 {
		follows = fmt.Sprintf(" (after a miss in turn %d)", f.After)
	}
	line := fmt.Sprintf("%s turn %d%s “%s”: %s", f.Dialogue, f.Turn, follows, f.Say, strings.Join(f.Problems, "; "))
	return strings.Join(strings.Fields(line), " ")
}

func (f *Figures) add(turns []outcome) {
	f.Dialogues++
	right, answered := f.Right.Hits, f.Answered.Hits
	for _, o := range turns {
		if o.right {
			right++
		}
		if o.answered {
			answered++
		}
		if o.unconfirmed {
			f.Unconfirmed++
		}
		if o.effect {
			f.Effects++
		}
		f.WrongTasks += o.wrongTasks
	}
	f.Right, f.Answered = eval.ShareOf(right, f.Right.Of+len(turns)), eval.ShareOf(answered, f.Answered.Of+len(turns))
}

func report(set Set, dialogues []Dialogue, outcomes [][]outcome) Report {
	r := Report{ByLanguage: map[string]Figures{}, Broken: []string{}, Failures: []Failure{}}
	for i, d := range dialogues {
		half := &r.Open
		if d.Frozen {
			half = &r.Frozen
		}
		language := r.ByLanguage[d.Lang]
		for _, f := range []*Figures{&r.All, half, &language} {
			f.add(outcomes[i])
		}
		r.ByLanguage[d.Lang] = language
		missed := failures(d, outcomes[i])
		if d.Frozen && !set.FrozenOnly {
			r.Hidden += len(missed)
			continue
		}
		r.Failures = append(r.Failures, missed...)
	}
	r.judge()
	return r
}

func failures(d Dialogue, turns []outcome) (all []Failure) {
	first := 0
	for _, o := range turns {
		if o.right && o.answered {
			continue
		}
		all = append(all, Failure{Dialogue: d.ID, Turn: o.number, Frozen: d.Frozen, Say: o.turn.Say,
			Problems: o.problems, After: first})
		if first == 0 {
			first = o.number
		}
	}
	return all
}

// judge says which bounds do not hold.
func (r *Report) judge() {
	a := r.All
	if a.Right.Of == 0 {
		r.Broken = append(r.Broken, "no turn was played")
		return
	}
	if a.Right.Part < LeastRight {
		r.Broken = append(r.Broken, fmt.Sprintf("%.1f %% of the turns are right, and at least %.0f %% must be",
			100*a.Right.Part, 100*LeastRight))
	}
	for _, count := range []struct {
		n    int
		what string
	}{{a.WrongTasks, "wrong tasks changed"}, {a.Unconfirmed, "unconfirmed deletes"},
		{a.Effects, "effects of chit-chat or a stray yes"}} {
		if count.n > 0 {
			r.Broken = append(r.Broken, fmt.Sprintf("%s: %d, and there must be none", count.what, count.n))
		}
	}
}

// WriteText writes the report for people.
func (r Report) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "\tdialogues\tright tool and arguments\tright answer\twrong task\tunconfirmed delete\teffect of "+
		"nothing\n")
	row := func(name string, f Figures) {
		if f.Dialogues > 0 {
			fmt.Fprintf(tw, "%s\t%d\t%s\t%s\t%d\t%d\t%d\n", name, f.Dialogues, f.Right, f.Answered, f.WrongTasks,
				f.Unconfirmed, f.Effects)
		}
	}
	row("all", r.All)
	for _, language := range slices.Sorted(maps.Keys(r.ByLanguage)) {
		row(language, r.ByLanguage[language])
	}
	row("open", r.Open)
	row("frozen", r.Frozen)
	if r.WithFailures {
		for _, f := range r.Failures {
			fmt.Fprintln(tw, f)
		}
		fmt.Fprintf(tw, "and %d in frozen dialogues, which --frozen shows\n", r.Hidden)
	}
	for _, bound := range r.Broken {
		fmt.Fprintln(tw, "not met:", bound)
	}
	return tw.Flush()
}
