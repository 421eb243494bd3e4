package document

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// readText reads a text file into d. A form feed begins a page.
func readText(d *Document, content []byte) error {
	text, err := decode(content)
	if err != nil {
		return err
	}
	if len(text) > MaxText {
		return refuse(TooLarge, "it holds more than %d MB of text; split it", MaxText>>20)
	}
	for i, page := range strings.Split(text, "\f") {
		d.addPage(i+1, unwrap(cleanText(page)))
	}
	if len(d.Pages) == 0 {
		return refuse(Empty, noText)
	}
	return nil
}

// addPage adds a page, or notes that there is no text on it.
func (d *Document) addPage(number int, text string) {
	if text = cleanText(text); text != "" {
		d.Pages = append(d.Pages, Page{Number: number, Text: text})
	} else if d.Paged {
		d.Blank = append(d.Blank, number)
	}
}

// DecodeText returns the text of a file with unchanged lines. Errors are as those of Reader.Read.
func DecodeText(name string, content []byte) (string, error) {
	text, err := decode(content)
	return text, withFile(name, err)
}

// decode decodes UTF-8, UTF-16 with a byte order mark, or Windows-1252.
func decode(content []byte) (string, error) {
	switch {
	case bytes.HasPrefix(content, []byte("\xef\xbb\xbf")):
		content = content[3:]
	case bytes.HasPrefix(content, []byte("\xff\xfe")):
		return decodeUTF16(content[2:], binary.LittleEndian)
	case bytes.HasPrefix(content, []byte("\xfe\xff")):
		return decodeUTF16(content[2:], binary.BigEndian)
	}
	if bytes.IndexByte(content, 0) >= 0 {
		return "", refuse(Unreadable, "it is no text, or UTF-16 without its mark; save it as UTF-8")
	}
	if utf8.Valid(content) {
		return string(content), nil
	}
	decoded, err := charmap.Windows1252.NewDecoder().Bytes(content)
	if err != nil || bytes.ContainsRune(decoded, utf8.RuneError) || bytes.ContainsFunc(decoded, isControlCharacter) {
		return "", refuse(Unreadable, "its text is neither UTF-8 nor Windows-1252; save it as UTF-8")
	}
	return string(decoded), nil
}

func decodeUTF16(content []byte, order binary.ByteOrder) (string, error) {
	if len(content)%2 != 0 {
		return "", refuse(Damaged, "it ends in the middle of a character of UTF-16")
	}
	units := make([]uint16, len(content)/2)
	for i := range units {
		units[i] = order.Uint16(content[2*i:])
	}
	return string(utf16.Decode(units)), nil
}

// isControlCharacter says whether a letter is a control character that no text has.
func isControlCharacter(r rune) bool { return r < ' ' && !strings.ContainsRune("\n\r\t\f", r) }

var blankLines = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\n{3,}`)
})

// normalize returns text in the form NFKC, but keeps raised and lowered figures and fractions: 1½ is not 11/2, nor 10³
// 103.
func normalize(text string) string {
	isFigure := func(r rune) bool { return unicode.Is(unicode.No, r) }
	var b strings.Builder
	b.Grow(len(text))
	for {
		i := strings.IndexFunc(text, isFigure)
		if i < 0 {
			b.WriteString(norm.NFKC.String(text))
			return b.String()
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		b.WriteString(norm.NFKC.String(text[:i]))
		b.WriteString(text[i : i+size])
		text = text[i+size:]
	}
}

// cleanText returns text as pages hold it: normalized, which splits ligatures, with “\n” at the ends of lines, at most
// one empty line in a row, no white space at the ends of lines, and no invisible characters.
func cleanText(text string) string {
	text = normalize(strings.ToValidUTF8(text, "\ufffd"))
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\u2028' || r == '\u2029' || r == '\v' || r == '\u0085':
			return '\n'
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(line, " \n"))
		b.WriteByte('\n')
	}
	return strings.Trim(blankLines().ReplaceAllString(b.String(), "\n\n"), "\n")
}
