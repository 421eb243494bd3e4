package document

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"sibyl/internal/files"
)

const (
	maxParts    = 10_000 // entries of the archive
	maxNested   = 1_000  // elements within each other
	maxTables   = 30     // tables within each other
	defaultMain = "word/document.xml"
)

// isDOCX says whether content is an archive with a document of Word.
func isDOCX(content []byte) bool {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	return err == nil && slices.ContainsFunc(archive.File, func(f *zip.File) bool { return f.Name == defaultMain })
}

// docxParts is the archive of a DOCX.
type docxParts struct {
	ctx       context.Context
	byName    map[string]*zip.File
	names     []string // sorted
	bytesLeft int64    // that may still be unpacked
}

// readDOCX reads a document of Word: the visible text, in the order of the file. Headers and footers are on page 1.
func readDOCX(ctx context.Context, d *Document, content []byte) error {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return refuse(Damaged, "it can't be unpacked (%w); it may be cut off", err)
	}
	if len(archive.File) > maxParts {
		return refuse(TooLarge, "it has more than %d parts", maxParts)
	}
	p := docxParts{ctx: ctx, byName: map[string]*zip.File{}, bytesLeft: 2 * MaxText}
	for _, f := range archive.File {
		if p.byName[f.Name] == nil {
			p.byName[f.Name] = f
			p.names = append(p.names, f.Name)
		}
	}
	slices.Sort(p.names)
	main := p.mainPart()
	folder := path.Dir(main)
	text, err := p.unpack(main)
	if err != nil {
		return err
	}
	// If Word has recorded the ends of its pages, these include the breaks that the author set.
	w := partText{notes: map[string]string{}, renderedBreaks: bytes.Contains(text, []byte("lastRenderedPageBreak"))}
	for _, kind := range []string{"footnote", "endnote"} {
		if name := path.Join(folder, kind+"s.xml"); p.byName[name] != nil {
			if err := p.readPart(name, &partText{noteKind: kind, notes: w.notes}); err != nil {
				return err
			}
		}
	}
	if err := p.parsePart(main, text, &w); err != nil {
		return err
	}
	w.pages = append(w.pages, w.text.String())
	headers, err := p.partTexts(path.Join(folder, "header"))
	if err != nil {
		return err
	}
	footers, err := p.partTexts(path.Join(folder, "footer"))
	if err != nil {
		return err
	}
	d.Paged = w.renderedBreaks
	w.pages[0] = strings.Join(slices.Concat(headers, w.pages[:1], footers), "\n\n")
	for i, text := range w.pages {
		d.addPage(i+1, text)
	}
	switch {
	case len(d.Pages) > 0:
		return nil
	case slices.ContainsFunc(p.names, func(name string) bool {
		return strings.HasPrefix(name, path.Join(folder, "media")+"/")
	}):
		return refuse(Scan, "it holds pictures and no text; have the text recognised in them, and give that")
	}
	return refuse(Empty, noText)
}

// partTexts returns the texts of the parts whose names have the prefix, each once.
func (p *docxParts) partTexts(prefix string) (texts []string, err error) {
	for _, name := range p.names {
		if !strings.HasPrefix(name, prefix) || path.Ext(name) != ".xml" {
			continue
		}
		var part partText
		if err := p.readPart(name, &part); err != nil {
			return nil, err
		}
		if text := cleanText(part.text.String()); text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return texts, nil
}

// mainPart returns the name of the part that holds the document.
func (p *docxParts) mainPart() string {
	var rels struct {
		Relationship []struct {
			Type   string `xml:",attr"`
			Target string `xml:",attr"`
		}
	}
	text, err := p.unpack("_rels/.rels")
	if err != nil || xml.Unmarshal(text, &rels) != nil {
		return defaultMain
	}
	for _, r := range rels.Relationship {
		if name := strings.TrimPrefix(path.Clean(r.Target), "/"); strings.HasSuffix(r.Type, "/officeDocument") &&
			p.byName[name] != nil {
			return name
		}
	}
	return defaultMain
}

// unpack returns the content of a part of the archive.
func (p *docxParts) unpack(name string) ([]byte, error) {
	f := p.byName[name]
	if f == nil {
		return nil, refuse(Damaged, "the part %q is missing; save it again", name)
	}
	if f.Flags&1 != 0 {
		return nil, refuse(Encrypted, "it is protected with a password; save it without one")
	}
	// #nosec G115 -- beyond the bound it is refused below
	if err := files.CheckMemory(name, min(int64(f.UncompressedSize64), p.bytesLeft), 0); err != nil {
		return nil, openError(err)
	}
	in, err := f.Open()
	if err != nil {
		return nil, refuse(Damaged, "its part %q can't be unpacked: %w", name, err)
	}
	defer func() { _ = in.Close() }() // read only
	content, err := io.ReadAll(io.LimitReader(in, p.bytesLeft+1))
	if p.bytesLeft -= int64(len(content)); p.bytesLeft < 0 {
		return nil, refuse(TooLarge, "more than %d MB would be unpacked from it", 2*MaxText>>20)
	}
	if err != nil {
		return nil, refuse(Damaged, "its part %q can't be unpacked: %w", name, err)
	}
	return content, nil
}

func (p *docxParts) readPart(name string, w *partText) error {
	text, err := p.unpack(name)
	if err != nil {
		return err
	}
	return p.parsePart(name, text, w)
}

// Bounds of a part: real ones have tags of a few hundred bytes, and a token for every hundred bytes or so.
const (
	maxTag    = 1 << 20
	maxTokens = 2_000_000
)

// checkTags refuses a part with a very long tag: the decoder reads it as a whole, which takes far more memory.
func checkTags(name string, text []byte) error {
	for rest := text; ; {
		at := bytes.IndexByte(rest, '<')
		if at < 0 {
			return nil
		}
		end := bytes.IndexByte(rest[at:], '>')
		if end < 0 {
			end = len(rest) - at - 1
		}
		if end > maxTag {
			return refuse(Damaged, "its part %q has a tag of more than %d MB", name, maxTag>>20)
		}
		rest = rest[at+end+1:]
	}
}

// parsePart passes the tokens of a part to w.
func (p *docxParts) parsePart(name string, text []byte, w *partText) error {
	if err := checkTags(name, text); err != nil {
		return err
	}
	x := xml.NewDecoder(bytes.NewReader(text))
	x.CharsetReader = func(label string, _ io.Reader) (io.Reader, error) {
		return nil, fmt.Errorf("its encoding is %q", label)
	}
	for n := 0; ; n++ {
		if n%1000 == 0 && p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		if n > maxTokens {
			return refuse(TooLarge, "its part %q has more than %d million marks; split it", name, maxTokens/1_000_000)
		}
		t, err := x.Token()
		if errors.Is(err, io.EOF) {
			w.endParagraph()
			return nil
		}
		if err != nil {
			return refuse(Damaged, "its part %q can't be read: %w", name, err)
		}
		if err := w.handleToken(t); err != nil {
			return err
		}
	}
}
