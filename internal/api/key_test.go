package api_test

import (
	"cmp"
	"context"
	"errors"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
)

// keyedRoute begins something: in a house, what a user asks for.
type keyedRoute struct {
	house func(t testing.TB) *house
	asks  func(h *house, token string) question
}

// posts asks for the same, whoever the user is.
func posts(path string, body any) func(*house, string) question {
	return func(*house, string) question { return question{method: "POST", path: path, body: body} }
}

// keyedRoutes are those that take an Idempotency-Key, but for undoing, which nobody can do twice.
func keyedRoutes() map[string]keyedRoute {
	inquiring := func(t testing.TB) *house { h, _ := withInquiry(t); return h }
	return map[string]keyedRoute{
		"a run":      {newHouse, posts("/api/runs", asking("Tea?"))},
		"a task":     {newHouse, posts("/api/tasks", map[string]any{"title": "Buy milk"})},
		"a question": {withOracle, posts("/api/ask", asked("Tea?"))},
		"a message":  {withTasks, posts("/api/chat", map[string]any{"message": "add Apples"})},
		"an inquiry": {inquiring, posts(inquiries, inquires("", "").body)},
		"answers of oracles": {withCouncil,
			ofSitting("/answers", map[string]any{"oracles": []string{"skeptic", "optimist"}})},
		"a name":          {withCouncil, ofSitting("/name", map[string]any{})},
		"a transcription": {withSilentRecorder, ofSitting("/transcription", map[string]any{"again": true})},
	}
}

// ofSitting asks for something in a session of the Council that the user begins.
func ofSitting(path string, body any) func(*house, string) question {
	return func(h *house, token string) question {
		s := h.sitting(token, offer)
		if h.transcribe != nil {
			recording := upload(s.ID, "", "audio/ogg", "OggS one")
			recording.token = token
			var added api.CouncilAdded
			h.get(recording, &added)
			if added.Transcription != nil {
				h.over(added.Transcription.Run)
			}
		}
		return question{method: "POST", path: councils + "/" + s.ID + path, body: body}
	}
}

// withSilentRecorder is a house in which recordings can never be written down, so that it can be tried over and over.
func withSilentRecorder(t testing.TB) *house {
	h := withCouncil(t)
	h.transcribe = func(context.Context, string) (string, error) { return "", errors.New("it is silent") }
	return h
}

func TestRequestThatIsSentAgainUnderItsKeyIsTheSame(t *testing.T) {
	for name, route := range keyedRoutes() {
		t.Run(name, func(t *testing.T) {
			h := route.house(t).open()
			adas, eves := route.asks(h, ""), route.asks(h, evesToken)
			send := func(q question, token, key string) (made string) {
				t.Helper()
				q.token, q.header = token, map[string]string{"Accept": "application/json", "Idempotency-Key": key}
				var begun struct{ Run string }
				a := h.get(q, &begun)
				if key != "k" {
					h.over(begun.Run)
				}
				return cmp.Or(a.header.Get("Location"), string(a.body))
			}
			first := send(adas, "", "k")
			same(t, "what is made while it goes on", send(adas, "", "k"), first)
			h.allOver()
			same(t, "what is made after its end", send(adas, "", "k"), first)
			made := map[string]string{first: "the first"}
			others := map[string]string{"another key": send(adas, "", "l"), "no key": send(adas, "", "")}
			others["another user's key"] = send(eves, evesToken, "k")
			for about, other := range others {
				assert.That(t, made[other] == "", "%s gives the same as %s", about, made[other])
				made[other] = about
			}
		})
	}
}

// allOver waits for the end of all runs of ada.
func (h *house) allOver() {
	h.Helper()
	var all api.Runs
	h.get(question{path: "/api/runs?open=true"}, &all)
	for _, r := range all.Runs {
		h.over(r.ID)
	}
}
