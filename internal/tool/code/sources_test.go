package code

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAFileThatIsKeptIsLookedAtBeforeItIsUsed(t *testing.T) {
	_, dir := tree(t, mixedFiles())
	aged(t, dir)
	r := built(t, indexedRoot(t, dir, t.TempDir()))
	var held *heldFile
	must(t, r.indexed.index.Read(t.Context(), func(k Kept) error {
		there, err := r.indexed.survey(t.Context(), k)
		held = there.held[0]
		return err
	}))
	s := &lookup{root: r}
	first, again := s.recall(held), s.recall(held)
	if first == nil || again == nil || &first.text[0] != &again.text[0] {
		t.Fatal("it was read twice")
	}
	again.likely, again.known = 7, []definition{{name: "mine"}}
	if third := s.recall(held); third.likely == 7 || len(third.known) > 0 {
		t.Error("what one search makes of it is seen by another")
	}
	write(t, filepath.Join(dir, held.path), string(first.text)) // the same again
	if s.recall(held) != nil {
		t.Error("what was written since is not seen")
	}
	must(t, os.Remove(filepath.Join(dir, held.path)))
	if s.recall(held) != nil {
		t.Error("a file that is gone is used")
	}
}

func TestFilesThatAreKeptAreBounded(t *testing.T) {
	var kept sources
	half := []byte(strings.Repeat("x", mostSources/2))
	for _, name := range []string{"a", "b", "b", "c"} {
		kept.put(newSource(name, half), 1)
	}
	if kept.get("a", 1) != nil || kept.get("c", 1) == nil || kept.bytes > mostSources {
		t.Errorf("%d files of %d bytes are kept", len(kept.kept), kept.bytes)
	}
	if kept.get("c", 2) != nil {
		t.Error("a file of another stamp is given")
	}
}
