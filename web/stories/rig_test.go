// Package stories uses the page as people do: in a real browser, against the real program, with a model that is played.
package stories

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
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

	"sibyl/internal/behaviour/needs"
	"sibyl/internal/store/teststore"
)

// patience bounds every wait of a story: a machine under load takes long, one that hangs is noticed.
const patience = 60 * time.Second

// program is the built program, browser the Chromium that all stories share, and spare its tabs.
var (
	program string
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
	program = filepath.Join(dir, "sibyl")
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
	return run(), nil
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

// chromium is the browser's program: Debian's wrapper of it, or what else it is called.
func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no chromium: sh scripts/programs.sh installs it")
}

// house is a server with a folder of code and one of notes, and the one user local.
type house struct {
	testing.TB
	dir, origin string
	env         []string
	serving     *exec.Cmd
	ended       chan error
	said        *safeBuffer
}

// open starts a server; settings are lines of its configuration beside where it listens and its folders. Other stories
// run beside this one.
func open(t testing.TB, settings string) *house {
	t.Helper()
	beside(t)
	return openAlone(t, settings)
}

// openAlone is open for a story that measures: none runs beside it.
func openAlone(t testing.TB, settings string) *house {
	t.Helper()
	needs.All(t, "Chromium")
	h := &house{TB: t, dir: t.TempDir(), said: &safeBuffer{}}
	listen := freePort(t)
	h.origin = "http://" + listen
	write := func(name, text string) {
		path := filepath.Join(h.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("code/lease.go", "package lease\n\n// Acquire takes the lease of a run, if nobody holds it or its holder "+
		"is dead.\nfunc Acquire(run string) error {\n\treturn nil\n}\n")
	write("notes/house.md", "# Boiler\n\nThe plumber who mended the boiler is Dana Reyes, phone 555-0100.\n")
	write("config.yaml", fmt.Sprintf("server:\n  listen: %s\n  folders:\n    code: %s\n    notes: %s\n%s", listen,
		filepath.Join(h.dir, "code"), filepath.Join(h.dir, "notes"), settings))
	h.env = []string{"HOME=" + h.dir, "PATH=" + os.Getenv("PATH"), "SIBYL_CONFIG=" + filepath.Join(h.dir,
		"config.yaml"), "SIBYL_DATA=" + filepath.Join(h.dir, "data"), "SIBYL_CACHE=" + filepath.Join(h.dir, "cache")}
	h.env = append(h.env, storing(t)...)
	h.sibyl("user", "add", "local")
	h.start()
	t.Cleanup(h.stop)
	return h
}

// sibyl runs a command of the program and gives what it prints.
func (h *house) sibyl(args ...string) string {
	h.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Env, c.Dir = h.env, h.dir
	var out, complaints bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaints
	if err := c.Run(); err != nil {
		h.Fatalf("sibyl %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), complaints.String())
	}
	return out.String()
}

// start begins to serve, and waits until requests are answered.
func (h *house) start() {
	h.Helper()
	h.serving = exec.Command(program, "serve")
	h.serving.Env, h.serving.Dir, h.serving.Stderr = h.env, h.dir, h.said
	if err := h.serving.Start(); err != nil {
		h.Fatal(err)
	}
	h.ended = make(chan error, 1)
	go func(c *exec.Cmd, ended chan error) { ended <- c.Wait() }(h.serving, h.ended)
	until := time.Now().Add(patience)
	for {
		if answer, err := http.Get(h.origin + "/readyz"); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case err := <-h.ended:
			h.Fatalf("the server ended: %v\n%s", err, h.said.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(until) {
			h.Fatalf("the server takes no requests within %s\n%s", patience, h.said.String())
		}
	}
}

// stop ends the server at once, as a crash would.
func (h *house) stop() {
	if h.serving != nil {
		_ = h.serving.Process.Kill()
		<-h.ended
		h.serving = nil
	}
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
	p.do("opening the page", chromedp.Navigate(h.signIn("local")), chromedp.WaitVisible("textarea"))
	return p
}

// signIn is an address that signs in once.
func (h *house) signIn(user string) string {
	h.Helper()
	return h.origin + "/#" + strings.TrimSpace(h.sibyl("user", "sign-in", user))
}

// tab gives an empty tab that no other story or user has.
func (h *house) tab(width int64) *tab {
	h.Helper()
	p := &tab{house: h, width: width}
	one := spare.take(h, p.watch)
	p.Context = one.Context
	h.Cleanup(p.blameless)
	h.Cleanup(func() {
		if err := spare.giveBack(one, h.origin); err != nil {
			h.Error(err)
		}
	})
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

// until waits until a JavaScript expression is true. A page that goes away while it is asked says nothing yet.
func (p *tab) until(what, expression string) {
	p.Helper()
	script := "!!(" + expression + ")"
	for end := time.Now().Add(patience); ; time.Sleep(30 * time.Millisecond) {
		holds, err := tryEvaluate[bool](p, script)
		switch {
		case err != nil && !strings.Contains(err.Error(), "navigated"):
			p.fail("evaluating "+script, err)
		case holds:
			return
		case time.Now().After(end):
			p.fail("waiting for "+what, fmt.Errorf("not within %s", patience))
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

// freePort is an address of loopback that nobody listens to. It is none of those that the system gives out by itself,
// so that it stays free until a server listens there, and while one is away.
func freePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		address := fmt.Sprint("127.0.0.1:", 10_000+rand.IntN(20_000))
		if l, err := net.Listen("tcp", address); err == nil {
			_ = l.Close()
			return address
		}
	}
	t.Fatal("no port is free")
	return ""
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
	if over := evaluate[int](p,
		`Math.max(document.documentElement.scrollWidth - innerWidth, ...[...document.querySelectorAll(".page")].map((e) => e.scrollWidth - e.clientWidth))`); over > 0 {
		p.Errorf("the page is %d px too wide", over)
	}
}
