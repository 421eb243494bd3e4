package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sibyl/internal/app"
	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	"sibyl/internal/service"
)

// onTerminal says that a person can type and see what is drawn.
func (c *command) onTerminal() bool { return c.InTTY && c.OutTTY && c.env("TERM") != "dumb" }

// opensConversation says whether ‘ask’ without a question does: no flag may speak of a single answer.
func (c *command) opensConversation(f askFlags) bool {
	return c.onTerminal() && !c.asJSON && !c.quiet && !c.trace && !f.shadow && len(f.attach) == 0
}

// converseFrom holds a conversation.
func (c *command) converseFrom(ctx context.Context, f askFlags) (err error) {
	cfg, err := c.settings()
	if err != nil {
		return err
	}
	if err := c.settleNotices(f, cfg); err != nil {
		return err
	}
	o, err := questionOptions(f.said, cfg)
	if err != nil {
		return err
	}
	a, err := c.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	session, err := c.continued(ctx, a, f, &o)
	if err != nil {
		return err
	}
	if err := c.mentionInterrupted(ctx, a); err != nil {
		return err
	}
	folder, err := filepath.Abs(".")
	if err != nil {
		return withCode(ExitUsage, err)
	}
	session, err = conversation.Hold(ctx, conversation.Config{Sibyl: &talker{c: c, a: a}, Options: o, Session: session, History: historyFile(cfg.DataDir, c.owner(), folder),
		In: c.In, Out: c.terminal, Width: c.Width, Height: c.Height, Environ: c.environ})
	if session != "" {
		fmt.Fprintf(c.Err, "· ‘sibyl ask -s %s’ continues this session\n", session)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return withCode(ExitStopped, err)
	case err != nil:
		return err
	}
	return c.retire(ctx, a, c.owner())
}

// historyFile keeps what an owner typed in a folder.
func historyFile(dataDir string, owner journal.Owner, folder string) string {
	sum := sha256.Sum256([]byte(string(owner) + "\x00" + folder))
	return filepath.Join(dataDir, "typed", hex.EncodeToString(sum[:10])+".jsonl")
}

// talker is this program as a conversation needs it.
type talker struct {
	c *command
	a *app.App
}

func (t *talker) Start(ctx context.Context, session, words string, o oracle.Options) (conversation.Run, error) {
	if err := errors.Join(checkTyped(words), t.handOver(ctx, words, &o)); err != nil {
		return conversation.Run{}, err
	}
	r, err := t.a.Service.Start(ctx, t.c.owner(), service.Request{Assistant: oracle.Name, Session: session, Words: words, Options: o})
	if err != nil {
		return conversation.Run{}, t.c.choosable(err)
	}
	begun := conversation.Run{ID: r.ID, Session: r.Session, Of: r, Wait: func(ctx context.Context) (service.Result, error) { return t.wait(ctx, r) },
		Watch: func(ctx context.Context) iter.Seq[service.Update] { return r.Watch(ctx, 0) }}
	if env, ok := r.Spec.Env.(oracle.Env); ok {
		begun.Model = env.Model
	}
	return begun, nil
}

// wait waits for what comes of a run. Its last note tells what it cost.
func (t *talker) wait(ctx context.Context, r *service.Run) (service.Result, error) {
	res, err := r.Wait(ctx)
	if err != nil {
		return res, err
	}
	if costs := costsOf(t.c.prices, t.c.withUsage(ctx, r, res).Usage); costs != "" {
		notes := slices.Clone(res.Notes)
		if n := len(notes); n > 0 {
			costs = notes[n-1] + "; " + costs
			notes = notes[:n-1]
		}
		res.Notes = append(notes, costs)
	}
	return res, nil
}

func (t *talker) Ended(r conversation.Run, res service.Result) error {
	if err := appendNotices(t.c.notices, r.Of, res, time.Now()); err != nil {
		return fmt.Errorf("the notices could not be saved: %w", err)
	}
	return nil
}

// handOver adds the files that words name as @path to what was pasted.
func (t *talker) handOver(ctx context.Context, words string, o *oracle.Options) error {
	parts, err := t.c.mentioned(ctx, words)
	if err != nil || len(parts) == 0 {
		return err
	}
	if o.Material != "" {
		parts = append([]oracle.Part{{Name: "pasted", Text: o.Material}}, parts...)
	}
	if err := tooMuch(parts); err != nil {
		return err
	}
	o.Material = oracle.JoinParts(parts)
	return nil
}

func (t *talker) Sessions(ctx context.Context) ([]journal.Session, error) {
	return t.a.Service.Sessions(ctx, t.c.owner(), journal.SessionFilter{Assistant: oracle.Name, Limit: mostSessions})
}

// mostSessions bounds the sessions that a conversation offers.
const mostSessions = 200

func (t *talker) Last(ctx context.Context, session string) (conversation.Exchange, error) {
	runs, err := t.a.Service.Runs(ctx, t.c.owner(), journal.Filter{Session: session, Assistant: oracle.Name, Limit: 10})
	if err != nil {
		return conversation.Exchange{}, err
	}
	for _, r := range runs {
		if r.Status == journal.Running {
			continue
		}
		res, err := t.a.Service.Result(ctx, t.c.owner(), r.ID)
		if err != nil {
			return conversation.Exchange{}, err
		}
		return conversation.Exchange{Run: r.ID, Question: res.Question, Answer: res.Answer, Sources: res.Sources}, nil
	}
	return conversation.Exchange{}, journal.ErrNotFound
}

func (t *talker) Models(ctx context.Context) (all []string, err error) {
	for _, l := range listAll(ctx, t.a) {
		for _, name := range l.Models {
			all = append(all, l.Provider+":"+name)
		}
	}
	return all, nil
}

// Why explains a run as ‘sibyl explain’ does.
func (t *talker) Why(ctx context.Context, run string) (lines []string, err error) {
	x, err := t.a.Service.Explain(ctx, t.c.owner(), run)
	if err != nil {
		return nil, err
	}
	used, err := t.a.Service.Used(ctx, t.c.owner(), run)
	return strings.Split(strings.TrimSpace(t.c.shortExplanation(x, costsOf(t.c.prices, used))), "\n"), err
}

func (t *talker) Passage(ctx context.Context, run, cite string) (string, error) {
	all, err := t.a.Service.Passages(ctx, t.c.owner(), run)
	if err != nil {
		return "", err
	}
	for _, p := range citedOf(all, []string{cite}) {
		return p.Text, nil
	}
	return cite, nil // an address, which the terminal opens
}

func (t *talker) LastWrite(ctx context.Context) (id, words string, err error) {
	w, err := t.a.LastWrite(ctx, t.c.owner())
	if errors.Is(err, app.ErrNoWrite) {
		return "", "", nil
	}
	return w.ID, writeLine(w), err
}

func (t *talker) Undo(ctx context.Context, id string) (string, error) {
	w, done, err := t.a.Undo(ctx, t.c.owner(), id)
	if err != nil {
		return "", err
	}
	return undone(w, done), nil
}

func (t *talker) Redact(text string) string { return t.a.Redact(text) }
