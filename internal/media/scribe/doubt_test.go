package scribe

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

func TestWhatIsDoubtfulIsFlaggedAndNothingElse(t *testing.T) {
	var vectors []struct {
		About    string
		Text     string
		Segments []struct {
			Start, End float64
			Text       string
			NoSpeech   float64 `json:"no_speech"`
			Confidence float64
		}
		Flags []Flag
	}
	text, err := os.ReadFile("testdata/doubts.json")
	if err == nil {
		err = json.Unmarshal(text, &vectors)
	}
	assert.Require(t, err == nil && len(vectors) >= 20, "%d vectors, %v", len(vectors), err)
	for _, v := range vectors {
		said := model.Transcript{Text: v.Text}
		for _, s := range v.Segments {
			said.Text += " " + s.Text
			said.Segments = append(said.Segments, model.Segment{Start: s.Start, End: s.End, Text: s.Text,
				NoSpeech: s.NoSpeech, Confidence: s.Confidence})
		}
		var d draft
		d.addPart(piece{}, said)
		assert.NoDiff(t, cmp.Diff(v.Flags, d.flags()), "%s (-want +got)", v.About)
		got := d.text.String()
		assert.That(t, strings.TrimSpace(said.Text) == got, "%s: the text became %q", v.About, got)
	}
}

func TestPhrasesAreRead(t *testing.T) {
	count := map[string]int{}
	for _, p := range phrases() {
		count[p.category]++
	}
	assert.That(t, len(count) == 3 && count[credit] >= 10 && count[caption] >= 10 && count[farewell] >= 30,
		"the list has %v", count)
}

func TestTextIsLaidOutByPausesAndLines(t *testing.T) {
	at := func(start, end float64, text string) model.Segment {
		return model.Segment{Start: start, End: end, Text: text}
	}
	for _, c := range []struct {
		text     string
		segments []model.Segment
		want     string
	}{
		{"one\ntwo\n\n three\n", nil, "one two\n\nthree"},
		{" One. Two.", []model.Segment{at(0, 1, "One."), at(1, 2, "Two.")}, "One. Two."},
		{" One. Two.", []model.Segment{at(0, 1, "One."), at(4, 5, "Two.")}, "One.\n\nTwo."},
		{"One.\nTwo.", []model.Segment{at(0, 1, "One."), at(1, 5, ""), at(5, 6, "Two.")}, "One. Two."},
		{"你好世界", []model.Segment{at(0, 1, "你好"), at(1, 2, "世界")}, "你好世界"},
		{"One. Two. Three.", []model.Segment{at(0, 1, "One."), at(4, 5, "Two.")}, "One.\n\nTwo. Three."},
		{"One, two.", []model.Segment{at(0, 1, "One."), at(4, 5, "Two.")}, "One, two."},
		{"", []model.Segment{at(0, 1, "One.")}, ""},
	} {
		got, _ := layOut(model.Transcript{Text: c.text, Segments: c.segments})
		assert.That(t, got == c.want, "%q of %v became %q; want %q", c.text, c.segments, got, c.want)
	}
}

func TestLanguagesHaveCodes(t *testing.T) {
	for said, want := range map[string]string{"Portuguese": "pt", "pt": "pt", "pt-BR": "pt", "english": "en",
		"haitian creole": "ht", "": "", "klingon": "klingon", "yue": "yue"} {
		assert.Equalf(t, languageCode(said), want, "%q", said)
	}
}

func FuzzLayoutLosesAndAddsNoWord(f *testing.F) {
	f.Add("One. Two.", "One.", "Two.", 5.0)
	f.Add(" a\r\n\n\tb  c", "a", "b", -1.0)
	f.Add("\u00a0x\u2028y", "x", "y", 1e9)
	f.Fuzz(func(t *testing.T, text, first, second string, gap float64) {
		said := model.Transcript{Text: text, Segments: []model.Segment{{End: 1, Text: first},
			{Start: 1 + gap, End: 2, Text: second}}}
		bare := func(s string) string {
			return strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return -1
				}
				return r
			}, s)
		}
		got, _ := layOut(said)
		assert.That(t, bare(got) == bare(text), "%q became %q", text, got)
		var d draft
		d.addPart(piece{}, said)
		for _, flag := range d.flags() {
			assert.That(t, flag.Kind != "", "%q has a flag without a kind", text)
		}
	})
}
