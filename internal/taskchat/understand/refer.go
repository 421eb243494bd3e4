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
	Words     string     // as they were said: "task 2", "the meeting task"
	Positions []int      // in the last list shown (or the options asked about), from 1; negative ones count from the end: -1 is the last
	It        bool       // "it", "that one", "this task": what was spoken of last
	All       bool       // all of them ("both", "all", "everything"), but for Except
	Both      bool       // with All: two were said, "both"
	Except    *Reference // with All
	Title     string     // content words by which a task is named; "" if it is named otherwise
}

// sharesWord says that a label has a word of the title that carries meaning.
func (r *Reference) sharesWord(label string) bool {
	stem := func(s string) (stems []string) {
		for _, w := range search.Words(s) {
			if !search.IsStop(w) {
				stems = append(stems, search.Stem(w))
			}
		}
		return stems
	}
	in := stem(label)
	return slices.ContainsFunc(stem(r.Title), func(w string) bool { return slices.Contains(in, w) })
}

// How tasks are referred to, in English, German, Portuguese, French and Spanish. Each pattern must fit the whole of what was said.
const (
	articles = `the|my|this|that|no\.|number|numbers|die|der|das|den|dem|des|diese[mnrs]?|jene[mnrs]?|meine[mnrs]?|nr\.|nummer|nummern|` +
		`o|a|os|as|à|ao|às|aos|minhas?|meus?|ess[ea]s?|est[ea]s?|número|n[oº°]\.?|le|la|les|cette|numéro|mes|el|los|las|mis?|#`
	nouns = `tasks?|to-?dos?|items?|entry|entries|reminders?|ones?|aufgaben?|einträge?|eintrag|punkte?|erinnerung(?:en)?|` +
		`tarefas?|lembretes?|tâches?|tareas?`
	links    = `about|called|named|titled|with|for|on|mit|zu|zum|zur|über|namens|beim|bei|von|vom|für|sobre|chamada|com|da|do|das|dos|de|d'|del`
	joints   = `(?:,? (?:and then|and|und dann|und|sowie|e depois|e|et|y|as well as) |\s*[,&+]\s*)`
	through  = ` ?(?:-|–|to|through|bis|a|à|até) ?`
	eachWord = `all|both|everything|every|each|alle[mnrs]?|beide[nrs]?|sämtliche|todas|todos|tudo|ambas|ambos|as duas|os dois|tout|toutes|tous|` +
		`(?:toutes |tous )?les deux|todo|las dos|los dos`
	bothWord  = `(?:both|beide[nrs]?|ambas|ambos|as duas|os dois|les deux|las dos|los dos)`
	eachRest  = `of|them|it|on|list|von|ihnen|davon|auf|der|liste|elas|eles|da|lista|d'elles|ellas`
	excepting = `but|except|except for|apart from|außer|bis auf|exceto|menos|salvo|sauf|excepto`
	pronoun   = `(?:it|its|that|this|them|these|that one|this one|es|sie|ihn|das|die|den|der|dies|diese[nrs]?|isso|isto|ess[ea]|est[ea]|el[ea]|` +
		`ça|cela|celle-ci|celle-là|celui-ci|eso|esto|és[ea]|ést[ea]|lo)`
	pronounTask = `(?:the|this|that|diese|die|essa|esta|a|cette|la|esa|esta) (?:task|one|aufgabe|tarefa|tâche|tarea)`
	done        = `completed|complete|done|finished|erledigte[nrs]?|fertige[nrs]?|abgehakte[nrs]?|concluíd[ao]s?|feit[ao]s?|terminad[ao]s?|completad[ao]s?`
	open        = `open|pending|remaining|unfinished|offene[nrs]?|unerledigte[nrs]?|pendentes?|abert[ao]s?|pendientes?`
)

// ordinals are the words for positions; each pattern with what it counts from the front, or negative, from the end.
var ordinals = [...]struct {
	at   int
	word string
}{
	{1, `first|erste[nrs]?|primeir[ao]|premi(?:er|ère)|primer[ao]?`},
	{2, `second|zweite[nrs]?|segund[ao]|deuxième|seconde`},
	{3, `third|dritte[nrs]?|terceir[ao]|troisième|tercer[ao]?`},
	{4, `fourth|vierte[nrs]?|quart[ao]|quatrième|cuart[ao]`},
	{5, `fifth|fünfte[nrs]?|quint[ao]|cinquième`},
	{6, `sixth|sechste[nrs]?|sext[ao]|sixième`},
	{7, `seventh|siebte[nrs]?|sétim[ao]|septième|séptim[ao]`},
	{8, `eighth|achte[nrs]?|oitav[ao]|huitième|octav[ao]`},
	{9, `ninth|neunte[nrs]?|non[ao]|neuvième|noven[ao]`},
	{10, `tenth|zehnte[nrs]?|décim[ao]|dixième`},
	{-1, `last|letzte[nrs]?|últim[ao]|derni(?:er|ère)`},
	{-2, `second to last|second last|next to last|vorletzte[nrs]?|penúltim[ao]|avant-derni(?:er|ère)`},
}

// cardinals are the words for numbers from one.
var cardinals = [...]string{`one|eins|uma?|une?|una`, `two|zwei|beiden|duas|dois|deux|dos`, `three|drei|três|trois|tres`, `four|vier|quatro|quatre|cuatro`,
	`five|fünf|cinco|cinq`}

type references struct {
	number, span, ordinal, group, all, every, both, it, label, quoted, joint, done, open *regexp.Regexp
	ordinals, cardinals                                                                  []*regexp.Regexp
}

var referring = sync.OnceValue(func() *references {
	var ordinal, cardinal []string
	r := &references{}
	for _, o := range ordinals {
		ordinal = append(ordinal, o.word)
		r.ordinals = append(r.ordinals, whole(o.word))
	}
	for _, c := range cardinals {
		cardinal = append(cardinal, c)
		r.cardinals = append(r.cardinals, whole(c))
	}
	nth, few := strings.Join(ordinal, "|"), strings.Join(cardinal, "|")
	the := `(?:(?:` + articles + `|` + nouns + `)(?:\b|\s)\s*|#\s*)*?`
	status := `(?:` + done + `|` + open + `)`
	many := `(?:(?:of|my|the|meine[nr]?|die|der|as|os|les|las|los|minhas|meus|` + eachRest + `|` + nouns + `|` + done + `|` + open + `)\b ?)*`
	r.number = whole(the + `(?P<n>\d{1,3})(?:\.|st|nd|rd|th|ª|º|te[nrs]?)?(?: (?:` + nouns + `))?|(?:` + nouns + `|number|nummer|número|numéro) (?P<w>` + few + `)|(?P<o>` + few + `)`)
	r.span = whole(the + `(?:from |von |de )?(\d{1,3})` + through + `(\d{1,3})`)
	r.ordinal = whole(the + `(?P<o>` + nth + `)(?: (?:` + nouns + `))?(?: (?:(?:on|from|of|in|auf|von|in|da|na|de la) )(?:(?:` + articles + `) )?(?:to-?do )?(?:list|liste|lista))?`)
	r.group = whole(`(?:the |die |as |os |les |las |los )?(?:(?P<front>first|ersten|primeir[ao]s)|(?P<back>last|letzten|últim[ao]s)) (?P<n>\d|` + few + `)(?: (?:` + nouns + `))?`)
	r.all = whole(`(?:(?:` + articles + `) )*(?:them )?(?:` + eachWord + `)\b ?` + many + `(?:,? ?(?:` + excepting + `) (?P<except>.+))?`)
	r.every = whole(`(?:(?:the|my|die|meine|as|os|minhas|meus|as minhas) )*(?:` + status + ` )?(?:tasks|todos|to-dos|items|aufgaben|tarefas|list|liste)(?: ` + status + `)?|the whole list`)
	r.both = part(bothWord)
	r.it, r.joint = whole(pronoun+`|`+pronounTask), lenient(joints)
	r.label = whole(`(?:(?:` + articles + `|` + nouns + `|` + links + `)[ :]+)*(?P<label>.+?)(?: (?:` + nouns + `))?`)
	r.quoted = lenient(`^(?:(?:` + articles + `|` + nouns + `|` + links + `)[ :]+)*["“„«‚‘'](.+)["”“»‘’'][.!]?$`)
	r.done, r.open = part(done), part(open)
	return r
})

// whole is a pattern that must fit a whole text, and part one that must fit some words of it. Both ignore case and accents.
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

// Refer reads how tasks are named, in any of five languages: a position ("task 2", "die letzte", "la tâche 2"), "it", all of them, or else by
// content words, so that a number in a title, a date or a time is no position. The words may come from a model, with their language; nil if
// there are none.
func Refer(words, language string) *Reference {
	s := strings.Trim(text.OneLine(clean(words)), ".,!? ")
	if s == "" || len(s) > maxBytes {
		return nil
	}
	r, is := &Reference{Words: s}, referring()
	if m := is.quoted.FindStringSubmatch(s); m != nil {
		r.Title = m[1]
		return r
	}
	if is.it.MatchString(s) {
		r.It = true
		return r
	}
	if r.Positions = positions(s); r.Positions != nil {
		return r
	}
	if m := is.all.FindStringSubmatch(s); m != nil || is.every.MatchString(s) {
		r.All, r.Both = true, is.both.MatchString(s)
		if m != nil && m[1] != "" {
			r.Except = Refer(m[1], language)
		}
		return r
	}
	r.Title = unquoted(s)
	if m := is.label.FindStringSubmatch(s); m != nil && len(search.Words(m[1])) > 0 {
		r.Title = unquoted(m[1])
	}
	return r
}

// statusOf is the status that words say of all tasks: "pending", "completed", or "" for neither or both.
func statusOf(words string) string {
	switch done, open := referring().done.MatchString(words), referring().open.MatchString(words); {
	case done && !open:
		return "completed"
	case open && !done:
		return "pending"
	}
	return ""
}

// mostPositions bounds how many tasks a reference names by position.
const mostPositions = 100

// positions are those that words name; nil if they are not wholly positions.
func positions(s string) (all []int) {
	is := referring()
	if m := is.group.FindStringSubmatch(s); m != nil {
		n := number(m[3])
		for i := 1; i <= n; i++ {
			if m[1] != "" {
				all = append(all, i)
			} else {
				all = append(all, i-n-1)
			}
		}
		return all
	}
	for _, one := range is.joint.Split(s, mostPositions) {
		switch span, n := is.span.FindStringSubmatch(one), position(one); {
		case span != nil:
			from, to := number(span[1]), number(span[2])
			if from < 1 || to <= from || to-from >= mostPositions {
				return nil
			}
			for ; from <= to; from++ {
				all = append(all, from)
			}
		case n != 0:
			all = append(all, n)
		default:
			return nil
		}
	}
	return all
}

// position is the one that words name; 0 if they name none.
func position(s string) int {
	is := referring()
	if m := is.ordinal.FindStringSubmatch(s); m != nil {
		i := slices.IndexFunc(is.ordinals, func(o *regexp.Regexp) bool { return o.MatchString(m[1]) })
		return ordinals[i].at
	}
	if m := is.number.FindStringSubmatch(s); m != nil {
		return number(m[1] + m[2] + m[3])
	}
	return 0
}

// number reads a number in digits or words; 0 if it is none.
func number(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		return n
	}
	return 1 + slices.IndexFunc(referring().cardinals, func(c *regexp.Regexp) bool { return c.MatchString(s) })
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
