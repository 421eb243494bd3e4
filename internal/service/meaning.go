package service

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/files"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/task"
)

// Meaning is what an error means for who asked, whichever way they came in. Its words repeat nothing of the request.
type Meaning struct {
	Err    error
	Status int           // over HTTP
	Kind   string        // what is wrong, for programs
	Detail string        // what is wrong, for people
	Hint   string        // what helps; "": nothing is known to
	Here   string        // of what concerns the journal: what helps on the command line of this machine
	Wait   time.Duration // after which it is worth trying again; 0: that is of no use
}

// statusGone is what nginx calls the status of a request whose client has gone. Hardly anybody reads it but in the log,
// where it is no fault of the server.
const statusGone = 499

// MeaningOf says what an error means; false: it is not known, so it is a fault of the program.
func MeaningOf(err error) (Meaning, bool) {
	if e, ok := errors.AsType[*assistant.RequestError](err); ok {
		return Meaning{err, http.StatusBadRequest, cmp.Or(e.Kind, "invalid_request"), sentence(e.Text),
			sentence(e.Hint), "", 0}, true
	}
	if e, ok := errors.AsType[*task.Invalid](err); ok {
		if e.Field == "idempotency_key" {
			return Meaning{err, http.StatusConflict, "key_used", "Something else was done under this Idempotency-Key.",
				"Make a new key for each request.", "", 0}, true
		}
		return Meaning{err, http.StatusBadRequest, "invalid_request", sentence(e.Error()), "", "", 0}, true
	}
	if e, ok := errors.AsType[*LimitError](err); ok {
		return Meaning{err, http.StatusPaymentRequired, "over_limit", sentence(e.Error()),
			"The user can agree to go on: with the header Over-Limit: true over HTTP, with --over-limit on a command line.",
			"", 0}, true
	}
	for _, m := range meanings() {
		if files.Is(err, m.Err) {
			return m, true
		}
	}
	return Meaning{}, false
}

// What is wrong with a request to any assistant.
const (
	noTitle       bt.Reason = "request.title: the title is empty"
	nothingToFind bt.Reason = "request.find: there is nothing to look for"
	wrongOptions  bt.Reason = "request.options: {what}"
	wrongTask     bt.Reason = "request.task: a title is one line of at most {title} characters, and a description has " +
		"at most {description}"
)

// CodeOf is the sentence of what is wrong with a request, where the kind of its meaning says less.
func CodeOf(err error) bt.Coded {
	if e, ok := errors.AsType[*assistant.RequestError](err); ok {
		return e.Coded
	}
	if e, ok := errors.AsType[*task.Invalid](err); ok && (e.Field == "title" || e.Field == "description") {
		return wrongTask.With(task.MaxTitle, task.MaxDescription).Coded
	}
	return bt.Coded{}
}

// meanings are of the errors that say by themselves what is wrong.
func meanings() []Meaning {
	const missing, conflict, unavailable = http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable
	const continues = "what was already written is safe; "
	return []Meaning{
		{journal.ErrLocked, unavailable, "journal_locked", "The journal is busy.", "Try again.",
			"another program has locked the journal: wait for it, or name another folder with --data", time.Second},
		{journal.ErrUnreachable, unavailable, "journal_unreachable", "The journal can't be reached.", "Try again.",
			continues + "once the database can be reached, ‘sibyl run resume’ continues", time.Second},
		{journal.ErrUnsure, http.StatusInternalServerError, "unsure",
			"The journal was lost in the middle of this: whether it was done is not known.",
			"Look whether it was done before you ask for it again.",
			"‘sibyl run list’ shows what was written, once the database can be reached", 0},
		{journal.ErrReadOnly, unavailable, "journal_read_only", "The journal can only be read.",
			"Whoever runs the server has to let it write.",
			"sessions and runs can be read but not changed: name another folder with --data", time.Minute},
		{journal.ErrFull, http.StatusInsufficientStorage, "journal_full", "The journal has no space left.",
			"Whoever runs the server has to free some.", "free some space; " + continues +
				"and ‘sibyl run resume’ continues", 0},
		{syscall.ENOSPC, http.StatusInsufficientStorage, "disk_full", "The disk is full.",
			"Whoever runs the server has to free some space.", "", 0},
		{syscall.EROFS, unavailable, "read_only", "The folder can only be read.",
			"Whoever runs the server has to let it write.", "", time.Minute},
		{journal.ErrCorrupt, http.StatusInternalServerError, "internal", "Something went wrong in the server.",
			"Its log has more.",
			"move the file away, or name another folder with --data; nothing was changed", 0},
		{journal.ErrNotFound, missing, "not_found", "There is nothing of that id here.",
			"The lists of sessions and runs have the ids.", "", 0},
		{journal.ErrLeased, conflict, "leased", "The run is being driven.", "Wait for its end, or cancel it.", "", 0},
		{journal.ErrEnded, conflict, "ended", "The run has ended.", "Another one may go on with its session.", "", 0},
		{journal.ErrClaimed, conflict, "claimed", "Another run that goes on holds what only one may have.",
			"Wait for its end, or cancel it.", "", 0},
		{journal.ErrNotLast, conflict, "not_last",
			"Something was said in the conversation since, or is being answered.", "Ask it as a new message.", "", 0},
		{ErrActed, conflict, "acted", "This message has acted, so another one can't take its place.",
			"Ask it as a new message.", "", 0},
		{journal.ErrConsumed, conflict, "consumed", "The question that this would answer is no longer open.",
			"Ask anew.", "", 0},
		{run.ErrIncompatible, conflict, "incompatible", "This build of the server can't go on with the run.",
			"Cancel it, which ends it.", "", 0},
		{run.ErrSetAside, conflict, "set_aside",
			"The run was taken up three times, and each time the program ended " +
				"before it had gone through what is kept of it.",
			"Cancel it, which ends it as it stands, or resume it with force=true, which tries it once more.", "", 0},
		{journal.ErrConflict, conflict, "conflict", "Somebody else changed this at the same time.", "Try again.",
			"", 0},
		{journal.ErrExists, conflict, "conflict", "Somebody else changed this at the same time.", "Try again.", "", 0},
		{journal.ErrInvalid, http.StatusBadRequest, "invalid_request", "The journal can't keep what was sent.",
			"The description at /openapi.json says what belongs into a request.", "", 0},
		{run.ErrNoRoom, unavailable, "no_room", "This server has as many runs going as it may have.",
			"The run is taken up by itself when there is room.", "", 5 * time.Second},
		{run.ErrDraining, unavailable, "draining", "This server is about to stop and begins nothing more.",
			"Try again.", "", 2 * time.Second},
		{task.ErrNotFound, missing, "not_found", "There is no such task; it may have been deleted.",
			"The task list shows those there are.", "", 0},
		{task.ErrNoChange, conflict, "no_change", "There is nothing to take back.", "", "", 0},
		{task.ErrConflict, conflict, "changed", "The tasks have changed since, so nothing was done.",
			"Look at the list as it is.", "", 0},
		{context.Canceled, statusGone, "gone", "The connection was closed before the answer.", "", "", 0},
		{context.DeadlineExceeded, unavailable, "timeout", "It took too long.", "Try again.", "", time.Second},
	}
}

// sentence is a remark as people read it.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
