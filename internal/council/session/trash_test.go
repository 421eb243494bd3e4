package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestDeletingMovesTheWholeFolderAndSaysWhere(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	add(t, s, id, "sound")
	put(t, s.path(id, "by-hand.txt"), "kept")
	before := tree(t, s.path(id))
	where := must(s.Delete(ctx, id))(t)
	same(t, "where", where, filepath.Join(s.folder, ".trash", id))
	if !filepath.IsAbs(where) {
		t.Errorf("%s is not absolute", where)
	}
	same(t, "files in the trash", tree(t, where), before)
	if _, err := s.Get(ctx, id); !errors.Is(err, ErrNotFound) {
		t.Errorf("the session: %v", err)
	}
	if _, err := s.Delete(ctx, id); !errors.Is(err, ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	again := must(s.New(ctx, "", ""))(t).ID
	same(t, "id that is free again", again, id)
	same(t, "where the second lies", must(s.Delete(ctx, again))(t), where+".2")
	same(t, "files of the first", tree(t, where), before)
	noError(t, os.Rename(where, s.path(id)))
	same(t, "moved back", len(must(s.Get(ctx, id))(t).Audio), 1)
}

func TestADamagedSessionCanBeDeleted(t *testing.T) {
	s := written(t, "{")
	where := must(s.Delete(t.Context(), exampleID))(t)
	same(t, "what is kept", content(t, filepath.Join(where, metadataFile)), "{")
}
