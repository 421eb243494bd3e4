package code

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/index"
)

// wide is a root with files in three folders and in a hidden one, in folders of one file each.
func wide(t *testing.T) *Root {
	t.Helper()
	files := map[string]string{"top.txt": "beacon"}
	for folder, n := range map[string]int{"big": 30, "mid": 6, "small": 2, ".hidden": 2} {
		for i := range n {
			files[fmt.Sprintf("%s/%02d/a.txt", folder, i)] = "beacon in " + folder
		}
	}
	r, _ := tree(t, files)
	r.planner.bytes = mostBytes
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

func TestFolderThatIsTooLargeIsSearchedInPartTheSameEachTimeAndSaysSo(t *testing.T) {
	r := wide(t)
	r.planner.files = 20
	paths, beside := searched(t, r, `{"query":"beacon","limit":50}`)
	want := "This folder has too many files to search at once: 20 were searched, and not all below .hidden, big. Name the folder that you mean, as with --in."
	if beside != want {
		t.Errorf("%q, want %q", beside, want)
	}
	counts := map[string]int{}
	for _, p := range paths {
		top, _, _ := strings.Cut(p, "/")
		counts[top]++
	}
	if want := map[string]int{"top.txt": 1, "big": 11, "mid": 6, "small": 2}; !maps.Equal(counts, want) {
		t.Errorf("%v, want %v", counts, want)
	}
	again := wide(t)
	again.planner.files = 20
	if other, _ := searched(t, again, `{"query":"beacon","limit":50}`); !slices.Equal(paths, other) {
		t.Errorf("%q, then %q", paths, other)
	}
}

func TestFolderThatIsNamedIsSearchedAlthoughTheWholeIsTooLarge(t *testing.T) {
	r := wide(t)
	r.planner.files = 12
	if paths, _ := searched(t, r, `{"query":"beacon","path":".hidden","limit":50}`); len(paths) != 2 {
		t.Errorf("%q", paths)
	}
}

func TestFolderThatFitsIsSearchedWholeAndNothingIsSaid(t *testing.T) {
	r := wide(t)
	r.planner.files = 41
	if paths, beside := searched(t, r, `{"query":"beacon","limit":50}`); len(paths) != 41 || beside != "" {
		t.Errorf("%d, %q", len(paths), beside)
	}
}

func TestIndexOfAFolderThatIsTooLargeHoldsWhatIsSearched(t *testing.T) {
	plain, r := wide(t), wide(t)
	plain.planner.files, r.planner.files = 20, 20
	r.UseIndex(IndexUse{Index: cache{index.NewCaches(t.TempDir(), index.DefaultBound).Open("code", r.root.Name())}})
	want, _ := searched(t, plain, `{"query":"beacon","limit":50}`)
	if err := r.BuildIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, beside := searched(t, r, `{"query":"beacon","limit":50}`)
	if !slices.Equal(got, want) || !strings.Contains(beside, "20 were searched") {
		t.Errorf("%q, want %q; %s", got, want, beside)
	}
}

func TestWhatCannotBeReadInTimeIsLeftOutAndSaid(t *testing.T) {
	r := wide(t)
	r.planner.files, r.planner.time = mostFiles, time.Nanosecond
	if paths, beside := searched(t, r, `{"query":"beacon"}`); len(paths) > 0 || !strings.HasPrefix(beside, "Not all files could be read in time") {
		t.Errorf("%q, %q", paths, beside)
	}
}
