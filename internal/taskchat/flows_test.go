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

// read is what a model reads in each message of the language.
func (l tongue) read() map[string]heard {
	all := map[string]heard{
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

// heard says words, and wants the very response.
func (f *flow) heard(words string, status taskchat.Status, form string, parts ...any) taskchat.AgentResponse {
	f.Helper()
	r := f.say(words, status)
	same(f.T, f.l["code"]+": "+words, r.Response, fmt.Sprintf(form, parts...))
	return r
}

// inEachLanguage holds a conversation about some tasks in every language.
func inEachLanguage(t *testing.T, tasks func(l tongue) []string, talk func(f *flow)) {
	for code, l := range tongues(t) {
		t.Run(code, func(t *testing.T) {
			h, m := withModel(t)
			m.by = l.read()
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
		f.heard(f.l["undo"], taskchat.StatusSuccess, f.l["undone"], f.l["groceries"])
		f.wants(ada)
	})
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
