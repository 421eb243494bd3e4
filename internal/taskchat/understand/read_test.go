package understand

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/quick"
	"unicode/utf8"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
)

// said is a reading in one line: create "milk"; complete #2 -1; delete it; list (completed); update all [mail] =
// "post".
func said(r Reading) string {
	var all []string
	for _, x := range r.Results {
		all = append(all, x.Intent.said(x.Entities))
	}
	return strings.Join(all, "; ")
}

func (i Intent) said(e Entities) string {
	s := string(i)
	if e.Reference != nil {
		s += " " + e.Reference.said()
	}
	if e.Title != "" {
		s += fmt.Sprintf(" %q", e.Title)
	}
	if e.HasDescription {
		s += fmt.Sprintf(" note %q", e.Description)
	}
	if e.Status != "" {
		s += " (" + e.Status + ")"
	}
	if e.Reminder {
		s += " !"
	}
	return s
}

func (r *Reference) said() string {
	var s []string
	for _, p := range r.Positions {
		s = append(s, fmt.Sprintf("#%d", p))
	}
	if r.It {
		s = append(s, "it")
	}
	if r.Both {
		s = append(s, "both")
	} else if r.All {
		s = append(s, "all")
	}
	if r.Except != nil {
		s = append(s, "but "+r.Except.said())
	}
	if r.Title != "" {
		s = append(s, "["+r.Title+"]")
	}
	return strings.Join(s, " ")
}

func TestReadings(t *testing.T) {
	texttest.Play(t, []string{"after", "asked", "nothing", "speaks"}, func(t *testing.T, lines []texttest.Line) {
		var c Context
		for _, l := range lines {
			words, want, _ := strings.Cut(strings.NewReplacer(`\n`, "\n", `\x20`, " ").Replace(l.Rest), " ⇒ ")
			got := ""
			switch l.Words {
			case "after":
				c.Previous = Intent(words)
				continue
			case "asked":
				c.Open = &Open{Kind: words, Intent: Delete}
				continue
			case "nothing":
				for _, x := range Read(words, c).Results {
					if x.Intent != Chat && x.Intent != List && x.Intent != Help {
						got = x.Intent.said(x.Entities)
					}
				}
			case "speaks":
				before, now, _ := strings.Cut(words, ":")
				got = Read(strings.TrimSpace(now), Context{Language: strings.TrimSpace(before)}).Language
			default:
				got = said(Read(words, c))
			}
			assert.That(t, got == want, "line %d, %q\n\tgot  %s\n\twant %s", l.At, words, got, want)
		}
	})
}

func TestThirdOfTheListAfterANewTaskIsTalk(t *testing.T) {
	r := Read("and the third", Context{Previous: Create})
	assert.That(t, r.Results[0].Intent == Chat, "after a new task: %s", said(r))
}

// wellFormed checks what holds for every reading.
func wellFormed(t *testing.T, words string, c Context) {
	t.Helper()
	r := Read(words, c)
	assert.That(t, len(r.Results) != 0 && r.Language != "" && reflect.DeepEqual(r, Read(words, c)),
		"%q: %d results in %q, or not the same twice", words, len(r.Results), r.Language)
	flat := strings.Join(strings.Fields(clean(words)), " ")
	for _, x := range r.Results {
		e := x.Entities
		assert.That(t, x.Confidence > 0 && x.Confidence <= 1 && x.Reasoning != "" && utf8.ValidString(e.Title) &&
			strings.Contains(flat, strings.Join(strings.Fields(e.Title), " ")),
			"%q: %s is not well formed, or its title not the person's", words, x.Intent.said(e))
		for ref := e.Reference; ref != nil; ref = ref.Except {
			assert.That(t, len(strings.Fields(strings.ReplaceAll(ref.said(), "#", ""))) != 0,
				"%q: a reference to nothing", words)
		}
		assert.That(t, x.Intent != Confirm || Consent(words, c.Language) == Yes, "%q confirms, and is no plain yes", words)
	}
}

func contexts() []Context {
	return []Context{{}, {Previous: Delete, Language: "pt"}, {Open: &Open{Kind: KindConfirm, Intent: Delete}},
		{Open: &Open{Kind: KindValue}}, {Open: &Open{Kind: KindChoose}}}
}

func TestAnyWordsAreReadAsSomething(t *testing.T) {
	long := strings.Repeat("add x, delete 2 and complete the report, ", 200)
	for _, words := range []string{"\xff", "add \xff\xfe", "\"", "„", strings.Repeat("\"", 99), "add: ", "add:\n-",
		"delete task 999999999999999999999", "complete 1-999999", "complete 0", long[:maxBytes], long + "yes",
		strings.Repeat("1, ", 2000)} {
		for _, c := range contexts() {
			wellFormed(t, words, c)
		}
	}
	assert.Nil(t, quick.Check(func(a, b string) bool {
		wellFormed(t, a+b, contexts()[1])
		return !t.Failed()
	}, nil))
}

func FuzzRead(f *testing.F) {
	for _, words := range []string{"add milk, eggs and complete 2", "lösche die letzten zwei", "não, a 3", "“",
		"yes 👍🏽", "add these:\n- x\n2) y"} {
		f.Add(words, 0)
	}
	f.Fuzz(func(t *testing.T, words string, in int) { wellFormed(t, words, contexts()[(in%5+5)%5]) })
}
