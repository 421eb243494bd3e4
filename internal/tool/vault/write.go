package vault

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"golang.org/x/text/unicode/norm"

	"sibyl/internal/files"
	"sibyl/internal/redact"
	"sibyl/internal/text/markdown"
	"sibyl/internal/tool"
)

const (
	modeCreate  = "create"
	modeAppend  = "append"
	modeReplace = "replace"
)

type writeArgs struct {
	Path     string `json:"path" doc:"ends in .md"`
	Mode     string `json:"mode" enum:"create,append,replace"`
	Content  string `json:"content"`
	BaseHash string `json:"base_hash,omitempty" doc:"from vault_read, to replace"`
}

func (v *Vault) writeTool() tool.Tool {
	return newWriteTool(v, tool.Spec{
		Name: "vault_write", Destructive: true, Target: "path",
		Description: "Creates a note, appends to one, or replaces one. Only when the user asks for it.",
	}, v.planWrite)
}

func (v *Vault) planWrite(_ string, args writeArgs) (change, error) {
	if err := checkNotePath(args.Path); err != nil {
		return change{}, err
	}
	if top, _, _ := strings.Cut(args.Path, "/"); nameKey(top) == threadDir {
		return change{}, tool.Errorf(tool.Denied, "use thread_push",
			"%s lies among the threads, which only grow by whole entries", args.Path)
	}
	if err := checkWrite(args); err != nil {
		return change{}, err
	}
	return change{
		Appends: args.Mode != modeReplace,
		Locate:  func() (string, error) { return v.resolvePath(args.Path) },
		Apply: func(p string, before files.File) ([]byte, tool.Result, error) {
			return applyWrite(p, args, before)
		},
	}, nil
}

func checkWrite(args writeArgs) error {
	switch hasHash := args.BaseHash != ""; {
	case args.Mode == modeReplace && !hasHash:
		return tool.Errorf(tool.InvalidArgs, "read the note with vault_read and pass its hash",
			"base_hash is missing: replace needs it")
	case args.Mode == modeCreate && hasHash:
		return tool.Errorf(tool.InvalidArgs, "leave it out", "base_hash has no meaning for a note that is created")
	case hasHash && !isHash(args.BaseHash):
		return tool.Errorf(tool.InvalidArgs, "pass the hash as vault_read gave it",
			"base_hash is not sha256: and 64 hex digits")
	}
	return checkContent("content", args.Content, maxContent)
}

func isHash(s string) bool {
	digits, found := strings.CutPrefix(s, "sha256:")
	return found && len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == ""
}

// checkContent refuses a text with NUL characters, or one that is too long.
func checkContent(name, text string, limit int) error {
	if strings.ContainsRune(text, 0) {
		return tool.Errorf(tool.InvalidArgs, "", "%s has a NUL character: it is not text", name)
	}
	if len(text) > limit {
		return tool.Errorf(tool.TooLarge, "write it in parts", "%s has %d bytes; at most %d are written at once",
			name, len(text), limit)
	}
	return nil
}

// applyWrite returns the new content of a note. It makes pictures and HTML in it inert, since it may be a stranger's
// words. Only a note that holds a picture or HTML already may be replaced by one that does.
func applyWrite(p string, args writeArgs, before files.File) ([]byte, tool.Result, error) {
	var refused *tool.Error
	switch {
	case args.Mode == modeCreate && before.Exists():
		refused = tool.Errorf(tool.Conflict, "append to it, or replace it after reading it", "%s exists already", p)
	case args.Mode != modeCreate && !before.Exists():
		refused = tool.Errorf(tool.NotFound, "use mode create", "there is no note at %s", p)
	case args.BaseHash != "" && args.BaseHash != files.Hash(before.Content):
		refused = tool.Errorf(tool.Conflict, "read it again with vault_read, then write",
			"%s has changed since it was read", p)
	}
	if refused == nil && args.Mode == modeReplace &&
		strings.Count(args.Content, redact.Mark) > bytes.Count(before.Content, []byte(redact.Mark)) {
		refused = tool.Errorf(tool.Denied, "append to it, or leave these lines to the person",
			"%s has a secret where the new text has %s: replacing it would lose it", p, redact.Mark)
	}
	if refused != nil {
		return nil, tool.Result{}, refused
	}
	start := 1
	content := args.Content
	switch {
	case args.Mode == modeAppend:
		content = markdown.InertBehind(string(appendable(before.Content)), content)
	case args.Mode == modeCreate || !markdown.Live(string(before.Content)):
		content = markdown.Inert(content)
	}
	after := []byte(strings.TrimSuffix(content, "\n") + "\n")
	verb := map[string]string{modeCreate: "Created", modeAppend: "Appended to", modeReplace: "Replaced"}[args.Mode]
	if args.Mode == modeAppend {
		base := appendable(before.Content)
		start = countLines(base) + 1
		after = append(base, inLineEndsOf(base, string(after))...)
	}
	ref := tool.Ref{Source: tool.Vault, Path: p, Start: start, End: countLines(after), Hash: files.Hash(after)}
	text := fmt.Sprintf("%s %s: lines %d-%d of %d.\nHash: %s\n", verb, p, start, ref.End, ref.End, ref.Hash)
	if strings.Contains(args.Content, redact.Mark) {
		text += "It holds " + redact.Mark + " where a secret was taken out of what was to be written.\n"
	}
	res, err := newResult(text, nil, []tool.Ref{ref}, false)
	return after, res, err
}

// appendable returns a copy of a note's content that ends with a line end, in the note's own style.
func appendable(raw []byte) []byte {
	raw = bytes.Clone(raw)
	if len(raw) == 0 || bytes.HasSuffix(raw, []byte("\n")) {
		return raw
	}
	return append(raw, inLineEndsOf(raw, "\n")...)
}

// inLineEndsOf returns text with the line ends of a note's first line.
func inLineEndsOf(raw []byte, text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if i := bytes.IndexByte(raw, '\n'); i > 0 && raw[i-1] == '\r' {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

func countLines(raw []byte) int {
	n := bytes.Count(raw, []byte("\n"))
	if len(raw) > 0 && !bytes.HasSuffix(raw, []byte("\n")) {
		n++
	}
	return n
}

// resolvePath returns the path of the note at p as the vault spells it or, if p is new, as it will be spelled. Forms
// that Unicode takes for the same are the same name. If an existing name differs only in case, that is an error: not
// every system can hold both, and a link could mean either.
func (v *Vault) resolvePath(p string) (string, error) {
	folder := "."
	names := strings.Split(p, "/")
	for i, name := range names {
		present, err := v.presentName(folder, name)
		if err != nil {
			return "", err
		}
		if present == "" {
			return newNotePath(folder, names[i:])
		}
		here := path.Join(folder, present)
		if norm.NFC.String(present) != norm.NFC.String(name) {
			return "", tool.Errorf(tool.Conflict, "use that spelling",
				"%s exists, and %q differs from it only in case", here, name)
		}
		if i < len(names)-1 {
			if err := v.checkFolder(here); err != nil {
				return "", err
			}
		}
		folder = here
	}
	return folder, nil
}

// presentName returns the entry of a folder with this name, or one that differs only in spelling; "" if there is none.
func (v *Vault) presentName(folder, name string) (string, error) {
	infos, err := files.List(v.root, folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var same, similar string
	for _, info := range infos {
		other := info.Name()
		switch {
		case other == name:
			return name, nil
		case norm.NFC.String(other) == norm.NFC.String(name):
			same = other
		case nameKey(other) == nameKey(name) && (similar == "" || other < similar):
			similar = other
		}
	}
	return cmp.Or(same, similar), nil
}

func (v *Vault) checkFolder(p string) error {
	info, err := v.root.Lstat(p)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return tool.Errorf(tool.Denied, "", "%s is a symbolic link, and links are not followed", p)
	case !info.IsDir():
		return tool.Errorf(tool.InvalidArgs, "choose another path", "%s is a file, not a folder", p)
	}
	return nil
}
