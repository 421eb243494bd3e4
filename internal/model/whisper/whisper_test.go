package whisper_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/whisper"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func connect(t *testing.T, server *modeltest.WhisperServer, adjust func(*whisper.Config)) *whisper.Server {
	c := whisper.Config{BaseURL: server.BaseURL, Local: true}
	adjust(&c)
	s := whisper.New(c)
	t.Cleanup(s.Close)
	return s
}

func TestWhisperKeepsTheContract(t *testing.T) {
	modeltest.TranscriberSuite(t, func(t *testing.T, s modeltest.Setup) (model.Transcriber, modeltest.Subject) {
		if len(s.Answers) > 0 && s.Answers[0].Fail == model.Refused {
			t.Skip("whisper.cpp refuses no content")
		}
		server := modeltest.NewWhisperServer(t, s.Answers...)
		return connect(t, server, func(c *whisper.Config) { c.Key = s.Key }), server.Subject(nil)
	})
}

func note() model.Audio { return model.Audio{Name: "a.wav", Content: strings.NewReader("RIFF")} }

func TestWhisperFindsOutTheLanguageThatNobodySaid(t *testing.T) {
	server := modeltest.NewWhisperServer(t, modeltest.Answer{Transcript: model.Transcript{Text: "hi", Language: "english"}})
	got, err := connect(t, server, func(c *whisper.Config) { c.BaseURL += "/inference/" }).Transcribe(t.Context(), note())
	if err != nil || got.Language != "english" {
		t.Fatalf("got %+v, %v", got, err)
	}
	if r := server.Requests()[0]; r.Path != "/inference" || r.Form.Get("language") != "auto" || r.Form.Has("prompt") || r.File != "RIFF" {
		t.Errorf("asked %s with %v", r.Path, r.Form)
	}
}

func TestErrorThatComesAsASuccessIsOne(t *testing.T) {
	for said, want := range map[string]struct {
		kind   model.Kind
		advice string
	}{
		"failed to read WAV file":                   {model.Invalid, "--convert"},
		"FFmpeg conversion failed.":                 {model.Invalid, "--convert"},
		"no 'file' field in the request":            {model.Invalid, ""},
		"failed to process audio":                   {model.Server, ""},
		"something that nobody knows of \u001b[31m": {model.Server, ""},
	} {
		body, err := json.Marshal(map[string]string{"error": said})
		if err != nil {
			t.Fatal(err)
		}
		server := modeltest.NewWhisperServer(t, modeltest.Answer{Raw: &modeltest.Raw{Body: string(body)}})
		_, err = connect(t, server, func(*whisper.Config) {}).Transcribe(t.Context(), note())
		plain := strings.TrimSuffix(said, " \u001b[31m")
		if model.KindOf(err) != want.kind || !strings.Contains(err.Error(), plain) || !strings.Contains(err.Error(), want.advice) || strings.ContainsRune(err.Error(), 0x1b) {
			t.Errorf("%q is %v", said, err)
		}
	}
}

func TestAddressThatIsNoServerOfWhisperIsToldSo(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	ask := func() error { // over a connection of its own
		s := whisper.New(whisper.Config{BaseURL: other.URL})
		defer s.Close()
		_, err := s.Transcribe(t.Context(), note())
		return err
	}
	err := ask()
	if model.KindOf(err) != model.Invalid || !strings.Contains(err.Error(), "answers under /inference") {
		t.Errorf("got %v", err)
	}
	other.Close()
	err = ask()
	if model.KindOf(err) != model.Server || !strings.Contains(err.Error(), "is the server running there?") {
		t.Errorf("got %v", err)
	}
}
