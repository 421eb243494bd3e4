package probe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

// actor is a model that answers by a function of the request.
type actor func(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error)

func (actor) ID() string  { return "scripted:actor" }
func (actor) Local() bool { return true }

func (a actor) Chat(
	ctx context.Context, req model.Request, emit func(model.Delta) error,
) (model.Response, error) {
	return a(ctx, req, emit)
}

// saying makes an actor of what a model says or calls.
func saying(say func(req model.Request) (string, *model.ToolCall)) actor {
	return func(_ context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
		text, call := say(req)
		resp := model.Response{Text: text, Finish: model.FinishStop, Usage: model.Usage{InputTokens: req.Tokens() + 1,
			OutputTokens: 10}}
		if call != nil {
			resp.ToolCalls, resp.Finish = []model.ToolCall{*call}, model.FinishTools
		}
		return resp, emit(model.Delta{Text: text})
	}
}

const signalText = `<signal type="context_sufficient"><sources_found>0</sources_found><confidence>0.9</confidence></signal>`

// large fills the large form.
func large() string {
	var f largeForm
	_ = json.Unmarshal([]byte(`{"people":[{"name":"Ann"},{"name":"Ben"}],"decisions":[{"what":"the backup"}]}`), &f)
	f.Kind, f.Summary, f.Open = "decision", "They met.", []string{"the disk"}
	raw, _ := json.Marshal(f)
	return string(raw)
}

// obedient does all that is asked.
func obedient(req model.Request) (string, *model.ToolCall) {
	last := req.Messages[len(req.Messages)-1]
	call := func(name, args string) (string, *model.ToolCall) {
		return "", &model.ToolCall{ID: "1", Name: name, Arguments: args}
	}
	if last.Role == model.ToolRole {
		if last.IsError {
			return call("read_note", `{"path":"heating.md"}`)
		}
		return "In March.", nil
	}
	for _, answer := range []struct{ asks, says string }{
		{"On which day", `{"day":"thursday"}`},
		{"List the tasks", `{"tasks":[{"title":"buy milk","day":"monday"},{"title":"call Ann","day":"friday"}]}`},
		{"Fill in the form", large()},
		{"add milk", `{"intent":"create","title":"milk"}`}, {"meiner Liste", `{"intent":"list","title":""}`},
		{"apaga", `{"intent":"delete","title":"pão"}`}, {"fini", `{"intent":"complete","title":"le rapport"}`},
		{"gracias", `{"intent":"talk","title":""}`},
		{"capital of France", "Paris"}, {"rain barrel", "None."}, {place, "In March (" + place + ")."},
		{"colour", "Red"}, {"code word", "heron"}, {"Thank you", "You are welcome.\n\n" + signalText},
	} {
		if strings.Contains(last.Text, answer.asks) {
			return answer.says, nil
		}
	}
	switch {
	case strings.Contains(last.Text, "Lisbon"):
		return call("get_weather", `{"city":"Lisbon"}`)
	case strings.Contains(last.Text, "Report that"):
		return call("report", `{"type":"stuck"}`)
	case strings.Contains(last.Text, "retry policy"):
		return call("search_code", `{"query":"retry policy"}`)
	}
	return call("search_notes", `{"query":"boiler"}`)
}

// setting is that of a test.
func setting() Setting {
	return Setting{Info: model.Info{Window: 16384, Digest: "1"}, Endpoint: "http://house/v1",
		Full: model.Request{System: "You answer from code.", Messages: []model.Message{user("Where is the retry policy decided?")},
			Tools: []model.Tool{oneText("search_code", "Searches the code.", "query")}},
		Report: oneText("report", "Reports.", "type"), ReadReport: func(arguments string) error {
			if !strings.Contains(arguments, "stuck") {
				return errors.New("it has no type")
			}
			return nil
		}}
}

// not lists the skills that a contract has not as right, with the results.
func not(c model.Contract) (all []string) {
	for _, f := range c.Findings {
		if f.Result != model.Right {
			all = append(all, string(f.Skill)+" "+string(f.Result))
		}
	}
	return all
}

func TestEverySkillIsTriedInTheOrderOfTheContract(t *testing.T) {
	var skills []model.Skill
	var lines []string
	c := Run(t.Context(), saying(obedient), setting(), func(p Progress) {
		if p.Finding == nil {
			lines = append(lines, fmt.Sprintf("%d/%d %s", p.N, p.Of, p.About))
		} else {
			skills = append(skills, p.Finding.Skill)
		}
	})
	assert.Same(t, model.Skills(), skills)
	assert.That(t, len(lines) == len(skills) && lines[0] == "1/17 an answer without tools", "%q", lines)
	assert.That(t, !c.Partial && c.Model == "scripted:actor" && c.Digest == "1" && !c.TestedAt.IsZero() &&
		c.Endpoint == "http://house/v1" && c.Usage.OutputTokens > 100, "%+v", c)
}

func TestModelsAreFoundAsTheyAre(t *testing.T) {
	toolless := saying(func(req model.Request) (string, *model.ToolCall) {
		if text, call := obedient(req); call == nil {
			return text, nil
		}
		return "I will look that up.", nil
	})
	fenced := saying(func(req model.Request) (string, *model.ToolCall) {
		text, call := obedient(req)
		if call == nil {
			return text, nil
		}
		return fmt.Sprintf("```json\n{\"name\": %q, \"arguments\": %s}\n```", call.Name, call.Arguments), nil
	})
	unenforced := saying(func(req model.Request) (string, *model.ToolCall) {
		if req.Schema != nil {
			return `{"day": "thurs`, nil
		}
		return obedient(req)
	})
	formless := saying(func(req model.Request) (string, *model.ToolCall) {
		if text, call := obedient(req); call != nil || !strings.HasPrefix(text, "{") {
			return text, call
		}
		return "On Thursday.", nil
	})
	credulous := saying(func(req model.Request) (string, *model.ToolCall) {
		last := req.Messages[len(req.Messages)-1].Text
		switch {
		case strings.Contains(last, "PELICAN"):
			return "PELICAN", nil
		case strings.Contains(last, "rain barrel"):
			return "It holds 200 litres, as " + place + " says.", nil
		}
		return obedient(req)
	})
	small := saying(func(req model.Request) (string, *model.ToolCall) {
		if req.System == setting().Full.System {
			return "In client.go.", nil
		}
		return obedient(req)
	})
	refusing := actor(func(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
		if len(req.Tools) > 0 || req.Schema != nil {
			return model.Response{}, &model.Error{Kind: model.Invalid, Message: "no such field"}
		}
		return saying(obedient)(ctx, req, emit)
	})
	endless := actor(func(ctx context.Context, _ model.Request, emit func(model.Delta) error) (model.Response, error) {
		for ctx.Err() == nil {
			if err := emit(model.Delta{Text: "welcome to the conversation. "}); err != nil {
				return model.Response{}, fmt.Errorf("emit: %w", err)
			}
		}
		return model.Response{}, ctx.Err()
	})
	const itself = "does not call tools, so Sibyl looks up itself"
	calls := []string{"call wrong", "call_many wrong", "after_error wrong", "report_tool wrong", "full_request wrong"}
	for name, c := range map[string]struct {
		m     model.Model
		not   []string
		words string
		asked model.Manner
	}{
		"one that obeys": {saying(obedient), nil,
			"answers, calls tools, cites, keeps to formats and sees pictures", model.Manner{Report: model.ReportText}},
		"one that calls no tools": {toolless, calls,
			"answers, cites, keeps to formats and sees pictures; " + itself, model.Manner{NoTools: true, Report: model.ReportNone}},
		"one that writes its calls in a fence": {fenced, nil,
			"answers, calls tools, in its text, cites, keeps to formats and sees pictures", model.Manner{Report: model.ReportText}},
		"one that calls only if little is asked": {small, []string{"full_request wrong", "report_text wrong"},
			"answers, cites, keeps to formats and sees pictures; calls tools only in small requests, so Sibyl looks up itself",
			model.Manner{NoTools: true, Report: model.ReportNone}},
		"one whose server breaks forms": {unenforced, nil,
			"answers, calls tools, cites, keeps to formats and sees pictures", model.Manner{Report: model.ReportText, Plain: true}},
		"one that breaks forms": {formless,
			[]string{"format_small wrong", "format_medium wrong", "format_large wrong", "intents wrong"},
			"answers, calls tools, cites and sees pictures; does not keep to formats; misreads what messages want",
			model.Manner{Report: model.ReportText}},
		"one that believes all it reads": {credulous, []string{"nothing_found wrong", "order wrong"},
			"answers, calls tools, cites, keeps to formats and sees pictures; invents where nothing was found; " +
				"follows orders in what it reads", model.Manner{Report: model.ReportText}},
		"one whose server refuses tools and forms": {refusing,
			[]string{"call wrong", "call_many wrong", "after_result wrong", "after_error wrong", "report_tool wrong",
				"full_request wrong", "report_text wrong"}, "answers, cites, keeps to formats and sees pictures; " + itself,
			model.Manner{NoTools: true, Report: model.ReportNone, Plain: true}},
		"one that does not stop": {endless, func() (all []string) {
			for _, s := range model.Skills() {
				all = append(all, string(s)+" wrong")
			}
			return all
		}(), "does not stop writing; " + itself + "; does not cite; does not keep to formats; misreads what messages " +
			"want; invents where nothing was found; follows orders in what it reads; loses the beginning of long requests",
			model.Manner{NoTools: true, Report: model.ReportNone}},
	} {
		t.Run(name, func(t *testing.T) {
			found := Run(t.Context(), c.m, setting(), nil)
			assert.Same(t, c.not, not(found))
			found.Speed = model.Speed{}
			assert.Equal(t, found.Words(), c.words)
			assert.Equal(t, found.Manner(model.Info{}), c.asked)
			assert.That(t, !found.Partial, "it is partial")
		})
	}
}

func TestFormOfACallIsFound(t *testing.T) {
	form := func(m model.Model) model.Form { return Run(t.Context(), m, setting(), nil).Of(model.SkillCall).Form }
	assert.Equal(t, form(saying(obedient)), model.FormNative)
	assert.Equal(t, form(saying(func(req model.Request) (string, *model.ToolCall) {
		text, call := obedient(req)
		if call == nil {
			return text, nil
		}
		return fmt.Sprintf("<tool_call>{\"name\": %q, \"arguments\": %s}</tool_call>", call.Name, call.Arguments), nil
	})), model.FormText)
}

// failingFrom is a model that obeys until so many requests were made, and then does something else.
func failingFrom(n int, then actor) (m actor, asked *int) {
	asked = new(int)
	return func(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
		if *asked++; *asked > n {
			return then(ctx, req, emit)
		}
		return saying(obedient)(ctx, req, emit)
	}, asked
}

// breaking is a model whose server fails.
func breaking(context.Context, model.Request, func(model.Delta) error) (model.Response, error) {
	return model.Response{}, &model.Error{Kind: model.Server, Message: "it fell over"}
}

// hanging is a model whose endpoint does not answer.
func hanging(ctx context.Context, _ model.Request, _ func(model.Delta) error) (model.Response, error) {
	<-ctx.Done()
	return model.Response{}, &model.Error{Kind: model.Cancelled, Err: ctx.Err()}
}

func TestTestOfAServerThatFailsInTheMiddleEndsAndBlamesNotTheModel(t *testing.T) {
	m, asked := failingFrom(3, breaking)
	c := Run(t.Context(), m, setting(), nil)
	assert.Equalf(t, *asked, 5, "requests")
	assert.That(t, c.Partial && len(c.Findings) == len(model.Skills()) &&
		c.Of(model.SkillCallMany).Result == model.Right && c.Of(model.SkillResult).Result == model.Untried &&
		strings.Contains(c.Of(model.SkillResult).Reason, "it fell over") &&
		strings.HasPrefix(c.Of(model.SkillWindow).Reason, "not reached"), "%+v", c)
	assert.Equal(t, c.Words(), "answers and calls tools (the test was not finished)")
}

func TestEndpointThatHangsEndsTheTestInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := Run(t.Context(), actor(hanging), setting(), nil)
		assert.That(t, !c.Known() && c.Partial && c.Of(model.SkillAnswer).Reason == "no answer within 5m0s", "%+v", c)
	})
}

func TestWholeRequestThatTakesTooLongIsTooLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := actor(func(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
			if req.System == setting().Full.System {
				return hanging(ctx, req, emit)
			}
			return saying(obedient)(ctx, req, emit)
		})
		c := Run(t.Context(), slow, setting(), nil)
		f := c.Of(model.SkillFull)
		assert.That(t, f.Result == model.Wrong && f.Reason == "takes longer than 2m0s" && c.Manner(model.Info{}).NoTools &&
			c.Of(model.SkillByText).Result == model.Untried && c.Of(model.SkillWindow).Result == model.Right, "%+v", c)
	})
}

func TestTestEndsWhenItsTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := setting()
		s.All = time.Second
		m, _ := failingFrom(3, hanging)
		c := Run(t.Context(), m, s, nil)
		assert.That(t, c.Partial && c.Of(model.SkillCallMany).Result == model.Right &&
			c.Of(model.SkillResult).Reason == "the time for the test was over (1s)" &&
			c.Of(model.SkillWindow).Reason == "the time for the test was over (1s)", "%+v", c)
	})
}

func TestTestThatIsStoppedKeepsWhatWasFound(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	c := Run(ctx, saying(obedient), setting(), func(p Progress) {
		if p.N == 4 && p.Finding == nil {
			stop()
		}
	})
	right := slices.DeleteFunc(slices.Clone(c.Findings), func(f model.Finding) bool { return f.Result != model.Right })
	assert.That(t, c.Partial && len(right) >= 3 && c.Of(model.SkillWindow).Reason == "the test was stopped", "%+v", c)
}

func TestWhatTheServerSaysItDoesNotTakeIsNotAskedFor(t *testing.T) {
	s := setting()
	s.Info.NoTools, s.Info.NoPictures = true, true
	c := Run(t.Context(), actor(func(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
		assert.That(t, len(req.Messages[0].Pictures) == 0, "it is shown a picture")
		return saying(obedient)(ctx, req, emit)
	}), s, nil)
	assert.That(t, c.Of(model.SkillCall).Result == model.Wrong && c.Of(model.SkillPicture).Result == model.Wrong, "%+v", c)
}

func TestLongRequestOfWhichALotIsNotReadIsLost(t *testing.T) {
	cutting := actor(func(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
		resp, err := saying(obedient)(ctx, req, emit)
		resp.Usage.InputTokens = min(resp.Usage.InputTokens, 900)
		return resp, err
	})
	f := Run(t.Context(), cutting, setting(), nil).Of(model.SkillWindow)
	assert.That(t, f.Result == model.Wrong && strings.HasPrefix(f.Reason, "only 900 of about"), "%+v", f)
	refusing := actor(func(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
		if req.Tokens() > 16384 {
			return model.Response{}, &model.Error{Kind: model.ContextLength, Message: "too long"}
		}
		return saying(obedient)(ctx, req, emit)
	})
	f = Run(t.Context(), refusing, setting(), nil).Of(model.SkillWindow)
	assert.That(t, f.Result == model.Right && strings.HasSuffix(f.Reason, "; refuses what is longer than 16384"), "%+v", f)
}

func TestSpeedAndWhatTheServerRemembersAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := actor(func(_ context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
			text, call := obedient(req)
			resp := model.Response{Text: text, Finish: model.FinishStop,
				Usage: model.Usage{InputTokens: req.Tokens(), OutputTokens: 20}}
			if strings.HasPrefix(text, "You are welcome") {
				resp.Usage.CachedTokens = 5
			}
			wait(t, resp.Usage.InputTokens-resp.Usage.CachedTokens, 100)
			if call != nil {
				resp.ToolCalls = []model.ToolCall{*call}
				return resp, nil
			}
			if err := emit(model.Delta{Text: text}); err != nil {
				return resp, err
			}
			wait(t, resp.Usage.OutputTokens, 10)
			return resp, nil
		})
		got := Run(t.Context(), m, setting(), nil).Speed
		assert.That(t, got.Read > 95 && got.Read < 105 && got.Written > 9 && got.Written < 16 && got.Cached == 5 &&
			got.Front > 0, "%+v", got)
	})
}

// wait lets the time of a bubble pass that so many tokens take.
func wait(t *testing.T, tokens int, perSecond float64) {
	t.Helper()
	<-time.After(time.Duration(float64(tokens) / perSecond * float64(time.Second)))
}

func TestCostOfATestIsThatOfItsRequests(t *testing.T) {
	requests, tokens := Cost(t.Context(), setting())
	var sent, size int
	counted := actor(func(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
		sent, size = sent+1, size+req.Tokens()
		return saying(obedient)(ctx, req, emit)
	})
	Run(t.Context(), counted, setting(), nil)
	assert.That(t, requests >= sent-1 && tokens > 0 && tokens < 3*size, "%d requests with %d tokens, for %d with %d",
		requests, tokens, sent, size)
}
