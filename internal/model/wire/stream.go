package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"time"

	"sibyl/internal/model"
)

// Lines reads a stream line by line, within the bounds of its exchange.
type Lines struct {
	x       *Exchange
	scanner *bufio.Scanner
	begun   bool // a line has come
	waited  bool // the clock counts silences
	open    bool // the last line had no end
}

// firstBuffer holds a usual line whole.
const firstBuffer = 4 << 10

// Lines reads body, a stream of one JSON value per line.
func (x *Exchange) Lines(body io.Reader) *Lines {
	l := &Lines{}
	l.read(x, body)
	return l
}

func (l *Lines) read(x *Exchange, body io.Reader) {
	l.x, l.scanner = x, bufio.NewScanner(body)
	l.scanner.Buffer(make([]byte, 0, firstBuffer), MaxAnswer)
	l.scanner.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		advance, line, err := bufio.ScanLines(data, atEOF)
		l.open = atEOF && advance == len(data) && len(line) > 0 && data[len(data)-1] != '\n'
		return advance, line, err
	})
}

// Next waits for a line and says whether one came. Silence counts from the first line on, as a model may have to be
// loaded before it, and only here: a receiver may take its time in emit.
func (l *Lines) Next() bool {
	if clock := &l.x.clock; l.begun && clock.idle > 0 {
		clock.wait(!l.waited)
		l.waited = true
		defer clock.since.Store(0)
	}
	came := l.scanner.Scan()
	l.begun = l.begun || came
	return came
}

// Data returns the line without white space around it; none if that leaves nothing.
func (l *Lines) Data() ([]byte, bool) {
	line := bytes.TrimSpace(l.Bytes())
	return line, len(line) > 0
}

// Bytes is the line without its end, valid until the next one.
func (l *Lines) Bytes() []byte { return l.scanner.Bytes() }

// Cut says whether err is due to a line without its end, which is a cut stream, whatever it holds.
func (l *Lines) Cut(err error) bool { return l.open && model.KindOf(err) == model.Garbled }

// Over says that the stream came to its end by itself, not by an error.
func (l *Lines) Over() bool { return l.scanner.Err() == nil }

// Failure is the error for a stream that has no more lines though its answer is not complete.
func (l *Lines) Failure() *model.Error {
	err := l.scanner.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return l.x.tooLarge()
	case err == nil:
		err = io.ErrUnexpectedEOF
	}
	return l.x.broken("the stream was cut", err)
}

// Events reads server-sent events. As every endpoint puts an event's data on one line, and what the data is in there, a
// line is an event.
type Events struct {
	Lines
	junk bool // a line was none that an event stream can have
}

// Events reads body, an event stream.
func (x *Exchange) Events(body io.Reader) *Events {
	e := &Events{}
	e.read(x, body)
	return e
}

const dataField = "data:"

// Next waits for a line, of an event or not, and says whether one came.
func (e *Events) Next() bool {
	if !e.Lines.Next() {
		return false
	}
	line := e.Bytes()
	if len(line) > 0 && !bytes.HasPrefix(line, []byte(dataField)) && !isField(line) {
		e.junk = true
	}
	return true
}

// Data returns the data of the line; none if it is no event's.
func (e *Events) Data() ([]byte, bool) {
	data, ok := bytes.CutPrefix(e.Bytes(), []byte(dataField))
	if !ok {
		return nil, false
	}
	data = bytes.TrimSpace(data)
	return data, len(data) > 0
}

// DataOrBare is as Data, but a bare JSON object counts too: some endpoints send an error so.
func (e *Events) DataOrBare() ([]byte, bool) {
	if line := e.Bytes(); bytes.HasPrefix(line, []byte("{")) {
		return bytes.TrimSpace(line), true
	}
	return e.Data()
}

// Foreign says that the stream is over and held a line that no event stream can have.
func (e *Events) Foreign() bool { return e.junk && e.Over() }

// isField says whether line is a comment or one of the fields that the event stream format knows.
func isField(line []byte) bool {
	name, _, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "", "data", "event", "id", "retry":
		return true
	}
	return false
}

// ReadLines passes the lines of body to take until the answer is Done.
func (x *Exchange) ReadLines(body io.Reader, take func(line []byte) error) error {
	lines := x.Lines(body)
	if over, err := x.each(lines, lines.Data, body, take); over {
		return err
	}
	return lines.Failure()
}

// ReadEvents passes the data of the events in body to take until the answer is Done. Where finishEnds, a stream that breaks off
// after its finish is a whole answer: only its usage can be missing.
func (x *Exchange) ReadEvents(body io.Reader, finishEnds bool, take func(data []byte) error) error {
	events := x.Events(body)
	if over, err := x.each(events, events.DataOrBare, body, take); over {
		return err
	}
	switch {
	case finishEnds && x.Finish != "" && !x.Withdrawn():
		return nil
	case !x.Begun && events.Foreign():
		return x.Fail(model.Garbled, "the answer is not an event stream"+x.BaseHint(), nil)
	}
	return events.Failure()
}

// stream is what each goes through.
type stream interface {
	Next() bool
	Cut(err error) bool
}

// each passes on what data finds in the lines of s. If over, err is the outcome; else s has no more lines, or was cut in one.
func (x *Exchange) each(s stream, data func() ([]byte, bool), body io.Reader, take func([]byte) error) (over bool, err error) {
	for s.Next() {
		part, ok := data()
		if !ok {
			continue
		}
		if err := take(part); err != nil {
			return !s.Cut(err), err
		}
		if x.Done {
			x.drain(body)
			return true, nil
		}
	}
	return false, nil
}

// drain waits a moment for the end of an answer that is complete, without which its connection could not be used again.
func (x *Exchange) drain(body io.Reader) {
	end := time.AfterFunc(drainTime, func() { x.cancel(nil) })
	defer end.Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(body, MaxFailure))
}
