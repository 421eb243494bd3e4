package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"sibyl/internal/app"
)

// computes measures how long the program computes, with what other processes do meanwhile left out.
func computes(b *testing.B, args ...string) {
	data := b.TempDir()
	var all time.Duration
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), "sibyl", args...)
		cmd.Env = append(os.Environ(), "SIBYL_DATA="+data, "HOME="+data, "OPENAI_API_KEY=", "OPENAI_BASE_URL=",
			"OLLAMA_HOST=127.0.0.1:1")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		all += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	b.ReportMetric(float64(all.Milliseconds())/float64(b.N), "cpu-ms/op")
}

// BenchmarkProgramIsReady is to be at most 100 ms on two cores of 2026.
func BenchmarkProgramIsReady(b *testing.B) { computes(b, "--version") }

// BenchmarkOfflineAnswerInThisRepository is to be at most 500 ms on two cores of 2026.
func BenchmarkOfflineAnswerInThisRepository(b *testing.B) {
	computes(b, "ask", "-q", "-m", "offline:rules", "--in", "../..", "How does the Acquire function of a lease work?")
}

// backdate moves all that is in the journal so many days into the past, as if nobody had used it since.
func backdate(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: backdate DAYS")
	}
	days, err := strconv.Atoi(args[0])
	ts.Check(err)
	db, err := sql.Open("sqlite", app.DatabaseFile(filepath.Clean(ts.Getenv("SIBYL_DATA"))))
	ts.Check(err)
	back := (time.Duration(days) * 24 * time.Hour).Milliseconds()
	for _, change := range []string{
		`UPDATE session SET created_at = created_at - ?1, updated_at = updated_at - ?1`,
		`UPDATE run SET started_at = started_at - ?1, ended_at = ended_at - ?1, lease_until = lease_until - ?1`,
		`UPDATE record SET at = at - ?1`,
	} {
		_, err := db.Exec(change, back)
		ts.Check(err)
	}
	ts.Check(db.Close())
}

// later has the journal look as if a later version of the program had changed its tables.
func later(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: later DATA")
	}
	db, err := sql.Open("sqlite", app.DatabaseFile(ts.MkAbs(args[0])))
	ts.Check(err)
	_, err = db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`)
	ts.Check(err)
	ts.Check(db.Close())
}

// word sets a variable to a word of the last standard output, counted from 1.
func word(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: word NAME NUMBER")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	words := strings.Fields(ts.ReadFile("stdout"))
	if n < 1 || n > len(words) {
		ts.Fatalf("standard output has %d words, not %d", len(words), n)
	}
	ts.Setenv(args[0], words[n-1])
}

// tracker is an MCP server of others, on standard streams. TRACKER_TOOLS names its tools, which say their name and what
// they were given.
func tracker() {
	server := mcp.NewServer(&mcp.Implementation{Name: "tracker", Version: "1"}, nil)
	names := strings.Fields(os.Getenv("TRACKER_TOOLS"))
	if len(names) == 0 {
		fmt.Fprintln(os.Stderr, "TRACKER_TOOLS names no tool")
		os.Exit(1)
	}
	for _, name := range names {
		server.AddTool(&mcp.Tool{Name: name, Description: "Does " + name + " \x1b[31m.",
			InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: name == "search"}},
			func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + " " +
					string(req.Params.Arguments)}}}, nil
			})
	}
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(0)
}
