package stories

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// sure ends an answer that says it is enough.
const sure = "<sig" + `nal type="context_sufficient"><sources_found>1</sources_found><confidence>0.9</confidence></sig` + "nal>"

// player is a model of an OpenAI-compatible server. What it says comes in two parts; the second waits until the story
// lets it.
type player struct {
	*httptest.Server
	first, second string
	proceed       chan struct{} // has a value, or is closed, when the second part may come
	asked         chan struct{} // has a value for each request whose first part was sent
}

// plays starts a model, and gives it with the settings that name it.
func plays(t testing.TB, first, second string) (*player, string) {
	t.Helper()
	m := &player{first: first, second: second, proceed: make(chan struct{}), asked: make(chan struct{}, 100)}
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m, fmt.Sprintf("model: played:player\nproviders:\n  played: {base_url: %q}\n", m.URL+"/v1")
}

// ServeHTTP implements http.Handler.
func (m *player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		_, _ = fmt.Fprint(w, `{"object":"list","data":[{"id":"player","object":"model"}]}`)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	m.say(w, m.first)
	m.asked <- struct{}{}
	select {
	case <-m.proceed:
	case <-r.Context().Done():
		return
	}
	m.say(w, m.second)
	_, _ = fmt.Fprint(w, `data: {"id":"1","object":"chat.completion.chunk","model":"player","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],`+
		`"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120}}`+"\n\ndata: [DONE]\n\n")
}

func (m *player) say(w http.ResponseWriter, text string) {
	part, err := json.Marshal(text)
	if err != nil {
		panic(err) // no text fails
	}
	_, _ = fmt.Fprintf(w, "data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"model\":\"player\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":%s}}]}\n\n", part)
	w.(http.Flusher).Flush()
}
