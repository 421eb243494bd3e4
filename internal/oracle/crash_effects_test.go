package oracle_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/journal"
	"sibyl/internal/journal/journaltest"
	"sibyl/internal/model"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/oracle"
	"sibyl/internal/run"
	"sibyl/internal/run/audit"
	"sibyl/internal/run/replay"
)

// actor is a model that knows where it is by the conversation alone, so that a repeated request gets the same reply. It
// counts what it is asked for.
type actor struct {
	t    *testing.T
	id   string
	play func(step int, req model.Request) modeltest.Turn
	said func(part string, piece int) // is told of each piece of a reply, before it is passed on

	mu    sync.Mutex
	asked map[string]int // by part
}

func (a *actor) ID() string { return a.id }

func (*actor) Local() bool { return true }

var stepSaid = regexp.MustCompile(`step (\d+)\.`)

// stepOf is the step that a request asks for: the one behind the last that was said. Notes name the last one that they
// are of.
func stepOf(req model.Request) int {
	last := 0
	for _, m := range req.Messages {
		for _, found := range stepSaid.FindAllStringSubmatch(m.Text, -1) {
			n, err := strconv.Atoi(found[1])
			if err == nil {
				last = max(last, n)
			}
		}
	}
	return last + 1
}

// wanted names what a request asks for.
func wanted(req model.Request) string {
	switch {
	case req.Purpose == oracle.PurposeNotes:
		return fmt.Sprintf("notes before step %d", stepOf(req))
	case slices.Contains(offered(req), "code_read"):
		return fmt.Sprintf("step %d of the shadow", stepOf(req))
	}
	return fmt.Sprintf("step %d", stepOf(req))
}

func (a *actor) Chat(ctx context.Context, req model.Request, emit func(model.Delta) error) (model.Response, error) {
	part := wanted(req)
	a.mu.Lock()
	a.asked[part]++
	a.mu.Unlock()
	turn := a.play(stepOf(req), req)
	for i := range turn.ToolCalls {
		turn.ToolCalls[i].ID = fmt.Sprintf("call %d of %s", i, part)
	}
	piece := 0
	return modeltest.Script(a.t, turn).As(a.id, true).Chat(ctx, req, func(d model.Delta) error {
		piece++
		a.said(part, piece)
		return emit(d)
	})
}

// everything is a question whose run has every kind of effect, and what it left behind in all its processes.
type everything struct {
	*harness
	first, second *actor
	mu            sync.Mutex
	classified    map[string]int // by text
}

// scene is what the second model says. Step 3 is unsure, steps 4 to 7 go round, step 9 is a question to the person.
func scene(step int, req model.Request) modeltest.Turn {
	say := func(signal string) modeltest.Turn {
		return modeltest.Say(fmt.Sprintf("This is step %d. %s", step, signal))
	}
	var turn modeltest.Turn
	switch {
	case req.Purpose == oracle.PurposeNotes:
		turn = modeltest.Say(fmt.Sprintf("Notes, up to step %d.", step-1))
	case slices.Contains(offered(req), "code_read") && step == 1:
		turn = say(needTurn("all at once")).AndCall("vault_read", lines("a.md", 1, 9)).AndCall("vault_write",
			`{"path":"shadow.md"}`).
			AndCall("vault_search", `{"query":"caching"}`)
	case slices.Contains(offered(req), "code_read"):
		turn = say("The shadow says so (`a.md:2`). " + enough())
	case step == 1:
		turn = say(needTurn("see what there is")).AndCall("vault_read", lines("a.md", 1, 9)).AndCall("vault_search",
			`{"query":"caching"}`).
			AndCall("thread_seek", `{"query":"caching"}`)
	case step == 2:
		turn = say(needTurn("write the note")).AndCall("vault_write", `{"path":"caching.md"}`)
	case step == 3:
		turn = say("Doubtful. " + element("need_turn", "0.1", "reason", "perhaps there is more"))
	case step < 8:
		turn = say(needTurn(strings.Repeat("and again ", step))).AndCall("vault_search", `{"query":"caching"}`)
	case step == 8:
		turn = say(needTurn("read on")).AndCall("vault_read", lines("b.md", 1, 9))
	default:
		turn = say("Saved, after `a.md:2` and `b.md:3`. " + stuck("nobody said where") + " Which folder is it for?")
	}
	turn.Usage = model.Usage{InputTokens: 10, OutputTokens: 5}
	return turn
}

// limited is what the first model does: from time to time it says something and fails.
func limited(step int, req model.Request) modeltest.Turn {
	turn := scene(step, req)
	if step == 1 || step == 5 {
		turn = modeltest.Say("I begin and ")
		turn.Err = &model.Error{Kind: model.RateLimit, Message: "too many requests"}
	}
	return turn
}

func everyEffect(t *testing.T) *everything {
	e := &everything{harness: setUp(t), classified: map[string]int{}}
	nothing := func(string, int) {}
	e.first = &actor{t: t, id: "scripted:first", play: limited, said: nothing, asked: map[string]int{}}
	e.second = &actor{t: t, id: "scripted:second", play: scene, said: nothing, asked: map[string]int{}}
	e.model = model.Chain(model.ChainPolicy{}, e.first, e.second)
	e.env.Model, e.env.Fallback = e.first.id, []string{e.second.id}
	e.turns, e.maxTokens = 11, 200
	e.tree.Text = []byte(strings.Replace(string(e.tree.Text), `most="24000"`, `most="90"`, 1))
	e.classifier = func(_ context.Context, text string) ([]oracle.Score, error) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.classified[text]++
		if strings.Contains(text, "Doubtful") {
			return []oracle.Score{{Label: string(oracle.Retry), Score: 0.9}}, nil
		}
		return []oracle.Score{{Label: string(oracle.AskUser), Score: 0.8}, {Label: string(oracle.Retry), Score: 0.2}},
			nil
	}
	return e
}

// performed counts what was asked of models, classifier and tools, writes apart.
func (e *everything) performed() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := map[string]int{}
	for _, a := range []*actor{e.first, e.second} {
		a.mu.Lock()
		for part, n := range a.asked {
			all[a.id+" "+part] = n
		}
		a.mu.Unlock()
	}
	for text, n := range e.classified {
		all["classifier "+text] = n
	}
	e.world.mu.Lock()
	defer e.world.mu.Unlock()
	for _, c := range e.world.calls {
		if c.Name != "vault_write" {
			all[c.Name+" "+c.Args+" "+c.Key]++
		}
	}
	return all
}

// endured is all that is known of a run in the end.
type endured struct {
	answer    oracle.Answer
	performed map[string]int // without the run's id
	trace     []string
	appends   int
}

// play has the run survive the death of these processes, and checks what must hold of any run that did.
func (e *everything) play(begin func(*run.Engine) *run.Live, notes []string, stores ...*journaltest.Mortal) endured {
	e.t.Helper()
	p := endured{answer: timeless(e.survive(begin, stores...)), performed: map[string]int{},
		appends: stores[0].Writes()}
	found, err := replay.Run(e.t.Context(), e.newEngine(e.store, "replays", nil), owner, e.last.ID,
		replay.Options{PastFirst: true})
	if err != nil {
		e.t.Fatalf("replaying: %v", err)
	}
	if len(found.Differences) > 0 || found.Reached != replay.ReachedEnd {
		e.t.Errorf("its replay reaches %q with the differences %+v", found.Reached, found.Differences)
	}
	for what, n := range e.performed() {
		p.performed[strings.ReplaceAll(what, e.last.ID, "the run")] = n
	}
	p.trace = decisions(e.trace())
	e.audited()
	for _, r := range e.receipts() {
		wantNoParts(e.t, "receipt of a turn", r.Text, "I begin")
	}
	same(e.t, "notes in the world", e.world.written(), notes)
	writes := slices.DeleteFunc(e.world.called(), func(name string) bool { return name != "vault_write" })
	same(e.t, "calls of the writer", len(writes), len(notes))
	return p
}

// decisions are the lines of a trace but those of leaves that wait. Calls that are done at once stand in one order,
// since their receipts come in any.
func decisions(trace string) []string {
	lines := slices.DeleteFunc(strings.Split(trace, "\n"), func(line string) bool {
		return strings.Contains(line, "\tRUNNING\t")
	})
	done := func(line string) bool { return strings.Contains(line, "\t"+agent.CallDone{}.EventType()+"\t") }
	for from := 0; from < len(lines); from++ {
		to := from
		for to < len(lines) && done(lines[to]) {
			to++
		}
		slices.Sort(lines[from:to])
		from = max(from, to-1)
	}
	return lines
}

// audited checks that every effect of the last run has one receipt and went well, and that nothing is missing.
func (e *everything) audited() {
	e.t.Helper()
	r, err := e.store.Run(e.t.Context(), owner, e.last.ID)
	if err != nil {
		e.t.Fatal(err)
	}
	a := audit.Of(r, e.records(), nil, nil)
	same(e.t, "remarks of the audit", a.Remarks, []string{})
	for _, effect := range a.Effects {
		if effect.Receipt == nil || effect.State != audit.OK && effect.State != audit.Found {
			e.t.Errorf("effect %d (%s) is %q, receipt %v", effect.Op, effect.Label, effect.State, effect.Receipt)
		}
	}
}

// repeats counts, of all resumes, the operations that are said to be repeated.
func (e *everything) repeats() (n int) {
	e.t.Helper()
	for _, rec := range e.records() {
		var r run.ResumeRecord
		if rec.Kind != run.KindResume {
			continue
		}
		if err := json.Unmarshal(rec.Data, &r); err != nil {
			e.t.Fatal(err)
		}
		n += len(r.Repeated)
	}
	return n
}

// like checks a run that was interrupted against one that was not.
func (e *everything) like(calm, got endured, crashes int) {
	e.t.Helper()
	same(e.t, "answer", got.answer, calm.answer)
	same(e.t, "decisions", got.trace, calm.trace)
	again := 0
	for what, n := range got.performed {
		most, known := calm.performed[what]
		if !known || n > most+crashes || n < most {
			e.t.Errorf("%s was performed %d times, %d times without a crash", what, n, most)
		}
		again += n - most
	}
	same(e.t, "what was performed", slices.Sorted(maps.Keys(got.performed)), slices.Sorted(maps.Keys(calm.performed)))
	// One operation may ask two models, so each that is counted stands for two requests at most.
	if counted := e.repeats(); again > 2*counted {
		e.t.Errorf("%d effects were repeated, and %d are counted", again, counted)
	}
}

func (e *everything) begin(*run.Engine) *run.Live { return e.start(save) }

// shadowed begins the shadow of an answered question.
func (e *everything) shadowed(of string) func(*run.Engine) *run.Live {
	return func(engine *run.Engine) *run.Live {
		e.t.Helper()
		spec, err := e.harness.begin(e.t.Context(), e.store, e.question(save))
		if err != nil {
			e.t.Fatal(err)
		}
		live, err := engine.Start(e.t.Context(), e.baseline(spec, of, "shadows"))
		if err != nil {
			e.t.Fatal(err)
		}
		return live
	}
}

// calmly is the run without a crash; it must have in it what the matrix is about.
func calmly(t *testing.T) endured {
	t.Helper()
	e := everyEffect(t)
	p := e.play(e.begin, []string{`{"path":"caching.md"}`}, mortal(e.store, 0, false))
	same(t, "stop reason", p.answer.StopReason, oracle.StopNeedsUser)
	kinds := map[string]int{}
	for _, kind := range []string{agent.EffectTurn, agent.EffectCall, agent.EffectNotes, oracle.EffectClassify} {
		kinds[kind] = len(e.completions(kind))
	}
	same(t, "effects", kinds, map[string]int{agent.EffectTurn: 9, agent.EffectCall: 9, agent.EffectNotes: 2,
		oracle.EffectClassify: 2})
	var notices []string
	for _, n := range p.answer.Notices {
		notices = append(notices, n.Type)
	}
	slices.Sort(notices)
	same(t, "notices", notices, []string{agent.NoticeBudgetWarning, agent.NoticeBudgetWarning, oracle.NoticeFallback,
		oracle.NoticeFallback,
		agent.NoticeSummarised, agent.NoticeTruncated, agent.NoticeLoop, agent.NoticeLoop, agent.NoticeOtherModel})
	var verdicts []oracle.Verdict
	for _, c := range p.answer.Fallbacks {
		verdicts = append(verdicts, c.Verdict)
		same(t, "who decided", c.By, "classifier")
	}
	same(t, "verdicts", verdicts, []oracle.Verdict{oracle.Retry, oracle.AskUser})
	wantParts(t, "decisions", strings.Join(p.trace, "\n"), "vault_search is not offered any more")
	return p
}

func TestCrashAtEveryAppendOfEveryKindOfEffectChangesNothing(t *testing.T) {
	t.Parallel()
	calm := calmly(t)
	for at := 1; at <= calm.appends; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("append %d written %v", at, after), func(t *testing.T) {
				if after == (at%2 == 0) {
					needs.All(t, "many runs") // the fast tests crash once at each append
				}
				t.Parallel()
				e := everyEffect(t)
				dying := mortal(e.store, at, after)
				got := e.play(e.begin, []string{`{"path":"caching.md"}`}, dying)
				same(t, "the process died", dying.Dead(), true)
				e.like(calm, got, 1)
			})
		}
	}
	t.Logf("%d appends", calm.appends)
}

func TestTwoCrashesInARunOfEveryKindOfEffectChangeNothing(t *testing.T) {
	needs.All(t, "many runs")
	t.Parallel()
	calm := calmly(t)
	stride := needs.Stride(29) // coprime to the number of appends, so that each comes first and second
	pairs := 0
	for pair := 0; pair < calm.appends*calm.appends; pair += stride {
		first, second := pair/calm.appends+1, pair%calm.appends+1
		e := everyEffect(t)
		got := e.play(e.begin, []string{`{"path":"caching.md"}`}, mortal(e.store, first, false),
			mortal(e.store, second, true))
		e.like(calm, got, 2)
		if pairs++; t.Failed() {
			t.Fatalf("after crashes at %d and %d", first, second)
		}
	}
	t.Logf("%d pairs", pairs)
}

func TestCrashAtEveryAppendOfAShadowChangesNothingAndWritesNothing(t *testing.T) {
	t.Parallel()
	shadow := func(t *testing.T) *everything {
		e := everyEffect(t)
		now := newSteppingClock().Now()
		s := journal.Session{ID: "shadows", Owner: owner, Assistant: oracle.ShadowName, Title: "shadow",
			CreatedAt: now, UpdatedAt: now}
		e.store.Open(s)
		return e
	}
	e := shadow(t)
	calm := e.play(e.shadowed("its run"), nil, mortal(e.store, 0, false))
	same(t, "stop reason", calm.answer.StopReason, oracle.StopSatisfied)
	for at := 1; at <= calm.appends; at++ {
		for _, after := range []bool{false, true} {
			t.Run(fmt.Sprintf("append %d written %v", at, after), func(t *testing.T) {
				t.Parallel()
				e := shadow(t)
				got := e.play(e.shadowed("its run"), nil, mortal(e.store, at, after))
				e.like(calm, got, 1)
			})
		}
	}
	t.Logf("%d appends", calm.appends)
}

func TestCrashInTheMiddleOfAStreamLeavesNoTextBehind(t *testing.T) {
	t.Parallel()
	calm := calmly(t)
	var parts []string
	for what := range calm.performed {
		if part, is := strings.CutPrefix(what, "scripted:second "); is {
			parts = append(parts, "second "+part)
		} else if part, is := strings.CutPrefix(what, "scripted:first "); is {
			parts = append(parts, "first "+part)
		}
	}
	for _, at := range slices.Sorted(slices.Values(parts)) {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			e := everyEffect(t)
			dying := mortal(e.store, 0, false)
			which, part, _ := strings.Cut(at, " ")
			die := func(said string, piece int) {
				if said == part && piece == 2 {
					dying.Die()
				}
			}
			if which == "first" {
				e.first.said = die
			} else {
				e.second.said = die
			}
			got := e.play(e.begin, []string{`{"path":"caching.md"}`}, dying)
			same(t, "the process died", dying.Dead(), true)
			e.like(calm, got, 1)
			for step := 1; step <= 9; step++ {
				if n := strings.Count(e.shown, fmt.Sprintf("This is step %d.", step)); n > 1 {
					t.Errorf("step %d is shown %d times:\n%s", step, n, e.shown)
				}
			}
			wantNoParts(t, "what is shown", e.shown, "I begin")
			wantParts(t, "what is shown", e.shown, calm.answer.Answer)
		})
	}
}

func TestCrashWhileTheClassifierAnswersAsksItAgain(t *testing.T) {
	t.Parallel()
	calm := calmly(t)
	for _, word := range []string{"Doubtful", "Which folder"} {
		t.Run(word, func(t *testing.T) {
			e := everyEffect(t)
			dying := mortal(e.store, 0, false)
			verdict := e.classifier
			e.classifier = func(ctx context.Context, text string) ([]oracle.Score, error) {
				if strings.Contains(text, word) {
					dying.Die()
				}
				return verdict(ctx, text)
			}
			got := e.play(e.begin, []string{`{"path":"caching.md"}`}, dying)
			e.like(calm, got, 1)
			same(t, "operations counted as repeated", e.repeats(), 1)
		})
	}
}
