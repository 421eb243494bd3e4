// Package vault lets an assistant search, read and write a folder of Markdown notes, and keep threads in it.
//
// A vault is a folder such as Obsidian keeps: notes ending in .md with YAML front matter, [[links]] between them, and
// tags. A thread is an append-only note: one file under threads/, each entry under a header line with a time and an id.
// PDFs and DOCX in the vault are found and read too, by pages if they have them, and never written.
//
// Guarantees:
//   - Confinement. Every file is reached through os.Root. Symbolic links are not followed, and a name that starts with
//     a dot does not exist for any tool; Sibyl's own state lies in .sibyl/ and so cannot be listed, searched or read.
//   - Atomic writes. A note holds its old content or its new one, never a part. Content is synced before it replaces
//     the old one, and the folder afterwards; what a crash leaves behind is in .sibyl, where no tool sees it.
//   - Once. A write with a key that was already used performs nothing and returns the first result, also after a crash
//     at any point, as long as its receipt is among the last 4096.
//   - Exclusion. Writers take turns by a lock file, also between processes: an append never loses another's append.
//     Changes by programs that ignore the lock (an editor) are noticed until the new content replaces the old one: the
//     write is then refused.
//   - Undo. With a shelf, what a write replaces is kept for a time, and can be restored while the note is as the write
//     left it.
//   - Order. The same notes give the same results in the same order: nothing depends on file times.
//   - Bounds. At most 4 MiB of a note, and 50,000 notes and 2,000 documents of a vault are read, and every result is
//     within tool.MaxText. Documents are read when they are first searched or opened; a search covers 64 MiB of their
//     texts.
//
// Every call looks at the vault again, and sees what other programs have changed. A search reads the notes, and counts
// words only in those that may hold one of the question's. Of each note at most 200 hashes of names are kept between
// calls: they say which notes to read for a name, and unchanged notes are not read again for them.
package vault

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"

	"sibyl/internal/files"
	doc "sibyl/internal/media/document"
	"sibyl/internal/tool"
)

const (
	maxNote     = 64 << 20 // bytes of a note that are read
	largeNote   = 4 << 20  // bytes of a note above which one is read at a time
	maxWritten  = 4 << 20  // bytes that a note may have before and after a write
	maxContent  = 1 << 20  // bytes of one vault_write
	maxEntry    = 32 << 10
	maxNotes    = 50_000
	maxDepth    = 64
	maxReceipts = 4096

	lockWait = 10 * time.Second // no write takes longer: after that, another program hangs
)

const missingHint = "set --vault, or `vault` in the configuration, to a folder of Markdown notes"

// Vault is an open folder of notes. It is safe for concurrent use.
type Vault struct {
	root     *os.Root
	now      func() time.Time
	writes   files.Changer[tool.Result]
	maxNotes int
	// of a note that are read
	noteBytes int
	large     chan struct{} // holds a value while a large note is held in memory
	names     nameCache
	surveys   surveys

	documents     *doc.Reader
	readTimeout   time.Duration
	maxTexts      int                          // bytes of the documents' texts that a search covers
	documentsMu   sync.Mutex                   // held while a search reads documents
	documentsRead map[string]*searchedDocument // by path, of the last search; guarded by documentsMu
}

// Open opens the vault in folder dir. It changes nothing there: a vault on read-only media can be read. What a write
// replaces is kept on the shelf, and can be restored by Undo; if it can't be kept, the write is refused. Without a
// shelf (nil) nothing is kept. documents reads PDFs and DOCX; without it (nil) they are ignored. If the folder is not
// set, does not exist or can't be opened, the error is a *tool.Error of kind Unavailable.
func Open(dir string, shelf *files.Shelf, documents *doc.Reader) (*Vault, error) {
	if dir == "" {
		return nil, tool.Errorf(tool.Unavailable, missingHint, "no vault is configured")
	}
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, tool.Errorf(tool.Unavailable, missingHint, "there is no vault at %s", dir)
	case err != nil:
		return nil, tool.Errorf(tool.Unavailable, missingHint, "the vault cannot be opened: %w", err)
	}
	return &Vault{
		root: root,
		now:  time.Now,
		writes: files.Changer[tool.Result]{
			Root: root, State: stateDir, MaxFile: maxWritten, Receipts: maxReceipts, LockWait: lockWait, Shelf: shelf,
		},
		maxNotes: maxNotes, noteBytes: maxNote, large: make(chan struct{}, 1),
		documents: documents, readTimeout: defaultReadTimeout, maxTexts: doc.MaxTexts,
	}, nil
}

// Close closes the folder. Later calls fail with kind Unavailable.
func (v *Vault) Close() error { return v.root.Close() }

// Tools returns the tools of this vault: vault_search, vault_read, vault_list, vault_write, thread_push, thread_read,
// thread_seek and thread_list. The two that write, vault_write and thread_push, implement tool.Finder.
func (v *Vault) Tools() []tool.Tool {
	return []tool.Tool{
		v.searchTool(), v.readTool(), v.listTool(), v.writeTool(),
		v.pushTool(), v.threadReadTool(), v.seekTool(), v.threadListTool(),
	}
}

// readFile reads the note at p, unless a part of the path is a symbolic link.
func (v *Vault) readFile(p string) (files.File, error) {
	if err := files.NoLinks(v.root, p); err != nil {
		return files.File{}, err
	}
	return files.Read(v.root, p, v.noteBytes)
}

// newReadTool makes a repeatable tool that runs on a new look at the vault at each call.
func newReadTool[S, A any](
	look func(context.Context) (S, error), spec tool.Spec, run func(context.Context, S, A) (tool.Result, error),
) tool.Tool {
	spec.Source, spec.Effect = tool.Vault, tool.Repeatable
	return tool.New(spec, func(ctx context.Context, _ tool.Call, args A) (tool.Result, error) {
		s, err := look(ctx)
		if err != nil {
			return tool.Result{}, toolError(err)
		}
		res, err := run(ctx, s, args)
		return res, toolError(err)
	})
}

// newWriteTool makes a once tool. plan returns what to change, without reading the vault: for the same arguments it
// always returns the same change.
func newWriteTool[A any](v *Vault, spec tool.Spec, plan func(key string, args A) (change, error)) tool.Tool {
	spec.Source, spec.Effect = tool.Vault, tool.Once
	planFor := func(call tool.Call, args A) (change, error) {
		c, err := plan(call.Key, args)
		if err != nil {
			return change{}, err
		}
		canonical, err := json.Marshal(args)
		c.Action, c.Key, c.Digest, c.Owner = spec.Name, call.Key, files.Hash(canonical), call.Owner
		return c, err
	}
	return tool.NewFinder(spec, func(ctx context.Context, call tool.Call, args A) (tool.Result, error) {
		c, err := planFor(call, args)
		if err != nil {
			return tool.Result{}, err
		}
		res, err := v.writes.Perform(ctx, c)
		return res, toolError(err)
	}, func(ctx context.Context, call tool.Call, args A) (tool.Result, bool, error) {
		c, err := planFor(call, args)
		if err != nil {
			return tool.Result{}, false, nil //nolint:nilerr // the refusal is Call's to report
		}
		res, done, err := v.writes.FindResult(ctx, c)
		return res, done, toolError(err)
	}, func(_ context.Context, call tool.Call, args A) (tool.Change, error) {
		c, err := planFor(call, args)
		if err != nil {
			return tool.Change{}, err
		}
		before, after, err := v.writes.Preview(c)
		return tool.Change{Before: string(before), Now: string(after)}, toolError(err)
	})
}

// change is a planned write of a note.
type change = files.Change[tool.Result]

// toolError makes a *tool.Error of an error of the file system, with the kind that says what can be done about it.
func toolError(err error) error {
	if refused, ok := errors.AsType[*files.Error](err); ok {
		return refusalError(refused)
	}
	err = documentFailure(err)
	_, known := errors.AsType[*tool.Error](err)
	switch {
	case err == nil, known, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case files.Is(err, syscall.ENOSPC), files.Is(err, syscall.EDQUOT), files.Is(err, syscall.EFBIG):
		return tool.Errorf(tool.Failed, "free some space; the vault is as it was",
			"there is no space left for the note: %w", err)
	case files.Is(err, syscall.EROFS):
		return tool.Errorf(tool.Denied, "", "the vault is on read-only media: %w", err)
	case errors.Is(err, fs.ErrPermission):
		return tool.Errorf(tool.Denied, "check who may read and write the vault's files", "the vault refuses: %w", err)
	case errors.Is(err, os.ErrClosed):
		return tool.Errorf(tool.Unavailable, "", "the vault is closed: %w", err)
	case errors.Is(err, fs.ErrNotExist):
		return tool.Errorf(tool.NotFound, "", "it is not there any more: %w", err)
	}
	return tool.Errorf(tool.Failed, "", "the vault failed: %w", err)
}

// refusalError makes a *tool.Error of the reason why a note was not read or written.
func refusalError(err *files.Error) error {
	advice, known := map[files.Reason]struct {
		kind tool.Kind
		hint string
	}{
		files.Linked:    {tool.Denied, "put the note itself into the vault"},
		files.ReadOnly:  {tool.Denied, "write to another note"},
		files.TooLarge:  {tool.TooLarge, "write to another note"},
		files.Changed:   {tool.Conflict, "read it again"},
		files.KeyReused: {tool.Conflict, ""},
		files.Unclear:   {tool.Conflict, "look at the note, and write again only what it lacks"},
		files.NoRoot:    {tool.Unavailable, missingHint},
		files.Busy:      {tool.Timeout, "try again"},
		files.NotSynced: {tool.Failed, ""},
	}[err.Reason]
	if !known {
		advice.kind = tool.Denied
	}
	return tool.Errorf(advice.kind, advice.hint, "%w", err)
}

// newResult makes a result of a text, the structured data behind it (nil for none), and its places, which are its
// items.
func newResult(text string, data any, refs []tool.Ref, truncated bool) (tool.Result, error) {
	res := tool.Result{Text: text, Refs: refs, Items: len(refs), Truncated: truncated}
	if data == nil {
		return res, nil
	}
	return res.WithData(data)
}
