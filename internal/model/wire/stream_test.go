package wire_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// read gives what a reader of streams passes on of a body, and how it ended.
func read(t *testing.T, events bool, body io.Reader) (parts []string, err error) {
	x := open(t, nil)
	take := func(part []byte) error { parts = append(parts, string(part)); return nil }
	if events {
		return parts, x.ReadEvents(body, false, take)
	}
	return parts, x.ReadLines(body, take)
}

func TestStreamIsReadAlikeHoweverItsLinesEndAndItWasSplit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := rapid.SliceOf(rapid.StringMatching(`[a-z{}:"\\é]{1,20}`)).Draw(r, "parts")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "end")
		for events, stream := range map[bool]string{false: strings.Join(want, end), true: ""} {
			if events {
				for _, part := range want {
					stream += "data: " + part + end + end
				}
			}
			for _, body := range []io.Reader{strings.NewReader(stream), iotest.OneByteReader(strings.NewReader(stream))} {
				got, err := read(t, events, body)
				if failure(t, err, model.Server, "the stream was cut"); !slices.Equal(got, want) {
					r.Fatalf("%q gave %q; want %q", stream, got, want)
				}
			}
		}
	})
}

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
		{"data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n", []string{`{"a":1}`, `{"b":2}`, "[DONE]"}, model.Server, "cut"},
		{"\n\r\n: comment\n\nevent: ping\n\nid\nretry: 5\n\n", nil, model.Server, "cut"},
		{"data: x\n\n{\"error\":\n\"odd\"} \n", []string{"x"}, model.Server, "inside the stream: odd"},
		{"[{\"error\":\"odd\"}]", nil, model.Server, "inside the stream: odd"},
		{"{\"b\":1}\n", nil, model.Garbled, "no event stream"},
		{" data: x\n", nil, model.Garbled, "no event stream"},
		{"<html>\n", nil, model.Garbled, "no event stream"},
		{"database: x\n", nil, model.Garbled, "no event stream"},
	} {
		got, err := read(t, true, strings.NewReader(c.stream))
		if failure(t, err, c.kind, strings.ReplaceAll(c.says, "no event", "not an event")); !slices.Equal(got, c.want) {
			t.Errorf("%q gave %q; want %q", c.stream, got, c.want)
		}
	}
	_, err := read(t, true, io.MultiReader(strings.NewReader("<html>\n"), iotest.ErrReader(errors.New("odd"))))
	failure(t, err, model.Server, "cut (odd)") // what was missing may have been an event
}

func TestPartThatTheStreamsEndCutsOffIsACutOneWhateverItHolds(t *testing.T) {
	for stream, kind := range map[string]model.Kind{"data: {\n\n": model.Garbled, "data: {": model.Server, "data: {\n": model.Server} {
		x := open(t, nil)
		garbled := func([]byte) error { return x.Fail(model.Garbled, "odd", nil) }
		failure(t, x.ReadEvents(strings.NewReader(stream), true, garbled), kind, "")
	}
	for stream, kind := range map[string]model.Kind{"{\n": model.Garbled, "{\r\n": model.Garbled, "{": model.Server} {
		x := open(t, nil)
		garbled := func([]byte) error { return x.Fail(model.Garbled, "odd", nil) }
		failure(t, x.ReadLines(strings.NewReader(stream), garbled), kind, "")
	}
	x := open(t, nil)
	gone := func([]byte) error { return x.Fail(model.Cancelled, "gone", nil) }
	failure(t, x.ReadLines(strings.NewReader("{"), gone), model.Cancelled, "gone")
}

func TestStreamThatEndsWithoutItsAnswerHasItsKind(t *testing.T) {
	for name, c := range map[string]struct {
		body io.Reader
		kind model.Kind
		says string
	}{
		"at its end":  {strings.NewReader("a\n"), model.Server, "the stream was cut"},
		"by an error": {io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(errors.New("odd"))), model.Server, "the stream was cut (odd)"},
		"by its size": {strings.NewReader("a\n" + strings.Repeat("x", wire.MaxAnswer+1)), model.Garbled, "larger than 8 MB"},
	} {
		got, err := read(t, false, c.body)
		if failed := failure(t, err, c.kind, c.says); failed.Lost != (c.kind == model.Server) || len(got) != 1 {
			t.Errorf("%s: lost %v after %q", name, failed.Lost, got)
		}
	}
}

func TestStreamHasAnEndWhateverIsInIt(t *testing.T) {
	long := strings.Repeat("x", 1<<14) // many short lines only take more time
	for line, kept := range map[string]int{":" + long + "\n\n": 0, "data: " + long + "\n\n": 0, long + "\n": 100} {
		x, sent := open(t, nil), 0
		if err := x.Keep(kept); err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat(line, 1+wire.MaxFailure/len(line))
		err := x.ReadEvents(readerFunc(func(p []byte) (int, error) {
			n := copy(p, text[sent%len(line):])
			sent += n
			return n, nil
		}), false, func([]byte) error { return nil })
		failure(t, err, model.Garbled, "next to nothing in it")
		if most := wire.MaxStream + 64*kept; sent < most || sent > most+1<<20 {
			t.Errorf("%.10q: %d bytes were read, %d were kept", line, sent, kept)
		}
	}
}
