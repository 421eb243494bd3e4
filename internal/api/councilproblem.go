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
)

// councilProblem says what an error of the Council means for who asked; nil if it is none.
func councilProblem(err error) *Problem {
	if e, ok := errors.AsType[*session.Invalid](err); ok {
		status, kind := http.StatusBadRequest, "invalid_request"
		switch e.Kind {
		case session.TooLarge:
			status, kind = http.StatusRequestEntityTooLarge, "too_large"
		case session.NotAudio:
			status, kind = http.StatusUnsupportedMediaType, "not_audio"
		}
		return newProblem(status, kind, "What was sent "+e.Problem+".", "") // what it is called stays with who sent it
	}
	if _, ok := errors.AsType[*session.Damaged](err); ok {
		return newProblem(http.StatusConflict, "damaged", "The session can't be read: its metadata.json is missing or damaged.", "Repairing the session rebuilds it from its files.")
	}
	if e, ok := errors.AsType[*files.Error](err); ok && e.Reason == files.Busy {
		return newProblem(http.StatusServiceUnavailable, "session_locked", "Somebody else is changing the session.", "Try again.").after(time.Second)
	}
	switch {
	case errors.Is(err, persona.ErrNotFound):
		return newProblem(http.StatusNotFound, "no_oracle", "There is no such oracle here.", "The list of oracles has their names and ids.")
	case errors.Is(err, persona.ErrAmbiguous):
		return newProblem(http.StatusBadRequest, "no_oracle", "Several oracles are called so.", "Name it by its id, which the list of oracles has.")
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return newProblem(http.StatusInsufficientStorage, "disk_full", "The disk of the sessions is full. The session is as it was.", "Whoever runs the server has to free some space.")
	case errors.Is(err, syscall.EROFS):
		return newProblem(http.StatusServiceUnavailable, "read_only", "The folder of the sessions can only be read.", "Whoever runs the server has to let it write.").after(time.Minute)
	}
	return nil
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
		switch e := err.(type) { //nolint:errorlint // it is taken apart, link by link
		case interface{ Unwrap() error }:
			if e.Unwrap() == nil {
				return err.Error()
			}
			err = e.Unwrap()
		case interface{ Unwrap() []error }:
			if len(e.Unwrap()) == 0 {
				return err.Error()
			}
			err = e.Unwrap()[0]
		default:
			return err.Error()
		}
	}
}

// Unwrap gives the whole of it.
func (w wordless) Unwrap() error { return w.error }
