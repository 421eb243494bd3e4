package api_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry/record"
)

// makes makes folders, each with a document.
func makes(t *testing.T, in string, names ...string) {
	t.Helper()
	for _, name := range names {
		assert.NoError(t, os.MkdirAll(filepath.Join(in, name), 0o700))
		assert.NoError(t,
			os.WriteFile(filepath.Join(in, name, "one.txt"), []byte("The bridge was closed in "+name+"."), 0o600))
	}
}

func TestFoldersInThoseThatAUserMayNameAreListed(t *testing.T) {
	h, reports := withInquiry(t)
	makes(t, reports, "2024/may", "2023", ".hidden", "2024/.git", ".ssh", "a/b/c/d/e")
	assert.NoError(t, os.Symlink(t.TempDir(), filepath.Join(reports, "link")))
	h.open()
	var got api.Folders
	h.get(question{path: "/api/folders"}, &got)
	want := []string{"empty", "reports", "reports/2023", "reports/2024", "reports/2024/may", "reports/a", "reports/a/b",
		"reports/a/b/c", "reports/a/b/c/d"}
	assert.That(t, slices.Equal(got.Folders, want) && got.More, "ada is told %+v", got)
	h.get(question{path: "/api/folders", token: adasReader}, &got)
	assert.That(t, slices.Equal(got.Folders, want), "who may only read is told %+v", got)
}

func TestFolderWithManyFoldersIsListedInPart(t *testing.T) {
	h, reports := withInquiry(t)
	var names []string
	for n := range 300 {
		names = append(names, fmt.Sprintf("%03d/deep", n))
	}
	makes(t, reports, names...)
	h.open()
	var got api.Folders
	h.get(question{path: "/api/folders"}, &got)
	assert.That(t, len(got.Folders) == 202 && got.More && !slices.Contains(got.Folders, "reports/000/deep"),
		"%d folders, more %t", len(got.Folders), got.More)
}

func TestFolderInOneOfTheUsersIsTheWitnessAndNothingElseIs(t *testing.T) {
	h, reports := withInquiry(t)
	makes(t, reports, "2024/may", ".hidden", "2024/.git", ".ssh")
	outside := t.TempDir()
	makes(t, outside, "secrets")
	assert.NoError(t, os.Symlink(outside, filepath.Join(reports, "link")))
	h.open()
	of := func(witness string) question {
		q := inquires("", "")
		q.body.(map[string]any)["witness"] = witness
		return q
	}
	for _, name := range []string{"reports/.hidden", "reports/2024/.git", "reports/.ssh", "reports/link",
		"reports/link/secrets", "reports/../papers", "reports/", "reports//2024", "reports/2024/none",
		"reports/bridge.txt", "eves/2024", "/2024"} {
		a := h.ask(of(name))
		assert.That(t, a.status == http.StatusNotFound, "%s: %d %s", name, a.status, a.body)
	}
	var begun api.InquiryBegun
	h.get(of("reports/2024/may"), &begun)
	h.over(begun.Run)
	s, err := record.Unmarshal(h.get(question{path: inquiries + "/" + begun.ID}, nil).body)
	assert.That(t, err == nil && len(s.Witness.Documents) == 1 && s.Witness.Documents[0].Name == "one.txt",
		"%v; the witness is %+v", err, s.Witness)
}
