package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/agent"
	"sibyl/internal/files"
	doc "sibyl/internal/media/document"
	"sibyl/internal/oracle"
)

// stdinName is the name by which answers cite standard input.
const stdinName = "stdin"

// mostTyped is the most bytes that a typed question may have: anything longer is meant as material.
const mostTyped = 32 << 10

// checkTyped returns an error if a question is longer than mostTyped; it says how to pass material instead.
func checkTyped(words string) error {
	if len(words) <= mostTyped {
		return nil
	}
	return fmt.Errorf("the question has %s, and may have %s: ask in a few words, and hand the rest over as what they "+
		"are about: piped in (… | sibyl ask \"…\"), or as a file that the question names as @path",
		agent.Size(len(words)), agent.Size(mostTyped))
}

// silence is how long a question without ‘-’ waits for the first byte of standard input: an inherited pipe may stay
// open and silent for ever.
const silence = 2 * time.Second

// readStdinBeside reads standard input for a question without ‘-’, if it is a pipe or a regular file. It returns ""
// for a terminal, device or socket, and for a pipe that stays silent for wait, which a notice then reports.
func (c *command) readStdinBeside(wait time.Duration) (text string, err error) {
	if c.InTTY || c.In == nil {
		return "", nil
	}
	in := c.In
	if f, ok := in.(*os.File); ok {
		info, err := f.Stat()
		if err != nil {
			return "", nil //nolint:nilerr // a descriptor that is closed holds nothing
		}
		switch {
		case info.Mode().IsRegular():
			return readMaterial(in)
		case info.Mode()&fs.ModeNamedPipe == 0:
			return "", nil
		}
	}
	type piece struct {
		text string
		err  error
	}
	begun, all := make(chan struct{}), make(chan piece, 1)
	go func() { // without any input, it blocks until the process ends
		first := make([]byte, 1)
		n, err := io.ReadFull(in, first)
		if n == 0 {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			all <- piece{"", err}
			return
		}
		close(begun)
		rest, err := readMaterial(in)
		all <- piece{string(first) + rest, err}
	}()
	select {
	case p := <-all:
		return p.text, p.err
	case <-begun:
		p := <-all
		return p.text, p.err
	case <-time.After(wait):
		if !c.quiet && !c.asJSON {
			fmt.Fprintf(c.Err, "· standard input is open but nothing came in %s; asking without it (‘-’ after the "+
				"question waits for it)\n", wait)
		}
		return "", nil
	}
}

// readMaterial reads at most one byte more than oracle.MaxMaterial, so that callers can detect too much input.
func readMaterial(in io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, oracle.MaxMaterial+1))
	return string(text), err
}

// pipedText decodes the result of reading standard input; an error is returned with an explanation. Text longer than
// oracle.MaxMaterial is returned undecoded, since it may be cut within a character.
func pipedText(raw string, err error) (string, error) {
	if err != nil {
		return "", fmt.Errorf("reading standard input: %w", err)
	}
	if len(raw) > oracle.MaxMaterial {
		return raw, nil
	}
	text, err := doc.DecodeText(stdinName, []byte(raw))
	if err != nil {
		return "", errors.New("standard input is not text: pipe in text, hand over a document or picture with " +
			"--attach, or close it with </dev/null")
	}
	return text, nil
}

// reportIfSlow prints a notice if done isn't called within a second; never with --quiet or --json.
func (c *command) reportIfSlow(what string) (done func()) {
	if c.quiet || c.asJSON {
		return func() {}
	}
	over, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		select {
		case <-over:
		case <-time.After(time.Second):
			fmt.Fprintf(c.Err, "· %s\n", what)
		}
	}()
	return func() {
		close(over)
		<-told
	}
}

// readAttachment reads a file as the pages of a PDF or DOCX, a picture, or a text. Answers cite it by name.
func (c *command) readAttachment(ctx context.Context, file, name string) ([]doc.Part, error) {
	content, err := files.ReadNamed(file, doc.MaxFile)
	if _, known := errors.AsType[*files.Error](err); known {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, files.Cause(err))
	}
	return oracle.ReadParts(ctx, c.Documents, name, content)
}

// readMentions reads the files that a question names as @path or @"path". A name without a file is an error if it is
// quoted or looks like a file, else it is just words. Secret files are refused.
func (c *command) readMentions(ctx context.Context, words string) (parts []doc.Part, err error) {
	seen, home := map[string]bool{}, c.home()
	var names []string
	tokens := strings.Fields(quotedMention.ReplaceAllStringFunc(words, func(mention string) string {
		_, name, _ := strings.Cut(mention, `"`)
		names = append(names, strings.TrimSuffix(name, `"`))
		return " "
	}))
	quoted := len(names)
	for i, token := range tokens {
		name, ok := strings.CutPrefix(strings.TrimLeft(token, `"'“‘(`), "@")
		if !ok {
			continue
		}
		if whole := withBlanks(name, tokens[i+1:]); whole != "" && !isFile(name) {
			return nil, fmt.Errorf("@%s: there is no such file; write @\"%s\" for the file with blanks in its name",
				name, whole)
		}
		names = append(names, name)
	}
	for i, name := range names {
		if rest, below := strings.CutPrefix(name, "~/"); below && home != "" {
			name = filepath.Join(home, rest)
		}
		if i < quoted && !isFile(name) {
			return nil, fmt.Errorf("@\"%s\": there is no such file", name)
		}
		for name != "" && !isFile(name) { // strip the punctuation of the sentence
			last, size := utf8.DecodeLastRuneInString(name)
			if !unicode.IsPunct(last) {
				break
			}
			name = name[:len(name)-size]
		}
		if name == "" || seen[name] {
			continue
		}
		if !isFile(name) {
			if looksLikeFile(name) {
				return nil, fmt.Errorf("@%s: there is no such file; write it without the @ if none is meant", name)
			}
			continue
		}
		seen[name] = true
		abs, err := filepath.Abs(name)
		if err != nil {
			return nil, fmt.Errorf("@%s: %w", name, err)
		}
		behind, err := filepath.EvalSymlinks(abs)
		if err != nil {
			return nil, fmt.Errorf("@%s: %w", name, files.Cause(err))
		}
		if why := cmp.Or(files.SecretPathReason(filepath.ToSlash(abs)),
			files.SecretPathReason(filepath.ToSlash(behind))); why != "" {
			return nil, fmt.Errorf("@%s is not attached: %s; --attach takes it anyway", name, why)
		}
		cited := filepath.Clean(name)[len(filepath.VolumeName(name)):] // citations put lines after a colon
		named, err := c.readAttachment(ctx, name, filepath.ToSlash(cited))
		if err != nil {
			return nil, fmt.Errorf("@%w", err)
		}
		parts = append(parts, named...)
	}
	return parts, nil
}

// quotedMention matches the mention of a file with spaces in its name: @"My Report.pdf".
var quotedMention = regexp.MustCompile(`@"[^"\n]+"`)

// mostBlanks is how many words after a name withBlanks tries as the rest of it.
const mostBlanks = 6

// withBlanks returns the existing file whose name consists of name and the next words; "" if there is none.
func withBlanks(name string, next []string) string {
	for _, word := range next[:min(mostBlanks, len(next))] {
		name += " " + word
		if whole := strings.TrimRight(name, `.,;:!?)"'”’`); isFile(whole) {
			return whole
		}
	}
	return ""
}

// looksLikeFile reports whether a name has an extension of a file: 2 to 4 bytes, and none that web addresses have.
// Hidden files don't count.
func looksLikeFile(name string) bool {
	ending := filepath.Ext(name)
	return len(ending) >= 3 && len(ending) <= 5 && !strings.HasPrefix(filepath.Base(name), ".") &&
		!slices.Contains([]string{".com", ".org", ".net", ".io", ".dev"}, ending)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// checkMaterialSize returns an error if the texts together exceed oracle.MaxMaterial; it says what to do instead.
func checkMaterialSize(parts []doc.Part) error {
	n := 0
	for _, p := range parts {
		if p.Type == "" { // pictures have their own limits
			n += len(p.Text)
		}
	}
	if n <= oracle.MaxMaterial {
		return nil
	}
	return fmt.Errorf("the material is larger than %d KB: attach less of it, or put it in a folder and ask with "+
		"--in, or with --vault if it is documents", oracle.MaxMaterial>>10)
}
