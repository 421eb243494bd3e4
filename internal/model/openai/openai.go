// Package openai speaks the Chat Completions protocol: OpenAI itself, Ollama's /v1 and every endpoint that calls
// itself compatible.
//
// Besides the guarantees of package model:
//   - An answer is read to its end or the request is ended; no goroutine and no request outlives Chat.
//   - A redirect is never followed, so that neither the key nor the conversation goes anywhere but to BaseURL.
//   - The key is in no error. What a provider says is shortened, and the key is cut out should it be echoed.
//   - Text, arguments and refusal of one answer are at most 8 MB together, its calls at most 256; more is Garbled.
//   - One exchange makes one request. The one exception: an endpoint that rejects stream_options is asked once more
//     without it, both requests are counted in Response.Attempts, and the Model remembers.
//
// Compatible endpoints differ, and these differences are accepted: parts of tool calls without index or id, several
// whole calls under one index, arguments as an object or left out, no usage, no finish reason before [DONE], no [DONE]
// after a finish reason, errors inside the stream, and one whole JSON answer where a stream was asked for.
//
// Requests are built of go-openai's types, but its client is not used. Its stream reader matches several regular
// expressions per line and decodes into large structs, which costs 1.7 times the CPU of a bare net/http and
// encoding/json reader where this package costs 0.6 times (BenchmarkStream100Chunks); it drops the Retry-After of a
// failed request and cannot tell a cut line from a bad one; it takes its key once and for all; and it refuses some
// models by name before asking.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	wire "github.com/sashabaranov/go-openai"

	"sibyl/internal/model"
)

// The two providers that have an address of their own; for any other name Config.BaseURL is required.
const (
	OpenAI = "openai"
	Ollama = "ollama"
)

// How long a whole request may take where Config.Timeout is zero. A local model may have to be loaded first.
const (
	cloudTimeout = 120 * time.Second
	localTimeout = 360 * time.Second
)

// Config says which model is asked, where, and for how long.
type Config struct {
	// Provider is OpenAI, Ollama or the user's name for a compatible endpoint; Model is the model's name there.
	Provider string
	Model    string

	// BaseURL includes the version: "http://127.0.0.1:11434/v1". Empty: the usual one of OpenAI or Ollama.
	BaseURL string

	// Key returns the API key and is asked before every request. Nil, or an empty key: none is sent.
	Key func(ctx context.Context) (string, error)

	// Local promises that BaseURL stays on this machine: no proxy is used then.
	Local bool

	// Timeout bounds a whole request; zero: 120 s, or 360 s for a local model. Idle bounds the silence between two
	// parts of a stream, once the first has come; zero: only Timeout bounds it.
	Timeout time.Duration
	Idle    time.Duration

	// HTTPClient replaces the model's own, whose connections and proxy are those of http.DefaultTransport.
	HTTPClient *http.Client
}

// Model is one model of one endpoint. It is a model.Model, safe for concurrent use.
type Model struct {
	id      string
	name    string
	base    *url.URL
	baseErr error
	key     func(context.Context) (string, error)
	local   bool
	timeout time.Duration
	idle    time.Duration
	client  *http.Client

	// maxTokensOld chooses max_tokens, which compatible endpoints know, over OpenAI's max_completion_tokens.
	maxTokensOld bool

	// noStreamOptions is set once the endpoint has rejected stream_options.
	noStreamOptions atomic.Bool
}

// New returns the model that c describes. It sends nothing; a wrong BaseURL is reported by the first request.
func New(c Config) *Model {
	m := &Model{
		id:           c.Provider + ":" + c.Model,
		name:         c.Model,
		key:          c.Key,
		local:        c.Local,
		timeout:      cmp.Or(c.Timeout, defaultTimeout(c.Local)),
		idle:         c.Idle,
		client:       client(c),
		maxTokensOld: c.Provider != OpenAI,
	}
	m.base, m.baseErr = baseURL(c.Provider, c.BaseURL)
	return m
}

func defaultTimeout(local bool) time.Duration {
	if local {
		return localTimeout
	}
	return cloudTimeout
}

func client(c Config) *http.Client {
	own := http.Client{}
	if c.HTTPClient != nil {
		own = *c.HTTPClient
	} else if shared, ok := http.DefaultTransport.(*http.Transport); ok {
		transport := shared.Clone()
		if c.Local {
			transport.Proxy = nil
		}
		own.Transport = transport
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

func baseURL(provider, text string) (*url.URL, error) {
	if text == "" {
		switch provider {
		case OpenAI:
			text = "https://api.openai.com/v1"
		case Ollama:
			text = "http://127.0.0.1:11434/v1"
		default:
			return nil, fmt.Errorf("no base URL is set for %q, for example https://host.example/v1", provider)
		}
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		// The text is not repeated: it may hold a password.
		return nil, fmt.Errorf("the base URL of %q is not of the form http://host/v1 or https://host/v1", provider)
	}
	return u, nil
}

// ID is "provider:model".
func (m *Model) ID() string { return m.id }

// Local is what the Config promised.
func (m *Model) Local() bool { return m.local }

// Close closes the connections that wait for another request. The Model can still be used.
func (m *Model) Close() { m.client.CloseIdleConnections() }

// Chat streams one assistant turn. A refusal, or a content filter that left nothing, is Refused; a filter that cut a
// text short is FinishFilter. Failed tool results are marked in their text, as the protocol has no field for it.
func (m *Model) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	resp := model.Response{Model: m.id}
	x, err := m.open(ctx)
	if err != nil {
		return resp, err
	}
	defer x.close()

	answer, attempts, err := x.ask(req)
	resp.Attempts = attempts
	if err != nil {
		return resp, err
	}
	defer func() { _ = answer.Body.Close() }()

	t := turn{emit: emit}
	err = x.read(answer, &t)
	t.fill(&resp)
	return resp, err
}

// List returns the ids of the models that the endpoint offers, sorted. Errors are *model.Error, as from Chat.
func (m *Model) List(ctx context.Context) ([]string, error) {
	x, err := m.open(ctx)
	if err != nil {
		return nil, err
	}
	defer x.close()

	resp, err := x.send(http.MethodGet, "models", nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := x.readAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var list wire.ModelsList
	if err := json.Unmarshal(body, &list); err != nil || list.Models == nil {
		return nil, x.fail(model.Garbled, "the list of models is not what the protocol promises"+x.baseHint(), nil)
	}
	ids := make([]string, 0, len(list.Models))
	for _, entry := range list.Models {
		ids = append(ids, entry.ID)
	}
	slices.Sort(ids)
	return ids, nil
}

// hasControl says whether s cannot stand in an HTTP header.
func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
