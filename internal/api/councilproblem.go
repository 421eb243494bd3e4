package api

import (
	"errors"
	"io/fs"
	"net/http"
	"syscall"
	"time"

	"sibyl/internal/council/persona"
	"sibyl/internal/council/session"
	"sibyl/internal/files"
	"sibyl/internal/service"
)

// councilMeaning says what an error of the Council means for who asked, if it is one.
func councilMeaning(err error) (m service.Meaning, known bool) {
	const conflict, unavailable = http.StatusConflict, http.StatusServiceUnavailable
	if e, ok := errors.AsType[*session.Invalid](err); ok {
		m = service.Meaning{Status: http.StatusBadRequest, Kind: "invalid_request", Detail: "What was sent " + e.Problem + "."} // what it is called stays with who sent it
		switch e.Kind {
		case session.TooLarge:
			m.Status, m.Kind = http.StatusRequestEntityTooLarge, "too_large"
		case session.NotAudio:
			m.Status, m.Kind = http.StatusUnsupportedMediaType, "not_audio"
		}
		return m, true
	}
	if _, ok := errors.AsType[*session.Damaged](err); ok {
		return service.Meaning{Status: conflict, Kind: "damaged", Detail: "The session can't be read: its metadata.json is missing or damaged.",
			Hint: "Repairing the session rebuilds it from its files."}, true
	}
	if e, ok := errors.AsType[*files.Error](err); ok && e.Reason == files.Busy {
		return service.Meaning{Status: unavailable, Kind: "session_locked", Detail: "Somebody else is changing the session.", Hint: "Try again.", Wait: time.Second}, true
	}
	full := service.Meaning{Status: http.StatusInsufficientStorage, Kind: "disk_full", Detail: "The disk of the sessions is full. The session is as it was.",
		Hint: "Whoever runs the server has to free some space."}
	for of, m := range map[error]service.Meaning{
		session.ErrNotFound: {Status: http.StatusNotFound, Kind: "not_found", Detail: "There is nothing of that id here.", Hint: "The lists of sessions and runs have the ids."},
		persona.ErrNotFound: {Status: http.StatusNotFound, Kind: "no_oracle", Detail: "There is no such oracle here.", Hint: "The list of oracles has their names and ids."},
		persona.ErrAmbiguous: {Status: http.StatusBadRequest, Kind: "no_oracle", Detail: "Several oracles are called so.",
			Hint: "Name it by its id, which the list of oracles has."},
		syscall.ENOSPC: full,
		syscall.EDQUOT: full,
		syscall.EROFS: {Status: unavailable, Kind: "read_only", Detail: "The folder of the sessions can only be read.",
			Hint: "Whoever runs the server has to let it write.", Wait: time.Minute},
	} {
		if errors.Is(err, of) {
			return m, true
		}
	}
	return m, false
}

// fileProblem is that of a file of a session that is read.
func fileProblem(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return newProblem(http.StatusNotFound, "file_missing", "The session tells of this file, and it is not there any more.", "Repairing the session says what it lacks.")
	}
	return err
}

// wordless is an error without what it says of the names that somebody gave: its cause alone.
type wordless struct{ error }

// Error is the innermost cause, which has words of the system alone.
func (w wordless) Error() string {
	err := w.error
	for {
		inner := errors.Unwrap(err)
		if joined, ok := err.(interface{ Unwrap() []error }); ok && len(joined.Unwrap()) > 0 {
			inner = joined.Unwrap()[0]
		}
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}

// Unwrap gives the whole of it.
func (w wordless) Unwrap() error { return w.error }
