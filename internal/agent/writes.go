package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// Writes counts the changes that the model asked for, by what became of them. A failed change counts as done once the
// same target was written, or a later turn wrote the same text elsewhere.
type Writes struct {
	Asked   int         `json:"asked"`
	Done    int         `json:"done"`
	Failed  int         `json:"failed,omitempty"`
	Refused int         `json:"refused,omitempty"`
	Unsure  int         `json:"unsure,omitempty"` // nobody knows whether they took effect
	Notes   bool        `json:"notes,omitempty"`  // all of them are of notes
	Missing []Unwritten `json:"missing,omitempty"`
	Texts   []string    `json:"texts,omitempty"` // digests of what was to be written, while the run is running
}

// Unwritten is a change that was not made, or may not have been.
type Unwritten struct {
	Tool   string    `json:"tool"`
	Target string    `json:"target"` // what it would have changed, as the model named it
	Fate   WriteFate `json:"fate"`
	Why    string    `json:"why"`
	Turn   int       `json:"turn,omitempty"`
	Key    string    `json:"key,omitempty"` // digest of what it would have changed, while the run is running
	// digest of what it would have written, unless several changes were to write the same text
	Text string `json:"text,omitempty"`
}

// WriteFate is what became of a change.
type WriteFate string

// The fates of a change.
const (
	WriteDone    WriteFate = "done"
	WriteFailed  WriteFate = "failed"
	WriteRefused WriteFate = "refused"
	WriteUnsure  WriteFate = "unsure"
)

// mostMissing bounds how many changes that were not made are listed one by one.
const mostMissing = 40

// change is one requested change: what it changes, what it writes there, and in which turn.
type change struct {
	tool, target string // as people read them
	key, text    string // digests; text "": not known
	turn         int
}

// AllDone says whether every requested change was made.
func (w *Writes) AllDone() bool { return w.Failed+w.Refused+w.Unsure == 0 }

// countCall counts one call.
func (w *Writes) countCall(t ToolFact, arguments string, turn int, fate WriteFate, why string) {
	w.Notes = t.Source == tool.Vault && (w.Notes || w.Asked == 0)
	w.countChange(changeOf(t, arguments, turn), fate, why)
}

// Add counts one change that no later change can make up for.
func (w *Writes) Add(name, target string, fate WriteFate, why string) {
	w.countChange(change{tool: name, target: target, key: fmt.Sprint(w.Asked)}, fate, why)
}

func (w *Writes) countChange(a change, fate WriteFate, why string) {
	w.Asked++
	shared := w.noteText(a)
	if fate == WriteDone {
		w.Done++
		w.removeRepeated(a)
		return
	}
	*w.counterOf(fate)++
	if shared {
		a.text = ""
	}
	if len(w.Missing) < mostMissing {
		u := Unwritten{Tool: a.tool, Target: text.Brief(a.target, 120), Fate: fate, Why: text.Brief(why, 200),
			Turn: a.turn, Key: a.key, Text: a.text}
		w.Missing = append(w.Missing[:len(w.Missing):len(w.Missing)], u)
	}
}

// noteText notes a text, and says whether an earlier change was to write it too. Two changes of one turn with the same
// text are separate wishes.
func (w *Writes) noteText(a change) bool {
	if a.text == "" {
		return false
	}
	w.Missing = slices.Clone(w.Missing)
	for i := range w.Missing {
		if u := &w.Missing[i]; u.Text == a.text && u.Turn == a.turn {
			u.Text = ""
		}
	}
	if slices.Contains(w.Texts, a.text) {
		return true
	}
	w.Texts = append(w.Texts[max(0, len(w.Texts)+1-turnsForLoops):len(w.Texts):len(w.Texts)], a.text)
	return false
}

// removeRepeated removes failed changes that this one makes up for: those of the same target, and at most one with the
// same text elsewhere.
func (w *Writes) removeRepeated(a change) {
	elsewhere := true
	w.Missing = slices.DeleteFunc(slices.Clone(w.Missing), func(u Unwritten) bool {
		again := u.Fate != WriteUnsure && u.Key == a.key
		if !again && u.Fate != WriteUnsure && u.Text != "" && u.Text == a.text && elsewhere {
			again, elsewhere = true, false
		}
		if again {
			*w.counterOf(u.Fate)--
			w.Asked--
		}
		return again
	})
}

// withoutTexts drops the digests, which are not kept once the run has ended.
func (w Writes) withoutTexts() Writes {
	w.Texts, w.Missing = nil, slices.Clone(w.Missing)
	for i := range w.Missing {
		w.Missing[i].Key, w.Missing[i].Text = "", ""
	}
	return w
}

func (w *Writes) counterOf(fate WriteFate) *int {
	switch fate {
	case WriteFailed:
		return &w.Failed
	case WriteRefused:
		return &w.Refused
	}
	return &w.Unsure
}

// changeOf reads what a call would change from its arguments.
func changeOf(t ToolFact, arguments string, turn int) change {
	a := change{tool: t.Name, target: arguments, key: Digest(t.Name + " " + arguments), turn: turn}
	var given map[string]json.RawMessage
	var target string
	if t.Target != "" && json.Unmarshal([]byte(arguments), &given) == nil &&
		json.Unmarshal(given[t.Target], &target) == nil && target != "" {
		delete(given, t.Target)
		rest, _ := json.Marshal(given) // it was read from JSON
		a.target, a.key = target, Digest(string(t.Source)+" "+target)
		if len(given) > 0 {
			a.text = Digest(t.Name + string(rest))
		}
	}
	return a
}

// mostTold is how many changes a sentence names.
const mostTold = 5

// Why tells the user what was not done: “2 of 7 notes were not written: …”. It is empty if all was done.
func (w *Writes) Why() bt.Why {
	reasons := ofChanges
	if w.Notes {
		reasons = ofNotes
	}
	undone := w.Failed + w.Refused
	return bt.Both(w.sentence(undone, reasons[0], reasons[1], reasons[2], w.listMissing(false, undone)),
		w.sentence(w.Unsure, reasons[3], reasons[4], reasons[4], w.listMissing(true, w.Unsure)))
}

// sentence is the sentence for n changes: the only one, one of several, or several.
func (w *Writes) sentence(n int, only, one, several bt.Reason, which string) bt.Why {
	switch {
	case n == 0:
		return bt.Why{}
	case w.Asked == 1:
		return only.With(which)
	case n == 1:
		return one.With(n, w.Asked, which)
	}
	return several.With(n, w.Asked, which)
}

// What was not done: the only change, one of several, several; and what may not have been: the only one, some.
var (
	ofChanges = [...]bt.Reason{
		"writes.change_not: The change was not made: {which}.",
		"writes.one_change_not: {n} of {asked} changes was not made: {which}.",
		"writes.changes_not: {n} of {asked} changes were not made: {which}.",
		"writes.change_unsure: The change may not have been made: {which}.",
		"writes.changes_unsure: {n} of {asked} changes may not have been made: {which}.",
	}
	ofNotes = [...]bt.Reason{
		"writes.note_not: The note was not written: {which}.",
		"writes.one_note_not: {n} of {asked} notes was not written: {which}.",
		"writes.notes_not: {n} of {asked} notes were not written: {which}.",
		"writes.note_unsure: The note may not have been written: {which}.",
		"writes.notes_unsure: {n} of {asked} notes may not have been written: {which}.",
	}
)

func writeReasons() []bt.Reason { return slices.Concat(ofChanges[:], ofNotes[:]) }

// listMissing names the missing changes: those in doubt if unsure, otherwise the others.
func (w *Writes) listMissing(unsure bool, n int) string {
	var each []string
	for _, u := range w.Missing {
		if (u.Fate == WriteUnsure) == unsure && len(each) < mostTold {
			each = append(each, fmt.Sprintf("%s (%s)", u.Target, strings.TrimRight(u.Why, ".")))
		}
	}
	text := strings.Join(each, "; ")
	if more := n - len(each); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// Failures lists the failed changes for the model, and the tools that could make them. Changes in doubt are left out:
// they must not be made again.
func (w *Writes) Failures() (text string, tools []string) {
	var each []string
	for _, u := range w.Missing {
		if u.Fate != WriteFailed {
			continue
		}
		if !slices.Contains(tools, u.Tool) {
			tools = append(tools, u.Tool)
		}
		if len(each) < mostTold {
			each = append(each, fmt.Sprintf("%s (%s)", u.Target, u.Why))
		}
	}
	return strings.Join(each, "; "), tools
}
