// Package persona reads oracles: personalities that people write as Markdown files, one file each.
//
// Guarantees:
//   - A file that cannot be used is skipped with a reason. It never costs the list, and what is no file is never waited
//     for.
//   - The same file is the same oracle, by however many links it is reached.
//   - What Find gives is what the file holds when it is asked. A listing may be as old as Config.TTL.
//   - Nothing of a person's is replaced: Create makes a new file, or none.
//
// A Shelf may be used by many goroutines at once.
package persona

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/agent"
	"sibyl/internal/text/front"
	"sibyl/internal/text/language"
	"sibyl/internal/text/markdown"
)

// DefaultPlaceholder holds where a person chose none.
const DefaultPlaceholder = "{{CONTEXT}}"

// The bounds of a folder.
const (
	MaxSize    = 256 << 10 // bytes of a file
	MaxFiles   = 1000      // of a folder; those after them by name are left out
	longPrompt = 8000      // tokens, at four characters each, of which a person is warned
)

// Mode is how the context gets into a prompt.
type Mode string

// The modes.
const (
	InPlace  Mode = "placeholder" // the file says where
	Appended Mode = "append"      // after the file
)

// Persona is an oracle.
type Persona struct {
	ID    string `json:"id"`   // the first 8 hex digits of the SHA-256 of File
	Name  string `json:"name"` // one line, for people; never empty
	About string `json:"about,omitempty" doc:"The first sentence of its file."`
	// absolute, clean and without links; of those that are built in "/prompts/oracles/{file}"
	File string `json:"file_path" doc:"Over HTTP, the name of its file."`
	Slug string `json:"slug,omitempty" hidden:"true"`
	// the text in UTF-8 with plain line ends, less byte order mark, front matter and comments; never empty
	Content     string   `json:"content,omitempty" doc:"Markdown. Left out of lists."`
	Placeholder string   `json:"placeholder"`
	Mode        Mode     `json:"mode" enum:"placeholder,append"`
	Warnings    []string `json:"warnings"`           // what its author may not have meant, a sentence each; never nil
	Language    string   `json:"language,omitempty"` // "pt", "en" or "de"; "" if it is none of them

	Front []front.Entry `json:"-"` // its front matter, which is no part of Content
}

// load reads a file. It refuses whatever would keep it waiting. Errors are in words for people.
func load(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", readError(err)
	case info.IsDir():
		return "", errors.New("it is a folder; only files at the top level are oracles")
	case !info.Mode().IsRegular():
		return "", errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", readError(err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return "", readError(err)
	}
	return decode(data)
}

// readError says in words for people why a file can't be read.
func readError(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("it does not exist: it was removed, or is a dangling link")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("it may not be read; change its permissions")
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return fmt.Errorf("it cannot be read: %w", err)
}

// decode is the text of a file in UTF-8, with plain line ends and without a byte order mark.
func decode(data []byte) (string, error) {
	const save = "; save it as UTF-8"
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	line := func(before int) int { return 1 + bytes.Count(data[:before], []byte("\n")) }
	valid := 0 // bytes that are UTF-8
	for valid < len(data) {
		r, size := utf8.DecodeRune(data[valid:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		valid += size
	}
	switch nul := bytes.IndexByte(data, 0); {
	case len(data) > MaxSize:
		return "", fmt.Errorf("it is larger than %d KB; an oracle is a prompt sent with every question", MaxSize>>10)
	case bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")):
		return "", errors.New("it is UTF-16" + save)
	case nul >= 0:
		return "", fmt.Errorf("it has a NUL byte in line %d: it is not text, or it is UTF-16%s", line(nul), save)
	case valid < len(data):
		return "", fmt.Errorf("it is not UTF-8 in line %d%s", line(valid), save)
	case len(bytes.TrimSpace(data)) == 0:
		return "", errors.New("it is empty")
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)), nil
}

// braced are words in the marks that people put around placeholders.
var braced = regexp.MustCompile(`\{{1,3}\s*([\p{L}_][\p{L}\p{N}_.-]{0,40})\s*\}{1,3}`)

// parse makes an oracle of a text as decode gives it. file is the path that it is known by, called the name that it was
// found by. The context replaces placeholder in its prompt.
func parse(text, file, called, placeholder string) (Persona, error) {
	entries, text, err := front.Split(text)
	if err != nil {
		return Persona{}, err
	}
	content, closed := uncomment(text)
	if strings.TrimSpace(content) == "" {
		return Persona{}, errors.New("it has no prompt")
	}
	head := content
	if placeholder != "" { // a context that comes first is alike for all oracles that are asked about it
		head = strings.TrimLeftFunc(strings.TrimPrefix(content, placeholder), unicode.IsSpace)
	}
	first, _, _ := strings.Cut(head, "\n")
	p := Persona{ID: idOf(file), Name: title(first), File: file, Content: content, Placeholder: placeholder,
		Mode: Appended, Warnings: []string{}, Front: entries,
		Language: language.Of(content)}
	if p.Name == "" {
		p.Name = fileTitle(called)
		p.warn("the first line is not a title such as “# Name”, so the file name is used")
	}
	p.About, p.Slug = p.about(), Slug(p.Name)
	times := strings.Count(content, placeholder)
	if times > 0 {
		p.Mode = InPlace
	}
	if times > 1 {
		p.warn("%s stands in it %d times, and each is replaced by the whole context", placeholder, times)
	}
	for _, m := range braced.FindAllStringSubmatch(strings.ReplaceAll(content, placeholder, ""), -1) {
		if strings.HasPrefix(m[0], "{{") || Slug(m[1]) == Slug(placeholder) {
			p.warn("%s is not the placeholder and stays unchanged; write %s", m[0], placeholder)
			break
		}
	}
	if tokens := agent.Tokens(content); tokens > longPrompt {
		p.warn("it is very long: some %d tokens go with every question", tokens)
	}
	if !closed {
		p.warn("a comment is opened with %s and never closed, so it is part of the prompt; close it with %s",
			commentOpens, commentCloses)
	}
	return p, nil
}

func (p *Persona) warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

func idOf(file string) string {
	sum := sha256.Sum256([]byte(file))
	return hex.EncodeToString(sum[:4])
}

const (
	commentOpens  = "<!--"
	commentCloses = "-->"
)

// uncomment takes the comments out of a Markdown text, and with them the lines that held nothing else. Code blocks and
// code spans keep theirs. A comment that is never closed stays, and closed is false.
func uncomment(text string) (plain string, closed bool) {
	var fence markdown.Fence
	var kept []string
	rest := text
	for more := true; more; {
		var line string
		began := rest
		line, rest, more = strings.Cut(rest, "\n")
		if fence.Covers(line) {
			kept = append(kept, line)
			continue
		}
		said, last := "", line
		for {
			before, after, opens := strings.Cut(last, commentOpens)
			said += before
			if !opens {
				break
			}
			last = after
			if strings.Count(said, "`")%2 == 1 { // in a code span
				said += commentOpens
				continue
			}
			_, beyond, closes := strings.Cut(after, commentCloses)
			if closes {
				last = beyond
				continue
			}
			if _, beyond, closes = strings.Cut(rest, commentCloses); !closes {
				return strings.Join(append(kept, began), "\n"), false
			}
			last, rest, more = strings.Cut(beyond, "\n")
		}
		if said == line || strings.TrimSpace(said) != "" {
			kept = append(kept, said)
		} else if next, after, found := strings.Cut(rest, "\n"); found && next == "" &&
			(len(kept) == 0 || kept[len(kept)-1] == "") {
			rest = after // of the two blank lines around a comment one stays
		}
	}
	return strings.Join(kept, "\n"), true
}
