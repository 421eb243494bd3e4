package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"sibyl/internal/inquiry/record"
)

func (s *Server) verifyRoute(tag string) {
	const at = inquiriesPath + "/verify"
	s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[record.Report](), true, "")
	register(s, route{id: "verifyInquiry", at: "POST " + at, tag: tag, summary: "Check an evidence page, or a session, again", takesFiles: true, content: []mediaType{{jsonType, "InquiryReport", ""}}}, s.verifyInquiry)
	s.api.OpenAPI().Paths[at].Post.RequestBody = &huma.RequestBody{Required: true, Description: fmt.Sprintf("A session as JSON, or an evidence page, of %d MiB at most. What breaks rules is told in the report.", s.config.Limits.Evidence>>20),
		Content: map[string]*huma.MediaType{jsonType: {Schema: &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}}, "text/html": {Schema: &huma.Schema{Type: huma.TypeString}}}}
}

// verifyInquiry verifies what is sent. The body is read before it waits for its turn, so that who sends slowly holds up nobody.
func (s *Server) verifyInquiry(ctx context.Context, in *struct {
	Documents string `query:"documents" maxLength:"200" doc:"The name of a folder that the server has, in which what is cited is looked up again."`
}) (*huma.StreamResponse, error) {
	x := exchangeOf(ctx)
	folder := ""
	if in.Documents != "" {
		var err error
		if folder, err = s.folders(x.token)(nil, in.Documents); err != nil {
			return nil, s.problem(ctx, err).closing()
		}
	}
	closed, p := s.openStream(x.owner())
	if p != nil {
		return nil, p.closing()
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		defer closed()
		r, w := humago.Unwrap(c)
		var report record.Report
		var err error = newProblem(http.StatusBadRequest, "invalid_request", "The name of the folder is empty.",
			"Name a folder of documents, or leave “documents” out.")
		if folder != "" || !r.URL.Query().Has("documents") {
			report, err = s.verified(w, r, folder)
		}
		s.end(w, r, http.StatusOK, report, err)
	}}, nil
}

func (s *Server) verified(w http.ResponseWriter, r *http.Request, folder string) (f record.Report, err error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.Header.Get("Content-Encoding") != "" || kind != jsonType && kind != "text/html" {
		return f, newProblem(http.StatusUnsupportedMediaType, "no_evidence", "This is no evidence.", "Send an evidence page as text/html, or a session as application/json, not compressed.")
	}
	in := s.newIntake(w, r)
	in.most = s.config.Limits.Evidence
	if p := in.announced(r.ContentLength); p != nil {
		return f, p
	}
	content, err := io.ReadAll(in)
	if err != nil {
		return f, err
	}
	if len(content) == 0 {
		return f, newProblem(http.StatusBadRequest, "invalid_request", "The request has no body.", "Send an evidence page, or a session.")
	}
	ctx := r.Context()
	done, p := s.readWhole(ctx, exchangeOf(ctx))
	if p != nil {
		return f, p
	}
	defer done()
	var documents func(name string) (record.Source, error)
	if folder != "" {
		if documents, err = s.config.Sources(ctx, folder); err != nil {
			return f, s.unreadable(ctx, err)
		}
	}
	return record.Verify(content, documents), nil
}

// unreadable is the problem of a folder of the server that it can't read.
func (s *Server) unreadable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.config.Log.LogAttrs(ctx, slog.LevelError, "a folder of documents can't be read", slog.String("request_id", exchangeOf(ctx).id), slog.String("error", err.Error()))
	return newProblem(http.StatusServiceUnavailable, "no_documents", "The documents of this folder can't be read.", "Whoever runs the server has to look after the folder.").after(time.Minute)
}

// inquirySchemas puts the schema of a session among those of the description: the published one, with its definitions as schemas of their own. Left out are
// its conditions on what has to be there when: they say nothing of the type of a value, of which clients are made.
func (s *Server) inquirySchemas() {
	const prefix = "Inquiry"
	text := strings.ReplaceAll(string(record.Schema()), "#/definitions/", schemasRef+prefix)
	var whole map[string]any
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		panic(fmt.Sprintf("the schema of an inquiry is no JSON: %v", err)) // its file alone decides that
	}
	all, _ := whole["definitions"].(map[string]any)
	all["Session"] = whole
	schemas := s.api.OpenAPI().Components.Schemas.Map()
	for name, one := range all {
		members, _ := one.(map[string]any)
		for _, left := range []string{"$schema", "definitions", "allOf", "anyOf", "if", "then", "else"} {
			delete(members, left)
		}
		schemas[prefix+name] = &huma.Schema{Extensions: members}
	}
}
