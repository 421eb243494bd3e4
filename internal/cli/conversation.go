package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"sibyl/internal/app"
	conversation "sibyl/internal/cli/talk"
	"sibyl/internal/council"
	"sibyl/internal/council/persona"
	"sibyl/internal/inquiry"
	"sibyl/internal/journal"
	doc "sibyl/internal/media/document"
	"sibyl/internal/oracle"
	"sibyl/internal/schema"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/taskchat"
	"sibyl/internal/text"
)

// onTerminal reports whether a person can type, and see what is drawn.
func (c *command) onTerminal() bool { return c.InTTY && c.OutTTY && c.env("TERM") != "dumb" }

// opensConversation reports whether to converse if no words are given: on a terminal, without --json, --quiet, --trace.
func (c *command) opensConversation() bool {
	return c.onTerminal() && !c.asJSON && !c.quiet && !c.trace
}

// converseFrom holds a conversation with the Oracle in the session that the flags name, and prints how to continue it.
func (c *command) converseFrom(ctx context.Context, f askFlags) (err error) {
	ready := c.awaitConversation(ctx)
	defer ready()
	cfg, o, err := c.askSettings(f)
	if err != nil {
		return err
	}
	a, err := c.open(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	session, err := c.sessionToContinue(ctx, a, f, &o)
	if err != nil {
		return err
	}
	tasks, err := c.conversationOf(ctx, a, "")
	if err != nil {
		return err
	}
	session, err = c.holdConversation(ctx, a, ready, oracle.Name, o, f.sets,
		map[string]string{oracle.Name: session, taskchat.Name: tasks})
	if session != "" {
		fmt.Fprintf(c.Err, "· ‘sibyl ask -s %s’ continues this session\n", session)
	}
	return err
}

// holdConversation holds a conversation that begins with the assistant called to, and returns the id of the last
// session with that one. It continues the given sessions, by assistant; ready is of awaitConversation; o are the
// options of the Oracle, of which the command line sets some.
func (c *command) holdConversation(
	ctx context.Context, a *app.App, ready func(), to string, o oracle.Options, sets func(option string) bool,
	sessions map[string]string,
) (session string, err error) {
	if err := c.noteInterruptedRuns(ctx, a); err != nil {
		return "", err
	}
	folder, err := filepath.Abs(".")
	if err != nil {
		return "", withCode(ExitUsage, err)
	}
	c.converses = true
	t := &talker{c: c, a: a, asked: o, sets: sets}
	session, err = conversation.Hold(ctx, conversation.Config{Sibyl: t, Assistants: t.assistants(), To: to,
		Sessions: sessions,
		With:     conversation.With{Model: o.Model, Code: o.Code.Path, Vault: o.Vault.Path},
		History:  historyFile(a.Config.DataDir, c.owner(), folder),
		In:       c.In, Ready: ready, Out: c.terminal, Width: c.Width, Height: c.Height, Environ: c.environ,
		Reword: c.repeatFlags})
	switch {
	case err != nil && ctx.Err() != nil:
		return session, withCode(ExitStopped, err)
	case err != nil:
		return session, err
	}
	return session, c.retire(ctx, a)
}

// historyFile returns the path of the file with what an owner typed in a folder.
func historyFile(dataDir string, owner journal.Owner, folder string) string {
	sum := sha256.Sum256([]byte(string(owner) + "\x00" + folder))
	return filepath.Join(dataDir, "typed", hex.EncodeToString(sum[:10])+".jsonl")
}

// talker implements conversation.Sibyl.
type talker struct {
	c     *command
	a     *app.App
	asked oracle.Options // options of the Oracle
	sat   []string       // the oracles asked last
	// whether the command line sets an option of the Oracle; nil: it sets none
	sets func(option string) bool

	mu      sync.Mutex
	changed map[string]bool // options of the Oracle that were changed in this conversation
}

// assistants returns the assistants of the conversation: the usual four, and those that this build adds.
func (t *talker) assistants() []conversation.Assistant {
	all := []conversation.Assistant{
		{Name: oracle.Name, Title: "Oracle", Command: "/ask", Folders: true},
		{Name: taskchat.Name, Title: "Tasks", Command: "/task", Bare: "show my tasks"},
		{Name: council.Name, Title: "Council", Command: "/council"},
		{Name: inquiry.Name, Title: "Inquiry", Command: "/investigate"},
	}
	for _, a := range t.c.extraAssistants() {
		all = append(all, conversation.Assistant{Name: a.Name, Title: text.Capitalize(a.Name),
			Command: "/" + a.Name})
	}
	for i := range all {
		a := t.assistant(all[i].Name)
		all[i].About = a.About
		for _, f := range a.Options.Fields {
			if name, _ := f.Flag(); name != "" {
				all[i].Flags = append(all[i].Flags, flagOf(f))
			}
		}
	}
	return all
}

// flagOf describes a field of options as a flag of the conversation.
func flagOf(f *schema.Field) conversation.Flag {
	name, _ := f.Flag()
	return conversation.Flag{Name: name, About: f.Doc, Kind: (&optionFlag{field: f}).kind()}
}

func (t *talker) assistant(name string) *assistant.Assistant {
	all := t.a.Service.Assistants()
	return all[slices.IndexFunc(all, func(a *assistant.Assistant) bool { return a.Name == name })]
}

func (t *talker) Offer(words, instead string) (name, question string) {
	for _, a := range t.a.Service.Assistants() {
		if a.Offers == nil || a.Name == instead {
			continue
		}
		if question := a.Offers(words); question != "" {
			return a.Name, question
		}
	}
	return "", ""
}

// Start begins a run. Flags before and after the words override the conversation's model and folders, and these the
// settings.
func (t *talker) Start(ctx context.Context, asked conversation.Asked) (conversation.Run, error) {
	if err := checkTyped(asked.Words); err != nil {
		return conversation.Run{}, err
	}
	o := t.assistant(asked.Of).Options
	var base any
	if asked.Of == oracle.Name {
		base = t.asked
	}
	into, given := o.New(base), map[*schema.Field]bool{}
	words := asked.Words
	if asked.Flagged {
		var err error
		if words, err = flagsBefore(o, into, given, words); err != nil {
			return conversation.Run{}, err
		}
		if !areWordsAlone(asked.Words, words) {
			words, err = flagsBehind(o, into, given, words)
		}
		if err != nil {
			return conversation.Run{}, err
		}
		if err := applyPreset(o, into, given, t.a.Config); err != nil { // before what the conversation is set to
			return conversation.Run{}, err
		}
	}
	flagged := maps.Clone(given)
	for _, f := range o.Fields {
		if f.Tag.Get("names") == "model" && asked.Model != "" && !given[f] {
			if err := f.SetText(into, asked.Model); err != nil {
				return conversation.Run{}, fmt.Errorf("the model %w", err)
			}
		}
		given[f] = given[f] || f.IsSet(into) || base != nil
	}
	if err := applySettings(o, into, given, t.a.Config); err != nil {
		return conversation.Run{}, err
	}
	changed := t.changedOptions(asked)
	return t.startRequest(ctx, asked, words, into, func(option string) bool {
		ofConversation := option // as the Oracle calls it
		if at := fieldNamed(o, option); at != nil && at.Tag.Get("names") == "model" {
			ofConversation = "model"
		}
		return isGiven(o, flagged, option) || changed[ofConversation] || t.sets != nil && t.sets(ofConversation)
	})
}

// changedOptions are the options of the Oracle that were changed in this conversation.
func (t *talker) changedOptions(asked conversation.Asked) map[string]bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.changed == nil {
		t.changed = map[string]bool{}
	}
	for option, isChanged := range map[string]bool{"model": asked.Model != t.asked.Model,
		"code": asked.Code != t.asked.Code.Path, "vault": asked.Vault != t.asked.Vault.Path} {
		t.changed[option] = t.changed[option] || isChanged
	}
	return maps.Clone(t.changed)
}

// startRequest begins a run with words and options. For the Council, it first stores the words in a session; an inquiry
// without a witness is a *conversation.MissingError.
func (t *talker) startRequest(
	ctx context.Context, asked conversation.Asked, words string, into any, sets func(option string) bool,
) (conversation.Run, error) {
	r := service.Request{Assistant: asked.Of, Session: asked.Session, Replaces: asked.Replaces,
		OverLimit: asked.OverLimit, Sets: sets}
	var err error
	switch o := into.(type) {
	case *oracle.Options:
		err = t.addMaterial(ctx, words, asked, o)
	case *council.Options:
		r.Session, err = "", t.prepareCouncil(ctx, strings.TrimSpace(words+"\n"+asked.Material), asked.Session, o)
	case *inquiry.Options:
		r.Session = ""
		if o.Witness == (schema.Folder{}) {
			err = missingWitness()
		}
		words = strings.TrimSpace(words + "\n" + asked.Material)
	default: // others take instructions, and material isn't one
		if asked.Material != "" {
			err = errors.New("no pasted text is taken here: type what is to be done")
		}
	}
	if err != nil {
		return conversation.Run{}, err
	}
	r.Words, r.Options = words, reflect.ValueOf(into).Elem().Interface()
	begun, told, err := t.c.startRun(ctx, t.a, r)
	if o, sat := into.(*council.Options); sat {
		asked.Session = o.Session
		if t.sat = o.Oracles; err != nil {
			err = &conversation.KeptError{Session: o.Session,
				Err: fmt.Errorf("kept in session %s, but not answered: %w", o.Session, err)}
		}
	}
	if err != nil {
		return conversation.Run{}, t.c.asChoice(err)
	}
	if begun.Remembered != "" {
		told = append(told, rememberedLine(begun, t.c.spoken(words)))
	}
	live := conversation.Run{ID: begun.ID, Language: t.c.spoken(words), Session: cmp.Or(asked.Session, begun.Session),
		Watch: func(ctx context.Context) iter.Seq[service.Update] { return begun.Watch(ctx, 0) },
		Wait:  func(ctx context.Context) (service.Result, error) { return t.waitForResult(ctx, begun, told) }}
	if env, ok := begun.Spec.Env.(oracle.Env); ok {
		live.Model = env.Model
	}
	return live, nil
}

// missingWitness returns the error that asks for the witness of an inquiry.
func missingWitness() *conversation.MissingError {
	fields := schema.Of[inquiry.Options]().Fields
	at := slices.IndexFunc(fields, isWitness)
	return &conversation.MissingError{Flag: flagOf(fields[at]),
		Title: "Where are the documents? Type a file, a folder, or a model such as ollama:llama3.1:8b."}
}

func isWitness(f *schema.Field) bool { return f.Tag.Get("names") == "witness" }

// waitForResult waits for the result of a run and saves its notices. It adds told to the warnings and the costs to the
// last note. For an inquiry, it writes the file and shortens the answer to fit the terminal.
func (t *talker) waitForResult(ctx context.Context, r *service.Run, told []string) (service.Result, error) {
	res, err := r.Wait(ctx)
	if err != nil {
		return res, err
	}
	language := t.c.spoken(r.Spec.Title)
	res.Warnings = append(slices.Clone(told), conversation.Warnings(res, language)...)
	res.Notes = conversation.Notes(res, language)
	res.WarningCodes, res.Noted = nil, nil // they are worded
	if r.Assistant() == inquiry.Name {
		lines, err := t.c.writeEndedInquiry(ctx, t.a, r.ID)
		if err != nil {
			lines = append(lines, err.Error())
		}
		res.Answer, res.Warnings = t.c.beginningOf(res.Answer, lines), append(res.Warnings, lines...)
	}
	if costs := costsOf(t.c.prices, t.c.withUsage(ctx, r, res).Usage, language); costs != "" {
		notes := slices.Clone(res.Notes)
		if n := len(notes); n > 0 {
			costs = notes[n-1] + "; " + costs
			notes = notes[:n-1]
		}
		res.Notes = append(notes, costs)
	}
	if err := appendNotices(t.c.notices, r, res, time.Now()); err != nil {
		res.Warnings = append(res.Warnings, fmt.Sprintf("the notices could not be saved: %v", err))
	}
	return res, nil
}

// addMaterial sets a question's folders to those of the conversation, and its material to pasted text and files named
// as @path. A question that replaces another reuses that one's material.
func (t *talker) addMaterial(ctx context.Context, words string, asked conversation.Asked, o *oracle.Options) error {
	if asked.Code != t.asked.Code.Path && o.Code == t.asked.Code {
		o.Code = schema.Folder{Path: asked.Code}
	}
	if asked.Vault != t.asked.Vault.Path && o.Vault == t.asked.Vault {
		o.Vault = schema.Folder{Path: asked.Vault}
	}
	if o.SameMaterial = asked.Replaces != ""; o.SameMaterial {
		return nil
	}
	parts, err := t.c.readMentions(ctx, words)
	if err != nil {
		return err
	}
	if asked.Material != "" { // cited as “pasted”, whatever the text claims
		parts = append([]doc.Part{{Name: "pasted", Text: asked.Material}}, parts...)
	}
	if len(parts) == 0 {
		return nil
	}
	if err := checkMaterialSize(parts); err != nil {
		return err
	}
	o.Material = doc.JoinParts(parts)
	return nil
}

// prepareCouncil stores words in a session of the Council, new if none is named, and sets o.Session. If o names no
// oracles, it chooses those asked last, or else a few who speak the language.
func (t *talker) prepareCouncil(ctx context.Context, words, session string, o *council.Options) (err error) {
	if len(o.Oracles) == 0 {
		o.Oracles = t.sat
	}
	if len(o.Oracles) == 0 {
		if o.Oracles, err = t.a.Council.Few(ctx, words); err != nil {
			return err
		}
	}
	for _, name := range o.Oracles { // check them before storing the words
		if _, err := t.a.Council.Oracles.Find(ctx, name); errors.Is(err, persona.ErrNotFound) {
			return err
		}
	}
	desk, err := t.a.Council.Desk(t.c.owner())
	if err != nil {
		return err
	}
	s := councilSession{command: t.c, a: t.a, desk: desk}
	if s.ID = session; session == "" {
		if err := s.openOrCreate(ctx, "", true); err != nil {
			return err
		}
	}
	_, err = desk.AddText(ctx, s.ID, words)
	o.Session = s.ID
	return s.deleteIfUnused(ctx, err)
}

func (t *talker) Oracles(ctx context.Context) (names []string, err error) {
	list, err := t.a.Council.Oracles.List(ctx)
	for _, p := range list.Oracles {
		names = append(names, p.Slug)
	}
	return names, err
}

func (t *talker) Sessions(ctx context.Context, name string) ([]journal.Session, error) {
	return t.a.Service.Sessions(ctx, t.c.owner(), journal.SessionFilter{Assistant: name, Limit: mostSessions})
}

// mostSessions is the most sessions that a conversation offers.
const mostSessions = 200

func (t *talker) Last(ctx context.Context, session string) (conversation.Exchange, error) {
	runs, err := t.a.Service.Branch(ctx, t.c.owner(), session, "", 10, journal.Cursor{})
	if err != nil {
		return conversation.Exchange{}, err
	}
	for _, r := range runs {
		if r.Status == journal.Running || r.Companion {
			continue
		}
		res, err := t.a.Service.Result(ctx, t.c.owner(), r.ID)
		if err != nil {
			return conversation.Exchange{}, err
		}
		return conversation.Exchange{Of: r.Assistant, Run: r.ID, Question: res.Question, Answer: res.Answer,
			Sources: res.Sources}, nil
	}
	return conversation.Exchange{}, journal.ErrNotFound
}

func (t *talker) Models(ctx context.Context) (all []string, err error) {
	for _, p := range t.a.Service.Models(ctx).Providers {
		for _, m := range p.Models {
			all = append(all, m.ID)
		}
	}
	return all, nil
}

// Why returns the lines that ‘sibyl explain’ prints about a run.
func (t *talker) Why(ctx context.Context, run string) (lines []string, err error) {
	x, costs, err := t.c.explanation(ctx, t.a, run)
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSpace(t.c.shortExplanation(x, costs)), "\n"), nil
}

func (t *talker) Passage(ctx context.Context, run, cite string) (string, error) {
	cited, _, err := t.c.citedSources(ctx, t.a, run)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, s := range cited {
		if s.of.Cite == cite && s.isPart() {
			parts = append(parts, s.String())
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, "\n\n"), nil
	}
	heard, err := t.a.Service.Passages(ctx, t.c.owner(), run)
	at := slices.IndexFunc(heard, func(p assistant.Passage) bool { return p.Cite == cite })
	if at < 0 {
		return cite, err // an address: the terminal can open it
	}
	return heard[at].Fenced(), err
}

func (t *talker) Decline(ctx context.Context, run string) error {
	return t.a.Service.Decline(ctx, t.c.owner(), run)
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
	return undoneText(w, done), nil
}

func (t *talker) Redact(text string) string { return t.a.Redact(text) }
