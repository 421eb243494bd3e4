//go:build linux

package main

import (
	"bufio"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// marker is before what the testing package says itself, with -test.v=test2json.
const marker = '\x16'

// mostKept is how many of the last lines of a package are kept, for one that ends in the middle of a test.
const mostKept = 400

// reader reads what a binary says.
type reader struct {
	spent func() time.Duration // by the process until now
	apart map[string]bool      // tests whose subtests are counted as tests

	result map[string]string   // PASS, FAIL or SKIP by the names of tests
	said   map[string][]string // by the names of tests
	order  []string            // of the names, as they began
	cpu    map[string]time.Duration
	last   []string // lines

	current string // whose lines are read
	test    string // who spends what is spent
	before  time.Duration
}

func newReader(spent func() time.Duration, apart ...string) *reader {
	r := &reader{spent: spent, apart: map[string]bool{}, result: map[string]string{}, said: map[string][]string{},
		cpu: map[string]time.Duration{}}
	for _, name := range apart {
		r.apart[name] = true
	}
	return r
}

// readAll reads to the end.
func (r *reader) readAll(from io.Reader) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			r.read(strings.TrimSuffix(line, "\n"))
		}
		if err != nil {
			return
		}
	}
}

var (
	news = regexp.MustCompile(`^=== (RUN|PAUSE|CONT|NAME) +(.*)$`)
	ends = regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP|BENCH): (.*) \([0-9.]+s\)$`)
)

func (r *reader) read(line string) {
	// A test may write without an end of line.
	text, own, marked := strings.Cut(line, string(marker))
	if !marked {
		r.keep(line)
		return
	}
	if text != "" {
		r.keep(text)
	}
	if m := news.FindStringSubmatch(own); m != nil {
		r.current = m[2]
		if m[1] == "RUN" {
			r.order = append(r.order, m[2])
		}
		r.charge(m[2])
	} else if m := ends.FindStringSubmatch(own); m != nil {
		r.result[m[2]], r.current = m[1], m[2]
		if !strings.Contains(m[2], "/") {
			r.charge("")
		}
	} else {
		r.keep(own)
	}
}

func (r *reader) keep(line string) {
	r.said[r.current] = append(r.said[r.current], line)
	if r.last = append(r.last, line); len(r.last) > 2*mostKept {
		r.last = append(r.last[:0], r.last[len(r.last)-mostKept:]...)
	}
}

// charge notes that the time until now was that of the test before, and what follows is that of a test.
func (r *reader) charge(name string) {
	test, rest, _ := strings.Cut(name, "/")
	if r.apart[test] && rest != "" {
		first, _, _ := strings.Cut(rest, "/")
		test += "/" + first
	}
	if test == r.test {
		return
	}
	now := r.spent()
	if r.test != "" && now > r.before {
		r.cpu[r.test] += now - r.before
	}
	r.test, r.before = test, max(now, r.before)
}

// running are the tests that have begun and not ended.
func (r *reader) running() (names []string) {
	for _, name := range r.order {
		if r.result[name] == "" {
			names = append(names, name)
		}
	}
	return names
}

var place = regexp.MustCompile(`^\s*\S+\.go:[0-9]+: `)

// reason is why a test was skipped: the last that it said from a place, or why its script did.
func (r *reader) reason(name string) string {
	for _, line := range slices.Backward(r.said[name]) {
		if place.MatchString(line) {
			return place.ReplaceAllString(line, "")
		} else if _, why, is := strings.Cut(line, "] skip "); is {
			return strings.Trim(why, "'")
		}
	}
	return "without a reason"
}

// ticksPerSecond is the unit of /proc on Linux, whatever the machine.
const ticksPerSecond = 100

// ticks reads the CPU time of a process and of its ended children from its /proc/PID/stat.
func ticks(stat string) time.Duration {
	// The name of the program may hold anything; it is in the last brackets.
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	const utime, cstime = 11, 14 // counted from the field after the name
	if len(fields) <= cstime {
		return 0
	}
	var sum int
	for _, f := range fields[utime : cstime+1] {
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0
		}
		sum += n
	}
	return time.Duration(sum) * time.Second / ticksPerSecond
}
