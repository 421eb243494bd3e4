package taskchat

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/taskchat/understand"
)

// Remark is a thing to say, before it is put into a language.
type Remark struct {
	What  string `json:"what"`
	Title string `json:"title,omitempty"` // that it is about, or as the person named it
	Items []Item `json:"items,omitempty"`
	N     int    `json:"n,omitempty"`
	Text  string `json:"text,omitempty"` // what a tool said
}

// What can be said. The phrases are in the files of the languages.
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
	sayUndo          = "undo"
	sayHelp          = "help"
	sayHello         = "hello"
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

// wrong says that it tells of something that could not be done.
func (r *Remark) wrong() bool {
	return slices.Contains([]string{sayStale, sayGone, sayNoPosition, sayNotExcepted, sayTooMany, sayTooManyTasks, sayChanged, sayInvalid, sayNotConfirmed, sayNotNow, sayUnsureDone, sayNoneFound}, r.What)
}

// phrases are what a language says. Of two forms the first is for one task; {title}, {titles}, {old}, {n}, {when} and {text} are filled in.
type phrases struct {
	say  map[string][]string
	do   map[understand.Intent]string // what an act would do, for a question
	and  string
	date string // of a time, as package time writes it
}

// languages are those that the assistant speaks; the first is spoken where another is not known.
func languages() map[string]*phrases {
	return map[string]*phrases{"en": english(), "de": german(), "pt": portuguese()}
}

func phrasesOf(language string) *phrases {
	all := languages()
	if p := all[language]; p != nil {
		return p
	}
	return all["en"]
}

// together puts what was done alike to several tasks into one remark, where it was first done.
func together(all []Remark) (fewer []Remark) {
	for _, r := range all {
		first := slices.IndexFunc(fewer, func(f Remark) bool { return f.What == r.What })
		if first >= 0 && slices.Contains([]string{sayAdded, sayUpdated, saySame, sayReopened, sayCompleted, sayDeleted}, r.What) {
			fewer[first].Items = append(slices.Clip(fewer[first].Items), r.Items...)
			continue
		}
		fewer = append(fewer, r)
	}
	return fewer
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
	if first == "" {
		return second
	}
	return first + "\n" + second
}

// remark puts one into words.
func (c *composer) remark(r Remark) string {
	p := phrasesOf(c.language)
	forms := p.say[r.What]
	form := forms[0]
	if len(forms) > 1 && (len(r.Items) > 1 || len(r.Items) == 0 && r.N > 1) {
		form = forms[1]
	}
	text := c.fill(p, form, r)
	if r.What == sayList {
		return text + "\n" + c.list(p, r)
	}
	return text
}

func (c *composer) fill(p *phrases, form string, r Remark) string {
	var quoted []string
	for _, t := range r.Items {
		quoted = append(quoted, quote(t.Title))
	}
	one, when := r.Title, ""
	if len(r.Items) == 1 {
		one = r.Items[0].Title
		if at := r.Items[0].CompletedAt; at != nil {
			when = at.In(c.zone).Format(p.date)
		}
	}
	n := r.N
	if n == 0 {
		n = len(r.Items)
	}
	return strings.NewReplacer("{title}", quote(one), "{titles}", series(quoted, p.and), "{old}", quote(r.Title), "{n}", strconv.Itoa(n), "{when}", when,
		"{text}", strings.TrimSuffix(r.Text, ".")).Replace(form)
}

func quote(title string) string { return "'" + title + "'" }

// series is “a, b and c”.
func series(all []string, and string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " " + and + " " + all[len(all)-1]
}

// list numbers tasks from 1, as positions refer to them.
func (c *composer) list(p *phrases, r Remark) string {
	lines := numbered(labels(r.Items))
	if more := r.N - len(lines); more > 0 {
		lines = append(lines, c.fill(p, p.say[sayMore][0], Remark{N: more}))
	}
	return strings.Join(lines, "\n")
}

func labels(items []Item) (all []string) {
	for _, t := range items {
		all = append(all, label(t))
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
	options := q.labels()
	if options == nil {
		options = []string{}
	}
	f := &Clarification{Question: c.remark(q.Text), Options: options, Kind: q.Kind, Intent: string(q.Act.Intent), Tasks: q.Act.Targets}
	for _, o := range q.Options {
		f.OptionTasks = append(f.OptionTasks, slices.Concat([]Item{}, o.Act.Targets))
	}
	return f
}

// question is the question with its options, for the text of a response.
func (c *composer) question(q Question) string {
	text := c.remark(q.Text)
	if len(q.Options) > 0 {
		text += "\n" + strings.Join(numbered(q.labels()), "\n")
	}
	return text
}

// describe is what an act would do, for a person who is to choose; "" for one that does nothing.
func describe(language string, a Act) string {
	p := phrasesOf(language)
	form := p.do[a.Intent]
	what := a.Entities.Title
	if a.Intent != understand.Create && a.Entities.Reference != nil {
		what = a.Entities.Reference.Words
	}
	if form == "" || what == "" && a.Intent != understand.List {
		return ""
	}
	return strings.ReplaceAll(form, "{title}", quote(what))
}

// zoneOf is a zone of so many seconds east of UTC.
func zoneOf(seconds int) *time.Location { return time.FixedZone("", seconds) }
