package code

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/text/search"
)

func padded(text string) []byte {
	return append([]byte(text), make([]byte, search.Padding)...)[:len(text)]
}

func findAll(question, text string) []string {
	q := parseQuery(question)
	var got []string
	newScanner(q.terms).find(padded(text), func(m match) {
		got = append(got, fmt.Sprintf("%s %s %d", q.terms[m.term].word, text[m.start:m.end], m.strength))
	})
	return got
}

func TestTermsAreFoundInsideIdentifiers(t *testing.T) {
	for _, c := range []struct {
		question, text string
		want           []string
	}{
		{"idle", "idleConn maxIdleConns IDLE_TIME tooIdle", []string{"idle idle 10", "idle Idle 10", "idle IDLE 10",
			"idle Idle 10"}},
		{"connection", "conn", []string{"connection conn 7"}},
		{"connection", "persistConn", []string{"connection Conn 7"}},
		{"connection", "connect connected connections connector", []string{
			"connection connect 10", "connection connected 10", "connection connections 10",
			"connection connector 10"}},
		{"configuration", "conf config", []string{"configuration conf 7", "configuration config 7"}},
		{"transaction", "trans", []string{"transaction trans 5"}},
		{"close", "closes closing closed Closer closeable disclose", []string{
			"close closes 10", "close closing 10", "close closed 10", "close Closer 10", "close closeable 5",
			"close close 5"}},
		{"stopping", "stop stopped", []string{"stopping stop 10", "stopping stopped 10"}},
		{"retry", "retries retried retryable", []string{"retry retries 10", "retry retried 10", "retry retryable 5"}},
		{"channel send", "chansend", []string{"channel chansend 3", "send send 5"}},
		{"send", "asender", []string{"send sender 5"}},
		{"gc", "gcStart GC gcc EGCP forceGC", []string{"gc gc 10", "gc GC 10", "gc GC 10"}},
		{"map", "map maps mapper remap", []string{"map map 10", "map maps 10", "map mapper 10"}},
		{"url", "URLs URLPath", []string{"url URLs 10", "url URL 10"}},
		{"idleConnTimeout", "idle_conn_timeout IdleConnTimeout", []string{
			"idleconntimeout idle_conn_timeout 10", "idle idle 10", "conn conn 10", "timeout timeout 10",
			"idleconntimeout IdleConnTimeout 10", "idle Idle 10", "conn Conn 10", "timeout Timeout 10"}},
		{"waitgroup", "WaitGroup", []string{"waitgroup WaitGroup 10"}},
		{"größe", "Größe", []string{"größe Größe 10"}},
		{"idle", "middle ideal i_dle", nil},
	} {
		assert.NoDiff(t, cmp.Diff(c.want, findAll(c.question, c.text)), "%s in %q", c.question, c.text)
	}
}

// TestScannerFindsWhatALookAtEveryPlaceFinds compares the scanner with one that has no table.
func TestScannerFindsWhatALookAtEveryPlaceFinds(t *testing.T) {
	letters := rapid.SampledFrom([]string{"a", "b", "c", "ab", "abc", "A", "B", "AB", "_", " ", "1", "\n", "@", "ä"})
	text := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(letters, 0, 60).Draw(t, "letters"), "")
	})
	word := rapid.StringMatching(`[abc]{2,6}`)
	rapid.Check(t, func(t *rapid.T) {
		var terms []term
		for i, w := range rapid.SliceOfNDistinct(word, 1, 16, rapid.ID[string]).Draw(t, "words") {
			tm := term{word: w, stem: w, weight: 1, isCompound: i%3 == 2}
			if i%2 == 1 {
				tm.aliases = []string{rapid.StringMatching(`[abc]{2,4}`).Draw(t, "alias")}
			}
			terms = append(terms, tm)
		}
		content := text.Draw(t, "text")
		s := newScanner(terms)
		type place struct{ start, term int }
		got := map[place]strength{}
		s.find(padded(content), func(m match) {
			assert.Require(t, m.start < m.end && m.end <= len(content), "match %+v in %d bytes", m, len(content))
			_, twice := got[place{m.start, m.term}]
			assert.Require(t, !twice, "match %+v is reported twice", m)
			got[place{m.start, m.term}] = m.strength
		})
		want := map[place]strength{}
		src := padded(content)[:len(content)+search.Padding]
		for i := range content {
			if search.Parts(content[i:i+1]) == nil {
				continue
			}
			for n, tm := range terms {
				for _, k := range append([]key{{term: n, text: tm.stem}}, aliasKeys(n, tm)...) {
					begins := strings.EqualFold(string(src[i:i+2]), k.text[:2])
					if _, how := s.matchKey(src, i, &k); begins && how > want[place{i, n}] {
						want[place{i, n}] = how
					}
				}
			}
		}
		diff := cmp.Diff(want, got)
		assert.Require(t, diff == "", "terms %+v in %q: %s", terms, content, diff)
	})
}

func aliasKeys(n int, tm term) []key {
	var keys []key
	for _, a := range tm.aliases {
		keys = append(keys, key{term: n, text: a, alias: true})
	}
	return keys
}

func TestQuestionIsTakenApart(t *testing.T) {
	words := func(q queryWords) (w []string) {
		for _, t := range q.terms {
			w = append(w, fmt.Sprintf("%s %.2f", t.word, t.weight))
		}
		return w
	}
	for _, c := range []struct {
		question string
		words    []string
		hints    []string
		named    []namedDefinition
	}{
		{"How does net/http decide when to close an idle connection?",
			[]string{"net 1.00", "http 1.00", "decide 0.30", "close 1.00", "idle 1.00", "connection 1.00",
				"idleconnection 0.25"}, []string{"net/http"}, nil},
		{"where is Server.Shutdown?", []string{"server 0.60", "shutdown 1.00"}, []string{"server"},
			[]namedDefinition{{"Server", "Shutdown"}}},
		{"what does std::vector do", []string{"std 0.60", "vector 1.00"}, []string{"std"},
			[]namedDefinition{{"std", "vector"}}},
		{"look into transport.go", []string{"look 0.20", "transport 1.00"}, []string{"transport", "transport.go"}, nil},
		{"`max_idle_conns`", []string{"maxidleconns 1.00", "max 0.25", "idle 0.25", "conns 0.25"}, nil,
			[]namedDefinition{{"", "max_idle_conns"}}},
		{"what is it", []string{"what 1.00", "is 1.00", "it 1.00"}, nil, nil},
		{"closing a closed file's files", []string{"closing 1.00", "file 0.30"}, nil, nil},
		{"back up my data", []string{"back 0.20", "up 0.20", "data 1.00", "backup 1.00"}, nil, nil},
		{"dead-lock", []string{"dead 1.00", "lock 1.00"}, nil, nil},
	} {
		q := parseQuery(c.question)
		diff := cmp.Diff(c.words, words(q))
		assert.That(t, diff == "", "%s: words %s", c.question, diff)
		diff = cmp.Diff(c.hints, q.hints)
		assert.That(t, diff == "", "%s: hints %s", c.question, diff)
		assert.That(t, slices.Equal(c.named, q.definitions), "%s: named %v", c.question, q.definitions)
	}
}

func TestTooManyWordsKeepTheWeightiest(t *testing.T) {
	var question strings.Builder
	for i := range 60 {
		fmt.Fprintf(&question, "word%c%c ", 'a'+i%26, 'a'+i/26)
	}
	if q := parseQuery("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi"); q.hasMore {
		t.Errorf("words of a question were left out for neighbours that may be one: %d terms", len(q.terms))
	}
	q := parseQuery("use make call " + question.String())
	assert.Require(t, len(q.terms) == maxTerms && q.hasMore, "%d terms, more %v", len(q.terms), q.hasMore)
	for _, tm := range q.terms {
		assert.That(t, tm.weight >= 1, "%s was kept", tm.word)
	}
}

func TestEndlessWordCostsNoMoreThanItsLength(t *testing.T) {
	text := padded(strings.Repeat("conn", 500_000))
	s := newScanner(parseQuery("connection timeout").terms)
	n := 0
	s.find(text, func(match) { n++ })
	if n == 0 {
		t.Error("nothing found") // the test is that it ends: the square of two million would not
	}
}
