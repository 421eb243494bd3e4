package oracle

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/run"
	"sibyl/internal/signal"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// Answer is the outcome of a run, and the exchange that its session keeps.
type Answer struct {
	Question   string                  `json:"question"`
	Files      []string                `json:"files,omitempty"` // names of what was handed over with it
	Answer     string                  `json:"answer"`
	Signal     *signal.Signal          `json:"signal"`
	QueryType  string                  `json:"query_type"`
	Class      classify.Classification `json:"classification"`
	TopicShift bool                    `json:"topic_shift,omitempty"`
	Turns      int                     `json:"turns"`
	MaxTurns   int                     `json:"max_turns"`
	StopReason string                  `json:"stop_reason"`
	Caveat     string                  `json:"caveat,omitempty"`     // why it is not the whole answer
	CaveatCode bt.Coded                `json:"caveat_code,omitzero"` // of the caveat
	// what kept the model from continuing, in its words
	Blocker     string             `json:"blocker,omitempty"`
	Suggestions []string           `json:"suggestions,omitempty"` // what would help, in its words
	Sources     []agent.Source     `json:"sources"`
	Unsupported []string           `json:"unsupported_citations,omitempty"` // cited, but never read
	ToolCalls   []agent.ToolUse    `json:"tool_calls"`
	Model       string             `json:"model"`
	Usage       model.Usage        `json:"usage"`
	Models      []agent.ModelUsage `json:"usage_by_model,omitempty"` // where there was more than one
	// all that were emitted, the ignored ones included
	Signals  []signal.Signal     `json:"signals"`
	Problems []signal.Problem    `json:"signal_problems,omitempty"`
	Gaps     []string            `json:"capability_gaps,omitempty"`
	Tried    []agent.SourceCalls `json:"sources_tried,omitempty"`
	// what became of the changes that the model asked for; null: it asked for none
	Writes    *agent.Writes   `json:"writes,omitempty"`
	Notices   []agent.Notice  `json:"notices,omitempty"`
	Fallbacks []Consult       `json:"fallbacks,omitempty"`
	Waiting   []agent.Waiting `json:"waiting,omitempty"` // calls that wait for the person's yes
	// the question was a yes to calls that had waited
	Allowed   bool         `json:"allowed,omitempty"`
	Asked     bool         `json:"asked,omitempty"`            // the answer is a question to the person
	Piped     bool         `json:"piped,omitempty"`            // the question was piped in
	Relayed   bool         `json:"relayed,omitempty"`          // a program passed the question on
	Labels    agent.Labels `json:"labels,omitempty"`           // of all that the model saw
	Budget    *agent.Spent `json:"budget_exhausted,omitempty"` // what made the last turn the last one
	Error     *bt.Fault    `json:"error,omitempty"`
	SessionID string       `json:"session_id"`
	RunID     string       `json:"run_id"`
	TookMS    int64        `json:"took_ms"` // of run time
	// it is a summary of what was tried, not text of a model
	Summarised bool `json:"composed,omitempty"`
	// the tree looked up what the model did not
	LookedUp bool `json:"looked_up,omitempty"`
	// what was known of the model, in words
	About string `json:"about,omitempty"`
	// the names of what said how to answer, besides the prompts: instructions, a preset, SIBYL.md of a folder
	Guides []string `json:"guides,omitempty"`
}

// ReadAnswer reads the outcome of a run.
func ReadAnswer(outcome json.RawMessage) (a Answer, err error) {
	err = json.Unmarshal(outcome, &a)
	return a, err
}

// composeOutcome composes the answer from the receipts, and from what the tree left on the blackboard; also for a
// suspended run. The order matters: setEnding sets Answer and Summarised, which checkCitations needs; markUsedCalls and
// mergePages need the cited sources; warnOfNoGround and addWriteCaveat may still lower StopReason.
func composeOutcome(v *run.View, e run.Ending) run.Outcome {
	var w treeResult
	e.Tree.Read(e.State, &w)
	var env Env
	var given Given
	_ = v.ReadStart(&env, &given) // it was given at the start, or there is nothing to show
	a := Answer{Question: given.Question, Piped: given.Said.Piped, Relayed: given.Said.Relayed,
		QueryType: string(w.Class.QueryType), Class: w.Class, TopicShift: w.TopicShift, SessionID: v.Session,
		RunID:    v.ID,
		MaxTurns: given.MaxTurns, Gaps: w.Reports.Gaps, Tried: w.Ledger.Sources, Fallbacks: w.Reports.Consults,
		Budget:  w.Ledger.Exhausted,
		Signals: []signal.Signal{}, LookedUp: w.Reports.LookedUp}
	places := a.addReceipts(v, e.Unfolded, w, given.Tools)
	if len(env.Parts)+len(env.Carried) > 0 {
		a.Sources = append(env.materialSources(), a.Sources...)
	}
	a.Guides = env.Guides
	a.Files, a.Allowed = env.materialNames(), len(given.Said.Yes) > 0
	a.Model = cmp.Or(a.Model, env.Model) // the chosen one, until a receipt says which one answered
	if a.Model == env.Model {
		a.About = env.About
	}
	for _, c := range e.Unfolded {
		if c.Kind == agent.EffectCall && c.Once && c.Err != nil {
			// A write in progress when the run was stopped may have taken effect.
			w.Ledger.NoticeUnsure(c.Asked.(agent.CallPayload).Name, c.Err)
		}
	}
	a.Notices = w.Ledger.Notices
	a.Labels, a.Waiting = w.Ledger.Labels, agent.WaitingOf[Heard](v, w.Held)
	status := a.setEnding(v, e, w)
	if !a.Summarised {
		a.checkCitations(places)
		a.markUsedCalls(places)
	}
	if len(env.Parts)+len(env.Carried) > 0 {
		a.mergePages()
	}
	g := ground{Class: w.Class, Ledger: w.Ledger, Text: a.Answer}
	a.warnOfNoGround(g.wantsWrite() && w.Ledger.Writes.Asked == 0, given.PastTokens > 0 && !w.TopicShift)
	a.addWriteCaveat()
	a.warnOfUncovered(v, env)
	a.warnNotConnected(unconnectedSource(w.Class, given.Tools), env)
	if left := len(env.Past) - 1; a.TopicShift && left > 0 {
		why := topicChanged.With()
		a.Notices = append(a.Notices, agent.Notice{Type: NoticeShift, Severity: agent.Info, Text: why.Text,
			Coded: why.Coded, Payload: agent.Pairs("left_out", left)})
	}
	for _, why := range env.Setup {
		a.Notices = append(a.Notices, agent.Notice{Type: NoticeSetup, Severity: agent.Info, Text: why.Text,
			Coded: why.Coded})
	}
	for _, why := range env.LeftOut {
		a.Notices = append(a.Notices, agent.Notice{Type: NoticeLeftOut, Severity: agent.Warning, Text: why.Text,
			Coded: why.Coded})
	}
	a.TookMS = e.State.Now
	for _, c := range e.Unfolded { // these were seen by no step
		a.TookMS = max(a.TookMS, c.Now)
	}
	kept := a.keptExchange(v, env)
	switch {
	case env.NoTools || len(a.ToolCalls) == 0:
	case w.Reports.LookedUp:
		kept.Model, kept.Looked = a.Model, ByTree
	default:
		kept.Model, kept.Looked = a.Model, ByModel
	}
	kept.Unasked = kept.Model != "" && env.signalForm() != prompt.SignalsFull
	kept.Addresses = w.Ledger.NewestAddresses(keptAddresses)
	out := run.Outcome{Status: status, Reason: a.StopReason, Result: a, Summary: kept}
	if status == journal.Done || status == journal.NeedsUser {
		out.Pending = a.approvalRows(env)
	}
	return out
}

// keptAddresses is how many addresses from search engines the next run of the session knows.
const keptAddresses = 300

// maxExchangeBytes bounds the texts of an exchange, in bytes of JSON. A run whose summary is larger than its row allows
// could not end. The difference is for the other fields, and for marks that replace secrets.
const maxExchangeBytes = journal.MaxSummary - 16<<10

// keptExchange is what the session keeps: question and answer, whole or, if they are too long, their beginnings.
func (a *Answer) keptExchange(v *run.View, env Env) Exchange {
	e := Exchange{Labels: &a.Labels, Piped: a.Piped, Relayed: a.Relayed, Question: a.Question, Answer: a.Answer,
		QueryType: a.QueryType, Shift: a.TopicShift, ShadowOf: env.ShadowOf, Pictures: len(picturesOf(env.Parts)),
		Shown: env.Shown, Place: len(env.Past) + 1}
	if a.TopicShift {
		e.Place = 1 // what was before is left out from now on
	}
	for _, c := range v.Receipts() {
		if r, isTurn := c.Value.(agent.TurnReceipt[Heard]); isTurn {
			e.Note, e.Shown = cmp.Or(e.Note, r.Note), e.Shown || len(r.ToolHashes) > 0
			e.Found = cmp.Or(e.Found, r.Found)
		}
	}
	if a.Signal != nil {
		e.Signal = a.Signal.RawXML
	}
	for most := maxExchangeBytes / 2; e.size() > maxExchangeBytes; most /= 2 {
		e.Question, e.Answer = clipText(a.Question, most), clipText(a.Answer, most)
		if len(e.Signal) > most { // half of it would not be valid
			e.Signal = ""
		}
		if len(e.Found) > most {
			e.Found = ""
		}
		if len(e.Note) > most {
			e.Note = ""
		}
	}
	e.Tokens = agent.Tokens(e.Question) + agent.Tokens(e.Note) + agent.Tokens(e.Found) +
		agent.PictureTokens*e.Pictures + agent.Tokens(e.Answer)
	return e
}

func (e Exchange) size() (n int) {
	for _, said := range []string{e.Question, e.Answer, e.Signal, e.Note, e.Found} {
		quoted, _ := json.Marshal(said) // a string
		n += len(quoted)
	}
	return n
}

func clipText(said string, most int) string {
	if kept := text.Clip(said, most); kept != said {
		return kept + " …"
	}
	return said
}

// markUsedCalls marks the calls that the answer is based on: those with a place that it cites or, if it cites none, all
// that gave a result: a list, a count and “there is none” rest on these. places are the places that each call opened or
// named.
func (a *Answer) markUsedCalls(places [][]tool.Ref) {
	cites := a.cites()
	for i := range a.ToolCalls {
		c := &a.ToolCalls[i]
		if !cites && c.Error == "" && c.Refused == "" {
			c.Used = true
		}
		c.Used = c.Used || slices.ContainsFunc(places[i], func(ref tool.Ref) bool {
			return slices.ContainsFunc(a.Sources, func(s agent.Source) bool { return s.Cited && s.Overlaps(ref) })
		})
	}
}

// acted says whether something was or may have been changed, or an approved call was made.
func (a *Answer) acted() bool {
	return a.Allowed || a.Writes != nil && a.Writes.Done+a.Writes.Unsure > 0
}

// Unnecessary counts the calls that the answer is not based on, failed and refused ones included.
func (a *Answer) Unnecessary() (n int) {
	for _, c := range a.ToolCalls {
		if !c.Used {
			n++
		}
	}
	return n
}

// warnOfNoGround makes an answer partial, with a caveat, if a wanted write was not made, or if all its citations are of
// places that no tool has shown, unless it builds on earlier answers: what it cites may be from those.
func (a *Answer) warnOfNoGround(unwritten, buildsOnEarlier bool) {
	if a.Summarised || a.Model == model.OfflineRules || a.StopReason != StopSatisfied && !a.Partial() {
		return // without a model, the answer itself says what was searched, and claims nothing
	}
	if unwritten {
		a.addCaveat(nothingWritten.With())
	}
	if a.StopReason == StopSatisfied && len(a.Unsupported) > 0 && !a.cites() && !buildsOnEarlier {
		a.addCaveat(noneRead.With())
	}
}

// cites says whether the answer cites a place that a tool has shown.
func (a *Answer) cites() bool {
	return slices.ContainsFunc(a.Sources, func(s agent.Source) bool { return s.Cited })
}

// warnNotConnected adds a notice that the likeliest source of the answer could not be searched.
func (a *Answer) warnNotConnected(s tool.Source, env Env) {
	var why bt.Why
	switch {
	case s == tool.Web && env.NoWeb:
		why = webOff.With()
	case s == tool.Web:
		why = noEngine.With()
	case s == tool.Vault && env.Vault == "":
		why = noVault.With()
	case s == tool.Code && env.CodeRoot == "":
		why = noCode.With()
	}
	if why.Text == "" || a.StopReason == StopCancelled {
		return
	}
	severity := agent.Warning
	if a.StopReason == StopSatisfied && a.cites() {
		severity = agent.Info
	}
	a.Notices = append(a.Notices, agent.Notice{Type: NoticeNoSource, Severity: severity, Text: why.Text,
		Coded: why.Coded, Payload: agent.Pairs("source", s)})
}

// addWriteCaveat says which changes were not made. An answer without them is partial, whatever the model says.
func (a *Answer) addWriteCaveat() {
	if a.Writes != nil && !a.Writes.AllDone() {
		a.addCaveat(a.Writes.Why())
	}
}

// setBlocker sets what blocked the model and what would help, from its last signal “stuck”.
func (a *Answer) setBlocker() {
	for _, s := range slices.Backward(a.Signals) {
		if s.Type == signal.Stuck {
			a.Blocker, a.Suggestions = s.Text("blocker"), s.List("suggestions")
			return
		}
	}
}

// addReceipts reads usage, signals, calls and sources from the receipts. It returns the places that each call found.
func (a *Answer) addReceipts(
	v *run.View, under []run.CompletionRecord, w treeResult, tools []agent.ToolFact,
) [][]tool.Ref {
	account := agent.AccountOf(v, under, w.Transcript, func(_ *run.CompletionRecord, r agent.TurnReceipt[Heard]) {
		if r.Report.Signal != nil {
			a.Signals = append(a.Signals, *r.Report.Signal)
		}
		a.Signals = append(a.Signals, r.Report.Extra...)
		a.Problems = append(a.Problems, r.Report.Problems...)
	})
	a.Turns, a.Model, a.Usage, a.ToolCalls, a.Sources = account.Turns, account.Model, account.Usage, account.Calls,
		account.Sources
	if len(account.Models) > 1 {
		a.Models = account.Models
	}
	if writes := account.Writes(tools); writes.Asked > 0 {
		a.Writes = &writes
	}
	return account.Refs
}

// setEnding sets StopReason, Answer, and Summarised if that is not text of a model. It returns the status of the run's
// row.
func (a *Answer) setEnding(v *run.View, e run.Ending, w treeResult) journal.Status {
	switch {
	case e.Suspended:
		a.StopReason, a.Error, a.Answer = StopSuspended, e.Fault, cmp.Or(partialText(e.Unfolded), bestText(w))
		return journal.Running
	case e.Cancelled:
		a.StopReason = StopCancelled
		a.Answer = cmp.Or(partialText(e.Unfolded), bestText(w))
		return journal.Cancelled
	case e.Status == bt.Success && w.Accepted.StopReason != "":
		return a.setAccepted(v, w)
	}
	a.StopReason, a.Error = StopError, e.Fault
	if e.Fault == nil {
		a.Error = &bt.Fault{Kind: run.KindTree, Reason: "the tree ended without an answer"}
	}
	if a.Error.Kind == string(model.Refused) {
		a.StopReason = StopRefused
	}
	a.Answer = cmp.Or(failedTurnText(v), bestText(w))
	return journal.Failed
}

// bestText is the best text of a run that ended without an answer.
func bestText(w treeResult) string {
	if best := w.Reports.Best; best.Ref != 0 && !best.Words.Announces {
		return best.Words.Text
	}
	return ""
}

func failedTurnText(v *run.View) string {
	last := ""
	for _, c := range v.Receipts() {
		last = ""
		if c.Err != nil {
			last = partialText([]run.CompletionRecord{*c})
		}
	}
	return last
}

func (a *Answer) setAccepted(v *run.View, w treeResult) journal.Status {
	a.StopReason = w.Accepted.StopReason
	t := replyAt(v, w.Accepted.Ref)
	a.Answer, a.Signal = strings.TrimSpace(t.Text), t.Report.Signal
	if w.Accepted.Also != 0 {
		a.Answer += "\n\n" + strings.TrimSpace(replyAt(v, w.Accepted.Also).Text)
	}
	if w.Accepted.By != 0 {
		a.Signal = replyAt(v, w.Accepted.By).Report.Signal
	}
	if a.Signal != nil && a.Signal.Type == signal.PartialAnswer {
		if missing := a.Signal.Text("missing"); missing != "" && missing != a.Signal.Text("caveat") {
			a.addCaveat(isMissing.With(missing))
		}
		a.addCaveat(bt.Because(a.Signal.Text("caveat")))
	}
	switch t.Finish {
	case model.FinishLength:
		a.addCaveat(cutAtLimit.With())
	case model.FinishRepeated:
		a.addCaveat(cutRepeating.With())
	}
	if a.Partial() && a.Model != model.OfflineRules { // the rules have said it
		a.setBlocker()
	}
	if q := t.Report.Backing; q != nil && len(q.Own) > 0 {
		why := modelsOwn.With(strings.Join(q.Own, ", "))
		a.Notices = append(a.Notices, agent.Notice{Type: NoticeOwn, Severity: agent.Warning, Text: why.Text,
			Coded: why.Coded})
	}
	a.supplementAnswer(v, w.Reports.Best.Words)
	a.Asked = a.StopReason == StopNeedsUser
	if len(a.Waiting) > 0 && (a.StopReason == StopSatisfied || a.StopReason == StopPartial) {
		a.StopReason = StopNeedsUser
	}
	if a.StopReason == StopNeedsUser {
		return journal.NeedsUser
	}
	return journal.Done
}

func replyAt(v *run.View, record int64) (t agent.TurnReceipt[Heard]) {
	if c, err := v.Receipt(record); err == nil {
		t, _ = c.Value.(agent.TurnReceipt[Heard]) // the fold has read this receipt before
	}
	return t
}

// addCaveat makes the answer partial, and puts the reason before its other caveats.
func (a *Answer) addCaveat(why bt.Why) {
	said := bt.Both(why, bt.Why{Text: a.Caveat, Coded: a.CaveatCode})
	a.Caveat, a.CaveatCode = said.Text, said.Coded
	if a.StopReason == StopSatisfied {
		a.StopReason = StopPartial
	}
}

func partialText(under []run.CompletionRecord) string {
	for _, c := range under {
		if t, ok := c.Value.(agent.TurnReceipt[Heard]); ok && c.Kind == agent.EffectTurn {
			return strings.TrimSpace(t.Text)
		}
	}
	return ""
}

// Partial says whether there is an answer, but not a complete one.
func (a *Answer) Partial() bool {
	switch a.StopReason {
	case StopPartial, StopBudget, StopStuck, StopLoop:
		return true
	}
	return false
}
