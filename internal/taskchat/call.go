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

// callOf is a call that only reads.
func callOf(name string, args any) bt.Request {
	raw, _ := json.Marshal(args) // texts and numbers
	return bt.Request{Kind: EffectCall, Label: name, Payload: CallPayload{Tool: name, Args: raw}}
}

// changeArgs are the arguments of the tools that write.
type changeArgs struct {
	ID          int64   `json:"task_id,omitempty"`
	Title       string  `json:"title,omitempty"`
	Description *string `json:"description,omitempty"`
	Status      string  `json:"status,omitempty"`
}

// calls are those that an act comes to: one for each task.
func (a *Act) calls() (all []bt.Request, err error) {
	targets := a.Targets
	if a.Intent == understand.Create {
		targets = []Item{{Title: a.Entities.Title}}
	}
	for _, c := range a.Takes {
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

// selected tells of the calls that an act comes to.
func (a *Act) selected() (events []bt.Typed) {
	calls, _ := a.calls() // which were planned
	if a.Intent == understand.List {
		calls = a.listing(nil)
	}
	var others []Scored
	for _, other := range a.Alternatives {
		if name := toolOf(other.Intent); name != "" {
			others = append(others, Scored{name, other.Confidence})
		}
	}
	for _, c := range calls {
		p := c.Payload.(CallPayload)
		events = append(events, ToolSelected{ToolSelectionResult{ToolName: p.Tool, Confidence: a.Confidence,
			Parameters:           p.Args,
			RequiresConfirmation: a.Intent == understand.Delete, Alternatives: others}})
	}
	return events
}

func callTool() bt.Leaf {
	type out struct {
		Remarks  []Remark `port:"remarks"`
		Told     int      `port:"told" doc:"how many calls the remarks tell of"`
		Metadata Metadata `port:"metadata" doc:"with a task that was added as the one that was spoken of"`

		Events []bt.Typed `port:",events"`
	}
	collect := func(i actIn, done []bt.Completion, o *out) error {
		var told, others []Remark
		var changes []Changed
		for n, c := range done {
			var was Item
			if n < len(i.Act.Targets) {
				was = i.Act.Targets[n]
			}
			r, did := changedBy(c, was)
			if !did {
				others = append(others, r)
				continue
			}
			told = append(told, r)
			if r.What != saySame && r.What != sayAlready {
				changes = append(changes, Changed{r.Items[0].ID, r.Items[0].Version})
			}
			if i.Act.Intent == understand.Create || i.Act.Intent == understand.Undo && len(done) == 1 {
				o.Metadata.AgentContext.LastTask = r.Items[0].ID
			}
		}
		if i.Act.Intent != understand.Undo {
			o.Metadata.changed(changes)
		} else if kept := o.Metadata.AgentContext.Changes; len(changes) == len(done) && len(kept) > 0 {
			o.Metadata.AgentContext.Changes = kept[:len(kept)-1]
		}
		if i.Act.rings() && len(changes) > 0 {
			told = append(told, Remark{What: sayNoRing})
		}
		o.Remarks = slices.Concat(o.Remarks, together(told), others)
		o.Told += len(done)
		o.Events = i.Act.selected()
		return nil
	}
	plan := func(i actIn) ([]bt.Request, error) { return i.Act.calls() }
	return bt.Task("CallTool", "Calls the tool of an act, for each of its tasks, with the versions that were seen.",
		plan, collect)
}

// changedBy tells what a call did to a task. did is false if it did nothing, or nobody knows.
func changedBy(c bt.Completion, was Item) (told Remark, did bool) {
	r, err := bt.ResultOf[agent.CallReceipt](c)
	switch {
	case c.Err != nil || err != nil:
		return Remark{What: sayUnsureDone, Title: was.Title}, false
	case r.Error != nil:
		return *refusal(r.Tool, r.Error, was), false
	}
	if r.Tool == toolOf(understand.Undo) {
		return undoneBy(r)
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
	return Remark{What: whatOf(r.Tool, was, data.Item, data.Already), Title: was.Title, Items: []Item{data.Item}}, true
}

// undoneBy tells what an undo made of a task.
func undoneBy(r agent.CallReceipt) (told Remark, did bool) {
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

// whatOf is what to say of a call that was carried out.
func whatOf(name string, was, now Item, already bool) string {
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

// refusal says in words for people why a tool did nothing; of a write that failed otherwise nobody knows whether it
// did.
func refusal(name string, e *tool.Error, was Item) *Remark {
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
	if name != toolOf(understand.List) {
		return &Remark{What: sayUnsureDone, Title: was.Title}
	}
	return &Remark{What: sayNotNow}
}

// timed finds words that tell of a time, in the languages that are read without a model. What it takes for one too
// often costs a sentence.
var timed = regexp.MustCompile(
	`(?i)[0-9]|(?:^|[^\pL])(at|in|on|by|before|after|until|when|once|tomorrow|today|tonight|next|every|noon|midnight|um|am|bis|vor|nach|wenn|` +
		`heute|morgen|abend|nächste[nrs]?|jeden|às|em|no|na|até|antes|depois|quando|hoje|amanhã|próxim[ao]|cada)(?:[^\pL]|$)`)

// rings says that the person asked to be reminded at a time, which nothing here does.
func (a *Act) rings() bool {
	return a.Intent == understand.Create && a.Entities.Reminder && (a.By != "" || timed.MatchString(a.Entities.Title))
}

// listing is the call of a list that a person wants. ids are those of the tasks that they named by their places.
func (a *Act) listing(ids []int64) []bt.Request {
	args := listArgs{Status: a.Entities.Status, IDs: ids}
	if r := a.Entities.Reference; r != nil && ids == nil {
		args.Query = r.Title
	}
	return []bt.Request{callOf("list_tasks", args)}
}

// places are the tasks that a list is wanted of, where it names them by position or as “it”, with their positions in
// the last list; 0: in none.
func (a *Act) places(m *Metadata) (ids []int64, at []int) {
	r := a.Entities.Reference
	if r == nil || len(r.Positions) == 0 && !r.It {
		return nil, nil
	}
	ids, _ = a.knownIDs(m)
	for _, id := range ids {
		at = append(at, slices.Index(m.listed(), id)+1)
	}
	return ids, at
}

func listTasks() bt.Leaf {
	type in struct {
		Act      Act      `port:"act"`
		Metadata Metadata `port:"metadata"`
	}
	type out struct {
		Remarks  []Remark   `port:"remarks"`
		Shown    []Item     `port:"shown" doc:"the tasks that are shown, in order"`
		Lists    int        `port:"lists" doc:"how many lists were shown in this turn"`
		Metadata Metadata   `port:"metadata" doc:"as the rest of the message refers to it"`
		Events   []bt.Typed `port:",events"`
	}
	plan := func(i in) ([]bt.Request, error) {
		ids, _ := i.Act.places(&i.Metadata)
		return i.Act.listing(ids), nil
	}
	collect := func(i in, done []bt.Completion, o *out) error {
		o.Events = i.Act.selected()
		p, err := listedPage(done[0])
		if err != nil {
			return err
		}
		if one := i.Act.detailed(&i.Metadata, p.Tasks); one != nil {
			o.Remarks = append(slices.Clip(o.Remarks), *one)
			if len(one.Items) == 1 {
				o.Metadata.AgentContext.LastTask = one.Items[0].ID
			}
			return nil
		}
		if i.Act.Entities.Reminder {
			o.Remarks = append(slices.Clip(o.Remarks), Remark{What: sayNoDates})
		}
		shown := i.Act.shown(&p)
		o.Remarks, o.Shown, o.Lists = append(slices.Clip(o.Remarks), shown), p.Tasks, o.Lists+1
		o.Metadata.showWithin(p.Tasks, p.Total > len(p.Tasks))
		if len(p.Tasks) == 1 {
			o.Metadata.AgentContext.LastTask = p.Tasks[0].ID
		}
		return nil
	}
	return bt.Task("ListTasks",
		"Lists tasks for the person, by list_tasks. Tasks that are named by their places are told with their "+
			"descriptions.", plan, collect)
}

// detailed tells of tasks that are named by their places, which no new list replaces; nil: of none.
func (a *Act) detailed(m *Metadata, found []Item) *Remark {
	r := a.Entities.Reference
	ids, at := a.places(m)
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

// shown is what is said of a list. A search gives what has one of the words; those with all of them are meant, if there
// are some.
func (a *Act) shown(p *page) Remark {
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
		shown.What = noneOf(a.Entities.Status)
	}
	shown.Items, shown.N = p.Tasks, p.Total
	return shown
}

// callTimeout bounds one call of a tool.
const callTimeout = 15 * time.Second

// theCall reads the call that an effect asks for.
func theCall(_ *run.View, job run.Job) (name, args string, call tool.Call, err error) {
	p, err := run.AskedOf[CallPayload](job)
	call.Version = p.Version
	if p.Row != "" {
		call.Confirmation = &tool.Confirmation{ID: p.Row, Digest: p.Digest}
	}
	return p.Tool, string(p.Args), call, err
}
