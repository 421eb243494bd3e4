package taskchat

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/redact"
	"sibyl/internal/taskchat/understand"
	"sibyl/internal/text/search"
)

// listArgs are the arguments of list_tasks that the agent uses.
type listArgs struct {
	Status string  `json:"status,omitempty"`
	Limit  int     `json:"limit,omitempty"`
	Query  string  `json:"query,omitempty"`
	IDs    []int64 `json:"task_ids,omitempty"`
}

// How many tasks are asked for: to choose from, to match words with, and to change at once.
const (
	mostOptions = 10
	mostMatched = 50
	mostChanged = 100
)

func lookUp() bt.Leaf {
	type in struct {
		Act      Act      `port:"act"`
		Metadata Metadata `port:"metadata"`
	}
	type out struct {
		Found []Item `port:"found" doc:"the tasks that it may be for, as they are"`
		Total int    `port:"total" doc:"how many there are, where not all were listed"`
	}
	plan := func(i in) ([]bt.Request, error) {
		return []bt.Request{callOf("list_tasks", i.Act.search(&i.Metadata))}, nil
	}
	collect := func(_ in, done []bt.Completion, o *out) error {
		page, err := listed(done[0])
		o.Found, o.Total = page.Tasks, page.Total
		return err
	}
	return bt.Task("LookUp", "Fetches the tasks that an act may be for, by list_tasks: what a position, “it” or a chosen option stands for, or what has words of the reference.",
		plan, collect)
}

// search is how the tasks are found that the act may be for.
func (a *Act) search(m *Metadata) listArgs {
	r := a.Entities.Reference
	ids, known := a.named(m)
	switch {
	case known:
		return listArgs{IDs: ids, Limit: len(ids)}
	case r != nil && r.Title != "":
		args := listArgs{Query: r.Title, Limit: mostMatched}
		if len(search.Words(r.Title)) == 0 {
			args = listArgs{Limit: mostChanged} // it is signs alone, which no search finds
		}
		if r.All || a.Intent == understand.Delete {
			args.Status = a.subject()
		}
		return args
	case r != nil && r.All:
		return listArgs{Status: a.subject(), Limit: mostChanged}
	}
	return listArgs{Status: pending, Limit: mostOptions}
}

// subject is the status of the tasks that an act on all of them is for.
func (a *Act) subject() string {
	switch {
	case a.Intent == understand.Complete:
		return pending
	case a.Intent == understand.Update && a.Entities.Status == pending:
		return completed
	case a.Intent == understand.Delete:
		return a.Entities.Status
	}
	return ""
}

// named are the ids of what the act is for, where they are known without a search; known is false where they are not.
func (a *Act) named(m *Metadata) (ids []int64, known bool) {
	r := a.Entities.Reference
	switch {
	case len(a.Targets) > 0:
		for _, t := range a.Targets {
			ids = append(ids, t.ID)
		}
		return ids, true
	case r == nil:
		return nil, false
	case r.All && r.Title == "" && a.subject() == "" || r.All && r.Title == "" && a.Intent != understand.Delete && len(m.TaskReferences) > 0:
		ids = m.shown()
		return ids, len(ids) > 0
	case len(r.Positions) > 0:
		for _, p := range r.Positions {
			id, ok := m.at(p)
			if !ok {
				return nil, false
			}
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		return ids, true
	case r.It && m.AgentContext.LastTask != 0:
		return []int64{m.AgentContext.LastTask}, true
	}
	return nil, false
}

func resolveLeaf() bt.Leaf {
	type in struct {
		Found []Item `port:"found"`
		Total int    `port:"total"`
		Lists int    `port:"lists,optional"`
	}
	type out struct {
		Metadata  Metadata   `port:"metadata" doc:"with the task as the one that was spoken of"`
		Act       Act        `port:"act" doc:"with the tasks that it is for"`
		Exact     bool       `port:"exact" doc:"these are exactly the tasks that were meant; else it was asked, or told why not, unless nothing was found"`
		None      bool       `port:"none" doc:"nothing was found that could be meant"`
		Remarks   []Remark   `port:"remarks"`
		Questions []Question `port:"questions"`
		Events    []bt.Typed `port:",events"`
	}
	return bt.Func("Resolve", "Finds exactly the tasks that were meant, or asks which.", func(i in, o *out) error {
		r := resolution(&o.Act, &o.Metadata, i.Found, i.Total, i.Lists > 0 && len(o.Metadata.TaskReferences) == 0)
		if o.Act.Intent == understand.Update && o.Act.Entities.Title != "" && len(r.targets) > 1 {
			r = resolved{why: whyOneTitle.With(), ask: o.Act.which(Remark{What: sayWhich}, r.targets)}
		}
		o.Exact, o.None = r.ask == nil && len(r.targets) > 0, r.none
		o.Metadata.AgentContext.LastTask = 0
		if len(r.targets) == 1 {
			o.Metadata.AgentContext.LastTask = r.targets[0].ID
		}
		if r.say != nil {
			o.Remarks = append(slices.Clip(o.Remarks), *r.say)
		}
		var more asked
		more.Questions = o.Questions
		if r.ask != nil {
			more.ask(*r.ask)
		}
		if o.Exact {
			o.Act.Targets, o.Act.Row = r.targets, r.row
		}
		o.Questions = more.Questions
		o.Events = append(more.Events, TaskResolved{Reference: o.Act.reference(), Tasks: titles(r.targets), Why: r.why})
		return nil
	})
}

func offerOthers() bt.Leaf {
	type out struct {
		Remarks   []Remark   `port:"remarks"`
		Questions []Question `port:"questions"`
		Events    []bt.Typed `port:",events"`
	}
	plan := func(i actIn) ([]bt.Request, error) {
		return []bt.Request{callOf("list_tasks", listArgs{Status: i.Act.subject(), Limit: mostOptions})}, nil
	}
	collect := func(i actIn, done []bt.Completion, o *out) error {
		p, err := listed(done[0])
		if err != nil {
			return err
		}
		title := i.Act.Entities.Reference.Title
		if len(p.Tasks) == 0 || p.Total > len(p.Tasks) { // there are none, or too many to choose from
			o.Remarks = append(slices.Clip(o.Remarks), Remark{What: sayNoneFound, Title: title})
			return nil
		}
		more := asked{Questions: o.Questions}
		more.ask(*i.Act.which(Remark{What: sayNoneLike, Title: title}, p.Tasks))
		o.Questions, o.Events = more.Questions, more.Events
		return nil
	}
	return bt.Task("OfferOthers", "Asks which of the tasks that there are was meant, where none has the words; if they are few.", plan, collect)
}

// reference is how the person named what the act is for.
func (a *Act) reference() string {
	if a.Entities.Reference == nil {
		return ""
	}
	return a.Entities.Reference.Words
}

// Why words mean these tasks, or not exactly one.
const (
	whyOneTitle   bt.Reason = "several can't have one title"
	whyTooMany    bt.Reason = "too many"
	whyNone       bt.Reason = "there is none"
	whyNoTask     bt.Reason = "there is no task"
	whyNoPosition bt.Reason = "no such position"
	whyUnsaid     bt.Reason = "it is not said which"
	whyChosen     bt.Reason = "as it was chosen"
	whyGone       bt.Reason = "gone"
	whyShown      bt.Reason = "as the last list shows"
	whyBoth       bt.Reason = "“both” of %d tasks"
	whyAll        bt.Reason = "all of them"
	whyExcept     bt.Reason = "it is not clear what is excepted"
	whyNoneLeft   bt.Reason = "nothing is left"
	whyAllBut     bt.Reason = "all but what was excepted"
	whyRedacted   bt.Reason = "what was taken out can't be compared"
	whyNoTitle    bt.Reason = "no title has all of these words"
	whyNoWords    bt.Reason = "no task has these words"
	whyOnly       bt.Reason = "the only title with these words"
	whySeveral    bt.Reason = "%d titles have these words"
)

func whys() []bt.Reason {
	return []bt.Reason{whyOneTitle, whyTooMany, whyNone, whyNoTask, whyNoPosition, whyUnsaid, whyChosen, whyGone, whyShown, whyBoth, whyAll, whyExcept, whyNoneLeft, whyAllBut, whyRedacted, whyNoTitle, whyNoWords, whyOnly, whySeveral}
}

// resolved is what a reference comes to: targets, or a question, or neither; and something to say.
type resolved struct {
	targets []Item
	row     string // under which the act may go on
	why     string
	none    bool // nothing was found that could be meant
	say     *Remark
	ask     *Question
}

// resolution finds the tasks that an act is for among those that were found. unclear says that nobody knows which list is meant.
func resolution(a *Act, m *Metadata, found []Item, total int, unclear bool) resolved {
	r := a.Entities.Reference
	ids, known := a.named(m)
	switch {
	case len(a.Targets) > 0:
		return a.verified(found)
	case known:
		return a.among(m, ids, found)
	case r != nil && r.All && total > len(found):
		return resolved{why: whyTooMany.With(), say: &Remark{What: sayTooManyTasks, N: mostChanged}}
	case r != nil && r.Title != "":
		return a.matched(m, r, found, total)
	case r != nil && r.All && len(found) == 0:
		return resolved{why: whyNone.With(), say: &Remark{What: noneOf(a.subject())}}
	case r != nil && r.All && !unclear:
		return a.except(m, r, found)
	case len(found) == 0 && len(m.TaskReferences) == 0:
		return resolved{why: whyNoTask.With(), say: &Remark{What: sayNoTasks}}
	case r != nil && len(r.Positions) > 0 && len(m.TaskReferences) > 0:
		return resolved{why: whyNoPosition.With(), say: &Remark{What: sayNoPosition, N: len(m.TaskReferences)}}
	}
	return resolved{why: whyUnsaid.With(), ask: a.which(Remark{What: sayWhich}, found)}
}

// verified holds what the person chose or confirmed against what there is.
func (a *Act) verified(found []Item) resolved {
	r := resolved{row: a.Row, why: whyChosen.With()}
	var gone []Item
	for _, was := range a.Targets {
		at := slices.IndexFunc(found, func(t Item) bool { return t.ID == was.ID })
		if at < 0 {
			gone = append(gone, was)
			continue
		}
		now := found[at]
		switch {
		case now.Version == was.Version:
		case a.Intent == understand.Delete:
			r.row = "" // the yes was to another version
		case a.Intent == understand.Complete && now.Status != completed, a.hasValue():
			now = was // which the tool refuses, since it has changed
		}
		r.targets = append(r.targets, now)
	}
	if len(gone) > 0 {
		r.say = &Remark{What: sayGone, Items: gone}
	}
	return r
}

// among takes known ids, all of which have to be there.
func (a *Act) among(m *Metadata, ids []int64, found []Item) resolved {
	var targets []Item
	for _, id := range ids {
		at := slices.IndexFunc(found, func(t Item) bool { return t.ID == id })
		if at < 0 && a.Entities.Reference.All {
			continue // it is gone since it was shown, and nothing is left to be done with it
		}
		if at < 0 {
			return resolved{why: whyGone.With(), say: &Remark{What: sayStale, Text: a.reference()}}
		}
		targets = append(targets, found[at])
	}
	if len(targets) == 0 {
		return resolved{why: whyGone.With(), say: &Remark{What: sayStale, Text: a.reference()}}
	}
	if a.Entities.Reference.All {
		return a.except(m, a.Entities.Reference, targets)
	}
	return resolved{targets: targets, why: whyShown.With()}
}

// except leaves out what was excepted. Of other than two tasks, “both” says not which.
func (a *Act) except(m *Metadata, r *understand.Reference, all []Item) resolved {
	if r.Both && len(all) != 2 {
		return resolved{why: whyBoth.With(len(all)), ask: a.which(Remark{What: sayWhich}, all)}
	}
	if r.Except == nil {
		return resolved{targets: a.undone(all), why: whyAll.With()}
	}
	out := excepted(m, r.Except, all)
	if out == nil {
		return resolved{why: whyExcept.With(), say: &Remark{What: sayNotExcepted, Text: r.Except.Words}}
	}
	var left []Item
	for _, t := range all {
		if !slices.Contains(out, t.ID) {
			left = append(left, t)
		}
	}
	if len(left) == 0 {
		return resolved{why: whyNoneLeft.With(), say: &Remark{What: noneOf(a.subject())}}
	}
	return resolved{targets: a.undone(left), why: whyAllBut.With()}
}

// undone leaves out what is completed already where all of some tasks are to be completed, unless there is nothing else.
func (a *Act) undone(all []Item) []Item {
	open := slices.DeleteFunc(slices.Clone(all), func(t Item) bool { return t.Status == completed })
	if a.Intent != understand.Complete || len(open) == 0 {
		return all
	}
	return open
}

// excepted are the ids of what is to be left out; nil if that is not clear. Positions are those of the last list shown, as everywhere.
func excepted(m *Metadata, r *understand.Reference, all []Item) (ids []int64) {
	if known, ok := (&Act{Entities: understand.Entities{Reference: r}}).named(m); ok && !r.All {
		return known
	}
	if best := matches(r.Title, all); len(best) == 1 {
		ids = []int64{best[0].ID}
	}
	return ids
}

// matched takes the one task whose title the words name. Of several, a task is completed that is not completed yet.
func (a *Act) matched(m *Metadata, r *understand.Reference, found []Item, total int) resolved {
	some := matches(r.Title, found)
	if a.Intent == understand.Complete && len(some) > 1 {
		if open := slices.DeleteFunc(slices.Clone(some), func(t Item) bool { return t.Status == completed }); len(open) > 0 {
			some = open
		}
	}
	switch {
	case len(some) > 0 && strings.Contains(r.Title, redact.Mark):
		return resolved{why: whyRedacted.With(), ask: a.which(Remark{What: sayWhich}, some)}
	case len(some) == 0 && len(found) > 0:
		return resolved{why: whyNoTitle.With(), ask: a.which(Remark{What: sayNoneLike, Title: r.Title}, found)}
	case len(some) == 0:
		return resolved{why: whyNoWords.With(), none: true}
	case r.All:
		return a.except(m, r, some)
	case len(some) == 1:
		return resolved{targets: some, why: whyOnly.With()}
	}
	n := len(some)
	if total > len(found) {
		n = total
	}
	return resolved{why: whySeveral.With(n), ask: a.which(Remark{What: saySeveral, Title: r.Title, N: n}, some)}
}

// which asks which of these tasks is meant.
func (a *Act) which(text Remark, some []Item) *Question {
	q := &Question{Kind: askChoose, Text: text, Act: *a}
	for _, t := range some[:min(len(some), mostOptions)] {
		one := *a
		one.Targets, one.Chosen = []Item{t}, true
		q.Options = append(q.Options, Option{label(t), one})
	}
	return q
}

func label(t Item) string {
	if t.Status == completed {
		return t.Title + " ✓"
	}
	return t.Title
}

func titles(tasks []Item) (all []string) {
	for _, t := range tasks {
		all = append(all, t.Title)
	}
	return all
}

// matches are the tasks whose titles words name: those that are called so, else those with all of the words.
func matches(words string, tasks []Item) (some []Item) {
	for _, n := range matching(words, titles(tasks)) {
		some = append(some, tasks[n])
	}
	return some
}

// matching are the titles, from 0, that words name: those that are the words, else those without their accents, small words and endings, else
// those with all of the words.
func matching(words string, titles []string) (exact []int) {
	for n, title := range titles {
		if strings.EqualFold(title, words) {
			exact = append(exact, n)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	wanted := stems(words)
	if len(wanted) == 0 {
		return nil
	}
	var all []int
	for n, title := range titles {
		has := stems(title)
		switch {
		case slices.Equal(has, wanted):
			exact = append(exact, n)
		case !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(has, w) }):
			all = append(all, n)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return all
}

// stems are the words of a text that carry meaning, without their endings; all of them if none does.
func stems(text string) (kept []string) {
	words := search.Words(text)
	for _, word := range words {
		if !search.IsStop(word) {
			kept = append(kept, search.Stem(word))
		}
	}
	if len(kept) == 0 {
		return words
	}
	return kept
}

// page is what list_tasks gives.
type page struct {
	Tasks []Item `json:"tasks"`
	Total int    `json:"total"`
}

// listed reads the result of list_tasks.
func listed(c bt.Completion) (p page, err error) {
	r, err := bt.ResultOf[agent.CallReceipt](c)
	switch {
	case c.Err != nil:
		return p, c.Err
	case err != nil:
		return p, err
	case r.Error != nil:
		return p, &bt.Fault{Kind: string(r.Error.Kind), Reason: r.Error.Error()}
	}
	return p, dataOf(r, &p)
}

// dataOf reads the data of a result of the documented shape.
func dataOf(r agent.CallReceipt, into any) error {
	var body struct {
		Data json.RawMessage `json:"data"`
	}
	if r.Result == nil {
		return fmt.Errorf("%s gave nothing", r.Tool)
	}
	if err := json.Unmarshal(r.Result.Data, &body); err != nil {
		return fmt.Errorf("result of %s: %w", r.Tool, err)
	}
	if err := json.Unmarshal(body.Data, into); err != nil {
		return fmt.Errorf("data of %s: %w", r.Tool, err)
	}
	return nil
}
