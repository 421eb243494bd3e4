package agent_test

import (
	"strconv"
	"strings"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/texttest"
)

// The private text of these tests, which no query may say: “The vault code is ZEBRA-4711-kiwi. Anna has gout, her
// password is R5xz9Kq2, the gate opens with 493817.” It stands nowhere in what is compared.
func sources() agent.Sources {
	return agent.Sources{Spoken: "Why does my SQLite database grow, and is WAL mode to blame? See net/http and Go " +
		"1.26.8. Wie groß sind Häuser in 東京の天気?",
		Web: []string{"Checkpoint starvation: a reader keeps the write-ahead log " +
			"(wal_checkpoint) from shrinking since 3.7.0, 2010.\n" +
			"alpha bravo charlie delta echo a b c d e f g h i j k l m n o p q r s t u v w " +
			"x y z 0 1 2 3 4 5 6 7 8 9 49 38 17 493 817"}}
}

func TestQueries(t *testing.T) {
	texttest.Play(t, []string{"goes", "lacks", "held"}, func(t *testing.T, lines []texttest.Line) {
		for _, l := range lines {
			text, word, _ := strings.Cut(l.Rest, " ⇒ ")
			query, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
			assert.NoErrorf(t, err, "line %d", l.At)
			why := sources().WhyHeld(query).Text
			switch l.Words {
			case "goes":
				l.Check(t, why)
			case "lacks":
				l.Check(t, texttest.Wrong("has", why, "neither the person nor the web said “"+word+"”"))
			case "held":
				l.Check(t, texttest.Wrong("is not", why, ""))
			default:
				t.Fatalf("line %d says nothing that is known", l.At)
			}
		}
	})
}
