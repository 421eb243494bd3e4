package main

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/cli"
	"sibyl/internal/council/session"
)

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
		"oracle": {newStory, func(s *story) []string {
			return s.question()
		}, []int{cli.ExitAnswered}, func(t *testing.T, s *story, o outcome) {
			if o.code != cli.ExitPartial { // else it has ended, and said what it could not do
				o = s.resumeOrRepeat(t, o, s.question())
			}
			s.notedOnce(t, o)
		}},
		"council add": {memoTold, func(s *story) []string {
			return []string{"council", "add", filepath.Join(s.vault, "memo.wav")}
		}, []int{cli.ExitAnswered},
			func(t *testing.T, s *story, _ outcome) {
				s.run(t, "", cli.ExitAnswered, []string{"council", "add", filepath.Join(s.vault, "memo.wav")})
				s.run(t, "", cli.ExitAnswered, []string{"run", "resume"})
				s.run(t, "", cli.ExitAnswered, []string{"council", "transcribe", "--again"})
				m := (&thinking{story: s}).whole(t, "a fault")
				assert.That(t, len(m.Audio) == 2 && m.Audio[1].Status == session.Success &&
					s.heard(t, 2) == "Tomorrow we will talk about the money.", "the session is %s: %+v", m.State, m.Audio)
			}},
		"council sitting": {memoTold, func(*story) []string {
			return []string{"council", "ask", "skeptic", "optimist"}
		}, []int{cli.ExitAnswered},
			func(t *testing.T, s *story, o outcome) {
				s.run(t, "", cli.ExitAnswered, []string{"run", "resume"})
				if all := s.sessions(t); len(all[0].Answers) == 0 &&
					!strings.Contains(o.out, "The rent of 3000 euros") {
					s.run(t, "", cli.ExitAnswered, []string{"council", "ask", "skeptic", "optimist"})
				}
				var names []string
				for _, e := range (&thinking{story: s}).whole(t, "a fault").Answers {
					names = append(names, e.OracleName)
				}
				slices.Sort(names)
				assert.That(t, slices.Equal(slices.Compact(slices.Clone(names)), names), "there are answers of %v", names)
			}},
		"tasks": {newStory, func(*story) []string {
			return []string{"chat", "--json", "-m", "offline:rules", "add buy milk"}
		}, []int{cli.ExitAnswered}, goesOnWithTasks},
		"inquiry": {reported, investigation, []int{cli.ExitAnswered, cli.ExitPartial},
			func(t *testing.T, s *story, o outcome) {
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
	s.note(t, "reports/closure.txt",
		"The bridge was closed on 4 March 2021 because of corrosion. Ada Miller of the city council ordered the "+
			"closure.\n")
	return s
}

func investigation(s *story) []string {
	return []string{"investigate", "--json", "-q", "--detective", "offline:rules",
		"The bridge was closed because of corrosion.", "--witness", filepath.Join(s.vault, "reports"), "--limit", "5"}
}

// resumeOrRepeat goes on with what was interrupted; where nothing was begun, the person asks again.
func (s *story) resumeOrRepeat(t *testing.T, before outcome, args []string) outcome {
	t.Helper()
	if before.code == cli.ExitAnswered {
		return before
	}
	again := s.begin(t, "", "run", "resume", "--json")()
	if strings.Contains(again.err, "no paused runs") {
		if s.satisfied(t) {
			return outcome{}
		}
		again = s.begin(t, "", args...)()
	}
	assert.That(t, again.code == cli.ExitAnswered || again.code == cli.ExitPartial,
		"going on exits %d: %s%s", again.code, again.out, again.err)
	return again
}

// notedOnce wants the note to be there once; where it could not be written, that was said.
func (s *story) notedOnce(t *testing.T, o outcome) {
	t.Helper()
	note, err := os.ReadFile(filepath.Join(s.vault, "caching.md"))
	assert.Require(t, err == nil && strings.HasPrefix(string(note), "# Caching\n"), "the note holds %q, %v", note, err)
	n := strings.Count(string(note), "no cache")
	assert.That(t, n <= 1 && (n != 0 || strings.Contains(o.out, `"error":`)),
		"the note was written %d times: %s", n, o.out)
}

// satisfied says that the last run came to its end.
func (s *story) satisfied(t *testing.T) bool {
	t.Helper()
	o := s.run(t, "", cli.ExitAnswered, []string{"run", "list", "--json"})
	var all []listed
	err := json.Unmarshal([]byte(o.out), &all)
	assert.Require(t, err == nil, "%v in %s", err, o.out)
	return len(all) > 0 && slices.Contains([]string{"satisfied", "limit", "no-progress"}, all[0].Cause)
}

// goesOnWithTasks wants the task there once, whatever was heard of it.
func goesOnWithTasks(t *testing.T, s *story, _ outcome) {
	s.run(t, "", cli.ExitAnswered, []string{"run", "resume"})
	var all []struct{ Title string }
	list := func() {
		o := s.run(t, "", cli.ExitAnswered, []string{"task", "list", "--json"})
		err := json.Unmarshal([]byte(o.out), &all)
		assert.Require(t, err == nil, "%v in %s", err, o.out)
	}
	if list(); len(all) == 0 { // it was not heard, and that was said
		s.run(t, "", cli.ExitAnswered, []string{"chat", "-m", "offline:rules", "add buy milk"})
		list()
	}
	assert.That(t, len(all) == 1 && all[0].Title == "buy milk", "the tasks are %v", all)
}

// soundInquiries wants the file of each inquiry to be whole.
func (s *story) soundInquiries(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(s.data, "inquiries", "sessions", "*.json"))
	assert.That(t, err == nil && len(files) != 0, "there is no file of an inquiry: %v", err)
	for _, file := range files {
		s.run(t, "", cli.ExitAnswered, []string{"inquiry", "verify", file})
	}
}

// tidy wants nothing half-written: no temporary file that stays, no JSON that is torn. A process that stops short for
// its journal does not wait for what an oracle beside it writes, which is then as after a crash.
func (s *story) tidy(t *testing.T, o outcome) {
	t.Helper()
	for _, folder := range []string{s.data, s.vault} {
		assert.Nil(t, filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			assert.That(t, !strings.HasSuffix(name, ".tmp") || strings.Contains(o.err, "stopped short"), "%s stays behind", name)
			content, err := os.ReadFile(name)
			assert.That(t, !strings.HasSuffix(name, ".json") || (err == nil && json.Valid(content)),
				"%s is torn (%v): %q", name, err, content)
			return nil
		}))
	}
}

// told wants an outcome to be good, or to say in words for a person what went wrong.
func (s *story) told(t *testing.T, o outcome, good []int) {
	t.Helper()
	found := internals().FindString(o.err)
	assert.That(t, found == "", "“%s” is no word for a person: %s", found, o.err)
	switch {
	case slices.Contains(good, o.code):
	case o.code < 0 || o.code > 5:
		t.Errorf("it exits %d: %s%s", o.code, o.out, o.err)
	case strings.TrimSpace(o.err) == "" && !strings.Contains(o.out, `"error":"`):
		t.Errorf("it exits %d without a word: %s", o.code, o.out)
	}
}
