package behaviour_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/model/wire"
)

// failures are of models and providers that do not give a whole answer.
func failures() []behaviour {
	// narrow takes no third result as long as tools may be called; without them, and with notes in place of the first,
	// there is room.
	narrow := func(h heard) reply {
		switch {
		case len(h.offered) == 0:
			return says("The middleware has Verify check the token (`auth/middleware.go:6`).")
		case h.results > 2:
			return reply{fail: model.ContextLength}
		case strings.Contains(h.all, "has Verify check the token"):
			return says(jwt)
		}
		return []reply{reads(middleware), reads(token), calls("code_read", `{"path":"limits.txt"}`)}[h.results]
	}
	return []behaviour{
		{name: "is cut by the limit of output in its answer", ask: auth, plays: plays(reads(middleware),
			turn(says(jwt+" The key is"), isCut())), plain: 2, ours: exactly(2),
			stop: "partial", holds: []string{jwt}, warns: []string{"(?i)cut|limit"}, ran: []string{"code_read"}},
		{name: "has no room for the conversation, and goes on from notes of it", ask: auth, plays: narrow, plain: 4,
			ours: exactly(6), stop: "satisfied",
			holds: []string{jwt}, ran: []string{"code_read", "code_read", "code_read"}},
		{name: "refuses", ask: auth, plays: plays(reply{fail: model.Refused}), plain: 1, ours: exactly(1),
			stop: "refused"},
		{name: "is stopped by the provider's filter", ask: auth,
			plays: plays(turn(says("The to"), reply{finish: model.FinishFilter})), plain: 1, ours: exactly(1),
			stop: "refused"},
		{name: "says nothing at all", looked: true, ask: auth, plays: plays(says("")), plain: 1, ours: between(2, 4), stop: "stuck"},
	}
}

func TestRunThatEndsOnATransientFailureSaysSoAndIsResumed(t *testing.T) {
	s := newStage(t)
	var back atomic.Bool
	// It asks for more patience than anybody has, so that nobody waits here.
	busy := reply{raw: &modeltest.Raw{Status: http.StatusServiceUnavailable,
		Header: http.Header{"Retry-After": {"600"}}, Body: `{"error":{"message":"The server is overloaded"}}`}}
	model := s.cast("openai", "busy", func(h heard) reply {
		switch {
		case h.results == 0:
			return reads(middleware)
		case !back.Load():
			return busy
		}
		return turn(says(jwt), done())
	})
	r := s.start(t, model, "", auth, folder(t))
	res, err := r.Wait(t.Context())
	said := strings.Join(res.Warnings, "\n")
	if err != nil {
		said += err.Error()
	}
	if f := res.Failure; f != nil {
		said += f.Message + "\n" + f.Hint
	}
	assert.Contains(t, "what the person is told", said, "overloaded", "sibyl run resume")
	open, err := s.Service.Interrupted(t.Context(), app.Owner)
	assert.Require(t, err == nil && len(open) == 1 && open[0].ID == r.ID,
		"%d runs can be resumed (error: %v); want the one that failed", len(open), err)
	back.Store(true)
	before := len(s.scenes(model))
	again := assert.Must(s.Service.Resume(t.Context(), app.Owner, r.ID))(t)
	e := s.finish(t, again)
	assert.That(t, e.StopReason == "satisfied" && e.Answer.Answer == jwt,
		"resumed, it ends %s with %q", e.StopReason, e.Answer.Answer)
	n := len(s.scenes(model)) - before
	assert.That(t, n == 1 && len(e.ran()) == 1,
		"resumed, it makes %d requests and has run %v; what it had read is kept, so one request is enough", n, e.ran())
}

func TestThanksAfterTwoTopicShiftsSendsOnlyWhatItMayBeAbout(t *testing.T) {
	const weather, wine = "What's the weather in Paris?", "Which wine goes with fish?"
	s := newStage(t)
	model := s.cast("openai", "talker", func(h heard) reply {
		last := strings.TrimSpace(h.all)
		switch {
		case strings.HasSuffix(last, thanks):
			return turn(says("You're welcome!"), done())
		case h.results > 0:
			return turn(says(jwt), done())
		case strings.HasSuffix(last, auth):
			return reads(middleware)
		}
		return turn(says("It is mild and dry."), lacksPart("today's weather", "Not looked up."))
	})
	vault := folder(t)
	first := s.ask(t, model, "", auth, vault)
	for _, question := range []string{weather, wine} {
		e := s.ask(t, model, first.session, question, vault)
		assert.Require(t, e.TopicShift, "%q is no shift of the topic", question)
	}
	s.ask(t, model, first.session, thanks, vault)
	scenes := s.scenes(model)
	sent := scenes[len(scenes)-1].all
	for question, want := range map[string]bool{auth: false, weather: false, wine: true} {
		assert.That(t, strings.Contains(sent, question) == want, "%q goes with the thanks: %v", question, !want)
	}
}

// What an endless reply adds to the journal is bounded: by the tokens that a turn may have.
func TestEndlessReplyAddsLittleToTheJournal(t *testing.T) {
	s := newStage(t)
	b := &strings.Builder{}
	for piece := range uint32(200) { // no words of which come again, as a runaway is stopped
		b.WriteString(`data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"`)
		for word := range uint32(7 << 10) {
			fmt.Fprintf(b, "%x ", (piece<<13+word)*2654435761)
		}
		b.WriteString(`"}}]}` + "\n\n")
	}
	stream := b.String()
	model := s.cast("openai", "endless", func(heard) reply {
		return reply{raw: &modeltest.Raw{Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: stream}}
	})
	r := s.start(t, model, "", auth, folder(t))
	res := assert.Must(r.Wait(t.Context()))(t)
	said := fmt.Sprint(res.Failure, res.Warnings, res.Notes, res.Ending)
	assert.That(t, strings.Contains(said, "cut off at the model's output limit"), "the person is told %s", said)
	recs := assert.Must(s.Store.Records(t.Context(), app.Owner, r.ID, 0))(t)
	size := 0
	for _, rec := range recs {
		size += len(rec.Data)
	}
	assert.That(t, size <= wire.MaxReply,
		"%d bytes of records for a reply of %d", size, len(stream))
}
