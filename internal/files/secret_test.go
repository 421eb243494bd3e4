package files_test

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/redact/redacttest"
)

func TestNamesOfSecretFilesAreClosedAsPublished(t *testing.T) {
	var vectors struct{ Closed, Open []string }
	redacttest.Read(t, "secretfiles.json", &vectors)
	assert.Require(t, len(vectors.Closed) >= 150 && len(vectors.Open) >= 60,
		"%d closed and %d open names were found", len(vectors.Closed), len(vectors.Open))
	for _, name := range vectors.Closed {
		for _, spelt := range []string{name, strings.ToUpper(name), "a/b/" + name} {
			assert.That(t, files.SecretPathReason(spelt) != "", "%q may be read", spelt)
		}
	}
	for _, name := range vectors.Open {
		assert.Equalf(t, files.SecretPathReason(name), "", "%q is closed", name)
	}
}

func TestFolderMayBeCalledAsWhatAFileMayNot(t *testing.T) {
	for _, name := range []string{"credentials", "secrets", "cookies", "keys.txt", "kubeconfig"} {
		assert.Equalf(t, files.SecretReason("", name, true), "", "the folder %q is closed", name)
	}
	for _, name := range []string{".git", ".GIT", ".git.", ".ssh", ".aws", ".kube", ".docker", ".gnupg"} {
		assert.That(t, files.SecretReason("", name, true) != "", "the folder %q may be entered", name)
	}
}
