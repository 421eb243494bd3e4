package understand

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"sibyl/internal/text"
	"sibyl/internal/text/search"
)

// Reference says which tasks are meant.
type Reference struct {
	Words string // as they were said: "task 2", "the meeting task"
	// in the last list shown (or the options asked about), from 1; negative ones count from the end: -1 is the last
	Positions []int
	It        bool       // "it", "that one", "this task": what was spoken of last
	All       bool       // all of them ("both", "all", "everything"), but for Except
	Both      bool       // with All: two were said, "both"
	Except    *Reference // with All
	Title     string     // content words by which a task is named; "" if it is named otherwise
}

// How tasks are referred to, in English, German, Portuguese, French and Spanish. Each pattern must fit the whole of
// what was said.
const (
	articles = `the|my|this|that|no\.|number|numbers|die|der|das|den|dem|des|diese[mnrs]?|jene[mnrs]?|meine[mnrs]?|nr\.|nummer|nummern|` +
		`o|a|os|as|à|ao|às|aos|minhas?|meus?|ess[ea]s?|est[ea]s?|número|n[oº°]\.?|le|la|les|cette|numéro|mes|el|los|las|mis?|#`
	nouns         = `tasks?|to-?dos?|items?|entry|entries|reminders?|ones?|aufgaben?|einträge?|eintrag|punkte?|erinnerung(?:en)?|tarefas?|lembretes?|tâches?|tareas?`
	links         = `about|called|named|titled|with|for|on|mit|zu|zum|zur|über|namens|beim|bei|von|vom|für|sobre|chamada|com|da|do|das|dos|de|d'|del`
	mostPositions = 100 // that a reference names
	eachWord      = `all|both|everything|every|each|alle[mnrs]?|beide[nrs]?|sämtliche|todas|todos|tudo|ambas|ambos|as duas|os dois|tout|toutes|tous|` +
		`(?:toutes |tous )?les deux|todo|las dos|los dos`
	eachRest = `of|my|the|meine[nr]?|die|as|os|les|las|los|minhas|meus|them|it|on|whole|list|von|ihnen|davon|auf|der|liste|elas|eles|da|lista|d'elles|ellas`
	pronoun  = `it|its|that|this|them|these|that one|this one|es|sie|ihn|das|die|den|der|dies|diese[nrs]?|isso|isto|ess[ea]|est[ea]|el[ea]|` +
		`ça|cela|celle-ci|celle-là|celui-ci|eso|esto|és[ea]|ést[ea]|lo|(?:the|this|that|diese|die|essa|esta|a|cette|la|esa|esta) (?:task|one|aufgabe|tarefa|tâche|tarea)`
	done = `completed|complete|done|finished|erledigte[nrs]?|fertige[nrs]?|abgehakte[nrs]?|concluíd[ao]s?|feit[ao]s?|terminad[ao]s?|completad[ao]s?`
	open = `open|pending|remaining|unfinished|offene[nrs]?|unerledigte[nrs]?|pendentes?|abert[ao]s?|pendientes?`
)

// numerals are the words for positions, counted from the front or, negative, from the end: ordinals and numbers.
var numerals = [...]struct {
	at       int
	nth, few string
}{
	{1, `first|erste[nrs]?|primeir[ao]|premi(?:er|ère)|primer[ao]?`, `one|eins|uma?|une?|una`},
	{2, `second|zweite[nrs]?|segund[ao]|deuxième|seconde`, `two|zwei|beiden|duas|dois|deux|dos`},
	{3, `third|dritte[nrs]?|terceir[ao]|troisième|tercer[ao]?`, `three|drei|três|trois`},
	{4, `fourth|vierte[nrs]?|quart[ao]|quatrième|cuart[ao]`, `four|vier|quatro|quatre|cuatro`},
	{5, `fifth|fünfte[nrs]?|quint[ao]|cinquième`, `five|fünf|cinco|cinq`},
	{6, `sixth|sechste[nrs]?|sext[ao]|sixième`, `six|sechs|seis`},
	{7, `seventh|siebte[nrs]?|sétim[ao]|septième|séptim[ao]`, `seven|sieben|sete|sept|siete`},
	{8, `eighth|achte[nrs]?|oitav[ao]|huitième|octav[ao]`, `eight|acht|oito|huit|ocho`},
	{9, `ninth|neunte[nrs]?|non[ao]|neuvième|noven[ao]`, `nine|neun|nove|neuf|nueve`},
	{10, `tenth|zehnte[nrs]?|décim[ao]|dixième`, `ten|zehn|dez|dix|diez`},
	{-1, `last|letzte[nrs]?|últim[ao]|derni(?:er|ère)`, `last`},
	{-2, `second to last|second last|next to last|vorletzte[nrs]?|penúltim[ao]|avant-derni(?:er|ère)`, `last`},
}

// references are the patterns of how tasks are referred to.
type references struct {
	one, span, group, all, every, both, it, label, quoted, joint *regexp.Regexp
	numerals                                                     []*regexp.Regexp
}

var referencePatterns = sync.OnceValue(func() *references {
	r := &references{it: whole(pronoun),
		both:  part(`both|beide[nrs]?|ambas|ambos|as duas|os dois|les deux|las dos|los dos`),
		joint: lenient(`(?:,? (?:and then|and|und dann|und|sowie|e depois|e|et|y|as well as) |\s*[,&+]\s*)`)}
	var ordinals, numbers []string
	for _, n := range numerals {
		ordinals, numbers = append(ordinals, n.nth), append(numbers, n.few)
		r.numerals = append(r.numerals, whole(n.nth+`|`+n.few))
	}
	nth, few := strings.Join(ordinals, "|"), strings.Join(numbers, "|")
	the := `(?:(?:` + articles + `|` + nouns + `)(?:\b|\s)\s*|#\s*)*?`
	list := `(?: (?:on|from|of|in|auf|von|da|na|de la)(?: (?:` + articles + `))? (?:to-?do )?(?:list|liste|lista))?`
	status := `(?:` + done + `|` + open + `)`
	many := `(?:(?:` + eachRest + `|` + nouns + `|` + done + `|` + open + `)\b ?)*`
	r.one = whole(the + `(?:(\d{1,3})(?:\.|st|nd|rd|th|ª|º|te[nrs]?)?|(` + nth + `))(?: (?:` + nouns + `))?` + list +
		`|(?:(?:` + nouns + `|number|nummer|número|numéro) )?(` + few + `)`)
	r.span = whole(the + `(?:from |von |de )?(\d{1,3}) ?(?:-|–|to|through|bis|a|à|até) ?(\d{1,3})`)
	r.group = whole(`(?:(?:the|die|as|os|les|las|los) )?(?:(?:first|ersten|primeir[ao]s) (\d|` + few +
		`)|(?:last|letzten|últim[ao]s) (\d|` + few + `))(?: (?:` + nouns + `))?`)
	r.all = whole(`(?:(?:` + articles + `) )*(?:them )?(?:` + eachWord + `)\b ?` + many +
		`(?:,? ?(?:but|except|except for|apart from|außer|bis auf|exceto|menos|salvo|sauf|excepto) (.+))?`)
	r.every = whole(`(?:(?:the|my|die|meine|as|os|minhas|meus) )*(?:` + status +
		` )?(?:tasks|todos|to-dos|items|aufgaben|tarefas|list|liste)(?: ` + status + `)?`)
	lead := `^(?:(?:` + articles + `|` + nouns + `|` + links + `)[ :]+)*`
	r.label = lenient(lead + `(.+?)(?: (?:` + nouns + `))?$`)
	r.quoted = lenient(lead + `["“„«‚‘'](.+)["”“»‘’'][.!]?$`)
	return r
})

// whole is a pattern that must fit a whole text, and part one that must fit some words of it. Both ignore case and
// accents.
func whole(pattern string) *regexp.Regexp { return lenient(`^(?:` + pattern + `)$`) }
func part(pattern string) *regexp.Regexp {
	return lenient(`(?:^|[^\pL])(?:` + pattern + `)(?:[^\pL]|$)`)
}

// lenient compiles a pattern so that accents may be left out of what it fits.
func lenient(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?is)`)
	const with, without = "äöüßáàâãéèêíìóòôõúùçûî", "a|ae o|oe u|ue ss a a a a e e e i i o o o o u u c u i"
	plain := strings.Fields(without)
	for _, r := range pattern {
		if i := slices.Index([]rune(with), r); i >= 0 {
			b.WriteString(`(?:` + string(r) + `|` + plain[i] + `)`)
		} else {
			b.WriteRune(r)
		}
	}
	return regexp.MustCompile(b.String())
}

// Refer reads how tasks are named, in any of five languages: a position ("task 2", "die letzte", "la tâche 2"), "it",
// all of them, or else by content words, so that a number in a title, a date or a time is no position; nil if there are
// no words.
func Refer(words string) *Reference {
	s := strings.Trim(text.OneLine(clean(words)), ".,!? ")
	if s == "" || len(s) > maxBytes {
		return nil
	}
	is := referencePatterns()
	r := &Reference{Words: s, Positions: positions(s), It: is.it.MatchString(s)}
	quoted, all, label := is.quoted.FindStringSubmatch(s), is.all.FindStringSubmatch(s), is.label.FindStringSubmatch(s)
	switch {
	case quoted != nil:
		r.Title = quoted[1]
	case r.It, r.Positions != nil:
	case all != nil || is.every.MatchString(s):
		r.All, r.Both = true, is.both.MatchString(s)
		if all != nil && all[1] != "" {
			r.Except = Refer(all[1])
		}
	case label != nil && len(search.Words(label[1])) > 0:
		r.Title = unquoted(label[1])
	default:
		r.Title = unquoted(s)
	}
	return r
}

// positions are those that words name; nil if they are not wholly positions.
func positions(s string) (all []int) {
	is := referencePatterns()
	for _, one := range is.joint.Split(s, mostPositions) {
		from, to := 0, 0
		if m := is.group.FindStringSubmatch(one); m != nil && m[1] != "" {
			from, to = 1, positionOf(m[1])
		} else if m != nil {
			from, to = -positionOf(m[2]), -1
		} else if m := is.span.FindStringSubmatch(one); m != nil {
			from, to = positionOf(m[1]), positionOf(m[2])
		} else if m := is.one.FindStringSubmatch(one); m != nil {
			from = positionOf(m[1] + m[2] + m[3])
			to = from
		}
		if from == 0 || to < from || to-from >= mostPositions {
			return nil
		}
		for ; from <= to; from++ {
			all = append(all, from)
		}
	}
	return all
}

// positionOf is the position that digits or a numeral name; 0 for anything else.
func positionOf(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	for i, n := range referencePatterns().numerals {
		if n.MatchString(s) {
			return numerals[i].at
		}
	}
	return 0
}

var quotes = regexp.MustCompile(`(?s)^["“„«‚‘'](.+)["”“»‘’'][.!]?$`)

// unquoted is a text without quotation marks around it, or else without its full stop.
func unquoted(s string) string {
	s = strings.TrimSpace(s)
	if m := quotes.FindStringSubmatch(s); m != nil && !strings.ContainsAny(m[1], `"“”„«»`) {
		return strings.TrimSpace(m[1])
	}
	return strings.TrimSuffix(s, ".")
}
