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
	"sibyl/internal/config"
)

// write writes a file of a folder.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	noError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)))
}

func TestPromptsOfAFolderAreCheckedAsTheyAreByNow(t *testing.T) {
	dir := t.TempDir()
	a := &App{Config: config.Config{Prompts: dir}}
	look := func() (named func(string) api.PromptInForce, folder string) {
		t.Helper()
		all, folder, err := a.checkedPrompts()
		if err != nil {
			t.Fatal(err)
		}
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
	if p := named("council/chair"); len(p.Found) != 1 || !strings.Contains(p.Found[0], "empty") {
		t.Errorf("an empty prompt is told as %q", p.Found)
	}
	if p := named("inquiry/witness"); !p.BuiltIn || p.Text == "" || p.Original != "" || len(p.Found) != 0 ||
		folder != "" {
		t.Errorf("one that is built in is %+v, the folder: %s", p, folder)
	}
	write(t, dir, "oracle/bsae.md", "misspelt")
	if _, folder = look(); !strings.Contains(folder, "bsae.md") || strings.Contains(folder, dir) {
		t.Errorf("the folder is told as %q", folder)
	}
}

// What is written into the folder holds from the next run on, of each assistant, and what can't be used begins none.
func TestPromptsHoldFromTheNextRunOn(t *testing.T) {
	dir := t.TempDir()
	a := must(Prepare(config.Config{Prompts: dir}))(t)
	tasks, err := a.tasksPrompt()
	segments, ofOracle := a.oraclePrompts()
	if err := errors.Join(err, ofOracle); err != nil || bytes.Contains(segments.Encoded(), []byte("Be terse.")) ||
		string(tasks) == "Read it.\n" {
		t.Fatal("what is built in can't be used: ", err)
	}
	write(t, dir, "tasks/intent.md", "Read it.\n")
	write(t, dir, "oracle/base.md", "Be terse.\n")
	if tasks, err = a.tasksPrompt(); err != nil || string(tasks) != "Read it.\n" {
		t.Errorf("Tasks: %q, %v", tasks, err)
	}
	if segments, err = a.oraclePrompts(); err != nil || !bytes.Contains(segments.Encoded(), []byte("Be terse.")) {
		t.Errorf("the Oracle: %v", err)
	}
	write(t, dir, "tasks/intent.md", "\n")
	write(t, dir, "oracle/base.md", "{{#never}}\n")
	if _, err = a.tasksPrompt(); err == nil {
		t.Error("Tasks: an empty prompt is used")
	}
	if _, err = a.oraclePrompts(); err == nil {
		t.Error("the Oracle: a broken prompt is used")
	}
}
