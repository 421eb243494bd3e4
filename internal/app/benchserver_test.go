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
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/store/pgtest"
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
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
	assert.NoErrorf(tb, err, "the model's server did not say its address")
	return "http://" + strings.TrimSpace(address) + "/v1"
}

// presentEnv has the test binary be a process that makes itself known in a data folder, says its name, and waits for
// its end.
const presentEnv = "SIBYL_APP_TEST_PRESENT"

func TestMain(m *testing.M) {
	if os.Getenv(serveEnv) != "" {
		serveModel()
		return
	}
	if data := os.Getenv(presentEnv); data != "" {
		bePresent(data)
		return
	}
	os.Exit(pgtest.Main(m).Run())
}

func bePresent(data string) {
	p := newPresence(data)
	if _, err := os.Stdout.WriteString(p.holder + "\n"); err != nil {
		os.Exit(1)
	}
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // which never comes
}

// present starts a process that makes itself known, and gives its name in leases and a way to kill it.
func present(t *testing.T, data string) (holder string, kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), presentEnv+"="+data)
	in := assert.Must(cmd.StdinPipe())(t)
	out := assert.Must(cmd.StdoutPipe())(t)
	assert.NoError(t, cmd.Start())
	line := assert.Must(bufio.NewReader(out).ReadString('\n'))(t)
	return strings.TrimSpace(line), func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		_ = in.Close()
	}
}

func TestProcessIsGoneWhenNobodyHoldsItsLock(t *testing.T) {
	if machineID() == unknown {
		t.Skip("this system does not tell where a process runs")
	}
	data := t.TempDir()
	p := newPresence(data)
	defer p.Close()
	other, kill := present(t, data)
	assert.That(t, !p.isGone(other) && !p.isGone(p.holder), "a process that lives is gone")
	elsewhere := newPresence(t.TempDir())
	defer elsewhere.Close()
	_, name, _ := strings.Cut(other, "/")
	inContainer := "c0ffee" + p.place[strings.LastIndexByte(p.place, '-'):] + "/" + name
	otherMachine := strings.TrimSuffix(p.place, p.place[len(p.place)-4:]) + "0bad/" + name
	kill()
	for _, c := range []struct {
		who    *presence
		holder string
		want   bool
	}{
		{p, other, true}, {p, inContainer, true}, {p, otherMachine, false}, {elsewhere, other, false}, {p, "", false},
		{p, name, false},
		{p, p.place + "/", false}, {p, p.place + "/../" + name, false}, {p, p.place + "/never", false},
		{p, unknown + "/" + name, false},
	} {
		assert.Equalf(t, c.who.isGone(c.holder), c.want, "gone(%q)", c.holder)
	}
}

// A process that ends by itself may not have been able to give its leases back. Numbers of processes mean nothing: one
// of a process that is gone may be taken again.
func TestProcessThatEndedByItselfIsGoneWhateverItsNumber(t *testing.T) {
	if machineID() == unknown {
		t.Skip("this system does not tell where a process runs")
	}
	data := t.TempDir()
	p, ended, elsewhere := newPresence(data), newPresence(data), newPresence(t.TempDir())
	defer p.Close()
	defer elsewhere.Close()
	assert.That(t, !p.isGone(ended.holder), "it is gone while it lives")
	ended.Close()
	assert.That(t, p.isGone(ended.holder), "it is not gone, though only its number is taken")
	assert.That(t, !elsewhere.isGone(ended.holder), "it is gone for those of another folder, who can't know")
}

func TestFilesOfProcessesThatAreGoneAreRemovedInTheEnd(t *testing.T) {
	data := t.TempDir()
	p := newPresence(data)
	defer p.Close()
	_, killed := present(t, data)
	killed()
	_, kill := present(t, data)
	defer kill()
	count := func() int {
		all := assert.Must(os.ReadDir(filepath.Join(data, "processes")))(t)
		return len(all)
	}
	n := count()
	assert.Require(t, n == 3, "%d files of 3 processes", n)
	all, _ := os.ReadDir(filepath.Join(data, "processes"))
	for _, one := range all {
		long := time.Now().Add(-2 * keptLocks)
		assert.NoError(t, os.Chtimes(filepath.Join(data, "processes", one.Name()), long, long))
	}
	newPresence(data).Close()
	n = count()
	assert.That(t, n == 3, "%d files of the 2 processes that live, and the one that has just ended", n)
}

func TestFolderThatTakesNoLockLeavesItToTheLease(t *testing.T) {
	data := filepath.Join(t.TempDir(), "file")
	write(t, filepath.Dir(data), "file", "")
	p := newPresence(data)
	defer p.Close()
	assert.That(t, !p.isGone(p.holder) && strings.HasPrefix(p.holder, unknown+"/"),
		"%s, gone: %v", p.holder, p.isGone(p.holder))
}
