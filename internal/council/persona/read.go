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
	"sync"
	"unicode/utf8"

	"sibyl/internal/text/language"
)

const longPrompt = 8000 // tokens, at four characters each

// unusable is why what a file holds is no oracle. It stays so until the file changes, unlike what the file system refuses.
type unusable string

func (u unusable) Error() string { return string(u) }

// load reads a file of a folder. It refuses whatever would keep it waiting.
func load(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", plain(err)
	}
	switch {
	case info.IsDir():
		return "", unusable("it is a folder; only files at the top level are oracles")
	case !info.Mode().IsRegular():
		return "", unusable("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return "", plain(err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return "", plain(err)
	}
	return decode(data)
}

// plain says in words for people what the file system refused.
func plain(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("it does not exist: it was removed, or is a dangling link")
	case errors.Is(err, fs.ErrPermission):
		return errors.New("it may not be read; change its permissions")
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	}
	return errors.New("it cannot be read: " + err.Error())
}

// decode is the text of a file in UTF-8, with plain line ends and without a byte order mark.
func decode(data []byte) (string, error) {
	const save = "; save it as UTF-8"
	if len(data) > MaxSize {
		return "", unusable(fmt.Sprintf("it is larger than %d KB; an oracle is a prompt sent with every question", MaxSize>>10))
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return "", unusable("it is UTF-16" + save)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return "", unusable(fmt.Sprintf("it has a NUL byte in line %d: it is not text, or it is UTF-16%s", lineOf(data, i), save))
	}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return "", unusable(fmt.Sprintf("it is not UTF-8 in line %d%s", lineOf(data, i), save))
		}
		i += size
	}
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data))
	if strings.TrimSpace(text) == "" {
		return "", unusable("it is empty")
	}
	return text, nil
}

func lineOf(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte("\n")) }

// parse makes an oracle of a text as decode gives it. File is the path that it is known by, and called that by which it was found.
func parse(text, file, called, placeholder string) (Persona, error) {
	content, closed := uncomment(text)
	if strings.TrimSpace(content) == "" {
		return Persona{}, unusable("it contains only comments")
	}
	first, rest, _ := strings.Cut(content, "\n")
	p := Persona{ID: idOf(file), Name: title(first), File: file, Content: content, Placeholder: placeholder, Mode: Appended, Warnings: []string{},
		Language: language.Of(content)}
	if p.Name == "" {
		p.Name = fileTitle(called)
		p.warn("the first line is not a title such as “# Name”, so the file name is used%s", laterTitle(rest))
	}
	p.Slug = Slug(p.Name)
	times := strings.Count(content, placeholder)
	if times > 0 {
		p.Mode = InPlace
	}
	if times > 1 {
		p.warn("%s stands in it %d times, and each is replaced by the whole context", placeholder, times)
	}
	if other := otherPlaceholder(strings.ReplaceAll(content, placeholder, ""), placeholder); other != "" {
		p.warn("%s is not the placeholder and stays unchanged; write %s", other, placeholder)
	}
	if tokens := (utf8.RuneCountInString(content) + 3) / 4; tokens > longPrompt {
		p.warn("it is very long: some %d tokens go with every question", tokens)
	}
	if !closed {
		p.warn("a comment is opened with %s and never closed, so it is part of the prompt; close it with %s", commentOpens, commentCloses)
	}
	return p, nil
}

func (p *Persona) warn(format string, args ...any) {
	p.Warnings = append(p.Warnings, fmt.Sprintf(format, args...))
}

// laterTitle points to a title that is not where it counts.
func laterTitle(rest string) string {
	n := 1
	for line := range strings.SplitSeq(rest, "\n") {
		if n++; n > 20 {
			break
		}
		if found := title(line); found != "" {
			return fmt.Sprintf("; “# %s” further down would have to be the first line", found)
		}
	}
	return ""
}

func idOf(file string) string {
	sum := sha256.Sum256([]byte(file))
	return hex.EncodeToString(sum[:4])
}

// templated are words in the marks that people put around placeholders: {{x}}, {x}, ${x}, %x%.
var templated = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{{1,3}\s*([\p{L}_][\p{L}\p{N}_.-]{0,40})\s*\}{1,3}|%([\p{L}_][\p{L}\p{N}_]{0,40})%`)
})

// otherPlaceholder finds what looks like a placeholder in a text without the one that is set: any word in double braces, and a word in
// other marks if it says what the placeholder says.
func otherPlaceholder(text, placeholder string) string {
	for _, m := range templated().FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(m[0], "{{") || sameWord(m[1]+m[2], placeholder) || sameWord(m[1]+m[2], DefaultPlaceholder) {
			return m[0]
		}
	}
	return ""
}

// sameWord says that a word begins with the letters of a placeholder, or they with it.
func sameWord(word, placeholder string) bool {
	is := func(s string) string { return strings.Trim(Slug(s), "-") }
	word, core := is(word), is(placeholder)
	return len(core) > 2 && len(word) > 2 && core != emptySlug && (strings.HasPrefix(word, core) || strings.HasPrefix(core, word))
}
