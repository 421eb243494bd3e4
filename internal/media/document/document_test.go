package document

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/media/document/documenttest"
)

func utf16Of(order binary.AppendByteOrder, mark, text string) []byte {
	b := []byte(mark)
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return b
}

func TestTextIsReadInItsEncoding(t *testing.T) {
	const want = "Größe: 1½ m² – fünf Stück"
	for name, content := range map[string][]byte{
		"utf-8":          []byte(want),
		"with its mark":  []byte("\xef\xbb\xbf" + want),
		"utf-16 little":  utf16Of(binary.LittleEndian, "\xff\xfe", want),
		"utf-16 big":     utf16Of(binary.BigEndian, "\xfe\xff", want),
		"windows-1252":   []byte("Gr\xf6\xdfe: 1\xbd m\xb2 \x96 f\xfcnf St\xfcck"),
		"its other form": []byte("Gro\u0308ße: 1½ m² – fu\u0308nf Stu\u0308ck\r\n"),
	} {
		d, err := readOne(t, "a.txt", content)
		assert.That(t, err == nil && len(d.Pages) == 1 && d.Pages[0].Text == want, "%s: %+v, %v", name, d, err)
	}
}

func TestRunningTextLosesItsLinesAndAllElseKeepsThem(t *testing.T) {
	const text = "# Pumpen\n\nDie Pumpe wurde am 3. Mai 2019 von der Firma Hydra einge-\nbaut und läuft seitdem ohne " +
		"jede Störung auf der Nord-\nund der Südseite.\n\n" +
		"- ein Punkt der Liste, der lang genug für Fließtext wäre\n- noch ein Punkt\n\nFirma Hydra\nHauptstraße " +
		"3\n\n```\nx := 1 // so lang wie eine Zeile von Fließtext ist\n\ty := 2\n```"
	const want = "# Pumpen\n\nDie Pumpe wurde am 3. Mai 2019 von der Firma Hydra eingebaut und läuft seitdem ohne " +
		"jede Störung auf der Nord- und der Südseite.\n\n" +
		"- ein Punkt der Liste, der lang genug für Fließtext wäre\n- noch ein Punkt\n\nFirma Hydra\nHauptstraße " +
		"3\n\n```\nx := 1 // so lang wie eine Zeile von Fließtext ist\n y := 2\n```"
	d, err := readOne(t, "a.md", []byte(text))
	assert.Require(t, err == nil, "%v %v", d, err)
	assert.Same(t, want, d.Pages[0].Text)
}

func TestPDFKeepsPagesLinesAndLetters(t *testing.T) {
	for _, compressed := range []bool{false, true} {
		content := documenttest.PDF(compressed,
			[]string{"Report on pump (A)", "", "The pump was installed on 3 May 2019, and its mainte-",
				"nance interval is six months, as the supplier says.", "", "Größe: 12 bar"}, nil,
			[]string{"Third page."})
		d := assert.Must(readOne(t, "a.pdf", content))(t)
		want := map[int]string{
			1: "Report on pump (A)\n\nThe pump was installed on 3 May 2019, and its maintenance interval is six " +
				"months, as the supplier says.\n\nGröße: 12 bar",
			3: "Third page.",
		}
		assert.NoDiff(t, cmp.Diff(want, texts(d)), "compressed %v", compressed)
	}
}

func TestPDFIsReadWithWhatStandsAroundIt(t *testing.T) {
	plain := documenttest.PDF(true, []string{"The pump."})
	for name, content := range map[string][]byte{
		"before":          append([]byte("Content-Type: application/pdf\r\n\r\n"), plain...),
		"behind":          append(bytes.Clone(plain), "\n<!-- sent by a server -->\n"+strings.Repeat(" ", 300)...),
		"a later version": bytes.Replace(plain, []byte("%PDF-1.4"), []byte("%PDF-2.0"), 1),
	} {
		d, err := readOne(t, "a.pdf", content)
		assert.That(t, err == nil && d.Pages[0].Text == "The pump.", "%s: %+v, %v", name, d, err)
	}
}

func TestPDFCellsAndColumnsStayApart(t *testing.T) {
	content := "BT /F1 10 Tf 1 0 0 1 72 700 Tm (Seal) Tj 1 0 0 1 200 700 Tm (120 EUR) Tj 1 0 0 1 72 686 Tm (Rotor) " +
		"Tj 1 0 0 1 200 686 Tm (980 EUR) Tj ET " +
		"BT /F1 10 Tf 1 0 0 1 72 600 Tm [(W) 80 (ater) -300 (pump) ] TJ ET BT /F1 10 " +
		"Tf 1 0 0 1 300 700 Tm (Second column) Tj ET"
	d := assert.Must(readOne(t, "a.pdf", onePage(content, "/Subtype /Type1 /BaseFont /Helvetica", "")))(t)
	assert.Same(t, "Seal | 120 EUR\nRotor | 980 EUR\n\nWater pump\n\nSecond column", d.Pages[0].Text)
}

func TestPDFLettersComeFromTheTableOfTheFont(t *testing.T) {
	table := "/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 " +
		"begincodespacerange <0000> <FFFF> endcodespacerange\n" +
		"2 beginbfchar <0001> <0050> <0002> <FB01> endbfchar 1 beginbfrange <0010> <0012> <0061> endbfrange endcmap end end"
	content := "BT /F1 10 Tf 72 700 Td <00010010001100120002> Tj ET"
	pdf := documenttest.Assemble([]string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 5 0 R >> >> /Contents 4 0 R >>",
		stream("", content),
		"<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [<< /DW 500 /W [1 [600 300] 16 18 " +
			"400] >>] /ToUnicode 6 0 R >>",
		stream("", table),
	}, "")
	d, err := readOne(t, "a.pdf", pdf)
	assert.That(t, err == nil && d.Pages[0].Text == "Pabcfi", "%+v, %v", d, err)
	mute := bytes.Replace(pdf, []byte("/ToUnicode 6 0 R"), []byte("/Ignored   6 0 R"), 1)
	_, err = readOne(t, "a.pdf", mute)
	assert.That(t, reasonOf(err) == Scan && strings.Contains(err.Error(), "fonts"), "%v", err)
}

func TestDOCXIsReadAsAReaderSeesIt(t *testing.T) {
	body := documenttest.Para("First &amp; best") +
		`<w:p><w:r><w:t xml:space="preserve">See </w:t></w:r><w:hyperlink r:id="x"><w:r><w:t>the link</w:t></w:r></w:hyperlink><w:r><w:t>.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>` +
		`<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r><w:t>kept</w:t></w:r></w:ins><w:r><w:tab/><w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t></w:r></w:p>` +
		`<w:tbl><w:tr><w:tc>` + documenttest.Para("Part") + `</w:tc><w:tc>` + documenttest.Para("Price") +
		`</w:tc></w:tr><w:tr><w:tc>` + documenttest.Para("Seal") + documenttest.Para("big") + `</w:tc><w:tc>` +
		documenttest.Para("120") + `</w:tc></w:tr></w:tbl>` +
		`<mc:AlternateContent><mc:Choice>` + documenttest.Para("in a box") + `</mc:Choice><mc:Fallback>` +
		documenttest.Para("in a box") + `</mc:Fallback></mc:AlternateContent>` +
		`<w:p><w:r><w:t>over </w:t><w:lastRenderedPageBreak/><w:t>the end</w:t></w:r></w:p>` +
		documenttest.Para("on the second page")
	content := documenttest.DOCX(t, body, map[string]string{
		"word/footnotes.xml": `<w:footnotes SPACE><w:footnote w:id="1">` + documenttest.Para("unused") +
			`</w:footnote><w:footnote w:id="2">` + documenttest.Para("A note.") + `</w:footnote></w:footnotes>`,
		"word/header1.xml": `<w:hdr SPACE>` + documenttest.Para("Secret report") + `</w:hdr>`,
		"word/footer1.xml": `<w:ftr SPACE>` + documenttest.Para("Hydra Ltd") + `</w:ftr>`,
	})
	d := assert.Must(readOne(t, "a.docx", content))(t)
	want := map[int]string{
		1: "Secret report\n\nFirst & best\n\nSee the link.\n\nA note.\n\nkept a-b\n\nPart | Price\n\nSeal big | " +
			"120\n\nin a box\n\nover the end\n\nHydra Ltd",
		2: "on the second page",
	}
	assert.Same(t, want, texts(d))
	plain := documenttest.DOCX(t, documenttest.Para("one")+`<w:p><w:r><w:br w:type="page"/></w:r></w:p>`+
		documenttest.Para("two"), nil)
	d, err := readOne(t, "named.bin", plain)
	assert.That(t, err == nil && len(d.Pages) == 2 && d.Pages[1].Text == "two", "%+v, %v", d, err)
}

func reasonOf(err error) Reason {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Reason
	}
	return ""
}

func TestEachWayToFailHasItsReason(t *testing.T) {
	docx := documenttest.DOCX(t, documenttest.Para("text"), nil)
	encryptedZip := bytes.Clone(docx)
	for at := 0; ; {
		i := bytes.Index(encryptedZip[at:], []byte("PK\x01\x02"))
		if i < 0 {
			break
		}
		encryptedZip[at+i+8] |= 1
		at += i + 4
	}
	bomb := documenttest.DOCX(t, documenttest.Para(strings.Repeat("all work and no play ", 2<<20)), nil)
	for name, c := range map[string]struct {
		file    string
		content []byte
		want    Reason
	}{
		"empty":                       {"a.txt", nil, Empty},
		"white space":                 {"a.md", []byte(" \n\t\n"), Empty},
		"a PDF of pictures":           {"a.pdf", documenttest.PDF(true, nil, nil), Scan},
		"a PDF without pages":         {"a.pdf", documenttest.PDF(true), Empty},
		"a PDF with a password":       {"a.pdf", documenttest.Locked(), Encrypted},
		"a PDF that is cut off":       {"a.pdf", documenttest.PDF(true, []string{"text"})[:200], Damaged},
		"a PDF by name":               {"a.pdf", []byte("<html>not found</html>"), Damaged},
		"an archive by name":          {"a.docx", []byte("PK\x03\x04 and no more"), Damaged},
		"a DOCX without its document": {"a.docx", documenttest.Zip(t, zip.Deflate, "other.xml", "<a/>"), Damaged},
		"a DOCX that is cut off":      {"a.docx", docx[:len(docx)-30], Damaged},
		"a DOCX with broken XML":      {"a.docx", documenttest.DOCX(t, "<w:p><w:r></w:p>", nil), Damaged},
		"a DOCX with a password":      {"a.docx", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and more"), Encrypted},
		"parts with a password":       {"a.docx", encryptedZip, Encrypted},
		"an old document":             {"a.doc", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 and more"), Unsupported},
		"a DOCX without text":         {"a.docx", documenttest.DOCX(t, documenttest.Para(""), nil), Empty},
		"a DOCX of pictures": {"a.docx", documenttest.DOCX(t, documenttest.Para(""),
			map[string]string{"word/media/scan.png": "png"}), Scan},
		"a DOCX that unpacks forever": {"a.docx", bomb, TooLarge},
		"a DOCX of one long tag": {"a.docx", documenttest.DOCX(t, "<w:p "+strings.Repeat(`a="" `, 300_000)+"/>",
			nil), Damaged},
		"a DOCX of marks alone": {"a.docx", documenttest.DOCX(t, strings.Repeat("<w:p/>", 1_100_000), nil),
			TooLarge},
		"a picture":               {"a.jpg", []byte("\xff\xd8\xff\xe0 JFIF"), Unsupported},
		"another archive":         {"a.zip", documenttest.Zip(t, zip.Deflate, "a.txt", "text"), Unsupported},
		"bytes in a text":         {"a.txt", []byte("a\x00b\x00"), Unreadable},
		"control signs in a text": {"a.txt", []byte("a\x01\xff\x02"), Unreadable},
		"half a character":        {"a.txt", []byte("\xff\xfea"), Damaged},
		"too large":               {"a.txt", bytes.Repeat([]byte("a "), MaxFile/2+1), TooLarge},
		"too much text":           {"a.txt", bytes.Repeat([]byte("word "), MaxText/5+1), TooLarge},
	} {
		_, err := readOne(t, c.file, c.content)
		assert.That(t, reasonOf(err) == c.want && strings.HasPrefix(err.Error(), c.file+": "),
			"%s: %v, want %s", name, err, c.want)
	}
}

func TestFolderIsReadInOrderAndOneBadFileHarmsNoOther(t *testing.T) {
	dir := folderOf(t, map[string][]byte{
		"b.txt": []byte("second"), "a/z.md": []byte("# first"), "a/broken.pdf": []byte("%PDF-1.4 and no more"),
		"c.pdf": documenttest.PDF(true, []string{"third"}), "picture.png": []byte("\x89PNG"),
		".hidden.txt": []byte("hidden"), ".git/x.txt": []byte("hidden"), "empty.txt": nil,
	})
	outside := filepath.Join(folderOf(t, map[string][]byte{"secret.txt": []byte("secret")}), "secret.txt")
	if err := os.Symlink(outside, filepath.Join(dir, "link.txt")); err != nil {
		t.Skip(err)
	}
	assert.NoError(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "linked")))
	for range 2 {
		docs, failed, err := reader(t).ReadAll(t.Context(), dir)
		assert.NoError(t, err)
		var names, why []string
		for _, d := range docs {
			names = append(names, d.Name)
		}
		for _, e := range failed {
			why = append(why, e.File+" "+string(e.Reason))
		}
		assert.Same(t, []string{"a/z.md", "b.txt", "c.pdf"}, names)
		want := []string{"a/broken.pdf damaged", "empty.txt empty", "link.txt linked", "linked linked",
			"picture.png unsupported"}
		assert.Same(t, want, why)
	}
	docs, failed, err := reader(t).ReadAll(t.Context(), filepath.Join(dir, "link.txt"))
	assert.That(t, err == nil && len(failed) == 0 && len(docs) == 1 && docs[0].Name == "secret.txt",
		"a link that is named is not followed: %v %v %v", docs, failed, err)
}

func TestFolderHasBounds(t *testing.T) {
	files := map[string][]byte{strings.Repeat("d/", MaxDepth) + "deep.txt": []byte("deep"),
		strings.Repeat("e/", MaxDepth-1) + "fine.txt": []byte("fine")}
	docs, failed, err := reader(t).ReadAll(t.Context(), folderOf(t, files))
	assert.That(t, err == nil && len(docs) == 1 && len(failed) == 1 && failed[0].Reason == TooLarge,
		"%d documents, %v, %v", len(docs), failed, err)
	files = map[string][]byte{}
	for i := range MaxFiles + 3 {
		files["n"+strconv.Itoa(100000+i)+".txt"] = []byte("text")
	}
	docs, failed, err = reader(t).ReadAll(t.Context(), folderOf(t, files))
	assert.That(t, err == nil && len(docs) == MaxFiles && len(failed) == 1 && failed[0].Reason == TooLarge,
		"%d documents, %v, %v", len(docs), failed, err)
}

// What searches the texts of a folder takes eight times their size: 434 MB for two documents of 31 MB.
func TestFolderOfMoreTextThanCanBeSearchedIsReadInPart(t *testing.T) {
	dir := folderOf(t, map[string][]byte{"a.txt": []byte("twelve bytes"), "b.pdf": documenttest.PDF(true,
		[]string{"twelve bytes"}), "c.txt": []byte("few")})
	root := assert.Must(os.OpenRoot(dir))(t)
	defer func() { _ = root.Close() }()
	read := folderRead{reader: reader(t), root: root, textBytes: MaxTexts - 5}
	err := read.readFolder(t.Context(), ".", 1)
	assert.That(t, err == nil && len(read.docs) == 1 && read.docs[0].Name == "c.txt", "read were %v, %v", read.docs, err)
	for _, failed := range read.failed {
		assert.That(t, failed.Reason == TooLarge && strings.Contains(failed.Error(), "more than 64 MB of text together"),
			"%v", failed)
	}
}

func TestWhatIsNotThereOrNotWantedAnyMoreIsAnError(t *testing.T) {
	_, _, err := reader(t).ReadAll(t.Context(), filepath.Join(t.TempDir(), "none"))
	assert.That(t, reasonOf(err) == Unreadable, "%v", err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := folderOf(t, map[string][]byte{"a.pdf": documenttest.PDF(true, []string{"text"})})
	_, _, err = reader(t).ReadAll(ctx, dir)
	assert.That(t, errors.Is(err, context.Canceled), "%v", err)
}
