package stories

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// acts starts a model that says what a function has it say, and gives the settings that name it.
func acts(t testing.TB, answer func(modeltest.Request) modeltest.Answer) (settings string) {
	t.Helper()
	m := modeltest.NewServer(nil)
	m.Models = []string{"player"}
	m.Play(answer)
	t.Cleanup(m.Close)
	return fmt.Sprintf("model: played:player\nproviders:\n  played: {base_url: %q}\n", m.BaseURL+"/v1")
}

// said says whether words stand in what a model is sent.
func said(r modeltest.Request, words string) bool {
	for _, m := range r.Messages {
		if strings.Contains(m.Content, words) {
			return true
		}
	}
	return false
}

// aboutDana is a question for which notes and the web are offered.
const aboutDana = "What do my notes say about Dana Reyes, and what is the latest news about her on the internet?"

// visitor is a model that reads a note and then wants to open a page that nobody named.
func visitor(r modeltest.Request) modeltest.Answer {
	call := func(name, arguments string) modeltest.Answer {
		return modeltest.Answer{Calls: []model.ToolCall{{ID: "call_" + name, Name: name, Arguments: arguments}}}
	}
	results := 0
	for _, m := range r.Messages {
		if m.Role == "tool" {
			results++
		}
	}
	switch {
	case said(r, "The person has said yes"):
		return modeltest.Stream("I asked the page, and it did not answer. " + sure)
	case results == 0:
		return call("vault_read", `{"path":"house.md"}`)
	case results == 1:
		return call("web_fetch", `{"url":"https://plumbers.example/reyes"}`)
	}
	return modeltest.Stream("Dana Reyes mended it; I would look her page up. " + sure)
}

func TestCallThatWaitsIsAllowedOnACardOrNot(t *testing.T) {
	p := openWith(t, acts(t, visitor)).visit(1000)
	ask := func() {
		p.chooses("select[name=web]", "on")
		p.says(aboutDana)
		p.sees("latest news about her on the internet?") // the whole question
		p.sees("May I?")
		p.sees("Open the page https://plumbers.example/reyes")
		p.sees("nobody but the model named this address")
	}
	ask()
	if text := evaluate[string](p, "document.body.innerText"); strings.Contains(text, "sibyl ask") ||
		strings.Contains(text, "needs_user") {
		t.Errorf("the page speaks of the command line: %s", text)
	}
	p.press("Don’t")
	p.sees("Not done.")
	p.reload()
	p.sees("Not done.")
	p.press("New conversation")
	p.sees("What would you like to know?")
	ask()
	p.press("Allow once")
	p.sees("I asked the page, and it did not answer.")
	p.sees("is no longer open")
}

func TestModelThatFailsIsAskedAgainInPlace(t *testing.T) {
	var mended atomic.Bool
	p := openWith(t, acts(t, func(modeltest.Request) modeltest.Answer {
		if mended.Load() {
			return modeltest.Stream("A lease is taken by Acquire. " + sure)
		}
		return modeltest.Answer{Fail: model.RateLimit, RetryAfter: 10 * time.Minute}
	})).visit(1000)
	p.says("How is a lease acquired?")
	p.sees("takes no more requests for now")
	p.until("nothing that beats",
		`!document.querySelector("main [aria-busy=true] .beat, main .answer > p > span[aria-hidden]")`)
	mended.Store(true)
	p.press("Try again")
	p.sees("A lease is taken by Acquire.")
	p.until("that what was wrong is told no more", `!document.body.innerText.includes("takes no more requests")`)
}
