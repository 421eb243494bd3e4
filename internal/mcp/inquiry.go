package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/service"
	"sibyl/internal/tool"
)

// The tools of the Inquiry: one begins an inquiry, the other reads one.
const (
	investigateName = "investigate"
	inquiryName     = "inquiry"
)

// Inquiry is how inquiries are begun and read.
type Inquiry struct {
	Service *service.Service
	Desk    *inquiry.Desk
	Folders func(owner string) map[string]string // of documents that may be named, with their paths; nil: none
	// Begin stands before each run that begins, and may refuse it by a *Fault. nil: nothing does.
	Begin func(ctx context.Context, owner journal.Owner, do func() error) error
}

func (s *Server) inquiryTools() []offer {
	return []offer{
		newOffer(tool.Spec{Name: investigateName, Title: "Begin an inquiry", Effect: tool.Once, Foreign: true,
			Description: "A detective cross-examines a witness about a hypothesis. It takes minutes: inquiry reads it."},
			[]string{"hypothesis"}, `{
			"hypothesis": {"type": "string", "minLength": 1},
			"witness": {"type": "string", "description": "a folder of documents here, or provider:model; left out: as it is set here"},
			"detective": {"type": "string", "description": "provider:model"},
			"limit": {"type": "integer", "minimum": 5, "maximum": 20},
			"language": {"enum": ["en", "de", "pt", "fr", "es"]}}`,
			`{"type": "object", "properties": {"id": {"type": "string"}, "run_id": {"type": "string"}}}`, s.investigate),
		newOffer(tool.Spec{Name: inquiryName, Title: "Read an inquiry", Effect: tool.Repeatable,
			Description: "How an inquiry stands: answers, gaps, score."},
			nil, `{"id": {"type": "string", "description": "left out: the latest"}}`,
			`{"type": "object", "properties": {"id": {"type": "string"}, "status": {"type": "string"}, "pairs": {"type": "array"}, "gaps": {"type": "array"},
			"contradictions": {"type": "array"}, "score": {"type": "integer"}}}`, s.readInquiry),
	}
}

// investigated is the data of investigate.
type investigated struct {
	ID  string `json:"id"`
	Run string `json:"run_id"`
}

// investigate begins an inquiry, and waits for nothing.
func (s *Server) investigate(ctx context.Context, c call) (*sdk.CallToolResult, error) {
	r, err := s.hypothesis(c)
	if err != nil {
		return nil, err
	}
	at, owner := s.config.Inquiry, journal.Owner(c.by.Owner)
	var begun service.Submitted
	begin := func() (err error) {
		begun, err = at.Service.Submit(ctx, owner, r)
		if errors.Is(err, journal.ErrClaimed) && r.Key != "" { // another call with this key may have been first
			begun, err = at.Service.Submit(ctx, owner, r)
		}
		return err
	}
	if at.Begin != nil {
		err = at.Begin(ctx, owner, begin)
	} else {
		err = begin()
	}
	if held, ok := errors.AsType[*journal.ClaimedError](err); ok {
		return nil, &Fault{Code: Unavailable, Text: "An inquiry goes on already, and there is one at a time. inquiry reads it.", Details: map[string]any{"run_id": held.Run}}
	}
	if err != nil {
		return nil, err
	}
	if row, err := at.Service.Run(ctx, owner, begun.Run); err == nil && row.Assistant != inquiry.Name {
		return nil, invalid("_meta."+MetaKey, "was used for something else")
	}
	return succeeded(investigated{begun.Session, begun.Run}, "The inquiry "+begun.Session+" has begun. inquiry tells how it stands.")
}

// hypothesis is what a call asks of the service.
func (s *Server) hypothesis(c call) (r service.Request, err error) {
	words := c.args.required("hypothesis")
	if strings.TrimSpace(words) == "" {
		c.args.wrong("hypothesis", "has no words")
	}
	o := inquiry.Options{Limit: int(c.args.whole("limit", inquiry.LeastLimit, inquiry.MostLimit, 0))}
	for name, into := range map[string]*string{"witness": &o.Witness, "detective": &o.Detective, "language": &o.Language} {
		text := c.args.text(name)
		if text == nil {
			continue
		}
		if *into = *text; *text == "" {
			c.args.wrong(name, "is empty; leave it out to use the configured one")
		}
	}
	if c.args.err != nil {
		return r, c.args.err
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return r, err
	}
	options, err := s.config.Inquiry.Service.Options(inquiry.Name, raw, func(name string) (string, error) {
		return s.config.Inquiry.folder(c.by.Owner, name)
	})
	return service.Request{Assistant: inquiry.Name, Words: words, Options: options, Key: c.by.Key}, err
}

// folder is the path of a folder of documents that an owner may name.
func (q *Inquiry) folder(owner, name string) (string, error) {
	var all map[string]string
	if q.Folders != nil {
		all = q.Folders(owner)
	}
	return folderOf(all, "witness", name)
}

// folderOf is the path of a folder that a field names; a *Fault says which there are.
func folderOf(all map[string]string, field, name string) (string, error) {
	if path := all[name]; path != "" {
		return path, nil
	}
	names := append([]string{}, slices.Sorted(maps.Keys(all))...)
	return "", &Fault{Code: NotFound, Text: "You have no folder of that name here.", Details: map[string]any{"field": field, "folders": names}}
}

// inquiryRead is the data of inquiry. Pairs of contradictions count from 1.
type inquiryRead struct {
	ID             string           `json:"id"`
	Run            string           `json:"run_id"`
	Hypothesis     string           `json:"hypothesis"`
	Status         record.Status    `json:"status"`
	Reason         record.EndReason `json:"end_reason,omitempty"`
	Limit          int              `json:"limit"`
	Pairs          []inquiryPair    `json:"pairs"`
	Completeness   *int             `json:"completeness,omitempty"` // left out where no model has judged
	Verdict        string           `json:"verdict"`
	Gaps           []inquiryGap     `json:"gaps"`
	Contradictions []inquiryClash   `json:"contradictions"`
	Score          *int             `json:"score,omitempty"`
	Provisional    bool             `json:"provisional,omitempty"`
	Summary        string           `json:"summary,omitempty"`
}

type inquiryPair struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
	NotFound bool   `json:"not_in_documents,omitempty"`
}

type inquiryGap struct {
	Category    record.Category `json:"category"`
	Severity    record.Severity `json:"severity"`
	Description string          `json:"description"`
}

type inquiryClash struct {
	Pairs       [2]int          `json:"pairs"`
	Words       [2]string       `json:"words"`
	Places      [2]record.Place `json:"places,omitzero"`
	Description string          `json:"description"`
	Unconfirmed bool            `json:"unconfirmed,omitempty"`
}

// readInquiry tells how an inquiry stands.
func (s *Server) readInquiry(ctx context.Context, c call) (*sdk.CallToolResult, error) {
	id := c.args.text("id")
	if c.args.err != nil {
		return nil, c.args.err
	}
	desk, owner := s.config.Inquiry.Desk, journal.Owner(c.by.Owner)
	var row journal.Run
	var err error
	switch {
	case id == nil:
		row, err = desk.Latest(ctx, owner)
	case *id == "" || !maybeID(*id):
		err = journal.ErrNotFound
	default:
		row, err = desk.Get(ctx, owner, *id)
	}
	if errors.Is(err, journal.ErrNotFound) || errors.Is(err, inquiry.ErrNone) {
		return nil, &Fault{Code: NotFound, Text: "There is no such inquiry. investigate begins one."}
	}
	if err != nil {
		return nil, err
	}
	one, err := desk.Read(ctx, owner, row)
	if err != nil {
		return nil, err
	}
	data := inquiryData(one)
	data.Run = row.ID
	return succeeded(data, inquiryText(data))
}

func inquiryData(one record.Session) inquiryRead {
	d := inquiryRead{ID: one.ID, Hypothesis: one.Hypothesis.Text, Status: one.Status, Reason: one.EndReason, Limit: one.IterationLimit, Verdict: record.Verdict(&one), Pairs: []inquiryPair{}, Gaps: []inquiryGap{},
		Contradictions: []inquiryClash{}}
	for _, p := range one.Pairs {
		d.Pairs = append(d.Pairs, inquiryPair{p.Question, p.Answer, p.NotInDocuments})
	}
	if n := len(one.Pairs); n > 0 {
		last := one.Pairs[n-1].GapAnalysis
		d.Completeness = last.CompletenessScore
		for _, g := range last.Gaps {
			d.Gaps = append(d.Gaps, inquiryGap{g.Category, g.Severity, g.Description})
		}
	}
	if a := one.Audit(); a != nil {
		d.Score, d.Provisional, d.Summary = a.ConsistencyScore, one.AuditResult == nil, a.Summary
		for _, c := range a.Contradictions {
			d.Contradictions = append(d.Contradictions, inquiryClash{[2]int{c.Pairs[0] + 1, c.Pairs[1] + 1}, c.Words, c.Places, c.Description, c.Unconfirmed})
		}
	}
	return d
}

// inquiryText says the same to a person.
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
