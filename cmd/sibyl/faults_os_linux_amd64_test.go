package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sibyl/internal/cli"
	"sibyl/internal/council/session"
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
var accidental = regexp.MustCompile(`[0-9A-Z]{26}|[0-9a-f]{16,}|[0-9a-f-]{36}|[0-9]+|0p[0-9a-v]{14}`)

// class is what a call does to what kind of file: calls of one class are told apart by their order alone.
func (p faultPlan) class(c osCall) string {
	name := c.Path
	for n, folder := range p.Under {
		if rest, ok := strings.CutPrefix(name, folder); ok {
			name = fmt.Sprintf("%d%s", n, rest)
		}
	}
	return c.Call + " " + accidental.ReplaceAllString(name, "*")
}

// watch runs the real program under watch. The calls that it made are those below the folders of the story.
func (s *story) watch(t *testing.T, p faultPlan, args ...string) (o outcome, calls []osCall) {
	t.Helper()
	p.Under, p.Log = []string{s.data, s.vault}, filepath.Join(t.TempDir(), "calls")
	plan, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "faulty", append([]string{"sibyl"}, args...)...)
	cmd.Env = append(s.environ(), faultPlanAt+"="+string(plan))
	var out, errText bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errText
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	o = outcome{code: cmd.ProcessState.ExitCode(), out: out.String(), err: errText.String()}
	if ctx.Err() != nil {
		t.Errorf("it has not ended in a minute: %s%s", o.out, o.err)
	}
	if o.code == exitUntraced {
		t.Skipf("no process can be watched here: %s", o.err)
	}
	log, err := os.Open(p.Log)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }() // only read
	for lines := json.NewDecoder(log); lines.More(); {
		var c osCall
		if err := lines.Decode(&c); err != nil {
			t.Fatal(err)
		}
		calls = append(calls, c)
	}
	return o, calls
}

// ordeal is something that a person does, of which one call after the other fails.
type ordeal struct {
	begin func(t *testing.T) *story
	args  func(s *story) []string
	ways  []int // exit codes of one that went well
	// goesOn does it again where it was not done, and wants what came of it to be there once.
	goesOn func(t *testing.T, s *story, o outcome)
}

func ordeals() map[string]ordeal {
	return map[string]ordeal{
		"oracle": {newStory, func(s *story) []string { return s.question() }, []int{cli.ExitAnswered}, func(t *testing.T, s *story, o outcome) {
			if o.code != cli.ExitPartial { // else it has ended, and said what it could not do
				o = s.resumeOrRepeat(t, o, s.question())
			}
			s.notedOnce(t, o)
		}},
		"council add": {memoTold, func(s *story) []string { return []string{"council", "add", filepath.Join(s.vault, "memo.wav")} }, []int{cli.ExitAnswered},
			func(t *testing.T, s *story, _ outcome) {
				s.run(t, "", cli.ExitAnswered, []string{"council", "add", filepath.Join(s.vault, "memo.wav")})
				s.run(t, "", cli.ExitAnswered, []string{"run", "resume"})
				s.run(t, "", cli.ExitAnswered, []string{"council", "transcribe"})
				m := (&thinking{story: s}).whole(t, "a fault")
				if len(m.Audio) != 2 || m.Audio[1].Status != session.Success || s.heard(t, 2) != "Tomorrow we will talk about the money." {
					t.Errorf("the session is %s: %+v", m.State, m.Audio)
				}
			}},
		"council sitting": {memoTold, func(*story) []string { return []string{"council", "ask", "skeptic", "optimist"} }, []int{cli.ExitAnswered},
			func(t *testing.T, s *story, o outcome) {
				s.run(t, "", cli.ExitAnswered, []string{"run", "resume"})
				if all := s.sessions(t); len(all[0].Answers) == 0 && !strings.Contains(o.out, "The rent of 3000 euros") {
					s.run(t, "", cli.ExitAnswered, []string{"council", "ask", "skeptic", "optimist"})
				}
				var names []string
				for _, e := range (&thinking{story: s}).whole(t, "a fault").Answers {
					names = append(names, e.OracleName)
				}
				if slices.Sort(names); !slices.Equal(slices.Compact(slices.Clone(names)), names) {
					t.Errorf("there are answers of %v", names)
				}
			}},
		"tasks": {newStory, func(*story) []string { return []string{"chat", "--json", "-m", "offline:rules", "add buy milk"} }, []int{cli.ExitAnswered}, goesOnWithTasks},
		"inquiry": {reported, investigation, []int{cli.ExitAnswered, cli.ExitPartial}, func(t *testing.T, s *story, o outcome) {
			s.resumeOrRepeat(t, o, investigation(s))
			s.soundInquiries(t)
		}},
	}
}

// memoTold is a session of the Council with words in it, and a recording beside it.
func memoTold(t *testing.T) *story {
	s := newThinking(t).story
	s.run(t, "", cli.ExitAnswered, []string{"council", "say", "The rent is 3000 euros."})
	return s
}

// reported is a folder of documents.
func reported(t *testing.T) *story {
	s := newStory(t)
	s.note(t, "reports/closure.txt", "The bridge was closed on 4 March 2021 because of corrosion. Ada Miller of the city council ordered the closure.\n")
	return s
}

func investigation(s *story) []string {
	return []string{"investigate", "--json", "-q", "The bridge was closed because of corrosion.", "--witness", filepath.Join(s.vault, "reports"), "--limit", "5"}
}

// resumeOrRepeat goes on with what was interrupted; where nothing was begun, the person asks again.
func (s *story) resumeOrRepeat(t *testing.T, before outcome, args []string) outcome {
	t.Helper()
	if before.code == cli.ExitAnswered {
		return before
	}
	again := s.begin(t, "", "run", "resume", "--json")()
	if strings.Contains(again.err, "no run is waiting") {
		if s.satisfied(t) {
			return outcome{}
		}
		again = s.begin(t, "", args...)()
	}
	if again.code != cli.ExitAnswered && again.code != cli.ExitPartial {
		t.Errorf("going on exits %d: %s%s", again.code, again.out, again.err)
	}
	return again
}

// notedOnce wants the note to be there once; where it could not be written, that was said.
func (s *story) notedOnce(t *testing.T, o outcome) {
	t.Helper()
	note, err := os.ReadFile(filepath.Join(s.vault, "caching.md"))
	if err != nil || !strings.HasPrefix(string(note), "# Caching\n") {
		t.Fatalf("the note holds %q, %v", note, err)
	}
	n := strings.Count(string(note), "no cache")
	if n > 1 || n == 0 && !strings.Contains(o.out, `"error":`) {
		t.Errorf("the note was written %d times: %s", n, o.out)
	}
}

// satisfied says that the last run came to its end.
func (s *story) satisfied(t *testing.T) bool {
	t.Helper()
	o := s.run(t, "", cli.ExitAnswered, []string{"run", "list", "--json"})
	var all []listed
	if err := json.Unmarshal([]byte(o.out), &all); err != nil {
		t.Fatalf("%v in %s", err, o.out)
	}
	return len(all) > 0 && slices.Contains([]string{"satisfied", "limit", "no-progress"}, all[0].State)
}

// goesOnWithTasks wants the task there once, whatever was heard of it.
func goesOnWithTasks(t *testing.T, s *story, _ outcome) {
	s.run(t, "", cli.ExitAnswered, []string{"run", "resume"})
	var all []struct{ Title string }
	list := func() {
		o := s.run(t, "", cli.ExitAnswered, []string{"task", "list", "--json"})
		if err := json.Unmarshal([]byte(o.out), &all); err != nil {
			t.Fatalf("%v in %s", err, o.out)
		}
	}
	if list(); len(all) == 0 { // it was not heard, and that was said
		s.run(t, "", cli.ExitAnswered, []string{"chat", "-m", "offline:rules", "add buy milk"})
		list()
	}
	if len(all) != 1 || all[0].Title != "buy milk" {
		t.Errorf("the tasks are %v", all)
	}
}

// soundInquiries wants the file of each inquiry to be whole.
func (s *story) soundInquiries(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.data, "inquiries", "sessions", "*.json"))
	if err != nil || len(files) == 0 {
		t.Errorf("there is no file of an inquiry: %v", err)
	}
	for _, file := range files {
		s.run(t, "", cli.ExitAnswered, []string{"inquiry", "verify", file})
	}
}

// tidy wants nothing half-written: no temporary file that stays, no JSON that is torn.
func (s *story) tidy(t *testing.T) {
	t.Helper()
	for _, folder := range []string{s.data, s.vault} {
		err := filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			if strings.HasSuffix(name, ".tmp") {
				t.Errorf("%s stays behind", name)
			}
			if content, err := os.ReadFile(name); strings.HasSuffix(name, ".json") && (err != nil || !json.Valid(content)) {
				t.Errorf("%s is torn (%v): %q", name, err, content)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// failure is a call that fails, and how.
type failure struct {
	class string
	nth   int
	way   string
}

// failures are those of the calls of a run: all in the long form, else some, of each class one first.
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
	if os.Getenv("SIBYL_LONG") != "" || len(all) <= most {
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

// mostFailures is how many calls of each ordeal fail in the short form.
const mostFailures = 24

// TestWhateverCallFailsIsToldAndNothingIsLost has one call of the operating system after the other fail that a run of each assistant makes, for
// its journal, for files, and for the network. A named error reaches the person, or it goes well; then nothing is lost, half-written or doubled.
func TestWhateverCallFailsIsToldAndNothingIsLost(t *testing.T) {
	t.Parallel()
	for name, d := range ordeals() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calm := d.begin(t)
			o, calls := calm.watch(t, faultPlan{}, d.args(calm)...)
			if !slices.Contains(d.ways, o.code) || len(calls) < 50 {
				t.Fatalf("without a fault it exits %d after %d calls: %s%s", o.code, len(calls), o.out, o.err)
			}
			d.goesOn(t, calm, o)
			calm.tidy(t)
			failures := failures(calls, mostFailures)
			var hit atomic.Int64
			t.Cleanup(func() {
				t.Logf("of %d calls, %d were to fail, and %d did", len(calls), len(failures), hit.Load())
				if !t.Failed() && hit.Load() < int64(len(failures)*3/4) {
					t.Error("too few failed to prove anything")
				}
			})
			for _, f := range failures {
				t.Run(strings.ReplaceAll(fmt.Sprintf("%s #%d %s", f.class, f.nth, f.way), "/", "|"), func(t *testing.T) {
					t.Parallel()
					s := d.begin(t)
					o, calls := s.watch(t, faultPlan{Class: f.class, Nth: f.nth, Way: f.way}, d.args(s)...)
					if slices.ContainsFunc(calls, func(c osCall) bool { return c.Failed }) {
						hit.Add(1)
					}
					s.told(t, o, d.ways)
					d.goesOn(t, s, o)
					s.tidy(t)
					if t.Failed() {
						t.Logf("it had exited %d:\n%s%s", o.code, o.out, o.err)
					}
				})
			}
		})
	}
}

// told wants an outcome to be good, or to say in words for a person what went wrong.
func (s *story) told(t *testing.T, o outcome, good []int) {
	t.Helper()
	if found := internals.FindString(o.err); found != "" {
		t.Errorf("“%s” is no word for a person: %s", found, o.err)
	}
	switch {
	case slices.Contains(good, o.code):
	case o.code < 0 || o.code > 5:
		t.Errorf("it exits %d: %s%s", o.code, o.out, o.err)
	case strings.TrimSpace(o.err) == "" && !strings.Contains(o.out, `"error":"`):
		t.Errorf("it exits %d without a word: %s", o.code, o.out)
	}
}
