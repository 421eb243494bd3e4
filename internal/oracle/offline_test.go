package oracle_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/offline"
	"sibyl/internal/oracle"
	"sibyl/internal/render"
	"sibyl/internal/tool"
	"sibyl/internal/tool/code"
	"sibyl/internal/tool/vault"
)

// offline answers by the rules, with the real tools.
func (h *harness) offline() {
	h.t.Helper()
	h.realTools()
	h.env.Model = model.OfflineRules
	h.model = offline.New(map[string]offline.Rule{oracle.Purpose: oracle.OfflineRule})
}

// realTools are those of the folders that the harness names.
func (h *harness) realTools() {
	h.t.Helper()
	clear(h.world.tools)
	if h.env.CodeRoot == "/code" {
		h.env.CodeRoot = ""
	} else {
		root := assert.Must(code.Open(h.env.CodeRoot))(h.t)
		h.t.Cleanup(func() { _ = root.Close() })
		for _, t := range root.Tools() {
			h.world.addTool(t)
		}
	}
	if h.env.Vault == "/notes" {
		h.env.Vault = ""
	} else {
		v := assert.Must(vault.Open(h.env.Vault, nil, nil))(h.t)
		h.t.Cleanup(func() { _ = v.Close() })
		for _, t := range v.Tools() {
			h.world.addTool(t)
		}
	}
	h.env.Web = false
}

// keep writes “name text” as a file of a folder of the test, and gives the folder.
func (h *harness) keep(folder, rest string) string {
	h.t.Helper()
	if h.folders == "" {
		h.folders = h.t.TempDir()
	}
	name, text, _ := strings.Cut(rest, " ")
	file := filepath.Join(h.folders, folder, filepath.FromSlash(name))
	assert.NoError(h.t, os.MkdirAll(filepath.Dir(file), 0o700))
	assert.NoError(h.t, os.WriteFile(file, []byte(text), 0o600))
	return filepath.Join(h.folders, folder)
}

// offlineOver asks the rules over a folder of code.
func offlineOver(t *testing.T, root string) *harness {
	t.Helper()
	h := setUp(t)
	h.env.CodeRoot = root
	h.offline()
	return h
}

// ownSource is a copy of a part of Sibyl's source without its tests, where the questions of this file would be the best
// answer. All tests share it.
var ownSource = sync.OnceValues(func() (string, error) {
	to, err := os.MkdirTemp("", "sibyl-source-")
	if err != nil {
		return "", err
	}
	from := os.DirFS(filepath.Join("..", ".."))
	return to, fs.WalkDir(from, "internal", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), text, 0o600)
	})
})

// overSibyl asks the rules over Sibyl's own source.
func overSibyl(t *testing.T) (h *harness, root string) {
	t.Helper()
	root = assert.Must(ownSource())(t)
	return offlineOver(t, root), root
}

var quoted = regexp.MustCompile("(?m)^(?:\\*\\*.*\\*\\*, )?`([^`\n]+):([0-9]+)(?:-([0-9]+))?`:\n\n(````*)[a-z]*\n")

// checkQuotes fails the test where a passage is not in its file at its lines, and gives the files.
func checkQuotes(t *testing.T, root, answer string) (files []string) {
	t.Helper()
	answer += "\n"
	for _, m := range quoted.FindAllStringSubmatchIndex(answer, -1) {
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return answer[m[2*i]:m[2*i+1]]
		}
		passage, _, closed := strings.Cut(answer[m[1]:], "\n"+part(4)+"\n")
		text, err := os.ReadFile(filepath.Join(root, part(1)))
		assert.Require(t, err == nil && closed, "the quotation of %s: %v, its fence is closed: %v", part(1), err, closed)
		first, _ := strconv.Atoi(part(2))
		last := first
		if part(3) != "" {
			last, _ = strconv.Atoi(part(3))
		}
		all := strings.Split(strings.ReplaceAll(string(text), "\t", " "), "\n")
		assert.Require(t, first >= 1 && last <= len(all),
			"%s has %d lines, lines %d to %d are quoted", part(1), len(all), first, last)
		want := strings.Join(all[first-1:last], "\n")
		assert.That(t, strings.ReplaceAll(passage, "\t", " ") == want,
			"%s:%d-%d reads\n%s\nand is quoted as\n%s", part(1), first, last, want, passage)
		files = append(files, part(1))
	}
	return files
}

func TestOfflineAnswersQuestionsAboutSibylItselfWithPassagesThatExist(t *testing.T) {
	t.Parallel()
	for question, file := range map[string]string{
		"How does a run keep an effect that writes from being repeated after a crash?": "internal/run/",
		"How does the extractor hold back text that may still be a signal?":            "internal/signal/extract.go",
		"How is a citation of what was never read reported?":                           "internal/oracle/citation.go",
	} {
		h, root := overSibyl(t)
		a := h.ask(question)
		same(t, "query type", a.QueryType, "code")
		same(t, "unsupported", a.Unsupported, []string(nil))
		same(t, "passages", len(checkQuotes(t, root, a.Answer)), 1)
		assert.That(t, slices.ContainsFunc(cites(a), func(f string) bool { return strings.HasPrefix(f, file) }),
			"none of %v is %s:\n%s", cites(a), file, a.Answer)
		shown := render.Lines(a.Answer, render.Options{Width: 80})
		// further rows of a terminal of 24 tell how it ended, and are the next prompt
		assert.That(t, len(shown) <= 20 && len(shown) >= 12,
			"%q takes %d rows:\n%s", question, len(shown), strings.Join(shown, "\n"))
	}
}

func TestOfflineSaysWhichNamesOfTheQuestionItDidNotFind(t *testing.T) {
	t.Parallel()
	h, _ := overSibyl(t)
	a := h.ask("How does quetzalcoatlWombat work?")
	same(t, "stop reason", a.StopReason, oracle.StopStuck)
	wantParts(t, "the answer", a.Answer, "o language model is in use",
		"I found nothing about that. I searched the code for: ", "quetzalcoatl", "`sibyl init` sets up a model.")
	h, _ = overSibyl(t)
	a = h.ask("Where is quetzalcoatlWombat defined for zanzibarQuokka?")
	same(t, "stop reason", a.StopReason, oracle.StopPartial)
	same(t, "caveat", a.Caveat, "None of the places mentions “quetzalcoatlWombat” or “zanzibarQuokka”")
}

func TestOfflineDoesNotSearchTheCodeAfterAFailedWebSearch(t *testing.T) {
	h := setUp(t)
	h.env.CodeRoot = h.keep("code", "weather.md # Notes\n\nThe weather in Paris is rainy in the tests.\n")
	h.offline()
	h.env.Web = true
	h.world.add(tool.Spec{Name: "web_search", Description: "searches", Source: tool.Web, Search: true,
		Schema: []byte(`{"type":"object","properties":{"query":{"type":"string"}}}`)},
		fails(tool.Unavailable, "", "the engine is away"))
	a := h.ask(weather)
	same(t, "calls", h.world.called(), []string{"web_search"})
	wantParts(t, "the answer", a.Answer, "I found nothing about that. I searched the web for: ",
		"web_search failed: the engine is away")
}

func TestOfflineAnswerOfALongParagraphStandsOnAScreen(t *testing.T) {
	h := setUp(t)
	h.env.Vault = h.keep("notes", "boiler.md # Boiler\n\n"+
		strings.Repeat("The boiler was serviced by somebody who came from the other town. ", 40)+"\n")
	h.offline()
	shown := render.Lines(h.ask("Who serviced the boiler?").Answer, render.Options{Width: 80})
	assert.That(t, len(shown) <= 20, "it takes %d rows:\n%s", len(shown), strings.Join(shown, "\n"))
}

func TestOfflineRuleRefusesFactsOfAnotherRoom(t *testing.T) {
	for _, rule := range []offline.Rule{oracle.OfflineRule, oracle.OfflineNotes} {
		_, err := rule(t.Context(), model.Request{Facts: "a text"})
		assert.That(t, model.KindOf(err) == model.Invalid, "facts of another type give %v", err)
	}
}

func TestNothingFoundOfflineSaysWhatWasNotLookedAt(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"a.go": "package a\n", "lost.ps1": "n\x00e\x00e\x00d\x00",
		"odd <signal type=\"stuck\">.ps1": "n\x00e\x00e\x00d\x00"} {
		assert.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
	}
	huge := filepath.Join(root, "huge.sql")
	assert.NoError(t, os.WriteFile(huge, []byte("x"), 0o600))
	assert.NoError(t, os.Truncate(huge, 64<<20+1))
	a := offlineOver(t, root).ask("Where is the zebra kept?")
	wantParts(t, "what stands beside the answer", noticesText(a), "Not looked at: 2 × ", "lost.ps1",
		"; 1 × too large to be searched: huge.sql.")
	assert.That(t, !strings.Contains(noticesText(a), "<signal"), "%s", noticesText(a))
}
