package vault

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const maxWord = 64 // bytes; longer runs are keys, hashes and the like, and are found by their beginning

// words takes text apart into words as search compares them: in lower case, without accents. Scripts that do not put
// spaces between words give every pair of neighbouring characters, and the last one alone.
func words(text string) []string {
	var list []string
	eachWord(text, func(word []byte) { list = append(list, string(word)) })
	return list
}

// eachWord yields the words of text. The slice is valid during the call only.
func eachWord(text string, yield func(word []byte)) {
	if !isASCII(text) {
		text = norm.NFKD.String(text)
	}
	var buf [maxWord]byte
	word := buf[:0]
	flush := func() {
		if len(word) > 0 {
			yield(word)
			word = buf[:0]
		}
	}
	var previous rune // the last character of a run without spaces; 0 outside of one
	for _, r := range text {
		if r >= utf8.RuneSelf && unicode.Is(unicode.Mn, r) {
			continue
		}
		if unspaced(r) {
			flush()
			if previous != 0 {
				yield(utf8.AppendRune(utf8.AppendRune(buf[:0], previous), r))
			}
			previous = r
			continue
		}
		if previous != 0 {
			yield(utf8.AppendRune(buf[:0], previous))
			previous = 0
		}
		if r = wordRune(r); r == 0 {
			flush()
		} else if len(word)+utf8.RuneLen(r) <= maxWord {
			word = utf8.AppendRune(word, r)
		}
	}
	if previous != 0 {
		yield(utf8.AppendRune(buf[:0], previous))
	}
	flush()
}

// wordRune is r as words hold it; 0 if r is between words.
func wordRune(r rune) rune {
	switch {
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return r
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r < utf8.RuneSelf:
		return 0
	case unicode.IsLetter(r), unicode.IsNumber(r), unicode.IsMark(r):
		return unicode.ToLower(unicode.ToUpper(r))
	}
	return 0
}

func unspaced(r rune) bool {
	return r >= 0x0e00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// stem cuts the endings that English puts on verbs and plurals, so that caching, caches and cache meet as "cach". What
// it gives is compared with other stems only.
func stem(word string) string {
	if len(word) < 5 || !isASCII(word) {
		return word
	}
	if root, found := strings.CutSuffix(word, "ies"); found {
		return root + "y"
	}
	for _, ending := range []string{"ing", "ed", "es", "s"} {
		if root, found := strings.CutSuffix(word, ending); found && len(root) >= 4 {
			word = root
			break
		}
	}
	if root, found := strings.CutSuffix(word, "e"); found && len(root) >= 4 {
		return root
	}
	return word
}

// isFunctionWord says whether a folded word only holds a question together, in English, Portuguese or German. Search
// leaves such words out, or every note would be a hit for "what did we decide about it?".
func isFunctionWord(word string) bool {
	switch word {
	case "a", "about", "all", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "could", "did", "do",
		"does", "for", "from", "had", "has", "have", "he", "her", "his", "how", "i", "if", "in", "into", "is", "it", "its", "me",
		"my", "of", "on", "or", "our", "s", "she", "should", "so", "t", "that", "the", "their", "them", "then", "there", "these",
		"they", "this", "to", "us", "was", "we", "were", "what", "when", "where", "which", "who", "why", "will", "with", "would",
		"you", "your":
		return true
	case "ao", "aos", "como", "da", "das", "de", "dos", "e", "ela", "ele", "em", "era", "essa", "esse", "esta", "este", "eu", "foi",
		"isso", "mais", "mas", "meu", "minha", "na", "nao", "nas", "no", "nos", "o", "os", "ou", "para", "pela", "pelo", "por",
		"qual", "quando", "que", "quem", "se", "sobre", "sua", "um", "uma":
		return true
	case "aber", "als", "auf", "aus", "bei", "bis", "dass", "dem", "den", "der", "des", "die", "ein", "eine", "einen",
		"einer", "er", "es", "fur", "haben", "hat", "hatte", "ich", "im", "ist", "mein", "mit", "nach", "nicht", "oder", "sich",
		"sie", "sind", "uber", "und", "unser", "von", "wann", "warum", "wer", "wie", "wir", "wird", "wo", "wurde", "zu", "zum", "zur":
		return true
	}
	return false
}
