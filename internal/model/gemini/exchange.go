package gemini

import (
	"context"
	"net/http"

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

// complaint judges what the provider says of a failed request. A status of 200 means an error inside a stream.
func (x *exchange) complaint(status int, body []byte) wire.Complaint {
	said := parseComplaint(body)
	c := wire.Complaint{Kind: said.kind(status), Message: said.message, RetryAfter: said.retryAfter}
	if status == http.StatusNotFound {
		c.Advice = x.BaseHint()
	}
	return c
}
