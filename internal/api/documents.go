package api

import (
	"context"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

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
	Material string `json:"material" doc:"As the options “material” of the Oracle and “documents” of an inquiry take it. Several may stand behind each other."`
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

func noDocument() *Problem {
	return newProblem(http.StatusUnsupportedMediaType, "no_document", "This is no document.",
		"Send a text, PDF, DOCX or picture as it is, with its content type, not compressed.")
}
