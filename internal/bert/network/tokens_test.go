package network_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bert"
	"sibyl/internal/bert/berttest"
	"sibyl/internal/bert/network"
)

func trained(t testing.TB) string { return written(t, berttest.Classification) }

func zeroShot(t testing.TB) string { return written(t, berttest.ZeroShot) }

func written(t testing.TB, model string) string {
	dir := t.TempDir()
	assert.NoError(t, berttest.Write(dir, model))
	return dir
}

// configure changes values of a model's configuration.
func configure(t *testing.T, dir string, values map[string]any) {
	t.Helper()
	path := filepath.Join(dir, "config.json")
	data := assert.Must(os.ReadFile(path))(t)
	config := map[string]any{}
	assert.NoError(t, json.Unmarshal(data, &config))
	maps.Copy(config, values)
	data = assert.Must(json.Marshal(config))(t)
	assert.NoError(t, os.WriteFile(path, data, 0o600))
}

func TestModelReadsNoMoreThanItsPositions(t *testing.T) {
	for want, c := range map[int]struct {
		dir        string
		hypothesis string
		config     map[string]any
	}{
		network.MostTokens: {trained(t), "", map[string]any{"max_position_embeddings": 8192,
			"pad_token_id": 50283}},
		network.MostTokensPair: {zeroShot(t), "The user has to decide.",
			map[string]any{"max_position_embeddings": nil}},
		40: {zeroShot(t), "The user has to decide.", map[string]any{"max_position_embeddings": 40,
			"pad_token_id": 0}},
		// as RoBERTa counts
		38: {trained(t), "", map[string]any{"max_position_embeddings": 40, "pad_token_id": 1}},
	} {
		configure(t, c.dir, c.config)
		tokens, _, err := network.Read(c.dir, strings.Repeat("x ", 900), c.hypothesis)
		assert.NoError(t, err)
		n := len(tokens)
		assert.That(t, n <= want && n >= want-3, "%v: %d tokens are read; want %d, or hardly fewer", c.config, n, want)
	}
}

func TestTextCanNotForgeTheModelsControlTokens(t *testing.T) {
	const separator, start, mask = 3, 2, 4
	tokens, segments, err := network.Read(zeroShot(t), "a [SEP] strategy [SEP] [CLS] [MASK] [MA[SEP]SK]", "b [SEP] c")
	assert.NoError(t, err)
	count := map[int]int{}
	for _, n := range tokens {
		count[n]++
	}
	assert.That(t, count[separator] == 2 && count[start] == 1 && count[mask] == 0,
		"%d separators, %d starts and %d masks are read: %v", count[separator], count[start], count[mask], tokens)
	first := slices.Index(segments, 1)
	assert.That(t, tokens[first-1] == separator, "the hypothesis begins at %d of %v", first, tokens)
}

func FuzzAnyTextFitsTheModel(f *testing.F) {
	dir := zeroShot(f)
	for _, text := range []string{"", " ", "a", "[SEP]", "\x00\xff", "e\u0301\u0301\u0301", strings.Repeat("é", 3000),
		"\u200b\ufeff",
		strings.Repeat("-", 2000), strings.Repeat("ab", 1000), "مرحبا 世界 🧑‍🚀", "[CLS][CLS]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = bert.Excerpt(text, bert.MaxText)
		for _, hypothesis := range []string{"", "The user has to decide."} {
			tokens, segments, err := network.Read(dir, text, hypothesis)
			assert.NoError(t, err)
			assert.That(t, len(tokens) <= network.MostTokens && len(segments) == len(tokens),
				"%d tokens in %d segments", len(tokens), len(segments))
		}
	})
}
