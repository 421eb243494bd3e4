package store

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/server/user"
	"sibyl/internal/task"
)

// told has a session of an owner with one run that has ended, both found by words.
func (s *suite) told(owner journal.Owner, id, title, words string, at time.Time) {
	s.Helper()
	session := sessionOf(owner, id)
	session.Title, session.UpdatedAt = title, at
	r := runOf(owner, id, id+"-r")
	r.StartedAt = at
	assert.NoError(s, s.db.Begin(s.ctx, journal.Beginning{Session: &session, Run: r, Records: recordsFrom(0, 1)}))
	assert.NoError(s, s.db.Append(s.ctx, owner, r.ID, recordsFrom(1, 1), &journal.End{Status: journal.Done, At: at}))
	assert.NoError(s, s.db.KeepWords(s.ctx, owner, []journal.Wording{
		{Found: journal.Found{Session: id, Title: title}, Words: title},
		{Found: journal.Found{Session: id, Run: r.ID}, Words: words}}))
}

// found are the runs that have words, or with titles the sessions.
func (s *suite) found(owner journal.Owner, titles bool, words ...string) []string {
	s.Helper()
	all := assert.Must(s.db.Find(s.ctx, owner, journal.Search{Words: words, Titles: titles}))(s)
	return idsOf(all, func(f journal.Found) string {
		if titles {
			return f.Session
		}
		return f.Run
	})
}

var findTests = map[string]func(*suite){
	"TheLatestIsFoundFirst": func(s *suite) {
		s.told("ann", "old", "a plan", "the lease ends", noon)
		s.told("ann", "new", "a list", "a lease begins", after(time.Hour))
		s.same("runs", s.found("ann", false, "lease"), []string{"new-r", "old-r"})
		s.same("runs with both words", s.found("ann", false, "lease", "ends"), []string{"old-r"})
		s.same("sessions", s.found("ann", true, "plan"), []string{"old"})
		s.same("nothing", s.found("ann", false, "lease", "plan"), []string{})
	},
	"WordsOfAnotherOwnerAreNeverFound": func(s *suite) {
		s.told("ann", "a", "a secret plan", "the secret lease", noon)
		s.same("runs", s.found("bob", false, "lease"), []string{})
		s.same("sessions", s.found("bob", true, "plan"), []string{})
		unread := journal.Wording{Found: journal.Found{Session: "a", Run: "a-r"}, Words: "bob was here"}
		assert.NoError(s, s.db.KeepWords(s.ctx, "bob", []journal.Wording{unread}))
		s.same("what bob wrote", s.found("ann", false, "bob"), []string{})
		all := assert.Must(s.db.Unread(s.ctx, "bob", 0))(s)
		s.same("unread", len(all), 0)
	},
	"ARunOfASessionWhoseTitleHasTheWordsIsNotFoundBesideIt": func(s *suite) {
		s.told("ann", "a", "the lease", "the lease ends", noon)
		s.same("runs", s.found("ann", false, "lease"), []string{})
		s.same("a run whose title has but one of the words", s.found("ann", false, "lease", "ends"), []string{"a-r"})
	},
	"SignsOfSQLAreLettersLikeOthers": func(s *suite) {
		hostile := []string{"100%", "a_b", "it's", `say "no"`, `back\slash`, "'; drop table run; --", "$1", "?", "(",
			"ünder", "日本語"}
		for i, words := range hostile {
			s.told("ann", fmt.Sprint("s", i), "t", "before "+words+" behind", after(time.Duration(i)*time.Second))
		}
		s.told("ann", "other", "t", "1000 axb its", after(time.Hour))
		for i, words := range hostile {
			s.same(words, s.found("ann", false, words), []string{fmt.Sprintf("s%d-r", i)})
		}
	},
	"ARenamedSessionIsUnreadAgain": func(s *suite) {
		s.told("ann", "a", "the lease", "words", noon)
		assert.NoError(s, s.db.RenameSession(s.ctx, "ann", "a", "the plan"))
		s.same("by its old title", s.found("ann", true, "lease"), []string{})
		all := assert.Must(s.db.Unread(s.ctx, "ann", 0))(s)
		s.same("unread", idsOf(all, func(f journal.Found) string { return f.Session + f.Title }), []string{"athe plan"})
		late := journal.Wording{Found: journal.Found{Session: "a", Title: "the lease"}, Words: "the lease"}
		assert.NoError(s, s.db.KeepWords(s.ctx, "ann", []journal.Wording{late}))
		s.same("by the title that it had", s.found("ann", true, "lease"), []string{})
	},
	"ARunIsUnreadOnceItHasEnded": func(s *suite) {
		s.begin("s", "r", 1)
		owner := s.run("r").Owner
		ids := func() []string {
			all := assert.Must(s.db.Unread(s.ctx, owner, 0))(s)
			return idsOf(all, func(f journal.Found) string { return f.Session + "/" + f.Run })
		}
		s.same("while it goes on", ids(), []string{"s/"})
		s.end("r", 1, journal.Done, noon)
		s.same("then", ids(), []string{"s/", "s/r"})
	},
	"WhatIsDeletedIsNotFound": func(s *suite) {
		s.told("ann", "a", "the plan", "the lease", noon)
		assert.NoError(s, s.db.DeleteSession(s.ctx, "ann", "a", journal.ByPerson, after(time.Hour)))
		s.same("runs", s.found("ann", false, "lease"), []string{})
		s.same("sessions", s.found("ann", true, "plan"), []string{})
	},
	"PagesHoldEachOnceWhileOthersAreWritten": func(s *suite) {
		for i := range 7 {
			// pairs at the same time
			s.told("ann", fmt.Sprint("s", i), "t", "the lease", after(time.Duration(i/2)*time.Second))
		}
		var seen []string
		q := journal.Search{Words: []string{"lease"}, Limit: 2}
		for n := 0; ; n++ {
			page := assert.Must(s.db.Find(s.ctx, "ann", q))(s)
			for _, f := range page {
				seen = append(seen, f.Run)
			}
			if len(page) < q.Limit {
				break
			}
			last := page[len(page)-1]
			q.After = journal.Cursor{At: last.At, ID: last.Run}
			s.told("ann", fmt.Sprint("later", n), "t", "the lease", after(time.Hour))
		}
		s.same("runs", seen, []string{"s6-r", "s5-r", "s4-r", "s3-r", "s2-r", "s1-r", "s0-r"})
	},
	"ATimeAndAnAssistantBoundWhatIsFound": func(s *suite) {
		s.told("ann", "a", "t", "the lease", noon)
		s.told("ann", "b", "t", "the lease", after(time.Hour))
		find := func(q journal.Search) []string {
			q.Words = []string{"lease"}
			all := assert.Must(s.db.Find(s.ctx, "ann", q))(s)
			return idsOf(all, func(f journal.Found) string { return f.Run })
		}
		s.same("from", find(journal.Search{From: after(time.Hour)}), []string{"b-r"})
		s.same("to", find(journal.Search{To: after(time.Hour)}), []string{"a-r"})
		s.same("another assistant", find(journal.Search{Assistant: "nobody"}), []string{})
		runs := assert.Must(s.db.Runs(s.ctx, "ann", journal.Filter{From: after(time.Minute)}))(s)
		s.same("listed from", idsOf(runs, func(r journal.Run) string { return r.ID }), []string{"b-r"})
	},
	"ARunAsksWhileItsQuestionIsOpen": func(s *suite) {
		s.begin("s", "r", 1)
		owner := s.run("r").Owner
		assert.NoError(s, s.db.Append(s.ctx, owner, "r", recordsFrom(1, 1), &journal.End{Status: journal.NeedsUser, At: noon,
			Pending: []journal.Pending{{ID: "p", Kind: "yes", ExpiresAt: after(time.Hour)}}}))
		asking := func(owner journal.Owner, at time.Time) int {
			runs := assert.Must(s.db.Runs(s.ctx, owner, journal.Filter{Asking: at}))(s)
			return len(runs)
		}
		s.same("before it expires", asking(owner, noon), 1)
		s.same("to another", asking("bob", noon), 0)
		s.same("after", asking(owner, after(2*time.Hour)), 0)
	},
}

// sharedTests are of two handles on one database, as two processes have them.
var sharedTests = map[string]func(one, two *suite){
	"WhatAHandleWritesIsKeptWhenItIsClosedAndSeenByOthersAtOnce": func(one, two *suite) {
		one.start(leased(runOf(ada, "s", "running"), "here", time.Minute), recordsFrom(0, 3))
		one.start(runOf(ada, "s", "ended"), recordsFrom(0, 1), "blob")
		one.end("ended", 1, journal.NeedsUser, after(time.Second))
		assert.NoError(one, one.db.RenameSession(one.ctx, ada, "s", "renamed"))
		assert.NoError(one, one.claim(ada, "claimed", "key"))
		one.leave("s", "asking", noon, journal.Pending{ID: "p", Kind: "choice"})
		two.same("records", two.records("running"), recordsFrom(0, 3))
		assert.NoError(two, two.appendTo("running", 3, 1))
		one.same("records", one.records("running"), recordsFrom(0, 4))
		one.fails(journal.ErrConflict, one.appendTo("running", 3, 1))
		want := one.rows()
		assert.NoError(one, one.db.Close())
		two.same("what is kept", two.rows(), want)
		two.fails(journal.ErrEnded, two.appendTo("ended", 2, 1))
	},
	"CloseWaitsForAWriteThatIsBeingDone": func(one, two *suite) {
		one.begin("s", "r", 1)
		held, free := make(chan struct{}), make(chan struct{})
		written, closed := make(chan error), make(chan error)
		go func() {
			var once sync.Once
			written <- one.db.write(one.ctx, func(t *tx) error {
				once.Do(func() { close(held) })
				<-free
				t.appendRecords(ada, "r", recordsFrom(1, 1))
				return nil
			})
		}()
		<-held
		go func() { closed <- one.db.Close() }()
		closing(one.db)
		close(free)
		assert.NoError(one, errors.Join(<-written, <-closed))
		two.same("records", two.records("r"), recordsFrom(0, 2))
	},
	"WritersAtOnceFailByThemselvesAndAreToldWhatCameOfTheirWrites": func(one, two *suite) {
		const writers = 12
		for i := range writers {
			one.begin(fmt.Sprint("s", i), fmt.Sprint("r", i), 1)
		}
		errs := together(writers, func(i int) error {
			by, run := []*suite{one, two}[i%2], fmt.Sprint("r", i)
			switch i % 3 {
			case 0:
				return by.appendTo(run, 2, 1) // before its turn
			case 1:
				ctx, cancel := context.WithCancel(by.ctx)
				defer cancel()
				go cancel()
				return by.db.Append(ctx, ada, run, recordsFrom(1, 1), nil)
			}
			return by.appendTo(run, 1, 1)
		})
		for i, err := range errs {
			want := 2
			switch {
			case i%3 == 0:
				one.fails(journal.ErrConflict, err)
				want = 1
			case i%3 == 1 && err != nil:
				one.fails(context.Canceled, err)
				want = 1
			default:
				assert.NoError(one, err)
			}
			one.same("records of a writer", len(one.records(fmt.Sprint("r", i))), want)
		}
		sound(one.T, one.db)
	},
	"OfWritersOnTwoHandlesOneGetsEachNumber": func(one, two *suite) {
		one.begin("s", "r", 1)
		race(one, one, two, 8)
	},
	"WhatOneHandleChangesInATaskTheOtherSeesAtOnce": func(one, two *suite) {
		t := one.add("one")
		two.same("task", two.task(t.ID), t)
		two.titled(t.ID, "two")
		_, _, err := one.tasks().Complete(one.ctx, byAda, t.ID, t.Version)
		one.fails(task.ErrConflict, err)
		two.same("undone", one.undo(), two.history(t.ID)[2])
	},
	"KeyThatHandlesUseAtOnceMakesOneChange": oneChangeUnderKeys,
	"ChangesOfHandlesAtOnceFollowEachOther": func(one, two *suite) {
		t := one.add("1")
		errs := together(10, func(i int) error { return []*suite{one, two}[i%2].applied("ada", numbered(t.ID)) })
		assert.NoError(one, errors.Join(errs...))
		one.same("title", two.task(t.ID).Title, "11")
	},
	"UndosOfHandlesAtOnceTakeBackEachChangeOnce": func(one, two *suite) {
		one.titled(one.add("one").ID, "two")
		done := 0
		for _, err := range together(6, func(i int) error {
			return errOf([]*suite{one, two}[i%2].tasks().Undo(one.ctx, byAda))
		}) {
			switch {
			case err == nil:
				done++
			case !errors.Is(err, task.ErrConflict) && !errors.Is(err, task.ErrNoChange):
				one.Error(err)
			}
		}
		taken := map[int64]int{}
		for _, c := range one.changes() {
			if c.Action == task.Undo {
				taken[c.Undoes]++
				one.same("times that a change was taken back", taken[c.Undoes], 1)
			}
		}
		one.same("undos", len(taken), done)
	},
	"WhatOneHandleRevokesHasEndedForTheOtherAtOnce": func(one, two *suite) {
		one.addUsers("ada")
		assert.NoError(two, two.addToken(tokenOf("ada", "cookie", user.Cookie)))
		one.live(noon, "ada", "cookie")
		assert.NoError(two, two.replace(tokenOf("ada", "next", user.Bearer)))
		one.live(noon, "cookie", "next")
		assert.NoError(one, one.db.RevokeUser(one.ctx, "ada", noon))
		two.live(noon)
		two.fails(user.ErrNotFound, two.addToken(tokenOf("ada", "x", user.Bearer)))
	},
	"OfHandlesThatEndATokenAtOnceOneGetsIt": func(one, two *suite) {
		for range 5 {
			one.addUsers("ada")
			assert.NoError(one, one.addToken(tokenOf("ada", "once", user.SignIn)))
			one.oneWins(8, user.ErrNotFound, func(i int) error {
				return []*suite{one, two}[i%2].endToken("once", user.SignIn, noon)
			})
			assert.NoError(one, one.db.RevokeUser(one.ctx, "ada", noon))
			assert.NoError(one, one.db.ForgetTokens(one.ctx, after(time.Hour)))
		}
	},
	"NoTokenOutlivesAUserThatIsRevokedWhileItIsAdded": func(one, two *suite) {
		for range 5 {
			one.addUsers("ada")
			errs := together(5, func(i int) error {
				switch i {
				case 2:
					return one.db.RevokeUser(one.ctx, "ada", noon)
				case 3:
					return one.replace(tokenOf("ada", "replacing", user.Bearer))
				}
				return two.addToken(tokenOf("ada", []string{"a", "b", "", "", "e"}[i], user.Cookie))
			})
			for _, err := range errs {
				if err != nil {
					one.fails(user.ErrNotFound, err)
				}
			}
			one.live(noon)
			assert.NoError(one, one.db.ForgetTokens(one.ctx, after(time.Hour)))
		}
	},
}
