package model_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

var person = model.Schema{Name: "person", JSON: json.RawMessage(
	`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name","age"],"additionalProperties":false}`)}

func askPerson() model.Request {
	return model.Request{System: "Be exact.", Messages: []model.Message{{Role: model.User, Text: "Who?"}}}
}

func TestValueIsTakenOutOfWhatStandsAroundIt(t *testing.T) {
	const ada = `{"name":"Ada {[","age":36}`
	for name, text := range map[string]string{
		"alone":                  ada,
		"with space around it":   "\n " + ada + " \n",
		"in a fence":             "Sure!\n```json\n" + ada + "\n```\nAnything else?",
		"after another value":    `I read [1] and {"draft": true}. ` + ada,
		"after half a value":     `{"name": oops ` + ada,
		"inside of another":      `{"answer": ` + ada, // never closed
		"after thinking of many": strings.Repeat("{ ", 60) + ada,
	} {
		m := modeltest.Script(t, modeltest.Say(text))
		got, resp, err := model.Structured(t.Context(), m, askPerson(), person, new(any))
		assert.That(t, err == nil && string(got) == ada && resp.Text == text, "%s: got %s, %v", name, got, err)
		req := m.Requests()[0]
		assert.That(t, req.Schema != nil && req.Schema.Name == "person" && strings.HasPrefix(req.System, "Be exact.\n") &&
			strings.Contains(req.System, string(person.JSON)),
			"%s: asked with schema %v and system prompt %q", name, req.Schema, req.System)
	}
}

func TestAnswerThatDoesNotFitIsRepairedOnce(t *testing.T) {
	say := func(text string, in int) modeltest.Turn {
		return modeltest.Turn{Text: text, Usage: model.Usage{InputTokens: in, OutputTokens: 1}}
	}
	m := modeltest.Script(t, say(`{"name":"Ada","age":"old"}`, 10), say(`{"name":"Ada","age":36}`, 20))
	req := askPerson()
	var ada struct {
		Name string
		Age  int
	}
	got, resp, err := model.Structured(t.Context(), m, req, person, &ada)
	assert.Require(t, err == nil && string(got) == `{"name":"Ada","age":36}` && ada.Name == "Ada" && ada.Age == 36,
		"got %s, read as %+v, %v", got, ada, err)
	if want := (model.Usage{InputTokens: 30, OutputTokens: 2}); resp.Usage != want || resp.Attempts != 2 {
		t.Errorf("usage %+v in %d attempts; want %+v in 2", resp.Usage, resp.Attempts, want)
	}
	second := m.Requests()[1].Messages
	assert.That(t, len(second) == 3 && second[1].Text == `{"name":"Ada","age":"old"}` &&
		strings.Contains(second[2].Text, `at /properties/age: type: old has type "string", want "integer"`),
		"repaired with %+v", second)
	assert.That(t, len(req.Messages) == 1, "the caller's request became %+v", req.Messages)
}

func TestSecondAnswerThatDoesNotFitIsGarbledAndSaysWhy(t *testing.T) {
	m := modeltest.Script(t, modeltest.Say("I'd rather not."), modeltest.Say(`{"name":"Ada","age":36.5}`))
	got, resp, err := model.Structured(t.Context(), m, askPerson(), person, new(any))
	var wrong *model.SchemaError
	assert.Require(t, model.KindOf(err) == model.Garbled && errors.As(err, &wrong) && got == nil && resp.Attempts == 2,
		"got %s after %d attempts, %v", got, resp.Attempts, err)
	want := model.SchemaError{Schema: "person",
		Problem: `at /properties/age: type: 36.5 has type "number", want "integer"`}
	diff := cmp.Diff(want, *wrong)
	assert.That(t, diff == "" && strings.Contains(err.Error(), "scripted:test"), "%v (-want +got):\n%s", err, diff)
	first := m.Requests()[1].Messages[2].Text
	assert.That(t, strings.Contains(first, "holds no whole JSON value"), "repaired with %q", first)
}

func TestValueOfAModelThatRepeatsItselfIsTakenIfItIsWholeAndElseNotAskedForAgain(t *testing.T) {
	for text, kind := range map[string]model.Kind{`{"name":"Ada","age":36}`: "", `{"name":"Ada Ada Ada`: model.Repeated} {
		m := modeltest.Script(t, modeltest.Turn{Text: text, Finish: model.FinishRepeated})
		_, resp, err := model.Structured(t.Context(), m, askPerson(), person, new(any))
		assert.That(t, (err == nil) == (kind == "") && (kind == "" || model.KindOf(err) == kind) && resp.Attempts == 1,
			"%s: %v after %d attempts", text, err, resp.Attempts)
	}
}

func TestFailureIsNoAnswerThatDoesNotFit(t *testing.T) {
	for i, turns := range [][]modeltest.Turn{{{Text: `{"name":"Ada","age":36}`, Err: &model.Error{Kind: model.Auth}}},
		{modeltest.Say("no"), modeltest.Fail(model.Auth)}} {
		m := modeltest.Script(t, turns...)
		got, resp, err := model.Structured(t.Context(), m, askPerson(), person, new(any))
		assert.That(t, model.KindOf(err) == model.Auth && got == nil && resp.Attempts == i+1,
			"got %s after %d attempts, %v", got, resp.Attempts, err)
	}
}

func TestUnusableSchemaIsInvalidAndNothingIsAsked(t *testing.T) {
	for _, schema := range []string{`{`, `{"type":5}`, `{"properties":{"a":{"pattern":"("}}}`,
		`{"$ref":"https://elsewhere.example/x.json"}`, `{"$ref":"file:///etc/x.json"}`} {
		m := modeltest.Script(t)
		_, _, err := model.Structured(t.Context(), m, askPerson(),
			model.Schema{Name: "odd", JSON: json.RawMessage(schema)}, new(any))
		assert.That(t, model.KindOf(err) == model.Invalid && strings.Contains(err.Error(), `"odd"`),
			"%s: got %v", schema, err)
	}
}

func TestSchemaGoesThroughChainAndRetry(t *testing.T) {
	first := modeltest.Script(t, modeltest.Fail(model.Server)).As("house:a", false)
	second := modeltest.Script(t, modeltest.Say(`{"name":"Ada","age":36}`)).As("house:b", false)
	m := model.Chain(model.ChainPolicy{}, model.Retry(first, model.RetryPolicy{Attempts: 1}),
		model.Retry(second, model.RetryPolicy{}))
	got, resp, err := model.Structured(t.Context(), m, askPerson(), person, new(any))
	assert.That(t, err == nil && string(got) == `{"name":"Ada","age":36}` && resp.Model == "house:b" &&
		len(resp.Tries) == 1, "got %s of %s after %v, %v", got, resp.Model, resp.Tries, err)
	for _, s := range []*modeltest.Scripted{first, second} {
		if req := s.Requests()[0]; req.Schema == nil || req.Schema.Name != "person" {
			t.Errorf("%s was asked with %v", s.ID(), req.Schema)
		}
	}
}
