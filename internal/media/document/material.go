package document

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"sibyl/internal/files"
	"sibyl/internal/redact"
	"sibyl/internal/text"
)

// Part is a text that was handed over, with the name by which answers cite its lines. One that is named “report.pdf p.
// 3” is a page of a document, and cited as a whole. One with a type is a picture: its text is the content of its file
// in base64, or empty where that is kept elsewhere.
type Part struct {
	Name      string `json:"name"`
	Text      string `json:"-"`
	LineCount int    `json:"lines"`
	Hash      string `json:"-"`              // of the file that begins here: "sha256:…"; "" where it is not known
	Type      string `json:"type,omitempty"` // of a picture: "image/png" and others; "": a text
}

// pageName takes “report.pdf p. 3” apart.
var pageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+) p\. ([1-9][0-9]{0,8})$`) })

// Page is the document whose page the part is, and its number; 0 for a text that is no page.
func (p Part) Page() (document string, number int) {
	found := pageName().FindStringSubmatch(p.Name)
	if found == nil {
		return p.Name, 0
	}
	number, _ = strconv.Atoi(found[2]) // digits, and few
	return found[1], number
}

// Unnamed is what a text is called that came without a name.
const Unnamed = "material"

// JoinParts makes one material of texts. A line above each has its name and says how many lines it has, so that no text
// can forge another.
func JoinParts(parts []Part) string {
	b := &strings.Builder{}
	for _, p := range parts {
		lines := Lines(p.Text)
		fmt.Fprintf(b, "--- %s, %s", partName(p.Name), text.Count(len(lines), "line"))
		for _, more := range []string{p.Hash, p.Type} {
			if more != "" {
				b.WriteString(", " + more)
			}
		}
		b.WriteString(" ---\n")
		for _, l := range lines {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// partName is a name that can stand in a citation.
func partName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == ':' || r == '`' {
			return '_'
		}
		return r
	}, name)
}

// Lines are the lines of a text, without empty ones at its end.
func Lines(text string) []string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// SplitParts takes a material apart as JoinParts made it; any other is one part.
func SplitParts(material string) (parts []Part) {
	lines := Lines(material)
	whole := []Part{{Name: Unnamed, Text: material, LineCount: len(lines)}}
	for at := 0; at < len(lines); {
		p, ok := parsePartHeader(lines[at])
		if !ok || at+1+p.LineCount > len(lines) {
			return whole
		}
		p.Text = strings.Join(lines[at+1:at+1+p.LineCount], "\n")
		parts = append(parts, p)
		at += 1 + p.LineCount
	}
	if len(parts) == 0 {
		return whole
	}
	return parts
}

// partHeaderForm is the line above a part: “--- name, 12 lines ---”, or with the hash of a file behind the lines, and
// the type of a picture.
var partHeaderForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^--- (.+), ([0-9]{1,9}) \S*(?:, (sha256:[0-9a-f]{64}))?(?:, (image/[a-z]+))? ---$`)
})

func parsePartHeader(line string) (p Part, ok bool) {
	found := partHeaderForm().FindStringSubmatch(line)
	if found == nil {
		return p, false
	}
	size, err := strconv.Atoi(found[2])
	return Part{Name: found[1], LineCount: size, Hash: found[3], Type: found[4]}, err == nil
}

// FromMaterial gives the documents of a material, each under a name of its own: parts that are its pages stand behind
// each other. A hash is that which the material tells, or else that of the text. What holds no text is in failed.
func FromMaterial(material string) (docs []Document, failed []*Error) {
	used, repeats := map[string]bool{}, map[string]int{}
	openName := "" // the document whose pages may go on
	for _, p := range SplitParts(material) {
		name, number := p.Page()
		name = redact.Text(partName(name))
		if p.Type != "" {
			failed = append(failed, &Error{Reason: Unsupported, File: name,
				text: "it is a picture, and only its text can be read here; have that recognised (OCR)"})
			continue
		}
		p.Text = redact.Text(p.Text)
		if n := len(docs) - 1; number > 0 && p.Hash == "" && name == openName &&
			docs[n].Pages[len(docs[n].Pages)-1].Number < number {
			docs[n].addPage(number, p.Text)
			continue
		}
		d := Document{Name: name, Hash: p.Hash, Paged: number > 0}
		for used[d.Name] {
			repeats[name]++
			d.Name = fmt.Sprintf("%s (%d)", name, repeats[name]+1)
		}
		used[d.Name] = true
		if d.Hash == "" {
			d.Hash = files.Hash([]byte(p.Text))
		}
		openName = ""
		if e, ok := errors.AsType[*Error](withFile(d.Name, d.addPart(p.Text, number))); ok {
			failed = append(failed, e)
			continue
		}
		if d.Paged {
			openName = name
		}
		docs = append(docs, d)
	}
	return docs, failed
}

// addPart takes in the text of a part: a page by its number, or the whole of a document.
func (d *Document) addPart(text string, number int) error {
	if !d.Paged && !IsPDFOrDOCX(d.Name) {
		return readText(d, []byte(text))
	}
	if d.addPage(max(number, 1), text); len(d.Pages) == 0 {
		return refuse(Empty, "there is no text in it")
	}
	return nil
}
