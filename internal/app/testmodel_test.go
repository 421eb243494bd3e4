package app

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// house serves a provider of the same server in a folder of reports: each as another process would.
func house(dir, endpoint string, info *model.Info) model.Catalog {
	p := model.Provider{Name: "house", Local: true}
	newReports(dir).serve(&p, endpoint, func(context.Context, string) (model.Info, error) { return *info, nil })
	return model.Catalog{p}
}

// calling is the contract of a model that calls tools, or does not.
func calling(result model.Result, at time.Time) model.Contract {
	return model.Contract{Model: "house:m", Digest: "1", TestedAt: at,
		Findings: []model.Finding{{Skill: model.SkillCall, Result: result}}}
}

func TestContractIsKeptBesideTheReportForOtherProcesses(t *testing.T) {
	dir, info := t.TempDir(), model.Info{Window: 9000, Digest: "1"}
	one, other := house(dir, "http://a", &info), house(dir, "http://a", &info)
	_ = assert.Must(one.Describe(t.Context(), "house:m"))(t)
	assert.NoError(t, other.Keep("house:m", calling(model.Wrong, time.Now())))
	_ = assert.Must(house(dir, "http://a", &info).Describe(t.Context(), "house:m"))(t)
	assert.That(t, one.Contract("house:m").Known(), "a process that ran before does not see it")
	third := house(dir, "http://a", &info)
	assert.That(t, third.Contract("house:m").Of(model.SkillCall).Result == model.Wrong &&
		third.Known(t.Context(), "house:m").Window == 9000, "kept: %+v", third.Contract("house:m"))
	elsewhere := house(dir, "http://b", &info)
	assert.That(t, !elsewhere.Contract("house:m").Known(), "the contract counts at another endpoint")
}

func TestContractStandsWhenAReportIsRenewedAndIsNotReplacedByAnOlderOne(t *testing.T) {
	dir := t.TempDir()
	r := newReports(dir)
	newer, older := calling(model.Right, time.Now()), calling(model.Wrong, time.Now().Add(-time.Hour))
	assert.NoError(t, newReports(dir).put("m", measuredWait, func(of *report) { of.Contract = &newer }))
	r.kept = map[string]report{"m": {Info: model.Info{Window: 1}, At: time.Now().Add(-time.Hour), Contract: &older}}
	assert.NoError(t, r.put("m", measuredWait, func(of *report) { of.Info, of.At = model.Info{Window: 2}, time.Now() }))
	got := newReports(dir).get("m")
	assert.That(t, got.Window == 2 && got.Contract.Of(model.SkillCall).Result == model.Right, "%+v, %+v", got, got.Contract)
}

func TestModelsWithoutAContractAreForgottenFirst(t *testing.T) {
	r := newReports(filepath.Join(t.TempDir(), "missing"))
	c := calling(model.Right, time.Unix(0, 0))
	_ = r.put("tested", measuredWait, func(of *report) { of.Contract = &c })
	for i := range mostReports {
		_ = r.put(strings.Repeat("x", i+1), measuredWait, func(of *report) { of.At = time.Unix(int64(i+1), 0) })
	}
	assert.That(t, r.get("tested").Contract != nil && r.get("x").At.IsZero(), "%d kept, the tested one is forgotten",
		len(r.kept))
}

func TestRunsTeachAModelThatWasNotTestedUntilItChanges(t *testing.T) {
	dir, info := t.TempDir(), model.Info{Digest: "1"}
	c := house(dir, "http://a", &info)
	_ = assert.Must(c.Describe(t.Context(), "house:m"))(t)
	c.Learn("house:m", model.Finding{Skill: model.SkillFull, Result: model.Right})
	assert.Equal(t, house(dir, "http://a", &info).About("house:m"), "calls tools (as its runs show)")
	text := string(assert.Must(os.ReadFile(filepath.Join(dir, "models.json")))(t))
	assert.That(t, strings.Contains(text, `"learnt_at"`) && !strings.Contains(text, `"tested_at"`), "%s", text)
}

// lab is a program with a server of one model, which answers as part says.
func lab(t *testing.T, part func(modeltest.Request) modeltest.Answer) *App {
	t.Helper()
	server := modeltest.NewServer(t)
	server.Models = []string{"m"}
	server.Play(part)
	return prepared(t, "providers: {lab: {base_url: '"+server.BaseURL+"/v1'}}")
}

func TestTestedModelIsAskedWithTheOraclesOwnRequestAndItsContractIsKept(t *testing.T) {
	var tools, front []int
	a := lab(t, func(r modeltest.Request) modeltest.Answer {
		if len(r.Tools) > 1 {
			tools, front = append(tools, len(r.Tools)), append(front, len(r.Messages[0].Content))
		}
		return modeltest.Stream("Paris")
	})
	test := assert.Must(a.PrepareModelTest(t.Context(), "lab:m"))(t)
	assert.That(t, test.Local && test.Requests > 15 && test.Tokens > 5000, "%+v", test)
	c, err := a.TestModel(t.Context(), test, nil)
	assert.NoError(t, err)
	assert.That(t, len(front) == 3 && front[1] == front[2] && front[1] > 3000 && tools[1] == tools[2],
		"the Oracle's requests had %v tools, and a system prompt of %v bytes", tools, front)
	assert.That(t, strings.HasSuffix(c.Endpoint, "/v1") && a.Models.Contract("lab:m").Of(model.SkillAnswer).Result ==
		model.Right && a.Models.Contract("lab:m").Manner(model.Info{}).NoTools, "%+v", c)
}

func TestNothingIsTestedWithoutALanguageModel(t *testing.T) {
	a := prepared(t, "ollama: {host: '127.0.0.1:1'}")
	_, err := a.PrepareModelTest(t.Context(), "")
	assert.ErrorIs(t, err, ErrNothingToTest)
	_, err = a.PrepareModelTest(t.Context(), "nobody:x")
	assert.That(t, err != nil && strings.Contains(err.Error(), "there is no provider"), "%v", err)
}
