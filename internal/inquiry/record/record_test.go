package record

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/text/markdown/markdowntest"
)

const exampleID = "3f2b8c1e-9d4a-4b6f-8a7e-5c1d2e3f4a5b"

// start is when the sessions of the tests begin: the times of the examples of the requirement.
var start = time.Date(2025, 10, 5, 14, 30, 22, 0, time.UTC)

func hashOf(digit string) string { return "sha256:" + strings.Repeat(digit, 64) }

// completed is a session that uses every member of the form, and breaks no rule.
func completed() Session {
	end := start.Add(4 * time.Minute)
	pair := func(n, complete int, question, answer string, gaps ...Gap) Pair {
		return Pair{
			Sequence: n, Question: question, Answer: answer, Timestamp: start.Add(time.Duration(n) * time.Minute),
			ProviderUsed: "openai:gpt-4o",
			GapAnalysis:  GapAnalysis{Gaps: gaps, CompletenessScore: &complete, RequiresFollowUp: len(gaps) > 1},
			Strategy:     "depth", Aspect: "when", AnsweredBy: "documents", AnalysedBy: "openai:gpt-4o",
		}
	}
	dose := Gap{Category: Vagueness, Description: "“some” says no amount", Severity: Low, ID: "g1",
		Aspect: "how much", Since: 1}
	clash := Gap{Category: Inconsistency, Description: "16 mg and 18 mg", Severity: High, ID: "g2", Since: 2}
	s := Session{
		ID: exampleID, Hypothesis: Hypothesis{Text: "Summarize the health benefits of Vitamin B3", CreatedAt: start},
		StartTime: start, EndTime: &end, Status: Completed,
		IterationLimit: 5, CurrentIteration: 3, EndReason: Satisfied, Language: "en", Detective: "openai:gpt-4o",
		Run: "run-1",
		Pairs: []Pair{
			pair(1, 40, "What does it do?", "It helps. Adults need 16 mg a day.", dose),
			pair(2, 60, "How much is needed?", "The daily allowance is 18 mg.", dose, clash),
			pair(3, 85, "You said “16 mg” and “18 mg”: which holds?", "Both are what I said.", dose),
		},
		AuditTrail: []TrailEntry{
			{Timestamp: start.Add(90 * time.Second), Event: ProviderSwitch, FromProvider: "openai:gpt-4o",
				ToProvider: "anthropic:claude", Reason: "rate limited"},
			{Timestamp: start.Add(95 * time.Second), Event: TimeoutEvent, Reason: "30 s"},
		},
		Witness: Witness{Kind: WitnessDocuments, Name: "papers", Documents: []Document{
			{Name: "b3.pdf", Hash: hashOf("a"), Pages: 3, Chunks: 12}, {Name: "scan.pdf", Error: "it holds no text"}}},
	}
	s.Pairs[2].Follows, s.Pairs[2].About = []string{"g2"}, []int{0, 1}
	s.Pairs[1].Citations = []Citation{{Document: "b3.pdf", Hash: hashOf("a"), Page: 2, Chunk: 4, ChunkHash: hashOf("b"),
		Quote: "The daily allowance is 18 mg."}}
	s.Pairs[0].NotInDocuments = true
	a := Audit{
		Contradictions: []Contradiction{{Pairs: [2]int{0, 1}, Description: "The amounts differ.", Kind: KindNumber,
			Words: [2]string{"16 mg", "18 mg"}, Settled: 3}},
		RemainingGaps: Remaining(s.Pairs), Summary: "# Vitamin B3\n\n- It helps.", By: "openai:gpt-4o",
	}
	a.Sum = Score(s.Pairs, a.Contradictions)
	a.ConsistencyScore = &a.Sum.Score
	s.AuditResult = &a
	return s
}

func content(t testing.TB, name string) string {
	t.Helper()
	return string(assert.Must(os.ReadFile(name))(t))
}

func TestEveryReasonOfAnEndLeadsToItsStatus(t *testing.T) {
	for reason, want := range map[EndReason]Status{Satisfied: Completed, Limit: LimitReached, NoProgress: LimitReached,
		Collected: LimitReached,
		Stopped:   Failed, Broken: Failed, TimedOut: Failed, "": Running, "bored": Running} {
		got, err := reason.Status()
		if got != want || (err != nil) != (want == Running) {
			t.Errorf("“%s” leads to “%s”, %v; want “%s”", reason, got, err, want)
		}
	}
}

// headingsAndLinks are the headings of a Markdown text as the targets of links, and where its links lead.
func headingsAndLinks(t *testing.T, source []byte) (headings, links []string) {
	t.Helper()
	assert.NoError(t, ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if !entering {
				return ast.WalkContinue, nil
			}
			switch n := n.(type) {
			case *ast.Heading:
				var b strings.Builder
				for c := n.FirstChild(); c != nil; c = c.NextSibling() {
					if words, ok := c.(*ast.Text); ok {
						b.Write(words.Segment.Value(source))
					}
				}
				headings = append(headings, "#"+strings.ReplaceAll(strings.ToLower(b.String()), " ", "-"))
			case *ast.Link:
				links = append(links, string(n.Destination))
			case *ast.Image, *ast.RawHTML, *ast.HTMLBlock, *ast.CodeBlock, *ast.FencedCodeBlock, *ast.AutoLink:
				t.Errorf("there is a %s in it", n.Kind())
			}
			return ast.WalkContinue, nil
		}))
	return headings, links
}

func TestMarkdownLinksEveryFindingToItsAnswers(t *testing.T) {
	s, _ := audited()
	headings, links := headingsAndLinks(t, Markdown(s))
	assert.That(t, len(links) >= 4, "it has %d links", len(links))
	for _, link := range links {
		assert.That(t, slices.Contains(headings, link), "%s leads nowhere; there is %q", link, headings)
	}
}

func TestHostileTextsStayTextsInMarkdown(t *testing.T) {
	s := hostile()
	s.Pairs[0].Answer = "# heading\n- item\n1. one\n12) twelve\n+ plus\n===\n---\n| a | b " +
		"|\n[link](http://x.invalid) ![image](http://x.invalid/i.png) `code` **bold** <b>\n    indented\n```\nfence"
	s.AuditResult.Summary = "![image](http://x.invalid/i.png) <img src=x> [press](javascript:ran) <javascript:ran> " +
		"[data](data:text/html,x)"
	told := Markdown(s)
	_, links := headingsAndLinks(t, told)
	for _, link := range links {
		assert.That(t, strings.HasPrefix(link, "#answer-"), "there is a link to %s", link)
	}
	var html strings.Builder
	assert.NoError(t, goldmark.Convert(told, &html))
	want := "# heading\n- item\n1. one\n12) twelve\n+ plus\n===\n---\n"
	assert.That(t, strings.Contains(html.String(), want), "a reader does not see %q:\n%s", want, html.String())
	assert.That(t, !strings.ContainsAny(string(told), "\u202e\u2066\x00\x1b\u2028\u200b"),
		"control characters are told as they are")
}

func TestNothingOfAStrangerIsLiveInTheExport(t *testing.T) {
	for _, text := range markdowntest.Texts() {
		s := hostile()
		s.Hypothesis.Text, s.Pairs[0].Answer, s.Pairs[0].Question, s.AuditResult.Summary = text, text, text, text
		markdowntest.Check(t, text, string(Markdown(s)))
	}
}

func TestASessionThatPointsAtNoPairIsStillTold(t *testing.T) {
	s, _ := audited()
	s.AuditResult.Contradictions[0].Pairs = [2]int{-1, 99}
	told := string(Markdown(s))
	assert.That(t, strings.Contains(told, "The amounts differ."), "%v", told)
	told = string(Markdown(Session{}))
	assert.That(t, strings.Contains(told, "No question was asked."), "%v", told)
}

func TestBriefTellsTheVerdictThenWhatClashesThenWhatIsOpen(t *testing.T) {
	s, _ := audited()
	want := "**" + Verdict(&s) +
		"**\n\n> - It **helps**.\n\nContradictions:\n\n- The amounts differ.\n  - “16 mg” " +
		"(answer 1)\n  - “18 mg” (b3.pdf, page 2)\n" +
		"\nUnconfirmed: the witness could not be asked about it any more:\n\n- It helps, or not.\n  - “It helps” " +
		"(answer 1)\n  - “no passage” (answer 3)\n" +
		"\nNot verifiable: The year differs. – “1938” stands in no answer\n\n1 " +
		"open gap:\n\n- low: “some” says no amount\n"
	if got := Brief(s); got != want {
		t.Errorf("it tells\n%s\nwant\n%s", got, want)
	}
	s = collected()
	for n := range 10 {
		s.Pairs[1].Citations = append(s.Pairs[1].Citations, Citation{Document: "b3.pdf", Page: n, Quote: "x"})
	}
	got := Brief(s)
	assert.That(t, strings.HasPrefix(got,
		"**Collected, not audited: a detective needs a model.**\n\n- “The daily allowance is 18 mg.” (b3.pdf, page "+
			"2)\n- “x” (b3.pdf, page 0)\n") &&
		strings.HasSuffix(got, "(b3.pdf, page 6)\n\n3 quotations more.\n\nNo further passage was found on: “What does it do?”, "+
			"“Which holds?”.\n"), "it tells\n%s", got)
	s = collected()
	s.Pairs[1].Citations = append(s.Pairs[1].Citations, s.Pairs[0].Citations...)
	part := Citation{Document: "b3.pdf", Page: 2, Quote: "daily allowance"}
	s.Pairs[1].Citations = append(s.Pairs[1].Citations, part)
	got = Brief(s)
	assert.That(t, strings.Count(got, "daily allowance") == 1, "a passage is listed twice:\n%s", got)
	for n := range s.Pairs {
		s.Pairs[n].Citations = nil
	}
	got = Brief(s)
	assert.That(t, strings.Contains(got, "No passage was found on: ") && !strings.Contains(got, "further"), "it tells\n%s", got)
}

var update = flag.Bool("update", false, "write docs/inquiry.schema.json anew")

const golden = "../../../docs/inquiry.schema.json"

// formText is the schema as the documents have it.
func formText(t testing.TB) string {
	t.Helper()
	return string(assert.Must(json.MarshalIndent(form(), "", "  "))(t)) + "\n"
}

// published is the schema as another library has it, with formats checked.
func published(t testing.TB) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	form := assert.Must(jsonschema.UnmarshalJSON(strings.NewReader(formText(t))))(t)
	assert.NoError(t, c.AddResource("inquiry.schema.json", form))
	return assert.Must(c.Compile("inquiry.schema.json"))(t)
}

func TestTheSchemaIsOfDraft07AndStandsAlone(t *testing.T) {
	s := published(t)
	assert.That(t, s.DraftVersion == 7, "it is of draft %d", s.DraftVersion)
	text := formText(t)
	if *update {
		assert.NoError(t, os.WriteFile(golden, []byte(text), 0o644))
	}
	diff := cmp.Diff(content(t, golden), text)
	assert.That(t, diff == "",
		"the program has another schema than the documents; -update writes them anew (-documents "+"+program):\n%s", diff)
	for part := range strings.SplitSeq(text, `"$ref": "`) {
		ref, _, _ := strings.Cut(part, `"`)
		assert.That(t, strings.HasPrefix(part, "{") || strings.HasPrefix(ref, "#/definitions/"), "it refers to %s", ref)
	}
}

// within reports what the requirement says of a value and the schema does not.
func within(t *testing.T, path string, required, ours, whole map[string]any) {
	t.Helper()
	if ref, ok := ours["$ref"].(string); ok {
		if required["$ref"] == ref {
			return
		}
		ours = whole["definitions"].(map[string]any)[strings.TrimPrefix(ref, "#/definitions/")].(map[string]any)
	}
	for key, want := range required {
		got := ours[key]
		switch key {
		case "properties":
			for name, property := range want.(map[string]any) {
				mine, there := got.(map[string]any)[name].(map[string]any)
				if !there {
					t.Errorf("%s.%s is missing", path, name)
					continue
				}
				within(t, path+"."+name, property.(map[string]any), mine, whole)
			}
		case "items":
			within(t, path+"[]", want.(map[string]any), got.(map[string]any), whole)
		default:
			assert.That(t, cmp.Equal(got, want), "%s: “%s” is %v, and the requirement says %v", path, key, got, want)
		}
	}
}

func TestTheSchemaSaysAllThatTheRequirementSays(t *testing.T) {
	var required, ours map[string]any
	assert.NoError(t, json.Unmarshal([]byte(content(t, "testdata/requirement.schema.json")), &required))
	assert.NoError(t, json.Unmarshal([]byte(formText(t)), &ours))
	within(t, "", required, ours, ours)
}

func TestTheExamplesOfTheRequirementAreReadWrittenAndValid(t *testing.T) {
	text := content(t, "testdata/examples.json")
	s := assert.Must(Unmarshal([]byte(text)))(t)
	assert.That(t, s.Hypothesis.Text == "Summarize the health benefits of Vitamin B3" &&
		s.Pairs[2].ProviderUsed == "openai:gpt-4o" && s.Pairs[0].Timestamp.After(s.StartTime), "it is read as %+v", s)
	broken := Check([]byte(text))
	assert.That(t, len(broken) == 0, "it breaks %v", broken)
	var want, got any
	out := assert.Must(Marshal(s))(t)
	text = strings.NewReplacer("14:31:00.250Z", "14:31:00.25Z").Replace(text) // the same time
	for text, into := range map[string]*any{text: &want, string(out): &got} {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		assert.NoError(t, d.Decode(into))
	}
	assert.NoDiff(t, cmp.Diff(want, got), "it is written with another meaning")
}
