package oracle_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/oracle"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/render"
	"sibyl/internal/tool"
)

func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// answerLines are those of an answer about a folder of code, or of notes.
func answerLines(t *testing.T, files map[string]string, source tool.Source, question string) []string {
	t.Helper()
	h := offlineOver(t, folder(t, files), "")
	if source == tool.Vault {
		h = offlineOver(t, "", h.env.CodeRoot)
	}
	h.named = []tool.Source{source}
	return strings.Split(h.ask(question).Answer, "\n")
}

func TestOfflineAnswerIsAListOfPlacesThenTheBestPassageThenThatNoModelIsInUse(t *testing.T) {
	got := answerLines(t, map[string]string{
		"lease.go": "package lease\n\n// Acquire locks the quetzal lease. It waits.\nfunc Acquire() error {\n\treturn nil\n}\n",
		"tests.md": "# Tests\n\nA quetzal lease is locked in each test.\nNo more is done.\n",
	}, tool.Code, "Which function locks the quetzal lease?")
	same(t, "answer", strings.Join(got, "\n"), "1. `lease.go:3-6` `func Acquire() error` locks the quetzal lease.\n"+
		"2. `tests.md:1-4` Tests: A quetzal lease is locked in each test.\n\n"+
		"`lease.go:3-6`:\n\n```\n// Acquire locks the quetzal lease. It waits.\nfunc Acquire() error {\n\treturn nil\n}\n```\n\n"+
		"No language model is in use; these are the best matches. `sibyl sources 2` shows another; `sibyl init` sets one up.")
}

func TestOfflineAnswerStandsOnAScreenOf24RowsAnd80Columns(t *testing.T) {
	root := ownSource(t)
	for _, question := range []string{
		"How does a run keep an effect that writes from being repeated after a crash?",
		"How many turns may a question take by default in this code?",
		"Where is the lease of a run renewed?",
	} {
		h := offlineOver(t, root, "")
		h.named = []tool.Source{tool.Code}
		shown := render.Lines(h.ask(question).Answer, render.Options{Width: 80})
		if len(shown) > 20 || len(shown) < 12 { // further rows tell how it ended, and are the next prompt
			t.Errorf("%q takes %d rows:\n%s", question, len(shown), strings.Join(shown, "\n"))
		}
	}
	paragraph := strings.Repeat("The boiler was serviced by somebody who came from the other town. ", 40)
	shown := render.Lines(strings.Join(answerLines(t, map[string]string{"boiler.md": "# Boiler\n\n" + paragraph + "\n"}, tool.Vault, "Who serviced the boiler?"), "\n"), render.Options{Width: 80})
	if len(shown) > 20 {
		t.Errorf("a long paragraph takes %d rows:\n%s", len(shown), strings.Join(shown, "\n"))
	}
}

func TestOfflineLineAboveTheListHoldsTheNumberTheDefaultOrTheDateThatWasAskedFor(t *testing.T) {
	notes := map[string]string{
		"boiler.md": "# Boiler\n\nBoiler serviced on 12 March by Huber. It is loud.\nThe pressure should stand at 1.6 bar.\n",
		"garten.md": "# Garten\n\nDer Apfelbaum wurde im Herbst 2019 gepflanzt. Die Hecke schneidet Frau Ott.\n",
		"kasse.md":  "# Kasse\n\nDie Beiträge betragen 45 Euro im Jahr.\n",
	}
	code := map[string]string{"lease.go": "package lease\n\n// Lease is a quetzal lease.\ntype Lease struct{}\n\n" +
		"// DefaultQuetzals bounds quetzals.\nconst DefaultQuetzals = 1 << 4\n"}
	for _, c := range []struct {
		files          map[string]string
		source         tool.Source
		question, want string
	}{
		{notes, tool.Vault, "When was the boiler serviced?", "`boiler.md:3` Boiler serviced on 12 March by Huber."},
		{notes, tool.Vault, "Wann wurde der Apfelbaum gepflanzt?", "`garten.md:3` Der Apfelbaum wurde im Herbst 2019 gepflanzt."},
		{code, tool.Code, "What is the default number of quetzals in this code?", "`lease.go:7` `const DefaultQuetzals = 1 << 4`"},
		{notes, tool.Vault, "Wie hoch sind die Beiträge?", "`kasse.md:3` Die Beiträge betragen 45 Euro im Jahr."},
		{notes, tool.Vault, "Who serviced the boiler?", ""},
		{notes, tool.Vault, "When was the boiler sold?", ""},
		{notes, tool.Vault, "Wann wurde die Hecke geschnitten?", ""},
		{code, tool.Code, "When are quetzals bounded in this code?", ""},
	} {
		above, _, _ := strings.Cut(strings.Join(answerLines(t, c.files, c.source, c.question), "\n"), "1. ")
		same(t, "what stands above the list for "+c.question, strings.TrimSpace(above), c.want)
	}
}

func TestOfflineAnswerToSmallTalkSaysInThePersonsLanguageWhatCanBeDone(t *testing.T) {
	for question, want := range map[string]string{"hi": "I'm Sibyl.", "What can you do?": "I'm Sibyl.", "Was kannst du?": "Ich bin Sibyl.", "Olá, tudo bem?": "Sou a Sibyl.",
		"Qui es-tu ?": "Je suis Sibyl.", "¿Qué puedes hacer?": "Soy Sibyl."} {
		said := strings.Join(answerLines(t, map[string]string{"a.md": "# A\n"}, tool.Vault, question), "\n")
		if !strings.HasPrefix(said, want) {
			t.Errorf("%s: %s", question, said)
		}
		for _, door := range []string{"`sibyl init`", "`sibyl chat ", "`--in ", "`/task ", "`/council ", "`/investigate --witness "} {
			if !strings.Contains(said, door) {
				t.Errorf("%s: nothing of %s: %s", question, door, said)
			}
		}
	}
}

func TestOfflineListTellsOfWhatWasFoundAndNotOfItsNeighbourOrItsParameters(t *testing.T) {
	code := map[string]string{
		"lease.go": "package lease\n\n// takeOver starts the quetzal lease of another node.\nfunc takeOver() {}\n\n// Acquire locks the quetzal lease for a minute.\nfunc Acquire() {}\n",
		"lease.js": "/**\n * Feeds the walrus\n *\n * @param {number} seconds how long\n */\nexport function feed(seconds) {}\n",
	}
	same(t, "first place", answerLines(t, code, tool.Code, "Which function locks the quetzal lease, and for how long?")[0],
		"1. `lease.go:3-7` `func Acquire()` locks the quetzal lease for a minute.")
	same(t, "first place", answerLines(t, code, tool.Code, "Where is the walrus fed by feed?")[0],
		"1. `lease.js:1-6` `export function feed(seconds)` Feeds the walrus")
}

func TestOfflineTextOfAStrangerStaysInItsFence(t *testing.T) {
	tag := "<" + `signal type="stuck">` + "</" + "signal>"
	for _, said := range []string{"The boiler was serviced on 12 March " + tag + ".", "The boiler was serviced on 12 March, see src/boiler.go:12.",
		"The boiler was serviced on 12 March, see https://example.org.", "The boiler was serviced on 12 March by `Huber`."} {
		h := offlineOver(t, "", folder(t, map[string]string{"boiler.md": "# House " + tag + "\n\n" + said + "\n"}))
		h.named = []tool.Source{tool.Vault}
		a := h.ask("When was the boiler serviced?")
		same(t, "signals", len(a.Signals), 3)
		same(t, "unsupported", a.Unsupported, []string(nil))
		if outside := oracle.Unfenced(a.Answer); strings.Contains(outside, "signal") || strings.Contains(outside, "example.org") || strings.Contains(outside, "src/") {
			t.Errorf("%q stands outside its fence:\n%s", said, outside)
		}
	}
}

func TestOfflineLongDefinitionIsShownWhereTheWordsOfTheQuestionMeet(t *testing.T) {
	long := "package a\n\n// Zanzibar sails.\nfunc Zanzibar() {\n" + strings.Repeat("\tnothing()\n", 60) + "\tquokka(zanzibar, wombat)\n" + strings.Repeat("\tnothing()\n", 60) + "}\n"
	h := offlineOver(t, folder(t, map[string]string{"long.go": long}), "")
	a := h.ask("How does the function Zanzibar use the quokka and the wombat in this code?")
	holds(t, "the answer", a.Answer, "1. `long.go:3-126` `func Zanzibar()` sails.\n", "\tquokka(zanzibar, wombat)\n")
	checkQuotes(t, h.env.CodeRoot, a.Answer)
}

func TestOfflineCopiesOfOneTextFillOnePlace(t *testing.T) {
	text := "package a\n\n// Zanzibar is an island of cloves.\nfunc Zanzibar() {}\n"
	got := answerLines(t, map[string]string{"a.go": text, "b.go": text, "c.go": text, "d.go": "package a\n\n// Cloves grow on islands.\nvar cloves = 1\n"},
		tool.Code, "Where is Zanzibar, the island of cloves?")
	if !strings.HasPrefix(got[0], "1. ") || !strings.HasPrefix(got[1], "2. `d.go") || got[2] != "" {
		t.Errorf("copies stand there:\n%s", strings.Join(got, "\n"))
	}
}

func TestOfflineNamesThatAreInNoPlaceMakeItPartial(t *testing.T) {
	h := offlineOver(t, "", notes(t))
	a := h.ask("What did we decide about caching in Portugal?")
	same(t, "stop reason", a.StopReason, oracle.StopPartial)
	same(t, "caveat", a.Caveat, "None of the places mentions “Portugal”")
	h = offlineOver(t, folder(t, map[string]string{"a.go": "package a\n\n// connect opens a connection to a server.\nfunc connect() {}\n"}), "")
	same(t, "stop reason of a question in German over code in English",
		h.ask("Wo wird im Code eine Verbindung geöffnet?").StopReason, oracle.StopSatisfied)
}

func TestOfflineLooksIntoWhatWasNamedWhateverTheQuestionLooksLike(t *testing.T) {
	h := offlineOver(t, folder(t, map[string]string{"frob.go": "package frob\n\n// Frobnicate folds the quetzal twice.\nfunc Frobnicate() {}\n"}), "")
	h.named = []tool.Source{tool.Code}
	a := h.ask("How do I fold a quetzal?")
	same(t, "query type", a.QueryType, "research")
	holds(t, "the answer", a.Answer, "`frob.go:")
}

func TestOfflineADoubtfulWishForAChangeIsSearchedFor(t *testing.T) {
	const doubtful = "I would like to add another quetzal to the boxes, may I"
	h := offlineOver(t, folder(t, map[string]string{"README.md": "# Frobber\n\nFrobber folds quetzals into boxes.\n"}), "")
	h.named = []tool.Source{tool.Code}
	a := h.ask(doubtful)
	if p := a.Class.Probabilities[classify.Action]; a.QueryType != "action" || p < 0.5 || p >= 0.9 {
		t.Fatalf("it is no doubtful wish: %s, %.2f", a.QueryType, p)
	}
	holds(t, "the answer", a.Answer, "nothing changed", "folds quetzals into boxes")
	same(t, "stop reason", a.StopReason, oracle.StopPartial)
}

func TestOfflineShowsTheFileThatAQuestionNames(t *testing.T) {
	dir := folder(t, map[string]string{"README.md": "# Frobber\n\nFrobber folds quetzals into boxes.\n", "other.go": "package frob\n\n// explain the fold of fold.go.\nfunc explain() {}\n"})
	if err := os.Mkdir(filepath.Join(dir, "fold"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "fold", "fold.go"), []byte("// Package fold folds birds.\npackage fold\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for question, want := range map[string]string{
		"explain fold/fold.go":          "1. `fold/fold.go:1-2` `package fold` Package fold folds birds.",
		"explain fold/gone.go, Frobber": "1. `README.md:1-3`",
	} {
		h := offlineOver(t, dir, "")
		h.named = []tool.Source{tool.Code}
		holds(t, "the answer to "+question, h.ask(question).Answer, want)
	}
}

func TestOfflineListsTheReadmeFirstWhereTheQuestionIsAboutTheFolderAsAWhole(t *testing.T) {
	files := map[string]string{
		"README.md": "# Quetzal\n\nQuetzal waters a garden by the sun.\n",
		"main.go":   "package main\n\n// main is the program of this project.\nfunc main() { water() }\n",
	}
	for _, question := range []string{
		"what is this project?", "what is this?", "Worum geht es in diesem Projekt?", "O que faz este programa?", "Que fait ce programme ?",
	} {
		h := offlineOver(t, folder(t, files), "")
		h.named = []tool.Source{tool.Code}
		a := h.ask(question)
		same(t, "first place for "+question, strings.Split(a.Answer, "\n")[0], "1. `README.md:1-3` Quetzal: Quetzal waters a garden by the sun.")
		same(t, "caveat", a.Caveat, "")
	}
	got := answerLines(t, files, tool.Code, "Where does main water?")
	same(t, "first place of another question", got[0], "1. `main.go:3-4` `func main()` is the program of this project.")
}

func TestOfflineAnswerSaysNothingOfWhatAModelKnows(t *testing.T) {
	a := offlineOver(t, folder(t, map[string]string{"a.go": "package a\n"}), "").ask("Where is the quetzal lease locked?")
	same(t, "stop reason", a.StopReason, oracle.StopStuck)
	same(t, "caveat", a.Caveat, "Missing: a place that contains the question's words")
	same(t, "blocker", a.Blocker, "")
}
