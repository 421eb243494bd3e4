package mcpclient

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

// odd is a server as people run them. Its texts replace what a right one would send.
type odd struct {
	Banner    string // written when it starts
	Before    string // written before each message, in its line
	After     string // written after each message, before the end of the line
	Discovers string // "dies": it ends at the newest protocol; "": it refuses that; "silent": it says nothing
	Welcome   string // result of initialize
	Tools     string // result of tools/list
	Result    string // result of tools/call
	Whole     string // a whole answer to tools/call, with ID for its id
}

const (
	plainTools  = `{"tools":[{"name":"look","description":"looks","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}`
	plainResult = `{"content":[{"type":"text","text":"seen"}]}`
)

// answer returns the answer to a message; "" for none.
func (o odd) answer(raw []byte) string {
	var msg struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(raw, &msg) != nil || len(msg.ID) == 0 {
		return ""
	}
	result := ""
	switch msg.Method {
	case methodDiscover:
		switch o.Discovers {
		case "dies":
			os.Exit(1)
		case "silent":
			return ""
		}
	case methodInitialize:
		result = o.Welcome
		if result == "" {
			result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}`
		}
	case methodList:
		if result = o.Tools; result == "" {
			result = plainTools
		}
	case methodCall:
		if o.Whole != "" {
			return strings.ReplaceAll(o.Whole, "ID", string(msg.ID))
		}
		if result = o.Result; result == "" {
			result = plainResult
		}
	}
	if result == "" {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, msg.ID)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, msg.ID, result)
}

// serve speaks MCP on standard streams.
func (o odd) serve() {
	_, _ = io.WriteString(os.Stdout, o.Banner)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		if said := o.answer(lines.Bytes()); said != "" {
			_, _ = io.WriteString(os.Stdout, o.Before+said+o.After+"\n")
		}
	}
}

// handler speaks MCP over HTTP.
func (o odd) handler(kind string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		said := o.answer(raw)
		if said == "" {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = io.WriteString(w, o.Before+said+o.After+"\n\n")
	})
}

// connectOdd connects to an odd command.
func connectOdd(t *testing.T, o odd) *Session {
	t.Helper()
	p := selfProgram("odd")
	p.Environ = append(p.Environ, oddServer+"="+string(encode(o)))
	return connect(t, Stdio(p), Config{Name: "odd", Foreign: true})
}

const oddServer = "MCPCLIENT_TEST_ODD"

func serveOdd() {
	var o odd
	if err := json.Unmarshal([]byte(os.Getenv(oddServer)), &o); err != nil {
		panic(err)
	}
	o.serve()
}

// look calls the tool that all odd servers have.
func look(t *testing.T, s *Session) string {
	t.Helper()
	res, err := toolNamed(t, s, "look").Call(t.Context(), tool.Call{})
	assert.That(t, err == nil, "%v", err)
	return res.Text
}

func TestWhatIsNoMessageOnACommandsOutputIsIgnored(t *testing.T) {
	for name, o := range map[string]odd{
		"logs before and between": {Banner: "Loading…\n[2026-05-31T15:25:47Z] [INFO] started\n\n", Before: "\r\ninfo: Host[14]\n"},
		"a byte order mark":       {Before: "\uFEFF"},
		"logs as JSON":            {Banner: `{"level":"info","msg":"up"}` + "\n" + `["a","b"]` + "\n", Before: `{"level":30}` + "\n"},
		"a banner without an end": {Banner: "> tsc && start ", Before: "\x1b[32mok\x1b[0m "},
		"braces in a log":         {Banner: "config { port: 3000 }\nopen {\n", Before: "{ a: [1, 2 }\n"},
		"a cut object":            {Banner: `{"a": [` + "\n"},
		"words after a message":   {After: " # done"},
		"notifications first": {Banner: `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n"},
		"an answer to nobody": {Banner: `{"jsonrpc":"2.0","id":77,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}` + "\n"},
		"broken characters":   {Before: "\xff\xfe\x00 log\n"},
	} {
		got := look(t, connectOdd(t, o))
		assert.That(t, got == "seen", "%s: %q", name, got)
	}
}

func TestCommandThatEndsOrIsSilentAtTheNewestProtocolIsReachedByAnOlder(t *testing.T) {
	got := look(t, connectOdd(t, odd{Discovers: "dies"}))
	assert.Equal(t, got, "seen")
	if !testing.Short() { // it waits for the silence
		got = look(t, connectOdd(t, odd{Discovers: "silent"}))
		assert.Equal(t, got, "seen")
	}
}

func TestOddWelcomeAndListLeaveTheOtherToolsInPlace(t *testing.T) {
	look := plainTools[len(`{"tools":[`) : len(plainTools)-2]
	for name, c := range map[string]struct {
		o    odd
		left string // name: why, of those that are left out
	}{
		"no capabilities":           {o: odd{Welcome: `{"protocolVersion":"2024-11-05","serverInfo":null}`}},
		"capabilities as truth":     {o: odd{Welcome: `{"protocolVersion":"2025-03-26","capabilities":{"tools":true,"logging":null},"serverInfo":"odd"}`}},
		"an unknown version":        {o: odd{Welcome: `{"protocolVersion":"1.0","capabilities":{"tools":{"listChanged":"yes"}}}`}},
		"a doubled name":            {o: odd{Tools: `{"tools":[` + look + `,` + look + `]}`}, left: "look: the server lists another with this name"},
		"null and words":            {o: odd{Tools: `{"tools":[null,"x",` + look + `]}`}, left: "entry_1: it is no tool\nentry_2: it is no tool"},
		"no name":                   {o: odd{Tools: `{"tools":[{"inputSchema":{}},` + look + `,{"name":null}]}`}, left: "entry_1: it has no name\nentry_3: it has no name"},
		"a list without wrapper":    {o: odd{Tools: `[` + look + `]`}},
		"arguments as text":         {o: odd{Tools: `{"tools":[{"name":"t","inputSchema":{"type":"string"}},` + look + `],"nextCursor":null}`}, left: "t: its arguments are no object"},
		"a cursor that comes again": {o: odd{Tools: `{"tools":[` + look + `],"nextCursor":"a"}`}, left: "look: the server lists another with this name"},
		"an empty cursor":           {o: odd{Tools: `{"tools":[` + look + `],"nextCursor":""}`}},
		"a notification first": {o: odd{Banner: `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info",` +
			`"data":"up"}}` + "\n"}},
		"a request first": {o: odd{Banner: `{"jsonrpc":"2.0","id":"s1","method":"roots/list"}` + "\n"}},
		"results that are a list": {o: odd{Tools: `{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"array"}},` +
			look + `]}`}},
		"arguments as a choice of objects": {o: odd{Tools: `{"tools":[{"name":"t","inputSchema":{"anyOf":[{"type":"object"}]}},` + look + `]}`}},
		"odd fields": {o: odd{Tools: `{"tools":[{"name":"odd","title":7,"description":{"a":1},"annotations":[],"icons":"x","inputSchema":null},` +
			look + `],"nextCursor":7.5,"_meta":3,"ttlMs":"x"}`}, left: "*"},
	} {
		s := connectOdd(t, c.o)
		toolNamed(t, s, "look")
		var left []string
		for _, l := range s.Left() {
			left = append(left, l.Tool+": "+l.Why)
		}
		got := strings.Join(left, "\n")
		assert.That(t, got == c.left || c.left == "*", "%s: left out %q, want %q", name, got, c.left)
	}
	for _, nothing := range []string{`null`, `{"tools":null}`, `{}`, `{"tools":[]}`, `{"tools":"none"}`} {
		s := connectOdd(t, odd{Tools: nothing})
		assert.That(t, len(s.Tools()) == 0 && len(s.Left()) == 0, "%s: %d tools, left %v", nothing, len(s.Tools()), s.Left())
	}
}

func TestUnknownContentDoesNotDropTheTextBesideIt(t *testing.T) {
	for result, want := range map[string]string{
		`{"content":[{"type":"text","text":"seen"},{"type":"video","url":"x"}]}`:                   "seen\n[content of the kind “video”, not shown]",
		`{"content":[{"type":"json","json":{"a":1},"text":"as text"},{"type":"text","text":"b"}]}`: "as text\n[content of the kind “json”, not shown]\nb",
		`{"content":["plain",null,{"text":"no kind"}]}`:                                            "plain\nno kind",
		`{"content":"one"}`: "one",
		`{"content":{"type":"text","text":"alone"},"isError":"false"}`:                                                  "alone",
		`{"content":[{"type":"text","text":42},{"type":"text","text":{"a":1}}]}`:                                        "42\n{\"a\":1}",
		`{"content":[{"type":"image","data":"%%%"},{"type":"text","text":"seen"}]}`:                                     "[content of the kind “image”, not shown]\nseen",
		`{"content":[{"type":"resource","resource":null},{"type":"text","text":"seen"}]}`:                               "[content of the kind “resource”, not shown]\nseen",
		`{"content":[{"type":"resource_link","uri":"a:b","size":"7"},{"type":"text","text":"seen","annotations":"x"}]}`: "[a link to a resource: a:b]\nseen",
		`{"toolResult":"of the first versions"}`:                                                                        "of the first versions",
		`"bare"`:                                                                                                        "bare",
		`null`:                                                                                                          "",
		`{"content":null,"structuredContent":{"a":1}}`:                                                                  `{"a":1}`,
	} {
		got := look(t, connectOdd(t, odd{Result: result}))
		assert.That(t, got == want, "%s: %q, want %q", result, got, want)
	}
}

func TestOddEnvelopesAreUnderstood(t *testing.T) {
	for _, whole := range []string{
		`{"id":ID,"result":` + plainResult + `}`, `{"jsonrpc":2.0,"id":"ID","result":` + plainResult + `,"error":null}`,
		`{"jsonrpc":"2.0","id":ID.0,"method":null,"result":` + plainResult + `}`,
		`[{"jsonrpc":"2.0","method":"notifications/progress"},{"jsonrpc":"2.0","id":ID,"result":` + plainResult + `}]`,
		"{\n  \"jsonrpc\": \"2.0\",\n  \"id\": ID,\n  \"result\": " + plainResult + "\n}",
		`{"jsonrpc":"2.0","id":ID,"result":` + plainResult + `}{"jsonrpc":"2.0","id":ID,"result":null}`,
	} {
		got := look(t, connectOdd(t, odd{Whole: whole}))
		assert.That(t, got == "seen", "%s: %q", whole, got)
	}
	for whole, want := range map[string]string{
		`{"jsonrpc":"2.0","id":ID,"error":"no luck"}`:                                            "no luck",
		`{"jsonrpc":"2.0","id":ID,"error":{"code":"E7","message":"no luck"}}`:                    "no luck",
		`{"jsonrpc":"2.0","id":ID,"error":{"code":-32602.0,"message":"no luck","data":{"a":1}}}`: "no luck",
	} {
		s := connectOdd(t, odd{Whole: whole})
		_, err := toolNamed(t, s, "look").Call(t.Context(), tool.Call{})
		assert.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %v", whole, err)
	}
}

func TestOddServersOverHTTPAreUnderstoodToo(t *testing.T) {
	for name, c := range map[string]struct {
		o    odd
		kind string
	}{
		"JSON":                    {odd{Tools: `{"tools":[null,` + plainTools[len(`{"tools":[`):]}, "application/json"},
		"another kind of content": {odd{}, "text/plain"}, "no kind": {odd{}, ""},
		"words before the answer": {odd{Before: "<br/>Warning: x in y on line 3\n"}, "application/json; charset=utf-8"},
		"events":                  {odd{Before: "event: message\ndata: ", Result: `{"content":[{"type":"text","text":"seen"},null]}`}, "text/event-stream"},
		"events named otherwise":  {odd{Before: "data:"}, "text/html"},
		"an event that is none":   {odd{Before: ": ping\n\ndata: hello\n\ndata: "}, "text/event-stream"},
	} {
		web := httptest.NewServer(c.o.handler(c.kind))
		t.Cleanup(web.Close)
		s := connect(t, HTTP(Address{URL: web.URL}), Config{Name: "odd", Foreign: true})
		got := look(t, s)
		assert.That(t, got == "seen", "%s: %q", name, got)
	}
}

func TestOddSchemasAreMendedForModels(t *testing.T) {
	for given, want := range map[string]string{
		`{}`:                                     `{"type":"object"}`,
		`{"properties":{"a":{"type":"string"}}}`: `{"properties":{"a":{"type":"string"}},"type":"object"}`,
		`{"type":["object","null"],"properties":null,"required":null}`:               `{"type":"object"}`,
		`{"type":"Object","properties":{"a":true,"b":null,"c":false,"d":"int"}}`:     `{"properties":{"a":{},"d":{"type":"integer"}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"any"},"b":{"type":"str"}}}`:     `{"properties":{"a":{},"b":{"type":"string"}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"string","required":true}}}`:     `{"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`,
		`{"type":"object","properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}`: `{"properties":{"a":{"exclusiveMinimum":1}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"minimum":"1","maxLength":null}}}`:      `{"properties":{"a":{"minimum":1}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"array","items":[{"type":"string"}]}}}`: `{"properties":{"a":{"items":{"anyOf":[{"type":"string"}]},` +
			`"type":"array"}},"type":"object"}`,
		`{"type":"object","properties":{"id":{"type":"string"},"required":{"enum":[]}},"required":["id","gone"]}`: `{"properties":{"id":{"type":"string"},` +
			`"required":{}},"required":["id"],"type":"object"}`,
		`{"$ref":"#/definitions/A","definitions":{"A":{"type":"object","properties":{"x":{"type":"string"}}}}}`: `{"definitions":{"A":{"properties":{"x":{` +
			`"type":"string"}},"type":"object"}},"properties":{"x":{"type":"string"}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/gone"},"b":{"$ref":"https://example.com/b"}}}`: `{"properties":{"a":{},"b":{}},"type":"object"}`,
		`{"type":"object","$ref":"#","allOf":[{"$ref":"#"}]}`:                                               `{"allOf":[{}],"type":"object"}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","id":"x","type":"object"}`:                    `{"type":"object"}`,
		`{"type":"object","properties":{"a":{"enum":["x",1,true,null]}}}`:                                   `{"properties":{"a":{"enum":["x",1,true,null]}},"type":"object"}`,
		`{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object"}]}`: `{"anyOf":[{"properties":{"a":{"type":"string"}},"type":"object"},` +
			`{"type":"object"}],"type":"object"}`,
	} {
		got, err := mendSchema(json.RawMessage(given))
		assert.That(t, err == nil && string(got) == want, "%s: %s, %v; want %s", given, got, err, want)
	}
	for _, given := range []string{`{"type":"string"}`, `{"type":["array","null"]}`} {
		_, err := mendSchema(json.RawMessage(given))
		assert.ErrorIs(t, err, errNoObject)
	}
}

func TestCheckOfArgumentsEndsWhateverTheSchemaRefersTo(t *testing.T) {
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"$ref":"#/$defs/y"},"y":{"allOf":[{"$ref":"#/$defs/x"}]}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/properties/a"}}}`,
		`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#/properties/a"},{"type":"string"}]}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"not":{"$ref":"#/$defs/x"}}}}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/tree"}},"$defs":{"tree":{"type":"object","properties":{"of":{"type":"array",` +
			`"items":{"$ref":"#/$defs/tree"}}}}}}`,
	} {
		mended, err := mendSchema(json.RawMessage(schema))
		assert.NoError(t, err)
		check := resolveSchema(mended)
		assert.Require(t, check != nil, "%s: it can't be checked: %s", schema, mended)
		_ = check.Validate(map[string]any{"a": map[string]any{"of": []any{map[string]any{}}}}) // it comes back
	}
	tree, err := mendSchema(json.RawMessage(`{"type":"object","properties":{"of":{"$ref":"#"}}}`))
	assert.That(t, err == nil && strings.Contains(string(tree), `"$ref"`), "a tree lost its reference: %s, %v", tree, err)
}

func TestNamesThatNoProviderTakesAreSpelled(t *testing.T) {
	s := connectOdd(t, odd{Tools: `{"tools":[{"name":"查找 文件"},{"name":"7up"},{"name":"` + strings.Repeat("x", 200) + `"},{"name":"look","annotations":{"readOnlyHint":"true"}}]}`})
	for _, one := range s.Tools() {
		name := one.Spec().Name
		fits := name != "" && len(name) <= maxName && strings.IndexFunc(name, func(r rune) bool {
			return r > 'z' || !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", r)
		}) < 0 && !strings.ContainsRune("0123456789-", rune(name[0]))
		assert.That(t, fits, "%q", name)
	}
	assert.Equal(t, len(s.Tools()), 4)
	assert.That(t, toolNamed(t, s, "look").Spec().Effect == tool.Repeatable, "the hint as a text was not read")
}

func TestMessagesAreTheSameHoweverTheStreamIsCut(t *testing.T) {
	const note = `{"jsonrpc":"2.0","method":"%s"}`
	stream := "[INFO] up\n{ x\n" + fmt.Sprintf(note, "a") + "\n{\"level\":1}\n" + fmt.Sprintf("["+note+","+note+"]\n", "b", "c") +
		"{\"a\": [\n" + fmt.Sprintf(note, "d{\\\"}") + " # done\n\uFEFF" + fmt.Sprintf(note, "e")
	for size := range len(stream) {
		f := &framer{mend: &mender{}}
		var got []string
		for part := range slices.Chunk([]byte(stream), size+1) {
			all, err := f.add(part)
			assert.NoError(t, err)
			for _, one := range all {
				var msg struct{ Method string }
				assert.NoError(t, json.Unmarshal(one, &msg))
				got = append(got, msg.Method)
			}
		}
		assert.That(t, strings.Join(got, " ") == `a b c d{"} e`, "in parts of %d: %q", size+1, got)
	}
}

func TestNoiseOfACommandThatDoesNotServeIsTold(t *testing.T) {
	_, err := Connect(t.Context(), Stdio(selfProgram("usage")), Config{Name: "self", Start: 10 * time.Second})
	assert.That(t, kindOfError(err) == tool.Unavailable && strings.Contains(err.Error(), "it said: usage: self FILE"), "%v", err)
}
