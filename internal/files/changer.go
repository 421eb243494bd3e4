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
	Step     func(string)  // called at every step, so that tests can crash there; may be nil
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

func (ch *Changer[R]) receiptFolder() string { return ch.State + "/ops" }     // <sha256 of the key>.json: performed
func (ch *Changer[R]) intentFolder() string  { return ch.State + "/pending" } // <sha256 of the key>.json: begun
// of the change in progress, until it takes its place
func (ch *Changer[R]) stagedFile() string { return ch.State + "/content" }

func fileForKey(folder, key string) string {
	sum := sha256.Sum256([]byte(key))
	return folder + "/" + hex.EncodeToString(sum[:]) + ".json"
}

func (ch *Changer[R]) reportStep(name string) {
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
	ch.reportStep("locked")
	if err := ch.settleIntents(); err != nil {
		return result, err
	}
	ch.reportStep("settled")
	if result, done, err := ch.recordedResult(c); err != nil || done {
		return result, err
	}
	return ch.performChange(ctx, c)
}

// FindResult says whether c was performed. It writes only what settles an earlier crash.
func (ch *Changer[R]) FindResult(ctx context.Context, c Change[R]) (result R, was bool, err error) {
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
	return ch.recordedResult(c)
}

// Lock waits until this is the only writer, in all processes.
func (ch *Changer[R]) Lock(ctx context.Context) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for _, folder := range []string{ch.State, ch.receiptFolder(), ch.intentFolder()} {
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

// recordedResult reads what the state folder says about c, all intents being settled.
func (ch *Changer[R]) recordedResult(c Change[R]) (none R, was bool, err error) {
	for _, folder := range []string{ch.receiptFolder(), ch.intentFolder()} {
		in, err := ch.readIntent(fileForKey(folder, c.Key))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return none, false, err
		case in.Action != c.Action || in.Digest != c.Digest:
			return none, false, refuse(KeyReused, "this key was already used for another call of %s", in.Action)
		case folder == ch.intentFolder():
			return none, false, refuse(Unclear,
				"it cannot be told whether this %s took effect: %s was changed by another program since", in.Action,
				in.Path)
		}
		return in.Result, true, nil
	}
	return none, false, nil
}

// readFile reads a file without following links; the zero File if it is missing.
func (ch *Changer[R]) readFile(name string) (File, error) {
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

// Preview says what c would change as the file is now. It takes no lock, and writes nothing.
func (ch *Changer[R]) Preview(c Change[R]) (before, after []byte, err error) {
	_, file, after, _, err := ch.compute(c)
	return file.Content, after, err
}

// compute returns the file of c, its content before and after, and what c results in.
func (ch *Changer[R]) compute(c Change[R]) (name string, before File, after []byte, result R, err error) {
	if name, err = c.Locate(); err != nil {
		return name, before, nil, result, err
	}
	before, err = ch.readFile(name)
	switch {
	case err != nil:
	case before.Exists() && before.Info.Mode().Perm()&0o200 == 0:
		err = refuse(ReadOnly, "%s is read-only", name)
	case before.Cut:
		err = refuse(TooLarge, "%s is larger than %d MiB", name, ch.MaxFile>>20)
	default:
		after, result, err = c.Apply(name, before)
	}
	if err == nil && len(after) > ch.MaxFile {
		err = refuse(TooLarge, "%s would be larger than %d MiB", name, ch.MaxFile>>20)
	}
	return name, before, after, result, err
}

// performChange performs c: it shelves what c replaces, stages the content, saves the intent, checks once more that the
// file is unchanged, puts the content in its place, and makes the intent the receipt.
func (ch *Changer[R]) performChange(ctx context.Context, c Change[R]) (none R, err error) {
	name, before, after, result, err := ch.compute(c)
	if err != nil {
		return none, err
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
	if err := ch.shelveBefore(ctx, c, in, before.Content); err != nil {
		return none, fmt.Errorf("what it replaces can't be kept: %w", err)
	}
	err = ch.stageChange(c.Key, before, after, in)
	if err == nil {
		err = errors.Join(ctx.Err(), ch.checkUnchanged(name, before))
	}
	if err == nil {
		err = ch.placeContent(name, c.Removes)
	}
	if err != nil {
		return none, ch.discard(c.Key, err)
	}
	ch.reportStep("placed")
	if err := syncFolder(ch.Root, path.Dir(name)); err != nil {
		return none, refuse(NotSynced, "%s was written, but the disk may forget it: %w", name, err)
	}
	ch.reportStep("synced")
	// Past this point the change has happened: if the receipt fails, the intent still proves it.
	if ch.makeReceipt(fileForKey("", c.Key)) == nil {
		ch.reportStep("receipt")
		ch.pruneReceipts()
	}
	return result, nil
}

// shelveBefore puts what is about to be replaced on the shelf.
func (ch *Changer[R]) shelveBefore(ctx context.Context, c Change[R], in intent[R], before []byte) error {
	if ch.Shelf == nil {
		return nil
	}
	return ch.Shelf.Keep(ctx, Replaced{
		ID: WriteID(c.Key), Owner: c.Owner, Folder: ch.Root.Name(), Path: in.Path, Action: in.Action, Before: in.Before,
		After: in.After, Of: c.Of, Key: c.Key,
	}, before)
}

// stageChange stages the content and saves the intent. The file itself stays as it is.
func (ch *Changer[R]) stageChange(key string, before File, after []byte, in intent[R]) error {
	if err := MakeFolder(ch.Root, path.Dir(in.Path), 0o777); err != nil {
		return err
	}
	ch.reportStep("folder")
	if in.After != "" {
		var mode fs.FileMode
		if before.Exists() {
			mode = before.Info.Mode().Perm()
		}
		if err := writeNew(ch.Root, ch.stagedFile(), after, mode); err != nil {
			return err
		}
	}
	ch.reportStep("staged")
	encoded, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("encode the intent: %w", err)
	}
	if err := Write(ch.Root, fileForKey(ch.intentFolder(), key), encoded, 0o600); err != nil {
		return err
	}
	ch.reportStep("intent")
	return nil
}

// discard removes what a change that did not happen left behind. What it cannot remove is settled by the next writer.
func (ch *Changer[R]) discard(key string, cause error) error {
	if ch.Shelf != nil {
		cause = errors.Join(cause, ch.Shelf.Forget(context.Background(), WriteID(key)))
	}
	for _, name := range []string{ch.stagedFile(), fileForKey(ch.intentFolder(), key)} {
		if err := ch.Root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			cause = errors.Join(cause, err)
		}
	}
	return cause
}

// checkUnchanged fails if a program that ignores the lock has changed the file since before was read. What such a
// program writes after this check is replaced.
func (ch *Changer[R]) checkUnchanged(name string, before File) error {
	now, err := ch.readFile(name)
	if err == nil && (now.Exists() != before.Exists() || now.Cut || !bytes.Equal(now.Content, before.Content)) {
		err = refuse(Changed, "%s was changed by another program in this moment", name)
	}
	return err
}

// placeContent gives the file its new content, or removes it.
func (ch *Changer[R]) placeContent(name string, removes bool) error {
	if removes {
		return ch.Root.Remove(name)
	}
	return ch.Root.Rename(ch.stagedFile(), name)
}

// makeReceipt makes the intent in this file the receipt.
func (ch *Changer[R]) makeReceipt(file string) error {
	if err := ch.Root.Rename(ch.intentFolder()+file, ch.receiptFolder()+file); err != nil {
		return err
	}
	return errors.Join(syncFolder(ch.Root, ch.receiptFolder()), syncFolder(ch.Root, ch.intentFolder()))
}

// settleIntents finishes changes that a crash cut short: an intent becomes a receipt or is removed, as its file shows.
// An intent whose file does not show it stays.
func (ch *Changer[R]) settleIntents() error {
	if err := ch.Root.RemoveAll(ch.stagedFile()); err != nil {
		return err
	}
	begun, err := List(ch.Root, ch.intentFolder())
	if err != nil {
		return err
	}
	for _, info := range begun {
		name := "/" + info.Name()
		in, err := ch.readIntent(ch.intentFolder() + name)
		happened, known := false, strings.HasPrefix(info.Name(), ".") // a part of an intent
		if err == nil && !known {
			happened, known = ch.tookEffect(in)
		}
		switch {
		case !known:
			continue // outcome reports it to the one change it concerns
		case happened:
			err = errors.Join(syncFolder(ch.Root, path.Dir(in.Path)), ch.makeReceipt(name))
		default:
			err = ch.Root.Remove(ch.intentFolder() + name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tookEffect compares the file with the hashes in an intent. known is false if neither fits.
func (ch *Changer[R]) tookEffect(in intent[R]) (happened, known bool) {
	now, err := ch.readFile(in.Path)
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

// pruneReceipts removes the oldest receipts beyond the bound. It may fail: the next change tries again.
func (ch *Changer[R]) pruneReceipts() {
	receipts, err := List(ch.Root, ch.receiptFolder())
	if err != nil || len(receipts) <= ch.Receipts {
		return
	}
	slices.SortFunc(receipts, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), strings.Compare(a.Name(), b.Name()))
	})
	for _, info := range receipts[:len(receipts)-ch.Receipts] {
		if ch.Root.Remove(ch.receiptFolder()+"/"+info.Name()) != nil {
			return
		}
	}
}
