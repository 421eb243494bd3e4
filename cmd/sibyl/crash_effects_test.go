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
	cfg, err := config.Load(config.Options{Environ: d.environ()})
	if err != nil {
		t.Fatal(err)
	}
	store, err := app.OpenDatabase(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	a := aftermath{answers: map[string]oracle.Answer{}, kinds: map[string]int{}}
	if a.runs, err = store.Runs(t.Context(), app.Owner, journal.Filter{}); err != nil {
		t.Fatal(err)
	}
	for _, r := range a.runs {
		if r.Status == journal.Running {
			continue
		}
		recs, err := store.Records(t.Context(), app.Owner, r.ID, 0)
		if err != nil {
			t.Fatal(err)
		}
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
	noError(t, json.Unmarshal(rec.Data, &said))
	switch rec.Kind {
	case records.KindResume:
		a.repeats += len(said.Repeated)
	case records.KindCompletion:
		a.kinds[r.Assistant+" "+said.Kind]++
	case records.KindEnd:
		told := map[string]bool{}
		for _, n := range said.Outcome.Notices {
			if told[n.Type+n.Text] {
				t.Errorf("the notice %q is doubled", n.Text)
			}
			told[n.Type+n.Text] = true
		}
		if _, twice := a.answers[r.Assistant]; twice {
			t.Errorf("there are two answers of %s", r.Assistant)
		}
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
		if remarks := told.Runs[0].Remarks; len(remarks) > 0 {
			t.Errorf("the audit of %s remarks %q", r.Assistant, remarks)
		}
		for _, e := range told.Runs[0].Effects {
			if e.Receipt == nil || e.State != audit.OK && e.State != audit.Found {
				t.Errorf("%s, effect %d (%s): %q, receipt %v", r.Assistant, e.Op, e.Label, e.State, e.Receipt)
			}
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
		if diff := gocmp.Diff(calm.answers[assistant], answer); diff != "" {
			t.Errorf("the answer of %s (-calm +interrupted):\n%s", assistant, diff)
		}
	}
	if _, answered := got.answers[oracle.Name]; !answered {
		t.Error("there is no answer")
	}
	if n := strings.Count(got.note, "no cache"); n != 1 {
		t.Errorf("the note was written %d times:\n%s", n, got.note)
	}
	for what, n := range got.asked {
		if strings.HasPrefix(what, "first ") { // it is left alone by a process that knows it to be down
			continue
		}
		if n > calm.asked[what]+crashes || calm.asked[what] == 0 {
			t.Errorf("%s was asked for %d times, %d times without a crash", what, n, calm.asked[what])
		}
		again += n - calm.asked[what]
	}
	if again > crashes || again > got.repeats {
		t.Errorf("%d requests were repeated in %d crashes, and %d operations are counted", again, crashes, got.repeats)
	}
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
	if diff := gocmp.Diff(want, calm.kinds); diff != "" {
		t.Errorf("effects (-want +got):\n%s", diff)
	}
	ours := calm.answers[oracle.Name]
	kinds := map[string]int{}
	for _, n := range ours.Notices {
		kinds[n.Type]++
	}
	wantKinds := map[string]int{agent.NoticeBudgetWarning: 2, oracle.NoticeFallback: 2, agent.NoticeSummarised: 1,
		agent.NoticeTruncated: 1, agent.NoticeLoop: 2, agent.NoticeOtherModel: 1}
	if diff := gocmp.Diff(wantKinds, kinds); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	var verdicts []string
	for _, c := range ours.Fallbacks {
		verdicts = append(verdicts, c.By+": "+string(c.Verdict))
	}
	if diff := gocmp.Diff([]string{"classifier: retry", "classifier: ask_user"}, verdicts); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if ours.StopReason != oracle.StopNeedsUser || ours.Model != "openai:second" {
		t.Errorf("it stops with %s, of %s", ours.StopReason, ours.Model)
	}
	if _, out := d.here(t, "explain", "--full", calm.runs[1].ID); !strings.Contains(out,
		"tool.taken_away tool=vault_search") {
		t.Errorf("no tool was taken away:\n%s", out)
	}
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
				if again := d.like(t, calm, 1); again != 1 {
					t.Errorf("%d requests were repeated, want the one that was cut", again)
				}
			})
		}
	})
}
