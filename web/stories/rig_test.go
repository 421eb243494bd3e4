// Package stories uses the page as people do: in a real browser, against the real program, with a model that is played.
package stories

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/store/teststore"
)

// patience bounds every wait of a story: a machine under load takes long, one that hangs is noticed.
const patience = 60 * time.Second

// program is the built program, caches where it keeps what it compiles, browser the Chromium that all stories share, and
// spare its tabs.
var (
	program string
	caches  string
	browser func() context.Context
	spare   *panes
)

func TestMain(m *testing.M) {
	if !needs.Everything() {
		os.Exit(m.Run()) // each story is skipped
	}
	code, err := prepared(teststore.Main(m).Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// prepared builds the program and starts the browser for what run does.
func prepared(run func() int) (int, error) {
	dir, err := os.MkdirTemp("", "stories")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program, caches = filepath.Join(dir, "sibyl"), filepath.Join(dir, "caches")
	// The version is on the page, and with a commit in it the page looks otherwise.
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", program, "../../cmd/sibyl").
		CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go build: %w\n%s", err, out)
	}
	if err := looksAtSources(); err != nil {
		return 0, err
	}
	found, err := chromium()
	if err != nil {
		return 0, err
	}
	said := filepath.Join(dir, "voice.wav")
	if err := os.WriteFile(said, voice(), 0o600); err != nil {
		return 0, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(found), chromedp.NoSandbox,
		chromedp.UserDataDir(filepath.Join(dir, "browser")),
		chromedp.Flag("use-fake-device-for-media-stream", true), chromedp.Flag("use-file-for-fake-audio-capture", said),
		chromedp.Flag("use-fake-ui-for-media-stream", true), chromedp.Flag("accept-lang", "en-GB"),
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("force-prefers-reduced-motion", true),
		chromedp.Flag("hide-scrollbars", true))
	allocated, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	opened, end := chromedp.NewContext(allocated)
	defer end()
	browser = func() context.Context { return opened }
	panes, close := openPanes()
	defer close()
	spare = panes
	if err := chromedp.Do(opened); err != nil {
		return 0, fmt.Errorf("%s does not start: %w", found, err)
	}
	code := run()
	return code, endCommon()
}

// looksAtSources lists the folders that the program is built from. ‘go test’ keeps a result for as long as what a test
// has looked at is the same, and does not see what another process builds.
func looksAtSources() error {
	for _, root := range []string{"cmd", "internal", "trees", "prompts", "docs", "web/dist"} {
		if err := filepath.WalkDir(filepath.Join("../..", root), func(_ string, _ fs.DirEntry, err error) error {
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// chromium is the browser's program. The one without windows costs a third less than the others.
func chromium() (string, error) {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no chromium: sh scripts/programs.sh installs it")
}

// tab is a page of a browser that nobody else uses, with what went wrong in it.
type tab struct {
	*house
	context.Context
	width    int64
	mu       sync.Mutex
	problems []string
	forgiven []string // parts of problems that a story brings about
	ended    int      // runs whose end the event stream told
}

// visit opens a tab of some width that is signed in. When the story ends it fails if the page asked any other host,
// broke a policy or complained.
func (h *house) visit(width int64) *tab {
	h.Helper()
	p := h.tab(width)
	p.do("opening the page", chromedp.Navigate(h.signIn(h.user)), chromedp.WaitVisible("textarea"))
	return p
}

// tab gives an empty tab that no other story or user has.
func (h *house) tab(width int64) *tab {
	h.Helper()
	p := &tab{house: h, width: width}
	one := spare.take(h, p.watch)
	p.Context = one.Context
	h.Cleanup(p.blameless)
	h.Cleanup(func() { assert.Nil(h, spare.giveBack(one, h.origin)) })
	p.do("making the tab so wide", chromedp.EmulateViewport(width, 900))
	return p
}

func (p *tab) watch(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.note(fmt.Sprintf("exception: %s %+v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			var said []string
			for _, arg := range e.Args {
				said = append(said, string(arg.Value))
			}
			p.note(fmt.Sprintf("console %s: %s", e.Type, strings.Join(said, " ")))
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity {
			p.note(fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventEventSourceMessageReceived:
		p.mu.Lock()
		defer p.mu.Unlock()
		if e.EventName == "end" {
			p.ended++
		}
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Scheme != "blob" && u.Scheme != "data" &&
			"http://"+u.Host != p.origin {
			p.note("a request left the origin: " + e.Request.URL)
		}
	}
}

func (p *tab) note(problem string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems = append(p.problems, problem)
}

// forgive has problems with such a text in them be none: the story brings them about.
func (p *tab) forgive(part string) { p.forgiven = append(p.forgiven, part) }

func (p *tab) blameless() {
	p.mu.Lock()
	defer p.mu.Unlock()
next:
	for _, problem := range p.problems {
		for _, part := range p.forgiven {
			if strings.Contains(problem, part) {
				continue next
			}
		}
		p.Error(problem)
	}
}

// do acts in the tab, within patience.
func (p *tab) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.fail(what, err)
	}
}

// fail ends the story with what the page shows and the server has said.
func (p *tab) fail(what string, err error) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context, 5*time.Second)
	defer cancel()
	shown, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("location.href + '\\n' + document.body.innerText"))
	p.Fatalf("%s: %v\nthe page shows: %.3000s\nthe server says: %.9000s", what, err, shown, p.said.String())
}

// evaluate gives what JavaScript gives.
func evaluate[T any](p *tab, script string) T {
	p.Helper()
	value, err := tryEvaluate[T](p, script)
	if err != nil {
		p.fail("evaluating "+script, err)
	}
	return value
}

func tryEvaluate[T any](p *tab, script string) (T, error) {
	ctx, cancel := context.WithTimeout(p.Context, patience)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

// untilTrue gives a promise that is kept once an expression is true. It is looked at again when the page changes or
// something happens in it, at most so often; and now and then without that, as not all that is waited for is told.
const untilTrue = `(() => { const holds = () => !!(%s); return holds() || new Promise((kept, broken) => {
	const often = 60, seldom = 300; // ms
	const heard = ["hashchange", "popstate", "scroll", "input", "change", "focusin", "focusout", "toggle", "close", "resize", "load", "transitionend"];
	let last = performance.now(), soon;
	const look = () => {
		[last, soon] = [performance.now(), undefined];
		try { if (holds()) end(kept, true); } catch (e) { end(broken, e); }
	};
	const again = () => { soon ??= setTimeout(look, Math.max(0, last + often - performance.now())); };
	const changes = new MutationObserver(again);
	const slow = setInterval(() => soon === undefined && look(), seldom);
	const end = (then, what) => {
		clearInterval(slow), clearTimeout(soon), changes.disconnect();
		for (const kind of heard) removeEventListener(kind, again, true);
		then(what);
	};
	changes.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
	for (const kind of heard) addEventListener(kind, again, true);
}); })()`

// until waits until a JavaScript expression is true. A page that goes away while it is asked says nothing yet.
func (p *tab) until(what, expression string) {
	p.Helper()
	script := fmt.Sprintf(untilTrue, expression)
	for end := time.Now().Add(patience); ; {
		ctx, cancel := context.WithDeadline(p.Context, end)
		_, err := chromedp.Run(ctx, chromedp.Evaluate[bool](script, chromedp.EvalAwaitPromise))
		late := ctx.Err() != nil
		cancel()
		switch {
		case err == nil:
			return
		case late:
			p.fail("waiting for "+what, fmt.Errorf("not within %s", patience))
		case !strings.Contains(err.Error(), "navigated"):
			p.fail("waiting for "+what, fmt.Errorf("%w, of %s", err, expression))
		}
	}
}

// quoted is a text as JavaScript has it.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // no text fails
	}
	return string(b)
}

// sees waits until a text is on the page.
func (p *tab) sees(text string) {
	p.Helper()
	p.until("“"+text+"”", "document.body.innerText.includes("+quoted(text)+")")
}

// press clicks a button, link or summary by its name, once it is there and enabled; where a dialog is open, in the
// dialog.
func (p *tab) press(name string) {
	p.Helper()
	p.until("something to press that is called “"+name+"”", `(() => {
		const named = (e) => (e.getAttribute("aria-label") ?? e.innerText).trim().replace(/\s+/g, " ");
		const all = [...(document.querySelector("dialog[open]") ?? document).querySelectorAll("button, a, summary")];
		const one = all.find((e) => named(e) === `+quoted(name)+` && e.checkVisibility() && !e.disabled);
		one?.click();
		return one;
	})()`)
}

// says writes words and sends them by the keyboard.
func (p *tab) says(words string) {
	p.Helper()
	p.do("saying “"+words+"”", chromedp.WaitVisible("textarea"),
		chromedp.Evaluate[chromedp.Void](`document.querySelector("textarea").select()`),
		chromedp.SendKeys("textarea", words))
	p.enter()
}

// enter presses the Enter key.
func (p *tab) enter() {
	p.Helper()
	p.key("Enter", "Enter", 13)
}

// key presses a key. What follows from it is the page's: a browser sends no character for a key that the page has
// taken.
func (p *tab) key(name, code string, number int64) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context, patience)
	defer cancel()
	for _, kind := range []input.DispatchKeyEventType{input.DispatchKeyEventTypeRawKeyDown,
		input.DispatchKeyEventTypeKeyUp} {
		if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: name,
			Code: code, WindowsVirtualKeyCode: number}); err != nil {
			p.fail("pressing "+name, err)
		}
	}
}

// chooses takes a value of a select by its selector.
func (p *tab) chooses(selector, value string) {
	p.Helper()
	p.until("a choice of "+value, `(() => {
		const s = document.querySelector(`+quoted(selector)+`);
		if (!s || ![...s.options].some((o) => o.value === `+quoted(value)+`)) return false;
		s.value = `+quoted(value)+`;
		s.dispatchEvent(new Event("change", { bubbles: true }));
		return true;
	})()`)
}

// reload loads the page anew.
func (p *tab) reload() {
	p.Helper()
	p.do("reloading", chromedp.Reload())
}

// safeBuffer takes what a process says, from any goroutine.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// fits checks that nothing scrolls sideways.
func (p *tab) fits() {
	p.Helper()
	over := evaluate[int](p,
		`Math.max(document.documentElement.scrollWidth - innerWidth, ...[...document.querySelectorAll(".page")].map((e) => e.scrollWidth - e.clientWidth))`)
	assert.That(p, over <= 0, "the page is %d px too wide", over)
}
