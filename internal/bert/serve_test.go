package bert_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/bert"
)

const asked = `{"id":7,"text":"I am unsure","labels":[{"name":"go_on"},{"name":"retry"},{"name":"other_strategy"},{"name":"force_answer"},{"name":"ask_user"}]}`

func TestServedAnswersCarryTheirQuestionsID(t *testing.T) {
	ask, answers, wait := serve(t, trained(t))
	if line, err := answers.ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"id":0,"ready":`) {
		t.Fatalf("the child first says %q (%v)", line, err)
	}
	if _, err := io.WriteString(ask, asked+"\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := answers.ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"id":7,"scores":[{"label":"ask_user"`) {
		t.Fatalf("the answer is %q (%v)", line, err)
	}
	shut(t, ask)
	if err := wait(); err != nil {
		t.Errorf("after the hang-up: %v", err)
	}
}

func TestServeRefusesWhatIsNoQuestion(t *testing.T) {
	for want, line := range map[string]string{"invalid character": "hello\n", "more than 256 KB": strings.Repeat(" ", 300<<10)} {
		ask, answers, wait := serve(t, trained(t))
		if _, err := answers.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(ask, line) }() // fails when the reader has had enough
		if err := wait(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v; it should say %s", err, want)
		}
		shut(t, ask)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	in, ask := io.Pipe()
	defer shut(t, ask)
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("over")
	ready := notify{make(chan struct{}, 1)}
	done := make(chan error)
	go func() { done <- bert.Serve(ctx, model(trained(t)), in, ready) }()
	<-ready.wrote
	cancel(over)
	if err := <-done; !errors.Is(err, over) {
		t.Errorf("the error is %v", err)
	}
}

func TestServeEndsWhenNobodyAsksForLong(t *testing.T) {
	dir := trained(t)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ask, answers, wait := serve(t, dir)
		for range 2 {
			if _, err := answers.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			<-time.After(9 * time.Minute) // of the bubble's clock
			go func() { _, _ = io.WriteString(ask, asked+"\n") }()
		}
		if _, err := answers.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if err := wait(); err != nil {
			t.Error(err)
		}
		if passed := time.Since(began); passed != 28*time.Minute {
			t.Errorf("it ended after %v", passed)
		}
	})
}

type notify struct{ wrote chan struct{} }

func (n notify) Write(p []byte) (int, error) {
	n.wrote <- struct{}{}
	return len(p), nil
}

// wordLevel gives the model in dir a tokenizer that prints what it doesn't know on the standard output, and fails.
func wordLevel(t *testing.T, dir string) {
	edit(t, filepath.Join(dir, "tokenizer.json"), func(c map[string]any) {
		words := map[string]any{"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "a": 0, "first": 0, "try": 0, ".": 0, "unsure": 10}
		c["model"] = map[string]any{"type": "WordLevel", "unk_token": "<none>", "vocab": words}
	})
}

func TestTokenizerThatPrintsAndFailsCostsItsQuestionOnly(t *testing.T) {
	dir, line := trained(t), newLifeline(t)
	wordLevel(t, dir)
	c := start(t, dir, line.env())
	for range 2 {
		_, err := c.Classify(t.Context(), "gibberish", labels)
		fails(t, err, bert.Unanswered, "Missing 'unk' token")
		if _, err := c.Classify(t.Context(), "unsure", labels); err != nil {
			t.Error(err)
		}
	}
	line.next(t)
	line.none(t)
}

func TestErrorsOfLibrariesAreOneCleanLine(t *testing.T) {
	dir := trained(t)
	edit(t, filepath.Join(dir, "config.json"), func(c map[string]any) {
		c["architectures"] = []string{"\x1b[31mA\nB" + strings.Repeat("x", 5000)}
	})
	_, err := start(t, dir).Classify(t.Context(), "unsure", labels)
	fails(t, err, bert.LoadFailed, "[31mA Bxx")
	if bytes.ContainsAny([]byte(err.Error()), "\x1b\n") || len(err.Error()) > 1000 {
		t.Errorf("the error is %q", err)
	}
}
