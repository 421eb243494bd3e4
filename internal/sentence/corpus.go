package sentence

import (
	"slices"
	"strings"
	"sync"

	"sibyl/internal/text/search"
)

// Corpus is what can be quoted.
type Corpus struct {
	chunks     []chunk
	hypothesis string

	words []string         // that stand in it
	ids   map[string]int32 // of words
	inAll []int32          // in how many sentences each stands
	count int              // of sentences

	english, german func() *index
}

// chunk is a part of a text with its sentences.
type chunk struct {
	whole     string
	opens     bool    // its text
	title     []int32 // words that its document is about: its name and first line
	headings  []int32 // words of the headings in it and of the last one above it
	sentences []sentence
}

// sentence is what is quoted.
type sentence struct {
	span
	words   []int32 // by id, in their order
	under   []int32 // words of the heading above it
	heading bool
	first   bool // of its paragraph
}

// index is the corpus as it is searched in a language.
type index struct {
	stems   []string // of the words
	view    search.View
	entries []search.Entry
}

// New makes a corpus of texts. A question that says nothing by itself (“When?”) is understood by the hypothesis, if there is one.
func New(texts []Text, hypothesis string) *Corpus {
	c := &Corpus{hypothesis: hypothesis, ids: map[string]int32{}}
	for _, t := range texts {
		var title, heading []int32
		for n, part := range t.Parts {
			if n == 0 {
				line, _, _ := strings.Cut(part, "\n")
				if len(line) > mostTitle {
					line = ""
				}
				title = append(c.wordsOf(t.Name), c.wordsOf(line)...)
			}
			own := chunk{whole: part, opens: n == 0, title: title, headings: heading, sentences: c.sentencesOf(part)}
			for i := range own.sentences {
				s := &own.sentences[i]
				if s.heading {
					heading = s.words
					own.headings = slices.Concat(own.headings, heading)
				}
				s.under = heading
			}
			c.chunks = append(c.chunks, own)
		}
	}
	c.english = sync.OnceValue(func() *index { return c.newIndex("en") })
	c.german = sync.OnceValue(func() *index { return c.newIndex(german) })
	return c
}

// mostTitle is how many bytes a first line has that may say what a document is about.
const mostTitle = 120

func (c *Corpus) in(language string) *index {
	if language == german {
		return c.german()
	}
	return c.english()
}

// wordsOf gives the words of a text by their ids.
func (c *Corpus) wordsOf(text string) (list []int32) {
	search.EachWord(text, func(w []byte) {
		id, known := c.ids[string(w)]
		if !known {
			id = int32(len(c.words))
			c.words = append(c.words, string(w))
			c.inAll = append(c.inAll, 0)
			c.ids[string(w)] = id
		}
		list = append(list, id)
	})
	return list
}

// sentencesOf takes a chunk apart.
func (c *Corpus) sentencesOf(text string) (list []sentence) {
	for _, at := range sentences(text) {
		s := sentence{span: at, words: c.wordsOf(text[at.from:at.to])}
		if len(s.words) == 0 {
			continue
		}
		s.first = at.from == 0 || text[at.from-1] == '\n'
		s.heading = s.first && isHeading(text, at)
		seen := map[int32]bool{}
		for _, id := range s.words {
			if !seen[id] {
				seen[id] = true
				c.inAll[id]++
			}
		}
		c.count++
		list = append(list, s)
	}
	return list
}

// isHeading says whether a line names what follows it.
func isHeading(text string, at span) bool {
	line := text[at.from:at.to]
	if strings.HasPrefix(line, "#") {
		return true
	}
	alone := at.to == len(text) || strings.HasPrefix(text[at.to:], "\n")
	return alone && len(strings.Fields(line)) <= 10 && !strings.ContainsAny(line[len(line)-1:], ".!?;:,") && !strings.ContainsAny(line, "|:")
}

// newIndex makes the index of a language. It holds words by their stems, and the parts of compounds that are words of the corpus themselves.
func (c *Corpus) newIndex(language string) *index {
	x := &index{stems: make([]string, len(c.words))}
	known := map[string]bool{}
	for id, w := range c.words {
		x.stems[id] = stem(w, language)
		known[x.stems[id]] = true
	}
	parts := make([]string, len(c.words))
	for id, s := range x.stems {
		parts[id] = s
		if language == german {
			parts[id] = strings.Join(append(compound(s, known), s), " ")
		}
	}
	var lexicon search.Lexicon
	line := func(ids []int32) string {
		all := make([]string, len(ids))
		for i, id := range ids {
			all[i] = parts[id]
		}
		return strings.Join(all, " ")
	}
	for _, ch := range c.chunks {
		d := search.Document{Fields: []search.Field{{Weight: 1, Texts: []string{line(ch.title)}}}}
		section := search.Section{Heading: line(ch.headings)}
		for _, s := range ch.sentences {
			section.Lines = append(section.Lines, line(s.words))
		}
		d.Sections = append(d.Sections, section)
		x.entries = append(x.entries, lexicon.Add(search.Count(d)))
	}
	x.view = lexicon.View()
	return x
}

// compound gives the two words that a German word is made of, if both stand in the corpus.
func compound(s string, known map[string]bool) []string {
	for at := leastPart - 1; at+leastPart-1 <= len(s); at++ {
		if !known[s[at:]] {
			continue
		}
		for _, joint := range []string{"", "s", "n", "en", "es", "e", "ung", "ungs"} {
			if first, found := strings.CutSuffix(s[:at], joint); found && len(first) >= leastPart-2 && known[first] {
				return []string{first, s[at:]}
			}
		}
	}
	return nil
}

// rank gives the chunks that hold words of a query, the best first.
func (c *Corpus) rank(terms []term, language string) []int {
	x := c.in(language)
	var stems []string
	for _, t := range terms {
		stems = append(stems, t.stem)
	}
	hits := x.view.Rank(search.NewQuery(strings.Join(stems, " ")), x.entries, 1, func(a, b search.Hit) int { return a.Document - b.Document })
	list := make([]int, len(hits))
	for i, h := range hits {
		list[i] = h.Document
	}
	return list
}
