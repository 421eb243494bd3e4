package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/cli"
	"sibyl/internal/oracle"
)

// within runs the real program with so many MB of memory, of the system's and of Go's.
func (s *story) within(t *testing.T, megabytes int, in string, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", `ulimit -d "$0" || exit 77; exec sibyl "$@"`,
		itoa(megabytes << 10)}, args...)...)
	cmd.Env = append(s.environ(), "GOMEMLIMIT=64MiB")
	var out, errText bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &out, &errText
	err := cmd.Run()
	var exit *exec.ExitError
	assert.Require(t, (err == nil || errors.As(err, &exit)) && ctx.Err() == nil,
		"sibyl %s: %v\n%s", strings.Join(args, " "), err, errText.String())
	if cmd.ProcessState.ExitCode() == exitUntraced {
		t.Skipf("no limit can be set here: %s", errText.String())
	}
	return outcome{code: cmd.ProcessState.ExitCode(), out: out.String(), err: errText.String()}
}

// least is about as little memory as the program takes to start and to read its journal, in MB. Much of it is room that
// it only sets aside.
func (s *story) least(t *testing.T) (megabytes int) {
	t.Helper()
	for megabytes = 50; megabytes < 4<<10; megabytes += 50 {
		if s.within(t, megabytes, "", "session", "list").code == cli.ExitAnswered {
			return megabytes
		}
	}
	t.Skip("this build does not start under a limit")
	return 0
}

// TestLargeMaterialUnderALimitOfMemoryIsTakenInOrRefusedByName gives the program little memory and much to read: it
// works, or says that there is not enough memory, and the journal is whole.
func TestLargeMaterialUnderALimitOfMemoryIsTakenInOrRefusedByName(t *testing.T) {
	needs.All(t, "many processes")
	t.Parallel()
	s := newStory(t)
	least := s.least(t)
	t.Logf("it starts with %d MB", least)
	enough := least + 500
	line := strings.Repeat("All of this is about the bridge and its corrosion. ", 20) + "\n"
	if o := s.within(t, enough, strings.Repeat(line, oracle.MaxMaterial/len(line)), "ask", "--json", "-m",
		"offline:rules", "What does it say about the bridge and its corrosion?"); o.code != cli.ExitAnswered {
		t.Errorf("a large text beside a question exits %d: %s", o.code, clipped(o.err))
	}
	s.note(t, "reports/large.txt", strings.Repeat(line, 60<<20/len(line)))
	o := s.within(t, least+200, "", "investigate", "The bridge was closed.", "--witness",
		filepath.Join(s.vault, "reports"))
	assert.That(t, o.code != cli.ExitAnswered && o.code != cli.ExitPartial &&
		strings.Contains(o.err, "not enough memory") && strings.Contains(o.err, "large.txt") &&
		!internals().MatchString(o.err), "a document that is too large exits %d: %s", o.code, clipped(o.err))
	assert.NoError(t, os.Truncate(filepath.Join(s.vault, "reports", "large.txt"), 1<<20))
	o = s.within(t, enough, "", "investigate", "-q", "--detective", "offline:rules", "The bridge was closed.",
		"--limit", "5", "--witness", filepath.Join(s.vault, "reports"))
	assert.That(t, o.code == cli.ExitAnswered || o.code == cli.ExitPartial,
		"one that is not exits %d: %s", o.code, clipped(o.err))
	s.wholeAfterwards(t, 2)
}

// outOfMemory is what the program says, or its runtime and the C library where there is none left to say anything else.
var outOfMemory = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`memory|pthread_create failed`) })

// TestWhateverMemoryThereIsTheJournalIsWhole gives the program less and less memory, until it can't even start: it
// works, or its last words are that there is no memory, and what was kept is there.
func TestWhateverMemoryThereIsTheJournalIsWhole(t *testing.T) {
	needs.All(t, "many processes")
	t.Parallel()
	s := newStory(t)
	most := s.least(t) + 400
	begun := 0
	for megabytes := most; megabytes >= 50; megabytes -= 50 {
		o := s.within(t, megabytes, "", "ask", "--json", "-m", "offline:rules", "Thanks for all of this!")
		if o.code == cli.ExitAnswered {
			begun++
		} else if !outOfMemory().MatchString(o.err) {
			t.Errorf("with %d MB it exits %d, and does not say why: %s", megabytes, o.code, clipped(o.err))
		}
	}
	t.Logf("it worked with %d amounts of memory, up to %d MB", begun, most)
	assert.That(t, begun != 0, "it never worked")
	s.run(t, "", cli.ExitAnswered, []string{"run", "resume"})
	s.wholeAfterwards(t, begun)
}

// wholeAfterwards wants at least so many runs, each of which can be explained.
func (s *story) wholeAfterwards(t *testing.T, least int) {
	t.Helper()
	n := s.runs(t)
	assert.That(t, n >= least, "there are %d runs, want %d", n, least)
	s.run(t, "", cli.ExitAnswered, []string{"explain", "last"})
	s.run(t, "", cli.ExitAnswered, []string{"replay", "last"})
}
