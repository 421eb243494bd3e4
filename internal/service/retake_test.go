package service_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// retaking is a process whose panel has answers replaced. Answers to words that begin with “Do” have acted.
func (h *house) retaking(holder string, store journal.Store) *service.Service {
	panel := h.panel("panel")
	panel.Retakes = true
	show := panel.Show
	panel.Show = func(outcome json.RawMessage) (assistant.Shown, error) {
		shown, err := show(outcome)
		shown.Acted = strings.HasPrefix(shown.Question, "Do")
		return shown, err
	}
	return h.process(holder, store, panel)
}

func replacing(run, session, words string) service.Request {
	return service.Request{Assistant: "panel", Session: session, Words: words, Replaces: run, Options: "ada bob"}
}

func TestRunTakesThePlaceOfAnotherOneOfItsSession(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.retaking("one", h.store)
		first := h.ask(s, "", "Tea?")
		again := assert.Must(s.Start(h.Context(), ada, replacing(first.ID, "", "Milk?")))(h)
		h.wait(again)
		same(h, "session", again.Session, first.Session)
		rows := assert.Must(s.Runs(h.Context(), ada, journal.Filter{Session: first.Session}))(h)
		same(h, "runs that are kept", len(rows), 2)
		same(h, "what the last one replaces", assert.Must(s.Run(h.Context(), ada, again.ID))(h).Replaces, first.ID)

		c := assert.Must(s.Show(h.Context(), ada, first.Session, ""))(h)
		same(h, "exchanges of an export", len(c.Outcomes), 1)
		md := assert.Must(c.Export("md", encode))(h)
		assert.That(h, strings.Contains(md, "Left out: 1 question in other branches") && strings.Contains(md, "## Milk?") &&
			!strings.Contains(md, "## Tea?"), "the Markdown is\n%s", md)
		same(h, "runs of the audit", len(assert.Must(s.Audit(h.Context(), ada, first.Session))(h).Runs), 2)

		elsewhere := replacing(again.ID, h.ask(s, "", "Tea?").Session, "Sugar?")
		_, err := s.Start(h.Context(), ada, elsewhere)
		assert.That(h, errors.Is(err, journal.ErrNoPlace), "replacing one of another session gives %v", err)
		elsewhere.Follows, elsewhere.Replaces = elsewhere.Replaces, ""
		_, err = s.Start(h.Context(), ada, elsewhere)
		assert.That(h, errors.Is(err, journal.ErrNoPlace), "following one of another session gives %v", err)
		elsewhere.Replaces = again.ID
		_, err = s.Start(h.Context(), ada, elsewhere)
		misused(h, "doing both", err, "not both")
		_, err = s.Start(h.Context(), eve, replacing(again.ID, "", "Sugar?"))
		assert.That(h, errors.Is(err, journal.ErrNotFound), "replacing another person's run gives %v", err)
	})
}

func TestRunThatActedOrGoesOnKeepsItsPlace(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.retaking("one", h.store)
		acted := h.ask(s, "", "Do it")
		if _, err := s.Start(h.Context(), ada, replacing(acted.ID, "", "Milk?")); !errors.Is(err, service.ErrActed) {
			h.Errorf("replacing one that has acted gives %v", err)
		}
		release := h.holds("bob")
		going := h.start(s, "", "Tea?")
		if _, err := s.Start(h.Context(), ada, replacing(going.ID, "", "Milk?")); !errors.Is(err, journal.ErrLeased) {
			h.Errorf("replacing one that goes on gives %v", err)
		}
		release()
		res := h.wait(going)
		p := assert.Must(s.Prospect(h.Context(), assert.Must(s.Run(h.Context(), ada, going.ID))(h), &res.Shown))(h)
		same(h, "whether it can be replaced then", p.Retakable, true)
		elsewhere := h.process("two", h.store)
		_, err := elsewhere.Start(h.Context(), ada, replacing(going.ID, "", "Milk?"))
		misused(h, "replacing a run of an assistant that lets none be", err, "keeps its place")
	})
}

func TestRunThatStandsIsStoppedAndReplaced(t *testing.T) {
	inHouse(t, func(h *house) {
		id := h.crash(2)
		s := h.retaking("one", h.store)
		row := assert.Must(s.Run(h.Context(), ada, id))(h)
		same(h, "how it stands", row.Cause, run.CauseInterrupted)
		same(h, "whether it can be replaced", assert.Must(s.Prospect(h.Context(), row, nil))(h).Retakable, true)
		again := assert.Must(s.Start(h.Context(), ada, replacing(id, row.Session, "Milk?")))(h)
		same(h, "the answer", h.wait(again).Answer, "- ada: ADA\n- bob: BOB\n")
		same(h, "status of the one before", assert.Must(s.Run(h.Context(), ada, id))(h).Status, journal.Cancelled)
	})
}

func TestRunThatStandsIsLeftAloneWhereNoOtherOneCanBegin(t *testing.T) {
	inHouse(t, func(h *house) {
		id := h.crash(2)
		panel := h.panel("panel")
		panel.Retakes = true
		panel.Begin = func(context.Context, assistant.Request) (run.Spec, error) {
			return run.Spec{}, &assistant.RequestError{Why: bt.Because("no such model"), Hint: "name another"}
		}
		s := h.process("one", h.store, panel)
		_, err := s.Start(h.Context(), ada, replacing(id, "", "Milk?"))
		assert.That(t, err != nil, "it begins")
		same(h, "how it stands", assert.Must(s.Run(h.Context(), ada, id))(h).Cause, run.CauseInterrupted)
	})
}

// An earlier question is changed: what was said after it stays, and either way goes on from what is shown of it.
func TestEarlierQuestionIsChangedAndBothWaysStay(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.retaking("one", h.store)
		say := func(r service.Request) *service.Run {
			r.Assistant, r.Options = "panel", "ada bob"
			live := assert.Must(s.Start(h.Context(), ada, r))(h)
			h.wait(live)
			return live
		}
		first := h.ask(s, "", "Tea?")
		second := h.ask(s, first.Session, "Milk?")
		h.ask(s, first.Session, "Sugar?")
		changed := say(service.Request{Words: "Lemon?", Replaces: second.ID})
		say(service.Request{Words: "Ice?", Session: first.Session})
		say(service.Request{Words: "How much?", Session: first.Session, Follows: second.ID})
		for of, want := range map[string]string{"": "Tea? Milk? How much?", changed.ID: "Tea? Lemon? Ice?",
			first.ID: "Tea? Milk? How much?"} {
			c := assert.Must(s.Show(h.Context(), ada, first.Session, of))(h)
			md := assert.Must(c.Export("md", encode))(h)
			var asked []string
			for line := range strings.Lines(md) {
				if words, is := strings.CutPrefix(line, "## "); is {
					words, _, _ = strings.Cut(words, " after ") // what a panel adds
					asked = append(asked, strings.TrimSpace(words))
				}
			}
			same(h, "questions of the branch of "+of, strings.Join(asked, " "), want)
			same(h, "versions of the second", len(c.Versions[0].Versions), 2)
			same(h, "runs elsewhere", c.Others, 3)
		}
		var all []string
		for at := (journal.Cursor{}); ; {
			page := assert.Must(s.Branch(h.Context(), ada, first.Session, changed.ID, 2, at))(h)
			if len(page) == 0 {
				break
			}
			for _, r := range page {
				all, at = append(all, r.Title), r.Cursor()
			}
		}
		same(h, "its runs in a list", strings.Join(all, " "), "Ice? Lemon? Tea?")
		_, err := s.Show(h.Context(), ada, first.Session, h.ask(s, "", "Tea?").ID)
		assert.That(h, errors.Is(err, journal.ErrNotFound), "the branch of a run of another session gives %v", err)
	})
}

func TestAllThatReplaceOneRunAtOnceAreKept(t *testing.T) {
	inHouse(t, func(h *house) {
		s := h.retaking("one", h.store)
		first := h.ask(s, "", "Tea?")
		const many = 8
		begun := make(chan error, many)
		for n := range many {
			go func() {
				r, err := s.Start(h.Context(), ada, replacing(first.ID, "", fmt.Sprintf("Milk %d?", n)))
				if err == nil {
					_, err = r.Wait(h.Context())
				}
				begun <- err
			}()
		}
		for range many {
			assert.NoError(t, <-begun)
		}
		c := assert.Must(s.Show(h.Context(), ada, first.Session, ""))(h)
		same(h, "versions", len(c.Versions[0].Versions), many+1)
	})
}
