package files

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"
)

// What other programs, which know of no lock, do to a file while it is changed.

// An append is tried so often on a file that others write into, after pauses that grow from the first on.
const (
	appendTries = 7
	appendPause = 5 * time.Millisecond
)

// persistently performs c. An append to a file that changed meanwhile is made anew, on the newer text.
func (l *Ledger[R]) persistently(ctx context.Context, c Change[R]) (result R, err error) {
	var before error
	for pause := appendPause; ; pause *= 2 {
		result, err = l.change(ctx, c)
		changed := hasChanged(err)
		switch {
		case before != nil && err != nil && !changed && ctx.Err() == nil:
			return result, before // on the newer text it makes no sense any more
		case !changed || !c.Appends || pause >= appendPause<<(appendTries-1):
			return result, err
		}
		before = err
		select {
		case <-time.After(pause): // the other program may be in the middle of it
		case <-ctx.Done():
			return result, ctx.Err()
		}
	}
}

// hasChanged says whether another program changed the file meanwhile.
func hasChanged(err error) bool {
	refused, ok := errors.AsType[*Error](err)
	return ok && refused.Reason == Changed
}

// put gives the file its new content, or takes it away. What another program wrote into it since it was read is given back to it.
func (l *Ledger[R]) put(name string, before File, in intent[R], removes bool) error {
	if removes {
		return l.remove(name, before)
	}
	if !before.Exists() {
		return l.place(name, false)
	}
	err := exchange(l.Root, l.content(), name)
	if errors.Is(err, errors.ErrUnsupported) {
		return l.place(name, true)
	}
	if err != nil {
		return err
	}
	old, err := l.read(l.content())
	if err == nil && old.Exists() && bytes.Equal(old.Content, before.Content) {
		return nil
	}
	if err := errors.Join(err, exchange(l.Root, l.content(), name)); err != nil {
		return err
	}
	// Whoever wrote into the new content in that moment has the last word; the text between is rescued by the next writer.
	if ours, err := l.read(l.content()); err == nil && ours.Exists() && Hash(ours.Content) != in.After {
		if err := exchange(l.Root, l.content(), name); err != nil {
			return err
		}
		if l.Shelf != nil {
			if err := l.rescue(in, old.Content); err != nil {
				return err
			}
		}
	}
	return refuse(Changed, "%s was changed by another program in this moment", name)
}

// remove takes a file away, if it is as it was read.
func (l *Ledger[R]) remove(name string, before File) error {
	if err := l.Root.Rename(name, l.content()); err != nil {
		return err
	}
	old, err := l.read(l.content())
	if err == nil && bytes.Equal(old.Content, before.Content) {
		return nil
	}
	return errors.Join(refuse(Changed, "%s was changed by another program in this moment", name), err, l.place(name, false))
}

// setAside keeps the file that was replaced until the next writer: a program that had it open may still write into it.
func (l *Ledger[R]) setAside(key string) error {
	err := l.Root.Rename(l.content(), l.replaced()+"/"+strings.TrimSuffix(path.Base(keyFile("", key)), ".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// late looks at the files that were replaced. What a program has written into one since is not lost: an append is made anew on it, where
// nothing else happened to the file; else it goes on the shelf.
func (l *Ledger[R]) late() error {
	aside, err := List(l.Root, l.replaced())
	if err != nil {
		return err
	}
	for _, info := range aside {
		name := l.replaced() + "/" + info.Name()
		old, err := l.read(name)
		if _, strange := errors.AsType[*Error](err); strange {
			continue // it was never replaced by us
		}
		if err != nil {
			return err
		}
		in, err := l.readIntent(l.receipts() + "/" + info.Name() + ".json")
		if err == nil && Hash(old.Content) != in.Before {
			if err = l.again(in, old.Content); err != nil {
				return err
			}
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			continue // its receipt is damaged: it stays
		}
		if err := l.Root.Remove(name); err != nil {
			return err
		}
	}
	return nil
}

// again puts what an append added below a text that came in late.
func (l *Ledger[R]) again(in intent[R], text []byte) error {
	now, err := l.read(in.Path)
	if err != nil {
		return err
	}
	if !in.Appends || in.Kept > len(now.Content) || in.Kept == 0 && in.Before != Hash(nil) || !now.Exists() || Hash(now.Content) != in.After || len(text) == 0 {
		return l.rescue(in, text)
	}
	added := now.Content[in.Kept:]
	merged := bytes.Clone(text)
	if !bytes.HasSuffix(merged, []byte("\n")) && !bytes.HasPrefix(added, []byte("\n")) {
		merged = append(merged, '\n')
	}
	merged = append(merged, added...)
	if err := stage(l.Root, l.content(), merged, now.Info.Mode().Perm()); err != nil {
		return err
	}
	in.After = Hash(merged)
	if err := l.put(in.Path, now, in, false); err != nil {
		return err
	}
	_ = l.Root.Remove(l.content()) // else the next writer empties the folder
	return syncFolder(l.Root, path.Dir(in.Path))
}

// rescue keeps a text that has no place in the file any more.
func (l *Ledger[R]) rescue(in intent[R], text []byte) error {
	if l.Shelf == nil || len(text) == 0 {
		return nil
	}
	hash := Hash(text)
	return l.Shelf.Keep(context.Background(), Replaced{ID: WriteID("rescue " + in.Path + hash), Owner: in.Owner, Folder: l.Root.Name(), Path: in.Path, Action: ActionRescue, Before: hash, After: in.After}, text)
}

// between rescues what another program wrote into a file in the moment in which it was replaced, where a crash came after.
func (l *Ledger[R]) between() error {
	old, err := l.read(l.content())
	if err != nil || !old.Exists() {
		return err
	}
	begun, err := List(l.Root, l.intents())
	if err != nil {
		return err
	}
	for _, info := range begun {
		in, err := l.readIntent(l.intents() + "/" + info.Name())
		if hash := Hash(old.Content); err == nil && hash != in.After && hash != in.Before && l.evidence(in) == performed {
			if err := l.rescue(in, old.Content); err != nil {
				return err
			}
		}
	}
	return nil
}
