package anthropic

import (
	"context"
	"io"
	"net/http"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

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

// ask posts the request and returns the answer to read.
func (x *exchange) ask(params sdk.MessageNewParams) (*http.Response, error) {
	return x.send(http.MethodPost, "v1/messages", params,
		option.WithJSONSet("stream", true), option.WithHeader("Accept", "text/event-stream"))
}

// list asks for the models that follow the one called after.
func (x *exchange) list(after string) (*http.Response, error) {
	query := []option.RequestOption{option.WithQuery("limit", "1000")}
	if after != "" {
		query = append(query, option.WithQuery("after_id", after))
	}
	return x.send(http.MethodGet, "v1/models", nil, query...)
}

// send makes one request and returns its response, which is a success.
func (x *exchange) send(method, path string, params any, options ...option.RequestOption) (*http.Response, error) {
	if key := x.Key(); key != "" {
		options = append(options, option.WithAPIKey(key))
	}
	var resp *http.Response
	err := x.m.client.Execute(x.Context(), method, path, params, &resp, options...)
	return x.Receive(resp, err, x.complaint)
}

// complaint judges what the provider says of a failed request. A status of 200 means an error inside a stream.
func (x *exchange) complaint(status int, body []byte) wire.Complaint {
	said := parseComplaint(body)
	c := wire.Complaint{Kind: said.kind(status), Message: said.Message}
	if status == http.StatusNotFound && said.Type == "" {
		c.Advice = x.BaseHint()
	}
	return c
}

// discreet takes away the headers in which the client describes the machine, and bounds the body of a failed request,
// which the client reads whole.
func discreet(req *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	for name := range req.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			req.Header.Del(name)
		}
	}
	resp, err := next(req)
	if err == nil && resp.StatusCode/100 != 2 {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, wire.MaxFailure), resp.Body}
	}
	return resp, err
}
