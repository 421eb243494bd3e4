// Package documenttest makes small PDFs and DOCX for tests.
package documenttest

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
	"testing"
)

// PDF makes a PDF with these pages. A page is a list of lines, where an empty line makes a gap; a page without lines is
// a picture. compressed says whether to compress contents, as most programs do.
func PDF(compressed bool, pages ...[]string) []byte {
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
	}
	var kids []string
	for _, lines := range pages {
		content := "0 0 m 100 100 l S"
		if len(lines) > 0 {
			content = "BT /F1 11 Tf 14 TL 72 760 Td"
			for _, line := range lines {
				content += fmt.Sprintf(" (%s) Tj T*", escaped(line))
			}
			content += " ET"
		}
		filter := ""
		if compressed {
			var b bytes.Buffer
			z := zlib.NewWriter(&b)
			_, _ = z.Write([]byte(content))
			_ = z.Close()
			content, filter = b.String(), "/Filter /FlateDecode "
		}
		n := len(objects) + 1
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "+
				"/Contents %d 0 R >>", n+1),
			fmt.Sprintf("<< %s/Length %d >>\nstream\n%s\nendstream", filter, len(content), content))
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(kids), strings.Join(kids, " "))
	return Assemble(objects, "")
}

// Assemble makes a PDF of objects, with their cross-reference table.
func Assemble(objects []string, trailer string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, at)
	return b.Bytes()
}

// escaped returns a line as a string of a PDF, in Windows-1252.
func escaped(line string) string {
	var b strings.Builder
	for _, r := range line {
		switch {
		case strings.ContainsRune(`()\`, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteByte(byte(r))
		}
	}
	return b.String()
}

// DOCX makes a DOCX with this body of the document, and further parts by name.
func DOCX(t testing.TB, body string, parts map[string]string) []byte {
	t.Helper()
	const space = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"`
	all := []string{
		"_rels/.rels", `<Relationships><Relationship Id="r" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
		"word/document.xml", `<?xml version="1.0" encoding="UTF-8"?><w:document ` + space + `><w:body>` + body +
			`</w:body></w:document>`,
	}
	for name, text := range parts {
		all = append(all, name, strings.Replace(text, "SPACE", space, 1))
	}
	return Zip(t, zip.Deflate, all...)
}

// Zip makes an archive of files, given as pairs of name and text.
func Zip(t testing.TB, method uint16, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: files[i], Method: method})
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Para returns a paragraph of a DOCX.
func Para(text string) string { return "<w:p><w:r><w:t>" + text + "</w:t></w:r></w:p>" }

// Locked returns a PDF that is protected by a password.
func Locked() []byte {
	return Assemble([]string{"<< /Type /Catalog >>", "<< /Filter /Standard /V 5 /R 6 /O (x) /U (y) /P 4 >>"},
		"/Encrypt 2 0 R /ID [(a) (b)]")
}
