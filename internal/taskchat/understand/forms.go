package understand

import (
	"regexp"
	"strings"
	"sync"
)

// form is a sentence that is a command. Words in capitals stand for those of a language: see symbols; REF is how tasks
// are named, TITLE a title and WORDS a description.
type form struct {
	intent Intent
	says   string
	traits traits
	re     *regexp.Regexp // what it says in a language
}

// traits say what else a form means.
type traits uint8

const (
	several  traits = 1 << iota // its title holds several
	commas                      // its title holds several if there are commas
	reminder                    // the person wants to be reminded
	reopens                     // it opens a task again
	clears                      // it removes a description
	places                      // it names tasks by position or as "it", or is no such form
	loose                       // it is about tasks only where those are what is talked about
)

// forms are all that is understood; the first that fits a clause reads it. A language that lacks one of its words has
// no such form.
func forms() []form {
	return []form{
		{intent: Undo, says: `UNDO`},
		{intent: Help, says: `HELP`},
		{intent: List, says: `(?:SHOW )?(?:MINE )*TASKS ABOUT REF`},
		{intent: List, says: `SHOW(?: HOLD)* TASKS(?: HOLD| TASKS| OPENKEY| DONEKEY| ALLKEY|,)*`},
		{intent: List, says: `SHOW(?: HOLD)* (?:OPENKEY|DONEKEY|ALLKEY)(?: HOLD| TASKS| OPENKEY| DONEKEY| ALLKEY|,)*`,
			traits: loose},
		{intent: List, says: `(?:MINE )*(?:OPENKEY |DONEKEY )?TASKS(?: OPENKEY| DONEKEY)?`},
		{intent: List, says: `FIND REF`, traits: loose},
		{intent: List, says: `(?:LOOK|ASK) NOTE OF REF`, traits: places | loose},
		{intent: List, says: `LOOK REF`, traits: places | loose},
		{intent: Update, says: `(?:ADD|PUT) NOTE OF REF: ?WORDS`, traits: places},
		{intent: Chat, says: `ADD TITLE OF TASK \d+`},
		{intent: Create, says: `(?:ADD|MAKE|PUT)(?: ONE| NEW)? MANY(?: ONTO)?:? TITLE`, traits: several | loose},
		{intent: Create, says: `(?:ADD|MAKE|PUT)(?: ONTO)?: ?TITLE`, traits: commas | loose},
		{intent: Create, says: `ADD(?:(?: ONE| NEW)? TASK(?: ?CALLED)?)? TITLE,? WITH NOTE:? WORDS`, traits: loose},
		{intent: Create, says: `(?:ADD|PUT)(?: ONE| NEW)? TASK(?: ONTO)?(?: ?CALLED)? TITLE(?: ONTO)?`},
		{intent: Create, says: `(?:MAKE(?: ONE| NEW)?|NEW) TASK ?CALLED TITLE`},
		{intent: Create, says: `(?:ONE |NEW )?TASK TOADD:? TITLE`},
		{intent: Create, says: `(?:(?:ADD|MAKE|PUT)(?: ONE| NEW)?|NEW) TASK(?: ONTO)?`},
		{intent: Create, says: `REMIND TITLE`, traits: reminder},
		{intent: Create, says: `(?:ADD|PUT) TITLE ONTO`},
		{intent: Create, says: `TITLE TOADD`, traits: loose},
		{intent: Create, says: `ADD TITLE`, traits: loose},
		{intent: Update, says: `RENAME REF TO TITLE OVER`},
		{intent: Update, says: `RENAME REF OVER`},
		{intent: Update, says: `(?:CHANGE|SET) NOTE OF REF TO:? WORDS`},
		{intent: Update, says: `(?:CHANGE|SET) REF(?:'s)? NOTE TO:? WORDS`},
		{intent: Update, says: `DELETE NOTE OF REF`, traits: clears},
		{intent: Update, says: `CHANGE NAMEOF REF TO:? TITLE`},
		{intent: Update, says: `RENAME REF TO:? TITLE`},
		{intent: Update, says: `REOPEN REF`, traits: reopens},
		{intent: Update, says: `(?:MARK|CHANGE) REF(?: AS| TO)? UNDONE`, traits: reopens},
		{intent: Complete, says: `(?:MARK|CHANGE) REF(?: AS| TO)? DONE`},
		{intent: Update, says: `(?:CHANGE|SET) REF ?TO:? TITLE`},
		{intent: Update, says: `(?:CHANGE|RENAME)(?: REF)?`},
		{intent: Complete, says: `CHECK REF OFF`},
		{intent: Complete, says: `CHECK REF`, traits: places},
		{intent: Complete, says: `HAVE REF DONE`},
		{intent: Complete, says: `REF TOCOMPLETE`},
		{intent: Complete, says: `COMPLETE(?::? REF)?`},
		{intent: Delete, says: `(?:DELETE|PUT) REF FROMLIST`},
		{intent: Delete, says: `DELETE(?: REF)?`},
		{intent: Delete, says: `REF TODELETE`},
		{intent: Complete, says: `REF ?BE DONE`},
		{intent: Complete, says: `REF DONE`, traits: places},
	}
}

// grammar is the forms in a language.
type grammar struct {
	code                             string
	forms                            []form
	lead, polite, fill, tail, follow *regexp.Regexp // around a command
	extra                            *regexp.Regexp // behind what tasks are named by
	// with which nothing is asked for, in how tasks are named and in titles
	not, wrong *regexp.Regexp
	// the status and the time that a list is of; what stands before a new title
	open, done, when, to *regexp.Regexp
}

var symbolNames = regexp.MustCompile(`[A-Z]{2,}`)

// grammars are those of the languages; the first is that of a message in none of them.
var grammars = sync.OnceValue(func() (all []*grammar) {
	for _, code := range []string{"en", "de", "pt"} {
		words := map[string]string{"REF": `(?P<ref>.+?)`, "TITLE": `(?P<title>.+?)`, "WORDS": `(?P<words>.+)`}
		for _, s := range symbols() {
			if own := map[string]string{"en": s.en, "de": s.de, "pt": s.pt}[code]; own != "" {
				words[s.name] = `(?:` + own + `)`
			}
		}
		g := &grammar{
			code:   code,
			lead:   lenient(`^(?:(?:` + words["LEAD"] + `|` + words["POLITE"] + `)(?:[ ,.!;:-]+|$))+`),
			polite: part(words["POLITE"]),
			fill:   lenient(`^(\S+) (?:` + words["FILL"] + ` )+`),
			tail:   lenient(`(?:(?:^|[ ,.!]+)` + words["TAIL"] + `)+$`),
			follow: lenient(`^(?:` + words["FOLLOW"] + ` )+|[ ,]+` + words["FOLLOW"] + `$`),
			extra:  lenient(`(?:[ ,]+` + words["EXTRA"] + `)+$`),
			not:    part(denials + "|" + corrections),
			wrong:  lenient(`[,.;–-] *(?:` + corrections + `)\b`),
			open:   part(words["OPENKEY"]),
			done:   part(words["DONEKEY"]),
			when:   part(words["WHEN"]),
			to:     part(words["TO"]),
		}
		for _, f := range forms() {
			lacks := false
			says := symbolNames.ReplaceAllStringFunc(f.says, func(name string) string {
				lacks = lacks || words[name] == ""
				return words[name]
			})
			if !lacks {
				f.re = whole(says)
				g.forms = append(g.forms, f)
			}
		}
		all = append(all, g)
	}
	return all
})

// stripPoliteness removes politeness around a clause. asks says that it is a request in the form of a question, or a
// command.
func (g *grammar) stripPoliteness(s string) (rest string, asks bool) {
	asks = !strings.HasSuffix(strings.TrimRight(s, " !"), "?")
	for next := s; ; s = next {
		next = strings.TrimRight(strings.TrimSpace(next), ".!? ")
		lead := g.lead.FindString(next)
		asks = asks || g.polite.MatchString(lead)
		next = g.fill.ReplaceAllString(g.tail.ReplaceAllString(next[len(lead):], ""), "$1 ")
		if next == s {
			return s, asks
		}
	}
}

// readClause reads a clause; nil if it is no known form.
func (g *grammar) readClause(clause string) []Result {
	s, asks := g.stripPoliteness(clause)
	for _, f := range g.forms {
		m := f.re.FindStringSubmatch(s)
		if m == nil || !asks && f.intent != List && f.intent != Help {
			continue
		}
		said := map[string]string{}
		for i, name := range f.re.SubexpNames() {
			said[name] = strings.TrimSpace(m[i])
		}
		if f.intent == Chat {
			return nil
		}
		if e := g.entities(f, s, said); e != nil {
			return f.results(*e)
		}
	}
	return nil
}

// entities are what was said in a form; nil if it can't be meant so.
func (g *grammar) entities(f form, s string, said map[string]string) *Entities {
	e := &Entities{Title: unquoted(said["title"]), Reminder: f.traits&reminder != 0}
	if words := unquoted(said["words"]); words != "" || f.traits&clears != 0 {
		e.Description, e.HasDescription = words, true
	}
	named := g.extra.ReplaceAllString(said["ref"], "")
	if f.intent == List {
		e.Reminder = g.when.MatchString(s)
		named = strings.TrimSpace(g.when.ReplaceAllString(named, ""))
	}
	if named != "" {
		if e.Reference = Refer(named); e.Reference == nil || g.not.MatchString(named) {
			return nil
		}
	}
	placed, title := e.Reference != nil && e.Reference.Title == "", Refer(said["title"])
	switch {
	case f.traits&places != 0 && !placed, said["title"] != "" && (title == nil || e.Title == ""),
		g.wrong.MatchString(e.Title):
		return nil
	case f.intent == Create && title != nil && title.Title == "":
		return nil // "add it"
	case f.intent == Update && !placed && quotes.FindString(said["title"]) == "" && g.to.MatchString(e.Title):
		return nil // "rename call to Bob to …": which "to" is it?
	case f.intent == List && named == "":
		e.Status = g.listStatus(s)
	case f.traits&reopens != 0:
		e.Status = "pending"
	case f.intent != Update && placed && e.Reference.All:
		e.Status = g.listStatus(named)
	}
	return e
}

// titleSeparators stands between several titles.
var titleSeparators = regexp.MustCompile(`(?i)\s*[,;]\s+(?:(?:and|und|e)\s+)?|\s+(?:and|und|e)\s+`)

// results are those of a form: one, or for several titles one each.
func (f form) results(e Entities) (all []Result) {
	titles := []string{e.Title}
	if f.traits&several != 0 || f.traits&commas != 0 && strings.ContainsAny(e.Title, ",;") {
		titles = titleSeparators.Split(e.Title, -1)
	}
	for _, title := range titles {
		if e.Title = unquoted(title); e.Title != "" || title == "" && len(titles) == 1 {
			all = append(all, Result{Intent: f.intent, Confidence: sure, Entities: e, Reasoning: "a form of a command",
				Loose: f.traits&loose != 0})
		}
	}
	return all
}

// listStatus is the status of a wanted list: "pending", "completed" or "" for both.
func (g *grammar) listStatus(s string) string {
	if open := g.open.MatchString(s); open != g.done.MatchString(s) {
		return map[bool]string{true: "pending", false: "completed"}[open]
	}
	return ""
}
