package task_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/redact"
	"sibyl/internal/store/teststore"
	"sibyl/internal/task"
)

var (
	noon = time.Date(2026, time.March, 1, 12, 0, 0, 999_999, time.UTC)
	ada  = task.By{Owner: "ada", Actor: "test"}
)

// desk is a service over an empty store, on a clock that goes on by a second with each look.
type desk struct {
	*testing.T
	*task.Service
	now time.Time
}

func newDesk(t *testing.T) *desk {
	d := &desk{T: t, now: noon}
	d.Service = task.New(teststore.Empty(t), func() time.Time {
		d.now = d.now.Add(time.Second)
		return d.now
	}, nil)
	return d
}

// invalid wants err to be an *Invalid that says so much.
func (d *desk) invalid(err error, field, says string) {
	d.Helper()
	var invalid *task.Invalid
	assert.That(d, errors.As(err, &invalid) && invalid.Field == field && strings.Contains(invalid.Problem, says),
		"error is %v, want an *Invalid of %q that says %q", err, field, says)
}

func (d *desk) same(what string, got, want any) {
	d.Helper()
	assert.NoDiff(d, cmp.Diff(want, got), "%s (-want +got)", what)
}

func (d *desk) add(title, description string) task.Task {
	d.Helper()
	t, _, err := d.Add(d.Context(), ada, title, &description)
	assert.NoError(d, err)
	return t
}

func TestTitleIsKeptTrimmedAndAsWritten(t *testing.T) {
	for given, want := range map[string]string{
		" \t Renew PASSPORT by May 3rd!\n": "Renew PASSPORT by May 3rd!",
		"x":                                "x",
		strings.Repeat("ü", 255):           strings.Repeat("ü", 255),
		" " + strings.Repeat("🦉", 255):     strings.Repeat("🦉", 255),
		"👩‍👩‍👧 e\u0301 \u00a0a":            "👩‍👩‍👧 e\u0301 \u00a0a",
	} {
		d := newDesk(t)
		added := d.add(given, "")
		d.same("title", added.Title, want)
		d.same("times", []time.Time{added.CreatedAt},
			[]time.Time{time.Date(2026, time.March, 1, 12, 0, 1, 0, time.UTC)})
	}
}

func TestSecretIsTakenOutOfATaskBeforeItIsStored(t *testing.T) {
	const secret, known = "password=Xq7Lm2vR9zTb4", "grey-harbour-lantern"
	store := teststore.Empty(t)
	s := task.New(store, time.Now, func(text string) string {
		return strings.ReplaceAll(redact.Text(text), known, redact.Mark)
	})
	by := task.By{Owner: "ada", Actor: "client " + known, Key: "k"}
	description := "with " + known
	added, _, err := s.Add(t.Context(), by, "Rotate "+secret, &description)
	assert.NoError(t, err)
	_, again, err := s.Add(t.Context(), by, "Rotate "+secret, &description)
	assert.That(t, err == nil && again, "the same change again: %v, %v", again, err)
	title := "Rotate " + known
	_, _, err = s.Update(t.Context(), task.By{Owner: "ada", Actor: "client"}, added.ID, 0, task.Edit{Title: &title})
	assert.NoError(t, err)
	history := assert.Must(s.History(t.Context(), "ada", added.ID))(t)
	kept := string(assert.Must(json.Marshal(history))(t))
	assert.Lacks(t, "the history", kept, "Xq7Lm2vR9zTb4", known)
	assert.That(t, strings.Count(kept, redact.Mark) >= 4, "the history has too few marks: %s", kept)
}

func TestTitleThatBreaksTheRulesIsRefused(t *testing.T) {
	d := newDesk(t)
	kept := d.add("kept", "")
	for title, says := range map[string]string{
		"":                       "is empty",
		" \n\t\u00a0":            "is empty",
		"\u200b\u2060":           "is empty",
		strings.Repeat("ü", 256): "has 256 characters; 255 at most",
		"a\x00b":                 "without control characters",
		"two\nlines":             "one line",
		"two\u2028lines":         "one line",
		"a\x1b[31m":              "without control characters",
		"a\xffb":                 "valid UTF-8",
	} {
		_, _, err := d.Add(t.Context(), ada, title, nil)
		d.invalid(err, "title", says)
		_, _, err = d.Update(t.Context(), ada, kept.ID, 0, task.Edit{Title: &title})
		d.invalid(err, "title", says)
		assert.That(t, len(title) <= 3 || !strings.Contains(err.Error(), title), "the error repeats the title: %v", err)
	}
	now := assert.Must(d.Task(t.Context(), "ada", kept.ID))(d)
	d.same("task", now, kept)
}

func TestDescriptionIsKeptAsWrittenOrRefused(t *testing.T) {
	d := newDesk(t)
	for given, want := range map[string]string{"a\tb\r\n c ": "a\tb\n c ",
		strings.Repeat("ü", 1000): strings.Repeat("ü", 1000)} {
		d.same("description", *d.add("one", given).Description, want)
	}
	for _, blank := range []string{"", " \n "} {
		d.same("a blank description is none", d.add("one", blank).Description == nil, true)
	}
	for given, says := range map[string]string{
		strings.Repeat("ü", 1001): "has 1001 characters; 1000 at most", "a\x00": "control characters",
		"a\rb": "control characters", "\xff": "valid UTF-8",
	} {
		_, _, err := d.Add(t.Context(), ada, "one", &given)
		d.invalid(err, "description", says)
	}
}

func TestUpdateThatCannotBeIsRefused(t *testing.T) {
	d := newDesk(t)
	added := d.add("one", "")
	_, _, err := d.Update(t.Context(), ada, added.ID, 0, task.Edit{})
	d.invalid(err, "title, description or status", "nothing to change")
	_, _, err = d.Update(t.Context(), ada, added.ID, 0, task.Edit{Status: new(task.Status("done"))})
	d.invalid(err, "status", "must be pending or completed")
	_, _, err = d.Update(t.Context(), ada, added.ID, -1, task.Edit{Title: new("two")})
	d.invalid(err, "version", "0 is any")
	for _, id := range []int64{0, -1} {
		_, _, err = d.Update(t.Context(), ada, id, 0, task.Edit{Title: new("two")})
		d.invalid(err, "task_id", "at least 1")
		_, err = d.Task(t.Context(), "ada", id)
		d.invalid(err, "task_id", "at least 1")
		_, err = d.History(t.Context(), "ada", id)
		d.invalid(err, "task_id", "at least 1")
	}
	_, _, err = d.Add(t.Context(), task.By{}, "one", nil)
	d.invalid(err, "owner", "is missing")
	_, _, err = d.Add(t.Context(), task.By{Owner: "ada", Key: strings.Repeat("k", 256)}, "one", nil)
	d.invalid(err, "idempotency_key", "255 at most")
	_, err = d.List(t.Context(), "ada", task.Query{Filter: task.Filter{Status: "open"}})
	d.invalid(err, "status", "must be pending or completed")
	_, err = d.List(t.Context(), "ada", task.Query{Filter: task.Filter{Limit: -1}})
	d.invalid(err, "limit", "1 or more")
	_, err = d.List(t.Context(), "ada", task.Query{Filter: task.Filter{After: -1}})
	d.invalid(err, "after", "a task's id")
}

func TestNameOfAStrangersProgramIsNoReasonToRefuse(t *testing.T) {
	d := newDesk(t)
	added, _, err := d.Add(t.Context(), task.By{Owner: "ada", Actor: "mcp: \x00\n\xff" + strings.Repeat("é", 300)},
		"one", nil)
	assert.NoError(d, err)
	history := assert.Must(d.History(t.Context(), "ada", added.ID))(d)
	d.same("actor", history[0].Actor, "mcp: "+strings.Repeat("é", 250))
}

func (d *desk) found(words string, q task.Query) (titles []string) {
	d.Helper()
	q.Words = words
	p := assert.Must(d.List(d.Context(), "ada", q))(d)
	for _, t := range p.Tasks {
		titles = append(titles, t.Title)
	}
	assert.That(d, (q.Limit != 0 || p.Total == len(titles)) && p.Next == 0,
		"%q: %d are found, Total is %d, Next %d", words, len(titles), p.Total, p.Next)
	return titles
}

func TestWordsFindTasksTheBestMatchFirst(t *testing.T) {
	d := newDesk(t)
	d.add("Buy groceries", "milk, eggs and a present for mum")
	d.add("Call mum", "")
	d.add("Café reservieren für Müller", "")
	d.add("Prepare the meeting notes", "")
	d.add("Meeting with Ana", "about the notes")
	d.add("Comprar leite amanhã", "")
	d.add("会议准备", "")
	done := d.add("Water the plants", "")
	_, _, err := d.Complete(t.Context(), ada, done.ID, 0)
	assert.NoError(d, err)
	for words, want := range map[string][]string{
		"mum":             {"Call mum", "Buy groceries"},
		"CAFE":            {"Café reservieren für Müller"},
		"muller":          {"Café reservieren für Müller"},
		"the meetings":    {"Prepare the meeting notes", "Meeting with Ana"},
		"notes meeting":   {"Prepare the meeting notes", "Meeting with Ana"},
		"grocery":         {"Buy groceries"},
		"amanha":          {"Comprar leite amanhã"},
		"会议":              {"会议准备"},
		"milk plants":     {"Water the plants", "Buy groceries"},
		"dentist":         nil,
		"?!":              nil,
		"eggs or a stone": {"Buy groceries"},
	} {
		d.same(words, d.found(words, task.Query{}), want)
	}
	d.same("blank words are none", len(d.found(" ", task.Query{})), 8)
	d.same("pending ones", d.found("milk plants", task.Query{Filter: task.Filter{Status: task.Pending}}),
		[]string{"Buy groceries"})
	d.same("some of them", d.found("mum", task.Query{Filter: task.Filter{IDs: []int64{1, 3}}}),
		[]string{"Buy groceries"})
	d.same("the best", d.found("mum", task.Query{Filter: task.Filter{Limit: 1, Newest: true, After: 99}}),
		[]string{"Call mum"})
}

func TestEqualMatchesAreInOrderOfCreation(t *testing.T) {
	d := newDesk(t)
	var want []string
	for i := range 20 {
		title := fmt.Sprint("Report ", i)
		d.add(title, "")
		want = append(want, title)
	}
	d.same("titles", d.found("report", task.Query{Filter: task.Filter{Newest: true}}), want)
}
