package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/tool"
)

// Writes counts the changes that the model asked for, by what became of them. One that failed, and was made later with the same target, is done.
type Writes struct {
	Asked   int         `json:"asked"`
	Done    int         `json:"done"`
	Failed  int         `json:"failed,omitempty"`
	Refused int         `json:"refused,omitempty"`
	Unsure  int         `json:"unsure,omitempty"` // nobody knows whether they took effect
	Notes   bool        `json:"notes,omitempty"`  // all of them are of notes
	Missing []Unwritten `json:"missing,omitempty"`
}

// Unwritten is a change that was not made, or may not have been.
type Unwritten struct {
	Tool   string     `json:"tool"`
	Target string     `json:"target"` // what it would have changed, as the model named it
	Fate   WriteFate  `json:"fate"`
	Why    string     `json:"why"`
	same   writesSame // of which later change it would be the same
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

// mostMissing bounds how many changes that were not made are told one by one.
const mostMissing = 40

// writesSame names what a call would change: a target within its source, or the call to the letter.
type writesSame struct{ of, target string }

// Whole says whether all that was asked for was done.
func (w *Writes) Whole() bool { return w.Failed+w.Refused+w.Unsure == 0 }

// enter counts one call.
func (w *Writes) enter(t ToolFact, arguments string, fate WriteFate, why string) {
	w.Notes = t.Source == tool.Vault && (w.Notes || w.Asked == 0)
	w.add(t.Name, arguments, sameOf(t, arguments), fate, why)
}

// Add counts one change of a target that no later one makes good.
func (w *Writes) Add(name, target string, fate WriteFate, why string) {
	w.add(name, target, writesSame{target: fmt.Sprint(target, " ", w.Asked)}, fate, why)
}

func (w *Writes) add(name, what string, of writesSame, fate WriteFate, why string) {
	w.Asked++
	if fate == WriteDone {
		w.Done++
		w.made(of)
		return
	}
	*w.count(fate)++
	if len(w.Missing) < mostMissing {
		if of.of != "" {
			what = cmp.Or(of.target, what)
		}
		u := Unwritten{Tool: name, Target: Brief(what, 120), Fate: fate, Why: Brief(why, 200), same: of}
		w.Missing = append(w.Missing[:len(w.Missing):len(w.Missing)], u)
	}
}

// made takes what failed before out: it was asked for again, and is done.
func (w *Writes) made(of writesSame) {
	w.Missing = slices.DeleteFunc(slices.Clone(w.Missing), func(u Unwritten) bool {
		again := u.same == of && u.Fate != WriteUnsure
		if again {
			*w.count(u.Fate)--
			w.Asked--
		}
		return again
	})
}

func (w *Writes) count(fate WriteFate) *int {
	switch fate {
	case WriteFailed:
		return &w.Failed
	case WriteRefused:
		return &w.Refused
	}
	return &w.Unsure
}

// sameOf reads the target from the arguments of a call.
func sameOf(t ToolFact, arguments string) writesSame {
	var given map[string]json.RawMessage
	var target string
	if t.Target != "" && json.Unmarshal([]byte(arguments), &given) == nil && json.Unmarshal(given[t.Target], &target) == nil && target != "" {
		return writesSame{string(t.Source), target}
	}
	return writesSame{t.Name + " " + Digest(arguments), ""}
}

// mostTold is how many changes a sentence names.
const mostTold = 5

// String tells the person what was not done: “2 of 7 notes were not written: …”. It is empty where all was.
func (w *Writes) String() string {
	noun, verb := "change", "made"
	if w.Notes {
		noun, verb = "note", "written"
	}
	var all []string
	say := func(unsure bool, n int, one, several string) {
		if n == 0 {
			return
		}
		text := fmt.Sprintf("%d of %d %ss %s", n, w.Asked, noun, several)
		if w.Asked == 1 {
			text = fmt.Sprintf("The %s %s", noun, one)
		} else if n == 1 {
			text = fmt.Sprintf("1 of %d %ss %s", w.Asked, noun, one)
		}
		all = append(all, text+" "+verb+": "+w.told(unsure, n)+".")
	}
	say(false, w.Failed+w.Refused, "was not", "were not")
	say(true, w.Unsure, "may not have been", "may not have been")
	return strings.Join(all, " ")
}

// told names the changes that are in doubt, or the others.
func (w *Writes) told(unsure bool, n int) string {
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

// Wanting says what a model is to be told of the changes that failed, and names the tools that could make them. Those in doubt are not to be made again.
func (w *Writes) Wanting() (text string, tools []string) {
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
