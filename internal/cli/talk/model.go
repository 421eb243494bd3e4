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

// promptMark begins the line that is typed in.
const promptMark = "❯ "

// Bounds of the input: rows that are shown of it, and rows that it may have.
const (
	mostShown = 8
	mostRows  = 5000
)

// narrow is the width below which a prompt names nobody.
const narrow = 40

// model is the conversation. All its methods run in one goroutine; what waits runs in commands, which come back as
// messages.
type model struct {
	Config

	ctx     context.Context
	open    string        // the assistant whose question the next words answer; "": no question is open
	missing *missingValue // nil: nothing is missing
	env     func(string) string
	colour  bool
	links   bool

	input        textarea.Model
	history      *history
	historyIndex int    // in the history; its length: behind it
	draft        string // what was typed before looking into the history
	pasted       []string

	searching *search
	menu      *menu
	picking   *picker
	asking    []question

	live      *live
	lastModel string // the model of the last run
	last      Exchange
	editing   Exchange  // whose place the words that are typed take; zero: nobody's
	leaving   time.Time // when Ctrl-C was pressed at an empty line
	hint      string    // until the next key

	shown      <-chan struct{} // closed when the first frame was drawn; nil: it was
	ready      bool
	queue      []string // lines that are to be printed above
	printing   bool
	frame      frame
	leftBehind error // what the conversation left behind
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

// assistant is the one of a name.
func (m *model) assistant(name string) Assistant {
	at := slices.IndexFunc(m.Assistants, func(a Assistant) bool { return a.Name == name })
	return m.Assistants[max(0, at)]
}

// addressee is the assistant that the next words go to.
func (m *model) addressee() Assistant { return m.assistant(cmp.Or(m.open, m.To)) }

// promptFor is what stands before words for an assistant: its name, unless it is the first.
func (m *model) promptFor(name string) string {
	a := m.assistant(name)
	if a.Name == m.Assistants[0].Name {
		return promptMark
	}
	return m.namedPrompt(a.Title)
}

// namedPrompt is a prompt with a name, where there is room for it.
func (m *model) namedPrompt(name string) string {
	if m.Width < narrow {
		return promptMark
	}
	return strings.ToLower(name) + " " + promptMark
}

// setPrompt has the line that is typed in say whom the words go to, or what they are.
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
	// the terminal does both, without a program beside it
	in.KeyMap.Paste, in.KeyMap.CopySelection = key.NewBinding(), key.NewBinding()
	in.Focus()
	return in
}

// Init is called by the renderer when it begins.
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

// Update takes in what happens.
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

// resize lays out anew what lives.
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

// setHeight has the input fit what is typed.
func (m *model) setHeight() {
	m.input.MaxHeight = max(1, min(mostShown, m.Height/3))
	m.input, _ = m.input.Update(nil)
}

// setInput puts a text in place of what is typed.
func (m *model) setInput(text string) {
	m.input.SetValue(text)
	m.input.MoveToEnd()
	m.setHeight()
}
