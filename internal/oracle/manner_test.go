package oracle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

// measured is a contract with these results.
func measured(results map[model.Skill]model.Result) model.Contract {
	c := model.Contract{Model: "scripted:test", TestedAt: time.Now()}
	for _, s := range model.Skills() {
		if r := results[s]; r != "" {
			c.Findings = append(c.Findings, model.Finding{Skill: s, Result: r})
		}
	}
	return c
}

func TestOracleAsksAModelAsItsContractHasIt(t *testing.T) {
	const signals, report, clean = "# Signals", "# Reports", "Write no signals into the text."
	for name, c := range map[string]struct {
		of      map[model.Skill]model.Result
		env     oracle.Env // set by the person
		told    []string   // in the prompt
		untold  []string
		tools   bool
		reports bool // the report tool is offered
	}{
		"nothing is known": {told: []string{signals}, untold: []string{report, clean}, tools: true},
		"it reports in its text": {of: map[model.Skill]model.Result{model.SkillByText: model.Right},
			told: []string{signals}, untold: []string{report, clean}, tools: true},
		"it reports by a tool": {of: map[model.Skill]model.Result{model.SkillByText: model.Wrong,
			model.SkillByTool: model.Right}, told: []string{report, clean}, untold: []string{signals}, tools: true, reports: true},
		"it does not report": {of: map[model.Skill]model.Result{model.SkillByText: model.Wrong,
			model.SkillByTool: model.Wrong}, told: []string{clean}, untold: []string{signals, report}, tools: true},
		"it does not report, but the person wants it to": {of: map[model.Skill]model.Result{model.SkillByText: model.Wrong},
			env: oracle.Env{ReportTool: true}, told: []string{report}, untold: []string{signals}, tools: true, reports: true},
		"it calls no tools": {of: map[model.Skill]model.Result{model.SkillCall: model.Wrong},
			untold: []string{signals, report, "You grant yourself nothing"}},
		"it calls tools in small requests alone": {of: map[model.Skill]model.Result{model.SkillCall: model.Right,
			model.SkillFull: model.Wrong}, untold: []string{signals, report, "You grant yourself nothing"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, modeltest.Say("It checks the token in auth.go."), modeltest.Say("It checks the token in auth.go."))
			h.contract, h.env.ReportTool = measured(c.of), c.env.ReportTool
			h.finish(h.start(auth))
			sent := h.request(1)
			wantParts(t, "the prompt", prompted(sent), c.told...)
			for _, text := range c.untold {
				assert.That(t, !strings.Contains(prompted(sent), text), "the prompt has %q", text)
			}
			names := fmt.Sprint(sentTools(sent))
			assert.That(t, strings.Contains(names, "code_search") == c.tools && strings.Contains(names, oracle.ReportTool) ==
				c.reports, "it is sent the tools %s", names)
		})
	}
}

func TestModelThatIsAskedForNoReportGoesToTheFallbackAndIsNotRemindedOfReports(t *testing.T) {
	for _, reports := range []model.Result{model.Right, model.Wrong} {
		h := setUp(t)
		h.contract = measured(map[model.Skill]model.Result{model.SkillByText: reports})
		for _, query := range []string{"token", "login", "session"} {
			h.script.Add(modeltest.Call("code_search", fmt.Sprintf(`{"query":%q}`, query)))
		}
		h.script.Add(modeltest.Say("It checks the token. " + enough()))
		a := h.finish(h.start(auth))
		same(t, "the fallback was asked", len(a.Fallbacks), 1)
		reminded := strings.Contains(textOfRole(h.request(4), model.User), "Your replies have no signal.")
		same(t, "it was reminded", reminded, reports == model.Right)
	}
}

func TestExplanationTellsWhatWasKnownOfTheModel(t *testing.T) {
	h := setUp(t, modeltest.Say("You are welcome. "+enough()))
	h.contract = measured(map[model.Skill]model.Result{model.SkillAnswer: model.Right, model.SkillCall: model.Right})
	a := h.ask(thanks)
	assert.Equal(t, a.About, "answers and calls tools")
}

func TestRunsThatEndWithoutAReportShowThatAModelDoesNotReport(t *testing.T) {
	h := setUp(t)
	const question = "What does `%s` do in the code?"
	for n := range 5 {
		h.script.Add(modeltest.Call("code_search", fmt.Sprintf(`{"query":"a%d"}`, n)),
			modeltest.Call("code_read", `{"path":"auth.go"}`), modeltest.Say("It checks the token (`auth.go:1`)."))
		h.openSession(fmt.Sprint("s", n))
		h.finish(h.start(fmt.Sprintf(question, fmt.Sprint("f", n))))
		all := h.script.Requests()
		asked := strings.Contains(all[len(all)-1].System, "# Signals")
		assert.That(t, asked == (n < 4), "run %d: it is asked to report: %v", n+1, asked)
	}
}

func TestModelWithoutToolsIsAskedWhatNoWordCanBeSearchedFor(t *testing.T) {
	for _, question := range []string{"???", "What is it?", "?! 🤷"} {
		h := setUp(t, modeltest.Say("I do not know."))
		h.env.NoTools = true
		a := h.ask(question)
		assert.That(t, a.Error == nil && a.Answer == "I do not know.", "%s: %q, %v", question, a.Answer, a.Error)
	}
}
