package vault

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	doc "sibyl/internal/media/document"
	"sibyl/internal/tool"
)

// stateDir holds Sibyl's own files. Its leading dot hides it from every tool.
const stateDir = ".sibyl"

// threadDir holds the threads.
const threadDir = "threads"

const (
	maxName    = 200 // bytes of one name: file systems end at 255, and sync programs add to names
	maxFolders = 15  // around a new note
)

// nameKey returns the form in which names, titles, tags and headings are compared: composed, in lower case, trimmed.
func nameKey(s string) string {
	s = norm.NFC.String(strings.TrimSpace(s))
	return strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, s)
}

// isNote says whether a file of this name is a note.
func isNote(name string) bool {
	return strings.EqualFold(path.Ext(name), ".md") && len(name) > len(".md")
}

// isThread says whether the note at p is a thread.
func isThread(p string) bool { return path.Dir(p) == threadDir && isNote(path.Base(p)) }

// noteName returns the name of the note at p as links use it: without folder and ending.
func noteName(p string) string {
	base := path.Base(p)
	if isNote(base) {
		return base[:len(base)-len(".md")]
	}
	return base
}

// isUnder says whether p is in folder, at any depth. Everything is in ".".
func isUnder(p, folder string) bool { return folder == "." || strings.HasPrefix(p, folder+"/") }

// checkPath refuses a path that leads out of the vault or to something hidden.
func checkPath(p string) error {
	names := strings.Split(p, "/")
	switch {
	case strings.ContainsRune(p, '\\'):
		return tool.Errorf(tool.InvalidArgs, "put / between folders", "the path %q has a backslash", p)
	case strings.HasPrefix(p, "/"), slices.Contains(names, ".."):
		return tool.Errorf(tool.Denied, "paths are relative to the vault's folder",
			"the path %q leads out of the vault", p)
	case strings.ContainsRune(p, 0), !fs.ValidPath(p):
		return tool.Errorf(tool.InvalidArgs, "give a path such as projects/cache.md", "%q is not a path", p)
	case p != "." && slices.ContainsFunc(names, isHidden):
		return tool.Errorf(tool.Denied, "", "%q is hidden: names that start with a dot are not part of the vault", p)
	}
	return nil
}

func isHidden(name string) bool { return strings.HasPrefix(name, ".") }

// checkNotePath refuses a path that no note can have.
func checkNotePath(p string) error {
	if err := checkPath(p); err != nil {
		return err
	}
	if doc.IsPDFOrDOCX(p) {
		return tool.Errorf(tool.Denied, "write a note, with a path that ends with .md",
			"%q is a PDF or DOCX: those are read, and never written", p)
	}
	if !isNote(path.Base(p)) {
		return tool.Errorf(tool.InvalidArgs, "end the path with .md", "%q is not a Markdown note", p)
	}
	return nil
}

// newNotePath checks the names of the folders and the note to be made in a folder, and returns the note's path.
func newNotePath(folder string, names []string) (string, error) {
	p := path.Join(folder, norm.NFC.String(path.Join(names...)))
	if path.Ext(p) != ".md" {
		return "", tool.Errorf(tool.InvalidArgs, "end the path with .md", "%q is not the path of a new note", p)
	}
	if strings.Count(p, "/") > maxFolders {
		return "", tool.Errorf(tool.InvalidArgs, "", "%q lies more than %d folders deep", p, maxFolders)
	}
	for i, name := range names {
		if i == len(names)-1 {
			name = noteName(name)
		}
		if err := checkNewName(name); err != nil {
			return "", err
		}
	}
	return p, nil
}

// checkNewName refuses a name, of a folder or of a note without its ending, that some file system, sync program or link
// can't represent.
func checkNewName(name string) error {
	const special = `<>:"/\|?*#^[]`
	isControl := func(r rune) bool {
		return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
	}
	var why string
	switch {
	case isHidden(name):
		return tool.Errorf(tool.Denied, "choose another name", "the name %q starts with a dot, which hides it", name)
	case name == "":
		why = "is empty"
	case !utf8.ValidString(name):
		why = "is not valid UTF-8"
	case len(name) > maxName:
		return tool.Errorf(tool.InvalidArgs, "", "a name has %d bytes; at most %d are allowed", len(name), maxName)
	case strings.TrimSpace(name) != name, strings.HasSuffix(name, "."):
		why = "starts or ends with a space, or ends with a dot"
	case isDevice(name):
		why = "is reserved by Windows"
	case strings.ContainsFunc(name, isControl):
		why = "has a control character"
	case strings.ContainsAny(name, special):
		why = "has one of the characters " + special + ", which links or file systems give a meaning"
	default:
		return nil
	}
	return tool.Errorf(tool.InvalidArgs, "choose another name", "the name %q %s", name, why)
}

// isDevice says whether a name is CON, NUL, COM1 or the like, also before an ending.
func isDevice(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	stem = strings.TrimSpace(stem)
	if port, ok := strings.CutPrefix(strings.Replace(stem, "LPT", "COM", 1), "COM"); ok {
		return utf8.RuneCountInString(port) == 1 && strings.Contains("0123456789¹²³", port)
	}
	return slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, stem)
}
