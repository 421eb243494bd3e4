package bert_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bert"
	"sibyl/internal/bert/berttest"
)

// What a child is told through its environment.
const (
	lifelineVar = "BERT_TEST_LIFELINE" // where it connects to, to be seen to live
	scriptVar   = "BERT_TEST_SCRIPT"   // what it does instead of serving a model
	parentVar   = "BERT_TEST_PARENT"   // set: it starts a child of its own, and waits
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(lifelineVar); addr != "" {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			panic(err)
		}
		fmt.Fprintln(conn, os.Getpid())
	}
	if os.Getenv(parentVar) != "" {
		beParent()
	}
	if script := os.Getenv(scriptVar); script != "" {
		play(strings.Split(script, "\n"))
	}
	berttest.Serve()
	goleak.VerifyTestMain(m)
}

// play is a child that does as it is told, step by step, and then ends.
func play(steps []string) {
	in := bufio.NewReader(os.Stdin)
	for _, step := range steps {
		verb, what, _ := strings.Cut(step, " ")
		switch verb {
		case "say":
			fmt.Println(what)
		case "flood":
			fmt.Print(strings.Repeat("x", 1<<20))
		case "grumble":
			fmt.Fprintln(os.Stderr, what)
		case "read":
			if _, err := in.ReadString('\n'); err != nil {
				os.Exit(0)
			}
		case "hang":
			// A wait for a signal: without C, a process that waits for nothing is ended as deadlocked.
			never := make(chan os.Signal, 1)
			signal.Notify(never, os.Interrupt)
			<-never
		case "exit":
			code, err := strconv.Atoi(what)
			if err != nil {
				panic(err)
			}
			os.Exit(code)
		default:
			panic("no step: " + step)
		}
	}
	os.Exit(0)
}

// answered is what a child says whose model knows two labels.
const answered = `say {"scores":[{"label":"retry","score":0.7},{"label":"go_on","score":0.3}],"info":{"kind":"classification"}}`

// The labels that the Oracle chooses from.
var labels = []bert.Label{
	{Name: "go_on", Hypothesis: "The work is advancing."},
	{Name: "retry", Hypothesis: "A passing error got in the way."},
	{Name: "other_strategy", Hypothesis: "Another strategy is needed."},
	{Name: "force_answer", Hypothesis: "Enough is known to answer."},
	{Name: "ask_user", Hypothesis: "The user has to decide."},
}

var names = func() (list []string) {
	for _, l := range labels {
		list = append(list, l.Name)
	}
	return list
}()

// trained writes a model that was trained on the labels.
func trained(t testing.TB) string { return written(t, berttest.Classification) }

// zeroShot writes a model that goes by the hypotheses.
func zeroShot(t testing.TB) string { return written(t, berttest.ZeroShot) }

func written(t testing.TB, model string) string {
	dir := t.TempDir()
	assert.NoError(t, berttest.Write(dir, model))
	return dir
}

// lifeline sees children come and go.
type lifeline struct {
	addr string
	born chan life
}

type life struct {
	conn net.Conn
	in   *bufio.Reader
	pid  int
}

func newLifeline(t *testing.T) *lifeline {
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	line := &lifeline{l.Addr().String(), make(chan life, 100)}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(conn)
			text, err := in.ReadString('\n')
			if text == "" && err != nil { // killed before it could say that it lives
				shut(t, conn)
				continue
			}
			pid, nan := strconv.Atoi(strings.TrimSpace(text))
			assert.That(t, err == nil && nan == nil, "a child says %q: %v", text, err)
			t.Cleanup(func() { shut(t, conn) })
			line.born <- life{conn, in, pid}
		}
	}()
	t.Cleanup(func() { shut(t, l); <-finished })
	return line
}

// patience is how long a test waits for what must come.
const patience = time.Minute

// next is the next child that was started.
func (l *lifeline) next(t *testing.T) life {
	t.Helper()
	select {
	case child := <-l.born:
		return child
	case <-time.After(patience):
		t.Fatal("no child was started")
		return life{}
	}
}

// none fails if a child was started that next has not told of. The children so far have answered or are gone.
func (l *lifeline) none(t *testing.T) {
	t.Helper()
	n := len(l.born)
	assert.That(t, n == 0, "%d more children were started", n)
}

// waitForEnd waits for the child's end, and fails if it lives on.
func (l life) waitForEnd(t *testing.T) {
	t.Helper()
	assert.NoError(t, l.conn.SetReadDeadline(time.Now().Add(patience)))
	var timeout net.Error
	_, err := l.in.ReadByte()
	assert.Require(t, err != nil && (!errors.As(err, &timeout) || !timeout.Timeout()), "the child lives on (%v)", err)
}

// isGone fails if the child has not ended, or was not waited for.
func (l life) isGone(t *testing.T) {
	t.Helper()
	err := syscall.Kill(l.pid, 0)
	assert.That(t, errors.Is(err, syscall.ESRCH), "the process is still there (%v)", err)
}

// start returns a classifier of the model in dir, closed with the test, with more in the child's environment.
func start(t *testing.T, dir string, env ...string) *bert.Classifier {
	t.Helper()
	cfg := config(t, dir, env...)
	return open(t, cfg)
}

func config(t *testing.T, dir string, env ...string) bert.Config {
	t.Helper()
	cfg := assert.Must(berttest.Config(dir))(t)
	// without it, a measured child's last words are a warning
	cfg.Env = append(append(cfg.Env, "GOCOVERDIR="+t.TempDir()), env...)
	return cfg
}

func open(t *testing.T, cfg bert.Config) *bert.Classifier {
	c := bert.New(cfg)
	t.Cleanup(c.Close)
	return c
}

func (l *lifeline) env() string { return lifelineVar + "=" + l.addr }

func script(steps ...string) string { return scriptVar + "=" + strings.Join(steps, "\n") }

// best classifies and returns the best label.
func best(t *testing.T, c *bert.Classifier, text string) string {
	t.Helper()
	scores, err := c.Classify(t.Context(), text, labels)
	assert.NoErrorf(t, err, "%q", text)
	return scores[0].Label
}

// fails wants an error that says all of this, in one clean line.
func fails(t *testing.T, err error, says ...string) {
	t.Helper()
	assert.Require(t, err != nil, "no error; want one that says %q", says)
	assert.Contains(t, "the error", err.Error(), says...)
	assert.That(t, !strings.ContainsFunc(err.Error(), unicode.IsControl) && len(err.Error()) <= 1500,
		"the error is %q", err)
}

func shut(t *testing.T, c io.Closer) { assert.Nil(t, c.Close()) }

// edit changes a JSON file of a model.
func edit(t *testing.T, path string, change func(map[string]any)) {
	t.Helper()
	data := assert.Must(os.ReadFile(path))(t)
	var v map[string]any
	assert.NoError(t, json.Unmarshal(data, &v))
	change(v)
	data = assert.Must(json.Marshal(v))(t)
	write(t, path, string(data))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	assert.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func sorted(scores []bert.Score) bool {
	return slices.IsSortedFunc(scores, func(a, b bert.Score) int {
		switch {
		case a.Score > b.Score:
			return -1
		case a.Score < b.Score:
			return 1
		}
		return 0
	})
}
