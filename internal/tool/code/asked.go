package code

import (
	"regexp"
	"sync"
)

// What questions ask for, where their form tells it.
var (
	valueAsked = pattern(`(?i)\b(how (many|much|long|big|large|often|old|deep|far)|defaults?|maxim(um|al)|minimum|limit|size|(which|what) (value|number|constant)|wie (viele?|lange?|gro(ß|ss)|oft)|` +
		`quant[oa]s?|qual (é )?o (valor|tamanho)|at (most|least))\b`)
	callersAsked = pattern(`(?i)\b(who|what|which [\pL]+|where) (calls?|uses?|invokes?)\b|\bwhere (is|are|does|do) \S+ (get )?(called|used|invoked)\b|\b(callers|usages?|uses|users) of\b|` +
		`\b(wer|was|welche\w* \w+) (ruft|benutzt|verwendet|nutzt)\b|\bwo wird \S+ (aufgerufen|benutzt|verwendet)\b|\bquem (chama|usa)\b|\bonde \S+ é (chamad|usad)[oa]\b`)
)

// bound is how source files call an end of a range, or what holds where nothing is set.
type bound struct {
	asked *regexp.Regexp
	word  string
}

var bounds = sync.OnceValue(func() []bound {
	return []bound{
		{regexp.MustCompile(`(?i)\b(at most|no more than|largest|biggest|longest|highest|how many .* can|höchstens|maximal|no máximo)\b`), "maximum"},
		{regexp.MustCompile(`(?i)\b(at least|smallest|shortest|lowest|mindestens|minimal|no mínimo)\b`), "minimum"},
		{regexp.MustCompile(`(?i)\bif (i|you|we|it|nothing|nobody)\b.*\b(nothing|n[o']t|isnt|dont)\b|\bnot (set|given|configured)\b|\bwithout (setting|configuring)|\b(standardmäßig|por padrão|se eu não)\b`), "default"},
	}
})

// boundWeight is what such a word counts, which the question does not hold.
const boundWeight = 0.5

func (q *queryWords) bounds(question string) {
	for _, b := range bounds() {
		if b.asked.MatchString(question) {
			q.word(b.word, boundWeight)
		}
	}
}
