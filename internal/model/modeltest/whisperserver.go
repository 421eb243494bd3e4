package modeltest

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"sibyl/internal/model"
)

// WhisperServer is whisper.cpp's server on a loopback port. Each POST to inference takes the next Answer.
type WhisperServer struct {
	// BaseURL is what an adapter is told.
	BaseURL string

	server[WhisperRequest]
}

// WhisperRequest is a request as the server got it.
type WhisperRequest struct {
	Request
	Form url.Values
	File string
}

func (WhisperRequest) schema() json.RawMessage { return nil }

// NewWhisperServer starts a server that stops with the test, if there is one.
func NewWhisperServer(tb testing.TB, answers ...Answer) *WhisperServer {
	s := &WhisperServer{}
	s.BaseURL = s.start(tb, protocol[WhisperRequest]{
		name: "whisper.cpp",
		routes: map[string]route[WhisperRequest]{
			"/inference": {wholeJSON, whisperTranscript, `{"text":"ha`, `{"text":[}`},
		},
		read: readWhisper,
		failures: map[model.Kind]failure{ // of which a proxy in front of it gives the first ones
			model.RateLimit:     {status: 429, message: "Too many requests"},
			model.Auth:          {status: 401, message: "Not allowed: "},
			model.ContextLength: {status: 413, message: "Payload too large"},
			model.Timeout:       {status: 504, message: "Gateway timeout"},
			model.Overloaded:    {status: 503, message: "loading model"},
			model.Invalid:       {status: 400, message: "failed to read audio data"},
			model.Server:        {status: 200, message: "failed to process audio"},
		},
		fail: func(w http.ResponseWriter, f failure) { writeFailure(w, f, map[string]string{"error": f.message}) },
	}, answers)
	return s
}

func readWhisper(raw Request) (WhisperRequest, error) {
	_, parameters, err := mime.ParseMediaType(raw.Header.Get("Content-Type"))
	req := WhisperRequest{Request: raw}
	if err == nil {
		req.Form, req.File, err = readForm(raw.Body, parameters["boundary"])
	}
	return req, err
}

// whisperTranscript ends each segment with a line break, as the server does.
func whisperTranscript(a Answer, req WhisperRequest) (parts, end [][]byte) {
	for _, s := range a.Transcript.Segments {
		a.Transcript.Text = strings.Replace(a.Transcript.Text, s.Text+" ", s.Text+"\n ", 1)
	}
	return transcript(a, req.Form.Get("response_format") == "verbose_json")
}
