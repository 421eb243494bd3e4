//go:build linux

package main

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

// said is what a binary says with -test.v=test2json; ^ stands for its marker. Each read of the clock is 10 ms later.
const said = `before all
^=== RUN   TestA
    a_test.go:3: a word
^=== RUN   TestA/one
^=== NAME  TestA/one
    a_test.go:9: wrong
^=== RUN   TestA/two
    a_test.go:12: needs flite: SIBYL_TEST_ALL=1 runs it
^    --- FAIL: TestA/one (0.00s)
^    --- SKIP: TestA/two (0.00s)
^--- FAIL: TestA (0.02s)
^=== RUN   TestScripts
^=== RUN   TestScripts/first
^=== PAUSE TestScripts/first
^=== CONT  TestScripts/first
without an end of line^=== NAME  TestScripts/first
^    --- PASS: TestScripts/first (0.00s)
^--- PASS: TestScripts (0.00s)
^=== RUN   TestLong
    a_test.go:30: needs an hour: SIBYL_LONG=1 runs it
^--- SKIP: TestLong (0.00s)
`

func readAs(text string) *reader {
	var clock time.Duration
	r := newReader(func() time.Duration { clock += 10 * time.Millisecond; return clock }, "TestScripts")
	r.readAll(strings.NewReader(strings.ReplaceAll(text, "^", "\x16")))
	return r
}

func TestOutputIsReadByTests(t *testing.T) {
	r := readAs(said)
	want := map[string]string{"TestA": "FAIL", "TestA/one": "FAIL", "TestA/two": "SKIP", "TestScripts": "PASS",
		"TestScripts/first": "PASS", "TestLong": "SKIP"}
	assert.Same(t, want, r.result)
	got := r.said["TestA/one"]
	assert.That(t, slices.Equal(got, []string{"    a_test.go:9: wrong"}), "TestA/one says %q", got)
	got = r.said["TestScripts/first"]
	assert.That(t, slices.Equal(got, []string{"without an end of line"}), "TestScripts/first says %q", got)
	if got := r.reason("TestA/two"); got != "needs flite: SIBYL_TEST_ALL=1 runs it" {
		t.Errorf("it was skipped since %q", got)
	}
	spent := map[string]time.Duration{"TestA": 10 * time.Millisecond, "TestScripts": 10 * time.Millisecond,
		"TestScripts/first": 10 * time.Millisecond, "TestLong": 10 * time.Millisecond}
	assert.NoDiff(t, cmp.Diff(spent, r.cpu), "CPU time (-want +got)")
}

func TestTestThatDoesNotEndIsNamed(t *testing.T) {
	o := outcome{suite: suite{Package: "p"}}
	o.finish(readAs("^=== RUN   TestA\n^=== RUN   TestA/one\nSIGQUIT: quit\n"), errors.New("exit status 2"), 0, 0)
	r := report{outcomes: []outcome{o}}
	var w bytes.Buffer
	o.tell(&w)
	assert.That(t, !r.write(&w), "all is well")
	assert.Contains(t, "the report", w.String(),
		"running: TestA, TestA/one\nSIGQUIT: quit\n", "\n0 passed, 1 failed, 0 skipped\n")
}

func TestOverrunsAndFailuresAreNamed(t *testing.T) {
	o := outcome{suite: suite{Package: "p"}, wanted: []string{"TestA", "TestLong", "TestGone"}}
	o.finish(readAs(said), errors.New("exit status 1"), 3*time.Second, time.Second)
	r := report{outcomes: []outcome{o}, linking: time.Second, whole: 3 * time.Second, each: 5 * time.Millisecond}
	var w bytes.Buffer
	o.tell(&w)
	assert.That(t, !r.write(&w), "all is well")
	assert.Contains(t, "the report", w.String(), "--- FAIL: p TestA/one\n    a_test.go:9: wrong\n",
		"FAULT p: TestScripts/first took 0.0 s of CPU time", "FAULT the tests took 4 s of CPU time, and 3 are allowed",
		"FAULT p: TestLong was to run, and did not", "FAULT p: TestGone was to run, and did not",
		"     1 skipped: needs flite: SIBYL_TEST_ALL=1 runs it\n", "\n2 passed, 4 failed, 2 skipped\n")
	assert.That(t, !strings.Contains(w.String(), "TestA was to run") && !strings.Contains(w.String(), "a word\n--- PASS"),
		"the report tells too much:\n%s", w.String())
}

func TestAnotherStageRunsWhatWasSkippedButForReleases(t *testing.T) {
	o := outcome{suite: suite{Package: "p"}}
	o.finish(readAs(said), errors.New("exit status 1"), 0, 0)
	r := report{outcomes: []outcome{o}}
	got := readRecord(r.record())
	assert.Same(t, map[string][]string{"p": {"TestA/two"}}, got)
	assert.Equalf(t, pattern([]string{"TestA/two", "TestB/a (b)"}), `^TestA$/^two$|^TestB$/^a \(b\)$`, "the pattern")
	some := among([]suite{{Package: "q"}, {Package: "p"}}, got)
	assert.That(t, len(some) == 1 && some[0].Package == "p", "it runs %v", some)
	_, err := regexp.Compile(pattern(got["p"]))
	assert.Nil(t, err)
}

func TestNameThatNoTestHasIsAFault(t *testing.T) {
	o := outcome{suite: suite{Package: "p"}}
	o.finish(readAs("testing: warning: no tests to run\nPASS\n"), nil, 0, 0)
	r := report{outcomes: []outcome{o}, chosen: true}
	var w bytes.Buffer
	assert.That(t, !r.write(&w) && strings.Contains(w.String(), "FAULT p: no test is of a name that is to run"),
		"the report:\n%s", w.String())
}

func TestBinariesOfOneNameAreBuiltOneAfterTheOther(t *testing.T) {
	got := rounds([]suite{{Package: "m/prompt"}, {Package: "m/a"}, {Package: "m/x/prompt"}})
	assert.That(t, len(got) == 2 && len(got[0]) == 2 && len(got[1]) == 1 && got[1][0].Package == "m/x/prompt",
		"they are built as %v", got)
}

func TestTimesAreThoseOfTheProcessAndItsChildrenAndOfLinks(t *testing.T) {
	stat := "42 (a) b) S 1 42 42 0 -1 4194304 100 200 0 0 120 30 40 10 20 0 1 0"
	got := ticks(stat)
	assert.That(t, got == 2*time.Second, "/proc says %v", got)
	got, err := links([]byte(`[{"Mode":"build","CmdUser":5},{"Mode":"link","CmdUser":7,"CmdSys":4},{"Mode":"link"}]`))
	assert.That(t, err == nil && got == 11, "links took %v, %v", got, err)
}
