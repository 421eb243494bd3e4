package council_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/files"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// noon is when a session takes place whose context is compared letter by letter.
var noon = time.Date(2025, 12, 20, 12, 0, 0, 0, time.UTC)

// ticking is a clock that goes on by a second each time it is read.
func ticking() func() time.Time {
	at := noon
	return func() time.Time {
		at = at.Add(time.Second)
		return at
	}
}

func TestOracleIsSentItsPersonaWithTheContextByteForByte(t *testing.T) {
	h := newHouse(t)
	h.oracle("Ada", "# Ada\nYou are Ada.\n\n{{CONTEXT}}\n\nOnce more: {{CONTEXT}}\n")
	h.now = ticking()
	h.says("I wonder about the office.", "The rent is 900 euros.  \n")
	p := h.process("one", h.journal)
	_, o := p.run(h.ask("ada"))
	h.now = func() time.Time { return noon.Add(time.Hour) }
	at := o.Answer.At.Format("2006-01-02 15:04:05")
	first := h.session()
	said := fmt.Sprintf("[TRANSCRIPT 1 - %s]\nI wonder about the office.\n\n[TRANSCRIPT 2 - %s]\nThe rent is 900 euros.",
		first.Audio[0].ReceivedAt.Format("2006-01-02 15:04:05"),
		first.Audio[1].ReceivedAt.Format("2006-01-02 15:04:05"))
	persona := func(context string) string {
		return "# Ada\nYou are Ada.\n\n" + context + "\n\nOnce more: " + context + "\n"
	}
	asked := h.requests(council.Purpose)
	same(t, "system prompt", asked[0].System, "")
	same(t, "messages", asked[0].Messages, []model.Message{{Role: model.User, Text: persona(said)}})
	p.run(h.ask("ada"))
	answered := fmt.Sprintf("[ORACLE: Ada - %s]\nAda answers.", at)
	same(t, "messages with what was answered before", h.requests(council.Purpose)[1].Messages,
		[]model.Message{{Role: model.User, Text: persona(said + "\n\n" + answered)}})
}

func TestAnswerIsStoredWithItsEntryAndSnapshot(t *testing.T) {
	h := newHouse(t)
	h.oracle("Cético", "# Cético\nDuvide.\n{{CONTEXT}}\n")
	h.says("First.", "Second.")
	p := h.process("one", h.journal)
	res, o := p.run(h.ask("cético"))
	same(t, "status", res.Status, journal.Done)
	same(t, "files", h.files(), []string{"001_cetico.txt"})
	same(t, "stored", h.stored("001_cetico.txt"), "Cético answers.")
	s := h.session()
	same(t, "entries", len(s.Answers), 1)
	e := s.Answers[0]
	oracle := assert.Must(h.shelf.Find(t.Context(), "cético"))(t)
	same(t, "entry", []any{e.Sequence, e.OracleName, e.OracleID, e.File, e.Run, e.Kind},
		[]any{1, "Cético", oracle.ID, "001_cetico.txt", res.Run, ""})
	assert.That(t, e.Operation != "" && !e.CreatedAt.IsZero() && time.Since(e.CreatedAt) <= time.Hour,
		"entry of %v with the operation %q", e.CreatedAt, e.Operation)
	sent := h.requests(council.Purpose)[0].Messages[0].Text
	c := e.Context
	same(t, "snapshot", []any{c.Transcripts, c.Responses, c.IncludeHistory, c.Entries, c.Cut, c.Model, c.PromptHash},
		[]any{2, 0, true, []string{"t1", "t2"}, []string(nil), acting, files.Hash([]byte(sent))})
	context := strings.TrimSuffix(strings.TrimPrefix(sent, "# Cético\nDuvide.\n"), "\n")
	same(t, "estimate of tokens", *c.TokensEstimate, (len([]rune(context))+3)/4)
	same(t, "what the outcome says", []any{o.Answer.File, o.Answer.Sequence, o.Answer.Text,
		o.Answer.Snapshot.PromptHash}, []any{e.File, 1, "Cético answers.", c.PromptHash})
	contains(t, res.Footer, "001_cetico.txt", acting)
	p.run(h.ask("ada"))
	same(t, "snapshot with history", []any{h.session().Answers[1].Context.Responses,
		h.session().Answers[1].Context.Entries}, []any{1, []string{"t1", "t2", "r1"}})
	same(t, "state", h.session().State, session.Ready)
}

func TestHistoryIsAsTheSessionIsSetUnlessACallSaysOtherwise(t *testing.T) {
	yes, no := true, false
	for _, c := range []struct {
		set  bool
		call *bool
		want bool
	}{{true, nil, true}, {true, &no, false}, {false, nil, false}, {false, &yes, true}} {
		h := houseOf(t, "Hm.")
		p := h.process("one", h.journal)
		p.run(h.ask("ada"))
		assert.Must(p.desk().Set(t.Context(), h.id, session.Settings{IncludeLLMHistory: &c.set}))(t)
		o := h.ask("bob")
		o.History = c.call
		p.run(o)
		snapshot := h.session().Answers[1].Context
		same(t, "history in the snapshot", snapshot.IncludeHistory, c.want)
		same(t, "history in the prompt", strings.Contains(h.requests(council.Purpose)[1].Messages[0].Text,
			"Ada answers."), c.want)
		same(t, "answers in the snapshot", snapshot.Responses == 1, c.want)
	}
}

func TestWhatDoesNotFitIntoTheModelsWindowIsCutAndTold(t *testing.T) {
	h := newHouse(t)
	for n := range 9 {
		h.says(fmt.Sprintf("Thought %d. %s", n+1, strings.Repeat("word ", 40)))
	}
	h.window = 660
	p := h.process("one", h.journal)
	preview := assert.Must(p.deps.Preview(t.Context(), assistant.Request{Owner: ada}, h.ask("ada")))(t)
	same(t, "cut in a preview", preview[0].Cut, "7 of 9 transcripts")
	res, o := p.run(h.ask("ada"))
	same(t, "cut", o.Cut, "7 of 9 transcripts")
	contains(t, strings.Join(res.Warnings, "\n"), "7 of 9 transcripts")
	snapshot := h.session().Answers[0].Context
	same(t, "snapshot", []any{snapshot.Transcripts, snapshot.Cut}, []any{7, []string{"t1", "t2"}})
	sent := h.requests(council.Purpose)[0].Messages[0].Text
	contains(t, sent, "7 of 9 transcripts", "Thought 3.", "Thought 9.")
	lacks(t, sent, "Thought 2.")
	got := (len([]rune(sent)) + 3) / 4
	assert.That(t, got <= h.window*3/4, "a prompt of %d tokens was sent into a window of %d", got, h.window)
}

func TestPreviewIsTheVeryPromptAndAsksNobody(t *testing.T) {
	h := houseOf(t, "Hm.")
	p := h.process("one", h.journal)
	previews := assert.Must(p.deps.Preview(t.Context(), assistant.Request{Owner: ada}, h.ask("ada", "bob")))(t)
	same(t, "requests", len(h.asked), 0)
	same(t, "runs", len(h.runs()), 0)
	p.run(h.ask("ada", "bob"))
	for _, req := range h.requests(council.Purpose) {
		for _, one := range previews {
			if one.Oracle.Name == who(req) {
				same(t, "prompt of "+who(req), req.Messages[0].Text, one.Prompt)
			}
		}
	}
	for n, e := range h.session().Answers {
		if n < 2 {
			same(t, "hash of "+e.OracleName, e.Context.PromptHash,
				map[string]string{previews[0].Oracle.Name: previews[0].Snapshot.PromptHash,
					previews[1].Oracle.Name: previews[1].Snapshot.PromptHash}[e.OracleName])
		}
	}
}

func TestAnswerIsStreamedAndWhatAModelTakesBackIsRetracted(t *testing.T) {
	h := houseOf(t, "Hm.")
	m := retracts{make(chan bool)}
	p := h.processOf("one", m)
	r := p.begin(council.Name, h.ask("ada"))
	var text strings.Builder
	retracted := 0
	for u := range r.Watch(t.Context(), 0) {
		text.WriteString(u.Text)
		switch {
		case u.Retract:
			text.Reset()
			retracted++
		case text.String() == "The wrong ":
			close(m.seen)
		}
	}
	_, o := p.wait(r)
	same(t, "streamed", text.String(), "The right one.")
	same(t, "answer", o.Answer.Text, "The right one.")
	same(t, "stored", h.stored("001_ada.txt"), "The right one.")
	same(t, "retractions", retracted, 1)
}

// retracts is a model whose first attempt breaks off, once it was seen.
type retracts struct{ seen chan bool }

func (retracts) ID() string  { return acting }
func (retracts) Local() bool { return true }

func (m retracts) Chat(ctx context.Context, _ model.Request, emit func(model.Delta) error) (model.Response, error) {
	failed := func(err error) (model.Response, error) { return model.Response{Model: acting}, err }
	if err := emit(model.Delta{Text: "The wrong "}); err != nil {
		return failed(err)
	}
	select {
	case <-m.seen:
	case <-ctx.Done():
		return failed(ctx.Err())
	}
	for _, d := range []model.Delta{{Retract: true}, {Text: "The right "}, {Text: "one."}} {
		if err := emit(d); err != nil {
			return failed(err)
		}
	}
	return model.Response{Text: "The right one.", Model: acting, Finish: model.FinishStop, Attempts: 2}, nil
}

func TestFailureLeavesTheSessionAsItWasAndTellsHowToTryAgain(t *testing.T) {
	for name, c := range map[string]struct {
		turn modeltest.Turn
		kind string
	}{
		"a time-out":       {modeltest.Fail(model.Timeout), "timeout"},
		"a server's error": {modeltest.Fail(model.Server), "server"},
		"a refusal":        {modeltest.Fail(model.Refused), "refused"},
		"an error in the middle": {modeltest.Turn{Text: "Half of an", Err: &model.Error{Kind: model.Timeout,
			Message: "silence"}}, "timeout"},
		"an answer of nothing":      {modeltest.Say(""), "garbled"},
		"an answer of white spaces": {modeltest.Say(" \n\t "), "garbled"},
		"an answer nobody can see":  {modeltest.Say(" \u200b\n\u2060"), "garbled"},
		"a filter at work":          {modeltest.Turn{Text: "Half of an", Finish: model.FinishFilter}, "refused"},
	} {
		t.Run(name, func(t *testing.T) {
			h := houseOf(t, "Hm.")
			before := h.metadata()
			h.plays = func(model.Request) modeltest.Turn { return c.turn }
			p := h.process("one", h.journal)
			res, o := p.run(h.ask("ada"))
			same(t, "status", res.Status, journal.Failed)
			same(t, "metadata.json", h.metadata(), before)
			same(t, "files", h.files(), nil)
			same(t, "kind", res.Failure.Kind, c.kind)
			contains(t, res.Failure.Hint, "the session is unchanged", "sibyl council ask ada --session "+h.id)
			if strings.HasPrefix(c.turn.Text, "Half") {
				same(t, "what had arrived", []any{o.Answer.Text, o.Answer.CutOff, o.Answer.File},
					[]any{"Half of an", true, ""})
			}
			h.plays = nil
			_, o = p.run(h.ask("ada"))
			same(t, "answer to another try", o.Answer.Text, "Ada answers.")
		})
	}
}

func TestAnswerIsWhatAnOracleDoesNotOnlyRepeatOfItsInstructions(t *testing.T) {
	const task = "Weigh what they gain against what they lose, and name the smallest step that would show it."
	for reply, want := range map[string]string{
		task + " Rent it out for a summer.": "Rent it out for a summer.",
		task:                                "",
		"I wonder about the office and the garden behind it, and about what the rent would be.": "I wonder about the " +
			"office and the garden behind it, and about what the rent would be.",
	} {
		h := houseOf(t, "I wonder about the office and the garden behind it, and about what the rent would be.")
		h.oracle("Zoe", "# Zoe\nYou are Zoe.\n\n{{CONTEXT}}\n\n"+task+"\n")
		h.plays = func(model.Request) modeltest.Turn { return modeltest.Say(reply) }
		res, o := h.process("one", h.journal).run(h.ask("zoe"))
		if want == "" {
			same(t, "kind of an echo", res.Failure.Kind, "garbled")
			continue
		}
		same(t, "answer", o.Answer.Text, want)
		same(t, "stored", h.stored("001_zoe.txt"), want)
	}
}

func TestAnswerCutOffByTheModelsLimitIsKeptAndSaidSo(t *testing.T) {
	h := houseOf(t, "Hm.")
	h.plays = func(model.Request) modeltest.Turn {
		return modeltest.Turn{Text: "It begins well and", Finish: model.FinishLength}
	}
	res, o := h.process("one", h.journal).run(h.ask("ada"))
	same(t, "cut off", []bool{o.Answer.CutOff, res.Partial}, []bool{true, true})
	contains(t, strings.Join(res.Warnings, "\n"), "the answer of Ada is cut off")
	same(t, "stored", h.stored("001_ada.txt"), "It begins well and")
}

func TestAnswerOfAModelThatRepeatsItselfIsKeptAndSaidSo(t *testing.T) {
	h := houseOf(t, "Hm.")
	h.plays = func(model.Request) modeltest.Turn {
		return modeltest.Turn{Text: "It begins well.", Finish: model.FinishRepeated}
	}
	res, o := h.process("one", h.journal).run(h.ask("ada"))
	same(t, "repeated, cut off, partial", []bool{o.Answer.Repeated, o.Answer.CutOff, res.Partial}, []bool{true, false, true})
	contains(t, strings.Join(res.Warnings, "\n"), "repeated itself and was stopped", "the answer of Ada")
	same(t, "stored", h.stored("001_ada.txt"), "It begins well.")
}

func TestStoppedRunShowsWhatHadArrivedAndStoresNothing(t *testing.T) {
	h := houseOf(t, "Hm.")
	before := h.metadata()
	script := modeltest.Script(t, modeltest.Turn{Text: "As far as it came", Hang: true})
	p := h.processOf("one", script)
	r := p.begin(council.Name, h.ask("ada"))
	held(t, "the answer to begin", script.Hanging())
	assert.NoError(t, p.service.Cancel(t.Context(), ada, r.ID, "enough"))
	res, o := p.wait(r)
	same(t, "status", res.Status, journal.Cancelled)
	assert.Require(t, o.Answer != nil, "nothing of the answer is shown")
	same(t, "answer", []any{o.Answer.Text, o.Answer.CutOff, o.Answer.File, o.Answer.Oracle.Name},
		[]any{"As far as it came", true, "", "Ada"})
	contains(t, res.Answer, "As far as it came")
	same(t, "metadata.json", h.metadata(), before)
	same(t, "files", h.files(), nil)
}

func TestAskingIsPossibleInEveryStateThatHasATranscript(t *testing.T) {
	for state, after := range map[session.State]session.State{
		session.Collecting: session.Ready, session.Transcribing: session.Transcribing,
		session.Transcribed: session.Ready,
		session.Ready:       session.Ready, session.Interrupted: session.Ready, session.Failed: session.Failed,
	} {
		t.Run(string(state), func(t *testing.T) {
			h := houseOf(t, "Hm.")
			h.inState(state)
			res, _ := h.process("one", h.journal).run(h.ask("ada"))
			same(t, "status", res.Status, journal.Done)
			same(t, "state after it", h.session().State, after)
		})
	}
}

// inState writes a state into metadata.json, as a person may.
func (h *house) inState(state session.State) {
	h.Helper()
	file := filepath.Join(h.folder, h.id, "metadata.json")
	text := strings.Replace(h.metadata(), `"state": "COLLECTING"`, fmt.Sprintf(`"state": %q`, state), 1)
	assert.NoError(h, os.WriteFile(file, []byte(text), 0o600))
	same(h, "state", h.session().State, state)
}

func TestSessionWithoutATranscriptSaysWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		lacks func(h *house)
		parts []string // of the refusal; SESSION is the id of the session
	}{
		"empty": {func(*house) {}, []string{"nothing was said in this session yet",
			"sibyl council say --session SESSION"}},
		"a recording waits": {func(h *house) {
			h.records("one")
		}, []string{"1 recording waits", "sibyl council transcribe SESSION"}},
		"recordings wait, and nothing transcribes": {func(h *house) {
			h.records("one", "two")
			h.missing = "set ‘transcription.url’"
		}, []string{"2 recordings wait", "set ‘transcription.url’"}},
		"a recording failed": {func(h *house) {
			h.records("one")
			assert.Must(h.sessions().FailTranscript(h.Context(), h.id, 1, bt.Because("noise")))(h)
		}, []string{"nothing in this session could be transcribed", "sibyl council transcribe --again SESSION"}},
		"a file is gone": {func(h *house) {
			h.says("Hm.")
			h.moved(filepath.Join(h.folder, h.id, "transcripts", "001_audio.txt"), filepath.Join(h.TempDir(), "gone"))
		}, []string{"the file of transcript 1 is missing", "sibyl council repair SESSION"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			c.lacks(h)
			p := h.process("one", h.journal)
			for _, part := range c.parts {
				p.refused(council.Name, h.ask("ada"), strings.ReplaceAll(part, "SESSION", h.id))
			}
		})
	}
}

func TestWhatIsNotInTheContextIsTold(t *testing.T) {
	h := newHouse(t)
	h.says("Kept.", "Gone.", "Broken.")
	h.records("later", "noise")
	assert.Must(h.sessions().FailTranscript(t.Context(), h.id, 5, bt.Because("noise")))(t)
	transcripts := filepath.Join(h.folder, h.id, "transcripts")
	assert.NoError(t, os.Remove(filepath.Join(transcripts, "002_audio.txt")))
	assert.NoError(t, os.WriteFile(filepath.Join(transcripts, "003_audio.txt"), []byte("\xff\xfeU\x00"), 0o600))
	res, _ := h.process("one", h.journal).run(h.ask("ada"))
	contains(t, strings.Join(res.Warnings, "\n"), "1 recording without a transcript yet",
		"1 recording that could not be transcribed", "the file of transcript 2 is missing",
		"the file of transcript 3 can't be read")
	sent := h.requests(council.Purpose)[0].Messages[0].Text
	contains(t, sent, "Kept.")
	lacks(t, sent, "Gone.", "Broken.", "\ufffd")
	same(t, "snapshot", h.session().Answers[0].Context.Entries, []string{"t1"})
}

func TestOracleThatIsGoneOrOtherWhenItIsAsked(t *testing.T) {
	t.Run("deleted between list and ask", func(t *testing.T) {
		h := houseOf(t, "Hm.")
		same(t, "oracles in the list", len(assert.Must(h.shelf.List(t.Context()))(t).Oracles), 3)
		h.moved(filepath.Join(h.oracles, "bob.md"), filepath.Join(t.TempDir(), "bob.md"))
		h.process("one", h.journal).refused(council.Name, h.ask("bob"), "no oracle is called “bob”", "Ada")
	})
	t.Run("changed between list and ask", func(t *testing.T) {
		h := houseOf(t, "Hm.")
		assert.Must(h.shelf.List(t.Context()))(t)
		h.oracle("Bob", "# Bob\nYou are another Bob.\n{{CONTEXT}}\n")
		h.process("one", h.journal).run(h.ask("bob"))
		contains(t, h.requests(council.Purpose)[0].Messages[0].Text, "another Bob")
	})
}

func TestRunThatIsResumedKeepsItsPromptThoughItsOracleIsDeletedAndMoreWasSaid(t *testing.T) {
	for _, oracles := range [][]string{{"bob"}, {"ada", "bob"}} {
		h := houseOf(t, "Hm.")
		dying := &journaltest.Mortal{Store: h.journal, At: 1, Free: 1}
		r := h.process("dead", dying).begin(council.Name, h.ask(oracles...))
		_, _ = r.Wait(t.Context())
		first := len(h.requests(council.Purpose))
		h.moved(filepath.Join(h.oracles, "bob.md"), filepath.Join(t.TempDir(), "bob.md"))
		h.says("Said later.")
		p := h.process("two", h.journal)
		_, o := p.wait(assert.Must(p.service.Resume(t.Context(), ada, r.ID))(t))
		same(t, "failure", o.Failure, nil)
		for _, req := range h.requests(council.Purpose)[first:] {
			contains(t, req.Messages[0].Text, "Hm.")
			lacks(t, req.Messages[0].Text, "Said later.")
		}
		same(t, "answers", len(h.files()), len(oracles))
	}
}

func TestRequestsThatCanNotBeCarriedOutSaySo(t *testing.T) {
	h := newHouse(t)
	h.oracle("Twin", "# Ada\n\nYou are Ada.\n\n{{CONTEXT}}\n")
	h.says("Hm.")
	p := h.process("one", h.journal)
	with := func(change func(*council.Options), oracles ...string) council.Options {
		o := h.ask(oracles...)
		change(&o)
		return o
	}
	p.refused(council.Name, h.ask(), "no oracle is given", "sibyl council oracles")
	p.refused(council.Name, h.ask("nobody"), "no oracle is called “nobody”", "Bob")
	p.refused(council.Name, h.ask("ada"), "may be several oracles")
	p.refused(council.Name, h.ask("bob", "b"), "Bob is named twice")
	p.refused(council.Name, h.ask(strings.Split(strings.Repeat("bob ", 13), " ")...),
		"at most 12 oracles can be asked at once")
	p.refused(council.Name, with(func(o *council.Options) { o.Chair = "bob" }, "bob"), "a chair needs several oracles")
	p.refused(council.Name, with(func(o *council.Options) { o.Chair = "nobody" }, "bob", "cleo"), "nobody")
	p.refused(council.Name, council.Options{Session: "2020-01-01_00-00-00", Oracles: []string{"bob"}}, "not found")
	twins := assert.Must(h.shelf.List(t.Context()))(t).Oracles
	p.refused(council.Name, h.ask(twins[0].ID, twins[1].ID), "two of the oracles are called Ada")
}

func TestOracleWithoutAModelSaysSoWithTwoWaysOnAndLeavesNothing(t *testing.T) {
	h := newHouse(t)
	h.says("Should we move the office?")
	h.offline = true
	before := h.metadata()
	p := h.process("one", h.journal)
	for _, o := range []council.Options{h.ask("ada"), h.ask("ada", "bob"), {Session: h.id, Oracles: []string{"ada"},
		Model: model.OfflineRules}} {
		p.refused(council.Name, o, "oracles need a language model, and none is available", "‘sibyl init’",
			"sibyl council ask "+strings.Join(o.Oracles, " "), "--session "+h.id+" --dry-run")
	}
	preview := assert.Must(p.deps.Preview(t.Context(), assistant.Request{Owner: ada}, h.ask("ada")))(t)
	contains(t, preview[0].Prompt, "You are Ada.", "Should we move the office?")
	same(t, "model of the preview", preview[0].Model, "")
	same(t, "metadata.json", h.metadata(), before)
	same(t, "answers", h.files(), nil)
	same(t, "models that were asked", len(h.asked), 0)
}

func TestSessionIsReadyOnlyWhenAnAnswerHeldAllThatWasSaid(t *testing.T) {
	h := houseOf(t, "Hm.")
	p := h.process("one", h.journal)
	h.hearing(func() { h.says("Said meanwhile.") })
	p.run(h.ask("ada", "bob"))
	same(t, "state with words that no oracle has heard", h.session().State, session.Collecting)
	p.run(h.ask("ada"))
	same(t, "state after an answer to all", h.session().State, session.Ready)

	h.window = 100
	h.says(strings.Repeat("A long thought. ", 60))
	p.run(h.ask("bob"))
	same(t, "state where the first words had no room", h.session().State, session.Collecting)
}

func TestOptionsFromElsewhereAreRead(t *testing.T) {
	h := newHouse(t)
	p := h.process("one", h.journal)
	start := func(name, options string) error {
		_, err := p.service.Start(t.Context(), ada, service.Request{Assistant: name,
			Options: assistant.GivenOptions{JSON: []byte(options)}})
		return err
	}
	for wrong, says := range map[string]string{
		`{"sessions":"s"}`: "not known", `{"session":"s","rounds":2}`: "not known", `{"session":`: "a JSON object",
		`[]`:                "a JSON object",
		`{"oracles":["a"]}`: "session is missing",
		`{"session":"s","oracles":["a"],"history":false,"chair":"c","model":"m:n"}`: "no such Council session",
	} {
		err := start(council.Name, wrong)
		var asked *assistant.RequestError
		assert.That(t, errors.As(err, &asked) && strings.Contains(asked.Text, says), "%s gives %v", wrong, err)
	}
	assert.That(t, start(council.MemberName, `{"session":"s"}`) != nil,
		"a member of a sitting can be asked from elsewhere")
	_, err := p.service.Start(t.Context(), ada, service.Request{Assistant: council.MemberName,
		Options: h.ask("ada")})
	assert.That(t, err != nil, "a member of a sitting can be begun by itself")
}

func TestAnswerIsStampedWithTheModelThatWasNamed(t *testing.T) {
	h := houseOf(t, "Hm.")
	o := h.ask("ada")
	o.Model = "other:big.model:8b"
	_, out := h.process("one", h.journal).run(o)
	same(t, "models", []string{out.Answer.Model, h.session().Answers[0].Context.Model}, []string{"other:big.model:8b",
		"other:big.model:8b"})
}
