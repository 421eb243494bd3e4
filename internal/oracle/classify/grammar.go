package classify

import (
	"strings"
	"sync"

	"sibyl/internal/text/search"
)

// Closed classes of words by which a question is seen to go on with the one before it, in the five languages that are trained.
const (
	leading = "and or but und oder aber e ou mas y o pero et"
	asking  = `who whom whose what which when where why how is are am was were do does did can could will would should shall may might has have had must
		wer wem wen wessen wann wo warum wieso wie welche welcher welches ist sind war waren hat haben kann wird quem que qual quais quando onde como é são foi
		quién qué cuál cuándo dónde cómo es son fue qui que quel quelle quand où comment est`
	pronouns = `it they them es sie ihn isso isto ele ela eles elas eso esto él ella ellos ça cela` //nolint:misspell // Portuguese
	pointing = "it that this they those these das dies diese esse essa este esta"
)

// leadingPhrases begin a question that goes on, beside the words that do.
var leadingPhrases = [...]string{"what about ", "how about ", "also in ", "same for ", "only in ", "was ist mit ", "wie ist es mit ", "e quanto a ", "y qué tal "}

var grammar = sync.OnceValue(func() map[string]map[string]bool { return wordSets(leading, asking, pronouns, pointing) })

// wordSets are the words of lists, folded, by the list.
func wordSets(lists ...string) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, list := range lists {
		all[list] = map[string]bool{}
		for w := range strings.FieldsSeq(list) {
			all[list][fold(w)] = true
		}
	}
	return all
}

// isGrammar says whether a word only holds a sentence together.
func isGrammar(norm string) bool { return search.IsStop(norm) || search.IsLight(norm) }
