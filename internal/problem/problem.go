// Package problem has the one table of what errors mean for the user. The command line makes an exit code of it, HTTP a
// problem, MCP a fault. The page words a kind and its values.
// No word in it repeats what a request said.
package problem

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"syscall"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/council"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/session"
	"sibyl/internal/files"
	"sibyl/internal/inquiry"
	"sibyl/internal/journal"
	"sibyl/internal/media/document"
	"sibyl/internal/run"
	"sibyl/internal/server/user"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/task"
	"sibyl/internal/text"
)

// Type is what an error means (a problem type of RFC 9457).
type Type struct {
	Kind     string        // what is wrong, for programs
	Status   int           // of HTTP; the command line and MCP learn from it who has to fix it
	Detail   string        // what is wrong, for people
	Hint     string        // what helps; "": nothing known
	Here     string        // what helps on the command line, which prints the error itself
	Kept     Kept          // what can't be read or written of all that Sibyl keeps
	Wait     time.Duration // after which to try again; 0: trying again does not help
	bt.Coded               // the sentence with its values, if it says more than Kind
}

// Kept is something that Sibyl keeps.
type Kept int

// What is kept. Nobody's request is to blame where the journal fails; a file that fails may also be one that was named.
const (
	Nothing Kept = iota
	Folder       // the data folder
	Journal
)

// statusGone is nginx's status of a request whose client has gone: in the log it is no fault of the server.
const statusGone = 499

const invalid = "invalid_request"

// What is wrong with a request, where the kind says less.
const (
	wrongTask bt.Reason = "request.task: a title is one line of at most {title} characters, and a description has " +
		"at most {description}"
	emptyContent bt.Reason = "request.empty: what was sent is empty"

	// UnsureWithKey is of a request that may be sent again under its Idempotency-Key.
	UnsureWithKey bt.Reason = "request.unsure: whether it was done is not known; sent again, it is done once"
)

// Reasons are the sentences of what is wrong with a request.
func Reasons() []bt.Reason { return []bt.Reason{wrongTask, emptyContent, UnsureWithKey} }

// Of says what an error means; false: the table does not have it. Over HTTP and MCP that is a fault of the program; on
// the command line an error also says by its own words what was wrong.
func Of(err error) (Type, bool) {
	for _, typeOf := range []func(error) (Type, bool){ofRequest, ofTask, ofLimit, ofContent, ofDocument, ofState} {
		if t, known := typeOf(err); known {
			return t, true
		}
	}
	for _, one := range table() {
		if files.Is(err, one.err) {
			return one.Type, true
		}
	}
	return Type{}, false
}

func ofRequest(err error) (Type, bool) {
	e, is := errors.AsType[*assistant.RequestError](err)
	if !is {
		return Type{}, false
	}
	return Type{Kind: cmp.Or(e.Kind, invalid), Status: http.StatusBadRequest, Detail: sentence(e.Text),
		Hint: sentence(e.Hint), Coded: e.Coded}, true
}

func ofTask(err error) (Type, bool) {
	e, is := errors.AsType[*task.Invalid](err)
	if !is {
		return Type{}, false
	}
	t := Type{Kind: invalid, Status: http.StatusBadRequest, Detail: sentence(e.Error())}
	switch e.Field {
	case "idempotency_key":
		return Of(service.ErrKeyUsed)
	case "title", "description":
		t.Coded = wrongTask.With(task.MaxTitle, task.MaxDescription).Coded
	}
	return t, true
}

func ofLimit(err error) (Type, bool) {
	e, is := errors.AsType[*service.LimitError](err)
	if !is {
		return Type{}, false
	}
	return Type{Kind: "over_limit", Status: http.StatusPaymentRequired, Detail: sentence(e.Error()),
		Hint: "The user can agree to go on: with the header Over-Limit: true over HTTP, with --over-limit on a " +
			"command line."}, true
}

// ofContent is the type of an error of a recording or words that a session of the Council refuses.
func ofContent(err error) (Type, bool) {
	e, is := errors.AsType[*session.Invalid](err)
	if !is {
		return Type{}, false
	}
	t := Type{Kind: invalid, Status: http.StatusBadRequest, Detail: "What was sent " + e.Problem + "."}
	switch e.Kind {
	case session.TooLarge:
		t.Kind, t.Status = "too_large", http.StatusRequestEntityTooLarge
	case session.NotAudio:
		t.Kind, t.Status = "not_audio", http.StatusUnsupportedMediaType
	case session.Empty:
		t.Coded = emptyContent.With().Coded
	}
	return t, true
}

func ofDocument(err error) (Type, bool) {
	e, is := errors.AsType[*document.Error](err)
	if !is {
		return Type{}, false
	}
	kind := "document_" + string(e.Reason)
	t := Type{Kind: kind, Status: http.StatusBadRequest, Detail: "The document can't be read: " + e.Why() + "."}
	switch e.Reason {
	case document.TooLarge:
		t.Status = http.StatusRequestEntityTooLarge
	case document.Unsupported:
		t.Status = http.StatusUnsupportedMediaType
	}
	return t, true
}

// ofState is the type of an error of a file or session that can't be used as it is, or of an ambiguous session name.
func ofState(err error) (Type, bool) {
	if e, is := errors.AsType[*session.Damaged](err); is {
		return Type{Kind: "damaged", Status: http.StatusConflict, Kept: Folder,
			Detail: "The session can't be read: its metadata.json is missing or damaged.",
			Hint:   "Repairing the session rebuilds it from its files.",
			Here:   "‘sibyl council repair " + e.ID + "’ moves it aside and rebuilds it from the folder"}, true
	}
	if e, is := errors.AsType[*files.Error](err); is && e.Reason == files.Busy {
		return Type{Kind: "locked", Status: http.StatusServiceUnavailable,
			Detail: "Another program is changing these files.", Hint: "Try again.", Wait: time.Second}, true
	}
	if _, is := errors.AsType[*files.UndoError](err); is {
		return Type{Kind: "changed", Status: http.StatusConflict,
			Detail: "The note was changed since this write, so it is left as it is.",
			Hint:   "Change it by hand, or undo the later write first."}, true
	}
	if _, is := errors.AsType[*council.AmbiguousError](err); is {
		return Type{Kind: "ambiguous", Status: http.StatusBadRequest, Detail: "Several sessions have this name.",
			Hint: "Name it by its id, which the list of sessions has."}, true
	}
	return Type{}, false
}

// meaning is an error of the table, and what it means.
type meaning struct {
	err error
	Type
}

func table() []meaning {
	const missing, conflict = http.StatusNotFound, http.StatusConflict
	const unavailable, broken, full = http.StatusServiceUnavailable, http.StatusInternalServerError,
		http.StatusInsufficientStorage
	const safe = "what was already written is safe; "
	const mendFolder = "sessions lie in the data folder, which must be writable and have room: mend that, or name " +
		"another folder with --data"
	noSpace := Type{Kind: "disk_full", Status: full, Kept: Folder,
		Detail: "The disk is full. What was there is as it was.",
		Hint:   "Whoever runs the server has to free some space.", Here: mendFolder}
	changed := Type{Kind: "conflict", Status: conflict, Detail: "Somebody else changed this at the same time.",
		Hint: "Try again."}
	return []meaning{
		{journal.ErrLocked, Type{Kind: "journal_locked", Status: unavailable, Kept: Journal, Wait: time.Second,
			Detail: "The journal is busy.", Hint: "Try again.",
			Here: "another program has locked the journal: wait for it, or name another folder with --data"}},
		{journal.ErrUnreachable, Type{Kind: "journal_unreachable", Status: unavailable, Kept: Journal, Wait: time.Second,
			Detail: "The journal can't be reached.", Hint: "Try again.",
			Here: safe + "once the database can be reached, ‘sibyl run resume’ continues"}},
		{journal.ErrUnsure, Type{Kind: "unsure", Status: broken, Kept: Journal,
			Detail: "The journal was lost in the middle of this, or did not confirm it: whether it was done is not known.",
			Hint:   "Look whether it was done before you ask for it again.",
			Here:   "‘sibyl run list’ shows what was written, once the database can be reached"}},
		{journal.ErrReadOnly, Type{Kind: "journal_read_only", Status: unavailable, Kept: Journal, Wait: time.Minute,
			Detail: "The journal can only be read.", Hint: "Whoever runs the server has to let it write.",
			Here: "sessions and runs can be read but not changed: name another folder with --data"}},
		{journal.ErrFull, Type{Kind: "journal_full", Status: full, Kept: Journal,
			Detail: "The journal has no space left.", Hint: "Whoever runs the server has to free some.",
			Here: "free some space; " + safe + "and ‘sibyl run resume’ continues"}},
		{journal.ErrCorrupt, Type{Kind: "internal", Status: broken, Kept: Journal,
			Detail: "Something went wrong in the server.", Hint: "Its log has more.",
			Here: "move the file away, or name another folder with --data; nothing was changed"}},
		{syscall.ENOSPC, noSpace}, {syscall.EDQUOT, noSpace},
		{fs.ErrPermission, Type{Kind: "internal", Status: broken, Kept: Folder,
			Detail: "Something went wrong in the server.", Hint: "Its log has more.", Here: mendFolder}},
		{syscall.EROFS, Type{Kind: "read_only", Status: unavailable, Kept: Folder, Wait: time.Minute,
			Detail: "The folder can only be read.", Hint: "Whoever runs the server has to let it write.",
			Here: mendFolder}},

		{service.ErrNone, Type{Kind: "not_found", Status: missing, Detail: "Nothing was asked yet.",
			Here: "‘sibyl \"…\"’ asks a question"}},
		{inquiry.ErrUnknown, Type{Kind: "not_found", Status: missing, Detail: "Nothing here has this id.",
			Hint: "The list of inquiries has the ids.", Here: "‘sibyl inquiry list’ lists them"}},
		{journal.ErrNotFound, Type{Kind: "not_found", Status: missing, Detail: "Nothing here has this id.",
			Hint: "The lists of sessions and runs have the ids.", Here: "‘sibyl session list’ and ‘sibyl run list’ have them"}},
		{journal.ErrLeased, Type{Kind: "leased", Status: conflict, Detail: "The run is being driven.",
			Hint: "Wait for its end, or cancel it.",
			Here: "if the process that drives it has died, its lease expires within seconds"}},
		{journal.ErrEnded, Type{Kind: "ended", Status: conflict, Detail: "The run has ended.",
			Hint: "Start another run in its session.", Here: "‘sibyl explain RUN’ shows how"}},
		{journal.ErrClaimed, Type{Kind: "claimed", Status: conflict,
			Detail: "Another run holds something that only one run may hold.", Hint: "Wait for its end, or cancel it."}},
		{journal.ErrNoPlace, Type{Kind: "no_place", Status: conflict,
			Detail: "The message that this one takes the place of, or goes on from, is not in this conversation, or is " +
				"being answered.",
			Hint: "Ask it as a new message."}},
		{service.ErrActed, Type{Kind: "acted", Status: conflict,
			Detail: "This message has acted, so another one can't take its place.", Hint: "Ask it as a new message."}},
		{service.ErrKeyUsed, Type{Kind: "key_used", Status: http.StatusUnprocessableEntity,
			Detail: "Something else was asked for under this Idempotency-Key.", Hint: "Make a new key for each request."}},
		{journal.ErrConsumed, Type{Kind: "consumed", Status: conflict,
			Detail: "The question that this would answer is no longer open.", Hint: "Ask anew."}},
		{journal.ErrConflict, changed}, {journal.ErrExists, changed},
		{journal.ErrInvalid, Type{Kind: invalid, Status: http.StatusBadRequest,
			Detail: "The journal can't keep what was sent.",
			Hint:   "The description at /openapi.json says what belongs into a request."}},

		{run.ErrIncompatible, Type{Kind: "incompatible", Status: conflict,
			Detail: "This build of the server can't go on with the run.", Hint: "Cancel it, which ends it."}},
		{run.ErrSetAside, Type{Kind: "set_aside", Status: conflict,
			Detail: "The run was resumed three times, and each time the program ended before it had read the run's " +
				"records.",
			Hint: "Cancel it, which ends it as it stands, or resume it with force=true, which tries it once more."}},
		{run.ErrUnfit, Type{Kind: "unfit", Status: conflict,
			Detail: "The run can't be taken through this tree by this server.",
			Hint:   "Take a tree of the run's own assistant that reads no more than the run was given."}},
		{run.ErrNoRoom, Type{Kind: "no_room", Status: unavailable, Wait: 5 * time.Second,
			Detail: "This server is already driving as many runs as it may.",
			Hint:   "It starts as soon as there is room."}},
		{run.ErrDraining, Type{Kind: "draining", Status: unavailable, Wait: 2 * time.Second,
			Detail: "This server is about to stop and begins nothing more.", Hint: "Try again."}},

		{task.ErrNotFound, Type{Kind: "not_found", Status: missing,
			Detail: "There is no such task; it may have been deleted.", Hint: "The task list shows those there are.",
			Here: "‘sibyl task list’ lists them"}},
		{task.ErrNoChange, Type{Kind: "no_change", Status: conflict, Detail: "There is nothing to take back."}},
		{task.ErrConflict, Type{Kind: "changed", Status: conflict,
			Detail: "The tasks have changed since, so nothing was done.", Hint: "Look at the list as it is.",
			Here: "nothing was done; ‘sibyl task list’ shows the tasks as they are"}},
		{files.ErrNotKept, Type{Kind: "not_kept", Status: http.StatusGone,
			Detail: "What this write replaced is kept no longer."}},

		{session.ErrAway, Type{Kind: "sessions_away", Status: unavailable, Kept: Folder, Wait: time.Second,
			Detail: "This node has no access to the Council's sessions: their folder is not mounted here.",
			Hint:   "Try again: another node may answer. Whoever runs the server has to mount one folder on every node."}},
		{council.ErrNone, Type{Kind: "not_found", Status: missing, Detail: "There is no session yet.",
			Here: "‘sibyl council say \"…\"’ begins one"}},
		{session.ErrNotFound, Type{Kind: "not_found", Status: missing, Detail: "Nothing here has this id.",
			Hint: "The lists of sessions and runs have the ids.",
			Here: "‘sibyl council list’ lists the sessions, ‘sibyl find WORDS’ searches what was said"}},
		{persona.ErrNotFound, Type{Kind: "no_oracle", Status: missing, Detail: "There is no such oracle here.",
			Hint: "The list of oracles has their names and ids.", Here: "‘sibyl council oracles’ lists them"}},
		{persona.ErrAmbiguous, Type{Kind: "no_oracle", Status: http.StatusBadRequest,
			Detail: "Several oracles have this name.", Hint: "Name it by its id, which the list of oracles has."}},
		{inquiry.ErrNone, Type{Kind: "not_found", Status: missing, Detail: "There is no inquiry yet.",
			Here: "‘sibyl investigate \"…\" --witness DOCUMENTS’ begins one"}},

		{user.ErrExists, Type{Kind: invalid, Status: http.StatusBadRequest, Detail: "There is such a user already.",
			Here: "‘sibyl user rotate NAME’ replaces the tokens of a user by a new one"}},
		{user.ErrNotFound, Type{Kind: "not_found", Status: missing, Detail: "There is no such user.",
			Here: "‘sibyl user list’ lists the users"}},
		{user.ErrInvalid, Type{Kind: invalid, Status: http.StatusBadRequest, Detail: "The user's name or scope is wrong."}},

		{context.Canceled, Type{Kind: "gone", Status: statusGone,
			Detail: "The connection was closed before the answer."}},
		{context.DeadlineExceeded, Type{Kind: "timeout", Status: unavailable, Wait: time.Second,
			Detail: "It took too long.", Hint: "Try again."}},
	}
}

// sentence gives a remark a capital letter and a full stop.
func sentence(remark string) string {
	if remark == "" {
		return ""
	}
	return text.Capitalize(remark) + "."
}
