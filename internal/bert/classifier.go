// Package bert assigns one of a few labels to a text with a classifier of the BERT family: an ONNX model in a local
// folder, computed in pure Go in a child process (docs/requirements.md, FR-019 to FR-022).
//
// It needs a child because the libraries that compute the model panic, print, or end the process on unknown input, and
// use several times the model's size in memory. The folder and the child's command are settings of the person; no text
// of a model or a tool may change them.
//
// Guarantees:
//   - New starts nothing. The first question starts the child, which loads the model; it is kept for further questions.
//     It ends when nobody has asked anything for ten minutes, and the next question starts another.
//   - The child ends with its parent, however that ends: its standard input is then at its end. Close ends it and
//     waits.
//   - A question has a time-out, with 30 s more if the child is new. A child is killed if it exceeds it, if it is
//     interrupted in an answer, or if its answer is not valid.
//   - A child that dies after it had answered is replaced, once for each question. A model that fails is not tried for
//     a minute; its error is returned at once, so that callers with rules of their own do not wait repeatedly.
//   - Text is cleaned of control characters and invalid UTF-8 and bounded to MaxText characters, head and tail. A text
//     can't contain a model's control tokens, so it can't forge a hypothesis, nor push one out of the model's input.
//   - Every error names the model's folder. Questions may be asked concurrently; they are answered one at a time.
package bert

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"sibyl/internal/text"
)

// MaxText bounds the text of a question, in characters.
const MaxText = 2000

// Label is one of the answers to choose from. Hypothesis is a sentence that is true of a text of this label ("The
// assistant repeats itself."); a zero-shot model reads it. A model that was trained on the labels uses Name, in any
// case, and with dash, space and underscore as equals.
type Label struct {
	Name       string `json:"name"`
	Hypothesis string `json:"hypothesis,omitempty"`
}

// Score says how much a label fits, from 0 to 1. The scores of one answer sum to 1.
type Score struct {
	Label string  `json:"label"`
	Score float64 `json:"score"`
}

// Config says where the model is and how the child is started.
type Config struct {
	Dir     string        // holds config.json, tokenizer.json, and model.onnx or onnx/model.onnx
	Timeout time.Duration // of one answer; 0: 15 s
	Command []string      // starts the child (see package network); the folder is appended as its last argument
	Missing string        // what to do if there is no such program
	// the child's whole environment: it needs none, and must not have the keys in the parent's
	Env []string
}

// Info is what a model says about itself, and how long it took.
type Info struct {
	Kind       string        `json:"kind"`   // “zero-shot” or “classification”
	Labels     []string      `json:"labels"` // as config.json names them, in its order
	LoadTime   time.Duration `json:"load_time"`
	AnswerTime time.Duration `json:"answer_time"`
}

// Question is a line of JSON that the child reads.
type Question struct {
	Text   string  `json:"text"`
	Labels []Label `json:"labels"`
}

// Answer is a line of JSON that answers a question: a score for each label, best first, or an error.
type Answer struct {
	Scores []Score `json:"scores,omitempty"`
	Error  string  `json:"error,omitempty"`
	Info   Info    `json:"info"`
}

// Classifier asks the model in a folder. Close it when it is no longer needed.
type Classifier struct {
	cfg         Config
	loadTimeout time.Duration   // what a new child may take in addition to the time-out
	pause       time.Duration   // how long a model that failed is not tried again
	life        context.Context // until it is closed
	cancel      context.CancelFunc
	turn        chan struct{} // has one element: who took it may use the fields below

	child  *child
	fault  error // of a model that failed
	failed time.Time
}

// New returns a classifier and starts nothing.
func New(cfg Config) *Classifier {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 15 * time.Second
	}
	// The child must not read it as an option, nor relative to another folder.
	if dir, err := filepath.Abs(cfg.Dir); err == nil && cfg.Dir != "" {
		cfg.Dir = dir
	}
	c := &Classifier{cfg: cfg, loadTimeout: 30 * time.Second, pause: time.Minute, turn: make(chan struct{}, 1)}
	c.life, c.cancel = context.WithCancel(context.Background())
	c.turn <- struct{}{}
	return c
}

// Classify returns a score for each label, best first. A zero-shot model needs the hypotheses; any other must have been
// trained on exactly these labels.
func (c *Classifier) Classify(ctx context.Context, text string, labels []Label) ([]Score, error) {
	a, err := c.askInTurn(ctx, Question{Excerpt(text, MaxText), labels}, false)
	return a.Scores, err
}

// Check asks the model about a short text with these labels and returns how that went, also soon after a failure. With
// an error, Info has what is known so far.
func (c *Classifier) Check(ctx context.Context, labels []Label) (Info, error) {
	a, err := c.askInTurn(ctx, Question{"I have found what you asked for, and nothing is missing.", labels}, true)
	return a.Info, err
}

// Close ends the child and waits for that. Active and later questions fail.
func (c *Classifier) Close() {
	c.cancel()
	<-c.turn
	_ = c.stopChild() // it was told to end: how it does so does not matter
	c.turn <- struct{}{}
}

// errClosed says that the classifier is closed.
var errClosed = errors.New("it is closed")

func (c *Classifier) askInTurn(ctx context.Context, q Question, always bool) (a Answer, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("classifier %s: %w", c.cfg.Dir, err)
		}
	}()
	busy := c.cfg.Timeout + c.loadTimeout
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return a, ctx.Err()
	case <-time.After(busy):
		return a, fmt.Errorf("other questions kept the model busy for %v", busy)
	}
	switch {
	case c.life.Err() != nil:
		return a, errClosed
	case ctx.Err() != nil:
		return a, ctx.Err()
	case q.Text == "":
		return a, errors.New("there is no text to classify")
	case c.fault != nil && !always && time.Since(c.failed) < c.pause:
		return a, c.fault
	}
	if a, err = c.ask(ctx, q); err == nil && a.Error != "" {
		err = errors.New(a.Error)
	}
	switch {
	case err == nil:
		c.fault = nil
		return a, nil
	case c.life.Err() != nil:
		return a, errClosed
	case ctx.Err() != nil:
		return a, ctx.Err()
	case a.Info.Kind == "": // the model was not even loaded, or its child is gone
		c.fault = err
		c.failed = time.Now()
	}
	return a, err
}

// ask asks the current child, or a new one. Only a child that had been there before is replaced when it dies: a text
// that kills a new child would kill the next one too. After an error there is no child.
func (c *Classifier) ask(ctx context.Context, q Question) (Answer, error) {
	for isNew := c.child == nil; ; isNew = true {
		timeout := c.cfg.Timeout
		if isNew {
			started, err := startChild(c.life, c.cfg)
			if err != nil {
				return Answer{}, err
			}
			c.child = started
			timeout += c.loadTimeout
		}
		a, err := c.child.ask(ctx, timeout, q)
		if err == nil {
			return a, nil
		}
		if died := c.stopChild(); errors.Is(err, io.EOF) {
			if !isNew && ctx.Err() == nil && c.life.Err() == nil {
				continue
			}
			err = died
		}
		return a, err
	}
}

// stopChild ends the child and says how it ended, with its last line of stderr if there is one.
func (c *Classifier) stopChild() error {
	if c.child == nil {
		return nil
	}
	ended, stderr := c.child.stop(), &c.child.stderr
	c.child = nil
	lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
	how := "the child ended"
	exit, ok := errors.AsType[*exec.ExitError](ended)
	if ok {
		how += " (" + exit.String() + ")"
	}
	if last := Excerpt(lines[len(lines)-1], 300); last != "" {
		how += ": " + last
	} else if ok && !exit.Exited() {
		how += "; perhaps the machine has too little memory for this model"
	}
	return errors.New(how)
}

// child is a running program of package network, used by one question at a time.
type child struct {
	cmd    *exec.Cmd
	kill   context.CancelFunc
	in     io.WriteCloser
	out    *bufio.Scanner
	stderr text.Tail
}

// startChild starts the process. The caller must stop it.
func startChild(life context.Context, cfg Config) (*child, error) {
	// Not the caller's context: the child is kept for the next question.
	life, kill := context.WithCancel(life)
	c := &child{kill: kill}
	c.cmd = exec.CommandContext(life, cfg.Command[0], append(cfg.Command[1:len(cfg.Command):len(cfg.Command)],
		cfg.Dir)...)
	c.cmd.Env = append([]string{}, cfg.Env...) // never nil, which would be the parent's
	c.cmd.Stderr = &c.stderr
	c.cmd.WaitDelay = time.Second // for output that something else holds open
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		c.in, err = c.cmd.StdinPipe()
	}
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		kill()
		if cfg.Missing != "" && (errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist)) {
			return nil, fmt.Errorf("the program %s is not there; %s", filepath.Base(cfg.Command[0]), cfg.Missing)
		}
		return nil, fmt.Errorf("the child could not be started: %w", err)
	}
	c.out = bufio.NewScanner(out)
	return c, nil
}

// ask asks a question and waits for the answer. After an error the child can't be used any more; io.EOF says that it
// died.
func (c *child) ask(ctx context.Context, timeout time.Duration, q Question) (a Answer, err error) {
	line, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stop := context.AfterFunc(ctx, c.kill)
	defer stop()
	_, err = c.in.Write(append(line, '\n'))
	said := err == nil && c.out.Scan()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return a, fmt.Errorf("there was no answer within %v; a smaller model or a longer time-out would help", timeout)
	case !said && c.out.Err() == nil:
		return a, io.EOF
	case !said:
		return a, fmt.Errorf("what the child said is no answer: %w", c.out.Err())
	case json.Unmarshal(c.out.Bytes(), &a) != nil, a.Error == "" && len(a.Scores) != len(q.Labels):
		return a, fmt.Errorf("the child said %q, which is no answer", Excerpt(c.out.Text(), 300))
	}
	return a, nil
}

// stop ends the child and waits for that. A child ends by itself when its input ends, so that its exit status is known.
func (c *child) stop() error {
	_ = c.in.Close() // fails only if it is closed, which is what's wanted
	late := time.AfterFunc(time.Second, c.kill)
	defer late.Stop()
	defer c.kill()
	return c.cmd.Wait()
}

// gap replaces the part of a text that was cut.
const gap = " … "

// Excerpt is a text in one line, without control characters and invalid UTF-8, of at most n characters: head and tail,
// because a turn begins with its subject and ends with its result.
func Excerpt(text string, n int) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, " "))
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= n {
		return string(runes)
	}
	keep := n - len([]rune(gap))
	if keep <= 0 {
		return string(runes[:n])
	}
	head := (keep + 1) / 2
	return string(runes[:head]) + gap + string(runes[len(runes)-(keep-head):])
}
