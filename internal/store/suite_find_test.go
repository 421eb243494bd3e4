package store

import (
	"fmt"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
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
