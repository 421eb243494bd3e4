package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestDeletingMovesTheWholeFolderAndSaysWhere(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	add(t, s, id, "sound")
	put(t, s.path(id, "by-hand.txt"), "kept")
	before := tree(t, s.path(id))
	where := assert.Must(s.Delete(ctx, id))(t)
	same(t, "where", where, filepath.Join(s.folder, ".trash", id))
	assert.That(t, filepath.IsAbs(where), "%s is not absolute", where)
	same(t, "files in the trash", tree(t, where), before)
	_, err := s.Get(ctx, id)
	assert.That(t, errors.Is(err, ErrNotFound), "the session: %v", err)
	_, err = s.Delete(ctx, id)
	assert.That(t, errors.Is(err, ErrNotFound), "deleted twice: %v", err)
	again := assert.Must(s.New(ctx, "", ""))(t).ID
	same(t, "id that is free again", again, id)
	same(t, "where the second lies", assert.Must(s.Delete(ctx, again))(t), where+".2")
	same(t, "files of the first", tree(t, where), before)
	assert.NoError(t, os.Rename(where, s.path(id)))
	same(t, "moved back", len(assert.Must(s.Get(ctx, id))(t).Audio), 1)
}

func TestADamagedSessionCanBeDeleted(t *testing.T) {
	s := written(t, "{")
	where := assert.Must(s.Delete(t.Context(), exampleID))(t)
	same(t, "what is kept", content(t, filepath.Join(where, metadataFile)), "{")
}
