package session

import (
	"errors"
	"strings"
	"testing"
)

var (
	states = []State{Collecting, Transcribing, Transcribed, Ready, Interrupted, Failed}
	acts   = []Act{Add, TranscriptionBegins, TranscriptionEnds, TranscriptionFails, TranscriptionStops, Retried, Answered}
)

// legal says where each act leads from each state, when nothing is PENDING; "-" is nowhere. The columns are those of acts.
const legal = `
COLLECTING    COLLECTING    TRANSCRIBING  -            -      -            COLLECTING    READY
TRANSCRIBING  TRANSCRIBING  TRANSCRIBING  TRANSCRIBED  ERROR  INTERRUPTED  TRANSCRIBING  TRANSCRIBING
TRANSCRIBED   COLLECTING    -             TRANSCRIBED  -      -            COLLECTING    READY
READY         COLLECTING    -             -            -      -            COLLECTING    READY
INTERRUPTED   COLLECTING    TRANSCRIBING  TRANSCRIBED  ERROR  INTERRUPTED  INTERRUPTED   READY
ERROR         COLLECTING    TRANSCRIBING  -            ERROR  -            COLLECTING    ERROR
UNHEARD       -             -             -            -      -            -             -`

// waiting are the pairs that lead elsewhere while something is PENDING.
var waiting = map[State]map[Act]State{
	Collecting:   {Answered: Collecting},
	Transcribing: {TranscriptionEnds: Collecting},
	Interrupted:  {TranscriptionEnds: Interrupted, Answered: Interrupted},
}

func TestEveryStateTakesTheActsThatItMay(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(legal), "\n")
	same(t, "rows", len(rows), len(states)+1)
	for _, row := range rows {
		cells := strings.Fields(row)
		from := State(cells[0])
		for i, act := range acts {
			for _, pending := range []bool{false, true} {
				want := State(cells[i+1])
				if to, differs := waiting[from][act]; pending && differs {
					want = to
				}
				got, err := from.Next(act, pending)
				illegal, isIllegal := errors.AsType[*Illegal](err)
				switch {
				case want == "-" && (!isIllegal || got != from || illegal.State != from || illegal.Act != act):
					t.Errorf("%s from %s leads to %s, %v; want it refused", act, from, got, err)
				case want != "-" && (got != want || err != nil):
					t.Errorf("%s from %s, pending %v, leads to %s, %v; want %s", act, from, pending, got, err, want)
				}
			}
		}
	}
}

func TestMoveKeepsTheSessionWhereAnActIsNotLegal(t *testing.T) {
	s, id := begun(t)
	must(s.AddText(t.Context(), id, "words"))(t)
	before := content(t, s.path(id, metadataFile))
	_, err := s.Move(t.Context(), id, TranscriptionStops)
	if illegal, ok := errors.AsType[*Illegal](err); !ok || illegal.State != Collecting || !strings.Contains(err.Error(), "COLLECTING") {
		t.Errorf("%v", err)
	}
	same(t, "metadata.json", content(t, s.path(id, metadataFile)), before)
	if _, err := s.Move(t.Context(), id, "dance"); err == nil {
		t.Error("an act that there is not was taken")
	}
}

func TestAStateThatIsNotKnownStopsNobodyFromSpeaking(t *testing.T) {
	s := written(t, `{"state":"PAUSED"}`)
	ctx := t.Context()
	must(s.AddText(ctx, exampleID, "words"))(t)
	add(t, s, exampleID, "sound")
	must(s.SaveResponse(ctx, exampleID, answer("op", "an answer")))(t)
	m := must(s.Get(ctx, exampleID))(t)
	same(t, "state", m.State, "PAUSED")
	same(t, "entries", []int{len(m.Audio), len(m.Answers)}, []int{2, 1})
	if _, err := s.Move(ctx, exampleID, TranscriptionBegins); err == nil || !strings.Contains(err.Error(), "PAUSED") || !strings.Contains(err.Error(), "repair") {
		t.Errorf("%v", err)
	}
	report := must(s.Repair(ctx, exampleID))(t)
	same(t, "repaired", []any{report.Changed, must(s.Get(ctx, exampleID))(t).State}, []any{true, Collecting})
}

func TestAnsweringWaitsForWhatIsPending(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	must(s.AddText(ctx, id, "words"))(t)
	add(t, s, id, "sound")
	must(s.SaveResponse(ctx, id, holding(answer("1", "one"), "t1")))(t)
	same(t, "state while audio waits", must(s.Get(ctx, id))(t).State, Collecting)
	must(s.SaveTranscript(ctx, id, Transcript{Sequence: 2, Text: "heard"}))(t)
	must(s.SaveResponse(ctx, id, holding(answer("2", "two"), "t1")))(t)
	same(t, "state when what was heard since is in no answer", must(s.Get(ctx, id))(t).State, Collecting)
	must(s.SaveResponse(ctx, id, holding(answer("3", "three"), "t1", "t2")))(t)
	same(t, "state when all is answered", must(s.Get(ctx, id))(t).State, Ready)
	must(s.AddText(ctx, id, "more"))(t)
	same(t, "state when more is said", must(s.Get(ctx, id))(t).State, Collecting)
}

func TestAddingWhileItIsTranscribedIsNotTakenForTranscribed(t *testing.T) {
	s, id := begun(t)
	ctx := t.Context()
	add(t, s, id, "sound 1")
	must(s.Move(ctx, id, TranscriptionBegins))(t)
	add(t, s, id, "sound 2")
	same(t, "state", must(s.Get(ctx, id))(t).State, Transcribing)
	must(s.SaveTranscript(ctx, id, Transcript{Sequence: 1, Text: "one"}))(t)
	same(t, "state with one that waits", must(s.Move(ctx, id, TranscriptionEnds))(t).State, Collecting)
}

// holding is an answer whose context held these entries.
func holding(r Response, entries ...string) Response {
	r.Context.Entries = entries
	return r
}
