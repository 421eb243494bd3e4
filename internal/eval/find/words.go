package find

import (
	"bytes"
	"cmp"
	"context"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"sibyl/internal/text/search"
)

const (
	rarest   = 3       // words that a person would type
	window   = 20      // lines that a person would look at
	mostText = 2 << 20 // bytes of a file that is read
)

// Words is the first of two plain searches: the rarest words of the question, as they are written, in the files and the lines that
// hold most of them. It is what a person does with a line tool.
func Words() Finder {
	return Finder{Name: "words", Find: func(ctx context.Context, dir string, q Question) (Found, error) {
		texts, err := readAll(ctx, os.DirFS(dir))
		if err != nil {
			return Found{}, err
		}
		return Found{Passages: byWords(texts, q.Text)}, nil
	}}
}

// text is a file that is searched.
type text struct {
	path  string
	lines []string
	lower string
}

// readAll reads the text files of a corpus, by path.
func readAll(ctx context.Context, files fs.FS) (texts []text, err error) {
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return cmp.Or(err, ctx.Err())
		}
		content, err := fs.ReadFile(files, name)
		if err != nil || len(content) > mostText || bytes.IndexByte(content, 0) >= 0 {
			return err
		}
		texts = append(texts, text{path: name, lines: strings.Split(string(content), "\n"), lower: strings.ToLower(string(content))})
		return nil
	})
	return texts, err
}

func byWords(texts []text, question string) []Passage {
	holding := map[string]int{}
	for _, word := range search.Words(question) {
		if len(word) < 3 || search.IsStop(word) || search.IsAsking(word) {
			continue
		}
		for _, t := range texts {
			if strings.Contains(t.lower, word) {
				holding[word]++
			}
		}
	}
	words := make([]string, 0, len(holding))
	for word := range holding {
		words = append(words, word)
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(cmp.Compare(holding[a], holding[b]), strings.Compare(a, b)) })
	words = words[:min(len(words), rarest)]
	type place struct {
		Passage
		words, lines int
	}
	var places []place
	for _, t := range texts {
		p := place{Passage: Passage{Path: t.path}}
		best, at := 0, 0
		for i, line := range t.lines {
			n := 0
			for _, word := range words {
				if strings.Contains(strings.ToLower(line), word) {
					n++
				}
			}
			if n > 0 {
				p.lines++
			}
			if n > best {
				best, at = n, i+1
			}
		}
		for _, word := range words {
			if strings.Contains(t.lower, word) {
				p.words++
			}
		}
		if best > 0 {
			p.Lines = []Lines{{max(1, at-window/4), min(len(t.lines), at+window)}}
			places = append(places, p)
		}
	}
	slices.SortStableFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(b.words, a.words), cmp.Compare(b.lines, a.lines)) })
	var found []Passage
	for _, p := range places {
		found = append(found, p.Passage)
	}
	return found
}

// funcLine is a line that begins a declaration at the margin, in most languages with braces and in Python.
func funcLine() *regexp.Regexp {
	return regexp.MustCompile(`^(func|type|const|var|class|def|fn|pub|export|function|#+ )\b?`)
}

// Declarations is the other plain search: BM25 over the words of declarations and sections, names split, nothing weighted.
func Declarations() Finder {
	return Finder{Name: "bm25", Find: func(ctx context.Context, dir string, q Question) (Found, error) {
		texts, err := readAll(ctx, os.DirFS(dir))
		if err != nil {
			return Found{}, err
		}
		return Found{Passages: byDeclarations(texts, q.Text)}, nil
	}}
}

// unit is a declaration with the comment above it.
type unit struct {
	path       string
	start, end int
	words      map[string]int
	length     int
}

func byDeclarations(texts []text, question string) []Passage {
	var units []unit
	begins := funcLine()
	for _, t := range texts {
		units = append(units, unitsOf(t, begins)...)
	}
	total := 0
	for _, u := range units {
		total += u.length
	}
	usual := float64(total)/float64(len(units)) + 1
	scores := make([]float64, len(units))
	for _, word := range distinct(wordsOf(question)) {
		if search.IsStop(word) {
			continue
		}
		holding := 0
		for _, u := range units {
			if u.words[word] > 0 {
				holding++
			}
		}
		for i, u := range units {
			scores[i] += search.Rarity(float64(len(units)), float64(holding)) * search.Saturated(float64(u.words[word]), float64(u.length)/usual, 0.75)
		}
	}
	order := make([]int, 0, len(units))
	for i, s := range scores {
		if s > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	var found []Passage
	for _, i := range order[:min(len(order), shown)] {
		u := units[i]
		found = append(found, Passage{Path: u.path, Lines: []Lines{{u.start, min(u.end, u.start+longest-1)}}})
	}
	return found
}

// unitsOf cuts a file at the lines that begin a declaration or a section.
func unitsOf(t text, begins *regexp.Regexp) []unit {
	var units []unit
	start := 1
	flush := func(end int) {
		if end < start {
			return
		}
		u := unit{path: t.path, start: start, end: end, words: map[string]int{}}
		for _, word := range wordsOf(path.Base(t.path) + " " + strings.Join(t.lines[start-1:end], "\n")) {
			u.words[word]++
			u.length++
		}
		units = append(units, u)
		start = end + 1
	}
	for i, line := range t.lines {
		if !begins.MatchString(line) {
			continue
		}
		first := i + 1 // from 1, with the comment above
		for first > start && strings.HasPrefix(t.lines[first-2], "//") {
			first--
		}
		flush(first - 1)
	}
	flush(len(t.lines))
	return units
}

// wordsOf gives the words of a text by their stems, those of identifiers apart.
func wordsOf(s string) []string {
	var words []string
	for _, name := range strings.FieldsFunc(s, func(r rune) bool { return r != '_' && r < 0x80 && !isAlnum(r) }) {
		for _, part := range search.Parts(name) {
			words = append(words, search.Stem(part))
		}
	}
	return words
}

func isAlnum(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}
