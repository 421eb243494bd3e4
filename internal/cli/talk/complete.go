package talk

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"sibyl/internal/render"
)

// mostOffered limits the candidates shown at a time, mostRead the entries that are read of a folder.
const (
	mostOffered = 6
	mostRead    = 2000
)

// candidate is a completion of a word, with its description.
type candidate struct{ text, about string }

// menu is the open list of completions for the last word of the input.
type menu struct {
	word string // what the input ends with while nothing is chosen
	all  []candidate
	at   int // index of the chosen one; -1: none
}

// candidatesMsg delivers the candidates for a word; it is ignored if the input has changed from typed.
type candidatesMsg struct {
	typed, word string
	all         []candidate
	err         error
}

// suggest opens the menu of commands while the name of one is typed; otherwise it closes the menu.
func (m *model) suggest() {
	m.menu = nil
	text := m.input.Value()
	if !strings.HasPrefix(text, "/") || strings.ContainsAny(text, " \n") || m.missing != nil {
		return
	}
	if all := m.commandsFor(text); len(all) > 0 {
		m.menu = &menu{word: text, all: all, at: -1}
	}
}

func (m *model) commandsFor(word string) (all []candidate) {
	for _, s := range m.slashes() {
		if strings.HasPrefix(s.name, word) {
			all = append(all, candidate{s.name, strings.TrimSpace(s.takes + "  " + s.about)})
		}
	}
	return all
}

// complete completes the last word of the input, or chooses the next candidate if the menu is open.
func (m *model) complete() tea.Cmd {
	if m.menu != nil {
		m.moveChoice(1)
		return nil
	}
	text := m.input.Value()
	word := text[strings.LastIndexFunc(text, unicode.IsSpace)+1:]
	if strings.HasPrefix(text, "/") && word == text && m.missing == nil {
		m.suggest()
		return nil
	}
	kind := m.kindAt(text, word)
	if kind == "" {
		return nil
	}
	return func() tea.Msg {
		all, err := m.candidates(kind, word)
		return candidatesMsg{text, word, all, err}
	}
}

// kindAt returns the kind of completion for the last word of a text: a Flag.Kind, "flags" and an assistant's name,
// "session" or "file"; "" if nothing completes it.
func (m *model) kindAt(text, word string) string {
	if m.missing != nil {
		return m.missing.flag.Kind
	}
	name, said, isCommand := strings.Cut(text, " ")
	switch {
	case !isCommand:
	case name == "/in" || name == "/vault":
		return "folder"
	case name == "/model" || name == "/again":
		return "model"
	case name == "/sessions":
		return "session"
	}
	for _, a := range m.Assistants {
		if !isCommand || a.Command != name {
			continue
		}
		before := strings.Fields(strings.TrimSuffix(said, word))
		if strings.HasPrefix(word, "--") {
			return "flags " + a.Name
		}
		for _, f := range a.Flags {
			if n := len(before); n > 0 && before[n-1] == "--"+f.Name {
				return f.Kind
			}
		}
	}
	if strings.HasPrefix(word, "@") {
		return "file"
	}
	return ""
}

// candidates returns the completions of a word, for a kind that kindAt returned.
func (m *model) candidates(kind, word string) (all []candidate, err error) {
	var names []string
	switch kind {
	case "file":
		return m.pathCandidates("@", word[1:], false)
	case "folder":
		return m.pathCandidates("", word, true)
	case "witness":
		return m.pathCandidates("", word, false)
	case "model":
		names, err = m.Sibyl.Models(m.ctx)
	case "oracle":
		names, err = m.Sibyl.Oracles(m.ctx)
	case "session":
		sessions, err := m.Sibyl.Sessions(m.ctx, m.To)
		for _, s := range sessions {
			all = append(all, candidate{s.ID, s.Title})
		}
		return matchingWord(all, word), err
	}
	if choices, ok := strings.CutPrefix(kind, "="); ok {
		names = strings.Fields(choices)
	}
	if name, ok := strings.CutPrefix(kind, "flags "); ok {
		for _, f := range m.assistant(name).Flags {
			all = append(all, candidate{"--" + f.Name, f.About})
		}
	}
	for _, name := range names {
		all = append(all, candidate{text: name})
	}
	return matchingWord(all, word), err
}

// matchingWord returns the candidates that begin with word; it overwrites all.
func matchingWord(all []candidate, word string) []candidate {
	return slices.DeleteFunc(all, func(c candidate) bool { return !strings.HasPrefix(c.text, word) })
}

// pathCandidates completes a path behind sign. Of names with spaces it returns only files behind @, in quotes.
func (m *model) pathCandidates(sign, path string, folders bool) (all []candidate, err error) {
	names, err := Paths(m.env("HOME"), path, folders)
	for _, name := range names {
		switch blank := strings.ContainsFunc(name, unicode.IsSpace); {
		case !blank:
			all = append(all, candidate{text: sign + name})
		case sign == "@" && !os.IsPathSeparator(name[len(name)-1]):
			all = append(all, candidate{text: `@"` + name + `"`})
		}
	}
	return all, err
}

// Paths lists in order the files and folders, or only folders, that complete a path; folders end with a separator.
// ~ is the home folder. Hidden names are listed only if the path names their dot.
func Paths(home, path string, folders bool) (all []string, err error) {
	dir, begun := filepath.Split(path)
	f, err := os.Open(filepath.Clean(expandHome(home, dir)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	entries, err := f.ReadDir(mostRead)
	if err != nil && len(entries) == 0 {
		return nil, nil // an empty folder, or a file
	}
	for _, e := range entries {
		name, isDir := e.Name(), e.IsDir()
		if e.Type()&os.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(f.Name(), name))
			isDir = err == nil && info.IsDir()
		}
		switch {
		case !strings.HasPrefix(name, begun), folders && !isDir, strings.HasPrefix(name, ".") && begun == "":
			continue
		case isDir:
			name += string(filepath.Separator)
		}
		all = append(all, dir+name)
	}
	slices.Sort(all)
	return all, nil
}

// offer completes the word to what all candidates begin with, and opens the menu if there are several.
func (m *model) offer(msg candidatesMsg) {
	if msg.typed != m.input.Value() { // more was typed meanwhile
		return
	}
	switch {
	case msg.err != nil:
		m.hint = render.Clean(msg.err.Error())
		return
	case len(msg.all) == 0:
		m.hint = "no completions"
		return
	}
	common := msg.all[0].text
	for _, c := range msg.all[1:] {
		for !strings.HasPrefix(c.text, common) {
			r := []rune(common)
			common = string(r[:len(r)-1])
		}
	}
	m.replace(msg.word, common)
	if len(msg.all) > 1 {
		m.menu = &menu{word: common, all: msg.all, at: -1}
	}
}

// replace replaces the word that the input ends with.
func (m *model) replace(word, by string) {
	m.setInput(strings.TrimSuffix(m.input.Value(), word) + by)
}

// moveChoice chooses another candidate of the menu, around its ends, and puts it into the input.
func (m *model) moveChoice(step int) {
	menu := m.menu
	before := menu.word
	if menu.at >= 0 {
		before = menu.all[menu.at].text
	}
	switch {
	case menu.at < 0 && step < 0:
		menu.at = len(menu.all) - 1
	default:
		menu.at = (menu.at + step + len(menu.all)) % len(menu.all)
	}
	m.replace(before, menu.all[menu.at].text)
}

// menuKey handles a key while the menu is open; false: the key means nothing to the menu.
func (m *model) menuKey(name string) (done bool) {
	switch name {
	case "down", "up":
		if m.menu.at < 0 && len(m.input.Value()) == 0 {
			return false
		}
		m.moveChoice(map[string]int{"down": 1, "up": -1}[name])
		return true
	case "shift+tab":
		m.moveChoice(-1)
		return true
	case "esc":
		m.menu = nil
		return true
	}
	return false
}

func (menu *menu) lines(m *model) (lines []string) {
	from := max(0, min(menu.at-mostOffered+1, len(menu.all)-mostOffered))
	for i := from; i < min(len(menu.all), from+mostOffered); i++ {
		c := menu.all[i]
		line := m.fitLine(render.Clean(fmt.Sprintf("  %-12s %s", c.text, c.about)))
		if i == menu.at {
			line = m.bold("›" + strings.TrimPrefix(line, " "))
		} else {
			line = m.faint(line)
		}
		lines = append(lines, line)
	}
	if more := len(menu.all) - mostOffered; more > 0 {
		lines = append(lines, m.faint(m.fitLine(fmt.Sprintf("  and %d more", more))))
	}
	return lines
}
