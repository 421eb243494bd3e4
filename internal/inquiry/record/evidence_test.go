package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/files"
	"sibyl/internal/media/document"
)

const passageText = "Niacin is Vitamin B3.\n\nThe daily\nallowance is 18 mg. More <b>harms</b> & more."

// audited is a completed session with all that a page can tell, and the document that it cites.
func audited() (Session, Source) {
	s := completed()
	chunk := document.Chunk{Document: "b3.pdf", DocumentHash: hashOf("a"), Page: 2, Index: 4, Text: passageText,
		Hash: files.Hash([]byte(passageText))}
	s.AuditTrail = []TrailEntry{{Timestamp: start.Add(90 * time.Second), Event: ProviderSwitch,
		FromProvider: "openai:det", ToProvider: "two:det2", Reason: "openai:det: 401 - the key is refused"}}
	for i := range s.Pairs {
		p := &s.Pairs[i]
		p.Follows, p.About, p.NotInDocuments = nil, nil, i == 2
		p.GapAnalysis.Gaps = []Gap{{Category: MissingInformation, Description: "“some” says no amount", Severity: Low}}
	}
	s.Pairs[1].Citations[0].ChunkHash = chunk.Hash
	s.Pairs[2].Question, s.Pairs[2].Answer = "Which holds?", "I found no passage on this."
	a := s.AuditResult
	a.Summary, a.RemainingGaps = "# Vitamin B3\n\n- It **helps**.", Remaining(s.Pairs)
	a.Contradictions[0].Places[1] = Place{Document: "b3.pdf", Page: 2}
	a.Contradictions = append(a.Contradictions, Contradiction{Pairs: [2]int{0, 2}, Description: "It helps, or not.",
		Kind: KindOther, Words: [2]string{"It helps", "no passage"}, Unconfirmed: true})
	a.Unverified = []Unverified{{Description: "The year differs.", Words: [2]string{"1937", "1938"}, Pair: 2,
		Reason: "“1938” stands in no answer"}}
	s.rescore()
	return s, Source{Hash: hashOf("a"), Chunks: []document.Chunk{{Index: 3, Text: "x"}, chunk}}
}

// collected is a session without a detective.
func collected() Session {
	s, _ := audited()
	s.Detective, s.Status, s.EndReason, s.AuditTrail = OfflineRules, LimitReached, Collected, []TrailEntry{}
	for i := range s.Pairs {
		s.Pairs[i].ProviderUsed, s.Pairs[i].AnalysedBy = OfflineRules, ""
		s.Pairs[i].GapAnalysis = GapAnalysis{Gaps: []Gap{}, Unjudged: "no model"}
	}
	s.AuditResult, s.ProvisionalAudit = nil, &Audit{Contradictions: []Contradiction{}, RemainingGaps: []RemainingGap{},
		Summary: NotAudited, Unjudged: "no model"}
	return s
}

// outcome is what came of a check.
func outcome(r Report, name string) Outcome {
	for _, c := range r.Checks {
		if c.Name == name {
			return c.Outcome
		}
	}
	return ""
}

func problems(r Report) (all []string) {
	for _, c := range r.Checks {
		if c.Outcome == Fails {
			all = append(all, c.Problems...)
		}
	}
	return all
}

func reading(d Source) func(string) (Source, error) {
	return func(name string) (Source, error) {
		if name != "b3.pdf" {
			return Source{}, fs.ErrNotExist
		}
		return d, nil
	}
}

func TestAPageThatNobodyTouchedHolds(t *testing.T) {
	s, d := audited()
	for name, page := range map[string][]byte{"with passages": assert.Must(Evidence(s, d.Chunks...))(t),
		"without": assert.Must(Evidence(s))(t)} {
		r := Verify(page, reading(d))
		for _, c := range r.Checks {
			assert.That(t, c.Outcome == Holds, "%s: %+v", name, c)
		}
		assert.That(t, r.Page && r.Session == s.ID && r.Digest == files.Hash(page) && len(r.Checks) == 4, "%s: %+v", name, r)
	}
	a, b := assert.Must(Evidence(s, d.Chunks...))(t), assert.Must(Evidence(s, d.Chunks...))(t)
	assert.That(t, bytes.Equal(a, b), "the same session gives another page")
	r := Verify(assert.Must(Evidence(collected()))(t), nil)
	assert.That(t, r.OK, "collected: %v", r.Checks)
}

func TestASessionFileIsVerifiedWithoutWhatOnlyAPageHas(t *testing.T) {
	s, d := audited()
	r := Verify(assert.Must(Marshal(s))(t), reading(d))
	for name, want := range map[string]Outcome{CheckRead: Holds, CheckRules: Holds, CheckShown: NotChecked,
		CheckDocuments: Holds} {
		assert.That(t, outcome(r, name) == want, "%s %s, want %s", name, outcome(r, name), want)
	}
	*s.AuditResult.ConsistencyScore--
	r = Verify(assert.Must(Marshal(s))(t), nil)
	assert.That(t, outcome(r, CheckRules) == Fails, "another score: %v", r.Checks)
	s.IterationLimit = 4
	r = Verify(assert.Must(Marshal(s))(t), nil)
	assert.That(t, outcome(r, CheckRules) == Fails, "a broken rule: %v", r.Checks)
	for _, content := range []string{"", "{", "null", "[]", "{}", "x", "<", "<html>", "\xff\xfe", "{\"id\": 1}"} {
		r := Verify([]byte(content), nil)
		assert.That(t, !r.OK && len(r.Checks) == 4, "%q is verified: %v", content, r.Checks)
	}
	r = Verify(append([]byte("<"), bytes.Repeat([]byte("x"), maxPage)...), nil)
	assert.That(t, outcome(r, CheckRead) == Fails, "a page of any size is read")
}

func TestNothingShownOrCarriedCanBeChangedAlone(t *testing.T) {
	s, d := audited()
	page := string(assert.Must(Evidence(s, d.Chunks...))(t))
	shown, data, _ := strings.Cut(page, carriedMark)
	in := func(part, from, to string) string { return strings.Replace(part, from, to, 1) + carriedMark + data }
	beneath := func(from, to string) string { return shown + carriedMark + strings.Replace(data, from, to, 1) }
	for name, changed := range map[string]string{
		"a word of an answer":      in(shown, "It helps.", "It harms."),
		"the verdict":              in(shown, "Consistency ", "Consistency 1"),
		"a quotation":              in(shown, "<mark>The daily", "<mark>The weekly"),
		"a failure that is gone":   in(shown, "the key is refused", "all is well"),
		"a space":                  in(shown, "It helps. ", "It helps.  "),
		"the style":                in(shown, "--ink: #1c1c1e", "--ink: #fdfdfb"),
		"something that is hidden": in(shown, "<main>", "<main hidden>"),
		"a script":                 in(shown, "</main>", "<script>1</script></main>"),
		"a line break at the end":  page + "\n",
		"a page of twice":          page + page,
		"carried: an answer":       beneath("It helps.", "It harms."),
		"carried: a passage":       beneath("Niacin is", "Niacin was"),
		"carried: the score":       beneath(`"consistencyScore": `, `"consistencyScore": 1`),
		"carried: another form":    beneath(fmt.Sprintf(`"form": %d`, pageForm), `"form": 99`),
		"carried: no session":      beneath(`"session"`, `"sessions"`),
		"carried: cut off":         page[:len(page)-len(data)/2],
	} {
		assert.That(t, changed != page, "%s: nothing was changed", name)
		r := Verify([]byte(changed), nil)
		assert.That(t, !r.OK, "%s is not found: %v", name, r.Checks)
	}
	for i := 0; i < len(page); i += 97 {
		changed := []byte(page)
		if changed[i] = ' '; page[i] == ' ' {
			changed[i] = '\n'
		}
		r := Verify(changed, nil)
		assert.Require(t, !r.OK, "byte %d may be changed: …%s…", i, page[max(0, i-30):min(len(page), i+30)])
	}
	old := strings.Replace(page, fmt.Sprintf("evidence %d\"", pageForm), "evidence 2\"", 1)
	if r := Verify([]byte(old), nil); !strings.Contains(fmt.Sprint(problems(r)), "the program that made it") {
		t.Errorf("a page of another form: %v", r.Checks)
	}
}

func TestAPageThatIsMadeAnewIsFoundByTheDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *Session, d *Source)
		want   string
	}{
		"another file":            {func(_ *Session, d *Source) { d.Hash = hashOf("f") }, "is another file"},
		"a chunk that is missing": {func(_ *Session, d *Source) { d.Chunks = d.Chunks[:1] }, "has no chunk 4"},
		"another text": {func(_ *Session, d *Source) {
			d.Chunks[1].Text += "."
			d.Chunks[1].Hash = files.Hash([]byte(d.Chunks[1].Text))
		}, "is another text"},
		"a hash that is not so": {func(_ *Session, d *Source) { d.Chunks[1].Text += "." }, "has not the hash"},
		"another page":          {func(s *Session, _ *Source) { s.Pairs[1].Citations[0].Page = 3 }, "page 3 is cited"},
		"a quote of another": {func(s *Session, _ *Source) {
			s.Pairs[1].Citations[0].Quote = "Niacin harms"
		}, "does not hold the words"},
	} {
		s, d := audited()
		c.change(&s, &d)
		r := Verify(assert.Must(Evidence(s))(t), reading(d))
		assert.That(t, outcome(r, CheckShown) == Holds && outcome(r, CheckDocuments) == Fails &&
			strings.Contains(fmt.Sprint(problems(r)), c.want), "%s: %v, want “%s”", name, r.Checks, c.want)
	}
	s, d := audited()
	content := assert.Must(Marshal(s))(t)
	r := Verify(content, func(string) (Source, error) {
		return Source{}, fmt.Errorf("folder: %w", fs.ErrNotExist)
	})
	assert.That(t, outcome(r, CheckDocuments) == NotChecked, "not at hand: %v", r.Checks)
	if r := Verify(content, func(string) (Source, error) {
		return Source{}, errors.New("it is encrypted")
	}); outcome(r, CheckDocuments) != Fails {
		t.Errorf("unreadable: %v", r.Checks)
	}
	s.Pairs[1].Citations[0].Quote = "never said"
	_, err := Evidence(s, d.Chunks...)
	assert.That(t, err != nil && strings.Contains(err.Error(), "does not hold the words “never said”"),
		"a page is made of a quotation that nobody wrote: %v", err)
	*s.AuditResult.ConsistencyScore = 99
	_, err = Evidence(s)
	assert.That(t, err != nil, "a page is made of a score that is invented")
}

// ordered says where some texts stand in another, and fails if they do not follow each other.
func ordered(t *testing.T, in string, texts ...string) {
	t.Helper()
	from := 0
	for _, text := range texts {
		at := strings.Index(in[from:], text)
		if at < 0 {
			t.Errorf("%q does not follow in\n%s", text, in[from:])
			return
		}
		from += at + len(text)
	}
}

func TestVerdictFailuresAndFindingsStandFirst(t *testing.T) {
	s, d := audited()
	page := string(assert.Must(Evidence(s, d.Chunks...))(t))
	ordered(t, page, "<h1 dir=\"auto\">Summarize the health benefits", Verdict(&s),
		"openai:det: 401 - the key is refused (then two:det2)",
		"<h2>Contradictions</h2>", "The amounts differ.", `<blockquote dir="auto">16 mg</blockquote>`,
		`<a href="#pair-1">answer 1</a>`,
		`<blockquote dir="auto">18 mg</blockquote>`, `b3.pdf, page 2 · <a href="#pair-2">answer 2</a>`,
		"asked about both in question 3",
		"was not asked about</h2>", "It helps, or not.", "can’t be verified</h2>", "The year differs.",
		"stands in no answer",
		"<h2>Open gaps</h2>", "missing information, low", s.AuditResult.Sum.String(), "<h2>Summary</h2>",
		`<h3 dir="auto">Vitamin B3</h3>`, "It helps.</p>",
		"<h2>Questions and answers</h2>", "1. What does it do?", `<a href="#passage-`+
			strings.TrimPrefix(d.Chunks[1].Hash, "sha256:")+`">b3.pdf, page 2</a>`,
		"judged by openai:gpt-4o: 60 % complete",
		"<h2>Documents</h2>", hashOf("a"), "not read: it holds no text", "<h2>Passages",
		"<mark>The daily\nallowance is 18 mg.</mark> More",
		"How to verify this page", "sibyl inquiry verify")
	ordered(t, string(Markdown(s)), "# Summarize the health benefits", Verdict(&s), "401 - the key is refused (then two:det2)",
		"## Contradictions",
		"**The amounts differ.**", "- “16 mg” ([answer 1](#answer-1))",
		"- “18 mg” (b3.pdf, page 2; [answer 2](#answer-2))", "was not asked about",
		"It helps, or not.", "can’t be verified", "“1937” “1938” ([answer 2](#answer-2))", "## Open gaps", "missing information, low",
		"## Summary",
		"> # Vitamin B3",
		"### Answer 2", "**How much is needed?**", "> The daily allowance is 18 mg.", "b3.pdf, page 2", "## Documents",
		"Session: "+s.ID)
}

func TestWithoutADetectiveNothingIsJudged(t *testing.T) {
	s := collected()
	page := string(assert.Must(Evidence(s))(t))
	for name, told := range map[string]string{"page": page, "Markdown": string(Markdown(s))} {
		told, _, _ = strings.Cut(told, carriedMark)
		assert.That(t, strings.Contains(told, "Collected, not audited: a detective needs a model."),
			"the %s does not say that nothing was audited", name)
		assert.Lacks(t, name, told, "Contradictions", "Consistency", "The score", "satisfied", "% complete")
	}
}

func TestWhereNoAnswerWasJudgedNoneIsSaidToHoldNothing(t *testing.T) {
	s, _ := audited()
	for i := range s.Pairs {
		s.Pairs[i].GapAnalysis = GapAnalysis{Gaps: []Gap{}, RequiresFollowUp: true,
			Unjudged: "openai:det: 401 - the key is refused"}
	}
	s.Status, s.EndReason, s.AuditResult = Failed, Broken, nil
	s.ProvisionalAudit = &Audit{Contradictions: []Contradiction{}, RemainingGaps: []RemainingGap{},
		Unjudged: "openai:det: 401 - the key is refused"}
	s.ProvisionalAudit.Summary = Verdict(&s)
	for name, told := range map[string]string{"page": string(assert.Must(Evidence(s))(t)), "Markdown": string(Markdown(s)),
		"verdict": Verdict(&s)} {
		told, _, _ = strings.Cut(told, carriedMark)
		assert.That(t, strings.Contains(told, "No answer was judged."), "the %s does not say that no answer was judged", name)
		assert.Lacks(t, name, told, "None", "0 contradictions", "0 open gaps")
		assert.That(t, strings.Count(told, "It failed after 3 questions") == 1, "the %s does not say the verdict once", name)
	}
}

// hostile is a session whose every text tries to be something else than text.
func hostile() Session {
	const evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" onload='x' <!-- ]]> {{.}} " +
		"[l](javascript:alert(1)) ![i](http://x.invalid/i.png)" +
		" \u202egnp.exe\u2066 \x00\x1b[31m \u2028 \u200b http://example.invalid/"
	s, _ := audited()
	s.Hypothesis.Text, s.Run, s.Witness.Name, s.Witness.Documents[0].Name, s.Witness.Documents[1].Error = evil, evil,
		evil, evil, evil
	a := s.AuditResult
	a.Summary, a.By, a.Contradictions[0].Description, a.Unverified[0] = "# "+evil+"\n- "+evil+"\n"+evil, evil, evil,
		Unverified{Description: evil, Words: [2]string{evil, evil}, Pair: 1, Reason: evil}
	s.AuditTrail[0].Reason, s.AuditTrail[0].ToProvider = evil, evil
	for i := range s.Pairs {
		p := &s.Pairs[i]
		p.Question, p.Answer, p.AnsweredBy, p.AnalysedBy, p.ProviderUsed = evil, evil, evil, evil,
			"x:"+strings.ReplaceAll(evil, " ", "")
		p.GapAnalysis.Gaps = []Gap{{Category: Vagueness, Severity: Low, Description: evil}}
		for j := range p.Citations {
			p.Citations[j].Document, p.Citations[j].Quote = evil, evil
		}
	}
	a.Contradictions[0].Places[1].Document = evil
	for i := range a.Contradictions {
		a.Contradictions[i].Words = [2]string{"<img src=x onerror=alert(1)>", "{{.}}"}
	}
	a.Contradictions[1].Words[1] = evil
	a.RemainingGaps = Remaining(s.Pairs)
	return s
}

// refers are the attributes by which an element could reach the network, or run.
var refers = []string{"src", "srcset", "action", "formaction", "data", "poster", "background", "cite", "ping", "style",
	"manifest"}

func TestAPageNeedsNothingFromElsewhereAndRunsNothing(t *testing.T) {
	s, d := audited()
	for name, page := range map[string][]byte{"plain": assert.Must(Evidence(s, d.Chunks...))(t),
		"hostile": assert.Must(makePage(hostile(), nil))(t)} {
		root := assert.Must(html.Parse(bytes.NewReader(page)))(t)
		ids, links := map[string]bool{}, []string{}
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			assert.That(t,
				!slices.Contains([]string{"img", "iframe", "object", "embed", "link", "base", "form", "audio", "video",
					"svg", "math", "input", "button"}, n.Data), "%s: the page has a <%s>", name, n.Data)
			for _, a := range n.Attr {
				switch {
				case a.Key == "id":
					ids[a.Val] = true
				case a.Key == "href":
					links = append(links, a.Val)
				case slices.Contains(refers, a.Key) || strings.HasPrefix(a.Key, "on"):
					t.Errorf("%s: <%s> has %s=%q", name, n.Data, a.Key, a.Val)
				}
			}
			assert.That(t, n.Data != "script" || (len(n.Attr) == 2 && n.Attr[0].Val == "application/json"),
				"%s: there is a script: %v", name, n.Attr)
		}
		for _, link := range links {
			assert.That(t, strings.HasPrefix(link, "#") && (ids[link[1:]] || name != "plain"),
				"%s: a link leads to %s", name, link)
		}
		style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindSubmatch(page)[1]
		sum := sha256.Sum256(style)
		policy := html.EscapeString("default-src 'none'; style-src 'sha256-" +
			base64.StdEncoding.EncodeToString(sum[:]) + "'")
		assert.That(t, strings.Contains(strings.ReplaceAll(string(page), "&#43;", "+"), policy),
			"%s: the policy is not %s", name, policy)
		shown, _, _ := strings.Cut(string(page), carriedMark)
		assert.That(t, !strings.ContainsAny(shown, "\u202e\u2066\x00\x1b\u2028\u200b"),
			"%s: control characters are shown as they are", name)
	}
}

func FuzzVerify(f *testing.F) {
	s, d := audited()
	f.Add(assert.Must(Evidence(s, d.Chunks...))(f))
	f.Add(assert.Must(Marshal(s))(f))
	f.Add([]byte(generatorMark + fmt.Sprint(pageForm) + `">` + carriedMark +
		`{"form":4,"session":{"auditResult":{"contradictions":[{"qaPairIndexes":[9,-1]}]}},"passages":[{}]}</script>`))
	f.Fuzz(func(t *testing.T, content []byte) {
		r := Verify(content, reading(d))
		assert.That(t, len(r.Checks) == 4, "%d checks: %v", len(r.Checks), r.Checks)
		if s, err := Unmarshal(content); err == nil {
			_ = Markdown(s)
		}
	})
}
