package vault

import (
	"context"
	"sync"
	"time"

	"sibyl/internal/text/search"
)

// Cache keeps a text between processes. It may lose it at any time. It is safe for concurrent use.
type Cache interface {
	// Load gives the text that was kept last; an error where there is none.
	Load(ctx context.Context) ([]byte, error)
	// Save keeps a text in place of the last one. It fails where another process does so.
	Save(ctx context.Context, text []byte) error
	Close() error
}

// The bounds of what is kept.
const (
	leastKept = 200       // notes: fewer are read as fast
	mostKept  = 128 << 20 // bytes; of more notes nothing is kept
	worthIt   = 16        // notes that had to be read since, and a hundredth of all, are worth keeping anew
	keepTime  = 10 * time.Second
)

// kept keeps the index of a vault between processes.
type kept struct {
	cache     Cache
	isPrivate func(content []byte) bool

	mu      sync.Mutex
	saving  sync.WaitGroup
	under   bool // one is under way
	stopped bool
	ctx     context.Context
	stop    context.CancelFunc
}

// UseCache has the index of the notes kept. Nothing is kept of a note that isPrivate; nil: none is. It is called before the vault's tools are.
// Close closes the cache as well.
func (v *Vault) UseCache(cache Cache, isPrivate func(content []byte) bool) {
	v.kept = &kept{cache: cache, isPrivate: isPrivate}
	v.kept.ctx, v.kept.stop = context.WithCancel(context.Background())
}

func (k *kept) private(content []byte) bool {
	return k != nil && k.isPrivate != nil && k.isPrivate(content)
}

// close waits for what is being kept, for a time.
func (k *kept) close() error {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	k.stopped = true
	k.mu.Unlock()
	late := time.AfterFunc(keepTime, k.stop)
	k.saving.Wait()
	late.Stop()
	k.stop()
	return k.cache.Close()
}

// recall takes over what was kept. What is damaged, or of another form, is as if there were nothing. The index is the caller's.
func (v *Vault) recall(ctx context.Context) {
	if v.kept == nil {
		return
	}
	text, err := v.kept.cache.Load(ctx)
	if err != nil {
		return
	}
	files, lexicon, err := decode(text)
	if err != nil {
		return
	}
	v.index.files, v.index.lexicon = files, lexicon
}

// keep keeps the index, behind the call, where enough was read since. The index is the caller's.
func (v *Vault) keep() {
	k, x := v.kept, &v.index
	if k == nil || len(x.files) < leastKept || x.unkept < worthIt || x.unkept < len(x.files)/100 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.under || k.stopped {
		return
	}
	k.under, x.unkept = true, 0
	state := keptState{files: x.files, words: x.lexicon.View()} // which never change
	k.saving.Go(func() {
		if text := state.encode(); len(text) <= mostKept {
			_ = k.cache.Save(k.ctx, text) // else the notes are read again
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.under = false
	})
}

// keptState is an index at a time.
type keptState struct {
	files map[string]indexed
	words search.View
}
