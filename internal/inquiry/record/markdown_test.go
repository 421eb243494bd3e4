package record

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// headings are the headings of a Markdown text as a reader sees them, as the targets of links; links are where its links lead.
func headingsAndLinks(t *testing.T, source []byte) (headings, links []string) {
	t.Helper()
	err := ast.Walk(goldmark.DefaultParser().Parse(text.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
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
	})
	if err != nil {
		t.Fatal(err)
	}
	return headings, links
}

func TestMarkdownLinksEveryFindingToItsPairs(t *testing.T) {
	s := completed()
	german := completed()
	german.Language = "de"
	for name, c := range map[string]struct {
		s    Session
		want []string
	}{
		"English": {s, []string{"# Summarize the health benefits of Vitamin B3\n", "It stands after [Pair 3](#pair-3).", "[Pair 1](#pair-1): “It helps. Adults need **16 mg** a day.”",
			"[Pair 2](#pair-2): “The daily allowance is **18 mg**.”", "**“some” says no amount** (vagueness, low): [Pair 1](#pair-1): open",
			"closed by [Pair 3](#pair-3); Asked about: [Pair 3](#pair-3)", "| **Score** | rounded, and at least 0 | **84** |", "> # Vitamin B3\n", "> Both are what I said.",
			"another provider (openai:gpt-4o → offline:rules). rate limited"}},
		"German":  {german, []string{"### Paar 2\n", "Er steht nach [Paar 3](#paar-3).", "geschlossen durch [Paar 3](#paar-3)", "−3,833", "Der Detektiv ist nach 3 Fragen zufrieden."}},
		"running": {running(), []string{"It is still running, after 3 questions. There is no audit yet.", "### Pair 3"}},
		"failed":  {failed(), []string{"It was stopped after 3 questions. Provisional: Consistency 84 of 100"}},
	} {
		told := Markdown(c.s)
		for _, want := range c.want {
			if !strings.Contains(string(told), want) {
				t.Errorf("%s: it lacks %q:\n%s", name, want, told)
			}
		}
		headings, links := headingsAndLinks(t, told)
		if len(links) == 0 {
			t.Errorf("%s: it has no links", name)
		}
		for _, link := range links {
			if !slices.Contains(headings, link) {
				t.Errorf("%s: %s leads nowhere; there is %q", name, link, headings)
			}
		}
	}
}

func TestHostileTextsStayTextsInMarkdown(t *testing.T) {
	s := hostile()
	s.Pairs[0].Answer = "# heading\n- item\n1. one\n12) twelve\n+ plus\n===\n---\n| a | b |\n[link](http://x.invalid) ![image](http://x.invalid/i.png) `code` **bold** <b>\n    indented\n```\nfence"
	s.AuditResult.Contradictions[0].Words[0] = "`code`"
	s.AuditResult.Summary = "![image](http://x.invalid/i.png) <img src=x> [press](javascript:ran) <javascript:ran> [data](data:text/html,x)"
	told := Markdown(s)
	headings, links := headingsAndLinks(t, told)
	if want := 7 + len(s.Pairs); len(headings) != want {
		t.Errorf("it has %d headings, want %d: %q", len(headings), want, headings)
	}
	for _, link := range links {
		if !strings.HasPrefix(link, "#pair-") {
			t.Errorf("there is a link to %s", link)
		}
	}
	var html strings.Builder
	if err := goldmark.Convert(told, &html); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# heading\n- item\n1. one\n12) twelve\n+ plus\n===\n---\n"} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("a reader does not see %q:\n%s", want, html.String())
		}
	}
	if tags := regexp.MustCompile(`<(script|img|table)`).FindString(html.String()); tags != "" {
		t.Errorf("a reader gets %s", tags)
	}
}

func TestMarkdownOfWhatBreaksRulesIsToldAsFarAsItGoes(t *testing.T) {
	s := Session{Status: "paused\n# x", Hypothesis: Hypothesis{Text: "Does it?"}, Pairs: []Pair{{Sequence: 7, Question: "What?"}},
		ProvisionalAudit: &Audit{Contradictions: []Contradiction{{Pairs: [2]int{-1, 9}, Settled: 99}}}}
	told := string(Markdown(s))
	for _, want := range []string{"# Does it?", "### Pair 7", "**What?**", "paused # x.", "The witness returned nothing."} {
		if !strings.Contains(told, want) {
			t.Errorf("it lacks %q:\n%s", want, told)
		}
	}
	if strings.Contains(told, "%!") {
		t.Errorf("a sentence lacks a word:\n%s", told)
	}
}

func TestTheLedgerFollowsEachGap(t *testing.T) {
	gap := func(id, description string) Gap {
		return Gap{Category: Ambiguity, Description: description, Severity: Low, ID: id}
	}
	pair := func(follows []string, gaps ...Gap) Pair {
		return Pair{Follows: follows, GapAnalysis: GapAnalysis{Gaps: gaps}}
	}
	since := gap("g4", "from before")
	since.Since = 1
	got := Ledger([]Pair{
		pair(nil, gap("g1", "who"), gap("", "it"), gap("", "they")),
		pair([]string{"g1", "gone"}, gap("g1", "who, then"), gap("", "it")),
		pair([]string{"g1"}, gap("", "it"), gap("g3", "when"), since),
		pair(nil, gap("g1", "who"), gap("", "it")),
	})
	var told []string
	for _, e := range got {
		told = append(told, fmt.Sprintf("%s%s first %d asked %v closed %d", e.Gap.ID, e.Gap.Description, e.First, e.Asked, e.Closed))
	}
	want := []string{"g1who first 1 asked [2 3] closed 0", "it first 1 asked [] closed 0", "they first 1 asked [] closed 2", "g3when first 3 asked [] closed 4", "g4from before first 1 asked [] closed 4"}
	if !slices.Equal(told, want) {
		t.Errorf("the ledger is\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	if all := Ledger(nil); len(all) != 0 {
		t.Errorf("%v", all)
	}
}

func TestAContradictionShowsWhatStandsAroundItsWords(t *testing.T) {
	long := strings.Repeat("é", 1000)
	for name, c := range map[string]struct{ text, words, want string }{
		"short":           {"Adults need 16 mg.", "16 mg", "Adults need 16 mg."},
		"in the middle":   {long + "16 mg" + long, "16 mg", "… " + long[:800] + "16 mg" + long[:800] + " …"},
		"at the end":      {long + "16 mg", "16 mg", "… " + long[:800] + "16 mg"},
		"not in it":       {long, "16 mg", long[:800] + " …"},
		"no words":        {long, "", long[:800] + " …"},
		"of broken UTF-8": {"\xff16 mg\xff", "16 mg", "\xff16 mg\xff"},
		"empty":           {"", "16 mg", ""},
	} {
		if got := excerpt(c.text, c.words); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	s := completed()
	s.Pairs[0].Answer = long + s.Pairs[0].Answer + long
	page := string(must(Evidence(s))(t))
	if side := regexp.MustCompile(`(?s)<div class="side">.*?</div>`).FindString(page); !strings.Contains(side, "<mark>16 mg</mark>") || len(side) > 3000 {
		t.Errorf("the side has %d bytes: %s", len(side), side)
	}
	if !strings.Contains(body(t, []byte(page)), s.Pairs[0].Answer) {
		t.Error("the whole answer is shown nowhere")
	}
}

func TestASessionOfManyLargeFindingsIsToldInBounds(t *testing.T) {
	s := completed()
	s.Pairs[0].Answer, s.Pairs[1].Answer = strings.Repeat("a", 1<<20), strings.Repeat("a", 1<<20)
	s.AuditResult.Contradictions = slices.Repeat(s.AuditResult.Contradictions, 50_000)
	if told := Markdown(s); len(told) > 8<<20 {
		t.Errorf("it is told in %d bytes", len(told))
	}
	if broken := s.Validate(); len(broken) == 0 || len(broken) > 1000 {
		t.Errorf("%d violations are named", len(broken))
	}
}
