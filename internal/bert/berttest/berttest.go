// Package berttest writes tiny text classification models whose verdicts are decided by words, and serves them as the real
// child process does. They are real models: an ONNX graph, a WordPiece tokenizer and a configuration, a few kilobytes together.
//
// A test package that uses Config calls Serve first thing in its TestMain.
package berttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/bert"
	"sibyl/internal/bert/network"
)

// asChild marks, in the environment, a test binary that is to be the child; its last argument is the folder.
const asChild = "SIBYL_TEST_CLASSIFIER_CHILD"

// Serve turns the process into the child if Config started it, and does not return then. Elsewhere it does nothing.
func Serve() {
	if os.Getenv(asChild) == "" {
		return
	}
	os.Exit(network.Main(context.Background(), os.Args[len(os.Args)-1:], os.Stdin, os.Stdout, os.Stderr))
}

// Config is the classifier of the model in dir, with the test binary as its child.
func Config(dir string) (bert.Config, error) {
	program, err := os.Executable()
	env := []string{asChild + "=1", "GORACE=atexit_sleep_ms=0"} // under the race detector, a process else takes a second to end
	return bert.Config{Dir: dir, Timeout: 10 * time.Second, Command: []string{program}, Env: env}, err
}

// certainty is what one marker word adds to its label's logit: one word against four other labels gives about 0.93.
const certainty = 4

// WriteClassifier writes a fine-tuned model that knows the labels. Each occurrence of a word of rules speaks for its label; a
// text with none of the words leaves all labels equal. Words are given in lower case, a to z and digits; the case of the text does
// not matter.
func WriteClassifier(dir string, rules map[string]string, labels []string) error {
	words := slices.Sorted(maps.Keys(rules))
	table := make([]float32, (len(specials)+len(words))*len(labels))
	for i, word := range words {
		label := slices.Index(labels, rules[word])
		if label < 0 {
			return fmt.Errorf("the word %q speaks for %q, which is none of the labels %q", word, rules[word], labels)
		}
		table[(len(specials)+i)*len(labels)+label] = certainty
	}
	var g graph
	g.inputs("input_ids", "attention_mask")
	g.floats("table", table, len(specials)+len(words), len(labels))
	g.ints("second_axis", 1)
	g.node("Cast", "mask", to(floatType), "attention_mask")
	g.node("Unsqueeze", "mask_row", nil, "mask", "second_axis")
	g.node("Gather", "votes", nil, "table", "input_ids")
	g.node("MatMul", "sum", nil, "mask_row", "votes")
	g.node("Squeeze", "logits", nil, "sum", "second_axis")
	g.output("logits", len(labels))
	return write(dir, "model.onnx", g.model(), words, labels)
}

// WriteZeroShot writes a natural language inference model: a text entails a hypothesis if the text holds a word of rules and
// the hypothesis the word it stands for. Words are as in WriteClassifier.
func WriteZeroShot(dir string, rules map[string]string) error {
	standFor := slices.Compact(slices.Sorted(maps.Values(rules)))
	words := slices.AppendSeq(slices.Collect(maps.Keys(rules)), maps.Values(rules))
	slices.Sort(words)
	words = slices.Compact(words)
	rows, width := len(specials)+len(words), len(standFor)
	said, meant := make([]float32, rows*width), make([]float32, rows*width)
	for i, word := range words {
		row := (len(specials) + i) * width
		if target, ok := rules[word]; ok {
			said[row+slices.Index(standFor, target)] = 1
		}
		if column := slices.Index(standFor, word); column >= 0 {
			meant[row+column] = 1
		}
	}
	labels := []string{"contradiction", "neutral", "entailment"}
	verdict := make([]float32, 0, width*len(labels))
	for range standFor {
		verdict = append(verdict, -certainty, 0, certainty)
	}
	var g graph
	g.inputs("input_ids", "attention_mask", "token_type_ids")
	g.floats("said_table", said, rows, width)
	g.floats("meant_table", meant, rows, width)
	g.floats("verdict", verdict, width, len(labels))
	g.floats("doubt", []float32{1, 2, 0}, len(labels))
	g.floats("zero", []float32{0})
	g.floats("one", []float32{1})
	g.ints("second_axis", 1)
	g.node("Cast", "mask", to(floatType), "attention_mask")
	g.node("Cast", "type", to(floatType), "token_type_ids")
	g.node("Mul", "second", nil, "mask", "type")
	g.node("Sub", "first", nil, "mask", "second")
	g.has("said", "first")
	g.has("meant", "second")
	g.node("Mul", "shared", nil, "said", "meant")
	g.node("MatMul", "weighed", nil, "shared", "verdict")
	g.node("Squeeze", "evidence", nil, "weighed", "second_axis")
	g.node("Add", "logits", nil, "evidence", "doubt")
	g.output("logits", len(labels))
	return write(dir, filepath.Join("onnx", "model.onnx"), g.model(), words, labels)
}

// has adds nodes that say, for each column of the table of that name, whether a token of the segment has it.
func (g *graph) has(name, segment string) {
	g.node("Unsqueeze", name+"_row", nil, segment, "second_axis")
	g.node("Gather", name+"_votes", nil, name+"_table", "input_ids")
	g.node("MatMul", name+"_sum", nil, name+"_row", name+"_votes")
	g.node("Clip", name, nil, name+"_sum", "zero", "one")
}

// specials are the first tokens of every vocabulary, in the order of their numbers.
var specials = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}

func write(dir, network string, model []byte, words, labels []string) error {
	tokenizer, err := tokenizerOf(words)
	if err != nil {
		return err
	}
	id2label := map[string]string{}
	for i, label := range labels {
		id2label[strconv.Itoa(i)] = label
	}
	config := map[string]any{"architectures": []string{"BertForSequenceClassification"}, "model_type": "bert",
		"id2label": id2label, "max_position_embeddings": 512, "pad_token_id": 0}
	path := filepath.Join(dir, network)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(path, model, 0o600), writeJSON(filepath.Join(dir, "tokenizer.json"), tokenizer),
		writeJSON(filepath.Join(dir, "config.json"), config))
}

func writeJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

type object = map[string]any

// tokenizerOf is a tokenizer.json as BERT models come with it.
func tokenizerOf(words []string) (object, error) {
	vocabulary, added, special := object{}, []object{}, object{}
	for i, name := range specials {
		vocabulary[name] = i
		added = append(added, object{"id": i, "content": name, "single_word": false, "lstrip": false, "rstrip": false,
			"normalized": false, "special": true})
		special[name] = object{"id": name, "ids": []int{i}, "tokens": []string{name}}
	}
	for i, word := range words {
		if word == "" || strings.ToLower(word) != word || strings.ContainsFunc(word, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < '0' || r > '9')
		}) {
			return nil, fmt.Errorf("the word %q is not one token: use a to z and digits only", word)
		}
		vocabulary[word] = len(specials) + i
	}
	token := func(name string, segment int) object {
		return object{"SpecialToken": object{"id": name, "type_id": segment}}
	}
	sequence := func(name string, segment int) object {
		return object{"Sequence": object{"id": name, "type_id": segment}}
	}
	return object{
		"version": "1.0", "truncation": nil, "padding": nil, "added_tokens": added,
		"normalizer": object{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil,
			"lowercase": true},
		"pre_tokenizer": object{"type": "BertPreTokenizer"},
		"post_processor": object{"type": "TemplateProcessing", "special_tokens": special,
			"single": []object{token("[CLS]", 0), sequence("A", 0), token("[SEP]", 0)},
			"pair":   []object{token("[CLS]", 0), sequence("A", 0), token("[SEP]", 0), sequence("B", 1), token("[SEP]", 1)}},
		"decoder": object{"type": "WordPiece", "prefix": "##", "cleanup": true},
		"model": object{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
			"max_input_chars_per_word": 100, "vocab": vocabulary},
	}, nil
}
