package session

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/redact"
	"sibyl/internal/text/search"
)

// Hit is a place that has all the words that were looked for.
type Hit struct {
	Session string    `json:"session_id"`
	Name    string    `json:"name,omitempty"` // of the session
	ID      string    `json:"id,omitempty"`   // "t1": transcript 1, "r2": answer 2; "": the name of the session
	At      time.Time `json:"at"`
	Passage string    `json:"passage"` // the words, with some around them
}

// The lengths of what is ranked and shown, in words.
const (
	sectionWords = 80
	passageWords = 32
)

// document is a text that has all words.
type document struct {
	Hit
	sections [][]string // its words as they are written
}

// Search finds words in the transcripts, answers and names of all sessions, the best place of each first, and newer ones first where two are as good. Case
// and accents don't matter; every word must be there, but for those that only hold a sentence together. It gives at most so many hits. Sessions and
// files that can't be read are left out.
func (s *Store) Search(ctx context.Context, query string, most int) ([]Hit, error) {
	q := search.NewQuery(query)
	if q.Empty() {
		return nil, &Invalid{Kind: Empty, What: "what to search for", Problem: "has no word in it"}
	}
	all, _, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	f := finder{store: s, query: q, words: q.AnsweredBy(query)}
	for _, m := range all {
		if err := f.session(ctx, m); err != nil {
			return nil, err
		}
	}
	return f.best(most), nil
}

// finder gathers the texts that have all words.
type finder struct {
	store   *Store
	query   search.Query
	words   int // of the query
	lexicon search.Lexicon
	entries []search.Entry
	found   []document
}

func (f *finder) session(ctx context.Context, m Session) error {
	began := m.CreatedAt
	if began.IsZero() {
		began, _, _ = parseID(m.ID)
	}
	if m.NamedBy != ByWords { // else they are in a transcript
		f.take(Hit{Session: m.ID, Name: m.Name, At: began}, m.Name)
	}
	root, err := f.store.find(m.ID)
	if err != nil {
		return ctx.Err() // it was deleted meanwhile
	}
	read := func(hit Hit, folder, file string) error {
		if file == "" || checkFile(file) != nil {
			return ctx.Err()
		}
		if text, err := readText(root, m.ID+"/"+folder+"/"+file); err == nil {
			f.take(hit, text)
		}
		return ctx.Err()
	}
	for _, e := range m.Audio {
		if err := read(Hit{Session: m.ID, Name: m.Name, ID: e.ID(), At: e.ReceivedAt}, transcriptFolder, e.Transcript); err != nil {
			return err
		}
	}
	for _, e := range m.Answers {
		if err := read(Hit{Session: m.ID, Name: m.Name, ID: e.ID(), At: e.CreatedAt}, responseFolder, e.File); err != nil {
			return err
		}
	}
	return nil
}

// take keeps a text if all words are in it.
func (f *finder) take(hit Hit, text string) {
	text = redact.Text(text) // before it is parted and cut
	if f.query.AnsweredBy(text) < f.words {
		return
	}
	d := document{Hit: hit, sections: sections(text)}
	var counted search.Document
	for _, words := range d.sections {
		counted.Sections = append(counted.Sections, search.Section{Lines: []string{strings.Join(words, " ")}})
	}
	f.entries = append(f.entries, f.lexicon.Add(search.Count(counted)))
	f.found = append(f.found, d)
}

// sections cuts a text into parts of some sentences each, since a transcript may have no lines.
func sections(text string) (all [][]string) {
	var part []string
	cut := func(least int) {
		if len(part) >= least {
			all = append(all, part)
			part = nil
		}
	}
	for field := range strings.FieldsSeq(text) {
		for word := range slices.Chunk([]rune(field), longestShown) { // a script without spaces, or no words at all
			part = append(part, string(word))
			cut(sectionWords)
		}
		if strings.ContainsRune(".!?", rune(field[len(field)-1])) {
			cut(sectionWords / 2)
		}
	}
	cut(1)
	return all
}

func (f *finder) best(most int) (hits []Hit) {
	ties := func(a, b search.Hit) int {
		x, y := f.found[a.Document], f.found[b.Document]
		return cmp.Or(y.At.Compare(x.At), strings.Compare(x.Session, y.Session), strings.Compare(x.ID, y.ID))
	}
	ranked := f.lexicon.View().Rank(f.query, f.entries, 1, ties)
	for _, r := range ranked[:min(len(ranked), max(most, 0))] {
		d := f.found[r.Document]
		d.Passage = f.passage(d.sections, max(r.Section, 0))
		hits = append(hits, d.Hit)
	}
	return hits
}

// passage is the part of a section with the most of the words in it.
func (f *finder) passage(sections [][]string, section int) string {
	words := sections[section]
	from, most := 0, -1
	for i, word := range words {
		if f.query.AnsweredBy(word) == 0 {
			continue
		}
		begin := max(0, min(i-passageWords/4, len(words)-passageWords))
		if n := f.query.AnsweredBy(strings.Join(words[begin:min(begin+passageWords, len(words))], " ")); n > most {
			from, most = begin, n
		}
	}
	to := min(from+passageWords, len(words))
	text := strings.Join(words[from:to], " ")
	if from+section > 0 {
		text = "… " + text
	}
	if to < len(words) || section < len(sections)-1 {
		text += " …"
	}
	return text
}

// ID is what the entry is called in a context: "t1".
func (e AudioEntry) ID() string { return "t" + strconv.Itoa(e.Sequence) }

// ID is what the answer is called in a context: "r2".
func (e LlmEntry) ID() string { return "r" + strconv.Itoa(e.Sequence) }
