package speech

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// provider is the server's name in transcripts and errors.
const provider = "whisper.cpp"

// ServerConfig says where whisper.cpp's server is, and its timeouts. Model is ignored: the server has loaded its own.
type ServerConfig = wire.Config

// Server is whisper.cpp's server: a model.Transcriber, safe for concurrent use. It takes WAV or, if it runs with
// --convert, what ffmpeg reads. Without a language in a request it detects the language, whatever it was started with.
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

// By is the name in transcripts.
func (s *Server) By() string { return strings.TrimSuffix(s.client.ID(), ":") }

// Local returns what the ServerConfig promised.
func (s *Server) Local() bool { return s.client.Local() }

// Close closes the idle connections. The Server can still be used.
func (s *Server) Close() { s.client.Close() }

// Transcribe transcribes audio.
func (s *Server) Transcribe(ctx context.Context, audio model.Audio) (model.Transcript, error) {
	// Without a language the server would use the one that it was started with, English by default.
	t, err := s.client.UploadAudio(ctx, inference, audio,
		[][2]string{{"response_format", "verbose_json"}, {"language", cmp.Or(audio.Language, "auto")},
			{"prompt", audio.Prompt}})
	// there is one after each segment; the next one begins with a space if the language has spaces
	t.Text = strings.ReplaceAll(t.Text, "\n", "")
	return t, err
}

// classify sets the Kind of a failure. The server reports most of them with the status of a success.
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
