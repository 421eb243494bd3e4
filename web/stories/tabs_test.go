package stories

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
)

// panes are tabs of the browser that no story uses. Each has a browser context of its own, so that two in one story are
// two browsers to the server. To open one costs four times as much as to load the page in it, and what a story leaves
// in one is cleared.
type panes struct {
	mu   sync.Mutex
	free []*pane
	ends []context.CancelFunc
	// away is a place of the site, not of the origin, that tabs stand at between stories: from there the browser needs
	// no new process.
	away string
}

// pane is a tab of the browser, with who is told what happens in it.
type pane struct {
	context.Context
	mu      sync.Mutex
	watcher func(any)
}

// openPanes gives no panes yet, and what closes all that come to be.
func openPanes() (p *panes, end func()) {
	blank := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(w, `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Away</title>`)
	}))
	p = &panes{away: blank.URL}
	return p, func() {
		for _, end := range p.ends {
			end()
		}
		blank.Close()
	}
}

// take gives a tab that tells watcher what happens in it until it is given back.
func (s *panes) take(t testing.TB, watcher func(any)) *pane {
	t.Helper()
	s.mu.Lock()
	var p *pane
	if n := len(s.free); n > 0 {
		p, s.free = s.free[n-1], s.free[:n-1]
	}
	s.mu.Unlock()
	if p == nil {
		p = s.fresh(t)
	}
	p.tells(watcher)
	return p
}

// fresh opens a tab.
func (s *panes) fresh(t testing.TB) *pane {
	t.Helper()
	p := &pane{}
	var end context.CancelFunc
	p.Context, end = chromedp.NewContext(browser(), chromedp.WithNewBrowserContext(), chromedp.WithListener(p.hear))
	s.mu.Lock()
	s.ends = append(s.ends, end)
	s.mu.Unlock()
	if err := chromedp.Do(p.Context); err != nil { // the tab lives as long as the context of its first use
		t.Fatal(err)
	}
	assert.Must(chromedp.Call(p.Context, emulation.SetFocusEmulationEnabled,
		emulation.SetFocusEmulationEnabledParams{Enabled: true}))(t)
	return p
}

// giveBack leaves the place of a story and what it left in the browser, and lets another story have the tab.
func (s *panes) giveBack(p *pane, origin string) error {
	ctx, cancel := context.WithTimeout(p.Context, patience)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Evaluate[int]("0")) // whatever happened before has been told
	p.tells(nil)
	if err == nil {
		err = chromedp.Do(ctx, chromedp.Navigate(s.away))
	}
	if err == nil {
		_, err = chromedp.Call(ctx, network.ClearBrowserCookies, cdp.Empty{})
	}
	if err == nil {
		_, err = chromedp.Call(ctx, storage.ClearDataForOrigin, storage.ClearDataForOriginParams{Origin: origin,
			StorageTypes: "all"})
	}
	if err != nil {
		return fmt.Errorf("giving a tab back: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, p)
	return nil
}

func (p *pane) tells(watcher func(any)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watcher = watcher
}

func (p *pane) hear(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.watcher != nil {
		p.watcher(event)
	}
}

// besides are the stories that others run beside.
var besides sync.Map

// beside lets other stories run at the same time: most of what one does is to wait for the browser.
func beside(t testing.TB) {
	if story, ok := t.(*testing.T); ok {
		if _, already := besides.LoadOrStore(story, true); !already {
			story.Parallel()
		}
	}
}

// What is wrong in a tab fails its story, also in one that is opened second or was used before.
func TestWhatIsWrongInAnyTabIsNoticed(t *testing.T) {
	h := open(t)
	for _, p := range []*tab{h.visit(600), h.visit(600)} {
		p.do("doing what is wrong",
			chromedp.Evaluate[chromedp.Void](
				`console.error("said by the page"); setTimeout(() => { throw new Error("thrown by the page"); });
			fetch("http://127.0.0.1:9/").catch(() => {}); document.body.setAttribute("style", "color: red"); fetch("/api/nothing"); undefined`))
		for _, wrong := range []string{"said by the page", "thrown by the page", "127.0.0.1:9", "style-src", "404"} {
			p.notices(wrong)
		}
		p.forgive("") // all of it
	}
}

// notices waits until something is wrong in the tab, with such a text in it.
func (p *tab) notices(part string) {
	p.Helper()
	noted := func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return slices.ContainsFunc(p.problems, func(problem string) bool { return strings.Contains(problem, part) })
	}
	for end := time.Now().Add(patience); !noted(); time.Sleep(10 * time.Millisecond) {
		assert.Require(p, !time.Now().After(end), "nobody notices %q", part)
	}
}
