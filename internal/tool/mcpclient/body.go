package mcpclient

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
)

// mendedBody is a body that was read and mended, over one that is still to be closed.
type mendedBody struct {
	io.Reader
	io.Closer
}

// response mends the messages in a response, one or a stream of events. A server that names another kind of content
// than it sends is understood by what it sends.
func (m *mender) response(resp *http.Response) *http.Response {
	if resp.StatusCode != http.StatusOK || resp.Body == nil {
		return resp
	}
	body := bufio.NewReader(resp.Body)
	resp.Header = resp.Header.Clone()
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if kind != "text/event-stream" { // nothing of a stream may be awaited here
		switch begin := firstWord(body); {
		case strings.HasPrefix(begin, "{"), strings.HasPrefix(begin, "["):
			kind = "application/json"
		case strings.HasPrefix(begin, "data:"), strings.HasPrefix(begin, "event:"):
			kind = "text/event-stream"
		}
	}
	switch kind {
	case "application/json":
		resp.Body = mendedBody{&mendedMessage{mend: m, from: body}, resp.Body}
	case "text/event-stream":
		resp.Body = mendedBody{&mendedEvents{mend: m, from: body}, resp.Body}
	default:
		resp.Body = mendedBody{body, resp.Body}
		return resp
	}
	resp.Header.Set("Content-Type", kind)
	resp.ContentLength = -1
	resp.Header.Del("Content-Length")
	return resp
}

// firstWord returns the first bytes after white space and a byte order mark, and leaves them to be read.
func firstWord(body *bufio.Reader) string {
	if mark, err := body.Peek(3); err == nil && string(mark) == "\uFEFF" {
		_, _ = body.Discard(len(mark)) // it was peeked
	}
	for {
		c, err := body.Peek(1)
		switch {
		case err != nil:
			return ""
		case strings.ContainsRune(" \t\r\n", rune(c[0])):
			_, _ = body.Discard(1)
			continue
		}
		begin, _ := body.Peek(min(len("event:"), body.Buffered()))
		return string(begin)
	}
}

// mendedMessage is a body of one message, also in a batch or after words that are none.
type mendedMessage struct {
	mend *mender
	from io.Reader
	left io.Reader
}

// Read reads the whole message first. Of several, the last is the answer; the others are notifications.
func (b *mendedMessage) Read(p []byte) (int, error) {
	if b.left == nil {
		raw, err := io.ReadAll(b.from)
		if err != nil {
			return 0, err
		}
		all, err := (&framer{mend: b.mend}).add(bytes.Clone(raw))
		if err != nil {
			return 0, err
		}
		if len(all) > 0 {
			raw = all[len(all)-1]
		}
		b.left = bytes.NewReader(raw)
	}
	return b.left.Read(p)
}

// mendedEvents is a body of events. Those without a message are left out.
type mendedEvents struct {
	mend *mender
	from *bufio.Reader
	left bytes.Buffer
	err  error
}

// Read reads a whole event before it returns any of it.
func (b *mendedEvents) Read(p []byte) (int, error) {
	for b.left.Len() == 0 && b.err == nil {
		b.readEvent()
	}
	if b.left.Len() > 0 {
		return b.left.Read(p)
	}
	return 0, b.err
}

func (b *mendedEvents) readEvent() {
	var fields, data bytes.Buffer
	for {
		line, err := b.from.ReadBytes('\n')
		b.err = err
		words := bytes.TrimRight(line, "\r\n")
		value, isData := bytes.CutPrefix(words, []byte("data:"))
		switch {
		case isData:
			data.Write(append(bytes.TrimPrefix(value, []byte(" ")), '\n'))
		case len(words) > 0:
			fields.Write(append(words, '\n'))
		}
		if len(words) == 0 || err != nil {
			break
		}
	}
	for _, one := range b.mend.messages(bytes.TrimSpace(data.Bytes())) {
		b.left.Write(fields.Bytes())
		b.left.WriteString("data: ")
		b.left.Write(one)
		b.left.WriteString("\n\n")
	}
	if data.Len() == 0 && fields.Len() > 0 {
		b.left.Write(append(fields.Bytes(), '\n'))
	}
}
