package oracle_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"sibyl/internal/model"
	"sibyl/internal/tool"
)

// pager opens one file a turn, and notes how much was allocated before each of its turns.
type pager struct {
	turns    int
	objects  []uint64
	bytes    []uint64
	messages int // of the last request
}

func (r *pager) ID() string  { return "test:reader" }
func (r *pager) Local() bool { return true }

func (r *pager) Chat(_ context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.objects, r.bytes, r.messages = append(r.objects, m.Mallocs), append(r.bytes, m.TotalAlloc), len(req.Messages)
	n := len(r.objects)
	if n < r.turns {
		return model.Response{Finish: model.FinishTools, Model: "reader",
			ToolCalls: []model.ToolCall{{ID: fmt.Sprint("call_", n), Name: "code_read", Arguments: fmt.Sprintf(`{"path":"pkg/file%d.go"}`, n)}}}, nil
	}
	err := emit(model.Delta{Text: "It is so.\n<signal type=\"context_sufficient\"><sources_found>1</sources_found><confidence>0.9</confidence></signal>"})
	return model.Response{Finish: model.FinishStop, Model: "reader"}, err
}

// grown is what each turn allocates on average, of a few around turn at.
func grown(totals []uint64, at int) uint64 { return (totals[at+2] - totals[at-3]) / 5 }

func TestALateTurnCostsNoMoreThanTwiceAnEarlyOne(t *testing.T) {
	h := setUp(t)
	h.turns = 170
	m := &pager{turns: 160}
	h.model = m
	h.world.on("code_read", func(c tool.Call) (tool.Result, error) {
		return tool.Result{Text: "a line", Items: 1, Refs: []tool.Ref{{Source: tool.Code, Path: string(c.Args), Start: 1, End: 1, Opened: true}}}, nil
	})
	// Nobody watches: what a watcher reads would count, too.
	if _, err := h.start("How does the middleware in this package work?").Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(m.objects) != m.turns || m.messages < 2*m.turns-1 {
		t.Fatalf("%d turns, the last with %d messages", len(m.objects), m.messages)
	}
	early, late := grown(m.objects, 5), grown(m.objects, 150)
	if late > 2*early {
		t.Errorf("turn 150 makes %d allocations, turn 5 makes %d", late, early)
	}
	t.Logf("turn 5: %d allocations, %d bytes; turn 150: %d allocations, %d bytes", early, grown(m.bytes, 5), late, grown(m.bytes, 150))
}
