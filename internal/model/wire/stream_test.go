package wire_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

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
		failure(t, lines.Failure(), c.kind, c.says)
		if n != 1 || lines.Over() != c.over {
			t.Errorf("%s: %d lines, over %v; want 1, %v", name, n, lines.Over(), c.over)
		}
	}
}

func TestEventIsItsDataLine(t *testing.T) {
	for _, c := range []struct {
		line, data, orBare string
		foreign            bool
	}{
		{`data: {"a":1}`, `{"a":1}`, `{"a":1}`, false},
		{"data:x \t", "x", "x", false},
		{"data:", "", "", false},
		{"", "", "", false},
		{": comment", "", "", false},
		{"event: ping", "", "", false},
		{"id", "", "", false},
		{"retry: 5", "", "", false},
		{`{"error":1} `, "", `{"error":1}`, true},
		{" data: x", "", "", true},
		{"<html>", "", "", true},
		{"database: x", "", "", true},
	} {
		events := open(t, nil).Events(strings.NewReader(c.line + "\n"))
		events.Next()
		data, ok := events.Data()
		orBare, okBare := events.DataOrBare()
		if string(data) != c.data || ok != (c.data != "") || string(orBare) != c.orBare || okBare != (c.orBare != "") {
			t.Errorf("%q gave %q and %q; want %q and %q", c.line, data, orBare, c.data, c.orBare)
		}
		if events.Next(); events.Foreign() != c.foreign {
			t.Errorf("%q: foreign %v; want %v", c.line, events.Foreign(), c.foreign)
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

// clocked is an exchange with a limit on silence, and its body: the lines it is sent, until the exchange ends.
func clocked(t *testing.T, timeout, idle time.Duration) (*wire.Exchange, io.Reader, chan<- string) {
	t.Helper()
	x := open(t, nil, func(c *wire.Config, _ *wire.Protocol) { c.Timeout, c.Idle = timeout, idle })
	lines := make(chan string)
	body := readerFunc(func(p []byte) (int, error) {
		select {
		case line, ok := <-lines:
			if !ok {
				return 0, io.EOF
			}
			return copy(p, line), nil
		case <-x.Context().Done():
			return 0, x.Context().Err()
		}
	})
	return x, body, lines
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestSilenceCountsFromTheFirstLineOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, body, lines := clocked(t, time.Hour, time.Second)
		defer x.Close()
		start := time.Now()
		go func() {
			<-time.After(time.Minute) // of the bubble's clock, which nobody waits for
			lines <- "first\n"
			<-time.After(999 * time.Millisecond)
			lines <- "second\n"
		}()
		l := x.Lines(body)
		for l.Next() {
		}
		failure(t, l.Failure(), model.Timeout, "silence in the middle of the answer (limit 1s)")
		if got, want := time.Since(start), time.Minute+1999*time.Millisecond; got != want {
			t.Errorf("the silence was noticed after %v; want %v", got, want)
		}
	})
}

func TestTimeOfTheReceiverIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, body, lines := clocked(t, time.Hour, time.Second)
		defer x.Close()
		go func() {
			defer close(lines)
			for range 3 {
				lines <- "line\n"
			}
		}()
		l, n := x.Lines(body), 0
		for l.Next() {
			<-time.After(time.Minute)
			n++
		}
		if n != 3 || !l.Over() || x.Context().Err() != nil {
			t.Errorf("%d lines, %v", n, l.Failure())
		}
	})
}

func TestWholeTimeBoundsAStreamThatIsNeverSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, body, lines := clocked(t, 9700*time.Millisecond, time.Second)
		defer x.Close()
		go func() {
			for {
				select {
				case <-time.After(500 * time.Millisecond):
					lines <- "line\n"
				case <-x.Context().Done():
					return
				}
			}
		}()
		start, l := time.Now(), x.Lines(body)
		for l.Next() {
		}
		failure(t, l.Failure(), model.Timeout, "no complete answer in time (limit 9.7s)")
		if got := time.Since(start); got != 9700*time.Millisecond {
			t.Errorf("ended after %v", got)
		}
	})
}

func TestEndOfAFinishedStreamIsWaitedForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, body, _ := clocked(t, time.Hour, 0)
		defer x.Close()
		start := time.Now()
		x.Drain(body)
		if got := time.Since(start); got != 50*time.Millisecond || !errors.Is(x.Context().Err(), context.Canceled) {
			t.Errorf("waited %v, context %v", got, x.Context().Err())
		}
	})
	x := open(t, nil)
	x.Drain(strings.NewReader("\n"))
	if x.Context().Err() != nil {
		t.Error("a stream that ended at once was cut")
	}
}
