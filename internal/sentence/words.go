package sentence

import (
	"slices"
	"unicode/utf8"

	"sibyl/internal/text/search"
)

func width(text string) int {
	_, size := utf8.DecodeRuneInString(text)
	return size
}

// isStop is search.IsStop, but for English words that are articles and the like in other languages.
func isStop(word, language string) bool {
	return search.IsStop(word) && (language == german || !slices.Contains([]string{"die", "war", "hat", "den", "era"}, word))
}

// isFunction says whether a word holds sentences together, beyond those that search knows. It comes in lower case and without accents.
func isFunction(word, language string) bool {
	if language == german {
		return slices.Contains([]string{
			"am", "beim", "vom", "ins", "ans", "aufs", "diese", "dieser", "dieses", "diesem", "diesen", "jene", "jener", "jenes", "ihr", "ihre", "ihren", "ihrem", "ihrer", "sein", "seine", "seinen", "seinem", "seiner", "war", "waren", "wurden",
			"worden", "geworden", "sind", "sei", "seien", "ware", "hatten", "hatte", "habe", "hast", "kann", "konnte", "konnten", "konnen", "muss", "musste", "mussen", "soll", "sollte", "sollen", "darf", "will", "wollte", "wollen", "mag",
			"da", "dann", "denn", "doch", "noch", "nur", "schon", "auch", "so", "sehr", "mehr", "dort", "hier", "ihm", "ihn", "ihnen", "uns", "euch", "man", "alle", "allen", "aller", "alles", "jede", "jeder", "jedes", "jedem", "jeden", "etwas",
			"damals", "dabei", "davon", "dafur", "damit", "darauf", "dazu", "dessen", "deren", "durch", "gegen", "ohne", "um", "unter", "vor", "zwischen", "wahrend", "wegen", "seit", "ab", "pro", "je", "ob", "wenn", "weil", "welche", "welcher",
			"welches", "welchem", "welchen", "wie", "viel", "viele", "vielen", "was", "wer", "gibt", "gab", "zuvor", "spater", "zuerst",
		}, word)
	}
	return slices.Contains([]string{
		"were", "been", "do", "did", "does", "done", "doing", "being", "such", "some", "any", "no", "if", "then", "than", "because", "while", "during", "after", "before", "between", "against", "both", "each", "few", "other", "own", "same", "too",
		"very", "just", "also", "only", "out", "up", "down", "off", "again", "further", "once", "here", "there", "many", "much", "yours", "yourself", "him", "hers", "theirs", "one", "ones", "upon", "within", "still", "ever", "s", "t", "d", "ll", "re", "ve",
	}, word)
}

// isFiller says whether a word is one that questions are filled with: the answer seldom has it.
func isFiller(word, language string) bool {
	if language == german {
		return slices.Contains([]string{
			"genau", "genaue", "genauer", "genauen", "konkret", "konkrete", "konkreten", "angabe", "angaben", "information", "informationen", "einzelheiten", "details", "sagen", "sagt", "sagten", "nennen", "nannten", "beschreiben", "erklaren", "stimmt",
			"trifft", "zutreffen", "dokument", "dokumente", "dokumenten", "unterlagen", "aussage", "frage", "antwort", "eigentlich", "insgesamt", "ungefahr", "etwa", "bitte", "passierte", "geschah", "ereignete", "stattgefunden", "fand", "statt", "bedeutet", "gemeint",
			"ist", "bekannt", "zahl", "anzahl", "hohe", "zeitpunkt", "datum", "ort", "person", "personen", "menschen", "leute", "geld",
		}, word)
	}
	return slices.Contains([]string{
		"exact", "precise", "precisely", "specific", "specifically", "concrete", "details", "detail", "information", "say", "says", "said", "state", "stated", "states", "describe", "described", "true", "correct", "hold", "holds", "document", "documents",
		"statement", "question", "answer", "actual", "total", "altogether", "approximately", "roughly", "about", "please", "happen", "happened", "occur", "occurred", "take", "took", "place", "meant", "means", "known", "number", "amount", "date",
		"time", "money", "person", "people", "called", "name", "there",
	}, word)
}
