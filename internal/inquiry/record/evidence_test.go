package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"sibyl/internal/files"
)

const passageText = "Niacin is Vitamin B3.\n\nThe daily\nallowance is 18 mg. More <b>harms</b> & more."

// cited is the session of the tests with a citation of a chunk that there is, and the document that holds it.
func cited() (Session, Source) {
	s := completed()
	chunk := Chunk{Document: "b3.pdf", DocumentHash: hashOf("a"), Page: 2, Index: 4, Text: passageText, Hash: files.Hash([]byte(passageText))}
	s.Pairs[1].Citations[0].ChunkHash = chunk.Hash
	return s, Source{Hash: hashOf("a"), Chunks: []Chunk{{Index: 3, Text: "x"}, chunk}}
}

// outcomes are what came of the checks of a report, by their names.
func outcomes(r Report) map[string]Outcome {
	all := map[string]Outcome{}
	for _, c := range r.Checks {
		all[c.Name] = c.Outcome
	}
	return all
}

// problems are all problems of a report that fail.
func problems(r Report) (all []string) {
	for _, c := range r.Checks {
		if c.Outcome == Fails {
			all = append(all, c.Problems...)
		}
	}
	return all
}

func wantOutcomes(t *testing.T, what string, r Report, want map[string]Outcome) {
	t.Helper()
	got := outcomes(r)
	if len(r.Checks) != 7 || len(got) != 7 {
		t.Errorf("%s: the checks are %v", what, got)
	}
	for name, outcome := range want {
		if got[name] != outcome {
			t.Errorf("%s: “%s” %s, want that it %s: %v", what, name, got[name], outcome, r.Checks)
		}
	}
	if r.OK() != !slices.Contains(slices.Collect(maps.Values(got)), Fails) {
		t.Errorf("%s: it is OK: %v, with %v", what, r.OK(), got)
	}
}

func readerOf(d Source) func(string) (Source, error) {
	return func(name string) (Source, error) {
		if name != "b3.pdf" {
			return Source{}, fs.ErrNotExist
		}
		return d, nil
	}
}

func TestAPageThatNobodyTouchedHolds(t *testing.T) {
	s, d := cited()
	for name, page := range map[string][]byte{"with passages": must(Evidence(s, d.Chunks...))(t), "without": must(Evidence(s))(t)} {
		r := Verify(page, readerOf(d))
		wantOutcomes(t, name, r, map[string]Outcome{CheckRead: Holds, CheckRules: Holds, CheckScore: Holds, CheckDigest: Holds, CheckShown: Holds, CheckPassages: Holds, CheckDocuments: Holds})
		if !r.Page || r.Session != exampleID || !strings.Contains(string(page), r.Digest) || !isHash(r.Digest) {
			t.Errorf("%s: %+v", name, r)
		}
		if again := must(Evidence(s, d.Chunks...))(t); name == "with passages" && !bytes.Equal(again, page) {
			t.Error("the same session gives another page")
		}
	}
	for name, s := range map[string]Session{"failed": failed(), "running": running(), "at its limit": limited()} {
		if r := Verify(must(Evidence(s))(t), nil); !r.OK() {
			t.Errorf("%s: %v", name, problems(r))
		}
	}
}

func TestASessionFileIsVerifiedWithoutWhatOnlyAPageHas(t *testing.T) {
	s, d := cited()
	want := map[string]Outcome{CheckRead: Holds, CheckRules: Holds, CheckScore: Holds, CheckDigest: NotChecked, CheckShown: NotChecked, CheckPassages: NotChecked, CheckDocuments: Holds}
	wantOutcomes(t, "a session", Verify(must(Marshal(s))(t), readerOf(d)), want)
	wantOutcomes(t, "one that runs", Verify(must(Marshal(running()))(t), nil), map[string]Outcome{CheckScore: NotChecked, CheckDocuments: NotChecked, CheckRules: Holds})
	s.AuditResult.ConsistencyScore--
	wantOutcomes(t, "another score", Verify(must(Marshal(s))(t), nil), map[string]Outcome{CheckRules: Holds, CheckScore: Fails})
	s.AuditResult.Sum = Sum{}
	wantOutcomes(t, "a score without its sum", Verify(must(Marshal(s))(t), nil), map[string]Outcome{CheckRules: Holds, CheckScore: Fails})
	s.IterationLimit = 4
	wantOutcomes(t, "a broken rule", Verify(must(Marshal(s))(t), nil), map[string]Outcome{CheckRead: Holds, CheckRules: Fails})
	for _, text := range []string{"", "{", "null", "[]", "{}", "x", "<", "<html>", "\xff\xfe", "{\"id\": 1}"} {
		if r := Verify([]byte(text), nil); r.OK() {
			t.Errorf("%q is verified: %v", text, r.Checks)
		}
	}
}

// body is a page's text before what it carries.
func body(t *testing.T, page []byte) string {
	t.Helper()
	shown, _, found := strings.Cut(string(page), carriedMark)
	if !found {
		t.Fatal("the page carries nothing")
	}
	return shown
}

func TestWhatIsShownCanNotBeChanged(t *testing.T) {
	s, d := cited()
	page := string(must(Evidence(s, d.Chunks...))(t))
	pairs := regexp.MustCompile(`(?s)<article id="pair-2">.*?</article>\n`).FindString(page)
	swap := func(a, b string) string {
		return strings.NewReplacer(a, b, b, a).Replace(page)
	}
	for name, changed := range map[string]string{
		"a word of an answer":         strings.Replace(page, "It helps.", "It harms.", 1),
		"a score":                     strings.ReplaceAll(page, "<strong>84</strong>", "<strong>94</strong>"),
		"the verdict":                 strings.Replace(page, "Consistency 84", "Consistency 48", 1),
		"a term of the sum":           strings.Replace(page, "−10", "−20", 1),
		"a pair that is gone":         strings.Replace(page, pairs, "", 1),
		"answers that are swapped":    swap("It helps. Adults need <mark>16 mg</mark> a day.", "The daily allowance is <mark>18 mg</mark>."),
		"a quote":                     strings.Replace(page, `dir="auto">The daily allowance is 18 mg.</blockquote>`, `dir="auto">The daily allowance is 81 mg.</blockquote>`, 1),
		"a passage":                   strings.Replace(page, "Niacin is", "Niacin was", 1),
		"a gap that is closed":        strings.Replace(page, "<strong>open</strong>", "closed", 1),
		"a time":                      strings.Replace(page, "14:31:22</time>", "14:31:23</time>", 1),
		"a space":                     strings.Replace(page, "It helps. ", "It helps.  ", 1),
		"a line break at the end":     page + "\n",
		"the style":                   strings.Replace(page, "--ink: #1c1c1e", "--ink: #fdfdfb", 1),
		"something that is hidden":    strings.Replace(page, "<main>", "<main hidden>", 1),
		"a script":                    strings.Replace(page, "</main>", "<script>1</script></main>", 1),
		"another hash":                strings.Replace(page, hashOf("a"), hashOf("c"), 1),
		"an event":                    strings.Replace(page, "rate limited", "bored", 1),
		"a page of twice":             page + page,
		"line breaks of another kind": strings.ReplaceAll(page, "\n", "\r\n"),
	} {
		if changed == page {
			t.Errorf("%s: nothing was changed", name)
			continue
		}
		wantOutcomes(t, name, Verify([]byte(changed), nil), map[string]Outcome{CheckDigest: Fails, CheckShown: Fails})
		anew := redigested(changed)
		wantOutcomes(t, name+", with a digest that fits", Verify([]byte(anew), nil), map[string]Outcome{CheckDigest: Holds, CheckShown: Fails})
	}
}

// redigested gives a page the digest that it has.
func redigested(page string) string {
	before, rest, _ := strings.Cut(page, digestMark)
	end := strings.Index(rest, "</code>")
	blank := before + digestMark + rest[end:]
	return before + digestMark + digestOf([]byte(blank)) + rest[end:]
}

func TestAnyByteThatIsChangedIsFound(t *testing.T) {
	page := must(Evidence(completed()))(t)
	step := 23 // all of them take long
	if os.Getenv("SIBYL_LONG") != "" {
		step = 1
	}
	for i := 0; i < len(page); i += step {
		changed := bytes.Clone(page)
		if changed[i] = ' '; page[i] == ' ' {
			changed[i] = '\n'
		}
		if r := Verify(changed, nil); r.OK() {
			t.Fatalf("byte %d may be %q instead of %q: …%s…", i, changed[i], page[i], page[max(0, i-30):min(len(page), i+30)])
		}
	}
}

func TestWhatIsCarriedCanNotBeChangedAlone(t *testing.T) {
	s, d := cited()
	page := string(must(Evidence(s, d.Chunks...))(t))
	shown, data, _ := strings.Cut(page, carriedMark)
	for name, changed := range map[string]string{
		"an answer":       strings.Replace(data, "It helps.", "It harms.", 1),
		"a score":         strings.Replace(data, `"consistencyScore": 84`, `"consistencyScore": 85`, 1),
		"a passage":       strings.Replace(data, "Niacin is", "Niacin was", 1),
		"no passages":     regexp.MustCompile(`(?s)"passages": \[.*\]`).ReplaceAllString(data, `"passages": []`),
		"another form":    strings.Replace(data, `"form": 2`, `"form": 3`, 1),
		"swapped answers": strings.NewReplacer("It helps. Adults need 16 mg a day.", "The daily allowance is 18 mg.", "The daily allowance is 18 mg.", "It helps. Adults need 16 mg a day.").Replace(data),
		"a member beside": strings.Replace(data, `"form": 2`, `"form": 2, "x": 1`, 1),
		"no session":      strings.Replace(data, `"session"`, `"sessions"`, 1),
		"cut off":         data[:len(data)/2],
	} {
		if changed == data {
			t.Errorf("%s: nothing was changed", name)
		}
		for _, text := range []string{shown + carriedMark + changed, redigested(shown + carriedMark + changed)} {
			if r := Verify([]byte(text), nil); r.OK() {
				t.Errorf("%s: %v", name, r.Checks)
			}
		}
	}
	if r := Verify([]byte(strings.Replace(page, "evidence 2\"", "evidence 3\"", 1)), nil); r.OK() || !strings.Contains(fmt.Sprint(problems(r)), "the program that made it") {
		t.Errorf("a page of another form: %v", r.Checks)
	}
}

func TestAWholePageThatIsMadeAnewIsFoundByTheDocuments(t *testing.T) {
	s, d := cited()
	digest := Verify(must(Evidence(s, d.Chunks...))(t), nil).Digest
	s.Pairs[1].Citations[0].Quote = "The daily allowance is 81 mg."
	r := Verify(must(Evidence(s))(t), readerOf(d))
	wantOutcomes(t, "another quote", r, map[string]Outcome{CheckShown: Holds, CheckDigest: Holds, CheckDocuments: Fails})
	if r.Digest == digest {
		t.Error("another page has the same digest")
	}
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
		"a quote of another":    {func(s *Session, _ *Source) { s.Pairs[1].Citations[0].Quote = "Niacin harms" }, "does not hold the words"},
	} {
		s, d := cited()
		c.change(&s, &d)
		r := Verify(must(Marshal(s))(t), readerOf(d))
		wantOutcomes(t, name, r, map[string]Outcome{CheckRules: Holds, CheckDocuments: Fails})
		if !strings.Contains(fmt.Sprint(problems(r)), c.want) {
			t.Errorf("%s: %q, want “%s”", name, problems(r), c.want)
		}
	}
}

func TestADocumentThatIsNotAtHandIsNotChecked(t *testing.T) {
	s, _ := cited()
	text := must(Marshal(s))(t)
	away := func(string) (Source, error) { return Source{}, fmt.Errorf("folder: %w", fs.ErrNotExist) }
	wantOutcomes(t, "not there", Verify(text, away), map[string]Outcome{CheckDocuments: NotChecked})
	broken := func(string) (Source, error) { return Source{}, errors.New("it is encrypted") }
	r := Verify(text, broken)
	wantOutcomes(t, "unreadable", r, map[string]Outcome{CheckDocuments: Fails})
	if !strings.Contains(fmt.Sprint(problems(r)), "it is encrypted") {
		t.Errorf("%q", problems(r))
	}
}

func TestNoPageIsMadeOfWhatDoesNotHold(t *testing.T) {
	s, d := cited()
	s.AuditResult.ConsistencyScore = 99
	if _, err := Evidence(s); err == nil || !strings.Contains(err.Error(), "formula") {
		t.Errorf("a score that is invented: %v", err)
	}
	s, _ = cited()
	s.Pairs[1].Citations[0].Quote = "never said"
	if _, err := Evidence(s, d.Chunks...); err == nil || !strings.Contains(err.Error(), "does not hold the words “never said”") {
		t.Errorf("a quote that nobody wrote: %v", err)
	}
}

// hostile is a session whose every text tries to be something else than text.
func hostile() Session {
	const evil = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" onload='x' <!-- ]]> {{.}} javascript:alert(1) \u202egnp.exe\u2066 \x00\x1b[31m \u2028 \u200b http://example.invalid/"
	s := completed()
	s.Hypothesis.Text, s.Run, s.Witness.Name, s.Witness.Documents[1].Error, s.AuditResult.Summary, s.AuditResult.By = evil, evil, evil, evil, evil, evil
	s.AuditResult.Contradictions[0].Description, s.AuditTrail[0].Reason, s.AuditTrail[0].FromProvider = evil, evil, evil
	s.Witness.Documents[0].Name = evil
	for i := range s.Pairs {
		p := &s.Pairs[i]
		p.Question, p.Answer, p.Strategy, p.Aspect, p.AnsweredBy, p.AnalysedBy, p.ProviderUsed = evil, evil, evil, evil, evil, evil, "x:"+strings.ReplaceAll(evil, " ", "")
		for j := range p.GapAnalysis.Gaps {
			g := &p.GapAnalysis.Gaps[j]
			g.Description, g.Aspect, g.ID = evil, evil, fmt.Sprint(evil, j)
		}
		for j := range p.Citations {
			p.Citations[j].Document, p.Citations[j].Quote = evil, evil
		}
	}
	s.Pairs[2].Follows = []string{evil + "0"}
	s.AuditResult.Contradictions[0].Words = [2]string{"<img src=x onerror=alert(1)>", evil}
	s.AuditResult.RemainingGaps = Remaining(s.Pairs)
	return s
}

// refers are the attributes by which an element could reach the network, or run.
var refers = map[string]bool{"src": true, "srcset": true, "action": true, "formaction": true, "data": true, "poster": true, "background": true, "cite": true, "ping": true, "style": true, "manifest": true}

func TestAPageNeedsNothingFromElsewhereAndRunsNothing(t *testing.T) {
	s, d := cited()
	german := hostile()
	german.Language = "de"
	for name, page := range map[string][]byte{"plain": must(Evidence(s, d.Chunks...))(t), "hostile": must(Evidence(hostile()))(t), "in German": must(Evidence(german))(t)} {
		if r := Verify(page, nil); !r.OK() {
			t.Errorf("%s: %v", name, problems(r))
		}
		root := must(html.Parse(bytes.NewReader(page)))(t)
		ids, links := map[string]bool{}, []string{}
		for n := range root.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			switch n.Data {
			case "img", "iframe", "object", "embed", "link", "base", "form", "audio", "video", "svg", "math", "input", "button":
				t.Errorf("%s: the page has a <%s>", name, n.Data)
			}
			for _, a := range n.Attr {
				switch {
				case a.Key == "id" && ids[a.Val]:
					t.Errorf("%s: the id %s stands there twice", name, a.Val)
				case a.Key == "id":
					ids[a.Val] = true
				case a.Key == "href":
					links = append(links, a.Val)
				case refers[a.Key] || strings.HasPrefix(a.Key, "on"):
					t.Errorf("%s: <%s> has %s=%q", name, n.Data, a.Key, a.Val)
				case n.Data == "script" && (a.Key != "type" || a.Val != "application/json") && a.Key != "id":
					t.Errorf("%s: a script has %s=%q", name, a.Key, a.Val)
				}
			}
			if n.Data == "script" && len(n.Attr) != 2 {
				t.Errorf("%s: there is a script: %v", name, n.Attr)
			}
		}
		for _, link := range links {
			if !strings.HasPrefix(link, "#") || !ids[link[1:]] {
				t.Errorf("%s: a link leads to %s", name, link)
			}
		}
		sum := sha256.Sum256([]byte(regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(string(page))[1]))
		if policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(string(page), policy) {
			t.Errorf("%s: the policy is not %s", name, policy)
		}
		if css := style; strings.Contains(css, "url(") || strings.Contains(css, "@import") {
			t.Error("the style reaches elsewhere")
		}
		shown := body(t, page)
		for _, r := range "\u202e\u2066\x00\x1b\u2028\u200b" {
			if strings.ContainsRune(string(page[:len(shown)]), r) {
				t.Errorf("%s: the page has %U, which nobody sees", name, r)
			}
		}
	}
}

func TestAHostileSessionIsCarriedAsItIs(t *testing.T) {
	s := hostile()
	text, found := between(must(Evidence(s))(t), carriedMark, "</script>")
	var c carried
	if err := json.Unmarshal([]byte(text), &c); err != nil || !found {
		t.Fatal(err)
	}
	back := must(Unmarshal(c.Session))(t)
	if back.Pairs[0].Answer != s.Pairs[0].Answer || back.Hypothesis.Text != s.Hypothesis.Text {
		t.Errorf("%q is carried as %q", s.Pairs[0].Answer, back.Pairs[0].Answer)
	}
}

func TestAPageShowsEveryPartOfTheSession(t *testing.T) {
	s, d := cited()
	page := body(t, must(Evidence(s, d.Chunks...))(t))
	for _, want := range []string{
		`<html lang="en">`, "Summarize the health benefits of Vitamin B3</h1>",
		"The detective is satisfied after 3 questions. Consistency 84 of 100, 1 contradiction, 1 open gap (none of high severity).",
		"<td>1 × 10</td><td>−10</td>", "<td>1 × 2 (low)</td><td>−2</td>", "<td>−3.833</td>", "<strong>84</strong>",
		"<mark>16 mg</mark>", "<mark>18 mg</mark>", `It stands after <a href="#pair-3">Pair 3</a>`,
		`<td><a href="#pair-2">Pair 2</a></td><td><a href="#pair-3">Pair 3</a></td><td>closed by <a href="#pair-3">Pair 3</a></td>`,
		`<article id="pair-1">`, `<article id="pair-3">`, "The documents do not say it.", "Completeness: <strong>85</strong> / 100",
		`<a href="#passage-1">b3.pdf, Page 2, Chunk 4</a>`, files.Hash([]byte(passageText)), hashOf("a"),
		"Niacin is Vitamin B3.", "&lt;b&gt;harms&lt;/b&gt; &amp; more.", "it holds no text", "rate limited", "openai:gpt-4o", "offline:rules", "run-1", `<h3 dir="auto">Vitamin B3</h3>`,
		"2025-10-05 14:31:22", `Names: <a href="#pair-1">Pair 1</a>, <a href="#pair-2">Pair 2</a>`, "prefers-color-scheme: dark", "@media print",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not show %s", want)
		}
	}
}

func TestAPageIsInTheLanguageOfItsSession(t *testing.T) {
	s, d := cited()
	s.Language = "de"
	page := body(t, must(Evidence(s, d.Chunks...))(t))
	for _, want := range []string{`<html lang="de">`, "Der Detektiv ist nach 3 Fragen zufrieden. Stimmigkeit 84 von 100, 1 Widerspruch, 1 offene Lücke (keine davon schwer).", "−3,833",
		"Widersprüche", "Lücken", `<a href="#pair-1">Paar 1</a>`, "geschlossen durch", "Die Dokumente sagen es nicht.", "sibyl inquiry verify DATEI"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %s", want)
		}
	}
	english := string(must(Evidence(hostile()))(t))
	for _, table := range []words{wordsOf("en"), wordsOf("de"), wordsOf("")} {
		for _, reason := range []string{"satisfied", "completed", "limit", "limit-reached", "no-progress", "stopped", "error", "timeout", "failed", "running"} {
			if strings.Count(table.verdicts[reason], "%s") != 1 {
				t.Errorf("there is no verdict for %s", reason)
			}
		}
	}
	if strings.Contains(english, "%!") || strings.Contains(page, "%!") {
		t.Error("a sentence lacks a word")
	}
}

func TestThePageOfAFormStaysAsItIs(t *testing.T) {
	s, d := cited()
	const want = "sha256:8e86639d5786937449ea7f698cfe223d3faa6b57df2aedf992ffa4d52d900575"
	if got := Verify(must(Evidence(s, d.Chunks...))(t), nil).Digest; got != want {
		t.Errorf("the same session gives another page than before (%s): raise pageForm, or pages of before are taken for ones that were changed", got)
	}
}

func TestAHugePageIsRefused(t *testing.T) {
	r := Verify(append([]byte("<"), bytes.Repeat([]byte("x"), maxPage)...), nil)
	wantOutcomes(t, "huge", r, map[string]Outcome{CheckRead: Fails, CheckShown: NotChecked})
}

func FuzzVerify(f *testing.F) {
	s, d := cited()
	f.Add(must(Evidence(s, d.Chunks...))(f))
	f.Add(must(Evidence(hostile()))(f))
	f.Add(must(Marshal(s))(f))
	f.Add([]byte(content(f, "testdata/examples.json")))
	f.Add([]byte(generatorMark + `2">` + carriedMark + `{"form":2,"session":{"auditResult":{"contradictions":[{"qaPairIndexes":[9,-1]}]}},"passages":[{}]}</script>` + digestMark + `</code>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := Verify(text, readerOf(d))
		if len(r.Checks) != 7 {
			t.Errorf("%d checks: %v", len(r.Checks), r.Checks)
		}
		if !r.OK() || !r.Page {
			return
		}
		shown, carriedText, _ := bytes.Cut(text, []byte(carriedMark))
		if again := Verify(append(append(bytes.Clone(shown), " "+carriedMark...), carriedText...), nil); again.OK() {
			t.Error("a page with one more space is verified, too")
		}
	})
}

func FuzzUnmarshalAndValidate(f *testing.F) {
	f.Add(must(Marshal(completed()))(f))
	f.Add([]byte(content(f, "testdata/examples.json")))
	f.Add([]byte(`{"qaPairs":[{"gapAnalysis":{"gaps":[{}]}}],"auditResult":{"contradictions":[{"qaPairIndexes":[0,7],"words":["x","y"]}]},"provisionalAudit":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		broken := Check(text)
		s, err := Unmarshal(text)
		if err != nil {
			if len(broken) == 0 {
				t.Errorf("nothing is found in what can't be read: %v", err)
			}
			return
		}
		if len(broken) == 0 && len(s.Validate()) > 0 {
			t.Errorf("Check finds nothing, and Validate %v", s.Validate())
		}
		out, err := Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again := must(Unmarshal(out))(t)
		if second := must(Marshal(again))(t); !bytes.Equal(second, out) {
			t.Errorf("written again, it is\n%s\nafter\n%s", second, out)
		}
		_ = Markdown(s)
	})
}
