package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/problem"
	"sibyl/internal/schema"
	"sibyl/internal/service"
	"sibyl/internal/task"
)

// Code says what kind of error a result is, for programs.
type Code string

// The codes.
const (
	Validation           Code = "VALIDATION_ERROR"      // what was sent breaks a rule; details.field names it
	NotFound             Code = "NOT_FOUND"             // there is no such task, session or folder
	Conflict             Code = "CONFLICT"              // the task is not in the version any more that the caller saw
	ConfirmationRequired Code = "CONFIRMATION_REQUIRED" // nobody said yes to the deletion
	Forbidden            Code = "FORBIDDEN"             // the token may only read
	// the day has cost what it may: details.spent, limit and currency
	OverLimit   Code = "OVER_LIMIT"
	Unavailable Code = "UNAVAILABLE"    // not now, and nothing was done: try again later
	Database    Code = "DATABASE_ERROR" // whether it was done is not known
	Internal    Code = "INTERNAL_ERROR"
)

// Fault is a call that failed. Text is for people and Details for programs; neither repeats what was sent.
type Fault struct {
	Code    Code
	Text    string
	Details map[string]any
	Err     error // the cause, for the log; nil: there is no more to know
}

func (f *Fault) Error() string { return string(f.Code) + ": " + f.Text }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

func invalid(field, problem string) *Fault {
	return &Fault{Code: Validation, Text: field + " " + problem + ".", Details: map[string]any{"field": field,
		"problem": problem}}
}

// unknownArgument returns a fault that lists the known arguments.
func unknownArgument(known []string) *Fault {
	f := invalid("arguments", "have a name that this tool does not know; it knows "+strings.Join(known, ", "))
	f.Details["known"] = known
	return f
}

// outcome is the structured content of every result.
type outcome struct {
	Success bool           `json:"success"`
	Data    any            `json:"data,omitempty"`
	Error   string         `json:"error,omitempty"`
	Code    Code           `json:"code,omitempty"`
	Details map[string]any `json:"details,omitempty"`
}

// successResult returns the result of a successful call; text is the same in words for a person.
func successResult(data any, text string) (*sdk.CallToolResult, error) {
	encoded, err := json.Marshal(outcome{Success: true, Data: data})
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{StructuredContent: json.RawMessage(encoded),
		Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
}

// faultResult returns the result of a failed call.
func faultResult(f *Fault) *sdk.CallToolResult {
	details := map[string]any{}
	maps.Copy(details, f.Details)
	encoded, err := json.Marshal(struct {
		outcome
		Details map[string]any `json:"details"`
	}{outcome{Error: f.Text, Code: f.Code}, details})
	if err != nil {
		panic(err) // details are texts and numbers
	}
	return &sdk.CallToolResult{IsError: true, StructuredContent: json.RawMessage(encoded),
		Content: []sdk.Content{&sdk.TextContent{Text: f.Text + " (" + string(f.Code) + ")"}}}
}

// faultOf converts an error of the core to a fault for the caller. An unknown error reveals nothing of its cause.
func faultOf(err error, database bool) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	if wrong, ok := errors.AsType[*schema.Error](err); ok {
		if wrong.Known != nil {
			return unknownArgument(wrong.Known)
		}
		return invalid(wrong.Field, wrong.Problem)
	}
	if wrong, ok := errors.AsType[*task.Invalid](err); ok {
		return invalid(wrong.Field, wrong.Problem)
	}
	if over, ok := errors.AsType[*service.LimitError](err); ok {
		return &Fault{Code: OverLimit, Text: over.Error() +
			". Ask the user whether to go on; after a yes call again with " + overLimitArgument + ": true.",
			Details: map[string]any{"spent": over.Spent, "limit": over.Limit, "currency": over.Currency}, Err: err}
	}
	if t, known := problem.Of(err); known {
		return &Fault{Code: codeOf(t), Text: strings.TrimSpace(t.Detail + " " + t.Hint), Err: err}
	}
	if database {
		return &Fault{Code: Database,
			Text: "The task list can't be read or written now. Try again; if it stays so, the log of the server says more.",
			Err:  err}
	}
	return &Fault{Code: Internal, Text: "Something went wrong in the server. Its log says more.", Err: err}
}

// codeOf returns the code for a type of problem.
func codeOf(t problem.Type) Code {
	switch {
	case t.Kept == problem.Journal && t.Status == http.StatusServiceUnavailable,
		t.Status == http.StatusInsufficientStorage:
		return Unavailable // nothing was written
	case t.Kept != problem.Nothing:
		return Database
	case t.Status == http.StatusNotFound || t.Kind == "no_change":
		return NotFound
	case t.Status == http.StatusBadRequest:
		return Validation
	case t.Status == http.StatusConflict:
		return Conflict
	case t.Status == http.StatusServiceUnavailable:
		return Unavailable
	}
	return Internal
}

// logFault logs faults that the operator has to fix.
func (s *Server) logFault(ctx context.Context, tool string, f *Fault) {
	t, _ := problem.Of(f.Err)
	if f.Err != nil && (f.Code == Database || f.Code == Internal || t.Kept != problem.Nothing) {
		s.config.Log.LogAttrs(ctx, slog.LevelError, "a call over MCP failed", slog.String("tool", tool),
			slog.String("code", string(f.Code)), slog.String("error", f.Err.Error()))
	}
}
