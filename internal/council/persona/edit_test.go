package persona

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestOracleIsAddedAndRewrittenInItsFolder(t *testing.T) {
	ctx, dir := context.Background(), folder(t)
	s := New(Config{Dir: dir})
	added := assert.Must(s.Add(ctx, "# The Gardener\r\n\r\nYou grow things. <!-- mine -->\n\n"))(t)
	assert.Equalf(t, added.Name+" "+filepath.Base(added.File), "The Gardener the-gardener.md", "what was added")
	now := assert.Must(s.Text(ctx, added.ID))(t)
	assert.Equalf(t, now.Text, "# The Gardener\n\nYou grow things. <!-- mine -->\n", "the file")
	assert.That(t, now.Own, "it is no oracle of one's own")

	changed := assert.Must(s.Rewrite(ctx, added.ID, now.Version, "# Gardener\n\nYou prune."))(t)
	assert.Equalf(t, changed.ID+changed.Name, added.ID+"Gardener", "the oracle")
	_, err := s.Rewrite(ctx, added.ID, now.Version, "# Gardener\n\nYou dig.")
	assert.That(t, errors.Is(err, ErrChanged), "over a file that was changed meanwhile: %v", err)
	assert.Equalf(t, string(assert.Must(os.ReadFile(added.File))(t)), "# Gardener\n\nYou prune.\n", "the file")
}

func TestWhatIsNoOracleIsNotWritten(t *testing.T) {
	ctx, dir := context.Background(), folder(t)
	s := New(Config{Dir: dir})
	first := assert.Must(s.Add(ctx, "# First"))(t)
	version := assert.Must(s.Text(ctx, first.ID))(t).Version
	for about, text := range map[string]string{"nothing": " \n", "only a comment": "<!-- x -->", "a NUL": "# a\x00",
		"the name of another": "# FIRST\n\nx", "a name with another meaning": "# README", "no UTF-8": "# \xff"} {
		_, err := s.Add(ctx, text)
		assert.That(t, errors.Is(err, ErrText), "%s: %v", about, err)
	}
	for about, text := range map[string]string{"nothing": "", "only a comment": "<!-- x -->"} {
		_, err := s.Rewrite(ctx, first.ID, version, text)
		assert.That(t, errors.Is(err, ErrText), "rewritten to %s: %v", about, err)
	}
	_, err := s.Rewrite(ctx, "00000000", version, "# x")
	assert.That(t, errors.Is(err, ErrNotFound), "an oracle that is not there: %v", err)
	entries := assert.Must(os.ReadDir(dir))(t)
	assert.That(t, len(entries) == 1, "the folder has %d files", len(entries))
}

func TestBuiltInOraclesAreReadAndNotWritten(t *testing.T) {
	ctx, s := context.Background(), New(Config{})
	one := assert.Must(s.List(ctx))(t).Oracles[0]
	text := assert.Must(s.Text(ctx, one.ID))(t)
	assert.That(t, text.Text != "" && !text.Own, "the text is %+v", text)
	_, err := s.Rewrite(ctx, one.ID, text.Version, "# x")
	assert.That(t, errors.Is(err, ErrBuiltIn), "rewriting gives %v", err)
	_, err = s.Add(ctx, "# x")
	assert.That(t, errors.Is(err, ErrBuiltIn), "adding gives %v", err)
}
