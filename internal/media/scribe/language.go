package scribe

import (
	"context"
	_ "embed"
	"slices"
	"strings"

	"sibyl/internal/model"
)

//go:embed languages.txt
var languages string

// languageCode returns the code of a language that a transcriber names: "pt" for "portuguese", "pt" and "pt-BR". Other
// names stay, in lower case and without a region.
func languageCode(named string) string {
	named = strings.ToLower(strings.TrimSpace(named))
	for line := range strings.Lines(languages) {
		short, names, _ := strings.Cut(strings.TrimSpace(line), " ")
		for name := range strings.SplitSeq(names, ",") {
			if named != "" && name == named {
				return short
			}
		}
	}
	return baseLanguage(named)
}

// inExpectedLanguage tries the likeliest language for a piece that was heard in another than the expected ones. If the
// transcriber is surer of that, the rest of the file is in it, too; else what was heard stays, and other says so.
func (j *job) inExpectedLanguage(
	ctx context.Context, p piece, heard model.Transcript,
) (_ model.Transcript, other bool) {
	detected := languageCode(heard.Language)
	if j.language != "" || detected == "" || strings.TrimSpace(heard.Text) == "" || len(j.expected) == 0 ||
		slices.Contains(j.expected, detected) {
		return heard, false
	}
	j.language = j.expected[0]
	again, err := j.transcribePiece(ctx, p)
	if err == nil && confidenceOf(again) > confidenceOf(heard) {
		again.Language = j.language
		return again, false
	}
	j.language = ""
	return heard, true
}

// confidenceOf is the mean confidence of a transcript's segments, by the length of their texts; 0: not reported.
func confidenceOf(t model.Transcript) float64 {
	sum, all := 0.0, 0
	for _, s := range t.Segments {
		if s.Confidence > 0 {
			sum += s.Confidence * float64(len(s.Text))
			all += len(s.Text)
		}
	}
	return sum / float64(max(all, 1))
}
