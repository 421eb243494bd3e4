package taskchat

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/run"
	"sibyl/internal/taskchat/understand"
	"sibyl/internal/tool"
)

// EffectCall is the kind of effect that calls a tool.
const EffectCall = "tool.call"

// CallPayload asks for a call. Version is that of the task as it was seen; Row is the pending row by which the person
// confirmed it, and Digest what they confirmed (tool.ConfirmationDigest).
type CallPayload struct {
	Tool    string          `json:"tool"`
	Args    json.RawMessage `json:"args"`
	Version int64           `json:"version,omitempty"`
	Row     string          `json:"row,omitempty"`
	Digest  string          `json:"digest,omitempty"`
}

// requestList requests the tasks that match.
func requestList(args listArgs) bt.Request {
	raw, _ := json.Marshal(args) // texts and numbers
	return bt.Request{Kind: EffectCall, Label: "list_tasks", Payload: CallPayload{Tool: "list_tasks", Args: raw}}
}

// changeArgs are the arguments of the tools that write.
type changeArgs struct {
	ID          int64   `json:"task_id,omitempty"`
	Title       string  `json:"title,omitempty"`
	Description *string `json:"description,omitempty"`
	Status      string  `json:"status,omitempty"`
}

// toolCalls are the calls that perform the act: one for each of its tasks.
func (a *Act) toolCalls() (all []bt.Request, err error) {
	targets := a.Targets
	if a.Intent == understand.Create {
		targets = []Item{{Title: a.Entities.Title}}
	}
	for _, c := range a.Undoes {
		targets = append(targets, Item{ID: c.ID, Version: c.Version})
	}
	for _, t := range targets {
		args := changeArgs{ID: t.ID}
		if a.Intent == understand.Create || a.Intent == understand.Update {
			args.Title = a.Entities.Title
			if a.Entities.HasDescription {
				args.Description = &a.Entities.Description
			}
		}
		if a.Intent == understand.Update {
			args.Status = a.Entities.Status
		}
		p := CallPayload{Tool: toolOf(a.Intent), Version: t.Version, Row: a.Row}
		if p.Args, err = json.Marshal(args); err != nil {
			return nil, err
		}
		if a.Row != "" {
			if p.Digest, err = tool.ConfirmationDigest(p.Tool, p.Args, p.Version); err != nil {
				return nil, err
			}
		}
		label := strings.TrimSuffix(p.Tool+" ‘"+t.Title+"’", " ‘’") // an undo names no task
		all = append(all, bt.Request{Kind: EffectCall, Label: label, Payload: p, Once: true})
	}
	return all, nil
}

// selections are the calls of the act.
func (a *Act) selections() (all []ToolSelectionResult) {
	calls, _ := a.toolCalls() // which were planned
	if a.Intent == understand.List {
		calls = a.listCalls(nil)
	}
	var others []Scored
	for _, other := range a.Alternatives {
		if name := toolOf(other.Intent); name != "" {
			others = append(others, Scored{name, other.Confidence})
		}
	}
	for _, c := range calls {
		p := c.Payload.(CallPayload)
		all = append(all, ToolSelectionResult{ToolName: p.Tool, Confidence: a.Confidence, Parameters: p.Args,
			RequiresConfirmation: a.Intent == understand.Delete, Alternatives: others})
	}
	return all
}

func selectionEvents(all []ToolSelectionResult) (events []bt.Typed) {
	for _, one := range all {
		events = append(events, ToolSelected{one})
	}
	return events
}

func callTool() bt.Leaf {
	type out struct {
		Remarks  []Remark              `port:"remarks"`
		Told     int                   `port:"told" doc:"how many calls the remarks tell of"`
		Selected []ToolSelectionResult `port:"selected" doc:"with the calls of this act"`
		Metadata Metadata              `port:"metadata" doc:"with a task that was added as the one that was spoken of"`

		Events []bt.Typed `port:",events"`
	}
	collect := func(i actIn, done []bt.Completion, o *out) error {
		var told, others []Remark
		var changes, refused []Changed
		for n, c := range done {
			var was Item
			if n < len(i.Act.Targets) {
				was = i.Act.Targets[n]
			}
			r, did := writeRemark(c, was)
			if !did {
				others = append(others, r)
				if n < len(i.Act.Undoes) {
					refused = append(refused, i.Act.Undoes[n])
				}
				continue
			}
			told = append(told, r)
			if r.What != saySame && r.What != sayAlready {
				changes = append(changes, Changed{r.Items[0].ID, r.Items[0].Version})
			}
			switch {
			case i.Act.Intent == understand.Undo && len(done) > 1: // “it” would be a guess
				o.Metadata.AgentContext.LastTask = 0
			case i.Act.Intent == understand.Create || i.Act.Intent == understand.Undo:
				o.Metadata.AgentContext.LastTask = r.Items[0].ID
			}
		}
		if i.Act.Intent != understand.Undo {
			o.Metadata.rememberChange(changes)
		} else if kept := o.Metadata.AgentContext.Changes; len(kept) > 0 {
			o.Metadata.AgentContext.Changes = slices.Clip(kept[:len(kept)-1])
			slices.Reverse(refused)
			o.Metadata.rememberChange(refused)
		}
		if i.Act.wantsAlarm() && len(changes) > 0 {
			told = append(told, Remark{What: sayNoRing})
		}
		o.Remarks = slices.Concat(o.Remarks, mergeAlike(told), others)
		o.Told += len(done)
		selected := i.Act.selections()
		o.Selected, o.Events = slices.Concat(o.Selected, selected), selectionEvents(selected)
		return nil
	}
	plan := func(i actIn) ([]bt.Request, error) { return i.Act.toolCalls() }
	return bt.Task("CallTool", "Calls the tool of an act, for each of its tasks, with the versions that were seen.",
		plan, collect)
}

// writeRemark says what a call did to a task. did is false if it did nothing, or nobody knows.
func writeRemark(c bt.Completion, was Item) (told Remark, did bool) {
	r, err := bt.ResultOf[agent.CallReceipt](c)
	switch {
	case c.Err != nil || err != nil:
		return Remark{What: sayUnsureDone, Title: was.Title}, false
	case r.Error != nil:
		return *refusalRemark(r.Tool, r.Error, was), false
	}
	if r.Tool == toolOf(understand.Undo) {
		return undoRemark(r)
	}
	var data struct {
		Item
		Already bool `json:"already_completed"`
	}
	if err := decodeData(r, &data); err != nil {
		return Remark{What: sayUnsureDone, Title: was.Title}, false
	}
	if data.Title == "" { // a deletion need not tell what it was
		data.Item = was
	}
	what := writeRemarkKey(r.Tool, was, data.Item, data.Already)
	return Remark{What: what, Title: was.Title, Items: []Item{data.Item}}, true
}

// undoRemark says what an undo did to a task. did is false if it did nothing, or nobody knows.
func undoRemark(r agent.CallReceipt) (told Remark, did bool) {
	var data struct{ Before, After *Item }
	switch err := decodeData(r, &data); {
	case err != nil, data.Before == nil && data.After == nil:
		return Remark{What: sayUnsureDone}, false
	case data.After == nil:
		return Remark{What: sayTakenOff, Items: []Item{*data.Before}}, true
	case data.Before == nil:
		told.What = sayBack
	case data.Before.Status == completed && data.After.Status == pending:
		told.What = sayReopened
	default:
		told.What = sayPutBack
	}
	told.Items = []Item{*data.After}
	return told, true
}

// writeRemarkKey is the kind of the remark about a call that succeeded.
func writeRemarkKey(name string, was, now Item, already bool) string {
	switch {
	case name == toolOf(understand.Create):
		return sayAdded
	case name == toolOf(understand.Delete):
		return sayDeleted
	case already:
		return sayAlready
	case name == toolOf(understand.Complete):
		return sayCompleted
	case was.Version == now.Version:
		return saySame
	case was.Title != now.Title && was.Title != "":
		return sayRenamed
	case was.Status == completed && now.Status == pending:
		return sayReopened
	}
	return sayUpdated
}

// refusalRemark says why a tool did nothing. Of a write that failed for any other reason, nobody knows whether it was
// done.
func refusalRemark(name string, e *tool.Error, was Item) *Remark {
	if name == toolOf(understand.Undo) && (e.Kind == tool.NotFound || e.Kind == tool.Conflict) {
		return &Remark{What: sayCantUndo}
	}
	switch e.Kind {
	case tool.NotFound:
		return &Remark{What: sayGone, Title: was.Title}
	case tool.Conflict:
		return &Remark{What: sayChanged, Title: was.Title}
	case tool.InvalidArgs:
		return &Remark{What: sayInvalid, Title: was.Title, Text: e.Message}
	case tool.Denied:
		return &Remark{What: sayNotConfirmed, Title: was.Title}
	}
	switch {
	case name == toolOf(understand.List):
		return &Remark{What: sayNotNow}
	case e.Kind == tool.Busy:
		return &Remark{What: sayNotDone, Title: was.Title}
	}
	return &Remark{What: sayUnsureDone, Title: was.Title}
}

// timeWords matches words that speak of a time, in the languages that are read without a model. A false match costs
// only one needless sentence.
var timeWords = regexp.MustCompile(
	`(?i)[0-9]|(?:^|[^\pL])(at|in|on|by|before|after|until|when|once|tomorrow|today|tonight|next|every|noon|midnight|um|am|bis|vor|nach|wenn|` +
		`heute|morgen|abend|nächste[nrs]?|jeden|às|em|no|na|até|antes|depois|quando|hoje|amanhã|próxim[ao]|cada)(?:[^\pL]|$)`)

// wantsAlarm says that the person asked to be reminded at a time, which no tool can do.
func (a *Act) wantsAlarm() bool {
	return a.Intent == understand.Create && a.Entities.Reminder && (a.By != "" || timeWords.MatchString(a.Entities.Title))
}

// listCalls is the call for a list that a person wants. ids are the tasks that they named by position; nil: they named
// none.
func (a *Act) listCalls(ids []int64) []bt.Request {
	args := listArgs{Status: a.Entities.Status, IDs: ids}
	if r := a.Entities.Reference; r != nil && ids == nil {
		args.Query = r.Title
	}
	return []bt.Request{requestList(args)}
}

// tasksByPlace gives the tasks to list, where the act names them by position or as “it”. at are their positions in the
// last list; 0: the task is not in it.
func (a *Act) tasksByPlace(m *Metadata) (ids []int64, at []int) {
	r := a.Entities.Reference
	if r == nil || len(r.Positions) == 0 && !r.It {
		return nil, nil
	}
	ids, _ = a.knownIDs(m)
	for _, id := range ids {
		at = append(at, slices.Index(m.listedIDs(), id)+1)
	}
	return ids, at
}

func listTasks() bt.Leaf {
	type in struct {
		Act      Act      `port:"act"`
		Metadata Metadata `port:"metadata"`
	}
	type out struct {
		Remarks  []Remark              `port:"remarks"`
		Shown    []Item                `port:"shown" doc:"the tasks that are shown, in order"`
		Lists    int                   `port:"lists" doc:"how many lists were shown in this turn"`
		Metadata Metadata              `port:"metadata" doc:"as the rest of the message refers to it"`
		Selected []ToolSelectionResult `port:"selected" doc:"with the call of this list"`
		Events   []bt.Typed            `port:",events"`
	}
	plan := func(i in) ([]bt.Request, error) {
		ids, _ := i.Act.tasksByPlace(&i.Metadata)
		return i.Act.listCalls(ids), nil
	}
	collect := func(i in, done []bt.Completion, o *out) error {
		selected := i.Act.selections()
		o.Selected, o.Events = slices.Concat(o.Selected, selected), selectionEvents(selected)
		p, err := listedPage(done[0])
		if err != nil {
			return err
		}
		if one := i.Act.detailsRemark(&i.Metadata, p.Tasks); one != nil {
			o.Remarks = append(slices.Clip(o.Remarks), *one)
			if len(one.Items) == 1 {
				o.Metadata.AgentContext.LastTask = one.Items[0].ID
			}
			return nil
		}
		if i.Act.Entities.Reminder {
			o.Remarks = append(slices.Clip(o.Remarks), Remark{What: sayNoDates})
		}
		shown := i.Act.listRemark(&p)
		o.Remarks, o.Shown, o.Lists = append(slices.Clip(o.Remarks), shown), p.Tasks, o.Lists+1
		o.Metadata.rememberListWithin(p.Tasks, p.Total > len(p.Tasks))
		if len(p.Tasks) == 1 {
			o.Metadata.AgentContext.LastTask = p.Tasks[0].ID
		}
		return nil
	}
	return bt.Task("ListTasks",
		"Lists tasks for the person, by list_tasks. Tasks that are named by their places are told with their "+
			"descriptions.", plan, collect)
}

// detailsRemark shows tasks that were named by position, without a new list; nil if none were.
func (a *Act) detailsRemark(m *Metadata, found []Item) *Remark {
	r := a.Entities.Reference
	ids, at := a.tasksByPlace(m)
	switch {
	case ids == nil && r != nil && len(r.Positions) > 0 && len(m.TaskReferences) > 0:
		return &Remark{What: sayNoPosition, N: len(m.TaskReferences)}
	case ids == nil:
		return nil
	case len(found) < len(ids):
		return &Remark{What: sayStale, Text: r.Words}
	}
	told := Remark{What: sayDetails, At: at, Details: true}
	for _, id := range ids {
		n := slices.IndexFunc(found, func(t Item) bool { return t.ID == id })
		told.Items = append(told.Items, found[n])
	}
	return &told
}

// listRemark shows a list. A search finds tasks with any of the words; if some have all of them, only those are shown.
func (a *Act) listRemark(p *page) Remark {
	shown := Remark{What: sayList, Details: a.Details}
	if r := a.Entities.Reference; r != nil && r.Title != "" {
		shown.Title, shown.Details = r.Title, true
		if exact := tasksMatching(r.Title, p.Tasks); len(exact) > 0 {
			p.Tasks, p.Total = exact, len(exact)
		}
	}
	switch {
	case len(p.Tasks) == 0 && shown.Title != "":
		shown.What = sayNoneFound
	case len(p.Tasks) == 0:
		shown.What = noTasksKey(a.Entities.Status)
	}
	shown.Items, shown.N = p.Tasks, p.Total
	return shown
}

// callTimeout bounds one call of a tool.
const callTimeout = 15 * time.Second

func decodeCall(_ *run.View, job run.Job) (name, args string, call tool.Call, err error) {
	p, err := run.PayloadOf[CallPayload](job)
	call.Version = p.Version
	if p.Row != "" {
		call.Confirmation = &tool.Confirmation{ID: p.Row, Digest: p.Digest}
	}
	return p.Tool, string(p.Args), call, err
}
