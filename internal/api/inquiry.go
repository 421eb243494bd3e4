package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// The addresses of the Inquiry.
const (
	inquiriesPath = "/api/inquiries"
	inquiryPath   = inquiriesPath + "/{inquiry}"
)

// InquiryPath is the part of an address that names an inquiry.
type InquiryPath struct {
	Inquiry string `path:"inquiry" doc:"The id of the inquiry, or that of its run."`
}

// inquiryRoutes registers the routes of the Inquiry: what the command line can do with it.
func (s *Server) inquiryRoutes() {
	if s.config.Inquiry == nil {
		return
	}
	const tag = "inquiries"
	registerForm(s, route{id: "listInquiries", at: "GET " + inquiriesPath, tag: tag,
		summary: "The inquiries, the latest first"}, s.listInquiries)
	register(s, route{id: "beginInquiry", at: "POST " + inquiriesPath, tag: tag,
		summary: "Have a detective cross-examine a witness about a hypothesis", status: http.StatusAccepted,
		takesTexts: true}, s.beginInquiry)
	register(s, route{id: "getInquiry", at: "GET " + inquiryPath, tag: tag,
		summary: "An inquiry whole, as its file has it and with how its run stands, also while it goes on", whole: true,
		content: []mediaType{{jsonType, "ShownInquiry", ""}}}, s.getInquiry)
	register(s, route{id: "exportInquiry", at: "GET " + inquiryPath + "/export", tag: tag,
		summary: "An inquiry as a file: for people, for programs, or as a page with its evidence", whole: true,
		content: []mediaType{{exportTypes["md"], "", "For people."}, {jsonType, "InquirySession", ""},
			{htmlType, "", "The evidence page: it needs no network and no script, and can be verified."}}},
		s.exportInquiry)
	registerForm(s, route{id: "getInquirySummary", at: "GET " + inquiryPath + "/summary", tag: tag,
		summary: "What the audit of an inquiry says, also as HTML", whole: true}, s.getInquirySummary)
	registerForm(s, route{id: "stopInquiry", at: "POST " + inquiryPath + "/stop", tag: tag,
		summary: "Stop an inquiry that goes on; what it has is kept", status: http.StatusAccepted}, s.stopInquiry)
	s.verifyRoute(tag)
	for _, form := range []reflect.Type{reflect.TypeFor[record.Session](), reflect.TypeFor[inquiry.Session]()} {
		s.api.OpenAPI().Components.Schemas.Schema(form, true, "")
	}
}

// InquiryBegin is the body of a request that begins an inquiry.
type InquiryBegin struct {
	Hypothesis string `json:"hypothesis" min:"1" doc:"what is inquired into: a statement or a question, 4000 characters at most"`
	inquiry.Options
}

// Schema implements huma.SchemaProvider.
func (InquiryBegin) Schema(r huma.Registry) *huma.Schema { return optionsSchema[InquiryBegin](r) }

// InquiryBegun is an inquiry that was begun, or asked to stop.
type InquiryBegun struct {
	ID  string `json:"id" doc:"Of the inquiry."`
	Run string `json:"run" doc:"Of its run, whose events tell what happens."`
	run.Standing
}

// Inquiries is a part of the list of inquiries, the latest first.
type Inquiries struct {
	Inquiries []inquiry.Listed `json:"inquiries"`
	Next      string           `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
}

func (s *Server) listInquiries(ctx context.Context, in *Paging) (f Inquiries, err error) {
	after, err := in.cursor()
	if err != nil {
		return f, err
	}
	f.Inquiries, err = s.config.Inquiry.List(ctx, ownerOf(ctx), journal.Filter{Limit: in.Limit, After: after})
	f.Next = nextCursor(in.Limit, f.Inquiries)
	return f, err
}

func (s *Server) beginInquiry(ctx context.Context, in *Keyed[InquiryBegin]) (*withLocation[InquiryBegun], error) {
	said := assistant.GivenOptions{Base: in.Body.Options}
	r := service.Request{Assistant: inquiry.Name, Words: in.Body.Hypothesis, Key: in.Key}
	begun, err := s.submitWords(ctx, r, said)
	if errors.Is(err, journal.ErrClaimed) && in.Key != "" {
		begun, err = s.submitWords(ctx, r, said) // another request with this key may have been first
	}
	if held, ok := errors.AsType[*journal.ClaimedError](err); ok {
		p := newProblem(http.StatusConflict, "inquiry_goes_on",
			"An inquiry of yours goes on already, and there is one at a time.",
			"Wait for its end, or stop it; run has the id of its run.")
		p.Run = held.Run
		return nil, p
	}
	if err != nil {
		return nil, err
	}
	f, err := s.inquiryState(ctx, begun.Run)
	return &withLocation[InquiryBegun]{Location: inquiriesPath + "/" + f.ID, Body: f}, err
}

// inquiryState is the state of the inquiry that a run carries out.
func (s *Server) inquiryState(ctx context.Context, run string) (InquiryBegun, error) {
	r, err := s.findRun(ctx, run)
	return InquiryBegun{ID: r.Session, Run: r.ID, Standing: r.Standing}, err
}

// inquiryRow reads the row of an inquiry of the requesting user.
func (s *Server) inquiryRow(ctx context.Context, in *InquiryPath) (journal.Run, error) {
	r, err := s.config.Inquiry.Get(ctx, ownerOf(ctx), in.Inquiry)
	infoOf(ctx).run = r.ID
	return r, err
}

// readInquiry reads an inquiry. It also repairs the inquiry's file if the user may change anything. If the repair
// fails, the inquiry can still be read.
func (s *Server) readInquiry(ctx context.Context, in *InquiryPath) (inquiry.Session, error) {
	r, err := s.inquiryRow(ctx, in)
	if err != nil {
		return inquiry.Session{}, err
	}
	x := infoOf(ctx)
	if !x.token.Scope.Allows(scopeToRepair) {
		return s.config.Inquiry.Read(ctx, x.owner(), r)
	}
	one, err := s.config.Inquiry.Session(ctx, x.owner(), r)
	if err != nil && one.ID != "" {
		s.config.Log.LogAttrs(ctx, slog.LevelWarn, "the file of an inquiry can't be written",
			slog.String("request_id", x.id), slog.String("run_id", r.ID), slog.String("error", err.Error()))
		err = nil
	}
	return one, err
}

func (s *Server) getInquiry(ctx context.Context, in *InquiryPath) (*export, error) {
	one, err := s.readInquiry(ctx, in)
	if err != nil {
		return nil, err
	}
	text, err := encodeForFile(one, true)
	return &export{ContentType: jsonType, Body: []byte(text)}, err
}

// InquirySummary is the summary in the audit of an inquiry, for people.
type InquirySummary struct {
	Text        string `json:"text" doc:"Markdown."`
	HTML        string `json:"html" doc:"The same as HTML in which nothing runs."`
	By          string `json:"by,omitempty" doc:"Who wrote it: provider:model."`
	Provisional bool   `json:"provisional,omitempty" doc:"The inquiry did not complete."`
}

func (s *Server) getInquirySummary(ctx context.Context, in *InquiryPath) (f InquirySummary, err error) {
	one, err := s.readInquiry(ctx, in)
	if err != nil {
		return f, err
	}
	audit := one.Audit()
	if audit == nil {
		return f, newProblem(http.StatusNotFound, "no_audit", "There is no audit of this inquiry yet.",
			"It is made when the inquiry ends.")
	}
	return InquirySummary{Text: audit.Summary, HTML: render.HTML(audit.Summary), By: audit.By,
		Provisional: one.AuditResult == nil}, nil
}

// htmlType is the content type of evidence pages.
const htmlType = "text/html; charset=utf-8"

// exportInquiry gives an inquiry as a file. A browser may show a page: its policy lets nothing run or be fetched.
func (s *Server) exportInquiry(ctx context.Context, in *struct {
	InquiryPath
	Format string `query:"format" enum:"md,json,html" default:"md"`
}) (*export, error) {
	one, err := s.readInquiry(ctx, &in.InquiryPath)
	if err != nil {
		return nil, err
	}
	x := newExport("inquiry", one.ID, in.Format, nil)
	switch in.Format {
	case "md":
		x.Body = record.Markdown(one.Session)
	case "json":
		x.Body, err = record.Marshal(one.Session)
	case "html":
		x.ContentType, x.Policy = htmlType, record.PagePolicy()+"; frame-ancestors 'none'; sandbox"
		x.ContentDisposition = "inline" + strings.TrimPrefix(x.ContentDisposition, "attachment")
		row, rowErr := s.inquiryRow(ctx, &in.InquiryPath)
		if rowErr != nil {
			return nil, rowErr
		}
		x.Body, err = s.config.Inquiry.Evidence(ctx, row, one.Session)
	}
	return x, err
}

func (s *Server) stopInquiry(ctx context.Context, in *InquiryPath) (f InquiryBegun, err error) {
	r, err := s.inquiryRow(ctx, in)
	if err != nil {
		return f, err
	}
	if err := s.config.Service.Cancel(context.WithoutCancel(ctx), r.Owner, r.ID, "stopped over HTTP"); err != nil {
		return f, err
	}
	return s.inquiryState(ctx, r.ID)
}

func (s *Server) verifyRoute(tag string) {
	const at = inquiriesPath + "/verify"
	s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[record.Report](), true, "")
	register(s, route{id: "verifyInquiry", at: "POST " + at, tag: tag,
		summary: "Check an evidence page, or a session, again", takesFiles: true,
		content: []mediaType{{jsonType, "InquiryReport", ""}}}, s.verifyInquiry)
	s.api.OpenAPI().Paths[at].Post.RequestBody = &huma.RequestBody{Required: true,
		Description: fmt.Sprintf(
			"A session as JSON, or an evidence page, of %d MiB at most. What breaks rules is told in the report.",
			s.config.Limits.Evidence>>20),
		Content: map[string]*huma.MediaType{jsonType: {Schema: &huma.Schema{Type: huma.TypeObject,
			AdditionalProperties: true}}, "text/html": {Schema: &huma.Schema{Type: huma.TypeString}}}}
}

// verifyInquiry verifies an evidence page or a session in the body. It reads the body before it waits for its turn, so
// that a slow client holds up nobody.
func (s *Server) verifyInquiry(ctx context.Context, in *struct {
	Documents string `query:"documents" maxLength:"200" doc:"The name of a folder that the server has, in which what is cited is looked up again."`
}) (*huma.StreamResponse, error) {
	x := infoOf(ctx)
	folder := ""
	if in.Documents != "" {
		var err error
		if folder, err = s.folderFinder(x.token)(nil, in.Documents); err != nil {
			return nil, s.problem(ctx, err).closing()
		}
	}
	return s.answerUpload(ctx, func(w http.ResponseWriter, r *http.Request) {
		var report record.Report
		var err error = badRequest("The name of the folder is empty.",
			"Name a folder of documents, or leave “documents” out.")
		if folder != "" || !r.URL.Query().Has("documents") {
			report, err = s.verifyBody(w, r, folder)
		}
		s.writeAnswer(w, r, http.StatusOK, report, err)
	})
}

// verifyBody reads the body of a request and verifies it. With a folder it looks up the citations in its documents.
func (s *Server) verifyBody(w http.ResponseWriter, r *http.Request, folder string) (f record.Report, err error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || r.Header.Get("Content-Encoding") != "" || kind != jsonType && kind != "text/html" {
		return f, newProblem(http.StatusUnsupportedMediaType, "no_evidence", "This is no evidence.",
			"Send an evidence page as text/html, or a session as application/json, not compressed.")
	}
	in, err := s.newIntake(w, r, s.config.Limits.Evidence)
	if err != nil {
		return f, err
	}
	content, err := io.ReadAll(in)
	if err != nil {
		return f, err
	}
	if len(content) == 0 {
		return f, badRequest("The request has no body.", "Send an evidence page, or a session.")
	}
	ctx := r.Context()
	done, p := s.readWhole(ctx, infoOf(ctx))
	if p != nil {
		return f, p
	}
	defer done()
	var documents func(name string) (record.Source, error)
	if folder != "" {
		if documents, err = s.config.Sources(ctx, folder); err != nil {
			return f, s.folderProblem(ctx, err)
		}
	}
	return record.Verify(content, documents), nil
}

// folderProblem is the problem of a folder that the server can't read; it logs the cause.
func (s *Server) folderProblem(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.config.Log.LogAttrs(ctx, slog.LevelError, "a folder of documents can't be read",
		slog.String("request_id", infoOf(ctx).id), slog.String("error", err.Error()))
	return newProblem(http.StatusServiceUnavailable, "no_documents", "The documents of this folder can't be read.",
		"Whoever runs the server has to look after the folder.").after(time.Minute)
}
