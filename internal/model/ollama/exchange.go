package ollama

import (
	"context"
	"fmt"
	"net/http"
	"strings"

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

// complaint judges what the server says of a failed request.
func (x *exchange) complaint(status int, body []byte) wire.Complaint {
	c := x.judge(status, complaintIn(body))
	switch {
	case c.Advice != "":
	case status == http.StatusNotFound:
		c.Advice = x.BaseHint()
	case status == http.StatusUnauthorized && x.Key() == "":
		c.Advice = "; a model in Ollama's cloud wants: ollama signin, a proxy a key"
	}
	return c
}

// judge is the complaint that the server worded so, with an HTTP status, which is 0 inside a stream.
func (x *exchange) judge(status int, said string) wire.Complaint {
	return wire.Complaint{Kind: kindOf(status, said), Message: said, Advice: x.advice(said)}
}

// advice says what would help against the failures that the person can do something about.
func (x *exchange) advice(said string) string {
	lower := strings.ToLower(said)
	switch {
	case wire.Mentions(lower, saysNoTools):
		return fmt.Sprintf(": choose a model with tools; ‘ollama show %s’ lists what one can do", x.m.name)
	case kindOf(0, said) == model.ContextLength && x.m.numCtx > 0:
		return fmt.Sprintf(" (the context window is set to %d tokens)", x.m.numCtx)
	case kindOf(0, said) == model.ContextLength:
		return " (the context window is the server's own: set a larger one)"
	case wire.Mentions(lower, "model") && wire.Mentions(lower, saysNotFound):
		return "; to get it: ollama pull " + x.m.name
	case wire.Mentions(lower, saysNoMemory):
		return "; choose a smaller model or a smaller context window"
	}
	return ""
}
