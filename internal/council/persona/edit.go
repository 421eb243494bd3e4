package persona

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sibyl/internal/files"
)

// Why an oracle is not written.
var (
	ErrBuiltIn = errors.New("the oracles in use are built in; set ORACLES_DIR to a folder of your own to write new ones " +
		"there")
	ErrChanged = errors.New("the file of the oracle was changed meanwhile")
	// ErrText is wrapped by what is wrong with the text or the name of an oracle, in words for people.
	ErrText = errors.New("it can't be an oracle")
)

// Text is the file of an oracle as it stands, with its comments.
type Text struct {
	Text    string `json:"text" doc:"Markdown."`
	Version string `json:"version" doc:"Of the file: it is sent back with what replaces it."`
	Own     bool   `json:"own" doc:"It lies in a folder of this server, and can be rewritten."`
}

func versionOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}

// Preview reads a text as an oracle, and writes nothing. Its errors wrap ErrText.
func (s *Shelf) Preview(text string) (Persona, error) {
	text, err := decode([]byte(text))
	if err != nil {
		return Persona{}, fmt.Errorf("%w: %w", ErrText, err)
	}
	p, err := parse(text, "preview", "preview", s.config.Placeholder)
	if err == nil {
		err = checkName(p.Name)
	}
	if err != nil {
		return p, fmt.Errorf("%w: %w", ErrText, err)
	}
	return p, nil
}

// Text gives the file of an oracle by its id; ErrNotFound if there is none.
func (s *Shelf) Text(ctx context.Context, id string) (Text, error) {
	p, err := s.byID(ctx, id)
	if err != nil {
		return Text{}, err
	}
	if s.config.Dir == "" {
		return Text{Text: p.Content, Version: versionOf(p.Content)}, nil
	}
	text, err := load(p.File)
	return Text{text, versionOf(text), true}, err
}

func (s *Shelf) byID(ctx context.Context, id string) (Persona, error) {
	l, err := s.refresh(ctx)
	for _, p := range l.Oracles {
		if p.ID == id {
			return p, err
		}
	}
	return Persona{}, errors.Join(err, ErrNotFound)
}

// Add writes a new oracle into the folder, which is made if it is missing. The first line of its text is its name,
// which no other oracle has; no file is replaced.
func (s *Shelf) Add(ctx context.Context, text string) (Persona, error) {
	p, err := s.Preview(text)
	if err != nil {
		return p, err
	}
	file, err := s.place(ctx, p.Name)
	if err != nil {
		return p, err
	}
	if err := writeNew(file, ended(text)); err != nil {
		return p, err
	}
	return s.written(ctx, file)
}

// Rewrite replaces the text of an oracle: ErrChanged if its file is not of this version any more.
func (s *Shelf) Rewrite(ctx context.Context, id, version, text string) (Persona, error) {
	if s.config.Dir == "" {
		return Persona{}, ErrBuiltIn
	}
	if p, err := s.Preview(text); err != nil {
		return p, err
	}
	p, err := s.byID(ctx, id)
	if err != nil {
		return p, err
	}
	before, err := load(p.File)
	if err != nil {
		return p, err
	}
	if versionOf(before) != version {
		return p, ErrChanged
	}
	info, err := os.Stat(p.File)
	if err != nil {
		return p, err
	}
	if err := files.Replace(p.File, []byte(ended(text)), info.Mode().Perm()); err != nil {
		return p, fmt.Errorf("writing the oracle: %w", err)
	}
	return s.written(ctx, p.File)
}

// ended is a text as it is written into a file.
func ended(text string) string {
	return strings.TrimRight(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\n") + "\n"
}

// written gives the oracle of a file that was just written.
func (s *Shelf) written(ctx context.Context, file string) (Persona, error) {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	return s.byID(ctx, idOf(file))
}
