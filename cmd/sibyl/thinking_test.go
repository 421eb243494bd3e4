package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/cli"
	"sibyl/internal/model/modeltest"
)

// scratch is a word of every thought below, and of nothing else.
const scratch = "zebrafish"

// thoughts are replies as models write them, with %s for what they were asked for. The mark that closes nothing is of
// models whose template has opened it.
var thoughts = map[string]string{
	"element":             "<think>\nThe zebrafish… hm.\n</think>\n\n%s",
	"element of its own":  "<seed:think>zebrafish</seed:think>%s",
	"with attributes":     `<thinking budget="512">zebrafish</thinking>%s`,
	"two of them":         "<think>zebrafish</think>\n<think>zebrafish again</think>\n%s",
	"closing alone":       "The zebrafish, let me see.\n</think>\n\n%s",
	"closing in mid-line": "So, zebrafish it is.</think>%s",
	"behind the answer":   "%s\n<think>Was it the zebrafish?",
	"square brackets":     "[THINK]zebrafish[/THINK]%s",
	"triangles":           "◁think▷zebrafish◁/think▷%s",
	"channels": "<|channel|>analysis<|message|>zebrafish<|end|><|start|>assistant<|channel|>final<|message|>%s" +
		"<|return|>",
	"end of the message": "<think>zebrafish</think>%s<|im_end|>",
}

// thinker is a model that does what each assistant asks for, and thinks aloud. bare: it thinks alone, at first.
type thinker struct {
	mu    sync.Mutex
	form  string
	first map[string]int // requests, by what they ask for
}

func (k *thinker) answer(r modeltest.Request) modeltest.Answer {
	purpose, said := askedFor(r)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.first[purpose]++
	if k.form == "" && k.first[purpose] == 1 {
		return modeltest.Answer{Chunks: []string{"<think>", "The ", scratch, " goes on and on"}}
	}
	reply := said
	if k.form != "" {
		reply = strings.ReplaceAll(k.form, "%s", said)
	}
	var chunks []string
	for piece := range slices.Chunk([]rune(reply), 7) { // marks come in pieces
		chunks = append(chunks, string(piece))
	}
	return modeltest.Answer{Chunks: chunks}
}

// askedFor says what a request is for, and what is a right answer.
func askedFor(r modeltest.Request) (purpose, said string) {
	told := first(r, "system") + "\n" + first(r, "user")
	for _, known := range [][2]string{
		{`"name":"question"`, `{"question":"When was the bridge closed?","strategy":"breadth","aspect":"when","gaps":[]}`},
		{`"name":"analysis"`, `{"evidence":[{"pair":1,"words":"It was closed on 4 March 2021.","says":"for"}],"gaps":[],"completenessScore":95,"requiresFollowUp":false,"contradictions":[],"retracted":[]}`},
		{"their to-do list, in any language", `{"intent":"create","task":"water the ferns","new":"","more":false,"language":"en","reply":""}`},
		{"You sum up an examination", "It was closed (answer 1)."},
		{"You are a witness", "It was closed on 4 March 2021."},
		{"# Skeptic", "The rent is not proven."},
		{"Sibyl's Oracle", "It is Paris.\n" + sure},
	} {
		if strings.Contains(told, known[0]) || strings.Contains(r.Body, known[0]) {
			return known[0], known[1]
		}
	}
	return "other", "OK."
}

func TestThinkingIsInNoAnswerFileOrRequestOfAnyAssistant(t *testing.T) {
	needs.Long(t, "five processes for each form of thinking")
	forms := map[string]string{"nothing but thinking at first": ""}
	for name, form := range thoughts {
		forms[name] = form
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			k := &thinker{form: form, first: map[string]int{}}
			s := newStory(t)
			server := modeltest.NewServer(nil)
			t.Cleanup(server.Close)
			server.Models = []string{"player"}
			server.Play(k.answer)
			s.server.BaseURL = server.BaseURL
			shown := ""
			say := func(args ...string) string {
				o := s.begin(t, "", args...)()
				shown += o.out + o.err
				return o.out
			}
			assert.Contains(t, "the Oracle", say("ask", "-q", "What is the capital of France?"), "It is Paris.")
			assert.Contains(t, "the tasks", say("chat", "-q", "gieß die Farne, das darf ich nicht vergessen"), "water the ferns")
			say("council", "say", "We should move. The rent is 3000 euros.")
			assert.Contains(t, "the Council", say("council", "ask", "skeptic"), "The rent is not proven.")
			say("investigate", "The bridge was closed in 2021.", "--witness", "openai:player", "--limit", "5")
			assert.Contains(t, "the Inquiry", say("inquiry", "show", "--json"), `"When was the bridge closed?"`,
				`"It was closed on 4 March 2021."`, `"status": "completed"`)
			assert.That(t, !strings.Contains(shown, scratch), "it is shown: %s", shown)
			for _, r := range server.Requests() {
				assert.That(t, !strings.Contains(r.Body, scratch), "it is sent: %s", r.Body)
			}
			assert.NoError(t, filepath.WalkDir(s.data, func(file string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() || strings.Contains(filepath.Base(file), ".db") { // the journal has it beside its receipt
					return err
				}
				content, err := os.ReadFile(file)
				assert.That(t, !strings.Contains(string(content), scratch), "it is in %s", file)
				return err
			}))
		})
	}
}

// What a stream says of an error after some text was shown, in the forms of servers in use.
var streamErrors = map[string]string{
	"an object":        `data: {"error":{"message":"Internal server error","type":"server_error","code":500}}`,
	"a text":           `data: {"error":"upstream connect error or disconnect/reset before headers"}`,
	"an event":         "event: error\ndata: {\"message\":\"The server had an error\",\"code\":502}",
	"a reason to stop": `data: {"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"message":"Provider disconnected","code":502}}`,
	"a chunk with it":  `data: {"choices":[],"error":{"message":"Provider returned error","code":502}}`,
}

func TestStreamThatEndsInAnErrorAfterTextIsTriedAgainAndShownOnce(t *testing.T) {
	for name, failure := range streamErrors {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			server := modeltest.NewServer(nil)
			t.Cleanup(server.Close)
			server.Models = []string{"player"}
			tried := 0
			var mu sync.Mutex
			server.Play(func(r modeltest.Request) modeltest.Answer {
				mu.Lock()
				defer mu.Unlock()
				if tried++; tried == 1 {
					return modeltest.Answer{Raw: &modeltest.Raw{Body: `data: {"choices":[{"index":0,"delta":{"content":"It is Lyo"}}]}` +
						"\n\n" + failure + "\n\n"}}
				}
				_, said := askedFor(r)
				return modeltest.Answer{Chunks: []string{said}}
			})
			s.server.BaseURL = server.BaseURL
			o := s.run(t, "", cli.ExitAnswered, []string{"ask", "-q", "What is the capital of France?"})
			assert.That(t, strings.TrimSpace(o.out) == "It is Paris.", "it answers %q", o.out)
			assert.That(t, tried == 2, "it was asked %d times", tried)
		})
	}
}
