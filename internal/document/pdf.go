package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/ledongthuc/pdf"
)

// extract is what was read of a PDF: the text of each page.
type extract struct {
	Pages   []string `json:"pages"`
	Garbled []int    `json:"garbled,omitempty"` // numbers of pages whose fonts do not say which letters they show
	Partial []int    `json:"partial,omitempty"` // numbers of pages that are damaged, and were read up to there
}

// readPDF reads a PDF, in a process of its own where there is a command for it.
func (r Reader) readPDF(ctx context.Context, d *Document, content []byte) error {
	timed, cancel := context.WithTimeoutCause(ctx, MaxReading, errSlow)
	defer cancel()
	var e extract
	var err error
	if len(r.Command) > 0 {
		e, err = readApart(timed, r.Command, content)
	} else {
		e, err = extractPDF(timed, content)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && timed.Err() != nil:
		return refuse(TimedOut, "it could not be read within %v", MaxReading)
	case err != nil:
		return err
	}
	return d.takePDF(e)
}

var errSlow = errors.New("it took too long")

// takePDF gives the pages of a PDF to a document.
func (d *Document) takePDF(e extract) error {
	var blank []int
	for i, text := range e.Pages {
		before := len(d.Pages)
		d.add(i+1, text)
		if len(d.Pages) == before {
			blank = append(blank, i+1)
		}
	}
	switch {
	case len(e.Pages) == 0:
		return refuse(Empty, "it has no pages")
	case len(d.Pages) == 0 && len(e.Garbled) > 0:
		return refuse(Scan, "its fonts do not say which letters they show; print it to a new PDF, or have its text recognised (OCR)")
	case len(d.Pages) == 0:
		return refuse(Scan, "its %d pages hold pictures and no text; have their text recognised (OCR), and give that", len(e.Pages))
	}
	if len(blank) > 0 {
		d.Notes = append(d.Notes, "no text could be read on "+pages(blank))
	}
	if len(e.Partial) > 0 {
		d.Notes = append(d.Notes, "damaged, and read in part only: "+pages(e.Partial))
	}
	return nil
}

// pages names pages: "page 3", "pages 3-5 and 9".
func pages(numbers []int) string {
	var runs []string
	for i := 0; i < len(numbers); {
		n := 1
		for i+n < len(numbers) && numbers[i+n] == numbers[i]+n {
			n++
		}
		if n == 1 {
			runs = append(runs, fmt.Sprint(numbers[i]))
		} else {
			runs = append(runs, fmt.Sprintf("%d-%d", numbers[i], numbers[i+n-1]))
		}
		i += n
	}
	if len(numbers) == 1 {
		return "page " + runs[0]
	}
	if last := len(runs) - 1; last > 0 {
		return "pages " + strings.Join(runs[:last], ", ") + " and " + runs[last]
	}
	return "pages " + runs[0]
}

// extractPDF reads the text of a PDF in this process. The library panics on many damaged files, and follows references in circles: panics
// are errors, and whoever reads or draws is stopped when ctx is done.
func extractPDF(ctx context.Context, content []byte) (e extract, err error) {
	content = trimPDF(content)
	defer func() {
		if r := recover(); r != nil {
			e, err = extract{}, asRefusal(ctx, r, content)
		}
	}()
	if err := tooMany(content); err != nil {
		return e, err
	}
	in := &watched{ctx: ctx, in: bytes.NewReader(content)}
	r, err := pdf.NewReader(in, int64(len(content)))
	if err != nil {
		return e, asRefusal(ctx, err, content)
	}
	count := r.NumPage()
	if count > MaxPages {
		return e, refuse(TooLarge, "it has more than %d pages; split it", MaxPages)
	}
	total := 0
	p := printer{ctx: ctx, fonts: map[string]*font{}}
	for _, v := range pageValues(r, count) {
		text, whole := p.page(v)
		if isGarbled(text) {
			e.Garbled = append(e.Garbled, len(e.Pages)+1)
			text = ""
		}
		e.Pages = append(e.Pages, text)
		if !whole && text != "" {
			e.Partial = append(e.Partial, len(e.Pages))
		}
		if total += len(text); total > MaxText {
			return e, refuse(TooLarge, "it holds more than %d MB of text; split it", MaxText>>20)
		}
	}
	return e, p.failure(e)
}

// counts are the numbers that the library takes memory for, or counts up to, before it looks whether there is so much: in dictionaries, and
// where a section of the table of objects begins.
var counts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`/(?:Size|N|Columns|W\s*\[[0-9\s]*?)\s*[+]?([0-9]{5,})|(?:xref|\b[nf])\s+[+]?([0-9]+)\s+[+]?([0-9]+)`)
})

// tooMany refuses a PDF that says that it holds more than it is long.
func tooMany(content []byte) error {
	for _, found := range counts().FindAllSubmatch(content, -1) {
		for _, number := range found[1:] {
			if n, err := strconv.Atoi(string(number)); len(number) > 0 && (err != nil || n > max(len(content), 1<<16)) {
				return refuse(Damaged, "it says that it holds %s of something, which it is too short for; open it and save it anew", number)
			}
		}
	}
	return nil
}

// asRefusal turns what the library says or panics with into a refusal, or into the error of ctx.
func asRefusal(ctx context.Context, said any, content []byte) error {
	err, _ := said.(error)
	refusal, _ := errors.AsType[*Error](err)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case refusal != nil:
		return refusal
	case errors.Is(err, pdf.ErrInvalidPassword), bytes.Contains(content, []byte("/Encrypt")):
		return refuse(Encrypted, "it is protected with a password, or in a way that can't be read; save it without protection")
	}
	return refuse(Damaged, "it can't be read as a PDF (%.200s); open it and save it anew", fmt.Sprint(said))
}

// trimPDF takes away what stands around a PDF, and gives a later version the number of one whose form it shares.
func trimPDF(content []byte) []byte {
	if i := bytes.Index(content[:min(len(content), header)], []byte("%PDF-")); i > 0 {
		content = content[i:]
	}
	if i := bytes.LastIndex(content, []byte("%%EOF")); i > 0 {
		content = content[:i+len("%%EOF")]
	}
	line := bytes.IndexAny(content[:min(len(content), 20)], "\r\n")
	if line < len("%PDF-1.x") {
		return content
	}
	// The library wants exactly “%PDF-1.0” to “%PDF-1.7” and the end of a line.
	content = bytes.Clone(content)
	copy(content, "%PDF-1.7")
	for i := len("%PDF-1.7"); i < line; i++ {
		content[i] = '\n'
	}
	return content
}

// watched is a file that can be read until ctx is done. Then it panics: the library reads in circles without looking at errors.
type watched struct {
	ctx context.Context
	in  io.ReaderAt
}

func (w *watched) ReadAt(b []byte, at int64) (int, error) {
	if err := w.ctx.Err(); err != nil {
		panic(err)
	}
	return w.in.ReadAt(b, at)
}

// pageValues are the pages in their order. Pages that are no pages are left out.
func pageValues(r *pdf.Reader, count int) []pdf.Value {
	var list []pdf.Value
	var walk func(v pdf.Value, depth int)
	walk = func(v pdf.Value, depth int) {
		kids := v.Key("Kids")
		if kids.Kind() != pdf.Array {
			if v.Kind() == pdf.Dict && len(list) < MaxPages {
				list = append(list, v)
			}
			return
		}
		for i := 0; i < kids.Len() && depth < 64 && len(list) < max(count, 1); i++ {
			walk(kids.Index(i), depth+1)
		}
	}
	walk(r.Trailer().Key("Root").Key("Pages"), 0)
	return list
}

// isGarbled says whether a text is not in letters that anybody can read.
func isGarbled(text string) bool {
	good, bad := 0, 0
	for _, r := range text {
		switch {
		case r == unicode.ReplacementChar || unicode.IsControl(r) && !unicode.IsSpace(r) || unicode.Is(unicode.Co, r) || !unicode.IsPrint(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r):
			bad++
		case !unicode.IsSpace(r):
			good++
		}
	}
	return bad > 0 && 4*bad > good
}
