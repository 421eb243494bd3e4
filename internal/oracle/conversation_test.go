package oracle_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
)

// A conversation is a text in testdata: under its name, line by line, the world that it happens in, what the person
// asks, what each request tells the model, what the model says to it, and what is known of the run in the end. The
// first words of a line say what it is; testdata/README.md lists them. Every line is checked, and one that is none
// fails the test.

// exchange is a question with the turns of its run.
type exchange struct {
	before []texttest.Line // changes of the world
	ask    texttest.Line
	turns  []exchangeTurn
	after  []texttest.Line // what is known in the end
}

// exchangeTurn is what a request must be like, and what the model says to it.
type exchangeTurn struct {
	request []texttest.Line
	reply   modeltest.Turn
}

func TestConversations(t *testing.T) { texttest.Play(t, known(), playConversation) }

// known are the words by which a line begins.
var known = sync.OnceValue(func() []string {
	return slices.Concat([]string{"ask", "relayed", "piped"}, slices.Collect(maps.Keys(worlds)),
		slices.Collect(maps.Keys(replies)),
		slices.Collect(maps.Keys(furthers)), slices.Collect(maps.Keys(requests())), slices.Collect(maps.Keys(ends())))
})

var signalsIn = regexp.MustCompile(
	`\{(need_turn|context_sufficient|stuck|need_capability|partial_answer|delegation_recommended|malformed)(?:@([^ }|]+))?(?: ([^}|]*))?((?:\|[^}|]*)*)\}`)

var longIn = regexp.MustCompile(`\{long (\d+)\}`)

// spoken puts the signals in for {need_turn@0.1 a reason|note=more}, so many tokens for {long 2500}, and line breaks
// for \n.
func spoken(text string) string {
	text = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\xe9`, "\xe9", "{60 lines}", strings.Repeat("\tnothing()\n",
		60)).Replace(text)
	text = longIn.ReplaceAllStringFunc(text, func(short string) string {
		return long("", number(longIn.FindStringSubmatch(short)[1]))
	})
	return signalsIn.ReplaceAllStringFunc(text, func(short string) string {
		m := signalsIn.FindStringSubmatch(short)
		kind, confidence, said := m[1], m[2], m[3]
		fields := map[string][]string{
			"need_turn": {"reason", said}, "context_sufficient": {"sources_found", "1"},
			"stuck":                  {"attempted", `["search"]`, "blocker", said},
			"need_capability":        {"capability", said, "reason", "the next step wants it"},
			"partial_answer":         {"missing", said},
			"delegation_recommended": {"reason", "it is too large", "scope", said},
		}[kind]
		if confidence == "" {
			confidence = map[string]string{"context_sufficient": "0.9", "partial_answer": "0.7",
				"malformed": "0.9"}[kind]
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
func exchanges(h *harness, lines []texttest.Line) (all []exchange) {
	t := h.t
	t.Helper()
	var before, request []texttest.Line
	for _, l := range lines {
		l.Rest = spoken(l.Rest)
		last := len(all) - 1
		reply, isReply := replies[l.Words]
		_, isRequest := requests()[l.Words]
		_, isEnd := ends()[l.Words]
		switch {
		case worlds[l.Words] != nil:
			before = append(before, l)
		case l.Words == "ask", l.Words == "piped", l.Words == "relayed":
			all = append(all, exchange{before: before, ask: l})
			before = nil
		case last < 0 || len(before) > 0:
			t.Fatalf("line %d stands before a question: %s", l.At, l.Words)
		case isRequest && len(all[last].after) == 0:
			request = append(request, l)
		case furthers[l.Words] != nil && len(all[last].turns) > 0 && request == nil:
			turns := all[last].turns
			turns[len(turns)-1].reply = furthers[l.Words](h, turns[len(turns)-1].reply, l.Rest)
		case isReply && len(all[last].after) == 0:
			for _, turn := range reply(l.Rest) {
				all[last].turns = append(all[last].turns, exchangeTurn{request, turn})
				request = nil
			}
		case isEnd:
			all[last].after = append(all[last].after, l)
		default:
			t.Fatalf("line %d is nothing that is known, or stands in the wrong place: %s %s", l.At, l.Words, l.Rest)
		}
		assert.Require(t, !isEnd || request == nil, "line %d: no turn follows the request before it", l.At)
	}
	assert.Require(t, len(all) != 0 && len(all[len(all)-1].after) != 0, "nothing is known in the end")
	return all
}

// playConversation has the conversation, and checks every line.
func playConversation(t *testing.T, lines []texttest.Line) {
	h := setUp(t)
	asked := 0
	for _, e := range exchanges(h, lines) {
		for _, l := range e.before {
			worlds[l.Words](h, l.Rest)
		}
		for _, turn := range e.turns {
			h.script.Add(turn.reply)
		}
		q := h.question(questionNamed(e.ask.Rest))
		q.Material = h.material
		q.Relayed, q.Piped = e.ask.Words == "relayed", e.ask.Words == "piped"
		live := h.startQuestion(q)
		if n := len(e.turns); n > 0 && e.turns[n-1].reply.Hang {
			<-h.script.Hanging()
			live.Cancel("enough of it")
		}
		a := h.finish(live)
		left := h.script.Left()
		assert.Require(t, left == 0,
			"question in line %d: %d turns were never asked for; it stopped with %s: %v", e.ask.At, left, a.StopReason, a.Error)
		for n, turn := range e.turns {
			ofNotes := false
			for _, l := range turn.request {
				ofNotes = ofNotes || l.Words == "notes"
				l.Check(t, requests()[l.Words](h, h.request(asked+n+1), l.Rest))
			}
			assert.Equalf(t, h.request(asked+n+1).Purpose == oracle.PurposeNotes, ofNotes,
				"question in line %d: request %d is of notes", e.ask.At, n+1)
		}
		asked += len(e.turns)
		for _, l := range e.after {
			l.Check(t, ends()[l.Words](h, a, l.Rest))
		}
		if t.Failed() {
			t.Logf("the answer of line %d: %+v", e.ask.At, a)
		}
	}
}
