package network

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"sibyl/internal/bert"
)

// folder is a model's folder, as its configuration describes it. Its files may be links out of it, as download tools lay them.
type folder struct {
	dir       string
	network   string // the ONNX file's name in dir
	labels    []string
	maxTokens int
	padding   int64 // the token that fills what a text leaves free
}

const (
	configFile    = "config.json"
	tokenizerFile = "tokenizer.json"
)

var networkFiles = []string{"model.onnx", "onnx/model.onnx"}

// Bounds of what is read: far above real models, far below what would hurt.
const (
	maxConfig    = 4 << 20
	maxTokenizer = 256 << 20
	maxNetwork   = 2 << 30
)

// What a model reads at once is bounded by the time that pure Go takes: on two cores about a second for 256 tokens in a small
// model (22 million weights). A zero-shot model reads text and hypothesis anew for each label.
const (
	mostTokens     = 256
	mostTokensPair = 128
)

// fewestTokens is what a model must be able to read for a hypothesis and some text.
const fewestTokens = 32

// openFolder looks at what is in dir.
func openFolder(dir string) (*folder, error) {
	f := &folder{dir: dir}
	info, err := os.Stat(dir)
	switch {
	case dir == "":
		return nil, bert.Problemf(bert.NotAModel, "no folder is named")
	case err != nil:
		return nil, bert.Problemf(bert.NotAModel, "the folder can't be opened (%v)", reason(err))
	case !info.IsDir():
		return nil, bert.Problemf(bert.NotAModel, "this is a file; name the folder that holds it")
	}
	if err := f.findFiles(); err != nil {
		return nil, err
	}
	data, err := f.read(configFile, maxConfig)
	if err != nil {
		return nil, err
	}
	if err := f.configure(data); err != nil {
		return nil, bert.Problemf(bert.LoadFailed, "%s: %v", configFile, err)
	}
	return f, nil
}

// reason leaves out the path that an error of the file system repeats.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

func (f *folder) findFiles() error {
	var missing []string
	for _, name := range []string{configFile, tokenizerFile} {
		if !f.has(name) {
			missing = append(missing, name)
		}
	}
	for _, name := range networkFiles {
		if f.network == "" && f.has(name) {
			f.network = name
		}
	}
	if f.network == "" {
		missing = append(missing, strings.Join(networkFiles, " or "))
	}
	if len(missing) > 0 {
		return bert.Problemf(bert.NotAModel, "this is no folder of a model: it lacks %s (expected are %s, %s, and %s)",
			strings.Join(missing, ", "), configFile, tokenizerFile, strings.Join(networkFiles, " or "))
	}
	return nil
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
		return nil, bert.Problemf(bert.LoadFailed, "%s can't be read (%v)", name, reason(err))
	}
	return data, nil
}

// configure takes from config.json what concerns us.
func (f *folder) configure(data []byte) error {
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
		return fmt.Errorf("%s is no text classification model (…ForSequenceClassification)", bert.Snippet(c.Architectures[0]))
	}
	for i := range len(c.ID2Label) {
		label, ok := c.ID2Label[strconv.Itoa(i)]
		if !ok {
			return fmt.Errorf("id2label names %d labels, but none with the number %d", len(c.ID2Label), i)
		}
		f.labels = append(f.labels, label)
	}
	if n := len(f.labels); n < 2 || n > bert.MaxLabels {
		return fmt.Errorf("id2label names %d labels; 2 to %d are possible", n, bert.MaxLabels)
	}
	if c.Padding != nil {
		f.padding = *c.Padding
	}
	f.maxTokens = mostTokens
	if kind, _ := bert.KindOf(f.labels); kind == bert.ZeroShot {
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
