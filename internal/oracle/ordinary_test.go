package oracle_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

// obedient makes its calls and gives its answer in turn, and the answer again for ever; but a write that it is told to
// make, it makes.
type obedient struct {
	model.Model
	turns []model.Response
	said  int
}

func (o *obedient) Chat(_ context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	resp := o.turns[min(o.said, len(o.turns)-1)]
	o.said++
	if last := req.Messages[len(req.Messages)-1].Text; strings.Contains(last, "now with") &&
		strings.Contains(last, "vault_write") {
		resp = callOf("vault_write", `{"path":"told.md"}`)
	}
	for i := range resp.ToolCalls {
		resp.ToolCalls[i].ID = fmt.Sprintf("call_%d_%d", o.said, i)
	}
	var err error
	if emit != nil && resp.Text != "" {
		err = emit(model.Delta{Text: resp.Text})
	}
	return resp, err
}

func callOf(name, arguments string) model.Response {
	return model.Response{Text: needTurn("look"), Finish: model.FinishTools,
		ToolCalls: []model.ToolCall{{Name: name, Arguments: arguments}}}
}

// ordinary is a question, and what the model does with it.
type ordinary struct {
	words, material string
	turns           []model.Response
}

func (q ordinary) play(m model.Model) *obedient {
	return &obedient{Model: m, turns: slices.Clone(q.turns)}
}

func (q ordinary) writes() (all []string) {
	for _, turn := range q.turns {
		for _, call := range turn.ToolCalls {
			if call.Name == "vault_write" {
				all = append(all, call.Name)
			}
		}
	}
	return all
}

// SC-003: what an obedient model answers rightly at once is not made longer.
func TestOrdinaryQuestionsNeedNoMoreTurnsAndCallsThanThePlainTree(t *testing.T) {
	known := []string{"the search finds nothing", "with", "ask", "calls", "says"}
	texttest.PlayFile(t, filepath.Join("testdata", "ordinary", "questions.txt"), known, playOrdinary)
}

func playOrdinary(t *testing.T, lines []texttest.Line) {
	h := setUp(t)
	list := func(s tool.Source, paths ...string) does {
		refs := make([]tool.Ref, len(paths))
		for i, path := range paths {
			refs[i] = tool.Ref{Source: s, Path: path}
		}
		return finds(refs...)
	}
	h.world.add(tool.Spec{Name: "vault_list", Description: "Lists the notes.", Source: tool.Vault},
		list(tool.Vault, "caching.md", "net.md"))
	h.world.add(tool.Spec{Name: "repo_map", Description: "Lists the files of the code.", Source: tool.Code},
		list(tool.Code, "auth/middleware.go", "auth/token.go"))
	var all []ordinary
	material := ""
	for _, l := range lines {
		text := strings.ReplaceAll(l.Rest, `\n`, "\n")
		switch l.Words {
		case "the search finds nothing":
			h.world.replaceTool(text, finds())
		case "with":
			material = text
		case "ask":
			all = append(all, ordinary{words: text, material: material})
		case "calls":
			q := &all[len(all)-1]
			name, arguments, _ := strings.Cut(text, " ")
			q.turns = append(q.turns, callOf(name, arguments))
		case "says":
			q := &all[len(all)-1]
			q.turns = append(q.turns, model.Response{Text: text + "\n" + enough(), Finish: model.FinishStop})
		default:
			t.Fatalf("line %d is nothing that is known: %s", l.At, l.Text)
		}
	}
	script := h.model
	for _, asked := range all {
		q := h.question(asked.words)
		q.Material = asked.material
		written := len(h.world.written())
		h.model = asked.play(script)
		ours := h.finish(h.startQuestion(q))
		assert.That(t, ours.StopReason == oracle.StopSatisfied, "%q ends %s: %s", asked.words, ours.StopReason,
			ours.Caveat)
		same(t, "notes that were written", len(h.world.written())-written, len(asked.writes()))
		h.model = asked.play(script)
		plain := h.finish(assert.Must(h.engine.Start(t.Context(), h.shadowOf()))(t))
		assert.That(t, ours.Turns <= plain.Turns && len(ours.ToolCalls) <= len(plain.ToolCalls) &&
			ours.Unnecessary() <= plain.Unnecessary(),
			"%q takes %d turns and %d calls, %d of them unnecessary; the plain tree takes %d, %d and %d",
			asked.words, ours.Turns, len(ours.ToolCalls), ours.Unnecessary(), plain.Turns, len(plain.ToolCalls),
			plain.Unnecessary())
	}
}
