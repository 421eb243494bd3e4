package oracle_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/oracle"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/tool"
)

// project is a small program with a README and a note on its dependencies, without a history.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"README.md":         "# Frobber\n\nFrobber folds quetzals into boxes.\nIt is fast.\n\n## Install\n\nUse go.\n",
		"CONTRIBUTING.md":   "# What this project wants of you\n\nThis project does much. Explain what you do.\n",
		"fold/fold.go":      "// Package fold folds birds.\npackage fold\n\n// Fold folds a quetzal twice.\nfunc Fold() { crease() }\n\nfunc crease() {}\n\n// Limit bounds birds.\nconst Limit = 7\n",
		"cmd/main.go":       "package main\n\n// main begins.\nfunc main() {\n\tfold.Fold()\n}\n",
		"fold/fold_test.go": "package fold\n\nfunc TestFold() { Fold() }\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("the program git is not installed")
	}
	cmd := exec.Command("git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.org"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestOfflineFormOfAQuestionChoosesWhatAnswersIt(t *testing.T) {
	dir := project(t)
	gitIn(t, dir, "init", "-q", "-b", "main")
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-q", "-m", "fold: begin with birds")
	for _, c := range []struct{ question, tool, want, not string }{
		{"explain fold/fold.go", "code_outline", "`fold/fold.go:5` `func Fold() { crease() }` Fold folds a quetzal twice.", "CONTRIBUTING"},
		{"list all functions in fold.go", "code_outline", "`fold/fold.go:7`", "Limit"},
		{"Zeige alle Funktionen in fold.go", "code_outline", "`fold/fold.go:7`", "Limit"},
		{"what is in cmd/main.go?", "code_outline", "func main()", "Fold folds"},
		{"what is this project?", "repo_map", "Frobber folds quetzals into boxes.", "What this project wants"},
		{"what does this repository do?", "repo_map", "Package fold folds birds.", "What this project wants"},
		{"Was macht dieses Projekt?", "repo_map", "Frobber folds quetzals", "wants"},
		{"who calls crease?", "code_references", "`fold/fold.go:5` in **Fold**", "main.go"},
		{"where is Fold used?", "code_references", "`cmd/main.go:5` in **main**", "CONTRIBUTING"},
		{"Wer ruft Fold auf?", "code_references", "2 places use Fold:", "CONTRIBUTING"},
		{"what changed?", "code_history", "Nothing has changed since the last commit.", "CONTRIBUTING"},
		{"what was the last commit?", "code_history", "fold: begin with birds (Ada)", "passage"},
		{"who wrote fold/fold.go:5?", "code_history", "`fold/fold.go:5` was last changed by Ada on ", "CONTRIBUTING"},
		{"when was the function Fold changed?", "code_history", "fold: begin with birds (Ada)", "Limit"},
		{"Wann wurde fold/fold.go zuletzt geändert?", "code_history", "fold: begin with birds", "Limit"},
		{"show me the last two commits", "code_history", "fold: begin with birds (Ada)", "passage"},
		{"what changed since yesterday?", "code_history", "fold: begin with birds (Ada)", "passage"},
		{"explain the fold package", "code_outline", "Package fold folds birds.", "CONTRIBUTING"},
		{"what is in the folder cmd?", "code_outline", "**cmd/** has 1 file or folder: main.go", "CONTRIBUTING"},
		{"show me fold/fold.go:10", "code_read", "const Limit = 7", "crease"},
	} {
		t.Run(c.question, func(t *testing.T) {
			h := offlineOver(t, dir, "")
			h.env.CodeRoot = dir
			a := h.ask(c.question)
			var called []string
			for _, u := range a.ToolCalls {
				called = append(called, u.Name)
			}
			if !strings.Contains(strings.Join(called, " "), c.tool) || !strings.Contains(a.Answer, c.want) || strings.Contains(a.Answer, c.not) {
				t.Errorf("class %s, called %v, wanted %q and not %q:\n%s", a.QueryType, called, c.want, c.not, a.Answer)
			}
			same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
			same(t, "unsupported", a.Unsupported, []string(nil))
			if len(cites(a)) == 0 && !strings.HasPrefix(c.question, "what changed") && !strings.Contains(c.question, "folder") {
				t.Errorf("nothing is cited:\n%s", a.Answer)
			}
		})
	}
}

func TestOfflineAFileIsToldByItsBestPassagesAndThenByItsDeclarations(t *testing.T) {
	h := offlineOver(t, project(t), "")
	a := h.ask("explain fold/fold.go")
	passage, listed := strings.Index(a.Answer, "`fold/fold.go:1-5`:"), strings.Index(a.Answer, "- `fold/fold.go:5` `func Fold()")
	if passage < 0 || listed < passage || strings.Count(a.Answer, "Package fold") != 1 || strings.Contains(a.Answer, "main.go") {
		t.Errorf("wanted what stands in the file, and then what it declares:\n%s", a.Answer)
	}
	if a := h.ask("list all functions in fold/fold.go"); strings.Contains(a.Answer, "```") {
		t.Errorf("only a list was asked for:\n%s", a.Answer)
	}
}

func TestOfflineADoubtfulWishForAChangeIsSearchedFor(t *testing.T) {
	const doubtful = "I would like to add another quetzal to the boxes, may I"
	h := offlineOver(t, project(t), "")
	h.named = []tool.Source{tool.Code}
	a := h.ask(doubtful)
	if p := a.Class.Probabilities[classify.Action]; a.QueryType != "action" || p < 0.5 || p >= 0.9 {
		t.Fatalf("it is no doubtful wish: %s, %.2f", a.QueryType, p)
	}
	holds(t, "the answer", a.Answer, "nothing changed")
	holds(t, "the answer", a.Answer, "folds quetzals into boxes")
	same(t, "stop reason", a.StopReason, oracle.StopPartial)
}

func TestOfflineFormsThatOnlyLookAlikeAreSearchedFor(t *testing.T) {
	dir := project(t)
	for _, question := range []string{"When is the quetzal changed?", "How does fold.Fold crease?", "why is a quetzal folded twice and/or not"} {
		h := offlineOver(t, dir, "")
		a := h.ask(question)
		searched := false
		for _, u := range a.ToolCalls {
			searched = searched || u.Name == "code_search"
			if u.Name == "code_history" || u.Name == "code_references" {
				t.Errorf("%q called %s", question, u.Name)
			}
		}
		if !searched {
			t.Errorf("%q was not searched for: %+v", question, a.ToolCalls)
		}
	}
}

func TestOfflineSaysThatAFolderHasNoHistory(t *testing.T) {
	h := offlineOver(t, project(t), "")
	a := h.ask("what was the last commit?")
	holds(t, "the answer", a.Answer, "it is in no git repository")
	same(t, "stop reason", a.StopReason, oracle.StopPartial)
}

func TestOfflineQuestionOfAFileSearchesThatFileFirst(t *testing.T) {
	h := offlineOver(t, project(t), "")
	a := h.ask("how often does fold.go fold a quetzal?")
	for _, f := range checkQuotes(t, h.env.CodeRoot, a.Answer) {
		same(t, "file", f, "fold/fold.go")
	}
	holds(t, "the answer", a.Answer, "folds a quetzal twice")
}

func TestOfflineShowsWholeFunctionsAndOfLongOnesTheirTop(t *testing.T) {
	long := "package a\n\n// Zanzibar sails.\nfunc Zanzibar() {\n" + strings.Repeat("\tnothing()\n", 60) + "\tquokka(zanzibar, wombat)\n" + strings.Repeat("\tnothing()\n", 60) + "}\n"
	short := "package a\n\n// Wombat digs.\nfunc Wombat() {\n" + strings.Repeat("\tdig()\n", 30) + "}\n"
	h := offlineOver(t, folder(t, map[string]string{"long.go": long, "short.go": short}), "")
	a := h.ask("How does the function Zanzibar use the quokka in this code?")
	holds(t, "the answer", a.Answer, "`long.go:3-4`:\n\n```\n// Zanzibar sails.\nfunc Zanzibar() {\n```\n\n…\n", "quokka(zanzibar, wombat)")
	checkQuotes(t, h.env.CodeRoot, a.Answer)
	h = offlineOver(t, h.env.CodeRoot, "")
	holds(t, "the answer", h.ask("How does the function Wombat dig in this code?").Answer, "`short.go:3-35`:")
}

func TestOfflineCopiesOfOneTextFillOnePlace(t *testing.T) {
	text := "package a\n\n// Zanzibar is an island of cloves.\nfunc Zanzibar() {}\n"
	h := offlineOver(t, folder(t, map[string]string{"a.go": text, "b.go": text, "c.go": text, "d.go": "package a\n\n// Cloves grow on islands.\nvar cloves = 1\n"}), "")
	a := h.ask("Where is Zanzibar, the island of cloves?")
	if n := strings.Count(a.Answer, "Zanzibar is an island of cloves."); n > 2 { // the line at the top, and one passage
		t.Errorf("the text stands there %d times:\n%s", n, a.Answer)
	}
}

func TestOfflineTellsAProjectWithoutAReadmeByWhatItSaysOfItself(t *testing.T) {
	for _, c := range []struct {
		files      map[string]string
		want, stop string
	}{
		{map[string]string{"package.json": "{\n  \"name\": \"frob\",\n  \"description\": \"Frobs quetzals.\"\n}\n", "a.js": "let a = 1\n"}, "`package.json:3` **frob**: Frobs quetzals.", oracle.StopSatisfied},
		{map[string]string{"go.mod": "module example.org/frob\n", "doc.go": "// Package frob frobs quetzals.\npackage frob\n"}, "// Package frob frobs quetzals.", oracle.StopSatisfied},
		{map[string]string{"go.mod": "module example.org/frob\n", "main.go": "// Command frob frobs quetzals.\npackage main\n\nfunc main() {}\n"}, "// Command frob frobs quetzals.", oracle.StopSatisfied},
	} {
		h := offlineOver(t, folder(t, c.files), "")
		a := h.ask("what is this project?")
		holds(t, "the answer", a.Answer, c.want)
		same(t, "stop reason", a.StopReason, c.stop)
		same(t, "unsupported", a.Unsupported, []string(nil))
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "cmd", "frob"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cmd", "frob", "main.go"), []byte("// Command frob frobs quetzals.\npackage main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := offlineOver(t, dir, "").ask("what is this project?")
	holds(t, "the answer", a.Answer, "**cmd/frob**: Command frob frobs quetzals.")
	same(t, "stop reason", a.StopReason, oracle.StopPartial)
}

func TestOfflineSaysWhichWordItReadAsAnother(t *testing.T) {
	h := offlineOver(t, folder(t, map[string]string{"a.go": "package a\n\n// Zanzibar is an island of cloves, and its passphrase is long.\nfunc Zanzibar() {}\n"}), "")
	a := h.ask("Which pasphrase has the island of cloves in this code?")
	holds(t, "the answer", a.Answer, "I read “pasphrase”, which is in no file, as “passphrase”.")
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
}

func TestOfflineWhoCallsShowsTheCallersBeforeTheDefinition(t *testing.T) {
	long := "package a\n\n// Zanzibar sails.\nfunc Zanzibar() {\n" + strings.Repeat("\tnothing()\n", 60) + "\tquokka(1)\n\tquokka(2)\n" + strings.Repeat("\tnothing()\n", 60) + "}\n"
	h := offlineOver(t, folder(t, map[string]string{"long.go": long, "short.go": "package a\n\nfunc Wombat() {\n\tquokka(3)\n}\n\nfunc quokka(n int) {}\n"}), "")
	a := h.ask("who calls quokka?")
	checkQuotes(t, h.env.CodeRoot, a.Answer)
	caller, other, definition := strings.Index(a.Answer, "\tquokka(1)\n\tquokka(2)"), strings.Index(a.Answer, "func Wombat() {\n\tquokka(3)\n}"), strings.Index(a.Answer, "`short.go:7` `func quokka")
	if caller < 0 || other < caller || definition < other || strings.Count(a.Answer, "in **Zanzibar**") != 1 || !strings.Contains(a.Answer, "`quokka(1)` and 1 line below") {
		t.Errorf("at %d, %d and %d:\n%s", caller, other, definition, a.Answer)
	}
}

func TestOfflineNamesMissingFromAllPassagesMakeItNoAnswer(t *testing.T) {
	h := offlineOver(t, "", notes(t))
	a := h.ask("What did we decide about caching in Portugal?")
	same(t, "stop reason", a.StopReason, oracle.StopPartial)
	same(t, "caveat", a.Caveat, "No passage mentions “Portugal”")
}
