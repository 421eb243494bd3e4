package app

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/api"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
	"sibyl/internal/model"
	"sibyl/internal/oracle"
	"sibyl/internal/tool"
)

func TestKeyForAllOfGoogleIsNoWishForGemini(t *testing.T) {
	for environ, automatic := range map[string]bool{"GOOGLE_API_KEY=key-0123456789": false,
		"GEMINI_API_KEY=key-0123456789": true} {
		cfg := assert.Must(config.Load(config.Options{Home: t.TempDir(), Environ: []string{environ}}))(t)
		for _, p := range catalog(cfg, newSecrets(cfg)) {
			assert.That(t, p.Name != "gemini" || (p.Automatic == automatic && p.Missing == ""),
				"%s: taken by itself %v, missing %q", environ, p.Automatic, p.Missing)
		}
	}
}

// A person who asks from elsewhere may name any model of a provider.
func TestModelsThatAreNamedOneAfterTheOtherHoldNeitherConnectionsNorMemory(t *testing.T) {
	var connected atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"data":[]}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connected.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	a := prepared(t, "providers: {work: {base_url: '"+server.URL+"/v1', api: chat}}")
	req := model.Request{Messages: []model.Message{{Role: model.User, Text: "hello"}}}
	for i := range 3 * mostModels {
		id := fmt.Sprint("work:m", i)
		a.Describe(t.Context(), id)
		m := assert.Must(a.openModel(a.Models, id))(t)
		assert.Must(m.Chat(t.Context(), req, nil))(t)
	}
	// a few at most: one that is not free again in time makes way for another
	n := connected.Load()
	assert.That(t, n <= mostModels, "%d models were asked over %d connections", 3*mostModels, n)
}

func TestWebThatIsOffHasNoTool(t *testing.T) {
	for name, c := range map[string]struct{ setting, run, has bool }{
		"as usual": {false, false, true}, "by the setting": {true, false, false}, "for one run": {false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.Config.Web.Off = c.setting
			set, closeTools, err := b.Tools(t.Context(), oracle.Env{NoWeb: c.run})
			assert.NoError(t, err)
			defer closeTools()
			has := slices.ContainsFunc(set.Specs(), func(s tool.Spec) bool { return s.Source == tool.Web })
			assert.That(t, has == c.has, "a tool of the web is there: %v", has)
		})
	}
}

// write writes a file of a folder.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	assert.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)))
}

func TestPromptsOfAFolderAreCheckedAsTheyAreByNow(t *testing.T) {
	dir := t.TempDir()
	a := &App{Config: config.Config{Prompts: dir}}
	look := func() (named func(string) api.PromptInForce, folder string) {
		t.Helper()
		all, folder, err := a.checkedPrompts()
		assert.NoError(t, err)
		return func(name string) api.PromptInForce {
			return all[slices.IndexFunc(all, func(p api.PromptInForce) bool { return p.Assistant+"/"+p.Name == name })]
		}, folder
	}
	write(t, dir, "tasks/intent.md", "Read it.\n")
	write(t, dir, "oracle/base.md", "Be terse {{#never}}\n")
	write(t, dir, "council/chair.md", " ")
	named, folder := look()
	if p := named("tasks/intent"); p.BuiltIn || p.Text != "Read it.\n" || p.Original == "" || len(p.Found) != 0 {
		t.Errorf("a text of one's own is %+v", p)
	}
	if p := named("oracle/base"); len(p.Found) == 0 || strings.Contains(strings.Join(p.Found, ""), "base.md") {
		t.Errorf("a broken template is told as %q", p.Found)
	}
	p := named("council/chair")
	assert.That(t, len(p.Found) == 1 && strings.Contains(p.Found[0], "empty"), "an empty prompt is told as %q", p.Found)
	p = named("inquiry/witness")
	assert.That(t, p.BuiltIn && p.Text != "" && p.Original == "" && len(p.Found) == 0 && folder == "",
		"one that is built in is %+v, the folder: %s", p, folder)
	write(t, dir, "oracle/bsae.md", "misspelt")
	if _, folder = look(); !strings.Contains(folder, "bsae.md") || strings.Contains(folder, dir) {
		t.Errorf("the folder is told as %q", folder)
	}
}

// What is written into the folder holds from the next run on, of each assistant, and what can't be used begins none.
func TestPromptsHoldFromTheNextRunOn(t *testing.T) {
	dir := t.TempDir()
	a := assert.Must(Prepare(config.Config{Prompts: dir}))(t)
	tasks, err := a.tasksPrompt("intent")
	segments, ofOracle := a.oraclePrompts()
	if err := errors.Join(err, ofOracle); err != nil || bytes.Contains(segments.Encoded(), []byte("Be terse.")) ||
		string(tasks) == "Read it.\n" {
		t.Fatal("what is built in can't be used: ", err)
	}
	write(t, dir, "tasks/intent.md", "Read it.\n")
	write(t, dir, "oracle/base.md", "Be terse.\n")
	tasks, err = a.tasksPrompt("intent")
	assert.That(t, err == nil && string(tasks) == "Read it.\n", "Tasks: %q, %v", tasks, err)
	segments, err = a.oraclePrompts()
	assert.That(t, err == nil && bytes.Contains(segments.Encoded(), []byte("Be terse.")), "the Oracle: %v", err)
	write(t, dir, "tasks/intent.md", "\n")
	write(t, dir, "oracle/base.md", "{{#never}}\n")
	_, err = a.tasksPrompt("intent")
	assert.That(t, err != nil, "Tasks: an empty prompt is used")
	_, err = a.oraclePrompts()
	assert.That(t, err != nil, "the Oracle: a broken prompt is used")
}

const day = 24 * time.Hour

// settledAgo is whether what was too old so long ago may go.
func settledAgo(t *testing.T, a *App, ago time.Duration) bool {
	t.Helper()
	at := assert.Must(a.Settled())(t)
	return !at.Before(time.Now().Add(-ago))
}

// onFolder is a process on a data folder.
func onFolder(data string) *App { return &App{Config: config.Config{DataDir: data}} }

// another is a process on the data folder of a.
func (a *App) another() *App { return onFolder(a.Config.DataDir) }

func TestWhatIsTooOldGoesADayOfRunningTimeAfterItWasMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := onFolder(t.TempDir())
		for range 24 {
			assert.That(t, !settledAgo(t, a, 2*day), "it may go before a day has passed")
			<-time.After(time.Hour)
		}
		assert.That(t, settledAgo(t, a, day) && !settledAgo(t, a, day-time.Minute),
			"after a day, not all of what was marked may go, or more than that")
		assert.That(t, settledAgo(t, a.another(), day), "another process does not know of it")
	})
}

func TestTimeOfProcessesThatRunTogetherCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := onFolder(t.TempDir())
		b := a.another()
		for range 23 {
			assert.That(t, !settledAgo(t, a, 2*day) && !settledAgo(t, b, 2*day), "it may go before a day has passed")
			<-time.After(time.Hour)
		}
	})
}

func TestTimeBetweenProcessesCountsForAFewHoursAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := onFolder(t.TempDir())
		for n := range 4 {
			assert.That(t, !settledAgo(t, a.another(), 400*day), "what was marked may go after %d processes", n)
			<-time.After(30 * day) // as far as the clock tells
		}
		assert.That(t, settledAgo(t, a.another(), 120*day),
			"what was marked may not go after four processes that came long after each other")
	})
}

func TestClockThatLeapsForAWhileMakesNothingOld(t *testing.T) {
	now := time.Now()
	var m marks
	m.mark(now, 0)
	for range 23 {
		m.mark(now.Add(365*day), time.Hour)
	}
	m.mark(now.Add(365*day), time.Hour) // what was marked before the leap
	assert.That(t, m.Settled.Equal(now), "%s may go, want %s", m.Settled, now)
	for range 23 {
		m.mark(now.Add(366*day), time.Hour)
	}
	assert.That(t, m.Settled.Equal(now), "with a clock that leapt for less than a day, %s may go", m.Settled)
	m.mark(now.Add(2*day), time.Hour)
	for range 23 {
		m.mark(now.Add(3*day), time.Hour)
	}
	assert.That(t, m.Settled.Equal(now), "with the clock right again, %s may go", m.Settled)
	m.mark(now.Add(-day), 0)
	assert.That(t, m.Settled.IsZero(), "with a clock that went back, %s may go", m.Settled)
}

func TestMarksThatCanNotBeReadMarkNothing(t *testing.T) {
	a := onFolder(t.TempDir())
	write(t, a.Config.DataDir, filepath.Base(MarksFile("")), "{")
	at, err := a.Settled()
	assert.That(t, err == nil && at.IsZero(), "%v, %v", at, err)
}
