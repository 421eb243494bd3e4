package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	"sibyl/internal/model"
)

// errTooMuch is the error of a stream that is longer than its answer needs.
var errTooMuch = errors.New("the stream goes on for 64 MB and more with next to nothing in it")

// bounded is a stream that ends when it is out of proportion to its answer.
type bounded struct {
	x    *Exchange
	body io.Reader
	read int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.read > MaxStream+wrapping*b.x.size {
		return 0, errTooMuch
	}
	n, err := b.body.Read(p)
	b.read += n
	b.x.received += n
	return n, err
}

// Lines reads a stream line by line, within the bounds of its exchange.
type Lines struct {
	x       *Exchange
	scanner *bufio.Scanner
	open    bool // the last line had no end
}

// firstBuffer holds a usual line whole.
const firstBuffer = 4 << 10

// Lines reads body, a stream of one JSON value per line.
func (x *Exchange) Lines(body io.Reader) *Lines {
	l := &Lines{}
	l.read(x, body, bufio.ScanLines)
	return l
}

func (l *Lines) read(x *Exchange, body io.Reader, split bufio.SplitFunc) {
	l.x, l.scanner = x, bufio.NewScanner(&bounded{x: x, body: body})
	l.scanner.Buffer(make([]byte, 0, firstBuffer), MaxAnswer)
	l.scanner.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		advance, line, err := split(data, atEOF)
		l.open = atEOF && len(line) > 0 && data[advance-1] != '\n' && data[advance-1] != '\r'
		return advance, line, err
	})
}

// Next waits for a line and says whether one came.
func (l *Lines) Next() bool {
	l.x.clock.wait()
	return l.scanner.Scan()
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
	case errors.Is(err, errTooMuch):
		return l.x.Fail(model.Garbled, err.Error(), nil)
	case err == nil:
		err = io.ErrUnexpectedEOF
	}
	return l.x.lost("the stream was cut", err)
}

// Events reads server-sent events, and passes on the lines between them that no event has. Of an event, all but its data says
// nothing that is not in there, too.
type Events struct {
	Lines
	data  []byte // of the event that is coming in
	lines int    // that data came on
	held  bool   // the last line belongs to the next event
	whole bool   // what came last is an event
	junk  bool   // a line was none that an event stream can have
}

// Events reads body, an event stream.
func (x *Exchange) Events(body io.Reader) *Events {
	e := &Events{}
	e.read(x, body, eventLines())
	return e
}

// eventLines splits a stream at LF, CR or both, as the format of event streams has it.
func eventLines() bufio.SplitFunc {
	afterCR := false
	return func(data []byte, atEOF bool) (advance int, _ []byte, _ error) {
		if afterCR && len(data) > 0 {
			if data[0] == '\n' { // the rest of the end of the line before
				advance, data = 1, data[1:]
			}
			afterCR = false
		}
		end := lineEnd(data)
		switch {
		case end < len(data):
			afterCR = data[end] == '\r'
			return advance + end + 1, data[:end], nil
		case atEOF && len(data) > 0:
			return advance + len(data), data, nil
		}
		return advance, nil, nil
	}
}

// lineEnd is where the first CR or LF stands in data; its length if there is none. It looks for both in pieces: a stream that has
// only one of them would else be searched to its end for the other at every line.
func lineEnd(data []byte) int {
	for from := 0; from < len(data); from += firstBuffer {
		piece := data[from:min(from+firstBuffer, len(data))]
		end := bytes.IndexByte(piece, '\n')
		if end >= 0 {
			piece = piece[:end]
		}
		if cr := bytes.IndexByte(piece, '\r'); cr >= 0 {
			end = cr
		}
		if end >= 0 {
			return from + end
		}
	}
	return len(data)
}

// Next waits for an event, or a line that none has, and says whether one came. The end of the stream ends an event, too.
func (e *Events) Next() bool {
	if e.whole {
		e.data, e.lines, e.whole = e.data[:0], 0, false
	}
	for e.held || e.Lines.Next() {
		data, isData := bytes.CutPrefix(e.Bytes(), []byte("data:"))
		switch {
		// Some endpoints leave out the line between two events; nothing can follow whole JSON in one.
		case isData && e.lines == 1 && json.Valid(e.data):
			e.held, e.whole = true, true
			return true
		case isData:
			if e.lines++; e.lines > 1 {
				e.data = append(e.data, '\n')
			}
			e.data, e.held = append(e.data, bytes.TrimSpace(data)...), false
		case len(e.Bytes()) == 0 && e.lines > 0:
			e.whole = true
			return true
		case !isField(e.Bytes()):
			e.junk = true
			return true
		}
	}
	e.whole, e.open = e.lines > 0, e.lines > 0
	return e.whole
}

// Data returns the data of the event, its lines joined; none if there is none, or what came is no event.
func (e *Events) Data() ([]byte, bool) { return e.data, e.whole && len(e.data) > 0 }

// DataOrBare is as Data, but a bare JSON object counts too: some endpoints send an error so.
func (e *Events) DataOrBare() ([]byte, bool) {
	if line := e.Bytes(); !e.whole && bytes.HasPrefix(line, []byte("{")) {
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
