package bert_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bert/network"
)

const asked = `{"text":"I am unsure","labels":[{"name":"go_on"},{"name":"retry"},{"name":"other_strategy"},{"name":"force_answer"},{"name":"ask_user"}]}`

// serve runs the child's side in this process, until the asking side hangs up or ctx is done.
func serve(
	ctx context.Context, t *testing.T, dir string,
) (ask io.WriteCloser, answers *bufio.Reader, wait func() error) {
	t.Helper()
	in, ask := io.Pipe()
	answered, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- network.Serve(ctx, dir, in, out)
		shut(t, in)
		shut(t, out)
	}()
	return ask, bufio.NewReader(answered), func() error { return <-done }
}

func TestServeAnswersUntilNobodyAsks(t *testing.T) {
	ask, answers, wait := serve(t.Context(), t, trained(t))
	assert.Must(io.WriteString(ask, asked+"\n"))(t)
	if line, err := answers.ReadString('\n'); err != nil || !strings.HasPrefix(line, `{"scores":[{"label":"ask_user"`) {
		t.Fatalf("the answer is %q (%v)", line, err)
	}
	shut(t, ask)
	assert.Nilf(t, wait(), "after the hang-up")
}

func TestServeRefusesWhatIsNoQuestion(t *testing.T) {
	for want, line := range map[string]string{"no question": "hello\n", "too long": strings.Repeat(" ", 300<<10)} {
		ask, _, wait := serve(t.Context(), t, t.TempDir())
		go func() { _, _ = io.WriteString(ask, line) }() // fails when the reader has had enough
		err := wait()
		assert.That(t, err != nil && strings.Contains(err.Error(), want), "the error is %v; it should say %s", err, want)
		shut(t, ask)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ask, _, wait := serve(ctx, t, t.TempDir())
	defer shut(t, ask)
	cancel()
	err := wait()
	assert.That(t, errors.Is(err, context.Canceled), "the error is %v", err)
}

func TestServeEndsWhenNobodyAsksForLong(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ask, answers, wait := serve(t.Context(), t, dir)
		for range 2 {
			<-time.After(9 * time.Minute) // of the bubble's clock
			go func() { _, _ = io.WriteString(ask, asked+"\n") }()
			assert.Must(answers.ReadString('\n'))(t)
		}
		assert.Nil(t, wait())
		passed := time.Since(began)
		assert.That(t, passed == 28*time.Minute, "it ended after %v", passed)
	})
}

// wordLevel gives the model in dir a tokenizer that prints what it doesn't know on the standard output, and fails.
func wordLevel(t *testing.T, dir string) {
	edit(t, filepath.Join(dir, "tokenizer.json"), func(c map[string]any) {
		words := map[string]any{"[PAD]": 0, "[UNK]": 1, "[CLS]": 2, "[SEP]": 3, "[MASK]": 4, "a": 0, "first": 0,
			"try": 0, ".": 0, "unsure": 10}
		c["model"] = map[string]any{"type": "WordLevel", "unk_token": "<none>", "vocab": words}
	})
}

func TestTokenizerThatPrintsAndFailsCostsItsQuestionOnly(t *testing.T) {
	dir, line := trained(t), newLifeline(t)
	wordLevel(t, dir)
	c := start(t, dir, line.env())
	for range 2 {
		_, err := c.Classify(t.Context(), "gibberish", labels)
		fails(t, err, "Missing 'unk' token")
		_, err = c.Classify(t.Context(), "unsure", labels)
		assert.Nil(t, err)
	}
	line.next(t)
	line.none(t)
}
