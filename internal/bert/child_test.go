package bert_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bert"
	"sibyl/internal/bert/berttest"
)

var two = labels[:2]

func TestChildIsStartedByTheFirstQuestionAndKept(t *testing.T) {
	line := newLifeline(t)
	c := start(t, trained(t), line.env())
	line.none(t)
	for range 3 {
		best(t, c, "stuck")
	}
	line.next(t)
	line.none(t)
}

func TestChildThatDiesInAnAnswerIsReplacedOnce(t *testing.T) {
	line := newLifeline(t)
	c := start(t, t.TempDir(), line.env(), script("read", answered, "read", "exit 3"))
	for range 2 { // the child that is there dies of the second question
		assert.Must(c.Classify(t.Context(), "x", two))(t)
	}
	line.next(t).waitForEnd(t)
	line.next(t)
	line.none(t)
}

func TestChildThatAlwaysDiesIsAnErrorWithItsLastWords(t *testing.T) {
	line := newLifeline(t)
	c := start(t, t.TempDir(), line.env(), script("read", "grumble first", "grumble at \x1b[1mlast", "exit 3"))
	_, err := c.Classify(t.Context(), "x", two)
	fails(t, err, "the child ended (exit status 3): at [1mlast")
	line.next(t).waitForEnd(t)
	line.none(t)
}

func TestChildThatCanNotBeStarted(t *testing.T) {
	cfg := config(t, trained(t))
	cfg.Command = []string{"/nowhere/sibyl-bert"}
	_, err := open(t, cfg).Classify(t.Context(), "x", two)
	fails(t, err, cfg.Dir, "could not be started", "/nowhere/sibyl-bert")
	cfg.Missing = "make it"
	_, err = open(t, cfg).Classify(t.Context(), "x", two)
	fails(t, err, "the program sibyl-bert is not there; make it")
}

func TestChildThatGivesNoAnswerIsKilled(t *testing.T) {
	for says, steps := range map[string][]string{
		`"Welcome!", which is no answer`: {"read", "say Welcome!", "hang"},
		"token too long":                 {"read", "flood", "hang"},
		`"{}", which is no answer`:       {"read", "say {}", "hang"},
		`"retry", which is no answer`:    {"read", `say {"scores":[{"label":"retry"}]}`, "hang"},
		"no answer within":               {"read", "hang"},
		"answer within":                  {"hang"}, // it does not even read
	} {
		line := newLifeline(t)
		cfg := config(t, t.TempDir(), line.env(), script(steps...))
		c := open(t, cfg)
		if strings.Contains(says, "within") {
			c.SetWaits(50*time.Millisecond-cfg.Timeout, time.Minute)
		}
		_, err := c.Classify(t.Context(), strings.Repeat("x", 5000), two)
		fails(t, err, strings.TrimPrefix(says, `"retry", `))
		select {
		case child := <-line.born:
			child.isGone(t)
		default: // killed before it could say that it lives
		}
	}
}

func TestModelThatFailedIsLeftAloneForAWhile(t *testing.T) {
	line := newLifeline(t)
	c := start(t, t.TempDir(), line.env(), script("exit 3"))
	_, first := c.Classify(t.Context(), "x", two)
	fails(t, first, "exit status 3")
	line.next(t)
	_, err := c.Classify(t.Context(), "x", two)
	fails(t, err, first.Error())
	line.none(t)
	_, err = c.Check(t.Context(), two)
	fails(t, err, "exit status 3")
	line.next(t)
	c.SetWaits(time.Minute, 0)
	_, err = c.Classify(t.Context(), "x", two)
	fails(t, err, "exit status 3")
	line.next(t)
	line.none(t)
}

func TestWithdrawnQuestionKillsTheChildAndTheNextStartsAnother(t *testing.T) {
	line := newLifeline(t)
	c := start(t, t.TempDir(), line.env(), script("read", "hang"))
	for range 2 {
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error)
		go func() {
			_, err := c.Classify(ctx, "x", two)
			done <- err
		}()
		child := line.next(t)
		cancel(errors.New("stopped by the person"))
		err := <-done
		fails(t, err, "context canceled")
		assert.That(t, errors.Is(err, context.Canceled), "the error is %v", err)
		child.isGone(t)
		_, err = c.Classify(ctx, "x", two)
		fails(t, err, "context canceled")
		line.none(t)
	}
}

func TestQuestionThatComesTooLateStartsNothing(t *testing.T) {
	cfg := config(t, trained(t))
	cfg.Command = []string{"/nowhere/sibyl"}
	c := open(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 { // the turn is free, so either may be seen first
		_, err := c.Classify(ctx, "x", two)
		fails(t, err, "context canceled")
	}
	c.Close()
	_, err := c.Classify(t.Context(), "x", two)
	fails(t, err, "it is closed")
}

func TestQuestionWaitsItsTurnOnlySoLong(t *testing.T) {
	cfg := config(t, trained(t))
	c := open(t, cfg)
	c.SetWaits(30*time.Millisecond-cfg.Timeout, 0)
	giveBack := c.Busy()
	defer giveBack()
	_, err := c.Classify(t.Context(), "x", labels)
	fails(t, err, "busy for 30ms")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Check(ctx, labels)
	fails(t, err, "context canceled")
}

func TestCloseEndsTheChildAndWaits(t *testing.T) {
	line := newLifeline(t)
	c := start(t, trained(t), line.env())
	best(t, c, "stuck")
	child := line.next(t)
	c.Close()
	child.isGone(t)
	c.Close()
	_, err := c.Classify(t.Context(), "stuck", labels)
	fails(t, err, "it is closed")
	line.none(t)
}

func TestCloseEndsAQuestionUnderWay(t *testing.T) {
	line := newLifeline(t)
	c := start(t, t.TempDir(), line.env(), script("read", "hang"))
	done := make(chan error, 2)
	for range 2 {
		go func() {
			_, err := c.Classify(t.Context(), "x", two)
			done <- err
		}()
	}
	child := line.next(t)
	c.Close()
	child.isGone(t)
	for range 2 {
		fails(t, <-done, "it is closed")
	}
}

func TestConcurrentQuestionsGetTheirOwnAnswers(t *testing.T) {
	line := newLifeline(t)
	c := start(t, trained(t), line.env())
	texts := map[string]string{"looping": "other_strategy", "timeout": "retry", "unsure": "ask_user",
		"done": "force_answer"}
	var wg sync.WaitGroup
	for text, want := range texts {
		for range 5 {
			wg.Go(func() {
				scores, err := c.Classify(t.Context(), text, labels)
				assert.That(t, err == nil && scores[0].Label == want, "%s: %v, %v; want %s", text, scores, err, want)
			})
		}
	}
	wg.Wait()
	line.next(t)
	line.none(t)
}

func TestChildSeesNothingOfTheParentsEnvironment(t *testing.T) {
	t.Setenv(scriptVar, "exit 9") // which would end the child
	assert.Equalf(t, best(t, start(t, trained(t)), "stuck"), "other_strategy", "the best")
}

// beParent is a process that has a child at work, until it is killed.
func beParent() {
	cfg, err := berttest.Config(os.Args[len(os.Args)-1])
	if err != nil {
		panic(err)
	}
	cfg.Env = append(cfg.Env, lifelineVar+"="+os.Getenv(lifelineVar))
	if _, err := bert.New(cfg).Classify(context.Background(), "stuck", labels); err != nil {
		panic(err)
	}
	fmt.Println("answered")
	select {}
}

func TestChildEndsWhenItsParentIsKilled(t *testing.T) {
	line := newLifeline(t)
	program := assert.Must(os.Executable())(t)
	parent := exec.Command(program, trained(t))
	parent.Env = []string{parentVar + "=1", line.env()}
	out := assert.Must(parent.StdoutPipe())(t)
	assert.NoError(t, parent.Start())
	got := line.next(t)
	assert.That(t, got.pid == parent.Process.Pid, "the first process is %d, not the parent", got.pid)
	child := line.next(t)
	assert.Must(out.Read(make([]byte, 9)))(t)
	assert.NoError(t, parent.Process.Kill())
	assert.That(t, parent.Wait() != nil, "the parent ended in peace")
	child.waitForEnd(t)
}
