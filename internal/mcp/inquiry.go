package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/tool"
)

// inquiryTool is the tool that reads an inquiry; investigate begins one.
func (s *Server) inquiryTool() offer {
	return newOffer(tool.Spec{Name: "inquiry", Title: "Read an inquiry", Effect: tool.Repeatable,
		Description: "How an inquiry stands: answers, gaps, score."},
		s.readInquiry)
}

// inquiryAsked are the arguments of inquiry.
type inquiryAsked struct {
	ID *string `json:"id,omitempty" doc:"left out: the latest"`
}

// inquiryRead is the data of inquiry.
type inquiryRead struct {
	ID             string                 `json:"id"`
	Run            string                 `json:"run_id"`
	Hypothesis     string                 `json:"hypothesis"`
	State          string                 `json:"state"` // of its run: running, waiting, paused or ended
	Status         record.Status          `json:"status"`
	Reason         record.EndReason       `json:"end_reason,omitempty"`
	Limit          int                    `json:"limit"`
	Pairs          []inquiryPair          `json:"pairs"`
	Completeness   *int                   `json:"completeness,omitempty"` // left out where no model has judged
	Verdict        string                 `json:"verdict"`
	Gaps           []record.Gap           `json:"gaps"` // as these two stand in its file
	Contradictions []record.Contradiction `json:"contradictions"`
	Score          *int                   `json:"score,omitempty"`
	Provisional    bool                   `json:"provisional,omitempty"`
	Summary        string                 `json:"summary,omitempty"`
}

type inquiryPair struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
	NotFound bool   `json:"not_in_documents,omitempty"`
}

func (s *Server) readInquiry(ctx context.Context, c call, in inquiryAsked) (data inquiryRead, text string, err error) {
	desk, owner := s.config.Inquiry, journal.Owner(c.by.Owner)
	var row journal.Run
	switch {
	case in.ID == nil:
		row, err = desk.Latest(ctx, owner)
	case *in.ID == "" || !maybeID(*in.ID):
		err = journal.ErrNotFound
	default:
		row, err = desk.Get(ctx, owner, *in.ID)
	}
	if errors.Is(err, journal.ErrNotFound) || errors.Is(err, inquiry.ErrNone) {
		return data, "", &Fault{Code: NotFound, Text: "There is no such inquiry. investigate begins one."}
	}
	if err != nil {
		return data, "", err
	}
	one, err := desk.Read(ctx, owner, row)
	if err != nil {
		return data, "", err
	}
	data = inquiryData(one.Session)
	data.Run, data.State = row.ID, one.Standing.State
	return data, inquiryText(data), nil
}

func inquiryData(one record.Session) inquiryRead {
	d := inquiryRead{ID: one.ID, Hypothesis: one.Hypothesis.Text, Status: one.Status, Reason: one.EndReason,
		Limit: one.IterationLimit, Verdict: record.Verdict(&one), Pairs: []inquiryPair{}, Gaps: []record.Gap{},
		Contradictions: []record.Contradiction{}}
	for _, p := range one.Pairs {
		d.Pairs = append(d.Pairs, inquiryPair{p.Question, p.Answer, p.NotInDocuments})
	}
	if n := len(one.Pairs); n > 0 {
		last := one.Pairs[n-1].GapAnalysis
		d.Completeness, d.Gaps = last.CompletenessScore, append(d.Gaps, last.Gaps...)
	}
	if a := one.Audit(); a != nil {
		d.Score, d.Provisional, d.Summary = a.ConsistencyScore, one.AuditResult == nil, a.Summary
		d.Contradictions = append(d.Contradictions, a.Contradictions...)
	}
	return d
}

// inquiryText returns the same in words for a person.
func inquiryText(d inquiryRead) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "%s: %s", d.Hypothesis, d.Verdict)
	if d.Summary != "" && d.Score != nil {
		b.WriteString("\n\n" + strings.TrimSpace(d.Summary))
		return b.String()
	}
	for n, p := range d.Pairs {
		fmt.Fprintf(b, "\n%d. %s\n   %s", n+1, p.Question, p.Answer)
	}
	return b.String()
}
