package bert_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gomlx/onnx-gomlx/onnx"

	"sibyl/internal/behaviour/assert"
)

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
