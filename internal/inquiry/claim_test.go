package inquiry_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/rules"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/service"
)

// claimed wants a beginning to be refused with the id of the run that goes on.
func (p *process) claimed(id string) {
	p.Helper()
	_, err := p.service.Start(p.Context(), ada, service.Request{Assistant: inquiry.Name, Words: bridge, Options: options()})
	var held *journal.ClaimedError
	if !errors.As(err, &held) || held.Run != id {
		p.Errorf("a second inquiry beside %s: %v", id, err)
	}
}

func TestSecondInquiryIsRefusedAtOnceWithTheIdOfTheFirst(t *testing.T) {
	h := newHouse(t)
	hanging, answer := h.halfway()
	one, two := h.process("one", h.journal), h.process("two", h.journal)
	r := one.begin(bridge, options())
	held(t, "the second question", hanging)
	before, asked := h.opened, len(h.sent)
	one.claimed(r.ID)
	two.claimed(r.ID)
	same(t, "witnesses and detectives that were asked for it", []int{h.opened - before, len(h.sent) - asked}, []int{0, 0})
	same(t, "runs", len(h.rows()), 1)
	answer <- witness.Answer{Text: "Fact 2 holds.", By: "scripted:witness"}
	_, s := one.wait(r)
	one.ended(s, record.Completed, record.Satisfied, 3)
	second := two.begin(bridge, options())
	h.answers(answer)
	_, s = one.wait(second)
	same(t, "status of one that begins after the end", s.Status, record.Completed)
}

func TestInquiryThatIsInterruptedStillHoldsItsPlace(t *testing.T) {
	h := newHouse(t)
	hanging, answer := h.halfway()
	dead := h.process("dead", h.journal)
	r := dead.begin(bridge, options())
	held(t, "the second question", hanging)
	dead.leave()
	p := h.process("two", h.journal)
	p.claimed(r.ID)
	answer <- witness.Answer{Text: "Fact 2 holds.", By: "scripted:witness"}
	must(must(p.service.Resume(t.Context(), ada, r.ID))(t).Wait(t.Context()))(t)
	p.ended(p.session(r.ID), record.Completed, record.Satisfied, 3)
}

func TestInquiryOfAnotherOwnerIsNotHindered(t *testing.T) {
	h := newHouse(t)
	hanging, answer := h.halfway()
	p := h.process("one", h.journal)
	r := p.begin(bridge, options())
	held(t, "the second question", hanging)
	h.answers(answer)
	other := must(p.service.Start(t.Context(), bob, service.Request{Assistant: inquiry.Name, Words: bridge, Options: options()}))(t)
	h.answers(answer)
	same(t, "status of the other's", must(other.Wait(t.Context()))(t).Status, journal.Done)
	_, s := p.wait(r)
	p.ended(s, record.Completed, record.Satisfied, 3)
}

// answers goes on with a witness that is silent.
func (h *house) answers(answer chan witness.Answer) {
	h.Helper()
	select {
	case answer <- witness.Answer{Text: "Fact 2 holds.", By: "scripted:witness"}:
	case <-time.After(time.Minute):
		h.Fatal("waiting for the witness to take an answer")
	}
}

func TestOfManyInquiriesAtOnceOneBegins(t *testing.T) {
	h := newHouse(t)
	hanging, answer := h.halfway()
	var begun, refused sync.Map
	var all sync.WaitGroup
	for n := range 8 {
		p := h.process(fmt.Sprint("node", n), h.journal)
		all.Go(func() {
			r, err := p.service.Start(t.Context(), ada, service.Request{Assistant: inquiry.Name, Words: bridge, Options: options()})
			var claimed *journal.ClaimedError
			switch {
			case err == nil:
				begun.Store(r.ID, r)
			case errors.As(err, &claimed):
				refused.Store(n, claimed.Run)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	held(t, "the second question", hanging)
	begun.Range(func(id, r any) bool {
		refused.Range(func(_, by any) bool { same(t, "refused because of", by, id); return true })
		h.answers(answer)
		same(t, "status", must(r.(*service.Run).Wait(t.Context()))(t).Status, journal.Done)
		return true
	})
	same(t, "runs", len(h.rows()), 1)
}

func TestRequestsThatCanNotBeCarriedOutSayWhyBeforeAnythingBegins(t *testing.T) {
	with := func(change func(*inquiry.Options)) inquiry.Options {
		o := options()
		change(&o)
		return o
	}
	h := newHouse(t)
	p := h.process("one", h.journal)
	p.refused(" \n", options(), "can't take this hypothesis", "it needs some words")
	p.refused(string(make([]byte, 4001)), options(), "at most 4000 characters")
	for _, limit := range []int{-1, 1, 4, 21, 1000} {
		p.refused(bridge, with(func(o *inquiry.Options) { o.Limit = limit }), "an inquiry has 5 to 20 questions")
	}
	p.refused(bridge, with(func(o *inquiry.Options) { o.Language = "fr" }), "English and German")
	p.refused(bridge, with(func(o *inquiry.Options) { o.Witness = " " }), "no witness is given, and none is configured", "inquiry.witness")
	h.opens = func() ([]record.Document, error) { return nil, errors.New("reports/scan.pdf: it holds no text") }
	p.refused(bridge, options(), "the witness can't be used", "reports/scan.pdf: it holds no text")
	h.broken = &model.Error{Kind: model.Auth, Message: "no key is set"}
	p.refused(bridge, options(), "the detective can't be used", "no key is set")
}

func TestOptionsFromElsewhereAreRead(t *testing.T) {
	h := newHouse(t)
	p := h.process("one", h.journal)
	folder := func(name string) (string, error) {
		if name != "reports" {
			return "", errors.New("there is no folder of this name")
		}
		return "/srv/reports", nil
	}
	got := must(p.service.Options(inquiry.Name, []byte(`{"witness":"reports","limit":7,"language":"de"}`), folder))(t)
	contains(t, fmt.Sprintf("%+v", got), "Witness:/srv/reports", "Limit:7", "Language:de", "Documents:true")
	got = must(p.service.Options(inquiry.Name, []byte(`{"witness":"ollama:llama3.1:8b","detective":"openai:big"}`), folder))(t)
	contains(t, fmt.Sprintf("%+v", got), "Witness:ollama:llama3.1:8b", "Detective:openai:big", "Documents:false")
	got = must(p.service.Options(inquiry.Name, []byte(`{"limit":7}`), folder))(t) // who is asked is set
	contains(t, fmt.Sprintf("%+v", got), "Witness: ", "Documents:false")
	for name, raw := range map[string]string{"a path": `{"witness":"/etc","documents":true}`, "another folder": `{"witness":"/etc"}`,
		"unknown": `{"witness":"reports","depth":3}`, "no object": `[]`, "cut": `{"witness":`, "two": `{"witness":"reports"}{"witness":"reports"}`} {
		if o, err := p.service.Options(inquiry.Name, []byte(raw), folder); err == nil {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestLanguageIsThatOfTheHypothesisUnlessOneIsGiven(t *testing.T) {
	german := "Die Brücke wurde wegen der Korrosion ihrer Träger im März gesperrt und nicht wieder geöffnet."
	h := newHouse(t)
	p := h.process("one", h.journal)
	for _, words := range []string{german, bridge} {
		_, s := p.wait(p.begin(words, options()))
		same(t, "language of “"+words+"”", s.Language, rules.Language(words))
	}
	o := options()
	o.Language = "de"
	_, s := p.wait(p.begin(bridge, o))
	same(t, "language that is given", s.Language, "de")
	contains(t, h.requests(asking)[len(h.requests(asking))-1].System, "Write in German")
}

func TestLimitIsWithinItsBoundsOrTheUsualOne(t *testing.T) {
	h := newHouse(t)
	p := h.process("one", h.journal)
	for _, limit := range []int{5, 20, 0} {
		o := options()
		o.Limit = limit
		_, s := p.wait(p.begin(bridge, o))
		want := limit
		if limit == 0 {
			want = inquiry.UsualLimit
		}
		same(t, "limit", s.IterationLimit, want)
	}
}
