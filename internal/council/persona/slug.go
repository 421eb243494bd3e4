package persona

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

const (
	maxSlug   = 48        // bytes
	emptySlug = "oraculo" // of a name in which nothing can be written in ASCII
)

// Slug is a name as a file may be called on every system: letters and digits of ASCII in lower case, with hyphens between words. It has 1
// to 48 bytes. "Cético" gives "cetico", "Devil’s Advocate" "devils-advocate", and a name without anything of ASCII "oraculo".
func Slug(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range fold(name) {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
		case r != '\'' && r != '’' && r != 'ʼ': // these stand inside of words
			gap = true
		}
	}
	slug := b.String()
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

// spelledOut are letters that do not come apart into one of ASCII and a mark.
var spelledOut = strings.NewReplacer("ß", "ss", "æ", "ae", "œ", "oe", "ø", "o", "ł", "l", "đ", "d", "ð", "d", "þ", "th", "ı", "i")

// fold makes names comparable: case, accents and the widths of spaces do not count.
func fold(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(strings.ToLower(name)))
	return strings.Join(strings.Fields(spelledOut.Replace(name)), " ")
}
