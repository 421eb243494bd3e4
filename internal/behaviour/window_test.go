package behaviour_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
	"sibyl/internal/council"
	"sibyl/internal/inquiry"
	"sibyl/internal/journal"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/schema"
	"sibyl/internal/service"
	"sibyl/internal/taskchat"
)

// window is a provider that refuses, once for each part, a request with the history that makes it long.
type window struct {
	t       *testing.T
	refusal modeltest.Raw

	mu   sync.Mutex
	long map[string]string   // what a request of the part holds that is refused
	sent map[string][]string // the bodies that were refused, and those after them, by their part
	asks int
}

// The parts of the assistants, by what their requests hold.
func partOf(body string) string {
	for _, p := range [][2]string{
		{"overlooked", "chair"}, {"says to their to-do list", "tasks"}, {"Do this now: put the next question", "question"},
		{"Do this now: analyse the answers", "analysis"}, {"Do this now: sum up", "summary"},
		{"You are a witness who", "witness"}, {"first office", "adviser"}, {"The conversation has become long", "notes"},
	} {
		if strings.Contains(body, p[0]) {
			return p[1]
		}
	}
	return "oracle"
}

func (w *window) play(r modeltest.Request) modeltest.Answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	part := partOf(r.Body)
	before := len(w.sent[part])
	if mark := w.long[part]; before > 0 || mark != "" && strings.Contains(r.Body, mark) {
		w.sent[part] = append(w.sent[part], r.Body)
		if before == 0 {
			return modeltest.Answer{Raw: &w.refusal}
		}
	}
	form := func(v any) modeltest.Answer {
		raw, err := json.Marshal(v)
		assert.NoError(w.t, err)
		return modeltest.Stream(string(raw))
	}
	type list = []any
	switch part {
	case "chair":
		return form(map[string]any{"sentences": list{map[string]any{"text": "Move in spring.", "by": list{},
			"minority": false}}, "agree": list{}, "differ": list{}, "overlooked": list{}})
	case "tasks":
		return form(map[string]any{"intent": "list", "task": "", "new": "", "more": false, "language": "en", "reply": ""})
	case "question":
		w.asks++
		return form(map[string]any{"question": []string{"Who built the bridge?", "When was the tunnel opened?",
			"How much did the pump cost?", "Where is the archive kept?", "Why did the foreman resign?"}[(w.asks-1)%5],
			"strategy": "depth", "aspect": "what", "gaps": list{}})
	case "analysis":
		return form(map[string]any{"evidence": list{map[string]any{"pair": 1, "words": "the piers are of stone",
			"says": "for"}}, "gaps": list{}, "completenessScore": 20 * w.asks,
			"requiresFollowUp": w.asks < 4, "contradictions": list{}, "retracted": list{}})
	}
	return modeltest.Stream("ANSWERED in the " + part + "'s words: " + strings.Repeat("the piers are of stone, ", 20))
}

// mustCut says that each part was refused once, and then had less.
func (w *window) mustCut(person map[string]string) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for part, words := range person {
		sent := w.sent[part]
		switch {
		case len(sent) < 2:
			w.t.Errorf("the %s got %d requests; want one that is refused, and another", part, len(sent))
		case len(sent[1]) >= len(sent[0]) || !strings.Contains(sent[1], words):
			w.t.Errorf("the %s was sent %d bytes, then %d, in which %q is to stand:\n%.2000s", part, len(sent[0]), len(sent[1]),
				words, sent[1])
		}
	}
}

func (w *window) done(a *app.App, r service.Request) *service.Run {
	w.t.Helper()
	started := assert.Must(a.Service.Start(w.t.Context(), app.Owner, r))(w.t)
	res := assert.Must(started.Wait(w.t.Context()))(w.t)
	if res.Status != journal.Done || res.Failure != nil {
		w.t.Errorf("%s ended %s: %+v %v", r.Assistant, res.Status, res.Failure, res.Warnings)
	}
	return started
}

func TestFullWindowIsCutOnceByEveryAssistantInTheWordsOfEachProvider(t *testing.T) {
	refuse := func(status int, body string) modeltest.Raw {
		return modeltest.Raw{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
	}
	for name, c := range map[string]struct {
		provider string
		refusal  modeltest.Raw
	}{
		"OpenAI": {"openai", refuse(400, `{"error":{"message":"This model's maximum context length is 8192 tokens. However, `+
			`your messages resulted in 9120 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`)},
		"llama.cpp": {"openai", refuse(400, `{"error":{"code":400,"message":"the request exceeds the available context size, `+
			`try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9120,"n_ctx":8192}}`)},
		"vLLM": {"openai", refuse(400, `{"object":"error","message":"This model's maximum context length is 8192 tokens. `+
			`However, you requested 9632 tokens (9120 in the messages, 512 in the completion).","type":"BadRequestError","code":400}`)},
		"Anthropic": {"anthropic", refuse(400, `{"type":"error","error":{"type":"invalid_request_error",`+
			`"message":"prompt is too long: 213462 tokens > 200000 maximum"}}`)},
		"Gemini": {"gemini", refuse(400, `{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum `+
			`number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}`)},
		"a bare 413":                  {"openai", modeltest.Raw{Status: 413}},
		"a gateway's page with a 413": {"anthropic", modeltest.Raw{Status: 413, Body: "<html><h1>413 Request Entity Too Large</h1></html>"}},
		"a validator, by a 422": {"openai", refuse(422, `{"detail":[{"loc":["body","messages"],"msg":"`+
			"`inputs` must have less than 8192 tokens. Given: 9120, which exceeds the limit"+`","type":"value_error"}]}`)},
	} {
		t.Run(name, func(t *testing.T) {
			w := &window{t: t, refusal: c.refusal, sent: map[string][]string{}, long: map[string]string{}}
			server := modeltest.NewServer(t)
			server.Play(w.play)
			var environ []string
			for _, vendor := range []string{"OPENAI", "ANTHROPIC", "GEMINI"} {
				environ = append(environ, vendor+"_BASE_URL="+server.BaseURL, vendor+"_API_KEY=key-0123456789")
			}
			cfg := assert.Must(config.Load(config.Options{Home: t.TempDir(), Environ: append(environ,
				"SIBYL_DATA="+filepath.Join(t.TempDir(), "data"))}))(t)
			a := assert.Must(app.Open(t.Context(), cfg, app.Options{Build: "test"}))(t)
			t.Cleanup(func() { assert.Nil(t, a.Close()) })
			model := c.provider + ":m"

			w.long["oracle"] = "ANSWERED"
			earlier := w.done(a, service.Request{Assistant: oracle.Name, Words: "Write a haiku about piers.",
				Options: oracle.Options{Model: model}})
			w.done(a, service.Request{Assistant: oracle.Name, Session: earlier.Session, Words: "Write another haiku, about rain.",
				Options: oracle.Options{Model: model}})

			folder := assert.Must(a.Council.Sessions(app.Owner))(t)
			kept := assert.Must(folder.New(t.Context(), "", "en"))(t)
			for n := range 8 {
				assert.Must(folder.AddText(t.Context(), kept.ID, fmt.Sprintf("Thought %d: the first office has twelve desks, and %s",
					n+1, strings.Repeat("a window to the yard, ", 20))))(t)
			}
			ids := assert.Must(a.Council.Few(t.Context(), "What is the office like, and what should we do?"))(t)
			w.long["adviser"], w.long["chair"] = "Thought 1:", "Thought 1:"
			for _, asked := range []council.Options{{Oracles: ids[:1]}, {Oracles: ids[:2], Chair: ids[2]}} {
				asked.Session, asked.Model = kept.ID, model
				w.done(a, service.Request{Assistant: council.Name, Options: asked})
			}

			talk := w.done(a, service.Request{Assistant: taskchat.Name, Words: "show my tasks, the first time",
				Options: taskchat.Options{Model: model}})
			w.long["tasks"] = "the first time"
			w.done(a, service.Request{Assistant: taskchat.Name, Session: talk.Session, Words: "show my tasks once more",
				Options: taskchat.Options{Model: model}})

			w.long["witness"] = "ANSWERED"
			// What had no room in one of the detective's requests is left out of the next at once.
			for _, refused := range []string{"question", "analysis"} {
				w.long[refused], w.asks = "Answer 3:", 0
				w.done(a, service.Request{Assistant: inquiry.Name, Words: "The bridge was closed because of corrosion.",
					Options: inquiry.Options{Detective: model, Witness: schema.Folder{Name: model}, Limit: 5}})
			}
			w.mustCut(map[string]string{"oracle": "about rain", "adviser": "Thought 8:", "chair": "Thought 8:",
				"tasks": "once more", "question": "because of corrosion", "analysis": "because of corrosion",
				"witness": "When was the tunnel opened?"})
		})
	}
}
