package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/assistant"
	"sibyl/internal/council/session"
	"sibyl/internal/journal"
	"sibyl/internal/run"
)

// Problem is what every answer holds that is no success, as application/problem+json. It repeats nothing of the request.
type Problem struct {
	Type   string `json:"type" doc:"Always about:blank: the kind tells problems apart."`
	Title  string `json:"title" doc:"The status in words."`
	Status int    `json:"status"`
	Detail string `json:"detail" doc:"What is wrong, for people."`
	Kind   string `json:"kind" doc:"What is wrong, for programs."`
	Hint   string `json:"hint,omitempty" doc:"What would be right."`
	Run    string `json:"run,omitempty" doc:"The id of the run that stands in the way, where one of the user's own does."`

	header http.Header
}

// The content types of bodies.
const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
)

func newProblem(status int, kind, detail, hint string) *Problem {
	return &Problem{Type: "about:blank", Title: cmp.Or(http.StatusText(status), "Client Closed Request"), Status: status, Kind: kind, Detail: detail, Hint: hint, header: http.Header{}}
}

// with sets a header of the answer.
func (p *Problem) with(name, value string) *Problem {
	p.header.Set(name, value)
	return p
}

// after says when to try again, in whole seconds, at least one.
func (p *Problem) after(d time.Duration) *Problem {
	return p.with("Retry-After", strconv.Itoa(int(max(1, math.Ceil(d.Seconds())))))
}

// closing ends the connection after the answer, since what is still sent on it is of no use.
func (p *Problem) closing() *Problem { return p.with("Connection", "close") }

// Error is for logs; this and what follows make it an error of huma's.
func (p *Problem) Error() string { return p.Kind + ": " + p.Detail }

// GetStatus is the status of the answer.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders are headers of the answer.
func (p *Problem) GetHeaders() http.Header { return p.header }

// ContentType is that of the answer.
func (p *Problem) ContentType(string) string { return problemType }

// statusGone is what nginx calls the status of a request whose client has gone. Hardly anybody reads it but in the log, where it is no
// fault of the server.
const statusGone = 499

// meaning is what an error of the core means for who asked.
type meaning struct {
	err          error
	status       int
	kind         string
	detail, hint string
	wait         time.Duration // for Retry-After; 0: trying again is of no use
}

// meanings are of the errors that say by themselves what is wrong.
func meanings() []meaning {
	const conflict, unavailable = http.StatusConflict, http.StatusServiceUnavailable
	return []meaning{
		{journal.ErrNotFound, http.StatusNotFound, "not_found", "There is nothing of that id here.", "The lists of sessions and runs have the ids.", 0},
		{session.ErrNotFound, http.StatusNotFound, "not_found", "There is nothing of that id here.", "The lists of sessions and runs have the ids.", 0},
		{journal.ErrLeased, conflict, "leased", "The run is being driven.", "Wait for its end, or cancel it.", 0},
		{journal.ErrEnded, conflict, "ended", "The run has ended.", "Another one may go on with its session.", 0},
		{journal.ErrClaimed, conflict, "claimed", "Another run that goes on holds what only one may have.", "Wait for its end, or cancel it.", 0},
		{journal.ErrConsumed, conflict, "consumed", "The question that this would answer is no longer open.", "Ask anew.", 0},
		{run.ErrIncompatible, conflict, "incompatible", "This build of the server can't go on with the run.", "Cancel it, which ends it.", 0},
		{run.ErrSetAside, conflict, "set_aside", "The run was taken up three times, and each time the program ended before it had gone through what is kept of it.",
			"Cancel it, which ends it as it stands, or resume it with force=true, which tries it once more.", 0},
		{journal.ErrConflict, conflict, "conflict", "Somebody else changed this at the same time.", "Try again.", 0},
		{journal.ErrExists, conflict, "conflict", "Somebody else changed this at the same time.", "Try again.", 0},
		{journal.ErrInvalid, http.StatusBadRequest, "invalid_request", "The journal can't keep what was sent.", "The description at /openapi.json says what belongs into a request.", 0},
		{run.ErrNoRoom, unavailable, "no_room", "This server has as many runs going as it may have.", "The run is taken up by itself when there is room.", 5 * time.Second},
		{run.ErrDraining, unavailable, "draining", "This server is about to stop and begins nothing more.", "Try again.", 2 * time.Second},
		{journal.ErrLocked, unavailable, "journal_locked", "The journal is busy.", "Try again.", time.Second},
		{journal.ErrUnreachable, unavailable, "journal_unreachable", "The journal can't be reached.", "Try again.", time.Second},
		{journal.ErrUnsure, http.StatusInternalServerError, "unsure", "The journal was lost in the middle of this: whether it was done is not known.",
			"Look whether it was done before you ask for it again.", 0},
		{journal.ErrReadOnly, unavailable, "journal_read_only", "The journal can only be read.", "Whoever runs the server has to let it write.", time.Minute},
		{journal.ErrFull, http.StatusInsufficientStorage, "journal_full", "The journal has no space left.", "Whoever runs the server has to free some.", 0},
		{context.Canceled, statusGone, "gone", "The connection was closed before the answer.", "", 0},
		{context.DeadlineExceeded, unavailable, "timeout", "It took too long.", "Try again.", time.Second},
	}
}

// problemOf says what an error means for who asked. What is not known is a fault of the server, of which no more is said.
func problemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*assistant.RequestError](err); ok {
		return newProblem(http.StatusBadRequest, "invalid_request", sentence(e.Public), sentence(e.Hint))
	}
	if p := councilProblem(err); p != nil {
		return p
	}
	for _, m := range meanings() {
		if !errors.Is(err, m.err) {
			continue
		}
		p := newProblem(m.status, m.kind, m.detail, m.hint)
		if m.wait > 0 {
			return p.after(m.wait)
		}
		return p
	}
	return newProblem(http.StatusInternalServerError, "internal", "Something went wrong in the server.", "Its log has more, under the request id of this answer.")
}

// sentence is a remark of the core as people read it here.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// problem is problemOf, and tells whoever runs the server what is theirs to mend.
func (s *Server) problem(ctx context.Context, err error) *Problem {
	p := problemOf(err)
	if _, own := errors.AsType[*Problem](err); !own && p.Status >= http.StatusInternalServerError {
		s.config.Log.LogAttrs(ctx, slog.LevelError, "a request failed", slog.String("request_id", exchangeOf(ctx).id), slog.String("kind", p.Kind), slog.String("error", err.Error()))
	}
	return p
}

// refuse answers with a problem.
func refuse(w http.ResponseWriter, p *Problem) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // whoever does not wait for it gets none
}

// ofHuma is the problem of a request in which huma found something wrong. Its complaints name what was sent: of that remains what the
// description of the route says as well.
func (s *Server) ofHuma(op *huma.Operation, m *huma.ErrorModel) *Problem {
	if m.Status != http.StatusUnprocessableEntity && m.Status != http.StatusBadRequest { // nothing else is left to huma
		return newProblem(m.Status, "internal", "Something went wrong in the server.", "")
	}
	p := newProblem(http.StatusBadRequest, "invalid_request", "The request has no body.", "The description at /openapi.json says what belongs into a request.")
	if len(m.Errors) > 0 {
		p.Detail = s.complaint(op, m.Errors[0])
	}
	return p
}

// complaint says where a request is wrong, and what is expected there.
func (s *Server) complaint(op *huma.Operation, e *huma.ErrorDetail) string {
	where, name, named := strings.Cut(e.Location, ".")
	switch {
	case where != "body":
		if slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == where && p.Name == name }) {
			return "The parameter " + name + " is wrong: " + e.Message + "."
		}
		return "The address has a parameter that is none of this route."
	case !named:
		return "The body is wrong: " + e.Message + "."
	case s.bodyOf(op).Properties[name] != nil:
		return "In the body, " + name + " is wrong: " + e.Message + "."
	}
	return "The body has a property that is none of this route."
}

// bodyOf is the schema of a route's body.
func (s *Server) bodyOf(op *huma.Operation) *huma.Schema {
	schema := op.RequestBody.Content[jsonType].Schema
	if schema.Ref != "" {
		return s.api.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
	}
	return schema
}
