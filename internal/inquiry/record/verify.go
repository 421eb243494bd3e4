package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sibyl/internal/files"
)

// maxPage is how many bytes a page has at most that is verified.
const maxPage = 4 * maxSession

// Outcome is what came of a check.
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
	CheckRules     = "rules"     // schema and rules
	CheckScore     = "score"     // the score is that of the formula
	CheckShown     = "shown"     // what is shown is what is carried, byte for byte
	CheckPassages  = "passages"  // the chunks that are carried have their hashes, and hold what is quoted
	CheckDocuments = "documents" // the documents have their hashes, and hold the chunks and what is quoted
)

// Checked is a check and what came of it.
type Checked struct {
	Name     string   `json:"name"`
	Outcome  Outcome  `json:"outcome"`
	Problems []string `json:"problems,omitempty"` // what fails, or why something is not checked
}

// Report is what Verify found.
type Report struct {
	Page    bool      `json:"page"` // it is an evidence page, no session file
	Session string    `json:"session,omitempty"`
	Digest  string    `json:"digest,omitempty"` // of the page, to compare with one that was noted elsewhere
	Checks  []Checked `json:"checks"`           // all, in their order
}

// OK says that nothing fails.
func (r *Report) OK() bool {
	return !slices.ContainsFunc(r.Checks, func(c Checked) bool { return c.Outcome == Fails })
}

// Source is a document as it is read for a verification.
type Source struct {
	Hash   string // of the file
	Chunks []Chunk
}

// Verify checks an evidence page, or the JSON text of a session. docs reads a document by its name; an error that is fs.ErrNotExist leaves
// it unchecked, any other fails. nil: there are none.
//
// A page is made again from what it carries and compared byte for byte, so that nothing that is shown can be changed alone. Who changes what
// it carries and makes a whole page of it anew is found by the documents, by the rules, or by a digest that was noted elsewhere, and by
// nothing else.
func Verify(content []byte, docs func(name string) (Source, error)) Report {
	r := Report{Page: bytes.HasPrefix(bytes.TrimLeft(content, space+"\ufeff"), []byte("<"))}
	session, unchecked := content, "what comes before it fails"
	var passages []Chunk
	err := error(nil)
	if r.Page {
		r.Digest = files.Hash(content)
		session, passages, err = unpack(content)
	}
	var s Session
	if err == nil {
		s, err = Unmarshal(session)
	}
	r.settle(CheckRead, err)
	if err == nil {
		r.Session = s.ID
		r.rules(&s, session)
		if r.Page {
			r.settle(CheckShown, madeAgain(s, passages, content))
			r.settle(CheckPassages, cited(&s, passages))
		}
		r.documents(&s, docs)
	}
	if err == nil && !r.Page {
		unchecked = "only an evidence page has this"
	}
	for i, name := range []string{CheckRead, CheckRules, CheckScore, CheckShown, CheckPassages, CheckDocuments} {
		if i >= len(r.Checks) || r.Checks[i].Name != name {
			r.Checks = slices.Insert(r.Checks, i, Checked{name, NotChecked, []string{unchecked}})
		}
	}
	return r
}

// settle adds a check that holds without problems.
func (r *Report) settle(name string, problems ...error) {
	c := Checked{Name: name, Outcome: Holds}
	for _, err := range problems {
		if err != nil {
			c.Outcome, c.Problems = Fails, append(c.Problems, err.Error())
		}
	}
	r.Checks = append(r.Checks, c)
}

// unpack gives what a page carries.
func unpack(content []byte) (session []byte, passages []Chunk, err error) {
	form, isPage := between(content, generatorMark, `"`)
	text, carries := between(content, carriedMark, "</script>")
	var c carried
	switch {
	case len(content) > maxPage:
		return nil, nil, fmt.Errorf("it is larger than %d MB", maxPage>>20)
	case !isPage:
		return nil, nil, errors.New("it is HTML, but no evidence page")
	case form != fmt.Sprint(pageForm):
		return nil, nil, fmt.Errorf("it is a page of the form “%s”, and this program makes form %d; verify it with the program that made it", short(form), pageForm)
	case !carries:
		return nil, nil, errors.New("it carries no session")
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, nil, fmt.Errorf("what it carries is no JSON: %w", err)
	}
	return c.Session, c.Passages, nil
}

// between is what stands between two marks, the first time.
func between(content []byte, from, to string) (string, bool) {
	_, rest, found := bytes.Cut(content, []byte(from))
	text, _, closed := bytes.Cut(rest, []byte(to))
	return string(text), found && closed
}

// rules checks a session by its rules, and its score by the formula.
func (r *Report) rules(s *Session, content []byte) {
	var rules, sums []error
	for _, broken := range Check(content) {
		if broken.Rule == RuleSum {
			sums = append(sums, errors.New(broken.String()))
		} else {
			rules = append(rules, errors.New(broken.String()))
		}
	}
	r.settle(CheckRules, rules...)
	switch a := s.Audit(); {
	case a == nil || a.ConsistencyScore == nil:
		r.Checks = append(r.Checks, Checked{CheckScore, NotChecked, []string{"no model has judged"}})
	case len(sums) == 0 && *a.ConsistencyScore != Score(s.Pairs, a.Contradictions).Score:
		r.settle(CheckScore, fmt.Errorf("it is %d, and the formula gives %d", *a.ConsistencyScore, Score(s.Pairs, a.Contradictions).Score))
	default:
		r.settle(CheckScore, sums...)
	}
}

// madeAgain makes a page again and compares.
func madeAgain(s Session, passages []Chunk, content []byte) error {
	again, err := render(s, passages)
	if err != nil {
		return fmt.Errorf("it can't be made again: %w", err)
	}
	is, should := strings.Split(string(content), "\n"), strings.Split(string(again), "\n")
	for i := range max(len(is), len(should)) {
		if i >= len(is) || i >= len(should) || is[i] != should[i] {
			return fmt.Errorf("from line %d on it is not what the data that it carries gives", i+1)
		}
	}
	return nil
}

// cited checks the chunks that a page carries.
func cited(s *Session, got []Chunk) error {
	texts := slices.DeleteFunc(slices.Clone(got), func(k Chunk) bool { return k.Text == "" })
	want, err := passagesOf(s, texts)
	if err == nil && !slices.Equal(want, got) {
		err = errors.New("they are others than those that the session cites")
	}
	return err
}

// documents checks all citations against the documents at hand.
func (r *Report) documents(s *Session, docs func(name string) (Source, error)) {
	leave := func(why string) { r.Checks = append(r.Checks, Checked{CheckDocuments, NotChecked, []string{why}}) }
	if docs == nil {
		leave("no documents are given")
		return
	}
	var problems []error
	sources, errs := map[string]Source{}, map[string]error{}
	missing, looked := "", 0
	for i := range s.Pairs {
		for _, c := range s.Pairs[i].Citations {
			err, known := errs[c.Document]
			if !known {
				sources[c.Document], err = docs(c.Document)
				errs[c.Document] = err
			}
			switch {
			case errors.Is(err, fs.ErrNotExist):
				missing = fmt.Sprintf("“%s” is not at hand", short(c.Document))
				continue
			case err != nil:
				err = fmt.Errorf("“%s” can't be read: %w", short(c.Document), err)
			default:
				err = stands(c, sources[c.Document])
			}
			if looked++; err != nil {
				problems = append(problems, fmt.Errorf("pair %d: %w", i+1, err))
			}
		}
	}
	switch {
	case len(problems) == 0 && missing != "":
		leave(missing)
	case looked == 0:
		leave("the session cites none")
	default:
		r.settle(CheckDocuments, problems...)
	}
}

// stands looks a citation up in its document.
func stands(c Citation, d Source) error {
	at := slices.IndexFunc(d.Chunks, func(k Chunk) bool { return k.Index == c.Chunk })
	switch {
	case d.Hash != c.Hash:
		return fmt.Errorf("“%s” is another file than the one that is cited: its hash is %s, and that of the citation is %s",
			short(c.Document), short(d.Hash), short(c.Hash))
	case at < 0:
		return fmt.Errorf("“%s” has no chunk %d", short(c.Document), c.Chunk)
	}
	return agrees(c, d.Chunks[at])
}
