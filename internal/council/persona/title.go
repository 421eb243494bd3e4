package persona

import (
	"path/filepath"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"sibyl/internal/text"
	"sibyl/internal/text/markdown"
)

const (
	maxName      = 120  // characters
	maxTitleLine = 2000 // bytes that are looked at
	maxSlug      = 48   // bytes
	emptySlug    = "oraculo"
)

// title is the text of a first line that is a heading of level 1, as a reader of the page would see it: without marks
// of emphasis, links and code. It is "" if the line is none, or holds nothing.
func title(line string) string {
	level, heading, is := markdown.Heading(line)
	if !is || level != 1 {
		return ""
	}
	return oneLine(markdown.Text(text.Clip(heading, maxTitleLine)))
}

// oneLine is a name as a terminal and a header can show it: nothing in it turns what stands around it.
func oneLine(name string) string {
	return text.Brief(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) && r != '\u200d' { // which holds emojis together
			return -1
		}
		return r
	}, strings.ToValidUTF8(name, "")), maxName)
}

// fileTitle is a file's name without its ending.
func fileTitle(file string) string {
	base := filepath.Base(file)
	if name := oneLine(strings.TrimSuffix(base, filepath.Ext(base))); name != "" {
		return name
	}
	return emptySlug
}

// Slug is a name as a file may be called on every system: letters and digits of ASCII in lower case, with hyphens
// between words. It has 1 to 48 bytes. "Cético" gives "cetico", "Devil’s Advocate" "devils-advocate", and a name
// without anything of ASCII "oraculo".
func Slug(name string) string {
	name = strings.NewReplacer("'", "", "’", "", "ʼ", "").Replace(fold(name)) // these stand inside of words
	words := strings.FieldsFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	slug := strings.Join(words, "-")
	if len(slug) > maxSlug {
		slug = slug[:maxSlug]
		if i := strings.LastIndexByte(slug, '-'); i > maxSlug/2 {
			slug = slug[:i]
		}
	}
	if slug = strings.Trim(slug, "-"); slug == "" {
		return emptySlug
	}
	return slug
}

// fold makes names comparable: case, accents and the widths of spaces do not count.
func fold(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(strings.ToLower(name)))
	// These do not come apart into a letter of ASCII and a mark.
	spelled := strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th",
		"ı", "i")
	return strings.Join(strings.Fields(spelled.Replace(name)), " ")
}
