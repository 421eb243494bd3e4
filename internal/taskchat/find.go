package taskchat

import (
	"cmp"
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
		Found  []Item `port:"found" doc:"the tasks that it may be for, as they are"`
		Total  int    `port:"total" doc:"how many there are, where not all were listed"`
		Others []Item `port:"others" doc:"what may be meant where none has the words; none if they are too many to choose from"`
	}
	plan := func(i in) ([]bt.Request, error) {
		sought := i.Act.search(&i.Metadata)
		all := []bt.Request{callOf("list_tasks", sought)}
		if sought.Query != "" {
			all = append(all, callOf("list_tasks", listArgs{Status: i.Act.subject(), Limit: mostOptions}))
		}
		return all, nil
	}
	collect := func(_ in, done []bt.Completion, o *out) error {
		p, err := listed(done[0])
		if o.Found, o.Total, o.Others = p.Tasks, p.Total, nil; err != nil || len(done) == 1 {
			return err
		}
		if p, err = listed(done[1]); p.Total == len(p.Tasks) {
			o.Others = p.Tasks
		}
		return err
	}
	const doc = "Fetches the tasks that an act may be for, by list_tasks: what a position, “it” or a chosen option " +
		"stands for, or what has words of the reference."
	return bt.Task("LookUp", doc, plan, collect)
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
	return listArgs{Status: cmp.Or(a.subject(), pending), Limit: mostOptions}
}

// subject is the status of the tasks that an act on all of them is for.
func (a *Act) subject() string {
	switch {
	case a.Intent == understand.Complete:
		return pending
	case a.Intent == understand.Update && a.Entities.Status == pending: // they are opened again
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
	case r.All && r.Title == "" && a.subject() == "" || r.All && r.Title == "" && a.Intent != understand.Delete &&
		len(m.TaskReferences) > 0:
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
		Found  []Item `port:"found"`
		Total  int    `port:"total"`
		Others []Item `port:"others"`
		Lists  int    `port:"lists,optional"`
	}
	type out struct {
		Metadata  Metadata   `port:"metadata" doc:"with the task as the one that was spoken of"`
		Act       Act        `port:"act" doc:"with the tasks that it is for"`
		Exact     bool       `port:"exact" doc:"these are exactly the tasks that were meant; else it was asked, or told why not"`
		Remarks   []Remark   `port:"remarks"`
		Questions []Question `port:"questions"`
		Events    []bt.Typed `port:",events"`
	}
	return bt.Func("Resolve", "Finds exactly the tasks that were meant, or asks which.", func(i in, o *out) error {
		f := finding{&o.Act, &o.Metadata, i.Found, i.Total, i.Others}
		r := f.resolve(i.Lists > 0 && len(o.Metadata.TaskReferences) == 0)
		if o.Act.Intent == understand.Update && o.Act.Entities.Title != "" && len(r.targets) > 1 {
			r = resolved{why: whyOneTitle.With(), ask: o.Act.which(Remark{What: sayWhich}, r.targets)}
		}
		o.Exact, o.Metadata.AgentContext.LastTask = r.ask == nil && len(r.targets) > 0, 0
		if len(r.targets) == 1 {
			o.Metadata.AgentContext.LastTask = r.targets[0].ID
		}
		if r.say != nil {
			o.Remarks = append(slices.Clip(o.Remarks), *r.say)
		}
		more := asked{Questions: o.Questions}
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

// reference is how the person named what the act is for.
func (a *Act) reference() string {
	if a.Entities.Reference == nil {
		return ""
	}
	return a.Entities.Reference.Words
}

// Why words mean these tasks, or not exactly one.
const (
	whyOneTitle   bt.Reason = "task.one_title: several can't have one title"
	whyTooMany    bt.Reason = "task.too_many: too many"
	whyNone       bt.Reason = "task.none: there is none"
	whyNoTask     bt.Reason = "task.no_task: there is no task"
	whyNoPosition bt.Reason = "task.no_position: no such position"
	whyUnsaid     bt.Reason = "task.unsaid: it is not said which"
	whyChosen     bt.Reason = "task.chosen: as it was chosen"
	whyGone       bt.Reason = "task.gone: gone"
	whyShown      bt.Reason = "task.shown: as the last list shows"
	whyBoth       bt.Reason = "task.both: “both” of {n} tasks"
	whyAll        bt.Reason = "task.all: all of them"
	whyExcept     bt.Reason = "task.except: it is not clear what is excepted"
	whyNoneLeft   bt.Reason = "task.none_left: nothing is left"
	whyAllBut     bt.Reason = "task.all_but: all but what was excepted"
	whyRedacted   bt.Reason = "task.redacted: what was taken out can't be compared"
	whyNoTitle    bt.Reason = "task.no_title: no title has all of these words"
	whyNoWords    bt.Reason = "task.no_words: no task has these words"
	whyOnly       bt.Reason = "task.only: the only title with these words"
	whySeveral    bt.Reason = "task.several: {n} titles have these words"
	wrongMessage  bt.Reason = "request.message: the task assistant can't take this message: it needs some words, " +
		"at most {most} characters"
)

func whys() []bt.Reason {
	return append(stories(), whyOneTitle, whyTooMany, whyNone, whyNoTask, whyNoPosition, whyUnsaid, whyChosen, whyGone,
		whyShown, whyBoth, whyAll, whyExcept, whyNoneLeft, whyAllBut, whyRedacted, whyNoTitle, whyNoWords, whyOnly,
		whySeveral, wrongMessage)
}

// resolved is what a reference comes to: targets, or a question, or neither; and something to say.
type resolved struct {
	targets []Item
	row     string // under which the act may go on
	why     bt.Why
	say     *Remark
	ask     *Question
}

// finding is an act with the tasks that it may be for. total is how many there are, and others what may be meant where
// none has the words.
type finding struct {
	*Act
	m      *Metadata
	found  []Item
	total  int
	others []Item
}

// tells is a finding of nothing, with what is said of it.
func tells(why bt.Reason, say Remark) resolved { return resolved{why: why.With(), say: &say} }

// resolve finds the tasks that an act is for. unclear says that nobody knows which list is meant.
func (f *finding) resolve(unclear bool) resolved {
	r := f.Entities.Reference
	ids, known := f.named(f.m)
	switch {
	case len(f.Targets) > 0:
		return f.verified()
	case known:
		return f.among(ids)
	case r != nil && r.All && f.total > len(f.found):
		return tells(whyTooMany, Remark{What: sayTooManyTasks, N: mostChanged})
	case r != nil && r.Title != "":
		return f.matched(r)
	case r != nil && r.All && len(f.found) == 0:
		return tells(whyNone, Remark{What: noneOf(f.subject())})
	case r != nil && r.All && !unclear:
		return f.except(f.found)
	case r != nil && len(r.Positions) > 0 && len(f.m.TaskReferences) > 0:
		return tells(whyNoPosition, Remark{What: sayNoPosition, N: len(f.m.TaskReferences)})
	case len(f.found) == 0:
		return tells(whyNoTask, Remark{What: noneOf(cmp.Or(f.subject(), pending))})
	}
	return resolved{why: whyUnsaid.With(), ask: f.which(Remark{What: sayWhich}, f.found)}
}

// of is the task of an id as it is; nil if it is gone.
func (f *finding) of(id int64) *Item {
	at := slices.IndexFunc(f.found, func(t Item) bool { return t.ID == id })
	if at < 0 {
		return nil
	}
	return &f.found[at]
}

// verified holds what the person chose or confirmed against what there is.
func (f *finding) verified() resolved {
	r := resolved{row: f.Row, why: whyChosen.With()}
	var gone []Item
	for _, was := range f.Targets {
		now := f.of(was.ID)
		switch {
		case now == nil:
			gone = append(gone, was)
			continue
		case now.Version == was.Version:
		case f.Intent == understand.Delete:
			r.row, r.say = "", &Remark{What: sayChangedSince, Title: was.Title} // the yes was to another version
		case f.Intent == understand.Complete && now.Status != completed, f.hasValue():
			now = &was // which the tool refuses, since it has changed
		}
		r.targets = append(r.targets, *now)
	}
	if len(gone) > 0 {
		r.say = &Remark{What: sayGone, Items: gone}
	}
	return r
}

// among takes known ids, all of which have to be there; of “all” those that are.
func (f *finding) among(ids []int64) resolved {
	var targets []Item
	for _, id := range ids {
		if now := f.of(id); now != nil {
			targets = append(targets, *now)
		}
	}
	all := f.Entities.Reference.All
	switch {
	case len(targets) == 0, len(targets) < len(ids) && !all:
		return tells(whyGone, Remark{What: sayStale, Text: f.reference()})
	case all:
		return f.except(targets)
	}
	return resolved{targets: targets, why: whyShown.With()}
}

// except leaves out what was excepted. Of other than two tasks, “both” says not which.
func (f *finding) except(all []Item) resolved {
	r := f.Entities.Reference
	switch {
	case r.Both && len(all) != 2:
		return resolved{why: whyBoth.With(len(all)), ask: f.which(Remark{What: sayWhich}, all)}
	case r.Except == nil:
		return resolved{targets: f.undone(all), why: whyAll.With()}
	}
	// by the last list shown, as everywhere
	out, known := (&Act{Entities: understand.Entities{Reference: r.Except}}).named(f.m)
	if best := matches(r.Except.Title, all); !known && len(best) == 1 {
		out = []int64{best[0].ID}
	}
	if len(out) == 0 || r.Except.All {
		return tells(whyExcept, Remark{What: sayNotExcepted, Text: r.Except.Words})
	}
	left := slices.DeleteFunc(slices.Clone(all), func(t Item) bool { return slices.Contains(out, t.ID) })
	if len(left) == 0 {
		return tells(whyNoneLeft, Remark{What: noneOf(f.subject())})
	}
	return resolved{targets: f.undone(left), why: whyAllBut.With()}
}

// undone leaves out what is as it is to be already, unless there is nothing else.
func (f *finding) undone(all []Item) []Item {
	status := f.subject()
	left := slices.DeleteFunc(slices.Clone(all), func(t Item) bool { return t.Status != status })
	if f.Intent == understand.Delete || status == "" || len(left) == 0 {
		return all
	}
	return left
}

// matched takes the one task whose title the words name. Of several, a task is completed that is not completed yet, and
// opened again that is.
func (f *finding) matched(r *understand.Reference) resolved {
	some := matches(r.Title, f.found)
	if len(some) > 1 {
		some = f.undone(some)
	}
	n := len(some)
	switch {
	case n > 0 && strings.Contains(r.Title, redact.Mark):
		return resolved{why: whyRedacted.With(), ask: f.which(Remark{What: sayWhich}, some)}
	case n == 0 && len(f.found)+len(f.others) == 0:
		return tells(whyNoWords, Remark{What: sayNoneFound, Title: r.Title})
	case n == 0:
		some = f.found
		if len(some) == 0 {
			some = f.others
		}
		return resolved{why: whyNoTitle.With(), ask: f.which(Remark{What: sayNoneLike, Title: r.Title}, some)}
	case r.All:
		return f.except(some)
	case n == 1:
		return resolved{targets: some, why: whyOnly.With()}
	case f.total > len(f.found):
		n = f.total
	}
	return resolved{why: whySeveral.With(n), ask: f.which(Remark{What: saySeveral, Title: r.Title, N: n}, some)}
}

// which asks which of these tasks is meant.
func (a *Act) which(text Remark, some []Item) *Question {
	q := &Question{Kind: understand.KindChoose, Text: text, Act: *a}
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

// matching are the titles, from 0, that words name: those that are the words, else those without their accents, small
// words and endings, else those with all of the words.
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
