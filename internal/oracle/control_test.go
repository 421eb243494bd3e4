package oracle_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
)

// The words of the control layer, by the beginning that tells them apart.
const (
	hintNudge     = "You repeat yourself, and it brings nothing new."
	hintWithdrawn = "Tools are withdrawn."
	hintWidened   = "More tools are offered to you from now on:"
	hintUnsigned  = "Your reply ended without a valid signal."
	hintUnsure    = "You were unsure of your last signal."
	hintSame      = "You have given the same reason several times."
)

// malformed is markup that counts as no signal.
var malformed = element("done", "0.9")

// changed replaces a part of the tree that stands in it once.
func (h *harness) changed(from, to string) {
	h.t.Helper()
	text := string(h.tree.Text)
	if n := strings.Count(text, from); n != 1 {
		h.t.Fatalf("the tree has %q %d times", from, n)
	}
	h.tree.Text = []byte(strings.Replace(text, from, to, 1))
}

// The thresholds of the tree that end or turn a run, as they stand in it.
var thresholds = map[string]string{
	"the same reason":  ` reasons="4"`,
	"the same call":    ` calls="3"`,
	"the same error":   ` errors="3"`,
	"a cycle of calls": ` rounds="2"`,
	"nothing new":      ` idle="5"`,
	"fallback":         `same_reasons="3"`,
}

// alone leaves one detector in the tree, with this threshold: the others never fire.
func (h *harness) alone(detector string, threshold int) {
	h.t.Helper()
	for name, from := range thresholds {
		at := strings.LastIndex(from[:len(from)-1], `"`)
		n := 99
		if name == detector {
			n = threshold
		}
		h.changed(from, fmt.Sprintf(`%s"%d"`, from[:at], n))
	}
}

// notices are those of one type.
func notices(a oracle.Answer, kind string) (found []agent.Notice) {
	for _, n := range a.Notices {
		if n.Type == kind {
			if !worded(n) {
				n.Text += " (whose code does not say so)"
			}
			n.Coded = bt.Coded{}
			found = append(found, n)
		}
	}
	return found
}

// worded says whether a notice's code and values give its text.
func worded(n agent.Notice) bool {
	for _, r := range oracle.Describe(&run.Assistant{}, oracle.Surroundings{}).Reasons {
		if r.Code() == n.Code {
			return filled(r.Template(), n.Values) == n.Text
		}
	}
	return false
}

func filled(template string, values map[string]bt.Why) string {
	for name, value := range values {
		template = strings.ReplaceAll(template, "{"+name+"}", value.Text)
	}
	return template
}

// loops are the turns in which a loop was found, with what repeated.
func loops(a oracle.Answer) (found []string) {
	for _, n := range notices(a, agent.NoticeLoop) {
		found = append(found, fmt.Sprintf("%d: %s, step %s", n.Turn, n.Payload["pattern"], n.Payload["step"]))
	}
	return found
}

// consulted are the decisions of the fallback: turn, cause, verdict, and whose it is.
func consulted(a oracle.Answer) (all []string) {
	for _, c := range a.Fallbacks {
		all = append(all, fmt.Sprintf("%d: %s, %s by %s", c.Turn, c.Cause, c.Verdict, c.By))
	}
	return all
}

// classifier is a classifier that says the same each time, and keeps what it was asked.
type classifier struct {
	mu     sync.Mutex
	scores []oracle.Score
	err    error
	asked  []string
}

func fixedClassifier(label oracle.Verdict, score float64) *classifier {
	return &classifier{scores: []oracle.Score{{Label: string(label), Score: score}}}
}

func (c *classifier) ask(_ context.Context, text string) ([]oracle.Score, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, text)
	return c.scores, c.err
}

// handClock stands still until it is moved on, or goes on by a step each time somebody looks. Its timers never fire.
type handClock struct {
	mu   sync.Mutex
	now  time.Time
	step time.Duration
}

func newHandClock() *handClock { return &handClock{now: time.Unix(1_000_000, 0)} }

func newSteppingClock() *handClock {
	return &handClock{now: time.Unix(1_000_000, 0), step: time.Millisecond}
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(c.step)
	return c.now
}

func (c *handClock) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

func (c *handClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// reading is a turn that opens something that no other turn of this number opens, for a reason of its own.
func reading(n int) modeltest.Turn {
	name := spelled[n%len(spelled)] + spelled[n/len(spelled)]
	return modeltest.SayAndCall(needTurn("still to read: "+name), "code_read", lines(name+".go", 1, 9))
}

// thinking is a turn that only wants another one, for a reason of its own.
func thinking(n int) modeltest.Turn { return modeltest.Say(needTurn("think of " + spelled[n])) }

// costing is a turn for which the provider reports this.
func costing(u model.Usage, t modeltest.Turn) modeltest.Turn {
	t.Usage = u
	return t
}

// theEnd is an answer that ends any run.
var theEnd = modeltest.Say("That is all. " + partial("the rest"))

// play asks one question, whose run may end before the script does.
func (h *harness) play(question string) oracle.Answer {
	h.t.Helper()
	return h.finish(h.start(question))
}

// strikes are the loops that were found in the last run, each with its pattern and number, in order.
func (h *harness) strikes() (all []string) {
	h.t.Helper()
	words := run.NewVocabulary(oracle.Events()...)
	for _, s := range h.steps() {
		for _, e := range s.Events {
			if found, is := words.Read(e).(agent.LoopFound); is {
				all = append(all, fmt.Sprintf("%s, %d", found.Pattern, found.Strikes))
			}
		}
	}
	return all
}
