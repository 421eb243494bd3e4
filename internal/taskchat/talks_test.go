package taskchat_test

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
	"sibyl/internal/task"
	"sibyl/internal/taskchat"
)

// A text in testdata is what ada says, what a model reads in it, what she is answered, and what her list is then.
// testdata/README.md says how it is read.

// player plays a text.
type player struct {
	*talk
	m     *reader // nil: rules read
	heard *heard  // what the model reads in the next message; nil: what it read before
	last  taskchat.AgentResponse
	ids   []int64
}

func TestTalks(t *testing.T) {
	known := slices.Concat(slices.Collect(maps.Keys(steps)), []string{"model", "say"})
	texttest.Play(t, known, func(t *testing.T, lines []texttest.Line) {
		p, h := &player{}, newHouse(t)
		if lines[0].Words == "model" {
			p.m = &reader{}
			h.model, lines = p.m, lines[1:]
		}
		p.talk = h.process("p").talk(ada)
		for _, l := range lines {
			switch step := steps[l.Words]; {
			case l.Words == "say":
				p.said(l)
			case step != nil:
				l.Check(t, step(p, spelled(l.Rest)))
			default:
				t.Fatalf("line %d says nothing that is known: %s %s", l.At, l.Words, l.Rest)
			}
		}
	})
}

// spelled puts line breaks in for \n, and so many letters for {300*x}.
func spelled(text string) string {
	before, in, is := strings.Cut(text, "{")
	if n, rest, many := strings.Cut(in, "*"); is && many {
		one, after, _ := strings.Cut(rest, "}")
		if times, err := strconv.Atoi(n); err == nil {
			text = before + strings.Repeat(one, times) + after
		}
	}
	return strings.ReplaceAll(text, `\n`, "\n")
}

// said says what stands before the arrow, and wants an answer of the status behind it.
func (p *player) said(l texttest.Line) {
	p.Helper()
	words, status, _ := strings.Cut(spelled(l.Rest), " -> ")
	if p.heard != nil {
		p.m.hears(*p.heard)
		p.heard = nil
	}
	want := map[string]taskchat.Status{"success": taskchat.StatusSuccess, "asks": taskchat.StatusClarification,
		"confirm": taskchat.StatusConfirmation,
		"error":   taskchat.StatusError}[status]
	p.last = p.say(words, want)
	assert.Require(p, !p.Failed(), "line %d: %s", l.At, p.last.Response)
}

// hears gives what the model is to read in the next message.
func (p *player) hears() *heard {
	assert.Require(p, p.m != nil, "there is no model")
	if p.heard == nil {
		p.heard = &heard{}
	}
	return p.heard
}

// wishOf reads “intent @0.8 | title words | at 1,2”: sure by 0.95 if it is not said.
func wishOf(text string) taskchat.Wish {
	parts := strings.Split(text, " | ")
	intent, sure, isSaid := strings.Cut(parts[0], " @")
	w := wish(intent, taskchat.Named{})
	if isSaid {
		w.Confidence, _ = strconv.ParseFloat(sure, 64)
	}
	for _, part := range parts[1:] {
		name, value, _ := strings.Cut(part, " ")
		switch name {
		case "task":
			w.Task = titled(value)
		case "at":
			w.Task.Words = "that"
			for n := range strings.SplitSeq(value, ",") {
				position, _ := strconv.Atoi(n)
				w.Task.Positions = append(w.Task.Positions, position)
			}
		case "words":
			w.Task.Words = value
		case "called":
			w.Task.Title = value
		case "it":
			w.Task = taskchat.Named{Words: "it", It: true}
		case "all":
			w.Task = taskchat.Named{Words: "all", All: true}
		case "title":
			w.Title = value
		case "description":
			w.Description = value
		case "status":
			w.Status = value
		case "details":
			w.Details = true
		case "reminder":
			w.Reminder = true
		default:
			panic("a wish has no " + name)
		}
	}
	return w
}

// listOf is a list with “; ” between its entries.
func listOf(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "; ")
}

// steps are what happens beside what is said, and what must be so; each gives what is wrong.
var steps = map[string]func(p *player, rest string) string{
	"has": func(p *player, rest string) string { // tasks; those with a ✓ are completed
		p.ids = append(p.ids, p.has(ada, listOf(rest)...)...)
		return ""
	},
	"wish": func(p *player, rest string) string {
		h := p.hears()
		h.Intents = append(h.Intents, wishOf(rest))
		return ""
	},
	// to the question: its kind, and the value or the numbers of options
	"answer": func(p *player, rest string) string {
		kind, value, _ := strings.Cut(rest, " ")
		said := taskchat.Said{Kind: kind, Value: value}
		if n, err := strconv.Atoi(value); err == nil {
			said.Value, said.Choices = "", []int{n}
		}
		p.hears().Answer = said
		return ""
	},
	"language": func(p *player, rest string) string { p.hears().Language = rest; return "" },
	"replies":  func(p *player, rest string) string { p.hears().Reply = rest; return "" },
	"words": func(p *player, rest string) string { // how the model says the next sentences
		p.m.say = func(taskchat.Sentence) string { return rest }
		return ""
	},
	"renamed": func(p *player, rest string) string { // the first, second … task, by another way
		n, title, _ := strings.Cut(rest, " ")
		p.renamed(ada, p.id(n), title)
		return ""
	},
	"deleted": func(p *player, rest string) string { p.deleted(ada, p.id(rest)); return "" },
	"brought back": func(p *player, _ string) string {
		assert.Must(p.tasks.Undo(p.Context(), task.By{Owner: string(ada)}))(p)
		return ""
	},
	"completed": func(p *player, rest string) string {
		_, _, err := p.tasks.Complete(p.Context(), task.By{Owner: string(ada)}, p.id(rest), 0)
		assert.NoError(p, err)
		return ""
	},
	"is":    func(p *player, rest string) string { return texttest.Wrong("is", p.last.Response, rest) },
	"says":  func(p *player, rest string) string { return texttest.Wrong("has", p.last.Response, rest) },
	"lacks": func(p *player, rest string) string { return texttest.Wrong("lacks", p.last.Response, rest) },
	"tasks": func(p *player, rest string) string {
		return texttest.Wrong("is", strings.Join(p.list(ada), "; "), rest)
	},
	"options": func(p *player, rest string) string {
		return texttest.Wrong("is", strings.Join(p.last.Clarification.Options, "; "), rest)
	},
	"options count": func(p *player, rest string) string {
		return texttest.Wrong("is", strconv.Itoa(len(p.last.Clarification.Options)), rest)
	},
	"calls": func(p *player, rest string) string {
		return texttest.Wrong("is", strings.Join(called(p.last), "; "), rest)
	},
	"worded": func(p *player, rest string) string { return texttest.Wrong("is", strconv.Itoa(len(p.m.worded)), rest) },
	"read":   func(p *player, rest string) string { return texttest.Wrong("is", strconv.Itoa(len(p.m.asked)), rest) },
}

func (p *player) id(number string) int64 {
	n := assert.Must(strconv.Atoi(number))(p)
	return p.ids[n-1]
}
