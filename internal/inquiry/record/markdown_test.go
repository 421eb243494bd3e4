package record

import (
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/text/markdown/markdowntest"
)

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
