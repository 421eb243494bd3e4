package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/anthropic"
	"sibyl/internal/model/gemini"
	"sibyl/internal/model/ollama"
	"sibyl/internal/model/openai"
	"sibyl/internal/model/wire"
)

// shaped is a line of testdata/asked.jsonl: what a model is asked, twice, and what goes over the wire.
type shaped struct {
	Adapter, Name string

	Provider, Model, URL, Think string // of the settings; URL may be of any host
	MaxOutput                   int
	Told                        map[string]string // as Server has it

	Request  string // of requests(); "": hello
	Limit    int    // its own, of output
	NoCalls  bool
	Schema   string
	Rejected []string // what the endpoint says to the first requests

	// values of the bodies by their path, one for each request; the last one holds for all that follow
	Sent map[string][]any
}

// requests are those that the lines name.
func requests() map[string]model.Request {
	called := func(calls ...model.ToolCall) []model.Message {
		all := []model.Message{{Role: model.User, Text: "q"}, {Role: model.Assistant, Text: "I look.",
			ToolCalls: calls}}
		for _, c := range calls {
			all = append(all, model.Message{Role: model.ToolRole, ToolCallID: c.ID, ToolName: c.Name, Text: "found"})
		}
		return all
	}
	two := called(model.ToolCall{ID: "call_1", Name: "f", Arguments: "{}"}, model.ToolCall{ID: "call_2",
		Name: "g", Arguments: "{}"})
	own := called(model.ToolCall{ID: "call_1", Name: "f", Arguments: "{}"})
	own[1].Native = &model.Native{Provider: "house",
		Turn: json.RawMessage(`{"model":"m","content":[{"type":"thinking","thinking":"hm","signature":"x"},` +
			`{"type":"tool_use","id":"call_1","name":"f","input":{}}]}`)}
	tools := []model.Tool{{Name: "f"}, {Name: "g"}}
	return map[string]model.Request{
		"":              {Messages: []model.Message{{Role: model.User, Text: "hello"}}},
		"tools":         {Messages: two[:1], Tools: tools},
		"system, tools": {System: "be brief", Messages: two[:1], Tools: tools},
		"calls":         {Messages: two, Tools: tools},
		"own calls":     {Messages: own, Tools: tools},
		"calls, hint": {Messages: append(called(model.ToolCall{ID: "call_1", Name: "f", Arguments: "{}"}),
			model.Message{Role: model.User, Text: "go on"}), Tools: tools},
		"own id":   {Messages: called(model.ToolCall{ID: "D681PevKs", Name: "f"}), Tools: tools},
		"no tools": {Messages: two},
	}
}

// connect is a model of an adapter; whatever host it asks is the server.
func connect(t *testing.T, adapter string, s *Server, c wire.Config) model.Model {
	t.Helper()
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(s.BaseURL, "http://"))
	}
	if c.HTTPClient = client(t); c.BaseURL == "" {
		c.BaseURL = s.BaseURL
	} else {
		c.HTTPClient.Transport.(*http.Transport).DialContext = dial
	}
	switch adapter {
	case "messages":
		return anthropic.New(c)
	case "gemini":
		return gemini.New(c)
	case "ollama":
		return ollama.New(c)
	}
	c.API = map[string]string{"chat": openai.Chat, "responses": openai.Responses}[adapter]
	return openai.New(c)
}

// rejectionAnswer is what any of the providers may say to a request.
func rejectionAnswer(message string) Answer {
	body, _ := json.Marshal(map[string]any{"error": map[string]string{"message": message}}) // texts always encode
	return Answer{Raw: &Raw{Status: http.StatusBadRequest, Body: string(body)}}
}

func TestRequestsAreMadeAsSettingsAndEndpointsWantThem(t *testing.T) {
	lines := assert.Must(os.ReadFile("testdata/asked.jsonl"))(t)
	for line := range strings.Lines(string(lines)) {
		var c shaped
		assert.NoErrorf(t, json.Unmarshal([]byte(line), &c), "%s", line)
		t.Run(c.Adapter+"/"+c.Name, c.check)
	}
}

func (c shaped) check(t *testing.T) {
	var answers []Answer
	for _, message := range c.Rejected {
		answers = append(answers, rejectionAnswer(message))
	}
	s := NewServer(t, append(answers, Stream("ok"), Stream("ok"))...)
	s.ModelInfo, s.Check = c.Told, checkRules
	config := wire.Config{Provider: "house", Model: "m", BaseURL: c.URL, Think: c.Think, MaxOutput: c.MaxOutput}
	if c.Provider != "" {
		config.Provider = c.Provider
	}
	if c.Model != "" {
		config.Model = c.Model
	}
	m := connect(t, c.Adapter, s, config)
	req, known := requests()[c.Request]
	assert.Require(t, known, "there is no request %q", c.Request)
	req.MaxOutputTokens, req.NoCalls = c.Limit, c.NoCalls
	if c.Schema != "" {
		req.Schema = &model.Schema{Name: "x", JSON: json.RawMessage(c.Schema)}
	}
	if d, is := m.(model.Describer); is && c.Told != nil {
		_, _ = d.Describe(t.Context()) // which may tell what the requests go by
	}
	for range 2 {
		assert.Must(m.Chat(t.Context(), req, nil))(t)
	}
	asked := slices.DeleteFunc(s.Requests(), func(r Request) bool { return isListPath(r.Path) }) // by Describe
	n := len(asked)
	assert.That(t, n == len(c.Rejected)+2, "%d requests for two answers, and %d rejections", n, len(c.Rejected))
	for path, want := range c.Sent {
		for i, r := range asked {
			assert.NoDiff(t, gocmp.Diff(want[min(i, len(want)-1)], r.At(strings.Split(path, ".")...)),
				"request %d, %s (-want +got)", i, path)
		}
	}
}

func TestRequestTellsNothingOfTheMachineAndTakesNothingFromItsEnvironment(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE",
		"ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_FEDERATION_RULE_ID", "ANTHROPIC_ORGANIZATION_ID", "GOOGLE_API_KEY",
		"GEMINI_API_KEY", "GOOGLE_GENAI_API_KEY", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "OPENAI_API_KEY",
		"OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OLLAMA_API_KEY"} {
		t.Setenv(name, "stray")
	}
	for _, name := range []string{"ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL",
		"GEMINI_NEXT_GEN_API_BASE_URL", "OPENAI_BASE_URL", "OLLAMA_HOST"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	for name, value := range map[string]string{"ANTHROPIC_CUSTOM_HEADERS": "X-Stray: yes",
		"ANTHROPIC_CONFIG_DIR": t.TempDir(), "GOOGLE_APPLICATION_CREDENTIALS": "/nowhere",
		"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_GENAI_USE_ENTERPRISE": "true",
		"OLLAMA_AUTH": "true"} { // which makes Ollama's own client sign with a key from the home folder
		t.Setenv(name, value)
	}
	usual := []string{"Accept", "Accept-Encoding", "Anthropic-Version", "Content-Length", "Content-Type", "User-Agent"}
	for name := range adapters() {
		for _, key := range []string{"", "sk-own"} {
			s := NewServer(t, Stream("ok"))
			m := connect(t, name, s, wire.Config{Provider: "house", Model: "m",
				Key: func(context.Context) (string, error) { return key, nil }})
			_, err := m.Chat(t.Context(), requests()[""], nil)
			assert.Require(t, err == nil, "%s: %v", name, err)
			got := s.Last()
			if all := fmt.Sprint(got); got.Key() != key || strings.Contains(strings.ToLower(all), "stray") {
				t.Errorf("%s with the key %q sent %s", name, key, all)
			}
			for header := range got.Header {
				assert.That(t, key != "" || slices.Contains(usual, header), "%s sent the header %s", name, header)
			}
		}
	}
}

// wholeRequest has one of everything that a request can hold.
func wholeRequest() model.Request {
	return model.Request{
		System: "be brief",
		Messages: []model.Message{
			{Role: model.User, Text: "q"},
			{Role: model.Assistant, ToolCalls: []model.ToolCall{
				{ID: "1", Name: "f", Arguments: `{"b":12345678901234567890,"a":"<&>"}`}, {ID: "2", Name: "g"},
				{ID: "3", Name: "h", Arguments: "[oops"}, {ID: "4", Name: "f", Arguments: "{\"a\":\"\xff\"}"},
			}},
			{Role: model.ToolRole, ToolCallID: "1", ToolName: "f", Text: "found"},
			{Role: model.ToolRole, ToolCallID: "2", ToolName: "g"},
			{Role: model.ToolRole, ToolCallID: "3", ToolName: "h", Text: "bad arguments", IsError: true},
			{Role: model.ToolRole, ToolCallID: "4", ToolName: "f", Text: "found"},
			{Role: model.Assistant},
			{Role: model.Assistant, Text: "done"},
			{Role: model.User},
		},
		Tools: []model.Tool{
			{Name: "f", Description: "does f",
				Schema: json.RawMessage(
					`{"type":"object","properties":{"a":{"type":["string","null"]}},"additionalProperties":false}`)},
			{Name: "g"}, {Name: "h", Schema: json.RawMessage(`{"required":["a"]}`)},
		},
		MaxOutputTokens: 100,
		Schema: &model.Schema{Name: "x",
			JSON: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)},
	}
}

func TestWholeRequestIsWhatTheProtocolSays(t *testing.T) {
	text := assert.Must(os.ReadFile("testdata/whole.txt"))(t)
	for _, f := range txtar.Parse(text).Files {
		t.Run(f.Name, func(t *testing.T) {
			s := NewServer(t, Stream("ok"))
			s.Check = checkRules
			assert.Must(connect(t, f.Name, s, wire.Config{Provider: "house", Model: "m"}).Chat(t.Context(),
				wholeRequest(), nil))(t)
			var want any
			assert.NoError(t, json.Unmarshal(f.Data, &want))
			diff := gocmp.Diff(want, s.Last().At())
			assert.That(t, diff == "", "body (-want +got):\n%s\n%s", diff, s.Last().Body)
			assert.That(t, strings.Contains(s.Last().Body, "12345678901234567890"), "a large number is lost: %s", s.Last().Body)
			readWithOfficialTypes(t, f.Name, s.Last().Body)
		})
	}
}

// ownTurn is the head of a file in testdata/turns.txt, whose body is a stream: what of it goes back in the next
// request.
type ownTurn struct {
	Adapter, Path string
	Want          any    // the value there; nil: it is the whole answer, whatever its form
	Mark          string // stands in it only as long as it goes back as it came
}

// followUp is the request after a turn, with the results of its calls.
func followUp(resp model.Response) model.Request {
	req := requests()["tools"]
	req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: resp.Text, ToolCalls: resp.ToolCalls,
		Native: resp.Native})
	for _, c := range resp.ToolCalls {
		req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, ToolCallID: c.ID, ToolName: c.Name,
			Text: "found"})
	}
	return req
}

// eachTurn has what comes of the answers in testdata/turns.txt tested, after it was in a journal.
func eachTurn(t *testing.T, test func(t *testing.T, o ownTurn, s *Server, m model.Model, resp model.Response)) {
	text := assert.Must(os.ReadFile("testdata/turns.txt"))(t)
	for _, f := range txtar.Parse(text).Files {
		t.Run(f.Name, func(t *testing.T) {
			var o ownTurn
			head, body, _ := strings.Cut(string(f.Data), "\n")
			assert.NoError(t, json.Unmarshal([]byte(head), &o))
			s := NewServer(t, Answer{Raw: &Raw{Body: body}})
			s.Check = checkRules
			m := connect(t, o.Adapter, s, wire.Config{Provider: "house", Model: "m"})
			var emitted string
			resp, err := m.Chat(t.Context(), requests()["tools"], func(d model.Delta) error {
				emitted += d.Text
				return nil
			})
			assert.Require(t, err == nil && emitted == resp.Text && !strings.Contains(emitted, "think"),
				"emitted %q of %+v, %v", emitted, resp, err)
			var again model.Response
			text, err := json.Marshal(resp)
			assert.Require(t, err == nil && json.Unmarshal(text, &again) == nil, "%v", err)
			test(t, o, s, m, again)
		})
	}
}

func TestOwnTurnGoesBackAsItsProviderWantsIt(t *testing.T) {
	eachTurn(t, func(t *testing.T, o ownTurn, s *Server, m model.Model, resp model.Response) {
		s.Add(Stream("ok"))
		assert.Must(m.Chat(t.Context(), followUp(resp), nil))(t)
		diff := gocmp.Diff(o.Want, s.Last().At(strings.Split(o.Path, ".")...))
		assert.That(t, diff == "" && strings.Contains(s.Last().Body, o.Mark),
			"it went back as (-want +got):\n%s\n%s", diff, s.Last().Body)
	})
}

func TestOwnTurnIsSentOnlyWhereItHolds(t *testing.T) {
	eachTurn(t, func(t *testing.T, o ownTurn, s *Server, m model.Model, resp model.Response) {
		if o.Mark == "" {
			return
		}
		others := map[string]model.Model{
			"another provider": connect(t, o.Adapter, s, wire.Config{Provider: "other", Model: "m"}),
			"another model":    connect(t, o.Adapter, s, wire.Config{Provider: "house", Model: "other"}),
		}
		if o.Adapter == "gemini" || o.Adapter == "ollama" { // whose turns hold for all models
			delete(others, "another model")
		}
		changes := map[string]func(*model.Response){
			"no JSON": func(r *model.Response) { r.Native.Turn = json.RawMessage("{") },
			"a form of others": func(r *model.Response) {
				r.Native.Turn = json.RawMessage(`{"model":"m","content":[{}],"items":[{}],"parts":["x"],"fields":7}`)
			},
			"nothing in it": func(r *model.Response) { r.Native.Turn = json.RawMessage(`{"model":"m"}`) },
		}
		if whole := o.Adapter != "chat" && o.Adapter != "ollama"; whole { // which hold nothing but reasoning
			changes["another call"] = func(r *model.Response) { r.ToolCalls[0].ID = "call_9" }
			changes["one more call"] = func(r *model.Response) {
				r.ToolCalls = append(r.ToolCalls, model.ToolCall{ID: "call_9", Name: "g"})
			}
		}
		for name := range changes {
			others[name] = m
		}
		for name, m := range others {
			changed := resp
			native := *resp.Native
			changed.Native, changed.ToolCalls = &native, append([]model.ToolCall(nil), resp.ToolCalls...)
			if change := changes[name]; change != nil {
				change(&changed)
			}
			s.Add(Stream("ok"))
			_, err := m.Chat(t.Context(), followUp(changed), nil)
			body := s.Last().Body
			assert.That(t, err == nil && !strings.Contains(body, o.Mark) &&
				strings.Contains(body, strings.TrimSpace(resp.Text)) && (len(changed.ToolCalls) == 0 ||
				strings.Contains(body, `"f"`)), "%s: %v, sent %s", name, err, body)
		}
	})
}

// client has connections of its own, which end with the test.
func client(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
