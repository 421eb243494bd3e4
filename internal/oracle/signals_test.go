package oracle_test

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
)

// signals is the audit of the last run's signals.
func (h *harness) signals() []oracle.AuditedSignal {
	h.t.Helper()
	return oracle.AuditSignals(h.bodies(), h.steps())
}

// bodies are what the records of the last run say.
func (h *harness) bodies() (all []any) {
	h.t.Helper()
	for _, rec := range h.records() {
		body := assert.Must(run.Read(rec))(h.t)
		all = append(all, body)
	}
	return all
}

// raw is the markup that a signal's entry holds.
func raw(s oracle.AuditedSignal) string {
	if s.Malformed != nil {
		return s.Malformed.Raw
	}
	return s.Signal.RawXML
}

func TestSignalThatTheTreeNeverSawIsInTheAudit(t *testing.T) {
	t.Run("of the last record there is", func(t *testing.T) {
		h := setUp(t, theEnd)
		h.ask(auth)
		same(t, "the reply's record", h.records()[1].Kind, run.KindCompletion)
		s := oracle.AuditSignals(h.bodies()[:2], nil)[0]
		same(t, "fate", s.Fate, oracle.Pending)
	})
}

func TestSignalsOfAnotherBuildAreReadAsFarAsTheyGo(t *testing.T) {
	body, err := run.Read(journal.Record{Seq: 1, Kind: run.KindCompletion,
		Data: []byte(`{"op":1,"kind":"model.turn","colour":"blue","result":{"text":"x","report":{` +
			`"signal":{"type":"stuck","confidence":0.5,"raw_xml":"<signal one>","mood":"low"},"extra":[{"type":"stuck","raw_xml":"<signal two>"}],` +
			`"problems":[{"reason":"odd","raw":"<signal three>"}]}}}`)})
	assert.NoError(t, err)
	var signals []string
	for _, s := range oracle.AuditSignals([]any{&run.StartRecord{}, body, nil, &run.EndRecord{}}, nil) {
		signals = append(signals, strings.Join([]string{raw(s), string(s.Fate), s.Why}, " | "))
	}
	same(t, "signals", signals, []string{"<signal one> | pending | the journal does not say what the tree did with it",
		"<signal two> | ignored | extra: only the first signal in a reply counts",
		"<signal three> | ignored | malformed: odd"})
}

func TestSignalsOfARunWithoutRepliesAreAnEmptyList(t *testing.T) {
	same(t, "signals", oracle.AuditSignals(nil, nil), []oracle.AuditedSignal{})
}
