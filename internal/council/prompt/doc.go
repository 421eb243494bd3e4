// Package prompt puts together what an oracle is asked: the context, in the exact form of the Council, and the persona
// around it.
//
// Guarantees:
//   - The context is a block for each entry: a header line in brackets, then the text; a blank line between blocks. By
//     time, transcripts first on a tie, then by sequence.
//   - Nothing that anybody said reads as a header or as a placeholder: there are as many header lines as there are
//     entries.
//   - What is left out is named. If it was for the budget, the first line says so, and is the only one that the form
//     does not have.
//   - Equal entries and options give the same text, byte for byte.
package prompt

import "time"

// Entry is a transcript or an oracle's response.
type Entry struct {
	ID       string    `json:"id" doc:"t1 is transcript 1, r2 answer 2."`
	Sequence int       `json:"sequence"` // from 1, of its kind
	Oracle   string    `json:"oracle,omitempty" doc:"Whose answer it is; left out of a transcript."`
	At       time.Time `json:"at"` // when it was received or made
	Text     string    `json:"text"`
	Missing  bool      `json:"missing,omitempty" doc:"Its file could not be read."`
}

// Options say what a context holds.
type Options struct {
	Language string // of the labels: "pt", "en" or "de"; any other is taken as "pt"
	History  bool   // responses too
	Budget   int    // tokens; 0: any number
	Whole    bool   // the newest transcript is kept whole, even over the budget
}

// Context is what an oracle gets to read of a session.
type Context struct {
	Text      string   // "" without entries
	Included  []string // ids, in the order of the text
	Cut       []string // ids left out for the budget, in the order of time
	Missing   []string // ids left out because there is no text
	Shortened string   // the id of the transcript of which only the end is included; "": none

	Transcripts, TranscriptsOf int // included, and of how many that have a text
	Responses, ResponsesOf     int // the same; none counts without history
	Tokens                     int // of Text, as Tokens estimates them
}
