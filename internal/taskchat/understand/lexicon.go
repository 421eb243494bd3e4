package understand

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// class is what a word does in a sentence, whatever the language.
type class uint8

// Verbs come first: where a phrase is in several classes, the first counts.
const (
	noClass       class = iota
	vRemind             // what follows is a title: "remind me to", "don't forget"
	vNeed               // "I need to": what follows is to be done by the person
	vCreate             // "add"
	vPut                // makes a task with "on my list", deletes one with "off my list"
	vDelete             // "delete"
	vDeleteWeak         // deletes if a task is named as one: "drop task 2", not "drop the parcel"
	vComplete           // "complete"
	vCompleteWeak       // "finish"
	vUpdate             // "change"
	vUpdateWeak         // "fix"
	vRename             // "rename"
	vMove               // to another day: "postpone"
	vReopen             // "reopen"
	vMark               // needs a state behind: "mark … as done"
	vList               // "show"
	vFind               // "search for"
	vUndo               // "undo that"
	vGive               // with a description or title behind the task: "give it the title"
	vErrand             // what tasks are made of: "buy", "call"
	vErrandNoun         // the same, but as often a noun: "book", "water"
	lastVerb

	fAsk     // "could you"
	fWish    // "I'd like to"
	fFiller  // says nothing: "please", "then"
	fMe      // for whom: "me", "for me"
	fGreet   // "good morning"
	fThanks  // "thanks"
	fHedge   // "maybe"
	fReport  // what follows is said by somebody: "said"
	fIf      // what follows is not so: "if"
	fAsking  // begins a question: "how", "should I"
	fAux     // begins a question before a subject: "can", "is"
	fSubject // "I", "we", "he"
	fPerfect // with a participle it is the past: "ich habe"
	fTalk    // is no noun for a title: "nice", "lol"
	fBe      // a finite form that makes a statement: "is", "was"
	fStative // verbs of the past that finish nothing: "was", "loved"
	fAskIf   // "if you could": what follows is asked for
	fUhm     // hesitation: "uhm"
	fClausal // verbs that a statement may follow: "check", "make sure"
	fHelp    // "help", "what can you do"
	fAgain   // takes back what was just said: "I mean"
	fMeant   // says that what was said or done before was another one: "I meant"
	fToo     // of a follow-up to the turn before: "too", "as well"
	fCould   // begins a request behind what it is about: "die zweite kannst du löschen"
	fClosing // ends the talk, behind "I'm done": "for today"

	yStrong // "yes"
	yWeak   // yes only if nothing else is said: "ok"
	yNo     // "no"
	yCancel // "never mind"
	yMaybe  // makes any answer none: "maybe", "but", "later"
	yThat   // may stand beside a yes: "do it"
	yInsist // insists on a command, in front of it or behind: "really", "I mean it"

	rArticle    // "the", "my", "this"
	rIndefinite // "a"
	rTask       // "task", "item"
	rTasks      // "tasks"
	rList       // "list"
	rListKind   // "to-do", of a list
	rOne        // "one" after an article or ordinal
	rOnes       // "ones"
	rThese      // articles that point at several: "those"
	rIt         // "it", "this"
	rAll        // "all", "every"
	rWhole      // "entire"
	rEach       // "everything": needs no noun
	rBoth       // "both"; with the value 3, "alle drei"
	rExcept     // "except"
	rNumber     // "two"
	rOrdinal    // "second", "last"
	rNumeroSign // "number", before a number
	rOf         // "of", "from", before a list
	rAnd        // "and"
	rOr         // "or"
	rThrough    // "to", between numbers
	rAbout      // between "task" and its title
	rNone       // "none"
	rNot        // "not"
	rInstead    // between the one that is meant and the other: "instead of"
	rNew        // "new"
	rAnother    // "other"
	rOnly       // "only"
	rMiddle     // "in the middle", "middle one"
	rBeside     // before a position, the one next to it: "before" with the value -1, "after" with 1
	rEnd        // "at the top" with the value 1, "from the bottom" with -1
	rPlace      // stands for "on the list": "on there"
	rIts        // before or behind "title" or "description": "its", "dela"

	tTo        // before a list: "to", "on"
	tGoes      // between the list and what is to stand on it: "goes"
	tTick      // "tick", "check mark"
	tCalled    // between a task and its new title: "should be called"
	tTail      // ends the words of "tasks that have to do with": "zu tun hat"
	tOnto      // before a list, of words that only put something on it: "onto"
	tFrom      // before a list: "off", "from"
	tAs        // before a state or kind: "as"
	tInto      // before a new value: "to"
	tDone      // "done"
	tUndone    // "pending"
	tStill     // "left", "still": in a question, what is pending
	tNewest    // "newest first"
	tDesc      // "description"; with the value 1, a word that is nothing else
	tTitle     // "title", "name"
	tWith      // "with"
	tAnchor    // shows that a question is about the list: "have to do"
	tInList    // words that a request for the list is made of: "have", "there", "today"
	tInfTo     // between "remind me tomorrow" and the title: "to", "about"
	tPast      // irregular verbs in the past: "bought"
	tParticle  // of verbs that are split: value is the number of the verb's pair
	tNoInf     // words that look like infinitives and are none
	tEnding    // what ends a polite request: "would you"
	tZu        // before an infinitive: "zu"
	tBack      // points back at what was just said: "it", "her"
	tThat      // ends the frame of a reminder: "to"
	tSaying    // between "description" and it: "saying"
	tStatus    // "status"
	tThen      // connects what follows: "then"
	tChange    // "change", in "the last change"
	tPassive   // what is done to tasks in questions: "deleted"
	tWhereIs   // asks for tasks about something: "when is", "is there anything"
	tLink      // before a state: "is"
	tAlready   // "already"
	tInsteadOf // "instead"
	tPick      // before an option: "take"
	tLeads     // before a value: "call it"
	tItIs      // "it's", before a state
	tShould    // before a new value, behind "its title": "should be"
	tNeedless  // before a task, says that it is to be deleted: "I don't need"
	tGone      // says behind a task that it is to be deleted: "can go", "is no longer needed"
	tTime      // begins a time: "for", "tomorrow"
	lastClass
)

// language is what closed classes of words are in a language. In words, a low line joins a
// phrase, a colon stands before a value, ~ for each ending, and = before a word that counts only as it is spelled, accents and all.
type language struct {
	code    string
	classes map[class]string
	endings string           // of adjectives and ordinals: what ~ stands for
	core    string           // words that are understood with a letter or two wrong, as verbs of commands are: the list's own nouns
	split   map[class]string // verbs with a particle far behind: "hak…ab"
	// infinitive says whether a word has the form of an infinitive; last, whether a clause ends with it.
	infinitive func(t token, cased bool) bool
	last       bool
	// past says whether a word has the form of a verb in the past, done by the person.
	past func(w string) bool
	// participle says whether a word has the form of one that says, behind "is", what was done to something.
	participle func(w string) bool
	// pastAlone says that such a verb names the person by its form.
	pastAlone bool
	// order brings the words of a message into the order that the rules know; nil: they are in it.
	order func(x *lexicon, src string, tokens []token) []token
}

// entry is a word or phrase of a class.
type entry struct {
	class class
	rest  []string // after the first word
	exact string   // the only spelling of the first word that counts; "": any
	value int
}

// pair is a verb with its particle.
type pair struct {
	class    class
	particle string
}

// lexicon is a language made ready to look words up.
type lexicon struct {
	language
	entries map[string][]entry // by first word; the longest phrase first, then by class
	pairs   []pair
	verbs   []string // single words of verbs, for typos
	phrases []string // first words of longer phrases of verbs and requests, and the list's own nouns, for typos
}

// lexicons are all languages; of equal evidence the earlier wins.
func lexicons() []*lexicon { return built() }

var built = sync.OnceValue(func() []*lexicon {
	return []*lexicon{newLexicon(english()), newLexicon(german()), newLexicon(portuguese())}
})

func newLexicon(l language) *lexicon {
	x := &lexicon{language: l, entries: map[string][]entry{}}
	for c := noClass; c < lastClass; c++ {
		for _, w := range strings.Fields(l.classes[c]) {
			text, digits, _ := strings.Cut(w, ":")
			value, _ := strconv.Atoi(digits)
			x.add(c, text, value)
		}
		for _, w := range strings.Fields(l.split[c]) {
			head, particle, _ := strings.Cut(w, "…")
			particle = fold(strings.ReplaceAll(particle, "_", " "))
			x.pairs = append(x.pairs, pair{c, particle})
			x.add(tParticle, head, len(x.pairs)-1)
		}
	}
	core := strings.Fields(l.core)
	for w, list := range x.entries {
		slices.SortStableFunc(list, func(a, b entry) int {
			return cmp.Or(cmp.Compare(len(b.rest), len(a.rest)), cmp.Compare(a.class, b.class))
		})
		if len(w) >= 3 && slices.ContainsFunc(list, func(e entry) bool { return len(e.rest) == 0 && e.class < vErrand }) {
			x.verbs = append(x.verbs, w)
		}
		if len(w) >= 5 && slices.ContainsFunc(list, func(e entry) bool { return len(e.rest) > 0 && (e.class < vErrand || e.class == fAsk) }) {
			x.phrases = append(x.phrases, w)
		}
	}
	for _, w := range core {
		x.phrases = append(x.phrases, fold(w))
	}
	slices.Sort(x.verbs)
	slices.Sort(x.phrases)
	x.phrases = slices.Compact(x.phrases)
	return x
}

// add takes a word in, in each way it is written: with umlauts as ue, without its apostrophe.
func (x *lexicon) add(c class, text string, value int) {
	if stem, rest, ok := strings.Cut(text, "~"); ok {
		for _, ending := range strings.Fields(x.endings) {
			x.add(c, stem+ending+rest, value)
		}
		return
	}
	exact := ""
	if strings.HasPrefix(text, "=") && text != "=" {
		text = text[1:]
		exact, _, _ = strings.Cut(text, "_")
	}
	for _, form := range spellings(text) {
		parts := strings.Split(form, "_")
		list := x.entries[parts[0]]
		e := entry{c, parts[1:], exact, value}
		if !slices.ContainsFunc(list, func(o entry) bool {
			return o.class == c && o.value == value && o.exact == exact && slices.Equal(o.rest, e.rest)
		}) {
			x.entries[parts[0]] = append(list, e)
		}
	}
}

func spellings(text string) []string {
	text = strings.ToLower(text)
	forms := []string{fold(text)}
	if long := fold(strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue").Replace(text)); long != forms[0] {
		forms = append(forms, long)
	}
	if short := strings.ReplaceAll(forms[0], "'", ""); short != forms[0] && forms[0][0] != '\'' {
		forms = append(forms, short)
	}
	return forms
}

// ranked orders the languages by what the words say for each; context decides between equals. Only those that the words speak for follow the first.
func ranked(tokens []token, context string) []*lexicon {
	all := lexicons()
	scores := map[*lexicon]float64{}
	known := false
	for _, l := range all {
		scores[l] = l.evidence(tokens)
		known = known || scores[l] > 0
	}
	for _, l := range all {
		if form := l.form(tokens); known { // of equal evidence
			scores[l] += form / 20
		} else {
			scores[l] += form
		}
		if l.code == context {
			scores[l] += 0.6
		}
	}
	list := slices.Clone(all)
	slices.SortStableFunc(list, func(a, b *lexicon) int { return cmp.Compare(scores[b], scores[a]) })
	for i, l := range list {
		if i > 0 && scores[l] < 1 {
			return list[:i]
		}
	}
	return list
}

// evidence counts the words that a language knows; verbs and longer phrases count more.
func (x *lexicon) evidence(tokens []token) (sum float64) {
	for i := 0; i < len(tokens); {
		n, gain := 1, 0.0
		for _, e := range x.entries[tokens[i].norm] {
			if e.matches(tokens[i:]) {
				n, gain = 1+len(e.rest), 1+float64(len(e.rest))
				if e.class < lastVerb {
					gain += 0.3
				}
				break
			}
		}
		if tokens[i].quoted {
			gain /= 4
		}
		sum += gain
		i += n
	}
	return sum
}

// form counts the words that have the form of an infinitive, where no word is known.
func (x *lexicon) form(tokens []token) (sum float64) {
	for _, t := range tokens {
		if t.kind == word && x.infinitive(t, false) {
			sum += 0.4
		}
	}
	return sum
}

// matches says whether an entry of the first token's word goes on in those that follow.
func (e entry) matches(tokens []token) bool {
	if len(tokens) <= len(e.rest) {
		return false
	}
	for i, w := range e.rest {
		if tokens[i+1].norm != w {
			return false
		}
	}
	return true
}

// known is the code of a language that there is: the given one, or English.
func known(code string) string {
	for _, l := range lexicons() {
		if l.code == code {
			return code
		}
	}
	return lexicons()[0].code
}
