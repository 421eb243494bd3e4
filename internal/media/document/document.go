// Package document reads files as text with pages, and splits it into chunks that can be quoted and found again.
//
// Guarantees:
//   - By content. PDF and DOCX are recognised by their bytes, whatever the name; plain text and Markdown by name and
//     bytes.
//   - A file that can't be read is an *Error with its Reason, and harms no other file. Hostile bytes give an error,
//     never a panic.
//   - Bounded. A file, what is unpacked of it and how deep that is nested, a folder, its depth, and the time and memory
//     that a PDF takes have limits, which are constants here.
//   - Confined. Files are opened below an os.Root, and links are not followed. PDFium runs in WebAssembly, which sees
//     no file.
//   - Deterministic. Equal bytes give equal pages, chunks and hashes on every machine; no program of the machine is
//     run.
//   - A chunk lies on one page. Its hash is that of its text, so that a quotation can be checked.
package document

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The limits of reading. Beyond them the reason is TooLarge, or TimedOut.
const (
	MaxFile    = 64 << 20         // bytes of a file
	MaxText    = 32 << 20         // bytes of a document's text, and of each part of a DOCX
	MaxPages   = 10_000           // of a document
	MaxFiles   = 2_000            // of a folder, whatever they are
	MaxFolder  = 512 << 20        // bytes of the documents of a folder
	MaxTexts   = 64 << 20         // bytes of the texts of a folder: searching them takes eight times as much memory
	MaxDepth   = 16               // folders within each other
	MaxReading = 30 * time.Second // for one PDF
)

// Document is a file as text.
type Document struct {
	Name  string // the file's name, within the folder that was read: "reports/2024.pdf"
	Hash  string // of the file's bytes: "sha256:…"
	Pages []Page // those with text
	Paged bool   // the numbers of the pages are those that a reader of the file sees
	Blank []int  // of a Paged one: the pages without text, such as pictures
}

// Text returns the text of all pages, with an empty line between them.
func (d Document) Text() string {
	texts := make([]string, len(d.Pages))
	for i, page := range d.Pages {
		texts[i] = page.Text
	}
	return strings.Join(texts, "\n\n")
}

// BlankIn names the pages from-to that have no text, as “pp. 2-4, 7”; "" if there are none.
func (d Document) BlankIn(from, to int) (named string, count int) {
	return BlankPages(d.Blank, from, to)
}

// BlankPages is BlankIn of pages without text.
func BlankPages(blank []int, from, to int) (named string, count int) {
	var runs []string
	for i := 0; i < len(blank); i++ {
		first := blank[i]
		if first < from || first > to {
			continue
		}
		for i+1 < len(blank) && blank[i+1] == blank[i]+1 && blank[i+1] <= to {
			i++
		}
		count += blank[i] - first + 1
		run := fmt.Sprint(first)
		if blank[i] > first {
			run += fmt.Sprintf("-%d", blank[i])
		}
		runs = append(runs, run)
	}
	switch count {
	case 0:
		return "", 0
	case 1:
		return "p. " + runs[0], 1
	}
	return "pp. " + strings.Join(runs, ", "), count
}

// size returns the bytes of the text.
func (d Document) size() (n int64) {
	for _, page := range d.Pages {
		n += int64(len(page.Text))
	}
	return n
}

// Page is the text of a page: paragraphs with an empty line between them, without white space around them. If a kind of
// file has no pages, all is page 1.
type Page struct {
	Number int // from 1
	Text   string
}

// Reason says why a file was not read.
type Reason string

// The reasons.
const (
	Scan        Reason = "scan"        // there are pages and no text: pictures of text
	Encrypted   Reason = "encrypted"   // a password is needed
	Damaged     Reason = "damaged"     // it contradicts itself, or ends before its end
	Unsupported Reason = "unsupported" // it is another kind of file
	Empty       Reason = "empty"       // there is nothing in it
	TooLarge    Reason = "too_large"   // it, or what is unpacked of it, is over a limit
	TimedOut    Reason = "timed_out"   // it took longer than MaxReading
	Unreadable  Reason = "unreadable"  // the file system refuses it, or the encoding of its text is unknown
	Linked      Reason = "linked"      // it is a symbolic link
	Closed      Reason = "closed"      // in a folder: by its name it holds secrets
)

// Error says why a file was not read. Its text names the file and what would help.
type Error struct {
	Reason Reason
	File   string // its Name
	text   string
	err    error
}

func (e *Error) Error() string {
	if e.File == "" {
		return e.text
	}
	return e.File + ": " + e.text
}

func (e *Error) Unwrap() error { return e.err }

// Why is the text without the name of the file.
func (e *Error) Why() string { return e.text }

// Refuse makes an Error for a file, for callers with bounds of their own. The format says why, and what would help.
func Refuse(reason Reason, file, format string, args ...any) error {
	return withFile(file, refuse(reason, format, args...))
}

func refuse(reason Reason, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Reason: reason, text: err.Error(), err: errors.Unwrap(err)}
}

// withFile returns a copy of an *Error that names its file; other errors are returned unchanged.
func withFile(file string, err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		copied := *e
		copied.File = file
		return &copied
	}
	return err
}
