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

// windowRules is the data file, read.
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

// windowRule is what holds of the models whose names fit a pattern.
type windowRule struct {
	pattern string
	info    Info
}

// InfoByName is what is known of a hosted model by its name alone; zero for one that is not.
func InfoByName(name string) Info {
	name = strings.ReplaceAll(strings.ToLower(name[strings.LastIndexByte(name, '/')+1:]), ".", "-")
	for _, w := range windowRules() {
		if fits, _ := path.Match(w.pattern, name); fits {
			return w.info
		}
	}
	return Info{}
}

// describeTimeout bounds the question what one model is like.
const describeTimeout = 3 * time.Second

// Describe says what is known of the model with that id: its Window where a setting says it, else what its provider
// tells, and for one that is hosted what is known by its name in place of what is missing. An error is why the provider
// did not tell; the Info then holds what is known all the same. A model is asked for once, as long as it is told.
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

// maxRemembered bounds how many models Remembering remembers: names come from anywhere.
const maxRemembered = 256

// CachedDescribe asks no more for a model that was told, unless many were since.
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
