package document

import (
	"encoding/xml"
	"strings"
)

// partText collects the visible text of a part of a DOCX.
type partText struct {
	renderedBreaks bool              // pages end where Word has recorded it, not at the author's breaks
	noteKind       string            // of the part: "footnote"; "" if it has no notes
	notes          map[string]string // texts by "footnote 2"

	pages           []string // the complete ones
	text            strings.Builder
	totalBytes      int      // bytes of text
	noteKey         string   // of the note that is being read
	pendingNotes    []string // to be added after the paragraph
	pendingPageEnds int      // ends of pages to be applied after the paragraph

	depth      int                // elements that are open
	skipDepth  int                // of the element whose content is invisible; 0: none
	isText     bool               // within a text
	paragraphs []*strings.Builder // the open ones, each within the one before
	nonEmpty   int                // how many of them have text
	rows       []*row             // of tables that are open
}

// row is a row of a table.
type row struct {
	cells []string
	cell  []string // its paragraphs
}

// handleToken handles a token of the part.
func (w *partText) handleToken(t xml.Token) error {
	switch t := t.(type) {
	case xml.StartElement:
		if w.depth++; w.depth > maxNested {
			return refuse(TooLarge, "its elements lie deeper in each other than %d; save it anew", maxNested)
		}
		if w.skipDepth == 0 {
			if err := w.startElement(t); err != nil {
				return err
			}
		}
	case xml.EndElement:
		switch w.skipDepth {
		case 0:
			w.endElement(t.Name.Local)
		case w.depth:
			w.skipDepth = 0
		}
		w.depth--
	case xml.CharData:
		if w.isText && w.skipDepth == 0 {
			w.addText(string(t))
		}
	}
	if w.totalBytes > MaxText || len(w.pages)+w.pendingPageEnds >= MaxPages {
		return refuse(TooLarge, "it holds more than %d MB of text or %d pages; split it", MaxText>>20, MaxPages)
	}
	return nil
}

func (w *partText) startElement(t xml.StartElement) error {
	switch t.Name.Local {
	case "Fallback", "moveFrom", "del", "instrText", "delText":
		w.skipDepth = w.depth // a repetition, or deleted text
	case "p":
		w.paragraphs = append(w.paragraphs, &strings.Builder{})
	case "t":
		w.isText = true
	case "tab":
		w.addText(" ")
	case "cr":
		w.addText("\n")
	case "br":
		if attribute(t, "type") != "page" {
			w.addText("\n")
		} else if !w.renderedBreaks {
			w.endPage()
		}
	case "lastRenderedPageBreak":
		w.endPage()
	case "noBreakHyphen":
		w.addText("-")
	case "tr":
		if len(w.rows) == maxTables { // the text of each is copied into the one around it
			return refuse(TooLarge, "tables lie deeper in each other than %d in it; take them apart", maxTables)
		}
		w.rows = append(w.rows, &row{})
	case "footnoteReference", "endnoteReference":
		kind := strings.TrimSuffix(t.Name.Local, "Reference")
		if text := w.notes[kind+" "+attribute(t, "id")]; text != "" {
			w.pendingNotes = append(w.pendingNotes, text)
			w.totalBytes += len(text)
		}
	case "footnote", "endnote":
		w.noteKey = t.Name.Local + " " + attribute(t, "id")
	}
	return nil
}

func (w *partText) endElement(name string) {
	switch name {
	case "t":
		w.isText = false
	case "p":
		w.endParagraph()
	case "tc":
		if n := len(w.rows); n > 0 {
			r := w.rows[n-1]
			r.cells, r.cell = append(r.cells, strings.Join(r.cell, " ")), nil
		}
	case "tr":
		if n := len(w.rows); n > 0 {
			r := w.rows[n-1]
			w.rows = w.rows[:n-1]
			w.addParagraph(strings.Trim(strings.Join(r.cells, cellSeparator), "| "))
		}
	case "tbl":
		if len(w.rows) == 0 {
			w.text.WriteString("\n")
		}
	case "footnote", "endnote":
		if w.noteKind == name {
			w.notes[w.noteKey] = cleanText(w.text.String())
			w.text.Reset()
		}
	}
}

func (w *partText) addText(text string) {
	w.totalBytes += len(text)
	if n := len(w.paragraphs); n > 0 && text != "" {
		if w.paragraphs[n-1].Len() == 0 {
			w.nonEmpty++
		}
		w.paragraphs[n-1].WriteString(text)
	}
}

// endParagraph ends the innermost paragraph.
func (w *partText) endParagraph() {
	n := len(w.paragraphs)
	if n == 0 {
		return
	}
	text := w.paragraphs[n-1].String()
	if text != "" {
		w.nonEmpty--
	}
	w.paragraphs = w.paragraphs[:n-1]
	w.addParagraph(strings.TrimSpace(text))
}

// addParagraph adds a paragraph to the open cell or, with the pending notes, to the page.
func (w *partText) addParagraph(text string) {
	if n := len(w.rows); n > 0 {
		if text != "" {
			r := w.rows[n-1]
			r.cell = append(r.cell, strings.ReplaceAll(text, "\n", " "))
		}
		return
	}
	if text != "" {
		w.text.WriteString(text + "\n\n")
	}
	for _, note := range w.pendingNotes {
		w.text.WriteString(note + "\n\n")
	}
	w.pendingNotes = nil
	for ; w.pendingPageEnds > 0 && len(w.paragraphs) == 0; w.pendingPageEnds-- {
		w.endPage()
	}
}

// endPage ends the page. A paragraph or a row of a table that continues stays on the page where it begins.
func (w *partText) endPage() {
	if w.nonEmpty > 0 || len(w.rows) > 0 && len(w.paragraphs) > 0 {
		w.pendingPageEnds++
		return
	}
	w.pages = append(w.pages, w.text.String())
	w.text.Reset()
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
