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
