package gemini_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// signature is that of the first call of a turn that the fake server gives.
const signature = "c2lnbmVkL2J5K3RoZS9mYWtlCg=="

// followUp is the conversation after resp to hello, with a result for every call that resp still holds.
func followUp(resp model.Response) model.Request {
	req := hello()
	req.Messages = append(req.Messages, model.Message{
		Role: model.Assistant, Text: resp.Text, ToolCalls: resp.ToolCalls, Native: resp.Native,
	})
	for _, c := range resp.ToolCalls {
		req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, ToolCallID: c.ID, ToolName: c.Name, Text: "of " + c.Arguments})
	}
	return req
}

// echoed answers hello with first and returns the parts that the next request says the model spoke, and its results.
func echoed(t *testing.T, first modeltest.Answer, change ...func(*model.Response)) (parts, results []string) {
	t.Helper()
	server := modeltest.NewServer(t, first, modeltest.Stream("done"))
	m := connect(t, server)
	resp, err := m.Chat(t.Context(), hello(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range change {
		f(&resp)
	}
	if got, err := m.Chat(t.Context(), followUp(resp), nil); err != nil || got.Text != "done" {
		t.Fatalf("the second turn gave %q, %v", got.Text, err)
	}
	var body struct {
		Contents []struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"contents"`
	}
	if err := json.Unmarshal([]byte(server.Last().Body), &body); err != nil {
		t.Fatal(err)
	}
	for i, c := range body.Contents[1:] {
		for _, p := range c.Parts {
			if i == 0 {
				parts = append(parts, string(p))
			} else {
				results = append(results, string(p))
			}
		}
	}
	return parts, results
}

func TestTurnGoesBackByteForByteWithItsSignatures(t *testing.T) {
	own := []string{
		`{"text":"Hmm <b>","thought":true,"thoughtSignature":"dGhvdWdodA_-"}`,
		`{"text":"L\u00e9t me <look> & see. "}`,
		`{"functionCall":{"id":"c1","name":"f","args":{"z":12345678901234567890,"a":1.50}},"thoughtSignature":"QUJD+/=="}`,
		`{"functionCall":{"id":"c2","name":"g"},"unheardOf":{"x":[1]}}`,
		`{"executableCode":{"language":"PYTHON","code":"1"}}`,
		`{"text":"","thoughtSignature":"bGFzdA=="}`,
	}
	events := make([]string, 0, len(own)+1)
	for _, part := range own {
		events = append(events, parts(part))
	}
	got, results := echoed(t, raw(append(events, parts(`{"text":""}`), stop)...))
	if diff := cmp.Diff(own, got); diff != "" {
		t.Errorf("parts (-given +sent back):\n%s", diff)
	}
	want := []string{
		`{"functionResponse":{"id":"c1","name":"f","response":{"output":"of {\"z\":12345678901234567890,\"a\":1.50}"}}}`,
		`{"functionResponse":{"id":"c2","name":"g","response":{"output":"of {}"}}}`,
	}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Errorf("results (-want +sent):\n%s", diff)
	}
}

func TestSignatureSurvivesTheJournal(t *testing.T) {
	parts, _ := echoed(t, modeltest.Answer{Calls: []model.ToolCall{{ID: "a", Name: "f", Arguments: `{"q":"<>"}`}}}, func(r *model.Response) {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		*r = model.Response{}
		if err := json.Unmarshal(text, r); err != nil {
			t.Fatal(err)
		}
	})
	if len(parts) != 1 || !strings.Contains(parts[0], `"thoughtSignature":"`+signature+`"`) {
		t.Errorf("sent back %v", parts)
	}
}

func TestParallelCallsWithoutIDsAreToldApartAndAnsweredWithoutIDs(t *testing.T) {
	answer := modeltest.Answer{Calls: []model.ToolCall{
		{Name: "f", Arguments: `{"n":1}`}, {Name: "f", Arguments: `{"n":1}`}, {Name: "g", Arguments: `{"n":3}`},
	}}
	ids := map[string]bool{"": true}
	parts, results := echoed(t, answer, func(r *model.Response) {
		for _, c := range r.ToolCalls {
			if ids[c.ID] {
				t.Errorf("the id %q is empty or not unique", c.ID)
			}
			ids[c.ID] = true
		}
	})
	if len(parts) != 3 || len(results) != 3 {
		t.Fatalf("sent %v and %v; want three calls and three results", parts, results)
	}
	for _, p := range append(parts, results...) {
		if strings.Contains(p, `"id"`) {
			t.Errorf("an id that the provider does not know was sent: %s", p)
		}
	}
}

func TestCallsThatWereNotRunAreLeftOutOfTheTurn(t *testing.T) {
	calls := []model.ToolCall{{ID: "a", Name: "f", Arguments: `{"n":1}`}, {ID: "b", Name: "f", Arguments: `{"n":2}`}, {ID: "c", Name: "g"}}
	parts, results := echoed(t, modeltest.Answer{Chunks: []string{"So: "}, Calls: calls}, func(r *model.Response) {
		r.ToolCalls = r.ToolCalls[:2]
	})
	if len(parts) != 3 || !strings.Contains(parts[0], "So: ") || !strings.Contains(parts[1], signature) || len(results) != 2 {
		t.Errorf("sent back %v with results %v; want the text and two calls, as they came", parts, results)
	}
}

func TestTurnThatIsNotItsOwnOrWasChangedIsRebuilt(t *testing.T) {
	answer := modeltest.Answer{Chunks: []string{"So: "}, Calls: []model.ToolCall{{ID: "a", Name: "f", Arguments: `{"n":1}`}}}
	for name, change := range map[string]func(*model.Response){
		"another provider's": func(r *model.Response) { r.Native.Provider = "another" },
		"no JSON":            func(r *model.Response) { r.Native.Turn = json.RawMessage("{") },
		"no object parts":    func(r *model.Response) { r.Native.Turn = json.RawMessage(`{"parts":["x"]}`) },
		"no parts":           func(r *model.Response) { r.Native.Turn, r.ToolCalls = json.RawMessage(`{}`), nil },
		"gone":               func(r *model.Response) { r.Native = nil },
		"other arguments":    func(r *model.Response) { r.ToolCalls[0].Arguments = `{"n":2}` },
		"other name":         func(r *model.Response) { r.ToolCalls[0].Name = "g" },
		"other id":           func(r *model.Response) { r.ToolCalls[0].ID = "b" },
		"another call":       func(r *model.Response) { r.ToolCalls = append(r.ToolCalls, model.ToolCall{ID: "b", Name: "g"}) },
	} {
		t.Run(name, func(t *testing.T) {
			parts, results := echoed(t, answer, change)
			all := strings.Join(parts, "")
			if strings.Contains(all, signature) || parts[0] != `{"text":"So: "}` || len(parts) != len(results)+1 {
				t.Errorf("sent back %v with results %v", parts, results)
			}
		})
	}
}

func TestOnlyAWholeAnswerHasANativeTurn(t *testing.T) {
	for name, c := range map[string]struct {
		answer modeltest.Answer
		want   string
	}{
		"whole":          {raw(parts(`{"text":"a"}`, `{"text":"b"}`), stop), `{"role":"model","parts":[{"text":"a"},{"text":"b"}]}`},
		"cut by a limit": {modeltest.Answer{Chunks: []string{"a"}, Finish: model.FinishLength}, `{"role":"model","parts":[{"text": "a"}]}`},
		"cut":            {raw(parts(`{"text":"a"}`)), ""},
		"says nothing":   {raw(parts(`{"text":""}`, `{}`, `null`), stop), ""},
	} {
		got, err := connect(t, modeltest.NewServer(t, c.answer)).Chat(t.Context(), hello(), nil)
		var turn string
		if got.Native != nil {
			turn = string(got.Native.Turn)
		}
		if turn != c.want || (turn != "" && got.Native.Provider != "google") {
			t.Errorf("%s: got %s (error %v); want %s", name, turn, err, c.want)
		}
	}
}
