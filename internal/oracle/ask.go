package oracle

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/journal"
	"sibyl/internal/media/document"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// Bounds of a question and of what it is about, in bytes.
const (
	MaxQuestion = 256 << 10
	MaxMaterial = 256 << 10
)

// defaultTurns is the budget of turns where nobody sets one.
const defaultTurns = 30

// Begin makes the run's spec for a question. The last runs of its session that gave an answer become its past.
func (s Surroundings) Begin(ctx context.Context, r assistant.Request, o Options) (spec run.Spec, err error) {
	r.Words = strings.TrimSpace(journal.Clean(r.Words))
	o.Material = journal.Clean(o.Material)
	var pictures []run.Text
	if o.Material, pictures, err = readMaterial(ctx, s.Store, r, o); err != nil {
		return spec, err
	}
	if err := checkQuestion(r.Words, o.Material); err != nil {
		return spec, &assistant.RequestError{Why: wrongQuestion.With(MaxQuestion), Err: err}
	}
	texts, err := s.Prompts()
	if err != nil {
		return spec, fmt.Errorf("the prompts of the Oracle: %w", err)
	}
	before, err := readSetup(ctx, s.Store, r)
	if err != nil {
		return spec, err
	}
	told, err := before.restore(&o, r)
	if err != nil {
		return spec, err
	}
	chosen := r.KeepModel(&o.Model, before.env.Asked)
	env := s.newEnv(o)
	env.Asked, env.Attached, env.Setup = chosen, before.attached, told
	env.Date = time.Now().Format(time.DateOnly)
	if o.Material != "" {
		env.Material, env.Parts = len(o.Material), document.SplitParts(o.Material)
	}
	tools, info, err := s.chooseModelAndTools(ctx, r, o, &env)
	if err != nil {
		return spec, err
	}
	given := s.newGiven(r, o, env, tools)
	if env.Past, err = given.addPast(ctx, s.Store, r, &env); err != nil {
		return spec, err
	}
	roomForPictures := MaxPictures - len(pictures)
	if info.NoPictures {
		roomForPictures = 0
	}
	guides, _, err := s.addGuides(ctx, o, texts, &env, &given)
	if err != nil {
		return spec, err
	}
	shown, err := carry(ctx, s.Store, r, env, roomForPictures)
	if err != nil {
		return spec, err
	}
	env.Carried = shown.parts
	if len(shown.parts) > 0 {
		given.Ledger.Labels = given.Ledger.Labels.Join(agent.LabelledAs(agent.Stranger, true))
	}
	for _, ref := range readRefs(shown.parts) { // they are read already
		given.Ledger.Opened = append(given.Ledger.Opened, ref.String())
	}
	if shown.left > 0 {
		env.Setup = append(env.Setup, partsLeft.With(shown.left))
	}
	if len(pictures) > 0 || len(picturesOf(shown.parts)) > 0 {
		env.Fallback = slices.DeleteFunc(slices.Clone(env.Fallback), func(id string) bool {
			return s.Describe(ctx, id).NoPictures
		})
	}
	var asked int
	if spec.Consume, asked, err = given.addApprovals(ctx, s.Store, r, env); err != nil {
		return spec, err
	}
	if asked > 0 && len(spec.Consume) == 0 {
		env.Setup = append(env.Setup, approvalLapsed.With())
	}
	spec.Texts = []run.Text{{Name: SegmentsText, Content: texts.Encoded()}, agent.ToolText(tools)}
	if o.Material != "" {
		spec.Texts = append(spec.Texts, run.Text{Name: MaterialText, Content: []byte(o.Material)})
	}
	spec.Texts = slices.Concat(spec.Texts, guides, pictures, shown.texts)
	spec.Title, spec.Place, spec.Env, spec.Given = Title(r.Words), env.CodeRoot, env, given
	return spec, nil
}

// checkQuestion says what is wrong with a question, before anything of it is stored.
func checkQuestion(words, material string) error {
	switch {
	case words == "":
		return errors.New("the question is empty: give it as an argument, or pipe it in")
	case len(words) > MaxQuestion:
		return fmt.Errorf("the question has %d bytes, more than the limit of %d: put the material in a file under "+
			"--in and ask about it", len(words), MaxQuestion)
	case len(material) > MaxMaterial:
		return fmt.Errorf("the attachment has %d bytes, more than the limit of %d: attach a part of it, or put it in "+
			"a folder that is searched", len(material), MaxMaterial)
	}
	return nil
}

// newEnv is the environment of a run, as far as the options determine it.
func (s Surroundings) newEnv(o Options) Env {
	off := o.Web != nil && !*o.Web
	env := Env{CodeRoot: o.Code.Path, Vault: o.Vault.Path, Web: s.Web && !off, NoWeb: off,
		NoFallback: o.Fallback != nil && !*o.Fallback}
	if !env.NoFallback {
		env.Fallback = s.Fallback
	}
	return env
}

// chooseModelAndTools sets the model in env, and returns the tools that the run may be offered.
func (s Surroundings) chooseModelAndTools(
	ctx context.Context, r assistant.Request, o Options, env *Env,
) (specs []tool.Spec, info model.Info, err error) {
	if env.Model, err = s.Choose(ctx, o.Model); err != nil {
		return nil, info, assistant.ModelError(err)
	}
	s.LearnKeys(ctx, *env)
	describing, stop := context.WithCancel(ctx)
	defer stop()
	described := make(chan model.Info, 1)
	pictures := env.pictureNames()
	describe := s.Known
	if len(pictures) > 0 { // which the model must take
		describe = s.Describe
	}
	go func(id string) { described <- describe(describing, id) }(env.Model)
	tools, closeTools, err := s.Tools(ctx, *env)
	if err != nil {
		return nil, info, err
	}
	defer closeTools()
	info = <-described
	if len(pictures) > 0 && info.NoPictures {
		return nil, info, refusePictures(env.Model, pictures)
	}
	env.WindowTokens, env.BareCalls = info.Window, info.BareCalls
	shown, err := shownByRuns(ctx, s.Store, r.Owner, env.Model)
	if err != nil {
		return nil, info, err
	}
	manner, tested := s.mannerOf(env.Model, info, shown...)
	env.ask(manner)
	if s.About != nil && (tested || manner != (model.Manner{Report: manner.Report}) || manner.Report == model.ReportNone) {
		env.About = s.About(env.Model) // else it is asked as any model is
	}
	if s.LeftOut != nil {
		env.LeftOut = s.LeftOut()
	}
	specs = tools.Specs()
	if r.Relayed {
		specs = slices.DeleteFunc(specs, func(t tool.Spec) bool { return t.Effect != tool.Repeatable })
	}
	return specs, info, nil
}

// mannerOf says how a model is asked: by its contract, what the person's last runs have shown of it, and the settings.
// tested says that the contract comes from a test.
func (s Surroundings) mannerOf(id string, info model.Info, shown ...model.Finding) (m model.Manner, tested bool) {
	var c model.Contract
	if s.Contract != nil {
		c = s.Contract(id)
	}
	m = c.With(shown...).Manner(info)
	if s.ReportForm != nil && !m.NoTools {
		m.Report = cmp.Or(s.ReportForm(id), m.Report)
	}
	return m, !c.TestedAt.IsZero()
}

// ask sets how the model is asked.
func (e *Env) ask(m model.Manner) {
	e.NoTools = m.NoTools
	e.ReportTool, e.NoReport = m.Report == model.ReportTool, m.Report == model.ReportNone && !m.NoTools
}

// What the last runs show of a model: that it calls no tools, if in so many of them the tree had to look up, and the
// model never did; that it does not report in its text, if none of so many ended with a report. Runs in which it was
// not asked for it tell nothing; so after lookedBackOn of these it is asked again.
const (
	lookedBackOn = 12
	leastRuns    = 4
	latestRuns   = 3 // looked at first: they mostly show that the model does both
)

// shownByRuns is what the person's last runs show that a model does not do.
func shownByRuns(
	ctx context.Context, store run.History, owner journal.Owner, id string,
) ([]model.Finding, error) {
	var seen habits
	var after journal.Cursor
	for _, n := range []int{latestRuns, lookedBackOn - latestRuns} {
		runs, err := store.Runs(ctx, owner, journal.Filter{Assistant: Name, Ended: true, Summaries: true, Limit: n,
			After: after})
		if err != nil {
			return nil, err
		}
		for _, r := range runs {
			if seen.add(r, id); seen.areUsual() {
				return nil, nil
			}
			after = journal.Cursor{At: r.StartedAt, ID: r.ID}
		}
		if len(runs) < n {
			break
		}
	}
	return seen.findings(), nil
}

// habits count runs with a model.
type habits struct{ byTree, byModel, silent, reported int }

// areUsual says whether the model calls tools, and reports.
func (h habits) areUsual() bool { return h.byModel > 0 && h.reported > 0 }

func (h *habits) add(r journal.Run, id string) {
	e, err := exchangeOf(r)
	switch { // a damaged one shows nothing
	case err != nil || e.Model != id:
		return
	case e.Looked == ByModel:
		h.byModel++
	case e.Looked == ByTree:
		h.byTree++
	}
	switch {
	case e.Signal != "":
		h.reported++
	case !e.Unasked:
		h.silent++
	}
}

// findings is what the model does not do.
func (h habits) findings() (shown []model.Finding) {
	if h.byTree >= leastRuns && h.byModel == 0 {
		shown = append(shown, model.Finding{Skill: model.SkillFull, Result: model.Wrong,
			Reason: "looked nothing up in its last runs"})
	}
	if h.silent >= leastRuns && h.reported == 0 {
		shown = append(shown, model.Finding{Skill: model.SkillByText, Result: model.Wrong,
			Reason: "did not report in its last runs"})
	}
	return shown
}

// newGiven is what the tree is given for a question, without the past of its session.
func (s Surroundings) newGiven(r assistant.Request, o Options, env Env, tools []tool.Spec) Given {
	g := Given{
		Question: r.Words, Said: agent.Said{Piped: o.Piped, Relayed: r.Relayed}, Named: o.namedSources(),
		Handed: len(env.Parts) > 0, Tools: agent.FactsOf(tools),
		MaxTurns: cmp.Or(o.MaxTurns, defaultTurns), MaxTokens: o.MaxTokens,
		MaxSeconds: int((o.MaxTime + time.Second - 1) / time.Second),
		Window:     env.WindowTokens, Classifier: s.Classifier, NoTools: env.NoTools,
		BareCalls: env.BareCalls || env.NoReport, // it is not reminded of what it is not asked for
	}
	if o.Piped || len(env.Parts) > 0 {
		g.Ledger.Labels = agent.LabelledAs(agent.Stranger, true)
	}
	for _, ref := range env.materialRefs() { // they are read already
		g.Ledger.Opened = append(g.Ledger.Opened, ref.String())
	}
	return g
}

// maxPast bounds how many earlier exchanges a continued session shows the model, and maxPreviousBytes how much of each
// question is read to classify the next one.
const (
	maxPast          = 12
	maxPreviousBytes = 1 << 10
)

// addPast adds the last exchanges of the branch that a question goes on from to what the tree is given. It returns
// their runs, oldest first.
func (g *Given) addPast(
	ctx context.Context, store run.History, q assistant.Request, env *Env,
) (past []string, err error) {
	if q.Session == "" { // without a session, the filter would select all runs
		return nil, nil
	}
	tree, err := journal.ReadTree(ctx, store, q.Owner, q.Session)
	if err != nil {
		return nil, err
	}
	before, err := tree.PathBefore(q.Replaces, q.Follows)
	if err != nil {
		return nil, err
	}
	var exchanges []Exchange
	most := maxPast
	for _, r := range slices.Backward(before) {
		if r.Status == journal.Running || r.Assistant != Name {
			continue
		}
		if r, err = store.Run(ctx, q.Owner, r.ID); err != nil { // with its summary
			return nil, err
		}
		e, err := exchangeOf(r)
		if err != nil {
			return nil, err
		}
		if e.Answer == "" {
			continue
		}
		if len(past) == 0 {
			most, env.Shown = e.pastAfter(), e.Shown
		}
		past, exchanges = append(past, r.ID), append(exchanges, e)
		if e.Shift || len(past) == most { // what is before it is of a topic that the session has left, or too much
			break
		}
	}
	slices.Reverse(past)
	for _, e := range slices.Backward(exchanges) {
		if !e.Piped && (!e.Relayed || q.Relayed) {
			g.Previous = append(g.Previous, text.Clip(e.Question, maxPreviousBytes))
		}
		g.PastTokens += e.Tokens
		g.LastTokens = e.Tokens
		g.Ledger.Labels = g.Ledger.Labels.Join(e.labels())
		g.Ledger.LearnAddresses(e.Addresses...)
		if e.QueryType != string(classify.Conversational) {
			g.PreviousType = e.QueryType
		}
	}
	return past, nil
}

// pastAfter is how many exchanges, with this one, the next question is sent. Where there would be too many, half of
// them are left out at once: what was sent before then stays for the questions that follow.
func (e Exchange) pastAfter() int {
	switch {
	case e.Place == 0: // it does not say
		return maxPast
	case e.Place > maxPast:
		return maxPast / 2
	}
	return e.Place
}

// addApprovals adds the calls that the person approves now, of those that the last run of the session asked about: by
// number, or in words. It returns the pending rows that this consumes; journal.ErrConsumed if a number is no longer
// open. asked is how many calls could be approved.
func (g *Given) addApprovals(
	ctx context.Context, store run.History, q assistant.Request, env Env,
) (consume []string, asked int, err error) {
	rows, waiting, err := openApprovals(ctx, store, q, g.Said.Piped, env)
	if err != nil {
		return nil, 0, err
	}
	var calls []agent.Waiting
	for _, w := range waiting {
		calls = append(calls, w.Waiting)
	}
	var yes []int
	switch {
	case q.Allows != nil:
		yes = q.Allows.Calls
	case len(waiting) > 0:
		yes = agent.AllowedBy(q.Words, calls, waiting[0].Asked)
	}
	for _, n := range slices.Compact(slices.Sorted(slices.Values(yes))) { // a call is made once, however often it is named
		if n < 1 || n > len(waiting) || q.Allows != nil && q.Allows.Run != env.Past[len(env.Past)-1] {
			return nil, 0, journal.ConsumedError(assistant.PendingID(q.Allows.Run, n))
		}
		w := waiting[n-1]
		if w.Vault != env.Vault && w.Waiting.Write {
			return nil, 0, &assistant.RequestError{Why: otherNotes.With(),
				Hint: "name the same notes again",
				Err: fmt.Errorf("the write was to %s, but the notes are now %s", cmp.Or(w.Vault, "no notes"),
					cmp.Or(env.Vault, "none"))}
		}
		g.Said.Yes, g.Said.For, consume = append(g.Said.Yes, w.Waiting), w.Question, append(consume, rows[n-1])
	}
	return consume, len(waiting), nil
}

// openApprovals are the pending rows of the calls that the last run of the session asked about, in the order of the
// calls: their ids and their data. Words that are not the person's reply to that run approve nothing.
func openApprovals(
	ctx context.Context, store run.History, q assistant.Request, piped bool, env Env,
) (ids []string, waiting []approvalRow, err error) {
	if q.Session == "" || q.Late && q.Allows == nil || q.Relayed || piped || len(env.Past) == 0 {
		return nil, nil, nil
	}
	rows, err := store.Pending(ctx, q.Owner, q.Session, time.Now())
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		if row.Kind != approvalKind || row.Run != env.Past[len(env.Past)-1] {
			continue
		}
		var asked approvalRow
		if err := json.Unmarshal(row.Data, &asked); err != nil {
			return nil, nil, fmt.Errorf("pending row %s: %w: %w", row.ID, journal.ErrCorrupt, err)
		}
		ids, waiting = append(ids, row.ID), append(waiting, asked)
	}
	return ids, waiting, nil
}

// approvalKind is the kind of a pending row that asks the person to approve a call; it is valid for approvalTTL.
const (
	approvalKind = "oracle.call"
	approvalTTL  = 24 * time.Hour
)

// approvalRow is the data of such a row: one call.
type approvalRow struct {
	Question string        `json:"question"` // for which the call was proposed
	Waiting  agent.Waiting `json:"call"`
	Asked    bool          `json:"asked,omitempty"` // the answer asked the person something else
	Vault    string        `json:"vault,omitempty"` // the folder of notes at that time
}

func (a *Answer) approvalRows(env Env) (rows []journal.Pending) {
	for n, w := range a.Waiting {
		w.Change = nil
		data, err := json.Marshal(approvalRow{a.Question, w, a.Asked, env.Vault})
		if err != nil { // texts, which are JSON
			return nil
		}
		rows = append(rows, journal.Pending{ID: assistant.PendingID(a.RunID, n+1), Kind: approvalKind, Data: data,
			Lasts: approvalTTL})
	}
	return rows
}

// Title is a question shortened to a line.
func Title(question string) string { return text.Brief(question, journal.MostTitle) }
