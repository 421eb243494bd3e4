package wire

import (
	"net/http"
	"net/url"

	"sibyl/internal/model"
)

func Check(req model.Request) (Request, error) { return check(req) }

func Connections(c Config) http.RoundTripper { return connections(c).Transport }

func (m *Client) ChatURL() (string, error) { return m.chat, m.baseErr }

func (x *Exchange) SetEmit(emit func(model.Delta) error) { x.emit = emit }

func (x *Exchange) Get(path string, query url.Values) (*http.Response, error) {
	return x.send(http.MethodGet, x.m.target(path, query), "", "", nil)
}

func (x *Exchange) Post(path string, body []byte) (*http.Response, error) {
	return x.send(http.MethodPost, x.m.target(path, nil), jsonType, "text/odd", body)
}
