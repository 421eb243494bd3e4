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
	full := errors.New("100% full")
	for about, c := range map[string]struct {
		checks func(t assert.TB, holds bool)
		want   recorder // where it does not hold
	}{
		"That":    {func(t assert.TB, holds bool) { assert.That(t, holds, "%d%% of %q", 5, "a") }, recorder{goesOn: `5% of "a"`}},
		"Require": {func(t assert.TB, holds bool) { assert.Require(t, holds, "%d%% of %q", 5, "a") }, recorder{ends: `5% of "a"`}},
		"Must":    {func(t assert.TB, holds bool) { assert.Must(1, none(full, holds))(t) }, recorder{ends: "100% full"}},
		"NoError": {func(t assert.TB, holds bool) { assert.NoError(t, none(full, holds)) }, recorder{ends: "100% full"}},
		"NoErrorf": {func(t assert.TB, holds bool) { assert.NoErrorf(t, none(full, holds), "at %d", 1) },
			recorder{ends: "at 1: 100% full"}},
		"Nil":  {func(t assert.TB, holds bool) { assert.Nil(t, none(full, holds)) }, recorder{goesOn: "100% full"}},
		"Nilf": {func(t assert.TB, holds bool) { assert.Nilf(t, none(full, holds), "at %d", 1) }, recorder{goesOn: "at 1: 100% full"}},
		"ErrorIs": {func(t assert.TB, holds bool) { assert.ErrorIs(t, none(missing, !holds), fs.ErrNotExist) },
			recorder{goesOn: "the error is <nil>, want file does not exist"}},
		"ErrorIsf": {func(t assert.TB, holds bool) { assert.ErrorIsf(t, none(missing, !holds), fs.ErrNotExist, "at %d", 1) },
			recorder{goesOn: "at 1: the error is <nil>, want file does not exist"}},
		"Equal":    {func(t assert.TB, holds bool) { assert.Equal(t, text[holds], "abcd") }, recorder{goesOn: `got "abc", want "abcd"`}},
		"Equalf":   {func(t assert.TB, holds bool) { assert.Equalf(t, holds, true, "at %d", 1) }, recorder{goesOn: "at 1: got false, want true"}},
		"Contains": {func(t assert.TB, holds bool) { assert.Contains(t, "it", text[holds], "a", "d") }, recorder{goesOn: "it lacks \"d\":\nabc"}},
		"Lacks":    {func(t assert.TB, holds bool) { assert.Lacks(t, "it", text[!holds], "d") }, recorder{goesOn: "it holds \"d\":\nabcd"}},
		"NoDiff": {func(t assert.TB, holds bool) { assert.NoDiff(t, map[bool]string{false: "-a\n+b"}[holds], "at %d", 1) },
			recorder{goesOn: "at 1:\n-a\n+b"}},
	} {
		var failed, silent recorder
		c.checks(&failed, false)
		c.checks(&silent, true)
		if failed != c.want || silent != (recorder{}) {
			t.Errorf("%s: %+v, want %+v; where it holds %+v", about, failed, c.want, silent)
		}
	}
	var differs, same recorder
	assert.Same(&differs, []int{1, 2}, []int{1, 3})
	assert.Same(&same, []int{1}, []int{1})
	if differs.goesOn == "" || differs.ends != "" || same != (recorder{}) {
		t.Errorf("a difference is told as %+v, and none as %+v", differs, same)
	}
}

// text holds a, and d where that is to be.
var text = map[bool]string{true: "abcd", false: "abc"}

// none is no error where something holds.
func none(err error, holds bool) error {
	if holds {
		return nil
	}
	return err
}
