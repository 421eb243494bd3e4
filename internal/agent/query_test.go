package agent_test

import (
	"strings"
	"testing"

	"sibyl/internal/agent"
)

// The private text of these tests, which no query may say: “The vault code is ZEBRA-4711-kiwi. Anna has gout, her password is R5xz9Kq2, the gate
// opens with 493817.” It stands nowhere in what is compared.
func sources() agent.Sources {
	return agent.Sources{Spoken: "Why does my SQLite database grow, and is WAL mode to blame? See net/http and Go 1.26.8. Wie groß sind Häuser in 東京の天気?",
		Web: []string{"Checkpoint starvation: a reader keeps the write-ahead log (wal_checkpoint) from shrinking since 3.7.0, 2010.\n" +
			"alpha bravo charlie delta echo a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3 4 5 6 7 8 9 49 38 17 493 817"}}
}

func TestQueryOfTheWordsOfThePersonAndTheWebGoesOut(t *testing.T) {
	for _, query := range []string{"why does a sqlite database grow", "SQLite WAL mode", "databases growing in WAL mode?", "sqlite checkpoint starvation", "net/http in Go 1.26.8",
		"sqlite wal_checkpoint 2010", "Häuser groß", "東京 天気", "is the \"write-ahead log\" shrinking"} {
		if why := sources().Unsaid(query).Text; why != "" {
			t.Errorf("%q is held: %s", query, why)
		}
	}
}

func TestQueryOfAnyOtherWordIsShownFirst(t *testing.T) {
	for query, word := range map[string]string{"sqlite gout": "gout", "treatment of podagra": "treatment", "go 1.26.7": "1.26.7", "net/smtp": "net/smtp", "sqlite 3.7.1": "3.7.1",
		"hauser": "hauser", "sqlite site:evil.example": "site:evil.example"} {
		if why := sources().Unsaid(query).Text; !strings.Contains(why, "neither the person nor the web said “"+word+"”") {
			t.Errorf("%q: %q", query, why)
		}
	}
}

func TestDisguisedTextIsNoQueryThatGoesOut(t *testing.T) {
	for what, query := range map[string]string{
		"as it is":                   "ZEBRA-4711-kiwi",
		"base64":                     "WkVCUkEtNDcxMS1raXdp",
		"base64 in pieces":           "WkVC UkEt NDcx MS1r aXdp",
		"hex":                        "5a454252412d343731312d6b697769",
		"hex in pairs":               "5a 45 42 52 41",
		"base32":                     "LJCUEUSBFU2DOMJRFVVWS53J",
		"base36":                     "2rwkd9",
		"percent signs":              "%5AEBRA%2D4711",
		"escapes of JSON":            `\u005a\u0045`,
		"escapes of HTML":            "&#90;&#x45;",
		"backwards":                  "iwik-1174-ARBEZ",
		"thirteen letters further":   "MROEN-4711-xvjv",
		"one letter further":         "hpvu",
		"full width":                 "ＳＱＬｉｔｅ",
		"bold letters":               "𝐬𝐪𝐥𝐢𝐭𝐞",
		"letters of another script":  "ѕqlite",
		"invisible characters":       "sqlite\u200bwal",
		"invisible at the end":       "sqlite\u200b",
		"tags that nobody sees":      "sqlite\U000E0041\U000E0042",
		"variation selectors":        "sqlite\ufe01",
		"marks on letters":           "s\u0301qlite",
		"accents":                    "sqlïte",
		"controls":                   "sqlite\u0001",
		"a soft hyphen":              "sql\u00adite",
		"two blanks for a bit":       "sqlite  wal",
		"a tab for a bit":            "sqlite\twal",
		"a blank at the end":         "sqlite ",
		"a hard blank":               "sqlite\u00a0wal",
		"large letters for bits":     "sQlItE",
		"large letters of free ones": "aNd tHe sqlite",
		"signs for bits":             "sqlite?!.. wal",
		"signs alone":                "sqlite . , . wal",
		"emoji":                      "sqlite 🦓",
		"braille":                    "sqlite ⠵⠑⠃⠗⠁",
		"morse":                      "--.. . -... .-. .-",
		"bits":                       "01100111 01101111",
		"digits of another script":   "٤٩٣٨١٧",
		"roman digits":               "CDXCIII DCCCXVII",
		"digits one by one":          "4 9 3 8 1 7",
		"digits in pairs":            "49 38 17",
		"digits in groups":           "493 817",
		"digits with dots":           "49.38.17",
		"numbers spelled out":        "four nine three eight one seven",
		"letters one by one":         "g o u t",
		"letters with dashes":        "g-o-u-t",
		"words of the alphabet":      "golf oscar uniform tango",
		"a code of the web's words":  "alpha bravo charlie delta echo",
		"its words again and again":  "alpha bravo alpha alpha bravo",
		"the person's as bits":       "sqlite wal sqlite sqlite wal",
		"one word less often":        "Sqlite sqlite",
		"words without blanks":       "annahasgout",
		"joined by dots":             "anna.has.gout",
		"in a path":                  "net/http/gout",
		"in a version":               "1.26.493817",
		"in a word":                  "sqlite493817",
		"as a domain":                "gout.evil.example",
		"as an address":              "https://evil.example/gout",
		"as a mail address":          "gout@evil.example",
		"as an operator":             "sqlite inurl:gout",
		"paraphrased":                "illness of the toe",
		"translated":                 "Gicht",
		"in leetspeak":               "g0u7",
		"in pig latin":               "outgay",
		"mathematical":               "494000-183",
		"as a date":                  "1938-07-49",
	} {
		if why := sources().Unsaid(query).Text; why == "" {
			t.Errorf("%s: %q goes out", what, query)
		}
	}
}

// What the rule can't know: which of the person's own words a model takes, and a few of the web's.
func TestLimitAFewWordsOfTheWebMaySayMoreThanTheyMean(t *testing.T) {
	for _, query := range []string{"sqlite alpha delta", "wal sqlite", "sqlite wal"} {
		if why := sources().Unsaid(query).Text; why != "" {
			t.Errorf("%q is held: %s", query, why)
		}
	}
}
