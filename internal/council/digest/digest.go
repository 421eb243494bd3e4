package digest

import (
	"strings"
)

// Frame is the persona through whose eyes a digest is read.
type Frame struct {
	Name    string
	Content string // its file, in Markdown; a numbered list in it is what the persona looks for
}

// Entry is a transcript, or the answer of an oracle.
type Entry struct {
	ID       string // "t1" or "r2"
	Sequence int
	Oracle   string // who answered; "" for a transcript
	Text     string
}

// Write gives the digest of the transcripts in entries, in Markdown. Answers in entries are left out: a digest holds what the person said.
// Language is "pt", "en" or "de", perhaps with a region.
func Write(p Frame, entries []Entry, language string) string {
	l := languageOf(language)
	return l.render(p, l.read(entries))
}

// talk is what was said, in sentences, with what was found in them.
type talk struct {
	entries   []Entry // the transcripts
	sentences []sentence
	worth     []float64 // how central each sentence is
	found     [kinds][]finding
}

// kind is what a sentence is listed as.
type kind int

const (
	central kind = iota
	open
	claim
	figure
	decision
	kinds
)

// finding is a sentence with the reason to list it.
type finding struct {
	at      int    // of the sentence
	why     string // which kind of claim it is
	word    string // what makes it one, as it was said
	figures []quantity
	rival   *finding // the same quantity with another number
}

// read sorts what the transcripts say.
func (l *language) read(entries []Entry) talk {
	var t talk
	for _, e := range entries {
		if e.Oracle != "" || strings.TrimSpace(e.Text) == "" {
			continue
		}
		t.sentences = append(t.sentences, l.split(e.Text, len(t.entries))...)
		t.entries = append(t.entries, e)
	}
	t.worth = l.rank(t.sentences)
	t.found[open] = l.questions(t)
	asked := t.marked(open)
	t.found[decision] = l.decisions(t, asked)
	t.found[claim] = l.claims(t, asked, t.marked(decision))
	t.found[figure] = figures(t)
	t.found[central] = t.best(l)
	return t
}

// marked says which sentences are listed as a kind.
func (t talk) marked(k kind) map[int]bool {
	listed := map[int]bool{}
	for _, f := range t.found[k] {
		listed[f.at] = true
	}
	return listed
}
