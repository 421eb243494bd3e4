package scribe

import (
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
)

func TestMarksAloneAreNoSpeech(t *testing.T) {
	for _, said := range []string{"[BLANK_AUDIO]", " (silence) ", "[Music]", "[ Silence ]", "(buzzing) [Applause]", "*sighs*", "<|nospeech|>",
		"♪ ♪", "♪", "【音楽】", "（笑）", "- [Music] -", "[(soft music)].", "...", "[_BEG_]", "{noise}", "<sil>", ""} {
		assert.That(t, isNoSpeech(said), "%q is taken for speech", said)
	}
	for _, said := range []string{"Hello.", "[Music] Hello", "♪ We are the champions ♪", "(", "3", "(see above) yes", "你好", "*a",
		"[" + strings.Repeat("they said so ", 6) + "]"} {
		assert.That(t, isNoSpeech(said) == (said == "("), "%q is not taken for speech", said)
	}
}

func TestTranscriptHasNoSegmentInWhichNobodySpeaks(t *testing.T) {
	for name, c := range map[string]struct {
		segments []string
		text     string // "": the segments, with spaces
		want     string
	}{
		"alone":                {segments: []string{"[BLANK_AUDIO]"}, want: ""},
		"between":              {segments: []string{"Hello.", "[Music]", "(silence)", "Goodbye."}, want: "Hello.|Goodbye."},
		"at the end":           {segments: []string{"Hello.", "[BLANK_AUDIO]"}, want: "Hello."},
		"cut in two":           {segments: []string{"Hello.", "[BLANK", "_AUDIO]", "Yes."}, want: "Hello.|Yes."},
		"beside words":         {segments: []string{"[laughs] Hello."}, want: "[laughs] Hello."},
		"brackets of a person": {segments: []string{"It is", "(more or less)", "done."}, want: "It is|done."},
		"an open bracket":      {segments: []string{"(one", "two", "three"}, want: "(one|two|three"},
		"without segments":     {text: "[Music]\nHello.\n\n(silence)\nYes.", want: "Hello.\n\nYes."},
		"one line, no segment": {text: "[BLANK_AUDIO]", want: ""},
	} {
		in := model.Transcript{Text: c.text}
		for i, one := range c.segments {
			in.Segments = append(in.Segments, model.Segment{Start: float64(i), End: float64(i + 1), Text: one})
		}
		if c.text == "" {
			in.Text = strings.Join(c.segments, " ")
		}
		out := withoutMarks(in)
		var kept []string
		for _, one := range out.Segments {
			kept = append(kept, one.Text)
		}
		got := strings.Join(kept, "|")
		if c.segments == nil {
			got = out.Text
		}
		assert.That(t, got == c.want, "%s: %q, want %q", name, got, c.want)
		if text, times := layOut(out); len(c.segments) > 0 && text != "" {
			assert.That(t, len(times) == len(kept), "%s: %d times of %d segments in %q", name, len(times), len(kept), text)
		}
	}
}
