package talk

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"sibyl/internal/oracle"
	"sibyl/internal/render"
)

// promptMark begins the input line; the type terminal recognizes the first frame by it.
const promptMark = "❯ "

// Limits of the input: the rows shown, and all rows.
const (
	mostShown = 8
	mostRows  = 5000
)

// narrow is the width of the terminal below which prompts have no name.
const narrow = 40

// model is the state of the conversation. All its methods run in one goroutine; what blocks runs in a tea.Cmd, whose
// result comes back as a message.
type model struct {
	Config

	ctx     context.Context
	open    string        // the assistant whose question the next input answers; "": none
	missing *missingValue // the question that waits for a flag; nil: none
	env     func(string) string
	colour  bool
	links   bool

	typed        *typed // the terminal's input; nil: it is no terminal
	input        textarea.Model
	history      *history
	historyIndex int    // the entry shown; the history's length: none
	draft        string // the input before the history was browsed
	pasted       []string

	searching *search
	menu      *menu
	picking   *picker
	asking    []question

	live      *live
	lastModel string // the model of the last run
	language  string // of the last run
	last      Exchange
	editing   Exchange  // the exchange that the next input replaces; zero: none
	leaving   time.Time // when Ctrl-C was last pressed to leave or to stop
	hint      string    // shown until the next key

	shown      <-chan struct{} // closed when the first frame was drawn; nil: no need to wait for it
	ready      bool
	queue      []string // lines that are still to be printed
	printing   bool
	frame      frame
	leftBehind error // says which run had not stopped when the conversation ended
}

type (
	readyMsg   struct{}
	printedMsg struct{}
	toldMsg    struct {
		lines []string
		err   error
	}
)

func newModel(ctx context.Context, c Config) *model {
	m := &model{Config: c, ctx: ctx}
	m.Width, m.Height = cmp.Or(max(0, c.Width), 80), cmp.Or(max(0, c.Height), 24)
	if m.Sessions = maps.Clone(c.Sessions); m.Sessions == nil {
		m.Sessions = map[string]string{}
	}
	m.env = func(name string) string { return Variable(c.Environ, name) }
	m.colour, m.links = m.env("NO_COLOR") == "" && m.env("TERM") != "dumb", render.CanLink(m.env)
	var err error
	if m.history, err = openHistory(c.History, c.Sibyl.Redact); err != nil {
		m.hint = "the history can't be read: " + err.Error()
	}
	m.historyIndex = len(m.history.entries)
	m.input = newInput()
	m.setPrompt()
	return m
}

// assistant returns the assistant with this name, or else the first.
func (m *model) assistant(name string) Assistant {
	at := slices.IndexFunc(m.Assistants, func(a Assistant) bool { return a.Name == name })
	return m.Assistants[max(0, at)]
}

// addressee returns the assistant that gets the next input.
func (m *model) addressee() Assistant { return m.assistant(cmp.Or(m.open, m.To)) }

// promptFor returns the prompt for input to an assistant: with its title, unless it is the first.
func (m *model) promptFor(name string) string {
	a := m.assistant(name)
	if a.Name == m.Assistants[0].Name {
		return promptMark
	}
	return m.namedPrompt(a.Title)
}

// namedPrompt returns a prompt with a name, or without it on a narrow terminal.
func (m *model) namedPrompt(name string) string {
	if m.Width < narrow {
		return promptMark
	}
	return strings.ToLower(name) + " " + promptMark
}

// setPrompt makes the prompt show who gets the input or what it is, and fits the input's width.
func (m *model) setPrompt() {
	mark := m.promptFor(m.addressee().Name)
	switch {
	case m.missing != nil:
		mark = m.namedPrompt(m.missing.flag.Name)
	case m.editing.Run != "":
		mark = m.namedPrompt("edit")
	}
	width := ansi.StringWidth(mark)
	m.input.SetPromptFunc(width, func(p textarea.PromptInfo) string {
		if p.LineNumber == 0 {
			return mark
		}
		return strings.Repeat(" ", width)
	})
	m.input.SetWidth(max(width+6, m.Width-1))
}

func newInput() textarea.Model {
	in := textarea.New()
	in.SetStyles(textarea.Styles{})
	in.SetVirtualCursor(false)
	in.ShowLineNumbers, in.CharLimit = false, oracle.MaxQuestion
	in.DynamicHeight, in.MinHeight, in.MaxHeight, in.MaxContentHeight = true, 1, mostShown, mostRows
	in.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "ctrl+j", "shift+enter"))
	// the terminal does both, without a helper program
	in.KeyMap.Paste, in.KeyMap.CopySelection = key.NewBinding(), key.NewBinding()
	in.Focus()
	return in
}

// Init returns a command that sends readyMsg once the first frame is drawn, so that printing can begin.
func (m *model) Init() tea.Cmd {
	shown := m.shown
	return func() tea.Msg {
		if shown != nil {
			select {
			case <-shown:
			case <-m.ctx.Done():
			}
		}
		return readyMsg{}
	}
}

// Update implements tea.Model: it handles messages of the terminal and of commands.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.resize(msg.Width, msg.Height)
	case readyMsg:
		m.ready = true
		return m, m.flush()
	case printedMsg:
		m.printing = false
		return m, m.flush()
	case tea.PasteMsg:
		return m, m.paste(msg)
	case tea.KeyPressMsg:
		m.hint = ""
		cmd := m.key(msg)
		if m.editing.Run != "" && m.input.Value() == "" {
			m.editing = Exchange{}
			m.setPrompt()
		}
		return m, cmd
	case startedMsg:
		return m, m.handleStarted(msg)
	case updatesMsg:
		return m, tea.Batch(m.showUpdates(msg.of, msg.all), msg.of.waitForUpdates(m.ctx))
	case endedMsg:
		return m, m.handleEnded(msg)
	case tickMsg:
		if msg.of == m.live {
			return m, msg.of.tick()
		}
	case toldMsg:
		if msg.err != nil {
			return m, m.fail(msg.err)
		}
		return m, m.print(msg.lines...)
	case candidatesMsg:
		m.offer(msg)
	case pickMsg:
		return m, m.pick(msg)
	case switchedMsg:
		return m, m.showSwitched(msg)
	case undoMsg:
		return m, m.askUndo(msg)
	case editedMsg:
		return m, m.handleEdited(msg)
	}
	return m, nil
}

// resize fits the input and the answer in progress to a new size of the terminal.
func (m *model) resize(width, height int) {
	if width <= 0 || height <= 0 {
		return
	}
	m.Width, m.Height = width, height
	m.setPrompt()
	m.setHeight()
	if m.live != nil {
		m.live.layoutAgain(m.layout(m.answerWidth()))
	}
}

// setHeight fits the input's height to its text and to the screen.
func (m *model) setHeight() {
	m.input.MaxHeight = max(1, min(mostShown, m.Height/3))
	m.input, _ = m.input.Update(nil)
}

// setInput replaces the input's text, and puts the cursor at its end.
func (m *model) setInput(text string) {
	m.input.SetValue(text)
	m.input.MoveToEnd()
	m.setHeight()
}
