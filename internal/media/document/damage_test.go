package document

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/media/document/documenttest"
)

// shared starts PDFium once for the tests of this package, which takes a while, and keeps it compiled for the next run
// of them.
var shared struct {
	start  sync.Once
	reader *Reader
}

func reader(t testing.TB) *Reader {
	t.Helper()
	shared.start.Do(func() { shared.reader = NewReader(documenttest.Compiled(t)) })
	return shared.reader
}

// readContent reads what a file of the document's name holds, also if it is known.
func readInto(ctx context.Context, t testing.TB, d *Document, content []byte) error {
	t.Helper()
	_, err := reader(t).readContent(ctx, d, content)
	return err
}

// makeStreamed writes a PDF whose objects are packed, with a table that is packed too, as most programs do.
func makeStreamed(lines ...string) []byte {
	pack := func(content []byte) []byte {
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		_, _ = z.Write(content)
		_ = z.Close()
		return b.Bytes()
	}
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 4 0 R >> >> /Contents 6 0 R >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Differences [65 /A /B /fi] >> >>",
	}
	var b, index, inner bytes.Buffer
	b.WriteString("%PDF-1.5\n")
	var offsets [8]int
	for i, o := range objects {
		fmt.Fprintf(&index, "%d %d ", i+1, inner.Len())
		inner.WriteString(o + " ")
	}
	add := func(n int, header string, content []byte) {
		offsets[n] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream\nendobj\n", n,
			header, len(content), content)
	}
	add(5, fmt.Sprintf("/Type /ObjStm /N %d /First %d", len(objects), index.Len()),
		pack(append(index.Bytes(), inner.Bytes()...)))
	add(6, "", pack([]byte("BT /F1 11 Tf 14 TL 72 760 Td ("+strings.Join(lines, ") Tj T* (")+") Tj ET")))
	var table []byte
	for n := range 8 {
		switch {
		case n == 0:
			table = append(table, 0, 0, 0, 0)
		case n <= len(objects):
			table = append(table, 2, 0, 5, byte(n-1))
		default:
			if n == 7 {
				offsets[7] = b.Len()
			}
			table = append(binary.BigEndian.AppendUint16(append(table, 1), uint16(offsets[n])), 0)
		}
	}
	add(7, "/Type /XRef /Size 8 /W [1 2 1] /Root 1 0 R", pack(table))
	fmt.Fprintf(&b, "startxref\n%d\n%%%%EOF\n", offsets[7])
	return b.Bytes()
}

func TestPackedPDFIsRead(t *testing.T) {
	d, err := readOne(t, "a.pdf", makeStreamed("A line", "of text"))
	assert.That(t, err == nil && d.Pages[0].Text == "A line\nof text", "%+v, %v", d, err)
}

// mutate damages a copy as disks, networks and fuzzers do.
func mutate(r *rand.Rand, content []byte) []byte {
	b := bytes.Clone(content)
	kinds := 3 // that change no length, so that what is behind them is still found
	if r.IntN(2) == 0 {
		kinds = 6
	}
	for range 1 + r.IntN(6) {
		at := r.IntN(len(b))
		n := min(1+r.IntN(40), len(b)-at)
		digit := max(bytes.IndexAny(b[at:], "0123456789"), 0) + at
		switch r.IntN(kinds) {
		case 0:
			b[at] ^= 1 << r.IntN(8)
		case 1:
			b[at] = byte(r.IntN(256))
		case 2:
			b[digit] = byte('0' + r.IntN(10))
		case 3:
			b = slices.Insert(b, digit, []byte("9999999999")[:1+r.IntN(10)]...)
		case 4:
			b = slices.Insert(b, at, bytes.Clone(b[at:at+n])...)
		case 5:
			b = slices.Delete(b, at, at+n)
		}
		if r.IntN(20) == 0 {
			b = b[:at]
		}
		if len(b) < 20 {
			return bytes.Clone(content[:20])
		}
	}
	return b
}

// seeds are whole files that are damaged.
func seeds(t *testing.T) map[string][]byte {
	return map[string][]byte{
		"plain.pdf": documenttest.PDF(false, []string{"The pump was installed on 3 May 2019.", "", "It runs."}, nil,
			[]string{"Third page."}),
		"usual.pdf": documenttest.PDF(true, []string{"The pump was installed on 3 May 2019.", "", "It runs."},
			[]string{"Second page."}),
		"packed.pdf": makeStreamed("A line", "of text"),
		"a.docx": documenttest.DOCX(t, documenttest.Para("First")+"<w:tbl><w:tr><w:tc>"+documenttest.Para("a")+
			"</w:tc></w:tr></w:tbl>"+documenttest.Para("last"), map[string]string{
			"word/footnotes.xml": `<w:footnotes SPACE><w:footnote w:id="2">` + documenttest.Para("A note.") +
				`</w:footnote></w:footnotes>`}),
	}
}

// TestMain has garbage collected as usual, whatever the environment says: there is a bound of memory here.
func TestMain(m *testing.M) {
	debug.SetGCPercent(100)
	os.Exit(m.Run())
}

func TestDamagedFilesEndNothing(t *testing.T) {
	t.Run("some", func(t *testing.T) { damageFiles(t, 30) })
	t.Run("many", func(t *testing.T) {
		needs.All(t, "many files")
		damageFiles(t, needs.Most(1_000, 100))
	})
}

// damageFiles damages each file so many times, in as many ways.
func damageFiles(t *testing.T, each int) {
	t.Helper()
	readable := 0
	for name, whole := range seeds(t) {
		r := rand.New(rand.NewPCG(20, uint64(len(name))))
		for i := range each {
			content := mutate(r, whole)
			d := Document{Name: name}
			err := readInto(t.Context(), t, &d, content)
			switch {
			case reasonOf(err) == TimedOut:
				t.Fatalf("%s, mutation %d: %v", name, i, err)
			case err == nil:
				readable++
				Chunks(d)
			case reasonOf(err) == "":
				t.Fatalf("%s, mutation %d: %v is no refusal", name, i, err)
			}
		}
	}
	assert.That(t, readable != 0 && readable != 4*each,
		"%d of %d damaged files were read: the damage is not as it should be", readable, 4*each)
	used := []metrics.Sample{{Name: "/memory/classes/total:bytes"}}
	metrics.Read(used)
	assert.That(t, used[0].Value.Uint64() <= maxMemory, "damaged files took %d MB of memory", used[0].Value.Uint64()>>20)
	t.Logf("%d of %d damaged files could be read", readable, 4*each)
}

func TestPDFsThatAreMadeToHangOrExplodeAreRefused(t *testing.T) {
	font := "<< /Type /Font /Subtype /Type1 /ToUnicode 6 0 R >>"
	content := "<< /Length 44 >>\nstream\nBT /F1 10 Tf 72 700 Td (text) Tj /X Do ET    \nendstream"
	page := "<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 5 0 R >> /XObject << /X 7 0 R >> >> /Contents 4 0 R >>"
	table := "1 beginbfchar 2000000000 beginbfchar endbfchar 1 beginbfrange <00> <FFFFFFFF> <0041> endbfrange"
	form := stream("/Subtype /Form", "BT /X Do ET")
	catalog := "<< /Type /Catalog /Pages 2 0 R >>"
	for name, objects := range map[string][]string{
		"pages in a circle": {catalog, "<< /Type /Pages /Count 1000000 /Kids [2 0 R 2 0 R] >>"},
		"parents in a circle": {catalog, "<< /Type /Pages /Count 1 /Kids [3 0 R] /Parent 3 0 R >>",
			"<< /Type /Page /Parent 2 0 R /Contents 4 0 R >>", content},
		"a drawing that draws itself": {catalog, "<< /Type /Pages /Count 1 /Kids [3 0 R] >>", page, content, font,
			stream("", ""), form},
		"a list of letters": {catalog, "<< /Type /Pages /Count 1 /Kids [3 0 R] >>", page, content, font,
			stream("", table), form},
		"a length of itself": {catalog, "<< /Type /Pages /Count 1 /Kids [3 0 R] >>", page,
			"<< /Length 4 0 R >>\nstream\nx\nendstream", font, stream("", ""), form},
		"a string without an end": {catalog, "<< /Type /Pages /Count 1 /Kids [3 0 R] >>", page,
			stream("", "BT (a) Tj ET <41"), font, stream("", "1 beginbfchar <41"), form},
		"brackets in brackets": {catalog, strings.Repeat("[", 1<<16)},
	} {
		err := readInto(t.Context(), t, &Document{Name: name}, documenttest.Assemble(objects, ""))
		assert.That(t, (err == nil || reasonOf(err) != "") && reasonOf(err) != TimedOut, "%s: %v", name, err)
	}
	_, err := readOne(t, "a.pdf", bytes.Replace(makeStreamed("text"), []byte("/Size 8 "),
		[]byte("/Size 900000000000 "), 1))
	assert.That(t, err == nil, "a number that is far too large: %v", err)
}
