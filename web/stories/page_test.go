package stories

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/server/user"
	"sibyl/internal/store/pgtest"
	"sibyl/internal/store/teststore"
)

func TestConversationOpensAtItsEndAndIsFoundWhereItWasLeft(t *testing.T) {
	h := openWith(t, "")
	session := h.longSession(120, time.Minute)
	p := h.visit(1000)
	p.turnsTo("#/session/" + session)
	const scroll = `document.querySelector("main section .scroll")`
	const left = scroll + ".scrollHeight - " + scroll + ".scrollTop - " + scroll + ".clientHeight"
	p.sees(asksOfLease(120))
	p.until("the end", scroll+" && "+left+" < 80")
	p.until("earlier messages", `(`+scroll+
		`.scrollTop = 0, document.querySelectorAll("main ol > li .question").length > 60)`)
	p.do("going to the middle", chromedp.Evaluate[chromedp.Void](scroll+`.scrollTop = `+scroll+`.scrollHeight / 2`))
	const seen = `[...document.querySelectorAll("main ol > li")].find((e) => e.querySelector(".question") && e.getBoundingClientRect().bottom > ` + scroll + `.getBoundingClientRect().top)?.querySelector(".question").textContent`
	p.until("it to be at rest", `(globalThis.settled ??= [], settled.push(`+scroll+
		`.scrollTop), settled.length > 20 && new Set(settled.slice(-10)).size === 1)`)
	before := evaluate[string](p, seen)
	p.turnsTo("#/tasks")
	p.sees("Nothing to do.")
	p.do("going back", chromedp.Evaluate[chromedp.Void]("history.back()"))
	p.until("the exchange that was seen: "+before, scroll+" && "+seen+" === "+quoted(before))
}

func TestTitleOfThePageIsWhatOneLooksAt(t *testing.T) {
	p := open(t).visit(1000)
	p.until("the title of a new conversation", `document.title === "New conversation · Sibyl"`)
	p.says("How is a lease acquired?")
	p.until("the title of the conversation", `document.title === "How is a lease acquired? · Sibyl"`)
	p.turnsTo("#/operation")
	p.until("the title of a view", `document.title.endsWith("· Sibyl") && !document.title.startsWith("How")`)
}

func TestPhoneHasABarAtItsFootWithAllViews(t *testing.T) {
	p := open(t).visit(360)
	for _, view := range []string{"Tasks", "Council", "Inquiries", "Oracle"} {
		p.press(view)
		p.until(view+" in the bar", `document.querySelector("nav [aria-current]")?.innerText === `+quoted(view))
		p.fits()
	}
	p.until("a bar at the foot, with targets of 44 px", `(() => {
		const all = [...document.querySelectorAll("header nav > *")].filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect());
		return all.length === 5 && all.every((r) => r.height >= 44 && r.width >= 44 && r.bottom > innerHeight - 10);
	})()`)
	p.opensMenu()
	p.press("Runs")
	p.until("the view", `location.hash === "#/runs" && !document.querySelector("dialog[open]")`)
}

func TestWhoIsSignedOutSeesHowToComeBackAndDoes(t *testing.T) {
	p := open(t).visit(1000)
	p.forgive("401")
	p.turnsTo("#/tasks")
	p.opensMenu()
	p.press("Sign out")
	p.sees("sibyl user sign-in NAME")
	p.accessible("signed out")
	p.do("signing in with an address", chromedp.Navigate(p.signIn(p.user)))
	p.until("the view where one was", `location.hash.startsWith("#/tasks") && document.querySelector("textarea")`)
}

// mostForChat is what a browser may fetch of the page to show a conversation, in bytes.
const mostForChat = 72_000

// fetched is what came over the wire for the files of the page since it was loaded.
const fetched = `[performance.getEntriesByType("navigation")[0], ...performance.getEntriesByType("resource").filter((e) => !e.name.includes("/api/"))].reduce((sum, e) => sum + e.transferSize, 0)`

func TestPageFetchesWhatAConversationNeedsAndTheOthersWhenOpened(t *testing.T) {
	p := openWith(t, "").visit(1000)
	first := evaluate[int](p, strings.ReplaceAll(fetched, "transferSize", "encodedBodySize"))
	t.Logf("%d bytes were fetched for a conversation", first)
	assert.That(t, first <= mostForChat && first >= mostForChat/3, "%d bytes were fetched, at most %d", first, mostForChat)
	before := evaluate[int](p, fetched)
	p.press("Inquiries")
	p.sees("No inquiries yet.")
	all := evaluate[int](p, fetched)
	assert.That(t, all > before, "of a view that was opened nothing was fetched: %d bytes before, %d after", before, all)
	p.reload()
	p.sees("No inquiries yet.")
	again := evaluate[int](p, fetched)
	assert.That(t, again <= 2000, "%d bytes were fetched again", again)
	p.opensMenu()
	p.chooses("dialog select", "de")
	p.sees("Befragungen")
	p.sees("Noch keine Befragungen.")
}

// otherPage has the server's page be that of another program, until the tab loads it.
const otherPage = `const real = fetch; globalThis.fetch = (what, ...more) => (what === "/" ? Promise.resolve(new Response("<script src=/assets/index-other.js>")) : real(what, ...more)); globalThis.old = true`

func TestTabThatWasOpenWhileTheProgramWasReplacedLoadsTheNewPageOnce(t *testing.T) {
	p := openWith(t, "").visit(1000)
	p.forgive("/assets/")
	p.forgive("ERR_BLOCKED")
	p.cuts("/assets/Inquiry-*")
	p.requests(otherPage)
	p.press("Inquiries")
	p.until("the page to be loaded anew", "!globalThis.old && document.querySelector('main')")
	// its file is still not there, though the page is that of the server: it is not loaded again
	p.sees("The server does not answer.")
	p.cuts()
	p.press("Try again")
	p.sees("No inquiries yet.")
}

// longSession is a session of so many exchanges, one each so often, each as the last one was but for its number. They
// are written past the assistants, who would take long.
func (h *house) longSession(many int, every time.Duration) (session string) {
	h.Helper()
	h.sibyl("ask", "--in", h.dir+"/code", asksOfLease(many))
	h.database(func(store app.Database) error {
		last := must(store.Runs(h.Context(), "local", journal.Filter{}))[0]
		last = must(store.Run(h.Context(), last.Owner, last.ID))
		records := must(store.Records(h.Context(), last.Owner, last.ID, 0))
		var start run.StartRecord
		if err := json.Unmarshal(records[0].Data, &start); err != nil {
			return err
		}
		blobs := [][]byte{must(store.Blob(h.Context(), last.Owner, start.Tree))}
		for _, text := range start.Texts {
			blobs = append(blobs, must(store.Blob(h.Context(), last.Owner, text.Blob)))
		}
		session = last.Session[:len(last.Session)-4] + "long"
		for n := 1; n <= many; n++ { // one after the other, as the exchanges of a session begin
			if err := copied(h.TB, store, session, last, records, blobs, n, every*time.Duration(n-many)); err != nil {
				return err
			}
		}
		return store.DeleteSession(h.Context(), last.Owner, last.Session, journal.ByPerson, time.Now())
	})
	return session
}

// asksOfLease is what is asked in an exchange of a long session.
func asksOfLease(n int) string { return fmt.Sprintf("How is lease %d acquired?", n) }

// copied writes run n of a session as another one was, so much later.
func copied(
	t testing.TB, store journal.Store, session string, r journal.Run, records []journal.Record, blobs [][]byte, n int,
	later time.Duration,
) error {
	numbered := func(b []byte) []byte {
		b = bytes.ReplaceAll(b, []byte(r.Title), []byte(asksOfLease(n)))
		return bytes.ReplaceAll(b, []byte(r.Session), []byte(session))
	}
	end := journal.End{Status: r.Status, At: r.EndedAt.Add(later), Reason: r.Reason, Summary: numbered(r.Summary)}
	of := journal.Run{ID: fmt.Sprintf("%s%04d", r.ID[:len(r.ID)-4], n), Session: session, Owner: r.Owner,
		Assistant: r.Assistant, Title: asksOfLease(n), Status: journal.Running,
		StartedAt: r.StartedAt.Add(later), LeaseHolder: "story", LeaseUntil: time.Now().Add(5 * time.Second)}
	all := make([]journal.Record, len(records))
	for i, one := range records {
		all[i] = journal.Record{Seq: one.Seq, At: one.At.Add(later), Kind: one.Kind, Data: numbered(one.Data)}
	}
	b := journal.Beginning{Run: of, Blobs: blobs, Records: all[:1]}
	if n == 1 {
		b.Session = &journal.Session{ID: session, Owner: r.Owner, Assistant: r.Assistant, Title: r.Title,
			CreatedAt: of.StartedAt, UpdatedAt: of.StartedAt}
	}
	if err := store.Begin(t.Context(), b); err != nil {
		return err
	}
	return store.Append(t.Context(), of.Owner, of.ID, all[1:], &end)
}

// onOneStore skips a story of how the page looks, or of how long it takes, where SIBYL_TEST_STORE asks for PostgreSQL:
// both are the page's alone.
func onOneStore(t testing.TB) {
	t.Helper()
	if onPostgres() {
		t.Skip("what the page looks like, and how much it bears, is looked at with SQLite")
	}
}

func onPostgres() bool { return os.Getenv(teststore.Env) == "postgres" }

// storing is what the program's environment says of its store.
func storing(t testing.TB) []string {
	t.Helper()
	if !onPostgres() {
		return nil
	}
	return []string{"SIBYL_DATABASE=" + pgtest.New(t)}
}

// turnsTo shows another place of the page.
func (p *tab) turnsTo(place string) {
	p.Helper()
	p.do("going to "+place, chromedp.Evaluate[chromedp.Void]("location.hash = "+quoted(place)))
}

// visitReading opens a tab for the user of the house, who from here on may only read.
func (h *house) visitReading(width int64) *tab {
	h.Helper()
	h.revokes()
	h.admits(h.user, user.Read)
	p := h.tab(width)
	p.do("opening the page to read", chromedp.Navigate(h.signIn(h.user)), chromedp.WaitVisible("nav"))
	return p
}

// opensMenu opens the menu of the bar, wherever that is.
func (p *tab) opensMenu() {
	p.Helper()
	p.until("the keyboard on its button", `(() => {
		const button = [...document.querySelectorAll("header button[aria-haspopup=dialog]")].find((e) => e.checkVisibility());
		button?.focus();
		return button;
	})()`)
	if evaluate[int](p, "innerWidth") <= 700 { // a story may have made the window narrow
		p.press("More")
	} else {
		p.press("Language, colours, account")
	}
	p.until("the menu", "document.querySelector('dialog[open] select')")
}

// opensList shows the list of conversations on a narrow screen.
func (p *tab) opensList() {
	p.Helper()
	p.until("the list", `(document.querySelector("aside:popover-open") ?? document.querySelector("section > .bar button")?.click(), document.querySelector("aside:popover-open"))`)
}
