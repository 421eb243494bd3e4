package command

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"sibyl/cmd/sibyl-eval/scores/sittings"
	evaldata "sibyl/eval"
	"sibyl/internal/app"
	"sibyl/internal/council"
	"sibyl/internal/service"
)

func councilCommand(environ []string, print printer) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: "council", Short: "Score sittings of the Council", Args: cobra.NoArgs,
		Long: "Has oracles answer what a person thinks aloud, and a chair merge the answers. A bound is broken if the\n" +
			"chair says a thing twice, or more than all oracles together.",
		Example: "  sibyl-eval council -m ollama:llama3.1:8b",
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, name := f.file(evaldata.Sittings)
			all, err := sittings.Load(files, name)
			if err != nil {
				return err
			}
			r := sittings.Report{Model: f.model}
			err = within(cmd.Context(), environ, func(room room) error {
				for _, s := range all {
					score, err := room.sit(cmd.Context(), s, f.model)
					if err != nil {
						return fmt.Errorf("sitting %s: %w", s.ID, err)
					}
					r.Scores = append(r.Scores, score)
				}
				return nil
			})
			if err != nil {
				return err
			}
			return print(cmd, r, r.Broken())
		}}
	return f.onAll(cmd, evaldata.Sittings)
}

// sit has the oracles of a sitting answer.
func (r room) sit(ctx context.Context, s sittings.Sitting, by string) (score sittings.Score, err error) {
	files, err := r.app.Council.Sessions(app.Owner)
	if err != nil {
		return score, err
	}
	opened, err := files.New(ctx, s.ID, s.Language)
	if err != nil {
		return score, err
	}
	for _, words := range s.Says {
		if _, err := files.AddText(ctx, opened.ID, words); err != nil {
			return score, err
		}
	}
	res, took, err := r.wait(ctx, service.Request{Assistant: council.Name, Options: council.Options{Session: opened.ID,
		Oracles: s.Oracles, Chair: s.Chair, Model: by}})
	if err != nil {
		return score, err
	}
	result, _, err := council.ReadSittingResult(res.Outcome)
	if err != nil {
		return score, err
	}
	score = sittings.ScoreOf(s, result)
	score.Seconds, score.Tokens = took.Seconds(), tokensOf(res)
	return score, nil
}
