package sentence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sibyl/internal/words"
)

// kind is what a question wants in its answer.
type kind int

const (
	anything kind = iota
	when
	quantity
	who
	where
	why
	name
)

// opening is how a question of a kind begins, and words that belong to it: they say what is asked for and not what about.
type opening struct {
	words string
	kind  kind
}

// openings are the beginnings by language, the longest first.
func openings(language string) []opening {
	if language == german {
		return []opening{
			{"um wie viel uhr", when}, {"in welchem jahr", when}, {"in welchem monat", when}, {"an welchem tag", when}, {"an welchem datum", when}, {"zu welchem zeitpunkt", when}, {"zu welcher zeit", when},
			{"welches jahr", when}, {"welcher tag", when}, {"welches datum", when}, {"seit wann", when}, {"bis wann", when}, {"ab wann", when}, {"wann", when},
			{"wie viele", quantity}, {"wie viel", quantity}, {"wieviel", quantity}, {"wieviele", quantity}, {"wie lange", quantity}, {"wie lang", quantity}, {"wie oft", quantity}, {"wie hoch", quantity}, {"wie hohe", quantity},
			{"wie gross", quantity}, {"wie alt", quantity}, {"wie weit", quantity}, {"wie schwer", quantity}, {"wie schnell", quantity}, {"wie breit", quantity}, {"wie tief", quantity}, {"wie teuer", quantity}, {"wie stark", quantity}, {"wie warm", quantity}, {"wie heiss", quantity}, {"wie kalt", quantity},
			{"welcher anteil", quantity}, {"welche anzahl", quantity}, {"welche menge", quantity},
			{"an welchem ort", where}, {"wohin", where}, {"woher", where}, {"wo", where},
			{"aus welchem grund", why}, {"aus welchen grunden", why}, {"warum", why}, {"weshalb", why}, {"wieso", why}, {"weswegen", why},
			{"wie heisst", name}, {"wie hiess", name}, {"wie heissen", name}, {"wie lautet der name", name}, {"wer ist", name}, {"wer war", name}, {"wer", who}, {"wem", who}, {"wen", who}, {"wessen", who}, {"durch wen", who}, {"von wem", who},
		}
	}
	return []opening{
		{"at what time", when}, {"in what year", when}, {"in which year", when}, {"in which month", when}, {"on what date", when}, {"on which date", when}, {"on which day", when}, {"on what day", when}, {"what year", when}, {"which year", when},
		{"what date", when}, {"what day", when}, {"which day", when}, {"what time", when}, {"since when", when}, {"when", when},
		{"how many", quantity}, {"how much", quantity}, {"how long", quantity}, {"how often", quantity}, {"how old", quantity}, {"how far", quantity}, {"how high", quantity}, {"how large", quantity}, {"how big", quantity}, {"how heavy", quantity},
		{"how tall", quantity}, {"how deep", quantity}, {"how wide", quantity}, {"how fast", quantity}, {"how hot", quantity}, {"how cold", quantity}, {"what percentage", quantity}, {"what share", quantity}, {"what number", quantity},
		{"what amount", quantity}, {"what proportion", quantity},
		{"in which place", where}, {"at which place", where}, {"where", where},
		{"for what reason", why}, {"for which reason", why}, {"how come", why}, {"what caused", why}, {"why", why},
		{"what is the name of", name}, {"what was the name of", name}, {"what is the title of", name}, {"who is", name}, {"who was", name}, {"by whom", who}, {"to whom", who}, {"who", who}, {"whom", who}, {"whose", who},
	}
}

// kindOf finds what a question asks for, and the words that say so.
func kindOf(words []string, language string) (kind, []string) {
	for at := range words {
		for _, o := range openings(language) {
			list := strings.Fields(o.words)
			if at+len(list) <= len(words) && slices.Equal(words[at:at+len(list)], list) && !isRelative(at, o.kind) {
				return o.kind, list
			}
		}
		if isAsking(words[at], language) {
			return anything, words[at : at+1]
		}
	}
	return anything, nil
}

// isAsking says whether a word begins a question whose answer may be of any kind.
func isAsking(word, language string) bool {
	if language == german {
		return slices.Contains([]string{"was", "welche", "welcher", "welches", "welchen", "welchem", "wie", "womit", "wofur", "wodurch", "woraus", "worin", "woran", "worauf", "wovon", "wozu", "wogegen", "woruber"}, word)
	}
	return slices.Contains([]string{"what", "which", "how"}, word)
}

// isRelative says whether a word such as “when” stands within a sentence, behind what is asked: “Was it raining when he came?”
func isRelative(at int, k kind) bool {
	return at > 4 && (k == when || k == where || k == who)
}

// isMonth says whether a word in lower case, without accents or with, names a month.
func isMonth(word string) bool {
	return slices.Contains([]string{
		"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
		"januar", "februar", "marz", "märz", "mai", "juni", "juli", "oktober", "dezember", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "okt", "nov", "dec", "dez",
	}, word)
}

func isWeekday(word string) bool {
	return slices.Contains([]string{
		"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonnabend", "sonntag",
		"yesterday", "today", "tomorrow", "noon", "midnight", "gestern", "heute", "morgen", "mittags", "mitternacht", "easter", "christmas", "ostern", "weihnachten",
	}, word)
}

func isUnitOfTime(word string) bool {
	return slices.Contains([]string{
		"second", "seconds", "minute", "minutes", "hour", "hours", "day", "days", "week", "weeks", "month", "months", "quarter", "year", "years", "decade", "decades", "century", "sekunde", "sekunden", "minuten", "stunde",
		"stunden", "tag", "tage", "tagen", "woche", "wochen", "monat", "monate", "monaten", "quartal", "jahr", "jahre", "jahren", "jahrzehnt", "jahrzehnte", "jahrhundert",
	}, word)
}

// isNumberWord says whether a word is a number that is written out, or says that there is none.
func isNumberWord(word string) bool {
	for _, language := range []string{"en", german} {
		if n, is := words.NumbersOf(language).Word(words.Fold(word)); is && n != 1 {
			return true
		}
	}
	return slices.Contains([]string{
		"hundreds", "thousands", "dozen", "half", "third", "twice", "once", "none", "nobody", "zero", "single", "daily", "weekly", "monthly", "yearly", "annually", "hourly",
		"dutzend", "halfte", "hälfte", "drittel", "viertel", "einmal", "zweimal", "dreimal", "keine", "keiner", "niemand", "kein", "null", "taglich", "täglich", "wochentlich", "wöchentlich",
		"monatlich", "jahrlich", "jährlich",
	}, word)
}

// piece is a word as it stands in a text.
type piece struct {
	text, low string
	at        int
}

// pieces takes a text apart at white space and signs, but keeps numbers and dates whole.
func pieces(text string) (list []piece) {
	for _, t := range (words.Form{InFigures: ".,:/-’'", Fold: strings.ToLower}).Tokens(text) {
		if t.Word {
			list = append(list, piece{text[t.From:t.To], t.Norm, t.From})
		}
	}
	return list
}

func (p piece) isNumber() bool { return p.text[0] >= '0' && p.text[0] <= '9' }

// isYear says whether a figure is a year.
func (p piece) isYear() bool {
	return len(p.text) == 4 && isDigits(p.text) && p.text >= "1000" && p.text <= "2199"
}

// isDate says whether a figure is a date or a time of the day: 3.5.2019, 2019-05-03, 14:30.
func (p piece) isDate() bool {
	if !p.isNumber() {
		return false
	}
	if strings.Contains(p.text, ":") {
		return true
	}
	parts := strings.FieldsFunc(p.text, func(r rune) bool { return r == '.' || r == '/' || r == '-' })
	return len(parts) == 3 && len(parts[0])+len(parts[1])+len(parts[2]) <= 8 && len(parts[1]) <= 2
}

// isCapital says whether a word begins with a capital letter.
func (p piece) isCapital() bool {
	r, _ := utf8.DecodeRuneInString(p.text)
	return unicode.IsUpper(r)
}

// measure is what a question for a quantity wants to be measured.
type measure int

const (
	whatever  measure = iota
	counted           // how many
	duration          // how long, of time or way
	frequency         // how often
	age               // how old
	speed             // how fast
	weight            // how heavy
	heat              // how hot
	extent            // how high: of a thing or of a sum
)

// measureOf tells it from the words that ask.
func measureOf(opens []string) measure {
	switch strings.Join(opens, " ") {
	case "how many", "wie viele", "wieviele", "welche anzahl", "what number":
		return counted
	case "how long", "wie lange", "wie lang":
		return duration
	case "how often", "wie oft":
		return frequency
	case "how old", "wie alt":
		return age
	case "how fast", "wie schnell":
		return speed
	case "how heavy", "wie schwer":
		return weight
	case "how hot", "how cold", "wie warm", "wie heiss", "wie kalt":
		return heat
	case "how high", "how large", "how big", "how tall", "how deep", "how wide", "how far", "wie hoch", "wie hohe", "wie gross", "wie breit", "wie tief", "wie teuer", "wie weit":
		return extent
	}
	return whatever
}

// measures says whether a word can stand beside a number that is of a measure.
func (m measure) measures(word string) bool {
	switch m {
	case duration:
		return isUnitOfTime(word) || slices.Contains([]string{"m", "km", "cm", "mm", "metre", "metres", "meter", "meters", "mile", "miles", "kilometres", "kilometers", "feet", "inches", "min", "h", "s", "kilometer", "metern", "minute", "short", "until",
			"bis", "seit", "since"}, word)
	case frequency:
		return isUnitOfTime(word) || slices.Contains([]string{"every", "per", "times", "once", "twice", "daily", "weekly", "monthly", "yearly", "annually", "hourly", "never", "always", "alle", "pro", "mal", "einmal", "zweimal", "dreimal", "taglich",
			"täglich", "wöchentlich", "monatlich", "jährlich", "stündlich", "nie", "jeden", "jede", "jedes"}, word)
	case age:
		return slices.Contains([]string{"old", "aged", "age", "born", "alt", "jähriger", "jährige", "geboren", "alter"}, word)
	case speed:
		return slices.Contains([]string{"km", "kmh", "mph", "knots", "knoten", "speed", "geschwindigkeit", "tempo", "stundenkilometer", "stundenkilometern", "kilometers", "kilometres", "miles", "fast", "schnell", "m", "per", "pro"}, word)
	case weight:
		return slices.Contains([]string{"kg", "g", "mg", "t", "kilo", "kilos", "kilogram", "kilograms", "kilogramm", "gram", "grams", "gramm", "tonne", "tonnes", "tons", "tonnen", "pounds", "lb", "lbs", "ounces", "pfund", "zentner"}, word)
	case heat:
		return slices.Contains([]string{"degrees", "degree", "celsius", "fahrenheit", "kelvin", "c", "f", "k", "grad"}, word)
	}
	return true
}
