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
	"sibyl/internal/oracle"
	"sibyl/internal/render"
	"sibyl/internal/service"
)

// Sibyl is what a conversation needs of the program.
type Sibyl interface {
	// Start asks a question in a session; "" begins one. Words may name files as @path. Cancelling ctx stops the run. A
	// *ChoiceError says that the person
	// has to choose a model first.
	Start(ctx context.Context, session, words string, o oracle.Options) (Run, error)
	// Ended is told of each run that has ended.
	Ended(r Run, res service.Result) error
	// Sessions lists the person's sessions, the last used first.
	Sessions(ctx context.Context) ([]journal.Session, error)
	// Last is what the last run of a session came to; journal.ErrNotFound without one.
	Last(ctx context.Context, session string) (Exchange, error)
	// Models lists the models that can be asked, as provider:model.
	Models(ctx context.Context) ([]string, error)
	// Why says in a few lines why a run did what it did.
	Why(ctx context.Context, run string) ([]string, error)
	// Passage gives what a run had read of a source, as its answer cites it, as Markdown.
	Passage(ctx context.Context, run, source string) (string, error)
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
	Of    *service.Run // whose it is; nil in tests
}

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
	Run, Question, Answer string
	Sources               []string
}

// Config is what a conversation is made of.
type Config struct {
	Sibyl   Sibyl
	Options oracle.Options
	Session string // to go on with; "" for a new one
	History string // the file that keeps what was typed; "" for none
	In      io.Reader
	Out     io.Writer // a terminal
	Width   int       // of the terminal, in columns; 0: 80
	Height  int       // in rows; 0: 24
	Environ []string
	Now     func() time.Time // nil: the time of day

	options []tea.ProgramOption // of tests, as is
	began   func(*tea.Program)  // which is told of the program before it runs
}

// stopTime is how long a run that goes on when the conversation ends is waited for.
const stopTime = 5 * time.Second

// Hold holds a conversation until the person leaves it or ctx is done, and gives the session that it was in last. The
// cause of ctx is an error.
func Hold(ctx context.Context, c Config) (session string, err error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	m := newModel(ctx, c)
	if err := m.greet(ctx, c.Out); err != nil {
		return m.session, err
	}
	out := newTerminal(c.Out)
	m.shown = out.shown
	options := append([]tea.ProgramOption{tea.WithContext(ctx), tea.WithInput(c.In), tea.WithOutput(out.writer()), tea.WithEnvironment(c.Environ), tea.WithoutSignalHandler(),
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
	m.leave()
	switch {
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
		err = fmt.Errorf("the conversation ended: %w", err)
	}
	return m.session, errors.Join(err, m.lost)
}

// greet prints what stands above the first question.
func (m *model) greet(ctx context.Context, to io.Writer) error {
	var lines []string
	for _, line := range wrapped("Ask a question. /help lists the commands; Ctrl-D leaves.", m.usable()) {
		lines = append(lines, m.faint(line))
	}
	if m.session != "" {
		last, err := m.sibyl.Last(ctx, m.session)
		if err != nil && !errors.Is(err, journal.ErrNotFound) {
			return err
		}
		lines = append(lines, m.wentOn(last)...)
	}
	_, err := io.WriteString(to, strings.Join(lines, "\r\n")+"\r\n")
	return err
}

// wentOn shows the last exchange of the session that goes on.
func (m *model) wentOn(last Exchange) []string {
	m.last = last
	if last.Run == "" {
		return nil
	}
	lines := append([]string{""}, m.question(last.Question)...)
	return append(append(lines, m.columns(render.Lines(last.Answer, m.layout(m.answerWidth())), m.sources(last.Sources))...), "")
}

// leave ends what goes on behind the conversation.
func (m *model) leave() {
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
		case begun := <-l.begins:
			l.run = begun.run
		case <-ctx.Done():
			m.lost = errors.New("the run is still starting: ‘sibyl run list’ shows it")
		}
	}
	if l.run.Wait == nil {
		return
	}
	if _, err := l.run.Wait(ctx); err != nil && ctx.Err() != nil {
		m.lost = fmt.Errorf("run %s has not stopped yet: ‘sibyl run list’ shows when it has", l.run.ID)
	}
}

var (
	errLeft    = errors.New("the user left the conversation")
	errStopped = errors.New("stopped by the user")
)
