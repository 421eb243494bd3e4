package assert_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// recorder is a test that only notes how it failed.
type recorder struct{ goesOn, ends string }

func (r *recorder) Helper()                           {}
func (r *recorder) Errorf(format string, args ...any) { r.goesOn += fmt.Sprintf(format, args...) }
func (r *recorder) Fatalf(format string, args ...any) { r.ends += fmt.Sprintf(format, args...) }

// What does not hold is told with its words, ends the test where it is said to, and what holds is silent.
func TestWhatDoesNotHoldIsToldAndEndsTheTestWhereItIsSaidTo(t *testing.T) {
	missing := fmt.Errorf("open a: %w", fs.ErrNotExist)
	for about, c := range map[string]struct {
		fails, holds func(t assert.TB)
		want         recorder
	}{
		"That": {
			func(t assert.TB) { assert.That(t, 1 > 2, "%d%% of %q", 5, "a") },
			func(t assert.TB) { assert.That(t, 2 > 1, "no") },
			recorder{goesOn: `5% of "a"`},
		},
		"Require": {
			func(t assert.TB) { assert.Require(t, 1 > 2, "%d%% of %q", 5, "a") },
			func(t assert.TB) { assert.Require(t, 2 > 1, "no") },
			recorder{ends: `5% of "a"`},
		},
		"Must": {
			func(t assert.TB) { assert.Must(1, errors.New("full"))(t) },
			func(t assert.TB) { assert.Equal(t, assert.Must(1, nil)(t), 1) },
			recorder{ends: "full"},
		},
		"NoError": {
			func(t assert.TB) { assert.NoError(t, errors.New("100% full")) },
			func(t assert.TB) { assert.NoError(t, nil) },
			recorder{ends: "100% full"},
		},
		"Nil": {
			func(t assert.TB) { assert.Nil(t, errors.New("100% full")) },
			func(t assert.TB) { assert.Nil(t, nil) },
			recorder{goesOn: "100% full"},
		},
		"Nilf": {
			func(t assert.TB) { assert.Nilf(t, errors.New("full"), "at %d", 1) },
			func(t assert.TB) { assert.Nilf(t, nil, "no") },
			recorder{goesOn: "at 1: full"},
		},
		"NoErrorf": {
			func(t assert.TB) { assert.NoErrorf(t, errors.New("full"), "at %d", 1) },
			func(t assert.TB) { assert.NoErrorf(t, nil, "no") },
			recorder{ends: "at 1: full"},
		},
		"ErrorIs": {
			func(t assert.TB) { assert.ErrorIs(t, nil, fs.ErrNotExist) },
			func(t assert.TB) { assert.ErrorIs(t, missing, fs.ErrNotExist) },
			recorder{goesOn: "the error is <nil>, want file does not exist"},
		},
		"ErrorIsf": {
			func(t assert.TB) { assert.ErrorIsf(t, missing, fs.ErrExist, "at %d", 1) },
			func(t assert.TB) { assert.ErrorIsf(t, missing, fs.ErrNotExist, "no") },
			recorder{goesOn: "at 1: the error is open a: file does not exist, want file already exists"},
		},
		"Equal": {
			func(t assert.TB) { assert.Equal(t, "a ", "a") },
			func(t assert.TB) { assert.Equal(t, 1, 1) },
			recorder{goesOn: `got "a ", want "a"`},
		},
		"Equalf": {
			func(t assert.TB) { assert.Equalf(t, 1, 2, "at %d", 1) },
			func(t assert.TB) { assert.Equalf(t, "a", "a", "no") },
			recorder{goesOn: "at 1: got 1, want 2"},
		},
		"Contains": {
			func(t assert.TB) { assert.Contains(t, "it", "abc", "a", "d", "e") },
			func(t assert.TB) { assert.Contains(t, "it", "abc", "a", "bc") },
			recorder{goesOn: "it lacks \"d\":\nabcit lacks \"e\":\nabc"},
		},
		"Lacks": {
			func(t assert.TB) { assert.Lacks(t, "it", "abc", "a", "d") },
			func(t assert.TB) { assert.Lacks(t, "it", "abc", "d") },
			recorder{goesOn: "it holds \"a\":\nabc"},
		},
		"NoDiff": {
			func(t assert.TB) { assert.NoDiff(t, "-a\n+b", "at %d", 1) },
			func(t assert.TB) { assert.NoDiff(t, "", "no") },
			recorder{goesOn: "at 1:\n-a\n+b"},
		},
	} {
		var failed, silent recorder
		c.fails(&failed)
		c.holds(&silent)
		if failed != c.want || silent != (recorder{}) {
			t.Errorf("%s: %+v, want %+v; where it holds %+v", about, failed, c.want, silent)
		}
	}
	var differs recorder
	assert.Same(&differs, []int{1, 2}, []int{1, 3})
	assert.Same(&recorder{}, []int{1}, []int{1})
	if differs.goesOn == "" || differs.ends != "" {
		t.Errorf("a difference is told as %+v", differs)
	}
}
