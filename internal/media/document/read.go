package document

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klippa-app/go-pdfium"

	"sibyl/internal/files"
	"sibyl/internal/redact"
)

// Reader reads documents. It is safe for concurrent use, and reads one PDF at a time.
type Reader struct {
	cacheFolder string
	pdfiumSlot  chan struct{} // holds a value while PDFium is used
	pdfium      pdfium.Pool   // nil before the first PDF
	cached      documentCache
}

// NewReader makes a Reader. cache is a folder of this program in which the compiled PDFium is kept; "": reading the
// first PDF takes seconds longer.
func NewReader(cache string) *Reader {
	return &Reader{cacheFolder: cache, pdfiumSlot: make(chan struct{}, 1)}
}

// Close frees the memory of PDFium, unless a PDF is being read.
func (r *Reader) Close() {
	select {
	case r.pdfiumSlot <- struct{}{}:
		if r.pdfium != nil {
			_ = r.pdfium.Close() // it held only memory
			r.pdfium = nil
		}
		<-r.pdfiumSlot
	default:
	}
}

// Read reads a file with this content. Errors and citations use the name. The error is an *Error, that of ctx, or says
// why no PDF can be read here.
func (r *Reader) Read(ctx context.Context, name string, content []byte) (Document, error) {
	d := Document{Name: name, Hash: files.Hash(content)}
	if r.cached.fill(&d) {
		return d, nil
	}
	kind, err := r.readContent(ctx, &d, content)
	if err != nil {
		return Document{}, withFile(name, err)
	}
	if kind != ".txt" { // reading it again is fast
		r.cached.add(d)
	}
	return d, nil
}

// ReadAll reads a file, or the documents of a folder and of the folders in it, in the order of their names. Files that
// could not be read are in failed, in that order too. Hidden files and folders are left out, and files whose names say
// that they hold secrets are refused, unless name is such a file. The error is that of ctx, or says why name can't be
// opened or PDFs can't be read here.
func (r *Reader) ReadAll(ctx context.Context, name string) (docs []Document, failed []*Error, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, nil, withFile(name, openError(err))
	}
	folder, fileName := name, ""
	if !info.IsDir() {
		// A person who names a file may name a link: the file behind it is what is meant.
		if folder, err = filepath.EvalSymlinks(name); err != nil {
			return nil, nil, withFile(name, openError(err))
		}
		folder, fileName = filepath.Split(folder)
		folder = filepath.Clean(folder)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil, withFile(name, openError(err))
	}
	defer func() { _ = root.Close() }() // opened for reading only
	reading := folderRead{reader: r, root: root}
	if fileName != "" {
		err = reading.readFile(ctx, fileName, info.Size())
	} else {
		err = reading.readFolder(ctx, ".", 1)
	}
	return reading.docs, reading.failed, err
}

// folderRead is the state of one ReadAll.
type folderRead struct {
	reader    *Reader
	root      *os.Root
	files     int
	bytes     int64 // of files
	textBytes int64 // bytes of text in them
	docs      []Document
	failed    []*Error
}

func (r *folderRead) addFailure(name string, e *Error) {
	e.File = name
	r.failed = append(r.failed, e)
}

// readFolder reads the files and folders in a folder. Its error is that of readFile.
func (r *folderRead) readFolder(ctx context.Context, name string, depth int) error {
	if depth > MaxDepth {
		r.addFailure(name, refuse(TooLarge, "folders lie deeper in each other than %d; give this one by itself", MaxDepth))
		return nil
	}
	infos, err := files.List(r.root, name)
	if err != nil {
		r.addFailure(name, openError(err))
		return nil
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return cmp.Compare(a.Name(), b.Name()) })
	for _, info := range infos {
		if strings.HasPrefix(info.Name(), ".") {
			continue
		}
		child := path.Join(name, info.Name())
		if why := files.SecretReason(path.Base(name), info.Name(), info.IsDir()); why != "" {
			r.addFailure(child, refuse(Closed, "%s; name the file itself if it is meant", why))
			continue
		}
		if info.IsDir() {
			err = r.readFolder(ctx, child, depth+1)
		} else {
			err = r.readFile(ctx, child, info.Size())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readFile reads a file, and notes its failure. The error is that of ctx, or says why no file of its kind can be read.
func (r *folderRead) readFile(ctx context.Context, name string, size int64) error {
	switch r.files++; {
	case r.files == MaxFiles+1:
		r.addFailure(name, refuse(TooLarge,
			"there are more than %d files in the folder; this one and those after it are not read", MaxFiles))
	case r.files > MaxFiles:
	case r.bytes+size > MaxFolder && size <= MaxFile:
		r.addFailure(name, refuse(TooLarge, "the documents of the folder are together larger than %d MB; give fewer",
			MaxFolder>>20))
	case IsText(name) && r.textBytes+size > MaxTexts:
		r.addFailure(name, tooMuchTextError())
	default:
		d, err := r.readDocument(ctx, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if refused, ok := errors.AsType[*Error](err); ok {
			r.addFailure(name, refused)
			return nil
		}
		if err != nil {
			return err
		}
		if r.textBytes+d.size() > MaxTexts {
			r.addFailure(name, tooMuchTextError())
			return nil
		}
		r.textBytes += d.size()
		r.bytes += size
		r.docs = append(r.docs, d)
	}
	return nil
}

func tooMuchTextError() *Error {
	return refuse(TooLarge, "the documents of the folder hold more than %d MB of text together; give fewer",
		MaxTexts>>20)
}

// readDocument reads the file `name`. If the name is no document's, such as a film's, it first reads the beginning.
func (r *folderRead) readDocument(ctx context.Context, name string) (Document, error) {
	if err := files.NoLinks(r.root, name); err != nil {
		return Document{}, openError(err)
	}
	limit := MaxFile
	if !IsText(name) && !IsPDFOrDOCX(name) {
		limit = headerSize
	}
	f, err := files.Read(r.root, name, limit)
	if err == nil && f.Cut && limit < MaxFile {
		if !MayBePDFOrDOCX(f.Content) {
			return Document{}, unsupportedError()
		}
		f, err = files.Read(r.root, name, MaxFile)
	}
	if err != nil {
		return Document{}, openError(err)
	}
	if f.Cut {
		return Document{}, refuse(TooLarge, "it is larger than %d MB; split it", MaxFile>>20)
	}
	return r.reader.Read(ctx, name, f.Content)
}

// readContent reads the content of a file into d, and returns its kind as kindOf does.
func (r *Reader) readContent(ctx context.Context, d *Document, content []byte) (kind string, err error) {
	if len(content) > MaxFile {
		return "", refuse(TooLarge, "it is larger than %d MB; split it", MaxFile>>20)
	}
	kind, err = kindOf(d.Name, content)
	switch kind {
	case ".pdf":
		err = r.readPDF(ctx, d, content)
	case ".docx":
		err = readDOCX(ctx, d, content)
	case ".txt":
		err = readText(d, content)
	}
	for i := range d.Pages { // before it is split into chunks
		d.Pages[i].Text = redact.Text(d.Pages[i].Text)
	}
	return kind, err
}

// openError makes an *Error of an error of the file system.
func openError(err error) *Error {
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
	return refuse(Unreadable, "it could not be read: %w", files.Cause(err))
}

// headerSize is how many bytes may precede the first line of a PDF.
const headerSize = 1 << 10

// kindOf returns the kind of a file: ".pdf", ".docx" or ".txt".
func kindOf(name string, content []byte) (string, error) {
	ending := strings.ToLower(path.Ext(name))
	switch {
	case len(bytes.TrimSpace(content)) == 0:
		return "", refuse(Empty, "there is nothing in it")
	case bytes.Contains(content[:min(len(content), headerSize)], []byte("%PDF-")):
		return ".pdf", nil
	case bytes.HasPrefix(content, []byte("PK\x03\x04")) && (ending == ".docx" || isDOCX(content)):
		return ".docx", nil
	case bytes.HasPrefix(content, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		if ending == ".docx" {
			return "", refuse(Encrypted, "it is protected with a password; save it without one")
		}
		return "", refuse(Unsupported, "it is a document of an old Office; save it as DOCX or PDF")
	case ending == ".pdf", ending == ".docx":
		return "", refuse(Damaged, "it is named %s, and its content is not; it may be cut off or still be loading",
			ending)
	case IsText(name):
		return ".txt", nil
	}
	return "", unsupportedError()
}

func unsupportedError() *Error { return refuse(Unsupported, "it is none of TXT, MD, PDF and DOCX") }

// IsText says whether a name is that of plain text or Markdown.
func IsText(name string) bool {
	return slices.Contains([]string{".txt", ".text", ".md", ".markdown"}, strings.ToLower(path.Ext(name)))
}

// IsPDFOrDOCX says whether a name is that of a PDF or a DOCX.
func IsPDFOrDOCX(name string) bool {
	return slices.Contains([]string{".pdf", ".docx"}, strings.ToLower(path.Ext(name)))
}

// MayBePDFOrDOCX says whether a file with this beginning may be a PDF or DOCX, whatever its name.
func MayBePDFOrDOCX(beginning []byte) bool {
	return bytes.Contains(beginning[:min(len(beginning), headerSize)], []byte("%PDF-")) ||
		bytes.HasPrefix(beginning, []byte("PK\x03\x04"))
}
