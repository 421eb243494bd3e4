package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
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
	CheckDigest    = "digest"    // the page has its own digest
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
	Digest  string    `json:"digest,omitempty"` // of the page, computed; to compare with one that was noted elsewhere
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

// Verify checks an evidence page, or the JSON text of a session. docs reads a document by its name; an error that is fs.ErrNotExist leaves it unchecked,
// any other fails. nil: there are none.
//
// A page is made again from what it carries and compared byte for byte, so that nothing that is shown can be changed alone. Who changes what it carries
// and makes a whole page of it anew is found by the documents, by the rules, or by a digest that was noted elsewhere, and by nothing else.
func Verify(content []byte, docs func(name string) (Source, error)) Report {
	v := verification{content: content, docs: docs}
	v.report.Page = bytes.HasPrefix(bytes.TrimLeft(content, space+"\ufeff"), []byte("<"))
	switch {
	case len(content) > maxPage:
		v.fail(CheckRead, "it is larger than %d MB", maxPage>>20)
	case v.report.Page:
		v.page()
	default:
		v.session(content)
	}
	v.rest()
	return v.report
}

type verification struct {
	content  []byte
	docs     func(name string) (Source, error)
	report   Report
	s        Session
	readable bool // there is a session
	sound    bool // it obeys the rules
}

func (v *verification) add(name string, outcome Outcome, problems ...string) {
	v.report.Checks = append(v.report.Checks, Checked{name, outcome, problems})
}

func (v *verification) fail(name, format string, args ...any) {
	v.add(name, Fails, fmt.Sprintf(format, args...))
}

// settle adds a check that holds without problems.
func (v *verification) settle(name string, problems []string) {
	if len(problems) > 0 {
		v.add(name, Fails, problems...)
		return
	}
	v.add(name, Holds)
}

// rest adds the checks that were not come to.
func (v *verification) rest() {
	all := []string{CheckRead, CheckRules, CheckScore, CheckDigest, CheckShown, CheckPassages, CheckDocuments}
	for _, name := range all {
		if !slices.ContainsFunc(v.report.Checks, func(c Checked) bool { return c.Name == name }) {
			why := "what comes before it fails"
			if !v.report.Page && (name == CheckDigest || name == CheckShown || name == CheckPassages) {
				why = "only an evidence page has this"
			}
			v.add(name, NotChecked, why)
		}
	}
	slices.SortStableFunc(v.report.Checks, func(a, b Checked) int { return slices.Index(all, a.Name) - slices.Index(all, b.Name) })
}

// session checks the JSON text of a session.
func (v *verification) session(content []byte) {
	s, err := Unmarshal(content)
	if err != nil {
		v.fail(CheckRead, "%v", err)
		return
	}
	if !v.report.Page {
		v.add(CheckRead, Holds)
	}
	v.s, v.readable, v.report.Session = s, true, s.ID
	var rules, score []string
	for _, broken := range Check(content) {
		if broken.Rule == RuleSum {
			score = append(score, broken.String())
		} else {
			rules = append(rules, broken.String())
		}
	}
	v.sound = len(rules) == 0
	v.settle(CheckRules, rules)
	a := s.Audit()
	switch {
	case a == nil:
		v.add(CheckScore, NotChecked, "there is no audit")
	case len(score) > 0:
		v.settle(CheckScore, score)
	case a.ConsistencyScore == nil:
		v.add(CheckScore, NotChecked, "no model has judged")
	case *a.ConsistencyScore != Score(s.Pairs, a.Contradictions).Score:
		v.fail(CheckScore, "it is %d, and the formula gives %d", *a.ConsistencyScore, Score(s.Pairs, a.Contradictions).Score)
	default:
		v.add(CheckScore, Holds)
	}
	v.documents()
}

// page checks an evidence page.
func (v *verification) page() {
	v.digest()
	form, found := between(v.content, generatorMark, `"`)
	if !found {
		v.fail(CheckRead, "it is HTML, but no evidence page")
		return
	}
	if n, err := strconv.Atoi(form); err != nil || n != pageForm {
		v.fail(CheckRead, "it is a page of the form “%s”, and this program makes form %d; verify it with the program that made it", short(form), pageForm)
		return
	}
	text, found := between(v.content, carriedMark, "</script>")
	var c carried
	if !found {
		v.fail(CheckRead, "it carries no session")
		return
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		v.fail(CheckRead, "what it carries is no JSON: %v", err)
		return
	}
	v.session(c.Session)
	if !v.readable {
		return
	}
	v.add(CheckRead, Holds)
	v.passages(c.Passages)
	if v.sound {
		v.shown(c.Passages)
	}
}

// between is what stands between two marks, the first time.
func between(content []byte, from, to string) (string, bool) {
	_, rest, found := bytes.Cut(content, []byte(from))
	text, _, closed := bytes.Cut(rest, []byte(to))
	return string(text), found && closed
}

// digest checks a page's own digest. It needs nothing that the page carries.
func (v *verification) digest() {
	before, rest, found := bytes.Cut(v.content, []byte(digestMark))
	end := bytes.Index(rest, []byte("</code>"))
	if !found || end < 0 {
		v.fail(CheckDigest, "it shows none")
		return
	}
	v.report.Digest = digestOf(slices.Concat(before, []byte(digestMark), rest[end:]))
	if shown := string(rest[:end]); shown != v.report.Digest {
		v.fail(CheckDigest, "it shows %s, and has %s: something in the page was changed", short(shown), v.report.Digest)
		return
	}
	v.add(CheckDigest, Holds)
}

// shown makes the page again and compares.
func (v *verification) shown(passages []passage) {
	again, err := render(v.s, passages)
	if err != nil {
		v.fail(CheckShown, "it can't be made again: %v", err)
		return
	}
	v.settle(CheckShown, differences(v.content, again))
}

// differences names the lines in which a page is another than it should be, some at most.
func differences(got, want []byte) (problems []string) {
	if bytes.Equal(got, want) {
		return nil
	}
	const most = 10
	is, should := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	if len(is) != len(should) {
		problems = append(problems, fmt.Sprintf("it has %d lines, and what it carries gives %d", len(is), len(should)))
	}
	for i := range min(len(is), len(should)) {
		if is[i] == should[i] {
			continue
		}
		if len(problems) == most {
			return append(problems, "and more")
		}
		a, b := apart(is[i], should[i])
		problems = append(problems, fmt.Sprintf("line %d says “%s”, and what the page carries gives “%s”", i+1, short(a), short(b)))
		if len(is) != len(should) {
			return problems // all that follows is moved
		}
	}
	return problems
}

// apart gives two lines from shortly before where they part.
func apart(a, b string) (string, string) {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	n = max(0, n-10)
	return string(x[n:]), string(y[n:])
}

// passages checks the chunks that a page carries.
func (v *verification) passages(got []passage) {
	var chunks []Chunk
	var problems []string
	for _, p := range got {
		if p.Text != "" {
			chunks = append(chunks, Chunk{Document: p.Document, DocumentHash: p.DocumentHash, Page: p.Page, Index: p.Chunk, Text: p.Text, Hash: p.Hash})
		}
	}
	want, err := passagesOf(&v.s, chunks)
	switch {
	case err != nil:
		problems = append(problems, err.Error())
	case !slices.Equal(want, got):
		problems = append(problems, "they are others than those that the session cites")
	}
	v.settle(CheckPassages, problems)
}

// documents checks all citations against the documents at hand.
func (v *verification) documents() {
	if v.docs == nil {
		v.add(CheckDocuments, NotChecked, "no documents are given")
		return
	}
	type source struct {
		Source
		err error
	}
	sources := map[string]source{}
	var problems, missing []string
	cited := 0
	for i := range v.s.Pairs {
		for _, c := range v.s.Pairs[i].Citations {
			cited++
			d, known := sources[c.Document]
			if !known {
				d.Source, d.err = v.docs(c.Document)
				sources[c.Document] = d
				if errors.Is(d.err, fs.ErrNotExist) {
					missing = append(missing, fmt.Sprintf("“%s” is not at hand", short(c.Document)))
				} else if d.err != nil {
					problems = append(problems, fmt.Sprintf("“%s” can't be read: %v", short(c.Document), d.err))
				}
			}
			if d.err == nil {
				if err := found(c, d.Source); err != nil {
					problems = append(problems, fmt.Sprintf("pair %d: %v", i+1, err))
				}
			}
		}
	}
	switch {
	case len(problems) > 0:
		v.add(CheckDocuments, Fails, append(problems, missing...)...)
	case len(missing) > 0:
		v.add(CheckDocuments, NotChecked, missing...)
	case cited == 0:
		v.add(CheckDocuments, NotChecked, "the session cites none")
	default:
		v.add(CheckDocuments, Holds)
	}
}

// found looks a citation up in its document.
func found(c Citation, d Source) error {
	if d.Hash != c.Hash {
		return fmt.Errorf("“%s” is another file than the one that is cited: its hash is %s, and that of the citation is %s", short(c.Document), short(d.Hash), short(c.Hash))
	}
	at := slices.IndexFunc(d.Chunks, func(k Chunk) bool { return k.Index == c.Chunk })
	if at < 0 {
		return fmt.Errorf("“%s” has no chunk %d", short(c.Document), c.Chunk)
	}
	return agrees(c, d.Chunks[at])
}
