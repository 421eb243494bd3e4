package app

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"sibyl/internal/store/pgtest"
)

// The run bench plays one run over and over: 3 turns, 2 tool calls with results of 490 and 1,100 bytes, and 2 KB
// streamed in 100 events, each flushed, from a server without delay in a process of its own. It is the whole program,
// durable on SQLite with synchronous=FULL.

const serveEnv = "SIBYL_BENCH_SERVE"

// slowModel is how long the server thinks about a question that says “slowly”.
const slowModel = 100 * time.Millisecond

func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) != "" {
		serveBench()
		return
	}
	if data := os.Getenv(presentEnv); data != "" {
		bePresent(data)
		return
	}
	os.Exit(pgtest.Main(m).Run())
}

// serveBench answers until standard input ends.
func serveBench() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr().String())
	call := func(path string) []string {
		return []string{part(`{"tool_calls":[{"index":0,"id":"call_`+path+
			`","type":"function","function":{"name":"code_read","arguments":"{\"path\":\"`+path+`\"}"}}]}`, ""),
			part("{}", "tool_calls"), closing}
	}
	answer := make([]string, 0, 102)
	for range 99 {
		answer = append(answer, part(`{"content":"`+chunk+`"}`, ""))
	}
	answer = append(answer, part(
		`{"content":"<signal type=\"context_sufficient\"><sources_found>1</sources_found><confidence>0.9</confidence></signal>"}`, ""),
		part("{}", "stop"), closing)
	events := [][]string{call("a.go"), call("b.go"), answer}
	srv := &http.Server{ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if bytes.Contains(body, []byte("slowly")) {
				<-time.After(slowModel)
			}
			w.Header().Set("Content-Type", "text/event-stream")
			for _, e := range events[min(2, bytes.Count(body, []byte(`"role":"tool"`)))] {
				_, _ = io.WriteString(w, e)
				w.(http.Flusher).Flush()
			}
		})}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	panic(srv.Serve(l))
}

func part(delta, finish string) string {
	end := "null"
	if finish != "" {
		end = `"` + finish + `"`
	}
	return `data: {"id":"x","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + delta +
		`,"finish_reason":` + end + "}]}\n\n"
}

// chunk is what the answer repeats; closing are the last events of a stream.
const (
	chunk   = "twenty characters ok"
	closing = `data: {"choices":[],"usage":{"prompt_tokens":3300,"completion_tokens":40}}` + "\n\ndata: [DONE]\n\n"
)

// benchServer starts the server's process and gives its address.
func benchServer(tb testing.TB) string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatal(err)
	}
	return "http://" + strings.TrimSpace(addr) + "/v1"
}
