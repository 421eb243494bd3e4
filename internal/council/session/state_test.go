package session

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/text/jsonobject"
)

// moves say what each state becomes: when something is added, when something waits again, when all is answered, and
// when a run begins to transcribe.
const moves = `
COLLECTING    COLLECTING    COLLECTING    READY         TRANSCRIBING
TRANSCRIBING  TRANSCRIBING  TRANSCRIBING  TRANSCRIBING  TRANSCRIBING
TRANSCRIBED   COLLECTING    COLLECTING    READY         TRANSCRIBING
READY         COLLECTING    COLLECTING    READY         TRANSCRIBING
INTERRUPTED   COLLECTING    INTERRUPTED   READY         TRANSCRIBING
ERROR         COLLECTING    COLLECTING    ERROR         TRANSCRIBING
PAUSED        COLLECTING    COLLECTING    READY         TRANSCRIBING`

func TestEveryStateBecomesWhatItMust(t *testing.T) {
	s, id := begun(t)
	for row := range strings.Lines(strings.TrimSpace(moves)) {
		cells := strings.Fields(row)
		for i, move := range []func(m *Session){(*Session).markAdded, (*Session).markWaiting, (*Session).markAnswered} {
			m := Session{State: State(cells[0])}
			move(&m)
			same(t, cells[0], m.State, State(cells[i+1]))
		}
		put(t, s.path(id, metadataFile), `{"state":"`+cells[0]+`"}`)
		same(t, cells[0]+", when a run begins", assert.Must(s.BeginTranscribing(t.Context(), id))(t).State, State(cells[4]))
	}
}

func TestTranscribingEndsAsItsRecordingsStand(t *testing.T) {
	for statuses, want := range map[string]State{"": Transcribed, "SUCCESS": Transcribed, "SUCCESS FAILED": Failed,
		"FAILED PENDING": Interrupted} {
		s, id := begun(t)
		for _, from := range []State{Transcribing, Interrupted, Ready} {
			m := Session{ID: id, State: from}
			for _, status := range strings.Fields(statuses) {
				m.Audio = append(m.Audio, AudioEntry{Status: Status(status)})
			}
			put(t, s.path(id, metadataFile), string(assert.Must(jsonobject.Encode(&m))(t)))
			if from == Ready { // which no run transcribes
				want = Ready
			}
			same(t, string(from)+" "+statuses, assert.Must(s.EndTranscribing(t.Context(), id))(t).State, want)
		}
	}
}

func TestAStateThatIsNotKnownStopsNobodyFromSpeaking(t *testing.T) {
	s := written(t, `{"state":"PAUSED"}`)
	ctx := t.Context()
	same(t, "repaired",
		[]any{assert.Must(s.Repair(ctx, exampleID))(t).Changed, assert.Must(s.Get(ctx, exampleID))(t).State},
		[]any{true, Collecting})
	put(t, s.path(exampleID, metadataFile), `{"state":"PAUSED"}`)
	assert.Must(s.AddText(ctx, exampleID, "words"))(t)
	assert.Must(s.SaveResponse(ctx, exampleID, holding(answer("op", "an answer"), "t1")))(t)
	same(t, "state", assert.Must(s.Get(ctx, exampleID))(t).State, Ready)
}

func TestAnsweringWaitsForWhatIsPending(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	assert.Must(s.AddText(ctx, id, "words"))(t)
	add(t, s, id, "sound")
	assert.Must(s.SaveResponse(ctx, id, holding(answer("1", "one"), "t1")))(t)
	same(t, "state while audio waits", assert.Must(s.Get(ctx, id))(t).State, Collecting)
	assert.Must(s.SaveTranscript(ctx, id, Transcript{Sequence: 2, Text: "heard"}))(t)
	assert.Must(s.SaveResponse(ctx, id, holding(answer("2", "two"), "t1")))(t)
	same(t, "state when what was heard since is in no answer", assert.Must(s.Get(ctx, id))(t).State, Collecting)
	assert.Must(s.SaveResponse(ctx, id, holding(answer("3", "three"), "t1", "t2")))(t)
	same(t, "state when all is answered", assert.Must(s.Get(ctx, id))(t).State, Ready)
}

// holding is an answer whose context held these entries.
func holding(r Response, entries ...string) Response {
	r.Context.Entries = entries
	return r
}
