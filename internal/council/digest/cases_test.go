package digest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// example is a text that is listed as a kind, or is not.
type example struct {
	language, kind, text string
	listed               bool
}

// cases reads testdata/cases.txt: lines “pt open + text”, with “-” for what must not be listed.
func cases(t *testing.T) (list []example) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "cases.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 4)
		if len(fields) == 4 && !strings.HasPrefix(line, "#") {
			list = append(list, example{fields[0], fields[1], fields[3], fields[2] == "+"})
		}
	}
	if len(list) < 50 {
		t.Fatalf("%d cases", len(list))
	}
	return list
}
