// Package collect does what the Inquiry does without a detective: it makes seven questions from templates, and says
// what was not found.
//
// Guarantees:
//   - Nothing is judged: there is no score, no contradiction, and nobody is satisfied. A gap says only that no passage
//     was found, or that an answer to when or how much has no figure.
//   - Equal hypotheses give equal questions.
package collect

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"sibyl/internal/inquiry/record"
	"sibyl/internal/inquiry/witness"
	"sibyl/internal/text"
)

// Question is a question made from a template. Aspect is "what", "when", "where", "who", "why", "how" or "how_much".
type Question struct{ Text, Aspect string }

const (
	mostSubject = 240 // characters of a hypothesis that a question names
	mostNames   = 5   // names in the question of who
)

// templates are the templates of a language. %s is the hypothesis, followed in the question of who by the names in it.
type templates struct {
	questions [7]string // in the order of aspects
	noFigure  string    // %s is the question
}

func aspects() [7]string {
	return [...]string{"what", "when", "where", "who", "why", "how", "how_much"}
}

func templatesOf(language string) templates {
	all := map[string]templates{
		"de": {[...]string{"%s: was ist geschehen?", "%s: wann?", "%s: wo?", "%s: wer war beteiligt?",
			"%s: warum?", "%s: wie kam es dazu?", "%s: wie viel?"},
			"Kein Datum und keine Zahl in der Antwort auf: %s"},
		"pt": {[...]string{"%s: o que aconteceu?", "%s: quando?", "%s: onde?", "%s: quem esteve envolvido?",
			"%s: porquê?", "%s: como aconteceu?", "%s: quanto?"},
			"Nenhuma data ou número na resposta a: %s"},
		"fr": {[...]string{"%s : que s'est-il passé ?", "%s : quand ?", "%s : où ?", "%s : qui était impliqué ?",
			"%s : pourquoi ?", "%s : comment est-ce arrivé ?", "%s : combien ?"},
			"Aucune date ni aucun chiffre dans la réponse à : %s"},
		"es": {[...]string{"%s: ¿qué ocurrió?", "%s: ¿cuándo?", "%s: ¿dónde?",
			"%s: ¿quién estuvo implicado?", "%s: ¿por qué?", "%s: ¿cómo ocurrió?", "%s: ¿cuánto?"}, //nolint:misspell // Spanish
			"Ninguna fecha ni cifra en la respuesta a: %s"},
	}
	if w, known := all[language]; known {
		return w
	}
	return templates{[...]string{"%s: what happened?", "%s: when?", "%s: where?", "%s: who was involved?",
		"%s: why?", "%s: how did it come about?", "%s: how much?"},
		"No date and no figure in the answer to: %s"}
}

// Questions are the seven questions about a hypothesis, in a language: "en", "de", "pt", "fr" or "es"; English for any
// other.
func Questions(language, hypothesis string) []Question {
	w := templatesOf(language)
	subject := strings.TrimRight(text.Brief(hypothesis, mostSubject), ".?! ")
	all := make([]Question, 0, len(w.questions))
	for n, aspect := range aspects() {
		about := subject
		if list := properNames(hypothesis); aspect == "who" && len(list) > 0 {
			about = subject + " (" + strings.Join(list, ", ") + ")"
		}
		all = append(all, Question{fmt.Sprintf(w.questions[n], about), aspect})
	}
	return all
}

// properNames are the words of a hypothesis that have a capital and do not begin a sentence, each once. Adjacent ones
// are one name.
func properNames(hypothesis string) (list []string) {
	begins, joins := true, false // a sentence begins; the word before is part of a name
	for _, word := range strings.Fields(hypothesis) {
		bare := strings.TrimFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		first := []rune(bare + " ")[0]
		switch isName := unicode.IsUpper(first) && !begins; {
		case isName && joins:
			list[len(list)-1] += " " + bare
		case isName:
			list = append(list, bare)
			joins = true
		default:
			joins = false
		}
		ends := strings.HasSuffix(word, ".") || strings.HasSuffix(word, "?") || strings.HasSuffix(word, "!")
		joins = joins && strings.HasSuffix(word, bare)
		begins = ends
	}
	var once []string
	for _, name := range list {
		if !slices.Contains(once, name) && len(once) < mostNames {
			once = append(once, name)
		}
	}
	return once
}

// Gaps are what the answers leave open, of which the n-th is about the n-th aspect: no passage was found, or an answer
// to when or how much has no figure.
func Gaps(language string, pairs []witness.Exchange) (gaps []record.Gap) {
	w := templatesOf(language)
	for n, aspect := range aspects() {
		if n >= len(pairs) {
			break
		}
		p := pairs[n]
		gap := record.Gap{ID: fmt.Sprintf("g%d", n+1), Aspect: aspect, Since: n + 1}
		figures := strings.ContainsFunc(p.Answer, unicode.IsDigit)
		switch {
		case p.NotFound || strings.TrimSpace(p.Answer) == "":
			gap.Category = record.MissingInformation
			gap.Severity = record.Medium
			said, unread, _ := strings.Cut(p.Answer, ". ") // what was not read stands behind that nothing was found
			gap.Description = strings.TrimSpace(strings.TrimRight(said, ". ") + ": " + p.Question + " " + unread)
		case (aspect == "when" || aspect == "how_much") && !figures:
			gap.Category = record.Vagueness
			gap.Severity = record.Low
			gap.Description = fmt.Sprintf(w.noFigure, p.Question)
		default:
			continue
		}
		gaps = append(gaps, gap)
	}
	return gaps
}
