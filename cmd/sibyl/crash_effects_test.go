package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"sibyl/internal/agent"
	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/bt"
	"sibyl/internal/cli"
	"sibyl/internal/config"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	records "sibyl/internal/run"
	"sibyl/internal/run/audit"
)

// aftermath is what the journal, the vault and the server hold in the end. What differs by itself between two runs is
// left out.
type aftermath struct {
	answers map[string]oracle.Answer // by assistant
	asked   map[string]int
	note    string

	runs    []journal.Run
	repeats int // operations that resumes count
	kinds   map[string]int
}

// ended reads the aftermath.
func (d *drama) ended(t *testing.T) aftermath {
	t.Helper()
	cfg := assert.Must(config.Load(config.Options{Environ: d.environ()}))(t)
	store := assert.Must(app.OpenDatabase(t.Context(), cfg))(t)
	defer func() { assert.Nil(t, store.Close()) }()
	a := aftermath{answers: map[string]oracle.Answer{}, kinds: map[string]int{}}
	a.runs = assert.Must(store.Runs(t.Context(), app.Owner, journal.Filter{}))(t)
	for _, r := range a.runs {
		if r.Status == journal.Running {
			continue
		}
		recs := assert.Must(store.Records(t.Context(), app.Owner, r.ID, 0))(t)
		for _, rec := range recs {
			a.count(t, r, rec)
		}
	}
	a.note = string(read(t, filepath.Join(d.vault, "caching.md")))
	d.stage.mu.Lock()
	a.asked = maps.Clone(d.stage.asked)
	d.stage.mu.Unlock()
	return a
}

func (a *aftermath) count(t *testing.T, r journal.Run, rec journal.Record) {
	t.Helper()
	var said struct {
		Repeated []uint64
		Kind     string
		Outcome  oracle.Answer
	}
	if rec.Kind == records.KindTrace {
		return
	}
	assert.NoError(t, json.Unmarshal(rec.Data, &said))
	switch rec.Kind {
	case records.KindResume:
		a.repeats += len(said.Repeated)
	case records.KindCompletion:
		a.kinds[r.Assistant+" "+said.Kind]++
	case records.KindEnd:
		told := map[string]bool{}
		for _, n := range said.Outcome.Notices {
			assert.That(t, !told[n.Type+n.Text], "the notice %q is doubled", n.Text)
			told[n.Type+n.Text] = true
		}
		_, twice := a.answers[r.Assistant]
		assert.That(t, !twice, "there are two answers of %s", r.Assistant)
		a.answers[r.Assistant] = timeless(said.Outcome)
	}
}

// timeless is an answer without what differs between two runs of the same conversation: ids, times, and how the first
// model was found to be down. That it was asked in vain a short time ago is known to a process, and not to the run.
func timeless(a oracle.Answer) oracle.Answer {
	a.RunID, a.SessionID, a.TookMS = "", "", 0
	for i := range a.ToolCalls {
		a.ToolCalls[i].TookMS = 0
	}
	for i := range a.Signals {
		a.Signals[i].At = time.Time{}
	}
	if a.Signal != nil {
		a.Signal.At = time.Time{}
	}
	var notices, others []agent.Notice
	for _, n := range a.Notices {
		if n.Type == agent.NoticeOtherModel {
			n.Turn, n.Text, n.Payload, n.Coded = 0, n.Payload["answered"]+" answers instead", nil, bt.Coded{}
			others = append(others, n)
		} else {
			notices = append(notices, n)
		}
	}
	if others != nil {
		notices = append(notices, others[0])
	}
	a.Notices = notices
	return a
}

// here runs the command line in this process, for what only reads.
func (d *drama) here(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Main(t.Context(), cli.Program{Build: "test"}, args, d.environ(), cli.Streams{In: strings.NewReader(""),
		Out: &stdout, Err: &stderr})
	return code, stdout.String() + stderr.String()
}

// sound checks that every run of the aftermath has ended, is replayed as recorded, and is audited without a gap.
func (d *drama) sound(t *testing.T, a aftermath) {
	t.Helper()
	for _, r := range a.runs {
		if r.Status == journal.Running {
			t.Errorf("the run of %s has not ended", r.Assistant)
			continue
		}
		if code, out := d.here(t, "replay", r.ID); code != cli.ExitAnswered ||
			!strings.Contains(out, "all as recorded") {
			t.Errorf("the replay of the run of %s exits %d:\n%s", r.Assistant, code, out)
		}
		code, out := d.here(t, "session", "audit", r.Session, "--json")
		var told struct{ Runs []audit.Run }
		if err := json.Unmarshal([]byte(out), &told); err != nil || code != cli.ExitAnswered || len(told.Runs) != 1 {
			t.Errorf("the audit exits %d, %v: %s", code, err, out)
			continue
		}
		remarks := told.Runs[0].Remarks
		assert.That(t, len(remarks) == 0, "the audit of %s remarks %q", r.Assistant, remarks)
		for _, e := range told.Runs[0].Effects {
			assert.That(t, e.Receipt != nil && (e.State == audit.OK || e.State == audit.Found),
				"%s, effect %d (%s): %q, receipt %v", r.Assistant, e.Op, e.Label, e.State, e.Receipt)
		}
	}
}

// like checks the aftermath of a run that was interrupted against that of one that was not, and gives how many requests
// were repeated.
func (d *drama) like(t *testing.T, calm aftermath, crashes int) (again int) {
	t.Helper()
	got := d.ended(t)
	d.sound(t, got)
	for assistant, answer := range got.answers {
		assert.NoDiff(t, gocmp.Diff(calm.answers[assistant], answer), "the answer of %s (-calm +interrupted)", assistant)
	}
	_, answered := got.answers[oracle.Name]
	assert.That(t, answered, "there is no answer")
	n := strings.Count(got.note, "no cache")
	assert.That(t, n == 1, "the note was written %d times:\n%s", n, got.note)
	for what, n := range got.asked {
		if strings.HasPrefix(what, "first ") { // it is left alone by a process that knows it to be down
			continue
		}
		assert.That(t, n <= calm.asked[what]+crashes && calm.asked[what] != 0,
			"%s was asked for %d times, %d times without a crash", what, n, calm.asked[what])
		again += n - calm.asked[what]
	}
	assert.That(t, again <= crashes && again <= got.repeats,
		"%d requests were repeated in %d crashes, and %d operations are counted", again, crashes, got.repeats)
	return again
}

// calmly plays it without a crash; it must have in it what the matrix is about. It also gives the number of writes to
// the journal.
func calmly(t *testing.T) (calm aftermath, writes int) {
	t.Helper()
	d := newDrama(t)
	d.run(t, "", cli.ExitPartial, d.ask(true))
	d.childless(t)
	calm = d.ended(t)
	d.sound(t, calm)
	want := map[string]int{"oracle model.turn": 9, "oracle tool.call": 9, "oracle model.notes": 2,
		"oracle fallback.classify": 2,
		"oracle.shadow model.turn": 2, "oracle.shadow tool.call": 3}
	assert.NoDiff(t, gocmp.Diff(want, calm.kinds), "effects (-want +got)")
	ours := calm.answers[oracle.Name]
	kinds := map[string]int{}
	for _, n := range ours.Notices {
		kinds[n.Type]++
	}
	wantKinds := map[string]int{agent.NoticeBudgetWarning: 2, oracle.NoticeFallback: 2, agent.NoticeSummarised: 1,
		agent.NoticeTruncated: 1, agent.NoticeLoop: 2, agent.NoticeOtherModel: 1}
	assert.NoDiff(t, gocmp.Diff(wantKinds, kinds), "notices (-want +got)")
	var verdicts []string
	for _, c := range ours.Fallbacks {
		verdicts = append(verdicts, c.By+": "+string(c.Verdict))
	}
	assert.NoDiff(t, gocmp.Diff([]string{"classifier: retry", "classifier: ask_user"}, verdicts), "verdicts (-want +got)")
	assert.That(t, ours.StopReason == oracle.StopNeedsUser && ours.Model == "openai:second",
		"it stops with %s, of %s", ours.StopReason, ours.Model)
	_, out := d.here(t, "explain", "--full", calm.runs[1].ID)
	assert.That(t, strings.Contains(out, "tool.taken_away tool=vault_search"), "no tool was taken away:\n%s", out)
	const begins, ends, marks = 2, 2, 2
	for _, n := range calm.kinds {
		writes += n
	}
	return calm, writes + begins + ends + marks
}

// TestKilledAtEveryWriteOfEveryKindOfEffect kills the process before each write, and after it.
func TestKilledAtEveryWriteOfEveryKindOfEffect(t *testing.T) {
	needs.All(t, "many processes")
	calm, writes := calmly(t)
	t.Run("at", func(t *testing.T) {
		for point := 0; point < 2*writes; point++ {
			crash := itoa(point/2 + 1)
			if point%2 > 0 {
				crash = "-" + crash
			}
			t.Run(crash, func(t *testing.T) {
				t.Parallel()
				d := newDrama(t)
				d.killed(t, crash, d.ask(true)...)
				d.goOn(t, true)
				d.like(t, calm, 1)
			})
		}
		t.Run("behind the last", func(t *testing.T) {
			t.Parallel()
			d := newDrama(t)
			d.run(t, crashAt+"="+itoa(writes+1), cli.ExitPartial, d.ask(true))
			d.like(t, calm, 0)
		})
	})
}

func TestKilledInTheMiddleOfEveryReply(t *testing.T) {
	needs.All(t, "many processes")
	calm, _ := calmly(t)
	t.Run("in", func(t *testing.T) {
		for what := range calm.asked {
			part, streams := strings.CutPrefix(what, "second ")
			if !streams {
				continue
			}
			t.Run(part, func(t *testing.T) {
				t.Parallel()
				d := newDrama(t)
				d.stage.stops = part
				d.killedInReply(t, part, d.ask(true))
				d.goOn(t, true)
				again := d.like(t, calm, 1)
				assert.That(t, again == 1, "%d requests were repeated, want the one that was cut", again)
			})
		}
	})
}
