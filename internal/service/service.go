// Package service has the use cases of the assistants, by owner: start, continue, resume, cancel, watch, explain, list,
// show, export, rename, delete, audit, replay and drain. The ways in (the command line, an API, MCP) only parse and
// render.
//
// Guarantees: every call names its owner, and what another owner has does not exist for it; an assistant is known only
// by its description (package assistant); no event, explanation or audit depends on the name of a node.
package service

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/preset"
	"sibyl/internal/run"
	"sibyl/internal/schema"
	"sibyl/internal/service/assistant"
)

// Config is what a Service is made of.
type Config struct {
	Store      journal.Store
	Engine     *run.Engine
	Assistants []*assistant.Assistant
	Tree       func(name string) (file string, text []byte, err error)
	Redact     func(text string) string // replaces secrets in titles, folders and sources
	Setting    func(path string) string // gives a setting, "" if it is not set; nil: none is
	// finds a preset by its name; nil: there are none
	Preset  func(ctx context.Context, name string) (preset.Preset, error)
	Prices  *Prices          // nil: no prices are known
	Finders []Finder         // searched by Find in addition to sessions and runs
	Models  *ModelSource     // nil: Models lists none
	Now     func() time.Time // nil: time.Now
	// whether sessions begin with a model that was chosen in the last one; nil: none does
	Remembers func(model string) bool
}

// Service performs the use cases. It is safe for concurrent use.
type Service struct {
	config Config
	byName map[string]*assistant.Assistant
	words  map[string]run.Vocabulary
}

// New makes a Service; two assistants with one name are an error.
func New(c Config) (*Service, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Service{config: c, byName: map[string]*assistant.Assistant{}, words: map[string]run.Vocabulary{}}
	for _, a := range c.Assistants {
		if s.byName[a.Name] != nil {
			return nil, fmt.Errorf("two assistants have the name %s", a.Name)
		}
		s.byName[a.Name], s.words[a.Name] = a, run.NewVocabulary(a.Events...)
	}
	return s, nil
}

// What can be wrong with a request to any assistant.
const (
	noTitle       bt.Reason = "request.title: the title is empty"
	nothingToFind bt.Reason = "request.find: there is nothing to look for"
	wrongOptions  bt.Reason = "request.options: {what}"
)

// UsageError is a mistake of the caller: wrong words or options, or a name that fits nothing.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *UsageError) Unwrap() error { return e.Err }

func asUsageError(err error) error {
	if err == nil {
		return nil
	}
	return &UsageError{err}
}

func (s *Service) assistantNamed(name string) (*assistant.Assistant, error) {
	if a := s.byName[name]; a != nil {
		return a, nil
	}
	var names []string
	for _, a := range s.config.Assistants {
		names = append(names, a.Name)
	}
	has := "it has: " + strings.Join(names, ", ")
	return nil, asUsageError(&assistant.RequestError{Why: bt.Because("there is no such assistant"), Hint: has,
		Err: fmt.Errorf("this program has no assistant %q; %s", name, has)})
}

// Assistants lists the assistants of this program.
func (s *Service) Assistants() []*assistant.Assistant { return slices.Clone(s.config.Assistants) }

// decodeOptions turns the assistant.GivenOptions of a request into the options of its assistant, with the settings, and
// sets what the request sets; other options stay as they are.
func (s *Service) decodeOptions(ctx context.Context, a *assistant.Assistant, r *Request) error {
	remote, ok := r.Options.(assistant.GivenOptions)
	switch {
	case !ok:
		return nil
	case a.Options == nil:
		return &assistant.RequestError{
			Why:  bt.Because("runs of this assistant are started by another assistant, not by a request"),
			Hint: "ask another assistant"}
	}
	into := a.Options.New(remote.Base)
	if s.config.Setting != nil {
		// no folder comes from the settings: they are the server's
		isSaid := func(f *schema.Field) bool { return f.IsSet(into) || f.Tag.Get("names") == "folder" }
		if err := a.Options.FillFromSettings(into, s.config.Setting, isSaid); err != nil {
			return err
		}
	}
	if err := a.Options.Decode(remote.JSON, into); err != nil {
		return &assistant.RequestError{
			Why:  wrongOptions.With(strings.Replace(err.Error(), "arguments ", "the options ", 1)),
			Hint: "the options are: " + strings.Join(a.Options.Names(), ", "), Err: err}
	}
	set := remote.Set()
	base := a.Options.New(remote.Base)
	for _, f := range a.Options.Fields {
		if remote.Base != nil && f.IsSet(base) {
			set = append(set, f.Name)
		}
	}
	err := preset.Apply(a.Options, into, func(name string) (preset.Preset, error) {
		if s.config.Preset == nil {
			return preset.Preset{}, errors.New("there are no presets here")
		}
		return s.config.Preset(ctx, name)
	}, func(f *schema.Field) bool { return slices.Contains(set, f.Name) },
		func(f *schema.Field) { set = append(set, f.Name) })
	if err != nil {
		return &assistant.RequestError{Why: wrongOptions.With(err.Error()),
			Hint: "GET /api/presets lists the presets", Err: err}
	}
	if err := a.Options.FindFolders(into, remote.Folder); err != nil {
		return err
	}
	r.Options, r.MayRead = reflect.ValueOf(into).Elem().Interface(), remote.MayRead
	r.Sets = func(option string) bool { return slices.Contains(set, option) }
	return nil
}

// runAndAssistant gives the row of a run and its assistant; an error if this program does not have that assistant.
func (s *Service) runAndAssistant(
	ctx context.Context, owner journal.Owner, id string,
) (journal.Run, *assistant.Assistant, error) {
	r, err := s.config.Store.Run(ctx, owner, id)
	if err != nil {
		return r, nil, err
	}
	a, err := s.assistantNamed(r.Assistant)
	return r, a, err
}

// Request is what a user asks of an assistant.
type Request = assistant.Request

// Start begins and drives a run. It waits for room, and up to r.Patience for a run that holds its claim, which it
// resumes if nobody drives it. Cancelling ctx asks the run to stop: a server gives a context that outlives the request.
func (s *Service) Start(ctx context.Context, owner journal.Owner, r Request) (*Run, error) {
	before := s.rememberedModel(ctx, owner, s.byName[r.Assistant])
	var live *run.Live
	a, spec, err := s.startRetrying(ctx, owner, r, func(spec run.Spec) (err error) {
		live, err = s.config.Engine.Start(ctx, spec)
		return err
	})
	if err != nil {
		return nil, err
	}
	begun := s.newRun(a, live, spec)
	if now := s.rememberedModel(ctx, owner, a); now != before {
		begun.Remembered = now
	}
	return begun, nil
}

// Submitted is a run that was begun. Driven is nil if it waits for room, or an earlier call with the same key began it.
type Submitted struct {
	Run     string
	Session string
	Driven  *Run
}

// ErrKeyUsed says that a run was begun with the key of a request that asks for something else.
var ErrKeyUsed = errors.New("something else was begun with this key")

// Submit begins a run as Start does, but does not wait for room: without room here it only records the run, for any
// process that has room. If ctx is cancelled before the run is recorded, there is none; after that it continues. If a
// run was begun with the same key, Submit gives that run, or ErrKeyUsed if another request began it. If r allows calls
// of a run, assistant, session and words are that run's; journal.ErrConsumed if these calls are not open any more.
func (s *Service) Submit(ctx context.Context, owner journal.Owner, r Request) (Submitted, error) {
	if r.Allows != nil {
		if err := s.completeAllowance(ctx, owner, &r); err != nil {
			return Submitted{}, err
		}
	}
	if begun, err := s.findSubmitted(ctx, owner, r); !errors.Is(err, journal.ErrNotFound) {
		return begun, err
	}
	var k journal.Key
	var live *run.Live
	a, spec, err := s.startRetrying(ctx, owner, r, func(spec run.Spec) (err error) {
		k, live, err = s.config.Engine.Submit(ctx, spec)
		return err
	})
	// another submission may have been first
	if errors.Is(err, journal.ErrExists) || errors.Is(err, journal.ErrClaimed) || errors.Is(err, journal.ErrConsumed) {
		if begun, findErr := s.findSubmitted(ctx, owner, r); !errors.Is(findErr, journal.ErrNotFound) {
			return begun, findErr
		}
	}
	if err != nil {
		return Submitted{}, err
	}
	begun := Submitted{Run: k.Run, Session: spec.Session}
	if live != nil {
		begun.Driven = s.newRun(a, live, spec)
	}
	return begun, nil
}

// Within performs an effect of a run by another run with the given id, as run.Engine.Within does, and gives its result,
// whatever its status; with a *run.Suspended, the result so far. The run begins in the session of the request, or in a
// new one. It does not wait for a run that holds its claim.
func (s *Service) Within(ctx context.Context, owner journal.Owner, id string, r Request) (Result, error) {
	a, err := s.assistantNamed(r.Assistant)
	if err != nil {
		return Result{}, err
	}
	end, err := s.config.Engine.Within(ctx, journal.Key{Owner: owner, Run: id}, func(ctx context.Context) (run.Spec,
		error) {
		_, spec, err := s.makeSpec(ctx, owner, r, false)
		return spec, err
	})
	if _, isSuspended := errors.AsType[*run.Suspended](err); err != nil && !isSuspended {
		return Result{}, err
	}
	shown, readErr := readResult(a, id, end)
	return shown, cmp.Or(err, readErr)
}

// Withdraw asks a run that Within began to stop, since its effect is withdrawn; it does nothing if the run has ended.
func (s *Service) Withdraw(ctx context.Context, owner journal.Owner, id string) error {
	return s.config.Engine.Withdraw(ctx, journal.Key{Owner: owner, Run: id})
}

// findSubmitted gives the run that was begun with the key of a request; journal.ErrNotFound if there is none, and
// ErrKeyUsed if another request began it.
func (s *Service) findSubmitted(ctx context.Context, owner journal.Owner, r Request) (Submitted, error) {
	if r.Key == "" {
		return Submitted{}, journal.ErrNotFound
	}
	row, err := s.config.Store.Run(ctx, owner, run.IDOf("run", string(owner), r.Key))
	if err == nil {
		err = s.checkSameRequest(ctx, owner, row, r)
	}
	if c, ok := s.config.Store.(journal.Confirmer); err == nil && ok { // its beginning may have been unsure
		err = c.Confirm(ctx)
	}
	return Submitted{Run: row.ID, Session: row.Session}, err
}

// checkSameRequest is ErrKeyUsed if another request than r began a run.
func (s *Service) checkSameRequest(ctx context.Context, owner journal.Owner, row journal.Run, r Request) error {
	if row.Assistant != r.Assistant {
		return ErrKeyUsed
	}
	recs, err := s.config.Store.Records(ctx, owner, row.ID, 0)
	if err != nil {
		return err
	}
	start, err := run.StartOf(recs)
	if err == nil && start.Asked != "" && start.Asked != askedFor(r) { // earlier builds kept no digest
		err = ErrKeyUsed
	}
	return err
}

// askedFor is a digest of what a request with a key asks for. The key, which is kept nowhere, is in it: what of the
// words is redacted can't be guessed from it.
func askedFor(r Request) string {
	options, _ := r.Options.(assistant.GivenOptions)
	var given any
	_ = json.Unmarshal(options.JSON, &given) // what is no JSON is refused where it is decoded
	all := []any{r.Assistant, r.Session, r.Words, r.Replaces, r.Allows, given}
	if r.Follows != "" { // else it is the digest that earlier builds made
		all = append(all, r.Follows)
	}
	text, err := json.Marshal(all)
	if err != nil { // texts and JSON
		return ""
	}
	sum := hmac.New(sha256.New, []byte(r.Key))
	sum.Write(text)
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// makeSpec checks a request and makes the spec of its run, writing nothing. late: another run was waited for.
func (s *Service) makeSpec(
	ctx context.Context, owner journal.Owner, r Request, late bool,
) (*assistant.Assistant, run.Spec, error) {
	a, err := s.assistantNamed(r.Assistant)
	if err != nil {
		return nil, run.Spec{}, err
	}
	asked := ""
	if r.Key != "" {
		asked = askedFor(r)
	}
	if err = s.decodeOptions(ctx, a, &r); err != nil {
		return nil, run.Spec{}, asUsageError(err)
	}
	file, text, err := s.loadTree(a)
	if err != nil {
		return nil, run.Spec{}, err
	}
	if r.Replaces != "" || r.Follows != "" {
		if err := s.checkPlace(ctx, owner, a, &r); err != nil {
			return nil, run.Spec{}, err
		}
	}
	if r.Session != "" {
		session, err := s.config.Store.Session(ctx, owner, r.Session)
		if err == nil && session.Assistant != a.Name {
			err = &assistant.RequestError{Why: bt.Because("this session belongs to another assistant"),
				Hint: "ask that one, or begin a session",
				Err:  fmt.Errorf("session %s belongs to %s, not to %s", session.ID, session.Assistant, a.Name)}
		}
		if err != nil {
			return nil, run.Spec{}, asUsageError(err)
		}
	}
	r.Owner, r.Late, r.Remembered = owner, late, s.rememberedModel(ctx, owner, a)
	spec, err := a.Begin(ctx, r)
	if err != nil {
		return a, run.Spec{}, asUsageError(err)
	}
	spec.Owner, spec.Assistant, spec.TreeFile, spec.Tree = owner, a.Name, file, text
	spec.Replaces, spec.Follows = r.Replaces, r.Follows
	if r.Key != "" {
		spec.ID, spec.Asked = run.IDOf("run", string(owner), r.Key), asked
	}
	sessionID := spec.Session
	spec.Session = r.Session
	if r.Session == "" {
		err = s.assignSession(ctx, &spec, sessionID, r.Key)
	}
	return a, spec, err
}

// assignSession sets the session of a spec: the one that its assistant names (sessionID), or else a new one. A session
// that does not exist yet is created with the run.
func (s *Service) assignSession(ctx context.Context, spec *run.Spec, sessionID, key string) error {
	now := s.config.Now().UTC()
	switch {
	case sessionID != "":
		_, err := s.config.Store.Session(ctx, spec.Owner, sessionID)
		if spec.Session = sessionID; !errors.Is(err, journal.ErrNotFound) {
			return err
		}
	case key != "":
		spec.Session = run.IDOf("session", string(spec.Owner), key)
	default:
		spec.Session = run.NewID(now)
	}
	spec.NewSession = &journal.Session{ID: spec.Session, Owner: spec.Owner, Assistant: spec.Assistant,
		Title: journal.Clean(s.config.Redact(spec.Title)), Place: s.redactFolder(spec.Place), CreatedAt: now, UpdatedAt: now}
	return nil
}

// CheckTree says what is wrong with the tree of an assistant; nil if its runs can begin with it.
func (s *Service) CheckTree(name string) error {
	a, err := s.assistantNamed(name)
	if err != nil {
		return err
	}
	_, _, err = s.loadTree(a)
	return err
}

// loadTree gives the tree of an assistant; a UsageError if its runs can't begin with it.
func (s *Service) loadTree(a *assistant.Assistant) (file string, text []byte, err error) {
	if file, text, err = s.config.Tree(a.Tree); err == nil {
		err = s.config.Engine.CheckTree(a.Assistant, file, text)
	}
	return file, text, asUsageError(err)
}

// Resume resumes a run that nobody drives, and waits for room as Start does; journal.ErrLeased while it is driven,
// journal.ErrEnded if it has ended, run.ErrIncompatible if this build can't resume it.
func (s *Service) Resume(ctx context.Context, owner journal.Owner, id string, how ...run.ResumeOption) (*Run, error) {
	r, a, err := s.runAndAssistant(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	live, err := s.config.Engine.Resume(ctx, owner, id, how...)
	if err != nil {
		return nil, err
	}
	resumed := s.newRun(a, live, run.Spec{})
	resumed.Before = r.Records
	return resumed, nil
}

// Interrupted lists the running runs that nobody drives, also queued and suspended ones, but none set aside, the oldest
// first.
func (s *Service) Interrupted(ctx context.Context, owner journal.Owner) ([]journal.Run, error) {
	running, err := s.config.Store.Runs(ctx, owner, journal.Filter{Status: journal.Running, Limit: longestList})
	if err != nil {
		return nil, err
	}
	slices.Reverse(running)
	return slices.DeleteFunc(running, func(r journal.Run) bool { return r.SetAside() || s.config.Engine.Driven(r) }), nil
}

// Cancel asks a run to stop, whoever drives it; if nobody does, the run has ended when Cancel returns.
func (s *Service) Cancel(ctx context.Context, owner journal.Owner, id, reason string) error {
	return s.config.Engine.Cancel(ctx, owner, id, reason)
}

// Drain accepts no more runs, waits for the active ones until ctx is done, and leaves the rest to other processes.
func (s *Service) Drain(ctx context.Context) { s.config.Engine.Drain(ctx) }

// Words gives the vocabulary of an assistant's events.
func (s *Service) Words(name string) run.Vocabulary { return s.words[name] }
