package oracle_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

// A conversation is a text in testdata: under its name, line by line, the world that it happens in, what the person asks, what each request
// tells the model, what the model says to it, and what is known of the run in the end. The first words of a line say what it is; testdata/README.md
// lists them. Every line is checked, and one that is none fails the test.

// line is one of a conversation.
type line struct {
	at    int
	words string // what it is
	rest  string // what it says of it
}

// conversation is a part of a file, up to the next name.
type conversation struct {
	name  string
	lines []line
}

// exchange is a question with the turns of its run.
type exchange struct {
	before []line // changes of the world
	ask    line
	turns  []exchangeTurn
	after  []line // what is known in the end
}

// exchangeTurn is what a request must be like, and what the model says to it.
type exchangeTurn struct {
	request []line
	reply   modeltest.Turn
}

func TestConversations(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			for _, c := range conversations(t, string(text)) {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.play(t)
				})
			}
		})
	}
}

// conversations takes a file apart.
func conversations(t *testing.T, text string) (all []conversation) {
	t.Helper()
	for at, raw := range strings.Split(text, "\n") {
		name, isName := strings.CutPrefix(raw, "# ")
		switch raw = strings.TrimSpace(raw); {
		case isName:
			all = append(all, conversation{name: name})
		case raw == "" || strings.HasPrefix(raw, "//"):
		case len(all) == 0:
			t.Fatalf("line %d stands under no name", at+1)
		default:
			last := &all[len(all)-1]
			last.lines = append(last.lines, lineOf(t, at+1, raw))
		}
	}
	return all
}

// lineOf finds out what a line is: by the longest beginning that is known.
func lineOf(t *testing.T, at int, raw string) line {
	t.Helper()
	found := ""
	for _, words := range known() {
		if (raw == words || strings.HasPrefix(raw, words+" ")) && len(words) > len(found) {
			found = words
		}
	}
	if found == "" {
		t.Fatalf("line %d says nothing that is known: %s", at, raw)
	}
	return line{at, found, spoken(strings.TrimSpace(raw[len(found):]))}
}

// known are the words by which a line begins.
var known = sync.OnceValue(func() []string {
	return slices.Concat([]string{"ask", "relayed", "piped"}, slices.Collect(maps.Keys(worlds)), slices.Collect(maps.Keys(replies)),
		slices.Collect(maps.Keys(furthers)), slices.Collect(maps.Keys(requests())), slices.Collect(maps.Keys(ends())))
})

var signalsIn = regexp.MustCompile(`\{(need_turn|context_sufficient|stuck|need_capability|partial_answer|delegation_recommended|malformed)(?:@([^ }|]+))?(?: ([^}|]*))?((?:\|[^}|]*)*)\}`)

var longIn = regexp.MustCompile(`\{long (\d+)\}`)

// spoken puts the signals in for {need_turn@0.1 a reason|note=more}, so many tokens for {long 2500}, and line breaks for \n.
func spoken(text string) string {
	text = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\xe9`, "\xe9", "{60 lines}", strings.Repeat("\tnothing()\n", 60)).Replace(text)
	text = longIn.ReplaceAllStringFunc(text, func(short string) string { return long("", number(longIn.FindStringSubmatch(short)[1])) })
	return signalsIn.ReplaceAllStringFunc(text, func(short string) string {
		m := signalsIn.FindStringSubmatch(short)
		kind, confidence, said := m[1], m[2], m[3]
		fields := map[string][]string{
			"need_turn": {"reason", said}, "context_sufficient": {"sources_found", "1"}, "stuck": {"attempted", `["search"]`, "blocker", said},
			"need_capability": {"capability", said, "reason", "the next step wants it"}, "partial_answer": {"missing", said},
			"delegation_recommended": {"reason", "it is too large", "scope", said},
		}[kind]
		if confidence == "" {
			confidence = map[string]string{"context_sufficient": "0.9", "partial_answer": "0.7", "malformed": "0.9"}[kind]
		}
		if confidence == "" {
			confidence = "0.8"
		}
		for field := range strings.SplitSeq(strings.TrimPrefix(m[4], "|"), "|") {
			if name, value, is := strings.Cut(field, "="); is {
				fields = append(fields, name, value)
			}
		}
		return element(strings.Replace(kind, "malformed", "done", 1), confidence, fields...)
	})
}

// exchanges takes a conversation apart into its questions.
func (c conversation) exchanges(h *harness) (all []exchange) {
	t := h.t
	t.Helper()
	var before, request []line
	for _, l := range c.lines {
		last := len(all) - 1
		reply, isReply := replies[l.words]
		_, isRequest := requests()[l.words]
		_, isEnd := ends()[l.words]
		switch {
		case worlds[l.words] != nil:
			before = append(before, l)
		case l.words == "ask", l.words == "piped", l.words == "relayed":
			all = append(all, exchange{before: before, ask: l})
			before = nil
		case last < 0 || len(before) > 0:
			t.Fatalf("line %d stands before a question: %s", l.at, l.words)
		case isRequest && len(all[last].after) == 0:
			request = append(request, l)
		case furthers[l.words] != nil && len(all[last].turns) > 0 && request == nil:
			turns := all[last].turns
			turns[len(turns)-1].reply = furthers[l.words](h, turns[len(turns)-1].reply, l.rest)
		case isReply && len(all[last].after) == 0:
			for _, turn := range reply(l.rest) {
				all[last].turns = append(all[last].turns, exchangeTurn{request, turn})
				request = nil
			}
		case isEnd:
			all[last].after = append(all[last].after, l)
		default:
			t.Fatalf("line %d stands in the wrong place: %s", l.at, l.words)
		}
		if isEnd && request != nil {
			t.Fatalf("line %d: no turn follows the request before it", l.at)
		}
	}
	if len(all) == 0 || len(all[len(all)-1].after) == 0 {
		t.Fatal("nothing is known in the end")
	}
	return all
}

// play has the conversation, and checks every line.
func (c conversation) play(t *testing.T) {
	h := setUp(t)
	exchanges := c.exchanges(h)
	asked := 0
	for _, e := range exchanges {
		for _, l := range e.before {
			worlds[l.words](h, l.rest)
		}
		for _, turn := range e.turns {
			h.script.Add(turn.reply)
		}
		q := h.question(named(e.ask.rest))
		q.Material = h.material
		q.Relayed, q.Piped = e.ask.words == "relayed", e.ask.words == "piped"
		live := h.startQuestion(q)
		if n := len(e.turns); n > 0 && e.turns[n-1].reply.Hang {
			<-h.script.Hanging()
			live.Cancel("enough of it")
		}
		a := h.finish(live)
		if left := h.script.Left(); left > 0 {
			t.Fatalf("question in line %d: %d turns were never asked for; it stopped with %s: %v", e.ask.at, left, a.StopReason, a.Error)
		}
		for n, turn := range e.turns {
			ofNotes := false
			for _, l := range turn.request {
				ofNotes = ofNotes || l.words == "notes"
				l.holds(t, requests()[l.words](h, h.request(asked+n+1), l.rest))
			}
			if is := h.request(asked+n+1).Purpose == oracle.PurposeNotes; is != ofNotes {
				t.Errorf("question in line %d: request %d is of notes: %v", e.ask.at, n+1, is)
			}
		}
		asked += len(e.turns)
		for _, l := range e.after {
			l.holds(t, ends()[l.words](h, a, l.rest))
		}
		if t.Failed() {
			t.Logf("the answer of line %d: %+v", e.ask.at, a)
		}
	}
}

// holds tells what is wrong with a line.
func (l line) holds(t *testing.T, wrong string) {
	t.Helper()
	if wrong != "" {
		t.Errorf("line %d, %s: %s", l.at, l.words, wrong)
	}
}
