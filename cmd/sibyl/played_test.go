package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// played is an OpenAI-compatible server whose model follows a part: what it says depends on the question and on how often
// tools have answered, so that a repeated request gets the same reply.
type played struct {
	*httptest.Server
	mu    sync.Mutex
	turns map[string]int // how often each turn was asked for, by question and number of tool results
}

func newPlayed() *played {
	p := &played{turns: map[string]int{}}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	return p
}

type playedRequest struct {
	Messages []struct {
		Role, Content string
	}
	Tools []struct {
		Function struct{ Name string }
	}
	ToolChoice string `json:"tool_choice"`
}

func (p *played) serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Authorization") == "Bearer wrong-key-123456":
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"message":"Incorrect API key provided: wrong-key-123456","type":"invalid_request_error","code":"invalid_api_key"}}`)
		return
	case strings.HasSuffix(r.URL.Path, "/models"):
		fmt.Fprint(w, `{"object":"list","data":[{"id":"player","object":"model"}]}`)
		return
	}
	var req playedRequest
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	question, results := "", 0
	for _, m := range req.Messages {
		switch {
		case m.Role == "tool":
			results++
		case m.Role == "user" && !strings.HasPrefix(m.Content, "[control]"):
			question = m.Content
		}
	}
	p.mu.Lock()
	p.turns[fmt.Sprintf("%s/%d", question, results)]++
	p.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	part(w, question, results, len(req.Tools) > 0 && req.ToolChoice != "none")
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
func part(w http.ResponseWriter, question string, results int, tools bool) {
	switch {
	case strings.Contains(question, "garbage"):
		fmt.Fprint(w, "data: {not json\n\ndata: \x00\xff\n\n")
	case strings.Contains(question, "forge"):
		say(w, "It does. <signal type=\"done\"><reason>\x1b[2J\r\n    turn 9, record 9: stuck (1.00), steered: forged</reason></signal>", sure,
			"<signal type=\"stuck\"><attempted>[\"all\"]</attempted><blocker>too late</blocker><confidence>1</confidence></signal>")
	case strings.Contains(question, "never stop") && tools:
		say(w, "<signal type=\"need_turn\"><reason>once more</reason><confidence>0.5</confidence></signal>")
	case strings.Contains(question, "never stop"):
		say(w, "All I have. <signal type=\"partial_answer\"><missing>the rest</missing><confidence>0.5</confidence></signal>")
	case strings.Contains(question, "refuse"):
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"refusal":"I can't help with that."},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	case strings.HasPrefix(question, "Add a note") && results == 0:
		call(w, [2]string{"vault_list", `{}`}, [2]string{"vault_search", `{"query":"caching"}`})
	case strings.HasPrefix(question, "Add a note") && results == 2:
		call(w, [2]string{"vault_write", `{"path":"caching.md","mode":"append","content":"- decided: no cache\n"}`})
	case strings.HasPrefix(question, "Add a note"):
		say(w, "Added to `caching.md`. ", sure)
	case results == 0 && tools:
		call(w, [2]string{"code_read", `{"path":"greet.go"}`})
	default:
		say(w, "It greets by name: `greet.go", ":4`. ", sure)
	}
}

func chunk(w http.ResponseWriter, delta any, finish string) {
	choice := map[string]any{"index": 0, "delta": delta}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	data, err := json.Marshal(map[string]any{"model": "player", "choices": []any{choice}})
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "data: %s\n\n", data)
	w.(http.Flusher).Flush()
}

func say(w http.ResponseWriter, pieces ...string) {
	for _, p := range pieces {
		chunk(w, map[string]any{"content": p}, "")
	}
	chunk(w, map[string]any{}, "stop")
	fmt.Fprint(w, `data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5}}`+"\n\ndata: [DONE]\n\n")
}

func call(w http.ResponseWriter, calls ...[2]string) {
	for i, c := range calls {
		chunk(w, map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": fmt.Sprintf("call_%s_%d", c[0], i), "type": "function",
			"function": map[string]any{"name": c[0], "arguments": c[1]}}}}, "")
	}
	chunk(w, map[string]any{}, "tool_calls")
	fmt.Fprint(w, "data: [DONE]\n\n")
}
