package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/cli"
	"sibyl/internal/oracle"
)

// story is one process life after another over one data folder and one vault.
type story struct {
	data, vault string
	server      *played
}

func newStory(t *testing.T) *story {
	s := &story{data: t.TempDir(), vault: t.TempDir(), server: newPlayed()}
	t.Cleanup(s.server.Close)
	s.note(t, "caching.md", "# Caching\n")
	return s
}

// write writes a file and makes the folders that it lies in.
func write(t *testing.T, file, text string) {
	t.Helper()
	assert.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)))
}

// note writes a file of the vault.
func (s *story) note(t *testing.T, name, text string) {
	t.Helper()
	write(t, filepath.Join(s.vault, name), text)
}

// settingsFile is that of every process.
func (s *story) settingsFile() string { return filepath.Join(s.data, "sibyl", "config.yaml") }

// adds adds to the settings of a story.
func (s *story) adds(t *testing.T, settings string) {
	t.Helper()
	write(t, s.settingsFile(), string(read(t, s.settingsFile()))+settings)
}

// environ is that of every process.
func (s *story) environ() []string {
	return append(os.Environ(), "SIBYL_DATA="+s.data, "SIBYL_DATABASE=", "HOME="+s.data, "XDG_CONFIG_HOME="+s.data,
		"OPENAI_BASE_URL="+s.server.BaseURL+"/v1",
		"OPENAI_MODEL=player", "OLLAMA_HOST=127.0.0.1:1")
}

// sibyl runs the real program; killed says that it killed itself.
func (s *story) sibyl(t *testing.T, crash string, args ...string) (out []byte, killed bool) {
	t.Helper()
	o := s.begin(t, crashAt+"="+crash, args...)()
	assert.Require(t, o.code <= 0, "sibyl %s exits %d:\n%s", strings.Join(args, " "), o.code, o.err)
	return []byte(o.out), o.code < 0
}

// TestKilledAtAJournalWrite kills the process behind the write in which a run has asked for a note.
func TestKilledAtAJournalWrite(t *testing.T) {
	assert.Require(t, newStory(t).killedAt(t, "-4"), "the run has less than four writes: nothing was tested")
}

// TestKilledAtEveryJournalWrite kills the process before and after every write of a run with model calls, reads and a
// write to the vault, and resumes it: the write is there once, and each turn was asked for at most once more than
// needed.
func TestKilledAtEveryJournalWrite(t *testing.T) {
	needs.All(t, "many processes")
	for _, after := range []string{"", "-"} {
		n := 1
		for newStory(t).killedAt(t, after+itoa(n)) {
			n++
		}
		assert.Require(t, n >= 5, "the run has only %d writes: nothing was tested", n-1)
	}
}

// killedAt kills the process at a write, and goes on. It says whether there is such a write.
func (s *story) killedAt(t *testing.T, point string) bool {
	t.Helper()
	if _, killed := s.sibyl(t, point, s.question()...); !killed {
		return false
	}
	var out []byte
	if point == "1" {
		out, _ = s.sibyl(t, "", s.question()...) // nothing was begun: the person asks again
	} else {
		out, _ = s.sibyl(t, "", "run", "resume", "--json")
	}
	s.check(t, point, out)
	return true
}

func itoa(n int) string {
	text, err := json.Marshal(n)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (s *story) check(t *testing.T, point string, out []byte) {
	t.Helper()
	note := read(t, filepath.Join(s.vault, "caching.md"))
	n := strings.Count(string(note), "no cache")
	assert.That(t, n == 1, "killed at write %s: the note was written %d times", point, n)
	for _, n := range s.server.counts() {
		assert.That(t, n <= 2, "killed at write %s: a turn was asked for %d times", point, n)
	}
	if len(out) == 0 {
		return // the run had ended before the kill
	}
	var answer struct {
		Answer     string
		StopReason string `json:"stop_reason"`
	}
	err := json.Unmarshal(out, &answer)
	assert.Require(t, err == nil, "killed at write %s: %v in %q", point, err, out)
	assert.That(t, answer.StopReason == "satisfied" && strings.Contains(answer.Answer, "caching.md"),
		"killed at write %s: the resumed run says %+v", point, answer)
}

// noticesOf counts the lines in the file of notices, by type.
func (d *drama) noticesOf(t *testing.T, file string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(file)
	assert.Require(t, err == nil || os.IsNotExist(err), "%v", err)
	all := map[string]int{}
	for line := range bytes.Lines(text) {
		var n agent.Notice
		assert.NoError(t, json.Unmarshal(line, &n))
		all[n.Type]++
	}
	return all
}

// TestNoticesOfAResumedRunReachTheFileOfTheSettings: they are appended where the run ends, whichever process that is.
func TestNoticesOfAResumedRunReachTheFileOfTheSettings(t *testing.T) {
	t.Parallel()
	for _, crash := range []string{"3", "20", "25"} {
		d := newDrama(t)
		file := filepath.Join(d.data, "notices.jsonl")
		d.adds(t, "notices: "+file+"\n")
		d.killed(t, crash, d.ask(false)...)
		d.goOn(t, false)
		if n := d.noticesOf(t, file); n[agent.NoticeLoop] != 2 || n[agent.NoticeSummarised] != 1 {
			t.Errorf("killed at %s: the file of notices has %v", crash, n)
		}
	}
}

// TestResumedShadowIsNotShownAsTheAnswer: what a shadow says is for comparison only.
func TestResumedShadowIsNotShownAsTheAnswer(t *testing.T) {
	t.Parallel()
	_, writes := calmly(t)
	d := newDrama(t)
	d.killed(t, itoa(writes), d.ask(true)...) // before the end of the shadow is written
	o := d.run(t, "", cli.ExitAnswered, []string{"run", "resume", "--json"})
	assert.That(t, o.out == "", "resuming a shadow prints %s", o.out)
	a := d.ended(t).answers[oracle.ShadowName]
	assert.That(t, strings.Contains(a.Answer, "The shadow says so"), "the shadow ends with %+v", a)
}

// TestKeyInAToolResultIsRedactedAfterACrashToo: the key comes from a command, is in a note, and the reading of that
// note is what the resumed process begins with.
func TestKeyInAToolResultIsRedactedAfterACrashToo(t *testing.T) {
	t.Parallel()
	const key = "correct-horse-battery-staple"
	begin := func(t *testing.T) *drama {
		d := newDrama(t)
		d.adds(t, "providers: {openai: {key_command: [echo, "+key+"]}}\n")
		d.note(t, "more.md", "# More\n\n"+key+"\n")
		return d
	}
	check := func(t *testing.T, d *drama, when string) {
		t.Helper()
		for _, r := range d.ended(t).runs {
			_, out := d.here(t, "run", "watch", "--json", r.ID)
			assert.That(t, !strings.Contains(out, key) && strings.Contains(out, "more.md"),
				"%s: the journal holds the key, or nothing of the note", when)
		}
	}
	calm := begin(t)
	calm.run(t, "", cli.ExitPartial, calm.ask(false))
	check(t, calm, "without a crash")
	for _, crash := range []string{"20", "21", "22", "23", "24"} {
		d := begin(t)
		d.killed(t, crash, d.ask(false)...)
		d.goOn(t, false)
		check(t, d, "killed at "+crash)
	}
}
