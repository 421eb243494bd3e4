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

// InfoByName returns what is known of a hosted model by its name alone, without what stands before its last slash and
// behind a colon; zero if nothing is.
func InfoByName(name string) Info {
	name, _, _ = strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	name = strings.ReplaceAll(strings.ToLower(name), ".", "-")
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

// Ask returns what Describe does, and asks the provider even if a setting gives the window.
func (c Catalog) Ask(ctx context.Context, id string) (info Info, err error) {
	p, name, err := c.providerOf(id)
	if err != nil {
		return info, err
	}
	if p.Describe != nil {
		ctx, cancel := context.WithTimeout(ctx, describeTimeout)
		defer cancel()
		info, err = p.Describe(ctx, name)
	}
	return p.completeWith(Contract{}, info, name), err
}

func (p Provider) describe(ctx context.Context, name string) (info Info, err error) {
	if p.asks(name) {
		ctx, cancel := context.WithTimeout(ctx, describeTimeout)
		defer cancel()
		info, err = p.Describe(ctx, name)
	}
	return p.complete(info, name), err
}

// asks says whether a provider is asked about a model: not if a setting gives the window, unless what was found of the
// model counts only as long as it is the same.
func (p Provider) asks(name string) bool {
	return p.Describe != nil && (p.Window == 0 || p.Contract != nil && p.Contract(name).Digest != "")
}

// complete adds to a report what is known without it.
func (p Provider) complete(info Info, name string) Info {
	c, _ := p.contract(name, info.Digest)
	return p.completeWith(c, info, name)
}

func (p Provider) completeWith(c Contract, info Info, name string) Info {
	if p.Window > 0 {
		info.Window = p.Window
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
	return c.Complete(info)
}

// How old a report is when it is renewed: a local server is started again with another window more often than a
// provider changes a model. firstWait is how long Known waits for the first report.
const (
	renewLocal  = time.Minute
	renewHosted = 24 * time.Hour
	firstWait   = 50 * time.Millisecond
)

// Known returns what is known of the model with that id, and does not wait for its provider: what Describe returns,
// with the provider's last report (Provider.Last). A report that is missing or old is asked for beside the caller's
// work. Only of a model of which nothing is known, Known waits for the report, for a moment.
func (c Catalog) Known(ctx context.Context, id string) Info {
	p, name, err := c.providerOf(id)
	if err != nil {
		return Info{}
	}
	var last Info
	var at time.Time
	if p.Last != nil {
		last, at = p.Last(name)
	}
	known := p.complete(last, name)
	old := renewHosted
	if p.Local {
		old = renewLocal
	}
	if !p.asks(name) || time.Since(at) < old {
		return known
	}
	asked := make(chan Info, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), describeTimeout)
		defer cancel()
		if info, err := p.Describe(ctx, name); err == nil {
			asked <- p.complete(info, name)
		}
	}()
	if !at.IsZero() || known != (Info{}) {
		return known
	}
	select {
	case known = <-asked:
	case <-time.After(firstWait):
	case <-ctx.Done():
	}
	return known
}
