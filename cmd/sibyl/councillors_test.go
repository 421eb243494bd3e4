package main

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// councillors are a model that plays every oracle and chair: who it is, it knows by the request alone, so that a
// repeated request gets the same reply.
type councillors struct{ *modeltest.Server }

func newCouncillors() councillors {
	c := councillors{modeltest.NewServer(nil)}
	c.Models = []string{"council"}
	c.Play(opinion)
	return c
}

// requests are those that were for an answer.
func (c councillors) requests() (all []modeltest.Request) {
	for _, r := range c.Requests() {
		if len(r.Messages) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// first is the first message of a role.
func first(r modeltest.Request, role string) string {
	for _, m := range r.Messages {
		if m.Role == role {
			return m.Content
		}
	}
	return ""
}

// opinions are what the oracles of the stories answer.
var opinions = map[string]string{
	"Skeptic":    "The rent of 3000 euros is not proven. Opinion 2.",
	"Optimist":   "The new office brings light and people. Opinion 1.",
	"Pragmatist": "Ask the landlord for a shorter lease. Opinion 3.",
}

// opinion is what the model says to a request.
func opinion(r modeltest.Request) modeltest.Answer {
	says := func(pieces ...string) modeltest.Answer {
		return modeltest.Answer{Chunks: pieces, Usage: model.Usage{InputTokens: 100, OutputTokens: 20}}
	}
	told, asked := first(r, "system"), first(r, "user")
	switch {
	case strings.Contains(told, "You preside"):
		return says(presided)
	case strings.Contains(told, "Give what they said a name"):
		return says(`{"name":"Office in Lisbon"}`)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(asked, "# "), "\n")
	switch name {
	case "Broken":
		return modeltest.Answer{Fail: model.Invalid}
	case "Silent":
		return modeltest.Answer{Chunks: []string{"I think "}, Break: modeltest.Hang}
	}
	begun, rest, _ := strings.Cut(cmp.Or(opinions[name], "I am "+name+". Opinion 9."), " ")
	return says(begun+" ", rest)
}

// presided is what a chair makes of the opinions of Skeptic and Optimist.
const presided = `{"sentences":[
	{"text":"The rent of 3000 euros is not proven.","by":[{"oracle":"Skeptic","words":"3000 euros is not proven"}],"minority":false},
	{"text":"The office brings light and people.","by":[{"oracle":"Optimist","words":"brings light and people"}],"minority":true},
	{"text":"Both can be checked in a week.","by":[],"minority":false},
	{"text":"Bananas ripen faster beside apples.","by":[{"oracle":"Skeptic","words":"ripen faster beside apples"}],"minority":false}],
	"agree":[{"text":"Both speak of the office.","by":[{"oracle":"Skeptic","words":"The rent of"},{"oracle":"Optimist","words":"The new office"}]}],
	"differ":[{"text":"One doubts, the other hopes.","by":[{"oracle":"Skeptic","words":"is not proven"},{"oracle":"Optimist","words":"light and people"}]}],
	"overlooked":["Nobody speaks of the commute."]}`

type councillorsKey struct{}

// convene starts councillors and has the program use them: convene [gone].
func convene(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: convene")
	}
	c := newCouncillors()
	ts.Defer(c.Close)
	ts.Value(councillorsKey{}).(*sittings).last = c
	ts.Setenv("OPENAI_BASE_URL", c.BaseURL+"/v1")
	ts.Setenv("OPENAI_MODEL", "council")
}

// sittings are the councillors of one story.
type sittings struct{ last councillors }

// told writes what a model was sent: told FILE [PATTERN]. With a pattern it is the last request that has it somewhere,
// else all.
func told(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: told FILE [PATTERN]")
	}
	var text strings.Builder
	for _, r := range ts.Value(councillorsKey{}).(*sittings).last.requests() {
		var one strings.Builder
		for _, m := range r.Messages {
			fmt.Fprintln(&one, strings.TrimRight(m.Content, "\n"))
		}
		if len(args) == 2 {
			if !regexp.MustCompile(args[1]).MatchString(one.String()) {
				continue
			}
			text.Reset()
		}
		text.WriteString(one.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text.String()), 0o600))
}

// hush presses Ctrl-C on what runs in the background once a councillor lets it wait.
func hush(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: hush")
	}
	t := troupeOf(ts)
	select {
	case <-ts.Value(councillorsKey{}).(*sittings).last.Hanging():
	case <-time.After(time.Minute):
		ts.Fatalf("nobody waits for a councillor")
	}
	t.stopped = slices.Clone(ts.BackgroundCmds())
	for _, cmd := range t.stopped {
		ts.Check(cmd.Process.Signal(os.Interrupt))
	}
}
