package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/run/replay"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/tool"
	"sibyl/prompts"
	"sibyl/trees"
)

// encode is how a way in writes JSON.
func encode(v any, _ bool) (string, error) {
	raw, err := json.Marshal(v)
	return string(raw) + "\n", err
}

func TestSessionIsShownAndExported(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.service()
		first := h.ask(s, "", "Tea?")
		h.ask(s, first.Session, "Milk?")
		h.takes("bob", time.Minute, nil)
		going := h.start(s, first.Session, "Sugar?")
		c := must(s.Show(h.Context(), ada, first.Session))(h)
		md := must(c.Export("md", encode))(h)
		for _, part := range []string{"# Tea?\n\nSession " + first.Session, "\n## Tea?\n\n- ada: ADA\n- bob: BOB\n",
			"\n## Milk? after [", "*a panel*\n"} {
			if !strings.Contains(md, part) {
				h.Errorf("the Markdown lacks %q:\n%s", part, md)
			}
		}
		lines := must(c.Export("jsonl", encode))(h)
		same(h, "JSON lines: what has ended", strings.Count(lines, "\n"), 2)
		var whole struct {
			ID        string
			Exchanges []json.RawMessage
		}
		if err := json.Unmarshal([]byte(must(c.Export("json", encode))(h)), &whole); err != nil {
			h.Fatal(err)
		}
		same(h, "JSON", fmt.Sprint(whole.ID, len(whole.Exchanges)), fmt.Sprint(first.Session, 2))
		same(h, "the first of the JSON", string(whole.Exchanges[0])+"\n", strings.SplitAfter(lines, "\n")[0])
		_, err := c.Export("pdf", encode)
		misused(h, "another format", err, `unknown format "pdf": use md, json or jsonl`)
		h.wait(going)
	})
}

func TestListsGoOnAtACursorAndByAssistant(t *testing.T) {
	inHouse(t, func(h *house) {
		jury, shadow := h.panel("jury"), h.panel("shadow")
		shadow.Companion = true
		s := h.process("one", h.store, h.panel("panel"), jury, shadow)
		for _, words := range []string{"1", "2", "3"} {
			h.ask(s, "", words)
		}
		begin := func(name string) *service.Run {
			<-time.After(time.Second)
			r := must(s.Start(h.Context(), ada, service.Request{Assistant: name, Words: name, Options: "ada"}))(h)
			h.wait(r)
			return r
		}
		begin("jury")
		companion := begin("shadow")
		rows := must(s.Runs(h.Context(), ada, journal.Filter{Assistant: "panel", Limit: 2}))(h)
		rest := must(s.Runs(h.Context(), ada, journal.Filter{Assistant: "panel", Limit: 2, After: rows[1].Cursor()}))(h)
		same(h, "runs of the panel, two a page", []string{rows[0].Title, rows[1].Title, rest[0].Title},
			[]string{"3", "2", "1"})
		same(h, "sessions of the jury",
			len(must(s.Sessions(h.Context(), ada, journal.SessionFilter{Assistant: "jury"}))(h)), 1)
		same(h, "the last run is no companion", must(s.FindRun(h.Context(), ada, "last"))(h).Title, "jury")
		same(h, "nor is the last session", must(s.FindSession(h.Context(), ada, "", "last"))(h).Title, "jury")
		id := companion.ID
		for _, name := range []string{id, id[:len(id)-1], id[4:]} {
			same(h, "the run "+name, must(s.FindRun(h.Context(), ada, name))(h).Title, "shadow")
		}
		_, err := s.FindRun(h.Context(), ada, id[:4])
		misused(h, "the beginning of all", err, "5 matches for run")
		_, err = s.FindSession(h.Context(), ada, "", "zzz")
		misused(h, "no session", err, "zzz")
		isError(h, "no session", err, journal.ErrNotFound)
	})
}

func TestSessionIsRenamedAndDeleted(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.service()
		id := h.ask(s, "", "Tea?").Session
		if err := s.Rename(h.Context(), ada, id, "  hunter2\n "+strings.Repeat("é", 90)); err != nil {
			h.Fatal(err)
		}
		same(h, "title", must(s.FindSession(h.Context(), ada, "", id))(h).Title, "[redacted] "+strings.Repeat("é", 60)+
			"…")
		misused(h, "no title", s.Rename(h.Context(), ada, id, " \n"), "the title is empty")
		if err := s.Delete(h.Context(), ada, id); err != nil {
			h.Fatal(err)
		}
		_, err := s.FindSession(h.Context(), ada, "", id[:10])
		var removed *journal.RemovedError
		if !errors.As(err, &removed) || removed.ID != id || removed.Assistant != "panel" {
			h.Errorf("finding what was deleted: %v", err)
		}
		same(h, "tombstones", len(must(s.Removed(h.Context(), ada, journal.SessionFilter{}))(h)), 1)
	})
}

// damaged is a journal with a record that can't be read.
type damaged struct {
	journal.Store
	seq int64
}

func (d damaged) Records(ctx context.Context, owner journal.Owner, id string, from int64) ([]journal.Record, error) {
	recs, err := d.Store.Records(ctx, owner, id, from)
	recs = slices.Clone(recs)
	for i := range recs {
		if recs[i].Seq == d.seq {
			recs[i].Data = json.RawMessage(`"eaten"`)
		}
	}
	return recs, err
}

func TestAuditTellsAllAndRemarksOnWhatCannotBeRead(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.service()
		h.takes("bob", time.Second, nil)
		r := h.ask(s, "", "Tea?")
		a := must(s.Audit(h.Context(), ada, r.Session))(h).Runs[0]
		same(h, "effects", len(a.Effects), 2)
		same(h, "what the assistant says of one", a.Effects[0].Detail.(map[string]int)["bytes"], len(`"ADA"`))
		var told []string
		for _, d := range a.Decisions {
			told = append(told, string(d.Data))
		}
		same(h, "what was decided", slices.DeleteFunc(told, func(one string) bool { return one == "" }),
			[]string{`{"Persona":"ada","Answer":"ADA"}`, `{"Persona":"bob","Answer":"BOB"}`})
		same(h, "remarks", len(a.Remarks), 0)
		var all struct {
			Runs []struct {
				ID    string `json:"run_id"`
				Steps *int   `json:"steps_taken"`
			}
		}
		if err := json.Unmarshal([]byte(must(encode(must(s.Audit(h.Context(), ada, r.Session))(h), false))(h)),
			&all); err != nil {
			h.Fatal(err)
		}
		if x := all.Runs[0]; x.ID != r.ID || x.Steps == nil || *x.Steps != 3 {
			h.Errorf("in JSON the findings do not stand beside the rest: %+v", x)
		}
		hurt := must(h.process("two", damaged{h.store, 1}).Audit(h.Context(), ada, r.Session))(h).Runs[0]
		if len(hurt.Remarks) == 0 ||
			!strings.HasPrefix(hurt.Remarks[0], "record 1 (completion): the journal is damaged") {
			h.Errorf("remarks on a damaged record: %q", hurt.Remarks)
		}
		same(h, "effects that it does not hide", stateOf(hurt, "bob"), "ok")
	})
}

func stateOf(a service.RunAudit, persona string) string {
	for _, e := range a.Effects {
		if e.Label == persona {
			return string(e.State)
		}
	}
	return "not there"
}

func TestReplaySaysWhatAnotherTreeWouldHaveDecided(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.service()
		r := h.ask(s, "", "Tea?")
		found := must(s.Replay(h.Context(), ada, r.ID, replay.Options{}))(h)
		same(h, "differences by its own tree", len(found.Differences), 0)
		same(h, "effects", found.Effects, 2)
		changed := []byte(strings.Replace(h.tree, "{names}", "ada eve", 1))
		found = must(s.Replay(h.Context(), ada, r.ID, replay.Options{TreeFile: "changed.xml", Tree: changed}))(h)
		if len(found.Differences) != 1 || len(found.Differences[0].Requests)+len(found.Differences[0].Extra) == 0 {
			h.Errorf("the changed tree: %+v", found.Differences)
		}
		same(h, "who was asked", len(h.asked), 2)
		_, err := s.ReplayTexts(h.Context(), ada, r.ID, "folder")
		misused(h, "texts of an assistant without any", err, "panel records no texts")
	})
}

func TestSessionsAreRetiredByTheirAssistant(t *testing.T) {
	inHouse(t, func(h *house) {
		jury, board, club := h.panel("jury"), h.panel("board"), h.panel("club")
		jury.Retention = time.Hour
		board.Retention, board.Permanent = time.Hour, true
		s := h.process("one", h.store, h.panel("panel"), jury, board, club)
		for _, name := range []string{"panel", "jury", "board", "club"} {
			h.wait(must(s.Start(h.Context(), ada, service.Request{Assistant: name, Words: name, Options: "ada"}))(h))
		}
		<-time.After(2 * time.Hour)
		left := func() (names []string) {
			for _, x := range must(s.Sessions(h.Context(), ada, journal.SessionFilter{}))(h) {
				names = append(names, x.Assistant)
			}
			slices.Sort(names)
			return names
		}
		same(h, "retired", must(s.Retire(h.Context(), ada, time.Now(), 10))(h),
			[]service.Retired{{Assistant: "jury", Unused: time.Hour, Sessions: 1}})
		same(h, "left", left(), []string{"board", "club", "panel"})
		same(h, "unused for an hour", len(must(s.Unused(h.Context(), ada, time.Hour))(h)), 2)
		same(h, "pruned", len(must(s.Prune(h.Context(), ada, time.Hour))(h)), 2)
		same(h, "left of all", left(), []string{"board"})
	})
}

func TestRetentionRemovesWhatWasUnusedForSoLongAtATime(t *testing.T) {
	const day = 24 * time.Hour
	inHouse(t, func(h *house) {
		jury := h.panel("jury")
		jury.Retention = 30 * day
		s := h.process("one", h.store, jury)
		h.wait(must(s.Start(h.Context(), ada, service.Request{Assistant: "jury", Words: "Tea?", Options: "ada"}))(h))
		<-time.After(40 * day)
		for _, at := range []time.Time{{}, time.Now().Add(-11 * day)} {
			same(h, "retired at an earlier time", len(must(s.Retire(h.Context(), ada, at, 10))(h)), 0)
		}
		same(h, "retired", must(s.Retire(h.Context(), ada, time.Now().Add(-9*day), 10))(h),
			[]service.Retired{{Assistant: "jury", Unused: jury.Retention, Sessions: 1}})
	})
}

func TestWhatIsAnothersIsNotFound(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.service()
		r := h.ask(s, "", "Tea?")
		ctx := h.Context()
		calls := map[string]error{"rename": s.Rename(ctx, eve, r.Session, "mine"),
			"delete": s.Delete(ctx, eve, r.Session), "cancel": s.Cancel(ctx, eve, r.ID, "enough")}
		_, calls["start"] = s.Start(ctx, eve, service.Request{Assistant: "panel",
			Session: r.Session, Words: "Tea?", Options: "ada"})
		_, calls["resume"] = s.Resume(ctx, eve, r.ID)
		_, calls["result"] = s.Result(ctx, eve, r.ID)
		_, calls["explain"] = s.Explain(ctx, eve, r.ID)
		_, calls["show"] = s.Show(ctx, eve, r.Session)
		_, calls["audit"] = s.Audit(ctx, eve, r.Session)
		_, calls["replay"] = s.Replay(ctx, eve, r.ID, replay.Options{})
		_, calls["replay with texts"] = s.ReplayTexts(ctx, eve, r.ID, "folder")
		for _, name := range []string{r.ID, r.ID[4:], "last"} {
			_, calls["find run "+name] = s.FindRun(ctx, eve, name)
		}
		for _, name := range []string{r.Session, r.Session[4:], "last"} {
			_, calls["find session "+name] = s.FindSession(ctx, eve, "", name)
		}
		for u, err := range s.Watch(ctx, eve, r.ID, service.Place{}) {
			if calls["watch"] = err; err == nil {
				h.Errorf("eve sees %+v", u)
			}
		}
		for name, err := range calls {
			want := journal.ErrNotFound
			if strings.HasSuffix(name, " last") {
				want = service.ErrNone
			}
			isError(h, name, err, want)
		}
		same(h, "lists", len(must(s.Runs(ctx, eve, journal.Filter{}))(h))+
			len(must(s.Sessions(ctx, eve, journal.SessionFilter{}))(h))+len(must(s.Interrupted(ctx, eve))(h)), 0)
		same(h, "title", must(s.FindSession(ctx, ada, "", r.Session))(h).Title, "Tea?")
	})
}

func TestPanelRunsBesideTheOracle(t *testing.T) {
	inHouse(t, func(h *house) {
		registry := must(prompt.Load(prompts.FS))(h)
		script := modeltest.Script(h, modeltest.Say("You are welcome."), modeltest.Say("My pleasure."),
			modeltest.Say("Always."))
		none := func(context.Context, oracle.Env) (*tool.Set, func(), error) {
			set, err := tool.NewSet()
			return set, func() {}, err
		}
		o := must(oracle.New(oracle.Deps{Model: func(context.Context, oracle.Env) (model.Model, error) {
			return script, nil
		}, Tools: none}))(h)
		asOracle := oracle.Describe(o, oracle.Surroundings{Store: h.store, Prompts: func() (*prompt.Set, error) {
			return registry, nil
		}, Tools: none, Describe: func(context.Context, string) model.Info {
			return model.Info{}
		}, ReportTool: func(string) bool { return false },
			Choose: func(context.Context, string) (string, error) {
				return "scripted:test", nil
			}, LearnKeys: func(context.Context, oracle.Env) {}})
		panel := h.panel("panel")
		engine := must(run.NewEngine(run.Config{Store: h.store, Holder: "one", Assistants: []*run.Assistant{o,
			panel.Assistant}}))(h)
		s := must(service.New(service.Config{Store: h.store, Engine: engine,
			Assistants: []*assistant.Assistant{asOracle, panel}, Redact: strings.TrimSpace,
			Tree: func(name string) (string, []byte, error) {
				if name == "panel" {
					return "panel.xml", []byte(h.tree), nil
				}
				tree, err := trees.Set{}.Get(name)
				return tree.File, tree.Text, err
			}}))(h)
		r := h.ask(s, "", "Tea?")
		thanks := must(s.Start(h.Context(), ada, service.Request{Assistant: oracle.Name, Words: "Thanks, that helps!",
			Options: oracle.Options{MaxTurns: 3}}))(h)
		same(h, "answer of the Oracle", h.wait(thanks).Answer, "You are welcome.")
		for _, one := range []*service.Run{r, thanks} {
			res := must(s.Result(h.Context(), ada, one.ID))(h)
			x := must(s.Explain(h.Context(), ada, one.ID))(h)
			md := must(must(s.Show(h.Context(), ada, one.Session))(h).Export("md", encode))(h)
			if !strings.Contains(md, strings.TrimSpace(res.Answer)) || len(x.Steps) == 0 ||
				!strings.HasPrefix(x.Ending[0], "ended done; ") {
				h.Errorf("%s: ending %q, export\n%s", one.Assistant(), x.Ending, md)
			}
			same(h, "differences in a replay of "+one.Assistant(),
				len(must(s.Replay(h.Context(), ada, one.ID, replay.Options{}))(h).Differences), 0)
		}
		for session, earlier := range map[string]int{"": 0, thanks.Session: 1} {
			again := must(s.Start(h.Context(), ada, service.Request{Assistant: oracle.Name, Session: session,
				Words: "Thanks again!", Options: oracle.Options{MaxTurns: 3}}))(h)
			h.wait(again)
			same(h, "earlier runs that the Oracle is given in the session ‘"+session+"’",
				len(again.Spec.Env.(oracle.Env).Past), earlier)
		}
		_, err := s.Start(h.Context(), ada, service.Request{Assistant: oracle.Name, Session: r.Session, Words: "Tea?",
			Options: oracle.Options{MaxTurns: 3}})
		misused(h, "the Oracle in a panel's session", err, "belongs to panel, not to oracle")
	})
}
