package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/render"
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

func TestFolderThatOneStandsInIsSearchedOnlyIfItHoldsAProject(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "letters", "bridge.md"), "The bridge was closed because of corrosion.\n")
	write(t, filepath.Join(home, "letters", ".config", "bridge.md"), "The bridge was closed because of corrosion.\n")
	t.Chdir(filepath.Join(home, "letters"))
	ask := func(args ...string) (out, errs string) {
		_, out, errs = sibyl(t, home, Streams{}, nil, append([]string{"ask", "Why was the bridge closed?"}, args...)...)
		return out, errs
	}
	out, errs := ask()
	assert.That(t, !strings.Contains(out, "corrosion") &&
		strings.Contains(errs, "no project and is not searched; ‘--vault .’ searches the notes in it"), "%s%s", out, errs)
	write(t, "bill.txt", "40000 euros\n")
	write(t, "offer.txt", "30000 euros\n")
	_, errs = ask()
	assert.That(t, strings.Contains(errs, "no project and is not searched; ‘--in .’ searches it"), "%s", errs)
	out, errs = ask("--in", ".")
	assert.That(t, strings.Contains(out, "corrosion") && !strings.Contains(errs, "no project") &&
		!strings.Contains(out+errs, ".config"), "named: %s%s", out, errs)
	_, errs = ask("-c")
	assert.That(t, strings.Contains(errs, "as before"), "-c: %s", errs)
	write(t, "go.mod", "module bridge\n")
	out, errs = ask()
	assert.That(t, strings.Contains(out, "corrosion"), "a project: %s%s", out, errs)
}

func TestInquiryEndsInFifteenRowsOfATerminalOfAnyWidth(t *testing.T) {
	notes := []string{"the session is in ~/.local/share/sibyl/" + strings.Repeat("long/", 20),
		"‘sibyl inquiry show’ shows all of it, ‘sibyl inquiry export --html FILE’ writes it with its evidence"}
	for _, width := range widths {
		c := &command{Streams: Streams{OutTTY: true, Width: width}}
		short := "The verdict.\n\n- a finding"
		if got := c.beginningOf(short, notes); got != short {
			t.Errorf("a short one is shown as %q", got)
		}
		got := c.beginningOf("The verdict.\n\n"+
			strings.Repeat("- a finding with more words than stand in a row of a narrow terminal\n", 80), notes)
		rows := len(render.Lines(got, render.Options{Width: width}))
		for _, note := range notes {
			rows += (len([]rune("· "+note)) + width - 1) / width
		}
		if rows+1 > 15 || rows < 10 || !strings.HasPrefix(got, "The verdict.") || !strings.HasSuffix(got, "\n\n…") {
			t.Errorf("at %d columns a long one takes %d rows, with the line of costs one more:\n%s", width, rows, got)
		}
	}
}
