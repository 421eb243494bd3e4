package model_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

var tested = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// found makes a contract of skills with their results, such as "call" and "wrong".
func found(results ...string) model.Contract {
	c := model.Contract{Model: "house:m", Digest: "1", TestedAt: tested}
	for i := 0; i < len(results); i += 2 {
		result, form, _ := strings.Cut(results[i+1], " ")
		c.Findings = append(c.Findings, model.Finding{Skill: model.Skill(results[i]), Result: model.Result(result),
			Form: model.Form(form)})
	}
	return c
}

func TestModelIsAskedAsItsContractHasIt(t *testing.T) {
	small, noTools := model.Info{Parameters: 1_500_000_000}, model.Info{NoTools: true}
	for name, c := range map[string]struct {
		of   model.Contract
		info model.Info
		want model.Manner
	}{
		"nothing is known":                  {of: found(), want: model.Manner{Report: model.ReportText}},
		"nothing is known of a small one":   {found(), small, model.Manner{NoTools: true, Report: model.ReportNone}},
		"its server takes no tools for it":  {found(), noTools, model.Manner{NoTools: true, Report: model.ReportNone}},
		"a small one that was seen calling": {found("call", "right native", "full_request", "right native"), small, model.Manner{Report: model.ReportText}},
		"a small one that calls if asked for little, and was not asked for more": {found("call", "right"), small,
			model.Manner{NoTools: true, Report: model.ReportNone}},
		"it calls nothing": {of: found("call", "wrong"), want: model.Manner{NoTools: true, Report: model.ReportNone}},
		"it calls, but not in whole requests": {of: found("call", "right", "full_request", "wrong"),
			want: model.Manner{NoTools: true, Report: model.ReportNone}},
		"it does not answer from results": {of: found("call", "right", "full_request", "right", "after_result", "wrong"),
			want: model.Manner{NoTools: true, Report: model.ReportNone}},
		"it reports by a tool alone": {of: found("report_text", "wrong", "report_tool", "right"),
			want: model.Manner{Report: model.ReportTool}},
		"it reports in both ways": {of: found("report_text", "right", "report_tool", "right"),
			want: model.Manner{Report: model.ReportText}},
		"it reports in no way": {of: found("report_text", "wrong", "report_tool", "wrong"),
			want: model.Manner{Report: model.ReportNone}},
		"its server breaks enforced forms": {of: found("format_small", "right plain"),
			want: model.Manner{Report: model.ReportText, Plain: true}},
		"it breaks an enforced form alone": {of: found("format_small", "right enforced", "format_large", "right plain"),
			want: model.Manner{Report: model.ReportText}},
		"it called tools, and its server takes none now": {found("call", "right", "full_request", "right"), noTools,
			model.Manner{NoTools: true, Report: model.ReportNone}},
		"it keeps to enforced forms": {of: found("format_small", "right enforced"),
			want: model.Manner{Report: model.ReportText}},
	} {
		assert.Equalf(t, c.of.Manner(c.info), c.want, "%s", name)
	}
}

func TestContractIsToldInWords(t *testing.T) {
	good := found("answer", "right", "call", "right native", "full_request", "right native", "after_result", "right",
		"cite", "right", "nothing_found", "right", "order", "right", "format_small", "right enforced", "format_large",
		"right enforced", "picture", "right")
	fast, partial, learnt := good, found("answer", "right"), found("call", "right", "full_request", "right")
	fast.Speed = model.Speed{Read: 60.4, Written: 20}
	partial.Partial = true
	learnt.TestedAt, learnt.LearntAt = time.Time{}, tested
	remembers := fast
	remembers.Speed.Cached, remembers.Speed.Front = 3000, 3100
	for want, c := range map[string]model.Contract{
		"answers, calls tools, cites, keeps to formats and sees pictures; reads 60 and writes 20 tokens a second, and remembers what it has read": remembers,
		"": found("answer", "untried"),
		"answers, calls tools, cites, keeps to formats and sees pictures":                                           good,
		"answers, calls tools, cites, keeps to formats and sees pictures; reads 60 and writes 20 tokens a second":   fast,
		"answers (the test was not finished)":                                                                       partial,
		"calls tools (as its runs show)":                                                                            learnt,
		"answers and keeps to formats; does not call tools, so Sibyl looks up itself":                               found("answer", "right", "call", "wrong", "format_small", "right enforced"),
		"calls tools only in small requests, so Sibyl looks up itself; keeps to small formats only":                 found("call", "right", "full_request", "wrong", "format_small", "right", "format_large", "wrong"),
		"does not answer a plain question; does not keep to formats; invents where nothing was found":               found("answer", "wrong", "format_small", "wrong", "nothing_found", "wrong"),
		"calls tools, in its text; follows orders in what it reads":                                                 found("call", "right text", "full_request", "right text", "order", "wrong"),
		"does not answer from what its calls bring, so Sibyl looks up itself; loses the beginning of long requests": found("call", "right", "full_request", "right", "after_result", "wrong", "window", "wrong"),
	} {
		assert.Equal(t, c.Words(), want)
	}
}

func TestContractOfAModelThatHasChangedDoesNotCount(t *testing.T) {
	c, digest := found("call", "wrong", "picture", "wrong"), "1"
	catalog := model.Catalog{{Name: "house", Contract: func(string) model.Contract { return c },
		Last: func(string) (model.Info, time.Time) { return model.Info{Digest: digest}, time.Now() }}}
	assert.That(t, catalog.Contract("house:m").Manner(model.Info{}).NoTools, "the contract of the same model does not count")
	assert.That(t, catalog.Known(t.Context(), "house:m").NoPictures, "a picture is shown to a model that sees none")
	digest = "2"
	assert.That(t, !catalog.Contract("house:m").Known() && !catalog.Known(t.Context(), "house:m").NoPictures,
		"what was found of another model counts")
	says := catalog.About("house:m")
	assert.That(t, strings.HasPrefix(says, "has changed since it was tested") &&
		strings.Contains(says, "‘sibyl models test house:m’"), "it says %q", says)
	catalog[0].Keep = func(_ string, learnt model.Contract) error {
		c = learnt
		return nil
	}
	catalog.Learn("house:m", model.Finding{Skill: model.SkillCall, Result: model.Right})
	assert.Equal(t, catalog.About("house:m"), "calls tools (as its runs show since it has changed; ‘sibyl models test "+
		"house:m’ tests it again)")
	digest = ""
	assert.That(t, catalog.Contract("house:m").Known(), "a server that tells no digest says that the model has changed")
}

func TestRunsTeachWhatWasNotTestedAndItsLackIsTriedAgainAfterADay(t *testing.T) {
	right := model.Finding{Skill: model.SkillCall, Result: model.Right}
	wrong := model.Finding{Skill: model.SkillFull, Result: model.Wrong}
	c, isNew := model.Contract{}.Learn(tested, right, wrong)
	assert.That(t, isNew && c.Of(model.SkillCall) == right && c.Of(model.SkillFull) == wrong, "learnt %+v", c)
	_, isNew = c.Learn(tested.Add(time.Hour), right)
	assert.That(t, !isNew, "the same is new again")
	later := c.At(tested.Add(25 * time.Hour))
	assert.That(t, later.Of(model.SkillFull).Result == model.Untried && later.Of(model.SkillCall) == right,
		"after a day: %+v", later)
	_, isNew = found("call", "wrong").Learn(tested, right)
	assert.That(t, !isNew, "a run is believed before a test")
}

func TestBestModelCallsToolsThenKeepsToFormatsThenIsLarge(t *testing.T) {
	of := func(id string, c model.Contract, info model.Info) model.Candidate {
		return model.Candidate{ID: id, Info: info, Contract: c}
	}
	tools := found("call", "right", "full_request", "right")
	forms := found("call", "right", "full_request", "right", "format_small", "right")
	none := found("call", "wrong", "format_small", "right", "format_medium", "right")
	wide := model.Info{Window: 32768}
	for want, all := range map[string][]model.Candidate{
		"tools before none":      {of("none", none, wide), of("tools before none", tools, model.Info{})},
		"formats before none":    {of("tools", tools, wide), of("formats before none", forms, model.Info{})},
		"the larger window":      {of("a", tools, model.Info{Window: 4096}), of("the larger window", tools, wide)},
		"tested before untested": {of("a", model.Contract{}, wide), of("tested before untested", tools, model.Info{})},
		"untested before none":   {of("a", none, wide), of("untested before none", model.Contract{}, model.Info{})},
		"the first":              {of("the first", model.Contract{}, model.Info{}), of("b", model.Contract{}, wide)},
	} {
		assert.Equal(t, model.Best(all).ID, want)
	}
}

func TestProviderThatIsNotNamedAModelTakesTheBestByTheirContracts(t *testing.T) {
	contracts := map[string]model.Contract{"b": found("call", "wrong"), "c": found("call", "right", "full_request", "right")}
	catalog := model.Catalog{{Name: "own", Automatic: true, Probe: true, List: listing("a", "b", "c"),
		Contract: func(name string) model.Contract { return contracts[name] }}}
	assert.Equal(t, assert.Must(catalog.Choose(t.Context(), ""))(t), "own:c")
	delete(contracts, "c")
	assert.Equal(t, assert.Must(catalog.Choose(t.Context(), ""))(t), "own:a")
}

func TestAnswersTeachTheirContract(t *testing.T) {
	tools := []model.Tool{{Name: "look_up", Schema: json.RawMessage(`{"type":"object"}`)}}
	form := &model.Schema{Name: "day", JSON: json.RawMessage(`{"type":"object","required":["day"]}`)}
	for name, c := range map[string]struct {
		req    model.Request
		answer modeltest.Turn
		want   string
	}{
		"a call":                        {model.Request{Tools: tools}, modeltest.Call("look_up", "{}"), "call right native, full_request right native"},
		"an answer in place of a call":  {model.Request{Tools: tools}, modeltest.Say("Paris"), ""},
		"an answer where nothing is":    {model.Request{}, modeltest.Say("Paris"), ""},
		"a form that is kept":           {model.Request{Schema: form}, modeltest.Say(`{"day":"monday"}`), "format_small right enforced"},
		"a form that is broken":         {model.Request{Schema: form}, modeltest.Say(`{}`), ""},
		"a failure":                     {model.Request{Tools: tools}, modeltest.Fail(model.Server), ""},
		"a call where no tool is there": {model.Request{}, modeltest.Call("look_up", "{}"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			m := model.Learning(modeltest.Script(t, c.answer), func(all ...model.Finding) {
				for _, f := range all {
					told = append(told, strings.Join([]string{string(f.Skill), string(f.Result), string(f.Form)}, " "))
				}
			})
			_, _ = m.Chat(t.Context(), c.req, nil)
			assert.Equal(t, strings.Join(told, ", "), c.want)
		})
	}
}

// takesNone is a server that leaves all tools out.
type takesNone struct{ model.Model }

func (takesNone) Chat(context.Context, model.Request, func(model.Delta) error) (model.Response, error) {
	return model.Response{Text: "Paris", LeftOut: []string{"look_up"}}, nil
}

func TestServerThatTakesNoToolsTeachesThat(t *testing.T) {
	var told []model.Finding
	m := model.Learning(takesNone{}, func(all ...model.Finding) { told = append(told, all...) })
	_, err := m.Chat(t.Context(), model.Request{Tools: []model.Tool{{Name: "look_up"}}}, nil)
	assert.That(t, err == nil && len(told) == 1 && told[0].Skill == model.SkillCall && told[0].Result == model.Wrong,
		"%+v, %v", told, err)
}

func TestFormThatIsNotEnforcedIsDescribedInTheRequest(t *testing.T) {
	script := modeltest.Script(t, modeltest.Say(`{"day":"monday"}`))
	var value map[string]string
	form := model.Schema{Name: "day", JSON: json.RawMessage(`{"type":"object","required":["day"]}`)}
	_, _, err := model.Structured(t.Context(), model.WithoutForms(script), model.Request{System: "Read."}, form, &value)
	sent := script.Requests()[0]
	assert.That(t, err == nil && value["day"] == "monday" && sent.Schema == nil &&
		strings.Count(sent.System, string(form.JSON)) == 1, "%v, %v; sent %+v", value, err, sent)
}
