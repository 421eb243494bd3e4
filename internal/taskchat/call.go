package taskchat

import (
	"encoding/json"
	"slices"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/run"
	"sibyl/internal/taskchat/understand"
	"sibyl/internal/tool"
)

// EffectCall is the kind of effect that calls a tool.
const EffectCall = "tool.call"

// CallPayload asks for a call. Version is that of the task as it was seen; Row is the pending row by which the person confirmed it, and Digest
// what they confirmed (tool.Subject).
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
	for _, t := range targets {
		args := changeArgs{ID: t.ID}
		if a.Intent == understand.Create || a.Intent == understand.Update {
			args.Title, args.Status = a.Entities.Title, a.Entities.Status
			if a.Entities.HasDescription {
				args.Description = &a.Entities.Description
			}
		}
		if a.Intent == understand.Create {
			args.Status = ""
		}
		p := CallPayload{Tool: toolOf(a.Intent), Version: t.Version, Row: a.Row}
		if p.Args, err = json.Marshal(args); err != nil {
			return nil, err
		}
		if a.Row != "" {
			if p.Digest, err = tool.Subject(p.Tool, p.Args, p.Version); err != nil {
				return nil, err
			}
		}
		all = append(all, bt.Request{Kind: EffectCall, Label: p.Tool + " ‘" + t.Title + "’", Payload: p, Once: true})
	}
	return all, nil
}

// selected tells of the calls that an act comes to.
func (a *Act) selected() (events []bt.Typed) {
	calls, _ := a.calls() // which were planned
	if a.Intent == understand.List {
		calls = a.listing()
	}
	var others []Scored
	for _, other := range a.Alternatives {
		if name := toolOf(other.Intent); name != "" {
			others = append(others, Scored{name, other.Confidence})
		}
	}
	for _, c := range calls {
		p := c.Payload.(CallPayload)
		events = append(events, ToolSelected{ToolSelectionResult{ToolName: p.Tool, Confidence: a.Confidence, Parameters: p.Args,
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
		var changed, others []Remark
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
			changed = append(changed, r)
			if i.Act.Intent == understand.Create {
				o.Metadata.AgentContext.LastTask = r.Items[0].ID
			}
		}
		o.Remarks = slices.Concat(o.Remarks, together(changed), others)
		o.Told += len(done)
		o.Events = i.Act.selected()
		return nil
	}
	plan := func(i actIn) ([]bt.Request, error) { return i.Act.calls() }
	return bt.Task("CallTool", "Calls the tool of an act, for each of its tasks, with the versions that were seen.", plan, collect)
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
	var data struct {
		Item
		Already bool `json:"already_completed"`
	}
	if err := dataOf(r, &data); err != nil {
		return Remark{What: sayUnsureDone, Title: was.Title}, false
	}
	if data.Title == "" { // a deletion need not tell what it was
		data.Item = was
	}
	return Remark{What: whatOf(r.Tool, was, data.Item, data.Already), Title: was.Title, Items: []Item{data.Item}}, true
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

// refusal says in words for people why a tool did nothing; of a write that failed otherwise nobody knows whether it did.
func refusal(name string, e *tool.Error, was Item) *Remark {
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

// listing is the call of a list that a person wants.
func (a *Act) listing() []bt.Request {
	args := listArgs{Status: a.Entities.Status}
	if r := a.Entities.Reference; r != nil {
		args.Query = r.Title
	}
	return []bt.Request{callOf("list_tasks", args)}
}

func listTasks() bt.Leaf {
	type out struct {
		Remarks  []Remark   `port:"remarks"`
		Shown    []Item     `port:"shown" doc:"the tasks that are shown, in order"`
		Lists    int        `port:"lists" doc:"how many lists were shown in this turn"`
		Metadata Metadata   `port:"metadata" doc:"as the rest of the message refers to it"`
		Events   []bt.Typed `port:",events"`
	}
	plan := func(i actIn) ([]bt.Request, error) { return i.Act.listing(), nil }
	collect := func(i actIn, done []bt.Completion, o *out) error {
		o.Events = i.Act.selected()
		p, err := listed(done[0])
		if err != nil {
			return err
		}
		r := i.Act.Entities.Reference
		if r != nil && r.Title != "" { // a search gives what has one of the words; those with all of them are meant, if there are some
			if exact := matches(r.Title, p.Tasks); len(exact) > 0 {
				p.Tasks, p.Total = exact, len(exact)
			}
		}
		what := sayList
		switch {
		case len(p.Tasks) == 0 && r != nil && r.Title != "":
			what = sayNoneFound
		case len(p.Tasks) == 0:
			what = noneOf(i.Act.Entities.Status)
		}
		shown := Remark{What: what, Items: p.Tasks, N: p.Total}
		if r != nil {
			shown.Title = r.Title
		}
		o.Remarks, o.Shown, o.Lists = append(slices.Clip(o.Remarks), shown), p.Tasks, o.Lists+1
		o.Metadata.showWithin(p.Tasks, p.Total > len(p.Tasks))
		if len(p.Tasks) == 1 {
			o.Metadata.AgentContext.LastTask = p.Tasks[0].ID
		}
		return nil
	}
	return bt.Task("ListTasks", "Lists tasks for the person, by list_tasks.", plan, collect)
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
