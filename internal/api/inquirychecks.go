package api

import (
	"context"
	"encoding/json"
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
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/run"
)

// InquiryInterview is an interview that was held already: there is nobody to be asked.
type InquiryInterview struct {
	Hypothesis string          `json:"hypothesis" minLength:"1" doc:"What it was about."`
	Language   string          `json:"language,omitempty" enum:"en,de" doc:"Left out: that of most of its words."`
	Pairs      []InterviewPair `json:"pairs" minItems:"1" maxItems:"500"`
	Detective  string          `json:"detective,omitempty" maxLength:"200" doc:"Who analyses: provider:model; offline:rules for the rules alone. Left out: as the server is set to."`
}

// InterviewPair is a question and its answer.
type InterviewPair struct {
	Question string `json:"question" minLength:"1"`
	Answer   string `json:"answer" doc:"May be empty."`
}

// InquiryFound is what an interview leaves open, and where its answers clash. Pairs count from 0.
type InquiryFound struct {
	Pairs          []InquiryFoundPair  `json:"pairs" doc:"As many as the interview has."`
	Contradictions []InquiryFoundClash `json:"contradictions"`
	Suspicions     []InquiryFoundClash `json:"suspicions" doc:"Not firm enough to record, as nobody is there to ask."`
	Satisfied      bool                `json:"satisfied" doc:"A detective would ask nothing more."`
	Completeness   int                 `json:"completeness" minimum:"0" maximum:"100"`
	By             string              `json:"by" doc:"Who analysed: provider:model."`
}

// InquiryFoundPair is a pair with the gaps that it shows and that no later answer closes.
type InquiryFoundPair struct {
	Gaps []InquiryFoundGap `json:"gaps"`
}

// InquiryFoundGap is something that is missing or unclear.
type InquiryFoundGap struct {
	Category    string `json:"category" enum:"missing_information,ambiguity,inconsistency,vagueness"`
	Severity    string `json:"severity" enum:"low,medium,high"`
	Aspect      string `json:"aspect"`
	Description string `json:"description"`
}

// InquiryFoundClash is two answers that can't both hold.
type InquiryFoundClash struct {
	Pairs  [2]int    `json:"pairs" doc:"Their places, from 0."`
	Reason string    `json:"reason"`
	Kind   string    `json:"kind" doc:"What clashes: number, date, negation, name or other."`
	Words  [2]string `json:"words" doc:"What clashes, verbatim."`
}

// analyseInterview has an interview analysed while its client waits.
func (s *Server) analyseInterview(ctx context.Context, in *of[InquiryInterview]) (*of[InquiryFound], error) {
	asked := in.Body.Detective
	in.Body.Detective = ""
	raw, err := json.Marshal(in.Body)
	if err != nil {
		return nil, err
	}
	interview, err := inquiry.ReadInterview(raw)
	if err != nil { // what is left to it repeats nothing of what was sent
		if wrong, is := errors.AsType[*inquiry.InterviewError](err); is {
			wrong.Line = 0 // of a text that nobody has seen
		}
		return nil, newProblem(http.StatusBadRequest, "invalid_request", sentence(err.Error()), "")
	}
	done, p := s.turnToAnalyse(ctx)
	if p != nil {
		return nil, p
	}
	defer done()
	id, err := s.config.Inquiry.Detective(ctx, asked)
	if err != nil {
		return nil, err
	}
	asking, stop := s.untilLeaving(ctx)
	defer stop()
	found, err := s.config.Inquiry.Analyse(asking, id, interview)
	switch {
	case err == nil:
		return &of[InquiryFound]{foundForm(found)}, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case asking.Err() != nil:
		return nil, run.ErrDraining
	}
	s.config.Log.LogAttrs(ctx, slog.LevelWarn, "an interview could not be analysed", slog.String("request_id", exchangeOf(ctx).id), slog.String("error", err.Error()))
	return nil, newProblem(http.StatusServiceUnavailable, "no_analysis", "The model has given no analysis.", "Try again, or name offline:rules as the detective.").after(busyWait)
}

// turnToAnalyse has an analysis wait for its turn among those of its user, and counts it as a stream: it may last.
func (s *Server) turnToAnalyse(ctx context.Context) (done func(), refused *Problem) {
	x := exchangeOf(ctx)
	closed, refused := s.openStream(x.owner())
	if refused != nil {
		return nil, refused
	}
	waiting, cancel := context.WithTimeout(ctx, s.config.Limits.Turn)
	defer cancel()
	turns := s.people.of(x.owner()).analyses
	select {
	case turns <- struct{}{}:
		return func() { <-turns; closed() }, nil
	case <-waiting.Done():
		closed()
		return nil, tooMany("too_many_at_once", "You are being answered as many requests of this kind as you may have at once.", busyWait)
	}
}

// untilLeaving is a context that ends when the server stops, too.
func (s *Server) untilLeaving(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-s.config.Leaving:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(); <-over }
}

func foundForm(found inquiry.Found) InquiryFound {
	clash := func(c inquiry.FoundClash) InquiryFoundClash { return InquiryFoundClash(c) }
	gap := func(g inquiry.FoundGap) InquiryFoundGap { return InquiryFoundGap(g) }
	pair := func(p inquiry.FoundPair) InquiryFoundPair { return InquiryFoundPair{forms(p.Gaps, gap)} }
	return InquiryFound{Pairs: forms(found.Pairs, pair), Contradictions: forms(found.Contradictions, clash), Suspicions: forms(found.Suspicions, clash), Satisfied: found.Satisfied,
		Completeness: found.Completeness, By: found.By}
}

// InquiryReport is what a verification found.
type InquiryReport struct {
	OK      bool           `json:"ok" doc:"Nothing fails."`
	Page    bool           `json:"page" doc:"It is an evidence page; else a session."`
	Session string         `json:"session,omitempty" doc:"The id of the inquiry."`
	Digest  string         `json:"digest,omitempty" doc:"Of the page, computed: to compare with one that was noted elsewhere."`
	Checks  []InquiryCheck `json:"checks" doc:"All, in their order."`
}

// InquiryCheck is a check and what came of it.
type InquiryCheck struct {
	Name     string         `json:"name" enum:"read,rules,score,digest,shown,passages,documents"`
	Outcome  record.Outcome `json:"outcome" enum:"holds,fails,not checked"`
	Problems []string       `json:"problems" doc:"What fails, or why something is not checked."`
}

func (s *Server) verifyRoute(tag string) {
	const at = inquiriesPath + "/verify"
	s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[InquiryReport](), true, "")
	register(s, route{id: "verifyInquiry", method: http.MethodPost, path: at, tag: tag, summary: "Check an evidence page, or a session, again", takesFiles: true,
		problems: []int{http.StatusNotFound, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType}, content: []mediaType{{jsonType, "InquiryReport", ""}}}, s.verifyInquiry)
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
		if folder, err = s.folders(x.token)(in.Documents); err != nil {
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
		report, err := s.verified(w, r, folder)
		s.end(w, r, http.StatusOK, report, err)
	}}, nil
}

func (s *Server) verified(w http.ResponseWriter, r *http.Request, folder string) (f InquiryReport, err error) {
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
	return reportForm(record.Verify(content, documents)), nil
}

// unreadable is the problem of a folder of the server that it can't read.
func (s *Server) unreadable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.config.Log.LogAttrs(ctx, slog.LevelError, "a folder of documents can't be read", slog.String("request_id", exchangeOf(ctx).id), slog.String("error", err.Error()))
	return newProblem(http.StatusServiceUnavailable, "no_documents", "The documents of this folder can't be read.", "Whoever runs the server has to look after the folder.").after(time.Minute)
}

func reportForm(r record.Report) InquiryReport {
	check := func(c record.Checked) InquiryCheck { return InquiryCheck{c.Name, c.Outcome, list(c.Problems)} }
	return InquiryReport{OK: r.OK(), Page: r.Page, Session: r.Session, Digest: r.Digest, Checks: forms(r.Checks, check)}
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
