package record

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/template"
	"unicode"

	"sibyl/internal/text"
	"sibyl/internal/text/markdown"
)

//go:embed session.md.txt
var markdownText string

var markdownTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(templateFuncs()).Funcs(template.FuncMap{"line": inlineText,
		"quoted": blockQuote, "summary": inertQuote}).Parse(markdownText))
})

// Markdown renders a session as Markdown, in the order and words of its page. Texts from outside are escaped, except
// the summary, which is Markdown itself: it is quoted, without active links and pictures. The session is not validated.
func Markdown(s Session) []byte { return []byte(render(markdownTemplate(), s) + "\n") }

// render executes a template for a session.
func render(by *template.Template, s Session) string {
	var out strings.Builder
	if err := by.Execute(&out, viewOf(&s, nil)); err != nil {
		panic(fmt.Sprintf("a session as Markdown: %v", err)) // a builder takes all, and the template is ours
	}
	return strings.TrimSpace(out.String())
}

//go:embed brief.md.txt
var briefText string

// mostTold bounds the characters of a text in Brief; a quotation may have twice as many.
const mostTold = 120

var briefTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"brief":     func(s string) string { return text.Brief(s, mostTold) },
		"quotation": func(s string) string { return text.Brief(s, 2*mostTold) },
		"count":     text.Count,
		"first":     func(n int, all []string) []string { return all[:min(n, len(all))] },
		"more":      func(n int, all []string) int { return max(0, len(all)-n) },
		"worst":     gapLines, "quotations": quotationLines, "unanswered": unansweredQuestions, "beginning": firstParagraph,
	}).Parse(briefText))
})

// Brief is the result of a session in about fifteen lines of Markdown: the verdict, the beginning of the summary, the
// contradictions with both quotations, and the worst gaps.
func Brief(s Session) string { return render(briefTemplate(), s) + "\n" }

// gapLines lists gaps, a line each, the most severe first.
func gapLines(gaps []RemainingGap) (lines []string) {
	for _, severity := range []Severity{"", High, Medium, Low} {
		for _, g := range gaps {
			if g.Severity == severity {
				lines = append(lines, fmt.Sprintf("- %s: %s\n", g.Severity, text.Brief(g.Description, mostTold)))
			}
		}
	}
	return lines
}

// unansweredQuestions lists the template questions about a hypothesis without a citation, each without it.
func unansweredQuestions(hypothesis string, pairs []Pair) string {
	var all []string
	for _, pair := range pairs {
		if len(pair.Citations) == 0 {
			asked, hasIt := strings.CutPrefix(pair.Question, strings.TrimRight(hypothesis, ".!? "))
			if asked = strings.Trim(strings.Replace(asked, hypothesis, "", 1), " .:"); hasIt {
				asked = strings.Trim(asked, "?¿")
			}
			all = append(all, "“"+asked+"”")
		}
	}
	return strings.Join(all, ", ")
}

// firstParagraph is the first paragraph of a summary that is no heading.
func firstParagraph(summary string) string {
	for part := range strings.SplitSeq(summary, "\n\n") {
		if part = strings.TrimSpace(part); part != "" && !strings.HasPrefix(part, "#") {
			return inertQuote(text.Brief(part, 3*mostTold))
		}
	}
	return ""
}

// quotationLines lists the cited quotations, each once, with document and page. One that is a part of another of its
// page is left out.
func quotationLines(pairs []Pair) (lines []string) {
	var all []Citation
	for _, pair := range pairs {
		all = append(all, pair.Citations...)
	}
	for _, c := range all {
		isWhole := func(o Citation) bool {
			return o.Document == c.Document && o.Page == c.Page && len(o.Quote) > len(c.Quote) &&
				strings.Contains(o.Quote, c.Quote)
		}
		if !slices.ContainsFunc(all, isWhole) {
			line := fmt.Sprintf("- “%s” (%s, page %d)\n", text.Brief(c.Quote, 2*mostTold), c.Document, c.Page)
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// inlineText escapes a text for one line of Markdown. Characters that begin HTML, a link or code become character
// references, not backslash escapes, since an automatic link would include the backslash.
func inlineText(content any) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(showInvisible(fmt.Sprint(content))), " ") {
		switch {
		case strings.ContainsRune("<>[]`", r):
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		case strings.ContainsRune("\\*_|#&~!$", r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// blockQuote escapes a text of several lines, and makes a quotation of it.
func blockQuote(content string) string {
	var lines []string
	for l := range strings.Lines(strings.TrimSpace(showInvisible(content))) {
		l = inlineText(l)
		// Escape what would begin a list, or underline a heading.
		mark := strings.TrimLeftFunc(l, unicode.IsDigit)
		numbered := len(mark) < len(l) && (strings.HasPrefix(mark, ".") || strings.HasPrefix(mark, ")"))
		if numbered || mark == l && mark != "" && strings.ContainsRune("+-=", rune(mark[0])) {
			l = strings.TrimSuffix(l, mark) + `\` + mark
		}
		lines = append(lines, strings.TrimSpace("> "+l))
	}
	return strings.Join(lines, "\n")
}

// inertQuote makes a quotation of a summary, which is Markdown, and makes its links and pictures inert.
func inertQuote(summary string) string {
	var lines []string
	for l := range strings.Lines(strings.TrimSpace(showInvisible(summary))) {
		lines = append(lines, strings.TrimRight("> "+strings.ReplaceAll(l, "![", `!\[`), " \n"))
	}
	return markdown.Inert(strings.Join(lines, "\n"))
}
