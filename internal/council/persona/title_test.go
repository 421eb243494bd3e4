package persona

import (
	"strings"
	"testing"
	"unicode/utf8"

	"sibyl/internal/behaviour/assert"
)

func TestTitleIsTheTextOfAHeadingOfLevelOne(t *testing.T) {
	for line, want := range map[string]string{
		"# Cético":                     "Cético",
		"#\tTab ":                      "Tab",
		"   # Indented":                "Indented",
		"# Closed ##":                  "Closed",
		"# C#":                         "C#",
		"# **Bold** and *slanted*":     "Bold and slanted",
		"# __A__ _b_ `c*d*`":           "A b c*d*",
		"# 2 * 3 * 4 snake_case":       "2 * 3 * 4 snake_case",
		"# [The Link](http://x.y) &c.": "The Link &c.",
		"# A &amp; B \\*c\\*":          "A & B *c*",
		"# 1. First things":            "1. First things",
		"# > quoted - list":            "> quoted - list",
		"# 🔮 Oráculo":                  "🔮 Oráculo",
		"# a\u202eb\x1b[31mc":          "ab[31mc",
		"# x\u00a0 y":                  "x y",
		"#":                            "",
		"# ##":                         "",
		"#hashtag":                     "",
		"## Level two":                 "",
		"    # code":                   "",
		"text":                         "",
		"":                             "",
	} {
		assert.Equalf(t, title(line), want, "%q", line)
	}
	got := title("# " + strings.Repeat("ã", 5000))
	assert.That(t, utf8.RuneCountInString(got) == maxName && strings.HasSuffix(got, "…"),
		"a long title gives %d characters", utf8.RuneCountInString(got))
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"Cético": "cetico", "Advogado do Diabo": "advogado-do-diabo", "Devil’s Advocate": "devils-advocate",
		"Devil's Advocate": "devils-advocate",
		"  Zuhörer!  ":     "zuhorer", "Straße & Größe": "strasse-grosse", "Łódź Ærø": "lodz-aero",
		"../../etc/passwd": "etc-passwd", "C:\\x": "c-x",
		"Ⅳ ﬁne": "iv-fine", "a\x00b\n": "a-b", "🔮": "oraculo", "神谕": "oraculo", "": "oraculo", "---": "oraculo",
		strings.Repeat("x", 300):    strings.Repeat("x", maxSlug),
		strings.Repeat("word ", 60): strings.TrimSuffix(strings.Repeat("word-", 9), "-"),
	} {
		assert.Equalf(t, Slug(name), want, "%q", name)
	}
}

func FuzzTitle(f *testing.F) {
	for _, line := range []string{"# Cético", "# **a** [b](c)", "# \\*", "# `", "# &#0;&#x110000;", "# ![", "# <b>",
		"# \xff"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line, _, _ = strings.Cut(line, "\n")
		got := title(line)
		assert.That(t, !strings.ContainsAny(got, "\r\n\x00\x1b") && got == strings.TrimSpace(got) &&
			utf8.RuneCountInString(got) <= maxName, "%q gives the name %q", line, got)
		slug := Slug(got)
		assert.That(t, len(slug) != 0 && len(slug) <= maxSlug &&
			strings.Trim(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && !strings.Contains(slug, "--"),
			"%q gives the slug %q", got, slug)
		written := heading(got, DefaultPlaceholder)
		assert.That(t, checkName(got) != nil || (title("# "+written) == got && !strings.Contains(written, commentOpens)),
			"%q is written as %q and read as %q", got, written, title("# "+written))
	})
}
