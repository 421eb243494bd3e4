package code

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/tool"
)

const leaseGo = `// Package lease says who drives a run.
package lease

// Acquire takes the lease. It waits for nobody.
func Acquire() { renew() }

func renew() {}
`

func TestOutlineOfAFileHasItsDeclarationsAndWhatThePackageIsFor(t *testing.T) {
	r, _ := tree(t, map[string]string{"internal/run/lease.go": leaseGo, "internal/run/run.go": "package lease\n", "other/x.go": "package x\n"})
	for _, name := range []string{"internal/run/lease.go", "lease.go", "run/lease.go", "Lease.go"} {
		d, res := data[OutlineData](t, r, "code_outline", OutlineArgs{Path: name})
		if d.Path != "internal/run/lease.go" || len(d.Declarations) != 2 || d.Declarations[0].Doc != "Acquire takes the lease." || d.Declarations[0].Start != 4 || d.Declarations[1].Symbol != "renew" {
			t.Errorf("%s: %+v", name, d)
		}
		if len(d.Doc) == 0 || d.Doc[0] != "// Package lease says who drives a run." || !strings.Contains(res.Text, "internal/run/lease.go:4-5  func Acquire()") || res.Refs[0].String() != "internal/run/lease.go:1-2" {
			t.Errorf("%s: the places are %v in\n%s", name, res.Refs, res.Text)
		}
	}
}

func TestOutlineTakesNoLicenceForWhatAFileIsFor(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"bare.go": "// Copyright 2016 Ada. All rights reserved.\n\npackage bare\n", "words.go": "// About something else.\n\npackage bare\n",
		"told.js": "// Copyright 2016 Ada.\n// Under a licence.\n\n// Folds birds.\n// Twice.\nlet a = 1\n", "bare.js": "// Copyright 2016 Ada.\n\nlet b = 1\n",
		"plain.py": "# Folds birds.\n", "code.py": "a = 1\n# Not at the top.\n",
	})
	for file, want := range map[string]string{"bare.go": "", "words.go": "", "told.js": "4-5: // Folds birds. // Twice.", "bare.js": "", "plain.py": "1-1: # Folds birds.", "code.py": ""} {
		d, _ := data[OutlineData](t, r, "code_outline", OutlineArgs{Path: file})
		got := ""
		if len(d.Doc) > 0 {
			got = fmt.Sprintf("%d-%d: %s", d.Start, d.End, strings.Join(d.Doc, " "))
		}
		if got != want {
			t.Errorf("%s: %q, wanted %q", file, got, want)
		}
	}
}

func TestOutlineOfAFolderHasItsFilesAndWhatThePackageIsFor(t *testing.T) {
	r, _ := tree(t, map[string]string{"internal/run/lease.go": leaseGo, "internal/run/deep/a.go": "package deep\n", "internal/run/run_test.go": "// Package lease is tested.\npackage lease\n"})
	d, _ := data[OutlineData](t, r, "code_outline", OutlineArgs{Path: "run"})
	if !slices.Equal(d.Files, []string{"deep/", "lease.go", "run_test.go"}) || d.DocPath != "internal/run/lease.go" {
		t.Errorf("the folder has %v, its doc is in %s", d.Files, d.DocPath)
	}
}

func TestOutlineOfNothingOrOfSeveralSaysSo(t *testing.T) {
	r, _ := tree(t, map[string]string{"a/x.go": "package x\n", "b/x.go": "package x\n", "c/.env": "A=b\n"})
	for name, want := range map[string]string{"y.go": "y.go does not exist", "x.go": "several paths end with x.go (name one of them: a/x.go, b/x.go)", "c/.env": "closed", ".env": "does not exist"} {
		_, err := call(t, r, "code_outline", `{"path":"`+name+`"}`)
		var known *tool.Error
		if !errors.As(err, &known) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

func TestReferencesNameTheCallersAndNeitherDefinitionNorOwnComment(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"lease.go":      leaseGo,
		"drive.go":      "package lease\n\n// Drive drives.\nfunc Drive() {\n\tAcquire()\n\tAcquireAll()\n}\n\n// Acquire is what Drive begins with.\nvar f = Acquire\n",
		"lease_test.go": "package lease\n\nfunc TestAcquire() { Acquire() }\n",
		"notes.md":      "# Notes\n\nAcquire is called first.\n",
	})
	d, res := data[ReferencesData](t, r, "code_references", ReferencesArgs{Symbol: "acquire"})
	var got []string
	for _, u := range d.Uses {
		got = append(got, u.Path+" "+u.Within)
	}
	if want := []string{"drive.go Drive", "drive.go f", "notes.md Notes", "lease_test.go TestAcquire", "drive.go f"}; !slices.Equal(got[:2], want[:2]) || len(got) != len(want) {
		t.Errorf("the uses are %q", got)
	}
	if len(d.Definitions) != 1 || d.Definitions[0].Line != 5 || !strings.Contains(res.Text, "drive.go:5  in func Drive\n    Acquire()") {
		t.Errorf("the definitions are %+v in\n%s", d.Definitions, res.Text)
	}
}
