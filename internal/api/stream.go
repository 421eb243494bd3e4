package api

import (
	"bytes"
	"cmp"
	"context"
	"iter"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

// eventStream is the content type of server-sent events.
const eventStream = "text/event-stream"

// What a stream gathers before it writes, in happenings and bytes, and what it writes at once. Whoever takes so much
// within Limits.Stall is not dropped, however slow.
const (
	gathered  = 16
	batch     = 32 << 10
	writeOnce = 4 << 10
)

// openStream counts a stream of a user, until it is closed.
func (s *Server) openStream(owner journal.Owner) (closed func(), refused *Problem) {
	return s.takePlaces(s.people.get(owner).streams, s.streams, func() *Problem {
		return tooMany("too_many_streams", "You have as many streams open as you may have.", busyWait)
	})
}

// startLasting counts a request of a user that lasts and is no stream, until it is done: an answer that is waited for,
// an upload, a download. As many as streams are allowed beside those.
func (s *Server) startLasting(owner journal.Owner) (done func(), refused *Problem) {
	return s.takePlaces(s.people.get(owner).lasting, s.lasting, tooManyAtOnce)
}

// takePlaces takes a place of a user and one of this process, until they are given back. tooMany is the problem if the
// user has none left.
func (s *Server) takePlaces(own, all chan struct{}, tooMany func() *Problem) (giveBack func(), refused *Problem) {
	if s.isLeaving() {
		return nil, problemOf(run.ErrDraining)
	}
	select {
	case own <- struct{}{}:
	default:
		return nil, tooMany()
	}
	select {
	case all <- struct{}{}:
		return sync.OnceFunc(func() { <-all; <-own }), nil
	default:
		<-own
		const detail = "This server answers as many requests of this kind as it may."
		return nil, newProblem(http.StatusServiceUnavailable, "busy", detail, "Try again.").after(busyWait)
	}
}

// isLeaving says that no run is driven here any more.
func (s *Server) isLeaving() bool {
	select {
	case <-s.config.Leaving:
		return true
	default:
		return false
	}
}

// stream is an answer that is sent as server-sent events. Its buffers are bounded: a client that reads slowly gets the
// latest draft of a text instead of each piece, and delays nobody; one that does not read is dropped.
type stream struct {
	s *Server
	r *http.Request
	w http.ResponseWriter

	eventID     func(service.LiveEvent) string // the id with which a client continues after an event
	endsWithRun bool                           // the stream ends with its run
	wantsHTML   bool                           // drafts are wanted as HTML, too
	endName     string                         // of the event for the run's end; "": end

	began  time.Time
	buf    bytes.Buffer
	lag    []time.Time // when the records in buf were made, of those that were made since the stream began
	drafts drafts
}

// source gives events until ctx is done.
type source func(ctx context.Context) iter.Seq2[service.LiveEvent, error]

// arrival is what a source gives.
type arrival = service.Received[service.LiveEvent]

// run writes events until the source ends, the client is gone or does not read, or the server stops. first is sent as
// soon as the source has begun: all events after that will be sent.
func (t *stream) run(first any, from source) {
	in, stop := service.Receive(t.r.Context(), "runs", gathered, from)
	defer stop()
	t.began = t.s.config.Now()
	beginning, more := <-in
	if !more { // the client is gone
		return
	}
	if beginning.Err != nil {
		refuse(t.w, t.s.problem(t.r.Context(), beginning.Err))
		return
	}
	t.writeHead()
	t.writeEvent("sync", t.eventID(beginning.One), first)
	beat := time.NewTicker(t.s.config.Limits.Beat)
	defer beat.Stop()
	for isOver := false; ; {
		if err := t.flush(); err != nil || isOver {
			return
		}
		due, stopDue := t.drafts.timer()
		select {
		case a, more := <-in:
			isOver = !more || t.handle(a)
			for !isOver && t.buf.Len() < batch && len(in) > 0 {
				a, more = <-in
				isOver = !more || t.handle(a)
			}
		case <-due:
			t.drafts.flush("", t)
		case <-beat.C:
			if t.lostAccess() != nil {
				return
			}
			t.buf.WriteString(": alive\n\n")
		case <-t.s.config.Leaving:
			t.buf.WriteString(": close\n\n")
			isOver = true
		case <-t.r.Context().Done():
			isOver = true
		}
		stopDue()
	}
}

func (t *stream) writeHead() {
	h := t.w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("X-Accel-Buffering", "no") // a buffering proxy would delay events
	t.w.WriteHeader(http.StatusOK)
	t.buf.WriteString("retry: " + strconv.Itoa(retryLeast+rand.IntN(retryLeast)) + "\n\n")
}

// retryLeast is how many ms a client waits at least before it comes again; at most it waits twice as long, so that not
// all come at once.
const retryLeast = 500

func (t *stream) lostAccess() *Problem { return t.s.lostAccess(t.r) }

// lostAccess says why who asked may no longer read: tokens end. Nobody is sent away because users can't be looked up.
func (s *Server) lostAccess(r *http.Request) *Problem {
	again := *infoOf(r.Context())
	if p := s.identify(&again, r); p != nil && p.Status < http.StatusInternalServerError {
		return p
	}
	return nil
}

// handle adds a happening to what is to be written; over says that it is the last.
func (t *stream) handle(a arrival) (over bool) {
	if a.Err != nil {
		if t.r.Context().Err() == nil {
			t.s.config.Log.LogAttrs(t.r.Context(), slog.LevelWarn, "a stream broke off",
				slog.String("request_id", infoOf(t.r.Context()).id), slog.String("error", a.Err.Error()))
		}
		t.buf.WriteString(": broken\n\n")
		return true
	}
	h := a.One
	who := About{h.Run, h.Session, h.Assistant}
	switch {
	case h.Text != "":
		t.drafts.of(who, h.Op).text = h.Draft
		return false
	case h.Thought != nil:
		t.drafts.of(who, h.Op).thought = h.Thought
		return false
	case h.Retract:
		if t.drafts.drop(who, h.Op) {
			t.writeEvent("retract", "", Retracted{who, h.Op})
		}
		return false
	case h.Left:
		t.drafts.dropAll(who) // void: the client drops its drafts
		t.writeEvent("sync", "", Synced{Run: who.Run, Session: who.Session, Assistant: who.Assistant})
		return false
	}
	t.drafts.flush(who.Run, t) // what was said before comes before
	switch {
	case h.Wait != nil:
		t.writeEvent("wait", "", Paused{who, h.Op, h.Wait.Until, h.Wait.Why, h.Wait.Model, h.Wait.Kind})
		return false
	case h.Reading != nil:
		t.writeEvent("reading", "", BeingRead{who, h.Op, h.Reading.Tokens, h.Reading.Read})
		return false
	case h.Begun != nil:
		t.writeEvent("begin", t.eventID(h), RunBegun{who, *h.Begun})
	case h.Ended != nil:
		t.drafts.dropAll(who)
		t.writeID(t.eventID(h))
		t.writeEnd(who, *h.Ended)
	default:
		t.writeID(t.eventID(h))
		t.buf.Write(renderEvent(eventOf(who, h.Update)))
	}
	if h.Record != nil && h.Record.At.After(t.began) {
		t.lag = append(t.lag, h.Record.At)
	}
	return t.endsWithRun && h.Ended != nil
}

// writeEnd writes the last event of a run, with its result if that can still be read.
func (t *stream) writeEnd(who About, r service.Row) {
	name := cmp.Or(t.endName, "end")
	f, err := t.s.withResult(t.r.Context(), r, false)
	if err != nil { // it may be removed by then
		f.Result = nil
	}
	t.writeEvent(name, "", RunEnded{who, r, f.Result})
}

// writeDraft writes what an operation says by now.
func (t *stream) writeDraft(who About, op uint64, text []byte) {
	d := Draft{About: who, Op: op, Text: string(text)}
	if t.wantsHTML {
		d.HTML = render.Draft(d.Text)
	}
	t.writeEvent("text", "", d)
}

// writeEvent writes an event. Without an id, a client continues from the event before it.
func (t *stream) writeEvent(name, id string, data any) {
	t.writeID(id)
	t.buf.Write(renderEvent(name, data))
}

func (t *stream) writeID(id string) {
	if id != "" {
		t.buf.WriteString("id: " + id + "\n")
	}
}

// renderEvent is an event as it is sent, behind its id. Its data are one line.
func renderEvent(name string, data any) []byte {
	raw, err := publicJSON(data, nil)
	if err != nil {
		raw = []byte("{}")
	}
	return slices.Concat([]byte("event: "+name+"\ndata: "), raw, []byte("\n\n"))
}

// flush sends what was gathered, each part within Limits.Stall.
func (t *stream) flush() error {
	if t.buf.Len() == 0 {
		return nil
	}
	out := &timedWriter{t.w, t.s.config.Limits.Stall}
	for t.buf.Len() > 0 {
		if _, err := out.Write(t.buf.Next(writeOnce)); err != nil {
			return err
		}
	}
	if now := t.s.config.Now(); t.s.config.Lag != nil {
		for _, at := range t.lag {
			t.s.config.Lag(max(0, now.Sub(at)))
		}
	}
	t.lag = t.lag[:0]
	if t.buf.Cap() > 2*batch { // of a large record
		t.buf = bytes.Buffer{}
	}
	return nil
}

// How often drafts are sent: not before so much time, and not more bytes of them in a second.
const (
	draftEvery = 100 * time.Millisecond
	draftBytes = 256 << 10
)

// drafts are the provisional texts of a stream. Of what an operation says only the last is kept to be sent, and its
// bytes belong to all who watch the operation.
type drafts struct {
	all  []*drafted // in the order in which they began
	next time.Time  // when they may be sent
}

type drafted struct {
	About
	op      uint64
	text    []byte // nil: nothing is to be sent
	thought []byte // as text
	sent    bool   // something of it was
}

// unsent are those of which something is to be sent, of one run or, if that is empty, of all.
func (d *drafts) unsent(run string) (all []*drafted) {
	for _, one := range d.all {
		if (one.text != nil || one.thought != nil) && (run == "" || one.Run == run) {
			all = append(all, one)
		}
	}
	return all
}

// of is the draft of an operation. What is set in it takes the place of what was not sent yet.
func (d *drafts) of(who About, op uint64) *drafted {
	i := slices.IndexFunc(d.all, func(one *drafted) bool { return one.op == op && one.Run == who.Run })
	if i < 0 {
		i = len(d.all)
		d.all = append(d.all, &drafted{About: who, op: op})
	}
	return d.all[i]
}

// drop forgets what an operation said, and tells whether something of it was sent.
func (d *drafts) drop(who About, op uint64) (sent bool) {
	d.all = slices.DeleteFunc(d.all, func(one *drafted) bool {
		isMeant := one.op == op && one.Run == who.Run
		sent = sent || isMeant && one.sent
		return isMeant
	})
	return sent
}

// dropAll forgets what was said in a run.
func (d *drafts) dropAll(who About) {
	d.all = slices.DeleteFunc(d.all, func(one *drafted) bool { return one.Run == who.Run })
}

// flush sends what is not sent yet of a run or, if that is empty, of all.
func (d *drafts) flush(run string, to *stream) {
	size := 0
	for _, one := range d.unsent(run) {
		text, thought := trimPartialRune(one.text), trimPartialRune(one.thought)
		size += len(text) + len(thought)
		if one.thought != nil {
			to.writeEvent("thinking", "", Thought{one.About, one.op, strings.ToValidUTF8(string(thought), "")})
		}
		if one.text != nil {
			to.writeDraft(one.About, one.op, text)
		}
		one.text, one.thought, one.sent = nil, nil, true
	}
	if size > 0 {
		d.next = time.Now().Add(max(draftEvery, time.Duration(size)*time.Second/draftBytes))
	}
}

// trimPartialRune leaves out the beginning of a last character that is still to come.
func trimPartialRune(text []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if last := text[len(text)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}

// timer tells when drafts may be sent; stop frees it.
func (d *drafts) timer() (due <-chan time.Time, stop func()) {
	if len(d.unsent("")) == 0 {
		return nil, func() {}
	}
	t := time.NewTimer(time.Until(d.next))
	return t.C, func() { t.Stop() }
}
