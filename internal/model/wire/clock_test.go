package wire_test

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// openClocked is an exchange with these limits, and its body: the lines it is sent, until the exchange ends.
func openClocked(t *testing.T, first, idle, whole time.Duration) (*wire.Call, io.Reader, chan<- string) {
	t.Helper()
	x := open(t, nil, func(c *wire.Config, _ *wire.Protocol) { c.FirstByte, c.Idle, c.Whole = first, idle, whole })
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

// sendLines sends each line after its pause, on the bubble's clock, which nobody waits for; the last one again and
// again.
func sendLines(x *wire.Call, to chan<- string, pause time.Duration, lines ...string) {
	for i := 0; ; i++ {
		select {
		case <-time.After(pause):
			select {
			case to <- lines[min(i, len(lines)-1)]:
			case <-x.Context().Done():
				return
			}
		case <-x.Context().Done():
			return
		}
	}
}

// readUntilError reads the lines of body; each “word” in them is text. It returns the failure, and the time that
// passed.
func readUntilError(t *testing.T, x *wire.Call, body io.Reader) (*model.Error, time.Duration) {
	t.Helper()
	start := time.Now()
	err := x.ReadLines(body, func(line []byte) error {
		return x.EmitText(strings.Repeat("word ", strings.Count(string(line), "word")))
	})
	var failed *model.Error
	assert.Require(t, errors.As(err, &failed), "%v", err)
	return failed, time.Since(start)
}

func TestSilenceCountsFromTheLastProgressOn(t *testing.T) {
	// the longer one of them first or last
	for idle, first := range map[time.Duration]time.Duration{time.Second: time.Hour, time.Hour: time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			x, body, lines := openClocked(t, first, idle, 6*time.Hour)
			defer x.Close()
			go func() {
				<-time.After(30 * time.Second)
				lines <- "word\n"
				<-time.After(idle - time.Millisecond)
				lines <- "word\n"
				sendLines(x, lines, 100*time.Millisecond, "\n")
			}()
			err, took := readUntilError(t, x, body)
			wantFailure(t, err, model.Timeout, "silence in the middle of the answer (limit "+idle.String()+")")
			want := 30*time.Second + 2*idle - time.Millisecond
			assert.That(t, took == want, "the silence was noticed after %v; want %v", took, want)
		})
	}
}

func TestEachRequestOfAnExchangeHasItsOwnTimeToBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := provider(func(r *http.Request) (*http.Response, error) {
			select {
			case <-time.After(50 * time.Second):
				return answering(200, http.Header{}, `{}`)(r)
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		})
		x := open(t, slow, func(c *wire.Config, _ *wire.Protocol) { c.FirstByte, c.Idle = time.Minute, 2*time.Minute })
		defer x.Close()
		for range 3 {
			assert.Nil(t, x.GetList("models", nil, new(any), func() bool { return true }))
		}
	})
}

func TestTimeOfTheReceiverIsNoSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, body, lines := openClocked(t, time.Second, time.Second, time.Hour)
		defer x.Close()
		go func() {
			defer close(lines)
			for range 3 {
				lines <- "word\n"
			}
		}()
		x.SetEmit(func(model.Delta) error { <-time.After(time.Minute); return nil })
		err, _ := readUntilError(t, x, body)
		assert.That(t, x.Text() == "word word word " && err.Lost, "took %q, %v", x.Text(), err)
	})
}

func TestWhatIsReadAnewGivesTheAnswerItsWholeTimeToBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, body, lines := openClocked(t, time.Minute, time.Second, time.Hour)
		defer x.Close()
		go sendLines(x, lines, 50*time.Second, "10\n", "20\n", "30\n", "30\n")
		start := time.Now()
		err := x.ReadLines(body, func(line []byte) error {
			read, err := strconv.Atoi(string(line))
			if err != nil {
				return err
			}
			return x.NoteReading(100, read)
		})
		var failed *model.Error
		assert.Require(t, errors.As(err, &failed), "%v", err)
		wantFailure(t, failed, model.Timeout, "no answer began in time (limit 1m0s)")
		took := time.Since(start)
		assert.That(t, took == 150*time.Second+time.Minute, "ended after %v", took)
	})
}

func TestWholeTimeBoundsAStreamThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, body, lines := openClocked(t, time.Second, time.Second, 9700*time.Millisecond)
		defer x.Close()
		go sendLines(x, lines, 500*time.Millisecond, "word\n")
		err, took := readUntilError(t, x, body)
		wantFailure(t, err, model.Timeout, "the answer had no end (limit 9.7s)")
		assert.That(t, took == 9700*time.Millisecond && errors.Is(err, model.ErrEndless), "ended after %v, %#v", took, err)
	})
}

func TestBlanksKeepNoWholeAnswerAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x, body, lines := openClocked(t, time.Minute, time.Second, time.Hour)
		defer x.Close()
		go sendLines(x, lines, 500*time.Millisecond, "\n ")
		start := time.Now()
		_, err := x.ReadBody(&http.Response{Body: io.NopCloser(body)})
		wantFailure(t, err, model.Timeout, "no answer began in time")
		took := time.Since(start)
		assert.That(t, took == time.Minute, "ended after %v", took)
	})
}
