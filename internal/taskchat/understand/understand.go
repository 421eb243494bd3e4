// Package understand reads what a person says to the task list, by a table of plain forms: English, and the plain forms
// in German and Portuguese. It is used if there is no model; Consent and Refer are used with one, too.
//
// Guarantees:
//   - Pure and deterministic. Any words, valid text or not, give a Reading with at least one Result. More than 8 KB is
//     not read.
//   - What is not wholly a sequence of known forms is Chat. So a question, a negation, a condition and a quotation
//     change nothing.
//   - A new task needs a verb that asks for one. Titles are the person's own words in their case.
//   - Positions come only from a reference that was understood to its last word. Anything else is words of a title.
package understand

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"sibyl/internal/text/language"
)

// Intent says what a message, or a part of it, is for.
type Intent string

// The five intents of the requirement, and those that answer the assistant or are no matter of tasks.
const (
	Create   Intent = "create"
	List     Intent = "list"
	Update   Intent = "update"
	Complete Intent = "complete"
	Delete   Intent = "delete"
	Confirm  Intent = "confirm"
	Decline  Intent = "decline"
	Choose   Intent = "choose" // some of the options asked about
	Value    Intent = "value"  // the title or value that was asked for
	Undo     Intent = "undo"
	Help     Intent = "help" // what can be done, and how
	Chat     Intent = "chat" // nothing that is known here
)

// Entities is what was said besides the intent.
type Entities struct {
	// Create, Value: the title; Update: the new title; dates, amounts and priorities stay in it
	Title          string
	Description    string // with HasDescription: the (new) description; "" removes it
	HasDescription bool   // a description was spoken of
	// List, and Delete or Complete of all: "pending" or "completed", "" for all; Update: "pending" opens a task again
	Status   string
	Reminder bool `json:",omitempty"` // Create: the person asked to be reminded; List: of a time
	// Update, Complete, Delete, Choose: which tasks, nil if none was named; List: tasks by title, or one to be shown
	Reference *Reference
}

// Alternative is another way to read the same words. The forms give none; a model does.
type Alternative struct {
	Intent     Intent
	Confidence float64 // 0 to 1
	Entities   Entities
}

// Result is one intent of a message.
type Result struct {
	Intent       Intent
	Confidence   float64 // 0 to 1
	Entities     Entities
	Alternatives []Alternative // best first
	Reasoning    string        // one short line: which evidence decided
	// it is about tasks only where those are what is talked about: neither they nor a reminder are named
	Loose bool
}

// What an assistant may have asked.
const (
	KindConfirm = "confirm" // yes or no
	KindChoose  = "choose"  // one or some of the numbered Options
	KindValue   = "value"   // a missing title or new value
)

// Open is what the assistant asked and the next words may answer.
type Open struct {
	Kind   string // KindConfirm, KindChoose or KindValue
	Intent Intent // of what waits
}

// Context is what was before the message.
type Context struct {
	Open     *Open  // nil: nothing was asked
	Language string // of the messages before; "": unknown
	Previous Intent // of the message before, if it asked to change tasks; "": it did not
}

// Reading is what a message was understood to say.
type Reading struct {
	Language string   // of this message: a code like "en"
	Results  []Result // in the order said; at least one
}

const (
	maxBytes = 8 << 10 // that are read of a message
	sure     = 0.92    // the confidence of what a form or a closed list reads
	unread   = 0.6     // that of Chat
)

// Read says what words are for, and what they name.
func Read(words string, c Context) Reading {
	if len(words) > maxBytes {
		return Reading{cmp.Or(c.Language, "en"), oneResult(Chat, Entities{}, "longer than what is read")}
	}
	words = clean(words)
	code, commands := readCommands(words, c)
	if answer := c.readAnswer(words, commands); answer != nil {
		return Reading{cmp.Or(c.Language, guessLanguage(words, "", "")), answer}
	} else if commands != nil {
		return Reading{code, commands}
	}
	return Reading{guessLanguage(words, c.Language, ""), oneResult(Chat, Entities{}, "no known form")}
}

// Command reads words that are commands and nothing else. ok is false for all others, for commands that lack something,
// and for words that may answer what was asked.
func Command(words string, c Context) (r Reading, ok bool) {
	if len(words) > maxBytes || c.Open != nil && c.Open.Kind == KindValue {
		return Reading{}, false
	}
	r.Language, r.Results = readCommands(clean(words), c)
	unsure := func(one Result) bool {
		ref := one.Entities.Reference
		chooses := c.Open != nil && c.Open.Kind == KindChoose && ref != nil && ref.Positions != nil // an option
		return !one.isWhole() || chooses || c.Open != nil && !isCertain(one)
	}
	return r, r.Results != nil && !slices.ContainsFunc(r.Results, unsure)
}

// isWhole says that a command has all that is needed to do it, and that no other may stand in its title.
func (r *Result) isWhole() bool {
	e := r.Entities
	switch r.Intent {
	case Create:
		return e.Title != "" && !clauseBreaks.MatchString(maskQuotations(e.Title))
	case Update:
		return e.Reference != nil && (e.Title != "" || e.HasDescription || e.Status != "")
	case Complete, Delete:
		return e.Reference != nil
	}
	return true
}

// courtesies matches a message that is nothing but greetings, thanks and goodbyes.
var courtesies = sync.OnceValue(func() *regexp.Regexp {
	return lenient(`^(?:(?:hello|hi|hey|good (?:morning|afternoon|evening|night)|to you|there|too|thanks|thank you|a lot|very much|` +
		`so much|cheers|bye|goodbye|see you|hallo|guten (?:morgen|tag|abend)|gute nacht|danke|dankeschön|vielen dank|dir auch|` +
		`tschüss|auf wiedersehen|olá|oi|bom dia|boa (?:tarde|noite)|muito|obrigad[oa]|tchau|adeus|bonjour|salut|bonsoir|merci|` +
		`beaucoup|au revoir|de rien|hola|buenos días|buenas (?:tardes|noches)|muchas|gracias|adiós|ciao|buongiorno|buonasera|` +
		`grazie|mille|arrivederci|hoi|dag|goedemorgen|dank je|bedankt|hej|tack|takk|kiitos|cześć|dzień dobry|dziękuję|dzięki|` +
		`ahoj|dobrý den|děkuji|merhaba|teşekkürler)[ ,.!:;)?]*)+$`)
})

// IsCourtesy says whether a message is nothing but a greeting, thanks or a goodbye in words that are known. So it asks
// for nothing, whatever a model makes of it.
func IsCourtesy(words string) bool {
	return len(words) <= maxBytes && courtesies().MatchString(clean(words))
}

// LanguageOf is the language of a message of which a model says that it is heard. The words decide where they tell, and
// else the conversation before; both are codes like "en", or "" where they are not known.
func LanguageOf(words, before, heard string) string {
	if heard != "" && language.Of(words) == heard {
		return heard
	}
	return guessLanguage(clean(words), before, heard)
}

// guessLanguage is the language of a text. A few words don't tell: then it is that of the conversation, or of the
// forms, or else what a model heard.
func guessLanguage(words, before, heard string) string {
	code, blanks := language.Of(words), strings.Count(words, " ")
	if blanks > 4 || blanks > 1 && before == "" {
		return cmp.Or(code, before, heard, "en")
	}
	for _, g := range grammars() {
		if rest, _ := g.stripPoliteness(words); before == "" && (rest == "" || g.code == code) {
			return g.code
		}
	}
	return cmp.Or(before, heard, "en")
}

// clean is a text in composed characters, with plain apostrophes and without space around it.
func clean(words string) string {
	words = norm.NFC.String(strings.ToValidUTF8(words, "\uFFFD"))
	return strings.TrimSpace(strings.NewReplacer("’", "'", "\u200d", "", "\r", "").Replace(words))
}

func oneResult(i Intent, e Entities, why string) []Result {
	confidence := sure
	if i == Chat {
		confidence = unread
	}
	return []Result{{Intent: i, Confidence: confidence, Entities: e, Reasoning: why}}
}

// readAnswer reads an answer to what was asked, and a yes or no to nothing; nil if the words are none. commands is what
// the words are else.
func (c *Context) readAnswer(words string, commands []Result) []Result {
	switch Consent(words, c.Language) {
	case Yes:
		return oneResult(Confirm, Entities{}, "nothing but a yes")
	case No:
		return oneResult(Decline, Entities{}, "nothing but a no")
	}
	if c.Open == nil || slices.ContainsFunc(commands, isCertain) {
		return nil
	}
	refused := denial.FindString(words)
	rest := words[len(refused):]
	for _, g := range grammars() {
		rest, _ = g.stripPoliteness(rest)
	}
	ref := Refer(rest)
	place := ref != nil && ref.Title == ""
	switch c.Open.Kind {
	case KindValue:
		if words == "" {
			return nil
		}
		return oneResult(Value, Entities{Title: unquoted(words)}, "what was asked for")
	case KindChoose:
		if place || commands == nil && ref != nil && !strings.HasSuffix(words, "?") {
			return oneResult(Choose, Entities{Reference: ref}, "one of the options")
		}
	case KindConfirm:
		if place && refused != "" && c.Open.Intent != "" && !ref.It {
			return oneResult(c.Open.Intent, Entities{Reference: ref}, "another one than was asked about")
		} else if strings.ContainsAny(refused, ",.!") && commands == nil {
			return oneResult(Decline, Entities{}, "a no, and more behind it")
		}
	}
	return nil
}

// denial is a no before what is meant instead.
var denial = regexp.MustCompile(
	`(?i)^(?:no|nope|nein|não|nao|non|nee)(?:[ ,.!]|$)[,.!]* *(?:(?:i meant?|i want|ich meine?|ich meinte|sondern|quero|quis dizer|je veux dire|digo)\b,? *)?`)

// isCertain says that a command can't be the answer to a question: it does not name a task by words that could be a
// title.
func isCertain(r Result) bool {
	ref, changes := r.Entities.Reference, []Intent{Update, Complete, Delete}
	return !slices.Contains(changes, r.Intent) || ref != nil &&
		(ref.Title == "" || r.Entities != Entities{Reference: ref})
}

// ReadWish reads words that were said elsewhere. It gives new tasks, or one list, that are named; none if the words say
// anything else.
func ReadWish(words string) (language string, wanted []Result) {
	language, wanted = readCommands(clean(words[:min(len(words), maxBytes)]), Context{})
	for _, one := range wanted {
		isNew := one.Intent == Create && one.Entities.Title != ""
		if one.Loose || !isNew && (one.Intent != List || len(wanted) > 1) {
			return language, nil
		}
	}
	return language, wanted
}
