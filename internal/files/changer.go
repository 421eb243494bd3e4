package files

import (
	"bytes"
	"cmp"
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
)

// Changer changes files below a root, each change once. R is what a change results in; it is kept as JSON.
//
// A change goes through the state folder. Its intent is saved before the content takes its place, and becomes the
// receipt after. So a receipt means performed; an intent means that a crash came between, and the file itself tells the
// rest; neither means not performed. Every writer settles the intents it finds before it changes anything, so that at
// most the change that a crash cut short is in doubt, and only programs that ignore the lock can blur its traces. The
// state folder comes with the root, so that anybody may have written what is in it: what it says of a file is never a
// reason to change that file.
type Changer[R any] struct {
	Root     *os.Root
	State    string        // folder for intents and receipts; made where it is missing
	MaxFile  int           // bytes of a file, before and after a change
	Receipts int           // that are kept, the last ones
	LockWait time.Duration // for other writers
	Step     func(string)  // is told of every step, so that tests can crash there; nil: nobody is
	Shelf    *Shelf        // keeps what is replaced; nil: nothing is kept
}

// Change is one planned change of one file.
type Change[R any] struct {
	Key     string // of this change alone
	Action  string // what it does
	Digest  string // of all that it was asked to do: one key is one change
	Mark    string // a text that the new content holds and no other would; may be empty
	Appends bool   // what the file held before stays its beginning
	Removes bool   // the file goes; Apply gives no content
	Owner   string // whose change it is
	Of      string // of an undo: the write that it takes back

	// Locate returns the file's name. It is asked while the lock is held.
	Locate func() (string, error)
	// Apply returns the file's new content and the result.
	Apply func(name string, before File) ([]byte, R, error)
}

// intent is the form of an intent and a receipt on disk.
type intent[R any] struct {
	Action  string `json:"tool"`
	Digest  string `json:"args"`
	Path    string `json:"path"`
	Before  string `json:"before,omitempty"` // hash; absent: there was no file
	After   string `json:"after"`            // hash; "": the file goes
	Size    int    `json:"size"`             // of the content after, in bytes
	Appends bool   `json:"appends,omitempty"`
	Mark    string `json:"entry,omitempty"`
	Owner   string `json:"owner,omitempty"`
	Result  R      `json:"result"`
}

func (ch *Changer[R]) receipts() string { return ch.State + "/ops" }     // <sha256 of the key>.json: performed
func (ch *Changer[R]) intents() string  { return ch.State + "/pending" } // <sha256 of the key>.json: begun
// of the change in progress, until it takes its place
func (ch *Changer[R]) content() string { return ch.State + "/content" }

func keyFile(folder, key string) string {
	sum := sha256.Sum256([]byte(key))
	return folder + "/" + hex.EncodeToString(sum[:]) + ".json"
}

func (ch *Changer[R]) step(name string) {
	if ch.Step != nil {
		ch.Step(name)
	}
}

// Perform does c once: with a key that was performed before it only returns the first result.
func (ch *Changer[R]) Perform(ctx context.Context, c Change[R]) (result R, err error) {
	unlock, err := ch.Lock(ctx)
	if err != nil {
		return result, err
	}
	defer unlock()
	ch.step("locked")
	if err := ch.settleIntents(); err != nil {
		return result, err
	}
	ch.step("settled")
	if result, done, err := ch.outcome(c); err != nil || done {
		return result, err
	}
	return ch.change(ctx, c)
}

// Found says whether c was performed. It writes only what settles an earlier crash.
func (ch *Changer[R]) Found(ctx context.Context, c Change[R]) (result R, was bool, err error) {
	if _, err := ch.Root.Lstat(ch.State); errors.Is(err, fs.ErrNotExist) {
		return result, false, nil
	}
	unlock, err := ch.Lock(ctx)
	if err != nil {
		return result, false, err
	}
	defer unlock()
	if err := ch.settleIntents(); err != nil {
		return result, false, err
	}
	return ch.outcome(c)
}

// Lock waits until this is the only writer, in all processes.
func (ch *Changer[R]) Lock(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, folder := range []string{ch.State, ch.receipts(), ch.intents()} {
		err := MakeFolder(ch.Root, folder, 0o700)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, refuse(NoRoot, "the folder that is written to is gone: %w", err)
		}
		if err != nil {
			return nil, err
		}
	}
	return Lock(ctx, ch.Root, ch.State+"/lock", ch.LockWait)
}

// outcome reads what the state folder says about c, all intents being settled.
func (ch *Changer[R]) outcome(c Change[R]) (none R, was bool, err error) {
	for _, folder := range []string{ch.receipts(), ch.intents()} {
		in, err := ch.readIntent(keyFile(folder, c.Key))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return none, false, err
		case in.Action != c.Action || in.Digest != c.Digest:
			return none, false, refuse(KeyReused, "this key was already used for another call of %s", in.Action)
		case folder == ch.intents():
			return none, false, refuse(Unclear,
				"it cannot be told whether this %s took effect: %s was changed by another program since", in.Action,
				in.Path)
		}
		return in.Result, true, nil
	}
	return none, false, nil
}

// read gives the zero File for one that is missing.
func (ch *Changer[R]) read(name string) (File, error) {
	err := NoLinks(ch.Root, name)
	var f File
	if err == nil {
		f, err = Read(ch.Root, name, ch.MaxFile)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, nil
	}
	return f, err
}

// change performs c: keep what it replaces, stage the content, save the intent, look once more whether the file is the
// same, put the content in its place, make the intent the receipt.
func (ch *Changer[R]) change(ctx context.Context, c Change[R]) (none R, err error) {
	name, err := c.Locate()
	if err != nil {
		return none, err
	}
	before, err := ch.read(name)
	switch {
	case err != nil:
		return none, err
	case before.Exists() && before.Info.Mode().Perm()&0o200 == 0:
		return none, refuse(ReadOnly, "%s is read-only", name)
	case before.Cut:
		return none, refuse(TooLarge, "%s is larger than %d MiB", name, ch.MaxFile>>20)
	}
	after, result, err := c.Apply(name, before)
	if err != nil {
		return none, err
	}
	if len(after) > ch.MaxFile {
		return none, refuse(TooLarge, "%s would be larger than %d MiB", name, ch.MaxFile>>20)
	}
	in := intent[R]{
		Action: c.Action, Digest: c.Digest, Path: name, Size: len(after), Appends: c.Appends, Mark: c.Mark,
		Owner: c.Owner, Result: result,
	}
	if !c.Removes {
		in.After = Hash(after)
	}
	if before.Exists() {
		in.Before = Hash(before.Content)
	}
	if err := ch.keep(ctx, c, in, before.Content); err != nil {
		return none, fmt.Errorf("what it replaces can't be kept: %w", err)
	}
	err = ch.prepare(c.Key, before, after, in)
	if err == nil {
		err = errors.Join(ctx.Err(), ch.unchanged(name, before))
	}
	if err == nil {
		err = ch.put(name, c.Removes)
	}
	if err != nil {
		return none, ch.discard(c.Key, err)
	}
	ch.step("placed")
	if err := syncFolder(ch.Root, path.Dir(name)); err != nil {
		return none, refuse(NotSynced, "%s was written, but the disk may forget it: %w", name, err)
	}
	ch.step("synced")
	// Past this point the change has happened: if the receipt fails, the intent still proves it.
	if ch.keepReceipt(keyFile("", c.Key)) == nil {
		ch.step("receipt")
		ch.prune()
	}
	return result, nil
}

// keep puts what is about to be replaced on the shelf.
func (ch *Changer[R]) keep(ctx context.Context, c Change[R], in intent[R], before []byte) error {
	if ch.Shelf == nil {
		return nil
	}
	return ch.Shelf.Keep(ctx, Replaced{
		ID: WriteID(c.Key), Owner: c.Owner, Folder: ch.Root.Name(), Path: in.Path, Action: in.Action, Before: in.Before,
		After: in.After, Of: c.Of, Key: c.Key,
	}, before)
}

// prepare stages the content and saves the intent. The file itself stays as it is.
func (ch *Changer[R]) prepare(key string, before File, after []byte, in intent[R]) error {
	if err := MakeFolder(ch.Root, path.Dir(in.Path), 0o777); err != nil {
		return err
	}
	ch.step("folder")
	if in.After != "" {
		var mode fs.FileMode
		if before.Exists() {
			mode = before.Info.Mode().Perm()
		}
		if err := stage(ch.Root, ch.content(), after, mode); err != nil {
			return err
		}
	}
	ch.step("staged")
	encoded, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode the intent: %w", err)
	}
	if err := Write(ch.Root, keyFile(ch.intents(), key), encoded, 0o600); err != nil {
		return err
	}
	ch.step("intent")
	return nil
}

// discard removes what a change that did not happen left behind. What it cannot remove is settled by the next writer.
func (ch *Changer[R]) discard(key string, cause error) error {
	if ch.Shelf != nil {
		cause = errors.Join(cause, ch.Shelf.Forget(context.Background(), WriteID(key)))
	}
	for _, name := range []string{ch.content(), keyFile(ch.intents(), key)} {
		if err := ch.Root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			cause = errors.Join(cause, err)
		}
	}
	return cause
}

// unchanged fails if a program that ignores the lock changed the file since before was read. What it writes after this
// is replaced.
func (ch *Changer[R]) unchanged(name string, before File) error {
	now, err := ch.read(name)
	if err == nil && (now.Exists() != before.Exists() || now.Cut || !bytes.Equal(now.Content, before.Content)) {
		err = refuse(Changed, "%s was changed by another program in this moment", name)
	}
	return err
}

// put gives the file its new content, or takes it away.
func (ch *Changer[R]) put(name string, removes bool) error {
	if removes {
		return ch.Root.Remove(name)
	}
	return ch.Root.Rename(ch.content(), name)
}

// keepReceipt makes the intent in this file the receipt.
func (ch *Changer[R]) keepReceipt(file string) error {
	if err := ch.Root.Rename(ch.intents()+file, ch.receipts()+file); err != nil {
		return err
	}
	return errors.Join(syncFolder(ch.Root, ch.receipts()), syncFolder(ch.Root, ch.intents()))
}

// settleIntents finishes what crashes cut short: intents become receipts or go, as the files tell. An intent of which
// no one can tell stays.
func (ch *Changer[R]) settleIntents() error {
	if err := ch.Root.RemoveAll(ch.content()); err != nil {
		return err
	}
	begun, err := List(ch.Root, ch.intents())
	if err != nil {
		return err
	}
	for _, info := range begun {
		name := "/" + info.Name()
		in, err := ch.readIntent(ch.intents() + name)
		happened, known := false, strings.HasPrefix(info.Name(), ".") // a part of an intent
		if err == nil && !known {
			happened, known = ch.happened(in)
		}
		switch {
		case !known:
			continue // outcome reports it to the one change it concerns
		case happened:
			err = errors.Join(syncFolder(ch.Root, path.Dir(in.Path)), ch.keepReceipt(name))
		default:
			err = ch.Root.Remove(ch.intents() + name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// happened compares the file with what an intent says of it before and after. Known is false where that does not tell.
func (ch *Changer[R]) happened(in intent[R]) (happened, known bool) {
	now, err := ch.read(in.Path)
	if err != nil {
		return false, false
	}
	hash := ""
	if now.Exists() {
		hash = Hash(now.Content)
	}
	switch {
	case hash == in.After:
		return true, true
	case hash == in.Before:
		return false, true
	case in.Appends && 0 <= in.Size && in.Size < len(now.Content) && Hash(now.Content[:in.Size]) == in.After:
		return true, true // somebody wrote below it
	case in.Mark != "" && bytes.Contains(now.Content, []byte(in.Mark)):
		return true, true
	}
	return false, false
}

// mostIntent bounds an intent with its result, in bytes.
const mostIntent = 8 << 20

func (ch *Changer[R]) readIntent(name string) (in intent[R], err error) {
	if err := NoLinks(ch.Root, name); err != nil {
		return in, err
	}
	f, err := Read(ch.Root, name, mostIntent)
	if err != nil {
		return in, err
	}
	if err := json.Unmarshal(f.Content, &in); err != nil {
		return in, fmt.Errorf("%s is damaged: %w", name, err)
	}
	return in, nil
}

// prune removes the oldest receipts beyond the bound. It may fail: the next change tries again.
func (ch *Changer[R]) prune() {
	receipts, err := List(ch.Root, ch.receipts())
	if err != nil || len(receipts) <= ch.Receipts {
		return
	}
	slices.SortFunc(receipts, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, info := range receipts[:len(receipts)-ch.Receipts] {
		if ch.Root.Remove(ch.receipts()+"/"+info.Name()) != nil {
			return
		}
	}
}
