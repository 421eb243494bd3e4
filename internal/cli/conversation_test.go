package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/oracle"
	"sibyl/internal/schema"
)

func TestFilesThatAQuestionNamesAreItsMaterial(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile(filepath.Join(dir, "build.log"), []byte("it failed"), 0o600); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		"Why does @build.log say so?": "it failed",
		"What says @build.log?":       "it failed",
		"@~/build.log":                "it failed",
		"What does @Override do?":     "",
		"Mail ada@build.log":          "",
	} {
		parts, err := mentioned(words, dir)
		got := oracle.JoinParts(parts)
		if err != nil || (want == "") != (len(parts) == 0) || !strings.Contains(got, want) {
			t.Errorf("%s: %q, %v", words, got, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "picture"), []byte("\x00\x01"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := mentioned("What is in @picture", dir); err == nil || !strings.Contains(err.Error(), "picture is not a text") {
		t.Errorf("a file that is no text: %v", err)
	}
}

func TestPassageHasTheLinesThatASourceNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte("one\ntwo\n\t```three\nfour\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "secret.md"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := oracle.Options{Code: schema.Folder{Path: filepath.Join(dir, "none")}, Vault: schema.Folder{Path: dir}}
	for source, want := range map[string]string{
		"a.md:2-3":            "````\n    2  two\n    3      ```three\n````\n",
		"a.md:4":              "```\n    4  four\n```\n",
		"a.md:9":              "The file now has only 4 lines.",
		"https://example.com": "https://example.com",
	} {
		if got, err := (&talker{}).Passage(source, o); got != want || err != nil {
			t.Errorf("%s: %q, %v", source, got, err)
		}
	}
	if got, err := (&talker{}).Passage("../secret.md:1", o); err == nil {
		t.Errorf("outside of the folders: %q", got)
	}
}
