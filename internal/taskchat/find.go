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

// listArgs are the arguments of list_tasks that this package uses.
type listArgs struct {
	Status string  `json:"status,omitempty"`
	Limit  int     `json:"limit,omitempty"`
	Query  string  `json:"query,omitempty"`
	IDs    []int64 `json:"task_ids,omitempty"`
}

// How many tasks are listed at most: to choose from, to match words with, and to change at once.
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
		sought := i.Act.searchArgs(&i.Metadata)
		all := []bt.Request{requestList(sought)}
		if sought.Query != "" {
			all = append(all, requestList(listArgs{Status: i.Act.statusOfTargets(), Limit: mostOptions}))
		}
		return all, nil
	}
	collect := func(_ in, done []bt.Completion, o *out) error {
		p, err := listedPage(done[0])
		if o.Found, o.Total, o.Others = p.Tasks, p.Total, nil; err != nil || len(done) == 1 {
			return err
		}
		if p, err = listedPage(done[1]); p.Total == len(p.Tasks) {
			o.Others = p.Tasks
		}
		return err
	}
	const doc = "Fetches the tasks that an act may be for, by list_tasks: what a position, “it” or a chosen option " +
		"stands for, or what has words of the reference."
	return bt.Task("LookUp", doc, plan, collect)
}

// searchArgs are the arguments of list_tasks that find the tasks an act may be for.
func (a *Act) searchArgs(m *Metadata) listArgs {
	r := a.Entities.Reference
	ids, known := a.knownIDs(m)
	switch {
	case known:
		return listArgs{IDs: ids, Limit: len(ids)}
	case r != nil && r.Title != "":
		args := listArgs{Query: r.Title, Limit: mostMatched}
		if len(search.Words(r.Title)) == 0 {
			args = listArgs{Limit: mostChanged} // the title has only signs, which no search finds
		}
		if r.All || a.Intent == understand.Delete {
			args.Status = a.statusOfTargets()
		}
		return args
	case r != nil && r.All:
		return listArgs{Status: a.statusOfTargets(), Limit: mostChanged}
	}
	return listArgs{Status: cmp.Or(a.statusOfTargets(), pending), Limit: mostOptions}
}

// statusOfTargets is the status that tasks must have for an act on all of them; "": any.
func (a *Act) statusOfTargets() string {
	switch {
	case a.Intent == understand.Complete:
		return pending
	case a.Intent == understand.Update && a.Entities.Status == pending: // the tasks are to be reopened
		return completed
	case a.Intent == understand.Delete:
		return a.Entities.Status
	}
	return ""
}

// knownIDs are the ids of the tasks that the act is for, if they are known without a search.
func (a *Act) knownIDs(m *Metadata) (ids []int64, known bool) {
	r := a.Entities.Reference
	switch {
	case len(a.Targets) > 0:
		for _, t := range a.Targets {
			ids = append(ids, t.ID)
		}
		return ids, true
	case r == nil:
		return nil, false
	case r.All && r.Title == "" && a.statusOfTargets() == "" || r.All && r.Title == "" && a.Intent != understand.Delete &&
		len(m.TaskReferences) > 0:
		ids = m.wholeList()
		return ids, len(ids) > 0
	case len(r.Positions) > 0:
		for _, p := range r.Positions {
			id, ok := m.idAtPosition(p)
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
		Found      []Item `port:"found"`
		Total      int    `port:"total"`
		Others     []Item `port:"others"`
		ListsShown int    `port:"lists,optional"`
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
		f := candidates{&o.Act, &o.Metadata, i.Found, i.Total, i.Others}
		r := f.resolve(i.ListsShown > 0 && len(o.Metadata.TaskReferences) == 0)
		if o.Act.Intent == understand.Update && o.Act.Entities.Title != "" && len(r.targets) > 1 {
			r = resolution{why: whyOneTitle.With(), ask: o.Act.questionWhich(Remark{What: sayWhich}, r.targets)}
		}
		o.Exact, o.Metadata.AgentContext.LastTask = r.ask == nil && len(r.targets) > 0, 0
		if len(r.targets) == 1 {
			o.Metadata.AgentContext.LastTask = r.targets[0].ID
		}
		if r.say != nil {
			o.Remarks = append(slices.Clip(o.Remarks), *r.say)
		}
		added := askingOut{Questions: o.Questions}
		if r.ask != nil {
			added.ask(*r.ask)
		}
		if o.Exact {
			o.Act.Targets, o.Act.Row = r.targets, r.row
		}
		o.Questions = added.Questions
		o.Events = append(added.Events, TaskResolved{Reference: o.Act.reference(), Tasks: titles(r.targets), Why: r.why})
		return nil
	})
}

// reference is the words with which the user named the tasks.
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
	return append(eventReasons(), storyReply, whyOneTitle, whyTooMany, whyNone, whyNoTask, whyNoPosition, whyUnsaid,
		whyChosen, whyGone, whyShown, whyBoth, whyAll, whyExcept, whyNoneLeft, whyAllBut, whyRedacted, whyNoTitle,
		whyNoWords, whyOnly,
		whySeveral, wrongMessage)
}

// resolution is the result for a reference: targets, a question, or neither; and a remark, if there is one.
type resolution struct {
	targets []Item
	row     string // the pending row that allows the act
	why     bt.Why
	say     *Remark
	ask     *Question
}

// candidates is an act with the found tasks that it may be for. total is how many tasks match; others may be meant if
// none has the words.
type candidates struct {
	*Act
	m      *Metadata
	found  []Item
	total  int
	others []Item
}

// remarkOnly is a result without tasks, and the remark to show.
func remarkOnly(why bt.Reason, say Remark) resolution { return resolution{why: why.With(), say: &say} }

// resolve decides which tasks an act is for. unclear says that “all” may mean a list that was shown in this turn.
func (f *candidates) resolve(unclear bool) resolution {
	r := f.Entities.Reference
	ids, known := f.knownIDs(f.m)
	switch {
	case len(f.Targets) > 0:
		return f.chosenTasks()
	case known:
		return f.tasksWithIDs(ids)
	case r != nil && r.All && f.total > len(f.found):
		return remarkOnly(whyTooMany, Remark{What: sayTooManyTasks, N: mostChanged})
	case r != nil && r.Title != "":
		return f.matchTitle(r)
	case r != nil && r.All && len(f.found) == 0:
		return remarkOnly(whyNone, Remark{What: noTasksKey(f.statusOfTargets())})
	case r != nil && r.All && !unclear:
		return f.withoutExcepted(f.found)
	case r != nil && len(r.Positions) > 0 && len(f.m.TaskReferences) > 0:
		return remarkOnly(whyNoPosition, Remark{What: sayNoPosition, N: len(f.m.TaskReferences)})
	case len(f.found) == 0:
		return remarkOnly(whyNoTask, Remark{What: noTasksKey(cmp.Or(f.statusOfTargets(), pending))})
	}
	return resolution{why: whyUnsaid.With(), ask: f.questionWhich(Remark{What: sayWhich}, f.found)}
}

// taskWithID is the current task of an id; nil if it is gone.
func (f *candidates) taskWithID(id int64) *Item {
	at := slices.IndexFunc(f.found, func(t Item) bool { return t.ID == id })
	if at < 0 {
		return nil
	}
	return &f.found[at]
}

// chosenTasks compares the tasks that the user chose or confirmed with the current ones.
func (f *candidates) chosenTasks() resolution {
	r := resolution{row: f.Row, why: whyChosen.With()}
	var gone []Item
	for _, was := range f.Targets {
		now := f.taskWithID(was.ID)
		switch {
		case now == nil:
			gone = append(gone, was)
			continue
		case now.Version == was.Version:
		case f.Intent == understand.Delete:
			r.row, r.say = "", &Remark{What: sayChangedSince, Title: was.Title} // the user confirmed another version
		case f.Intent == understand.Complete && now.Status != completed, f.hasValue():
			now = &was // the tool refuses the old version
		}
		r.targets = append(r.targets, *now)
	}
	if len(gone) > 0 {
		r.say = &Remark{What: sayGone, Items: gone}
	}
	return r
}

// tasksWithIDs takes the tasks of known ids. All have to exist; for “all”, those that exist are taken.
func (f *candidates) tasksWithIDs(ids []int64) resolution {
	var targets []Item
	for _, id := range ids {
		if now := f.taskWithID(id); now != nil {
			targets = append(targets, *now)
		}
	}
	all := f.Entities.Reference.All
	switch {
	case len(targets) == 0, len(targets) < len(ids) && !all:
		return remarkOnly(whyGone, Remark{What: sayStale, Text: f.reference()})
	case all:
		return f.withoutExcepted(targets)
	}
	return resolution{targets: targets, why: whyShown.With()}
}

// withoutExcepted leaves out excepted tasks. “both” is unclear unless there are exactly two tasks.
func (f *candidates) withoutExcepted(all []Item) resolution {
	r := f.Entities.Reference
	switch {
	case r.Both && len(all) != 2:
		return resolution{why: whyBoth.With(len(all)), ask: f.questionWhich(Remark{What: sayWhich}, all)}
	case r.Except == nil:
		return resolution{targets: f.notYetDone(all), why: whyAll.With()}
	}
	// positions are those of the list that was shown last
	out, known := (&Act{Entities: understand.Entities{Reference: r.Except}}).knownIDs(f.m)
	if best := tasksMatching(r.Except.Title, all); !known && len(best) == 1 {
		out = []int64{best[0].ID}
	}
	if len(out) == 0 || r.Except.All {
		return remarkOnly(whyExcept, Remark{What: sayNotExcepted, Text: r.Except.Words})
	}
	left := slices.DeleteFunc(slices.Clone(all), func(t Item) bool { return slices.Contains(out, t.ID) })
	if len(left) == 0 {
		return remarkOnly(whyNoneLeft, Remark{What: noTasksKey(f.statusOfTargets())})
	}
	return resolution{targets: f.notYetDone(left), why: whyAllBut.With()}
}

// notYetDone leaves out tasks that are already in the wanted state, unless all are. Deletions leave out none.
func (f *candidates) notYetDone(all []Item) []Item {
	status := f.statusOfTargets()
	left := slices.DeleteFunc(slices.Clone(all), func(t Item) bool { return t.Status != status })
	if f.Intent == understand.Delete || status == "" || len(left) == 0 {
		return all
	}
	return left
}

// matchTitle takes the one task whose title has the words. If several match, those already in the wanted state are
// ignored.
func (f *candidates) matchTitle(r *understand.Reference) resolution {
	some := tasksMatching(r.Title, f.found)
	if len(some) > 1 {
		some = f.notYetDone(some)
	}
	n := len(some)
	switch {
	case n > 0 && strings.Contains(r.Title, redact.Mark):
		return resolution{why: whyRedacted.With(), ask: f.questionWhich(Remark{What: sayWhich}, some)}
	case n == 0 && len(f.found)+len(f.others) == 0:
		return remarkOnly(whyNoWords, Remark{What: sayNoneFound, Title: r.Title})
	case n == 0:
		some = f.found
		if len(some) == 0 {
			some = f.others
		}
		return resolution{why: whyNoTitle.With(), ask: f.questionWhich(Remark{What: sayNoneLike, Title: r.Title}, some)}
	case r.All:
		return f.withoutExcepted(some)
	case n == 1:
		return resolution{targets: some, why: whyOnly.With()}
	case f.total > len(f.found):
		n = f.total
	}
	return resolution{why: whySeveral.With(n), ask: f.questionWhich(Remark{What: saySeveral, Title: r.Title, N: n}, some)}
}

// questionWhich makes the question which of these tasks is meant.
func (a *Act) questionWhich(text Remark, some []Item) *Question {
	q := &Question{Kind: understand.KindChoose, Text: text, Act: *a}
	for _, t := range some[:min(len(some), mostOptions)] {
		one := *a
		one.Targets, one.Chosen = []Item{t}, true
		q.Options = append(q.Options, Option{optionLabel(t), one})
	}
	return q
}

func optionLabel(t Item) string {
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

// tasksMatching are the tasks whose titles match words best, as titlesMatching says.
func tasksMatching(words string, tasks []Item) (some []Item) {
	for _, n := range titlesMatching(words, titles(tasks)) {
		some = append(some, tasks[n])
	}
	return some
}

// titlesMatching are the indexes of the titles that match words best: titles equal to the words; or else equal without
// accents, small words and endings; or else with all of the words; or else with all that do more than hold a sentence
// together.
func titlesMatching(words string, titles []string) (exact []int) {
	for n, title := range titles {
		if strings.EqualFold(title, words) {
			exact = append(exact, n)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	if found := titlesWith(stems(search.Words(words)), titles); found != nil {
		return found
	}
	return titlesWith(stems(telling(search.Words(words))), titles)
}

// isTitleOf says that words are the words of one title, and of no other.
func isTitleOf(words string, titles []string) bool {
	return len(titlesWith(stems(search.Words(words)), titles)) == 1
}

// titlesWith are the indexes of the titles that have these stems and no others, or else all of them.
func titlesWith(wanted, titles []string) (exact []int) {
	if len(wanted) == 0 {
		return nil
	}
	var all []int
	for n, title := range titles {
		has := stems(search.Words(title))
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

// stems are words without endings and without stop words; if all are stop words, all words.
func stems(words []string) (kept []string) {
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

// page is the data that list_tasks returns.
type page struct {
	Tasks []Item `json:"tasks"`
	Total int    `json:"total"`
}

// listedPage reads the completion of list_tasks.
func listedPage(c bt.Completion) (p page, err error) {
	r, err := bt.ResultOf[agent.CallReceipt](c)
	switch {
	case c.Err != nil:
		return p, c.Err
	case err != nil:
		return p, err
	case r.Error != nil:
		return p, &bt.Fault{Kind: string(r.Error.Kind), Reason: r.Error.Error()}
	}
	return p, decodeData(r, &p)
}

// decodeData decodes the field data of a result.
func decodeData(r agent.CallReceipt, into any) error {
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
