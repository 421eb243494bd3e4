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

// stdinName is how lines of standard input are cited.
const stdinName = "stdin"

// mostTyped bounds the words of a question that is typed or given as arguments, in bytes: what is longer is material,
// and no question.
const mostTyped = 32 << 10

// checkTyped refuses a question that is too long to have been meant as one.
func checkTyped(words string) error {
	if len(words) <= mostTyped {
		return nil
	}
	return fmt.Errorf("the question has %s, and may have %s: ask in a few words, and hand the rest over as what they "+
		"are about: piped in (… | sibyl ask \"…\"), or as a file that the question names as @path",
		agent.Size(len(words)), agent.Size(mostTyped))
}

// silence bounds the wait for the first byte of standard input that nobody asked for: what is inherited may stay open
// and silent for ever.
const silence = 2 * time.Second

// readStdinBeside reads standard input beside a question, without a ‘-’: a pipe or a file with something in it. A
// terminal, a device and a socket are none, and a pipe in which nothing stands in time is left alone, with a line that
// says so.
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
	go func() { // where nothing ever comes, it waits until the process ends
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

// readMaterial reads at most one byte more than is taken, so that the bound can be told from the end.
func readMaterial(in io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, oracle.MaxMaterial+1))
	return string(text), err
}

// pipedText is what was read of standard input as text, in whichever encoding files are read. What is too long for
// material may be cut within a character, and stays as it is.
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

// reportIfSlow tells of what takes longer than a second. Done says that it has ended.
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

// readAttachment reads a file that is handed over: the pages of a PDF or DOCX, a picture, or a text. Answers cite it by
// the name, with which errors begin.
func (c *command) readAttachment(ctx context.Context, file, name string) ([]doc.Part, error) {
	content, err := files.ReadNamed(file, doc.MaxFile)
	if _, known := errors.AsType[*files.Error](err); known {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, files.Cause(err))
	}
	return oracle.ReadParts(ctx, c.Documents, name, content)
}

// readMentions reads the files that a question names as @path. What has no ending of a file stays words if there is no
// such file.
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
		for name != "" && !isFile(name) { // the marks of the sentence around it
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
		cited := filepath.Clean(name)[len(filepath.VolumeName(name)):] // a colon parts a name from its lines
		named, err := c.readAttachment(ctx, name, filepath.ToSlash(cited))
		if err != nil {
			return nil, fmt.Errorf("@%w", err)
		}
		parts = append(parts, named...)
	}
	return parts, nil
}

// quotedMention is a file whose name has blanks: @"My Report.pdf".
var quotedMention = regexp.MustCompile(`@"[^"\n]+"`)

// mostBlanks bounds how many words behind a name are looked at for the rest of it.
const mostBlanks = 6

// withBlanks is the file that a name begins, and the next words go on with; "": there is none.
func withBlanks(name string, next []string) string {
	for _, word := range next[:min(mostBlanks, len(next))] {
		name += " " + word
		if whole := strings.TrimRight(name, `.,;:!?)"'”’`); isFile(whole) {
			return whole
		}
	}
	return ""
}

// looksLikeFile says that a name has the ending of a file: an address or the name of a person has none, a package none
// or a longer one.
func looksLikeFile(name string) bool {
	ending := filepath.Ext(name)
	return len(ending) >= 3 && len(ending) <= 5 && !strings.HasPrefix(filepath.Base(name), ".") &&
		!slices.Contains([]string{".com", ".org", ".net", ".io", ".dev"}, ending)
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// checkMaterialSize says that the material is over the bound, and what would help.
func checkMaterialSize(parts []doc.Part) error {
	n := 0
	for _, p := range parts {
		if p.Type == "" { // pictures have bounds of their own
			n += len(p.Text)
		}
	}
	if n <= oracle.MaxMaterial {
		return nil
	}
	return fmt.Errorf("the material is larger than %d KB: attach less of it, or put it in a folder and ask with "+
		"--in, or with --vault if it is documents", oracle.MaxMaterial>>10)
}
