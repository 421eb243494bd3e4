// Package service is the use cases of the assistants, by owner: start, continue, resume, cancel, watch, explain, list,
// show, export, rename, delete, audit, replay and drain. The ways in (the command line, an API, MCP) only parse and
// render.
//
// Guarantees:
package service

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
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
	Redact     func(text string) string // of titles
	Setting    func(path string) string // what the settings say, "" for nothing; nil: nothing
	Prices     *Prices                  // nil: nobody has said what models cost
	Apart      []Finder                 // what is found beside sessions and runs
	Models     *ModelSource             // nil: there are none to choose from
	Now        func() time.Time         // nil: the time of day
}

// Service is the use cases. It is safe for concurrent use.
type Service struct {
	config Config
	byName map[string]*assistant.Assistant
	words  map[string]run.Vocabulary
	usage  usageCache
}

// New checks the configuration.
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

// What is wrong with a request to any assistant.
const (
	noTitle       bt.Reason = "request.title: the title is empty"
	nothingToFind bt.Reason = "request.find: there is nothing to look for"
	wrongOptions  bt.Reason = "request.options: {what}"
)

// UsageError is a call that can't be carried out as it is: its words, options, or what it names are wrong.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong.
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

// Assistants are those of this program.
func (s *Service) Assistants() []*assistant.Assistant { return slices.Clone(s.config.Assistants) }

// decodeOptions are those of a request, in the type that its assistant declares.
func (s *Service) decodeOptions(a *assistant.Assistant, given any) (any, error) {
	remote, ok := given.(assistant.GivenOptions)
	switch {
	case !ok:
		return given, nil
	case a.Options == nil:
		return nil, &assistant.RequestError{
			Why:  bt.Because("runs of this assistant are started by another assistant, not by a request"),
			Hint: "ask another assistant"}
	}
	into := a.Options.New(remote.Base)
	if s.config.Setting != nil {
		// folders are of whoever set them
		isSaid := func(f *schema.Field) bool { return f.IsSet(into) || f.Tag.Get("names") == "folder" }
		if err := a.Options.FillFromSettings(into, s.config.Setting, isSaid); err != nil {
			return nil, err
		}
	}
	if err := a.Options.Decode(remote.JSON, into); err != nil {
		return nil, &assistant.RequestError{
			Why:  wrongOptions.With(strings.Replace(err.Error(), "arguments ", "the options ", 1)),
			Hint: "the options are: " + strings.Join(a.Options.Names(), ", "), Err: err}
	}
	if err := a.Options.FindFolders(into, remote.Folder); err != nil {
		return nil, err
	}
	return reflect.ValueOf(into).Elem().Interface(), nil
}

// runAndAssistant gives the row of a run and its assistant.
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

// Request is what a person asks of an assistant.
type Request = assistant.Request

// Start begins a run, and waits for room where as many are driven as may be, and for a run that holds what it claims.
// Cancelling ctx is a request to stop it: a server gives a context that outlives the request.
func (s *Service) Start(ctx context.Context, owner journal.Owner, r Request) (*Run, error) {
	var live *run.Live
	a, spec, err := s.startRetrying(ctx, owner, r, func(spec run.Spec) (err error) {
		live, err = s.config.Engine.Start(ctx, spec)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.newRun(a, live, spec), nil
}

// Submitted is a run that was begun. Driven is nil while it waits for a process that has room.
type Submitted struct {
	Run     string
	Session string
	Driven  *Run
}

// Submit begins a run as Start does, and waits for nothing: without room here the run is recorded, for any process that
// has room. If ctx is cancelled before the run is recorded, there is none; after that it continues. A run that was
// begun under the same key before is what it gives, whatever else is asked for, and whoever drives it.
func (s *Service) Submit(ctx context.Context, owner journal.Owner, r Request) (Submitted, error) {
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
	if errors.Is(err, journal.ErrExists) || errors.Is(err, journal.ErrClaimed) {
		if begun, findErr := s.findSubmitted(ctx, owner, r); findErr == nil {
			return begun, nil
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

// Within performs an effect of a run by another one, of that id, as run.Engine.Within does, and gives what came of it:
// its end, whatever its status, or, beside a *run.Suspended, what there is to show of it. The run is begun in the
// session of the request, or in one of its own; it waits for no run that holds what it claims.
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

// Withdraw asks the run of an effect to stop that was performed Within it and is wanted no longer, as
// run.Performer.Withdraw is to do.
func (s *Service) Withdraw(ctx context.Context, owner journal.Owner, id string) error {
	return s.config.Engine.Withdraw(ctx, journal.Key{Owner: owner, Run: id})
}

// findSubmitted gives the run that was begun under the key of a request; journal.ErrNotFound without one.
func (s *Service) findSubmitted(ctx context.Context, owner journal.Owner, r Request) (Submitted, error) {
	if r.Key == "" {
		return Submitted{}, journal.ErrNotFound
	}
	row, err := s.config.Store.Run(ctx, owner, idFromKey("run", owner, r.Key))
	return Submitted{Run: row.ID, Session: row.Session}, err
}

// idFromKey is the id that a key stands for.
func idFromKey(what string, owner journal.Owner, key string) string {
	sum := sha256.Sum256([]byte(what + "\x00" + string(owner) + "\x00" + key))
	return strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10]))
}

// makeSpec makes the spec of a run that a person asks for. late: another run was waited for.
func (s *Service) makeSpec(
	ctx context.Context, owner journal.Owner, r Request, late bool,
) (*assistant.Assistant, run.Spec, error) {
	a, err := s.assistantNamed(r.Assistant)
	if err != nil {
		return nil, run.Spec{}, err
	}
	if r.Options, err = s.decodeOptions(a, r.Options); err != nil {
		return nil, run.Spec{}, asUsageError(err)
	}
	file, text, err := s.loadTree(a)
	if err != nil {
		return nil, run.Spec{}, err
	}
	if r.Replaces != "" {
		if err := s.checkReplace(ctx, owner, a, &r); err != nil {
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
	r.Owner, r.Late = owner, late
	spec, err := a.Begin(ctx, r)
	if err != nil {
		return a, run.Spec{}, asUsageError(err)
	}
	spec.Owner, spec.Assistant, spec.TreeFile, spec.Tree, spec.Replaces = owner, a.Name, file, text, r.Replaces
	if r.Key != "" {
		spec.ID = idFromKey("run", owner, r.Key)
	}
	sessionID := spec.Session
	spec.Session = r.Session
	if r.Session == "" {
		err = s.assignSession(ctx, &spec, sessionID, r.Key)
	}
	return a, spec, err
}

// assignSession gives a run its session: the one that its assistant names, which may be there already, or one that
// begins with it.
func (s *Service) assignSession(ctx context.Context, spec *run.Spec, sessionID, key string) error {
	now := s.config.Now().UTC()
	switch {
	case sessionID != "":
		_, err := s.config.Store.Session(ctx, spec.Owner, sessionID)
		if spec.Session = sessionID; !errors.Is(err, journal.ErrNotFound) {
			return err
		}
	case key != "":
		spec.Session = idFromKey("session", spec.Owner, key)
	default:
		spec.Session = run.NewID(now)
	}
	spec.NewSession = &journal.Session{ID: spec.Session, Owner: spec.Owner, Assistant: spec.Assistant,
		Title: journal.Clean(s.config.Redact(spec.Title)), Place: s.redactFolder(spec.Place), CreatedAt: now, UpdatedAt: now}
	return nil
}

// CheckTree says what is wrong with the tree of an assistant.
func (s *Service) CheckTree(name string) error {
	a, err := s.assistantNamed(name)
	if err != nil {
		return err
	}
	_, _, err = s.loadTree(a)
	return err
}

// loadTree gives the tree of an assistant, if its runs can begin with it.
func (s *Service) loadTree(a *assistant.Assistant) (file string, text []byte, err error) {
	if file, text, err = s.config.Tree(a.Tree); err == nil {
		err = s.config.Engine.CheckTree(a.Assistant, file, text)
	}
	return file, text, asUsageError(err)
}

// Resume continues a run that was interrupted, and waits for room as Start does. journal.ErrLeased while somebody
// drives it, journal.ErrEnded if it has ended.
func (s *Service) Resume(ctx context.Context, owner journal.Owner, id string, how ...run.ResumeOption) (*Run, error) {
	_, a, err := s.runAndAssistant(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	live, err := s.config.Engine.Resume(ctx, owner, id, how...)
	if err != nil {
		return nil, err
	}
	return s.newRun(a, live, run.Spec{}), nil
}

// Interrupted lists the runs that nobody drives, that have not ended and are not set aside, the oldest first.
func (s *Service) Interrupted(ctx context.Context, owner journal.Owner) ([]journal.Run, error) {
	running, err := s.config.Store.Runs(ctx, owner, journal.Filter{Status: journal.Running, Limit: longestList})
	if err != nil {
		return nil, err
	}
	slices.Reverse(running)
	return slices.DeleteFunc(running, func(r journal.Run) bool { return r.SetAside() || s.config.Engine.Driven(r) }), nil
}

// Cancel asks a run to stop, whoever drives it; one that nobody drives ends at once.
func (s *Service) Cancel(ctx context.Context, owner journal.Owner, id, reason string) error {
	return s.config.Engine.Cancel(ctx, owner, id, reason)
}

// Drain accepts no more runs and leaves those still running when ctx is done to other processes, as run.Engine.Drain.
func (s *Service) Drain(ctx context.Context) { s.config.Engine.Drain(ctx) }

// Words is the vocabulary of an assistant's events.
func (s *Service) Words(name string) run.Vocabulary { return s.words[name] }
