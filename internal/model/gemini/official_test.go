//go:build sdk

package gemini_test

import (
	"testing"

	"google.golang.org/genai"
)

// The reasons are written as Google's own module writes them.
func TestFinishReasonsAreTheOfficialOnes(t *testing.T) {
	for _, reason := range []genai.FinishReason{genai.FinishReasonStop, genai.FinishReasonMaxTokens,
		genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonProhibitedContent,
		genai.FinishReasonBlocklist, genai.FinishReasonSPII, genai.FinishReasonImageSafety,
		genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation, genai.FinishReasonLanguage,
		genai.FinishReasonTooManyToolCalls} {
		if _, known := finishes()[string(reason)]; !known {
			t.Errorf("%s is not among the reasons that are tested", reason)
		}
	}
}
