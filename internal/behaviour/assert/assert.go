// Package assert says in one line what a test expects: the condition that has to hold, and the words for when it does
// not. It is our own so that vet compares these words with their values, as it does for Errorf.
//
// Require, NoError, NoErrorf and Must end the test, and are for its own goroutine; the others go on. The words are made
// only where they are told, but their values are read in any case.
package assert

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// TB is what a check needs of a test: testing.TB has it, and a property of rapid.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// That reports the words unless something holds.
func That(t TB, holds bool, format string, args ...any) {
	if !holds {
		t.Helper()
		t.Errorf("%s", fmt.Sprintf(format, args...))
	}
}

// Require ends the test with the words unless something holds.
func Require(t TB, holds bool, format string, args ...any) {
	if !holds {
		t.Helper()
		t.Fatalf("%s", fmt.Sprintf(format, args...))
	}
}

// NoError ends the test if there is an error.
func NoError(t TB, err error) {
	if err != nil {
		t.Helper()
		t.Fatalf("%v", err)
	}
}

// Nil reports an error and goes on: it is for what is done at the end, and by other goroutines.
func Nil(t TB, err error) {
	if err != nil {
		t.Helper()
		t.Errorf("%v", err)
	}
}

// Nilf reports an error with the words and goes on.
func Nilf(t TB, err error, format string, args ...any) {
	if err != nil {
		t.Helper()
		t.Errorf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// Must is a value, or ends the test with the error that came with it: assert.Must(os.ReadFile(name))(t).
func Must[T any](value T, err error) func(t TB) T {
	return func(t TB) T {
		t.Helper()
		NoError(t, err)
		return value
	}
}

// NoErrorf ends the test with the words and the error if there is one.
func NoErrorf(t TB, err error, format string, args ...any) {
	if err != nil {
		t.Helper()
		t.Fatalf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// ErrorIs reports an error that is not the one that was expected, or none.
func ErrorIs(t TB, err, want error) {
	if !errors.Is(err, want) {
		t.Helper()
		t.Errorf("the error is %v, want %v", err, want)
	}
}

// ErrorIsf reports with the words an error that is not the one that was expected, or none.
func ErrorIsf(t TB, err, want error, format string, args ...any) {
	if !errors.Is(err, want) {
		t.Helper()
		t.Errorf("%s: the error is %v, want %v", fmt.Sprintf(format, args...), err, want)
	}
}

// Equal reports two values that differ.
func Equal[T comparable](t TB, got, want T) {
	if got != want {
		t.Helper()
		t.Errorf("got %s, want %s", shown(got), shown(want))
	}
}

// Equalf reports with the words two values that differ.
func Equalf[T comparable](t TB, got, want T, format string, args ...any) {
	if got != want {
		t.Helper()
		t.Errorf("%s: got %s, want %s", fmt.Sprintf(format, args...), shown(got), shown(want))
	}
}

// Same reports how the second value differs from the first: cmp.Diff of both.
func Same(t TB, first, second any, options ...cmp.Option) {
	if diff := cmp.Diff(first, second, options...); diff != "" {
		t.Helper()
		t.Errorf("%s", diff)
	}
}

// NoDiff reports a difference that cmp.Diff found, below the words.
func NoDiff(t TB, diff, format string, args ...any) {
	if diff != "" {
		t.Helper()
		t.Errorf("%s:\n%s", fmt.Sprintf(format, args...), diff)
	}
}

// Contains reports each part that is not in a text.
func Contains(t TB, about, text string, parts ...string) {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Helper()
			t.Errorf("%s lacks %q:\n%s", about, part, text)
		}
	}
}

// Lacks reports each part that is in a text.
func Lacks(t TB, about, text string, parts ...string) {
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Helper()
			t.Errorf("%s holds %q:\n%s", about, part, text)
		}
	}
}

func shown(value any) string {
	if text, ok := value.(string); ok {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%v", value)
}
