package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
)

func watchers() map[string]func() { return map[string]func(){"faulty": faulty} }

// faultPlanAt names the faultPlan of a process under watch, as JSON.
const faultPlanAt = "SIBYL_TEST_FAULT_PLAN"

// exitUntraced is the exit code where the system does not let a process be watched.
const exitUntraced = 77

// The ways in which a call fails.
const (
	wayBefore = "before" // it has not been made
	wayAfter  = "after"  // it has been made, and says that it failed
	wayShort  = "short"  // half is written, and then nothing more; of what comes from the network, the rest is missing
)

// faultPlan says what is watched, and which call fails.
type faultPlan struct {
	Under []string // calls for files below these folders count, and those for the network
	Log   string   // the file that tells of the calls, a line of JSON each
	Data  bool     // with what is written
	Class string   // the call that fails is the Nth of this class, from 0
	Nth   int
	Way   string // "": none fails
}

// osCall is a call of the operating system.
type osCall struct {
	Call, Path string
	To         string `json:",omitempty"` // of a rename or a link
	Class      string
	Nth        int
	Flags      int64  `json:",omitempty"` // the third argument
	Size       int64  `json:",omitempty"` // that were to be written
	Offset     int64  `json:",omitempty"`
	Data       []byte `json:",omitempty"`
	Result     int64
	Failed     bool `json:",omitempty"` // by the plan
}

// accidental is what names of files have that differs from run to run.
var accidental = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[0-9A-Z]{26}|[0-9a-f]{16,}|[0-9a-f-]{36}|[0-9]+|0p[0-9a-v]{14}`)
})

// class is what a call does to what kind of file: calls of one class are told apart by their order alone.
func (p faultPlan) class(c osCall) string {
	name := c.Path
	for n, folder := range p.Under {
		if rest, ok := strings.CutPrefix(name, folder); ok {
			name = fmt.Sprintf("%d%s", n, rest)
		}
	}
	return c.Call + " " + accidental().ReplaceAllString(name, "*")
}

// watch runs the real program under watch. The calls that it made are those below the folders of the story.
func (s *story) watch(t *testing.T, p faultPlan, args ...string) (o outcome, calls []osCall) {
	t.Helper()
	p.Under, p.Log = []string{s.data, s.vault}, filepath.Join(t.TempDir(), "calls")
	plan := assert.Must(json.Marshal(p))(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "faulty", append([]string{"sibyl"}, args...)...)
	cmd.Env = append(s.environ(), faultPlanAt+"="+string(plan))
	var out, errText bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errText
	err := cmd.Run()
	var exit *exec.ExitError
	assert.Require(t, err == nil || errors.As(err, &exit), "%v", err)
	o = outcome{code: cmd.ProcessState.ExitCode(), out: out.String(), err: errText.String()}
	assert.That(t, ctx.Err() == nil, "it has not ended in a minute: %s%s", o.out, o.err)
	if o.code == exitUntraced {
		t.Skipf("no process can be watched here: %s", o.err)
	}
	log := assert.Must(os.Open(p.Log))(t)
	defer func() { _ = log.Close() }() // only read
	for lines := json.NewDecoder(log); lines.More(); {
		var c osCall
		assert.NoError(t, lines.Decode(&c))
		calls = append(calls, c)
	}
	return o, calls
}

// failure is a call that fails, and how.
type failure struct {
	class string
	nth   int
	way   string
}

// failures are those of the calls of a run: so many of them, of each class one first.
func failures(calls []osCall, most int) (all []failure) {
	seen := map[string]bool{}
	for _, c := range calls {
		ways := []string{wayBefore}
		switch c.Call {
		case "write", "pwrite64":
			ways = []string{wayBefore, wayShort, wayAfter}
		case "rename", "renameat", "linkat", "unlink", "unlinkat", "mkdirat", "fsync", "fdatasync":
			ways = []string{wayBefore, wayAfter}
		case "read":
			if strings.HasSuffix(c.Class, " network") {
				ways = []string{wayBefore, wayShort}
			}
		}
		for _, way := range ways {
			f := failure{c.Class, c.Nth, way}
			if key := fmt.Sprint(f); !seen[key] {
				seen[key], all = true, append(all, f)
			}
		}
	}
	if len(all) <= most {
		return all
	}
	slices.SortStableFunc(all, func(a, b failure) int { return a.nth - b.nth })
	first := slices.IndexFunc(all, func(f failure) bool { return f.nth > 0 })
	some := spread(all[:first], most*3/4)
	return append(some, spread(all[first:], most-len(some))...)
}

// spread takes n of a list, evenly.
func spread[T any](all []T, n int) (some []T) {
	if len(all) <= n {
		return slices.Clone(all)
	}
	for i := range n {
		some = append(some, all[i*len(all)/n])
	}
	return some
}

// TestWhateverCallFailsIsToldAndNothingIsLost has one call of the operating system after the other fail that a run of
// each assistant makes, for its journal, for files, and for the network. A named error reaches the person, or it goes
// well; then nothing is lost, half-written or doubled.
func TestWhateverCallFailsIsToldAndNothingIsLost(t *testing.T) {
	needs.All(t, "many processes")
	t.Parallel()
	for name, d := range ordeals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calm := d.begin(t)
			o, calls := calm.watch(t, faultPlan{}, d.args(calm)...)
			assert.Require(t, slices.Contains(d.ways, o.code) && len(calls) >= 50,
				"without a fault it exits %d after %d calls: %s%s", o.code, len(calls), o.out, o.err)
			d.goesOn(t, calm, o)
			calm.tidy(t, o)
			failures := failures(calls, needs.Most(math.MaxInt, 14))
			var hit atomic.Int64
			t.Cleanup(func() {
				t.Logf("of %d calls, %d were to fail, and %d did", len(calls), len(failures), hit.Load())
				assert.That(t, t.Failed() || hit.Load() >= int64(len(failures)*3/4), "too few failed to prove anything")
			})
			for _, f := range failures {
				t.Run(strings.ReplaceAll(fmt.Sprintf("%s #%d %s", f.class, f.nth, f.way), "/", "|"),
					func(t *testing.T) {
						t.Parallel()
						s := d.begin(t)
						o, calls := s.watch(t, faultPlan{Class: f.class, Nth: f.nth, Way: f.way}, d.args(s)...)
						if slices.ContainsFunc(calls, func(c osCall) bool { return c.Failed }) {
							hit.Add(1)
						}
						s.told(t, o, d.ways)
						d.goesOn(t, s, o)
						s.tidy(t, o)
						if t.Failed() {
							t.Logf("it had exited %d:\n%s%s", o.code, o.out, o.err)
						}
					})
			}
		})
	}
}
