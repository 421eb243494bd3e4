// Package whisper speaks the protocol of whisper.cpp's server: POST /inference.
//
// Besides the guarantees of packages model and wire: where no language is said the server finds out, whatever it was started with; an
// error that comes as a success is an error.
//
// The server takes WAV; one that runs with --convert takes what ffmpeg reads.
package whisper

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/model/wire"
)

// Provider is what the server is called in transcripts and errors.
const Provider = "whisper.cpp"

// Config says where the server is, and for how long it is waited for. It has loaded its model by itself: Model is not asked for.
type Config = wire.Config

// Server is a model.Transcriber. It is safe for concurrent use.
type Server struct{ client *wire.Client }

// New returns the server that c describes. It sends nothing; a wrong BaseURL is reported by the first request.
func New(c Config) *Server {
	c.Provider = cmp.Or(c.Provider, Provider)
	return &Server{wire.New(c, wire.Protocol{
		ExampleURL: "http://127.0.0.1:8080",
		URLForm:    "http://host:port",
		URLPath:    func(path string) string { return strings.TrimSuffix(strings.TrimRight(path, "/"), "/"+inference) },
		URLHint:    "whisper.cpp's server answers under /inference",
		Header:     wire.Bearer,
		Judge:      judge,
	})}
}

const inference = "inference"

// By is what stands in transcripts.
func (s *Server) By() string { return strings.TrimSuffix(s.client.ID(), ":") }

// Local is what the Config promised.
func (s *Server) Local() bool { return s.client.Local() }

// Close closes the connections that wait for another request. The Server can still be used.
func (s *Server) Close() { s.client.Close() }

// Transcribe writes down audio.
func (s *Server) Transcribe(ctx context.Context, audio model.Audio) (model.Transcript, error) {
	// Without a language it takes that it was started with: English, if nobody said otherwise.
	t, err := s.client.Upload(ctx, inference, audio,
		[][2]string{{"response_format", "verbose_json"}, {"language", cmp.Or(audio.Language, "auto")}, {"prompt", audio.Prompt}})
	t.Text = strings.ReplaceAll(t.Text, "\n", "") // behind each segment; where words are spaced, the next one begins with a space
	return t, err
}

const formatAdvice = " (it takes WAV, and other formats if it runs with --convert)"

// judge sorts a failure. The server tells most of them with the status of a success.
func judge(_ *wire.Exchange, status int, c *wire.Complaint) {
	said := strings.ToLower(c.Message)
	switch {
	case wire.Mentions(said, "failed to read", "conversion failed", "wav"):
		c.Kind, c.Advice = model.Invalid, formatAdvice
	case status == http.StatusOK && wire.Mentions(said, "field in the request"):
		c.Kind = model.Invalid
	default:
		c.Kind = wire.StatusKind(status)
	}
}
