package talk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/service"
)

// Assistant is an assistant that the user can ask.
type Assistant struct {
	Name    string // its name in the program
	Title   string // its name for users, such as Tasks
	Command string // the command that asks it, such as /task
	About   string // what it does, behind “which”
	Bare    string // what the command asks without words; "": it needs words
	Flags   []Flag // allowed between the command and the words
	Folders bool   // it uses the folders of code and notes
}

// Flag is an option of an assistant. Kind is what its value is: model, folder, witness (a file), oracle, or one of the
// words behind a “=”; "": any text.
type Flag struct{ Name, About, Kind string }

// With holds settings for questions; an assistant uses those that apply to it.
type With struct {
	Model       string // provider:model; "" for that of the settings
	Code, Vault string // folders; "" for none
}

// Asked is a question of the user to an assistant.
type Asked struct {
	Of       string // the name of the assistant
	Session  string // from the last Run of the assistant; "": begin a new one
	Words    string
	Flagged  bool   // flags may precede the words
	Material string // pasted text
	// the last run of the session, which this one replaces, with the same material; "": none
	Replaces string
	With
	OverLimit bool // start even if the day's limit of costs is reached
}

// Sibyl is what a conversation needs from the program.
type Sibyl interface {
	// Start starts the run of a question, whose words may name files as @path. Cancelling ctx stops it, even later on.
	// Errors include *ChoiceError, *MissingError, *KeptError and, if the day's limit of costs is reached and OverLimit
	// is false, *service.LimitError.
	Start(ctx context.Context, a Asked) (Run, error)
	// Offer returns the assistant, other than the one named instead, that words are plainly meant for, and the question
	// whether to send them there; "": none.
	Offer(words, instead string) (assistant, question string)
	// Sessions lists the user's sessions with an assistant, the last used first.
	Sessions(ctx context.Context, assistant string) ([]journal.Session, error)
	// Last returns the last exchange of a session; journal.ErrNotFound if there is none.
	Last(ctx context.Context, session string) (Exchange, error)
	// Models lists the available models, as provider:model.
	Models(ctx context.Context) ([]string, error)
	// Oracles lists the names of the oracles of the Council.
	Oracles(ctx context.Context) ([]string, error)
	// Why explains in a few lines what a run did.
	Why(ctx context.Context, run string) ([]string, error)
	// Passage returns as Markdown what a run read of a source that its answer cites.
	Passage(ctx context.Context, run, source string) (string, error)
	// Decline answers no to the calls of a run that wait for a yes.
	Decline(ctx context.Context, run string) error
	// LastWrite returns the last write to a note that can be undone: its id and a description; id "": none.
	LastWrite(ctx context.Context) (id, words string, err error)
	// Undo restores what a write replaced, and returns a line about the result.
	Undo(ctx context.Context, id string) (string, error)
	// Redact removes the secrets from a text.
	Redact(text string) string
}

// Run is a run that Start started.
type Run struct {
	ID, Session, Model string
	Language           string // of what is told while it runs

	Watch func(ctx context.Context) iter.Seq[service.Update]
	Wait  func(ctx context.Context) (service.Result, error)
}

// MissingError reports that no run was started because the value of a flag is missing.
type MissingError struct {
	Flag  Flag
	Title string // asks the user for the value
}

func (e *MissingError) Error() string { return e.Title }

// KeptError reports that no run was started, but that the session has kept the question.
type KeptError struct {
	Session string
	Err     error
}

func (e *KeptError) Error() string { return e.Err.Error() }

// Unwrap returns why no run was started.
func (e *KeptError) Unwrap() error { return e.Err }

// ChoiceError reports that no run was started because several models can be meant and none is chosen.
type ChoiceError struct {
	Err    error
	Title  string   // asks the user for one of the models
	Models []string // at least two
	// Chosen tries to save the choice, if it is worth that. It returns the value for With.Model, and a line about the
	// result; "": none.
	Chosen func(id string) (model, told string)
}

func (e *ChoiceError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ChoiceError) Unwrap() error { return e.Err }

// Exchange is a question and its answer.
type Exchange struct {
	Of                    string // the assistant
	Run, Question, Answer string
	Flagged               bool // flags may precede the question
	Sources               []string
}

// Config describes a conversation.
type Config struct {
	Sibyl Sibyl
	// Assistants lists all assistants. The prompt names no assistant while input goes to the first.
	Assistants []Assistant
	To         string            // the name of the assistant that gets the input
	Sessions   map[string]string // the sessions to continue, by assistant
	With       With
	History    string // the file that keeps what was typed; "": none
	In         io.Reader
	Ready      func()    // called before the terminal In is put into raw mode; nil: nothing is to be done then
	Out        io.Writer // a terminal
	Width      int       // of the terminal, in columns; 0: 80
	Height     int       // in rows; 0: 24
	Environ    []string
	Reword     func(note string) string // makes the commands in a note work as they are printed; nil: they do
	Now        func() time.Time         // nil: the time of day

	options []tea.ProgramOption // for tests
	began   func(*tea.Program)  // for tests: called before the program runs
}

// Variable returns the last value of a variable in an environment; "" if it isn't set.
func Variable(environ []string, name string) (value string) {
	for _, entry := range environ {
		if text, ok := strings.CutPrefix(entry, name+"="); ok {
			value = text
		}
	}
	return value
}

// stopTime limits the wait for an active run to stop when the conversation ends.
const stopTime = 5 * time.Second

// Hold holds a conversation until the user leaves it or ctx is done, which is an error, and stops an active run. It
// returns the last session with the assistant c.To.
func Hold(ctx context.Context, c Config) (session string, err error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	m := newModel(ctx, c)
	if err := m.greet(ctx, c.Out); err != nil {
		return m.Sessions[m.To], err
	}
	out := newTerminal(c.Out)
	m.shown = out.shown
	var in io.Reader
	in, m.typed = newTyped(c.In)
	options := append([]tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out.writer()),
		tea.WithEnvironment(c.Environ), tea.WithoutSignalHandler(),
		tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
			if size, ok := msg.(tea.WindowSizeMsg); ok && rewraps(m.env) {
				out.resized(m.frame, size.Width)
			}
			return msg
		})}, c.options...)
	p := tea.NewProgram(m, options...)
	if c.began != nil {
		c.began(p)
	}
	if c.Ready != nil {
		c.Ready()
	}
	_, err = p.Run()
	m.stopRun()
	switch {
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
		err = fmt.Errorf("the conversation ended: %w", err)
	}
	return m.Sessions[m.To], errors.Join(err, m.leftBehind)
}

// greet prints a greeting and, if a session is continued, its last exchange.
func (m *model) greet(ctx context.Context, to io.Writer) error {
	var lines []string
	how := "Ask a question."
	if to := m.assistant(m.To); to.Name != m.Assistants[0].Name {
		how = "Your words go to " + to.Title + ", which " + to.About + "."
	}
	for _, line := range wrapped(how+" /help lists the commands; Ctrl-D leaves.", m.lineWidth()) {
		lines = append(lines, m.faint(line))
	}
	if session := m.Sessions[m.To]; session != "" {
		last, err := m.Sibyl.Last(ctx, session)
		if err != nil && !errors.Is(err, journal.ErrNotFound) {
			return err
		}
		lines = append(lines, m.lastExchangeLines(last)...)
	}
	_, err := io.WriteString(to, strings.Join(lines, "\r\n")+"\r\n")
	return err
}

// lastExchangeLines makes an exchange the last one (m.last), and lays it out; nil if it is empty.
func (m *model) lastExchangeLines(last Exchange) []string {
	m.last = last
	if last.Run == "" {
		return nil
	}
	lines := append([]string{""}, m.question(m.promptFor(m.To), last.Question)...)
	return append(append(lines, m.columns(render.Lines(last.Answer, m.layout(m.answerWidth())),
		m.sources(last.Sources))...), "")
}

// stopRun stops an active run, and waits up to stopTime; if the run hasn't stopped by then, it sets m.leftBehind.
func (m *model) stopRun() {
	if m.live == nil {
		return
	}
	l := m.live
	l.stop(errLeft)
	close(l.left)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), stopTime)
	defer cancel()
	if l.run.Wait == nil {
		select {
		case begun := <-l.startResults:
			l.run, l.Language = begun.run, begun.run.Language
		case <-ctx.Done():
			m.leftBehind = errors.New("the run is still starting: ‘sibyl run list’ shows it")
		}
	}
	if l.run.Wait == nil {
		return
	}
	if _, err := l.run.Wait(ctx); err != nil && ctx.Err() != nil {
		m.leftBehind = fmt.Errorf("run %s has not stopped yet: ‘sibyl run list’ shows when it has", l.run.ID)
	}
}

var (
	errLeft    = errors.New("the user left the conversation")
	errStopped = errors.New("stopped by the user")
)
