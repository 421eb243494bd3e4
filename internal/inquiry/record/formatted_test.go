package record

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestASummaryIsShownAsItIsMeant(t *testing.T) {
	const said = `<p class="said" dir="auto">`
	for text, want := range map[string]string{
		"# One #\n### Three":              `<h3 dir="auto">One</h3><h4 dir="auto">Three</h4>`,
		"a\nb\n\nc":                       said + "a\nb</p>" + said + "c</p>",
		"- **a** b\n- `c*d*`":             `<ul><li dir="auto"><strong>a</strong> b</li><li dir="auto"><code>c*d*</code></li></ul>`,
		"1. a\n2) *b*":                    `<ol><li dir="auto">a</li><li dir="auto"><em>b</em></li></ol>`,
		"- a\n  - b\n\n- c":               `<ul><li dir="auto">a<ul><li dir="auto">b</li></ul></li><li dir="auto">c</li></ul>`,
		"> a\n> - b":                      `<blockquote>` + said + `a</p><ul><li dir="auto">b</li></ul></blockquote>`,
		"```go\n# x\n```\nb":              "<pre># x</pre>" + said + "b</p>",
		"---":                             "<hr>",
		"3 * 4 * 5 and a_b_c ** d":        said + "3 * 4 * 5 and a_b_c ** d</p>",
		"[x](javascript:1) <b>y</b>":      said + "[x](javascript:1) &lt;b&gt;y&lt;/b&gt;</p>",
		"**<script>alert(1)</script>**":   said + "<strong>&lt;script&gt;alert(1)&lt;/script&gt;</strong></p>",
		strings.Repeat("> ", 40) + "deep": "",
	} {
		got := strings.ReplaceAll(string(formatted(text)), ">\n", ">")
		if want != "" && got != want {
			t.Errorf("%q:\n%s, want\n%s", text, got, want)
		}
		if n := strings.Count(got, "<blockquote>"); n > deepest {
			t.Errorf("%d quotes stand in one another", n)
		}
	}
}

func TestQuotesAreMarkedWhereTheyStand(t *testing.T) {
	const p = `<p class="said" dir="auto">`
	for _, c := range []struct {
		text   string
		marked []string
		want   string
	}{
		{"a b c", nil, p + "a b c</p>"},
		{"a b c", []string{"", "x", " "}, p + "a b c</p>"},
		{"a <b> c", []string{"<b>"}, p + "a <mark>&lt;b&gt;</mark> c</p>"},
		{"one\n two three two", []string{"two three", "one two"}, p + "<mark>one\n two</mark><mark> three</mark> two</p>"},
		{"ab ab c", []string{"ab c"}, p + "ab <mark>ab c</mark></p>"},
		{"a b c d", []string{"c", "a"}, p + "<mark>a</mark> b <mark>c</mark> d</p>"},
	} {
		if got := string(said("p", c.text, c.marked...)); got != c.want {
			t.Errorf("%q, %q: %s, want %s", c.text, c.marked, got, c.want)
		}
	}
}

func TestContradictionsShowThePassagesBesideOneAnother(t *testing.T) {
	s, d := cited()
	page := body(t, must(Evidence(s, d.Chunks...))(t))
	_, part, _ := strings.Cut(page, `<article id="contradiction-1">`)
	part, _, _ = strings.Cut(part, "</article>")
	for _, want := range []string{`<a href="#passage-1">b3.pdf, Page 2, Chunk 4</a>`, "Niacin is Vitamin B3.", "<mark>The daily\nallowance is 18 mg.</mark> More"} {
		if !strings.Contains(part, want) {
			t.Errorf("%s is not in %s", want, part)
		}
	}
	if !strings.Contains(page, `Quoted in: <a href="#pair-2">Pair 2</a>`) {
		t.Error("a passage does not say who quotes it")
	}
}

func FuzzFormatted(f *testing.F) {
	f.Add("# a\n- b\n  > c\n1. d\n```\ne")
	f.Add("* * *\n**a*\n- - - x")
	f.Fuzz(func(t *testing.T, text string) {
		depth := 0
		for z := html.NewTokenizer(strings.NewReader(string(formatted(text)))); ; {
			switch z.Next() {
			case html.ErrorToken:
				if depth != 0 {
					t.Errorf("%q: %d elements are not closed", text, depth)
				}
				return
			case html.StartTagToken:
				name, _ := z.TagName()
				switch tag := string(name); tag {
				case "hr":
				case "h3", "h4", "p", "ul", "ol", "li", "blockquote", "pre", "code", "strong", "em":
					depth++
				default:
					t.Errorf("%q has become <%s>", text, tag)
				}
			case html.EndTagToken:
				depth--
			}
		}
	})
}
