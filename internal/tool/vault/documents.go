package vault

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"sibyl/internal/files"
	doc "sibyl/internal/media/document"
	"sibyl/internal/tool"
)

// defaultReadTimeout is how long a search reads new documents: the next search continues with the rest.
const defaultReadTimeout = 15 * time.Second

// searchedDocument is a PDF or DOCX that was read for searching.
type searchedDocument struct {
	document   *document // nil if it could not be read, or was beyond Vault.maxTexts
	info       fs.FileInfo
	bytes      int    // of the text
	problem    string // why it could not be read; "": it could
	reason     tool.Reason
	mayBeStale bool // it is so new that info would not show another change
}

// readDocuments returns the PDFs and DOCX among places, by path, and why others, or pages of them, can't be searched.
// The text of one beyond maxTexts is dropped, and it is read again when it fits.
func (v *Vault) readDocuments(
	ctx context.Context, places []place,
) (read map[string]*document, skipped unseen, err error) {
	documents := slices.DeleteFunc(slices.Clone(places), func(at place) bool { return !at.isDocument() })
	if len(documents) == 0 {
		return nil, nil, nil
	}
	v.documentsMu.Lock()
	defer v.documentsMu.Unlock()
	limited, done := context.WithTimeout(ctx, v.readTimeout)
	defer done()
	read, known := map[string]*document{}, map[string]*searchedDocument{}
	// Small ones first: a large one must not delay the others.
	slices.SortStableFunc(documents, func(a, b place) int { return cmp.Compare(a.info.Size(), b.info.Size()) })
	total, unread := 0, 0
	for _, at := range documents {
		d := v.documentsRead[at.path]
		dropped := d != nil && d.document == nil && d.problem == ""
		if d == nil || d.mayBeStale || !isSameFile(d.info, at.info) || dropped && total+d.bytes <= v.maxTexts {
			d = v.loadDocument(limited, at)
		}
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case d == nil:
			unread++
			continue
		}
		known[at.path] = d
		switch {
		case d.problem != "":
			skipped.add(left{d.reason, 1, at.path + ": " + d.problem})
		case total+d.bytes > v.maxTexts:
			d.document = nil
			skipped.add(left{tool.BeyondBound, 1, fmt.Sprintf(
				"%s: the documents of the vault hold more than %d MB of text together", at.path, v.maxTexts>>20)})
		default:
			total += d.bytes
			read[at.path] = d.document
			if pages, n := doc.BlankPages(d.document.blank, 1, math.MaxInt); n > 0 {
				skipped.add(left{tool.NoText, n, at.path + " " + pages})
			}
		}
	}
	if unread > 0 {
		skipped.add(left{tool.Late, unread, tool.Count(unread, "document") +
			" not read yet: search again to read more of them"})
	}
	v.documentsRead = known
	return read, skipped, nil
}

// loadDocument reads a PDF or DOCX for searching; nil if there was no time for it.
func (v *Vault) loadDocument(ctx context.Context, at place) *searchedDocument {
	if ctx.Err() != nil {
		return nil
	}
	began := time.Now()
	d, _, err := v.readDocument(ctx, at.path)
	if ctx.Err() != nil && time.Since(began) < v.readTimeout/2 {
		return nil
	} else if ctx.Err() != nil { // the next search would take as long
		err = doc.Refuse(doc.TimedOut, "", "it could not be read within %v; split it",
			time.Since(began).Round(time.Second))
	}
	seen := &searchedDocument{info: at.info, mayBeStale: !at.info.ModTime().Before(began.Add(-settledAfter))}
	if err != nil {
		seen.problem, seen.reason = strings.TrimPrefix(err.Error(), at.path+": "), reasonOf(err)
		return seen
	}
	for _, line := range d.lines {
		seen.bytes += len(line) + 1
	}
	seen.document = d
	return seen
}

// reasonOf says for which reason a document was not read.
func reasonOf(err error) tool.Reason {
	if refused, ok := errors.AsType[*doc.Error](err); ok {
		switch refused.Reason {
		case doc.Scan:
			return tool.NoText
		case doc.TooLarge:
			return tool.IsLarge
		case doc.TimedOut:
			return tool.Late
		}
	}
	return tool.Unreadable
}

// readDocument reads a PDF or DOCX, and returns the hash of the file.
func (v *Vault) readDocument(ctx context.Context, p string) (d *document, hash string, err error) {
	if err := files.NoLinks(v.root, p); err != nil {
		return nil, "", err
	}
	f, err := files.Read(v.root, p, doc.MaxFile)
	if err != nil {
		return nil, "", err
	}
	if f.Cut {
		return nil, "", doc.Refuse(doc.TooLarge, p, "it is larger than %d MB; split it", doc.MaxFile>>20)
	}
	read, err := v.documents.Read(ctx, p, f.Content)
	if err != nil {
		return nil, "", err
	}
	base := path.Base(p)
	d = &document{path: p, title: strings.TrimSuffix(base, path.Ext(base)), paged: read.Paged, blank: read.Blank}
	if read.Paged {
		for _, page := range read.Pages {
			d.addText(page.Text, page.Number)
		}
	} else {
		for _, chunk := range doc.Chunks(read) {
			d.addText(chunk.Text, 0)
		}
	}
	return d, read.Hash, nil
}

// addText adds a section to a document: a page, or a chunk if there are no pages.
func (d *document) addText(text string, page int) {
	if len(d.lines) > 0 {
		d.lines = append(d.lines, "")
	}
	start := len(d.lines) + 1
	d.lines = append(d.lines, strings.Split(text, "\n")...)
	d.sections = append(d.sections, section{start: start, end: len(d.lines), page: page})
}

// readContent reads the current content of a note or document. cut says that it is only the beginning.
func (v *Vault) readContent(ctx context.Context, p string) (d *document, hash string, cut bool, err error) {
	if doc.IsPDFOrDOCX(p) {
		d, hash, err = v.readDocument(ctx, p)
		return d, hash, false, err
	}
	f, err := v.readFile(p)
	if err != nil {
		return nil, "", false, err
	}
	if !f.Cut {
		hash = files.Hash(f.Content)
	}
	return parseNote(p, f.Content, f.Cut), hash, f.Cut, nil
}

// showPages shows the pages from-to as far as they fit, and sets in data which ones these are.
func (d *document) showPages(from, to int, data *ReadData) (shown string, cut bool) {
	var b, content strings.Builder
	for _, s := range d.sections {
		if s.page < from || s.page > to {
			continue
		}
		text := strings.Join(d.lines[s.start-1:s.end], "\n")
		if room := maxShown - b.Len(); len(text)+200 > room {
			if data.Start > 0 {
				return b.String(), true
			}
			text, cut = tool.Clip(text, room-200)+"…", true
		}
		ref := tool.Ref{Path: d.path, Start: s.page, Paged: true}
		// The lines are indented, so that none of them can forge the head of a page.
		fmt.Fprintf(&b, "Page %d, cited as %s\n    %s\n", s.page, ref, strings.ReplaceAll(text, "\n", "\n    "))
		content.WriteString(text + "\n")
		if data.End = s.page; data.Start == 0 {
			data.Start = s.page
		}
		if cut {
			break
		}
	}
	data.Content = content.String()
	return b.String(), cut
}

// pageRefs are the places of the pages from-to that have text: a run of pages each.
func (d *document) pageRefs(ref tool.Ref, from, to int) (refs []tool.Ref) {
	for _, s := range d.sections {
		if s.page < from || s.page > to {
			continue
		}
		if n := len(refs); n > 0 && refs[n-1].End+1 == s.page {
			refs[n-1].End = s.page
			continue
		}
		ref.Start, ref.End = s.page, s.page
		refs = append(refs, ref)
	}
	return refs
}

// pageRange returns the range of pages that args ask for.
func (d *document) pageRange(args readArgs) (from, to int, err error) {
	last := d.sections[len(d.sections)-1].page
	if args.Section != "" {
		return 0, 0, tool.Errorf(tool.InvalidArgs, fmt.Sprintf("give start and end as pages, 1-%d", last),
			"%s has pages, and no sections", d.path)
	}
	from, to = max(1, args.Start), last
	if args.End != 0 {
		to = min(to, args.End)
	}
	if !slices.ContainsFunc(d.sections, func(s section) bool { return from <= s.page && s.page <= to }) {
		return 0, 0, tool.Errorf(tool.InvalidArgs, fmt.Sprintf("its last page with text is %d", last),
			"%s has no text on the pages from %d on that were asked for", d.path, from)
	}
	return from, to, nil
}

// documentFailure makes a *tool.Error of a *document.Error; other errors are returned unchanged.
func documentFailure(err error) error {
	e, ok := errors.AsType[*doc.Error](err)
	if !ok {
		return err
	}
	kind := tool.Failed
	if e.Reason == doc.TooLarge {
		kind = tool.TooLarge
	}
	return tool.Errorf(kind, "", "%w", err)
}
