package taskchat

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/taskchat/understand"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// questionLifetime is how long a question waits for its answer.
const questionLifetime = 30 * time.Minute

// reasonStopped is why a cancelled run ended; for all others it is the status of the response.
const reasonStopped = "cancelled"

// outcome composes the response of the receipts and of what the tree left.
func outcome(v *run.View, e run.Ending) run.Outcome {
	var w treeResult
	e.Tree.Read(e.State, &w)
	var env Env
	var given Given
	_ = v.ReadStart(&env, &given) // it was given at the start, or there is nothing to show
	c := composer{view: v, language: w.Language, zone: zoneOf(given.Zone), worded: w.Worded}
	r := AgentResponse{ConversationID: v.Session, RunID: v.ID, Message: given.Words, Status: StatusSuccess,
		ToolCalls: []ToolCall{}}
	m := given.Metadata
	calls := c.doneCalls(e.Unfolded)
	c.addCalls(&r, &m, w, calls)
	for _, one := range w.Intents {
		if toolOf(understand.Intent(one.IntentType)) != "" {
			m.rememberConfidence(one.Confidence)
		}
	}
	m.AgentContext.Language = cmp.Or(w.Language, m.AgentContext.Language)
	m.AgentContext.LastTask, m.AgentContext.Changes = w.Metadata.AgentContext.LastTask, w.Metadata.AgentContext.Changes
	m.joinChanges(given.Metadata.AgentContext.Changes)
	out := run.Outcome{Status: journal.Done}
	remarks := w.Remarks
	switch {
	case e.Cancelled:
		out.Status, r.Status = journal.Cancelled, StatusError
		remarks = slices.Concat(remarks, unreportedWrites(calls, w.Reported), []Remark{{What: sayStopped}})
	case e.Status != bt.Success:
		out.Status, r.Status = journal.Failed, StatusError
		remarks = append(remarks[:len(remarks):len(remarks)], Remark{What: sayNotNow})
	case len(w.Questions) > 0:
		out.Status = journal.NeedsUser
		r.Status = StatusClarification
		if w.Questions[0].Text.What == sayConfirmDelete {
			r.Status = StatusConfirmation
		} else {
			m.AgentContext.ClarificationCount++
		}
	case onlyFailures(remarks):
		out.Status, r.Status = journal.Failed, StatusError
	case notUnderstood(remarks):
		r.Status = StatusClarification
	}
	if !given.Model && slices.ContainsFunc(remarks, func(r Remark) bool {
		return r.What == sayHello || r.What == sayHelp
	}) {
		remarks = append(remarks[:len(remarks):len(remarks)], Remark{What: sayNoModel})
	}
	if r.Status == StatusClarification && out.Status == journal.Done {
		r.Clarification = &Clarification{Question: c.remarkText(Remark{What: sayHello}), Options: []string{},
			Kind: understand.KindValue}
	}
	if r.Writes == nil && !understand.IsCourtesy(given.Words) &&
		slices.ContainsFunc(remarks, func(r Remark) bool { return r.What == sayReply }) {
		remarks = append(remarks[:len(remarks):len(remarks)], Remark{What: sayUnchanged})
	}
	asks := out.Status == journal.NeedsUser
	if !asks {
		w.Questions = nil
	}
	r.Response = c.responseText(remarks, w.Questions)
	var next pendingData
	if asks {
		q := w.Questions[0]
		for _, other := range w.Questions[1:] {
			q.OtherActs = append(q.OtherActs, other.Act)
		}
		r.Clarification = c.clarification(q)
		next = pendingData{Question: &q, Until: c.lastRecordAt().Add(questionLifetime)}
	}
	out.Pending = []journal.Pending{next.row(v.ID)}
	r.ToolSelections = append([]ToolSelectionResult{}, w.Selected...)
	r.Intents, r.Metadata = append([]IntentResult{}, w.Intents...), m
	r.ReasoningTrace = c.trace(w, e.Fault)
	out.Reason, out.Result = string(r.Status), r
	if e.Cancelled {
		out.Reason = reasonStopped
	}
	out.Summary = Turn{Message: given.Words, Response: text.Clip(r.Response, mostKept), Status: r.Status, Metadata: m,
		Place: len(env.Past) + 1, Read: glanceOf(w.Intents, w.Language, text.Clip(r.Response, mostSaidLast))}
	return out
}

// pendingData is what a run leaves to the next run of its conversation, in a pending row with the run's id. The next
// run consumes the row. So of two runs that begin at once, or of one that did not see this run, only one begins, and
// the other reads the conversation again.
type pendingData struct {
	Question *Question `json:"question,omitempty"` // to the person
	Until    time.Time `json:"until,omitzero"`     // the question is open
}

func (l pendingData) row(id string) journal.Pending {
	p := journal.Pending{ID: id, Kind: journal.NoQuestion}
	if l.Question != nil {
		p.Kind = l.Question.Kind
	}
	p.Data, _ = json.Marshal(l) // texts, numbers and times
	return p
}

// onlyFailures says that something could not be done, and that nothing was.
func onlyFailures(remarks []Remark) bool {
	wrong := false
	for _, r := range remarks {
		switch {
		case r.isAside():
		case !r.isFailure():
			return false
		default:
			wrong = true
		}
	}
	return wrong
}

// notUnderstood says that nothing was wanted that is known here: the person is told what can be said.
func notUnderstood(remarks []Remark) bool {
	isHello := func(r Remark) bool { return r.What == sayHello }
	return slices.ContainsFunc(remarks, isHello) &&
		!slices.ContainsFunc(remarks, func(r Remark) bool { return !isHello(r) && !r.isAside() })
}

// mostKept bounds what a conversation keeps of a response, in bytes.
const mostKept = 64 << 10

// composer turns the remarks and receipts of a run into text.
type composer struct {
	view       *run.View
	language   string
	zone       *time.Location
	worded     []Worded
	onSentence func(text string, keep []string) // takes in each sentence; nil: nobody does
}

// doneCall is a call with its receipt, and when that was recorded.
type doneCall struct {
	*run.CompletionRecord
	CallPayload
	at time.Time
}

// lastRecordAt is the time of the last record.
func (c *composer) lastRecordAt() time.Time {
	records := c.view.Records()
	return records[len(records)-1].At
}

// doneCalls are the calls of the run in order, with those that were under way when it was stopped.
func (c *composer) doneCalls(under []run.CompletionRecord) (all []doneCall) {
	add := func(done *run.CompletionRecord, at time.Time) {
		if p, ok := done.Asked.(CallPayload); ok && done.Kind == EffectCall {
			all = append(all, doneCall{done, p, at})
		}
	}
	records := c.view.Records()
	for seq, done := range c.view.Receipts() {
		add(done, records[seq].At)
	}
	for n := range under {
		add(&under[n], c.lastRecordAt())
	}
	return all
}

// unreportedWrites are remarks on the writes that no remark reports yet, because the run was stopped in the middle of
// their act. reported is how many are.
func unreportedWrites(all []doneCall, told int) (remarks []Remark) {
	for _, one := range all {
		if !one.Once {
			continue
		}
		if told--; told >= 0 || one.Err != nil && one.Err.Kind == run.KindCancelled { // which was not performed
			continue
		}
		if r, did := writeRemark(bt.Completion{Result: one.Result, Value: one.Value, Err: one.Err}, Item{}); did ||
			r.What == sayUnsureDone {
			remarks = append(remarks, r)
		}
	}
	return remarks
}

// addCalls adds the calls to the response, and what they change in the metadata.
func (c *composer) addCalls(r *AgentResponse, m *Metadata, w treeResult, all []doneCall) {
	for _, done := range all {
		p := done.CallPayload
		at := done.at.Add(-time.Duration(done.TookMS) * time.Millisecond)
		call := ToolCall{ToolName: p.Tool, Parameters: p.Args, InvokedAt: at}
		receipt, _ := done.Value.(agent.CallReceipt)
		switch {
		case done.Err != nil && done.Err.Kind == run.KindCancelled:
			call.Error = c.remarkText(Remark{What: sayStopped})
		case done.Err != nil:
			call.Error = c.remarkText(Remark{What: sayUnsureDone})
		case receipt.Error != nil:
			call.Error = c.remarkText(*refusalRemark(p.Tool, receipt.Error, Item{}))
		case receipt.Result != nil:
			call.Result = receipt.Result.Data
		}
		r.ToolCalls = append(r.ToolCalls, call)
		if done.Once {
			r.countWrite(call, done.Err, receipt.Error)
		}
		m.LastToolUsed, m.LastToolParameters = p.Tool, p.Args
		if p.Tool == toolOf(understand.List) && w.ListsShown > 0 {
			m.rememberList(w.Shown, w.Metadata.AgentContext.Unlisted, at)
		}
	}
}

// countWrite counts a call that was to change something.
func (r *AgentResponse) countWrite(call ToolCall, lost *bt.Fault, refused *tool.Error) {
	if r.Writes == nil {
		r.Writes = &agent.Writes{}
	}
	fate := agent.WriteDone
	switch {
	case lost != nil && lost.Kind == run.KindCancelled:
		fate = agent.WriteRefused
	case lost != nil, call.Error == "" && call.Result == nil:
		fate = agent.WriteUnsure
	case refused != nil && refusalRemark(call.ToolName, refused, Item{}).What == sayUnsureDone:
		fate = agent.WriteUnsure
	case refused != nil:
		fate = agent.WriteFailed
	}
	r.Writes.Add(call.ToolName, call.target(), fate, call.Error)
}

// target names what a call was to change.
func (c *ToolCall) target() string {
	var args struct {
		Title  string `json:"title"`
		TaskID int64  `json:"task_id"`
	}
	if json.Unmarshal(c.Parameters, &args) != nil || args.Title == "" && args.TaskID == 0 {
		return c.ToolName
	}
	return cmp.Or(args.Title, fmt.Sprintf("task %d", args.TaskID))
}

// String is how an intent stands in the trace of an outcome, which journals keep.
func (r IntentResult) String() string {
	s := fmt.Sprintf("%s wanted (%.2f, by %s)", r.IntentType, r.Confidence, r.By)
	var others []string
	for _, a := range r.Alternatives {
		others = append(others, fmt.Sprintf("%s %.2f", a.Name, a.Confidence))
	}
	if len(others) > 0 {
		s += "; or " + strings.Join(others, ", ")
	}
	if r.Reasoning != "" {
		s += ": " + r.Reasoning
	}
	return s
}

// String is how a selection stands in the trace of an outcome, with the names of the requirement.
func (r ToolSelectionResult) String() string {
	raw, _ := json.Marshal(r) // texts and numbers
	return "ToolSelectionResult " + string(raw)
}

func (c *composer) trace(w treeResult, fault *bt.Fault) string {
	var all []string
	for _, one := range w.Intents {
		all = append(all, one.String())
	}
	for _, one := range w.Selected {
		all = append(all, one.String())
	}
	for _, one := range w.Remarks {
		all = append(all, one.What)
	}
	for _, q := range w.Questions {
		all = append(all, "asks "+q.Text.What)
	}
	if fault != nil {
		all = append(all, fault.Reason)
	}
	return strings.Join(all, "; ")
}

const storyReply bt.Reason = "story.answered.words: Answered: “{words}”"

// mostReply is how many characters of an answer a story tells.
const mostReply = 200

// shownOutcome is an outcome as people see it.
func shownOutcome(outcome json.RawMessage) (s assistant.Shown, err error) {
	var r AgentResponse
	if err = json.Unmarshal(outcome, &r); err != nil {
		return s, err
	}
	s = assistant.Shown{Question: r.Message, Answer: r.Response, Partial: r.Clarification != nil,
		Asks: r.Clarification != nil,
		Came: []bt.Why{storyReply.With(text.Brief(r.Response, mostReply))}}
	if r.Writes != nil && !r.Writes.AllDone() {
		s.Partial = true
		s.Warn(r.Writes.Why())
	}
	line := string(r.Status)
	var used []string
	for _, call := range r.ToolCalls {
		used = append(used, fmt.Sprintf("%s %s", call.ToolName, call.Parameters))
	}
	if len(used) > 0 {
		line += " after " + strings.Join(used, ", ")
	}
	s.Ending, s.Footer = append([]string{line}, s.Warnings...), "*"+strings.Join(append([]string{line}, s.Warnings...),
		"; ")+"*"
	if r.Status == StatusError {
		s.Failure = &assistant.Failure{Kind: string(tool.Failed), Message: r.Response}
	}
	return s, nil
}
