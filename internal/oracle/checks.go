package oracle

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/signal"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// ground has the facts that decide whether an answer can stand.
type ground struct {
	Class   classify.Classification
	Tools   []agent.ToolFact
	Offered []string
	Ledger  agent.Ledger
	Past    int // tokens of the session's earlier exchanges
	Shifted bool
	Text    string // of the answer so far

	LookedUp bool // the tree has looked up what the model did not
}

// What an answer may lack.
const (
	missingSource = "source"
	missingWrite  = "write"
	missingWrites = "writes" // some of them
)

// likelyOwn is the probability from which on an answer is expected to rest on the person's code or notes, or on the
// web.
const likelyOwn = 0.8

// likelyHere is the probability below which a model that can't look anything up may answer from what it knows where no
// place that was found does.
const likelyHere = 0.3

// ownPart is the probability that a question is about the person's own code or notes.
func ownPart(c classify.Classification) float64 {
	return c.Probabilities[classify.Code] + c.Probabilities[classify.Documentation]
}

// missing says what an answer lacks, "" for nothing, and why. Whether a question is about the person's own code or
// notes is a guess: so they are looked up for the model once, and what it then says stands. A write that the person
// asked for, one that the answer claims, and one that failed, are no guess.
func (g *ground) missing() (what string, why bt.Why) {
	writes := &g.Ledger.Writes
	switch own := ownPart(g.Class); {
	case g.Class.QueryType == prompt.AllTypes:
		return "", modelDecides.With()
	case !writes.AllDone():
		return missingWrites, writes.Why()
	case g.Ledger.HasWritten():
		return "", hasReceipt.With()
	case g.wantsWrite():
		return missingWrite, noneWritten.With()
	case len(g.Ledger.Opened) > 0:
		return "", placesRead.With(len(g.Ledger.Opened))
	case len(g.Ledger.Taken) > 0: // after going round
		return missingSource, noneReadYet.With()
	case slices.ContainsFunc(g.Ledger.Sources, func(t agent.SourceCalls) bool {
		return t.Shows() && t.Source != tool.Web
	}):
		return "", resultsSeen.With()
	case own < likelyOwn:
		return "", needsNone.With(string(g.Class.QueryType))
	case g.Past > 0 && !g.Shifted:
		return "", buildsOn.With()
	case g.LookedUp:
		return "", noWord.With()
	case len(g.toolsFor(missingSource)) == 0:
		return "", noTool.With()
	}
	return missingSource, noneReadYet.With()
}

// wantsWrite says whether an answer without a receipt lacks one: the person asked for something to be kept, or the
// answer says that it is. Where they asked for no change, only what is said of a place of theirs is such a claim, and
// that a note was saved may be what a place says that was read.
func (g *ground) wantsWrite() bool {
	acts := g.Class.QueryType == classify.Action
	return g.Class.Saves || claimsWrite(ownClaim, acts, g.Text) ||
		(acts || len(g.Ledger.Opened) == 0) && claimsWrite(bareClaim, acts, g.Text)
}

// mayAsk says whether a short reply that ends with a question is one to the person. Where something was read or
// written, where the conversation goes on, and in small talk, it is an answer.
func (g *ground) mayAsk() bool {
	return len(g.Ledger.Opened) == 0 && !g.Ledger.HasWritten() && (g.Past == 0 || g.Shifted) &&
		g.Class.QueryType != classify.Conversational
}

// toolsFor names the offered tools that could provide what is missing, except for changes that may have been made.
func (g *ground) toolsFor(what string) (names []string) {
	_, failed := g.Ledger.Writes.Failures()
	for _, t := range g.Tools {
		if what == missingWrites && !slices.Contains(failed, t.Name) {
			continue
		}
		if slices.Contains(g.Offered, t.Name) && t.Once == (what != missingSource) &&
			!(t.Once && g.Ledger.Labels.Integrity() == agent.Stranger) {
			names = append(names, t.Name)
		}
	}
	return names
}

// hintFor tells the model which change is missing; it is empty if no offered tool could make it.
func (g *ground) hintFor(what string) string {
	names := strings.Join(g.toolsFor(what), ", ")
	switch {
	case what == "" || names == "":
		return ""
	case what == missingWrites:
		failed, _ := g.Ledger.Writes.Failures()
		return fmt.Sprintf("Not all was written: %s. If it can be done, do it now with %s; else say in your answer "+
			"what was not written. What is not named here is done, or in doubt: do not repeat it.", failed, names)
	case what == missingWrite:
		return fmt.Sprintf("Nothing has been saved yet: no tool has confirmed a change. If they want it saved, do it "+
			"now with %s; else answer as you did.", names)
	}
	return ""
}

// maxAskLength is how many characters a question to the person can have. A longer reply is an answer with an offer.
const maxAskLength = 400

// offerPattern matches a question at the end of an answer that offers more.
var offerPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)[.!?)\x60]\s+(?:(?:would you like|do you (?:want|need)|want me|need|is there|` +
		`can i help|may i help|möchtest du|möchten sie|soll ich noch|brauchst du|quer(?:es)? que|deseja[s]?|precisa[s]?|` +
		`gostaria[s]?)\b[^.!?]*|(?:anything|noch etwas|mais alguma coisa)\b[^.!?]*)\?$`)
})

// mayBeAsked says whether a text that ends with a question may be one that the answer depends on. Where a write is
// wanted and none was made, only what says nothing else is: before a question may stand that it was made.
func (w Words) mayBeAsked(wanted bool) bool {
	if wanted && slices.ContainsFunc(text.Sentences(w.Text), func(s text.Span) bool {
		return !strings.HasSuffix(strings.TrimRight(w.Text[s.From:s.To], "*_\"'”)"), "?")
	}) {
		return false
	}
	return w.Size <= maxAskLength && !w.Cites && !offerPattern().MatchString(w.Text)
}

// How a sentence says that something was saved: as the speaker's own doing, or with nobody named. Each begins a
// sentence or a part of one.
var (
	ownClaim = sync.OnceValue(func() *regexp.Regexp {
		return claimPattern(`i(?:['’]ve| have)?(?: now| just| also)? ` +
			`(?:saved|stored|filed|recorded|created|written|wrote|added|updated|put)\b|` +
			`ich habe?\b[^.!?]*\b(?:gespeichert|angelegt|notiert|geschrieben|eingetragen|erstellt|festgehalten|ergänzt)\b|` +
			`(?:guardei|criei|salvei|anotei|escrevi|adicionei|acrescentei|registei|registrei)\b|` +
			`j['’]ai (?:bien |aussi )?(?:enregistré|sauvegardé|créé|ajouté|noté|écrit|consigné|mis)|` +
			`he (?:guardado|creado|añadido|anotado|escrito|agregado|apuntado|registrado)\b|` +
			`(?:lo |la |los |las )?(?:guardé|creé|anoté|añadí|agregué|apunté|registré)`)
	})
	bareClaim = sync.OnceValue(func() *regexp.Regexp {
		return claimPattern(`(?:saved|stored|filed|gespeichert|notiert|guardad[oa]|salv[oa]|anotad[oa]|enregistrée?)\b|` +
			`(?:the|your) (?:new )?(?:note|task|thread)s?(?: is| are| was| were| has been| have been)(?: now)? ` +
			`(?:saved|stored|filed|recorded|created|written|added|updated)\b`)
	})
)

func claimPattern(claims string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[.!?:,;]\s+|\b(?:and|und|e|et|y) )(?:` + claims + `)`)
}

// theirs matches a place of the person's, or a new note.
var theirs = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:your|deine?[mnrs]?|ihre?[mnrs]?|t(?:ua|eu|u|e)s?|s(?:ua|eu)s?|v(?:os|otre|ossas?))\b|` +
		`\b(?:an?|eine|un[ae]) (?:new |neue |nouvelle |nueva |nova )?(?:note|notiz|nota)\b|\.md\b`)
})

// claimsWrite says whether a sentence of a text claims that something was saved to a place that Sibyl keeps: to any, or
// only to the person's.
func claimsWrite(claim func() *regexp.Regexp, anyPlace bool, text string) bool {
	return slices.ContainsFunc(sentenceEnd().Split(text, -1), func(sentence string) bool {
		return claim().MatchString(sentence) && classify.NamesPlaceToSave(sentence) &&
			(anyPlace || theirs().MatchString(sentence))
	})
}

// stopReason is the reason to stop that the signal gives; empty if it gives none.
func (r *Report) stopReason() string {
	if r.Signal == nil {
		return ""
	}
	return map[signal.Type]string{signal.ContextSufficient: StopSatisfied, signal.DelegationRecommended: StopSatisfied,
		signal.PartialAnswer: StopPartial}[r.Signal.Type]
}

// foundNothing says whether every search so far found nothing. Failed searches don't count.
func foundNothing(l *agent.Ledger) bool {
	all := agent.Total(l.Sources)
	return all.Empty > 0 && all.Hits+all.Opened == 0
}
