package config

import (
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

func TestCommandIsShownWithoutItsCredentials(t *testing.T) {
	_, lines, _ := explain(t,
		`transcription: {command: [transcribe, --api-key, hunter2, --token=hunter3, --model, small, "{file}", sk-Zq8vT2nB7yH4mK9w1xR5c3Zq8vT2nB7y]}`)
	text, err := lines.YAML()
	assert.That(t, err == nil && !strings.Contains(string(text), "hunter") && !strings.Contains(string(text), "Zq8v"),
		"shown, with error %v: %s", err, text)
	assert.That(t, strings.Contains(string(text), `--model, small, '{file}'`), "not all that may be shown is: %s", text)
}

func TestTimeOfATranscriptionDependsOnWhereItIsMade(t *testing.T) {
	here, there := (Transcription{}).Limit(true), (Transcription{}).Limit(false)
	assert.That(t, here == time.Hour && there == 10*time.Minute, "%v here, %v elsewhere", here, there)
	set := (Transcription{Timeout: time.Minute})
	assert.That(t, set.Limit(true) == time.Minute && set.Limit(false) == time.Minute, "a time that is set does not win")
}
