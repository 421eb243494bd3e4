package run

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
)

// Assistant is what a room brings to be run.
type Assistant struct {
	Name     string
	Registry *bt.Registry
	Options  bt.Options

	// Open readies what the run's effects need: models, tools, folders, as its start record says. It is called by every
	// process that drives the run; close, which may be nil, is called when that process stops driving it. What it
	// readies may keep ctx: it lasts until the run is no longer driven here.
	Open func(ctx context.Context, v *View) (performers map[string]Performer, close func(), err error)

	// Outcome turns the ended tree into the run's result. It is pure.
	Outcome func(v *View, e Ending) (journal.Status, any)

	// Sends, which may be nil, tells a replay what the effect of a receipt sends beyond its payload: as the receipt has it,
	// and composed anew of what v holds. It performs nothing. Both are zero for an effect that sends nothing more.
	Sends func(ctx context.Context, v *View, c CompletionRecord) (recorded, composed Sent, err error)
}

// Performer performs the effects of one kind.
type Performer struct {
	// Do performs an effect; its result encodes as JSON. An error that is a *bt.Fault keeps its kind. With an error, the
	// result is what had arrived.
	Do func(ctx context.Context, job Job) (any, error)
	// Found tells after a crash whether a Once effect was performed, and its result. Nil: that can't be told.
	Found func(ctx context.Context, job Job) (any, bool, error)
}

// Job is one effect to be performed. Key is the same across a crash.
type Job struct {
	View   *View
	Effect bt.Effect
	Key    string
	Emit   func(Piece)
}

// Piece is provisional text of an effect under way. Retract withdraws all text of the operation before it.
type Piece struct {
	Op      uint64
	Text    string
	Retract bool
}

// Ending is what is known when a tree has ended.
type Ending struct {
	Tree      *bt.Tree
	State     *bt.State
	Status    bt.Status // Idle: it was stopped
	Fault     *bt.Fault
	Cancelled bool
	Under     []CompletionRecord // of a run that was stopped
}

// Spec says how a run begins.
type Spec struct {
	Owner     journal.Owner
	Session   string
	Assistant string
	Title     string
	TreeFile  string
	Tree      []byte
	Texts     []Text
	Given     map[string]any
	Env       any

	NewSession *journal.Session // made with the run; nil: Session is there already
}

// Text is a text that the run keeps by content: a prompt file.
type Text struct {
	Name    string
	Content []byte
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

// Config is what an Engine is made of. Zero durations, clock and logger have defaults.
type Config struct {
	Store      journal.Store
	Assistants []*Assistant
	Build      string
	Holder     string // names this process in leases; must be unique
	Lease      time.Duration
	Heartbeat  time.Duration // how often a driver renews its lease and looks for a wish to stop
	StopGrace  time.Duration // how long a stopping run waits for what is under way
	Clock      Clock
	// Dead says that the process of a holder is known to be gone, so that its lease need not be waited for. Nil: never known.
	Dead   func(holder string) bool
	Redact func([]byte) []byte
	Log    *slog.Logger
}

// Engine starts, resumes and stops runs. It is safe for concurrent use.
type Engine struct {
	Config
	assistants map[string]*Assistant

	mu     sync.Mutex
	trees  map[string]*bt.Tree // by assistant and source: loaded trees are immutable
	hashes map[string]string   // of the contents that runs began with
	live   map[string]*Live
	claims map[claim]bool
}

// claim is a run that a driver of this process is taking up, drives or lets go. A lease can't tell two of them apart.
type claim struct {
	owner journal.Owner
	run   string
}

// NewEngine checks and completes the configuration.
func NewEngine(c Config) (*Engine, error) {
	if c.Store == nil || c.Holder == "" {
		return nil, fmt.Errorf("an engine wants a store and a holder")
	}
	if c.Lease == 0 {
		c.Lease = 15 * time.Second
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = time.Second
	}
	if c.StopGrace == 0 {
		c.StopGrace = 3 * time.Second
	}
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
		return nil, fmt.Errorf("a lease of %s may run out while its driver is alive: it wants more than %s", c.Lease, unattended)
	}
	e := &Engine{Config: c, assistants: map[string]*Assistant{}, trees: map[string]*bt.Tree{}, hashes: map[string]string{},
		live: map[string]*Live{}, claims: map[claim]bool{}}
	for _, a := range c.Assistants {
		if e.assistants[a.Name] != nil {
			return nil, fmt.Errorf("two assistants are called %s", a.Name)
		}
		e.assistants[a.Name] = a
	}
	return e, nil
}

// NewID makes an id that sorts by time: 16 characters, 56 bits of microseconds and 24 random ones. Microseconds, because runs of
// one session must keep their order.
func NewID(now time.Time) string {
	var b [10]byte
	binary.BigEndian.PutUint64(b[:8], uint64(now.UnixMicro())<<8)
	if _, err := rand.Read(b[7:]); err != nil {
		panic(err) // the kernel's source of randomness does not fail
	}
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

// Start records a run and drives it until it ends, in a goroutine of its own. Cancelling ctx is a wish to stop. A Spec that
// does not fit its tree is an error with nothing written.
func (e *Engine) Start(ctx context.Context, s Spec) (*Live, error) {
	a := e.assistants[s.Assistant]
	if a == nil {
		return nil, fmt.Errorf("there is no assistant %q", s.Assistant)
	}
	tree, err := e.tree(a, s.TreeFile, s.Tree)
	if err != nil {
		return nil, err
	}
	now := e.Clock.Now()
	first, blobs, err := e.birth(s, now)
	if err != nil {
		return nil, err
	}
	r := journal.Run{ID: NewID(now), Session: s.Session, Owner: s.Owner, Assistant: a.Name, Title: string(e.Redact([]byte(s.Title))),
		Status: journal.Running, StartedAt: now, LeaseHolder: e.Holder, LeaseUntil: now.Add(e.Lease)}
	recs := []journal.Record{first}
	d, err := e.newDriver(a, tree, r, recs)
	if err != nil {
		return nil, err
	}
	if err := e.claim(s.Owner, r.ID); err != nil {
		return nil, err
	}
	if err := e.Store.Begin(ctx, journal.Beginning{Run: r, Session: s.NewSession, Blobs: blobs, Records: recs}); err != nil {
		e.unclaim(s.Owner, r.ID)
		return nil, err
	}
	live, err := d.start(ctx, false)
	if err != nil {
		e.letGo(ctx, s.Owner, r.ID)
	}
	return live, err
}

// birth makes a run's first record, and the contents that it names.
func (e *Engine) birth(s Spec, now time.Time) (journal.Record, [][]byte, error) {
	start := StartRecord{Assistant: s.Assistant, Build: e.Build, TreeFile: s.TreeFile, Tree: e.blobHash(s.Tree),
		Given: make(map[string]json.RawMessage, len(s.Given))}
	blobs := [][]byte{s.Tree}
	for _, t := range s.Texts {
		start.Texts = append(start.Texts, NamedBlob{Name: t.Name, Blob: e.blobHash(t.Content)})
		blobs = append(blobs, t.Content)
	}
	var err error
	for key, v := range s.Given {
		if start.Given[key], err = json.Marshal(v); err != nil {
			return journal.Record{}, nil, fmt.Errorf("given key {%s}: %w", key, err)
		}
	}
	if start.Env, err = json.Marshal(s.Env); err != nil {
		return journal.Record{}, nil, fmt.Errorf("environment of the run: %w", err)
	}
	rec, err := e.record(0, now, KindStart, start)
	return rec, blobs, err
}

// Resume takes up a run that nobody drives: it folds the records and performs what is outstanding. ErrMisfit if this build
// can't; the run stays open then, for the build that wrote it or for Cancel.
func (e *Engine) Resume(ctx context.Context, owner journal.Owner, id string) (live *Live, err error) {
	err = e.takeUp(ctx, owner, id, func() error {
		d, recs, err := e.refold(ctx, owner, id)
		switch {
		case misfit(err):
			return e.misfits(id, recs, err)
		case err != nil:
			return err
		}
		live, err = d.start(ctx, true)
		return err
	})
	return live, err
}

// takeUp makes this process the one that may drive a run, and lets the run go again if drive fails.
func (e *Engine) takeUp(ctx context.Context, owner journal.Owner, id string, drive func() error) error {
	if err := e.claim(owner, id); err != nil {
		return err
	}
	if err := e.acquire(ctx, owner, id); err != nil {
		e.unclaim(owner, id)
		return err
	}
	err := drive()
	if err != nil {
		e.letGo(ctx, owner, id)
	}
	return err
}

// refold makes a driver that stands where a run's records end. The records come with an error, too, if they can be read.
func (e *Engine) refold(ctx context.Context, owner journal.Owner, id string) (*driver, []journal.Record, error) {
	r, err := e.Store.Run(ctx, owner, id)
	if err != nil {
		return nil, nil, err
	}
	recs, err := e.Store.Records(ctx, owner, id, 0)
	if err != nil {
		return nil, nil, err
	}
	var d *driver
	a, tree, err := e.treeOf(ctx, owner, recs)
	if err == nil {
		d, err = e.newDriver(a, tree, r, recs)
	}
	if err != nil {
		return nil, recs, fmt.Errorf("run %s: %w", id, err)
	}
	return d, recs, nil
}

func (e *Engine) claim(owner journal.Owner, id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.claims[claim{owner, id}] {
		return fmt.Errorf("run %s is in this program's hands already: %w", id, journal.ErrLeased)
	}
	e.claims[claim{owner, id}] = true
	return nil
}

func (e *Engine) unclaim(owner journal.Owner, id string) {
	e.mu.Lock()
	delete(e.claims, claim{owner, id})
	e.mu.Unlock()
}

// releaseTime bounds the wait for a journal that is locked, where only a lease is to be given back.
const releaseTime = time.Second

// letGo makes a run free for others, this process included.
func (e *Engine) letGo(ctx context.Context, owner journal.Owner, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	if err := e.Store.Release(ctx, owner, id, e.Holder); err != nil { // it runs out by itself
		e.Log.Warn("lease not freed", "run", id, "err", err)
	}
	e.unclaim(owner, id)
}

// acquire takes the lease; that of a process that is gone counts as run out.
func (e *Engine) acquire(ctx context.Context, owner journal.Owner, id string) error {
	now := e.Clock.Now()
	err := e.Store.Acquire(ctx, owner, id, e.Holder, now, now.Add(e.Lease))
	if !isLeased(err) {
		return err
	}
	r, lookErr := e.Store.Run(ctx, owner, id)
	if lookErr != nil || e.Driven(r) {
		return err
	}
	return e.Store.Acquire(ctx, owner, id, e.Holder, r.LeaseUntil, now.Add(e.Lease))
}

// Driven says whether somebody drives a run, as far as its lease and its holder tell.
func (e *Engine) Driven(r journal.Run) bool {
	if r.Status != journal.Running || r.LeaseHolder == "" || !r.LeaseUntil.After(e.Clock.Now()) {
		return false
	}
	return e.Dead == nil || !e.Dead(r.LeaseHolder)
}

// treeOf loads the tree that a run began with.
func (e *Engine) treeOf(ctx context.Context, owner journal.Owner, recs []journal.Record) (*Assistant, *bt.Tree, error) {
	start, err := startOf(recs)
	if err != nil {
		return nil, nil, err
	}
	a := e.assistants[start.Assistant]
	if a == nil {
		return nil, nil, fmt.Errorf("%w: %q", errNoAssistant, start.Assistant)
	}
	text, err := e.Store.Blob(ctx, owner, start.Tree)
	if err != nil {
		return a, nil, err
	}
	tree, err := e.tree(a, start.TreeFile, text)
	return a, tree, err
}

func startOf(recs []journal.Record) (StartRecord, error) {
	if len(recs) == 0 || recs[0].Kind != KindStart {
		return StartRecord{}, fmt.Errorf("%w: the first record is not a start", journal.ErrCorrupt)
	}
	return decode[StartRecord](recs[0])
}

// Runs begin with the same few trees and texts, so that many of each are kept.
const keptTrees, keptHashes = 32, 32

func (e *Engine) tree(a *Assistant, file string, text []byte) (*bt.Tree, error) {
	key := a.Name + "\x00" + file + "\x00" + string(text)
	e.mu.Lock()
	defer e.mu.Unlock()
	if t := e.trees[key]; t != nil {
		return t, nil
	}
	t, err := a.Registry.Load(file, text, a.Options)
	if err != nil {
		return nil, err
	}
	if len(e.trees) >= keptTrees {
		clear(e.trees)
	}
	e.trees[key] = t
	return t, nil
}

func (e *Engine) blobHash(content []byte) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if h := e.hashes[string(content)]; h != "" {
		return h
	}
	if len(e.hashes) >= keptHashes {
		clear(e.hashes)
	}
	h := journal.BlobHash(content)
	e.hashes[string(content)] = h
	return h
}

// Cancel asks a run to stop. A run that somebody drives stops soon after; one that nobody drives ends here, with nothing
// of it performed, even if this build can't fold it: then its fault says so.
func (e *Engine) Cancel(ctx context.Context, owner journal.Owner, id, reason string) error {
	if live := e.Live(id); live != nil && live.owner == owner {
		live.Cancel(reason)
		return nil
	}
	var live *Live
	err := e.takeUp(ctx, owner, id, func() error {
		if err := e.appendCancel(ctx, owner, id, reason); err != nil {
			return err
		}
		d, _, err := e.refold(ctx, owner, id)
		if misfit(err) {
			if err = e.abandon(ctx, owner, id, err); err == nil {
				e.unclaim(owner, id)
			}
			return err
		}
		if err == nil {
			live, err = d.start(ctx, true)
		}
		return err
	})
	switch {
	case isLeased(err):
		return e.appendCancel(ctx, owner, id, reason)
	case err != nil || live == nil:
		return err
	}
	_, err = live.Wait(ctx)
	return err
}

// mostConflicts is how often what another process appended first is made room for.
const mostConflicts = 20

// appendCancel leaves the wish for the driver, which may be appending at the same moment.
func (e *Engine) appendCancel(ctx context.Context, owner journal.Owner, id, reason string) error {
	for range mostConflicts {
		r, err := e.Store.Run(ctx, owner, id)
		if err != nil {
			return err
		}
		rec, err := e.record(r.Records, e.Clock.Now(), KindCancel, CancelRecord{Reason: reason})
		if err != nil {
			return err
		}
		if err = e.Store.Append(ctx, owner, id, []journal.Record{rec}, nil); !isConflict(err) {
			return err
		}
	}
	return fmt.Errorf("run %s: %w, again and again", id, journal.ErrConflict)
}

// Live gives the run that this process drives, nil if it drives none of that id.
func (e *Engine) Live(id string) *Live {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.live[id]
}

func (e *Engine) list(l *Live) {
	e.mu.Lock()
	e.live[l.ID] = l
	e.mu.Unlock()
}

func (e *Engine) unlist(l *Live) {
	e.mu.Lock()
	delete(e.live, l.ID)
	e.mu.Unlock()
}

func (e *Engine) record(seq int64, at time.Time, kind string, v any) (journal.Record, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return journal.Record{}, fmt.Errorf("%s record: %w", kind, err)
	}
	return journal.Record{Seq: seq, At: at.UTC().Truncate(time.Millisecond), Kind: kind, Data: e.Redact(data)}, nil
}

func isLeased(err error) bool   { return errors.Is(err, journal.ErrLeased) }
func isConflict(err error) bool { return errors.Is(err, journal.ErrConflict) }
