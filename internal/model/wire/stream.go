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

// errStreamTooLong says that a stream is far longer than its answer.
var errStreamTooLong = errors.New("the stream goes on for 128 MB with next to nothing in it")

// bodyReader reads the body of an answer, and runs the clock while it waits. If the answer is no stream, all that comes
// is progress but blanks, with which some servers keep a connection alive.
type bodyReader struct {
	x     *Call
	body  io.Reader
	whole bool
	read  int
}

func (s *bodyReader) Read(p []byte) (int, error) {
	if !s.whole && s.read > MaxStream {
		return 0, errStreamTooLong
	}
	s.x.clock.awaitProgress()
	n, err := s.body.Read(p)
	s.read += n
	s.x.received += n
	if s.whole && len(bytes.TrimSpace(p[:n])) > 0 {
		s.x.clock.noteProgress()
	}
	return n, err
}

// lineReader reads a stream line by line.
type lineReader struct {
	*bufio.Scanner
	open bool // the last line had no end
}

func (x *Call) newLineReader(body io.Reader) *lineReader {
	l := &lineReader{Scanner: bufio.NewScanner(&bodyReader{x: x, body: body})}
	l.Buffer(nil, MaxAnswer)
	l.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		advance, line, err := bufio.ScanLines(data, atEOF)
		l.open = advance > 0 && data[advance-1] != '\n'
		return advance, line, err
	})
	return l
}

// endError returns the error for a stream that ended before its answer was complete.
func (l *lineReader) endError(x *Call) *model.Error {
	err := l.Err()
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return x.tooLargeError()
	case errors.Is(err, errStreamTooLong):
		return x.Fail(model.Garbled, err.Error(), model.ErrOversized)
	case err == nil:
		err = io.ErrUnexpectedEOF
	}
	return x.lostError("the stream was cut", err)
}

// ReadLines passes the lines of body to handle until the answer is Done. Blank lines are left out.
func (x *Call) ReadLines(body io.Reader, handle func(line []byte) error) error {
	l := x.newLineReader(body)
	for l.Scan() {
		line := bytes.TrimSpace(l.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := handle(line); err != nil && l.open && model.KindOf(err) == model.Garbled {
			break // the line was cut
		} else if err != nil {
			return err
		}
		if x.Done {
			return x.readRest(body)
		}
	}
	return l.endError(x)
}

// ReadEvents passes the data of the events in body to handle until the answer is Done. handle sets Done, Finish and
// Begun. The other fields of an event are ignored: its data repeats them. JSON outside of any event is an error: some
// endpoints report a failure so. With finishEnds, a stream that breaks off after its finish is a whole answer: only its
// usage can be missing.
func (x *Call) ReadEvents(body io.Reader, finishEnds bool, handle func(data []byte) error) error {
	l := x.newLineReader(body)
	var data, foreign []byte // of the current event, and of lines that no event stream has
	handleEvent := func() (err error) {
		if len(data) > 0 {
			err = handle(data)
			data = data[:0]
		}
		return err
	}
	for l.Scan() {
		line := l.Bytes()
		more, isData := bytes.CutPrefix(line, []byte("data:"))
		var err error
		switch {
		case isData:
			// the data is complete, so this line begins another event: the blank line between was left out
			if json.Valid(data) {
				err = handleEvent()
			} else if len(data) > 0 {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimSpace(more)...)
		case len(line) == 0:
			err = handleEvent()
		case !isField(line) && len(foreign) < MaxFailureBody:
			foreign = append(foreign, bytes.TrimSpace(line)...)
		}
		if err != nil {
			return err
		}
		if x.Done {
			return x.readRest(body)
		}
	}
	if err := handleEvent(); err != nil && model.KindOf(err) != model.Garbled { // else it is a cut event
		return err
	}
	switch {
	case x.Done, finishEnds && x.Finish != "" && len(foreign) == 0 && !x.Withdrawn():
		return nil
	case isComplaint(foreign) && !x.Withdrawn():
		return x.StreamError(foreign)
	case !x.Begun && len(foreign) > 0 && l.Err() == nil:
		_ = x.Complaint(foreign) // which is none, but may have words
		return x.NoAnswerError("the answer is not an event stream" + x.BaseHint())
	}
	return l.endError(x)
}

// isField says whether line is a comment or a field of the event stream format.
func isField(line []byte) bool {
	name, _, _ := bytes.Cut(line, []byte(":"))
	switch string(name) {
	case "", "data", "event", "id", "retry":
		return true
	}
	return false
}

// readRest waits a moment for the end of a complete answer, without which its connection could not be used again.
func (x *Call) readRest(body io.Reader) error {
	end := time.AfterFunc(restTimeout, func() { x.cancel(nil) })
	defer end.Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(body, MaxFailureBody))
	return nil
}
