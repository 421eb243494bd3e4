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

func TestLinesDoNotDependOnHowTheStreamWasSplit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		want := rapid.SliceOf(rapid.StringMatching(`[a-z{}:"\\é]{0,20}`)).Draw(r, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(r, "end")
		text := strings.Join(want, end)
		if len(want) > 0 && want[len(want)-1] != "" {
			text += rapid.SampledFrom([]string{"", end}).Draw(r, "last")
		} else {
			want = want[:max(len(want)-1, 0)] // nothing follows the last end
		}
		for _, body := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
			var got []string
			lines := open(t, nil).Lines(body)
			for lines.Next() {
				got = append(got, string(lines.Bytes()))
			}
			if !slices.Equal(got, want) || !lines.Over() {
				r.Fatalf("%q gave %q; want %q", text, got, want)
			}
		}
	})
}

func TestOnlyAnUnfinishedLastLineIsACutOne(t *testing.T) {
	garbled, other := &model.Error{Kind: model.Garbled}, &model.Error{Kind: model.Cancelled}
	for text, want := range map[string][]bool{
		"a\nb\n":       {false, false},
		"a\nb":         {false, true},
		"a\r\nb\r\n":   {false, false},
		"a\n\n":        {false, false},
		"a\nb\nc\n\nd": {false, false, false, false, true},
	} {
		var got []bool
		lines := open(t, nil).Lines(strings.NewReader(text))
		for lines.Next() {
			got = append(got, lines.Cut(garbled))
			if lines.Cut(other) {
				t.Errorf("%q: an error that has nothing to do with the line counts as a cut", text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: cut %v; want %v", text, got, want)
		}
	}
}

func TestStreamThatEndsWithoutItsAnswerHasItsKind(t *testing.T) {
	for name, c := range map[string]struct {
		body io.Reader
		kind model.Kind
		over bool
		says string
	}{
		"at its end":  {strings.NewReader("a\n"), model.Server, true, "the stream was cut"},
		"by an error": {io.MultiReader(strings.NewReader("a\n"), iotest.ErrReader(errors.New("odd"))), model.Server, false, "the stream was cut (odd)"},
		"by its size": {strings.NewReader("a\n" + strings.Repeat("x", wire.MaxAnswer+1)), model.Garbled, false, "larger than 8 MB"},
	} {
		lines := open(t, nil).Lines(c.body)
		n := 0
		for lines.Next() {
			n++
		}
		if got := failure(t, lines.Failure(), c.kind, c.says); got.Lost != (c.kind == model.Server) {
			t.Errorf("%s: lost %v", name, got.Lost)
		}
		if n != 1 || lines.Over() != c.over {
			t.Errorf("%s: %d lines, over %v; want 1, %v", name, n, lines.Over(), c.over)
		}
	}
}

func TestEventIsItsData(t *testing.T) {
	for _, c := range []struct {
		stream, data, orBare string
		foreign              bool
	}{
		{`data: {"a":1}`, `{"a":1}`, `{"a":1}`, false},
		{"data:x \t", "x", "x", false},
		{"event: x\nid: 1\n: comment\ndata: x\nretry: 5\n", "x", "x", false},
		{"data: {\ndata:   \"a\": 1\r\ndata: }\n", "{\n\"a\": 1\n}", "{\n\"a\": 1\n}", false},
		{`{"error":1} `, "", `{"error":1}`, true},
		{" data: x", "", "", true},
		{"<html>", "", "", true},
		{"database: x", "", "", true},
	} {
		events := open(t, nil).Events(strings.NewReader(c.stream + "\n"))
		events.Next()
		data, ok := events.Data()
		orBare, okBare := events.DataOrBare()
		if string(data) != c.data || ok != (c.data != "") || string(orBare) != c.orBare || okBare != (c.orBare != "") {
			t.Errorf("%q gave %q and %q; want %q and %q", c.stream, data, orBare, c.data, c.orBare)
		}
		if events.Next(); events.Foreign() != c.foreign {
			t.Errorf("%q: foreign %v; want %v", c.stream, events.Foreign(), c.foreign)
		}
	}
}

func TestWhatIsNoEventIsPassedOver(t *testing.T) {
	events := open(t, nil).Events(strings.NewReader("\n\r\n: comment\n\nevent: ping\n\nid\nretry: 5\n\n"))
	if events.Next() || events.Foreign() {
		t.Errorf("got %q, foreign %v", events.Bytes(), events.Foreign())
	}
}

func TestEventsDoNotDependOnHowTheirLinesEndOrTheStreamWasSplit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var want []string
		var stream strings.Builder
		end := rapid.SampledFrom([]string{"\n", "\r\n", "\r"})
		for _, lines := range rapid.SliceOf(rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,5}`), 1, 3)).Draw(r, "events") {
			want = append(want, strings.Join(lines, "\n"))
			for _, line := range lines {
				stream.WriteString("data: " + line + end.Draw(r, "end"))
			}
			between := end.Draw(r, "between")
			if s := stream.String(); strings.HasSuffix(s, "\r") && between == "\n" {
				between = "\r" // else the two are one end
			}
			stream.WriteString(between)
		}
		for _, body := range []io.Reader{strings.NewReader(stream.String()), iotest.OneByteReader(strings.NewReader(stream.String()))} {
			var got []string
			events := open(t, nil).Events(body)
			for events.Next() {
				data, _ := events.Data()
				got = append(got, string(data))
			}
			if !slices.Equal(got, want) {
				r.Fatalf("%q gave %q; want %q", stream.String(), got, want)
			}
		}
	})
}

func TestEventThatTheStreamsEndCutsOffIsACutOne(t *testing.T) {
	garbled := &model.Error{Kind: model.Garbled}
	for stream, want := range map[string]bool{"data: {\n\n": false, "data: {\r\r": false, "data: {": true, "data: {\n": true, "{\"error\"": true, "{\"error\"\n": false} {
		events := open(t, nil).Events(strings.NewReader(stream))
		if !events.Next() || events.Cut(garbled) != want {
			t.Errorf("%q: cut %v; want %v", stream, events.Cut(garbled), want)
		}
	}
}

func TestEventsWithoutALineBetweenThemAreToldApart(t *testing.T) {
	events := open(t, nil).Events(strings.NewReader("data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n"))
	for _, want := range []string{`{"a":1}`, `{"b":2}`, "[DONE]"} {
		events.Next()
		if data, ok := events.Data(); !ok || string(data) != want {
			t.Errorf("got %q; want %q", data, want)
		}
	}
	if events.Next() {
		t.Error("there is more")
	}
}

func TestStreamHasAnEndWhateverIsInIt(t *testing.T) {
	long := strings.Repeat("x", 1<<14) // many short lines only take more time
	for line, kept := range map[string]int{":" + long + "\n\n": 0, "data: " + long + "\r\r": 0, long + "\n": 100} {
		x, read := open(t, nil), 0
		if err := x.Keep(kept); err != nil {
			t.Fatal(err)
		}
		text := strings.Repeat(line, 1+wire.MaxFailure/len(line))
		events := x.Events(readerFunc(func(p []byte) (int, error) {
			n := copy(p, text[read%len(line):])
			read += n
			return n, nil
		}))
		for events.Next() {
		}
		failure(t, events.Failure(), model.Garbled, "next to nothing in it")
		if most := wire.MaxStream + 64*kept; read < most || read > most+1<<20 {
			t.Errorf("%.10q: %d bytes were read, %d were kept", line, read, kept)
		}
	}
}

func TestStreamThatBrokeIsNotCalledForeign(t *testing.T) {
	events := open(t, nil).Events(io.MultiReader(strings.NewReader("<html>\n"), iotest.ErrReader(errors.New("odd"))))
	for events.Next() {
	}
	if events.Foreign() {
		t.Error("what was missing may have been an event")
	}
}
