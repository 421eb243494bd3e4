package app

import (
	"os"
	"sync"

	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

// opened are the models and the tools that runs of this process share: their connections and folders are opened once.
type opened struct {
	observe func(model.Model) model.Model // nil: nothing observes them

	mu     sync.Mutex
	models map[string]model.Model // by id
	tools  map[surroundings]*toolbox
	uses   int
}

// surroundings are the folders that tools are opened on.
type surroundings struct {
	code, vault string
	noWeb       bool
}

// toolbox is a set of tools with the folders that it stands on.
type toolbox struct {
	*tool.Set
	close   func()
	folders map[string]os.FileInfo
	users   int
	last    int // when it was last taken, counted in uses
}

// mostIdle is how many toolboxes stay open that no run uses.
const mostIdle = 8

// model opens a model, once for all runs while it is remembered.
func (o *opened) model(catalog model.Catalog, id string) (model.Model, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if m := o.models[id]; m != nil {
		return m, nil
	}
	m, err := catalog.Open(id)
	if err != nil {
		return nil, err
	}
	if o.observe != nil {
		m = o.observe(m)
	}
	if o.models == nil || len(o.models) >= mostModels {
		o.models = map[string]model.Model{}
	}
	o.models[id] = model.Retry(m, model.RetryPolicy{})
	return o.models[id], nil
}

// take gives the tools for a run's surroundings, and what gives them back. A folder that was replaced since is opened anew.
func (o *opened) take(env oracle.Env, open func(oracle.Env) (*tool.Set, func(), error)) (*tool.Set, func(), error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	key := surroundings{env.CodeRoot, env.Vault, env.NoWeb}
	box := o.tools[key]
	if box != nil && !box.stands() {
		delete(o.tools, key)
		box.closeIdle()
		box = nil
	}
	if box == nil {
		set, closeAll, err := open(env)
		if err != nil {
			return nil, nil, err
		}
		box = &toolbox{Set: set, close: closeAll, folders: map[string]os.FileInfo{}}
		for _, dir := range []string{env.CodeRoot, env.Vault} {
			if info, err := os.Stat(dir); err == nil {
				box.folders[dir] = info
			}
		}
		if o.tools == nil {
			o.tools = map[surroundings]*toolbox{}
		}
		o.tools[key] = box
	}
	o.uses++
	box.users, box.last = box.users+1, o.uses
	return box.Set, sync.OnceFunc(func() { o.give(key, box) }), nil
}

// stands says that the folders are those that were opened.
func (b *toolbox) stands() bool {
	for dir, was := range b.folders {
		if info, err := os.Stat(dir); err != nil || !os.SameFile(was, info) {
			return false
		}
	}
	return true
}

// closeIdle closes a toolbox that is not handed out any more, unless a run still uses it.
func (b *toolbox) closeIdle() {
	if b.users == 0 {
		b.close()
	}
}

// give takes tools back. Of those that nobody uses, the longest unused are closed.
func (o *opened) give(key surroundings, b *toolbox) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if b.users--; o.tools[key] != b {
		b.closeIdle()
		return
	}
	for {
		idle, oldest := 0, surroundings{}
		for k, box := range o.tools {
			if box.users > 0 {
				continue
			}
			if idle++; idle == 1 || box.last < o.tools[oldest].last {
				oldest = k
			}
		}
		if idle <= mostIdle {
			return
		}
		o.tools[oldest].close()
		delete(o.tools, oldest)
	}
}

// close closes all tools. No run uses them any more.
func (o *opened) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, box := range o.tools {
		box.close()
	}
	clear(o.tools)
}
