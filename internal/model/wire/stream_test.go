package wire_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

func TestEventIsItsData(t *testing.T) {
	for _, c := range []struct {
		stream string
		want   []string
		kind   model.Kind
		says   string
	}{
		{"data: {\"a\":1}", []string{`{"a":1}`}, model.Server, "cut"},
		{"data:x \t\n\n", []string{"x"}, model.Server, "cut"},
		{"event: x\nid: 1\n: comment\ndata: x\nretry: 5\n\n", []string{"x"}, model.Server, "cut"},
		{"data: {\ndata:   \"a\": 1\r\ndata: }\n\n", []string{"{\n\"a\": 1\n}"}, model.Server, "cut"},
		{"data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n", []string{`{"a":1}`, `{"b":2}`, "[DONE]"}, model.Server,
			"cut"},
		{"\n\r\n: comment\n\nevent: ping\n\nid\nretry: 5\n\n", nil, model.Server, "cut"},
		{"data: x\n\n{\"error\":\n\"odd\"} \n", []string{"x"}, model.Server, "inside the stream: odd"},
		{"[{\"error\":\"odd\"}]", nil, model.Server, "inside the stream: odd"},
		{"{\"b\":1}\n", nil, model.Garbled, "no event stream"},
		{" data: x\n", nil, model.Garbled, "no event stream"},
		{"<html>\n", nil, model.Garbled, "no event stream"},
		{"database: x\n", nil, model.Garbled, "no event stream"},
	} {
		var got []string
		x := open(t, nil)
		err := x.ReadEvents(strings.NewReader(c.stream), false, func(data []byte) error {
			got = append(got, string(data))
			return nil
		})
		wantFailure(t, err, c.kind, strings.ReplaceAll(c.says, "no event", "not an event"))
		assert.That(t, slices.Equal(got, c.want), "%q gave %q; want %q", c.stream, got, c.want)
	}
	broken := io.MultiReader(strings.NewReader("<html>\n"), iotest.ErrReader(errors.New("odd")))
	// what was missing may have been an event
	wantFailure(t, open(t, nil).ReadEvents(broken, false, nil), model.Server, "cut (odd)")
}

func TestPartThatTheStreamsEndCutsOffIsACutOneWhateverItHolds(t *testing.T) {
	for stream, kind := range map[string]model.Kind{"data: {\n\n": model.Garbled, "data: {": model.Server,
		"data: {\n": model.Server} {
		x := open(t, nil)
		garbled := func([]byte) error { return x.Fail(model.Garbled, "odd", nil) }
		wantFailure(t, x.ReadEvents(strings.NewReader(stream), true, garbled), kind, "")
	}
	for stream, kind := range map[string]model.Kind{"{\n": model.Garbled, "{\r\n": model.Garbled, "{": model.Server} {
		x := open(t, nil)
		garbled := func([]byte) error { return x.Fail(model.Garbled, "odd", nil) }
		wantFailure(t, x.ReadLines(strings.NewReader(stream), garbled), kind, "")
	}
	x := open(t, nil)
	gone := func([]byte) error { return x.Fail(model.Cancelled, "gone", nil) }
	wantFailure(t, x.ReadLines(strings.NewReader("{"), gone), model.Cancelled, "gone")
}

func TestStreamHasAnEndWhateverIsInIt(t *testing.T) {
	long := strings.Repeat("x", 1<<14) // many short lines only take more time
	for _, line := range []string{":" + long + "\n\n", "data: " + long + "\n\n", long + "\n"} {
		sent := 0
		err := open(t, nil).ReadEvents(readerFunc(func(p []byte) (int, error) {
			n := copy(p, line[sent%len(line):])
			sent += n
			return n, nil
		}), false, func([]byte) error { return nil })
		wantFailure(t, err, model.Garbled, "next to nothing in it")
		assert.That(t, sent >= wire.MaxStream && sent <= wire.MaxStream+1<<20, "%.10q: %d bytes were read", line, sent)
	}
}
