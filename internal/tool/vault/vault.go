// Package vault lets an assistant search, read and write a folder of Markdown notes, and keep threads in it.
//
// A vault is a folder such as Obsidian keeps: notes ending in .md with YAML front matter, [[links]] between them, and
// tags. A thread is an append-only note: one file under threads/, each entry under a header line with a time and an id.
// PDFs and DOCX in the vault are found and read too, by pages where they have them, and never written.
//
// Guarantees:
//   - Confinement. Every file is reached through os.Root. Symbolic links are not followed, and a name that starts with
//     a dot does not exist for any tool; Sibyl's own state lies in .sibyl/ and so cannot be listed, searched or read.
//   - Atomic writes. A note holds its old content or its new one, never a part. Content is synced before it takes its
//     place and the folder after; what a crash leaves behind lies in .sibyl, where no tool sees it.
//   - Once. A write with a key that was already used performs nothing and returns the first result, also after a crash
//     at any point, as long as its receipt is among the last 4096.
//   - Exclusion. Writers take turns by a lock file, also between processes: an append never loses another's append.
//     Programs that ignore the lock (an editor) are noticed up to the moment in which the new content takes its place:
//     the write is then refused.
//   - Undo. With a shelf, what a write replaces is kept before it is replaced, for a time, and can be put back while
//     the note is as the write left it.
//   - Order. The same notes give the same results in the same order: nothing depends on file times.
//   - Bounds. A note is read up to 4 MiB, a vault up to 50,000 notes and 2,000 documents, and every result within
//     tool.MaxText. Documents are read when they are first searched or opened, and for a search at most 64 MiB of their
//     texts.
//
// The vault is looked at afresh at every call: what another program changed is seen at once. Notes that did not change
// are not read again.
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
	maxNote     = 4 << 20 // bytes of a note that are read, and the most a write may leave behind
	maxContent  = 1 << 20 // bytes of one vault_write
	maxEntry    = 32 << 10
	maxNotes    = 50_000
	maxDepth    = 64
	maxReceipts = 4096

	lockWait = 10 * time.Second // no single write takes long: past this, another program hangs
)

const missingHint = "set --vault, or `vault` in the configuration, to a folder of Markdown notes"

// Vault is an open folder of notes. It is safe for concurrent use.
type Vault struct {
	root     *os.Root
	now      func() time.Time
	writes   files.Changer[tool.Result]
	maxNotes int
	seen     seen

	documents     *doc.Reader
	readingTime   time.Duration
	maxTexts      int                      // bytes of the documents' texts that a search looks at
	reading       sync.Mutex               // of documents for a search
	documentsRead map[string]*readDocument // by path, as the last search left them; reading guards it
}

// Open opens the vault in folder dir. It changes nothing there: a vault on read-only media can be read. Whatever a
// write replaces is kept on the shelf, and can be put back by Undo; a write whose place it can't keep is refused.
// Without a shelf (nil) nothing is kept. PDFs and DOCX are read by documents; without a reader (nil) the vault does not
// know them. A folder that is not set, does not exist or cannot be opened is a *tool.Error of kind Unavailable.
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
			Root: root, State: stateDir, MaxFile: maxNote, Receipts: maxReceipts, LockWait: lockWait, Shelf: shelf,
		},
		maxNotes:  maxNotes,
		documents: documents, readingTime: readingTime, maxTexts: doc.MaxTexts,
	}, nil
}

// Close frees the folder. Calls after it fail with kind Unavailable.
func (v *Vault) Close() error { return v.root.Close() }

// Tools returns the tools over this vault: vault_search, vault_read, vault_list, vault_write, thread_push, thread_read,
// thread_seek and thread_list. The two that write, vault_write and thread_push, implement tool.Finder.
func (v *Vault) Tools() []tool.Tool {
	return []tool.Tool{
		v.searchTool(), v.readTool(), v.listTool(), v.writeTool(),
		v.pushTool(), v.threadReadTool(), v.seekTool(), v.threadListTool(),
	}
}

// readFile reads the note at p, if nothing on the way to it is a symbolic link.
func (v *Vault) readFile(p string) (files.File, error) {
	if err := files.NoLinks(v.root, p); err != nil {
		return files.File{}, err
	}
	return files.Read(v.root, p, maxNote)
}

// reader makes a repeatable tool of the vault as it is at each call.
func reader[A any](v *Vault, spec tool.Spec, run func(context.Context, *snapshot, A) (tool.Result, error)) tool.Tool {
	spec.Source, spec.Effect = tool.Vault, tool.Repeatable
	return tool.New(spec, func(ctx context.Context, _ tool.Call, args A) (tool.Result, error) {
		s, err := v.snapshot(ctx)
		if err != nil {
			return tool.Result{}, failure(err)
		}
		res, err := run(ctx, s, args)
		return res, failure(err)
	})
}

// writer makes a once tool of the vault. plan says what is to change, without looking at the vault: it gives the same
// change whenever it is asked.
func writer[A any](v *Vault, spec tool.Spec, plan func(key string, args A) (change, error)) tool.Tool {
	spec.Source, spec.Effect = tool.Vault, tool.Once
	planned := func(call tool.Call, args A) (change, error) {
		c, err := plan(call.Key, args)
		if err != nil {
			return change{}, err
		}
		canonical, err := json.Marshal(args)
		c.Action, c.Key, c.Digest, c.Owner = spec.Name, call.Key, files.Hash(canonical), call.Owner
		return c, err
	}
	return tool.NewFinder(spec, func(ctx context.Context, call tool.Call, args A) (tool.Result, error) {
		c, err := planned(call, args)
		if err != nil {
			return tool.Result{}, err
		}
		res, err := v.writes.Perform(ctx, c)
		return res, failure(err)
	}, func(ctx context.Context, call tool.Call, args A) (tool.Result, bool, error) {
		c, err := planned(call, args)
		if err != nil {
			return tool.Result{}, false, nil //nolint:nilerr // the refusal is Call's to report
		}
		res, done, err := v.writes.FindResult(ctx, c)
		return res, done, failure(err)
	})
}

// change is a planned write of a note.
type change = files.Change[tool.Result]

// failure gives an error of the file system the kind that says what can be done about it.
func failure(err error) error {
	if refused, ok := errors.AsType[*files.Error](err); ok {
		return refusal(refused)
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

// refusal says what can be done about a note that was not read or written.
func refusal(err *files.Error) error {
	says, known := map[files.Reason]struct {
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
		says.kind = tool.Denied
	}
	return tool.Errorf(says.kind, says.hint, "%w", err)
}

// answer makes a result of a text, the structured data behind it (nil for none), and the places it is of, which count
// as its items.
func answer(text string, data any, refs []tool.Ref, truncated bool) (tool.Result, error) {
	res := tool.Result{Text: text, Refs: refs, Items: len(refs), Truncated: truncated}
	if data == nil {
		return res, nil
	}
	return res.WithData(data)
}
