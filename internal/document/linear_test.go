package document

import (
	"fmt"
	"strings"
	"testing"

	"sibyl/internal/lineartest"
)

// worst are documents of a kind that a careless reader takes quadratic time or memory for, made of about so many parts.
func worst(t *testing.T) map[string]func(n int) []byte {
	text := func(part string) func(int) []byte {
		return func(n int) []byte { return []byte("A text.\n" + strings.Repeat(part, n)) }
	}
	body := func(make func(n int) string) func(int) []byte {
		return func(n int) []byte { return makeDOCX(t, make(n), nil) }
	}
	drawn := func(part string) func(int) []byte {
		return func(n int) []byte { return onePage("BT /F1 9 Tf 14 TL "+strings.Repeat(part, n)+" ET", "", "") }
	}
	return map[string]func(n int) []byte{
		"lines.txt": text("word word\n"), "words.txt": text("word "), "letters.txt": text("x"), "paragraphs.txt": text("a\n\n"), "figures.txt": text("½"),
		"parted words.txt": text("a line that is long enough to be one of running text, ab-\n"), "marks.txt": text("\u0300"), "pages.txt": text("a\f"), "code.md": text("```\n"),
		"blanks.txt": text(" "), "headings.md": text("# a\n\n"), "sentences.txt": text("Yes. "), "cells.txt": text("a | b\n"), "controls.txt": text("\u200b"), "latin.txt": text("\xe4"),

		"paragraphs.docx": body(func(n int) string { return strings.Repeat(para("text"), n) }),
		"rows.docx": body(func(n int) string {
			return "<w:tbl>" + strings.Repeat("<w:tr><w:tc>"+para("a")+"</w:tc></w:tr>", n) + "</w:tbl>"
		}),
		"cells.docx": body(func(n int) string {
			return "<w:tbl><w:tr>" + strings.Repeat("<w:tc>"+para("a")+"</w:tc>", n) + "</w:tr></w:tbl>"
		}),
		"pieces.docx": body(func(n int) string { return para(strings.Repeat("a</w:t><w:t>", n)) }),
		"breaks within open paragraphs.docx": body(func(n int) string {
			return strings.Repeat("<w:p>", maxNested/2) + "<w:t>a</w:t>" + strings.Repeat(`<w:br w:type="page"/>`, n)
		}),
		"tables within tables.docx": body(func(n int) string {
			return strings.Repeat("<w:tr><w:tc>", maxTables) + para(strings.Repeat("words ", n)) + strings.Repeat("</w:tc></w:tr>", maxTables)
		}),
		"attributes.docx": body(func(n int) string { return "<w:p" + strings.Repeat(` w:a="b"`, n) + ">" + "<w:t>a</w:t></w:p>" }),
		"notes.docx": func(n int) []byte {
			return makeDOCX(t, strings.Repeat(para(`a</w:t><w:footnoteReference w:id="2"/><w:t>`), n), map[string]string{
				"word/footnotes.xml": `<w:footnotes SPACE><w:footnote w:id="2">` + para("A note.") + `</w:footnote></w:footnotes>`})
		},

		"strings.pdf": drawn("(ab) Tj "), "lines.pdf": drawn("(ab) Tj T* "), "letters.pdf": func(n int) []byte { return onePage("BT /F1 9 Tf ("+strings.Repeat("x", n)+") Tj ET", "", "") },
		"lists.pdf":  func(n int) []byte { return onePage("BT /F1 9 Tf ["+strings.Repeat("(a) 9 ", n)+"] TJ ET", "", "") },
		"states.pdf": drawn("q "), "brackets.pdf": drawn("( "), "hexadecimal.pdf": drawn("<41> Tj "), "dictionaries.pdf": drawn("<< /A 1 >> "), "open lists.pdf": drawn("[ "),
		"comments.pdf": drawn("% a\n"), "numbers.pdf": drawn("1 "), "operators.pdf": drawn("xx "),
		"fonts chosen.pdf": func(n int) []byte {
			return onePage("BT "+strings.Repeat("/F1 9 Tf (a) Tj ", n)+" ET", "/Widths ["+strings.Repeat("500 ", n/4)+"]", "")
		},
		"drawings.pdf": func(n int) []byte {
			return onePage("BT /F1 9 Tf (a) Tj ET "+strings.Repeat("/X Do ", n), "", "BT (b) Tj ET")
		},
		"ranges.pdf": func(n int) []byte {
			return onePage("BT /F1 9 Tf (a) Tj ET", "", "", strings.Repeat("1 beginbfrange <0000> <ffff> <0041> endbfrange ", n/20))
		},
		"widths.pdf": func(n int) []byte {
			return onePage("BT /F1 9 Tf (a) Tj ET", "/Subtype /Type0 /DescendantFonts [<< /W ["+strings.Repeat("0 65000 500 ", n/20)+"] >>]", "")
		},
		"pages.pdf": func(n int) []byte {
			pages := make([][]string, n/50)
			for i := range pages {
				pages[i] = []string{fmt.Sprint("page ", i)}
			}
			return makePDF(true, pages...)
		},
	}
}

// onePage is a PDF of one page with a content, what its font says, a drawing, and the font's table of letters.
func onePage(content, font, form string, table ...string) []byte {
	stream := func(header, text string) string {
		return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", header, len(text), text)
	}
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >> /Contents 4 0 R >>",
		stream("", content), "<< /Type /Font " + font + " >>", stream("/Subtype /Form", form),
	}
	if len(table) > 0 {
		objects[4] = "<< /Type /Font /ToUnicode 7 0 R " + font + " >>"
		objects = append(objects, stream("", table[0]))
	}
	return assemble(objects, "")
}

func TestDocumentsAreReadInLinearTimeAndMemory(t *testing.T) {
	for name, make := range worst(t) {
		t.Run(name, func(t *testing.T) {
			t.Log(lineartest.Check(t, 1_000, func(n int) func() {
				content := make(n)
				return func() {
					d := Document{Name: name}
					if err := (Reader{}).take(t.Context(), &d, content); err != nil && reasonOf(err) == "" {
						t.Error(err)
					}
					Chunks(d)
				}
			}))
		})
	}
}

func TestDOCXThatIsMadeToExplodeIsRefused(t *testing.T) {
	note := map[string]string{"word/footnotes.xml": `<w:footnotes SPACE><w:footnote w:id="2">` + para(strings.Repeat("words ", 1<<16)) + `</w:footnote></w:footnotes>`}
	for name, content := range map[string][]byte{
		"a note that is named again and again": makeDOCX(t, "<w:p>"+strings.Repeat(`<w:r><w:footnoteReference w:id="2"/></w:r>`, 1_000)+"</w:p>", note),
		"tables in tables":                     makeDOCX(t, strings.Repeat("<w:tr><w:tc>", maxTables+1)+para("a"), nil),
		"elements in elements":                 makeDOCX(t, strings.Repeat("<w:p>", maxNested+1), nil),
		"elements in what is deleted":          makeDOCX(t, "<w:del>"+strings.Repeat("<w:p>", maxNested+1), nil),
		"ends of pages in an open paragraph":   makeDOCX(t, "<w:p><w:t>a</w:t>"+strings.Repeat(`<w:br w:type="page"/>`, MaxPages), nil),
	} {
		d := Document{Name: "a.docx"}
		if err := (Reader{}).take(t.Context(), &d, content); reasonOf(err) != TooLarge {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPDFWhosePageDrawsTheSameAgainAndAgainIsRefused(t *testing.T) {
	d := Document{Name: "a.pdf"}
	err := Reader{}.take(t.Context(), &d, onePage(strings.Repeat("/X Do ", maxContent/drawing+1), "", ""))
	if reasonOf(err) != TooLarge {
		t.Error(err)
	}
}
