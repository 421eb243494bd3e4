package taskchat_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/taskchat"
)

// tongue is what is said in a language: by the person, and by the assistant, where %s stands for titles.
type tongue map[string]string

// tongues reads testdata/tongues.json.
func tongues(t testing.TB) map[string]tongue {
	t.Helper()
	text := assert.Must(os.ReadFile("testdata/tongues.json"))(t)
	var all map[string]tongue
	assert.NoError(t, json.Unmarshal(text, &all))
	return all
}

// sayings are what the assistant says, in the same order for each language.
func (l tongue) sayings() []string {
	return []string{l["added"], l["shown"], l["completed"], l["which"], l["toWhat"], l["renamed"], l["stale"],
		l["sure"], l["gone"], l["left"], l["reopened"]}
}

// word says an English sentence in the language, as a model does that was told to.
func (l tongue) word(english tongue, s taskchat.Sentence) string {
	for n, form := range english.sayings() {
		var first, second string
		switch strings.Count(form, "%s") {
		case 0:
			if s.Text == form {
				return l.sayings()[n]
			}
		case 1:
			before, after, _ := strings.Cut(form, "%s")
			if first, ok := strings.CutPrefix(s.Text, before); ok && strings.HasSuffix(first, after) {
				return fmt.Sprintf(l.sayings()[n], strings.TrimSuffix(first, after))
			}
		default:
			if _, err := fmt.Sscanf(strings.ReplaceAll(s.Text, "'", "\n"), "Done: \n%s", &first); err == nil {
				first, second = s.Keep[1], s.Keep[0]
				return fmt.Sprintf(l.sayings()[n], first, second)
			}
		}
	}
	return s.Text
}

// read is what a model reads in each message of the language.
func (l tongue) read() map[string]taskchat.Heard {
	all := map[string]taskchat.Heard{
		l["create"]: {Intents: []taskchat.Wish{{Intent: "create", Confidence: 0.95, Title: l["groceries"]}}},
		l["list"]:   {Intents: []taskchat.Wish{wish("list", taskchat.Named{})}},
		l["second"]: {Intents: []taskchat.Wish{wish("complete", at(2))}},
		l["update"]: {Intents: []taskchat.Wish{wish("update", titled(l["meetings"]))}},
		l["first"]:  {Answer: taskchat.Said{Kind: "choice", Choices: []int{1}}},
		l["board"]:  {Answer: taskchat.Said{Kind: "value", Value: l["board"]}},
		l["rename"]: {Intents: []taskchat.Wish{{Intent: "update", Confidence: 0.95, Title: lastWord(l["rename"]),
			Task: taskchat.Named{Words: l["taskOne"], Positions: []int{1}}}}},
		l["remove"]: {Intents: []taskchat.Wish{wish("delete", at(2))}},
		l["away"]:   {Intents: []taskchat.Wish{wish("delete", taskchat.Named{Words: "it", It: true})}},
		l["rather"]: {Answer: taskchat.Said{Kind: "no"}},
		l["undo"]:   {Intents: []taskchat.Wish{wish("undo", taskchat.Named{})}},
	}
	for words, h := range all {
		h.Language = l["code"]
		all[words] = h
	}
	return all
}

func lastWord(words string) string { return words[strings.LastIndex(words, " ")+1:] }

// flow is a conversation in a language.
type flow struct {
	*talk
	l   tongue
	m   *reader
	ids []int64
}

// heard says words, which the model reads unless they are a plain yes or no, and wants the very response.
func (f *flow) heard(words string, status taskchat.Status, form string, parts ...any) taskchat.AgentResponse {
	f.Helper()
	asked := len(f.m.asked)
	r := f.say(words, status)
	same(f.T, f.l["code"]+": "+words, r.Response, fmt.Sprintf(form, parts...))
	assert.That(f, words == f.l["yes"] || words == f.l["no"] != (len(f.m.asked) > asked),
		"%s: the model read %d messages for “%s”", f.l["code"], len(f.m.asked)-asked, words)
	return r
}

// inEachLanguage holds a conversation about some tasks in every language.
func inEachLanguage(t *testing.T, tasks func(l tongue) []string, talk func(f *flow)) {
	all := tongues(t)
	for code, l := range all {
		t.Run(code, func(t *testing.T) {
			h, m := withModel(t)
			m.by, m.say = l.read(), func(s taskchat.Sentence) string { return l.word(all["en"], s) }
			ids := h.has(ada, tasks(l)...)
			talk(&flow{h.process("p").talk(ada), l, m, ids})
		})
	}
}

func two(l tongue) []string { return []string{l["groceries"], l["call"]} }

func TestEachLanguageCreatesATask(t *testing.T) {
	inEachLanguage(t, func(tongue) []string { return nil }, func(f *flow) {
		r := f.heard(f.l["create"], taskchat.StatusSuccess, f.l["added"], f.l["groceries"])
		same(f.T, "tools", called(r), []string{"add_task"})
		f.wants(ada, f.l["groceries"])
		f.heard(f.l["undo"], taskchat.StatusSuccess, f.m.said(f.l, "Undone: '%s' is off your list again."),
			f.l["groceries"])
		f.wants(ada)
	})
}

// said is a form that only the templated languages say in their own words, as the others keep what their model does not
// know.
func (m *reader) said(l tongue, english string) string {
	switch l["code"] {
	case "de":
		return "Rückgängig gemacht: '%s' steht nicht mehr auf deiner Liste."
	case "pt-BR":
		return "Desfeito: '%s' não está mais na sua lista."
	}
	return english
}

func TestEachLanguageListsAndCompletesByPosition(t *testing.T) {
	inEachLanguage(t, two, func(f *flow) {
		f.heard(f.l["list"], taskchat.StatusSuccess, f.l["shown"]+"\n1. %s\n2. %s", f.l["groceries"], f.l["call"])
		f.heard(f.l["second"], taskchat.StatusSuccess, f.l["completed"], f.l["call"])
		f.wants(ada, f.l["groceries"], f.l["call"]+" ✓")
		f.heard(f.l["undo"], taskchat.StatusSuccess, f.l["reopened"], f.l["call"])
		f.wants(ada, f.l["groceries"], f.l["call"])
	})
}

func TestEachLanguageClarifiesByAChoiceAndANewValue(t *testing.T) {
	tasks := func(l tongue) []string { return []string{l["meeting"], l["agenda"], l["minutes"], l["call"]} }
	inEachLanguage(t, tasks, func(f *flow) {
		r := f.heard(f.l["update"], taskchat.StatusClarification, f.l["which"]+"\n1. %s\n2. %s\n3. %s",
			f.l["meetings"], f.l["meeting"], f.l["agenda"], f.l["minutes"])
		same(f.T, "options", len(r.Clarification.Options), 3)
		f.heard(f.l["first"], taskchat.StatusClarification, f.l["toWhat"], f.l["meeting"])
		f.heard(f.l["board"], taskchat.StatusSuccess, f.l["renamed"], f.l["meeting"], f.l["board"])
		f.wants(ada, f.l["board"], f.l["agenda"], f.l["minutes"], f.l["call"])
	})
}

func TestEachLanguageTellsAStaleReference(t *testing.T) {
	inEachLanguage(t, two, func(f *flow) {
		f.heard(f.l["list"], taskchat.StatusSuccess, f.l["shown"]+"\n1. %s\n2. %s", f.l["groceries"], f.l["call"])
		f.deleted(ada, f.ids[0])
		f.heard(f.l["rename"], taskchat.StatusError, f.l["stale"], f.l["taskOne"])
		f.wants(ada, f.l["call"])
	})
}

func TestEachLanguageConfirmsAndDeclinesADeletion(t *testing.T) {
	inEachLanguage(t, two, func(f *flow) {
		f.heard(f.l["list"], taskchat.StatusSuccess, f.l["shown"]+"\n1. %s\n2. %s", f.l["groceries"], f.l["call"])
		f.heard(f.l["remove"], taskchat.StatusConfirmation, f.l["sure"], f.l["call"])
		f.heard(f.l["no"], taskchat.StatusSuccess, "%s", f.l["left"])
		f.heard(f.l["away"], taskchat.StatusConfirmation, f.l["sure"], f.l["call"])
		f.heard(f.l["rather"], taskchat.StatusSuccess, "%s", f.l["left"])
		f.wants(ada, f.l["groceries"], f.l["call"])
		f.heard(f.l["remove"], taskchat.StatusConfirmation, f.l["sure"], f.l["call"])
		r := f.heard(f.l["yes"], taskchat.StatusSuccess, f.l["gone"], f.l["call"])
		assert.That(f, slices.Contains(called(r), "delete_task"), "nothing was deleted")
		f.wants(ada, f.l["groceries"])
	})
}
