package oracle_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sibyl/internal/agent"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/tool"
)

// audit is that of the last run.
func (h *harness) audit() oracle.RunAudit {
	h.t.Helper()
	r, err := h.store.Run(h.t.Context(), owner, h.last.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return oracle.Audit(r, h.records())
}

// part of an audit: that of a run which has come to its nth record and is not over.
func partOf(recs []journal.Record, n int) oracle.RunAudit {
	return oracle.Audit(journal.Run{ID: "r", Status: journal.Running}, recs[:n])
}

// raw is the markup that a signal's entry holds.
func raw(s oracle.AuditedSignal) string {
	if s.Malformed != nil {
		return s.Malformed.Raw
	}
	return s.Signal.RawXML
}

func TestFateOfASignalIsTheRuleThatAskedForIt(t *testing.T) {
	read := func(text string) modeltest.Turn {
		return modeltest.SayAndCall(text, "code_read", lines("auth/middleware.go", 10, 30))
	}
	for name, c := range map[string]struct {
		turns []modeltest.Turn
		most  int
		fate  oracle.Fate
		why   string
		rule  string
	}{
		"enough":                     {[]modeltest.Turn{modeltest.Say("It checks. " + enough())}, 9, oracle.Steered, "a rule asked for it", "/enough/SignalIs"},
		"go on":                      {[]modeltest.Turn{modeltest.Say(needTurn("more")), modeltest.Say("It checks. " + partial("x"))}, 9, oracle.Steered, "a rule asked for it", "/GoOn/Sequence/Fallback/SignalIs"},
		"calls beside need_turn":     {[]modeltest.Turn{read(needTurn("more")), modeltest.Say("It checks. " + partial("x"))}, 9, oracle.Noted, "another rule decided", "/UseTools/Sequence/RunTools"},
		"the next turn's is another": {[]modeltest.Turn{read(needTurn("more")), modeltest.Say(needTurn("even more")), modeltest.Say("It checks. " + partial("x"))}, 9, oracle.Noted, "another rule decided", "/UseTools/Sequence/RunTools"},
		"no turn is left":            {[]modeltest.Turn{modeltest.Say("So far. " + needTurn("more"))}, 1, oracle.Noted, "stop: budget", "/Forced/Sequence/Accept"},
		"stuck, so the fallback":     {[]modeltest.Turn{modeltest.Say(stuck("no hit")), modeltest.Say("It checks. " + partial("x"))}, 9, oracle.Steered, "stuck: no hit", "/InDoubt/Sequence/CauseOfDoubt"},
		"unsure, so the fallback":    {[]modeltest.Turn{modeltest.Say(element("need_turn", "0.1", "reason", "x")), modeltest.Say("It checks. " + partial("x"))}, 9, oracle.Steered, "unsure: ", "/InDoubt/Sequence/CauseOfDoubt"},
		"a capability, after a call": {[]modeltest.Turn{read(needCapability("email")), modeltest.Say("It checks. " + partial("x"))}, 9, oracle.Steered, "a rule asked for it", "/Capability/Sequence/SignalIs"},
	} {
		t.Run(name, func(t *testing.T) {
			h := setUp(t, c.turns...)
			h.turns = c.most
			h.ask(auth)
			s := h.audit().Signals[0]
			same(t, "fate", s.Fate, c.fate)
			holds(t, "why", s.Why, c.why)
			if !strings.HasSuffix(s.Rule, c.rule) {
				t.Errorf("the rule is %s, which does not end with %s", s.Rule, c.rule)
			}
		})
	}
}

func TestSignalThatTheTreeNeverSawIsInTheAudit(t *testing.T) {
	t.Run("of a turn that failed", func(t *testing.T) {
		h := setUp(t, modeltest.Turn{Text: "It checks" + needTurn("more"), Err: &model.Error{Kind: model.Server, Message: "overloaded"}})
		h.ask(auth)
		s := h.audit().Signals[0]
		same(t, "fate", s.Fate, oracle.Ignored)
		holds(t, "why", s.Why, "its turn failed", "overloaded")
	})
	t.Run("of a turn that was stopped", func(t *testing.T) {
		h := setUp(t, modeltest.Turn{Text: "It checks." + needTurn("more") + " And", Hang: true})
		live := h.start(auth)
		<-h.script.Hanging()
		live.Cancel("enough of it")
		h.finish(live)
		a := h.audit()
		s := a.Signals[0]
		same(t, "raw XML", raw(s), needTurn("more"))
		same(t, "turn", s.Turn, 1)
		same(t, "fate", s.Fate, oracle.Ignored)
		holds(t, "why", s.Why, "the run was stopped")
		same(t, "state of the turn", a.Effects[0].State, oracle.EffectWithdrawn)
		same(t, "it was under way", a.Effects[0].Stopped, true)
		var kinds []string
		for _, e := range a.Events {
			kinds = append(kinds, e.Kind+" "+e.Reason)
		}
		same(t, "events", kinds, []string{"cancel enough of it", "stopped "})
		same(t, "why it ended", a.End.StopReason, oracle.StopCancelled)
	})
	t.Run("of the last record there is", func(t *testing.T) {
		h := setUp(t, modeltest.Say("It checks. "+enough()))
		h.ask(auth)
		for n, rec := range h.records() {
			if rec.Kind == run.KindCompletion {
				s := partOf(h.records(), n+1).Signals[0]
				same(t, "fate", s.Fate, oracle.Pending)
			}
		}
	})
}

func TestAuditHasEachEffectWithItsReceipt(t *testing.T) {
	h := setUp(t,
		modeltest.Say(needTurn("look")).AndCall("vault_read", lines("a.md", 1, 9)).AndCall("vault_search", `{"query":"x"}`),
		modeltest.SayAndCall(needTurn("write"), "vault_write", `{"path":"caching.md"}`),
		modeltest.Say("Saved, after `a.md:2`. "+enough()))
	h.world.on("vault_search", func(tool.Call) (tool.Result, error) {
		return tool.Result{}, tool.Errorf(tool.Failed, "", "the folder is gone")
	})
	h.engine = h.newEngine(h.store, "test", newSteppingClock())
	h.ask(save)
	a := h.audit()
	recs := h.records()
	var got []string
	for _, e := range a.Effects {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%d %s turn %d once %v mark %v %s %s", e.Op, e.Label, e.Turn, e.Once, e.Mark != nil, e.State, e.Why)))
		var c run.CompletionRecord
		if err := json.Unmarshal(recs[*e.Receipt].Data, &c); err != nil {
			t.Fatal(err)
		}
		same(t, "operation of the receipt", c.Op, e.Op)
		same(t, "digest", e.Digest, c.Digest)
		same(t, "time taken", e.TookMS, c.TookMS)
		if e.TookMS == 0 || *e.Asked >= *e.Receipt || e.Kind == agent.EffectTurn && (e.Model != "scripted:test" || e.Prompt == "") {
			t.Errorf("effect %d: %+v", e.Op, e)
		}
	}
	same(t, "effects", got, []string{
		"1 turn 1 of 30 turn 1 once false mark false ok",
		`2 vault_read {"path":"a.md","start":1,"end":9} turn 1 once false mark false ok`,
		`3 vault_search {"query":"x"} turn 1 once false mark false failed the folder is gone`,
		"4 turn 2 of 30 turn 2 once false mark false ok",
		`5 vault_write {"path":"caching.md"} turn 2 once true mark true ok`,
		"6 turn 3 of 30 turn 3 once false mark false ok",
	})
	same(t, "arguments of the write", a.Effects[4].Arguments, `{"path":"caching.md"}`)
	same(t, "question", a.Question, save)
	same(t, "end", []any{a.End.Status, a.End.StopReason, a.End.Turns, a.End.MaxTurns}, []any{journal.Done, oracle.StopSatisfied, 3, 30})
	for _, d := range a.Decisions {
		if d.Rule == "" || d.Status == "" && d.Wrote == nil {
			t.Errorf("a decision without rule or word: %+v", d)
		}
	}
	holds(t, "decisions", fmt.Sprintf("%+v", a.Decisions), "Classify Status:SUCCESS Note:action", "Accept Status:SUCCESS Note:stop: satisfied", "{Key:done Value:true}")
	same(t, "turn of the last decision", a.Decisions[len(a.Decisions)-1].Turn, 3)
}

func TestAuditTellsWhoTookOverAndWhatWasRepeated(t *testing.T) {
	calm := secretary(t)
	whole := &crashing{Store: calm.store}
	calm.crashAndResume(save, whole)
	seen := map[oracle.EffectState]bool{}
	repeated := 0
	for at := 1; at <= whole.appends; at++ {
		h := secretary(t)
		h.crashAndResume(save, &crashing{Store: h.store, at: at})
		a := h.audit()
		if len(a.Remarks) > 0 {
			t.Errorf("crash at append %d: remarks %q", at, a.Remarks)
		}
		var again []uint64
		for _, e := range a.Events {
			same(t, "event", []string{e.Kind, e.Holder, e.Build}, []string{"resume", "the last process", "test"})
			again = append(again, e.Repeated...)
		}
		for _, e := range a.Effects {
			seen[e.State] = true
			if e.Repeated > 0 {
				again = again[1:]
				repeated++
			}
			if e.Once != (e.Mark != nil) || e.Asked == nil || e.Receipt == nil {
				t.Errorf("crash at append %d: effect %+v", at, e)
			}
		}
		same(t, "operations that are named as repeated and are not", len(again), 0)
	}
	same(t, "states", seen, map[oracle.EffectState]bool{oracle.EffectOK: true, oracle.EffectFound: true})
	if repeated == 0 {
		t.Error("nothing was repeated: the test proves nothing")
	}
}

func TestEffectsOfARunUnderWayStandAsFarAsTheyCame(t *testing.T) {
	h := secretary(t)
	h.crashAndResume(save, &crashing{Store: h.store})
	recs := h.records()
	states := map[string][]oracle.EffectState{}
	for n := 1; n <= len(recs); n++ {
		for _, e := range partOf(recs, n).Effects {
			name, _, _ := strings.Cut(e.Label, " ")
			if e.Label == "" {
				name = e.Leaf
			}
			if all := states[name]; len(all) == 0 || all[len(all)-1] != e.State {
				states[name] = append(all, e.State)
			}
		}
	}
	same(t, "states of the write", states["vault_write"], []oracle.EffectState{oracle.EffectUnderWay, oracle.EffectOK})
	// A mark comes before the trace of the step that asked: until then only its leaf is known.
	same(t, "states of what has only a mark", states["RunTools"], []oracle.EffectState{oracle.EffectUnderWay})
}

func TestWriteThatDidNotEndBeforeTheStopIsUnknown(t *testing.T) {
	h := setUp(t, modeltest.SayAndCall(needTurn("write it"), "vault_write", `{"path":"a.md"}`))
	h.grace = 1
	begun, goOn := make(chan struct{}), make(chan struct{})
	defer close(goOn)
	h.world.on("vault_write", func(tool.Call) (tool.Result, error) {
		close(begun)
		<-goOn
		return wrote, nil
	})
	live := h.start(save)
	<-begun
	live.Cancel("enough of it")
	h.finish(live)
	a := h.audit()
	e := a.Effects[len(a.Effects)-1]
	same(t, "write", []any{e.State, e.Stopped, e.Once, e.Mark != nil}, []any{oracle.EffectUnknown, true, true, true})
	holds(t, "why", e.Why, "still under way when the run was stopped")
}

// rec makes a record by hand, as another build may have written it.
func rec(seq int64, kind string, data string) journal.Record {
	return journal.Record{Seq: seq, Kind: kind, Data: json.RawMessage(data)}
}

func TestWithdrawnEffectsAreToldApartByWhetherTheyWrite(t *testing.T) {
	recs := []journal.Record{
		rec(0, "start", `{"build":"b","tree":"sha256:1","given":{"question":"why?"}}`),
		rec(1, "mark", `{"op":3,"leaf":"Write","digest":"d3"}`),
		rec(2, "trace", `{"steps":[{"record":0,"status":"RUNNING","events":null,"start":["read","write","never"],"cancel":[2]}]}`),
		rec(3, "time", `{"now":5000}`),
		rec(4, "trace", `{"steps":[{"record":3,"status":"RUNNING","events":null,"start":["late"],"cancel":[1,3]}]}`),
		rec(5, "time", `{"now":6000}`),
	}
	a := oracle.Audit(journal.Run{Status: journal.Running}, recs)
	var got []string
	for _, e := range a.Effects {
		got = append(got, fmt.Sprintf("%d %s %s", e.Op, e.Label, e.State))
	}
	same(t, "effects", got, []string{"1 read withdrawn", "3 write unknown", "4 never under way", "5 late under way"})
	same(t, "events", a.Events[1].RunMS, int64(6000))
	same(t, "remarks", a.Remarks, []string{"what the tree decided on record 5 (time) is not in the journal yet"})
}

func TestRecordsOfOtherBuildsAreReadAsFarAsTheyGo(t *testing.T) {
	recs := []journal.Record{
		rec(0, "start", `{"assistant":"oracle","given":{"question":"why?"},"colour":"blue"}`),
		rec(1, "completion", `{"op":1,"kind":"model.turn","label":"turn","took_ms":"fast","result":{"text":"x","signal":{"type":"stuck","confidence":0.5,`+
			`"raw_xml":"<signal one>","mood":"low"},"extra":[{"type":"stuck","raw_xml":"<signal two>"}],"problems":[{"reason":"odd","raw":"<signal three>"}]}}`),
		rec(2, "dream", `{}`),
		rec(3, "trace", `nonsense`),
		rec(4, "end", `{"status":"done","outcome":{"turns":1}}`),
	}
	a := oracle.Audit(journal.Run{ID: "r", Title: "why", Status: journal.Done}, recs)
	var signals []string
	for _, s := range a.Signals {
		signals = append(signals, fmt.Sprintf("%d %s %s", s.Turn, raw(s), s.Fate))
	}
	same(t, "signals", signals, []string{"1 <signal one> pending", "1 <signal two> ignored", "1 <signal three> ignored"})
	same(t, "turns", a.End.Turns, 1)
	holds(t, "remarks", strings.Join(a.Remarks, "\n"),
		"record 0 (start) names no build", "record 0 (start) names no tree", "record 1 (completion) can't be read", "took_ms",
		"record 1 (completion) names no digest", "counted as turn 1", `record 2 is of the kind "dream"`, "record 3 (trace) can't be read",
		"what the tree decided on record 1 (completion) is not in the journal", "record 4 (end) names no reason to stop")
}

func TestAuditOfNothingSaysSo(t *testing.T) {
	a := oracle.Audit(journal.Run{ID: "r", Title: "why", Status: journal.Running}, nil)
	same(t, "remarks", a.Remarks, []string{"the first record is no start"})
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "the JSON", string(text), `"signals":[]`, `"decisions":[]`, `"effects":[]`, `"events":[]`)
}

func TestAuditSurvivesAnyRecords(t *testing.T) {
	kinds := []string{"start", "mark", "completion", "trace", "time", "cancel", "stopped", "resume", "end", "other", ""}
	data := []string{``, `{}`, `null`, `[]`, `{"op":18446744073709551615}`, `{"op":1,"kind":"tool.call","payload":{"turn":9},"result":null}`,
		`{"op":2,"kind":"model.turn","payload":{"turn":-3},"result":{"signal":{"fields":{"a":1.5}}}}`, `{"steps":[{"record":7,"start":["a","a"],"cancel":[1,2,3]}]}`,
		`{"steps":[{"record":1,"events":[{"path":"x","note":"signal stuck (0.1)","status":"SUCCESS"},{"path":"/y","key":"k"}]}]}`,
		`{"under":[{"op":2,"kind":"model.turn","err":{"kind":"unknown"},"result":{"signal":{"type":"stuck"}}}]}`, `{"repeated":[1,1,9]}`, `{"outcome":7}`}
	rapid.Check(t, func(r *rapid.T) {
		var recs []journal.Record
		for n := range rapid.IntRange(0, 8).Draw(r, "records") {
			recs = append(recs, rec(int64(n), rapid.SampledFrom(kinds).Draw(r, "kind"), rapid.SampledFrom(data).Draw(r, "data")))
		}
		status := rapid.SampledFrom([]journal.Status{journal.Running, journal.Failed}).Draw(r, "status")
		a := oracle.Audit(journal.Run{Status: status}, recs)
		for _, e := range a.Effects {
			if e.State == "" || status != journal.Running && e.State == oracle.EffectUnderWay {
				r.Fatalf("effect %+v of a run that is %s", e, status)
			}
		}
		if _, err := json.Marshal(a); err != nil {
			r.Fatal(err)
		}
	})
}
