package search

import (
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"Hello, World-wide_web 42!": "hello world wide web 42",
		"Reunião ÉTÉ Straße":        "reuniao ete straße",
		"don't":                     "don t",
		"会议记录 ok":                   "会议 议记 记录 录 ok",
		"字":                         "字",
		"Привет ΟΔΟΣ":               "привет οδοσ",
		"":                          "",
	} {
		if got := strings.Join(Words(text), " "); got != want {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	}
	if got := Words(strings.Repeat("x", 1000)); len(got) != 1 || len(got[0]) != MaxWord {
		t.Errorf("a long word gave %d words", len(got))
	}
}

func TestStemsMeet(t *testing.T) {
	for _, group := range [][]string{
		{"cache", "caches", "cached", "caching"}, {"decide", "decides", "decided", "deciding"}, {"policy", "policies"}, {"note", "notes"}, {"limit", "limits", "limited"},
	} {
		for _, word := range group[1:] {
			if Stem(word) != Stem(group[0]) {
				t.Errorf("Stem(%s) = %s, but Stem(%s) = %s", word, Stem(word), group[0], Stem(group[0]))
			}
		}
	}
	if Stem("notes") == Stem("not") || Stem("string") == Stem("str") {
		t.Error("a stem is too short to mean anything")
	}
}
