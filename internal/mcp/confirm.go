package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/task"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// How long a person may take to answer a question.
const askedFor = 5 * time.Minute

// multiRoundTrip is the first revision of the protocol with multi round-trip requests: a question is a result, which
// the client answers by calling again. Before it, a question is a request to the client.
const multiRoundTrip = "2026-07-28"

// question is the id of the question in a result, and confirm its only field.
const (
	question = "confirmation"
	confirm  = "confirm"
)

// Why a deletion was not confirmed, as details tell it.
const (
	whyCannotAsk = "client_cannot_ask"
	whyNo        = "not_confirmed" // answered, and not with yes
	whyDeclined  = "declined"
	whyCancelled = "cancelled"
	whyNoAnswer  = "no_answer"
	whyExpired   = "expired"
	whyForeign   = "not_of_this_call" // the answer belongs to no question that was asked for this call
)

// unconfirmedFault returns the fault of an unconfirmed deletion.
func unconfirmedFault(why string) *Fault {
	text := map[string]string{
		whyCannotAsk: "Deleting wants a yes of the person, and this client can't ask for it (it has no elicitation). " +
			"The person can delete the task with ‘sibyl task delete ID’, or on the page of ‘sibyl serve’.",
		whyNo:        "The person did not say yes. Nothing was deleted.",
		whyDeclined:  "The person declined. Nothing was deleted.",
		whyCancelled: "The person closed the question. Nothing was deleted.",
		whyNoAnswer:  "The person could not be asked, or gave no answer in time. Nothing was deleted.",
		whyExpired: "The answer came too late: a yes holds for five minutes. " +
			"Nothing was deleted; call again to ask again.",
		whyForeign: "The answer belongs to no question that was asked for this " +
			"call. Nothing was deleted; call again to ask.",
	}[why]
	return &Fault{Code: ConfirmationRequired, Text: text, Details: map[string]any{"reason": why}}
}

// deleteTask deletes a task after its person has confirmed. It has no effect before that, so it may be repeated.
func (s *Server) deleteTask(ctx context.Context, c call, in oneTask) (t task.Task, text string, err error) {
	t, err = s.config.Tasks.Task(ctx, c.by.Owner, in.ID)
	if errors.Is(err, task.ErrNotFound) && c.by.Key != "" {
		// It may have been deleted under this key. A version that no task has keeps this from deleting one that is back
		// by now.
		if was, again, keyErr := s.config.Tasks.Delete(ctx, c.by, in.ID, math.MaxInt64); keyErr == nil && again {
			return was, resultText("deleted", was, again), nil
		}
	}
	if err != nil {
		return t, "", err
	}
	if c.version != 0 && c.version != t.Version {
		return t, "", task.ErrConflict
	}
	digest, err := tool.ConfirmationDigest(deleteName, c.req.Params.Arguments, t.Version)
	if err != nil {
		return t, "", err
	}
	if err := s.askToConfirm(ctx, c, t, digest); err != nil {
		return t, "", err
	}
	was, again, err := s.config.Tasks.Delete(ctx, c.by, in.ID, t.Version)
	return was, resultText("deleted", was, again), err
}

// questionResult is a result that asks the person a question first.
type questionResult struct{ *sdk.CallToolResult }

func (questionResult) Error() string { return "the person is asked" }

// askToConfirm asks the person whether to make this very call, and is nil after a yes. It waits for the answer, or
// fails with a questionResult if the client is to ask and call again.
func (s *Server) askToConfirm(ctx context.Context, c call, t task.Task, digest string) error {
	p := c.req.Params
	switch {
	case p.RequestState != "" || p.InputResponses != nil:
		if err := s.checkState(c, t.Version); err != nil {
			return err
		}
		answer, _ := p.InputResponses[question].(*sdk.ElicitResult)
		return checkAnswer(answer)
	case !canAsk(c.req):
		return unconfirmedFault(whyCannotAsk)
	case c.req.ProtocolVersion() >= multiRoundTrip:
		return questionResult{&sdk.CallToolResult{InputRequests: sdk.InputRequestMap{question: elicitation(t, digest)},
			RequestState: s.confirmationState(c.by.Owner, digest, t.Version, s.config.Now().Add(askedFor))}}
	}
	ctx, cancel := context.WithTimeout(ctx, askedFor)
	defer cancel()
	answer, err := c.req.Session.Elicit(ctx, elicitation(t, digest))
	if err != nil {
		f := unconfirmedFault(whyNoAnswer)
		f.Err = err
		return f
	}
	return checkAnswer(answer)
}

// canAsk reports whether a client can ask its person to fill in a form.
func canAsk(req *sdk.CallToolRequest) bool {
	caps := req.ClientCapabilities()
	return caps != nil && caps.Elicitation != nil && (caps.Elicitation.Form != nil || caps.Elicitation.URL == nil)
}

// elicitation returns the question whether to delete a task.
func elicitation(t task.Task, digest string) *sdk.ElicitParams {
	return &sdk.ElicitParams{
		Meta:    sdk.Meta{MetaConfirms: digest},
		Mode:    "form",
		Message: fmt.Sprintf("Delete the task “%s”?", text.OneLine(t.Title)),
		RequestedSchema: map[string]any{"type": "object", "required": []string{confirm},
			"properties": map[string]any{confirm: map[string]any{"type": "boolean", "title": "Delete it",
				"description": "yes deletes the task", "default": false}}},
	}
}

// checkAnswer returns nil for a yes, else an error with the answer. A form with its box unticked is no yes.
func checkAnswer(answer *sdk.ElicitResult) error {
	switch {
	case answer == nil:
		return unconfirmedFault(whyNoAnswer)
	case answer.Action == "decline":
		return unconfirmedFault(whyDeclined)
	case answer.Action == "cancel":
		return unconfirmedFault(whyCancelled)
	case answer.Action != "accept" || answer.Content[confirm] != true:
		return unconfirmedFault(whyNo)
	}
	return nil
}

// confirmationState returns what a client sends back with its answer: expiry and version of a yes, signed with the
// owner and the call.
func (s *Server) confirmationState(owner, digest string, version int64, until time.Time) string {
	open := binary.BigEndian.AppendUint64(nil, uint64(until.UnixMilli()))
	open = binary.BigEndian.AppendUint64(open, uint64(version))
	return base64.RawURLEncoding.EncodeToString(append(open, s.sign("confirmation", string(open), owner, digest)...))
}

// openBytes is the length of the unsigned part of a state.
const openBytes = 16

// checkState returns an error unless the call's state belongs to a valid question about this call.
func (s *Server) checkState(c call, version int64) error {
	raw, err := base64.RawURLEncoding.DecodeString(c.req.Params.RequestState)
	if err != nil || len(raw) != openBytes+sha256.Size {
		return unconfirmedFault(whyForeign)
	}
	open, signature := raw[:openBytes], raw[openBytes:]
	until, asked := time.UnixMilli(int64(binary.BigEndian.Uint64(open))), int64(binary.BigEndian.Uint64(open[8:]))
	digest, err := tool.ConfirmationDigest(deleteName, c.req.Params.Arguments, asked)
	switch {
	case err != nil:
		return err
	case !hmac.Equal(signature, s.sign("confirmation", string(open), c.by.Owner, digest)):
		return unconfirmedFault(whyForeign)
	case !s.config.Now().Before(until):
		return unconfirmedFault(whyExpired)
	case asked != version:
		return task.ErrConflict
	}
	return nil
}

// sign returns an HMAC that is unique to these texts. purpose prevents one kind of signature from passing as another.
func (s *Server) sign(purpose string, texts ...string) []byte {
	return sign(s.config.Key, purpose, texts...)
}

func sign(key []byte, purpose string, texts ...string) []byte {
	mac := hmac.New(sha256.New, key)
	for _, text := range append([]string{"sibyl mcp", purpose}, texts...) {
		mac.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		mac.Write([]byte(text))
	}
	return mac.Sum(nil)
}
