package words

import (
	"cmp"
	_ "embed"
	"math"
	"strconv"
	"strings"
	"sync"
)

//go:embed numbers.txt
var numbersText string

// Numbers reads the numbers of a language. Words are folded by Fold.
type Numbers struct {
	values map[string]float64
	joined Phrases // words between the parts of a number: “and”, “e”
	comma  bool    // it parts the decimals; else a full stop does
	whole  bool    // a number is written as one word: “dreihundertzwölf”
}

// mostWords is how many words a number has at most, and mostLetters how many bytes one that is a single word has.
const (
	mostWords   = 12
	mostLetters = 60
)

var numbers = sync.OnceValue(func() map[string]*Numbers {
	all := map[string]*Numbers{}
	for line := range strings.Lines(numbersText) {
		head, list, _ := strings.Cut(line, ":")
		code, what, _ := strings.Cut(head, " ")
		if strings.HasPrefix(line, "#") || list == "" {
			continue
		}
		if all[code] == nil {
			all[code] = &Numbers{values: map[string]float64{}, comma: code != "en", whole: code == "de"}
		}
		if what == "joined" {
			all[code].joined = ParsePhrases(list, Fold)
			continue
		}
		for pair := range strings.FieldsFuncSeq(list, apart) {
			word, value, _ := strings.Cut(pair, "=")
			all[code].values[Fold(word)], _ = strconv.ParseFloat(value, 64)
		}
	}
	return all
})

// NumbersOf are those of a language: "en", "de" or "pt"; of others none is known but figures.
func NumbersOf(code string) *Numbers { return cmp.Or(numbers()[code], &Numbers{comma: true}) }

// apart says whether a character parts the items of a list.
func apart(r rune) bool { return r == ',' || r == ' ' || r == '\n' }

// At reads a number in figures or in words: its value, how many tokens it has (0: there is none), and whether it was written out.
func (m *Numbers) At(list []Token, i int) (value float64, n int, written bool) {
	if i >= len(list) || !list[i].Word {
		return 0, 0, false
	}
	if !list[i].IsFigure() {
		value, n = m.Spelled(list, i)
		return value, n, true
	}
	value, scale, ok := m.Figure(list[i].Norm)
	if !ok {
		return 0, 0, false
	}
	if i+1 < len(list) {
		if s := m.values[list[i+1].Norm]; s >= 1000 {
			return value * s, 2, false
		}
	}
	return value * scale, 1, false
}

// Figure reads a number in figures; “120k” and “20mil” hold their scale.
func (m *Numbers) Figure(said string) (value, scale float64, ok bool) {
	end := strings.LastIndexFunc(said, isDigit) + 1
	figures, tail := said[:end], said[end:]
	scale = 1
	switch {
	case tail == "k":
		scale = 1000
	case tail == "m":
		scale = 1e6
	case m.values[tail] >= 1000:
		scale = m.values[tail]
	}
	value, err := strconv.ParseFloat(m.plain(figures), 64)
	if err != nil {
		value, _ = strconv.ParseFloat(strings.Map(func(r rune) rune {
			if isDigit(r) {
				return r
			}
			return -1
		}, figures), 64)
	}
	return value, scale, !math.IsInf(value, 0)
}

// plain takes the signs between thousands out and makes the decimal sign a point.
func (m *Numbers) plain(figures string) string {
	decimal, thousands := ".", ","
	if m.comma {
		decimal, thousands = ",", "."
	}
	if i := strings.LastIndex(figures, thousands); i >= 0 && len(figures)-i-1 != 3 && !strings.Contains(figures, decimal) {
		decimal, thousands = thousands, decimal // 1.5 in a text that has 1,5 elsewhere
	}
	return strings.Replace(strings.ReplaceAll(figures, thousands, ""), decimal, ".", 1)
}

// Spelled reads a number that is written out, and says how many tokens it has.
func (m *Numbers) Spelled(list []Token, i int) (value float64, n int) {
	total, part := 0.0, 0.0
	for at := i; at < len(list) && at < i+mostWords && list[at].Word; at++ {
		v, ok := m.Word(list[at].Norm)
		switch {
		case ok && v >= 1000:
			total += max(part, 1) * v
			part = 0
		case ok && v == 100 && part > 0 && part < 10:
			part *= 100
		case ok && (part == 0 || part >= 100 && v < 100 || part >= 20 && math.Mod(part, 10) == 0 && v < 10):
			part += v
		case n > 0 && m.joined.At(list, at) > 0:
			continue
		default:
			return total + part, n
		}
		n = at + 1 - i
	}
	return total + part, n
}

// Word reads one word, folded, that is a number.
func (m *Numbers) Word(word string) (float64, bool) {
	if v, ok := m.values[word]; ok {
		return v, true
	}
	if !m.whole || len(word) < 8 || len(word) > mostLetters {
		return 0, false
	}
	for _, scale := range []string{"tausend", "hundert", "und"} {
		before, after, found := strings.Cut(word, scale)
		if !found {
			continue
		}
		low, high := 1.0, 0.0
		ok := before == ""
		if before != "" {
			low, ok = m.Word(before)
		}
		if ok && after != "" {
			high, ok = m.Word(after)
		}
		if !ok {
			return 0, false
		}
		if scale == "und" {
			return low + high, after != "" && before != ""
		}
		return low*m.values[scale] + high, true
	}
	return 0, false
}
