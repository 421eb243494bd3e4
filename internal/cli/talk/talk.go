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

// Assistant is one that words can be said to.
type Assistant struct {
	Name    string // as the program knows it
	Title   string // as people call it: Tasks
	Command string // which has it take the words behind it: /task
	About   string
	Bare    string // what the command says without words; "": it needs some
	Flags   []Flag // that may stand between the command and the words
	Folders bool   // it searches the folders of code and notes
}

// Flag is an option of an assistant. Kind is what its value names: model, folder, witness, oracle, or words behind a
// “=”; "": any text.
type Flag struct{ Name, About, Kind string }

// With is what questions are asked with, of whoever can use it.
type With struct {
	Model       string // provider:model; "" for that of the settings
	Code, Vault string // folders; "" for none
}

// Asked is what a person asks.
type Asked struct {
	Of       string // the name of the assistant
	Session  string // as the last Run of the assistant has it; "" begins one
	Words    string
	Flagged  bool   // flags may stand before the words
	Material string // a text that was pasted
	// the last run of the session, whose place this one takes, with what was handed over to it; "": none
	Replaces string
	With
	OverLimit bool // the person knows that the day has cost what it may
}

// Sibyl is what a conversation needs of the program.
type Sibyl interface {
	// Start asks. Words may name files as @path. Cancelling ctx stops the run. Beside others, the error may be a
	// *ChoiceError, a *MissingError, a *KeptError or, where the day has cost what it may, a *service.LimitError: asked
	// OverLimit, it begins then.
	Start(ctx context.Context, a Asked) (Run, error)
	// Offer says which assistant, other than the one of that name, words are plainly meant for, with a question whose
	// yes gives them to it; "" for none.
	Offer(words, instead string) (assistant, question string)
	// Sessions lists the person's sessions with an assistant, the last used first.
	Sessions(ctx context.Context, assistant string) ([]journal.Session, error)
	// Last is what the last run of a session came to; journal.ErrNotFound without one.
	Last(ctx context.Context, session string) (Exchange, error)
	// Models lists the models that can be asked, as provider:model.
	Models(ctx context.Context) ([]string, error)
	// Oracles lists the names of those who answer in the Council.
	Oracles(ctx context.Context) ([]string, error)
	// Why says in a few lines why a run did what it did.
	Why(ctx context.Context, run string) ([]string, error)
	// Passage gives what a run had read of a source, as its answer cites it, as Markdown.
	Passage(ctx context.Context, run, source string) (string, error)
	// Decline answers no to the calls that a run waits to be allowed.
	Decline(ctx context.Context, run string) error
	// LastWrite is the last write to a note that can be put back: its id, and in words. An empty id: there is none.
	LastWrite(ctx context.Context) (id, words string, err error)
	// Undo puts back what a write replaced, and says what became of it.
	Undo(ctx context.Context, id string) (string, error)
	// Redact takes out of a text what may not be kept.
	Redact(text string) string
}

// Run is a run that was begun.
type Run struct {
	ID, Session, Model string

	Watch func(ctx context.Context) iter.Seq[service.Update]
	Wait  func(ctx context.Context) (service.Result, error)
}

// MissingError says that a question was not begun, since the value of a flag has to be known first.
type MissingError struct {
	Flag  Flag
	Title string // asks for it
}

func (e *MissingError) Error() string { return e.Title }

// KeptError says that what was said is kept in a session, though nobody answers it.
type KeptError struct {
	Session string
	Err     error
}

func (e *KeptError) Error() string { return e.Err.Error() }

// Unwrap gives why nobody answers.
func (e *KeptError) Unwrap() error { return e.Err }

// ChoiceError says that a question was not begun, since nobody has said which model is to answer.
type ChoiceError struct {
	Err    error
	Title  string   // asks for one of the models
	Models []string // at least two
	// Chosen is told of the choice. It gives the model to ask for, and says what became of the choice.
	Chosen func(id string) (model, told string)
}

func (e *ChoiceError) Error() string { return e.Err.Error() }

// Unwrap gives what was wrong.
func (e *ChoiceError) Unwrap() error { return e.Err }

// Exchange is a question and what came of it.
type Exchange struct {
	Of                    string // the assistant
	Run, Question, Answer string
	Flagged               bool // flags may stand before the question
	Sources               []string
}

// Config is what a conversation is made of.
type Config struct {
	Sibyl Sibyl
	// Assistants are all, the first being the one that words go to where a conversation is not about something else.
	Assistants []Assistant
	To         string            // the name of the one that words go to
	Sessions   map[string]string // to go on with, by assistants
	With       With
	History    string // the file that keeps what was typed; "" for none
	In         io.Reader
	Out        io.Writer // a terminal
	Width      int       // of the terminal, in columns; 0: 80
	Height     int       // in rows; 0: 24
	Environ    []string
	Now        func() time.Time // nil: the time of day

	options []tea.ProgramOption // of tests, as is
	began   func(*tea.Program)  // which is told of the program before it runs
}

// Variable is a variable of an environment, as its last entry has it.
func Variable(environ []string, name string) (value string) {
	for _, entry := range environ {
		if text, ok := strings.CutPrefix(entry, name+"="); ok {
			value = text
		}
	}
	return value
}

// stopTime is how long a run that goes on when the conversation ends is waited for.
const stopTime = 5 * time.Second

// Hold holds a conversation until the person leaves it or ctx is done, and gives the session that it was in last with
// the assistant that words go to. The cause of ctx is an error.
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
	options := append([]tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(c.In), tea.WithOutput(out.writer()),
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

// greet prints what stands above the first question.
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

// lastExchangeLines shows the last exchange of the session that goes on.
func (m *model) lastExchangeLines(last Exchange) []string {
	m.last = last
	if last.Run == "" {
		return nil
	}
	lines := append([]string{""}, m.question(m.promptFor(m.To), last.Question)...)
	return append(append(lines, m.columns(render.Lines(last.Answer, m.layout(m.answerWidth())),
		m.sources(last.Sources))...), "")
}

// stopRun ends what goes on behind the conversation.
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
			l.run = begun.run
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
