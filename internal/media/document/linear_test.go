package document

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/lineartest"

	"sibyl/internal/media/document/documenttest"
)

// worstInputs are documents of a kind that a careless reader takes quadratic time or memory for, made of about so many
// parts.
func worstInputs(t *testing.T) map[string]func(n int) []byte {
	text := func(part string) func(int) []byte {
		return func(n int) []byte { return []byte("A text.\n" + strings.Repeat(part, n)) }
	}
	body := func(make func(n int) string) func(int) []byte {
		return func(n int) []byte { return documenttest.DOCX(t, make(n), nil) }
	}
	drawn := func(part string) func(int) []byte {
		return func(n int) []byte { return onePage("BT /F1 9 Tf 14 TL "+strings.Repeat(part, n)+" ET", "", "") }
	}
	return map[string]func(n int) []byte{
		"lines.txt": text("word word\n"), "words.txt": text("word "), "letters.txt": text("x"),
		"paragraphs.txt": text("a\n\n"), "figures.txt": text("½"),
		"parted words.txt": text("a line that is long enough to be one of running text, ab-\n"),
		"marks.txt":        text("\u0300"), "pages.txt": text("a\f"), "code.md": text("```\n"),
		"blanks.txt": text(" "), "headings.md": text("# a\n\n"), "sentences.txt": text("Yes. "),
		"cells.txt": text("a | b\n"), "controls.txt": text("\u200b"), "latin.txt": text("\xe4"),

		"paragraphs.docx": body(func(n int) string { return strings.Repeat(documenttest.Para("text"), n) }),
		"rows.docx": body(func(n int) string {
			return "<w:tbl>" + strings.Repeat("<w:tr><w:tc>"+documenttest.Para("a")+"</w:tc></w:tr>", n) + "</w:tbl>"
		}),
		"cells.docx": body(func(n int) string {
			return "<w:tbl><w:tr>" + strings.Repeat("<w:tc>"+documenttest.Para("a")+"</w:tc>", n) + "</w:tr></w:tbl>"
		}),
		"pieces.docx": body(func(n int) string { return documenttest.Para(strings.Repeat("a</w:t><w:t>", n)) }),
		"breaks within open paragraphs.docx": body(func(n int) string {
			return strings.Repeat("<w:p>", maxNested/2) + "<w:t>a</w:t>" + strings.Repeat(`<w:br w:type="page"/>`, n)
		}),
		"tables within tables.docx": body(func(n int) string {
			return strings.Repeat("<w:tr><w:tc>", maxTables) + documenttest.Para(strings.Repeat("words ", n)) +
				strings.Repeat("</w:tc></w:tr>", maxTables)
		}),
		"attributes.docx": body(func(n int) string {
			return "<w:p" + strings.Repeat(` w:a="b"`, n) + ">" + "<w:t>a</w:t></w:p>"
		}),
		"notes.docx": func(n int) []byte {
			return documenttest.DOCX(t, strings.Repeat(documenttest.Para(`a</w:t><w:footnoteReference w:id="2"/><w:t>`),
				n), map[string]string{
				"word/footnotes.xml": `<w:footnotes SPACE><w:footnote w:id="2">` + documenttest.Para("A note.") +
					`</w:footnote></w:footnotes>`})
		},

		"strings.pdf": drawn("(ab) Tj "), "lines.pdf": drawn("(ab) Tj T* "), "letters.pdf": func(n int) []byte {
			return onePage("BT /F1 9 Tf ("+strings.Repeat("x", n)+") Tj ET", "", "")
		},
		"brackets.pdf": drawn("( "),
		"drawings.pdf": func(n int) []byte {
			return onePage("BT /F1 9 Tf (a) Tj ET "+strings.Repeat("/X Do ", n), "", "BT (b) Tj ET")
		},
		"pages.pdf": func(n int) []byte {
			pages := make([][]string, n/50)
			for i := range pages {
				pages[i] = []string{fmt.Sprint("page ", i)}
			}
			return documenttest.PDF(true, pages...)
		},
	}
}

// onePage is a PDF of one page with a content, what its font says, and a drawing.
func onePage(content, font, form string) []byte {
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >> /Contents 4 0 R >>",
		stream("", content), "<< /Type /Font " + font + " >>", stream("/Subtype /Form", form),
	}
	return documenttest.Assemble(objects, "")
}

// stream is an object of a PDF with a content.
func stream(header, text string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", header, len(text), text)
}

func TestDocumentsAreReadInLinearTimeAndMemory(t *testing.T) {
	for name, make := range worstInputs(t) {
		t.Run(name, func(t *testing.T) {
			t.Log(lineartest.Check(t, 1_000, func(n int) func() {
				content := make(n)
				return func() {
					d := Document{Name: name}
					err := readInto(t.Context(), t, &d, content)
					assert.That(t, err == nil || reasonOf(err) != "", "%v", err)
					Chunks(d)
				}
			}))
		})
	}
}

func TestDOCXThatIsMadeToExplodeIsRefused(t *testing.T) {
	note := map[string]string{"word/footnotes.xml": `<w:footnotes SPACE><w:footnote w:id="2">` +
		documenttest.Para(strings.Repeat("words ", 1<<16)) + `</w:footnote></w:footnotes>`}
	for name, content := range map[string][]byte{
		"a note that is named again and again": documenttest.DOCX(t,
			"<w:p>"+strings.Repeat(`<w:r><w:footnoteReference w:id="2"/></w:r>`, 1_000)+"</w:p>", note),
		"tables in tables": documenttest.DOCX(t, strings.Repeat("<w:tr><w:tc>", maxTables+1)+
			documenttest.Para("a"), nil),
		"elements in elements": documenttest.DOCX(t, strings.Repeat("<w:p>", maxNested+1), nil),
		"elements in what is deleted": documenttest.DOCX(t, "<w:del>"+strings.Repeat("<w:p>", maxNested+1),
			nil),
		"ends of pages in an open paragraph": documenttest.DOCX(t, "<w:p><w:t>a</w:t>"+
			strings.Repeat(`<w:br w:type="page"/>`, MaxPages), nil),
	} {
		d := Document{Name: "a.docx"}
		err := readInto(t.Context(), t, &d, content)
		assert.That(t, reasonOf(err) == TooLarge, "%s: %v", name, err)
	}
}

// Each drawing draws the next one ten times.
func TestPDFThatWouldBeDrawnForYearsIsGivenUpInTime(t *testing.T) {
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /Resources << /XObject << /X 5 0 R >> >> /Contents 4 0 R >>", stream("", "/X Do"),
	}
	for i := range 15 {
		objects = append(objects, stream(fmt.Sprintf("/Subtype /Form /Resources << /XObject << /X %d 0 R >> >>", i+6),
			strings.Repeat("/X Do ", 10)))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- readInto(ctx, t, &Document{Name: "a.pdf"}, documenttest.Assemble(objects, "")) }()
	select {
	case err := <-done:
		assert.That(t, errors.Is(err, context.DeadlineExceeded), "%v", err)
	case <-time.After(MaxReading):
		t.Fatal("it is still being drawn after its context has ended")
	}
}
