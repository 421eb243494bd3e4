package bert

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"time"
)

// idle is how long a child waits for a question before it ends and gives its memory back.
const idle = 10 * time.Minute

// errHangUp says that nobody is left to answer.
var errHangUp = errors.New("the asking side has hung up")

// Serve is the child: it loads the model, then answers the questions that come in through in, until in is at its end or
// ctx is done. It returns then at once, even in the middle of an answer, and the process is expected to end.
//
// While it runs, os.Stdout is the standard error: the libraries print. An out that writes to the standard output has to have
// been made before.
//
// It returns an error if the model can't be loaded, which it has told the asking side too, and if what comes in is not a
// question.
func Serve(ctx context.Context, load func() (Model, error), in io.Reader, out io.Writer) error {
	stdout := os.Stdout
	os.Stdout = os.Stderr
	defer func() { os.Stdout = stdout }()
	ctx, hangUp := context.WithCancelCause(ctx)
	defer hangUp(nil)
	incoming := make(chan []byte)
	go func() { hangUp(receive(ctx, lines(in), incoming)) }()
	done := make(chan error, 1)
	go func() { done <- work(ctx, load, incoming, out) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		if err := context.Cause(ctx); !errors.Is(err, errHangUp) {
			return err
		}
		return nil
	}
}

// receive passes on what comes in, line by line, and returns why no more comes.
func receive(ctx context.Context, in *bufio.Reader, to chan<- []byte) error {
	for {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return errHangUp
		}
		if err != nil {
			return err
		}
		select {
		case to <- append([]byte(nil), line...):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// work loads the model and answers.
func work(ctx context.Context, load func() (Model, error), incoming <-chan []byte, out io.Writer) error {
	model, err := load()
	if err != nil {
		return errors.Join(err, writeLine(out, answer{Error: asProblem(err)}))
	}
	m := newLoaded(model)
	debug.FreeOSMemory() // what loading took beside the model
	if err := writeLine(out, answer{Ready: &m.traits}); err != nil {
		return err
	}
	for {
		select {
		case line := <-incoming:
			var q question
			if err := json.Unmarshal(line, &q); err != nil {
				return err
			}
			if err := writeLine(out, m.answer(q)); err != nil {
				return err
			}
		case <-time.After(idle):
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

func (m *loaded) answer(q question) answer {
	scores, err := m.classify(q)
	if err != nil {
		return answer{ID: q.ID, Error: asProblem(err)}
	}
	return answer{ID: q.ID, Scores: scores}
}

func asProblem(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	return problemf(Unanswered, "%s", Snippet(err.Error()))
}
