package wire

import (
	"context"
	"io"
	"net/http"

	"sibyl/internal/model"
)

func (m *Client) HTTPClient() *http.Client { return m.client }

func (m *Client) ChatURL() (string, error) { return m.chat, m.baseErr }

func (x *Exchange) Context() context.Context { return x.ctx }

func (x *Exchange) SetEmit(emit func(model.Delta) error) { x.emit = emit }

func (x *Exchange) Drain(body io.Reader) { x.drain(body) }
