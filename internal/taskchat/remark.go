package taskchat

import (
	_ "embed" // the phrases
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/taskchat/understand"
)

// Remark is a thing to say, before it is put into a language.
type Remark struct {
	What    string `json:"what"`
	Title   string `json:"title,omitempty"` // that it is about, or as the person named it
	Items   []Item `json:"items,omitempty"`
	N       int    `json:"n,omitempty"`
	Text    string `json:"text,omitempty"`    // what a tool said, how the person named a task, or a whole reply
	At      []int  `json:"at,omitempty"`      // the positions of the items in the last list; none: as they stand here
	Details bool   `json:"details,omitempty"` // with the descriptions of the items
}

// What can be said: keys of phrases.txt, but for sayDetails and sayReply.
const (
	sayAdded         = "added"
	sayRenamed       = "renamed"
	sayUpdated       = "updated"
	saySame          = "the same as before"
	sayReopened      = "reopened"
	sayCompleted     = "completed"
	sayAlready       = "already completed"
	sayDeleted       = "deleted"
	sayList          = "list"
	sayNoTasks       = "no tasks"
	sayNonePending   = "none pending"
	sayNoneCompleted = "none completed"
	sayNoneFound     = "none found"
	sayNoneLike      = "none like this"
	saySeveral       = "several"
	sayWhich         = "which"
	sayUnsure        = "unsure"
	sayMeant         = "meant"
	sayNoTitle       = "no title"
	sayNoValue       = "no value"
	sayConfirmDelete = "confirm delete"
	sayStale         = "stale"
	sayGone          = "gone"
	sayNoPosition    = "no such position"
	sayNotExcepted   = "exception unclear"
	sayTooMany       = "too many wishes"
	sayTooManyTasks  = "too many tasks"
	sayChanged       = "changed"
	sayInvalid       = "invalid"
	sayNotConfirmed  = "not confirmed"
	sayNotNow        = "not now"
	sayUnsureDone    = "unsure whether done"
	sayLeft          = "left as it is"
	sayFine          = "fine"
	sayNothingOpen   = "nothing open"
	sayNothingToUndo = "nothing to undo"
	sayCantUndo      = "can't undo"
	sayTakenOff      = "taken off"
	sayBack          = "back"
	sayPutBack       = "put back"
	sayChangedSince  = "changed since"
	sayLapsed        = "lapsed"
	sayLapsedAll     = "question lapsed"
	sayNoRing        = "nothing rings"
	sayNoDates       = "no dates"
	sayGarbled       = "model garbled"
	sayUnheard       = "model unheard"
	sayDetails       = "details"
	sayBare          = "no description"
	sayReply         = "reply"
	sayHelp          = "help"
	sayHello         = "hello"
	sayNoModel       = "no model"
	sayStopped       = "stopped"
	sayMore          = "more"
)

// noneOf says that there are no tasks of a status; "": none at all.
func noneOf(status string) string {
	switch status {
	case pending:
		return sayNonePending
	case completed:
		return sayNoneCompleted
	}
	return sayNoTasks
}

// aside says that it tells neither of something done nor of something that could not be.
func (r *Remark) aside() bool {
	return slices.Contains([]string{sayGarbled, sayUnheard, sayLapsed, sayLapsedAll, sayNoRing, sayNoDates}, r.What)
}

// wrong says that it tells of something that could not be done.
func (r *Remark) wrong() bool {
	return slices.Contains([]string{sayStale, sayGone, sayNoPosition, sayNotExcepted, sayTooMany, sayTooManyTasks,
		sayChanged, sayInvalid, sayNotConfirmed, sayNotNow, sayUnsureDone, sayNoneFound, sayNothingToUndo, sayCantUndo},
		r.What)
}

//go:embed phrases.txt
var phrasesText string

// phrases are what a language says, by key. Of two forms the first is for one task.
type phrases map[string][]string

// table are the phrases by language, as phrases.txt has them.
var table = sync.OnceValue(func() map[string]phrases {
	all, key := map[string]phrases{}, ""
	for line := range strings.Lines(phrasesText) {
		language, text, said := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case !said || strings.HasPrefix(line, "#"):
			key = language
		case all[language] == nil:
			all[language] = phrases{}
			fallthrough
		default:
			all[language][key] = strings.Split(text, " | ")
		}
	}
	return all
})

func phrasesOf(language string) phrases {
	if p := table()[language]; p != nil {
		return p
	}
	return table()["en"]
}

// together puts what was done alike to several tasks into one remark, where it was first done.
func together(all []Remark) (fewer []Remark) {
	for _, r := range all {
		first := slices.IndexFunc(fewer, func(f Remark) bool { return f.What == r.What })
		if first >= 0 && slices.Contains([]string{sayAdded, sayUpdated, saySame, sayReopened, sayCompleted, sayDeleted,
			sayTakenOff, sayBack, sayPutBack}, r.What) {
			fewer[first].Items = append(slices.Clip(fewer[first].Items), r.Items...)
			continue
		}
		fewer = append(fewer, r)
	}
	return fewer
}

// answer is the text of a response: what is to be told, replies last, and the question.
func (c *composer) answer(remarks []Remark, questions []Question) string {
	var told, replies []Remark
	for _, r := range remarks {
		switch {
		case r.What == sayReply:
			replies = append(replies, r)
		case r.lapsedTo(questions): // it is asked once more
		default:
			told = append(told, r)
		}
	}
	text := join(c.compose(told), c.compose(replies))
	if len(questions) > 0 {
		text = join(text, c.question(questions[0]))
	}
	return text
}

// lapsedTo says that a question lapsed, and that the same is asked now.
func (r *Remark) lapsedTo(questions []Question) bool {
	if r.What != sayLapsed && r.What != sayLapsedAll || len(questions) == 0 ||
		r.Text != string(questions[0].Act.Intent) {
		return false
	}
	return slices.EqualFunc(r.Items, questions[0].Act.Targets, func(a, b Item) bool { return a.ID == b.ID })
}

// compose puts remarks one below the other.
func (c *composer) compose(all []Remark) string {
	var lines []string
	for _, r := range together(all) {
		if line := c.remark(r); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func join(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n" + second
}

// said is a sentence in the person's language. Where that has no templates, it is English unless a model has worded it.
func (c *composer) said(text string, keep []string) string {
	if c.heard != nil {
		c.heard(text, keep)
	}
	for _, w := range c.worded {
		if w.Text == text {
			return w.Said
		}
	}
	return text
}

// remark puts one into words.
func (c *composer) remark(r Remark) string {
	p := phrasesOf(c.language)
	switch r.What {
	case sayReply:
		return r.Text
	case sayDetails:
		return c.list(p, r)
	}
	if words := p["failed "+r.Text]; r.What == sayUnheard && words != nil {
		r.Text = words[0]
	}
	forms := p[r.What]
	form := forms[0]
	if len(forms) > 1 && (len(r.Items) > 1 || len(r.Items) == 0 && r.N > 1) {
		form = forms[1]
	}
	text := c.said(c.fill(p, form, r), c.kept(&r))
	if r.What == sayList {
		return text + "\n" + c.list(p, r)
	}
	return text
}

// kept is what a sentence has to keep letter by letter: titles, and the word yes where the language has none that is
// read as one.
func (c *composer) kept(r *Remark) []string {
	if r.What == sayList {
		return nil
	}
	all := titles(r.Items)
	if r.Title != "" {
		all = append(all, r.Title)
	}
	if r.What == sayConfirmDelete && !understand.Consents(c.language) {
		all = append(all, "yes")
	}
	return all
}

func (c *composer) fill(p phrases, form string, r Remark) string {
	var quoted []string
	for _, t := range r.Items {
		quoted = append(quoted, quote(t.Title))
	}
	one, when := r.Title, ""
	if len(r.Items) == 1 {
		one = r.Items[0].Title
		if at := r.Items[0].CompletedAt; at != nil {
			when = at.In(c.zone).Format(p["date"][0])
		}
	}
	n := r.N
	if n == 0 {
		n = len(r.Items)
	}
	return strings.NewReplacer("{title}", quote(one), "{titles}", agent.Listed(quoted, p["and"][0]), "{old}",
		quote(r.Title), "{n}", strconv.Itoa(n), "{when}", when,
		"{text}", strings.TrimSuffix(r.Text, ".")).Replace(form)
}

func quote(title string) string { return "'" + title + "'" }

// list numbers tasks as positions refer to them.
func (c *composer) list(p phrases, r Remark) string {
	var lines []string
	for n, t := range r.Items {
		at := n + 1
		if r.At != nil {
			at = r.At[n]
		}
		line := optionLabel(t)
		if at > 0 {
			line = strconv.Itoa(at) + ". " + line
		}
		lines = append(lines, line)
		switch {
		case r.Details && t.Description != nil:
			lines = append(lines, "   "+strings.ReplaceAll(*t.Description, "\n", "\n   "))
		case r.What == sayDetails:
			lines = append(lines, "   "+c.said(p[sayBare][0], nil))
		}
	}
	if more := r.N - len(r.Items); more > 0 {
		lines = append(lines, c.said(c.fill(p, p[sayMore][0], Remark{N: more}), nil))
	}
	return strings.Join(lines, "\n")
}

func labels(items []Item) (all []string) {
	for _, t := range items {
		all = append(all, optionLabel(t))
	}
	return all
}

func numbered(all []string) (lines []string) {
	for i, text := range all {
		lines = append(lines, strconv.Itoa(i+1)+". "+text)
	}
	return lines
}

// clarify is the question as a response carries it.
func (c *composer) clarify(q Question) *Clarification {
	f := &Clarification{Question: c.remark(q.Text), Options: c.options(q), Kind: q.Kind, Intent: string(q.Act.Intent),
		Tasks: q.Act.Targets}
	for _, o := range q.Options {
		f.OptionTasks = append(f.OptionTasks, slices.Concat([]Item{}, o.Act.Targets))
	}
	return f
}

// options are the labels that can be chosen. One that is no title is a sentence.
func (c *composer) options(q Question) []string {
	all := []string{}
	for _, o := range q.Options {
		text := o.Label
		if q.Text.What == sayUnsure {
			text = c.said(text, o.Act.kept())
		}
		all = append(all, text)
	}
	return all
}

// kept are the titles in the description of an act.
func (a *Act) kept() []string {
	if a.Intent == understand.Create {
		return []string{a.Entities.Title}
	}
	return titles(a.Targets)
}

// question is the question with its options, for the text of a response.
func (c *composer) question(q Question) string {
	return join(c.remark(q.Text), strings.Join(numbered(c.options(q)), "\n"))
}

// describe is what an act would do, for a person who is to choose; "" for one that does nothing, or for a task that is
// not known.
func describe(language string, a Act) string {
	p := phrasesOf(language)
	do := "do " + string(a.Intent)
	if a.Intent == understand.Update && a.Entities.Title != "" {
		do = "do rename"
	}
	form := strings.Join(p[do], "")
	var what []string
	for _, title := range a.kept() {
		if title != "" {
			what = append(what, quote(title))
		}
	}
	if form == "" || len(what) == 0 && strings.Contains(form, "{title}") {
		return ""
	}
	text := strings.NewReplacer("{title}", agent.Listed(what, p["and"][0]), "{new}", quote(a.Entities.Title)).
		Replace(form)
	if a.Entities.HasDescription && a.Entities.Description != "" {
		text += ": " + a.Entities.Description
	}
	return text
}

// zoneOf is a zone of so many seconds east of UTC.
func zoneOf(seconds int) *time.Location { return time.FixedZone("", seconds) }
