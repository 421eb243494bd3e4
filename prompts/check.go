package prompts

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// MostBytes is how long a prompt may be.
const MostBytes = 256 << 10

// Names are the prompts, by assistant and name, as FS has them: “oracle/base.md”.
func Names() ([]string, error) { return fs.Glob(FS, "*/*.md") }

// Read gives the text of a prompt as it stands in fsys, and what is wrong with it whichever assistant it is of. What is
// longer than MostBytes is cut.
func Read(fsys fs.FS, name string) (text string, wrong error) {
	file, err := fsys.Open(name)
	if err != nil {
		return "", errors.New("it can't be opened")
	}
	defer func() { _ = file.Close() }() // only read: nothing can be lost
	data, err := io.ReadAll(io.LimitReader(file, MostBytes+1))
	switch {
	case err != nil:
		return "", errors.New("it can't be read")
	case len(data) > MostBytes:
		return strings.ToValidUTF8(string(data[:MostBytes]), ""), errors.New("it is too long for any model: shorten it")
	case !utf8.Valid(data):
		return strings.ToValidUTF8(string(data), "\ufffd"), errors.New("it is not UTF-8 text: save it as UTF-8")
	case strings.TrimSpace(string(data)) == "":
		return string(data), errors.New("it is empty: write it, or remove the file to use the built-in one")
	}
	return string(data), nil
}
