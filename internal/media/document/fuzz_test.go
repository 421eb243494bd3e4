package document

import (
	"archive/zip"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/media/document/documenttest"
)

// checkSound reads content as a file of this name, twice. It is refused with a reason, or gives the same pages both
// times, whose chunks hold all their words and can be quoted.
func checkSound(t *testing.T, name string, content []byte) {
	t.Helper()
	d := Document{Name: name, Hash: files.Hash(content)}
	err := readInto(t.Context(), t, &d, content)
	again := Document{Name: name, Hash: d.Hash}
	err2 := readInto(t.Context(), t, &again, content)
	assert.Require(t, fmt.Sprint(err) == fmt.Sprint(err2) && reflect.DeepEqual(d, again),
		"%+v, %v, and once more %+v, %v", d, err, again, err2)
	if err != nil {
		assert.That(t, reasonOf(err) != "" && err.Error() != "", "%T %v is no refusal", err, err)
		return
	}
	byNumber, last, letters := map[int]string{}, 0, 0
	for _, p := range d.Pages {
		assert.That(t, p.Number > last && p.Text != "" && utf8.ValidString(p.Text) && cleanText(p.Text) == p.Text,
			"page %d after %d holds %q, clean %q", p.Number, last, p.Text, cleanText(p.Text))
		byNumber[p.Number], last = p.Text, p.Number
		letters += len(p.Text)
	}
	assert.That(t, letters != 0 && letters <= 2*MaxText, "it holds %d bytes of text", letters)
	words := map[int][]string{}
	for i, c := range Chunks(d) {
		assert.That(t, c.Index == i && c.Document == d.Name && c.DocumentHash == d.Hash &&
			c.Hash == files.Hash([]byte(c.Text)), "chunk %d is %+v", i, c)
		for paragraph := range strings.SplitSeq(c.Text, "\n\n") {
			assert.That(t, strings.Contains(byNumber[c.Page], paragraph),
				"%q is not on page %d: %q", paragraph, c.Page, byNumber[c.Page])
		}
		here := strings.Fields(c.Text)
		words[c.Page] = append(words[c.Page], here...)
		assert.That(t, len(here) != 0 && len(here) <= 2*maxWords, "chunk %d has %d words", i, len(here))
	}
	for number, text := range byNumber {
		got, want := words[number], strings.Fields(text)
		assert.That(t, reflect.DeepEqual(got, want), "chunks hold the words %q of %q", got, want)
	}
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{
		"", "# A heading\n\nIt runs.\r\nAnd on.", strings.Repeat("one two three. ", 100), strings.Repeat("word ", 300) +
			"\f" + "a-\nb", "- item\n- item\n\n```\ncode\n\n\n```",
		"\xff\xfeA\x00\x0d\x00\x0a\x00", "\xfe\xff\x00A\xd8\x00", "\xef\xbb\xbfa", "Gr\xfc\xdfe",
		"1½ 10³ ﬁ \u202e\u00ad\u2028\u0085\v x", "a | b\n| c |", "PK\x03\x04", "%PDF-1.7",
		strings.Repeat("A long line of running text that goes on in the next one, since it is full-\n", 5),
	} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, content []byte, markdown bool) {
		name := "a.txt"
		if markdown {
			name = "a.md"
		}
		checkSound(t, name, content)
	})
}

// FuzzDOCX has anything in the parts of a DOCX, and in the archive itself.
func FuzzDOCX(f *testing.F) {
	table := "<w:tbl><w:tr><w:tc>" + documenttest.Para("a") + "</w:tc><w:tc>" + documenttest.Para("b") +
		"</w:tc></w:tr></w:tbl>"
	body := func(text string) string { return "<w:document><w:body>" + text + "</w:body></w:document>" }
	for _, seed := range []string{
		body(documenttest.Para("First") + table + documenttest.Para("last")),
		body(documenttest.Para(`a</w:t><w:br w:type="page"/><w:t>b`)),
		body(documenttest.Para(`a</w:t><w:lastRenderedPageBreak/><w:t>b`) + `<w:p>`),
		body(documenttest.Para(`n</w:t><w:footnoteReference w:id="2"/><w:t>`)),
		body(`<mc:Fallback><w:p/></mc:Fallback><w:del><w:t>x</w:t></w:del>` + documenttest.Para("a<w:tab/>b<w:cr/>c")),
		body(strings.Repeat("<w:tbl><w:tr><w:tc>", 5) + documenttest.Para("deep")),
		`<?xml version="1.0" encoding="latin1"?><a/>`, "", "<a>&amp;&b;</a>", strings.Repeat("<w:p>", 30),
	} {
		f.Add([]byte(seed), []byte(`<w:footnotes><w:footnote w:id="2">`+documenttest.Para("A note.")+
			`</w:footnote></w:footnotes>`), []byte(body(documenttest.Para("head"))), uint16(0), byte(0))
	}
	f.Fuzz(func(t *testing.T, document, notes, head []byte, at uint16, change byte) {
		content := documenttest.Zip(t, zip.Store, "word/document.xml", string(document), "word/footnotes.xml",
			string(notes), "word/header1.xml", string(head), "word/media/a.png", "")
		content[int(at)%len(content)] ^= change
		checkSound(t, "a.docx", content)
	})
}

// FuzzPDF has anything as the content of a page, what its font says, the font's table of letters, a drawing, and a page
// that follows.
func FuzzPDF(f *testing.F) {
	content := "BT /F1 10 Tf 14 TL 72 700 Td (text) Tj T* [(a) -300 (b)] TJ ET q 1 0 0 1 5 5 cm /X Do Q"
	font := "/Subtype /Type1 /FirstChar 32 /Widths [278 300 400] /Encoding << /Differences [65 /A /B /fi] >>"
	table := "/CIDInit /ProcSet findresource begin 1 beginbfchar <41> <0042> endbfchar 1 beginbfrange <43> <45> " +
		"[<0041> <0042> <0043>] endbfrange"
	for _, seed := range [][5]string{
		{content, font, table, "BT /F1 9 Tf (form) Tj ET", "/MediaBox [0 0 1 1]"},
		{"BT /F1 10 Tf <0041> Tj ' \" ET BT (unclosed",
			"/Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /DW 500 /W [1 [2 3] 4 9 100] >>]",
			"1 beginbfrange <0000> <00ff> <0041> endbfrange", "/X Do", ""},
		{"BT /F1 10 Tf <41", "/Encoding /MacRomanEncoding", "beginbfchar <41", "<<", "/Contents 4 0 R"},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), []byte(seed[2]), []byte(seed[3]), []byte(seed[4]))
	}
	f.Fuzz(func(t *testing.T, content, font, table, form, page []byte) {
		checkSound(t, "a.pdf", documenttest.Assemble([]string{
			"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 2 /Kids [3 0 R 8 0 R] >>",
			"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 5 0 R >> /XObject << /X 7 0 R >> >> /Contents 4 0 R >>",
			stream("", string(content)), "<< /Type /Font /ToUnicode 6 0 R " + string(font) + " >>",
			stream("", string(table)), stream("/Subtype /Form", string(form)),
			"<< /Type /Page /Parent 2 0 R " + string(page) + " >>",
		}, ""))
	})
}
