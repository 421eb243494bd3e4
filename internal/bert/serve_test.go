package bert_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gomlx/onnx-gomlx/onnx"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bert"
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

func TestExcerptIsCleanBoundedAndKeepsHeadAndTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		n := rapid.IntRange(0, 60).Draw(t, "n")
		got, whole := bert.Excerpt(text, n), bert.Excerpt(text, 1<<20)
		assert.Require(t, utf8.ValidString(got) && !strings.ContainsFunc(got, unicode.IsControl), "%q is not clean", got)
		head, tail, cut := strings.Cut(got, " … ")
		switch size := utf8.RuneCountInString(whole); {
		case size <= n && got != whole:
			t.Fatalf("%q was changed to %q without need", whole, got)
		case size > n && utf8.RuneCountInString(got) != n:
			t.Fatalf("%q was cut to %q, not to %d characters", whole, got, n)
		case size > n && n > 3 && !cut:
			t.Fatalf("%q is cut without a sign: %q", whole, got)
		case size > n && n > 3 && !strings.Contains(whole, "…") && (!strings.HasPrefix(whole, head) ||
			!strings.HasSuffix(whole, tail)):
			t.Fatalf("%q is not the head and tail of %q", got, whole)
		}
	})
}

func TestQuestionWithoutTextStartsNoChild(t *testing.T) {
	line := newLifeline(t)
	_, err := start(t, trained(t), line.env()).Classify(t.Context(), " \x00\n", labels)
	fails(t, err, "no text")
	line.none(t)
}

func TestFolderThatIsNoModelSaysWhatIsMissing(t *testing.T) {
	empty, file, half := t.TempDir(), filepath.Join(t.TempDir(), "model.onnx"), trained(t)
	write(t, file, "x")
	assert.NoError(t, os.Remove(filepath.Join(half, "tokenizer.json")))
	if err := os.Mkdir(filepath.Join(empty, "config.json"), 0o700); err != nil { // a folder is no file
		t.Fatal(err)
	}
	for dir, says := range map[string][]string{
		"":                           {"no folder is named"},
		filepath.Join(empty, "none"): {filepath.Join(empty, "none"), "no such file or directory"},
		file:                         {"this is a file"},
		empty: {
			"lacks config.json, tokenizer.json, model.onnx or onnx/model.onnx (expected are"},
		half: {half,
			"lacks tokenizer.json (expected are config.json, tokenizer.json, and model.onnx or onnx/model.onnx)"},
	} {
		_, err := start(t, dir).Classify(t.Context(), "stuck", labels)
		fails(t, err, says...)
	}
}

func TestBrokenModelFailsToLoadAndSaysWhichFile(t *testing.T) {
	config := func(change func(map[string]any)) func(*testing.T, string) {
		return func(t *testing.T, dir string) { edit(t, filepath.Join(dir, "config.json"), change) }
	}
	holds := func(name, text string) func(*testing.T, string) {
		return func(t *testing.T, dir string) { write(t, filepath.Join(dir, name), text) }
	}
	network := func(change func(*onnx.Model)) func(*testing.T, string) {
		return func(t *testing.T, dir string) { rewrite(t, dir, change) }
	}
	for name, broken := range map[string]struct {
		breakIt func(*testing.T, string)
		says    string
	}{
		"configuration no JSON": {holds("config.json", "{"), "config.json: "},
		"no labels": {config(func(c map[string]any) {
			delete(c, "id2label")
		}), "id2label names 0 labels"},
		"labels with a gap": {config(func(c map[string]any) {
			c["id2label"] = map[string]string{"0": "a", "2": "b"}
		}), "none with the number 1"},
		"a model for other things": {config(func(c map[string]any) {
			c["architectures"] = []string{"BertForMaskedLM"}
		}), "BertForMaskedLM is no text classification"},
		"reads next to nothing": {config(func(c map[string]any) {
			c["max_position_embeddings"] = 16
		}), "leaves 16 tokens"},
		"another number of labels": {config(func(c map[string]any) {
			c["id2label"] = map[string]string{"0": "a", "1": "b"}
		}), "each of the 2 labels"},
		"tokenizer no JSON": {holds("tokenizer.json", "{"), "tokenizer.json can't be used"},
		"tokenizer null":    {holds("tokenizer.json", "null"), "tokenizer.json can't be used"},
		"tokenizer empty":   {holds("tokenizer.json", "{}"), "tokenizer.json can't be used"},
		"network empty":     {holds("model.onnx", ""), "model.onnx can't be used"},
		"network no ONNX": {holds("model.onnx", "I am a page of HTML that says 404"),
			"model.onnx can't be used"},
		"network cut short": {func(t *testing.T, dir string) {
			data := assert.Must(os.ReadFile(filepath.Join(dir, "model.onnx")))(t)
			write(t, filepath.Join(dir, "model.onnx"), string(data[:len(data)/2]))
		}, "model.onnx can't be used"},
		"network with an unknown operation": {network(func(m *onnx.Model) {
			m.Proto.Graph.Node[0].OpType = "Divine"
		}), "Divine"},
		"network with an unknown input": {network(func(m *onnx.Model) {
			m.Proto.Graph.Input[0].Name = "position_ids"
		}), `"position_ids"`},
		"network of no numbers": {network(func(m *onnx.Model) {
			m.Proto.Graph.Input[0].GetType().GetTensorType().ElemType = 1
		}), `"input_ids" is of type`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := trained(t)
			broken.breakIt(t, dir)
			c := start(t, dir)
			for range 2 {
				_, err := c.Check(t.Context(), labels)
				fails(t, err, dir, broken.says)
			}
		})
	}
}
