package render

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
)

var update = flag.Bool("update", false, "write the golden files anew")

func read(t *testing.T, name string) string {
	t.Helper()
	text := assert.Must(os.ReadFile(filepath.Join("testdata", name)))(t)
	return string(text)
}

func TestAnswerIsLaidOutAtTheWidthOfTheTerminal(t *testing.T) {
	for _, width := range []int{60, 80, 200} {
		for name, colour := range map[string]bool{"plain": false, "colour": true} {
			file := fmt.Sprintf("answer.%d.%s.txt", width, name)
			got := strings.ReplaceAll(strings.Join(Lines(read(t, "answer.md"), Options{Width: width, Colour: colour}),
				"\n"), "\x1b", "␛") + "\n"
			if *update {
				assert.NoError(t, os.WriteFile(filepath.Join("testdata", file), []byte(got), 0o600))
			}
			assert.NoDiff(t, cmp.Diff(read(t, file), got), "%s (-want +got)", file)
		}
	}
}

// fragments are parts of texts that are likely to meddle with each other.
var fragments = []string{
	"word ", "a", "*", "**", "_", "`", "``", "```", "~~~", "\n", "\n\n", "\n\n\n", "# head", "\n# head\n", "- ",
	"\n- item", "\n  - deep", "\n   more", "1. ", "\n1. one", "\n7) seven", "> ", "\n> quote",
	"\n---\n", "\n***\n", "===\n", "|", "\n| a | b |\n|--|:-:|\n| c | d e |\n", "    code\n", "\t", "\r\n", "\r",
	"\n```go\n\tx := 1\n", "\n```\n", "<div>", "<b>", "<!--", "-->", "&#27;", "&#x202e;", "&amp;", "\\", "\\\n",
	"[x](https://e.org/a)", "![i](http://e.org)", "<https://e.org>", "[ref]", "\n[ref]: https://e.org\n", "a/b.go:12",
	"`c.go:3-4`", "https://e.org/x.", "日本語", "「", "」", "e\u0301", "👩‍👩‍👧", "\u202e", "\x1b[2J", "\x1b]8;;http://x\x07",
	"\u0085", "\xff",
	"\u2028", "\u200d", strings.Repeat("long", 30), "- [x] ", "~~", "\n        deep code", "\n   ```\n", "|--|\n",
	"\n+ plus\n\n+ apart",
}

func anyText(t *rapid.T) string {
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 25).Draw(t, "fragments"), "")
}

// own are the sequences that lines may hold.
var own = regexp.MustCompile(`\x1b\[[0-9;]*m|\x1b\]8;;[!-~]*\x07`)

func TestLinesFitStandForThemselvesAndSteerNothing(t *testing.T) {
	cite := func(path string, line int) string {
		return fmt.Sprintf("file://host/%s#%d", strings.ToValidUTF8(path, "?"), line)
	}
	rapid.Check(t, func(t *rapid.T) {
		o := Options{Width: rapid.IntRange(8, 90).Draw(t, "width"), Colour: rapid.Bool().Draw(t, "colour"),
			Links: rapid.Bool().Draw(t, "links"), Cite: cite}
		for _, line := range Lines(anyText(t), o) {
			got := ansi.StringWidth(line)
			assert.Require(t, got <= o.Width, "%q has %d columns, more than %d", line, got, o.Width)
			bare := own.ReplaceAllString(line, "")
			assert.Require(t, Clean(bare) == bare && !strings.Contains(bare, "\n") && !strings.Contains(bare, "\t"),
				"%q steers the terminal", line)
			assert.Require(t, (o.Colour || !strings.Contains(line, "\x1b[")) && (o.Links || !strings.Contains(line, "\x1b]")),
				"%q has sequences that were not asked for", line)
			last := strings.LastIndex(line, "\x1b]8;;")
			assert.Require(t, last < 0 || strings.HasPrefix(line[last:], "\x1b]8;;\x07"), "a link of %q goes on behind it", line)
			last = strings.LastIndex(line, "\x1b[")
			assert.Require(t, last < 0 || strings.HasPrefix(line[last:], "\x1b[m"), "a style of %q goes on behind it", line)
		}
	})
}

func TestStreamGivesTheSameLinesWhereverTheTextIsCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := anyText(t)
		o := Options{Width: rapid.IntRange(8, 90).Draw(t, "width"), Colour: true}
		s := NewStream(o)
		var got []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "cut")
			got = append(got, s.Write(rest[:n])...)
			rest = rest[n:]
			now := append(append([]string{}, got...), s.Tail()...)
			diff := cmp.Diff(Lines(text[:len(text)-len(rest)], o), now, cmpopts.EquateEmpty())
			assert.Require(t, diff == "", "the stable lines and the tail differ from the text so far (-want +got):\n%s", diff)
		}
		diff := cmp.Diff(Lines(text, o), append(got, s.Close()...), cmpopts.EquateEmpty())
		assert.Require(t, diff == "", "the whole (-want +got):\n%s", diff)
	})
}

// TestWhatIsLaidOutAnewStaysSmall streams texts of a hundred kilobytes and holds what a Tail costs against a bound.
func TestWhatIsLaidOutAnewStaysSmall(t *testing.T) {
	for name, unit := range map[string]string{
		"paragraphs":    "Some words that fill a paragraph.\nAnd a second line.\n\n",
		"one paragraph": "Some words that fill a paragraph.\n",
		"items":         "- an item of a long list\n", "numbers": "1. an item\n",
		"code":     "\tx := f(x) // a line of code\n",
		"headings": "# One after the other\n", "rows": "| a | b |\n",
	} {
		t.Run(name, func(t *testing.T) {
			s, lines := NewStream(Options{}), 0
			switch name {
			case "code":
				s.Write("```go\n")
			case "rows":
				s.Write("| head | c |\n|--|--|\n")
			}
			for range 100 << 10 / len(unit) {
				lines += len(s.Write(unit))
				assert.Require(t, len(s.pending) <= maxPart+len(unit),
					"%d bytes are laid out anew after each piece", len(s.pending))
			}
			assert.That(t, lines >= 1000, "only %d lines are stable before the end", lines)
		})
	}
}

func TestNumbersOfAListGoOnThroughItsItems(t *testing.T) {
	want := []string{"3. a", "4. b", "", "5. c", "", "words", "", "1. d", "1) e", "2) f"}
	assert.Same(t, want, Lines("3. a\n3. b\n\n9. c\n\nwords\n1. d\n1) e\n1) f", Options{}))
}

func TestCitationsAndAddressesAreLinksWhereTheTerminalCan(t *testing.T) {
	cite := func(path string, line int) string {
		if path != "a/b.go" && path != "ä.go" {
			return ""
		}
		return fmt.Sprintf("file:///%s@%d", strings.ReplaceAll(path, "ä", "%C3%A4"), line)
	}
	on := func(text string) string { return strings.Join(Lines(text, Options{Links: true, Cite: cite}), "\n") }
	link := func(to, words string) string { return ansi.SetHyperlink(to) + words + ansi.ResetHyperlink() }
	for text, want := range map[string]string{
		"See a/b.go:7, or `a/b.go:7-9`.": "See " + link("file:///a/b.go@7", "a/b.go:7") + ", or `" +
			link("file:///a/b.go@7", "a/b.go:7-9") + "`.",
		"`a/b.go` and ä.go:1; no.go:2 at 12:30": "`" + link("file:///a/b.go@0", "a/b.go") + "` and " +
			link("file:///%C3%A4.go@1", "ä.go:1") + "; no.go:2 at 12:30",
		"(https://e.org/a_(b)).": "(" + link("https://e.org/a_(b)", "https://e.org/a_(b)") +
			").",
		"[w](https://e.org)": link("https://e.org", "w") + " " + link("https://e.org",
			"https://e.org"),
		"[w](file:///etc/passwd)":  "w file:///etc/passwd",
		"[w](javascript:alert(1))": "w javascript:alert(1)",
		"<https://e.org/&#27;>":    link("https://e.org/&#27;", "https://e.org/&#27;"),
		"`https://e.org/ä`":        "`" + link("https://e.org/%C3%A4", "https://e.org/ä") + "`",
		"https://e.org/" + strings.Repeat("a", maxLink): strings.Join(chopLine("https://e.org/"+
			strings.Repeat("a", maxLink), 80), "\n"),
	} {
		got := on(text)
		assert.That(t, got == want, "%.60q is\n%q, not\n%q", text, got, want)
	}
	assert.Equalf(t, strings.Join(Lines("a/b.go:7 https://e.org", Options{Cite: cite}), ""), "a/b.go:7 https://e.org",
		"without links")
}

func TestAddressOfALinkIsShownBesideItsWords(t *testing.T) {
	got := strings.Join(Lines("[https://bank.example](https://evil.example/x)", Options{}), "\n")
	assert.That(t, strings.Contains(got, "https://evil.example/x"), "the words hide the address: %q", got)
}

func TestTableThatDoesNotFitIsWrittenRowByRow(t *testing.T) {
	want := []string{"**name**: one word", "after the other", "b: 2", "c: 3", "d:", "444444444444444444", "44", "",
		"**name**: 5", "d: 6"}
	assert.Same(t, want,
		Lines("| **name** | b | c | d |\n|--|--|--|--|\n|one word after the other|2|3|44444444444444444444|\n|5||| 6|",
			Options{Width: 18}))
}

func TestPlainTextIsWrappedBetweenItsWords(t *testing.T) {
	want := []string{"one *two*", "a-b-c-d-e", "", "日本語の長", "い"}
	assert.Same(t, want, Wrap("one *two* a-b-c-d-e\n\n\x1b日本語の長い", 10))
}

func TestTableThatIsCutHasItsHeadAgain(t *testing.T) {
	lines := Lines("| head | c |\n|--|--|\n"+strings.Repeat("| a | b |\n", 3*maxPart/10), Options{})
	heads := 0
	for _, line := range lines {
		if line == "head │ c" {
			heads++
		}
	}
	assert.That(t, heads >= 3 && strings.HasPrefix(lines[len(lines)-1], "a    │ b"),
		"%d heads, and the last line is %q", heads, lines[len(lines)-1])
}

func TestDeepNestingIsLaidOut(t *testing.T) {
	for _, text := range []string{strings.Repeat("> ", 50_000) + "a", strings.Repeat("- ", 50_000) + "a",
		strings.Repeat("> ", 40) + "a", strings.Repeat("- ", 40) + "a", strings.Repeat("*", 5000) + "a",
		strings.Repeat("[", 5000)} {
		got := strings.Join(Lines(text, Options{Width: 20}), "")
		assert.That(t, strings.ContainsAny(got, "a["), "%.10q is lost: %.40q", text, got)
	}
}
