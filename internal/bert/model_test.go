package bert_test

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gomlx/onnx-gomlx/onnx"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bert"
)

var verdicts = map[string]string{
	"The search makes PROGRESS, file by file.": "go_on",
	"Again a timeout from the server":          "retry",
	"I keep looping over the same three files": "other_strategy",
	"I am stuck.": "other_strategy",
	"All is done; looping has ended. It is done.":            "force_answer",
	"unsure which of them is meant\x00\xff\u202e, so unsure": "ask_user",
}

func TestBothKindsOfModelFollowTheText(t *testing.T) {
	for kind, dir := range map[string]string{"trained": trained(t), "zero-shot": zeroShot(t)} {
		t.Run(kind, func(t *testing.T) {
			c := start(t, dir)
			for text, want := range verdicts {
				if kind == "zero-shot" && strings.Contains(text, "looping has ended") {
					continue // both hypotheses are true of it
				}
				scores := assert.Must(c.Classify(t.Context(), text, labels))(t)
				var sum float64
				for _, s := range scores {
					sum += s.Score
				}
				assert.That(t, len(scores) == len(labels) && sorted(scores) && math.Abs(sum-1) <= 1e-9,
					"%q: the scores are %v", text, scores)
				assert.That(t, scores[0].Label == want && scores[0].Score >= 0.9,
					"%q: the best are %v; want %s", text, scores[:2], want)
			}
		})
	}
}

func TestTrainedLabelsAreTheSameWhateverTheirSpelling(t *testing.T) {
	c := start(t, trained(t))
	spelt := []bert.Label{{Name: "Ask User"}, {Name: "GO-ON"}, {Name: "retry"}, {Name: "other strategy"},
		{Name: "Force_Answer"}}
	scores := assert.Must(c.Classify(t.Context(), "I am stuck", spelt))(t)
	assert.That(t, scores[0].Label == "other strategy",
		"the best is %q; want the caller's own spelling of it", scores[0].Label)
}

func TestTrainedModelOfOtherLabelsIsRefusedWithBothLists(t *testing.T) {
	c := start(t, trained(t))
	for name, wanted := range map[string][]bert.Label{
		"another": {{Name: "positive"}, {Name: "negative"}, {Name: "go_on"}, {Name: "retry"}, {Name: "ask_user"}},
		"fewer":   labels[:4],
	} {
		_, err := c.Classify(t.Context(), "stuck", wanted)
		fails(t, err, strings.Join(names, ", "), "wanted are "+wanted[0].Name+", "+wanted[1].Name)
		assert.Equalf(t, best(t, c, "stuck"), "other_strategy", "%s: after the refusal the best", name)
	}
}

func TestZeroShotNeedsHypotheses(t *testing.T) {
	_, err := start(t, zeroShot(t)).Classify(t.Context(), "stuck", []bert.Label{labels[0], {Name: "retry"}})
	fails(t, err, `"retry" has no hypothesis`)
}

func TestLongTextIsReadAtHeadAndTailAndKeepsItsHypothesis(t *testing.T) {
	c := start(t, zeroShot(t))
	filler := strings.Repeat("x ", 5000)
	for text, want := range map[string]string{
		"looping " + filler:                "other_strategy",
		filler + " unsure":                 "ask_user",
		filler + " timeout " + filler:      "go_on", // in the middle, so not read; all are equal
		"done " + strings.Repeat("世", 9e3): "force_answer",
	} {
		assert.Equalf(t, best(t, c, text), want, "%.10q…: the best", text)
	}
}

func TestHypothesisThatFillsTheModelIsRefused(t *testing.T) {
	dir := zeroShot(t)
	edit(t, filepath.Join(dir, "config.json"), func(config map[string]any) { config["max_position_embeddings"] = 40 })
	_, err := start(t, dir).Classify(t.Context(), "stuck",
		[]bert.Label{labels[0], {Name: "retry", Hypothesis: strings.Repeat("x ", 50)}})
	fails(t, err, "alone is 54 tokens long; the model reads 40")
}

// rewrite changes the network of the model in dir.
func rewrite(t *testing.T, dir string, change func(*onnx.Model)) {
	t.Helper()
	path := filepath.Join(dir, "model.onnx")
	m := assert.Must(onnx.ReadFile(path))(t)
	change(m)
	assert.NoError(t, m.SaveToFile(path))
}

func TestNetworkWithNarrowNumbersIsUnderstood(t *testing.T) {
	const int32Type = 6
	dir := trained(t)
	rewrite(t, dir, func(m *onnx.Model) {
		for _, in := range m.Proto.Graph.Input {
			in.GetType().GetTensorType().ElemType = int32Type
		}
	})
	assert.Equalf(t, best(t, start(t, dir), "unsure"), "ask_user", "the best")
}

// moveWeights puts the weights into a file beside the network, as exporters do with large ones.
func moveWeights(t *testing.T, dir string, entries ...[2]string) {
	t.Helper()
	rewrite(t, dir, func(m *onnx.Model) {
		for _, w := range m.Proto.Graph.Initializer {
			if w.Name != "table" {
				continue
			}
			write(t, filepath.Join(dir, "weights.bin"), "12345678"+string(w.RawData)+"tail")
			w.RawData, w.DataLocation = nil, 1
			list := reflect.ValueOf(&w.ExternalData).Elem()
			for _, e := range entries {
				entry := reflect.New(list.Type().Elem().Elem())
				entry.Elem().FieldByName("Key").SetString(e[0])
				entry.Elem().FieldByName("Value").SetString(e[1])
				list.Set(reflect.Append(list, entry))
			}
		}
	})
}

func TestWeightsBesideTheNetworkAreRead(t *testing.T) {
	dir := trained(t)
	moveWeights(t, dir, [2]string{"location", "weights.bin"}, [2]string{"offset", "8"}, [2]string{"length", "300"})
	assert.Equalf(t, best(t, start(t, dir), "unsure"), "ask_user", "the best")
}

func TestWeightsElsewhereAreRefused(t *testing.T) {
	for want, entries := range map[string][][2]string{
		"not in the model's folder": {{"location", "../weights.bin"}},
		"weights.bin ends before":   {{"location", "weights.bin"}, {"offset", "8"}, {"length", "2000"}},
		`the offset "far"`:          {{"location", "weights.bin"}, {"offset", "far"}},
		"none.bin can't be read":    {{"location", "none.bin"}},
	} {
		dir := trained(t)
		moveWeights(t, dir, entries...)
		_, err := start(t, dir).Classify(t.Context(), "unsure", labels)
		fails(t, err, "model.onnx", want)
	}
}

func TestFolderLaidAsLinksWithAnOddNameIsRead(t *testing.T) {
	blobs, dir := trained(t), filepath.Join(t.TempDir(), "-my model%20#1?é")
	assert.NoError(t, os.Mkdir(dir, 0o700))
	for _, name := range []string{"config.json", "tokenizer.json", "model.onnx"} {
		assert.NoError(t, os.Symlink(filepath.Join(blobs, name), filepath.Join(dir, name)))
	}
	assert.Equalf(t, best(t, start(t, dir), "unsure"), "ask_user", "the best")
}

func TestCheckTellsWhatTheModelIs(t *testing.T) {
	for kind, c := range map[string]struct {
		dir    string
		labels []string
	}{
		"classification": {trained(t), names},
		"zero-shot":      {zeroShot(t), []string{"contradiction", "neutral", "entailment"}},
	} {
		info := assert.Must(start(t, c.dir).Check(t.Context(), labels))(t)
		assert.That(t, info.LoadTime > 0 && info.AnswerTime > 0,
			"%s: loading took %v, the answer %v", kind, info.LoadTime, info.AnswerTime)
		assert.Same(t, bert.Info{Kind: kind, Labels: c.labels}, bert.Info{Kind: info.Kind, Labels: info.Labels})
	}
}

func TestCheckOfAModelWithOtherLabelsStillTellsThem(t *testing.T) {
	info, err := start(t, trained(t)).Check(t.Context(), labels[:2])
	fails(t, err, "the model knows the labels")
	assert.Same(t, names, info.Labels)
}
