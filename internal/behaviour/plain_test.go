package behaviour_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	ossignal "os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/cli"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/tool"
)

// mostPlain bounds a plain loop, which knows no end of its own.
const mostPlain = 40

// plainly asks as a plain loop does: it goes on while there are calls, and the first reply without one is the answer.
func (s *stage) plainly(t *testing.T, id, question, vault string) {
	t.Helper()
	m := assert.Must(s.Models.Open(id))(t)
	tools, closeTools, err := s.Tools(t.Context(), oracle.Env{CodeRoot: s.code, Vault: vault})
	assert.NoError(t, err)
	defer closeTools()
	req := model.Request{System: "Answer the question. Use the tools.",
		Messages: []model.Message{{Role: model.User, Text: question}}}
	for _, spec := range tools.Specs() {
		req.Tools = append(req.Tools, model.Tool{Name: spec.Name, Description: spec.Description, Schema: spec.Schema})
	}
	for range mostPlain {
		resp, err := m.Chat(t.Context(), req, nil)
		if err != nil || len(resp.ToolCalls) == 0 {
			return // a failure is its end, too
		}
		req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Text: resp.Text,
			ToolCalls: resp.ToolCalls, Native: resp.Native})
		for _, call := range resp.ToolCalls {
			req.Messages = append(req.Messages, called(t, tools, call))
		}
	}
	t.Errorf("a plain loop does not end: give the behaviour an end")
}

func called(t *testing.T, tools *tool.Set, call model.ToolCall) model.Message {
	answer := model.Message{Role: model.ToolRole, ToolCallID: call.ID, ToolName: call.Name}
	one, known := tools.Get(call.Name)
	err := fmt.Errorf("there is no tool %s", call.Name)
	var result tool.Result
	if known {
		result, err = one.Call(t.Context(), tool.Call{Args: json.RawMessage(call.Arguments), Key: call.ID,
			Owner: "plain"})
	}
	if answer.Text = result.Text; err != nil {
		answer.Text, answer.IsError = err.Error(), true
	}
	return answer
}

// notes are of models that are asked to write a note.
func notes() []behaviour {
	const saved = "I saved the note as `decision.md`."
	outside := calls("vault_write", object("path", "../outside.md", "mode", "create", "content", "No cache."))
	return []behaviour{
		{name: "writes a note, and says so", ask: save, plays: plays(writes("decision.md"), says(saved)), plain: 2,
			ours: exactly(2), stop: "satisfied", holds: []string{saved},
			ran: []string{"vault_write"}},
		{name: "writes a note, and says so with a signal", ask: save, plays: plays(writes("decision.md"),
			turn(says(saved), done())), plain: 2, ours: exactly(2), stop: "satisfied",
			holds: []string{saved}, ran: []string{"vault_write"}},
		{name: "reads, writes a note, and says so", ask: save, plays: plays(readsNote("caching.md"),
			writes("decision.md"), says(saved)), plain: 3, ours: exactly(3),
			stop: "satisfied", holds: []string{saved}, ran: []string{"vault_read", "vault_write"}},
		{name: "says that a note is saved, and never writes", ask: save, plays: plays(says(saved)), plain: 1,
			ours: exactly(2), stop: "partial", warns: []string{unwritten},
			told: `(?i)writ`, wires: true},
		{name: "says with a signal that a note is saved, and never writes", ask: save,
			plays: plays(turn(says(saved), done())), plain: 1, ours: exactly(2), stop: "partial",
			warns: []string{unwritten}, told: `(?i)writ`},
		{name: "reads, says that a note is saved, and never writes", ask: save, plays: plays(readsNote("caching.md"),
			turn(says(saved), done())), plain: 2, ours: exactly(3),
			stop: "partial", warns: []string{unwritten}, told: `(?i)writ`, ran: []string{"vault_read"}},
		{name: "says that a note is saved, and writes when it is told", ask: save,
			plays: plays(says(saved), writes("decision.md"), says(saved)), plain: 1, ours: exactly(3),
			stop: "satisfied", holds: []string{saved}, ran: []string{"vault_write"}},
		{name: "says that a note is saved although it was there already", ask: save, plays: plays(writes("caching.md"),
			says(saved)), plain: 2, ours: exactly(3), stop: "partial",
			warns: []string{unwritten}, ran: []string{"vault_write!"}},
		{name: "says that a note is saved although its place was refused", ask: save,
			plays: plays(outside, turn(says(saved), done())), plain: 2, ours: exactly(3), stop: "partial",
			warns: []string{unwritten}, ran: []string{"vault_write!"}},
		{name: "writes in vain, and tries another name when it is told", ask: save, plays: plays(writes("caching.md"),
			says(saved), writes("decision.md"), says(saved)), plain: 2,
			ours: exactly(4), stop: "satisfied", holds: []string{saved}, ran: []string{"vault_write!", "vault_write"}},
		{name: "claims a note where a change was asked for in other words", ask: record, plays: plays(says(saved)),
			plain: 1, ours: exactly(2), stop: "partial", warns: []string{unwritten}, told: `(?i)nothing has been saved`},
		{name: "carries out a change that is no note", ask: record, plays: plays(says("Decision: no cache.")), plain: 1,
			ours: exactly(1), stop: "satisfied", basis: known},
		{name: "asks where a note shall go", ask: save, plays: plays(says("Which folder shall it go into?")), plain: 1,
			ours: exactly(1), stop: "needs_user",
			holds: []string{"Which folder"}},
	}
}

// programName is what a process of these tests is called that is the program.
const programName = "sibyl"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == programName {
		os.Exit(program())
	}
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "test.parallel" })
	if !asked {
		// Nodes mostly wait for leases to run out, so more of them fit beside each other than there are processors.
		if err := flag.Set("test.parallel", "5"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(pgtest.Main(m))
}

// program is the command line, stopped by the signals that stop the real one.
func program() int {
	ctx, stop := ossignal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return cli.Main(ctx, cli.Program{Build: "test"}, os.Args[1:], os.Environ(),
		cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}
