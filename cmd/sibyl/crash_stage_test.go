package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bert/berttest"
	"sibyl/internal/cli"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/trees"
)

// stage is a server of two models that play a scene with every kind of effect. Where they are in it, they know by the
// conversation alone. The first one is down from the first request to the last.
type stage struct {
	*modeltest.Server

	mu    sync.Mutex
	asked map[string]int // by model and part
	stops string         // a part whose first reply hangs in its middle; "": none
}

// staged is a request as the models look at it.
type staged struct{ modeltest.Request }

var stepSaid = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`step (\d+)\.`) })

// step is the one behind the last that was said. Notes name the last one that they are of.
func (r staged) step() int {
	last := 0
	for _, m := range r.Messages {
		for _, found := range stepSaid().FindAllStringSubmatch(m.Content, -1) {
			if n, err := strconv.Atoi(found[1]); err == nil {
				last = max(last, n)
			}
		}
	}
	return last + 1
}

// part names what is asked for.
func (r staged) part() string {
	isShadow := slices.ContainsFunc(r.Messages, func(m modeltest.Message) bool {
		note, _ := agent.SplitNote(m.Content)
		return strings.Contains(note, "web_fetch") // which the question itself is not offered
	})
	switch {
	case strings.Contains(r.Messages[len(r.Messages)-1].Content, "The conversation has become long"):
		return fmt.Sprintf("notes before step %d", r.step())
	case isShadow:
		return fmt.Sprintf("step %d of the shadow", r.step())
	}
	return fmt.Sprintf("step %d", r.step())
}

func newStage() *stage {
	s := &stage{Server: modeltest.NewServer(nil), asked: map[string]int{}}
	s.Models = []string{"first", "second"}
	s.Play(func(r modeltest.Request) modeltest.Answer { return s.answer(staged{r}) })
	return s
}

func (s *stage) answer(r staged) modeltest.Answer {
	part := r.part()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[r.Model+" "+part]++
	if r.Model == "first" {
		return modeltest.Answer{Fail: model.RateLimit, RetryAfter: 2 * time.Minute}
	}
	text, calls := playPart(part, r.step())
	begun, rest, _ := strings.Cut(text, " ")
	if s.stops == part {
		s.stops = ""
		return modeltest.Answer{Chunks: []string{begun + " "}, Break: modeltest.Hang}
	}
	a := modeltest.Answer{Chunks: []string{begun + " ", rest}, Usage: model.Usage{InputTokens: 100, OutputTokens: 50}}
	for i, c := range calls {
		a.Calls = append(a.Calls, model.ToolCall{ID: fmt.Sprintf("call_%d_%d", r.step(), i), Name: c[0],
			Arguments: c[1]})
	}
	return a
}

// playPart is what the second model says: step 3 is doubtful, steps 4 to 7 go round, step 9 is a question to the
// person.
func playPart(part string, step int) (text string, calls [][2]string) {
	goOn := func(reason, confidence string) string {
		return fmt.Sprintf(`This is step %d. <signal type="need_turn"><reason>%s</reason><confidence>%s</confidence></signal>`, step, reason, confidence)
	}
	write := [2]string{"vault_write", `{"path":"caching.md","mode":"append","content":"- decided: no cache\n"}`}
	read, search := [2]string{"vault_read", `{"path":"caching.md"}`}, [2]string{"vault_search", `{"query":"caching"}`}
	switch {
	case strings.HasPrefix(part, "notes"):
		return fmt.Sprintf("Notes up to step %d.", step-1), nil
	case strings.HasSuffix(part, "shadow") && step == 1:
		return goOn("all at once", "0.8"), [][2]string{read, write, search}
	case strings.HasSuffix(part, "shadow"):
		return fmt.Sprintf("The shadow says so in step %d. (`caching.md:1`) %s", step, sure), nil
	}
	switch step {
	case 1:
		return goOn("see what there is", "0.8"), [][2]string{read, search, {"vault_list", `{}`}}
	case 2:
		return goOn("write the note", "0.8"), [][2]string{write}
	case 3:
		return goOn("doubtful whether there is more", "0.1"), nil
	case 4, 5, 6, 7:
		return goOn(strings.Repeat("and again ", step), "0.8"), [][2]string{search}
	case 8:
		return goOn("read on", "0.8"), [][2]string{{"vault_read", `{"path":"more.md"}`}}
	}
	return fmt.Sprintf("This is step %d. It stands in `caching.md:1`. ", step) +
		`<signal type="stuck"><attempted>["search"]</attempted><blocker>nobody said where</blocker><confidence>0.9</confidence></signal>` +
		" Which folder is it for?", nil
}

// drama is a story on that stage: with a classifier, a tree that takes notes early, and a second model.
type drama struct {
	*story
	stage *stage
	model string // the classifier's folder
}

func newDrama(t *testing.T) *drama {
	t.Helper()
	d := &drama{story: newStory(t), stage: newStage(), model: t.TempDir()}
	t.Cleanup(d.stage.Close)
	d.server.BaseURL = d.stage.BaseURL                      // so that every process asks there
	err := berttest.Write(d.model, berttest.Classification) // to which “doubtful” and “folder” say something
	assert.NoError(t, err)
	tree := assert.Must(trees.Set{}.Get(oracle.Name))(t)
	d.note(t, "more.md", "# More\n\nThere is more.\n")
	write(t, filepath.Join(d.data, "oracle.xml"), strings.Replace(string(tree.Text), `most="24000"`, `most="150"`, 1))
	d.set(t, fmt.Sprintf("bert: {model: %q}\nfallback: {models: ['openai:second']}\ntrees: %q\n", d.model, d.data))
	return d
}

// ask is the question; with shadow, it is answered by the baseline as well.
func (d *drama) ask(shadow bool) []string {
	args := []string{"ask", "--json", "--in", d.vault, "--vault", d.vault, "-m", "openai:first", "--max-turns", "11",
		"--max-tokens", "2000"}
	if shadow {
		args = append(args, "--shadow")
	}
	return append(args, "Add a note to caching.md that we use no cache")
}

// killed is a process that is to be killed on its way.
func (d *drama) killed(t *testing.T, crash string, args ...string) {
	t.Helper()
	o := d.begin(t, crashAt+"="+crash, args...)()
	assert.Require(t, o.code == -1, "it was not killed: it exits %d\n%s", o.code, o.err)
	d.childless(t)
	d.shownOnlyAtTheEnd(t, o.out)
}

// shownOnlyAtTheEnd checks that what a process printed before it was killed is nothing, or the answer that is in the
// journal.
func (d *drama) shownOnlyAtTheEnd(t *testing.T, out string) {
	t.Helper()
	if out == "" {
		return
	}
	var shown oracle.Answer
	if err := json.Unmarshal([]byte(out), &shown); err != nil {
		t.Errorf("it printed %q: %v", out, err)
		return
	}
	assert.NoDiff(t, gocmp.Diff(d.ended(t).answers[oracle.Name], timeless(shown)),
		"it printed another answer than the journal has (-journal +printed)")
}

// goOn resumes what is open, or asks again where nothing was begun, and waits for the process's end.
func (d *drama) goOn(t *testing.T, shadow bool) {
	t.Helper()
	o := d.begin(t, "", "run", "resume", "--json")()
	assert.That(t, o.code == cli.ExitPartial || o.code == cli.ExitAnswered,
		"resuming exits %d\n%s%s", o.code, o.out, o.err)
	if strings.Contains(o.err, "no paused runs") && len(d.ended(t).runs) == 0 {
		d.run(t, "", cli.ExitPartial, d.ask(shadow))
	}
	d.childless(t)
}

// childless waits until no process serves the classifier any more.
func (d *drama) childless(t *testing.T) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for {
		children := d.children(t)
		if len(children) == 0 {
			return
		}
		select {
		case <-again.C:
		case <-deadline.C:
			t.Errorf("the classifier's processes %v stay behind", children)
			return
		}
	}
}

// withChild checks that the classifier is at work; else it would prove nothing that none stays behind.
func (d *drama) withChild(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/proc/self/cmdline"); err == nil && len(d.children(t)) != 1 {
		t.Errorf("the processes %v of the classifier are at work, want one", d.children(t))
	}
}

// childrenFile is a file in the classifier's folder, with the ids of the processes that have served it, a line each.
const childrenFile = "children"

// noteChild notes that this process serves the classifier of a folder, if there is one.
func noteChild(folder string) {
	f, err := os.OpenFile(filepath.Join(folder, childrenFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return // nobody looks for the processes of a folder that takes no file
	}
	_, err = fmt.Fprintln(f, os.Getpid())
	if err = errors.Join(err, f.Close()); err != nil {
		panic(err)
	}
}

// children are the processes of the classifier, where /proc tells.
func (d *drama) children(t *testing.T) (pids []string) {
	t.Helper()
	noted, err := os.ReadFile(filepath.Join(d.model, childrenFile))
	assert.Require(t, err == nil || errors.Is(err, os.ErrNotExist), "%v", err)
	for pid := range strings.FieldsSeq(string(noted)) {
		args, err := os.ReadFile(filepath.Join("/proc", pid, "cmdline")) // another process may have the id by now
		if err == nil && bytes.Contains(args, []byte(app.ClassifierProgram)) && bytes.Contains(args, []byte(d.model)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killedInReply runs the program, kills it in the middle of a reply, and waits until it is dead.
func (d *drama) killedInReply(t *testing.T, part string, args []string) {
	t.Helper()
	d.killedBy(t, args, func(running *os.Process) {
		<-d.stage.Hanging()
		if part == "step 9" {
			d.withChild(t)
		}
		assert.Nil(t, running.Kill())
	})
}

// killedBy runs the program beside who kills it, and waits until it is dead.
func (d *drama) killedBy(t *testing.T, args []string, kill func(*os.Process)) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sibyl", args...)
	cmd.Env = d.environ()
	var out bytes.Buffer
	cmd.Stdout = &out
	assert.NoError(t, cmd.Start())
	go kill(cmd.Process)
	err := cmd.Wait()
	var exit *exec.ExitError
	assert.Require(t, errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL,
		"it was not killed: %v", err)
	d.childless(t)
	d.shownOnlyAtTheEnd(t, out.String())
}
