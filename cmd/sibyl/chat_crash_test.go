package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/cli"
)

// TestChatKilledAtWritesDeletesOnceAndOnlyAfterAYes kills the process before and after writes of each message of a
// dialogue that adds a task and deletes it; in the long form every write. The person says again what was not heard, and
// goes on where it was.
func TestChatKilledAtWritesDeletesOnceAndOnlyAfterAYes(t *testing.T) {
	needs.All(t, "many processes")
	stride := needs.Stride(2)
	dialogue := []string{"add buy milk", "show my tasks", "delete task 1", "yes", "yes"}
	var points atomic.Int64
	t.Run("at", func(t *testing.T) {
		for message, words := range dialogue {
			t.Run(fmt.Sprintf("message %d, %s", message+1, words), func(t *testing.T) {
				t.Parallel()
				for _, after := range []string{"", "-"} {
					for n := 1; ; n += stride {
						s := newStory(t)
						if !s.chatsKilledAt(t, dialogue, message, after+itoa(n)) {
							break
						}
						points.Add(1)
					}
				}
			})
		}
	})
	assert.That(t, points.Load() >= int64(20/stride), "killed at %d points only", points.Load())
	t.Logf("killed at %d points", points.Load())
}

// chatsKilledAt holds the dialogue, with the process killed at a write of one message; false if that has no such write.
func (s *story) chatsKilledAt(t *testing.T, dialogue []string, message int, crash string) bool {
	t.Helper()
	chat := func(crash, words string) bool {
		_, killed := s.sibyl(t, crash, "chat", "--json", "-m", "offline:rules", words)
		return killed
	}
	for n, words := range dialogue {
		if n != message {
			chat("", words)
			continue
		}
		if !chat(crash, words) {
			return false
		}
		s.resumes(t)
		if s.runs(t) == n { // it was not heard
			chat("", words)
		}
	}
	out, _ := s.sibyl(t, "", "task", "list", "--json")
	assert.That(t, strings.TrimSpace(string(out)) == "[]",
		"killed at write %s of “%s”: there is %s", crash, dialogue[message], out)
	out, _ = s.sibyl(t, "", "task", "history", "1", "--json")
	var history []struct{ Action string }
	err := json.Unmarshal(out, &history)
	assert.Require(t, err == nil, "%v in %s", err, out)
	assert.NoDiff(t, cmp.Diff([]struct{ Action string }{{"add"}, {"delete"}}, history),
		"killed at write %s of “%s”, the history (-want +got)", crash, dialogue[message])
	return true
}

// resumes goes on with what was interrupted, which may end with a question.
func (s *story) resumes(t *testing.T) {
	t.Helper()
	o := s.begin(t, "", "run", "resume", "--json")()
	assert.Require(t, o.code == cli.ExitAnswered || o.code == cli.ExitPartial, "it exits %d: %s%s", o.code, o.out, o.err)
}

// runs counts the runs of the journal.
func (s *story) runs(t *testing.T) int {
	t.Helper()
	out, _ := s.sibyl(t, "", "run", "list", "--json")
	var all []json.RawMessage
	err := json.Unmarshal(out, &all)
	assert.Require(t, err == nil, "%v in %s", err, out)
	return len(all)
}
