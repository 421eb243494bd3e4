package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	doc "sibyl/internal/media/document"
)

func TestFilesThatAQuestionNamesAreItsMaterial(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.WriteFile(filepath.Join(dir, "build.log"), []byte("it failed"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := readingFrom(strings.NewReader(""))
	c.environ = []string{"HOME=" + dir}
	for words, want := range map[string]string{
		"Why does @build.log say so?": "it failed",
		"What says @build.log?":       "it failed",
		"@~/build.log":                "it failed",
		"What does @Override do?":     "",
		"Mail ada@build.log":          "",
	} {
		parts, err := c.mentioned(t.Context(), words)
		got := doc.JoinParts(parts)
		if err != nil || (want == "") != (len(parts) == 0) || !strings.Contains(got, want) {
			t.Errorf("%s: %q, %v", words, got, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "picture"), []byte("\x00\x01"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.mentioned(t.Context(), "What is in @picture"); err == nil ||
		!strings.Contains(err.Error(), "picture: it is neither a text") {
		t.Errorf("a file that is no text: %v", err)
	}
}
