package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/cli"
	"sibyl/internal/council/session"
)

// witness is what the machine's transcriber in these tests says, and how often it was asked.
const witness = "#!/bin/sh\necho asked >> \"$SIBYL_DATA/witness.log\"\necho Tomorrow we will talk about the money.\n"

// thinking is a story of the Council: with a model that answers as oracles, a transcriber of this machine, and a
// recording.
type thinking struct {
	*story
	model councillors
	memo  string // a recording
}

func newThinking(t *testing.T) *thinking {
	t.Helper()
	s := &thinking{story: newStory(t), model: newCouncillors()}
	t.Cleanup(s.model.Close)
	s.server.BaseURL = s.model.BaseURL // so that every process asks there
	program := filepath.Join(s.data, "witness")
	assert.NoError(t, os.WriteFile(program, []byte(witness), 0o700))
	s.set(t, fmt.Sprintf("transcription: {command: [%q, '{file}']}\n", program))
	s.memo = filepath.Join(s.vault, "memo.wav")
	write(t, s.memo, string(tone()))
	return s
}

// tone is a WAV file of a second in which something is to be heard.
func tone() []byte {
	const size = 32000
	head := "RIFF" + string([]byte{36 + size&0xff, size >> 8 & 0xff, 0, 0}) +
		"WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data" +
		string([]byte{size & 0xff, size >> 8 & 0xff, 0, 0})
	out := []byte(head)
	for i := range size / 2 {
		level := int16(8000)
		if i/40%2 == 0 {
			level = -level
		}
		out = append(out, byte(level), byte(level>>8))
	}
	return out
}

// at runs the program with a point at which it kills itself; false if it did not come to that.
func (s *thinking) at(t *testing.T, point string, args []string) (killed bool, o outcome) {
	t.Helper()
	o = s.begin(t, point, args...)()
	return o.code == -1, o
}

// whole wants the only session to tell of every file of its folder and of no other, and repair to find nothing in it.
// It gives the session.
func (s *thinking) whole(t *testing.T, point string) session.Session {
	t.Helper()
	all := s.sessions(t)
	assert.Require(t, len(all) == 1, "%s: there are %d sessions", point, len(all))
	m := all[0]
	want := []string{"metadata.json"}
	for _, e := range m.Audio {
		if e.File != "" {
			want = append(want, "audio/"+e.File)
		}
		if e.Transcript != "" {
			want = append(want, "transcripts/"+e.Transcript)
		}
	}
	for _, e := range m.Answers {
		want = append(want, "llm_responses/"+e.File)
	}
	var got []string
	folder := filepath.Join(s.data, "sessions", m.ID)
	err := filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
		// What a crash left in the middle of being written has a name with a dot, and goes when it is old.
		if err == nil && !entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			rel, relErr := filepath.Rel(folder, name)
			got, err = append(got, filepath.ToSlash(rel)), relErr
		}
		return err
	})
	assert.NoError(t, err)
	slices.Sort(want)
	slices.Sort(got)
	assert.NoDiff(t, cmp.Diff(want, got), "%s: the files (-told of +there)", point)
	var repaired []struct{ Findings []session.Finding }
	s.council(t, 0, &repaired, "repair")
	for _, f := range repaired[0].Findings {
		t.Errorf("%s: repair finds: %s", point, f.Text)
	}
	return m
}

// points are those at which a process may be killed: before each step in the folder, and around each write of the
// journal.
func points(n int) []string {
	return []string{fmt.Sprintf("%s=%d", crashStep, n), fmt.Sprintf("%s=%d", crashAt, n),
		fmt.Sprintf("%s=-%d", crashAt, n)}
}

// killedEverywhere kills a command at each step in the folder, and at writes of the journal, in the long form at every
// one. check looks at what is left, and goes on. before is done first, and each time anew.
func killedEverywhere(
	t *testing.T, least int, before func(s *thinking), args func(s *thinking) []string,
	check func(s *thinking, point string),
) {
	t.Helper()
	needs.All(t, "many processes")
	killed := 0
	for kind := range points(1) {
		stride := 1
		if kind > 0 {
			stride = needs.Stride(3)
		}
		for n := 1; ; n += stride {
			s, point := newThinking(t), points(n)[kind]
			before(s)
			died, o := s.at(t, point, args(s))
			if !died {
				o.want(t, point, 0)
				break
			}
			killed++
			check(s, point)
		}
	}
	assert.That(t, killed >= least, "killed at %d points only", killed)
	t.Logf("killed at %d points", killed)
}

func TestCouncilKilledWhileARecordingIsAddedHasItOnce(t *testing.T) {
	t.Parallel()
	killedEverywhere(t, 6, func(*thinking) {}, func(s *thinking) []string {
		return []string{"council", "add", "--later", s.memo}
	},
		func(s *thinking, point string) {
			s.run(t, "", 0, []string{"council", "add", "--later", s.memo}) // nobody said that it was added
			m := s.whole(t, point)
			assert.That(t, len(m.Audio) == 1 && m.Audio[0].Status == session.Pending, "%s: %+v", point, m.Audio)
		})
}

func TestCouncilKilledWhileItTranscribesHasTheTranscriptOnce(t *testing.T) {
	t.Parallel()
	killedEverywhere(t, 10, func(s *thinking) { s.run(t, "", 0, []string{"council", "add", "--later", s.memo}) },
		func(*thinking) []string { return []string{"council", "transcribe"} },
		func(s *thinking, point string) {
			s.run(t, "", 0, []string{"council", "transcribe"})
			m := s.whole(t, point)
			assert.That(t, m.State == session.Transcribed && len(m.Audio) == 1 && m.Audio[0].Status == session.Success &&
				s.heard(t, 1) == "Tomorrow we will talk about the money.", "%s: the session is %s: %+v", point, m.State, m.Audio)
			log := read(t, filepath.Join(s.data, "witness.log"))
			n := strings.Count(string(log), "asked")
			assert.That(t, n >= 1 && n <= 2, "%s: the transcriber was asked %d times", point, n)
		})
}

func TestCouncilKilledInASittingHasEachAnswerOnce(t *testing.T) {
	t.Parallel()
	ask := []string{"council", "ask", "skeptic", "optimist"}
	killedEverywhere(t, 12, func(s *thinking) {
		s.run(t, "", 0, []string{"council", "say", "The rent is 3000 euros."})
	},
		func(*thinking) []string { return ask },
		func(s *thinking, point string) {
			s.goesOn(t, ask)
			m := s.whole(t, point)
			var names []string
			for _, e := range m.Answers {
				names = append(names, e.OracleName)
			}
			slices.Sort(names)
			diff := cmp.Diff([]string{"Optimist", "Skeptic"}, names)
			assert.That(t, diff == "" && m.State == session.Ready, "%s: the session is %s: %s", point, m.State, diff)
			if n := len(s.model.requests()); n > 6 { // two answers and what is made of them, and each once more
				t.Errorf("%s: the model was asked %d times", point, n)
			}
		})
}

// goesOn resumes what was interrupted; where nothing was begun, the person asks again.
func (s *thinking) goesOn(t *testing.T, ask []string) {
	t.Helper()
	o := s.begin(t, "", "run", "resume")()
	o.want(t, "resuming", 0)
	if all := s.sessions(t); strings.Contains(o.err, "no paused runs") && len(all[0].Answers) == 0 {
		s.run(t, "", 0, ask)
	}
}

// TestTwoProcessesAddToOneSessionAtOnce has several processes say and add to a session: nothing is lost, nothing is
// there twice.
func TestTwoProcessesAddToOneSessionAtOnce(t *testing.T) {
	t.Parallel()
	s := newThinking(t)
	s.run(t, "", 0, []string{"council", "say", "Begun."})
	const each = 6
	done := make(chan outcome, 2*each)
	for n := range each {
		for who := range 2 {
			args := []string{"council", "say", fmt.Sprintf("Word %d of %d.", n, who)}
			if n%3 == 2 {
				args = []string{"council", "add", "--later", s.memo} // all of them the same
			}
			wait := s.begin(t, "", args...)
			go func() { done <- wait() }()
		}
	}
	for range 2 * each {
		o := <-done
		o.want(t, "adding at once", 0)
	}
	m := s.whole(t, "at once")
	recordings, seen := 0, map[int]bool{}
	for _, e := range m.Audio {
		if e.File != "" {
			recordings++
		}
		assert.That(t, !seen[e.Sequence], "the sequence %d is there twice", e.Sequence)
		seen[e.Sequence] = true
	}
	if want := 1 + 8 + 1; len(m.Audio) != want || recordings != 1 {
		t.Errorf("there are %d entries, %d of them recordings, want %d and one", len(m.Audio), recordings, want)
	}
}

// TestFolderThatTakesNothingSaysSoAndStaysAsItWas has the sessions in a folder in which nobody may write.
func TestFolderThatTakesNothingSaysSoAndStaysAsItWas(t *testing.T) {
	t.Parallel()
	s := newThinking(t)
	s.run(t, "", 0, []string{"council", "say", "The rent is 3000 euros."})
	m := s.sessions(t)[0]
	folder := filepath.Join(s.data, "sessions")
	s.give(t)
	before := read(t, filepath.Join(folder, m.ID, "metadata.json"))
	assert.NoError(t, chmod(folder, 0o500, 0o400))
	t.Cleanup(func() { assert.Nil(t, chmod(folder, 0o700, 0o600)) })
	for _, args := range [][]string{{"say", "More."}, {"add", s.memo}, {"rename", m.ID, "Other"},
		{"set", "--history=false"}, {"delete", m.ID}, {"new"}} {
		o := s.begin(t, onlyReads, append([]string{"council"}, args...)...)()
		if o.code != cli.ExitJournal || !strings.Contains(o.err, "permission denied") ||
			!strings.Contains(o.err, "which must be writable") || o.out != "" {
			t.Errorf("council %s exits %d: %s%s", args[0], o.code, o.out, o.err)
		}
	}
	o := s.begin(t, onlyReads, "council", "show")()
	assert.That(t, o.code == 0 && strings.Contains(o.out, "3000 euros"), "what is there can't be read: %s%s", o.out, o.err)
	got := read(t, filepath.Join(folder, m.ID, "metadata.json"))
	assert.That(t, string(got) == string(before), "the session was changed")
}

// TestAnswerThatTheFolderDoesNotTakeIsShownAndWrittenLater has an oracle answer while nobody may write in the folder.
func TestAnswerThatTheFolderDoesNotTakeIsShownAndWrittenLater(t *testing.T) {
	t.Parallel()
	s := newThinking(t)
	s.run(t, "", 0, []string{"council", "say", "The rent is 3000 euros."})
	folder := filepath.Join(s.data, "sessions")
	s.give(t)
	assert.NoError(t, chmod(folder, 0o500, 0o400))
	t.Cleanup(func() { assert.Nil(t, chmod(folder, 0o700, 0o600)) })
	o := s.begin(t, onlyReads, "council", "ask", "skeptic")()
	assert.That(t, strings.Contains(o.out, "The rent of 3000 euros is not proven.") &&
		strings.Contains(o.err, "stays in the journal"), "it exits %d: %s%s", o.code, o.out, o.err)
	assert.NoError(t, chmod(folder, 0o700, 0o600))
	o = s.begin(t, onlyReads, "council", "show")()
	assert.That(t, strings.Contains(o.out, "The rent of 3000 euros is not proven.") && strings.Contains(o.err,
		"an answer that could not be written before is now in the session's folder: 001_skeptic.txt"),
		"the next command exits %d: %s%s", o.code, o.out, o.err)
	if m := s.whole(t, "afterwards"); len(m.Answers) != 1 || len(s.model.requests()) != 1 {
		t.Errorf("there are %d answers of %d requests", len(m.Answers), len(s.model.requests()))
	}
}

// give lets the user whom onlyReads makes of root have the folders of the story; where this is no root, they are that
// user's already.
func (s *thinking) give(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	const nobody = 65534
	for _, folder := range []string{s.data, s.vault} {
		for up := filepath.Dir(folder); up != os.TempDir() && len(up) > 1; up = filepath.Dir(up) {
			assert.NoError(t, os.Chmod(up, 0o755))
		}
		assert.NoError(t, filepath.WalkDir(folder, func(name string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Lchown(name, nobody, nobody))
		}))
	}
}

// chmod gives all folders and files below a folder these modes.
func chmod(folder string, folders, files os.FileMode) error {
	if err := os.Chmod(folder, 0o700); err != nil {
		return err
	}
	var all []string
	err := filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			all = append(all, name)
			return os.Chmod(name, 0o700)
		}
		return errors.Join(err, os.Chmod(name, files))
	})
	for _, name := range slices.Backward(all) {
		err = errors.Join(err, os.Chmod(name, folders))
	}
	return err
}

// TestDiskThatIsFullLosesNothingOfASession lets files grow to a size that a recording is over.
func TestDiskThatIsFullLosesNothingOfASession(t *testing.T) {
	t.Parallel()
	s := newThinking(t)
	s.run(t, "", 0, []string{"council", "say", "The rent is 3000 euros."})
	m := s.sessions(t)[0]
	// The journal's file is larger already, and is only read here.
	large := filepath.Join(s.vault, "large.wav")
	write(t, large, string(tone())+strings.Repeat("\x00", 1<<20))
	o := s.begin(t, fileLimit+"=600000", "council", "add", "--later", large)()
	assert.That(t, o.code == cli.ExitFailed && strings.Contains(o.err, "large.wav") &&
		strings.Contains(o.err, "file too large") && strings.Contains(o.err, m.ID), "it exits %d: %s%s", o.code, o.out, o.err)
	now := s.whole(t, "full")
	assert.That(t, len(now.Audio) == 1, "there are %d entries", len(now.Audio))
	left, err := filepath.Glob(filepath.Join(s.data, "sessions", m.ID, "audio", ".*"))
	assert.That(t, err == nil && len(left) == 0, "left behind: %v, %v", left, err)
	s.run(t, "", 0, []string{"council", "add", "--later", large})
	now = s.whole(t, "with room")
	assert.That(t, len(now.Audio) == 2, "there are %d entries", len(now.Audio))
}
