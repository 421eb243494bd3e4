package files_test

import (
	"strings"
	"testing"

	"sibyl/internal/files"
	"sibyl/internal/redact/redacttest"
)

func TestNamesOfSecretFilesAreClosedAsPublished(t *testing.T) {
	var vectors struct{ Closed, Open []string }
	redacttest.Read(t, "secretfiles.json", &vectors)
	if len(vectors.Closed) < 150 || len(vectors.Open) < 60 {
		t.Fatalf("%d closed and %d open names were found", len(vectors.Closed), len(vectors.Open))
	}
	for _, name := range vectors.Closed {
		for _, spelt := range []string{name, strings.ToUpper(name), "a/b/" + name} {
			if files.SecretPathReason(spelt) == "" {
				t.Errorf("%q may be read", spelt)
			}
		}
	}
	for _, name := range vectors.Open {
		if why := files.SecretPathReason(name); why != "" {
			t.Errorf("%q is closed: %s", name, why)
		}
	}
}

func TestFolderMayBeCalledAsWhatAFileMayNot(t *testing.T) {
	for _, name := range []string{"credentials", "secrets", "cookies", "keys.txt", "kubeconfig"} {
		if why := files.SecretReason("", name, true); why != "" {
			t.Errorf("the folder %q is closed: %s", name, why)
		}
	}
	for _, name := range []string{".git", ".GIT", ".git.", ".ssh", ".aws", ".kube", ".docker", ".gnupg"} {
		if files.SecretReason("", name, true) == "" {
			t.Errorf("the folder %q may be entered", name)
		}
	}
}
