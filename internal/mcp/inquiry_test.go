package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/journal"
	"sibyl/internal/mcp"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/run"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
	"sibyl/internal/store/teststore"
	"sibyl/prompts"
	"sibyl/trees"
)

const (
	hypothesis = "The Oder bridge was closed because of corrosion"
	inquires   = `{"hypothesis":"` + hypothesis + `","witness":"reports","limit":5}`
)

// office is a house where inquiries are made without a detective, of documents in a folder.
type office struct {
	*house
	inquiry *mcp.Assistants
	desk    *inquiry.Desk
	engine  *run.Engine
	reports string

	mu     sync.Mutex
	before func(ctx context.Context, answer int) error // an answer of the witness; nil: nothing happens
}

// hearing is a witness that answers from documents after what the office wants to happen.
type hearing struct {
	witness.Witness
	o *office
}

func (w hearing) Answer(
	ctx context.Context, question, language string, earlier []witness.Exchange,
) (witness.Answer, error) {
	w.o.mu.Lock()
	before := w.o.before
	w.o.mu.Unlock()
	if before != nil {
		if err := before(ctx, len(earlier)+1); err != nil {
			return witness.Answer{}, err
		}
	}
	return w.Witness.Answer(ctx, question, language, earlier)
}

func (o *office) deps(store journal.Store) inquiry.Deps {
	o.Helper()
	texts := assert.Must(fs.Sub(prompts.FS, "inquiry"))(o)
	sessions := o.TempDir()
	return inquiry.Deps{Store: store, Prompts: texts,
		Files: func(owner journal.Owner) (*record.Folder, error) {
			return record.Open(filepath.Join(sessions, string(owner)))
		},
		Choose: func(_ context.Context, asked string) (string, error) {
			if asked != "" && asked != model.OfflineRules {
				return "", errors.New("there is no such model")
			}
			return model.OfflineRules, nil
		},
		Model: func(context.Context, string) (model.Model, error) { return nil, errors.New("there is none") },
		Witness: func(ctx context.Context, w inquiry.WitnessSpec) (witness.Witness, []record.Document, error) {
			docs, _, err := document.NewReader("").ReadAll(ctx, w.Name)
			var known []record.Document
			for _, d := range docs {
				known = append(known, record.Document{Name: d.Name, Hash: d.Hash, Pages: len(d.Pages),
					Chunks: len(document.Chunks(d))})
			}
			return hearing{witness.Documents(docs, witness.Options{}), o}, known, err
		}}
}

func newOffice(t *testing.T) *office {
	o := &office{house: newHouse(t), reports: filepath.Join(t.TempDir(), "papers")}
	err := os.Mkdir(o.reports, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(o.reports, "bridge.txt"),
			[]byte("The Oder bridge was closed on 3 May 2021. It was closed because of corrosion of the main "+
				"cables.\n"), 0o600)
	}
	assert.NoError(t, err)
	store := teststore.Empty(t)
	deps := o.deps(store)
	made := assert.Must(inquiry.New(deps))(t)
	o.engine = assert.Must(run.NewEngine(run.Config{Store: store, Build: "test", Holder: "one",
		Assistants: []*run.Assistant{made}}))(t)
	files := assert.Must(trees.Open(""))(t)
	s := assert.Must(service.New(service.Config{Store: store, Engine: o.engine,
		Assistants: []*assistant.Assistant{inquiry.Describe(made, deps)}, Redact: func(text string) string {
			return text
		},
		Tree: func(name string) (string, []byte, error) {
			tree, err := files.Get(name)
			return tree.File, tree.Text, err
		}}))(t)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		o.engine.Drain(ctx)
	})
	o.inquiry = &mcp.Assistants{Service: s, Folders: func(owner string) map[string]string {
		return map[string]map[string]string{"ada": {"reports": o.reports}}[owner]
	}}
	o.desk = &inquiry.Desk{Deps: deps, Standings: o.engine.Standings}
	o.server = o.process(mcp.Config{Assistants: o.inquiry, Inquiry: o.desk})
	return o
}

// silentFrom has the witness wait from an answer on until the function is called; asked tells that it does.
func (o *office) silentFrom(number int) (asked <-chan struct{}, release func()) {
	began, gate := make(chan struct{}, 32), make(chan struct{})
	o.mu.Lock()
	defer o.mu.Unlock()
	o.before = func(ctx context.Context, answer int) error {
		if answer < number {
			return nil
		}
		began <- struct{}{}
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return began, sync.OnceFunc(func() { close(gate) })
}

// over waits for the end of a run.
func (o *office) over(id any) {
	o.Helper()
	live := o.engine.Live(fmt.Sprint(id))
	if live == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	_, err := live.Wait(ctx)
	assert.Require(o, err == nil, "run %v did not end: %v", id, err)
}

func TestInquiryIsBegunAtOnceAndReadWhileItGoesOnAndAfterwards(t *testing.T) {
	for _, revision := range []string{older, newer} {
		o := newOffice(t)
		asked, release := o.silentFrom(2)
		c := o.connect("ada", revision, nil)
		begun := c.call("investigate", inquires)
		id, ran := begun.Data["id"], begun.Data["run_id"]
		assert.Require(t, begun.Success && id != nil && ran != nil && strings.Contains(begun.text, fmt.Sprint(id)),
			"begun with %+v", begun)
		select {
		case <-asked:
		case <-time.After(deadline):
			t.Fatal("no second question came")
		}
		going := c.call("inquiry", "")
		pairs, _ := going.Data["pairs"].([]any)
		assert.That(t, going.Data["id"] == id && going.Data["run_id"] == ran && going.Data["status"] == "running" &&
			len(pairs) == 1 && going.Data["score"] == nil && going.Data["hypothesis"] == hypothesis &&
			going.Data["limit"] == 5.0, "while it goes on: %+v", going)
		second := c.call("investigate", inquires)
		second.failed(t, mcp.Unavailable, "run_id", fmt.Sprint(ran))
		assert.That(t, !strings.Contains(second.text, o.reports), "a second one is told of as %+v", second)
		release()
		o.over(ran)
		for _, args := range []string{"", fmt.Sprintf(`{"id":%q}`, id), fmt.Sprintf(`{"id":%q}`, ran), `{"id":null}`} {
			ended := c.call("inquiry", args)
			assert.That(t, ended.Data["id"] == id && ended.Data["status"] != "running" && ended.Data["score"] == nil &&
				ended.Data["summary"] != "" && ended.Data["gaps"] != nil && ended.Data["contradictions"] != nil &&
				strings.Contains(ended.text, hypothesis) && strings.Contains(ended.text, record.NotAudited),
				"%s: ended as %+v", args, ended)
		}
	}
}

func TestInquiryThatCannotBeBegunOrReadSaysWhy(t *testing.T) {
	o := newOffice(t)
	ada, eve := o.connect("ada", newer, nil), o.connect("eve", newer, nil)
	ada.call("inquiry", "").failed(t, mcp.NotFound, "", "")
	for _, wrong := range []struct{ args, field string }{
		{`{"witness":"reports"}`, "hypothesis"},
		{`{"hypothesis":" ","witness":"reports"}`, "hypothesis"},
		{`{"hypothesis":"x","witness":""}`, "witness"},
		{`{"hypothesis":"x","witness":{"a":7}}`, "witness"},
		{`{"hypothesis":"x","witness":"reports","limit":4}`, "limit"},
		{`{"hypothesis":"x","witness":"reports","limit":21}`, "limit"},
		{`{"hypothesis":"x","witness":"reports","detective":{"a":7}}`, "detective"},
		{`{"hypothesis":"x","witness":"reports","documents":true}`, "arguments"},
	} {
		ada.call("investigate", wrong.args).failed(t, mcp.Validation, "field", wrong.field)
	}
	for _, args := range []string{`{"hypothesis":"x","witness":"reports","language":"S3NT"}`,
		`{"hypothesis":"x","witness":"reports","detective":"S3NT"}`, `{"hypothesis":"x","witness":"S3NT:model"}`,
		`{"hypothesis":"` + strings.Repeat("S3NT ", 1000) + `","witness":"reports"}`} {
		refused := ada.call("investigate", args)
		refused.failed(t, mcp.Validation, "", "")
		assert.That(t, !strings.Contains(refused.text, "S3NT"), "%.80s: it is repeated in %s", args, refused.text)
	}
	ada.call("investigate", `{"hypothesis":"x"}`).failed(t, mcp.Validation, "", "") // none is set
	for _, name := range []string{"S3NT", "/etc", o.reports, "../papers"} {
		ada.call("investigate", fmt.Sprintf(`{"hypothesis":"x","witness":%q}`, name)).failed(t, mcp.NotFound, "field",
			"witness")
	}
	eve.call("investigate", inquires).failed(t, mcp.NotFound, "field", "witness")
	begun := ada.call("investigate", inquires)
	for _, id := range []any{begun.Data["id"], begun.Data["run_id"], "nothing", "../x", "", strings.Repeat("x", 300)} {
		eve.call("inquiry", fmt.Sprintf(`{"id":%q}`, id)).failed(t, mcp.NotFound, "", "")
	}
	eve.call("inquiry", "").failed(t, mcp.NotFound, "", "")
	o.over(begun.Data["run_id"])
	o.inquiry.Begin = func(context.Context, journal.Owner, func() error) error {
		return &mcp.Fault{Code: mcp.Unavailable, Text: "You have too many."}
	}
	ada.call("investigate", inquires).failed(t, mcp.Unavailable, "", "")
}

func TestToolsOfTheInquirySayWhatTheyDoAndAllToolsAreSmall(t *testing.T) {
	o := newOffice(t)
	o.server = o.process(mcp.Config{Tasks: o.tasks, Assistants: o.inquiry, Inquiry: o.desk})
	res, err := o.connect("ada", newer, nil).session.ListTools(t.Context(), nil)
	assert.Require(t, err == nil && len(res.Tools) == 7, "%d tools, %v", len(res.Tools), err)
	small(t, res, 7500)
	var hints []string
	for _, tool := range res.Tools {
		a := tool.Annotations
		hints = append(hints, fmt.Sprintf("%s reads=%v destroys=%v open=%v", tool.Name, a.ReadOnlyHint,
			*a.DestructiveHint, *a.OpenWorldHint))
	}
	for _, want := range []string{"investigate reads=false destroys=false open=true",
		"inquiry reads=true destroys=false open=false"} {
		assert.That(t, slices.Contains(hints, want), "%s is not among\n%s", want, strings.Join(hints, "\n"))
	}
}
