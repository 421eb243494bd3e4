package oracle_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/oracle"
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

func TestOfflineClaimsNoAnswerFromWordsThatAreScatteredOverSeveralFiles(t *testing.T) {
	dir := folder(t, map[string]string{
		"a.go": "package a\n\n// Quetzal is a bird.\nfunc Quetzal() {}\n",
		"b.go": "package a\n\n// Wombat digs.\nfunc Wombat() {}\n",
		"c.go": "package a\n\n// Zanzibar is an island.\nfunc Zanzibar() {}\n",
		"d.go": "package a\n\n// Quokka smiles.\nfunc Quokka() {}\n",
	})
	h := offlineOver(t, dir, "")
	a := h.ask("Which function feeds the quetzal, the wombat, the quokka of zanzibar?")
	same(t, "stop reason", a.StopReason, oracle.StopPartial)
}

func TestOfflineGenericWordsOfAQuestionNeedNotStandInTheAnswer(t *testing.T) {
	dir := folder(t, map[string]string{"lease.go": "package lease\n\n// Acquire locks the lease.\nfunc Acquire() {}\n"})
	h := offlineOver(t, dir, "")
	a := h.ask("Where in the code is the lease taken?")
	same(t, "stop reason", a.StopReason, oracle.StopSatisfied)
}

func TestOfflineLooksIntoWhatWasNamedWhateverTheQuestionLooksLike(t *testing.T) {
	dir := folder(t, map[string]string{"frob.go": "package frob\n\n// Frobnicate folds the quetzal twice.\nfunc Frobnicate() {}\n"})
	h := offlineOver(t, dir, "")
	h.named = []tool.Source{tool.Code}
	a := h.ask("How do I fold a quetzal?")
	same(t, "query type", a.QueryType, "research")
	if !strings.Contains(a.Answer, "frob.go:") {
		t.Errorf("the only source was not looked at:\n%s", a.Answer)
	}
}

func TestOfflineTheFirstLineTellsOfWhatWasFoundAndNotOfItsNeighbour(t *testing.T) {
	dir := folder(t, map[string]string{"lease.go": `package lease

// takeOver starts the quetzal lease of another node.
func takeOver() {}

// Acquire locks the quetzal lease for a minute.
func Acquire() {}
`})
	h := offlineOver(t, dir, "")
	a := h.ask("Which function locks the quetzal lease, and for how long?")
	first, _, _ := strings.Cut(a.Answer, "\n")
	same(t, "first line", first, "`lease.go:7` func Acquire locks the quetzal lease for a minute")
	if !strings.Contains(a.Answer, "func takeOver") {
		t.Errorf("the neighbour is not shown:\n%s", a.Answer)
	}
}

func TestOfflineTheFirstLineLeavesOutWhatACommentSaysOfParameters(t *testing.T) {
	dir := folder(t, map[string]string{"lease.js": `/**
 * Locks the quetzal lease
 *
 * @param {number} seconds how long
 */
export function acquire(seconds) {}

/**
 * @param {string} name of the walrus
 */
export function feedWalrus(name) {}
`})
	h := offlineOver(t, dir, "")
	a := h.ask("Where is the quetzal lease locked by acquire?")
	first, _, _ := strings.Cut(a.Answer, "\n")
	same(t, "first line", first, "`lease.js:6` func acquire: Locks the quetzal lease")
	if a = h.ask("What does feedWalrus do?"); strings.Contains(strings.SplitN(a.Answer, "\n", 2)[0], "@param") {
		t.Errorf("the first line tells of parameters:\n%s", a.Answer)
	}
}

func TestOfflineTheFirstLineNamesADefinitionWhoseCommentDoesNot(t *testing.T) {
	dir := folder(t, map[string]string{"lease.go": "package lease\n\n// The quetzal lease is locked here for a minute.\nfunc Acquire() {}\n"})
	h := offlineOver(t, dir, "")
	a := h.ask("Where is the quetzal lease locked by Acquire?")
	first, _, _ := strings.Cut(a.Answer, "\n")
	same(t, "first line", first, "`lease.go:4` func Acquire: The quetzal lease is locked here for a minute")
}
