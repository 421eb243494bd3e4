package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
)

// write writes a file of a folder.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	assert.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)))
}

func TestPromptsOfAFolderAreCheckedAsTheyAreByNow(t *testing.T) {
	dir := t.TempDir()
	a := &App{Config: config.Config{Prompts: dir}}
	look := func() (named func(string) api.PromptInForce, folder string) {
		t.Helper()
		all, folder, err := a.checkedPrompts()
		assert.NoError(t, err)
		return func(name string) api.PromptInForce {
			return all[slices.IndexFunc(all, func(p api.PromptInForce) bool { return p.Assistant+"/"+p.Name == name })]
		}, folder
	}
	write(t, dir, "tasks/intent.md", "Read it.\n")
	write(t, dir, "oracle/base.md", "Be terse {{#never}}\n")
	write(t, dir, "council/chair.md", " ")
	named, folder := look()
	if p := named("tasks/intent"); p.BuiltIn || p.Text != "Read it.\n" || p.Original == "" || len(p.Found) != 0 {
		t.Errorf("a text of one's own is %+v", p)
	}
	if p := named("oracle/base"); len(p.Found) == 0 || strings.Contains(strings.Join(p.Found, ""), "base.md") {
		t.Errorf("a broken template is told as %q", p.Found)
	}
	p := named("council/chair")
	assert.That(t, len(p.Found) == 1 && strings.Contains(p.Found[0], "empty"), "an empty prompt is told as %q", p.Found)
	p = named("inquiry/witness")
	assert.That(t, p.BuiltIn && p.Text != "" && p.Original == "" && len(p.Found) == 0 && folder == "",
		"one that is built in is %+v, the folder: %s", p, folder)
	write(t, dir, "oracle/bsae.md", "misspelt")
	if _, folder = look(); !strings.Contains(folder, "bsae.md") || strings.Contains(folder, dir) {
		t.Errorf("the folder is told as %q", folder)
	}
}

// What is written into the folder holds from the next run on, of each assistant, and what can't be used begins none.
func TestPromptsHoldFromTheNextRunOn(t *testing.T) {
	dir := t.TempDir()
	a := assert.Must(Prepare(config.Config{Prompts: dir}))(t)
	tasks, err := a.tasksPrompt()
	segments, ofOracle := a.oraclePrompts()
	if err := errors.Join(err, ofOracle); err != nil || bytes.Contains(segments.Encoded(), []byte("Be terse.")) ||
		string(tasks) == "Read it.\n" {
		t.Fatal("what is built in can't be used: ", err)
	}
	write(t, dir, "tasks/intent.md", "Read it.\n")
	write(t, dir, "oracle/base.md", "Be terse.\n")
	tasks, err = a.tasksPrompt()
	assert.That(t, err == nil && string(tasks) == "Read it.\n", "Tasks: %q, %v", tasks, err)
	segments, err = a.oraclePrompts()
	assert.That(t, err == nil && bytes.Contains(segments.Encoded(), []byte("Be terse.")), "the Oracle: %v", err)
	write(t, dir, "tasks/intent.md", "\n")
	write(t, dir, "oracle/base.md", "{{#never}}\n")
	_, err = a.tasksPrompt()
	assert.That(t, err != nil, "Tasks: an empty prompt is used")
	_, err = a.oraclePrompts()
	assert.That(t, err != nil, "the Oracle: a broken prompt is used")
}
