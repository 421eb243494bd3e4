package talk

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"

	"sibyl/internal/oracle"
	"sibyl/internal/render"
)

// editedMsg reports that the editor has ended.
type editedMsg struct {
	folder, file string
	earlier      Exchange // the exchange that the edited question replaces; zero: none
	err          error
}

// edit opens the user's editor: without a text on the last question, which the edited one replaces; else on the text,
// as a new question. Only the user can read the temporary file, which handleEdited deletes.
func (m *model) edit(text string) tea.Cmd {
	var earlier Exchange
	if text == "" {
		earlier = m.last
		text = earlier.Question
	}
	editor, err := Editor(m.env)
	if err != nil {
		return m.fail(err)
	}
	folder, err := os.MkdirTemp("", "sibyl-")
	if err != nil {
		return m.fail(err)
	}
	file := filepath.Join(folder, "question.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return m.fail(errors.Join(err, os.RemoveAll(folder)))
	}
	// #nosec G204 -- the person's own editor
	cmd := exec.CommandContext(m.ctx, editor[0], append(editor[1:len(editor):len(editor)], file)...)
	cmd.Stdin, cmd.Stdout = m.In, m.Out // the terminal itself: bubbletea would hand over what stands before it
	m.typed.pause()
	return tea.ExecProcess(cmd, func(err error) tea.Msg { return editedMsg{folder, file, earlier, err} })
}

// Editor returns the program that VISUAL or EDITOR names, with its arguments; by default vi, on Windows notepad.
func Editor(env func(string) string) ([]string, error) {
	words := strings.Fields(cmp.Or(env("VISUAL"), env("EDITOR"), "vi"))
	if len(words) == 1 && words[0] == "vi" && runtime.GOOS == "windows" {
		words = []string{"notepad"}
	}
	if len(words) == 0 {
		return nil, errors.New("no editor is set: name one in EDITOR")
	}
	path, err := exec.LookPath(words[0])
	if err != nil {
		return nil, fmt.Errorf("the editor %s was not found: name one with EDITOR", words[0])
	}
	return append([]string{path}, words[1:]...), nil
}

// handleEdited puts the edited question into the input, for Enter to ask it, and deletes the file.
func (m *model) handleEdited(msg editedMsg) tea.Cmd {
	text, err := readUpTo(msg.file, oracle.MaxQuestion)
	err = errors.Join(msg.err, err, os.RemoveAll(msg.folder))
	if text = strings.TrimSpace(text); text != "" {
		m.setInput(render.Clean(text))
		m.editing = msg.earlier
		m.setPrompt()
	}
	if err != nil {
		return m.fail(fmt.Errorf("the editor: %w", err))
	}
	switch {
	case text == "":
		m.hint = "the question was left empty"
	case m.editing.Run != "":
		m.hint = "Enter asks it in the place of your last question; Ctrl-C leaves that as it is"
	}
	return nil
}

// askEdited asks words in place of the question that was edited.
func (m *model) askEdited(words string) tea.Cmd {
	earlier := m.editing
	m.editing = Exchange{}
	return m.ask(Asked{Of: cmp.Or(earlier.Of, m.To), Words: words, Flagged: earlier.Flagged, Replaces: earlier.Run},
		words)
}

// readUpTo reads a file; one of more than most bytes is an error.
func readUpTo(name string, most int64) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if info.Size() > most {
		return "", fmt.Errorf("the question has %d bytes, more than the limit of %d", info.Size(), most)
	}
	text, err := os.ReadFile(name)
	return string(text), err
}
