package task

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The rules that hold for every Store, so that an adapter only has to keep rows.

// longestName is how many characters an owner, an actor and a key have at most.
const longestName = 255

// errKeyUsed says that a key can't stand for the change that was asked for.
func errKeyUsed() error {
	return &Invalid{"idempotency_key", "was used for another change; each change needs its own key"}
}

// CheckOwner says whether somebody of this name can have tasks: an *Invalid of the field "owner".
func CheckOwner(owner string) error {
	if owner == "" {
		return &Invalid{"owner", "is missing"}
	}
	return checkName("owner", owner)
}

func checkName(field, name string) error {
	switch {
	case !isOneLine(name):
		return &Invalid{field, "must be valid UTF-8 without control characters"}
	case utf8.RuneCountInString(name) > longestName:
		return tooLong(field, name, longestName)
	}
	return nil
}

// Check says whether a can be applied for an owner: an *Invalid of the field that is wrong.
func (a Act) Check(owner string) error {
	if err := CheckOwner(owner); err != nil {
		return err
	}
	if err := checkName("idempotency_key", a.Key); err != nil {
		return err
	}
	if err := checkName("actor", a.Actor); err != nil {
		return err
	}
	switch {
	case !slices.Contains([]Action{Add, Update, Complete, Delete, Undo}, a.Action):
		return &Invalid{"action", "is none that can be made"}
	case a.Action == Add && a.Task != 0:
		return &Invalid{"task_id", "is given to a task when it is added"}
	case a.Action == Undo != (a.Undoes != 0):
		return &Invalid{"undoes", "is what an undo takes back, and nothing else does"}
	case a.Action != Add:
		return checkID(a.Task)
	}
	return nil
}

func checkID(id int64) error {
	if id < 1 {
		return &Invalid{"task_id", "must be a whole number of at least 1"}
	}
	return nil
}

// Repeats checks that the change c, which was made under the key of a, is the one that a asks for: of the same action
// and task. Otherwise it is an *Invalid of the field "idempotency_key".
func (a Act) Repeats(c Change) error {
	if a.Action != c.Action || a.Action != Add && a.Task != c.Task {
		return errKeyUsed()
	}
	return nil
}

// Step computes the change that a makes to a task; now is nil if there is none, and version is the task's last one, 0
// for Add. The change is as it will be stored, but without the ids that the Store assigns: its own and, for Add, the
// task's. ErrNotFound if there is no task that a could change.
func (a Act) Step(now *Task, version int64) (Change, error) {
	if now == nil && a.Action != Add && a.Action != Undo {
		return Change{}, ErrNotFound
	}
	next, err := a.Change(now.clone())
	if err != nil {
		return Change{}, err
	}
	c := Change{Task: a.Task, Action: a.Action, Actor: a.Actor, Before: now.clone(), Undoes: a.Undoes, At: Millis(a.At)}
	switch {
	case next == nil:
	case sameContent(now, next):
		c.After = now.clone()
	default:
		c.After = next.clone()
		c.After.ID, c.After.Version = a.Task, version+1
		err = c.After.normalize()
	}
	return c, err
}

// Changed says that c has changed anything.
func (c Change) Changed() bool {
	if c.Before == nil || c.After == nil {
		return c.Before != c.After
	}
	return c.Before.Version != c.After.Version
}

// clone returns a task that shares nothing with t.
func (t *Task) clone() *Task {
	if t == nil {
		return nil
	}
	own := *t
	if own.Description != nil {
		own.Description = new(*own.Description)
	}
	if own.CompletedAt != nil {
		own.CompletedAt = new(*own.CompletedAt)
	}
	return &own
}

// sameContent says that two tasks are the same apart from their versions.
func sameContent(a, b *Task) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Title == b.Title && a.Status == b.Status &&
		equalPointers(a.Description, b.Description, func(a, b string) bool { return a == b }) &&
		Millis(a.CreatedAt).Equal(Millis(b.CreatedAt)) &&
		equalPointers(a.CompletedAt, b.CompletedAt, func(a, b time.Time) bool { return Millis(a).Equal(Millis(b)) })
}

func equalPointers[T any](a, b *T, same func(a, b T) bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return same(*a, *b)
}

// normalize brings t into the form that is stored, and checks that it keeps the rules.
func (t *Task) normalize() error {
	t.CreatedAt = Millis(t.CreatedAt)
	if t.CompletedAt != nil {
		t.CompletedAt = new(Millis(*t.CompletedAt))
	}
	if err := checkStatus(t.Status); err != nil {
		return err
	}
	if (t.Status == Completed) != (t.CompletedAt != nil) {
		return &Invalid{"completed_at", "is set only while a task is completed"}
	}
	title, err := cleanTitle(t.Title)
	if err != nil {
		return err
	}
	t.Title = title
	t.Description, err = cleanDescription(t.Description)
	return err
}

func checkStatus(s Status) error {
	if s != Pending && s != Completed {
		return &Invalid{"status", fmt.Sprintf("must be %s or %s", Pending, Completed)}
	}
	return nil
}

// cleanTitle returns a title without space around it; *Invalid if it is empty, too long or not one line of plain text.
func cleanTitle(title string) (string, error) {
	title = strings.TrimSpace(title)
	switch {
	case !utf8.ValidString(title):
		return "", &Invalid{"title", "must be valid UTF-8"}
	case strings.ContainsFunc(title, breaksLine):
		return "", &Invalid{"title", "must be one line, without control characters"}
	case !strings.ContainsFunc(title, unicode.IsGraphic):
		return "", &Invalid{"title", "is empty; say what is to be done"}
	case utf8.RuneCountInString(title) > MaxTitle:
		return "", tooLong("title", title, MaxTitle)
	}
	return title, nil
}

// cleanDescription returns a description as it is kept: lines end with "\n", and one without a word is none.
func cleanDescription(description *string) (*string, error) {
	if description == nil {
		return nil, nil
	}
	text := strings.ReplaceAll(*description, "\r\n", "\n")
	switch {
	case !utf8.ValidString(text):
		return nil, &Invalid{"description", "must be valid UTF-8"}
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }):
		return nil, &Invalid{"description", "must not contain control characters other than tabs and line ends"}
	case strings.TrimSpace(text) == "":
		return nil, nil
	case utf8.RuneCountInString(text) > MaxDescription:
		return nil, tooLong("description", text, MaxDescription)
	}
	return &text, nil
}

// breaksLine says that a character is not allowed in a line.
func breaksLine(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp) }

func isOneLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, breaksLine)
}

func tooLong(field, text string, most int) error {
	return &Invalid{field, fmt.Sprintf("has %d characters; %d at most", utf8.RuneCountInString(text), most)}
}

// Millis returns t as a Store keeps it: to the millisecond, rounded down, in UTC.
func Millis(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }
