package inquiry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/run"
	"sibyl/internal/schema"
)

func TestFileIsWrittenAfterEveryPair(t *testing.T) {
	h := newHouse(t)
	usual := h.asks
	h.asks = func(n int, req model.Request) modeltest.Turn {
		s, _ := h.file()
		same(t, fmt.Sprintf("the file before question %d", n), fmt.Sprint(s.Status, len(s.Pairs), s.CurrentIteration,
			s.EndTime == nil, s.Audit() == nil), fmt.Sprint("running", n-1, n-1, true, true))
		return usual(n, req)
	}
	p := h.process("one", h.journal)
	r := p.begin(bridge, options())
	assert.Must(r.Wait(t.Context()))(t)
	s, _ := h.file()
	same(t, "status before anybody opens it", s.Status, record.Completed)
	p.ended(p.session(r.ID), record.Completed, record.Satisfied, 3)
	for _, e := range assert.Must(os.ReadDir(filepath.Join(h.folder, string(ada))))(t) {
		if e.Name() != record.FileName(s) && e.Name() != ".lock" {
			t.Errorf("%s was left behind", e.Name())
		}
	}
}

func TestFileThatCanNotBeWrittenEndsNothingAndIsWrittenWhenTheSessionIsOpened(t *testing.T) {
	h := newHouse(t)
	folder := filepath.Join(h.folder, string(ada))
	// works for root as well, whom no permission stops
	assert.NoError(t, errors.Join(os.MkdirAll(h.folder, 0o700), os.WriteFile(folder, nil, 0o400)))
	p := h.process("one", h.journal)
	r := p.begin(bridge, options())
	res := assert.Must(r.Wait(t.Context()))(t)
	same(t, "status", res.Status, journal.Done)
	same(t, "partial", res.Partial, true)
	contains(t, strings.Join(res.Warnings, "\n"), "the session file was not written")
	contains(t, string(res.Outcome), `"unsaved":"`)
	row := assert.Must(h.journal.Run(t.Context(), ada, r.ID))(t)
	one, err := p.desk.Session(t.Context(), ada, row)
	s := one.Session
	var unwritten *inquiry.UnwrittenError
	assert.That(t, errors.As(err, &unwritten) && len(s.Pairs) == 3, "opened, it gives %d pairs, %v", len(s.Pairs), err)
	h.valid(s)
	same(t, "events", slices.Compact(trail(s)), []string{"error"})
	contains(t, s.AuditTrail[0].Reason, "could not be written")
	assert.NoError(t, os.Remove(folder))
	p.ended(p.session(r.ID), record.Completed, record.Satisfied, 3)
}

// counting is a journal that counts what is read of it.
type counting struct {
	journal.Store
	rows, others atomic.Int64
}

func (c *counting) Runs(ctx context.Context, who journal.Owner, f journal.Filter) ([]journal.Run, error) {
	c.rows.Add(1)
	return c.Store.Runs(ctx, who, f)
}

func (c *counting) Run(ctx context.Context, who journal.Owner, id string) (journal.Run, error) {
	c.others.Add(1)
	return c.Store.Run(ctx, who, id)
}

func (c *counting) Records(ctx context.Context, who journal.Owner, id string, from int64) ([]journal.Record, error) {
	c.others.Add(1)
	return c.Store.Records(ctx, who, id, from)
}

func (c *counting) Blob(ctx context.Context, who journal.Owner, hash string) ([]byte, error) {
	c.others.Add(1)
	return c.Store.Blob(ctx, who, hash)
}

func TestListIsOfRowsAlone(t *testing.T) {
	h := newHouse(t)
	p := h.process("one", h.journal)
	_, done := p.inquire(options())
	h.analyses = never
	o := options()
	o.Limit = 5
	_, limited := p.inquire(o)
	h.says = func(context.Context, string, int) (witness.Answer, error) {
		return witness.Answer{}, errors.New("gone")
	}
	_, failed := p.inquire(o)
	assert.NoError(t, os.RemoveAll(h.folder))
	store := &counting{Store: h.journal}
	desk := h.process("two", store).desk
	store.rows.Store(0)
	store.others.Store(0)
	items := assert.Must(desk.List(t.Context(), ada, journal.Filter{Limit: 10}))(t)
	same(t, "reads", []int64{store.rows.Load(), store.others.Load()}, []int64{1, 0})
	var want []inquiry.Item
	for _, s := range []record.Session{failed, limited, done} {
		want = append(want, inquiry.ItemOf(s))
	}
	var got []inquiry.Item
	for _, i := range items {
		got = append(got, i.Item)
		same(t, "state", i.State, run.StateEnded)
	}
	same(t, "items", string(assert.Must(json.Marshal(got))(t)), string(assert.Must(json.Marshal(want))(t)))
	same(t, "score of the one that completed", *items[2].ConsistencyScore, *done.AuditResult.ConsistencyScore)
	same(t, "provisional", []bool{items[0].Provisional, items[1].Provisional, items[2].Provisional},
		[]bool{false, true, false})
	same(t, "of another owner", len(assert.Must(desk.List(t.Context(), bob, journal.Filter{}))(t)), 0)
}

// halfway has an inquiry whose witness is silent at its second question, until the test goes on.
func (h *house) halfway() (hanging chan bool, answer chan witness.Answer) {
	hanging, answer = make(chan bool, 4), make(chan witness.Answer, 1)
	usual := h.says
	h.says = func(ctx context.Context, q string, n int) (witness.Answer, error) {
		if n != 2 {
			return usual(ctx, q, n)
		}
		hanging <- true
		select {
		case a := <-answer:
			return a, nil
		case <-ctx.Done():
			return witness.Answer{}, ctx.Err()
		}
	}
	return hanging, answer
}

func TestInquiryThatGoesOnIsListedFoundAndReadAsFarAsItIs(t *testing.T) {
	h := newHouse(t)
	hanging, answer := h.halfway()
	p := h.process("one", h.journal)
	r := p.begin(bridge, options())
	held(t, "the second question", hanging)
	items := assert.Must(p.desk.List(t.Context(), ada, journal.Filter{}))(t)
	assert.Require(t, len(items) == 1 && items[0].Status == record.Running && items[0].Pairs == 1 &&
		items[0].Limit == 10 && len(items[0].ID) == 36 && items[0].Run == r.ID, "items %+v", items)
	for _, query := range []string{"", items[0].ID, items[0].ID[:8], r.ID} {
		same(t, "found by “"+query+"”", assert.Must(p.desk.Find(t.Context(), ada, query))(t).ID, r.ID)
	}
	s := p.session(r.ID)
	same(t, "the session", []any{s.ID, s.Status, len(s.Pairs)}, []any{items[0].ID, record.Running, 1})
	answer <- witness.Answer{Text: "Fact 2 holds.", By: "scripted:witness"}
	_, s = p.wait(r)
	same(t, "id", s.ID, items[0].ID)
	p.ended(s, record.Completed, record.Satisfied, 3)
}

func TestInquiriesAreFoundByTheirIdsOrTheBeginningOfThese(t *testing.T) {
	h := newHouse(t)
	p := h.process("one", h.journal)
	_, err := p.desk.Find(t.Context(), ada, "")
	assert.That(t, errors.Is(err, inquiry.ErrNone), "before the first one: %v", err)
	_, first := p.inquire(options())
	_, second := p.inquire(options())
	for query, want := range map[string]string{"": second.Run, first.ID: first.Run, first.ID[:13]: first.Run,
		second.Run: second.Run} {
		same(t, "found by “"+query+"”", assert.Must(p.desk.Find(t.Context(), ada, query))(t).ID, want)
	}
	both := first.Run
	for !strings.HasPrefix(second.Run, both) {
		both = both[:len(both)-1]
	}
	_, err = p.desk.Find(t.Context(), ada, both)
	assert.That(t, err != nil && strings.Contains(err.Error(), "several inquiries match"),
		"by what both begin with: %v", err)
	for _, who := range []struct {
		journal.Owner
		query string
	}{{ada, "nothing"}, {bob, first.ID}, {bob, first.Run}} {
		_, err := p.desk.Find(t.Context(), who.Owner, who.query)
		assert.That(t, errors.Is(err, journal.ErrNotFound), "%s finds “%s”: %v", who.Owner, who.query, err)
	}
}

func TestDocumentThatCanNotBeReadHarmsNoOtherAndStandsInTheSession(t *testing.T) {
	h := newHouse(t)
	documents := []record.Document{{Name: "a.txt", Hash: hashOf("a"), Pages: 1, Chunks: 2},
		{Name: "scan.pdf", Error: "it holds no text"}}
	h.opens = func() ([]record.Document, error) { return documents, nil }
	cited := witness.Citation{Citation: record.Citation{Document: "a.txt", Hash: hashOf("a"), Page: 1,
		ChunkHash: hashOf("b"), Quote: "Fact 1 holds."}}
	h.says = func(_ context.Context, _ string, n int) (witness.Answer, error) {
		if n == 2 {
			return witness.Answer{Text: "The documents do not say.", NotFound: true, By: "documents"}, nil
		}
		return witness.Answer{Text: "Fact 1 holds.", Citations: []witness.Citation{cited}, By: "documents"}, nil
	}
	p := h.process("one", h.journal)
	o := options()
	o.Witness = schema.Folder{Path: "reports"}
	r := p.begin(bridge, o)
	_, s := p.wait(r)
	p.ended(s, record.Completed, record.Satisfied, 3)
	same(t, "documents", s.Witness.Documents, documents)
	same(t, "citations", s.Pairs[0].Citations, []record.Citation{cited.Citation})
	same(t, "no passage found", s.Pairs[1].NotInDocuments, true)
	contains(t, p.lines(r.ID), "could not read scan.pdf: it holds no text",
		"Asked question 1: “"+questions[0], "Fact 1 holds.",
		"Judged the answers after question 1 of 10: 11 % complete, open points 1, contradictions 0")
}

func TestDocumentThatChangesMeanwhileEndsTheInquiryAndIsNamed(t *testing.T) {
	h := newHouse(t)
	h.opens = func() ([]record.Document, error) {
		return []record.Document{{Name: "a.txt", Hash: hashOf("a"), Pages: 1, Chunks: 2}}, nil
	}
	h.says = func(context.Context, string, int) (witness.Answer, error) {
		return witness.Answer{Text: "Fact.", Citations: []witness.Citation{{Citation: record.Citation{
			Document: "a.txt", Hash: hashOf("c"), Page: 1, ChunkHash: hashOf("b"), Quote: "Fact."}}}}, nil
	}
	p, _, s := h.inquires()
	p.ended(s, record.Failed, record.Broken, 0)
	contains(t, s.AuditTrail[0].Reason, "a.txt is not what it was")
}
