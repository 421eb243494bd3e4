package code

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// wide is a root with 41 files in several folders.
func wide(t *testing.T) *Root {
	t.Helper()
	files := map[string]string{"top.txt": "beacon"}
	for folder, n := range map[string]int{"big": 30, "mid": 6, "small": 2, ".hidden": 2} {
		for i := range n {
			files[fmt.Sprintf("%s/%02d/a.txt", folder, i)] = "beacon in " + folder
		}
	}
	r, _ := tree(t, files)
	return r
}

func searched(t *testing.T, r *Root, args string) (paths []string, beside string) {
	t.Helper()
	res, err := call(t, r, "code_search", args)
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range res.Refs {
		paths = append(paths, ref.Path)
	}
	if !strings.HasSuffix(strings.TrimSpace(res.Text), res.Beside) {
		t.Errorf("the text does not say so: %s", res.Text)
	}
	return paths, res.Beside
}

func TestFolderThatIsTooLargeIsSearchedInPartAndSaysSo(t *testing.T) {
	for what, l := range map[string]limits{"files": {files: 20}, "bytes": {bytes: 100}, "time": {time: time.Nanosecond}} {
		r := wide(t)
		r.limits = l
		paths, beside := searched(t, r, `{"query":"beacon","limit":50}`)
		if len(paths) > 20 || !strings.HasPrefix(beside, "This folder is too large to be searched whole") || !strings.Contains(beside, "--in") {
			t.Errorf("%s: %d places, %q", what, len(paths), beside)
		}
	}
}

func TestFolderThatIsNamedIsSearchedAlthoughTheWholeIsTooLarge(t *testing.T) {
	r := wide(t)
	r.limits.files = 12
	if paths, beside := searched(t, r, `{"query":"beacon","path":".hidden","limit":50}`); len(paths) != 2 || beside != "" {
		t.Errorf("%q, %q", paths, beside)
	}
}

func TestFolderThatFitsIsSearchedWholeAndNothingIsSaid(t *testing.T) {
	r := wide(t)
	r.limits.files = 41
	if paths, beside := searched(t, r, `{"query":"beacon","limit":50}`); len(paths) != 41 || beside != "" {
		t.Errorf("%d, %q", len(paths), beside)
	}
}
