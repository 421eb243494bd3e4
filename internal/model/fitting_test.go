package model_test

import (
	"encoding/json"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/schema"
)

// report is what a model is asked for here: something of everything.
type report struct {
	Title  string `json:"title" min:"1"`
	Score  int    `json:"overallScore" min:"0" max:"100"`
	Share  float64
	Done   bool     `json:"is_done"`
	Kind   string   `json:"kind" enum:"breadth,depth"`
	Tags   []string `json:"tags" max:"3"`
	Points []struct {
		Page int    `json:"page" min:"1"`
		Text string `json:"text"`
	} `json:"points" max:"3"`
}

const (
	whole = `{"title":"T","overallScore":7,"Share":0.5,"is_done":true,"kind":"depth","tags":["a"],"points":[{"page":1,"text":"p"}]}`
	other = `{"title":"Other","overallScore":1,"Share":0,"is_done":false,"kind":"breadth","tags":[],"points":[]}`
)

func TestValueThatPlainlyMeansOneThatFitsIsUnderstood(t *testing.T) {
	form := model.Schema{Name: "report", JSON: schema.Answer[report]()}
	for name, text := range map[string]string{
		"as it should be":                  whole,
		"a property too many":              `{"reasoning":"Hm.",` + whole[1:],
		"an object too many":               `{"notes":{"title":"no","deep":[{"a":1}]},` + whole[1:],
		"a property too many in a list":    `{"title":"T","overallScore":7,"Share":0.5,"is_done":true,"kind":"depth","tags":["a"],"points":[{"page":1,"text":"p","why":"x"}]}`,
		"names in other cases":             `{"Title":"T","overall_score":7,"share":0.5,"isDone":true,"KIND":"depth","Tags":["a"],"points":[{"Page":1,"TEXT":"p"}]}`,
		"numbers and truth as texts":       `{"title":"T","overallScore":"7","Share":" 0.5","is_done":"True","kind":"depth","tags":["a"],"points":[{"page":"1","text":"p"}]}`,
		"a whole number with a point":      `{"title":"T","overallScore":7.0,"Share":0.5,"is_done":true,"kind":"depth","tags":["a"],"points":[{"page":1.0,"text":"p"}]}`,
		"a word of an enum in other case":  `{"title":"T","overallScore":7,"Share":0.5,"is_done":true,"kind":"Depth ","tags":["a"],"points":[{"page":1,"text":"p"}]}`,
		"wrapped":                          `{"result":` + whole + `}`,
		"wrapped with more":                `{"status":"ok","data":{"report":` + whole + `}}`,
		"in a list":                        `[` + whole + `]`,
		"each value wrapped":               `{"title":{"text":"T"},"overallScore":{"value":"7"},"Share":0.5,"is_done":true,"kind":"depth","tags":{"items":["a"]},"points":[{"page":1,"text":"p"}]}`,
		"in a fence, wrapped, with more":   "Here:\n```json\n{\"answer\":{\"extra\":1," + whole[1:] + "}\n```",
		"after one that is not meant":      `{"title":"no"} ` + `{"x":` + whole + `}`,
		"the exact name beside a like one": `{"Title":"no","Kind":"breadth",` + whole[1:],
	} {
		m := modeltest.Script(t, modeltest.Say(text))
		var got report
		_, resp, err := model.Structured(t.Context(), m, askPerson(), form, &got)
		read, _ := json.Marshal(got)
		assert.That(t, err == nil && string(read) == whole && resp.Attempts == 1, "%s: it is read as %s after %d attempts, %v",
			name, read, resp.Attempts, err)
	}
	var got report
	err := form.Read(`{"result":`+whole+`} `+other, &got)
	assert.That(t, err == nil && got.Title == "Other", "what fits as it is comes second to what is only meant: %+v, %v", got, err)
}

func TestValueThatMayMeanSomethingElseDoesNotFit(t *testing.T) {
	form := model.Schema{Name: "report", JSON: schema.Answer[report]()}
	for name, text := range map[string]string{
		"something is missing":         `{"title":"T","reasoning":"Hm."}`,
		"a number in words":            `{"title":"T","overallScore":"seven",` + whole[len(`{"title":"T","overallScore":7,`):],
		"a part of a number":           `{"title":"T","overallScore":"7.5",` + whole[len(`{"title":"T","overallScore":7,`):],
		"a number beyond its bound":    `{"title":"T","overallScore":"700",` + whole[len(`{"title":"T","overallScore":7,`):],
		"a number that is none":        `{"title":"T","overallScore":"NaN",` + whole[len(`{"title":"T","overallScore":7,`):],
		"a text of several properties": `{"title":{"de":"T","en":"U"},` + whole[len(`{"title":"T",`):],
		"an object of other things":    `{"a":1,"b":{"c":2}}`,
		"an empty object":              `{}`,
		"a bare text":                  `"T"`,
	} {
		err := form.Read(text, new(report))
		assert.That(t, err != nil, "%s is understood: %s", name, text)
	}
	open := model.Schema{Name: "open", JSON: json.RawMessage(
		`{"type":"object","properties":{"a":{"type":"integer"},"A":{"type":"integer"}},"additionalProperties":false}`)}
	for _, text := range []string{`{"b":1}`, `{"á":1}`} {
		assert.That(t, open.Read(text, new(any)) != nil, "%s is understood as an object of nothing", text)
	}
}

func TestRepairsAreCountedDownAndNameTheLastAnswerAlone(t *testing.T) {
	m := modeltest.Script(t, modeltest.Say(`{"name":"Ada"}`), modeltest.Say("Sorry."), modeltest.Say(`{"name":"Ada","age":36}`),
		modeltest.Say(`{"name":"Bob","age":1}`))
	left := 2
	var who struct{ Name string }
	want := model.Wanted{Schema: person, Repairs: &left, Check: func() string {
		if who.Name == "Ada" {
			return "this is about Ada"
		}
		return ""
	}}
	_, resp, err := model.StructuredWithin(t.Context(), m, askPerson(), want, &who)
	assert.That(t, model.KindOf(err) == model.Garbled && left == 0 && resp.Attempts == 3, "%d are left after %d attempts, %v",
		left, resp.Attempts, err)
	assert.Contains(t, "why", err.Error(), "this is about Ada")
	last := m.Requests()[2].Messages
	assert.That(t, len(last) == 3 && last[1].Text == "Sorry.", "the second repair is asked for with %+v", last)
	_, _, err = model.StructuredWithin(t.Context(), m, askPerson(), want, &who)
	assert.That(t, err == nil && who.Name == "Bob", "an answer that needs no repair is %+v, %v", who, err)
}
