package app

import (
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
)

func TestRecordingsAreToldToBeSentToTheHostThatHearsThem(t *testing.T) {
	for _, c := range []struct {
		set  config.Transcription
		host string
	}{
		{config.Transcription{}, ""},
		{config.Transcription{Command: []string{"whisper-cli", "{file}"}}, ""},
		{config.Transcription{Server: "http://127.0.0.1:9000", Local: true}, ""},
		{config.Transcription{Server: "https://speech.example:9000/v1"}, "speech.example"},
	} {
		assert.Equalf(t, newScribe(config.Config{Transcription: c.set}, nil).Host, c.host, "%+v", c.set)
	}
}
