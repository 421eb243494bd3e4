//go:build linux

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"sibyl/internal/behaviour/needs"
)

// outcome is what came of a suite.
type outcome struct {
	suite
	*reader
	wanted []string // the tests that had to pass
	broken string   // why it ended otherwise than by its tests' failures
	spent  time.Duration
	took   time.Duration
}

// finish notes how the process ended.
func (o *outcome) finish(r *reader, ended error, spent, took time.Duration) {
	o.reader, o.spent, o.took = r, spent, took
	if o.broken == "" && ended != nil && !slices.Contains(slices.Collect(maps.Values(r.result)), "FAIL") {
		o.broken = "it ends without a test that fails: " + ended.Error()
	}
	if running := r.running(); o.broken == "" && len(running) > 0 {
		o.broken = "it ended in the middle of a test"
	}
}

// named are the tests with a result, in their order.
func (o *outcome) named(result string) (names []string) {
	if o.reader == nil {
		return nil
	}
	for _, name := range o.order {
		if o.result[name] == result {
			names = append(names, name)
		}
	}
	return names
}

// missed are the tests that had to pass and did not run to their end.
func (o *outcome) missed() (names []string) {
	for _, name := range o.wanted {
		if o.reader == nil || o.result[name] != "PASS" && o.result[name] != "FAIL" {
			names = append(names, name)
		}
	}
	return names
}

// report is that of a stage.
type report struct {
	outcomes             []outcome
	linking, whole, each time.Duration
	chosen               bool // by -run
}

// record lists what was skipped and another stage can run.
func (r *report) record() string {
	var text strings.Builder
	for _, o := range r.outcomes {
		for _, name := range o.named("SKIP") {
			if strings.Contains(o.reason(name), needs.AllVariable) {
				fmt.Fprintln(&text, o.Package, name)
			}
		}
	}
	return text.String()
}

// readRecord gives the names by packages.
func readRecord(text string) map[string][]string {
	names := map[string][]string{}
	for line := range strings.Lines(text) {
		if pack, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			names[pack] = append(names[pack], name)
		}
	}
	return names
}

// write writes the report, and says whether all is well.
func (r *report) write(w io.Writer) bool {
	var passed, failed, skipped int
	var spent time.Duration
	reasons := map[string]int{}
	var faults []string
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for _, o := range r.outcomes {
		passed, skipped = passed+len(o.named("PASS")), skipped+len(o.named("SKIP"))
		failed += len(o.named("FAIL"))
		spent += o.spent
		for _, name := range o.named("SKIP") {
			reasons[o.reason(name)]++
		}
		for _, name := range o.missed() {
			failed++
			fault("%s: %s was to run, and did not", o.Package, name)
		}
		if o.broken != "" {
			failed++
			fault("%s: %s", o.Package, o.broken)
		} else if r.chosen && len(o.order) == 0 {
			failed++
			fault("%s: no test is of a name that is to run", o.Package)
		}
		if r.each > 0 && o.reader != nil {
			for _, name := range slices.Sorted(maps.Keys(o.cpu)) {
				if o.cpu[name] > r.each {
					fault("%s: %s took %.1f s of CPU time, and %.0f are allowed", o.Package, name,
						o.cpu[name].Seconds(), r.each.Seconds())
				}
			}
		}
	}
	r.times(w)
	for _, why := range slices.SortedFunc(maps.Keys(reasons), func(a, b string) int {
		return cmp.Or(reasons[b]-reasons[a], strings.Compare(a, b))
	}) {
		fmt.Fprintf(w, "%6d skipped: %s\n", reasons[why], why)
	}
	fmt.Fprintf(w, "CPU time: %.1f s, and %.1f for linking all binaries\n", spent.Seconds(), r.linking.Seconds())
	if r.whole > 0 && spent+r.linking > r.whole {
		fault("the tests took %.0f s of CPU time, and %.0f are allowed", (spent + r.linking).Seconds(), r.whole.Seconds())
	}
	for _, f := range faults {
		fmt.Fprintln(w, "FAULT", f)
	}
	fmt.Fprintf(w, "%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	return failed == 0 && len(faults) == 0
}

// tell writes what a suite took, and what the tests said that failed; and the last that was said, if the process did
// not end by itself.
func (o *outcome) tell(w io.Writer) {
	fmt.Fprintf(w, "%8.1f s of CPU time in %6.1f s: %s\n", o.spent.Seconds(), o.took.Seconds(), o.Package)
	if o.reader == nil {
		return
	}
	for _, name := range o.named("FAIL") {
		fmt.Fprintf(w, "--- FAIL: %s %s\n", o.Package, name)
		for _, line := range o.said[name] {
			fmt.Fprintln(w, line)
		}
	}
	if o.broken != "" {
		fmt.Fprintf(w, "--- %s: %s; running: %s\n", o.Package, o.broken, strings.Join(o.running(), ", "))
		for _, line := range o.last {
			fmt.Fprintln(w, line)
		}
	}
}

// times writes the CPU time of the tests that took most.
func (r *report) times(w io.Writer) {
	type test struct {
		name string
		cpu  time.Duration
	}
	var tests []test
	for _, o := range r.outcomes {
		if o.reader != nil {
			for name, cpu := range o.cpu {
				tests = append(tests, test{o.Package + " " + name, cpu})
			}
		}
	}
	if r.each == 0 {
		return // tests that run beside each other can't be told apart
	}
	slices.SortFunc(tests, func(a, b test) int { return cmp.Compare(b.cpu, a.cpu) })
	for _, t := range tests[:min(len(tests), 20)] {
		fmt.Fprintf(w, "%8.1f s of CPU time: %s\n", t.cpu.Seconds(), t.name)
	}
}
