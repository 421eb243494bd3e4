package speech

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// provider is what the server is called in transcripts and errors.
const provider = "whisper.cpp"

// ServerConfig says where whisper.cpp's server is, and for how long it is waited for. It has loaded its model by
// itself: Model is not asked for.
type ServerConfig = wire.Config

// Server is whisper.cpp's server: a model.Transcriber, safe for concurrent use. It takes WAV; one that runs with
// --convert takes what ffmpeg reads. Where no language is said it finds out, whatever it was started with.
type Server struct{ client *wire.Client }

// NewServer returns the server that c describes. It sends nothing; a wrong BaseURL is reported by the first request.
func NewServer(c ServerConfig) *Server {
	c.Provider = cmp.Or(c.Provider, provider)
	return &Server{wire.New(c, wire.Protocol{
		ExampleURL: "http://127.0.0.1:8080",
		URLForm:    "http://host:port",
		URLPath:    func(path string) string { return strings.TrimSuffix(strings.TrimRight(path, "/"), "/"+inference) },
		URLHint:    "whisper.cpp's server answers under /inference",
		Header:     wire.Bearer,
		Classify:   classify,
	})}
}

const inference = "inference"

// By is what stands in transcripts.
func (s *Server) By() string { return strings.TrimSuffix(s.client.ID(), ":") }

// Local is what the ServerConfig promised.
func (s *Server) Local() bool { return s.client.Local() }

// Close closes the connections that wait for another request. The Server can still be used.
func (s *Server) Close() { s.client.Close() }

// Transcribe writes down audio.
func (s *Server) Transcribe(ctx context.Context, audio model.Audio) (model.Transcript, error) {
	// Without a language it takes that it was started with: English, if nobody said otherwise.
	t, err := s.client.UploadAudio(ctx, inference, audio,
		[][2]string{{"response_format", "verbose_json"}, {"language", cmp.Or(audio.Language, "auto")},
			{"prompt", audio.Prompt}})
	// behind each segment; where words are spaced, the next one begins with a space
	t.Text = strings.ReplaceAll(t.Text, "\n", "")
	return t, err
}

// classify sorts a failure. The server tells most of them with the status of a success.
func classify(_ *wire.Call, status int, c *wire.Complaint) {
	message := strings.ToLower(c.Message)
	switch {
	case wire.ContainsAny(message, "failed to read", "conversion failed", "wav"):
		c.Kind, c.Advice = model.Invalid, " (it takes WAV, and other formats if it runs with --convert)"
	case status == http.StatusOK && wire.ContainsAny(message, "field in the request"):
		c.Kind = model.Invalid
	default:
		c.Kind = wire.StatusKind(status)
	}
}
