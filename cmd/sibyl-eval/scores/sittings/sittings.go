// Package sittings scores sittings of the Council: whether the oracles answer in the person's language, and whether the
// chair says each thing once and in their words.
package sittings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"text/tabwriter"

	eval "sibyl/cmd/sibyl-eval/scores"
	"sibyl/internal/council"
	"sibyl/internal/text"
	"sibyl/internal/text/language"
)

// Sitting is what a person thinks aloud, and who is asked.
type Sitting struct {
	ID       string   `json:"id"`
	Language string   `json:"language"`
	Says     []string `json:"says"`
	Oracles  []string `json:"oracles"`
	Chair    string   `json:"chair"`
}

// Load reads a set.
func Load(files fs.FS, name string) ([]Sitting, error) {
	return eval.LoadSet(files, name, eval.WithID(func(s Sitting) string { return s.ID }, Sitting.check))
}

func (s Sitting) check() error {
	if s.Language == "" || len(s.Says) == 0 || len(s.Oracles) < 2 || s.Chair == "" {
		return errors.New(`"language", "says", two "oracles" and "chair" are needed`)
	}
	return nil
}

// Score is how a sitting did.
type Score struct {
	ID       string     `json:"id"`
	Answered eval.Share `json:"answered"` // of the oracles
	Language eval.Share `json:"language"` // of the answers: they are in the person's language
	// of the chair's sentences: an oracle is quoted for it
	Quoted  eval.Share `json:"quoted"`
	Merged  bool       `json:"merged"` // the chair's text is shown
	Twice   int        `json:"twice"`  // sentences of the chair that stand in two places
	Longer  bool       `json:"longer"` // the chair says more than all oracles together
	Seconds float64    `json:"seconds"`
	Tokens  int        `json:"tokens"`
}

// ScoreOf scores the result of a sitting.
func ScoreOf(s Sitting, r council.SittingResult) Score {
	score := Score{ID: s.ID, Answered: eval.ShareOf(len(r.Answers), len(s.Oracles)), Merged: r.MergedAnswers != nil}
	spoken, said := 0, 0
	for _, a := range r.Answers {
		if language.Of(a.Text) == s.Language {
			spoken++
		}
		said += len(a.Text)
	}
	score.Language = eval.ShareOf(spoken, len(r.Answers))
	if r.MergedAnswers == nil {
		return score
	}
	quoted, length := 0, 0
	var before []string
	all := slices.Concat(r.Sentences, r.Agree, r.Differ, r.Overlooked)
	for _, one := range all {
		folded := text.Fold(one.Text)
		if slices.Contains(before, folded) {
			score.Twice++
		}
		before = append(before, folded)
		length += len(one.Text)
	}
	for _, one := range r.Sentences {
		if len(one.By) > 0 {
			quoted++
		}
	}
	score.Quoted, score.Longer = eval.ShareOf(quoted, len(r.Sentences)), length > said
	return score
}

// Report is the score of a set.
type Report struct {
	Model  string  `json:"model"`
	Scores []Score `json:"scores"`
}

// Broken are the bounds that do not hold, in words.
func (r Report) Broken() (broken []string) {
	for _, s := range r.Scores {
		if s.Twice > 0 {
			broken = append(broken, fmt.Sprintf("%s: the chair says %s twice", s.ID, text.Count(s.Twice, "thing")))
		}
		if s.Longer {
			broken = append(broken, s.ID+": the chair says more than all oracles together")
		}
	}
	return broken
}

// WriteText writes a table.
func (r Report) WriteText(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "%s\tanswered\tlanguage\tchair\tquoted\ttwice\tseconds\ttokens\n", r.Model)
	for _, s := range r.Scores {
		chair := "left out"
		if s.Merged {
			chair = "merged"
		}
		fmt.Fprintf(table, "%s\t%d of %d\t%d of %d\t%s\t%d of %d\t%d\t%.0f\t%d\n", s.ID, s.Answered.Hits, s.Answered.Of,
			s.Language.Hits, s.Language.Of, chair, s.Quoted.Hits, s.Quoted.Of, s.Twice, s.Seconds, s.Tokens)
	}
	return table.Flush()
}
