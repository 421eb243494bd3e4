package modeltest

import (
	"strings"
	"testing"

	"sibyl/internal/model"
)

// opensThinking and closesThinking are put together here, so that this file holds no marks.
const (
	opensThinking  = "<" + "think>"
	closesThinking = "<" + "/think>"
)

func TestThinkingThatIsWrittenIntoTheTextIsKeptBesideItAndNeverSentBack(t *testing.T) {
	for name, build := range adapters() {
		for shape, chunks := range map[string][]string{
			"a block":       {opensThinking, "secret plan", closesThinking, "Yes."},
			"closing alone": {"secret ", "plan", closesThinking, "Yes."},
			"in its chunks": strings.Split(opensThinking+"secret plan"+closesThinking+"Yes.", ""),
			"before an end": {opensThinking + "secret plan" + closesThinking + "Yes.", "<|im_", "end|>"},
			"in a channel":  {"<|channel|>analysis<|message|>secret plan<|end|>", "<|channel|>final<|message|>", "Yes."},
		} {
			t.Run(name+"/"+shape, func(t *testing.T) {
				m, s := startSetup(t, build, Setup{}, Answer{Chunks: chunks}, Stream("ok"))
				if s.script != nil {
					t.Skip("a script has no wire")
				}
				got := chat(t.Context(), t, m, nil)
				if got.err != nil || got.text != "Yes." || got.resp.Text != "Yes." || got.resp.Native == nil ||
					got.resp.Native.Thinking != "secret plan" {
					t.Fatalf("emitted %q, response %+v, native %+v, error %v", got.text, got.resp, got.resp.Native, got.err)
				}
				req := question()
				req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: got.resp.Text,
					Native: got.resp.Native}, model.Message{Role: model.User, Text: "go on"})
				if _, err := m.Chat(t.Context(), req, nil); err != nil {
					t.Fatal(err)
				}
				if body := s.server.Last().Body; strings.Contains(body, "secret") {
					t.Errorf("the thinking goes back: %s", body)
				}
			})
		}
	}
}
