package cli

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestLinesAreBrokenBetweenWordsAndHangBelowTheirText(t *testing.T) {
	for line, want := range map[string]string{
		"· short\n":                                        "· short\n",
		"· a note of some words\n":                         "· a note of some\n  words\n",
		"sibyl: it went wrong here\n":                      "sibyl: it went\n      wrong here\n",
		"  1. [ ] buy a lot of milk\n":                     "  1. [ ] buy a\n         lot of\n         milk\n",
		"  -h   help for it all\n":                         "  -h   help for\n       it all\n",
		"0run  2026-10-24 12:00  how is it\n":              "0run  2026-10-24\n    12:00  how\n    is it\n",
		"see https://example.com/a/long/address there\n":   "see\nhttps://example.com/a/long/address\nthere\n",
		"\x1b[2m· faint words that go on\x1b[22m\n":        "\x1b[2m· faint words\n  that go on\x1b[22m\n",
		"  sibyl ask \"a command that is copied\"\n":       "  sibyl ask \"a command that is copied\"\n",
		"  vault: /a/path/that/is/long\n":                  "  vault: /a/path/that/is/long\n",
		"{\"a\": \"an object that programs read\"}\n":      "{\"a\": \"an object that programs read\"}\n",
		"\r\x1b[K⠋ 3 s · a line that is written over":      "\r\x1b[K⠋ 3 s · a line that is written over",
		"日本語 の 長い 文章 です よ\n":                               "日本語 の 長い\n文章 です よ\n",
		"a question that is long enough? ":                 "a question that\nis long enough? ",
		"one line that is long\nand another one, the next": "one line that is\nlong\nand another one,\nthe next",
	} {
		var b strings.Builder
		_, err := filterTerminal(&b, true, 17).Write([]byte(line))
		assert.That(t, err == nil && b.String() == want, "%q is shown as\n%s\nand not as\n%s", line, b.String(), want)
	}
}

func TestLineThatWasBegunBeforeIsNotBroken(t *testing.T) {
	var b strings.Builder
	w := filterTerminal(&b, true, 17)
	for _, piece := range []string{"Write this? [Y/n] ", "Written. Try it at once.\n", "\r\x1b[K⠋ lives", "\r\x1b[K",
		"· what was written then\n"} {
		assert.Must(w.Write([]byte(piece)))(t)
	}
	want := "Write this?\n[Y/n] Written. Try it at once.\n\r\x1b[K⠋ lives\r\x1b[K· what was\n  written then\n"
	assert.That(t, b.String() == want, "%q, want %q", b.String(), want)
}
