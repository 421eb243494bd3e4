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

func TestAPlanOfTheIndexIsGoneBy(t *testing.T) {
	r := wide(t)
	opened := func() *Root {
		again := open(t, r.root.Name())
		again.planner.files, again.planner.bytes = 20, mostBytes
		return again
	}
	use := IndexUse{Index: cache{index.NewCaches(t.TempDir(), index.DefaultBound).Open("code", r.root.Name())}}
	r = opened()
	r.UseIndex(use)
	built(t, r)
	made := r.planner.plans["."].made
	again := opened()
	again.UseIndex(use)
	paths, beside := searched(t, again, `{"query":"beacon","limit":50}`)
	if len(paths) != 20 || !strings.Contains(beside, "20 were searched, and not all below .hidden, big") || again.planner.plans["."].made.Unix() != made.Unix() {
		t.Errorf("%q, %q, planned at %s and not %s", paths, beside, again.planner.plans["."].made, made)
	}
}

func TestAPlanOfTheIndexHoldsForATimeAndWhileThereIsRoom(t *testing.T) {
	hundred := map[string]*folderMemory{".": {files: make([]fileMemory, 100)}}
	part := func(age time.Duration) *plan {
		return &plan{made: time.Now().Add(-age), out: map[string]bool{"a": true}}
	}
	for name, c := range map[string]struct {
		plan    *plan
		files   int
		patient bool
		holds   bool
	}{
		"none":                       {nil, 1000, false, false},
		"all, with room":             {&plan{}, 106, false, true},
		"all, with hardly any":       {&plan{}, 105, false, false},
		"all, for one with patience": {&plan{}, 106, true, true},
		"a part":                     {part(time.Hour), 100, false, true},
		"a part, too old":            {part(25 * time.Hour), 100, false, false},
		"a part, to be indexed":      {part(time.Hour), 100, true, false},
		"made in haste":              {&plan{made: time.Now(), hasty: true}, 1000, false, false},
	} {
		m := &memory{folders: hundred, plan: c.plan}
		if got := m.planned(c.files, mostBytes, c.patient) != nil; got != c.holds {
			t.Errorf("%s: it holds: %t", name, got)
		}
	}
}

func TestWhatCannotBeReadInTimeIsLeftOutAndSaid(t *testing.T) {
	r := wide(t)
	r.planner.files, r.planner.time = mostFiles, time.Nanosecond
	if paths, beside := searched(t, r, `{"query":"beacon"}`); len(paths) > 0 || !strings.HasPrefix(beside, "Not all files could be read in time") {
		t.Errorf("%q, %q", paths, beside)
	}
}
