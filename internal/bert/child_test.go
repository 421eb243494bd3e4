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

func TestKilledChildIsReplacedForTheNextQuestion(t *testing.T) {
	line := newLifeline(t)
	c := start(t, trained(t), line.env())
	for range 3 {
		if got := best(t, c, "stuck"); got != "other_strategy" {
			t.Errorf("the best is %s", got)
		}
		line.next(t).kill(t)
	}
}

func TestChildThatDiesInAnAnswerIsReplacedOnce(t *testing.T) {
	line := newLifeline(t)
	answered := `say {"id":1,"scores":[{"label":"retry","score":0.7},{"label":"go_on","score":0.3}]}`
	c := start(t, t.TempDir(), line.env(), script(ready, "read", answered, "read", "grumble first", "grumble at last", "exit 3"))
	if _, err := c.Classify(t.Context(), "x", two); err != nil {
		t.Fatal(err)
	}
	// The child that is there dies of the second question; the one that replaces it says it answered the first.
	if _, err := c.Classify(t.Context(), "x", two); err != nil {
		t.Fatal(err)
	}
	line.next(t).ends(t)
	line.next(t)
	line.none(t)
}

func TestChildThatAlwaysDiesIsAnErrorWithItsLastWords(t *testing.T) {
	line := newLifeline(t)
	c := start(t, t.TempDir(), line.env(), script(ready, "read", "grumble first", "grumble at \x1b[1mlast", "exit 3"))
	_, err := c.Classify(t.Context(), "x", two)
	fails(t, err, bert.Died, "exit status 3", "): at [1mlast")
	line.next(t).ends(t)
	line.none(t)
}

func TestChildThatCanNotBeStarted(t *testing.T) {
	cfg := config(t, trained(t))
	cfg.Command = []string{"/nowhere/sibyl", "classify-worker"}
	_, err := open(t, cfg).Classify(t.Context(), "x", two)
	fails(t, err, bert.Died, "could not be started", "/nowhere/sibyl")
	cfg.Command = nil
	_, err = open(t, cfg).Classify(t.Context(), "x", two)
	fails(t, err, bert.Invalid, "no command")
}

func TestChildOutsideTheProtocolIsKilled(t *testing.T) {
	answers := func(line string) []string { return []string{ready, "read", "say " + line, "hang"} }
	for says, steps := range map[string][]string{
		`"Welcome!", which is no answer`: {"say Welcome!", "hang"},
		"more than 256 KB":               {"flood", "hang"},
		"did not say that it is ready":   {`say {"id":0}`, "hang"},
		"answer 9 to question 1":         answers(`{"id":9,"scores":[{"label":"retry","score":0.7},{"label":"go_on","score":0.3}]}`),
		"lacks 1 labels":                 answers(`{"id":1,"scores":[{"label":"retry","score":0.7}]}`),
		"a score of 0.7":                 answers(`{"id":1,"scores":[{"label":"retry","score":0.3},{"label":"go_on","score":0.7}]}`),
		"a score of 1.5":                 answers(`{"id":1,"scores":[{"label":"retry","score":1.5},{"label":"go_on","score":0}]}`),
		"a score of -1":                  answers(`{"id":1,"scores":[{"label":"retry","score":0.5},{"label":"go_on","score":-1}]}`),
		`for "other"`:                    answers(`{"id":1,"scores":[{"label":"other","score":0.7},{"label":"go_on","score":0.3}]}`),
		`"{", which is no answer`:        answers("{"),
	} {
		line := newLifeline(t)
		_, err := start(t, t.TempDir(), line.env(), script(steps...)).Classify(t.Context(), "x", two)
		fails(t, err, bert.Garbled, says)
		line.next(t).isGone(t)
	}
}

func TestAnswerToAnEarlierQuestionIsNotTaken(t *testing.T) {
	answered := `say {"id":1,"scores":[{"label":"retry","score":0.7},{"label":"go_on","score":0.3}]}`
	c := start(t, t.TempDir(), script(ready, "read", answered, "read", answered, "hang"))
	if _, err := c.Classify(t.Context(), "x", two); err != nil {
		t.Fatal(err)
	}
	_, err := c.Classify(t.Context(), "x", two)
	fails(t, err, bert.Garbled, "answer 1 to question 2")
}

func TestTimeoutsOfLoadingAndAnsweringKillTheChild(t *testing.T) {
	for says, c := range map[string]struct {
		load, answer time.Duration
		steps        []string
	}{
		"the model was not loaded within 50ms": {50 * time.Millisecond, time.Minute, []string{"hang"}},
		"there was no answer within 50ms":      {time.Minute, 50 * time.Millisecond, []string{ready, "read", "hang"}},
		"there was no answer within 51ms":      {time.Minute, 51 * time.Millisecond, []string{ready, "hang"}}, // it does not even read
	} {
		line := newLifeline(t)
		cfg := config(t, t.TempDir(), line.env(), script(c.steps...))
		cfg.LoadTimeout, cfg.Timeout = c.load, c.answer
		_, err := open(t, cfg).Classify(t.Context(), strings.Repeat("x", 5000), two)
		fails(t, err, bert.Timeout, says)
		select {
		case child := <-line.born:
			child.isGone(t)
		default: // killed before it could say that it lives
		}
	}
}

func TestModelThatFailedIsLeftAloneForAWhile(t *testing.T) {
	line := newLifeline(t)
	c := start(t, t.TempDir(), line.env())
	now := time.Now()
	c.SetClock(func() time.Time { return now })
	_, first := c.Classify(t.Context(), "x", two)
	fails(t, first, bert.NotAModel)
	line.next(t)
	now = now.Add(bert.Rest - time.Second)
	_, again := c.Classify(t.Context(), "x", two)
	if !errors.Is(again, first) {
		t.Errorf("the error is %v; want the first", again)
	}
	line.none(t)
	_, err := c.Check(t.Context(), two)
	fails(t, err, bert.NotAModel)
	line.next(t)
	now = now.Add(bert.Rest)
	_, err = c.Classify(t.Context(), "x", two)
	fails(t, err, bert.NotAModel)
	line.next(t)
	line.none(t)
}

func TestWithdrawnQuestionKillsTheChildAndTheNextStartsAnother(t *testing.T) {
	line := newLifeline(t)
	c := start(t, t.TempDir(), line.env(), script(ready, "read", "hang"))
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
		fails(t, err, bert.Cancelled, "withdrawn")
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		child.isGone(t)
		_, err = c.Classify(ctx, "x", two)
		fails(t, err, bert.Cancelled)
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
		fails(t, err, bert.Cancelled)
	}
	c.Close()
	_, err := c.Classify(t.Context(), "x", two)
	fails(t, err, bert.Closed)
}

func TestQuestionWaitsItsTurnOnlySoLong(t *testing.T) {
	cfg := config(t, trained(t))
	cfg.LoadTimeout, cfg.Timeout = 20*time.Millisecond, 10*time.Millisecond
	c := open(t, cfg)
	giveBack := c.Busy()
	defer giveBack()
	_, err := c.Classify(t.Context(), "x", labels)
	fails(t, err, bert.Timeout, "busy for 30ms")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Check(ctx, labels)
	fails(t, err, bert.Cancelled)
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
	fails(t, err, bert.Closed)
	line.none(t)
}

func TestCloseEndsAQuestionUnderWay(t *testing.T) {
	line := newLifeline(t)
	c := start(t, t.TempDir(), line.env(), script(ready, "read", "hang"))
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
		fails(t, <-done, bert.Closed)
	}
}

func TestConcurrentQuestionsGetTheirOwnAnswers(t *testing.T) {
	line := newLifeline(t)
	c := start(t, trained(t), line.env())
	texts := map[string]string{"looping": "other_strategy", "timeout": "retry", "unsure": "ask_user", "done": "force_answer"}
	var wg sync.WaitGroup
	for text, want := range texts {
		for range 5 {
			wg.Go(func() {
				scores, err := c.Classify(t.Context(), text, labels)
				if err != nil || scores[0].Label != want {
					t.Errorf("%s: %v, %v; want %s", text, scores, err, want)
				}
			})
		}
	}
	wg.Wait()
	line.next(t)
	line.none(t)
}

func TestChildSeesNothingOfTheParentsEnvironment(t *testing.T) {
	t.Setenv(scriptVar, "exit 9") // which would end the child
	if got := best(t, start(t, trained(t)), "stuck"); got != "other_strategy" {
		t.Errorf("the best is %s", got)
	}
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
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.Command(program, trained(t))
	parent.Env = []string{parentVar + "=1", line.env()}
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	if got := line.next(t); got.pid != parent.Process.Pid {
		t.Errorf("the first process is %d, not the parent", got.pid)
	}
	child := line.next(t)
	if _, err := out.Read(make([]byte, 9)); err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := parent.Wait(); err == nil {
		t.Error("the parent ended in peace")
	}
	child.ends(t)
}
