package record

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/files"
	"sibyl/internal/media/document"
	"sibyl/internal/text"
)

// pageForm is the version of evidence pages. It must rise whenever the same session gives another page, so that an
// older page does not count as changed.
const pageForm = 6

// The marks before the parts of a page. Texts are escaped, so they can't contain a mark.
const (
	generatorMark = `<meta name="generator" content="sibyl inquiry evidence `
	carriedMark   = `<script type="application/json" id="evidence">`
)

//go:embed page.html
var pageText string

//go:embed page.css
var style template.CSS

var pageTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page").Funcs(templateFuncs()).Parse(pageText))
})

// PagePolicy is the content security policy of evidence pages: no scripts, and nothing from elsewhere.
func PagePolicy() string {
	sum := sha256.Sum256([]byte(style))
	hash := base64.StdEncoding.EncodeToString(sum[:])
	return "default-src 'none'; style-src 'sha256-" + hash + "'; base-uri 'none'; form-action 'none'"
}

// pageData is the JSON that a page carries.
type pageData struct {
	Form     int              `json:"form"`
	Session  json.RawMessage  `json:"session"`
	Passages []document.Chunk `json:"passages"`
}

// isOf says whether a citation is of this chunk.
func (c Citation) isOf(k document.Chunk) bool {
	return k.Document == c.Document && k.DocumentHash == c.Hash && k.Index == c.Chunk && k.Hash == c.ChunkHash
}

// Evidence makes the evidence page of a session: one HTML file that needs no network and runs no script. It carries the
// session and the hashes of all chunks that the session cites; the texts of those that are given are carried and shown
// as well, and must hold their quotes. The error is an *Invalid for a session that breaks rules.
func Evidence(s Session, chunks ...document.Chunk) ([]byte, error) {
	if broken := s.Validate(); len(broken) > 0 {
		return nil, &Invalid{ID: s.ID, Violations: broken}
	}
	return makePage(s, chunks)
}

// makePage makes the page of a session. The page depends only on what it carries.
func makePage(s Session, chunks []document.Chunk) ([]byte, error) {
	session, err := Marshal(s)
	if err != nil {
		return nil, err
	}
	if s, err = Unmarshal(session); err != nil { // show what is carried, even if a text is broken UTF-8
		return nil, err
	}
	passages, err := citedPassages(&s, chunks)
	if err != nil {
		return nil, fmt.Errorf("make the evidence of session %s: %w", s.ID, err)
	}
	var data bytes.Buffer
	e := json.NewEncoder(&data) // which escapes what could end the element
	e.SetIndent("", "  ")
	if err := e.Encode(pageData{pageForm, session, passages}); err != nil {
		return nil, err
	}
	var page strings.Builder
	shown := struct {
		view
		Form         int
		Policy, Data string // Data is the hash of what it carries
		Style        template.CSS
	}{viewOf(&s, passages), pageForm, PagePolicy(), files.Hash(data.Bytes()), style}
	if err := pageTemplate().Execute(&page, shown); err != nil {
		return nil, err
	}
	return []byte(showInvisible(page.String()) + carriedMark + "\n" + data.String() + "</script>\n</body>\n</html>\n"), nil
}

// citedPassages lists the chunks that a session cites, in the order of the citations, with their texts if they are
// given.
func citedPassages(s *Session, chunks []document.Chunk) ([]document.Chunk, error) {
	all := []document.Chunk{}
	for i := range s.Pairs {
		for _, c := range s.Pairs[i].Citations {
			p := document.Chunk{Document: c.Document, DocumentHash: c.Hash, Page: c.Page, Index: c.Chunk,
				Hash: c.ChunkHash}
			cited := func(k document.Chunk) bool {
				return k.Document == c.Document && k.DocumentHash == c.Hash && k.Index == c.Chunk
			}
			if at := slices.IndexFunc(chunks, cited); at >= 0 {
				if err := checkCitation(c, chunks[at]); err != nil {
					return nil, fmt.Errorf("pair %d: %w", i+1, err)
				}
				p.Text = chunks[at].Text
			}
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// checkCitation checks a citation against its chunk.
func checkCitation(c Citation, k document.Chunk) error {
	_, holds := text.Find(k.Text, c.Quote)
	where := fmt.Sprintf("chunk %d of “%s”", c.Chunk, short(c.Document))
	switch {
	case k.Hash != files.Hash([]byte(k.Text)):
		return fmt.Errorf("%s has not the hash that it says", where)
	case k.Hash != c.ChunkHash:
		return fmt.Errorf("%s is another text than the one that is cited: its hash is %s, and that of the citation is %s",
			where, k.Hash, c.ChunkHash)
	case k.Page != c.Page:
		return fmt.Errorf("%s stands on page %d, and page %d is cited", where, k.Page, c.Page)
	case !holds:
		return fmt.Errorf("%s does not hold the words “%s”", where, short(c.Quote))
	}
	return nil
}
