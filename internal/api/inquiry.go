package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/assistant"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/service"
)

// The addresses of the Inquiry.
const (
	inquiriesPath = "/api/inquiries"
	inquiryPath   = inquiriesPath + "/{inquiry}"
)

// InquiryPath is in the address of whatever is about an inquiry.
type InquiryPath struct {
	Inquiry string `path:"inquiry" doc:"The id of the inquiry, or that of its run."`
}

// inquiryRoutes are those of the Inquiry: what the command line can do with it.
func (s *Server) inquiryRoutes() {
	if s.config.Inquiry == nil {
		return
	}
	const tag = "inquiries"
	writes := []int{http.StatusConflict, http.StatusInsufficientStorage}
	bodies := []int{http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}
	register(s, route{id: "listInquiries", method: http.MethodGet, path: inquiriesPath, tag: tag, summary: "The inquiries, the latest first"}, s.inquiries)
	register(s, route{id: "beginInquiry", method: http.MethodPost, path: inquiriesPath, tag: tag, summary: "Have a detective cross-examine a witness about a hypothesis", status: http.StatusAccepted,
		problems: append(append([]int{http.StatusNotFound}, writes...), bodies...)}, s.beginInquiry)
	register(s, route{id: "getInquiry", method: http.MethodGet, path: inquiryPath, tag: tag, summary: "An inquiry whole, as its file has it, also while it goes on", whole: true,
		content: []mediaType{{jsonType, "InquirySession", ""}}}, s.getInquiry)
	register(s, route{id: "exportInquiry", method: http.MethodGet, path: inquiryPath + "/export", tag: tag, summary: "An inquiry as a file: for people, for programs, or as a page with its evidence", whole: true,
		content: []mediaType{{exportTypes["md"], "", "For people."}, {jsonType, "InquirySession", ""}, {htmlType, "", "The evidence page: it needs no network and no script, and can be verified."}}}, s.exportInquiry)
	register(s, route{id: "getInquirySummary", method: http.MethodGet, path: inquiryPath + "/summary", tag: tag, summary: "What the audit of an inquiry says, also as HTML", whole: true}, s.inquirySummary)
	register(s, route{id: "stopInquiry", method: http.MethodPost, path: inquiryPath + "/stop", tag: tag, summary: "Stop an inquiry that goes on; what it has is kept", status: http.StatusAccepted,
		problems: writes}, s.stopInquiry)
	s.verifyRoute(tag)
	s.inquirySchemas()
}

// InquiryBegin is what an inquiry begins with.
type InquiryBegin struct {
	Hypothesis string `json:"hypothesis" min:"1" doc:"what is inquired into: a statement or a question, 4000 characters at most"`
	inquiry.Options
}

// Schema implements huma.SchemaProvider.
func (InquiryBegin) Schema(r huma.Registry) *huma.Schema { return declared[InquiryBegin](r) }

// InquiryBegun is an inquiry that was begun, or asked to stop.
type InquiryBegun struct {
	ID    string `json:"id" doc:"Of the inquiry."`
	Run   string `json:"run" doc:"Of its run, whose events tell what happens."`
	State string `json:"state" doc:"How it stands, in a word."`
}

// InquiryItem is an inquiry as lists have it.
type InquiryItem struct {
	ID               string        `json:"id"`
	Hypothesis       string        `json:"hypothesis" doc:"While it goes on, its beginning."`
	StartTime        string        `json:"startTime" format:"date-time"`
	Status           record.Status `json:"status" enum:"running,completed,failed,limit-reached"`
	EndReason        string        `json:"endReason,omitempty" doc:"Why it ended: satisfied, limit, no-progress, collected, stopped, error or timeout."`
	Pairs            *int          `json:"pairs,omitempty" doc:"How many questions were answered; left out where a list does not know."`
	Limit            int           `json:"iterationLimit,omitempty" doc:"Left out where a list does not know."`
	ConsistencyScore *int          `json:"consistencyScore,omitempty" minimum:"0" maximum:"100" doc:"Left out where no model has judged."`
	Provisional      bool          `json:"provisional,omitempty" doc:"The score is of an inquiry that did not complete."`
	Verdict          string        `json:"verdict,omitempty" doc:"How it stands, in a line: what every screen says of it."`
	Run              string        `json:"run"`
}

// Inquiries is a part of the list of inquiries, the latest first.
type Inquiries struct {
	Inquiries []InquiryItem `json:"inquiries"`
	Next      string        `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
}

func (s *Server) inquiries(ctx context.Context, in *Paging) (*of[Inquiries], error) {
	after, err := in.cursor()
	if err != nil {
		return nil, err
	}
	items, err := s.config.Inquiry.List(ctx, exchangeOf(ctx).owner(), journal.Filter{Limit: in.Limit, After: after})
	if err != nil {
		return nil, err
	}
	f := Inquiries{Inquiries: []InquiryItem{}, Next: in.next(len(items), func() journal.Cursor { return items[len(items)-1].Cursor() })}
	for _, i := range items {
		one := InquiryItem{ID: i.ID, Hypothesis: i.Hypothesis, StartTime: i.StartTime, Status: i.Status, EndReason: i.EndReason, Limit: i.Limit, ConsistencyScore: i.ConsistencyScore,
			Provisional: i.Provisional, Verdict: i.Verdict, Run: i.Run}
		if i.Limit > 0 {
			one.Pairs = &i.Pairs
		}
		f.Inquiries = append(f.Inquiries, one)
	}
	return &of[Inquiries]{f}, nil
}

// inquiryAt is an inquiry that was begun, with its address.
type inquiryAt struct {
	Location string `header:"Location"`
	Body     InquiryBegun
}

func (s *Server) beginInquiry(ctx context.Context, in *keyed[InquiryBegin]) (*inquiryAt, error) {
	said := assistant.Said{Base: in.Body.Options}
	begun, err := s.submit(ctx, service.Request{Assistant: inquiry.Name, Words: in.Body.Hypothesis, Key: in.Key}, said)
	if held, ok := errors.AsType[*journal.ClaimedError](err); ok {
		p := newProblem(http.StatusConflict, "inquiry_goes_on", "An inquiry of yours goes on already, and there is one at a time.", "Wait for its end, or stop it; run has the id of its run.")
		p.Run = held.Run
		return nil, p
	}
	if err != nil {
		return nil, err
	}
	about(ctx, begun.Run)
	f, err := s.inquiryStands(ctx, begun.Run)
	return &inquiryAt{Location: inquiriesPath + "/" + f.ID, Body: f}, err
}

// inquiryStands says how the inquiry of a run stands.
func (s *Server) inquiryStands(ctx context.Context, run string) (InquiryBegun, error) {
	r, err := s.config.Service.Run(ctx, exchangeOf(ctx).owner(), run)
	if err == nil && r.Assistant != inquiry.Name {
		err = newProblem(http.StatusConflict, "key_used", "Something else was begun under this Idempotency-Key.", "Make a new key for each request.")
	}
	return InquiryBegun{ID: r.Session, Run: r.ID, State: r.State}, err
}

// inquired is the row of an inquiry of whoever asks.
func (s *Server) inquired(ctx context.Context, in *InquiryPath) (journal.Run, error) {
	id, err := known(in.Inquiry)
	if err != nil {
		return journal.Run{}, err
	}
	r, err := s.config.Inquiry.Get(ctx, exchangeOf(ctx).owner(), id)
	if err == nil {
		about(ctx, r.ID)
	}
	return r, err
}

// inquirySession reads an inquiry. Its file is put right, too, if who asks may change anything; that it can't be keeps nobody from reading.
func (s *Server) inquirySession(ctx context.Context, in *InquiryPath) (record.Session, error) {
	r, err := s.inquired(ctx, in)
	if err != nil {
		return record.Session{}, err
	}
	x := exchangeOf(ctx)
	if !x.token.Scope.Allows(neededToMend) {
		return s.config.Inquiry.Read(ctx, x.owner(), r)
	}
	one, err := s.config.Inquiry.Session(ctx, x.owner(), r)
	if err != nil && one.ID != "" {
		s.config.Log.LogAttrs(ctx, slog.LevelWarn, "the file of an inquiry can't be written", slog.String("request_id", x.id), slog.String("run_id", r.ID), slog.String("error", err.Error()))
		err = nil
	}
	return one, err
}

// wholeInquiry is an inquiry as its file has it.
type wholeInquiry struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Body        []byte
}

func (s *Server) getInquiry(ctx context.Context, in *InquiryPath) (*wholeInquiry, error) {
	one, err := s.inquirySession(ctx, in)
	if err != nil {
		return nil, err
	}
	raw, err := record.Marshal(one)
	return &wholeInquiry{jsonType, raw}, err
}

// InquirySummary is what the audit of an inquiry says, for people.
type InquirySummary struct {
	Text        string `json:"text" doc:"Markdown."`
	HTML        string `json:"html" doc:"The same as HTML in which nothing runs."`
	By          string `json:"by,omitempty" doc:"Who wrote it: provider:model."`
	Provisional bool   `json:"provisional,omitempty" doc:"The inquiry did not complete."`
}

func (s *Server) inquirySummary(ctx context.Context, in *InquiryPath) (*of[InquirySummary], error) {
	one, err := s.inquirySession(ctx, in)
	if err != nil {
		return nil, err
	}
	audit := one.Audit()
	if audit == nil {
		return nil, newProblem(http.StatusNotFound, "no_audit", "There is no audit of this inquiry yet.", "It is made when the inquiry ends.")
	}
	return &of[InquirySummary]{InquirySummary{Text: audit.Summary, HTML: render.HTML(audit.Summary), By: audit.By, Provisional: one.AuditResult == nil}}, nil
}

// htmlType is the content type of evidence pages.
const htmlType = "text/html; charset=utf-8"

// inquiryExport is an inquiry as a file. A page may be read where it is: its policy lets nothing run or be fetched.
type inquiryExport struct {
	ContentType        string `header:"Content-Type" hidden:"true"`
	ContentDisposition string `header:"Content-Disposition"`
	Policy             string `header:"Content-Security-Policy" hidden:"true"` // empty: as all answers have it
	Body               []byte
}

func (s *Server) exportInquiry(ctx context.Context, in *struct {
	InquiryPath
	Format string `query:"format" enum:"md,json,html" default:"md"`
}) (*inquiryExport, error) {
	one, err := s.inquirySession(ctx, &in.InquiryPath)
	if err != nil {
		return nil, err
	}
	x := &inquiryExport{ContentType: exportTypes[in.Format], ContentDisposition: `attachment; filename="inquiry-` + one.ID + "." + in.Format + `"`}
	switch in.Format {
	case "md":
		x.Body = record.Markdown(one)
	case "json":
		x.Body, err = record.Marshal(one)
	case "html":
		x.ContentType, x.Policy = htmlType, record.PagePolicy()+"; frame-ancestors 'none'; sandbox"
		x.ContentDisposition = "inline" + strings.TrimPrefix(x.ContentDisposition, "attachment")
		row, found := s.inquired(ctx, &in.InquiryPath)
		if found != nil {
			return nil, found
		}
		x.Body, err = s.config.Inquiry.Evidence(ctx, row, one)
	}
	return x, err
}

func (s *Server) stopInquiry(ctx context.Context, in *InquiryPath) (*of[InquiryBegun], error) {
	r, err := s.inquired(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := s.config.Service.Cancel(context.WithoutCancel(ctx), r.Owner, r.ID, "stopped over HTTP"); err != nil {
		return nil, err
	}
	f, err := s.inquiryStands(ctx, r.ID)
	return &of[InquiryBegun]{f}, err
}
