package api

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/council"
)

func TestConnectionsBeyondTheBoundAreClosedAtOnce(t *testing.T) {
	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	server := &http.Server{ConnState: atMost(2), ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	defer func() { <-served }()
	defer func() { _ = server.Close() }()
	// asks says whether a request is answered over a connection of its own, which stays open.
	asks := func() (open net.Conn, answered bool) {
		c := assert.Must(net.Dial("tcp", l.Addr().String()))(t)
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		_, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n") // one that is closed answers nothing
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if timeout, ok := err.(net.Error); ok && timeout.Timeout() { //nolint:errorlint // as the connection gives it
			t.Fatal("neither answered nor closed")
		}
		if err == nil {
			_ = resp.Body.Close()
		}
		return c, err == nil
	}
	first, ok := asks()
	_, also := asks()
	assert.Require(t, ok && also, "those within the bound were not answered")
	_, ok = asks()
	assert.That(t, !ok, "one beyond the bound was answered")
	_ = first.Close()
	for end := time.Now().Add(time.Minute); ; { // until the server has seen that one has gone
		if _, ok := asks(); ok {
			break
		}
		assert.Require(t, !time.Now().After(end), "nobody is let in for the one who went")
	}
}

func TestTableStaysBoundedAndKeepsWhatIsInUse(t *testing.T) {
	made := map[int]int{}
	of := newTable(100, func(key int) *int {
		made[key]++
		return &key
	})
	for i := range 2_000 {
		got := *of.get(i)
		assert.Require(t, got == i, "of %d it gives what belongs to %d", i, got)
		of.get(-1) // asked for all the time
		kept := len(of.recent) + len(of.older)
		assert.Require(t, kept <= 200, "after %d keys it keeps %d", i, kept)
	}
	assert.That(t, made[-1] == 1, "what is in use was made %d times", made[-1])
}

func TestWhatWasMadeOfAnswersNamesTheOraclesWhoseItIs(t *testing.T) {
	ada, bob := council.Seat{ID: "a1", Name: "Ada"}, council.Seat{ID: "b2", Name: "Bob"}
	sat := council.SittingResult{
		Oracles: []council.Seat{ada, bob},
		Chair:   &council.Answer{Oracle: ada, Sequence: 3},
		MergedAnswers: &council.MergedAnswers{Unused: []string{"Ada"},
			Sentences: []council.Sentence{{Text: "It is **high**.", By: []string{"Bob"},
				Unproven: []string{"Nobody"}}},
			Agree:      []council.Sentence{{Text: "The rent <i>is</i> high.", By: []string{"Bob", "Ada"}}},
			Overlooked: []council.Sentence{{Text: "The date."}}},
		Skipped: []council.Skipped{{What: "a part", Why: bt.Because("in /srv/x")}},
	}
	f := CouncilSitting{Skipped: []string{}}
	f.addOutcome(sat)
	none := []council.Seat{}
	want := CouncilSitting{
		Oracles: []council.Seat{ada, bob},
		Chair: &CouncilChair{Oracle: ada, Sequence: 3, Unused: []council.Seat{ada},
			Sentences: []CouncilSentence{{HTML: "<p>It is <strong>high</strong>.</p>\n", By: []council.Seat{bob},
				Unproven: []council.Seat{{Name: "Nobody"}}}},
			Agree: []CouncilSentence{{HTML: "<p>The rent &lt;i&gt;is&lt;/i&gt; high.</p>\n",
				By: []council.Seat{bob, ada}, Unproven: none}},
			Differ:     []CouncilSentence{},
			Overlooked: []CouncilSentence{{HTML: "<p>The date.</p>\n", By: none, Unproven: none}}},
		Skipped: []string{"Did not compare the answers: in /srv/x"},
		LeftOut: sat.Skipped,
	}
	assert.Same(t, want, f)
}
