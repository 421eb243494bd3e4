package model

import (
	"context"
	_ "embed"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"
)

//go:embed windows.txt
var windowsFile string

// windowRules are the rules of the data file.
var windowRules = sync.OnceValue(func() (all []windowRule) {
	for line := range strings.Lines(windowsFile) {
		var w windowRule
		inputs := ""
		n, _ := fmt.Sscan(line, &w.pattern, &w.info.Window, &w.info.Output, &inputs)
		w.info.NoPictures = inputs == "text"
		if n >= 3 && !strings.HasPrefix(w.pattern, "#") {
			all = append(all, w)
		}
	}
	return all
})

// windowRule holds the properties of the models whose names match a pattern.
type windowRule struct {
	pattern string
	info    Info
}

// InfoByName returns what is known of a hosted model by its name alone; zero if nothing is.
func InfoByName(name string) Info {
	name = strings.ReplaceAll(strings.ToLower(name[strings.LastIndexByte(name, '/')+1:]), ".", "-")
	for _, w := range windowRules() {
		if fits, _ := path.Match(w.pattern, name); fits {
			return w.info
		}
	}
	return Info{}
}

// describeTimeout bounds the request for one model's properties.
const describeTimeout = 3 * time.Second

// Describe returns what is known of the model with that id: the Window of the settings, or else what its provider
// reports and, for a hosted model, what InfoByName knows of the rest. An error says why the provider did not report;
// the Info then holds what is known all the same.
func (c Catalog) Describe(ctx context.Context, id string) (Info, error) {
	p, name, err := c.providerOf(id)
	if err != nil {
		return Info{}, err
	}
	return p.describe(ctx, name)
}

func (p Provider) describe(ctx context.Context, name string) (info Info, err error) {
	if info.Window = p.Window; info.Window == 0 && p.Describe != nil {
		ctx, cancel := context.WithTimeout(ctx, describeTimeout)
		defer cancel()
		info, err = p.Describe(ctx, name)
	}
	if !p.Local {
		known := InfoByName(name)
		if info.Window == 0 {
			info.Window = known.Window
		}
		if info.Output == 0 {
			info.Output = known.Output
		}
		info.NoPictures = info.NoPictures || known.NoPictures
	}
	return info, err
}

// maxRemembered bounds how many models CachedDescribe caches, since names come from anywhere.
const maxRemembered = 256

// CachedDescribe wraps a Provider.Describe with a cache of its successful answers. A full cache is emptied.
func CachedDescribe(
	ask func(ctx context.Context, name string) (Info, error),
) func(ctx context.Context, name string) (Info, error) {
	var mu sync.Mutex
	cache := map[string]Info{}
	return func(ctx context.Context, name string) (Info, error) {
		mu.Lock()
		info, ok := cache[name]
		mu.Unlock()
		if ok {
			return info, nil
		}
		info, err := ask(ctx, name)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			if len(cache) >= maxRemembered {
				clear(cache)
			}
			cache[name] = info
		}
		return info, err
	}
}
