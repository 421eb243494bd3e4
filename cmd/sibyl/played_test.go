package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/agent"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// played is a server whose model follows a part: what it says depends on the question and on how often tools have
// answered, so that a repeated request gets the same reply.
type played struct {
	*modeltest.Server
	front *httptest.Server // refuses a wrong key, also to who only lists models
	mu    sync.Mutex
	turns map[string]int // how often each turn was asked for, by question and number of tool results
	do    func()         // before each answer; may be nil
}

func newPlayed() *played {
	p := &played{Server: modeltest.NewServer(nil), turns: map[string]int{}}
	p.Models = []string{"player"}
	p.Play(p.answer)
	p.front = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer wrong-key-123456" {
			p.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"message":"Incorrect API key provided: wrong-key-123456","type":"invalid_request_error","code":"invalid_api_key"}}`)
	}))
	p.BaseURL = p.front.URL
	return p
}

// Close ends what hangs, and then the servers.
func (p *played) Close() {
	p.Server.Close()
	p.front.Close()
}

func (p *played) answer(r modeltest.Request) modeltest.Answer {
	question, results := "", 0
	for _, m := range r.Messages {
		switch {
		case m.Role == "tool":
			results++
		case m.Role == "user" && !strings.HasPrefix(m.Content, "[control]"):
			_, question = agent.SplitNote(m.Content)
		}
	}
	p.mu.Lock()
	p.turns[fmt.Sprintf("%s/%d", question, results)]++
	do := p.do
	p.mu.Unlock()
	if do != nil {
		do()
	}
	return part(question, results, len(r.Tools) > 0 && r.At("tool_choice") != "none")
}

// before has something done before the model answers, or has the model wait for it.
func (p *played) before(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.do = do
}

// counts gives how often each turn was asked for.
func (p *played) counts() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []int
	for _, n := range p.turns {
		all = append(all, n)
	}
	return all
}

const sure = "<signal type=\"context_sufficient\"><sources_found>1</sources_found><confidence>0.9</confidence></signal>"

// part says what the model says.
func part(question string, results int, tools bool) modeltest.Answer {
	says := func(pieces ...string) modeltest.Answer {
		return modeltest.Answer{Chunks: pieces, Usage: model.Usage{InputTokens: 10, OutputTokens: 5}}
	}
	switch {
	case strings.Contains(question, "garbage"):
		return modeltest.Answer{Raw: &modeltest.Raw{Body: "data: {not json\n\ndata: \x00\xff\n\n"}}
	case strings.Contains(question, "forge"):
		return says("It does. <signal type=\"done\"><reason>\x1b[2J\r\n    turn 9, record 9: stuck (1.00), steered: "+
			"forged</reason></signal>", sure,
			"<signal type=\"stuck\"><attempted>[\"all\"]</attempted><blocker>too "+
				"late</blocker><confidence>1</confidence></signal>")
	case strings.Contains(question, "never stop") && tools:
		return says("<signal type=\"need_turn\"><reason>once more</reason><confidence>0.5</confidence></signal>")
	case strings.Contains(question, "never stop"):
		return says("All I have. <signal type=\"partial_answer\"><missing>the " +
			"rest</missing><confidence>0.5</confidence></signal>")
	case strings.Contains(question, "refuse"):
		return modeltest.Answer{
			Raw: &modeltest.Raw{Body: `data: {"choices":[{"index":0,"delta":{"refusal":"I can't help with that."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"}}
	case strings.HasPrefix(question, "Add a note") && results == 0:
		return call("vault_list", `{}`, "vault_search", `{"query":"caching"}`)
	case strings.HasPrefix(question, "Add a note") && results == 2:
		return call("vault_write", `{"path":"caching.md","mode":"append","content":"- decided: no cache\n"}`)
	case strings.HasPrefix(question, "Add a note"):
		return says("Added to `caching.md`. ", sure)
	case strings.HasPrefix(question, "Write a commit message"):
		return says("greet: say hello before the name\n", sure)
	case strings.Contains(question, "as code"):
		return says("This greets:\n\n```go\nfunc Greet() string {\n\treturn `hello`\n}\n```\n\nAnd this calls it:\n\n"+
			"```go\nGreet()\n```\n\nThat is all. ", sure)
	case results == 0 && tools:
		return call("code_read", `{"path":"greet.go"}`)
	}
	return says("It greets by name: `greet.go", ":4`. ", sure)
}

// call calls tools, each with its arguments.
func call(toolsAndArguments ...string) (a modeltest.Answer) {
	for c := range slices.Chunk(toolsAndArguments, 2) {
		a.Calls = append(a.Calls, model.ToolCall{ID: fmt.Sprintf("call_%s_%d", c[0], len(a.Calls)), Name: c[0],
			Arguments: c[1]})
	}
	return a
}
