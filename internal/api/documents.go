package api

import (
	"context"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/council"
	"sibyl/internal/files"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/server/user"
)

// DocumentText is the content of a document or a picture in the form that questions take.
type DocumentText struct {
	Name     string `json:"name" doc:"By which answers cite it."`
	Parts    int    `json:"parts" doc:"Pages with text; 1 where it has no pages."`
	Picture  string `json:"picture,omitempty" doc:"Of a picture: its media type. Only the Oracle takes it."`
	Material string `json:"material" doc:"As the options “material” of the Oracle and “documents” of an inquiry take it. Several may stand one after another."`
}

// fileBody describes the body of a request that is a file of one of these types, or words as JSON.
func fileBody(about string, words *huma.Schema, types ...string) *huma.RequestBody {
	body := &huma.RequestBody{Required: true, Description: about, Content: map[string]*huma.MediaType{
		formType: {Schema: &huma.Schema{Type: huma.TypeObject, Required: []string{"file"},
			Properties: map[string]*huma.Schema{"file": {Type: huma.TypeString, Format: "binary"}}}}}}
	for _, name := range types {
		body.Content[name] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	if words != nil {
		body.Content[jsonType] = &huma.MediaType{Schema: words}
	}
	return body
}

func (s *Server) documentRoute() {
	const at = "/api/documents"
	s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[DocumentText](), true, "")
	register(s, route{id: "readDocument", at: "POST " + at, tag: "events", summary: "Read a document, to ask about it",
		needs: user.Write, takesFiles: true, content: []mediaType{{jsonType, "DocumentText", ""}}}, s.readDocument)
	s.api.OpenAPI().Paths[at].Post.RequestBody = fileBody(
		"A text, PDF, DOCX or picture (PNG, JPEG, WEBP, GIF): as it is, with its content type, or as the field "+
			"‘file’ of a form. Nothing of it is kept.",
		nil, append([]string{octets, pdfType, docxType, "text/plain", "text/markdown"}, model.PictureTypes()...)...)
}

// readDocument answers with the text of the document in the body.
func (s *Server) readDocument(ctx context.Context, in *struct{ FileName }) (*huma.StreamResponse, error) {
	return s.answerUpload(ctx, func(w http.ResponseWriter, r *http.Request) {
		text, err := s.documentText(w, r, in.fileName())
		s.writeAnswer(w, r, http.StatusOK, text, err)
	})
}

// documentText reads the document in a body. It reads the body before it waits for its turn, so that a slow client
// holds up nobody.
func (s *Server) documentText(w http.ResponseWriter, r *http.Request, label string) (t DocumentText, err error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	ending, isFile := fileEnding(kind)
	isPicture := slices.Contains(model.PictureTypes(), kind)
	if err != nil || r.Header.Get("Content-Encoding") != "" || !isFile && !isPicture && kind != formType {
		return t, noDocument()
	}
	in, err := s.newIntake(w, r, min(s.config.Limits.Upload, document.MaxFile))
	if err != nil {
		return t, err
	}
	var from io.Reader = in
	if kind == formType {
		label, from, err = fileInForm(in, params["boundary"])
	}
	var content []byte
	if err == nil {
		content, err = io.ReadAll(from)
	}
	if err = in.readError(err); err != nil {
		return t, err
	}
	done, p := s.readWhole(r.Context(), infoOf(r.Context()))
	if p != nil {
		return t, p
	}
	defer done()
	if label == "" && isPicture {
		label = "picture"
	}
	if label == "" {
		label = "document." + ending
	}
	parts, err := oracle.ReadParts(r.Context(), s.config.Documents, label, content)
	if err != nil {
		return t, err
	}
	if isPicture && parts[0].Type == "" {
		return t, noDocument()
	}
	parts[0].Hash = files.Hash(content)
	withText := slices.DeleteFunc(slices.Clone(parts), document.Part.IsBlank)
	return DocumentText{Name: label, Parts: len(withText), Picture: parts[0].Type, Material: document.JoinParts(parts)},
		nil
}

// Dictated is what was heard in a recording.
type Dictated struct {
	Text     string `json:"text"`
	By       string `json:"by" doc:"The transcriber."`
	Language string `json:"language,omitempty"`
}

// mostDictated is the largest recording that is dictated, in bytes: half an hour of speech.
const mostDictated = 16 << 20

func (s *Server) dictationRoute() {
	const at = "/api/dictation"
	s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Dictated](), true, "")
	register(s, route{id: "dictate", at: "POST " + at, tag: "events", summary: "Have a recording written down, to edit it",
		needs: user.Write, takesFiles: true, content: []mediaType{{jsonType, "Dictated", ""}}}, s.dictate)
	s.api.OpenAPI().Paths[at].Post.RequestBody = fileBody(
		"A recording, as it is, with its content type. The transcriber of the settings hears it; nothing of it is kept.",
		nil, "audio/webm", "audio/ogg", "audio/mp4", "audio/wav", octets)
}

// dictate answers with what is heard in the recording in the body.
func (s *Server) dictate(ctx context.Context, in *struct {
	Language string `query:"language" maxLength:"20" pattern:"^([A-Za-z0-9]{2,3}(-[A-Za-z0-9-]*)?)?$" patternDescription:"a language such as pt, en or de" doc:"In which it is spoken, as in “de”. Left out: it is found out."`
}) (*huma.StreamResponse, error) {
	if s.config.Council.Missing() != "" {
		return nil, newProblem(http.StatusConflict, "no_transcriber", "Nothing is set up on this server that transcribes.",
			"Whoever runs the server can set up a model, a server or a command that does.")
	}
	return s.answerUpload(ctx, func(w http.ResponseWriter, r *http.Request) {
		heard, err := s.hearDictation(w, r, in.Language)
		s.writeAnswer(w, r, http.StatusOK, heard, err)
	})
}

func (s *Server) hearDictation(w http.ResponseWriter, r *http.Request, language string) (d Dictated, err error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	ending, isRecording := recordingEnding(kind)
	if err != nil || !isRecording || r.Header.Get("Content-Encoding") != "" {
		return d, noRecording()
	}
	in, err := s.newIntake(w, r, min(s.config.Limits.Upload, mostDictated))
	if err != nil {
		return d, err
	}
	content, err := io.ReadAll(in)
	if err = in.readError(err); err != nil {
		return d, err
	}
	if len(content) == 0 {
		return d, noRecording()
	}
	folder, err := os.MkdirTemp("", "sibyl-dictation-")
	if err != nil {
		return d, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // what stays is in the system's folder for such files
	file := filepath.Join(folder, "said."+ending)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return d, err
	}
	t, err := s.config.Council.Transcribe(r.Context(), file, council.SpokenIn{Language: language}, council.Transcribing{
		Progress: func(int, int) {}, Wait: func(model.Wait) {}})
	if err != nil {
		s.config.Log.LogAttrs(r.Context(), slog.LevelWarn, "a recording could not be written down",
			slog.String("request_id", infoOf(r.Context()).id), slog.String("error", err.Error()))
		return d, newProblem(http.StatusUnprocessableEntity, "not_heard", "The recording could not be written down.",
			"Try it again. If it stays so, the log of the server says why.")
	}
	return Dictated{Text: strings.TrimSpace(t.Text), By: t.By, Language: t.Language}, nil
}

func noRecording() *Problem {
	return newProblem(http.StatusUnsupportedMediaType, "no_recording", "This is no recording.",
		"Send a recording as it is, with its content type, not compressed.")
}

func noDocument() *Problem {
	return newProblem(http.StatusUnsupportedMediaType, "no_document", "This is no document.",
		"Send a text, PDF, DOCX or picture as it is, with its content type, not compressed.")
}
