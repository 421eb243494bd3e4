package service_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run/replay"
	"sibyl/internal/service"
)

// encode is how a way in writes JSON.
func encode(v any, _ bool) (string, error) {
	raw, err := json.Marshal(v)
	return string(raw) + "\n", err
}

func TestSessionsAreRetiredByTheirAssistant(t *testing.T) {
	inHouse(t, func(h *house) {
		jury, board, club := h.panel("jury"), h.panel("board"), h.panel("club")
		jury.Retention = time.Hour
		board.Retention, board.Permanent = time.Hour, true
		s := h.process("one", h.store, h.panel("panel"), jury, board, club)
		for _, name := range []string{"panel", "jury", "board", "club"} {
			h.wait(assert.Must(s.Start(h.Context(), ada, service.Request{Assistant: name, Words: name, Options: "ada"}))(h))
		}
		<-time.After(2 * time.Hour)
		left := func() (names []string) {
			for _, x := range assert.Must(s.Sessions(h.Context(), ada, journal.SessionFilter{}))(h) {
				names = append(names, x.Assistant)
			}
			slices.Sort(names)
			return names
		}
		same(h, "retired", assert.Must(s.Retire(h.Context(), ada, time.Now(), 10))(h),
			[]service.Retired{{Assistant: "jury", Unused: time.Hour, Sessions: 1}})
		same(h, "left", left(), []string{"board", "club", "panel"})
		same(h, "unused for an hour", len(assert.Must(s.Unused(h.Context(), ada, time.Hour))(h)), 2)
		same(h, "pruned", len(assert.Must(s.Prune(h.Context(), ada, time.Hour))(h)), 2)
		same(h, "left of all", left(), []string{"board"})
	})
}

func TestRetentionRemovesWhatWasUnusedForSoLongAtATime(t *testing.T) {
	const day = 24 * time.Hour
	inHouse(t, func(h *house) {
		jury := h.panel("jury")
		jury.Retention = 30 * day
		s := h.process("one", h.store, jury)
		h.wait(assert.Must(s.Start(h.Context(), ada, service.Request{Assistant: "jury", Words: "Tea?", Options: "ada"}))(h))
		<-time.After(40 * day)
		for _, at := range []time.Time{{}, time.Now().Add(-11 * day)} {
			same(h, "retired at an earlier time", len(assert.Must(s.Retire(h.Context(), ada, at, 10))(h)), 0)
		}
		same(h, "retired", assert.Must(s.Retire(h.Context(), ada, time.Now().Add(-9*day), 10))(h),
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
		_, calls["show"] = s.Show(ctx, eve, r.Session, "")
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
			calls["watch"] = err
			assert.That(h, err != nil, "eve sees %+v", u)
		}
		for name, err := range calls {
			want := journal.ErrNotFound
			if strings.HasSuffix(name, " last") {
				want = service.ErrNone
			}
			isError(h, name, err, want)
		}
		same(h, "lists", len(assert.Must(s.Runs(ctx, eve, journal.Filter{}))(h))+
			len(assert.Must(s.Sessions(ctx, eve, journal.SessionFilter{}))(h))+len(assert.Must(s.Interrupted(ctx, eve))(h)), 0)
		same(h, "title", assert.Must(s.FindSession(ctx, ada, "", r.Session))(h).Title, "Tea?")
	})
}
