package journal_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
)

// treeOf makes a tree of runs in the order of their start, each as "id", "id>followed" or "id=replaced".
func treeOf(t *testing.T, runs string) journal.Tree {
	t.Helper()
	var all []journal.Run
	for one := range strings.FieldsSeq(runs) {
		id, follows, _ := strings.Cut(one, ">")
		id, replaces, _ := strings.Cut(id, "=")
		all = append(all, journal.Run{ID: id, Replaces: replaces, Follows: follows})
	}
	slices.Reverse(all)
	return assert.Must(journal.NewTree(all))(t)
}

func idsOf(runs []journal.Run) string {
	var ids []string
	for _, r := range runs {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

// The first is what an earlier build kept: nobody names what it follows.
func TestBranchIsReadFromWhatEachRunFollowsOrReplaces(t *testing.T) {
	for runs, want := range map[string]map[string]string{
		"a b c=b d e=d f":           {"": "a c e f", "b": "a b", "d": "a c d"},
		"a b>a c>b b2=b d>b2 b3=b2": {"": "a b3", "b": "a b c", "b2": "a b2 d", "a": "a b3"},
		"a b>a a2=a c>b":            {"": "a b c", "a2": "a2", "b": "a b c"},
		"a b>a c>a d>b":             {"": "a b d", "c": "a c"},
		"a b>a c>b a2=a x d":        {"": "a2 x d", "c": "a b c"}, // x and d are of an earlier build
		"a b=c c d":                 {"": "a c d", "b": "a b"},    // b and c are of one millisecond, in an earlier build
		"b=c x c":                   {"": "b x c"},                // likewise
		"":                          {"": ""},
	} {
		tree := treeOf(t, runs)
		for of, ids := range want {
			if got := idsOf(assert.Must(tree.Branch(of))(t)); got != ids {
				t.Errorf("in %q the branch of %q is %q, want %q", runs, of, got, ids)
			}
		}
	}
}

func TestTreeTellsVersionsAndWhatComesBeforeANewRun(t *testing.T) {
	tree := treeOf(t, "a b>a c>b b2=b d>b2 b3=b2")
	var all []string
	for _, ids := range tree.Versions(assert.Must(tree.Branch("c"))(t)) {
		all = append(all, strings.Join(ids, "/"))
	}
	assert.That(t, strings.Join(all, " ") == "a b/b2/b3 c", "the versions are %q", all)
	for named, want := range map[[2]string]string{{}: "a b3", {"b2", ""}: "a", {"", "c"}: "a b c", {"a", ""}: ""} {
		if got := idsOf(assert.Must(tree.PathBefore(named[0], named[1]))(t)); got != want {
			t.Errorf("before one that replaces and follows %q is %q, want %q", named, got, want)
		}
	}
	_, err := tree.Branch("z")
	assert.That(t, errors.Is(err, journal.ErrNotFound), "a run of another session gives %v", err)
	for _, damaged := range [][]journal.Run{{{ID: "b", Follows: "gone"}, {ID: "a"}}, {{ID: "b", Replaces: "gone"}},
		{{ID: "b", Replaces: "a"}, {ID: "a", Replaces: "b"}}, {{ID: "b"}, {ID: "a", Follows: "b"}}} {
		_, err = journal.NewTree(damaged)
		assert.That(t, errors.Is(err, journal.ErrCorrupt), "%+v gives %v", damaged, err)
	}
}
