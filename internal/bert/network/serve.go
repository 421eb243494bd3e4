// Package network computes classifiers of the BERT family: ONNX models in local folders, in pure Go. It is a separate
// program, the child of package bert, so that users without such a model need not download or build its libraries.
//
// Guarantees: nothing but the model's folder is read, nothing is written. The libraries below may end the process or
// print; package bert expects that.
package network

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"
	"unicode"

	"sibyl/internal/bert"
)

// idleTimeout is how long the program waits for a question before it ends and so releases its memory.
const idleTimeout = 10 * time.Minute

// Main is the whole program: it serves the model in the folder that is its only argument, and returns its exit code.
// Only answers are written to out, nothing from the libraries.
func Main(ctx context.Context, args []string, in io.Reader, out, notes io.Writer) int {
	if len(args) != 1 {
		fmt.Fprintln(notes, "usage: sibyl-bert FOLDER\nsibyl starts it where the setting bert.model names a folder; "+
			"‘sibyl doctor’ says whether it works")
		return 2
	}
	if err := Serve(ctx, args[0], in, out); err != nil {
		fmt.Fprintln(notes, "sibyl-bert:", err)
		return 1
	}
	return 0
}

// Serve answers questions about the model in dir, which the first question loads, until in ends, nobody asks for long,
// or ctx is done. Then it returns at once, even in the middle of an answer, and the process must end. While it runs,
// os.Stdout is the standard error, as the libraries print: an out that writes to the standard output must be made
// before.
func Serve(ctx context.Context, dir string, in io.Reader, out io.Writer) error {
	stdout := os.Stdout
	os.Stdout = os.Stderr
	defer func() { os.Stdout = stdout }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	questions := make(chan bert.Question)
	done := make(chan error, 2)
	go func() { done <- readQuestions(ctx, in, questions) }()
	go func() { done <- answerAll(ctx, dir, questions, out) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// readQuestions reads questions until the input ends.
func readQuestions(ctx context.Context, in io.Reader, to chan<- bert.Question) error {
	for lines := bufio.NewScanner(in); ; {
		if !lines.Scan() {
			return lines.Err()
		}
		var q bert.Question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return fmt.Errorf("what came in is no question: %w", err)
		}
		select {
		case to <- q:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func answerAll(ctx context.Context, dir string, questions <-chan bert.Question, out io.Writer) error {
	var m *model
	for {
		select {
		case q := <-questions:
			a, err := bert.Answer{}, error(nil)
			began := time.Now()
			if m == nil {
				if m, err = loadModel(dir); err == nil {
					debug.FreeOSMemory() // what loading took besides the model
					m.info.LoadTime = time.Since(began)
				}
			}
			if err == nil {
				began = time.Now()
				a.Scores, err = m.classify(q)
				a.Info = m.info
				a.Info.AnswerTime = time.Since(began)
			}
			if err != nil {
				a.Error = bert.Excerpt(err.Error(), 600)
			}
			if err := json.NewEncoder(out).Encode(a); err != nil {
				return err
			}
		case <-time.After(idleTimeout):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// model is a loaded folder.
type model struct {
	*folder
	tokens  *tokens
	network *network
	info    bert.Info
}

// loadModel loads the model in dir and computes one answer: only that shows whether everything in it can be computed.
func loadModel(dir string) (*model, error) {
	f, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	m := &model{folder: f, info: bert.Info{Kind: "classification", Labels: f.labels}}
	if m.tokens, err = loadTokens(f); err != nil {
		return nil, fmt.Errorf("%s can't be used: %w", tokenizerFile, err)
	}
	hypothesis := ""
	if f.entailmentLabel() >= 0 {
		m.info.Kind, hypothesis = "zero-shot", "It works."
	}
	if m.network, err = loadNetwork(f); err == nil {
		_, err = m.logits("A first try.", hypothesis)
	}
	if err != nil {
		return nil, fmt.Errorf("%s can't be used: %w", f.network, err)
	}
	return m, nil
}

// logits computes a text, of which it reads head and tail if it is too long, with a whole hypothesis.
func (m *model) logits(text, hypothesis string) ([]float32, error) {
	r, err := m.tokens.row(text, hypothesis)
	if err != nil {
		return nil, err
	}
	return m.network.logits(r)
}

// classify returns a score for each label of the question, best first.
func (m *model) classify(q bert.Question) ([]bert.Score, error) {
	weights, err := m.labelLogits(q)
	if err != nil {
		return nil, err
	}
	scores := make([]bert.Score, len(weights))
	most, sum := slices.Max(weights), 0.0
	for i, w := range weights {
		scores[i] = bert.Score{Label: q.Labels[i].Name, Score: math.Exp(w - most)}
		sum += scores[i].Score
	}
	if math.IsNaN(sum) {
		return nil, errors.New("the model's answer is not a number")
	}
	for i := range scores {
		scores[i].Score /= sum
	}
	slices.SortStableFunc(scores, func(a, b bert.Score) int { return cmp.Compare(b.Score, a.Score) })
	return scores, nil
}

// labelLogits returns a logit for each label of the question, in its order.
func (m *model) labelLogits(q bert.Question) ([]float64, error) {
	weights := make([]float64, len(q.Labels))
	if at := m.entailmentLabel(); at >= 0 {
		for i, l := range q.Labels {
			if l.Hypothesis == "" {
				return nil, fmt.Errorf("the label %q has no hypothesis, which a zero-shot model needs", l.Name)
			}
			logits, err := m.logits(q.Text, bert.Excerpt(l.Hypothesis, bert.MaxText))
			if err != nil {
				return nil, fmt.Errorf("the model failed on this text: %w", err)
			}
			weights[i] = float64(logits[at])
		}
		return weights, nil
	}
	logits, err := m.logits(q.Text, "")
	if err != nil {
		return nil, fmt.Errorf("the model failed on this text: %w", err)
	}
	var wanted []string
	known := len(q.Labels) == len(m.labels)
	for i, l := range q.Labels {
		wanted = append(wanted, l.Name)
		at := slices.IndexFunc(m.labels, func(own string) bool { return comparableName(own) == comparableName(l.Name) })
		if known = known && at >= 0; known {
			weights[i] = float64(logits[at])
		}
	}
	if !known {
		return nil, fmt.Errorf("the model knows the labels %s; wanted are %s. Use a model trained on these, or a "+
			"zero-shot one", strings.Join(m.labels, ", "), strings.Join(wanted, ", "))
	}
	return weights, nil
}

// comparableName is the form in which names of labels are compared: “Go-On”, “go on” and “go_on” are equal.
func comparableName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '-' || unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, strings.TrimSpace(name)))
}
