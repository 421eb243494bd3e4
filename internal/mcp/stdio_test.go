package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	adding   = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add_task","arguments":{"title":"Buy milk"}}}` + "\n"
	deleting = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"delete_task","arguments":{"task_id":1}}}` + "\n"
)

// answer is a line that a server writes.
type answer struct {
	ID     any
	Method string
	Result json.RawMessage
	Error  struct {
		Code    int
		Message string
	}
}

// streamed gives what is written for an input, until it ends.
func (h *house) streamed(in io.Reader) (all []answer) {
	h.Helper()
	out := &strings.Builder{}
	ctx, cancel := context.WithTimeout(h.Context(), deadline)
	defer cancel()
	err := h.server.Stream(ctx, "ada", in, out)
	assert.Require(h, err == nil && ctx.Err() == nil, "the stream ends with %v, %v", err, ctx.Err())
	for line := range strings.Lines(out.String()) {
		var a answer
		assert.NoErrorf(h, json.Unmarshal([]byte(line), &a), "%q is no message", line)
		all = append(all, a)
	}
	return all
}

func TestLineThatIsNoMessageIsAnsweredAndSkipped(t *testing.T) {
	for what, one := range map[string]struct {
		line string
		code int
	}{
		"no JSON":    {"S3NT", -32700},
		"no message": {`{"S3NT":1}`, -32700},
		"a batch":    {" [" + strings.TrimSpace(adding) + "]", -32600},
		"too long":   {strings.Repeat("S3NT", 1<<20) + "S3NT", -32600},
	} {
		t.Run(what, func(t *testing.T) {
			h := newHouse(t)
			all := h.streamed(strings.NewReader(initialize + "\n" + one.line + "\r\n" + adding))
			refused := 0
			for _, a := range all {
				if a.ID == nil && a.Error.Code == one.code && !strings.Contains(a.Error.Message, "S3NT") {
					refused++
				}
			}
			assert.That(t, len(all) == 3 && refused == 1 && h.titles("ada") == "Buy milk",
				"answered %+v, and there is %q", all, h.titles("ada"))
		})
	}
}

// awaitQuestion reads until a person is asked, and on.
func awaitQuestion(t *testing.T, written io.Reader) {
	t.Helper()
	for r := bufio.NewReader(written); ; {
		line := assert.Must(r.ReadString('\n'))(t)
		if strings.Contains(line, "elicitation/create") {
			go func() { _, _ = io.Copy(io.Discard, r) }()
			return
		}
	}
}

func TestQuestionThatNobodyCanAnswerAnyMoreHoldsUpNothing(t *testing.T) {
	h := newHouse(t)
	h.add("ada", "Buy milk")
	in, client := io.Pipe()
	written, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- h.server.Stream(t.Context(), "ada", in, out) }()
	go func() { _, _ = io.WriteString(client, initialize+deleting) }()
	awaitQuestion(t, written)
	_ = client.Close()
	select {
	case err := <-ended:
		assert.Nil(t, err)
	case <-time.After(deadline):
		t.Fatal("the stream goes on")
	}
	_ = out.Close()
	assert.That(t, h.titles("ada") == "Buy milk", "a task was deleted without an answer")
}

func TestCallOnAStreamEndsWithItsContext(t *testing.T) {
	h := newHouse(t)
	h.add("ada", "Buy milk")
	in, client := io.Pipe()
	written, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.server.Stream(ctx, "ada", in, out) }()
	go func() { _, _ = io.WriteString(client, initialize+deleting) }()
	awaitQuestion(t, written)
	cancel()
	select {
	case <-ended:
	case <-time.After(deadline):
		t.Fatal("the stream waits for a person who will not answer")
	}
	_, _ = client.Close(), out.Close()
}
