package document

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	maxParts  = 10_000 // entries of the archive
	maxNested = 1_000  // elements within each other
	maxTables = 30     // tables within each other
	ofHeader  = "header"
	ofFooter  = "footer"
)

// isDOCX says whether an archive holds a document of Word.
func isDOCX(content []byte) bool {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	return err == nil && slices.ContainsFunc(archive.File, func(f *zip.File) bool { return f.Name == "word/document.xml" })
}

// parts is the archive that a DOCX is.
type parts struct {
	byName map[string]*zip.File
	names  []string // sorted
	left   int64    // bytes that may still be unpacked
}

// readDOCX reads a document of Word: what a reader sees, in the order in which it is written.
func readDOCX(ctx context.Context, d *Document, content []byte) error {
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		return refuse(Damaged, "it can't be unpacked (%w); it may be cut off", err)
	}
	if len(archive.File) > maxParts {
		return refuse(TooLarge, "it has more than %d parts", maxParts)
	}
	p := parts{byName: map[string]*zip.File{}, left: 2 * MaxText}
	for _, f := range archive.File {
		if p.byName[f.Name] == nil {
			p.byName[f.Name] = f
			p.names = append(p.names, f.Name)
		}
	}
	slices.Sort(p.names)
	main := p.main()
	w := word{ctx: ctx, notes: map[string]string{}}
	w.breaks, err = p.laidOut(main)
	if err != nil {
		return err
	}
	if err := p.readNotes(&w, path.Dir(main)); err != nil {
		return err
	}
	if err := p.read(main, w.read); err != nil {
		return err
	}
	w.turn()
	return p.finish(d, &w, path.Dir(main))
}

// finish puts the headers and footers on the first page, and gives the pages to the document.
func (p *parts) finish(d *Document, w *word, folder string) error {
	around, known := map[string][]string{}, map[[2]string]bool{}
	for _, name := range p.names {
		for _, kind := range []string{ofHeader, ofFooter} {
			if path.Dir(name) != folder || !strings.HasPrefix(path.Base(name), kind) || path.Ext(name) != ".xml" {
				continue
			}
			part := word{ctx: w.ctx}
			if err := p.read(name, part.read); err != nil {
				return err
			}
			if text := clean(part.text.String()); text != "" && !known[[2]string{kind, text}] {
				known[[2]string{kind, text}] = true
				around[kind] = append(around[kind], text)
			}
		}
	}
	if len(w.pages) == 0 {
		w.pages = []string{""}
	}
	w.pages[0] = strings.Join(slices.Concat(around[ofHeader], w.pages[:1], around[ofFooter]), "\n\n")
	for i, text := range w.pages {
		d.add(i+1, text)
	}
	pictures := slices.ContainsFunc(p.names, func(name string) bool { return strings.HasPrefix(name, path.Join(folder, "media")+"/") })
	switch {
	case len(d.Pages) > 0:
		return nil
	case pictures:
		return refuse(Scan, "it holds pictures and no text; have the text recognised in them, and give that")
	}
	return refuse(Empty, "there is no text in it")
}

// main is the name of the part that holds the document.
func (p *parts) main() string {
	const usual = "word/document.xml"
	var rels struct {
		Relationship []struct {
			Type   string `xml:",attr"`
			Target string `xml:",attr"`
		}
	}
	if err := p.read("_rels/.rels", func(x *xml.Decoder) error { return x.Decode(&rels) }); err != nil {
		return usual
	}
	for _, r := range rels.Relationship {
		if name := strings.TrimPrefix(path.Clean(r.Target), "/"); strings.HasSuffix(r.Type, "/officeDocument") && p.byName[name] != nil {
			return name
		}
	}
	return usual
}

// laidOut says whether Word has written down where its pages end.
func (p *parts) laidOut(main string) (is bool, err error) {
	err = p.read(main, func(x *xml.Decoder) error {
		for {
			t, err := x.RawToken()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if start, ok := t.(xml.StartElement); ok && start.Name.Local == "lastRenderedPageBreak" {
				is = true
				return nil
			}
		}
	})
	return is, err
}

// readNotes reads the footnotes and endnotes, if there are any.
func (p *parts) readNotes(w *word, folder string) error {
	for _, kind := range []string{"footnote", "endnote"} {
		name := path.Join(folder, kind+"s.xml")
		if p.byName[name] == nil {
			continue
		}
		part := word{ctx: w.ctx, noteKind: kind, notes: w.notes}
		if err := p.read(name, part.read); err != nil {
			return err
		}
	}
	return nil
}

// read reads a part of the archive.
func (p *parts) read(name string, with func(*xml.Decoder) error) error {
	f := p.byName[name]
	if f == nil {
		return refuse(Damaged, "the part %q is missing; save it again", name)
	}
	if f.Flags&1 != 0 {
		return refuse(Encrypted, "it is protected with a password; save it without one")
	}
	in, err := f.Open()
	if err != nil {
		return refuse(Damaged, "its part %q can't be unpacked: %w", name, err)
	}
	defer func() { _ = in.Close() }() // read only
	limited := &limit{in: in, left: &p.left}
	tokens := &shallow{Decoder: xml.NewDecoder(limited)}
	tokens.CharsetReader = func(label string, input io.Reader) (io.Reader, error) {
		return nil, errors.New("its encoding is " + strconv.Quote(label))
	}
	err = with(xml.NewTokenDecoder(tokens))
	_, refused := errors.AsType[*Error](err)
	switch {
	case limited.over:
		return refuse(TooLarge, "more than %d MB would be unpacked from it", 2*MaxText>>20)
	case err == nil || refused || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return refuse(Damaged, "its part %q can't be read: %w", name, err)
}

// shallow gives the tokens of a part, as long as its elements do not lie too deep in each other: each that is open takes memory.
type shallow struct {
	*xml.Decoder
	depth int
}

func (s *shallow) Token() (xml.Token, error) {
	t, err := s.RawToken()
	switch t.(type) {
	case xml.StartElement:
		if s.depth++; s.depth > maxNested {
			return nil, refuse(TooLarge, "its elements lie deeper in each other than %d; save it anew", maxNested)
		}
	case xml.EndElement:
		s.depth--
	}
	return t, err
}

// limit reads until a budget is used up.
type limit struct {
	in   io.Reader
	left *int64
	over bool
}

func (l *limit) Read(b []byte) (int, error) {
	if *l.left <= 0 {
		l.over = true
		return 0, errors.New("too much")
	}
	n, err := l.in.Read(b[:min(int64(len(b)), *l.left)])
	*l.left -= int64(n)
	return n, err
}
