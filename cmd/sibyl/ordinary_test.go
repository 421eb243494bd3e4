package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/behaviour/texttest"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
)

// ordinaryFile has the questions and the turns of an obedient model; here they are asked of the real program, with real
// files.
var ordinaryFile = filepath.Join("..", "..", "internal", "oracle", "testdata", "ordinary", "questions.txt")

// obeys plays the turns of each question, by how often the model has replied to it.
type obeys map[string][]modeltest.Answer

func (o obeys) answer(r modeltest.Request) modeltest.Answer {
	question, replies, last := "", 0, ""
	for _, m := range r.Messages {
		switch m.Role {
		case "assistant":
			replies++
		case "user":
			last = m.Content
			if !strings.HasPrefix(last, "[control]") {
				_, words := agent.SplitNote(last)
				question, _, _ = strings.Cut(words, "\n")
				replies = 0
			}
		}
	}
	turns := o[question]
	switch {
	case strings.Contains(last, "now with") && strings.Contains(last, "vault_write"):
		return call("vault_write", `{"path":"told.md","mode":"create","content":"told"}`)
	case len(turns) == 0:
		return modeltest.Answer{Fail: model.Invalid}
	}
	return turns[min(replies, len(turns)-1)]
}

// TestOrdinaryQuestionsNeedNoMoreOfTheRealProgramThanOfThePlainTree is SC-003, with ‘sibyl ask --shadow’.
func TestOrdinaryQuestionsNeedNoMoreOfTheRealProgramThanOfThePlainTree(t *testing.T) {
	needs.Long(t, "forty questions, each with a shadow")
	var asked atomic.Int64
	t.Run("ask", func(t *testing.T) {
		texttest.PlayFile(t, ordinaryFile, []string{"the search finds nothing", "with", "ask", "calls", "says"},
			func(t *testing.T, lines []texttest.Line) { asked.Add(askWithShadows(t, lines)) })
	})
	assert.That(t, asked.Load() >= 40, "%d questions were asked; want forty", asked.Load())
}

// askWithShadows asks the questions of a scenario in one session, and compares each with its shadow.
func askWithShadows(t *testing.T, lines []texttest.Line) (asked int64) {
	material, questions, plays := "", []string(nil), obeys{}
	for _, l := range lines {
		rest := strings.ReplaceAll(l.Rest, `\n`, "\n")
		switch at := len(questions) - 1; l.Words {
		case "with":
			material = rest
		case "ask":
			questions = append(questions, rest)
		case "calls":
			name, arguments, _ := strings.Cut(rest, " ")
			if strings.HasPrefix(name, "web_") || name == "vault_write" {
				t.Skip("there is no search engine here, and a shadow writes nothing")
			}
			turn := call(name, arguments)
			turn.Chunks = []string{signalText("need_turn", "<reason>look</reason>", "0.8")}
			plays[questions[at]] = append(plays[questions[at]], turn)
		case "says":
			plays[questions[at]] = append(plays[questions[at]], modeltest.Answer{Chunks: []string{rest, "\n", sure}})
		}
	}
	s := newStory(t)
	server := modeltest.NewServer(nil)
	t.Cleanup(server.Close)
	server.Models = []string{"player"}
	server.Play(plays.answer)
	s.server.BaseURL = server.BaseURL
	code := t.TempDir()
	write(t, filepath.Join(code, "auth", "middleware.go"), "package auth\n"+strings.Repeat("\n", 8)+
		"// Middleware is the auth middleware: it calls Verify with a token.\nfunc Middleware() {\n"+
		strings.Repeat("\t// It replies 401 if that fails.\n", 30)+"}\n")
	write(t, filepath.Join(code, "auth", "token.go"), "package auth\n\n// Verify checks a token.\nfunc Verify() {}\n")
	s.note(t, "decisions/caching.md", "# Caching\n\nOn 3 May we decided about caching:\nper tenant.\n\n\n\n\nThe end.\n")
	s.note(t, "net.md", "# Network\n\nThe wifi password is the one of the router.\n\n\n\n\n\nThe end.\n")
	for n, question := range questions {
		args := []string{"ask", "-q", "--shadow", "--in", code, "--vault", s.vault}
		if n > 0 {
			args = append(args, "-c")
		}
		cmd := exec.CommandContext(t.Context(), "sibyl", append(args, "--", question)...)
		cmd.Env = s.environ()
		if material != "" {
			cmd.Stdin = strings.NewReader(material + "\n")
		}
		out, err := cmd.CombinedOutput()
		assert.That(t, err == nil, "%q: %v\n%s", question, err, out)
	}
	out, _ := s.sibyl(t, "", "shadow", "report", "--json")
	var report struct {
		Pairs []struct {
			Question     string
			Ours, Shadow struct {
				Turns       int
				ToolCalls   int `json:"tool_calls"`
				Unnecessary int `json:"unnecessary_calls"`
			}
		}
	}
	assert.NoError(t, json.Unmarshal(out, &report))
	assert.That(t, len(report.Pairs) == len(questions), "%d of %d questions have a shadow", len(report.Pairs), len(questions))
	for _, p := range report.Pairs {
		assert.That(t, p.Ours.Turns <= p.Shadow.Turns && p.Ours.ToolCalls <= p.Shadow.ToolCalls &&
			p.Ours.Unnecessary <= p.Shadow.Unnecessary, "ours needs more than the plain tree: %+v", p)
	}
	return int64(len(questions))
}
