package record

import (
	"fmt"
	"strings"
)

// words are what pages and texts say around a session, in one language.
type words struct {
	title, hypothesis                                                 string
	session, began, ended, witness, detective, run, digest, limit     string
	score, summary, contradictions, gaps, pairs, timeline             string
	documents, passages, trail                                        string
	term, sum, points, start, half, noAudit, noSum, provisional       string
	noContradictions, noGaps, noPairs, noTrail, noCitations           string
	question, answer, noAnswer, notInDocuments, quoted                string
	completeness, followUp, noFollowUp, openAfter, none               string
	asked, answered, analysed, strategy, aspect, follows, about       string
	category, severity, description, firstSeen, state, open, asks     string
	time, event, reason, from, to, document, page, pages, chunk, hash string
	chunks, problem, runs, over, clash, noClash, settled, unsettle    string
	verify, by, citing                                                string

	pair        string            // with its sequence
	closed      string            // with the sequence of the pair after which it is open no more
	mean        string            // with the mean shortfall
	stated      string            // with the score that is stated, and that of the formula
	rounded     string            // of the last row of the sum
	verdicts    map[string]string // by the reason of the end, or the status where there is none; with questions
	result      string            // with score, contradictions, gaps
	categories  map[Category]string
	severities  map[Severity]string
	kinds       map[Kind]string
	events      map[EventKind]string
	statuses    map[Status]string
	comma       string // in a number
	questions   [2]string
	contraries  [2]string
	openGaps    [2]string
	highAmong   [2]string
	noneAmong   string
	witnessKind map[string]string
}

// wordsOf are the words of a language; English where a session says none.
func wordsOf(language string) words {
	if language == "de" {
		return german
	}
	return english
}

// count puts a number before its noun.
func count(n int, noun [2]string) string {
	if n == 1 {
		return "1 " + noun[0]
	}
	return fmt.Sprintf("%d %s", n, noun[1])
}

// number is a number as the language writes it.
func (w words) number(x float64) string { return strings.ReplaceAll(decimal(x), ".", w.comma) }

// or is the word for a thing, or the thing itself where there is none.
func or[T ~string](table map[T]string, key T) string {
	if word, ok := table[key]; ok {
		return word
	}
	return string(key)
}

// verdict says in a line or two how the session ended and what came of it.
func (w words) verdict(s *Session) string {
	key := string(s.EndReason)
	if key == "" {
		key = string(s.Status)
	}
	line := short(key) + "."
	if said, known := w.verdicts[key]; known {
		line = fmt.Sprintf(said, count(len(s.Pairs), w.questions))
	}
	a := s.Audit()
	if a == nil {
		return line + " " + w.noAudit
	}
	high := 0
	for _, g := range a.RemainingGaps {
		if g.Severity == High {
			high++
		}
	}
	open := count(len(a.RemainingGaps), w.openGaps)
	switch {
	case high > 0:
		open += " (" + count(high, w.highAmong) + ")"
	case len(a.RemainingGaps) > 0:
		open += " (" + w.noneAmong + ")"
	}
	result := fmt.Sprintf(w.result, points(a.ConsistencyScore), count(len(a.Contradictions), w.contraries), open)
	if s.AuditResult == nil {
		result = w.provisional + " " + result
	}
	return line + " " + result
}

var english = words{
	title: "Evidence of an inquiry", hypothesis: "Hypothesis made",
	session: "Session", began: "Began", ended: "Ended", witness: "Witness", detective: "Detective", run: "Run", digest: "Digest", limit: "Questions, of at most",
	score: "Score", summary: "Summary", contradictions: "Contradictions", gaps: "Gaps", pairs: "Questions and answers", timeline: "Timeline",
	documents: "Documents", passages: "What is cited", trail: "Audit trail",
	term: "Term", sum: "How it comes about", points: "Points", start: "Start", half: "Shortfall of completeness", noAudit: "There is no audit yet.",
	noSum: "The session does not say how its score comes about.", provisional: "Provisional:",
	noContradictions: "No contradiction was recorded.", noGaps: "No gap was found.", noPairs: "No question was asked.",
	noTrail: "Nothing happened beside questions and answers.", noCitations: "No document is cited.",
	question: "Question", answer: "Answer", noAnswer: "The witness returned nothing.", notInDocuments: "The documents do not say it.", quoted: "Quoted from",
	completeness: "Completeness", followUp: "The detective wants to ask on.", noFollowUp: "The detective need not ask on.", openAfter: "Open after this answer", none: "none",
	asked: "Asked by", answered: "Answered by", analysed: "Analysed by", strategy: "Strategy", aspect: "Aspect", follows: "Asks about", about: "Names",
	category: "Category", severity: "Severity", description: "What is missing or unclear", firstSeen: "First seen", state: "State", open: "open", asks: "Asked about",
	time: "Time (UTC)", event: "Event", reason: "Reason", from: "From", to: "To", document: "Document", page: "Page", pages: "Pages", chunk: "Chunk", hash: "SHA-256",
	chunks: "Chunks", problem: "Could not be read", runs: "it is running", over: "The session ends", clash: "What clashes", noClash: "not said",
	settled: "It stands after", unsettle: "It was recorded without asking the witness about it.",
	verify: "This page carries the session, and the passages that it cites with their hashes. “sibyl inquiry verify FILE” makes the page again from them and compares every byte; with the documents at hand, " +
		"it looks up every quote. Compare the digest with one that was noted elsewhere: it alone tells that nobody made the whole page anew.",
	by: "Written by", citing: "Quoted in", pair: "Pair %d", closed: "closed by", mean: "a tenth of the mean of what the pairs lack (%s)",
	stated: "Stated: %d. The formula gives %d.", rounded: "rounded, and at least 0",
	verdicts: map[string]string{
		"satisfied": "The detective is satisfied after %s.", "completed": "The detective is satisfied after %s.",
		"limit": "The limit was reached after %s.", "limit-reached": "It ended at its limit, after %s.", "no-progress": "It ended after %s, since the last answers brought nothing new.",
		"stopped": "It was stopped after %s.", "error": "It ended with an error after %s.", "timeout": "It ran out of time after %s.",
		"failed": "It failed after %s.", "running": "It is still running, after %s.",
	},
	result:     "Consistency %d of 100, %s, %s.",
	categories: map[Category]string{MissingInformation: "missing information", Ambiguity: "ambiguity", Inconsistency: "inconsistency", Vagueness: "vagueness"},
	severities: map[Severity]string{Low: "low", Medium: "medium", High: "high"},
	kinds:      map[Kind]string{KindNumber: "number", KindDate: "date", KindNegation: "negation", KindName: "name", KindOther: "other"},
	events:     map[EventKind]string{ProviderSwitch: "another provider", TimeoutEvent: "time-out", ErrorEvent: "error"},
	statuses:   map[Status]string{Running: "running", Completed: "completed", Failed: "failed", LimitReached: "limit reached"},
	comma:      ".", questions: [2]string{"question", "questions"}, contraries: [2]string{"contradiction", "contradictions"}, openGaps: [2]string{"open gap", "open gaps"},
	highAmong: [2]string{"of high severity", "of high severity"}, noneAmong: "none of high severity",
	witnessKind: map[string]string{WitnessDocuments: "documents", WitnessModel: "model"},
}

var german = words{
	title: "Beweis einer Befragung", hypothesis: "Hypothese vom",
	session: "Sitzung", began: "Beginn", ended: "Ende", witness: "Zeuge", detective: "Detektiv", run: "Lauf", digest: "Prüfsumme", limit: "Fragen, von höchstens",
	score: "Bewertung", summary: "Zusammenfassung", contradictions: "Widersprüche", gaps: "Lücken", pairs: "Fragen und Antworten", timeline: "Verlauf",
	documents: "Dokumente", passages: "Was zitiert wird", trail: "Protokoll",
	term: "Posten", sum: "Wie sie zustande kommt", points: "Punkte", start: "Ausgang", half: "Fehlende Vollständigkeit", noAudit: "Es gibt noch kein Ergebnis.",
	noSum: "Die Sitzung sagt nicht, wie ihre Bewertung zustande kommt.", provisional: "Vorläufig:",
	noContradictions: "Es ist kein Widerspruch festgehalten.", noGaps: "Es wurde keine Lücke gefunden.", noPairs: "Es wurde keine Frage gestellt.",
	noTrail: "Neben Fragen und Antworten geschah nichts.", noCitations: "Es wird kein Dokument zitiert.",
	question: "Frage", answer: "Antwort", noAnswer: "Der Zeuge gab nichts zurück.", notInDocuments: "Die Dokumente sagen es nicht.", quoted: "Zitiert aus",
	completeness: "Vollständigkeit", followUp: "Der Detektiv will weiterfragen.", noFollowUp: "Der Detektiv muss nicht weiterfragen.", openAfter: "Offen nach dieser Antwort",
	none: "nichts", asked: "Gefragt von", answered: "Beantwortet von", analysed: "Ausgewertet von", strategy: "Vorgehen", aspect: "Aspekt", follows: "Fragt nach", about: "Nennt",
	category: "Art", severity: "Gewicht", description: "Was fehlt oder unklar ist", firstSeen: "Zuerst gesehen", state: "Stand", open: "offen", asks: "Nachgefragt",
	time: "Zeit (UTC)", event: "Ereignis", reason: "Grund", from: "Von", to: "Zu", document: "Dokument", page: "Seite", pages: "Seiten", chunk: "Abschnitt", hash: "SHA-256",
	chunks: "Abschnitte", problem: "Nicht lesbar", runs: "sie läuft", over: "Die Sitzung endet", clash: "Was sich widerspricht", noClash: "nicht gesagt",
	settled: "Er steht nach", unsettle: "Er ist festgehalten, ohne dass der Zeuge dazu gefragt wurde.",
	verify: "Diese Seite trägt die Sitzung und die zitierten Stellen mit ihren Prüfsummen. „sibyl inquiry verify DATEI“ macht die Seite daraus neu und vergleicht jedes Byte; liegen die Dokumente vor, " +
		"wird jedes Zitat nachgeschlagen. Vergleichen Sie die Prüfsumme mit einer, die anderswo notiert ist: nur sie zeigt, dass niemand die ganze Seite neu gemacht hat.",
	by: "Verfasst von", citing: "Zitiert in", pair: "Paar %d", closed: "geschlossen durch", mean: "ein Zehntel des Mittels dessen, was den Paaren fehlt (%s)",
	stated: "Angegeben: %d. Die Formel ergibt %d.", rounded: "gerundet, und mindestens 0",
	verdicts: map[string]string{
		"satisfied": "Der Detektiv ist nach %s zufrieden.", "completed": "Der Detektiv ist nach %s zufrieden.",
		"limit": "Die Grenze war nach %s erreicht.", "limit-reached": "Sie endete an ihrer Grenze, nach %s.", "no-progress": "Sie endete nach %s, weil die letzten Antworten nichts Neues brachten.",
		"stopped": "Sie wurde nach %s beendet.", "error": "Sie endete nach %s mit einem Fehler.", "timeout": "Nach %s war die Zeit abgelaufen.",
		"failed": "Sie scheiterte nach %s.", "running": "Sie läuft noch, nach %s.",
	},
	result:     "Stimmigkeit %d von 100, %s, %s.",
	categories: map[Category]string{MissingInformation: "fehlende Angabe", Ambiguity: "Mehrdeutigkeit", Inconsistency: "Unstimmigkeit", Vagueness: "Unschärfe"},
	severities: map[Severity]string{Low: "leicht", Medium: "mittel", High: "schwer"},
	kinds:      map[Kind]string{KindNumber: "Zahl", KindDate: "Datum", KindNegation: "Verneinung", KindName: "Name", KindOther: "Sonstiges"},
	events:     map[EventKind]string{ProviderSwitch: "anderer Anbieter", TimeoutEvent: "Zeitüberschreitung", ErrorEvent: "Fehler"},
	statuses:   map[Status]string{Running: "läuft", Completed: "abgeschlossen", Failed: "gescheitert", LimitReached: "Grenze erreicht"},
	comma:      ",", questions: [2]string{"Frage", "Fragen"}, contraries: [2]string{"Widerspruch", "Widersprüche"}, openGaps: [2]string{"offene Lücke", "offene Lücken"},
	highAmong: [2]string{"schwere", "schwere"}, noneAmong: "keine davon schwer",
	witnessKind: map[string]string{WitnessDocuments: "Dokumente", WitnessModel: "Modell"},
}
