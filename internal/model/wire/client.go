// Package wire is what adapters share that ask a provider over HTTP: everything about a call that does not depend on
// the protocol. Only adapters import it.
//
// An adapter embeds a Client, made of its Config and its Protocol. In return it keeps these guarantees besides those of
// package model:
//   - Ownership: no request, timer or goroutine outlives the call that began it. A Client is safe for concurrent use
//     and holds nothing of any request. It should be opened once for a process: all its requests share its connections.
//   - Time: a call ends with the caller's context, after FirstByte if no answer has begun and the server has read no
//     more of the request, after Idle without progress, and after Whole in all. Progress is text, thinking or a part of
//     a call, not what only keeps a connection alive. The time that a receiver takes does not count as silence.
//   - Repetition: an answer that repeats itself is ended, and so is one beyond its Bound, with its request. What came
//     before stands if it says something; else the error is Repeated. Calls of such an answer are left out.
//   - Bounds: of a turn at most MaxReply bytes are kept, an answer and each line of it hold at most MaxAnswer, the
//     stream around it at most MaxStream, an answer calls at most MaxCalls tools, and of a failed request's body at
//     most 64 KB are read.
//   - Usage: a reported usage that can't be true is corrected by the bytes that were sent and received;
//     Response.Reported holds the original.
//   - Secrets: a redirect is never followed, so that neither the key nor the conversation goes anywhere but to the base
//     URL, and over plain HTTP only to this machine and to hosts that are trusted. No error holds the key, a header of
//     the Config, or more of the base URL than its host and path; a provider's words are cut to one line of 500 bytes.
//   - Errors: every error is a *model.Error, and the same event has the same Kind over every protocol. A request that
//     broke after its caller withdrew it is Cancelled.
//   - One call makes one request, an Embed one for every 64 texts, and the properties that an adapter asks for once,
//     before its first turn (Call.GetInfo). The one exception: if an endpoint rejects an optional field, by its name or
//     in words that its protocol knows, it is asked once more without it; Response.Attempts counts both requests, and
//     the Client remembers the field.
//   - Nothing is read from the environment but the proxy settings of net/http.
package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sibyl/internal/keys/cleartext"
	"sibyl/internal/model"
)

// idleConnections is how many unused connections to one host are kept open: as many runs may share a Client.
const idleConnections = 256

// Config says which model is asked, where, and for how long.
type Config struct {
	// Provider is the user's name for the provider, the first half of the model's stamp; Model is the model's name
	// there.
	Provider string
	Model    string

	// BaseURL is where the protocol begins. Empty: the protocol's usual address, for the provider that it is named
	// after.
	BaseURL string

	// Key returns the API key, and is called before every request. Nil, or an empty key: none is sent.
	Key func(ctx context.Context) (string, error)

	// Local promises that BaseURL stays on this machine: no proxy is used then.
	Local bool

	// FirstByte bounds the time until an answer begins; zero: 2 min, or 10 min for a local model, which may have to be
	// loaded. Idle bounds a silence after that; zero: 1 min or 3 min. Whole bounds a call in all; zero: 1 h or 6 h.
	FirstByte time.Duration
	Idle      time.Duration
	Whole     time.Duration

	// Header and Query are added to each request, Body to each that asks for a turn: headers, values in the address,
	// and fields of the JSON body. They replace what the protocol would send under the same name. A header may hold a
	// secret.
	Header map[string]string
	Query  map[string]string
	Body   map[string]json.RawMessage

	// MaxOutput bounds an answer in tokens where the request does not; zero: as the model allows.
	MaxOutput int

	// Think says whether a model that can think should: "on", "off", or an effort: "low", "medium", "high". Empty: the
	// provider's default.
	Think string

	// KeepAlive is how long a server keeps the model loaded, if the protocol can say so. Zero: the server's default.
	KeepAlive time.Duration

	// PlainHTTP are hosts that may get a key, or a header of Header, over plain HTTP, besides this machine: see package
	// cleartext.
	PlainHTTP []string

	// HTTPClient replaces the model's own, whose connections and proxy are those of http.DefaultTransport.
	HTTPClient *http.Client

	// API chooses one of the protocol's ways to ask for a turn, if it has several; empty: as fits the provider.
	API string

	// NumCtx is the context window in tokens, for a protocol that sets it. Zero: the adapter's default.
	NumCtx int

	// Refused is what is known that the endpoint refuses for the model. OnRefused, which may be nil, is called with all
	// of it whenever that has grown, and a request was taken without it.
	Refused   model.Refusals
	OnRefused func(model.Refusals)
}

// Protocol is how to talk to a provider. Its functions are called by many calls at a time. Fields that may be empty say
// so.
type Protocol struct {
	Name       string                   // the provider whose address is DefaultURL; empty: any
	DefaultURL string                   // the base URL where none is set
	ExampleURL string                   // a base URL to show, "https://host.example/v1"; needed only with a Name
	URLForm    string                   // what a base URL looks like: "http://host/v1 or https://host/v1"
	URLHint    string                   // how to tell a right base URL from a wrong one: "most end in /v1"
	URLPath    func(path string) string // completes the path of a base URL; nil: it stays unchanged
	StartHint  string                   // what to do if nothing answers; empty: "is the server running there?"

	ChatPath string     // the path of requests for turns, under the base URL, escaped
	Query    url.Values // of that request; may be nil
	Accept   string     // the media type of a streamed answer
	// sets the headers for the key, which may be empty, and other constants
	Header      func(header http.Header, key string)
	TurnHasText bool // Native, as ReadTurn leaves it, repeats the text
	// begins the ids of calls that came without one; empty: "call_"
	CallIDPrefix string
	Finishes     map[string]model.Finish // the protocol's words for why a model stopped

	// Optional are fields of a request that some endpoints do not know, or other words with which they reject something
	// optional; an empty entry never matches. EncodeTurn leaves out what Request.Without names.
	Optional []string

	Dialect Dialect // of JSON Schema
	// makes the body of a request for a turn, for JSON; an error is Invalid
	EncodeTurn func(req Request) (any, error)
	ReadTurn   func(x *Call, answer *http.Response) error // reads a whole answer into x
	Classify   func(x *Call, status int, c *Complaint)    // sets the Kind of a failure; status 200: inside a stream
	List       func(x *Call) ([]string, error)            // lists the names of the models, in any order

	Describe func(x *Call) (model.Info, error) // asks for the model's properties; unknown ones are zero
	Prepare  func(x *Call)                     // may fetch what EncodeTurn depends on, before a turn; may be nil
}

// Bearer is the usual Protocol.Header.
func Bearer(header http.Header, key string) {
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
}

// Client is one model of one provider, with its connections: a model.Model.
type Client struct {
	id          string
	config      Config
	protocol    Protocol
	base        *url.URL
	baseErr     error
	turnAddress string // where turns are asked for
	client      *http.Client
	rejected    atomic.Uint32 // the optional fields that the endpoint has rejected
	refused     refusals
}

// New returns the model that c describes. It sends nothing; a wrong base URL is reported by the first request.
func New(c Config, p Protocol) *Client {
	p.StartHint = cmp.Or(p.StartHint, "is the server running there?")
	p.CallIDPrefix = cmp.Or(p.CallIDPrefix, "call_")
	first, idle, whole := 2*time.Minute, time.Minute, time.Hour
	if c.Local {
		first, idle, whole = 10*time.Minute, 3*time.Minute, 6*time.Hour
	}
	c.FirstByte, c.Idle, c.Whole = cmp.Or(c.FirstByte, first), cmp.Or(c.Idle, idle), cmp.Or(c.Whole, whole)
	m := &Client{id: c.Provider + ":" + c.Model, config: c, protocol: p, client: httpClient(c)}
	m.refused.Refusals = c.Refused
	if m.base, m.baseErr = baseURL(c, p); m.baseErr == nil {
		m.turnAddress = m.addressOf(p.ChatPath, p.Query)
	}
	return m
}

// Connections returns the Client's HTTP client, for the Config.HTTPClient of another model of the same provider.
func (m *Client) Connections() *http.Client { return m.client }

func httpClient(c Config) *http.Client {
	own := baseClient(c)
	own.Transport = cleartext.Transport(own.Transport, c.PlainHTTP)
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

func baseClient(c Config) (own http.Client) {
	if c.HTTPClient != nil {
		return *c.HTTPClient
	}
	if shared, ok := http.DefaultTransport.(*http.Transport); ok {
		transport := shared.Clone()
		transport.MaxIdleConns, transport.MaxIdleConnsPerHost = idleConnections, idleConnections
		if c.Local {
			transport.Proxy = nil
		}
		own.Transport = transport
	}
	return own
}

func baseURL(c Config, p Protocol) (*url.URL, error) {
	text := c.BaseURL
	if text == "" && (p.Name == "" || p.Name == c.Provider) {
		text = p.DefaultURL
	}
	if text == "" {
		return nil, fmt.Errorf("no base URL is set for %q, for example %s", c.Provider, p.ExampleURL)
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		// The text is not repeated: it may hold a password.
		return nil, fmt.Errorf("the base URL of %q is not of the form %s", c.Provider, p.URLForm)
	}
	if p.URLPath != nil {
		u.Path = p.URLPath(u.Path)
	}
	return u, nil
}

// addressOf returns the address of path under the base URL. Values of query replace those of the base URL, and values
// of the Config replace both.
func (m *Client) addressOf(path string, query url.Values) string {
	u := m.base.JoinPath(path)
	if len(query)+len(m.config.Query) > 0 {
		all := u.Query()
		maps.Copy(all, query)
		for name, value := range m.config.Query {
			all.Set(name, value)
		}
		u.RawQuery = all.Encode()
	}
	return u.String()
}

// encodeTurn makes the body of a request for a turn, with the fields of the Config.
func (m *Client) encodeTurn(req Request) ([]byte, error) {
	turn, err := m.protocol.EncodeTurn(req)
	if err != nil {
		return nil, err
	}
	body, err := Marshal(turn)
	if err != nil || len(m.config.Body) == 0 {
		return body, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return nil, err
	}
	maps.Copy(fields, m.config.Body)
	return Marshal(fields)
}

// ID is "provider:model".
func (m *Client) ID() string { return m.id }

// Local returns what the Config promised.
func (m *Client) Local() bool { return m.config.Local }

// Close closes the idle connections. The Client can still be used.
func (m *Client) Close() { m.client.CloseIdleConnections() }

// Chat streams one assistant turn. If a filter left nothing of it, that is Refused; if the limit of output did,
// OutputLength. A text that was cut short has FinishFilter or FinishLength.
func (m *Client) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	x, err := m.Open(ctx)
	if err != nil {
		return model.Response{Model: m.id}, err
	}
	defer x.Close()
	x.emit = emit
	if err = x.requestTurn(req); err != nil {
		_ = x.endText() // the failure before is the cause
	}
	return x.response(), err
}

// List returns the names of the models that the endpoint offers, sorted, each once. Errors are *model.Error, as from
// Chat.
func (m *Client) List(ctx context.Context) ([]string, error) {
	names, err := withCall(ctx, m, m.protocol.List)
	slices.Sort(names)
	return slices.Compact(names), err
}

// Describe returns what the provider reports of the model. Errors are *model.Error, as from Chat.
func (m *Client) Describe(ctx context.Context) (model.Info, error) {
	return withCall(ctx, m, m.protocol.Describe)
}

// withCall opens a call, and closes it when do has returned.
func withCall[T any](ctx context.Context, m *Client, do func(x *Call) (T, error)) (result T, err error) {
	x, err := m.Open(ctx)
	if err != nil {
		return result, err
	}
	defer x.Close()
	return do(x)
}

// requestTurn asks for a turn and reads it.
func (x *Call) requestTurn(req model.Request) error {
	if prepare := x.m.protocol.Prepare; prepare != nil {
		prepare(x)
	}
	if x.m.config.MaxOutput == 0 {
		x.bound = req.Bound
	}
	answer, err := x.sendTurn(req)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if mediaType(answer) == "text/html" {
		return x.Fail(model.Garbled, "the answer is a web page"+x.BaseHint(), nil)
	}
	err = x.m.protocol.ReadTurn(x, answer)
	if x.stopped != "" {
		_ = answer.Body.Close() // the server ends its work
		err = x.keepWhole()
	}
	if err := cmp.Or(err, x.endText()); err != nil {
		return err
	}
	if finish := strings.ToLower(x.Finish); ContainsAny(finish, "malformed", "error", "abort", "fail") {
		return x.Fail(model.Garbled, "the provider broke the answer off: "+x.Finish, nil)
	}
	if x.Text() != "" || len(x.Calls) > 0 {
		return nil
	}
	switch x.finish() {
	case model.FinishFilter:
		return x.Fail(model.Refused, cmp.Or(x.Refusal, "the provider's content filter left nothing of the answer"), nil)
	case model.FinishLength:
		return x.Fail(model.OutputLength,
			"the limit of output was reached before the answer began, as by much thinking: set a larger max_output "+
				"for the provider, or less think", nil)
	}
	return nil
}

// sendTurn sends the request for a turn. If the endpoint rejects optional fields, it sends it again without them.
func (x *Call) sendTurn(req model.Request) (*http.Response, error) {
	p, lasting := &x.m.protocol, uint32(0)
	if req.MaxOutputTokens == 0 {
		req.MaxOutputTokens = x.m.config.MaxOutput
	}
	checked, err := checkRequest(req)
	checked.Without = x.m.rejected.Load()
	steppedDown := false
	for {
		var body []byte
		var fitting Request
		if err == nil {
			fitting = x.m.fit(checked)
			body, err = x.m.encodeTurn(fitting)
		}
		if err != nil {
			return nil, x.Fail(model.Invalid, err.Error(), err)
		}
		answer, failed := x.send(http.MethodPost, x.m.turnAddress, jsonType, p.Accept, body)
		rejected, permanent := p.rejectedFields(failed)
		if about, is := errors.AsType[*model.Error](failed); is && (rejected == 0 || !permanent) &&
			x.m.stepDown(about, checked, fitting) {
			steppedDown = true
			continue
		}
		x.LeftOut = fitting.LeftOut
		if rejected &^= checked.Without; rejected == 0 || x.hopeless {
			if failed == nil {
				x.m.rejected.Or(lasting)
			}
			if failed == nil && steppedDown {
				x.m.tellRefused()
			}
			return answer, failed
		}
		checked.Without |= rejected
		if permanent {
			lasting |= rejected
		}
	}
}

// rejectedFields returns the optional fields because of which a request failed, as bits. permanent says that every
// request would fail so: the fault is not in the schema of this one.
func (p *Protocol) rejectedFields(err error) (fields uint32, permanent bool) {
	var failed *model.Error
	if !errors.As(err, &failed) || failed.Kind != model.Invalid {
		return 0, false
	}
	// Some write the names of fields in the way of another language.
	plain := func(text string) string { return strings.ToLower(strings.ReplaceAll(text, "_", "")) }
	message := plain(failed.Message)
	for i, field := range p.Optional {
		if field != "" && ContainsAny(message, plain(field)) {
			fields |= 1 << i
		}
	}
	return fields, !ContainsAny(message, "invalid schema", ".schema")
}
