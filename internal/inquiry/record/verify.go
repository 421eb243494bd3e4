package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"sibyl/internal/files"
	"sibyl/internal/media/document"
)

// maxPage bounds a page that can be verified, in bytes.
const maxPage = 4 * maxSession

// Outcome is the result of a check.
type Outcome string

// The outcomes of a check.
const (
	Holds      Outcome = "holds"
	Fails      Outcome = "fails"
	NotChecked Outcome = "not checked"
)

// The checks of Verify, in their order.
const (
	CheckRead      = "read"      // it is an evidence page or a session, and what it carries can be read
	CheckRules     = "rules"     // schema, rules, and the score by the formula
	CheckShown     = "shown"     // a page shows what it carries, byte for byte, and its passages hold what is quoted
	CheckDocuments = "documents" // the documents have their hashes, and hold the chunks and what is quoted
)

// Checked is a check and its result.
type Checked struct {
	Name     string   `json:"name" enum:"read,rules,shown,documents"`
	Outcome  Outcome  `json:"outcome" enum:"holds,fails,not checked"`
	Problems []string `json:"problems" doc:"What fails, or why something is not checked."`
}

// Report is the result of Verify.
type Report struct {
	OK      bool      `json:"ok" doc:"Nothing fails."`
	Page    bool      `json:"page" doc:"It is an evidence page; else a session."`
	Session string    `json:"session,omitempty" doc:"The id of the inquiry."`
	Digest  string    `json:"digest,omitempty" doc:"Of the page, to compare with one that was noted elsewhere."`
	Checks  []Checked `json:"checks" doc:"All, in their order."`
}

// Source is a document that was read for a verification.
type Source struct {
	Hash   string // of the file
	Chunks []document.Chunk
}

// Verify checks an evidence page, or the JSON text of a session. docs reads a document by its name; an error that is
// fs.ErrNotExist leaves it unchecked, any other fails. nil: there are none.
//
// A page is made again from what it carries and compared byte for byte, so a change of only what is shown is found. If
// somebody changes what it carries and makes a new page from that, only the documents, the rules, or a digest that was
// noted elsewhere can show it.
func Verify(content []byte, docs func(name string) (Source, error)) Report {
	r := Report{Page: bytes.HasPrefix(bytes.TrimLeft(content, space+"\ufeff"), []byte("<"))}
	session := content
	var passages []document.Chunk
	var err error
	if r.Page {
		r.Digest = files.Hash(content)
		session, passages, err = readPage(content)
	}
	var s Session
	if err == nil {
		s, err = Unmarshal(session)
	}
	if err != nil {
		r.Checks = []Checked{checkResult(CheckRead, err.Error())}
		for _, name := range []string{CheckRules, CheckShown, CheckDocuments} {
			r.Checks = append(r.Checks, skippedCheck(name, "it can't be read"))
		}
		return r
	}
	r.Session = s.ID
	var broken []string
	for _, v := range Check(session) {
		broken = append(broken, v.String())
	}
	shown := skippedCheck(CheckShown, "only an evidence page has this")
	if r.Page {
		shown = checkResult(CheckShown, pageProblems(s, passages, content)...)
	}
	r.Checks = []Checked{checkResult(CheckRead), checkResult(CheckRules, broken...), shown, checkDocuments(&s, docs)}
	r.OK = !slices.ContainsFunc(r.Checks, func(c Checked) bool { return c.Outcome == Fails })
	return r
}

// checkResult is the result of a check that was made: it holds if there are no problems.
func checkResult(name string, problems ...string) Checked {
	if len(problems) > 0 {
		return Checked{name, Fails, problems}
	}
	return Checked{Name: name, Outcome: Holds, Problems: []string{}}
}

// skippedCheck is the result of a check that could not be made, and why.
func skippedCheck(name, why string) Checked { return Checked{name, NotChecked, []string{why}} }

// readPage returns what a page carries.
func readPage(content []byte) (session []byte, passages []document.Chunk, err error) {
	form, isPage := between(content, generatorMark, `"`)
	text, carries := between(content, carriedMark, "</script>")
	var c pageData
	switch {
	case len(content) > maxPage:
		return nil, nil, fmt.Errorf("it is larger than %d MB", maxPage>>20)
	case !isPage:
		return nil, nil, errors.New("it is HTML, but no evidence page")
	case form != fmt.Sprint(pageForm):
		return nil, nil, fmt.Errorf(
			"it is a page of the form “%s”, and this program makes form %d; verify it with the program that made it",
			short(form), pageForm)
	case !carries:
		return nil, nil, errors.New("it carries no session")
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, nil, fmt.Errorf("what it carries is no JSON: %w", err)
	}
	return c.Session, c.Passages, nil
}

// between returns the text between the first two marks; false if one is missing.
func between(content []byte, from, to string) (string, bool) {
	_, rest, found := bytes.Cut(content, []byte(from))
	text, _, closed := bytes.Cut(rest, []byte(to))
	return string(text), found && closed
}

// pageProblems makes a page again from what it carries, and reports whether it differs from content.
func pageProblems(s Session, passages []document.Chunk, content []byte) []string {
	again, err := makePage(s, slices.DeleteFunc(passages, func(k document.Chunk) bool { return k.Text == "" }))
	switch {
	case err != nil:
		return []string{"it can't be made again: " + err.Error()}
	case !bytes.Equal(again, content):
		return []string{"it is not what the data that it carries gives"}
	}
	return nil
}

// checkDocuments checks all citations of a session against the documents that docs reads.
func checkDocuments(s *Session, docs func(name string) (Source, error)) Checked {
	if docs == nil {
		return skippedCheck(CheckDocuments, "no documents are given")
	}
	read := map[string]func() (Source, error){}
	var problems []string
	missing, cited := "", false
	for i, p := range s.Pairs {
		for _, c := range p.Citations {
			cited = true
			if read[c.Document] == nil {
				read[c.Document] = sync.OnceValues(func() (Source, error) { return docs(c.Document) })
			}
			switch err := checkInDocument(c, read[c.Document]); {
			case errors.Is(err, fs.ErrNotExist):
				missing = fmt.Sprintf("“%s” is not at hand", short(c.Document))
			case err != nil:
				problems = append(problems, fmt.Sprintf("pair %d: %v", i+1, err))
			}
		}
	}
	switch {
	case len(problems) == 0 && missing != "":
		return skippedCheck(CheckDocuments, missing)
	case !cited:
		return skippedCheck(CheckDocuments, "the session cites none")
	}
	return checkResult(CheckDocuments, problems...)
}

// checkInDocument checks a citation against its document.
func checkInDocument(c Citation, read func() (Source, error)) error {
	d, err := read()
	at := slices.IndexFunc(d.Chunks, func(k document.Chunk) bool { return k.Index == c.Chunk })
	switch {
	case err != nil:
		return fmt.Errorf("“%s” can't be read: %w", short(c.Document), err)
	case d.Hash != c.Hash:
		return fmt.Errorf("“%s” is another file than the one that is cited: its hash is %s, and that of the citation is %s",
			short(c.Document), short(d.Hash), short(c.Hash))
	case at < 0:
		return fmt.Errorf("“%s” has no chunk %d", short(c.Document), c.Chunk)
	}
	return checkCitation(c, d.Chunks[at])
}
