package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"sibyl/internal/agent"
	"sibyl/internal/api"
	"sibyl/internal/files"
	"sibyl/internal/media/document"
	"sibyl/internal/oracle"
	"sibyl/internal/oracle/prompt"
	"sibyl/prompts"
)

// checkedPrompts returns the prompts as now in their files, each with its problems, and the problem of their folder.
func (a *App) checkedPrompts() (checked []api.PromptInForce, folder string, err error) {
	names, err := prompts.Names()
	if err != nil {
		return nil, "", err
	}
	var upper fs.FS
	texts := fs.FS(prompts.FS)
	if a.Config.Prompts != "" {
		upper = os.DirFS(a.Config.Prompts)
		if texts, err = prompts.Overlay(upper); err != nil {
			folder, texts = strings.ReplaceAll(err.Error(), a.Config.Prompts, "the folder"), prompts.FS
			upper = nil
		}
	}
	ofOracle := oraclesProblems(texts)
	for _, name := range names {
		text, wrong := prompts.Read(texts, name)
		whose, called, _ := strings.Cut(strings.TrimSuffix(name, ".md"), "/")
		p := api.PromptInForce{Assistant: whose, Name: called, Text: text, BuiltIn: true, Tokens: agent.Tokens(text)}
		if upper != nil {
			if _, err := fs.Stat(upper, name); err == nil {
				built, readErr := fs.ReadFile(prompts.FS, name)
				if readErr != nil {
					return nil, "", readErr
				}
				p.BuiltIn, p.Original = false, string(built)
			}
		}
		switch {
		case strings.HasPrefix(name, oracle.Name+"/"):
			p.Found = ofOracle[name]
		case wrong != nil:
			p.Found = []string{wrong.Error()}
		}
		p.Problems = len(p.Found)
		checked = append(checked, p)
	}
	return checked, folder, nil
}

// oraclePrompts returns the Oracle's prompts as now in their files.
func (a *App) oraclePrompts() (*prompt.Set, error) {
	if a.Config.Prompts == "" {
		return a.Prompts, nil
	}
	return prompt.Load(a.texts)
}

// oraclesProblems returns the Oracle's problems with its prompts by file; the first file also gets those of all.
func oraclesProblems(texts fs.FS) map[string][]string {
	found := map[string][]string{}
	_, err := prompt.Load(texts)
	if err == nil {
		return found
	}
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		name, what, _ := strings.Cut(line, ":")
		if !strings.HasSuffix(name, ".md") {
			name, what = "oracle/base.md", line
		}
		found[name] = append(found[name], strings.TrimSpace(what))
	}
	return found
}

// guide returns SIBYL.md of a folder, without secrets. A link must not lead out of the folder.
func (a *App) guide(_ context.Context, folder string) (string, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", files.Cause(err)
	}
	defer func() { _ = root.Close() }() // opened for reading only
	info, err := root.Lstat(oracle.GuideFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", oracle.ErrNoGuide
	case err != nil:
		return "", files.Cause(err)
	case !info.Mode().IsRegular():
		return "", errors.New("it is no regular file")
	}
	const most = oracle.MaxGuide * utf8.UTFMax
	file, err := files.Read(root, oracle.GuideFile, most+1)
	if err != nil {
		return "", files.Cause(err)
	}
	text, err := document.DecodeText(oracle.GuideFile, file.Content)
	if err != nil {
		return "", errors.New("it is no text")
	}
	if n := utf8.RuneCountInString(text); n > oracle.MaxGuide || len(file.Content) > most {
		return "", fmt.Errorf("it has more than %d characters", oracle.MaxGuide)
	}
	return a.Redact(text), nil
}
