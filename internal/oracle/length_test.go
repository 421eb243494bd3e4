package oracle_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

// pager opens one file a turn, and notes how much was allocated before each of its turns.
type pager struct {
	turns    int
	objects  []uint64
	messages int // of the last request
}

func (r *pager) ID() string  { return "test:reader" }
func (r *pager) Local() bool { return true }

func (r *pager) Chat(_ context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.objects, r.messages = append(r.objects, m.Mallocs), len(req.Messages)
	n := len(r.objects)
	if n < r.turns {
		return model.Response{Finish: model.FinishTools, Model: "reader",
			ToolCalls: []model.ToolCall{{ID: fmt.Sprint("call_", n), Name: "code_read",
				Arguments: fmt.Sprintf(`{"path":"pkg/file%d.go"}`, n)}}}, nil
	}
	err := emit(model.Delta{Text: "It is so.\n<signal " +
		"type=\"context_sufficient\"><sources_found>1</sources_found><confidence>0.9</confidence></signal>"})
	return model.Response{Finish: model.FinishStop, Model: "reader"}, err
}

// pages plays a run of so many turns, each but the last with a call, and gives the bytes of its records.
func (h *harness) pages(turns int) (*pager, int) {
	h.t.Helper()
	h.turns = turns + 10
	m := &pager{turns: turns}
	h.model = m
	h.world.replaceTool("code_read", func(c tool.Call) (tool.Result, error) {
		return tool.Result{Text: "a line", Items: 1,
			Refs: []tool.Ref{{Source: tool.Code, Path: string(c.Args), Start: 1, End: 1, Opened: true}}}, nil
	})
	// Nobody watches: what a watcher reads would count, too.
	live := h.start("How does the middleware in this package work?")
	if _, err := live.Wait(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	if len(m.objects) != m.turns || m.messages < 2*m.turns-1 {
		h.t.Fatalf("%d turns, the last with %d messages", len(m.objects), m.messages)
	}
	recs, err := h.store.Records(h.t.Context(), owner, live.ID, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	size := 0
	for _, r := range recs {
		size += len(r.Data)
	}
	return m, size
}

func TestARunOfTwiceTheEffectsCostsAboutTwiceAsMuch(t *testing.T) {
	h := setUp(t)
	h.pages(3) // what is made once a process
	half, halfSize := h.pages(75)
	whole, size := h.pages(150)
	total := func(m *pager) uint64 { return m.objects[len(m.objects)-1] - m.objects[0] }
	if n, of := total(whole), total(half); 10*n > 22*of {
		t.Errorf("300 effects make %d allocations, 150 make %d", n, of)
	}
	if 10*size > 22*halfSize {
		t.Errorf("300 effects are %d bytes of records, 150 are %d", size, halfSize)
	}
}

func TestLongestQuestionAndAnswerEndTheirRunAndTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{`"`, "\x01", "é"} {
		text := strings.Repeat(mark, oracle.MaxQuestion/len(mark))
		h := setUp(t, modeltest.Say(strings.ReplaceAll(text, "\x01", "\t")+"OLD-END "+partial("more")),
			modeltest.Say("NOTES: none."), modeltest.Say("Yes. "+partial("more")))
		h.finish(h.start(text))
		if all := h.endedAnswers(h.session); len(all) != 1 || all[0].Question != text ||
			!strings.Contains(all[0].Answer, "OLD-END") {
			t.Errorf("%q: the answer is not whole", mark)
		}
		h.finish(h.start("And in the tests?"))
		if all := h.endedAnswers(h.session); len(all) != 2 {
			t.Errorf("%q: the session has %d answers", mark, len(all))
		}
	}
}
