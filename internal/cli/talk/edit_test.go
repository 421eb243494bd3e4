package talk

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestEditorWritesTheQuestion(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editor of this test is a shell script")
	}
	editor := filepath.Join(t.TempDir(), "editor")
	// #nosec G306 -- it is run
	assert.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\nprintf ' and more' >> \"$2\"\n"), 0o700))
	t.Setenv("TMPDIR", t.TempDir())
	h := hold(t, 80, 24, func(c *Config) { c.Environ = append(c.Environ, "EDITOR="+editor+" -x") })
	h.press("/edit some words\r")
	h.shows("❯ some words and more\n")
	left, err := os.ReadDir(os.TempDir())
	assert.That(t, err == nil && len(left) == 0, "%v is left, %v", left, err)
}

func TestEditedQuestionTakesThePlaceOfTheLast(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editor of this test is a shell script")
	}
	editor := filepath.Join(t.TempDir(), "editor")
	// #nosec G306 -- it is run
	assert.NoError(t, os.WriteFile(editor, []byte("#!/bin/sh\nprintf ' and why' >> \"$1\"\n"), 0o700))
	h := hold(t, 80, 24, func(c *Config) { c.Environ = append(c.Environ, "EDITOR="+editor) })
	h.ask("How does it end").end(answer("Badly."))
	h.shows("Badly.")
	h.press("/edit\r")
	h.shows("edit ❯ How does it end and why\n")
	h.press("\r")
	r := <-h.p.begun
	assert.That(t, r.Replaces == "0run" && r.Words == "How does it end and why" && r.Of == "oracle",
		"%+v was asked", r.Asked)
	r.end(answer("Well."))
	h.shows("Well.")
	h.press("/edit\r")
	h.shows("edit ❯ How does it end and why and why\n")
	h.press("\x03") // who clears the line edits no more
	h.showsNo("edit ❯")
	if r := h.ask("Something else"); r.Replaces != "" {
		t.Errorf("%+v was asked in the place of another question", r.Asked)
	} else {
		r.end(answer("So."))
		h.rests("So.")
	}
	h.p.refuse = errors.New("it has acted")
	h.press("/edit\r")
	h.shows("edit ❯ Something else and why\n")
	h.press("\r")
	h.shows("it has acted")
	h.shows("Enter asks it as a new question")
	h.p.refuse = nil
	h.press("\r")
	if r := <-h.p.begun; r.Replaces != "" || r.Words != "Something else and why" {
		t.Errorf("%+v was asked after a refusal", r.Asked)
	} else {
		r.end(answer("So."))
	}
	h.shows("So.")
	h.press("/edit a new one\r")
	h.shows("❯ a new one and why\n")
	h.press("\r")
	if r := <-h.p.begun; r.Replaces != "" || r.Words != "a new one and why" {
		t.Errorf("%+v was asked", r.Asked)
	} else {
		r.end(answer("So."))
	}
}
