package taskchat

import (
	"encoding/json"
	"errors"
	"slices"

	"sibyl/internal/model"
	"sibyl/internal/schema"
	"sibyl/internal/taskchat/understand"
)

// A model is asked as little as the message needs. While a question is open, it says what the answer is. Else it says
// which one wish the message holds. Where it says that there is more, it reads the whole message.
const (
	lookAnswer = "answer"
	lookWish   = "wish"
	lookAll    = "all"
)

// look is one way to ask a model about a message.
type look struct {
	name   string // as trees have it
	prompt string // its file among those of the assistant
	text   string // the name under which a run keeps that prompt
}

// looks are all looks, the shortest first.
func looks() []look {
	return []look{{lookWish, "wish", "wish"}, {lookAnswer, "answer", "answer"}, {lookAll, "intent", "prompt"}}
}

// Prompts are the names of the assistant's prompts: files of its folder without “.md”.
func Prompts() (names []string) {
	for _, l := range looks() {
		names = append(names, l.prompt)
	}
	return names
}

// Glance is what a model says of a message at first: the one wish that it holds, in the fewest words. A small model
// fills it in a second, and rightly more often than the fields of a Wish.
type Glance struct {
	Intent   string `json:"intent" enum:"create,list,list_done,complete,reopen,update,delete,undo,help,talk"`
	Task     string `json:"task"`     // create: what is to be done; else how the task is named, in words or by its position
	New      string `json:"new"`      // update: the new title
	More     bool   `json:"more"`     // the message holds more than that, or the model is not sure
	Language string `json:"language"` // of the message, a BCP 47 tag
	Reply    string `json:"reply"`    // to talk, in the person's language
}

// Said is the answer to a question.
type Said struct {
	// none, value, choice, no or unclear; a yes is none of these: it is read from closed lists
	Kind    string `json:"kind" enum:"none,value,choice,no,unclear"`
	Value   string `json:"value"`
	Choices []int  `json:"choices" max:"50"` // of the options, from 1
}

// ShortAnswer is what a model says of a message while a question is open.
type ShortAnswer struct {
	Said
	More bool `json:"more"` // it asks for something else, too
}

// The intents of a glance that are a wish with a status: to see the tasks that are done, and to open one again.
const (
	listDone = "list_done"
	reopen   = "reopen"
)

// The confidence in a wish at a first look: where the model says that there is no more to it, and where it is all that
// was found, so that the person is asked.
const (
	sureGlance   = 0.95
	unsureGlance = 0.6
)

// errMore says that a short reading is not enough.
var errMore = errors.New("there is more in the message")

func (l look) schema() model.Schema {
	switch l.name {
	case lookWish:
		return model.Schema{Name: "wish", JSON: schema.Answer[Glance]()}
	case lookAnswer:
		return model.Schema{Name: "answer", JSON: schema.Answer[ShortAnswer]()}
	}
	return model.Schema{Name: "reading", JSON: schema.Answer[Heard]()}
}

// act is what a glance stands for, and why that is not all that has to be read. The last list is shown: a task that is
// named by words of which it has none has to be looked for with that list in sight, which only the whole reading has.
func (g *Glance) act(words, by string, shown []string) (a Act, why error) {
	if g.More {
		why = errMore
	}
	a = Act{Intent: intentOf(g.Intent), By: by}
	switch g.Intent {
	case listDone:
		a.Intent, a.Entities.Status = understand.List, completed
	case reopen:
		a.Intent, a.Entities.Status = understand.Update, pending
	}
	switch a.Intent {
	case understand.Create:
		a.Entities.Title = asWritten(g.Task, words)
	case understand.List, understand.Update, understand.Complete, understand.Delete:
		r := understand.Refer(g.Task)
		if a.Intent == understand.List && r != nil && (r.All || r.It) {
			r = nil // “my tasks” names none
		}
		if r != nil && r.Title != "" && len(shown) > 0 && len(titlesMatching(r.Title, shown)) == 0 {
			why = errors.New("no task of the last list is called " + r.Title)
		}
		a.Entities.Reference = r
		if g.Intent == string(understand.Update) {
			a.Entities.Title = asWritten(g.New, words)
		}
	case understand.Chat, understand.Help:
		a.Reply = g.Reply
	}
	if a.Confidence = sureGlance; why != nil {
		a.Confidence = unsureGlance
	}
	return a, why
}

// glanceOf says shortly how a message was read; nil if it was not read.
func glanceOf(all []IntentResult, language, response string) *Glance {
	if len(all) == 0 {
		return nil
	}
	one := all[0]
	text := func(name string) string { s, _ := one.Entities[name].(string); return s }
	status := text("status")
	g := &Glance{Intent: one.IntentType, Task: text("reference"), Language: language,
		More: len(all) > 1 || one.Entities["description"] != nil || len(one.Alternatives) > 0}
	switch understand.Intent(one.IntentType) {
	case understand.Create:
		g.Task = text("title")
	case understand.Update:
		if g.New = text("title"); g.New == "" && status == pending {
			g.Intent, status = reopen, ""
		}
	case understand.List:
		if status == completed {
			g.Intent, status = listDone, ""
		}
	case understand.Complete, understand.Delete, understand.Undo:
	case understand.Help:
		g.Reply = response
	default:
		g.Intent, g.Reply = "talk", response
	}
	g.More = g.More || status != ""
	return g
}

// reading is how the message of a turn was read, as a model would have said it.
func (t *Turn) reading() string {
	g := t.Read
	if g == nil { // the run says nothing of it; its response may tell of acts, and is no reply of a model
		g = &Glance{Intent: "talk"}
	}
	raw, _ := json.Marshal(g) // texts and a truth value
	return string(raw)
}

// lookNamed finds a look by its name; the whole reading is that of runs that name none.
func lookNamed(name string) look {
	all := looks()
	if n := slices.IndexFunc(all, func(l look) bool { return l.name == name }); n >= 0 {
		return all[n]
	}
	return all[len(all)-1]
}
