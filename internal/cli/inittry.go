package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/config"
	"sibyl/internal/model"
)

// testResult says how long a model took for a test question, and whether it called the tool.
type testResult struct {
	took  time.Duration
	tools bool
}

// testTool is the tool that a model is offered in its test: one that calls it can search.
func testTool() model.Tool {
	return model.Tool{Name: "look_up", Description: "Looks a fact up. Use it before you answer.",
		Schema: []byte(`{"type":"object","properties":{"topic":{"type":"string"}},"required":["topic"],"additionalProperties":false}`)}
}

// test asks a model a question with testTool, and once more without if it takes none; an empty answer is an error.
func test(ctx context.Context, m model.Model) (t testResult, err error) {
	begun := time.Now()
	req := model.Request{System: "Answer briefly. Look facts up with the tool.", Tools: []model.Tool{testTool()},
		Messages: []model.Message{{Role: model.User, Text: "How many days does a leap year have?"}}}
	got, err := m.Chat(ctx, req, func(model.Delta) error { return nil })
	if model.KindOf(err) == model.Invalid && strings.Contains(err.Error(), "tools") {
		req.Tools = nil
		got, err = m.Chat(ctx, req, func(model.Delta) error { return nil })
	}
	if err == nil && len(got.ToolCalls) == 0 && strings.TrimSpace(got.Text) == "" {
		err = errors.New("its answer is empty")
	}
	return testResult{time.Since(begun), len(got.ToolCalls) > 0}, err
}

// mostTested is how many models ‘sibyl init --yes’ tests until one calls a tool.
const mostTested = 5

// takeUnasked takes the first model that calls a tool in a test, of the most able ones, or else the first that answers.
func (s *setup) takeUnasked(ctx context.Context, ids []string) error {
	var all []model.Candidate
	for _, id := range ids {
		all = append(all, model.Candidate{ID: id, Info: s.app.Models.Known(ctx, id), Contract: s.app.Models.Contract(id)})
	}
	answers := ""
	for _, one := range model.Ranked(all)[:min(mostTested, len(all))] {
		t, err := s.testOf(ctx, one.ID)
		switch {
		case ctx.Err() != nil:
			return withCode(ExitStopped, context.Cause(ctx))
		case err != nil:
			s.c.note("%s does not answer a test question: %s", one.ID, s.app.Redact(err.Error()))
		case t.tools:
			s.noteSetting("model", "", one.ID)
			return nil
		default:
			s.c.note("%s called no tool in a test", one.ID)
			answers = cmp.Or(answers, one.ID)
		}
	}
	if answers == "" {
		return withCode(ExitFailed, errors.New("none of the models that were tested answers: name one with --model"))
	}
	s.noteSetting("model", "", answers)
	return nil
}

// testOf tests a model, once.
func (s *setup) testOf(ctx context.Context, id string) (testResult, error) {
	if t, known := s.tested[id]; known {
		return t, nil
	}
	m, err := s.app.Models.Open(id)
	if err != nil {
		return testResult{}, err
	}
	stopReport := s.c.reportIfSlow("asking " + id + " a test question; a local model is loaded first")
	defer stopReport()
	t, err := test(ctx, m)
	if err == nil {
		s.tested[id] = t
	}
	return t, err
}

// tryModel tests the model that is about to be set, and prints whether it answers and calls tools. If it fails, that is
// an error with --yes alone. If it calls none and others are there, the person may choose again. Without a new model,
// or for the offline one, it does nothing.
func (s *setup) tryModel(ctx context.Context) (again bool, err error) {
	id := s.valueToWrite("model")
	if provider, _ := model.SplitID(id); id == "" || provider == offlineName {
		return false, nil
	}
	if _, name := model.SplitID(id); name == "" { // the default of its provider
		if id, err = s.app.Models.Choose(ctx, id); err != nil {
			return false, withCode(ExitUsage, err)
		}
	}
	t, err := s.testOf(ctx, id)
	f := finding{What: "test", OK: err == nil}
	switch {
	case ctx.Err() != nil:
		return false, withCode(ExitStopped, context.Cause(ctx))
	case err != nil && s.yes:
		return false, withCode(ExitFailed, fmt.Errorf("%s does not answer a test question, so nothing was written: %s", id,
			s.app.Redact(err.Error())))
	case err != nil:
		f.Says = id + " does not answer a test question: " + s.app.Redact(err.Error())
		f.Fix = "you may write it all the same; ‘sibyl config test’ tests it again"
	case s.app.Models.About(id) != "":
		f.Says = fmt.Sprintf("%s answered in %.1f s; it %s", id, t.took.Seconds(), s.app.Models.About(id))
	case t.tools:
		f.Says = fmt.Sprintf("%s answered in %.1f s and calls tools: it can search your code, your notes and the web",
			id, t.took.Seconds())
	default:
		f.OK = false
		f.Says = fmt.Sprintf("%s answered in %.1f s, but called no tool: it can't search by itself",
			id, t.took.Seconds())
		f.Fix = "another model is better for questions about code and notes"
	}
	fmt.Fprintln(s.c.Out, f)
	hasAnswered := err == nil
	if s.yes || !hasAnswered || f.OK || s.model != "" || len(s.ids()) < 2 {
		return false, nil
	}
	typed, err := s.ask(ctx, "Use it all the same? [y/N] ")
	if err != nil || slices.Contains([]string{"y", "yes"}, strings.ToLower(typed)) {
		return false, err
	}
	s.write = slices.DeleteFunc(s.write, func(one config.Text) bool { return one.Name == "model" })
	return true, nil
}

// valueToWrite is the value that a setting is about to get; "": it is not changed.
func (s *setup) valueToWrite(name string) string {
	at := slices.IndexFunc(s.write, func(one config.Text) bool { return one.Name == name })
	if at < 0 {
		return ""
	}
	return s.write[at].Value
}

// keepAddress writes base_url to the settings if only a variable holds it, and prints if a variable holds the key.
func (s *setup) keepAddress() error {
	id := s.valueToWrite("model")
	if id == "" {
		id = s.cfg.Model
	}
	name, _ := model.SplitID(id)
	provider, named := s.cfg.Providers[name]
	if !named {
		return nil
	}
	variable := strings.ToUpper(name) + "_BASE_URL"
	if s.c.env(variable) != "" {
		opts := s.c.options()
		opts.Environ = slices.DeleteFunc(slices.Clone(opts.Environ), func(entry string) bool {
			return strings.HasPrefix(entry, variable+"=")
		})
		without, err := config.Load(opts)
		if err != nil {
			return withCode(ExitUsage, err)
		}
		s.noteSetting("providers."+name+".base_url", without.Providers[name].BaseURL, provider.BaseURL)
	}
	if from, by := s.cfg.KeyOrigin(name); from == config.FromEnvironment && s.keyOf != name && len(s.write) > 0 {
		s.c.note("the key stays in the variable %s, which a new shell has to have, too; ‘sibyl config set-key %s’ "+
			"stores it", by, name)
	}
	return nil
}
