package api_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/server/node"
)

// What an operator is told of other users is how many runs stand how, and since when: no name, title, id or word of
// theirs.
func TestOperatorIsToldNumbersAndNobodysWords(t *testing.T) {
	h := newHouse(t)
	release := h.holds("tea")
	defer release()
	now := time.Now()
	h.config.Operation = &api.Operation{
		Nodes: func(context.Context) ([]node.Node, time.Time, error) {
			return []node.Node{{Holder: "secret holder", Name: "one", Build: "test", Address: "http://127.0.0.1:1",
				StartedAt: now, SeenAt: now, Most: 8, Runs: 2}, {Name: "two", SeenAt: now.Add(-time.Hour)}}, now, nil
		}}
	h.open()
	begun := h.begin("", "Zanzibar tea?")
	h.ended("", begun.Run)
	waits := journal.Run{ID: "waitingrun", Session: "waitingsession", Owner: "eve", Assistant: "panel",
		Title: "Quokka?", Status: journal.Running, StartedAt: now.Add(-time.Hour)}
	assert.NoError(t, h.store.Begin(t.Context(), journal.Beginning{Run: waits, Session: &journal.Session{ID: waits.Session,
		Owner: "eve", Assistant: "panel", Title: "Quokka?", CreatedAt: now, UpdatedAt: now}}))
	var works api.HowItWorks
	whole := h.get(question{path: "/api/operation", token: operators}, &works)
	assert.That(t, len(works.Runs) == 1 && works.Runs[0].Assistant == "panel" &&
		works.Runs[0].Stand == journal.IsStranded && works.Runs[0].Runs == 1 &&
		works.Runs[0].Oldest.Equal(journal.Millis(waits.StartedAt)), "the runs are %s", whole.body)
	var nodes api.Nodes
	all := h.get(question{path: "/api/nodes", token: operators}, &nodes)
	assert.That(t, len(nodes.Nodes) == 2 && nodes.Nodes[0].Lives && !nodes.Nodes[1].Lives && nodes.Nodes[0].Runs == 2 &&
		nodes.Nodes[0].Most == 8, "the nodes are %s", all.body)
	assert.Lacks(t, "what is told", string(whole.body)+string(all.body),
		"Zanzibar", "Quokka", "ada", "eve", waits.ID, waits.Session, begun.Run, begun.Session,
		"secret holder")
	for _, path := range []string{"/api/runs/" + begun.Run, "/api/sessions/" + begun.Session} {
		h.refused(path+" by the operator", question{path: path, token: operators}, 404, "not_found")
	}
}

func TestTreesInForceAreShownWithWhatACheckFindsAndWithoutAPath(t *testing.T) {
	h := newHouse(t)
	h.config.Operation.Trees = func() ([]api.TreeInForce, error) {
		return []api.TreeInForce{{Name: "oracle", Replaces: true, Problems: 1, Text: "<root/>",
			Original: "<root></root>", Found: []bt.Problem{{File: "/home/ada/oracle.xml", Line: 1, Col: 2,
				Message: "no tree", Hint: "add one"}}},
			{Name: "tasks", Text: "<root>1</root>", BuiltIn: true, Nodes: 3, Picture: "root"}}, nil
	}
	h.open()
	var all api.Trees
	list := h.get(question{path: "/api/trees", token: operators}, &all)
	diff := cmp.Diff([]api.TreeInForce{{Name: "oracle", Replaces: true, Problems: 1}, {Name: "tasks", BuiltIn: true,
		Nodes: 3}}, all.Trees, cmpopts.EquateEmpty())
	assert.That(t, diff == "", "the trees are %s", diff)
	var one api.TreeInForce
	whole := h.get(question{path: "/api/trees/oracle", token: operators}, &one)
	assert.That(t, one.Text == "<root/>" && one.Original == "<root></root>" && len(one.Found) == 1 &&
		one.Found[0] == (bt.Problem{Line: 1, Col: 2, Message: "no tree", Hint: "add one"}), "the tree is %s", whole.body)
	assert.That(t, !strings.Contains(string(list.body)+string(whole.body), "/home"),
		"a path is told: %s %s", list.body, whole.body)
	h.refused("a tree that there is not", question{path: "/api/trees/..%2foracle", token: operators}, 404, "no_tree")
}

func TestPromptsAreShownWithWhatACheckFinds(t *testing.T) {
	h := newHouse(t)
	h.config.Operation.Prompts = func() ([]api.PromptInForce, string, error) {
		return []api.PromptInForce{{Assistant: "oracle", Name: "base", Tokens: 2, Problems: 1, Text: "Be terse.",
			Original: "Be brief.", Found: []string{"it is empty"}}, {Assistant: "tasks", Name: "intent", Text: "Read.",
			BuiltIn: true}}, "one is misspelt", nil
	}
	h.open()
	var all api.Prompts
	list := h.get(question{path: "/api/prompts", token: operators}, &all)
	want := []api.PromptInForce{{Assistant: "oracle", Name: "base", Tokens: 2, Problems: 1},
		{Assistant: "tasks", Name: "intent", BuiltIn: true}}
	assert.That(t, cmp.Equal(want, all.Prompts, cmpopts.EquateEmpty()) && all.Folder == "one is misspelt",
		"the prompts are %s", list.body)
	var one api.PromptInForce
	h.get(question{path: "/api/prompts/oracle/base", token: operators}, &one)
	assert.That(t, one.Text == "Be terse." && one.Original == "Be brief." && len(one.Found) == 1, "the prompt is %+v", one)
	for _, path := range []string{"/api/prompts", "/api/prompts/oracle/base"} {
		h.refused(path+" by who does not operate", question{path: path}, 403, "scope")
	}
	h.refused("a prompt that there is not", question{path: "/api/prompts/oracle/none", token: operators}, 404,
		"no_prompt")
}
