package speech

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/model"
)

// maxOutput bounds what is kept of a command's output, in bytes.
const maxOutput = 8 << 20

// boundedOutput keeps what is written. If that is too much, it calls onOverflow and fails.
type boundedOutput struct {
	text       strings.Builder
	onOverflow func()
}

func (b *boundedOutput) Write(p []byte) (int, error) {
	if b.text.Len()+len(p) > maxOutput {
		b.onOverflow()
		return 0, errTooMuch
	}
	return b.text.Write(p)
}

var (
	// escape matches a control sequence for terminals.
	escape = regexp.MustCompile(
		"\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|[PX^_][^\x1b]*(?:\x1b\\\\)?|[ -/]*[0-~])")

	// timeStamp is how Whisper and its kind begin a line: [00:00:01.000 --> 00:00:02.500], [00:01.000 --> 00:02.500] or
	// [1.00s -> 2.50s].
	timeStamp = regexp.MustCompile(`^\s*\[\s*([0-9:.,]+)s?\s*-+>\s*([0-9:.,]+)s?\s*\]\s*`)
)

// plainText returns text as a terminal would show it: without escape sequences and control characters. Of a line that
// was overwritten after \r, only the last version stays.
func plainText(text string) string {
	var out strings.Builder
	for line := range strings.Lines(escape.ReplaceAllString(text, "")) {
		line = strings.TrimRight(line, "\r\n")
		line = line[strings.LastIndexByte(line, '\r')+1:]
		for _, r := range line {
			if !unicode.IsControl(r) || r == '\t' {
				out.WriteRune(r)
			}
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// joinLetters puts letters together that stand on two lines or more: some transcribers cut segments between tokens, and
// a token may be a part of a letter. The letter goes to the line where it begins.
func joinLetters(printed string) string {
	if utf8.ValidString(printed) {
		return printed
	}
	lines := strings.SplitAfter(printed, "\n")
	for i := range lines {
		words := strings.TrimRight(lines[i], " \t\r\n")
		for next := i + 1; next < len(lines) && beginsLetter(words); next++ {
			space := len(timeStamp.FindString(lines[next]))
			space += len(lines[next]) - len(strings.TrimLeft(lines[next][space:], " \t")) - space
			rest := lines[next][space:]
			n := 0
			for n < len(rest) && !utf8.RuneStart(rest[n]) && beginsLetter(words) {
				words += rest[n : n+1]
				n++
			}
			if n == 0 && strings.TrimSpace(rest) != "" {
				break
			}
			lines[i] = words + lines[i][len(strings.TrimRight(lines[i], " \t\r\n")):]
			lines[next] = lines[next][:space] + rest[n:]
		}
	}
	return strings.Join(lines, "")
}

// beginsLetter says whether text ends with the beginning of a letter.
func beginsLetter(text string) bool {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if end := text[len(text)-n:]; utf8.RuneStart(end[0]) {
			return end[0] >= utf8.RuneSelf && !utf8.FullRuneInString(end)
		}
	}
	return false
}

// isMostlyText says whether text is UTF-8 in which at most parts of letters are lost: then the other letters beyond
// ASCII are whole, or the parts stand at the edges of segments.
func isMostlyText(printed string) bool {
	whole, broken, within := 0, 0, 0
	for line := range strings.Lines(printed) {
		from := len(timeStamp.FindString(line))
		words := strings.TrimSpace(line[from:])
		for i, r := range words {
			switch _, size := utf8.DecodeRuneInString(words[i:]); {
			case r == utf8.RuneError && size == 1:
				broken++
				if from == 0 || strings.IndexFunc(words[:i], isLetter) >= 0 && strings.IndexFunc(words[i:], isLetter) >= 0 {
					within++
				}
			case r >= utf8.RuneSelf:
				whole++
			}
		}
	}
	return broken <= whole || within == 0
}

func isLetter(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// readTranscript reads a transcript from what a command printed. Lines with times are its segments; a line without
// times continues the segment before it, and lines before the first segment are ignored. Without times, all is text.
func readTranscript(printed string) (t model.Transcript, err error) {
	if printed = joinLetters(printed); !isMostlyText(printed) {
		return t, errors.New("the command printed what is no text in UTF-8: let it " +
			"run in such a locale, as by LC_ALL=C.UTF-8")
	}
	printed = plainText(strings.ToValidUTF8(printed, "\uFFFD"))
	for line := range strings.Lines(printed) {
		line = strings.TrimSpace(line)
		if m := timeStamp.FindStringSubmatch(line); m != nil {
			from, okFrom := parseClock(m[1])
			to, okTo := parseClock(m[2])
			if okFrom && okTo {
				t.Segments = append(t.Segments, model.Segment{Start: from, End: to, Text: line[len(m[0]):]})
				continue
			}
		}
		if n := len(t.Segments); n > 0 && line != "" {
			t.Segments[n-1].Text = strings.TrimSpace(t.Segments[n-1].Text + " " + line)
		}
	}
	if t.Segments == nil {
		t.Text = strings.TrimSpace(printed)
		return t, nil
	}
	for _, s := range t.Segments {
		t.Text = strings.TrimSpace(t.Text + " " + s.Text)
	}
	return t, nil
}

// parseClock reads a matched [[hours:]minutes:]seconds, as seconds.
func parseClock(text string) (seconds float64, ok bool) {
	for part := range strings.SplitSeq(strings.ReplaceAll(text, ",", "."), ":") {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return 0, false
		}
		seconds = 60*seconds + n
	}
	return seconds, true
}
