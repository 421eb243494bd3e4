package wire_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

func TestConnectionsAreTheClientsOwnAndALocalOneUsesNoProxy(t *testing.T) {
	for _, local := range []bool{true, false} {
		transport, ok := wire.New(wire.Config{Local: local}, protocol).HTTPClient().Transport.(*http.Transport)
		if !ok || transport == http.DefaultTransport {
			t.Fatalf("local %v: the transport is not the endpoint's own", local)
		}
		if got := transport.Proxy != nil; got == local {
			t.Errorf("local %v: proxy used: %v", local, got)
		}
		if transport.MaxIdleConnsPerHost < 256 || transport.MaxIdleConns < 256 {
			t.Errorf("%d connections wait, %d of one host; 256 runs may share them", transport.MaxIdleConns, transport.MaxIdleConnsPerHost)
		}
	}
}

func TestClientOfTheCallerIsNotChanged(t *testing.T) {
	given := &http.Client{}
	wire.New(wire.Config{HTTPClient: given}, protocol)
	if given.CheckRedirect != nil {
		t.Error("New changed the client that it was given")
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
		if err != nil || got != want {
			t.Errorf("%q became %q, %v; want %q", url, got, err, want)
		}
	}
}

func TestMissingBaseURLShowsAnExample(t *testing.T) {
	_, err := wire.New(wire.Config{Provider: "house", Model: "m"}, protocol).Open(t.Context())
	failure(t, err, model.Invalid, `"house", for example http://host.example`)
}

func TestRequestLastsAsLongAsItsModelMayNeed(t *testing.T) {
	for name, c := range map[string]struct {
		config wire.Config
		want   time.Duration
	}{
		"cloud":    {wire.Config{}, 120 * time.Second},
		"local":    {wire.Config{Local: true}, 360 * time.Second},
		"as given": {wire.Config{Local: true, Timeout: 7 * time.Second}, 7 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			c.config.BaseURL = "http://house"
			x, err := wire.New(c.config, protocol).Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer x.Close()
			start := time.Now()
			<-x.Context().Done()
			if got := time.Since(start); got != c.want {
				t.Errorf("%s: the request was ended after %v; want %v", name, got, c.want)
			}
		})
	}
}

func TestKeyIsTrimmedAndOneThatNoHeaderHoldsIsNotSent(t *testing.T) {
	if x := open(t, nil, withKey(" secret\n")); x.Key() != "secret" {
		t.Errorf("the key is %q", x.Key())
	}
	for _, key := range []string{"sec\nret", "sec\x00ret", "sec\x7fret"} {
		c := wire.Config{Provider: "house", Model: "m", BaseURL: "http://house"}
		withKey(key)(&c, nil)
		_, err := wire.New(c, protocol).Open(t.Context())
		if failure(t, err, model.Auth, "control character"); strings.Contains(err.Error(), "sec") {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

func TestOpenOfAWithdrawnRequestThatAwaitsItsKeyIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := wire.Config{Provider: "house", Model: "m", BaseURL: "http://house", Key: func(context.Context) (string, error) {
		cancel()
		return "", ctx.Err()
	}}
	_, err := wire.New(c, protocol).Open(ctx)
	failure(t, err, model.Cancelled, "")
}
