package document

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"sibyl/internal/files"
	"sibyl/internal/redact"
)

// Reader reads documents. The zero Reader is ready. It is safe for concurrent use.
type Reader struct {
	// Command starts a process that calls Serve, and PDFs are read in it. Without one they are read in this process, which a PDF that is
	// made for it can end.
	Command []string
}

// Read reads the file name below root. The error is an *Error, that of ctx, or says why Command can't be started.
func (r Reader) Read(ctx context.Context, root *os.Root, name string) (Document, error) {
	d, err := r.read(ctx, root, name)
	return d, of(name, err)
}

func (r Reader) read(ctx context.Context, root *os.Root, name string) (Document, error) {
	if err := ctx.Err(); err != nil {
		return Document{}, err
	}
	if err := files.NoLinks(root, name); err != nil {
		return Document{}, unopened(err)
	}
	most := MaxFile
	if !isNamed(name) {
		most = header // pictures and films are not read to find that they are none
	}
	f, err := files.Read(root, name, most)
	if err == nil && f.Cut && most < MaxFile && mayBe(f.Content) {
		most = MaxFile
		f, err = files.Read(root, name, most)
	}
	switch {
	case err != nil:
		return Document{}, unopened(err)
	case f.Cut && most < MaxFile:
		return Document{}, unsupported()
	case f.Cut:
		return Document{}, refuse(TooLarge, "it is larger than %d MB; split it", MaxFile>>20)
	}
	d := Document{Name: name, Path: path.Join(root.Name(), name), Hash: files.Hash(f.Content)}
	if err := r.take(ctx, &d, f.Content); err != nil {
		return Document{}, err
	}
	return d, nil
}

// take reads what a file of the document's name holds.
func (r Reader) take(ctx context.Context, d *Document, content []byte) (err error) {
	if d.Kind, err = kindOf(d.Name, content); err != nil {
		return err
	}
	switch d.Kind {
	case PDF:
		err = r.readPDF(ctx, d, content)
	case DOCX:
		err = readDOCX(ctx, d, content)
	default:
		err = readText(d, content)
	}
	if err != nil {
		return err
	}
	for i := range d.Pages { // before it is parted into chunks
		d.Pages[i].Text = redact.Text(d.Pages[i].Text)
	}
	return nil
}

// unopened turns an error of the file system into a refusal.
func unopened(err error) *Error {
	failed, _ := errors.AsType[*files.Error](err)
	switch {
	case failed != nil && failed.Reason == files.Linked:
		return refuse(Linked, "it is a symbolic link, or lies behind one; links are not followed")
	case failed != nil && failed.Reason == files.NoFile:
		return refuse(Unsupported, "it is not a regular file")
	case errors.Is(err, fs.ErrNotExist):
		return &Error{Reason: Unreadable, text: "there is no such file", err: err}
	case errors.Is(err, fs.ErrPermission):
		return &Error{Reason: Unreadable, text: "it may not be read; its permissions refuse it", err: err}
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err // where the root lies is nobody else's business
	}
	return refuse(Unreadable, "it could not be read: %w", err)
}

// header is how far into a PDF its first line may lie.
const header = 1 << 10

// kindOf tells the kind of a file.
func kindOf(name string, content []byte) (string, error) {
	ending := strings.ToLower(path.Ext(name))
	switch {
	case len(bytes.TrimSpace(content)) == 0:
		return "", refuse(Empty, "there is nothing in it")
	case bytes.Contains(content[:min(len(content), header)], []byte("%PDF-")):
		return PDF, nil
	case bytes.HasPrefix(content, []byte("PK\x03\x04")) && (ending == ".docx" || isDOCX(content)):
		return DOCX, nil
	case bytes.HasPrefix(content, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		if ending == ".docx" {
			return "", refuse(Encrypted, "it is protected with a password; save it without one")
		}
		return "", refuse(Unsupported, "it is a document of an old Office; save it as DOCX or PDF")
	case ending == ".pdf", ending == ".docx":
		return "", refuse(Damaged, "it is named %s, and its content is not; it may be cut off or still be loading", ending)
	case ending == ".txt", ending == ".text":
		return Text, nil
	case ending == ".md", ending == ".markdown":
		return Markdown, nil
	}
	return "", unsupported()
}

func unsupported() *Error { return refuse(Unsupported, "it is none of TXT, MD, PDF and DOCX") }

// IsText says whether a name is one of a document that is plain text, or Markdown.
func IsText(name string) bool {
	return slices.Contains([]string{".txt", ".text", ".md", ".markdown"}, strings.ToLower(path.Ext(name)))
}

// isNamed says whether a name is one of a document.
func isNamed(name string) bool {
	return IsText(name) || slices.Contains([]string{".pdf", ".docx"}, strings.ToLower(path.Ext(name)))
}

// mayBe says whether a file that begins so may be a PDF or DOCX.
func mayBe(beginning []byte) bool {
	return bytes.Contains(beginning, []byte("%PDF-")) || bytes.HasPrefix(beginning, []byte("PK\x03\x04"))
}
