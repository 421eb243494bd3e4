package needs

import (
	"fmt"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// fake notes what a test was told.
type fake struct {
	testing.TB
	skipped, failed string
}

func (f *fake) Helper() {}

func (f *fake) Skipf(format string, args ...any) {
	f.skipped = fmt.Sprintf(format, args...)
	panic(f)
}

func (f *fake) Fatal(args ...any) {
	f.failed = fmt.Sprint(args...)
	panic(f)
}

// told passes a need to a test, and gives what that is told.
func told(need func(tb testing.TB)) (f *fake) {
	f = &fake{}
	defer func() {
		if r := recover(); r != nil && r != any(f) {
			panic(r)
		}
	}()
	need(f)
	return f
}

func TestWhatIsNotAskedForIsSkippedAndWhatIsMissingFails(t *testing.T) {
	missing := func(tb testing.TB) { Program(tb, "sh", "no-such-program") }
	there := func(tb testing.TB) { Program(tb, "sh") }
	slow := func(tb testing.TB) { All(tb, "a minute") }
	release := func(tb testing.TB) { Long(tb, "an hour") }
	const absent = "no-such-program is not on the PATH: ‘sh scripts/programs.sh’ installs it"
	for _, test := range []struct {
		all, long       string
		need            func(testing.TB)
		skipped, failed string
	}{
		{"", "", missing, "needs sh, no-such-program: SIBYL_TEST_ALL=1 runs it", ""},
		{"", "", there, "needs sh: SIBYL_TEST_ALL=1 runs it", ""}, // the fast tests are the same everywhere
		{"", "", slow, "needs a minute: SIBYL_TEST_ALL=1 runs it", ""},
		{"1", "", missing, "", absent},
		{"1", "", there, "", ""},
		{"1", "", slow, "", ""},
		{"1", "", release, "needs an hour: SIBYL_LONG=1 runs it", ""},
		{"", "1", missing, "", absent},
		{"", "1", slow, "", ""},
		{"", "1", release, "", ""},
	} {
		t.Setenv(AllVariable, test.all)
		t.Setenv(LongVariable, test.long)
		if f := told(test.need); f.skipped != test.skipped || f.failed != test.failed {
			t.Errorf("%+v: skipped with %q, failed with %q", test, f.skipped, f.failed)
		}
	}
}

func TestMatrixHasEveryCaseBeforeARelease(t *testing.T) {
	for long, want := range map[string]int{"": 7, "1": 1} {
		t.Setenv(LongVariable, long)
		assert.Equalf(t, Stride(7), want, "%s=%q: the stride", LongVariable, long)
	}
}
