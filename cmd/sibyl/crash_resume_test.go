package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/cli"
	"sibyl/internal/oracle"
)

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
			_, out := d.here(t, "run", "watch", r.ID)
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
