package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sibyl/internal/files"
)

// folder is a model's folder, as its configuration describes it. Its files may be links out of it, as download tools
// lay them.
type folder struct {
	dir       string
	network   string // the ONNX file's name in dir
	labels    []string
	maxTokens int
	padding   int64 // the token that fills up a row
}

const (
	configFile    = "config.json"
	tokenizerFile = "tokenizer.json"
)

func networkFiles() []string { return []string{"model.onnx", "onnx/model.onnx"} }

// Limits of the files, in bytes: far above real models, far below harmful sizes.
const (
	maxConfig    = 4 << 20
	maxTokenizer = 256 << 20
	maxNetwork   = 2 << 30
	maxLabels    = 32
)

// What a model reads at once is bounded by the time that pure Go takes: on two cores about a second for 256 tokens in a
// small model (22 million weights). A zero-shot model reads text and hypothesis anew for each label.
const (
	maxTokensAlone = 256
	mostTokensPair = 128
)

// fewestTokens is what a model must at least read, for a hypothesis and some text.
const fewestTokens = 32

// openFolder checks which files dir has, and reads its configuration.
func openFolder(dir string) (*folder, error) {
	info, err := os.Stat(dir)
	switch {
	case dir == "":
		return nil, errors.New("no folder is named")
	case err != nil:
		return nil, fmt.Errorf("the folder can't be opened (%w)", files.Cause(err))
	case !info.IsDir():
		return nil, errors.New("this is a file; name the folder that holds it")
	}
	f := &folder{dir: dir}
	var missing []string
	for _, names := range [][]string{{configFile}, {tokenizerFile}, networkFiles()} {
		at := slices.IndexFunc(names, f.has)
		if at < 0 {
			missing = append(missing, strings.Join(names, " or "))
			continue
		}
		f.network = names[at]
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("this is no folder of a model: it lacks %s (expected are %s, %s, and %s)",
			strings.Join(missing, ", "), configFile, tokenizerFile, strings.Join(networkFiles(), " or "))
	}
	data, err := f.read(configFile, maxConfig)
	if err == nil {
		err = f.readConfig(data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", configFile, err)
	}
	return f, nil
}

func (f *folder) has(name string) bool {
	info, err := os.Stat(f.path(name))
	return err == nil && info.Mode().IsRegular()
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f *folder) read(name string, most int64) ([]byte, error) {
	info, err := os.Stat(f.path(name))
	if err == nil && info.Size() > most {
		err = fmt.Errorf("%d MB are too much", info.Size()>>20)
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(f.path(name))
	}
	if err != nil {
		return nil, fmt.Errorf("%s can't be read (%w)", name, files.Cause(err))
	}
	return data, nil
}

// readConfig reads the relevant parts of config.json.
func (f *folder) readConfig(data []byte) error {
	var c struct {
		Architectures []string          `json:"architectures"`
		ID2Label      map[string]string `json:"id2label"`
		MaxPositions  *int              `json:"max_position_embeddings"`
		Padding       *int64            `json:"pad_token_id"`
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	if len(c.Architectures) > 0 && !strings.HasSuffix(c.Architectures[0], "ForSequenceClassification") {
		return fmt.Errorf("%s is no text classification model (…ForSequenceClassification)", c.Architectures[0])
	}
	for i := range len(c.ID2Label) {
		label, ok := c.ID2Label[strconv.Itoa(i)]
		if !ok {
			return fmt.Errorf("id2label names %d labels, but none with the number %d", len(c.ID2Label), i)
		}
		f.labels = append(f.labels, label)
	}
	if n := len(f.labels); n < 2 || n > maxLabels {
		return fmt.Errorf("id2label names %d labels; 2 to %d are possible", n, maxLabels)
	}
	if c.Padding != nil {
		f.padding = *c.Padding
	}
	f.maxTokens = maxTokensAlone
	if f.entailmentLabel() >= 0 {
		f.maxTokens = mostTokensPair
	}
	if c.MaxPositions != nil {
		positions := *c.MaxPositions
		if f.padding == 1 {
			positions -= 2 // the RoBERTa kind pads with token 1, and numbers positions from behind it
		}
		f.maxTokens = min(f.maxTokens, positions)
	}
	if f.maxTokens < fewestTokens {
		return fmt.Errorf("max_position_embeddings leaves %d tokens; at least %d are needed", f.maxTokens, fewestTokens)
	}
	return nil
}

// entailmentLabel is the index of the label “entailment”, which only a zero-shot model has: one trained on natural
// language inference. -1 in any other.
func (f *folder) entailmentLabel() int {
	return slices.IndexFunc(f.labels, func(label string) bool {
		return strings.HasPrefix(comparableName(label), "entail")
	})
}
