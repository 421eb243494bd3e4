package classify

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"sync"
)

//go:embed words
var wordFiles embed.FS

// lexicon holds the lists of the folder words, which explains them. It is read on first use and never changed.
type lexicon struct {
	StopWords, WhWords, Auxiliaries, Determiners, Deixis, OpenerWords, CourtesyWords, Greetings, WriteVerbs, NounVerbs, WeakNounVerbs, ReadVerbs,
	NoteNouns, DocFiles, CodeFiles, Abbreviations, Products, NotEvidence, SoftwareNouns, FeatureNouns, AnswerForms, ObjectPronouns, TakesIs,
	SharedWords, Pointers, ProjectNouns, Undertakings, ChoiceVerbs, SpeechVerbs, Impersonal, Superlatives, ProductParts, Namesakes,
	LibraryWords, NeverNouns, NounTails, Attributes, CompoundTails, Particles, OnlyPhrasal, Inchoatives, WritesDown,
	EmptyVerbs, RetellVerbs, ProgramVerbs, Manner, Copulas, Existential, FactWords, Pointed, BackReferences,
	CaseWords, Conjunctions, Prepositions, ThingWords, Actors,
	Participles, RemarkHeads, Dates, TimeWords, Folders, Down, You set

	Requests, FollowLeads, OrderIdioms, ReadingIdioms, WhereOpens, WhyOpens, HowOpens phrases

	German, Portuguese, ShortForms, Clitics dictionary

	vocabulary
}

var lex = sync.OnceValue(func() *lexicon {
	l, err := readLexicon(wordFiles)
	if err != nil {
		panic(err) // the files are embedded, and a test reads them
	}
	return l
})

// list is a part of the lexicon that takes entries.
type list interface{ add(entry string) error }

type (
	set        map[string]bool
	phrases    [][]string
	dictionary map[string][]string
)

var errTwice = errors.New("stands there twice")

func (s *set) add(word string) error {
	if *s == nil {
		*s = set{}
	}
	if (*s)[word] {
		return errTwice
	}
	(*s)[word] = true
	return nil
}

// at returns the first phrase that begins the tokens, nil if none does.
func (p phrases) at(ts []token) []string {
	for _, words := range p {
		if hasPrefix(ts, words) {
			return words
		}
	}
	return nil
}

func (p *phrases) add(phrase string) error {
	*p = append(*p, strings.Fields(phrase))
	return nil
}

func (d *dictionary) add(entry string) error {
	word, meaning, ok := strings.Cut(entry, " = ")
	switch {
	case !ok:
		return errors.New("must be a word and what it means, as word = meaning")
	case (*d)[word] != nil:
		return errTwice
	case *d == nil:
		*d = dictionary{}
	}
	(*d)[word] = strings.Fields(meaning)
	return nil
}

// readLexicon reads the files of a folder words. Its errors name file and line.
func readLexicon(files fs.FS) (*lexicon, error) {
	l := &lexicon{vocabulary: newVocabulary()}
	byName := func(header string) (list, error) {
		field := reflect.ValueOf(l).Elem().FieldByName(header)
		if !field.IsValid() || !field.CanInterface() {
			return nil, errors.New("there is no such list")
		}
		if !field.IsZero() {
			return nil, errTwice
		}
		return field.Addr().Interface().(list), nil
	}
	for _, name := range []string{"lists", "phrases", "translations"} {
		if err := readLists(files, name, byName); err != nil {
			return nil, err
		}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeOf(*l)) {
		if field.IsExported() && reflect.ValueOf(*l).FieldByIndex(field.Index).IsZero() {
			return nil, fmt.Errorf("the list %s is in no file of words", field.Name)
		}
	}
	if err := readLists(files, "features", l.begin); err != nil {
		return nil, err
	}
	l.addSet("software-part", l.SoftwareNouns, nil)
	l.addSet("product", l.Products, l.NotEvidence)
	l.addSet("program-verb", inflected(l.ProgramVerbs), nil)
	return l, nil
}

// readLists reads a file of lists: a line in brackets begins the list of that name, # a comment, and any other line is an entry.
func readLists(files fs.FS, name string, begin func(header string) (list, error)) error {
	name = "words/" + name + ".txt"
	content, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	var at list
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimSpace(line)
		header, isHeader := strings.CutPrefix(line, "[")
		switch {
		case line == "" || line[0] == '#':
			continue
		case isHeader:
			at, err = begin(strings.Replace(header, "]", "", 1))
		case at == nil:
			err = errors.New("stands before the first list")
		default:
			err = at.add(line)
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %s: %w", name, number, line, err)
		}
	}
	return nil
}

// vocabulary holds the features that words show by themselves: exact words, stems, and phrases by their first word. A word may show several.
type vocabulary struct {
	features []lexical
	exact    map[string][]int
	stems    map[string][]int
	phrases  map[string][]phrase
}

// lexical is a feature that words of the text show by themselves.
type lexical struct {
	name   string
	weight balance
}

type phrase struct {
	words   []string
	feature int
}

func newVocabulary() vocabulary {
	return vocabulary{exact: make(map[string][]int, 4096), stems: map[string][]int{}, phrases: map[string][]phrase{}}
}

// begin begins a feature by its name, the type that it speaks for, and how much.
func (v *vocabulary) begin(header string) (list, error) {
	parts := strings.Fields(header)
	if len(parts) != 3 {
		return nil, errors.New("must be [feature] type weight")
	}
	column, weight := slices.Index(types[:], Type(parts[1])), 0.0
	if _, err := fmt.Sscan(parts[2], &weight); err != nil || column < 0 || weight <= 0 {
		return nil, errors.New("must be [feature] type weight, with a type of questions and a number above 0")
	}
	f := lexical{name: parts[0]}
	f.weight[column] = weight
	v.features = append(v.features, f)
	return v, nil
}

// add adds a word, a phrase or a stem to the last feature.
func (v *vocabulary) add(entry string) error {
	feature := len(v.features) - 1
	if strings.Contains(entry, " ") {
		words := strings.Fields(entry)
		v.phrases[words[0]] = append(v.phrases[words[0]], phrase{words, feature})
		return nil
	}
	into := v.exact
	if stem, ok := strings.CutSuffix(entry, "*"); ok {
		entry, into = stem, v.stems
	}
	if slices.Contains(into[entry], feature) {
		return errTwice
	}
	into[entry] = append(into[entry], feature)
	return nil
}

// addSet adds the words of a set, without exceptions, to the named feature.
func (v *vocabulary) addSet(name string, words, except set) {
	feature := slices.IndexFunc(v.features, func(f lexical) bool { return f.name == name })
	for w := range words {
		if !except[w] {
			v.exact[w] = append(v.exact[w], feature)
		}
	}
}

// longestWord bounds the words and stems of the vocabulary, in bytes. Whatever is looked for by parts of a text stops there, since a text
// may be one word of any length.
const longestWord = 32

// of returns the features of one word, by its exact form or else its singular, and by its stem.
func (v *vocabulary) of(w string) []int {
	found, ok := v.exact[w]
	if single, plural := strings.CutSuffix(w, "s"); !ok && plural && len(single) > 2 {
		found = v.exact[single]
	}
	for n := min(len(w), longestWord); n > 3; n-- {
		if stemmed, ok := v.stems[w[:n]]; ok {
			return slices.Concat(found, stemmed)
		}
	}
	return found
}

// inflected returns the forms that verbs take with a subject or in the passive: parses, parsed.
func inflected(verbs set) set {
	out := set{}
	for v := range verbs {
		stem, third := v, "s"
		switch last := v[len(v)-1]; {
		case strings.HasSuffix(v, "ry"):
			stem, third = v[:len(v)-1]+"i", "es"
		case last == 'e':
			stem = v[:len(v)-1]
			third = "es"
		case last == 's', last == 'h', last == 'x':
			third = "es"
		}
		out[stem+third], out[stem+"ed"] = true, true
	}
	return out
}
