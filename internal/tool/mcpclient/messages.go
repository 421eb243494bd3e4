package mcpclient

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sibyl/internal/text"
)

// mender makes the messages of a stranger's server readable for the SDK, which ends a connection at the first message
// that it can't decode: one odd field would take all tools with it. What can't be mended is left out, and told where it
// was a tool. It knows what was asked, since an answer does not say of what it is.
type mender struct {
	mu    sync.Mutex
	asked map[string]string // the methods of the requests without an answer, by their ids as JSON
	noise string            // the last line that was no message
	pages map[string]bool   // the pages of the list of tools that were asked for
}

// The methods whose answers are mended.
const (
	methodDiscover   = "server/discover"
	methodInitialize = "initialize"
	methodList       = "tools/list"
	methodCall       = "tools/call"
)

// oldestVersion is what a server is taken to speak that names no version we know.
const oldestVersion = "2024-11-05"

// leftOutKey is a key in the _meta of a listed tool: why it is left out. The server's own _meta is dropped before.
const leftOutKey = "sibyl/left-out"

type object = map[string]json.RawMessage

// sent remembers a request of ours. It returns the method and the id, "" for a notification or an answer.
func (m *mender) sent(raw []byte) (method, id string) {
	var req struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Cursor string `json:"cursor"`
		} `json:"params"`
	}
	if json.Unmarshal(raw, &req) != nil || req.Method == "" || len(req.ID) == 0 {
		return "", ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asked == nil {
		m.asked = map[string]string{}
	}
	m.asked[string(req.ID)] = req.Method
	if req.Method == methodList {
		if req.Params.Cursor == "" || m.pages == nil {
			m.pages = map[string]bool{}
		}
		m.pages[req.Params.Cursor] = true
	}
	return req.Method, string(req.ID)
}

// answerTo takes the method of a request that is answered; false if no answer is awaited.
func (m *mender) answerTo(id string) (method string, awaited bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	method, awaited = m.asked[id]
	delete(m.asked, id)
	return method, awaited
}

// ignored remembers a line that is no message, for when the server does not answer.
func (m *mender) ignored(line []byte) {
	if words := strings.TrimSpace(strings.ToValidUTF8(text.Clip(string(line), 500), "\uFFFD")); words != "" {
		m.mu.Lock()
		m.noise = words
		m.mu.Unlock()
	}
}

func (m *mender) lastNoise() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.noise
}

// messages returns the messages in a JSON value, as the SDK reads them: that of an object, those of a batch, or none.
func (m *mender) messages(raw []byte) (all [][]byte) {
	var batch []json.RawMessage
	if json.Unmarshal(raw, &batch) == nil {
		for _, one := range batch {
			all = append(all, m.messages(one)...)
		}
		return all
	}
	if mended := m.message(raw); mended != nil {
		all = append(all, mended)
	}
	return all
}

// message mends one message; nil if it is none, or answers nothing.
func (m *mender) message(raw []byte) []byte {
	var msg object
	if json.Unmarshal(raw, &msg) != nil {
		m.ignored(raw)
		return nil
	}
	for name, value := range msg {
		if isNull(value) && name != "result" {
			delete(msg, name)
		}
	}
	msg["jsonrpc"] = json.RawMessage(`"2.0"`)
	if name := textIn(msg["method"]); name != "" { // its own request, or a notification
		keep(msg, "jsonrpc", "id", "method", "params")
		return encode(msg)
	}
	result, hasResult := msg["result"]
	failure, failed := msg["error"]
	if !hasResult && !failed {
		m.ignored(raw)
		return nil
	}
	id := string(msg["id"])
	method, awaited := m.answerTo(id)
	if n, err := strconv.ParseFloat(strings.Trim(id, `"`), 64); !awaited && err == nil { // "1" or 1.0 for 1
		id = strconv.FormatInt(int64(n), 10)
		method, awaited = m.answerTo(id)
	}
	if !awaited {
		m.ignored(raw)
		return nil
	}
	out := object{"jsonrpc": msg["jsonrpc"], "id": json.RawMessage(id)}
	if failed {
		out["error"] = mendError(failure)
	} else {
		out["result"] = m.mendResult(method, result)
	}
	return encode(out)
}

// refusal answers a request of ours as a server that does not know it.
func (m *mender) refusal(id string) []byte {
	if _, awaited := m.answerTo(id); !awaited {
		return nil
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no answer"}}`, id)
}

// mendError makes an error of whatever a server put in its place.
func mendError(raw json.RawMessage) json.RawMessage {
	const internal = -32603
	var known struct {
		Code    any             `json:"code"`
		Message any             `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}
	words := textIn(raw)
	code := int64(internal)
	if json.Unmarshal(raw, &known) == nil {
		if n, err := strconv.ParseFloat(fmt.Sprint(known.Code), 64); err == nil {
			code = int64(n)
		}
		if known.Message != nil {
			words = fmt.Sprint(known.Message)
		}
	}
	if words == "" {
		words = text.Clip(string(raw), 300)
	}
	mended := object{"code": encode(code), "message": encode(words)}
	if known.Data != nil {
		mended["data"] = known.Data
	}
	return encode(mended)
}

func (m *mender) mendResult(method string, raw json.RawMessage) json.RawMessage {
	var fields object
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		fields = object{}
		switch method { // the value without its wrapping
		case methodList:
			fields["tools"] = raw
		case methodCall:
			fields["content"] = raw
		}
	}
	switch method {
	case methodList:
		listed := object{"tools": encode(mendTools(fields["tools"]))}
		m.mu.Lock()
		defer m.mu.Unlock()
		if next := textIn(fields["nextCursor"]); !m.pages[next] { // a page that was read would be read for ever
			listed["nextCursor"] = encode(next)
		}
		return encode(listed)
	case methodCall:
		mendCall(fields)
	case methodInitialize, methodDiscover:
		mendWelcome(method, fields)
	default:
		return raw
	}
	return encode(fields)
}

// mendWelcome mends what a server says of itself first.
func mendWelcome(method string, fields object) {
	var all object
	_ = json.Unmarshal(fields["capabilities"], &all) // else it says nothing of them
	for name, one := range all {
		var parts object
		switch {
		case json.Unmarshal(one, &parts) == nil && parts != nil:
			dropUnless(parts, isBool, "listChanged", "subscribe")
			all[name] = encode(parts)
		case string(one) == "true":
			all[name] = json.RawMessage("{}")
		default:
			delete(all, name)
		}
	}
	if all == nil {
		all = object{}
	}
	fields["capabilities"] = encode(all)
	if method == methodInitialize {
		if version := textIn(fields["protocolVersion"]); len(version) != len(oldestVersion) || version < oldestVersion ||
			version > handshakeVersion {
			fields["protocolVersion"] = encode(oldestVersion)
		}
	}
	var named object
	if json.Unmarshal(fields["serverInfo"], &named) != nil || named == nil {
		named = object{"name": encode(textIn(fields["serverInfo"])), "version": encode("")}
	}
	fields["serverInfo"] = encode(object{"name": encode(textIn(named["name"])),
		"version": encode(textIn(named["version"]))})
	dropUnless(fields, isText, "instructions")
	delete(fields, "_meta")
}

// mendTools mends a list of tools. What is no tool stands in it with the reason.
func mendTools(raw json.RawMessage) []json.RawMessage {
	var entries []json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		var byName object // some servers list them by name
		_ = json.Unmarshal(raw, &byName)
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			var entry object
			if json.Unmarshal(byName[name], &entry) == nil && entry != nil {
				entry["name"] = encode(name)
				entries = append(entries, encode(entry))
			}
		}
	}
	mended := make([]json.RawMessage, 0, len(entries))
	for i, entry := range entries {
		mended = append(mended, mendTool(entry, i))
	}
	return mended
}

func mendTool(raw json.RawMessage, place int) json.RawMessage {
	leaveOut := func(why string) json.RawMessage {
		return encode(map[string]any{"name": fmt.Sprintf("entry_%d", place+1),
			"inputSchema": map[string]any{"type": "object"}, "_meta": map[string]any{leftOutKey: why}})
	}
	var t object
	if json.Unmarshal(raw, &t) != nil || t == nil {
		return leaveOut("it is no tool")
	}
	if strings.TrimSpace(textIn(t["name"])) == "" {
		return leaveOut("it has no name")
	}
	for _, spelt := range []string{"input_schema", "parameters"} {
		if isNull(t["inputSchema"]) && t[spelt] != nil {
			t["inputSchema"] = t[spelt]
		}
	}
	if words := []byte(textIn(t["inputSchema"])); json.Valid(words) { // a schema as text
		t["inputSchema"] = words
	}
	if trimmed := bytes.TrimSpace(t["inputSchema"]); len(trimmed) == 0 || trimmed[0] != '{' {
		t["inputSchema"] = json.RawMessage(`{"type":"object"}`)
	}
	if trimmed := bytes.TrimSpace(t["outputSchema"]); len(trimmed) == 0 || trimmed[0] != '{' {
		delete(t, "outputSchema")
	}
	dropUnless(t, isText, "title", "description")
	var hints object
	if json.Unmarshal(t["annotations"], &hints) != nil || hints == nil {
		delete(t, "annotations")
	} else {
		for name, hint := range hints {
			if b, err := strconv.ParseBool(strings.ToLower(textIn(hint))); err == nil {
				hints[name] = encode(b)
			}
		}
		dropUnless(hints, isBool, "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
		dropUnless(hints, isText, "title")
		keep(hints, "title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
		t["annotations"] = encode(hints)
	}
	keep(t, "name", "title", "description", "inputSchema", "outputSchema", "annotations")
	return encode(t)
}

// mendCall mends the result of a call.
func mendCall(fields object) {
	content := fields["content"]
	if isNull(content) {
		content = fields["toolResult"] // of the first versions
	}
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil && !isNull(content) {
		parts = []json.RawMessage{content}
	}
	mended := make([]json.RawMessage, 0, len(parts))
	for _, part := range parts {
		if !isNull(part) {
			mended = append(mended, mendContent(part))
		}
	}
	fields["content"] = encode(mended)
	if b, err := strconv.ParseBool(strings.ToLower(textIn(fields["isError"]))); err == nil {
		fields["isError"] = encode(b)
	}
	dropUnless(fields, isBool, "isError")
	if isNull(fields["structuredContent"]) {
		delete(fields, "structuredContent")
	}
	dropUnless(fields, isText, "resultType", "requestState")
	keep(fields, "content", "isError", "structuredContent", "resultType", "inputRequests", "requestState")
}

// mendContent mends one piece of content. What can't be shown is named, and its text is kept.
func mendContent(raw json.RawMessage) json.RawMessage {
	asText := func(words string) json.RawMessage {
		return encode(map[string]string{"type": "text", "text": words})
	}
	var part object
	if json.Unmarshal(raw, &part) != nil || part == nil {
		if words := textIn(raw); words != "" {
			return asText(words)
		}
		return asText(string(raw))
	}
	kind, words := textIn(part["type"]), textIn(part["text"])
	if words == "" && !isNull(part["text"]) && !isText(part["text"]) {
		words = string(part["text"])
	}
	switch kind {
	case "", "text":
		if words == "" && part["text"] == nil {
			words = string(raw)
		}
		return asText(words)
	case "image", "audio":
		data, err := base64.StdEncoding.DecodeString(textIn(part["data"]))
		if err == nil {
			return encode(map[string]any{"type": kind, "mimeType": textIn(part["mimeType"]), "data": data})
		}
	case "resource_link":
		if uri := textIn(part["uri"]); uri != "" {
			return encode(map[string]string{"type": kind, "uri": uri, "name": textIn(part["name"]),
				"title": textIn(part["title"])})
		}
	case "resource":
		if mended := mendResource(part["resource"]); mended != nil {
			return encode(object{"type": encode(kind), "resource": mended})
		}
	}
	shown := fmt.Sprintf("[content of the kind “%s”, not shown]", text.Clip(kind, 60))
	if words != "" {
		shown = words + "\n" + shown
	}
	return asText(shown)
}

// mendResource mends the contents of a resource; nil if there are none.
func mendResource(raw json.RawMessage) json.RawMessage {
	var c object
	if json.Unmarshal(raw, &c) != nil || c == nil {
		return nil
	}
	out := map[string]any{"uri": textIn(c["uri"]), "mimeType": textIn(c["mimeType"])}
	if words := textIn(c["text"]); words != "" {
		out["text"] = words
	} else if blob, err := base64.StdEncoding.DecodeString(textIn(c["blob"])); err == nil {
		out["blob"] = blob
	}
	return encode(out)
}

// encode returns a value as JSON.
func encode(value any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil { // it was decoded from JSON
		return json.RawMessage("null")
	}
	return bytes.TrimSpace(b.Bytes())
}

// textIn returns the text of a JSON string, and the digits or the word of a number or boolean.
func textIn(raw json.RawMessage) string {
	var words string
	if json.Unmarshal(raw, &words) == nil {
		return words
	}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] != '{' && raw[0] != '[' && !isNull(raw) {
		return string(raw)
	}
	return ""
}

func isNull(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) == 0 || string(raw) == "null"
}

func isText(raw json.RawMessage) bool { return len(raw) > 0 && bytes.TrimSpace(raw)[0] == '"' }

func isBool(raw json.RawMessage) bool {
	return slices.Contains([]string{"true", "false"}, string(bytes.TrimSpace(raw)))
}

// dropUnless drops the named fields that are not of a kind.
func dropUnless(fields object, fits func(json.RawMessage) bool, names ...string) {
	for _, name := range names {
		if one, has := fields[name]; has && !fits(one) {
			delete(fields, name)
		}
	}
}

// keep drops all fields but the named ones.
func keep(fields object, names ...string) {
	maps.DeleteFunc(fields, func(name string, _ json.RawMessage) bool { return !slices.Contains(names, name) })
}
