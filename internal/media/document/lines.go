package document

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// joinLine appends a line to the one before: after a blank, or as the rest of a hyphenated word.
func joinLine(b *bytes.Buffer, line string) {
	before := b.Bytes()
	cut, parted := bytes.CutSuffix(before, []byte("-"))
	last, _ := utf8.DecodeLastRune(cut)
	first, _ := utf8.DecodeRuneInString(line)
	switch {
	case len(before) == 0 || before[len(before)-1] == ' ':
	case !parted || !unicode.IsLetter(last) || startsWithConjunction(line):
		b.WriteByte(' ')
	case unicode.IsLower(last) && unicode.IsLower(first):
		b.Truncate(len(cut))
	}
	b.WriteString(line)
}

// startsWithConjunction says whether a hyphen before the line stands for an omitted word: “Nord- und Südseite”.
func startsWithConjunction(line string) bool {
	word, _, _ := strings.Cut(line, " ")
	switch word {
	case "und", "oder", "bzw.", "bis", "sowie", "and", "or", "to":
		return true
	}
	return false
}

// cellSeparator is written between the cells of a row of a table.
const cellSeparator = " | "

const (
	// characters: a shorter line is not continued by the next one; half of it if that begins with a small letter
	minFullLine = 40
	fullShare   = 0.6  // of the longest line of its paragraph
	endedShare  = 0.85 // the same, for a line that ends a sentence
)

// unwrap joins the lines of running text to one line for each paragraph. Items of lists, rows of tables, headings, code
// and short lines, such as those of an address, stay lines.
func unwrap(text string) string {
	var b bytes.Buffer
	b.Grow(len(text))
	lines := strings.Split(text, "\n")
	code := false
	for i, continued := range ContinuedLines(lines) {
		line := lines[i]
		if isFence(line) {
			code = !code
		}
		if !code {
			line = strings.TrimSpace(line)
		}
		switch {
		case continued:
			joinLine(&b, line)
			continue
		case i > 0:
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String()
}

// ContinuedLines says for each line of a text whether it continues the running text of the line before.
func ContinuedLines(lines []string) []bool {
	all := make([]bool, len(lines))
	code, longest := false, 0
	for i, line := range lines {
		if i == 0 || lines[i-1] == "" { // a paragraph begins
			longest = 0
			for _, l := range lines[i:] {
				if l == "" {
					break
				}
				longest = max(longest, utf8.RuneCountInString(l))
			}
		}
		if isFence(line) {
			code = !code
		}
		all[i] = i > 0 && !code && line != "" && lines[i-1] != "" && continuesIn(lines[i-1], line, longest)
	}
	return all
}

func isFence(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "```") }

// continuesIn says whether the next line continues the running text of a line.
func continuesIn(line, next string, longest int) bool {
	n, endsSentence := utf8.RuneCountInString(line), strings.ContainsAny(line[len(line)-1:], ".!?:;")
	share := float64(n) / float64(max(longest, 1))
	first, _ := utf8.DecodeRuneInString(next)
	midSentence := !endsSentence && unicode.IsLower(first) // the sentence continues, however long the line is
	if n < minFullLine/2 || !midSentence && (n < minFullLine || share < fullShare) || endsSentence && share < endedShare {
		return false
	}
	return !strings.Contains(line+"\n"+next, cellSeparator) && !strings.HasPrefix(line, "#") &&
		!isItem(strings.TrimSpace(next))
}

// isItem says whether a line begins like an item of a list, a row, a heading or a quotation.
func isItem(line string) bool {
	r, size := utf8.DecodeRuneInString(line)
	switch {
	case strings.ContainsRune("#|>•‣▪◦●", r), strings.HasPrefix(line, "```"):
		return true
	case strings.ContainsRune("-*+–—", r):
		return strings.HasPrefix(line[size:], " ")
	}
	number := strings.TrimLeft(line, "0123456789")
	return len(number) < len(line) && len(line)-len(number) <= 3 && (strings.HasPrefix(number, ". ") ||
		strings.HasPrefix(number, ") "))
}
