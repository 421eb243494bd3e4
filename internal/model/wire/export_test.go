package wire

import (
	"net/http"
	"net/url"

	"sibyl/internal/model"
)

func Check(req model.Request) (Request, error) { return checkRequest(req) }

func Connections(c Config) http.RoundTripper { return baseClient(c).Transport }

func (m *Client) ChatURL() (string, error) { return m.turnAddress, m.baseErr }

func (x *Call) SetEmit(emit func(model.Delta) error) { x.emit = emit }

func (x *Call) Get(path string, query url.Values) (*http.Response, error) {
	return x.send(http.MethodGet, x.m.addressOf(path, query), "", "", nil)
}

func (x *Call) Post(path string, body []byte) (*http.Response, error) {
	return x.send(http.MethodPost, x.m.addressOf(path, nil), jsonType, "text/odd", body)
}

// Repeats says whether a text that comes in these chunks repeats, and what is kept of it then.
func Repeats(chunks ...string) (kept string, at int, repeats bool) {
	var r repetition
	for _, chunk := range chunks {
		if _, repeats := r.add(chunk); repeats {
			return r.before(), len(r.said), true
		}
	}
	return string(r.said), len(r.said), false
}
