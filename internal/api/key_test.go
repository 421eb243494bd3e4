package api_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// keyedRoute begins something: in a house, what a user asks for.
type keyedRoute struct {
	house func(t testing.TB) *house
	asks  func(h *house, token string) question
}

// posts asks for the same, whoever the user is.
func posts(path string, body any) func(*house, string) question {
	return func(*house, string) question { return question{method: "POST", path: path, body: body} }
}

// keyedRoutes are those that take an Idempotency-Key, but for undoing, which nobody can do twice.
func keyedRoutes() map[string]keyedRoute {
	inquiring := func(t testing.TB) *house { h, _ := withInquiry(t); return h }
	return map[string]keyedRoute{
		"a run":      {newHouse, posts("/api/runs", asking("Tea?"))},
		"a task":     {newHouse, posts("/api/tasks", map[string]any{"title": "Buy milk"})},
		"a question": {withOracle, posts("/api/ask", asked("Tea?"))},
		"a message":  {withTasks, posts("/api/chat", map[string]any{"message": "add Apples"})},
		"an inquiry": {inquiring, posts(inquiries, inquires("", "").body)},
		"answers of oracles": {withCouncil,
			ofSitting("/answers", map[string]any{"oracles": []string{"skeptic", "optimist"}})},
		"a name":          {withCouncil, ofSitting("/name", map[string]any{})},
		"a transcription": {withSilentRecorder, ofSitting("/transcription", map[string]any{"again": true})},
	}
}

// ofSitting asks for something in a session of the Council that the user begins.
func ofSitting(path string, body any) func(*house, string) question {
	return func(h *house, token string) question {
		s := h.sitting(token, offer)
		if h.transcribe != nil {
			recording := upload(s.ID, "", "audio/ogg", "OggS one")
			recording.token = token
			var added api.CouncilAdded
			h.get(recording, &added)
			if added.Transcription != nil {
				h.over(added.Transcription.Run)
			}
		}
		return question{method: "POST", path: councils + "/" + s.ID + path, body: body}
	}
}

// withSilentRecorder is a house in which recordings can never be written down, so that it can be tried over and over.
func withSilentRecorder(t testing.TB) *house {
	h := withCouncil(t)
	h.transcribe = func(context.Context, string) (string, error) { return "", errors.New("it is silent") }
	return h
}

func TestRequestThatIsSentAgainUnderItsKeyIsTheSame(t *testing.T) {
	for name, route := range keyedRoutes() {
		t.Run(name, func(t *testing.T) {
			h := route.house(t).open()
			adas, eves := route.asks(h, ""), route.asks(h, evesToken)
			send := func(q question, token, key string) (made string) {
				t.Helper()
				q.token, q.header = token, map[string]string{"Accept": "application/json", "Idempotency-Key": key}
				var begun struct{ Run string }
				a := h.get(q, &begun)
				if key != "k" {
					h.over(begun.Run)
				}
				return cmp.Or(a.header.Get("Location"), string(a.body))
			}
			first := send(adas, "", "k")
			same(t, "what is made while it goes on", send(adas, "", "k"), first)
			h.allOver()
			same(t, "what is made after its end", send(adas, "", "k"), first)
			made := map[string]string{first: "the first"}
			others := map[string]string{"another key": send(adas, "", "l"), "no key": send(adas, "", "")}
			others["another user's key"] = send(eves, evesToken, "k")
			for about, other := range others {
				assert.That(t, made[other] == "", "%s gives the same as %s", about, made[other])
				made[other] = about
			}
		})
	}
}

// allOver waits for the end of all runs of ada.
func (h *house) allOver() {
	h.Helper()
	var all api.Runs
	h.get(question{path: "/api/runs?open=true"}, &all)
	for _, r := range all.Runs {
		h.over(r.ID)
	}
}

var errDown = errors.New("the disk is gone")

// faulty is a store that fails while it is told to.
type faulty struct {
	journal.Store
	counting func() // is called when runs were listed; nil: nothing is

	mu  sync.Mutex
	err error
}

func (f *faulty) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *faulty) failing() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *faulty) Begin(ctx context.Context, b journal.Beginning) error {
	if err := f.failing(); err != nil {
		return err
	}
	return f.Store.Begin(ctx, b)
}

func (f *faulty) Append(
	ctx context.Context, o journal.Owner, id string, recs []journal.Record, end *journal.End,
) error {
	if err := f.failing(); err != nil {
		return err
	}
	return f.Store.Append(ctx, o, id, recs, end)
}

func (f *faulty) Release(ctx context.Context, o journal.Owner, id, holder string, rest time.Time) error {
	if err := f.failing(); err != nil {
		return err
	}
	return f.Store.Release(ctx, o, id, holder, rest)
}

func (f *faulty) Runs(ctx context.Context, o journal.Owner, filter journal.Filter) ([]journal.Run, error) {
	if err := f.failing(); err != nil {
		return nil, err
	}
	all, err := f.Store.Runs(ctx, o, filter)
	if f.counting != nil {
		f.counting()
	}
	return all, err
}

func (f *faulty) RenameSession(ctx context.Context, o journal.Owner, id, title string) error {
	if err := f.failing(); err != nil {
		return err
	}
	return f.Store.RenameSession(ctx, o, id, title)
}

// strict is a store that takes ids as a database does: text that it could not keep is an error, and this one tells the
// test.
type strict struct {
	journal.Store
	t testing.TB
}

func (s strict) plain(texts ...string) {
	for _, text := range texts {
		assert.That(s.t, journal.Plain(text) && len(text) <= 64, "the store is asked for %.100q", text)
	}
}

func (s strict) Session(ctx context.Context, o journal.Owner, id string) (journal.Session, error) {
	s.plain(id)
	return s.Store.Session(ctx, o, id)
}

func (s strict) Sessions(ctx context.Context, o journal.Owner, f journal.SessionFilter) ([]journal.Session, error) {
	s.plain(f.Assistant, f.After.ID)
	return s.Store.Sessions(ctx, o, f)
}

func (s strict) Run(ctx context.Context, o journal.Owner, id string) (journal.Run, error) {
	s.plain(id)
	return s.Store.Run(ctx, o, id)
}

func (s strict) Runs(ctx context.Context, o journal.Owner, f journal.Filter) ([]journal.Run, error) {
	s.plain(f.Session, f.Assistant, f.After.ID)
	return s.Store.Runs(ctx, o, f)
}

// makes makes folders, each with a document.
func makes(t *testing.T, in string, names ...string) {
	t.Helper()
	for _, name := range names {
		assert.NoError(t, os.MkdirAll(filepath.Join(in, name), 0o700))
		assert.NoError(t,
			os.WriteFile(filepath.Join(in, name, "one.txt"), []byte("The bridge was closed in "+name+"."), 0o600))
	}
}

func TestFoldersInThoseThatAUserMayNameAreListed(t *testing.T) {
	h, reports := withInquiry(t)
	makes(t, reports, "2024/may", "2023", ".hidden", "2024/.git", ".ssh", "a/b/c/d/e")
	assert.NoError(t, os.Symlink(t.TempDir(), filepath.Join(reports, "link")))
	h.open()
	var got api.Folders
	h.get(question{path: "/api/folders"}, &got)
	want := []string{"empty", "reports", "reports/2023", "reports/2024", "reports/2024/may", "reports/a", "reports/a/b",
		"reports/a/b/c", "reports/a/b/c/d"}
	assert.That(t, slices.Equal(got.Folders, want) && got.More, "ada is told %+v", got)
	h.get(question{path: "/api/folders", token: adasReader}, &got)
	assert.That(t, slices.Equal(got.Folders, want), "who may only read is told %+v", got)
}

func TestSessionNamesItsFoldersAsItsUserDoesAndNoOthers(t *testing.T) {
	h, reports := withInquiry(t)
	makes(t, reports, "2024/may")
	set := assistant.Setup{Model: "played:one", Files: []string{"a.pdf"}}
	h.panel.Setup = func(context.Context, journal.Owner, string, string) (assistant.Setup, error) { return set, nil }
	h.open()
	var begun api.Begun
	h.get(question{method: "POST", path: "/api/runs", body: asking("hello")}, &begun)
	for path, name := range map[string]string{reports: "reports", filepath.Join(reports, "2024/may"): "reports/2024/may",
		filepath.Dir(reports): "", t.TempDir(): "", "": ""} {
		set.Code = path
		var got service.Conversation
		h.get(question{path: "/api/sessions/" + begun.Session + "?brief=true"}, &got)
		assert.That(t, got.Setup != nil && got.Setup.Code == name && got.Setup.Model == set.Model &&
			slices.Equal(got.Setup.Files, set.Files), "of %q the user is told %+v", path, got.Setup)
	}
}

func TestFolderWithManyFoldersIsListedInPart(t *testing.T) {
	h, reports := withInquiry(t)
	var names []string
	for n := range 300 {
		names = append(names, fmt.Sprintf("%03d/deep", n))
	}
	makes(t, reports, names...)
	h.open()
	var got api.Folders
	h.get(question{path: "/api/folders"}, &got)
	assert.That(t, len(got.Folders) == 202 && got.More && !slices.Contains(got.Folders, "reports/000/deep"),
		"%d folders, more %t", len(got.Folders), got.More)
}

func TestFolderInOneOfTheUsersIsTheWitnessAndNothingElseIs(t *testing.T) {
	h, reports := withInquiry(t)
	makes(t, reports, "2024/may", ".hidden", "2024/.git", ".ssh")
	outside := t.TempDir()
	makes(t, outside, "secrets")
	assert.NoError(t, os.Symlink(outside, filepath.Join(reports, "link")))
	h.open()
	of := func(witness string) question {
		q := inquires("", "")
		q.body.(map[string]any)["witness"] = witness
		return q
	}
	for _, name := range []string{"reports/.hidden", "reports/2024/.git", "reports/.ssh", "reports/link",
		"reports/link/secrets", "reports/../papers", "reports/", "reports//2024", "reports/2024/none",
		"reports/bridge.txt", "eves/2024", "/2024"} {
		a := h.ask(of(name))
		assert.That(t, a.status == http.StatusNotFound, "%s: %d %s", name, a.status, a.body)
	}
	var begun api.InquiryBegun
	h.get(of("reports/2024/may"), &begun)
	h.over(begun.Run)
	s, err := record.Unmarshal(h.get(question{path: inquiries + "/" + begun.ID}, nil).body)
	assert.That(t, err == nil && len(s.Witness.Documents) == 1 && s.Witness.Documents[0].Name == "one.txt",
		"%v; the witness is %+v", err, s.Witness)
}
