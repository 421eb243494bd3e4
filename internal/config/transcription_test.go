package config

import (
	"strings"
	"testing"
	"time"
)

func TestCommandIsShownWithoutItsCredentials(t *testing.T) {
	_, lines, _ := explain(t,
		`transcription: {command: [transcribe, --api-key, hunter2, --token=hunter3, --model, small, "{file}", sk-Zq8vT2nB7yH4mK9w1xR5c3Zq8vT2nB7y]}`)
	text, err := lines.YAML()
	if err != nil || strings.Contains(string(text), "hunter") || strings.Contains(string(text), "Zq8v") {
		t.Errorf("shown, with error %v: %s", err, text)
	}
	if !strings.Contains(string(text), `--model, small, '{file}'`) {
		t.Errorf("not all that may be shown is: %s", text)
	}
}

func TestTimeOfATranscriptionDependsOnWhereItIsMade(t *testing.T) {
	if here, there := (Transcription{}).Limit(true), (Transcription{}).Limit(false); here != time.Hour ||
		there != 10*time.Minute {
		t.Errorf("%v here, %v elsewhere", here, there)
	}
	if set := (Transcription{Timeout: time.Minute}); set.Limit(true) != time.Minute || set.Limit(false) != time.Minute {
		t.Error("a time that is set does not win")
	}
}
