package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"

	"sibyl/internal/tool"
)

// bodyForm says how a body is converted to text.
type bodyForm int

const (
	formUnknown bodyForm = iota // the server does not say: the content decides
	formHTML
	formPlain
)

// formOf returns the form of a Content-Type. Everything that is not known to be text is refused.
func formOf(contentType string) (bodyForm, error) {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, _, _ = strings.Cut(contentType, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	kind, sub, _ := strings.Cut(media, "/")
	switch {
	case media == "", media == "application/octet-stream", media == "binary/octet-stream":
		return formUnknown, nil
	case media == "text/html", media == "application/xhtml+xml":
		return formHTML, nil
	case media == "text/rtf":
		break
	case kind == "text", kind == "application" && isTextSubtype(sub):
		return formPlain, nil
	}
	hint := "look for an HTML or text version"
	if media == "application/pdf" {
		return 0, tool.Errorf(tool.Failed, hint, "this is a PDF file, which cannot be read")
	}
	if kind != "image" && kind != "audio" && kind != "video" && kind != "application" {
		media = "something else"
	}
	return 0, tool.Errorf(tool.Failed, hint, "this is no text but %.60s, which cannot be read", media)
}

func isTextSubtype(sub string) bool {
	if strings.HasSuffix(sub, "+json") || strings.HasSuffix(sub, "+xml") || strings.HasSuffix(sub, "+yaml") {
		return true
	}
	switch strings.TrimPrefix(sub, "x-") {
	case "json", "ndjson", "jsonl", "xml", "yaml", "toml", "javascript", "ecmascript", "typescript", "sh", "sql",
		"graphql":
		return true
	}
	return false
}

// readBody reads a response to its end and decompresses it. More than limit bytes, before or after decompression, are
// refused: the first bound stops endless streams, the second one zip bombs.
func readBody(resp *http.Response, limit int64) ([]byte, error) {
	tooLarge := tool.Errorf(tool.TooLarge, "look for a smaller page on the same matter",
		"the page is larger than %d KB", limit>>10)
	if resp.ContentLength > limit {
		return nil, tooLarge
	}
	wire := &io.LimitedReader{R: resp.Body, N: limit + 1}
	body, err := inflate(resp.Header, wire, limit)
	if wire.N <= 0 || int64(len(body)) > limit {
		return nil, tooLarge
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, tool.Errorf(tool.Unavailable, "try again", "the connection was cut in the middle of the page")
	}
	return body, err
}

func inflate(header http.Header, wire io.Reader, limit int64) ([]byte, error) {
	var plain io.Reader
	switch coding := strings.ToLower(strings.Join(header.Values("Content-Encoding"), ", ")); coding {
	case "", "identity":
		plain = wire
	case "gzip", "x-gzip":
		unzip, err := gzip.NewReader(wire)
		if errors.Is(err, gzip.ErrHeader) {
			return nil, tool.Errorf(tool.Failed, "", "the server says gzip, but sends something else")
		}
		if err != nil {
			return nil, err
		}
		plain = unzip
	default:
		return nil, tool.Errorf(tool.Failed, "", "the page is compressed in a way nobody asked for")
	}
	return io.ReadAll(io.LimitReader(plain, limit+1))
}

// decodeText converts a body to UTF-8. It finds the encoding as the WHATWG says: byte order mark, header, the page's
// own declaration, a guess. Valid UTF-8 is never guessed to be anything else: the guess sees only the first kilobyte.
func decodeText(body []byte, contentType string) (string, error) {
	encoding, _, certain := charset.DetermineEncoding(body, contentType)
	if !certain && utf8.Valid(body) {
		encoding = unicode.UTF8BOM
	}
	decoded, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		return "", tool.Errorf(tool.Failed, "", "the page's characters cannot be decoded: %w", err)
	}
	if bytes.IndexByte(decoded, 0) >= 0 {
		return "", errBinary()
	}
	return strings.TrimPrefix(strings.ToValidUTF8(string(decoded), "\uFFFD"), "\uFEFF"), nil
}

func errBinary() error {
	return tool.Errorf(tool.Failed, "look for an HTML or text version", "this is binary data, which cannot be read")
}

// cleanText unifies line ends and removes control characters, which can hide text from a person or move a terminal's
// cursor.
func cleanText(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r', r == '\u2028', r == '\u2029':
			return '\n'
		case r < ' ', r >= 0x7f && r < 0xa0, r >= 0xE0000 && r <= 0xE007F:
			return -1 // C0, C1, and the invisible twins of ASCII
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}

// oneLine is cleanText for titles and snippets: each run of white space becomes one space.
func oneLine(text string) string { return strings.Join(strings.Fields(cleanText(text)), " ") }

// byteOffset returns the offset at which the character of that number begins; the end of text if it has fewer.
func byteOffset(text string, chars int) int {
	if chars <= 0 {
		return 0
	}
	for i := range text {
		if chars == 0 {
			return i
		}
		chars--
	}
	return len(text)
}

// cutChars returns at most the first n characters of text.
func cutChars(text string, n int) string { return text[:byteOffset(text, n)] }
