package wire_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

func TestConnectionsAreTheClientsOwnAndALocalOneUsesNoProxy(t *testing.T) {
	for _, local := range []bool{true, false} {
		transport, ok := wire.Connections(wire.Config{Local: local}).(*http.Transport)
		assert.Require(t, ok && transport != http.DefaultTransport,
			"local %v: the transport is not the endpoint's own", local)
		got := transport.Proxy != nil
		assert.That(t, got != local, "local %v: proxy used: %v", local, got)
		assert.That(t, transport.MaxIdleConnsPerHost >= 256 && transport.MaxIdleConns >= 256,
			"%d connections wait, %d of one host; 256 runs may share them", transport.MaxIdleConns,
			transport.MaxIdleConnsPerHost)
	}
}

func TestPathOfTheBaseURLIsCompletedAndTheRestIsKept(t *testing.T) {
	p := protocol
	p.DefaultURL = "https://default.example"
	p.URLPath = func(path string) string { return path + "/v9" }
	for url, want := range map[string]string{
		"":                      "https://default.example/v9/chat",
		"http://u:p@host/a?k=v": "http://u:p@host/a/v9/chat?k=v",
	} {
		got, err := wire.New(wire.Config{Provider: "house", BaseURL: url}, p).ChatURL()
		assert.That(t, err == nil && got == want, "%q became %q, %v; want %q", url, got, err, want)
	}
}

func TestWrongBaseURLIsInvalidAndNotRepeated(t *testing.T) {
	named := protocol
	named.Name, named.DefaultURL = "vendor", "https://vendor.example"
	for _, c := range []struct{ provider, url, says string }{
		{"house", "", `"house", for example http://host.example`},
		{"house", "localhost:11434", `"house" is not of the form http://host`},
		{"house", "ftp://hunter2@host/v1", "form"},
		{"vendor", "http://%zz-hunter2", "form"},
	} {
		_, err := wire.New(wire.Config{Provider: c.provider, Model: "m", BaseURL: c.url}, named).Chat(t.Context(),
			model.Request{}, nil)
		assert.That(t, model.KindOf(err) == model.Invalid && strings.Contains(err.Error(), c.says) &&
			!strings.Contains(err.Error(), "hunter2"),
			"%q: got %v; want invalid, saying %s, without the URL", c.url, err, c.says)
	}
	got, err := wire.New(wire.Config{Provider: "vendor"}, named).ChatURL()
	assert.That(t, err == nil && got == "https://vendor.example/chat",
		"got %q, %v; want the vendor's own address", got, err)
}

func TestBeginningOfAnAnswerIsWaitedForAsLongAsItsModelMayNeed(t *testing.T) {
	for name, c := range map[string]struct {
		config wire.Config
		want   time.Duration
	}{
		"cloud":    {wire.Config{}, 2 * time.Minute},
		"local":    {wire.Config{Local: true}, 10 * time.Minute},
		"as given": {wire.Config{Local: true, FirstByte: 7 * time.Second}, 7 * time.Second},
		"whole":    {wire.Config{Whole: 5 * time.Second}, 5 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.config.BaseURL = "https://house"
			x := assert.Must(wire.New(c.config, protocol).Open(t.Context()))(t)
			defer x.Close()
			start := time.Now()
			<-x.Context().Done()
			assert.Equalf(t, time.Since(start), c.want, "%s: the request was ended after", name)
		})
	}
}

func TestKeyIsTrimmedAndOneThatNoHeaderHoldsIsNotSent(t *testing.T) {
	x := open(t, nil, withKey(" secret\n"))
	assert.That(t, x.Key() == "secret", "the key is %q", x.Key())
	for _, key := range []string{"sec\nret", "sec\x00ret", "sec\x7fret"} {
		c := wire.Config{Provider: "house", Model: "m", BaseURL: "https://house"}
		withKey(key)(&c, nil)
		_, err := wire.New(c, protocol).Open(t.Context())
		wantFailure(t, err, model.Auth, "control character")
		assert.That(t, !strings.Contains(err.Error(), "sec"), "the error shows the key: %v", err)
	}
}

func TestKeyThatCannotBeReadIsAuth(t *testing.T) {
	locked := errors.New("the keyring is locked")
	c := wire.Config{Provider: "house", Model: "m", BaseURL: "https://house", Key: func(context.Context) (string,
		error) {
		return "", locked
	}}
	_, err := wire.New(c, protocol).Open(t.Context())
	wantFailure(t, err, model.Auth, "the keyring is locked")
	assert.That(t, errors.Is(err, locked), "%v does not wrap the cause", err)
}

// pickyClient rejects requests that hold one of these fields, and answers any other with nothing.
func pickyClient(t *testing.T, says string, fields ...string) (m *wire.Client, sent *[]string) {
	sent = &[]string{}
	p := protocol
	p.Optional = []string{"usage_please", "answer_form"}
	p.EncodeTurn = func(req wire.Request) (any, error) {
		var kept []string
		for i, field := range p.Optional {
			if req.Without&(1<<i) == 0 {
				kept = append(kept, field)
			}
		}
		return strings.Join(kept, "+"), nil
	}
	p.ReadTurn = func(x *wire.Call, _ *http.Response) error { x.Done = true; return nil }
	return wire.New(wire.Config{Provider: "house", Model: "m", BaseURL: "https://house", HTTPClient: &http.Client{
		Transport: provider(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			*sent = append(*sent, strings.Trim(string(body), `"`))
			for _, field := range fields {
				if strings.Contains(string(body), field) {
					return answering(400, http.Header{}, says+field)(r)
				}
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody}, err
		}),
	}}, p), sent
}

func TestFieldThatAnEndpointRejectsIsLeftOutAndRemembered(t *testing.T) {
	for _, c := range []struct {
		says     string
		fields   []string
		sent     string
		attempts [2]int
	}{
		{"Unrecognized argument: ", []string{"answer_form"}, "usage_please+answer_form usage_please usage_please",
			[2]int{2, 1}},
		{"no ", []string{"usage_please", "answer_form"}, "usage_please+answer_form answer_form  ", [2]int{3, 1}},
		// Another request may have a schema without a fault.
		{"Invalid schema for ", []string{"answer_form"},
			"usage_please+answer_form usage_please usage_please+answer_form usage_please", [2]int{2, 2}},
	} {
		m, sent := pickyClient(t, c.says, c.fields...)
		for i, want := range c.attempts {
			if resp, err := m.Chat(t.Context(), model.Request{}, nil); err != nil || resp.Attempts != want {
				t.Errorf("%s: answer %d took %d attempts, %v; want %d", c.says, i, resp.Attempts, err, want)
			}
		}
		assert.Equalf(t, strings.Join(*sent, " "), c.sent, "%s: sent", c.says)
	}
}

func TestOpenOfAWithdrawnRequestThatAwaitsItsKeyIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := wire.Config{Provider: "house", Model: "m", BaseURL: "https://house", Key: func(context.Context) (string,
		error) {
		cancel()
		return "", ctx.Err()
	}}
	_, err := wire.New(c, protocol).Open(ctx)
	wantFailure(t, err, model.Cancelled, "")
}
