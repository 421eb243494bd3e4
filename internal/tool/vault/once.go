package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"sibyl/internal/tool"
)

// A write goes through these folders. The intent is saved before the content takes its place, and becomes the receipt
// after. So a receipt means performed; an intent means that a crash came between, and the note itself tells the rest;
// neither means not performed. Every writer settles the intents it finds before it changes anything, so that at most the
// write a crash cut short is in doubt, and only programs that ignore the lock can blur its traces.
const (
	receiptDir = stateDir + "/ops"     // <sha256 of the key>.json: performed
	intentDir  = stateDir + "/pending" // <sha256 of the key>.json: begun
	stageDir   = stateDir + "/tmp"     // emptied by the next writer
	lockFile   = stateDir + "/lock"
)

// change is one planned write.
type change struct {
	tool, key string
	args      string // hash of the arguments: one key is one call
	entry     string // id of the thread entry that it adds, if it adds one
	appends   bool   // what the note held before stays its beginning

	// locate returns the note's path. It is asked while the lock is held.
	locate func() (string, error)
	// apply returns the note's new content and the result of the call.
	apply func(p string, before file, exists bool) ([]byte, tool.Result, error)
	// trace finds the result in a note that shows the change took effect. It may be nil.
	trace func(p string, now file) (tool.Result, bool)
}

// intent is the form of an intent and a receipt on disk.
type intent struct {
	Tool    string      `json:"tool"`
	Args    string      `json:"args"`
	Path    string      `json:"path"`
	Before  string      `json:"before,omitempty"` // hash; absent: there was no note
	After   string      `json:"after"`
	Size    int         `json:"size"` // of the content after, in bytes
	Appends bool        `json:"appends,omitempty"`
	Entry   string      `json:"entry,omitempty"`
	Result  tool.Result `json:"result"`
}

func opFile(dir, key string) string {
	sum := sha256.Sum256([]byte(key))
	return dir + "/" + hex.EncodeToString(sum[:]) + ".json"
}

// perform does c once: with a key that was performed before it only returns the first result.
func (v *Vault) perform(ctx context.Context, c change) (tool.Result, error) {
	unlock, err := v.lock(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	defer unlock()
	v.step("locked")
	if err := v.settle(); err != nil {
		return tool.Result{}, err
	}
	v.step("settled")
	if res, done, err := v.outcome(c); err != nil || done {
		return res, err
	}
	return v.write(ctx, c)
}

// found says whether c was performed. It writes only what settles an earlier crash.
func (v *Vault) found(ctx context.Context, c change) (tool.Result, bool, error) {
	if _, err := v.root.Lstat(stateDir); errors.Is(err, fs.ErrNotExist) {
		return v.traced(c)
	}
	unlock, err := v.lock(ctx)
	if err != nil {
		return tool.Result{}, false, err
	}
	defer unlock()
	if err := v.settle(); err != nil {
		return tool.Result{}, false, err
	}
	return v.outcome(c)
}

// outcome reads what the state folder and the note say about c, all intents being settled.
func (v *Vault) outcome(c change) (tool.Result, bool, error) {
	for _, dir := range []string{receiptDir, intentDir} {
		in, err := v.readIntent(opFile(dir, c.key))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return tool.Result{}, false, err
		case in.Tool != c.tool || in.Args != c.args:
			return tool.Result{}, false, tool.Errorf(tool.Conflict, "", "this key was already used for another call of %s", in.Tool)
		case dir == intentDir:
			return tool.Result{}, false, tool.Errorf(tool.Conflict, "look at the note, and write again only what it lacks",
				"it cannot be told whether this %s took effect: %s was changed by another program since", in.Tool, in.Path)
		}
		return in.Result, true, nil
	}
	return v.traced(c)
}

// traced looks for c in the note itself: its receipt may be gone, pruned or with a state folder that somebody deleted.
func (v *Vault) traced(c change) (tool.Result, bool, error) {
	if c.trace == nil {
		return tool.Result{}, false, nil
	}
	p, err := c.locate()
	if err != nil {
		return tool.Result{}, false, err
	}
	now, err := v.readFile(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tool.Result{}, false, nil
	case err != nil:
		return tool.Result{}, false, err
	}
	res, done := c.trace(p, now)
	return res, done, nil
}

// write performs c: stage the content, save the intent, put the content in its place, make the intent the receipt.
func (v *Vault) write(ctx context.Context, c change) (tool.Result, error) {
	p, err := c.locate()
	if err != nil {
		return tool.Result{}, err
	}
	before, err := v.readFile(p)
	exists := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tool.Result{}, err
	}
	if exists && before.info.Mode().Perm()&0o200 == 0 {
		return tool.Result{}, tool.Errorf(tool.Denied, "write to another note", "%s is read-only", p)
	}
	if before.cut {
		return tool.Result{}, tool.Errorf(tool.TooLarge, "write to another note", "%s is larger than %d MiB", p, maxNote>>20)
	}
	after, res, err := c.apply(p, before, exists)
	if err != nil {
		return tool.Result{}, err
	}
	if len(after) > maxNote {
		return tool.Result{}, tool.Errorf(tool.TooLarge, "write to another note", "%s would be larger than %d MiB", p, maxNote>>20)
	}
	in := intent{
		Tool: c.tool, Args: c.args, Path: p, After: hashOf(after), Size: len(after),
		Appends: c.appends, Entry: c.entry, Result: res,
	}
	if exists {
		in.Before = hashOf(before.raw)
	}
	if err := v.prepare(c, p, before, after, in); err != nil {
		return tool.Result{}, v.undo(c, err)
	}
	if err := errors.Join(ctx.Err(), v.unchanged(p, before, exists)); err != nil {
		return tool.Result{}, v.undo(c, err)
	}
	if err := v.place(p, exists); err != nil && v.evidence(in) != performed {
		return tool.Result{}, v.undo(c, err)
	}
	v.step("placed")
	if err := v.syncFolder(path.Dir(p)); err != nil {
		return tool.Result{}, tool.Errorf(tool.Failed, "", "%s was written, but the disk may forget it: %w", p, err)
	}
	v.step("synced")
	// Past this point the write has happened: if the receipt fails, the intent still proves it.
	if v.keepReceipt(c.key) == nil {
		v.step("receipt")
		v.prune()
	}
	return res, nil
}

// stagedContent is where the content of the write in progress waits. There is one at a time.
const stagedContent = stageDir + "/content"

// prepare stages the content and saves the intent. The note itself stays as it is.
func (v *Vault) prepare(c change, p string, before file, after []byte, in intent) error {
	if err := v.makeFolder(path.Dir(p), 0o777); err != nil {
		return err
	}
	v.step("folder")
	mode := fs.FileMode(0o666)
	if before.info != nil {
		mode = before.info.Mode().Perm()
	}
	if err := v.stage(stagedContent, after, mode); err != nil {
		return err
	}
	if before.info != nil {
		_ = v.root.Chmod(stagedContent, mode) // gives back what the umask took; some file systems have no modes
	}
	v.step("staged")
	encoded, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode the intent: %w", err)
	}
	const staged = stageDir + "/intent"
	if err := v.stage(staged, encoded, 0o600); err != nil {
		return err
	}
	v.step("intent staged")
	if err := v.root.Rename(staged, opFile(intentDir, c.key)); err != nil {
		return err
	}
	v.step("intent")
	return v.syncFolder(intentDir)
}

// undo removes what a write that did not happen left behind. What it cannot remove is settled by the next writer.
func (v *Vault) undo(c change, cause error) error {
	for _, name := range []string{stagedContent, opFile(intentDir, c.key)} {
		if err := v.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			cause = errors.Join(cause, err)
		}
	}
	return cause
}

// unchanged fails if a program that ignores the lock changed the note since before was read.
func (v *Vault) unchanged(p string, before file, exists bool) error {
	info, err := v.root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !exists:
		return nil
	case err != nil:
		return err
	case exists && os.SameFile(info, before.info) && info.Size() == before.info.Size() && info.ModTime().Equal(before.info.ModTime()):
		return nil
	}
	return tool.Errorf(tool.Conflict, "read it again", "%s was changed by another program in this moment", p)
}

// place puts the staged content where the note is. A new note never replaces one that appeared in the meantime, where
// the file system has hard links.
func (v *Vault) place(p string, exists bool) error {
	if exists {
		return v.root.Rename(stagedContent, p)
	}
	err := v.root.Link(stagedContent, p)
	switch {
	case err == nil:
		v.step("linked")
		return v.root.Remove(stagedContent)
	case errors.Is(err, fs.ErrExist):
		return tool.Errorf(tool.Conflict, "read it", "%s was made by another program in this moment", p)
	}
	return v.root.Rename(stagedContent, p)
}

func (v *Vault) keepReceipt(key string) error {
	if err := v.root.Rename(opFile(intentDir, key), opFile(receiptDir, key)); err != nil {
		return err
	}
	return errors.Join(v.syncFolder(receiptDir), v.syncFolder(intentDir))
}

// settle finishes what a crash cut short: staged files go, and intents become receipts or go, as the notes tell. An
// intent of which no one can tell stays.
func (v *Vault) settle() error {
	staged, err := v.readDir(stageDir)
	if err != nil {
		return err
	}
	for _, info := range staged {
		if err := v.root.RemoveAll(stageDir + "/" + info.Name()); err != nil {
			return err
		}
	}
	intents, err := v.readDir(intentDir)
	if err != nil {
		return err
	}
	for _, info := range intents {
		name := "/" + info.Name()
		in, err := v.readIntent(intentDir + name)
		if err != nil {
			continue // outcome reports it to the one call it concerns
		}
		switch v.evidence(in) {
		case performed:
			if err := v.syncFolder(path.Dir(in.Path)); err != nil {
				return err
			}
			if err := v.root.Rename(intentDir+name, receiptDir+name); err != nil {
				return err
			}
		case notPerformed:
			if err := v.root.Remove(intentDir + name); err != nil {
				return err
			}
		}
	}
	return nil
}

type verdict int

const (
	unknown verdict = iota
	performed
	notPerformed
)

// evidence compares the note with what an intent says of it before and after.
func (v *Vault) evidence(in intent) verdict {
	now, err := v.readFile(in.Path)
	if errors.Is(err, fs.ErrNotExist) && in.Before == "" {
		return notPerformed
	}
	if err != nil {
		return unknown
	}
	switch hash := hashOf(now.raw); {
	case hash == in.After:
		return performed
	case hash == in.Before:
		return notPerformed
	case in.Appends && len(now.raw) > in.Size && hashOf(now.raw[:in.Size]) == in.After:
		return performed // somebody wrote below it
	case in.Entry != "" && parse(in.Path, now.raw, now.cut).hasEntry(in.Entry):
		return performed
	}
	return unknown
}

func (v *Vault) readIntent(name string) (intent, error) {
	raw, err := v.root.ReadFile(name)
	if err != nil {
		return intent{}, err
	}
	var in intent
	if err := json.Unmarshal(raw, &in); err != nil {
		return intent{}, fmt.Errorf("%s is damaged: %w", name, err)
	}
	return in, nil
}

// prune removes the oldest receipts beyond the bound. It may fail: the next write tries again.
func (v *Vault) prune() {
	receipts, err := v.readDir(receiptDir)
	if err != nil || len(receipts) <= v.receipts {
		return
	}
	slices.SortFunc(receipts, func(a, b fs.FileInfo) int {
		if c := a.ModTime().Compare(b.ModTime()); c != 0 {
			return c
		}
		return strings.Compare(a.Name(), b.Name())
	})
	for _, info := range receipts[:len(receipts)-v.receipts] {
		if v.root.Remove(receiptDir+"/"+info.Name()) != nil {
			return
		}
	}
}

// lock waits until this is the only writer, in all processes. Where the state folder is missing, it is made.
func (v *Vault) lock(ctx context.Context) (unlock func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, v.lockWait)
	defer cancel()
	defer func() {
		if err != nil && ctx.Err() == nil && waiting.Err() != nil {
			err = tool.Errorf(tool.Timeout, "try again", "another program has been writing to the vault for %s", v.lockWait)
		}
	}()
	if err := v.writing.enter(waiting); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			v.writing.leave()
		}
	}()
	for _, dir := range []string{stateDir, receiptDir, intentDir, stageDir} {
		if err := v.makeFolder(dir, 0o700); err != nil {
			return nil, gone(err)
		}
	}
	f, err := v.root.OpenFile(lockFile, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := waitForLock(waiting, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		_ = f.Close() // frees the lock; nothing was written to this file
		v.writing.leave()
	}, nil
}

func waitForLock(ctx context.Context, f *os.File) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		taken, err := tryLock(f)
		if err != nil {
			return fmt.Errorf("lock the vault: %w", err)
		}
		if taken {
			return nil
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}
