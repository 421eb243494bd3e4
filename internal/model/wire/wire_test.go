package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// provider answers every request in memory.
type provider func(*http.Request) (*http.Response, error)

func (p provider) RoundTrip(r *http.Request) (*http.Response, error) { return p(r) }

// answering is a provider that gives every request this answer.
func answering(status int, header http.Header, body string) provider {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

var protocol = wire.Protocol{
	ExampleURL: "http://host.example", URLForm: "http://host", URLHint: "it is short", Accept: "text/odd",
	Header:   wire.Bearer,
	ChatPath: "chat", Classify: classifyByStatus,
}

// open begins an exchange with p that ends with the test.
func open(t testing.TB, p provider, adjust ...func(*wire.Config, *wire.Protocol)) *wire.Call {
	t.Helper()
	spoken := protocol
	c := wire.Config{Provider: "house", Model: "m", BaseURL: "https://house/v1?tenant=a",
		HTTPClient: &http.Client{Transport: p}}
	for _, f := range adjust {
		f(&c, &spoken)
	}
	x := assert.Must(wire.New(c, spoken).Open(t.Context()))(t)
	t.Cleanup(x.Close)
	return x
}

func withKey(key string) func(*wire.Config, *wire.Protocol) {
	return func(c *wire.Config, _ *wire.Protocol) {
		c.Key = func(context.Context) (string, error) { return key, nil }
	}
}

// classifyByStatus goes by the status alone.
func classifyByStatus(_ *wire.Call, status int, c *wire.Complaint) { c.Kind = wire.StatusKind(status) }

// getAndRead asks for path, of which nothing but the error is of interest.
func getAndRead(x *wire.Call, path string) error {
	resp, err := x.Get(path, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// wantFailure is err as the adapters promise it.
func wantFailure(t testing.TB, err error, kind model.Kind, says string) model.Error {
	t.Helper()
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != kind || e.Model != "house:m" || !strings.Contains(e.Message, says) {
		t.Errorf("got %v; want kind %s, saying %q", err, kind, says)
		return model.Error{}
	}
	return *e
}

func TestAnyArgumentsAreSentAsAnObjectInUTF8(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		arguments := string(rapid.SliceOf(rapid.Byte()).Draw(r, "arguments"))
		var fields map[string]any
		if got := wire.ArgumentsObject(arguments); json.Unmarshal(got, &fields) != nil || fields == nil || !utf8.Valid(got) {
			r.Fatalf("%q became %q", arguments, got)
		}
	})
}

func TestSchemaOfAToolSaysItsType(t *testing.T) {
	for schema, want := range map[string]string{"": `{"type":"object","properties":{}}`,
		`{"type":"object"}`:  `{"type":"object"}`,
		`{"required":["a"]}`: `{"required":["a"],"type":"object"}`} {
		got := wire.Parameters(model.Tool{Name: "f", Schema: json.RawMessage(schema)})
		assert.That(t, string(got) == want, "%q became %s; want %s", schema, got, want)
	}
}

func TestSchemaIsStrictOnlyIfAllItsObjectsAreClosed(t *testing.T) {
	const closed = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	const open = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`
	const optional = `{"type":"object","properties":{"a":{}},"additionalProperties":false}`
	around := func(inner string) []string {
		return []string{
			inner, `{"type":"array","items":` + inner + `}`, `{"anyOf":[{"type":"null"},` + inner + `]}`,
			`{"$ref":"#/$defs/x","$defs":{"x":` + inner + `}}`,
			`{"type":"object","properties":{"b":` + inner + `},"required":["b"],"additionalProperties":false}`,
		}
	}
	for inner, want := range map[string]bool{closed: true, open: false, optional: false} {
		for _, schema := range around(inner) {
			got, err := wire.Check(model.Request{Schema: &model.Schema{Name: "x", JSON: json.RawMessage(schema)}})
			assert.That(t, err == nil && got.Strict == want, "%s: strict %v, %v; want %v", schema, got.Strict, err, want)
		}
	}
	for _, schema := range []string{"", "null", "[]", "{"} {
		_, err := wire.Check(model.Request{Schema: &model.Schema{Name: "x",
			JSON: json.RawMessage(schema)}})
		assert.That(t, err != nil, "%q was taken for a schema", schema)
	}
}

func TestEventIsItsData(t *testing.T) {
	for _, c := range []struct {
		stream string
		want   []string
		kind   model.Kind
		says   string
	}{
		{"data: {\"a\":1}", []string{`{"a":1}`}, model.Server, "cut"},
		{"data:x \t\n\n", []string{"x"}, model.Server, "cut"},
		{"event: x\nid: 1\n: comment\ndata: x\nretry: 5\n\n", []string{"x"}, model.Server, "cut"},
		{"data: {\ndata:   \"a\": 1\r\ndata: }\n\n", []string{"{\n\"a\": 1\n}"}, model.Server, "cut"},
		{"data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n", []string{`{"a":1}`, `{"b":2}`, "[DONE]"}, model.Server,
			"cut"},
		{"\n\r\n: comment\n\nevent: ping\n\nid\nretry: 5\n\n", nil, model.Server, "cut"},
		{"data: x\n\n{\"error\":\n\"odd\"} \n", []string{"x"}, model.Server, "inside the stream: odd"},
		{"[{\"error\":\"odd\"}]", nil, model.Server, "inside the stream: odd"},
		{"{\"b\":1}\n", nil, model.Garbled, "no event stream"},
		{" data: x\n", nil, model.Garbled, "no event stream"},
		{"<html>\n", nil, model.Garbled, "no event stream"},
		{"database: x\n", nil, model.Garbled, "no event stream"},
	} {
		var got []string
		x := open(t, nil)
		err := x.ReadEvents(strings.NewReader(c.stream), false, func(data []byte) error {
			got = append(got, string(data))
			return nil
		})
		wantFailure(t, err, c.kind, strings.ReplaceAll(c.says, "no event", "not an event"))
		assert.That(t, slices.Equal(got, c.want), "%q gave %q; want %q", c.stream, got, c.want)
	}
	broken := io.MultiReader(strings.NewReader("<html>\n"), iotest.ErrReader(errors.New("odd")))
	// what was missing may have been an event
	wantFailure(t, open(t, nil).ReadEvents(broken, false, nil), model.Server, "cut (odd)")
}

func TestPartThatTheStreamsEndCutsOffIsACutOneWhateverItHolds(t *testing.T) {
	for stream, kind := range map[string]model.Kind{"data: {\n\n": model.Garbled, "data: {": model.Server,
		"data: {\n": model.Server} {
		x := open(t, nil)
		garbled := func([]byte) error { return x.Fail(model.Garbled, "odd", nil) }
		wantFailure(t, x.ReadEvents(strings.NewReader(stream), true, garbled), kind, "")
	}
	for stream, kind := range map[string]model.Kind{"{\n": model.Garbled, "{\r\n": model.Garbled, "{": model.Server} {
		x := open(t, nil)
		garbled := func([]byte) error { return x.Fail(model.Garbled, "odd", nil) }
		wantFailure(t, x.ReadLines(strings.NewReader(stream), garbled), kind, "")
	}
	x := open(t, nil)
	gone := func([]byte) error { return x.Fail(model.Cancelled, "gone", nil) }
	wantFailure(t, x.ReadLines(strings.NewReader("{"), gone), model.Cancelled, "gone")
}

func TestStreamHasAnEndWhateverIsInIt(t *testing.T) {
	long := strings.Repeat("x", 1<<14) // many short lines only take more time
	for _, line := range []string{":" + long + "\n\n", "data: " + long + "\n\n", long + "\n"} {
		sent := 0
		err := open(t, nil).ReadEvents(readerFunc(func(p []byte) (int, error) {
			n := copy(p, line[sent%len(line):])
			sent += n
			return n, nil
		}), false, func([]byte) error { return nil })
		wantFailure(t, err, model.Garbled, "next to nothing in it")
		assert.That(t, sent >= wire.MaxStream && sent <= wire.MaxStream+1<<20, "%.10q: %d bytes were read", line, sent)
	}
}
