package document

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"sibyl/internal/files"
	"sibyl/internal/redact"
	"sibyl/internal/text"
)

// Part is a text that a user gave, with the name by which answers cite its lines. A part named “report.pdf p. 3” is a
// page of a document, and cited as a whole; without lines, it is a page without text. A part with a type is a picture:
// its text is the content of its file in base64, or empty if that is stored elsewhere.
type Part struct {
	Name      string `json:"name"`
	Text      string `json:"-"`
	LineCount int    `json:"lines"`
	Hash      string `json:"-"`              // of the file that begins here: "sha256:…"; "": unknown
	Type      string `json:"type,omitempty"` // of a picture: "image/png" and others; "": a text
}

// pageName splits “report.pdf p. 3”.
var pageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+) p\. ([1-9][0-9]{0,8})$`) })

// Page returns the name of the part's document and the number of its page; 0 for a text that is no page.
func (p Part) Page() (document string, number int) {
	found := pageName().FindStringSubmatch(p.Name)
	if found == nil {
		return p.Name, 0
	}
	number, _ = strconv.Atoi(found[2]) // digits, and few
	return found[1], number
}

// IsBlank says whether the part is a page without text, such as a picture of one.
func (p Part) IsBlank() bool {
	_, page := p.Page()
	return page > 0 && p.Type == "" && p.LineCount == 0 && p.Text == ""
}

// Unnamed is the name of a text that came without one.
const Unnamed = "material"

// JoinParts joins texts to one material. A header line above each has its name and its number of lines, so that no text
// can forge another part.
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

// partName replaces the characters of a name that can't be in a citation.
func partName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == ':' || r == '`' {
			return '_'
		}
		return r
	}, name)
}

// Lines returns the lines of a text, without empty ones at its end.
func Lines(text string) []string {
	if text = strings.TrimRight(text, "\n"); text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// SplitParts splits a material that JoinParts made; any other text is one part.
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

// partHeaderForm matches the line above a part: “--- name, 12 lines ---”, perhaps with the hash of a file and the type
// of a picture after the lines.
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

const noText = "there is no text in it"

// FromMaterial returns the documents of a material, each with a unique name. Successive parts that are pages of one
// document are joined. A hash is the material's, or else that of the text. Parts without text are in failed.
func FromMaterial(material string) (docs []Document, failed []*Error) {
	used, repeats := map[string]bool{}, map[string]int{}
	openName, last := "", 0 // the document to which the next page may belong, and its last page
	for _, p := range SplitParts(material) {
		name, number := p.Page()
		name = redact.Text(partName(name))
		if p.Type != "" {
			failed = append(failed, &Error{Reason: Unsupported, File: name,
				text: "it is a picture, and only its text can be read here; have that recognised (OCR)"})
			continue
		}
		p.Text = redact.Text(p.Text)
		if number > 0 && p.Hash == "" && name == openName && last < number {
			docs[len(docs)-1].addPage(number, p.Text)
			last = number
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
			openName, last = name, number
		}
		docs = append(docs, d)
	}
	docs = slices.DeleteFunc(docs, func(d Document) bool {
		if len(d.Pages) > 0 {
			return false
		}
		failed = append(failed, &Error{Reason: Empty, File: d.Name, text: noText})
		return true
	})
	return docs, failed
}

// addPart adds the text of a part: a page by its number, or a whole document.
func (d *Document) addPart(text string, number int) error {
	if !d.Paged && !IsPDFOrDOCX(d.Name) {
		return readText(d, []byte(text))
	}
	if d.addPage(max(number, 1), text); len(d.Pages) == 0 && !d.Paged {
		return refuse(Empty, noText)
	}
	return nil
}
