package code

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/tool"
)

// wide is a text in UTF-16 with its mark.
func wide(text string, big bool) string {
	b := []byte("\xff\xfe")
	if big {
		b = []byte("\xfe\xff")
	}
	for _, u := range utf16.Encode([]rune(text)) {
		pair := []byte{byte(u), byte(u >> 8)}
		if big {
			slices.Reverse(pair)
		}
		b = append(b, pair...)
	}
	return string(b)
}

func TestCodeIsDecodedAsNotesAre(t *testing.T) {
	const text = "function size() { // Größe\n  return 1\n}\n"
	latin := strings.NewReplacer("ö", "\xf6", "ß", "\xdf").Replace(text)
	for name, content := range map[string]string{
		"UTF-16": wide(text, false), "UTF-16, big": wide(text, true), "Latin-1": latin, "a mark": "\uFEFF" + text, "UTF-8": text,
		"CRLF in UTF-16": wide(strings.ReplaceAll(text, "\n", "\r\n"), false),
	} {
		r, _ := rootOf(t, map[string]string{"a.js": content})
		d, found := data[SearchData](t, r, "code_search", SearchArgs{Query: "Größe"})
		assert.That(t, len(d.Hits) == 1 && d.Hits[0].Line == 1 && d.Hits[0].Symbol == "size", "%s: %s", name, found.Text)
		res := assert.Must(call(t, r, "code_symbol", `{"symbol":"size"}`))(t)
		assert.That(t, strings.Contains(res.Text, "a.js:1  func") && strings.Contains(res.Text, "Größe"), "%s: %s", name, res.Text)
		read, _ := data[ReadData](t, r, "code_read", ReadArgs{Path: "a.js"})
		assert.That(t, read.Total == 3 && read.Lines[0] == "function size() { // Größe", "%s: %q", name, read.Lines)
		res = assert.Must(call(t, r, "repo_map", `{"path":"a.js"}`))(t)
		assert.That(t, strings.Contains(res.Text, "Größe") && !strings.Contains(res.Text, "\uFFFD"), "%s: %s", name, res.Text)
	}
	r, _ := rootOf(t, map[string]string{"a.js": "// grün für dich \xff\nneedle\n"})
	d, res := data[SearchData](t, r, "code_search", SearchArgs{Query: "grün"})
	assert.That(t, len(d.Hits) == 1, "one damaged byte hides the others: %s", res.Text)
}

func TestLargeFileIsSearchedInPieces(t *testing.T) {
	var text strings.Builder
	lines := 0
	for text.Len() < 3*maxPiece {
		fmt.Fprintf(&text, "line of words %d\n", lines)
		lines++
	}
	text.WriteString("func needleAtTheEnd() {\n}\n")
	r, dir := rootOf(t, map[string]string{"big.js": text.String(), "small.js": "haystack\n"})
	d, res := data[SearchData](t, r, "code_search", SearchArgs{Query: "needle"})
	assert.That(t, len(d.Hits) == 1 && d.Hits[0].Line == lines+1 && d.Files == 2 && len(res.Uncovered) == 0, "want line %d: %s", lines+1, res.Text)
	read, _ := data[ReadData](t, r, "code_read", ReadArgs{Path: "big.js", Around: lines + 1})
	assert.That(t, slices.Contains(read.Lines, "func needleAtTheEnd() {"), "line %d is %q", lines+1, read.Lines)
	res = assert.Must(call(t, r, "code_symbol", `{"symbol":"needleAtTheEnd"}`))(t)
	assert.That(t, strings.Contains(res.Text, fmt.Sprintf("big.js:%d", lines+1)), "%s", res.Text)
	d, res = data[SearchData](t, r, "code_search", SearchArgs{Query: "needle[A-Z]", Regex: true})
	assert.That(t, len(d.Hits) == 1 && d.Hits[0].Line == lines+1, "%s", res.Text)

	// one line without an end, and a key that lies over the end of a piece
	write(t, filepath.Join(dir, "big.js"), strings.Repeat("x", 2*maxPiece+77)+" needle")
	d, res = data[SearchData](t, r, "code_search", SearchArgs{Query: "needle"})
	assert.That(t, len(d.Hits) == 1 && d.Hits[0].Line == 1, "%s", res.Text)
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEAcanary0123456789canary0123456789canary0123456789\n", 20) +
		"-----END RSA PRIVATE KEY-----\n"
	before := strings.Repeat("line\n", maxPiece/5-100)
	write(t, filepath.Join(dir, "big.js"), before+key+"needle\n"+before)
	for _, at := range []int{0, 300, 600, 900} {
		write(t, filepath.Join(dir, "big.js"), before[:len(before)-at/5*5]+key+"needle\n"+before)
		_, res = data[SearchData](t, r, "code_search", SearchArgs{Query: "canary0123456789", Regex: true})
		assert.That(t, res.Items == 0, "a part of a key is found: %s", res.Text)
	}
}

func TestNothingFoundSaysWhatWasNotSearched(t *testing.T) {
	r, dir := rootOf(t, map[string]string{"a.go": "package a\n", "lost.ps1": "n\x00e\x00e\x00d\x00"})
	write(t, filepath.Join(dir, ".gitmodules"), "[submodule \"lib\"]\n\tpath = libs/lease\n\turl = ../x\n[submodule \"up\"]\n\tpath = ../..\n")
	assert.NoError(t, os.MkdirAll(filepath.Join(dir, "libs/lease"), 0o700))
	write(t, filepath.Join(dir, "huge.sql"), "x")
	assert.NoError(t, os.Truncate(filepath.Join(dir, "huge.sql"), maxScanned+1))
	for _, name := range []string{"code_search", "code_symbol"} {
		res, err := call(t, r, name, `{"query":"needle"}`)
		if name == "code_symbol" {
			res, err = call(t, r, name, `{"symbol":"needle"}`)
		}
		assert.NoError(t, err)
		var reasons []tool.Reason
		for _, u := range res.Uncovered {
			reasons = append(reasons, u.Reason)
		}
		slices.Sort(reasons)
		assert.Same(t, []tool.Reason{tool.Encoding, tool.Submodule, tool.IsLarge}, reasons)
		assert.That(t, strings.Contains(res.Text, "huge.sql") && strings.Contains(res.Text, ": libs/lease") && strings.Contains(res.Text, "lost.ps1"), "%s", res.Text)
	}
}
