package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// labOf is a home whose settings name an endpoint with these models, of which every one answers in one way.
func labOf(t *testing.T, local bool, part func(modeltest.Request) modeltest.Answer, names ...string) (home string) {
	t.Helper()
	server := modeltest.NewServer(t)
	server.Models = names
	server.Play(part)
	home = t.TempDir()
	settings := "providers:\n  lab:\n    base_url: " + server.BaseURL + "/v1\n"
	if !local {
		settings += "    local: false\n"
	}
	write(t, filepath.Join(home, ".config", "sibyl", "config.yaml"), settings)
	return home
}

// parisian answers that it is Paris, whatever is asked; some models call the tool that is offered.
func parisian(calling ...string) func(modeltest.Request) modeltest.Answer {
	return func(r modeltest.Request) modeltest.Answer {
		for _, name := range calling {
			if r.Model == name && len(r.Tools) > 0 {
				var t struct {
					Function struct{ Name string }
				}
				_ = json.Unmarshal(r.Tools[0], &t)
				if len(r.Tools) == 10 {
					t.Function.Name = "get_weather"
				}
				last := r.Messages[len(r.Messages)-1]
				if last.Role != "tool" {
					return modeltest.Answer{Calls: []model.ToolCall{{ID: "1", Name: t.Function.Name,
						Arguments: `{"query":"boiler","city":"Lisbon","type":"stuck"}`}}}
				}
				return modeltest.Stream("In March, as heating.md says.")
			}
		}
		return modeltest.Stream("Paris")
	}
}

func TestTestOfAModelIsToldLineByLineAndItsContractIsShownEverywhere(t *testing.T) {
	home := labOf(t, true, parisian(), "m")
	code, out, errs := sibyl(t, home, Streams{}, nil, "models", "test", "lab:m")
	const about = "answers; does not call tools, so Sibyl looks up itself; does not cite; does not keep to formats; "
	assert.That(t, code == ExitAnswered && strings.HasPrefix(out, "lab:m "+about) && strings.Count(out, "\n") == 1,
		"exit %d: %s%s", code, out, errs)
	lines := regexp.MustCompile(`(?m)^ ?\d+/17  [A-Za-z].*\((\d+\.\d s|\d+ s)\)$`).FindAllString(errs, -1)
	assert.That(t, len(lines) == 17 && strings.HasPrefix(lines[0], " 1/17  an answer without tools          right (") &&
		strings.Contains(lines[1], "a call with one tool             wrong: calls no tool: says “Paris” (") &&
		!strings.Contains(errs, "\x1b") && !strings.Contains(errs, "…\n"), "%d lines: %s", len(lines), errs)
	_, out, _ = sibyl(t, home, Streams{}, nil, "models")
	assert.That(t, strings.Contains(out, "lab:m\n    it "+about), "models: %s", out)
	_, out, _ = sibyl(t, home, Streams{}, []string{"SIBYL_MODEL=lab:m"}, "doctor")
	assert.That(t, strings.Contains(out, "lab:m is the default; it "+about), "doctor: %s", out)
	_, out, _ = sibyl(t, home, Streams{}, nil, "models", "--json")
	var listed struct {
		Providers []struct {
			Models []struct {
				ID       string         `json:"id"`
				NoTools  bool           `json:"no_tools"`
				Contract model.Contract `json:"contract"`
			} `json:"models"`
		} `json:"providers"`
	}
	assert.NoError(t, json.Unmarshal([]byte(out), &listed))
	for _, p := range listed.Providers {
		for _, m := range p.Models {
			assert.That(t, m.ID != "lab:m" || m.NoTools && len(m.Contract.Findings) == 17, "%+v", m)
		}
	}
}

func TestTestOfAModelOnATerminalShowsWhatIsBeingTried(t *testing.T) {
	home := labOf(t, true, parisian(), "m")
	_, _, errs := sibyl(t, home, Streams{ErrTTY: true, OutTTY: true, Width: 80}, nil, "models", "test", "lab:m")
	assert.That(t, strings.Contains(errs, " 2/17  a call with one tool             …\r\x1b[K 2/17  a call"), "%q", errs)
}

func TestContractIsPrintedForPrograms(t *testing.T) {
	home := labOf(t, true, parisian(), "m")
	code, out, _ := sibyl(t, home, Streams{}, nil, "models", "test", "lab:m", "--json")
	var c model.Contract
	assert.NoError(t, json.Unmarshal([]byte(out), &c))
	assert.That(t, code == ExitAnswered && c.Model == "lab:m" && strings.HasSuffix(c.Endpoint, "/v1") &&
		c.Of(model.SkillAnswer).Result == model.Right, "exit %d: %s", code, out)
}

func TestTestOfAModelElsewhereSaysWhatItTakesAndWaitsForAYes(t *testing.T) {
	home := labOf(t, false, parisian(), "m")
	takes := regexp.MustCompile(`he test of lab:m takes about \d+ requests with \d+,000 tokens`)
	code, _, errs := sibyl(t, home, Streams{}, nil, "models", "test", "lab:m")
	assert.That(t, code == ExitUsage && takes.MatchString(errs) && strings.Contains(errs, "confirm with --yes"),
		"exit %d: %s", code, errs)
	code, _, errs = sibyl(t, home, Streams{In: strings.NewReader("n\n"), InTTY: true, ErrTTY: true}, nil, "models",
		"test", "lab:m")
	assert.That(t, code == ExitFailed && takes.MatchString(errs) && strings.Contains(errs, "nothing was tested"),
		"exit %d: %s", code, errs)
	code, out, errs := sibyl(t, home, Streams{}, nil, "models", "test", "lab:m", "--yes")
	assert.That(t, code == ExitAnswered && takes.MatchString(errs) && strings.HasPrefix(out, "lab:m answers"),
		"exit %d: %s%s", code, out, errs)
}

func TestTestThatIsStoppedPrintsAndKeepsWhatItFound(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	home := labOf(t, true, func(modeltest.Request) modeltest.Answer {
		if n++; n == 3 {
			stop()
		}
		return modeltest.Stream("Paris")
	}, "m")
	var out, errs bytes.Buffer
	code := Main(ctx, Program{Build: "test"}, []string{"models", "test", "lab:m"}, []string{"HOME=" + home,
		"SIBYL_DATA=" + filepath.Join(home, "sessions"), "SIBYL_KEYS=file", "OLLAMA_HOST=127.0.0.1:1"},
		Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	const about = "answers; does not call tools, so Sibyl looks up itself (the test was not finished)"
	assert.That(t, code == ExitStopped && strings.HasPrefix(out.String(), "lab:m "+about), "exit %d: %s%s", code, &out, &errs)
	_, listed, _ := sibyl(t, home, Streams{}, nil, "models")
	assert.That(t, strings.Contains(listed, "it "+about), "models: %s", listed)
}

func TestModelThatDoesNotAnswerIsNotTested(t *testing.T) {
	home := labOf(t, true, func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Fail: model.Auth}
	}, "m")
	code, out, errs := sibyl(t, home, Streams{}, nil, "models", "test", "lab:m")
	assert.That(t, code == ExitFailed && out == "" && strings.Contains(errs, "lab:m could not be tested: "),
		"exit %d: %s%s", code, out, errs)
	for _, named := range []string{"offline:rules", "nobody:x"} {
		code, _, errs = sibyl(t, home, Streams{}, nil, "models", "test", named)
		assert.That(t, code == ExitUsage, "%s: exit %d: %s", named, code, errs)
	}
}

func TestInitProposesTheBestOfTheModelsThatWereTested(t *testing.T) {
	home := labOf(t, true, parisian("c"), "a", "b", "c")
	for _, name := range []string{"lab:b", "lab:c"} {
		code, _, errs := sibyl(t, home, Streams{}, nil, "models", "test", name)
		assert.That(t, code == ExitAnswered, "exit %d: %s", code, errs)
	}
	code, _, errs := sibyl(t, home, Streams{}, nil, "init", "--yes")
	assert.That(t, code == ExitAnswered && strings.Contains(settingsIn(t, home), "model: lab:c\n"), "exit %d: %s%s", code,
		errs, settingsIn(t, home))
}
