package document

import (
	"strings"

	"sibyl/internal/files"
)

// Chunk is a part of a page: unchanged paragraphs, about as much as one reads at a glance.
type Chunk struct {
	Document     string `json:"document"` // its Name
	DocumentHash string `json:"documentHash"`
	Page         int    `json:"page"`           // from 1
	Index        int    `json:"chunk"`          // within the document, from 0
	Text         string `json:"text,omitempty"` // paragraphs parted by an empty line
	Hash         string `json:"hash"`           // of Text: "sha256:…"
}

// How many words a chunk has. The last chunk of a page may have fewer, and a paragraph that can't be split more.
const (
	enoughWords = 120
	maxWords    = 200
)

// Chunks splits a document into chunks. Equal documents give equal chunks.
func Chunks(d Document) []Chunk {
	var list []Chunk
	add := func(page int, paragraphs []string) {
		if len(paragraphs) == 0 {
			return
		}
		text := strings.Join(paragraphs, "\n\n")
		list = append(list, Chunk{Document: d.Name, DocumentHash: d.Hash, Page: page, Index: len(list), Text: text,
			Hash: files.Hash([]byte(text))})
	}
	for _, page := range d.Pages {
		var open []string
		words := 0
		for _, paragraph := range paragraphs(page.Text) {
			n := len(strings.Fields(paragraph))
			if words > 0 && words+n > maxWords {
				// A heading belongs to what follows it.
				keep := len(open)
				if keep > 1 && IsHeading(open[keep-1]) {
					keep--
				}
				add(page.Number, open[:keep])
				open = append([]string(nil), open[keep:]...)
				words = len(strings.Fields(strings.Join(open, " ")))
			}
			open = append(open, paragraph)
			if words += n; words >= enoughWords && !IsHeading(paragraph) {
				add(page.Number, open)
				open, words = nil, 0
			}
		}
		add(page.Number, open)
	}
	return list
}

// paragraphs returns the paragraphs of a page; one that is too long is split at lines or sentences, or else between
// words.
func paragraphs(text string) (list []string) {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if strings.TrimSpace(paragraph) == "" {
			continue
		}
		for {
			at := cutAt(paragraph)
			if at < 0 {
				break
			}
			list = append(list, strings.TrimSpace(paragraph[:at]))
			paragraph = strings.TrimSpace(paragraph[at:])
		}
		list = append(list, paragraph)
	}
	return list
}

// cutAt returns where to split a paragraph with too many words; -1 if it has not too many.
func cutAt(paragraph string) int {
	words, inWord := 0, false
	best := -1 // after the last line or sentence that ends early enough
	for i, r := range paragraph {
		space := r == ' ' || r == '\n'
		if space && inWord && words >= enoughWords && (r == '\n' || strings.ContainsRune(".!?;", rune(paragraph[i-1]))) {
			best = i
		}
		if !space && !inWord {
			if words++; words > maxWords {
				if best < 0 {
					best = i
				}
				return best
			}
		}
		inWord = !space
	}
	return -1
}

// IsHeading says whether a paragraph is a heading: it is short, and does not end like a sentence.
func IsHeading(paragraph string) bool {
	if strings.HasPrefix(paragraph, "#") {
		return true
	}
	return len(strings.Fields(paragraph)) <= 10 && !strings.ContainsAny(paragraph[len(paragraph)-1:], ".!?;:,") &&
		!strings.Contains(paragraph, "\n")
}
