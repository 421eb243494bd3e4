package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"sibyl/cmd/sibyl-eval/scores/inquiries"
	evaldata "sibyl/eval"
	"sibyl/internal/app"
	"sibyl/internal/inquiry"
	"sibyl/internal/schema"
	"sibyl/internal/service"
)

func inquiryCommand(environ []string, print printer) *cobra.Command {
	var f flags
	cmd := &cobra.Command{Use: "inquiry", Short: "Score the Inquiry on labelled documents", Args: cobra.NoArgs,
		Long: "Examines documents about a hypothesis, and compares evidence and contradictions with their labels. A\n" +
			"bound is broken if an inquiry has a score although nothing was said for or against.",
		Example: "  sibyl-eval inquiry -m ollama:llama3.1:8b",
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, name := f.file(evaldata.Inquiries)
			all, err := inquiries.Load(files, name)
			if err != nil {
				return err
			}
			r := inquiries.Report{Model: f.model}
			err = within(cmd.Context(), environ, func(room room) error {
				for _, q := range all {
					s, err := room.examine(cmd.Context(), q, f.model)
					if err != nil {
						return fmt.Errorf("inquiry %s: %w", q.ID, err)
					}
					r.Scores = append(r.Scores, s)
				}
				return nil
			})
			if err != nil {
				return err
			}
			return print(cmd, r, r.Broken())
		}}
	return f.onAll(cmd, evaldata.Inquiries)
}

// fewQuestions is the limit of an inquiry of the set.
const fewQuestions = 5

// examine has a detective examine the documents of an inquiry.
func (r room) examine(ctx context.Context, q inquiries.Inquiry, detective string) (s inquiries.Score, err error) {
	dir := filepath.Join(r.dir, q.ID)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return s, err
	}
	for name, content := range q.Documents {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return s, err
		}
	}
	res, took, err := r.wait(ctx, service.Request{Assistant: inquiry.Name, Words: q.Hypothesis,
		Options: inquiry.Options{Witness: schema.Folder{Path: dir}, Detective: detective, Limit: fewQuestions,
			Language: q.Language}})
	if err != nil {
		return s, err
	}
	var o inquiry.Outcome
	if err := json.Unmarshal(res.Outcome, &o); err != nil {
		return s, err
	}
	s = inquiries.ScoreOf(q, o.Session)
	s.Seconds, s.Tokens = took.Seconds(), tokensOf(res)
	return s, nil
}

// wait begins a run, and returns its result with how long it took.
func (r room) wait(ctx context.Context, of service.Request) (res service.Result, took time.Duration, err error) {
	begun := time.Now()
	live, err := r.app.Service.Start(ctx, app.Owner, of)
	if err != nil {
		return res, 0, err
	}
	res, err = live.Wait(ctx)
	return res, time.Since(begun), err
}

// tokensOf are the tokens that a run used, with those of others on its behalf.
func tokensOf(res service.Result) (n int) {
	for _, u := range append(res.Usage, res.Beside...) {
		n += u.Input + u.Output
	}
	return n
}
