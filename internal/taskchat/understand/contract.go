package understand

import (
	"slices"
	"strings"
)

// Answer is what a message says to a question of yes or no.
type Answer int

// The answers. Unclear is all that is not nothing but a plain yes or no.
const (
	Unclear Answer = iota
	Yes
	No
)

// Consent reads words that are nothing but a plain yes or no.
func Consent(words string) Answer {
	plain := strings.ToLower(strings.Trim(strings.TrimSpace(words), ".!"))
	for _, polite := range []string{" please", " bitte", " por favor", " merci", " s'il te plaît", " obrigada", " gracias", ", danke", " danke", ", thanks"} {
		plain = strings.TrimSuffix(plain, polite)
	}
	plain = strings.TrimRight(plain, ", ")
	switch {
	case slices.Contains(strings.Fields("yes ja sim oui si sí yep ok"), plain):
		return Yes
	case slices.Contains(strings.Fields("no nein não nao non nope"), plain):
		return No
	}
	return Unclear
}

// Refer reads how a task is named.
func Refer(words, language string) *Reference {
	verb := map[string]string{"de": "erledige ", "pt": "conclua "}[language]
	if verb == "" {
		verb = "complete "
	}
	if r := Read(verb+words, Context{Shown: 50, Spoken: true, Language: language}).Results; len(r) == 1 && r[0].Entities.Reference != nil {
		return r[0].Entities.Reference
	}
	return &Reference{Words: words, Title: words}
}
