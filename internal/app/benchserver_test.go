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

	"sibyl/internal/behaviour/assert"
)

// The benchmarks play one run over and over: 3 turns, 2 tool calls with results of 490 and 1,100 bytes, and 2 KB
// streamed in 100 events, each flushed. The model's server is a process of its own, so that its CPU time is not counted.

// serveEnv makes the test binary the model's server. It ends when its standard input does.
const serveEnv = "SIBYL_APP_TEST_MODEL"

// The server answers at once, unless the request holds one of these words.
const (
	slowModel   = 100 * time.Millisecond // “slowly”
	distantTurn = 700 * time.Millisecond // “distant”
)

func serveModel() {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the process
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	events := [][]string{readCall("a.go"), readCall("b.go"), answerEvents()}
	server := &http.Server{ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			switch {
			case bytes.Contains(body, []byte("slowly")):
				<-time.After(slowModel)
			case bytes.Contains(body, []byte("distant")):
				<-time.After(distantTurn)
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
	fmt.Fprintln(os.Stderr, server.Serve(listener))
	os.Exit(1)
}

func readCall(path string) []string {
	return []string{part(`{"tool_calls":[{"index":0,"id":"call_`+path+
		`","type":"function","function":{"name":"code_read","arguments":"{\"path\":\"`+path+`\"}"}}]}`, ""),
		part("{}", "tool_calls"), closing}
}

func answerEvents() (events []string) {
	for range 99 {
		events = append(events, part(`{"content":"`+chunk+`"}`, ""))
	}
	const signal = `<signal type=\"context_sufficient\"><sources_found>1</sources_found><confidence>0.9</confidence></signal>`
	return append(events, part(`{"content":"`+signal+`"}`, ""), part("{}", "stop"), closing)
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

// startModel starts the model's server and returns its address.
func startModel(tb testing.TB) string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"=1")
	cmd.Stderr = os.Stderr
	stdin := assert.Must(cmd.StdinPipe())(tb)
	out := assert.Must(cmd.StdoutPipe())(tb)
	assert.NoError(tb, cmd.Start())
	tb.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		tb.Fatalf("the model's server did not say its address: %v", err)
	}
	return "http://" + strings.TrimSpace(address) + "/v1"
}
