package code

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// watch counts the changes of which the system tells in a root's folders. One that can't be told everything has failed, for good.
type watch struct {
	notify  *fsnotify.Watcher
	folder  string        // the root
	signals string        // a folder of its own, by which it sees that it was told everything
	within  time.Duration // how long it waits until it was told
	work    sync.WaitGroup

	mu      sync.Mutex
	count   uint64
	watched map[string]bool // folders, by their path in the file system
	failed  bool
	awaited map[string]chan struct{} // signals by path
	number  int
}

// toldWithin is how long it may take until the system has told what happened. Past it, a search looks itself.
const toldWithin = 50 * time.Millisecond

// newWatch makes a watch; nil where the system would not tell everything in its order, or would need an open file for each that is watched.
func newWatch(folder string) *watch {
	if runtime.GOOS != "linux" {
		return nil
	}
	signals, err := os.MkdirTemp("", "sibyl-watch-")
	if err != nil {
		return nil
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		_ = os.Remove(signals)
		return nil
	}
	w := &watch{notify: notify, folder: folder, signals: signals, within: toldWithin, watched: map[string]bool{}, awaited: map[string]chan struct{}{}}
	w.failed = notify.Add(signals) != nil
	w.work.Go(w.run)
	return w
}

func (w *watch) close() {
	if w == nil {
		return
	}
	_ = w.notify.Close() // which ends run
	w.work.Wait()
	_ = os.RemoveAll(w.signals) // it is in the folder for what is temporary
}

func (w *watch) run() {
	for {
		select {
		case event, open := <-w.notify.Events:
			if !open {
				return
			}
			w.see(event)
		case _, open := <-w.notify.Errors: // some events are lost
			if !open {
				return
			}
			w.mu.Lock()
			w.count++
			w.mu.Unlock()
		}
	}
}

func (w *watch) see(event fsnotify.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if filepath.Dir(event.Name) == w.signals {
		if c := w.awaited[event.Name]; c != nil && event.Has(fsnotify.Create) {
			close(c)
			delete(w.awaited, event.Name)
		}
		return
	}
	w.count++
	if event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
		for at := range w.watched { // its watch goes by a name that is another's by now
			if at == event.Name || strings.HasPrefix(at, event.Name+string(filepath.Separator)) {
				delete(w.watched, at)
				_ = w.notify.Remove(at) // it may be gone with the folder
			}
		}
	}
}

// add watches a folder of the root from now on.
func (w *watch) add(at string) {
	if w == nil {
		return
	}
	name := filepath.Join(w.folder, filepath.FromSlash(at))
	w.mu.Lock()
	if w.failed || w.watched[name] {
		w.mu.Unlock()
		return
	}
	w.watched[name] = true
	w.mu.Unlock()
	if w.notify.Add(name) != nil { // there are too many, mostly
		w.mu.Lock()
		w.failed = true
		w.mu.Unlock()
	}
}

func (w *watch) hasFailed() bool {
	if w == nil {
		return true
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failed
}

// changes is how many changes there were until now; not told if that can't be known.
func (w *watch) changes(ctx context.Context) (count uint64, told bool) {
	if w.hasFailed() {
		return 0, false
	}
	w.mu.Lock()
	w.number++
	signal := filepath.Join(w.signals, strconv.Itoa(w.number))
	seen := make(chan struct{})
	w.awaited[signal] = seen
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.awaited, signal)
	}()
	// The system tells in the order in which things happen: once it has told of this file, it has told of all before.
	f, err := os.OpenFile(signal, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, false
	}
	_ = f.Close() // nothing was written
	defer func() { _ = os.Remove(signal) }()
	late := time.NewTimer(w.within)
	defer late.Stop()
	select {
	case <-seen:
	case <-late.C:
		return 0, false
	case <-ctx.Done():
		return 0, false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count, !w.failed
}
