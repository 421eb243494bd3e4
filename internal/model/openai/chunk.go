package openai

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// chunkText appends the text of an event in the form that most have: a chunk with one choice, number 0, whose delta is text and
// nothing else. It is not ok for any other event, which encoding/json then reads: a key or a value that is not known here, white
// space in an unusual place, or anything that is not valid.
func chunkText(text, event []byte) (_ []byte, ok bool) {
	s := scanner{event: event, text: text}
	ok = s.object(s.chunkField) && s.at == len(event) && s.found
	return s.text, ok
}

// scanner reads the usual form of a chunk. Each of its methods goes past what it reads, and is false where it finds something
// else.
type scanner struct {
	event []byte
	at    int
	text  []byte
	found bool // the text has come
}

// chunkField reads the value of one field of the event.
func (s *scanner) chunkField(key []byte) bool {
	switch string(key) {
	case "id", "object", "created", "model", "system_fingerprint", "service_tier", "obfuscation", "provider":
		return s.scalar()
	case "usage":
		return s.take("null")
	case "choices":
		return s.take("[") && s.object(s.choiceField) && s.take("]")
	}
	return false
}

func (s *scanner) choiceField(key []byte) bool {
	switch string(key) {
	case "index":
		return s.take("0")
	case "logprobs", "finish_reason", "native_finish_reason", "stop_reason", "token_ids":
		return s.take("null")
	case "delta":
		return s.object(s.deltaField)
	}
	return false
}

func (s *scanner) deltaField(key []byte) bool {
	switch string(key) {
	case "role":
		return s.scalar()
	case "refusal", "tool_calls", "function_call", reasoningContent, reasoning:
		return s.take("null")
	case reasoningDetails:
		return s.take("null") || s.take("[]")
	case "content":
		raw, ok := s.quoted()
		if !ok || s.found { // a second text would replace the first
			return false
		}
		s.found = true
		s.text, ok = unquote(s.text, raw)
		return ok
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

// scalar reads a value that says nothing here: null, a whole number or a string without escapes.
func (s *scanner) scalar() bool {
	if raw, ok := s.quoted(); ok {
		return plain(raw) && utf8.Valid(raw)
	}
	if s.take("null") || s.take("0") {
		return true
	}
	n := 0
	for _, c := range s.event[s.at:] {
		if c < '0' || c > '9' {
			break
		}
		n++
	}
	s.pass(n)
	return n > 0
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
