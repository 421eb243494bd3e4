package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/problem"
	"sibyl/internal/service"
)

// Problem is the body of every answer that is no success, as application/problem+json. It repeats nothing of the
// request.
type Problem struct {
	Type   string `json:"type" doc:"Always about:blank: the kind tells problems apart."`
	Title  string `json:"title" doc:"The status in words."`
	Status int    `json:"status"`
	Detail string `json:"detail" doc:"What is wrong, for people."`
	Kind   string `json:"kind" doc:"What is wrong, for programs."`
	Hint   string `json:"hint,omitempty" doc:"What would be right."`
	bt.Coded
	Spent    float64 `json:"spent,omitempty" doc:"Of over_limit: what the day has cost."`
	Limit    float64 `json:"limit,omitempty" doc:"Of over_limit: what it may cost."`
	Currency string  `json:"currency,omitempty" doc:"Of spent and limit."`
	Run      string  `json:"run,omitempty" doc:"The id of the run that stands in the way, where one of the user's own does."`

	header http.Header
}

// The content types of bodies.
const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
)

func newProblem(status int, kind, detail, hint string) *Problem {
	return &Problem{Type: "about:blank", Title: cmp.Or(http.StatusText(status), "Client Closed Request"),
		Status: status, Kind: kind, Detail: detail, Hint: hint, header: http.Header{}}
}

// badRequest is the problem of a request that is not as its route takes it.
func badRequest(detail, hint string) *Problem {
	return newProblem(http.StatusBadRequest, "invalid_request", detail, hint)
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

// problemOf is the problem that an error means for the user. An unknown error is an internal fault, without details.
func problemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	t, known := problem.Of(err)
	if !known {
		return newProblem(http.StatusInternalServerError, "internal", "Something went wrong in the server.",
			"Its log has more, under the request id of this answer.")
	}
	p := newProblem(t.Status, t.Kind, t.Detail, t.Hint)
	p.Coded = t.Coded
	if over, isOver := errors.AsType[*service.LimitError](err); isOver {
		p.Spent, p.Limit, p.Currency = over.Spent, over.Limit, over.Currency
	}
	if t.Wait > 0 {
		return p.after(t.Wait)
	}
	return p
}

// keyedRetry is when to send a request again of which it is not known whether it was done.
const keyedRetry = 5 * time.Second

// problem is problemOf with what helps this request, and logs faults that the operator has to fix.
func (s *Server) problem(ctx context.Context, err error) *Problem {
	p := problemOf(err)
	if errors.Is(err, journal.ErrUnsure) && infoOf(ctx).hasKey {
		p.Hint = "Send it again with the same Idempotency-Key: it will be done once, whether it was done already or not."
		p.Coded = problem.UnsureWithKey.With().Coded
		p = p.after(keyedRetry)
	}
	if _, own := errors.AsType[*Problem](err); !own && p.Status >= http.StatusInternalServerError {
		s.config.Log.LogAttrs(ctx, slog.LevelError, "a request failed", slog.String("request_id", infoOf(ctx).id),
			slog.String("kind", p.Kind), slog.String("error", err.Error()))
	}
	return p
}

// refuse answers with a problem.
func refuse(w http.ResponseWriter, p *Problem) {
	for name, values := range p.header {
		w.Header()[name] = values
	}
	text, err := json.Marshal(p)
	if err != nil { // it has only strings and numbers
		panic(err)
	}
	text = append(text, '\n')
	w.Header().Set("Content-Type", problemType)
	w.Header().Set("Content-Length", strconv.Itoa(len(text))) // so that it is whole before the rest of a body is read
	w.WriteHeader(p.Status)
	_, _ = w.Write(text) // a client that does not wait gets none
}

// humaProblem is the problem of a request in which huma found a fault. Huma's complaints repeat what was sent: only
// names that the description of the route has as well are kept.
func (s *Server) humaProblem(op *huma.Operation, m *huma.ErrorModel) *Problem {
	if m.Status != http.StatusUnprocessableEntity && m.Status != http.StatusBadRequest { // nothing else is left to huma
		return newProblem(m.Status, "internal", "Something went wrong in the server.", "")
	}
	p := badRequest("The request has no body.", "The description at /openapi.json says what belongs into a request.")
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
		var all []string
		for _, param := range op.Parameters {
			if param.In == where {
				all = append(all, param.Name)
			}
		}
		return "The address has a parameter that is none of this route" + acceptedNames(all)
	case !named:
		return "The body is wrong: " + e.Message + "."
	case s.bodySchema(op).Properties[name] != nil:
		return "In the body, " + name + " is wrong: " + e.Message + "."
	}
	all := slices.Sorted(maps.Keys(s.bodySchema(op).Properties))
	return "The body has a property that is none of this route" + acceptedNames(all)
}

// acceptedNames ends a complaint with the names that a route accepts.
func acceptedNames(names []string) string {
	if len(names) == 0 {
		return ", which takes none."
	}
	return ", which takes: " + strings.Join(names, ", ") + "."
}

// bodySchema is the schema of a route's body.
func (s *Server) bodySchema(op *huma.Operation) *huma.Schema {
	schema := op.RequestBody.Content[jsonType].Schema
	if schema.Ref != "" {
		return s.api.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
	}
	return schema
}

// fileProblem is the problem of a session's file that can't be read.
func fileProblem(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return newProblem(http.StatusNotFound, "file_missing",
			"The session tells of this file, and it is not there any more.",
			"Repairing the session says what it lacks.")
	}
	return err
}

// causeOnly is an error whose text is its innermost cause alone, since the rest may repeat names that a user gave.
type causeOnly struct{ error }

// Error is the innermost cause, which holds only words of the system.
func (w causeOnly) Error() string {
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

// Unwrap gives the whole error.
func (w causeOnly) Unwrap() error { return w.error }
