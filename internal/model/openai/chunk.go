package openai

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// chunk is room for one event after another.
type chunk struct {
	part
	choices [1]choice
	calls   []callPart
	counted usage
	text    []byte // of the choice, in the place of Content
}

// read takes in an event of the forms that most have: one choice, number 0, whose delta is text or parts of calls, or none; usage. It is
// not ok for any other event, which encoding/json then reads: a key or a value that is not known here, one that comes twice, white
// space in an unusual place, or anything that is not valid.
func (c *chunk) read(event []byte) (ok bool) {
	c.part, c.choices, c.calls, c.counted, c.text = part{}, [1]choice{}, c.calls[:0], usage{}, c.text[:0]
	s := scanner{chunk: c, event: event}
	return s.object(s.chunkField) && s.at == len(event)
}

// scanner reads the usual forms of a chunk. Each of its methods goes past what it reads, and is false where it finds something
// else.
type scanner struct {
	*chunk
	event        []byte
	at           int
	said, called bool // the text and the calls have come
}

// chunkField reads the value of one field of the event.
func (s *scanner) chunkField(key []byte) bool {
	switch string(key) {
	case "id", "object", "created", "model", "system_fingerprint", "service_tier", "obfuscation", "provider":
		return s.scalar()
	case "usage":
		if s.take("null") {
			return s.Usage == nil
		}
		s.Usage = &s.counted
		return s.object(s.usageField)
	case "choices":
		if s.Choices != nil { // a second list would be mixed with the first
			return false
		}
		s.Choices = s.choices[:0]
		if s.take("[]") {
			return true
		}
		s.Choices = s.choices[:]
		return s.take("[") && s.object(s.choiceField) && s.take("]")
	}
	return false
}

func (s *scanner) usageField(key []byte) bool {
	switch string(key) {
	case "prompt_tokens":
		return s.number(&s.counted.PromptTokens)
	case "completion_tokens":
		return s.number(&s.counted.CompletionTokens)
	case "total_tokens":
		return s.scalar()
	case "prompt_tokens_details":
		return s.take("null") || s.object(func(key []byte) bool {
			return string(key) == "cached_tokens" && s.number(&s.counted.Details.CachedTokens) || string(key) == "audio_tokens" && s.scalar()
		})
	case "completion_tokens_details":
		return s.take("null") || s.object(func([]byte) bool { return s.scalar() })
	}
	return false
}

func (s *scanner) choiceField(key []byte) bool {
	switch string(key) {
	case "index":
		return s.take("0")
	case "logprobs", "native_finish_reason", "stop_reason", "token_ids":
		return s.take("null")
	case "finish_reason":
		return s.take("null") || s.value(&s.choices[0].FinishReason)
	case "delta":
		return s.take("{}") || s.object(s.deltaField)
	}
	return false
}

func (s *scanner) deltaField(key []byte) bool {
	switch string(key) {
	case "role":
		return s.scalar()
	case "refusal", "function_call", reasoningContent, reasoning:
		return s.take("null")
	case reasoningDetails:
		return s.take("null") || s.take("[]")
	case "content":
		if s.take("null") {
			return !s.said
		}
		raw, ok := s.quoted()
		if !ok || s.said { // a second text would replace the first
			return false
		}
		s.said = true
		s.text, ok = unquote(s.text, raw)
		return ok
	case "tool_calls":
		if s.called || s.take("null") {
			return !s.called
		}
		s.called = true
		return s.take("[") && s.callParts() && s.take("]")
	}
	return false
}

func (s *scanner) callParts() bool {
	for {
		s.calls = append(s.calls, callPart{})
		if c := &s.calls[len(s.calls)-1]; !s.object(func(key []byte) bool { return s.callField(c, key) }) {
			return false
		}
		if !s.take(",") {
			s.choices[0].Delta.ToolCalls = s.calls
			return true
		}
	}
}

func (s *scanner) callField(c *callPart, key []byte) bool {
	switch string(key) {
	case "index":
		c.Index = new(int)
		return s.number(c.Index)
	case "id":
		return s.take("null") || s.value(&c.ID)
	case "type":
		return s.scalar()
	case "function":
		return s.object(func(key []byte) bool {
			switch string(key) {
			case "name":
				return s.take("null") || s.value(&c.Function.Name)
			case "arguments":
				return s.value((*string)(&c.Function.Arguments))
			}
			return false
		})
	}
	return false
}

// object reads an object that is not empty, asking for the value of each of its fields.
func (s *scanner) object(value func(key []byte) bool) bool {
	if !s.take("{") {
		return false
	}
	for {
		key, ok := s.quoted()
		if !ok || !s.take(":") || !value(key) {
			return false
		}
		if !s.take(",") {
			return s.take("}")
		}
	}
}

// take reads a token and the space behind it.
func (s *scanner) take(token string) bool {
	if len(s.event)-s.at < len(token) || string(s.event[s.at:s.at+len(token)]) != token {
		return false
	}
	s.pass(len(token))
	return true
}

// pass goes past n bytes and the space behind them.
func (s *scanner) pass(n int) {
	s.at += n
	for s.at < len(s.event) && s.event[s.at] == ' ' {
		s.at++
	}
}

// quoted reads a string and gives what stands between its quotes.
func (s *scanner) quoted() ([]byte, bool) {
	left := s.event[s.at:]
	if len(left) == 0 || left[0] != '"' {
		return nil, false
	}
	for i := 1; i < len(left); i++ {
		switch left[i] {
		case '\\':
			i++
		case '"':
			s.pass(i + 1)
			return left[1:i], true
		}
	}
	return nil, false
}

// value reads a string's value.
func (s *scanner) value(into *string) bool {
	raw, ok := s.quoted()
	if !ok {
		return false
	}
	n := len(s.text)
	value, ok := unquote(s.text, raw)
	*into, s.text = string(value[n:]), value[:n]
	return ok
}

// scalar reads a value that says nothing here: null, a whole number or a string without escapes.
func (s *scanner) scalar() bool {
	if raw, ok := s.quoted(); ok {
		return plain(raw) && utf8.Valid(raw)
	}
	var n int
	return s.take("null") || s.number(&n)
}

// number reads a whole number of a usual size.
func (s *scanner) number(into *int) bool {
	n := 0
	for n < len(s.event)-s.at && n < 18 && '0' <= s.event[s.at+n] && s.event[s.at+n] <= '9' {
		n++
	}
	digits := s.event[s.at : s.at+n]
	value, err := strconv.Atoi(string(digits))
	*into = value
	s.pass(n)
	return err == nil && (digits[0] != '0' || n == 1)
}

// plain says whether a string's inside stands for itself.
func plain(raw []byte) bool {
	for _, c := range raw {
		if c < ' ' || c == '\\' {
			return false
		}
	}
	return true
}

// escapes are the characters that a single letter stands for.
var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// unquote appends the value of a string by its inside. It is not ok for what is not valid, or no UTF-8.
func unquote(b, raw []byte) (_ []byte, ok bool) {
	if !utf8.Valid(raw) {
		return b, false
	}
	for len(raw) > 0 {
		n := bytes.IndexByte(raw, '\\')
		if n < 0 {
			n = len(raw)
		}
		if !plain(raw[:n]) {
			return b, false
		}
		b, raw = append(b, raw[:n]...), raw[n:]
		switch {
		case len(raw) == 0:
		case len(raw) > 1 && escapes[raw[1]] != 0:
			b, raw = append(b, escapes[raw[1]]), raw[2:]
		default:
			r, size := escapedRune(raw)
			if size == 0 {
				return b, false
			}
			b, raw = utf8.AppendRune(b, r), raw[size:]
		}
	}
	return b, true
}

// escapedRune is the character that \uXXXX, or a pair of them, stands for at the beginning of raw; of no size for half a pair.
func escapedRune(raw []byte) (r rune, size int) {
	unit := func(at int) rune {
		if len(raw) < at+6 || raw[at] != '\\' || raw[at+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(string(raw[at+2:at+6]), 16, 16)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	first := unit(0)
	pair := utf16.DecodeRune(first, unit(6))
	switch {
	case pair != utf8.RuneError:
		return pair, 12
	case first < 0, utf16.IsSurrogate(first):
		return 0, 0
	}
	return first, 6
}
