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
	"sync"
	"time"
	"unicode/utf8"

	"sibyl/internal/journal"
	"sibyl/internal/render"
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
	if s.leaving() {
		return nil, draining()
	}
	own := s.people.of(owner).streams
	select {
	case own <- struct{}{}:
	default:
		return nil, tooMany("too_many_streams", "You have as many streams open as you may have.", busyWait)
	}
	select {
	case s.streams <- struct{}{}:
		return sync.OnceFunc(func() { <-s.streams; <-own }), nil
	default:
		<-own
		const detail = "This server has as many streams open as it may have."
		return nil, newProblem(http.StatusServiceUnavailable, "busy", detail, "Try again.").after(busyWait)
	}
}

func draining() *Problem {
	const detail = "This server is about to stop and begins nothing more."
	return newProblem(http.StatusServiceUnavailable, "draining", detail, "Try again.").after(time.Second)
}

// leaving says that no run is driven here any more.
func (s *Server) leaving() bool {
	select {
	case <-s.config.Leaving:
		return true
	default:
		return false
	}
}

// stream is an answer that goes on as server-sent events. What is written is bounded, whatever happens: a client that
// reads slowly gets the last draft of a text and not each piece, and holds up nobody; one that does not read is
// dropped.
type stream struct {
	s *Server
	r *http.Request
	w http.ResponseWriter

	mark  func(service.Happening) string // where a client goes on after it
	one   bool                           // it ends with its run
	html  bool                           // drafts are wanted as HTML, too
	final string                         // the name of the event of that end, if it is not end

	began  time.Time
	buf    bytes.Buffer
	lag    []time.Time // when the records in buf were made, of those that were made since the stream began
	drafts drafts
}

// source gives what happens, until ctx is done.
type source func(ctx context.Context) iter.Seq2[service.Happening, error]

// arrival is what a source gives.
type arrival = service.Received[service.Happening]

// run writes what happens until it is over, the client is gone or does not read, or the server leaves. first is the
// first event, which is sent once the source has begun: what comes to be from then on is told.
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
	t.open()
	t.event("sync", t.mark(beginning.One), first)
	beat := time.NewTicker(t.s.config.Limits.Beat)
	defer beat.Stop()
	for over := false; ; {
		if err := t.flush(); err != nil || over {
			return
		}
		due, stopDue := t.drafts.timer()
		select {
		case a, more := <-in:
			over = !more || t.take(a)
			for !over && t.buf.Len() < batch && len(in) > 0 {
				a, more = <-in
				over = !more || t.take(a)
			}
		case <-due:
			t.drafts.flush("", t.draft)
		case <-beat.C:
			if t.unwelcome() != nil {
				return
			}
			t.buf.WriteString(": alive\n\n")
		case <-t.s.config.Leaving:
			t.buf.WriteString(": close\n\n")
			over = true
		case <-t.r.Context().Done():
			over = true
		}
		stopDue()
	}
}

func (t *stream) open() {
	h := t.w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("X-Accel-Buffering", "no") // a proxy that gathers would hold back what is told
	t.w.WriteHeader(http.StatusOK)
	t.buf.WriteString("retry: " + strconv.Itoa(retryLeast+rand.IntN(retryLeast)) + "\n\n")
}

// retryLeast is how many ms a client waits at least before it comes again; at most it waits twice as long, so that not
// all come at once.
const retryLeast = 500

func (t *stream) unwelcome() *Problem { return t.s.unwelcome(t.r) }

// unwelcome says why who asked may no longer read: tokens end. Nobody is sent away because users can't be looked up.
func (s *Server) unwelcome(r *http.Request) *Problem {
	again := *exchangeOf(r.Context())
	if p := s.identify(&again, r); p != nil && p.Status < http.StatusInternalServerError {
		return p
	}
	return nil
}

// take puts a happening into what is to be written; over says that it is the last.
func (t *stream) take(a arrival) (over bool) {
	if a.Err != nil {
		if t.r.Context().Err() == nil {
			t.s.config.Log.LogAttrs(t.r.Context(), slog.LevelWarn, "a stream broke off",
				slog.String("request_id", exchangeOf(t.r.Context()).id), slog.String("error", a.Err.Error()))
		}
		t.buf.WriteString(": broken\n\n")
		return true
	}
	h := a.One
	who := About{h.Run, h.Session, h.Assistant}
	switch {
	case h.Text != "":
		t.drafts.put(who, h.Op, h.Draft)
		return false
	case h.Retract:
		if t.drafts.drop(who, h.Op) {
			t.event("retract", "", Retracted{who, h.Op})
		}
		return false
	case h.Left:
		t.drafts.dropAll(who) // void: the client drops its drafts
		t.event("sync", "", Synced{Run: who.Run, Session: who.Session, Assistant: who.Assistant})
		return false
	}
	t.drafts.flush(who.Run, t.draft) // what was said before comes before
	switch {
	case h.Wait != nil:
		t.event("wait", "", Paused{who, h.Op, h.Wait.Until, h.Wait.Why})
		return false
	case h.Begun != nil:
		t.event("begin", t.mark(h), RunBegun{who, *h.Begun})
	case h.Ended != nil:
		t.drafts.dropAll(who)
		t.id(t.mark(h))
		t.end(who, *h.Ended)
	default:
		t.id(t.mark(h))
		t.buf.Write(rendered(eventOf(who, h.Update)))
	}
	if h.Record != nil && h.Record.At.After(t.began) {
		t.lag = append(t.lag, h.Record.At)
	}
	return t.one && h.Ended != nil
}

// end writes the last event of a run, with its result if that can still be read.
func (t *stream) end(who About, r service.Row) {
	name := cmp.Or(t.final, "end")
	f, err := t.s.withResult(t.r.Context(), r, false)
	if err != nil { // it may be removed by then
		f.Result = nil
	}
	t.event(name, "", RunEnded{who, r, f.Result})
}

// draft writes what an operation says by now.
func (t *stream) draft(who About, op uint64, text []byte) {
	d := Draft{About: who, Op: op, Text: string(text)}
	if t.html {
		d.HTML = render.Draft(d.Text)
	}
	t.event("text", "", d)
}

// event writes one; it has no id if a client that goes on does so from the one before it.
func (t *stream) event(name, id string, data any) {
	t.id(id)
	t.buf.Write(rendered(name, data))
}

func (t *stream) id(id string) {
	if id != "" {
		t.buf.WriteString("id: " + id + "\n")
	}
}

// rendered is an event as it is sent, behind its id. Its data are one line.
func rendered(name string, data any) []byte {
	raw, err := encoded(data, nil)
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
	out := &bounded{t.w, t.s.config.Limits.Stall}
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
	op   uint64
	text []byte // nil: nothing is to be sent
	sent bool   // something of it was
}

// waiting are those of which something is to be sent, of one run or, if that is empty, of all.
func (d *drafts) waiting(run string) (all []*drafted) {
	for _, one := range d.all {
		if one.text != nil && (run == "" || one.Run == run) {
			all = append(all, one)
		}
	}
	return all
}

// put has a draft sent in place of what is not sent yet of its operation.
func (d *drafts) put(who About, op uint64, text []byte) {
	i := slices.IndexFunc(d.all, func(one *drafted) bool { return one.op == op && one.Run == who.Run })
	if i < 0 {
		i = len(d.all)
		d.all = append(d.all, &drafted{About: who, op: op})
	}
	d.all[i].text = text
}

// drop forgets what an operation said, and tells whether something of it was sent.
func (d *drafts) drop(who About, op uint64) (sent bool) {
	d.all = slices.DeleteFunc(d.all, func(one *drafted) bool {
		its := one.op == op && one.Run == who.Run
		sent = sent || its && one.sent
		return its
	})
	return sent
}

// dropAll forgets what was said in a run.
func (d *drafts) dropAll(who About) {
	d.all = slices.DeleteFunc(d.all, func(one *drafted) bool { return one.Run == who.Run })
}

// flush sends what is not sent yet of a run or, if that is empty, of all.
func (d *drafts) flush(run string, send func(About, uint64, []byte)) {
	size := 0
	for _, one := range d.waiting(run) {
		text := whole(one.text)
		one.text, one.sent = nil, true
		size += len(text)
		send(one.About, one.op, text)
	}
	if size > 0 {
		d.next = time.Now().Add(max(draftEvery, time.Duration(size)*time.Second/draftBytes))
	}
}

// whole leaves out the beginning of a last character that is still to come.
func whole(text []byte) []byte {
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
	if len(d.waiting("")) == 0 {
		return nil, func() {}
	}
	t := time.NewTimer(time.Until(d.next))
	return t.C, func() { t.Stop() }
}
