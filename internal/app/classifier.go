package app

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sibyl/internal/bert"
	"sibyl/internal/config"
	"sibyl/internal/oracle"
)

// ClassifierProgram runs the classifier. It is a separate program, so that sibyl needs none of its dependencies.
const ClassifierProgram = "sibyl-bert"

// verdicts are what the classifier chooses from: the names as a fine-tuned model has them for labels, the sentences as
// a zero-shot model is asked whether they follow from a reply.
func verdicts() []bert.Label {
	return []bert.Label{
		{Name: string(oracle.GoOn), Hypothesis: "The assistant is making progress and needs another step."},
		{Name: string(oracle.Retry), Hypothesis: "Something went wrong that the assistant should try again."},
		{Name: string(oracle.OtherStrategy), Hypothesis: "The assistant has found nothing and should look elsewhere."},
		{Name: string(oracle.ForceAnswer), Hypothesis: "The assistant gives its answer."},
		{Name: string(oracle.AskUser), Hypothesis: "The assistant asks the user a question."},
	}
}

// classifier returns the person's BERT model in a child process that starts on first use; nil if none is set.
func classifier(cfg config.Bert) *bert.Classifier {
	if cfg.Model == "" {
		return nil
	}
	return bert.New(bert.Config{Dir: cfg.Model, Timeout: cfg.Timeout, Command: []string{classifierProgram()},
		Missing: "a release has it beside sibyl; from the source, ‘go build ./cmd/sibyl-bert’ makes it: put it " +
			"beside sibyl or on the PATH"})
}

// classifierProgram returns the program's path: beside this one, else as the shell would find it; else its bare name.
func classifierProgram() string {
	beside := filepath.Join(filepath.Dir(ownProgram()), ClassifierProgram+filepath.Ext(ownProgram()))
	if path, err := exec.LookPath(beside); err == nil {
		return path
	}
	if path, err := exec.LookPath(ClassifierProgram); err == nil {
		return path
	}
	return ClassifierProgram
}

// ownProgram returns this program's path as it was called, so that links resolve beside themselves.
func ownProgram() string {
	if name := os.Args[0]; strings.ContainsRune(name, filepath.Separator) {
		if path, err := filepath.Abs(name); err == nil {
			return path
		}
	} else if path, err := exec.LookPath(name); err == nil {
		return path
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0] // its start says what is wrong
	}
	return path
}

// classify scores the verdicts on a reply.
func (a *App) classify(ctx context.Context, text string) ([]oracle.Score, error) {
	scores, err := a.bert.Classify(ctx, text, verdicts())
	if err != nil {
		return nil, err
	}
	all := make([]oracle.Score, len(scores))
	for i, s := range scores {
		all[i] = oracle.Score(s)
	}
	return all, nil
}

// CheckClassifier loads the classifier and tests it. ok is false if none is set.
func (a *App) CheckClassifier(ctx context.Context) (info bert.Info, ok bool, err error) {
	if a.bert == nil {
		return info, false, nil
	}
	info, err = a.bert.Check(ctx, verdicts())
	return info, true, err
}
