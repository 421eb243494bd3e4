package taskchat

import (
	"cmp"
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
	means   *Act   // what is asked about, where Text describes it
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
	sayNotDone       = "not done"
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
	sayUnchanged     = "unchanged"
	sayHelp          = "help"
	sayHello         = "hello"
	sayNoModel       = "no model"
	sayStopped       = "stopped"
	sayMore          = "more"
)

// noTasksKey is the kind of the remark that there are no tasks of a status; "": none at all.
func noTasksKey(status string) string {
	switch status {
	case pending:
		return sayNonePending
	case completed:
		return sayNoneCompleted
	}
	return sayNoTasks
}

// isAside says that the remark reports neither something done nor something that could not be done.
func (r *Remark) isAside() bool {
	return slices.Contains([]string{sayGarbled, sayUnheard, sayLapsed, sayLapsedAll, sayNoRing, sayNoDates}, r.What)
}

// isFailure says that the remark reports something that could not be done.
func (r *Remark) isFailure() bool {
	return slices.Contains([]string{sayStale, sayGone, sayNoPosition, sayNotExcepted, sayTooMany, sayTooManyTasks,
		sayChanged, sayInvalid, sayNotConfirmed, sayNotNow, sayNotDone, sayUnsureDone, sayNoneFound, sayNothingToUndo,
		sayCantUndo}, r.What)
}

//go:embed phrases.txt
var phrasesText string

// phrases are the sentences of a language, by kind of remark. Of two forms the first is for one task.
type phrases map[string][]string

// phrasesByLanguage parses phrases.txt.
var phrasesByLanguage = sync.OnceValue(func() map[string]phrases {
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

// isTemplated says whether there are phrases of a language. In other languages a model words the English ones.
func isTemplated(language string) bool { return phrasesByLanguage()[language] != nil }

func phrasesOf(language string) phrases {
	if p := phrasesByLanguage()[language]; p != nil {
		return p
	}
	return phrasesByLanguage()["en"]
}

// mergeAlike merges the remarks of one kind about several tasks into one, at the place of the first.
func mergeAlike(all []Remark) (fewer []Remark) {
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

// responseText is the text of a response: first what happened, then replies, last the question.
func (c *composer) responseText(remarks []Remark, questions []Question) string {
	var told, replies []Remark
	for _, r := range remarks {
		switch {
		case r.What == sayReply:
			replies = append(replies, r)
		case r.isAskedAgain(questions): // it is asked once more
		default:
			told = append(told, r)
		}
	}
	text := joinLines(c.remarkLines(told), c.remarkLines(replies))
	if len(questions) > 0 {
		text = joinLines(text, c.questionText(questions[0]))
	}
	return text
}

// isAskedAgain says that a question lapsed, and that the same is asked now.
func (r *Remark) isAskedAgain(questions []Question) bool {
	if r.What != sayLapsed && r.What != sayLapsedAll || len(questions) == 0 ||
		r.Text != string(questions[0].Act.Intent) {
		return false
	}
	return slices.EqualFunc(r.Items, questions[0].Act.Targets, func(a, b Item) bool { return a.ID == b.ID })
}

// remarkLines joins the texts of remarks, one to a line, without repetitions.
func (c *composer) remarkLines(all []Remark) string {
	var lines []string
	for _, r := range mergeAlike(all) {
		if line := c.remarkText(r); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

func joinLines(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n" + second
}

// translated is a sentence as a model has translated it; else as it is. onSentence is called with each sentence.
func (c *composer) translated(text string, keep []string) string {
	if c.onSentence != nil {
		c.onSentence(text, keep)
	}
	for _, w := range c.worded {
		if w.Text == text {
			return w.Said
		}
	}
	return text
}

func (c *composer) remarkText(r Remark) string {
	switch r.What {
	case sayReply:
		return r.Text
	case sayDetails:
		return c.taskLines(r)
	}
	text := c.translated(c.fillRemark(phrasesOf(c.language), r), c.keptWords(&r))
	if r.What == sayList {
		return text + "\n" + c.taskLines(r)
	}
	return text
}

// fillRemark is the sentence of a remark in the phrases of a language.
func (c *composer) fillRemark(p phrases, r Remark) string {
	words := p["failed "+r.Text]
	switch {
	case r.What == sayUnheard && words != nil:
		r.Text = words[0]
	case r.What == sayMeant && r.means != nil:
		r.Text = describeAct(p, *r.means)
	}
	forms := p[r.What]
	form := forms[0]
	if len(forms) > 1 && (len(r.Items) > 1 || len(r.Items) == 0 && r.N > 1) {
		form = forms[1]
	}
	return c.fillForm(p, form, r)
}

// keptWords are the words that a translation must keep letter by letter: titles, and “yes” where the language has no
// word that is read as a yes.
func (c *composer) keptWords(r *Remark) []string {
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

// fillForm puts the values of a remark into a sentence with placeholders.
func (c *composer) fillForm(p phrases, form string, r Remark) string {
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

// taskLines lists the tasks of a remark, with the positions by which the person can refer to them.
func (c *composer) taskLines(r Remark) string {
	p := phrasesOf(c.language)
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
			lines = append(lines, "   "+c.translated(p[sayBare][0], nil))
		}
	}
	if more := r.N - len(r.Items); more > 0 {
		lines = append(lines, c.translated(c.fillForm(p, p[sayMore][0], Remark{N: more}), nil))
	}
	return strings.Join(lines, "\n")
}

func itemLabels(items []Item) (all []string) {
	for _, t := range items {
		all = append(all, optionLabel(t))
	}
	return all
}

func numberedLines(all []string) (lines []string) {
	for i, text := range all {
		lines = append(lines, strconv.Itoa(i+1)+". "+text)
	}
	return lines
}

func (c *composer) clarification(q Question) *Clarification {
	f := &Clarification{Question: c.remarkText(q.remark()), Options: c.optionTexts(q), Kind: q.Kind,
		Intent: string(q.Act.Intent), Tasks: q.Act.Targets}
	for _, o := range q.Options {
		f.OptionTasks = append(f.OptionTasks, slices.Concat([]Item{}, o.Act.Targets))
	}
	return f
}

// optionTexts are the labels of the options, translated where they are sentences and not titles.
func (c *composer) optionTexts(q Question) []string {
	all := []string{}
	for _, o := range q.Options {
		text := o.Label
		if q.Text.What == sayUnsure {
			text = cmp.Or(describeAct(phrasesOf(c.language), o.Act), text)
			text = c.translated(text, o.Act.taskTitles())
		}
		all = append(all, text)
	}
	return all
}

// taskTitles are the titles in the description of an act.
func (a *Act) taskTitles() []string {
	if a.Intent == understand.Create {
		return []string{a.Entities.Title}
	}
	return titles(a.Targets)
}

// questionText is the question with its numbered options.
func (c *composer) questionText(q Question) string {
	return joinLines(c.remarkText(q.remark()), strings.Join(numberedLines(c.optionTexts(q)), "\n"))
}

// remark is the question without its options.
func (q *Question) remark() Remark {
	r := q.Text
	r.means = &q.Act
	return r
}

// describeAct says what an act would do, for a person who has to choose; "" if it would do nothing, or its task is not
// known.
func describeAct(p phrases, a Act) string {
	do := "do " + string(a.Intent)
	if a.Intent == understand.Update && a.Entities.Title != "" {
		do = "do rename"
	}
	form := strings.Join(p[do], "")
	var what []string
	for _, title := range a.taskTitles() {
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
