package audit_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/run/audit"
)

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	assert.NoDiff(t, cmp.Diff(want, got), "%s (-want +got)", what)
}

// rec makes a record by hand, as another build may have written it.
func rec(seq int64, kind string, data string) journal.Record {
	return journal.Record{Seq: seq, Kind: kind, Data: json.RawMessage(data)}
}

const begun = `{"assistant":"tester","build":"b1","tree_file":"test.xml","tree":"sha256:1"}`

func completion(op int, label, rest string) string {
	return fmt.Sprintf(`{"op":%d,"leaf":"Do","kind":"read","label":"%s","digest":"d%d","now":%d,"took_ms":7%s}`, op,
		label, op, 100*op, rest)
}

// scripted is a run that reads, writes, crashes, is resumed, withdraws and ends.
var scripted = []journal.Record{
	rec(0, "start", begun),
	rec(1, "completion", completion(1, "read a", `,"result":"A"`)),
	rec(2, "completion", completion(2, "read b", `,"err":{"kind":"server","reason":"the server is down"}`)),
	rec(3, "mark", `{"op":3,"leaf":"Do","digest":"d3"}`),
	rec(4, "resume", `{"holder":"two","build":"b2","now":250,"repeated":[4]}`),
	rec(5, "completion", completion(3, "write c", `,"once":true,"found":true,"result":"C"`)),
	rec(6, "time", `{"now":1000}`),
	rec(7, "trace", `{"decided":[
		{"record":0,"status":"RUNNING","events":[{"rule":"Main/Script","key":"n","value":"1"},{"rule":"Main/Script","key":"m","value":"2"},
				{"rule":"Main/Script","status":"SUCCESS"},{"rule":"Main/Sub/Do","status":"RUNNING"}],
			"start":[{"op":1,"leaf":"Do","kind":"read","label":"read a","digest":"d1"},{"op":2,"leaf":"Do","kind":"read","label":"read b","digest":"d2"}]},
		{"record":1,"status":"RUNNING","events":[]},
		{"record":2,"status":"RUNNING","events":[{"rule":"Main/Sub/Do","status":"FAILURE","reason":"the server is down"},
				{"rule":"Main/Sub/Note","type":"noted","data":{"why":"down"}},{"rule":"Main/Sub/Note","type":"noted again","data":{}},
				{"rule":"Main/Sub/Note","status":"SUCCESS"},{"rule":"Main/Sub/Note","status":"SUCCESS"}],
			"start":[{"op":3,"leaf":"Do","kind":"write","label":"write c","digest":"d3"},{"op":4,"leaf":"Do","kind":"read","label":"read d","digest":"d4"}]},
		{"record":5,"status":"RUNNING","events":[]},
		{"record":6,"status":"SUCCESS","events":[{"rule":"Main/Sub/Do","status":"HALTED"}],"cancel":[4]}]}`),
	rec(8, "end", `{"status":"done","reason":"satisfied","now":1000,"outcome":{}}`),
}

func tell(effects []audit.Effect) []string {
	at := func(record *int64) string {
		if record == nil {
			return "-"
		}
		return fmt.Sprint(*record)
	}
	var all []string
	for _, e := range effects {
		line := fmt.Sprintf("%d %s %s once %v asked %s mark %s receipt %s: %s %s", e.Op, e.Kind, e.Name(), e.Once,
			at(e.Asking), at(e.Mark), at(e.Receipt), e.State, e.Why)
		if e.Repeated > 0 {
			line += fmt.Sprint(" repeated ", e.Repeated)
		}
		if e.Stopped {
			line += " under way at the stop"
		}
		all = append(all, strings.ReplaceAll(line, ":  ", ": "))
	}
	return all
}

func TestAuditHasEachEffectWithItsReceipt(t *testing.T) {
	a := audit.Of(journal.Run{ID: "r", Assistant: "tester", Title: "why?", Status: journal.Done}, scripted, nil,
		func(c *run.CompletionRecord) any { return string(c.Result) })
	same(t, "effects", tell(a.Effects), []string{
		"1 read read a once false asked 0 mark - receipt 1: ok ",
		"2 read read b once false asked 0 mark - receipt 2: failed the server is down",
		"3 write write c once true asked 2 mark 3 receipt 5: found ",
		"4 read read d once false asked 2 mark - receipt -: withdrawn the tree withdrew it repeated 1",
	})
	same(t, "receipt of the first", []any{a.Effects[0].Leaf, a.Effects[0].Digest, a.Effects[0].RunMS,
		a.Effects[0].TookMS}, []any{"Do", "d1", int64(100), int64(7)})
	same(t, "detail of what has a receipt", a.Effects[2].Detail, any(`"C"`))
	same(t, "detail of what has none", a.Effects[3].Detail, nil)
	same(t, "what else came in", a.Inputs, []audit.Input{
		{Record: 4, Kind: "resume", RunMS: 250, Holder: "two", Build: "b2", Repeated: []uint64{4}},
		{Record: 6, Kind: "time", RunMS: 1000}})
	same(t, "end", a.End, &audit.End{Record: 8, RunMS: 1000, Status: journal.Done, Reason: "satisfied"})
	same(t, "run", []string{a.Run, a.Assistant, a.Title, a.Build, a.TreeFile, a.Tree}, []string{"r", "tester", "why?",
		"b1", "test.xml", "sha256:1"})
	same(t, "remarks", a.Remarks, []string{})
}

func TestDecisionHasWhatItsNodeWroteAndTells(t *testing.T) {
	a := audit.Of(journal.Run{Status: journal.Done}, scripted, nil, nil)
	same(t, "decisions", a.Decisions, []audit.Decision{
		{Record: 0, Rule: "Main/Script", Status: "SUCCESS", Wrote: []audit.Written{{Key: "n", Value: "1"},
			{Key: "m", Value: "2"}}},
		{Record: 0, Rule: "Main/Sub/Do", Status: "RUNNING"},
		{Record: 2, Rule: "Main/Sub/Do", Status: "FAILURE", Reason: "the server is down"},
		{Record: 2, Rule: "Main/Sub/Note", Type: "noted", Data: json.RawMessage(`{"why":"down"}`)},
		{Record: 2, Rule: "Main/Sub/Note", Type: "noted again", Data: json.RawMessage(`{}`), Status: "SUCCESS"},
		{Record: 2, Rule: "Main/Sub/Note", Status: "SUCCESS"},
		{Record: 6, Rule: "Main/Sub/Do", Status: "HALTED"},
	})
}

func TestEffectsOfARunUnderWayStandAsFarAsTheyCame(t *testing.T) {
	steps := assert.Must(run.ReadTrace(scripted))(t)
	at := func(records, decided int) []string {
		a := audit.Of(journal.Run{Status: journal.Running}, scripted[:records], steps[:decided], nil)
		same(t, "remarks", a.Remarks, []string{})
		return tell(a.Effects)
	}
	same(t, "at first", at(1, 1), []string{
		"1 read read a once false asked 0 mark - receipt -: under way ",
		"2 read read b once false asked 0 mark - receipt -: under way "})
	same(t, "with the write under way", at(4, 3)[2:], []string{
		"3 write write c once true asked 2 mark 3 receipt -: under way ",
		"4 read read d once false asked 2 mark - receipt -: under way "})
}

func TestMarkedEffectWithoutReceiptIsUnknown(t *testing.T) {
	recs := []journal.Record{rec(0, "start", begun), rec(1, "mark", `{"op":3,"leaf":"Do","digest":"d3"}`),
		rec(2, "time", `{"now":5000}`)}
	steps := []run.TraceStep{
		{Record: 0, Start: []run.RequestedEffect{{Op: 1, Label: "read"}, {Op: 3, Label: "write"}, {Op: 4, Label: "never"}}},
		{Record: 2, Cancel: []uint64{1, 3}}}
	states := func(status journal.Status) (all []string) {
		for _, e := range audit.Of(journal.Run{Status: status}, recs, steps, nil).Effects {
			all = append(all, strings.TrimSpace(fmt.Sprint(e.Name(), ": ", e.State, " ", e.Why)))
		}
		return all
	}
	same(t, "while it runs", states(journal.Running), []string{"read: withdrawn the tree withdrew it",
		"write: unknown the tree withdrew it, and nobody can tell whether it took effect", "never: under way"})
	same(t, "once it is over", states(journal.Failed)[2], "never: withdrawn the run is over")
}

func TestStoppedRunTellsWhatWasUnderWay(t *testing.T) {
	recs := []journal.Record{
		rec(0, "start", begun), rec(1, "mark", `{"op":1,"leaf":"Do","digest":"d1"}`),
		rec(2, "cancel", `{"reason":"enough of it"}`),
		rec(3, "stopped", `{"now":900,"under":[`+completion(1, "write a",
			`,"once":true,"err":{"kind":"unknown","reason":"still under way"}`)+
			`,`+completion(2, "read b", `,"err":{"kind":"cancelled","reason":"withdrawn"},"result":"half"`)+`]}`),
		rec(4, "trace", `{"rules":[],"steps":[{"record":0,"status":"RUNNING","events":[]}]}`),
		rec(5, "end", `{"status":"cancelled","reason":"stopped","now":900,"fault":{"kind":"cancelled","reason":"enough of it"}}`),
	}
	a := audit.Of(journal.Run{Status: journal.Cancelled}, recs, nil, nil)
	same(t, "effects", tell(a.Effects), []string{
		"1 read write a once true asked - mark 1 receipt 3: unknown still under way under way at the stop",
		"2 read read b once false asked - mark - receipt 3: withdrawn withdrawn under way at the stop"})
	same(t, "inputs", a.Inputs, []audit.Input{{Record: 2, Kind: "cancel", Reason: "enough of it"},
		{Record: 3, Kind: "stopped", RunMS: 900}})
	same(t, "why it ended", a.End.Fault.Reason, "enough of it")
}

func TestDamagedRecordHidesNoOther(t *testing.T) {
	recs := []journal.Record{
		rec(0, "start", `{"assistant":"tester","colour":"blue"}`),
		rec(1, "completion", `{"op":1,"kind":"read","label":"read a","took_ms":"fast","leaf":"Do"}`),
		rec(2, "dream", `{}`),
		rec(3, "trace", `nonsense`),
		rec(4, "time", `{"now":`),
		rec(5, "end", `{"status":"done","reason":"satisfied"}`),
	}
	a := audit.Of(journal.Run{Status: journal.Done}, recs, nil, nil)
	same(t, "effects", tell(a.Effects), []string{"1 read read a once false asked - mark - receipt 1: ok "})
	same(t, "end", a.End.Reason, "satisfied")
	var starts []string
	for _, r := range a.Remarks {
		before, _, _ := strings.Cut(r, ":")
		starts = append(starts, before)
	}
	same(t, "remarks", starts, []string{
		"record 0 (start) names no build", "record 0 (start) names no tree", "record 1 (completion)",
		"record 1 (completion) names no digest",
		"the journal is damaged", "record 3 (trace)", "record 4 (time)", "what the tree decided is not in the journal"})
}

func TestRecordWithoutItsDecisionIsRemarkedOn(t *testing.T) {
	a := audit.Of(journal.Run{Status: journal.Running}, scripted[:7], []run.TraceStep{{Record: 0}, {Record: 1},
		{Record: 5}}, nil)
	same(t, "remarks", a.Remarks, []string{
		"what the tree decided on record 2 (completion) is not in the journal",
		"what the tree decided on record 6 (time) is not in the journal"})
}

func TestAuditOfNothingSaysSo(t *testing.T) {
	a := audit.Of(journal.Run{ID: "r", Status: journal.Running}, nil, nil, nil)
	same(t, "remarks", a.Remarks, []string{"the first record is no start"})
	text := assert.Must(json.Marshal(a))(t)
	assert.Contains(t, "the JSON", string(text), `"decisions":[]`, `"effects":[]`, `"events":[]`)
}

func TestAuditSurvivesAnyRecords(t *testing.T) {
	kinds := []string{"start", "mark", "completion", "trace", "time", "cancel", "stopped", "resume", "end", "other", ""}
	data := []string{``, `{}`, `null`, `[]`, `{"op":18446744073709551615}`,
		`{"op":1,"kind":"read","payload":{},"result":null}`,
		`{"op":2,"err":{}}`, `{"steps":[{"record":7,"start":[[1,"a"],[2]],"cancel":[1,2,3]}]}`, `{"repeated":[1,1,9]}`,
		`{"outcome":7}`,
		`{"rules":[{"in":"","nodes":{"1":"x"}}],"steps":[{"record":1,"events":[[1,"T","a"],[1,"W","k"],[2,"S"],[1,"?"]]}]}`, `{"under":[{"op":2,"err":{"kind":"unknown"}}]}`}
	rapid.Check(t, func(r *rapid.T) {
		var recs []journal.Record
		for n := range rapid.IntRange(0, 8).Draw(r, "records") {
			recs = append(recs, rec(int64(n), rapid.SampledFrom(kinds).Draw(r, "kind"), rapid.SampledFrom(data).
				Draw(r, "data")))
		}
		status := rapid.SampledFrom([]journal.Status{journal.Running, journal.Failed}).Draw(r, "status")
		a := audit.Of(journal.Run{Status: status}, recs, nil, nil)
		for _, e := range a.Effects {
			assert.Require(r, e.State != "" && (status == journal.Running || e.State != audit.UnderWay),
				"effect %+v of a run that is %s", e, status)
		}
		assert.Must(json.Marshal(a))(r)
	})
}
