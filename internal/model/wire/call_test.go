package wire_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/wire"
	"sibyl/internal/redact"
)

func TestRequestGoesUnderTheBaseURLWithTheKeyAndWhatItIs(t *testing.T) {
	type request struct{ Method, URL, Accept, Type, Authorization, Body string }
	var got request
	record := provider(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		got = request{
			r.Method, r.URL.String(), r.Header.Get("Accept"), r.Header.Get("Content-Type"),
			r.Header.Get("Authorization"), string(body),
		}
		return &http.Response{StatusCode: http.StatusCreated, Header: http.Header{}, Body: http.NoBody}, err
	})
	for _, c := range []struct {
		send func(x *wire.Call) (*http.Response, error)
		key  string
		want request
	}{
		{
			func(x *wire.Call) (*http.Response, error) {
				return x.Post("chat/a%2Fb", []byte("{}"))
			}, "sk-1",
			request{http.MethodPost, "https://house/v1/chat/a%2Fb?tenant=a", "text/odd", "application/json",
				"Bearer sk-1", "{}"},
		},
		{
			func(x *wire.Call) (*http.Response, error) { return x.Get("models", url.Values{"page": {"2"}}) }, "",
			request{Method: http.MethodGet, URL: "https://house/v1/models?page=2&tenant=a"},
		},
		{
			func(x *wire.Call) (*http.Response, error) { return x.Get("models", url.Values{"tenant": {"b"}}) }, "",
			request{Method: http.MethodGet, URL: "https://house/v1/models?tenant=b"},
		},
	} {
		resp, err := c.send(open(t, record, withKey(c.key)))
		assert.NoError(t, err)
		_ = resp.Body.Close()
		assert.NoDiff(t, cmp.Diff(c.want, got), "request (-want +got)")
	}
}

func TestRetryAfterIsReadInBothForms(t *testing.T) {
	inTwoMinutes := time.Now().Add(2 * time.Minute).UTC().Format(http.TimeFormat)
	for _, c := range []struct {
		header   string
		min, max time.Duration
	}{
		{"7", 7 * time.Second, 7 * time.Second},
		{"0.5", 500 * time.Millisecond, 500 * time.Millisecond},
		{inTwoMinutes, 100 * time.Second, 2 * time.Minute},
		{"Mon, 02 Jan 2006 15:04:05 GMT", 0, 0},
		{"-3", 0, 0},
		{"NaN", 0, 0},
		{"1e300", time.Hour, 366 * 24 * time.Hour},
		{"soon", 0, 0},
		{"", 0, 0},
	} {
		err := getAndRead(open(t, answering(500, http.Header{"Retry-After": {c.header}}, "")), "models")
		if e := wantFailure(t, err, model.Server, ""); e.RetryAfter < c.min || e.RetryAfter > c.max {
			t.Errorf("%q gave %v; want between %v and %v", c.header, e.RetryAfter, c.min, c.max)
		}
	}
}

func TestFirstByteBoundsABodyThatNeverBegins(t *testing.T) {
	for status, read := range map[int]func(x *wire.Call) error{
		500: func(x *wire.Call) error { return getAndRead(x, "models") },
		200: func(x *wire.Call) error { return x.GetList("models", nil, new(any), func() bool { return true }) },
	} {
		synctest.Test(t, func(t *testing.T) {
			x := open(t, func(r *http.Request) (*http.Response, error) {
				endless := readerFunc(func([]byte) (int, error) {
					<-r.Context().Done()
					return 0, r.Context().Err()
				})
				return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(endless)}, nil
			}, func(c *wire.Config, _ *wire.Protocol) { c.FirstByte = time.Minute })
			defer x.Close()
			start := time.Now()
			wantFailure(t, read(x), model.Timeout, "limit 1m0s")
			got := time.Since(start)
			assert.That(t, got == time.Minute, "status %d: ended after %v", status, got)
		})
	}
}

func TestRequestWithoutAResponseSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		err    error
		kind   model.Kind
		says   string
		unsent bool
	}{
		{&net.DNSError{IsNotFound: true, Name: "house"}, model.Server, "can't reach house: no host of that name was found; are you online?", false},
		{errors.New("odd"), model.Server, "no answer from house (odd)", false},
		{&net.OpError{Op: "dial", Err: fmt.Errorf("connect: %w", syscall.ECONNREFUSED)}, model.Server,
			"nothing answers at house: is the server running there?", true},
		{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, model.Server, "no answer from house", false},
		{&net.DNSError{IsTimeout: true}, model.Timeout, "no answer from house", false},
	} {
		x := open(t, func(*http.Request) (*http.Response, error) { return nil, c.err })
		err := getAndRead(x, "models?k=hunter2")
		wantFailure(t, err, c.kind, c.says)
		failed, is := errors.AsType[*model.Error](err)
		assert.That(t, is && failed.Unsent == c.unsent, "%v: nothing was sent: %t, want %t", err, !c.unsent, c.unsent)
		for e := err; e != nil; e = errors.Unwrap(e) {
			assert.That(t, !strings.Contains(e.Error(), "hunter2"), "the error shows the URL: %v", e)
		}
	}
}

func TestWithdrawalWinsOverWhatTheWireSays(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := wire.Config{Provider: "house", Model: "m", BaseURL: "https://house", HTTPClient: &http.Client{
		Transport: provider(func(*http.Request) (*http.Response, error) {
			cancel()
			broken := iotest.ErrReader(errors.New("odd"))
			return &http.Response{StatusCode: 500, Header: http.Header{}, Body: io.NopCloser(broken)}, nil
		}),
	}}
	x := assert.Must(wire.New(c, protocol).Open(ctx))(t)
	defer x.Close()
	err := getAndRead(x, "models")
	wantFailure(t, err, model.Cancelled, "")
	assert.That(t, errors.Is(err, context.Canceled) && x.Withdrawn(), "got %v, withdrawn %v", err, x.Withdrawn())
}

func TestListThatIsNotWholeIsGarbledAndSaysWhereItWasAsked(t *testing.T) {
	for body, ok := range map[string]bool{`{"a":1}`: true, `{"b":1}`: false, `{"a":`: false, "": false} {
		var list struct{ A *int }
		x := open(t, answering(200, http.Header{}, body))
		err := x.GetList("models", nil, &list, func() bool { return list.A != nil })
		switch {
		case !ok:
			wantFailure(t, err, model.Garbled, `(asked house under "/v1": is the base URL right? it is short)`)
		case err != nil || *list.A != 1:
			t.Errorf("%s: got %v, %v", body, list.A, err)
		}
	}
}

func TestStatusHasOneKindInEveryProtocol(t *testing.T) {
	for kind, statuses := range map[model.Kind][]int{
		model.Auth:          {401, 403, 407},
		model.RateLimit:     {429},
		model.Payment:       {402},
		model.Overloaded:    {503, 529},
		model.Timeout:       {408, 504},
		model.ContextLength: {413},
		model.Server:        {0, 200, 500, 502},
		model.Invalid:       {302, 400, 404, 405, 409, 422},
	} {
		for _, status := range statuses {
			assert.Equalf(t, wire.StatusKind(status), kind, "%d", status)
		}
	}
}

func TestErrorIsOneShortLineWithoutTheKey(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		key := rapid.StringMatching(fmt.Sprintf(`[a-zA-Z0-9-]{%d,40}`, redact.MinSecret)).Draw(r, "key")
		before, after := rapid.String().Draw(r, "before"), rapid.String().Draw(r, "after")
		filler := strings.Repeat("é", rapid.IntRange(0, 300).Draw(r, "filler"))
		x := open(t, nil, withKey(key))
		message := x.Fail(model.Server, before+filler+key+after, nil).Message
		assert.Require(r, !strings.Contains(message, key) && len(message) <= 510 &&
			!strings.ContainsFunc(message, func(c rune) bool {
				return c < ' '
			}), "%q", message)
	})
}

// Local servers are given any word for a key; it is part of ordinary words as well.
func TestKeyAsShortAsAWordLeavesErrorsLegible(t *testing.T) {
	x := open(t, nil, withKey("e"))
	assert.Equal(t, x.Fail(model.Server, "nothing answers here", nil).Message, "nothing answers here")
}

func TestWhatOnlyMoneyLiftsAndWhatHasTooMuchToDoAreToldApartInEveryProtocol(t *testing.T) {
	const plan = "You exceeded your current quota, please check your plan and billing details."
	const card = "Rate limit reached, add a payment method: https://vendor.example/account/billing"
	for _, c := range []struct {
		status int
		header string
		body   string
		kind   model.Kind
	}{
		{429, "", `{"error":{"message":"` + plan + `","code":"insufficient_quota"}}`, model.Payment},
		// as Google says of a rate, too
		{429, "", `{"error":{"message":"` + plan + `","status":"RESOURCE_EXHAUSTED"}}`, model.RateLimit},
		{429, "30", `{"error":{"message":"` + plan + `","status":"RESOURCE_EXHAUSTED"}}`, model.RateLimit},
		{429, "", `{"error":{"message":"` + card + `","code":"rate_limit_exceeded"}}`, model.RateLimit},
		{400, "", `{"error":{"message":"Your credit balance is too low to access the API.","type":"invalid_request_error"}}`, model.Payment},
		{403, "", `{"error":{"message":"This API requires billing to be enabled","status":"PERMISSION_DENIED"}}`,
			model.Payment},
		{400, "", `{"error":{"message":"Invalid schema for function 'billing_lookup'"}}`, model.Invalid},
		{402, "", `{"error":{"message":"buy more"}}`, model.Payment},
		{500, "", `{"error":{"message":"busy","type":"overloaded_error"}}`, model.Overloaded},
		{500, "", `{"error":{"message":"busy","status":"UNAVAILABLE"}}`, model.Overloaded},
		{500, "", `{"error":{"message":"The model is overloaded."}}`, model.Overloaded},
		{500, "", `{"error":{"message":"odd"}}`, model.Server},
	} {
		wantFailure(t, getAndRead(open(t, answering(c.status, http.Header{"Retry-After": {c.header}}, c.body)), "models"),
			c.kind, "")
	}
	wantFailure(t, open(t, nil).StreamError([]byte(`{"error":{"message":"Overloaded","type":"overloaded_error"}}`)),
		model.Overloaded, "inside the stream")
}
