//go:build unix

package speech_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/speech"
)

// transcribeAt asks whisper.cpp's server at an address, over connections of its own.
func transcribeAt(t *testing.T, address string) (model.Transcript, error) {
	s := speech.NewServer(speech.ServerConfig{BaseURL: address, Local: true})
	defer s.Close()
	return s.Transcribe(t.Context(), noteAudio())
}

func TestServerFindsOutTheLanguageThatNobodySaid(t *testing.T) {
	server := modeltest.NewServer(t,
		modeltest.Answer{Raw: &modeltest.Raw{Body: `{"text":" One.\n Two.\n","language":"english"}`}})
	got, err := transcribeAt(t, server.BaseURL+"/inference/")
	assert.Require(t, err == nil && got.Language == "english" && got.Text == "One. Two.", "got %+v, %v", got, err)
	r := server.Last()
	assert.That(t, r.Path == "/inference" && r.Form.Get("language") == "auto" && !r.Form.Has("prompt") && r.File == "RIFF",
		"asked %s with %v", r.Path, r.Form)
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
		body := assert.Must(json.Marshal(map[string]string{"error": said}))(t)
		_, err := transcribeAt(t, modeltest.NewServer(t, modeltest.Answer{Raw: &modeltest.Raw{Body: string(body)}}).BaseURL)
		plain := strings.TrimSuffix(said, " \u001b[31m")
		assert.That(t, model.KindOf(err) == want.kind && strings.Contains(err.Error(), plain) &&
			strings.Contains(err.Error(), want.advice) && !strings.ContainsRune(err.Error(), 0x1b), "%q is %v", said, err)
	}
}

func TestAddressThatIsNoServerIsToldSo(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	_, err := transcribeAt(t, other.URL)
	assert.That(t, model.KindOf(err) == model.Invalid && strings.Contains(err.Error(), "answers under /inference"),
		"got %v", err)
	other.Close()
	_, err = transcribeAt(t, other.URL)
	assert.That(t, model.KindOf(err) == model.Server && strings.Contains(err.Error(), "is the server running there?"),
		"got %v", err)
}
