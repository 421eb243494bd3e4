package openai

import (
	"context"
	"errors"
	"net/http"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// exchange is one Chat or List.
type exchange struct {
	*wire.Exchange
	m *Model
}

func (m *Model) open(ctx context.Context) (*exchange, error) {
	x, err := m.at.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &exchange{x, m}, nil
}

// ask posts the request and returns the answer to read and how many requests that took.
func (x *exchange) ask(req model.Request) (*http.Response, int, error) {
	withUsage := !x.m.noStreamOptions.Load()
	body, err := x.m.encode(req, withUsage)
	if err != nil {
		return nil, 0, x.Fail(model.Invalid, err.Error(), err)
	}
	resp, err := x.post(body)
	var failed *model.Error
	if !withUsage || !errors.As(err, &failed) || !rejectsStreamOptions(failed) {
		return resp, 1, err
	}
	if body, err = x.m.encode(req, false); err != nil {
		return nil, 1, x.Fail(model.Invalid, err.Error(), err)
	}
	resp, err = x.post(body)
	if err == nil {
		x.m.noStreamOptions.Store(true)
	}
	return resp, 2, err
}

func (x *exchange) post(body []byte) (*http.Response, error) {
	return x.Send(wire.Request{Method: http.MethodPost, Path: "chat/completions", Body: body}, x.complaint)
}

func rejectsStreamOptions(failed *model.Error) bool {
	return failed.Kind == model.Invalid && wire.Mentions(failed.Message, "stream_options", "include_usage")
}

// complaint judges what the provider says of a failed request. A status of 200 means an error inside a stream.
func (x *exchange) complaint(status int, body []byte) wire.Complaint {
	said := parseComplaint(body)
	c := wire.Complaint{Kind: said.kind(status), Message: said.Message}
	if status == http.StatusNotFound {
		c.Advice = x.BaseHint()
	}
	return c
}
