package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// Assistant is what the engine needs to run an assistant.
type Assistant struct {
	Name    string
	Leaves  *bt.Leaves
	Options bt.Options
	Effects map[string]EffectType // by kind

	// Open prepares what the run's effects need: models, tools, folders, as its start record says. Every process that
	// drives the run calls it; close, which may be nil, is called when that process stops driving it. What it opens may
	// keep ctx: it lasts until the run is no longer driven here.
	Open func(ctx context.Context, v *View) (performers map[string]Performer, close func(), err error)

	// Lacks, which may be nil, says what this process lacks to drive runs of the assistant: the error says it to people.
	// It takes no such run up then, and the run waits for a process that lacks nothing.
	Lacks func(ctx context.Context) error

	// Outcome turns the ended tree into the run's result. It is pure.
	Outcome func(v *View, e Ending) Outcome

	// Used reads from a receipt what a model used; false: no model did. The journal keeps the sum with the end of a run.
	// Nil: the sum is kept later, by those who know what its receipts say.
	Used func(c *CompletionRecord) (used journal.Used, ok bool)

	// Sends, which may be nil, tells a replay what the effect of a receipt sends beyond its payload: as the receipt
	// recorded it, and composed again from v. It performs nothing. Both are zero for an effect that sends nothing more.
	Sends func(ctx context.Context, v *View, c *CompletionRecord) (recorded, composed Sent, err error)
}

// Performer performs the effects of one kind.
type Performer struct {
	// Do performs an effect; its result encodes as JSON. An error that is a *bt.Fault keeps its kind; one that is a
	// *Suspended leaves the run to be resumed. With an error, the result is what had arrived.
	Do func(ctx context.Context, job Job) (any, error)
	// Found finds out after a crash whether a Once effect was performed, and its result. Nil: that can't be found out.
	Found func(ctx context.Context, job Job) (any, bool, error)
	// Withdraw ends work elsewhere for an effect that is not Once, such as a run (Engine.Within). It is called instead
	// of Do if the run is to stop, and the effect was outstanding when this process took the run over. Nil: there is
	// no such work.
	Withdraw func(ctx context.Context, job Job) error
}

// Job is one effect to be performed. Key is the same across a crash.
type Job struct {
	View   *View
	Effect bt.Effect
	Asked  any // the payload as the effect's type decodes it, where it can
	Key    string
	Emit   func(Piece)
}

// Piece is provisional text of an effect under way. Retract withdraws all text of the operation before it. Stands is
// how many bytes of that text, with this piece, nothing is expected to replace. Wait, if set, says that the operation
// pauses; Reading, if set, how far a model is with reading what it was sent. Thinking is what a model thinks: it is
// shown while the operation is under way, and kept by nobody.
type Piece struct {
	Op       uint64
	Text     string
	Stands   int
	Retract  bool
	Wait     *Wait
	Reading  *Reading
	Thinking string
}

// Reading says how many of so many tokens a model has read, and since when it reads. No tokens: it reads no more. Read
// is 0 where its server does not tell.
type Reading struct {
	Tokens, Read int
	Since        time.Time
}

// Wait is a pause of an effect: until when, and why; for a model also which one, and the kind of its failure.
type Wait struct {
	Until       time.Time
	Why         string
	Model, Kind string
}

// Ending is what is known of a run when its tree has ended, was stopped, or is suspended.
type Ending struct {
	Tree      *bt.Tree
	State     *bt.State
	Status    bt.Status // Idle: it was stopped; Running: it is suspended
	Fault     *bt.Fault
	Cancelled bool
	Suspended bool               // it has not ended: this is what can be shown of it
	Unfolded  []CompletionRecord // that no step has seen: of a run that was stopped or is suspended
}

// Sent is what an effect sends beyond its payload. It consists of Parts, which are nil if they are not known; so may be
// the hash and the tokens of a part.
type Sent struct {
	Hash   string `json:"hash"`
	Tokens int    `json:"tokens"`
	Parts  []Part `json:"-"`
}

// Part is a part of a request to a model. Kind and Name identify it: the "segment" "base", the "tool" "code_read".
type Part struct {
	Kind   string
	Name   string
	Hash   string
	Tokens int
}

// Outcome is the result of a run.
type Outcome struct {
	Status  journal.Status
	Reason  string            // why it ended, in its assistant's words: "satisfied"
	Result  any               // the assistant's own, kept as JSON with the end
	Summary any               // what lists and histories need of it, kept as JSON in the run's row
	Pending []journal.Pending // questions that it leaves; Owner, Session, Run and CreatedAt are filled in
}

// Spec says how a run begins.
type Spec struct {
	ID         string // "": a new one. If the id is taken, beginning the run fails with journal.ErrExists
	Owner      journal.Owner
	Session    string
	NewSession *journal.Session // stored with the run; nil: Session exists already
	Assistant  string
	Title      string
	Place      string // the folder that a new session is about
	TreeFile   string
	Tree       []byte
	Texts      []Text
	Given      any // a struct of ports
	Env        any
	Consume    []string // pending rows that the run consumes
	Asked      string   // a digest of the request that began it, if that had an idempotency key
	Replaces   string   // the run of the session whose place it takes; "": it takes none
	Follows    string   // the run of the session that it goes on from; "", without Replaces: the latest
	Claims     []string // what one run of the owner at a time may hold
}

// Text is a text that the run keeps by content: a prompt file. Raw content, such as a picture, is no text, and is not
// redacted.
type Text struct {
	Name    string
	Content []byte
	Raw     bool
}

// Clock is the time of the engine.
type Clock interface {
	Now() time.Time
	// After sends once when d has passed; stop frees what it holds.
	After(d time.Duration) (c <-chan time.Time, stop func())
}

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) After(d time.Duration) (<-chan time.Time, func()) {
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// Config configures an Engine. Zero durations, Clock, Log and Redact have defaults.
type Config struct {
	Store      journal.Store
	Assistants []*Assistant
	Build      string
	Holder     string // names this process in leases; must be unique
	Lease      time.Duration
	Heartbeat  time.Duration // how often leases are renewed where needed, and requests to stop looked for
	StopGrace  time.Duration // how long a stopping run waits for what is under way
	MostRuns   int           // driven at once; the others wait, in rotation between owners; 0: no limit
	Clock      Clock
	// Dead says whether the process of a holder is known to be gone, so that nobody waits for its lease. Nil: this is
	// never known.
	Dead func(holder string) bool
	// Redact removes secrets from what is kept. It returns data without secrets unchanged.
	Redact func([]byte) []byte
	Log    *slog.Logger
	// Observer may be nil.
	Observer Observer
}

// Engine starts, resumes and stops runs. It is safe for concurrent use.
type Engine struct {
	Config
	assistants map[string]*Assistant
	room       *queue
	listeners  listeners

	mu       sync.Mutex
	trees    map[treeKey]*bt.Tree // loaded trees are immutable
	held     map[journal.Key]bool
	live     map[string]*driver
	idle     chan struct{} // closed when nothing is live any more; nil while nothing is
	draining bool          // no more runs are accepted
	leaving  bool          // and the active ones are left to other processes

	entered sync.WaitGroup // counts runs from enter to exit
}

// NewEngine checks and completes the configuration.
func NewEngine(c Config) (*Engine, error) {
	if c.Store == nil || c.Holder == "" {
		return nil, fmt.Errorf("an engine wants a store and a holder")
	}
	c.Lease, c.Heartbeat = cmp.Or(c.Lease, 8*time.Second), cmp.Or(c.Heartbeat, time.Second)
	c.StopGrace = cmp.Or(c.StopGrace, 3*time.Second)
	if c.Clock == nil {
		c.Clock = realClock{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Redact == nil {
		c.Redact = func(b []byte) []byte { return b }
	}
	if unattended := c.Lease/3 + c.Heartbeat + c.StopGrace; unattended >= c.Lease {
		return nil, fmt.Errorf("a lease of %s may run out while its driver is alive: it wants more than %s",
			c.Lease, unattended)
	}
	e := &Engine{Config: c, assistants: map[string]*Assistant{}, room: newQueue(c.MostRuns),
		trees: map[treeKey]*bt.Tree{},
		held:  map[journal.Key]bool{}, live: map[string]*driver{}}
	for _, a := range c.Assistants {
		if e.assistants[a.Name] != nil {
			return nil, fmt.Errorf("two assistants are called %s", a.Name)
		}
		e.assistants[a.Name] = a
	}
	return e, nil
}

// NewID makes an id that sorts by time: 16 characters, 56 bits of microseconds and 24 random ones. Microseconds,
// because runs of one session must keep their order.
func NewID(now time.Time) string {
	var b [10]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMicro())<<8)
	_, _ = rand.Read(b[7:]) // which never fails
	return idEncoding().EncodeToString(b[:])
}

// IDOf computes an id from parts: the same parts always give the same one.
func IDOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return idEncoding().EncodeToString(sum[:10])
}

// idEncoding encodes ids so that they sort like the bytes they encode.
var idEncoding = sync.OnceValue(func() *base32.Encoding {
	return base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)
})

// Assistants returns the assistants whose runs this engine drives, by name.
func (e *Engine) Assistants() map[string]*Assistant { return maps.Clone(e.assistants) }

// Assistant gives an assistant by its name, nil if there is none.
func (e *Engine) Assistant(name string) *Assistant { return e.assistants[name] }

// Start records a run and drives it until it ends, in a goroutine of its own. It waits for room where MostRuns are
// driven. Cancelling ctx is a request to stop the run: a server gives a context that outlives the request. A Spec that
// does not fit its tree is an error with nothing written.
func (e *Engine) Start(ctx context.Context, s Spec) (*Live, error) {
	a, tree, err := e.startable(s)
	if err != nil {
		return nil, err
	}
	if err := e.enter(ctx, s.Owner, true); err != nil {
		return nil, err
	}
	return e.recordAndDrive(ctx, ctx, a, tree, s, e.exit)
}

// startable returns the assistant and the loaded tree of a Spec.
func (e *Engine) startable(s Spec) (*Assistant, *bt.Tree, error) {
	a := e.assistants[s.Assistant]
	if a == nil {
		return nil, nil, fmt.Errorf("there is no assistant %q", s.Assistant)
	}
	tree, err := e.loadTree(a, s.TreeFile, s.Tree)
	return a, tree, err
}

// newBeginning makes what the journal stores when a run begins: driven by this process, or waiting for one.
func (e *Engine) newBeginning(s Spec, waits bool) (journal.Beginning, error) {
	now := e.Clock.Now()
	b := journal.Beginning{Session: s.NewSession, Consume: s.Consume, Claims: s.Claims}
	b.Run = journal.Run{ID: cmp.Or(s.ID, NewID(now)), Session: s.Session, Owner: s.Owner, Assistant: s.Assistant,
		Title: journal.Clean(string(e.Redact([]byte(s.Title)))), Status: journal.Running, StartedAt: now,
		Replaces: s.Replaces, Follows: s.Follows}
	if !waits {
		b.Run.LeaseHolder, b.Run.LeaseUntil = e.Holder, now.Add(e.Lease)
	}
	start, err := e.newStartRecord(&b, s)
	if err != nil {
		return b, err
	}
	start.Waits = waits
	data, err := encode(KindStart, start)
	b.Records = []journal.Record{e.newRecord(0, now, KindStart, data)}
	return b, err
}

// recordAndDrive records a run, unless ctx is done before, and drives it. Cancelling life is a request to stop the run.
// It calls exit when the run is driven no longer, or after an error.
func (e *Engine) recordAndDrive(
	ctx, life context.Context, a *Assistant, tree *bt.Tree, s Spec, exit func(),
) (live *Live, err error) {
	defer func() {
		if err != nil {
			exit()
		}
	}()
	b, err := e.newBeginning(s, false)
	if err != nil {
		return nil, err
	}
	d := e.newDriver(a, tree, b.Run)
	if err := d.foldAndShow(b.Records); err != nil {
		return nil, err
	}
	if err := e.markDriven(d.key()); err != nil {
		return nil, err
	}
	if err := e.storeBeginning(ctx, b); err != nil {
		e.unmarkDriven(d.key())
		return nil, err
	}
	d.exit = exit
	if live, err = d.openAndDrive(life, false); err != nil {
		e.release(ctx, d.key(), time.Time{})
	}
	return live, err
}

// storeBeginning records a run. It takes no longer than a lease: after that, another process could drive the run at
// once.
func (e *Engine) storeBeginning(ctx context.Context, b journal.Beginning) error {
	ctx, cut := context.WithTimeout(ctx, e.Lease)
	defer cut()
	return e.observeCommit(ctx, func() error { return e.Store.Begin(ctx, b) })
}

// newStartRecord makes the start record of a run, and adds the contents that it names to b.
func (e *Engine) newStartRecord(b *journal.Beginning, s Spec) (*StartRecord, error) {
	start := &StartRecord{Assistant: s.Assistant, Build: e.Build, TreeFile: s.TreeFile, Tree: journal.BlobHash(s.Tree),
		Consumed: s.Consume, Asked: s.Asked}
	b.Blobs = append(b.Blobs, s.Tree)
	for _, t := range s.Texts {
		content := t.Content
		if !t.Raw {
			content = e.Redact(content)
		}
		start.Texts = append(start.Texts, NamedBlob{Name: t.Name, Blob: journal.BlobHash(content)})
		b.Blobs = append(b.Blobs, content)
	}
	var err error
	if start.Given, err = bt.EncodePorts(s.Given); err != nil {
		return nil, err
	}
	if start.Env, err = Marshal(s.Env); err != nil {
		return nil, fmt.Errorf("environment of the run: %w", err)
	}
	return start, nil
}

// encode returns v as the data of a record.
func encode(kind string, v any) ([]byte, error) {
	data, err := Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%s record: %w", kind, err)
	}
	return data, nil
}

// newRecord makes a record as the journal keeps it: redacted, with its time in milliseconds.
func (e *Engine) newRecord(seq int64, at time.Time, kind string, data []byte) journal.Record {
	return journal.Record{Seq: seq, At: at.UTC().Truncate(time.Millisecond), Kind: kind, Data: e.Redact(data)}
}

// Explain returns what the steps of a run decided: from the trace of a run that has ended, otherwise by folding its
// records, for which this build must be able to.
func (e *Engine) Explain(ctx context.Context, owner journal.Owner, id string) ([]TraceStep, error) {
	recs, a, tree, err := e.readRunAndTree(ctx, owner, id)
	if kept, failed := ReadTrace(recs); failed != nil || kept != nil {
		return kept, failed
	}
	if err == nil {
		err = e.checkFoldable(ctx, owner, id)
	}
	if err != nil {
		return nil, err
	}
	f := NewFold(a, tree)
	for _, r := range recs {
		if _, err := f.foldRecord(r); err != nil {
			return nil, e.explainFoldError(id, recs, err)
		}
	}
	return f.trace, nil
}

// Tree returns the tree that a run began with, as this build loads it; ErrIncompatible if it can't.
func (e *Engine) Tree(ctx context.Context, owner journal.Owner, id string) (*bt.Tree, error) {
	_, _, tree, err := e.readRunAndTree(ctx, owner, id)
	return tree, err
}

// Live returns the run of that id if this process drives it, else nil.
func (e *Engine) Live(id string) *Live {
	e.mu.Lock()
	defer e.mu.Unlock()
	if d := e.live[id]; d != nil {
		return d.Live
	}
	return nil
}

// enter takes room for one more run, and waits for it if wait is set. Each successful enter must be followed by exit.
func (e *Engine) enter(ctx context.Context, owner journal.Owner, wait bool) error {
	if err := e.room.enter(ctx, owner, wait); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.draining {
		e.room.leave()
		return ErrDraining
	}
	e.entered.Add(1)
	return nil
}

func (e *Engine) exit() {
	e.room.leave()
	e.entered.Done()
}

// Drain makes this process accept no more runs: from then on Start and Resume return ErrDraining, also to callers that
// wait for room. It waits for the active runs until ctx is done, and then leaves the others to other processes. It
// cancels no run: effects that only read are performed again by whoever resumes the run, and Once effects under way may
// finish within StopGrace. When it returns, this process drives nothing.
func (e *Engine) Drain(ctx context.Context) {
	e.mu.Lock()
	e.draining = true
	e.mu.Unlock()
	over := make(chan struct{})
	go func() {
		e.entered.Wait()
		close(over)
	}()
	select {
	case <-over:
		return
	case <-ctx.Done():
	}
	e.mu.Lock()
	e.leaving = true
	for _, d := range e.live {
		d.leaveToOthers()
	}
	e.mu.Unlock()
	<-over
}
