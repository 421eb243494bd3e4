package code

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// headers compute, compare and check.
const headers = `package p

func encryptHeader() {
	// check that the header mac is right
	mac := headerMAC()
	check(mac, headerMAC())
}

func decryptHeader() {
	// the header mac is compared
	if headerMAC() != headerMAC() {
		panic("header mac")
	}
}

func headerMAC() []byte {
	return nil
}
`

const limited = `package p

const (
	// minimumSleep is how long a worker sleeps at least.
	minimumSleep = 1

	// maxStanzas is how many stanzas a header may hold.
	maxStanzas = 20
)

// Options configure a worker.
type Options struct {
	// Retries says how often a stanza is tried again.
	Retries int
}

// parse reads stanzas of a header, stanza by stanza, and gives all stanzas of the header.
func parse(stanzas []string) {
	for range stanzas {
	}
}
`

const english = `package p

// order sorts what runs by name.
func order() {
}

// closeConn closes a connection.
func closeConn() {
}

// passes asserts.
func passes() {
}
`

// function is a file with one function, under a comment.
func function(comment, name, body string) string {
	return "package p\n\n// " + comment + "\nfunc " + name + "() {\n" + body + "}\n"
}

func TestTheBestHitIsTheOneThatAnswers(t *testing.T) {
	steps := strings.Repeat("\tstep()\n", 4)
	calls := map[string]string{
		"a.go": function("note tells of sealBox.", "note", ""), "b.go": "package p\n\nfunc ship() {\n" + steps + "\tsealBox()\n}\n", "c.go": "package p\n\nfunc sealBox() {\n}\n",
	}
	verbs := map[string]string{"a.go": function("post sends a parcel.", "post", ""), "b.go": function("lose drops a parcel.", "lose", "")}
	foreign := map[string]string{"a.go": english}
	limits := map[string]string{"limited.go": limited}
	tested := map[string]string{
		"pool.go":      function("reuse reuses a failed connection of the pool.", "reuse", ""),
		"pool_test.go": "package p\n\nfunc TestFailedConnectionIsNotReused(t *T) {\n\tpool()\n}\n",
	}
	for _, c := range []struct {
		why, question, want string
		files               map[string]string
	}{
		{"a definition before its uses", "How is the header MAC computed?", "header.go headerMAC", map[string]string{"header.go": headers}},
		{"a comment above before a body", "what shrinks the arena when pressure falls", "a.go first", map[string]string{
			"a.go": function("first shrinks the arena when the pressure falls.", "first", "\trun()\n"),
			"b.go": function("second runs.", "second", "\tshrinks(arena, pressure, falls)\n"),
		}},
		{"a constant by itself", "how many stanzas can a header hold at most?", "limited.go maxStanzas", limits},
		{"a field by itself", "how often is a stanza tried again", "limited.go Options.Retries", limits},
		{"users, where they are asked for", "who calls sealBox?", "b.go ship", calls},
		{"users, asked for otherwise", "where is sealBox used", "b.go ship", calls},
		{"users, in German", "Wer ruft sealBox auf?", "b.go ship", calls},
		{"the definition, where it is asked for", "what does sealBox do", "c.go sealBox", calls},
		{"words of closed classes decide nothing", "once it is given up and put off, whatever is left: is the worker retired?", "b.go retire", map[string]string{
			"a.go": function("again is tried once, and then put off, until it is given up, whatever is left.", "again", ""),
			"b.go": function("retire ends a worker.", "retire", ""),
		}},
		{"a synonym in German", "In welcher Reihenfolge wird das gemacht?", "a.go order", foreign},
		{"a question in German", "Was passiert mit einer Verbindung am Ende", "a.go closeConn", foreign},
		{"a question in Portuguese", "como é que a conexão é fechada?", "a.go closeConn", foreign},
		{"no line that no person writes", "is the otter fed with a walrus?", "zoo.go feed", map[string]string{
			"words.go": "package p\n\nvar words = \"" + strings.Repeat("zebra badger walrus otter ", 40) + "\"\n",
			"zoo.go":   function("feed gives the otter its fish.", "feed", ""),
		}},
		{"a test, where one is asked for", "which test makes sure that a failed connection is not reused?", "pool_test.go TestFailedConnectionIsNotReused", tested},
		{"no test else", "is a failed connection reused?", "pool.go reuse", tested},
		{"a name before a comment", "how to drain the queue", "a.go drainQueue", map[string]string{
			"a.go": "package p\n\nfunc drainQueue() {\n" + steps + "}\n",
			"b.go": function("other waits; to drain a queue, drain the queue, then drain any queue, and drain its queue again.", "other", ""),
		}},
		{"what does it before what promises it", "where is a box closed?", "b.go seal", map[string]string{
			"a.go": "package p\n\ntype wax interface {\n\t// seal closes a box.\n\tseal()\n}\n", "b.go": function("seal closes a box.", "seal", steps),
		}},
		{"a verb in its past", "when is a parcel sent?", "a.go post", verbs},
		{"another verb in its past", "when was a parcel lost?", "b.go lose", verbs},
		{"a function before a type, which holds the words of all that is in it", "is it sent by balloon?", "b.go parcels", map[string]string{
			"a.go": "package p\n\n// A parcel is sent by balloon.\ntype parcel struct {\n}\n", "b.go": function("A parcel is sent by balloon.", "parcels", ""),
		}},
	} {
		r, _ := tree(t, c.files)
		d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: c.question})
		if len(d.Hits) == 0 || d.Hits[0].Path+" "+d.Hits[0].Symbol != c.want {
			t.Errorf("%s: %s finds %+v first", c.why, c.question, d.Hits[:min(1, len(d.Hits))])
		}
	}
}

// shareOf is the score of a file's best hit, as a share of another's.
func shareOf(t *testing.T, r *Root, question, file, of string) float64 {
	t.Helper()
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: question})
	best := map[string]float64{}
	for _, h := range d.Hits {
		best[h.Path] = max(best[h.Path], h.Score)
	}
	if best[of] == 0 {
		t.Fatalf("%s: %+v", question, d.Hits)
	}
	return best[file] / best[of]
}

func TestWhatAQuestionAsksForCountsMore(t *testing.T) {
	r, _ := tree(t, map[string]string{"a.go": function("retries of a request.", "retryRun", ""), "b.go": "package p\n\n// retries of a request.\nvar retrySum = 3\n"})
	if number, other := shareOf(t, r, "how many retries of a request", "b.go", "a.go"), shareOf(t, r, "retries of a request", "b.go", "a.go"); number < 1.2*other {
		t.Errorf("a constant counts %.2f of a function where a number is asked for, else %.2f", number, other)
	}
	text := "# Parcels\n\nA parcel is sent by balloon"
	r, _ = tree(t, map[string]string{"CHANGELOG.md": text + ", at last.\n", "MANUAL.md": text + ", as ever.\n"})
	if share := shareOf(t, r, "how is a parcel sent by balloon?", "CHANGELOG.md", "MANUAL.md"); share > 0.5 {
		t.Errorf("a list of changes counts %.2f of a manual", share)
	}
	r, _ = tree(t, map[string]string{"a/post.go": function("post sends a parcel.", "postNow", "\tstep()\n"), "balloon/post.go": strings.Replace(function("post sends a parcel.", "postAll", "\tstep()\n"), "package p", "package balloon", 1)})
	if share := shareOf(t, r, "how does a balloon post a parcel?", "a/post.go", "balloon/post.go"); share > 0.65 {
		t.Errorf("without a word of the question in its path, a file counts %.2f", share)
	}
}

func TestRarityIsThatOfDefinitions(t *testing.T) {
	// Both words stand in two files each, but nearly every definition of one of them holds “frame”.
	var b strings.Builder
	b.WriteString("package p\n")
	for i := range 30 {
		fmt.Fprintf(&b, "\n// draw%d draws a frame.\nfunc draw%d() {\n}\n", i, i)
	}
	r, _ := tree(t, map[string]string{
		"draw.go": b.String(), "a.go": function("paint paints a frame.", "paint", ""),
		"b.go": function("align moves a cursor.", "align", ""), "c.go": function("blink shows a cursor.", "blink", ""),
	})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "frame cursor"})
	if got := d.Hits[0].Path; got != "b.go" && got != "c.go" {
		t.Errorf("first is %s", got)
	}
}

func TestPassagesAreShownTogetherWhileShort(t *testing.T) {
	page := "# Manual\n\nThe frobnicator frobnicates.\n\nIt is never idle.\n"
	parcel, field := "package a\n\n// Parcel is what a balloon carries.\ntype Parcel struct {\n", "\tLimit int // how heavy a parcel for a balloon may be at most\n}\n"
	long := "package p\n\n// long is long.\nfunc long(\n\tname string,\n) {\n" + strings.Repeat("\tstep()\n", 60) + "\t// here the zebra is counted\n\tcount()\n" +
		strings.Repeat("\tstep()\n", 30) + "}\n"
	for _, c := range []struct {
		why, question string
		files         map[string]string
		want          []string // path, lines and, of a longer one, those that are best; in any order
	}{
		{"copies fill one slot", "is the frobnicator idle?", map[string]string{
			"a/page.md": page, "b/page.md": page, "c/page.md": page, "d/other.md": "# Other\n\nA frobnicator may be idle.\n",
		}, []string{"a/page.md 1-5", "d/other.md 1-3"}},
		{"neighbours, but not what is further off", "parcel by balloon", map[string]string{"a.go": "package a\n\n// How long a parcel by balloon may take.\nconst parcelBalloonTime = 3\n\n" +
			"// What a parcel by balloon costs.\nconst parcelBalloonCost = 4\n" + strings.Repeat("\nfunc step() {}\n", 3) + "\n// What a parcel by balloon weighs.\nconst parcelBalloonWeight = 5\n"},
			[]string{"a.go 15-16", "a.go 3-7"}},
		{"a field and its short type", "how heavy may a parcel be at most for a balloon?", map[string]string{"a.go": parcel + strings.Repeat("\t_ int\n", 3) + field}, []string{"a.go 3-9"}},
		{"sections are apart", "parcel by balloon", map[string]string{"a.md": "# Sending a parcel\n\nA balloon takes it.\n\n# Weighing a parcel\n\nA balloon can't lift all.\n"},
			[]string{"a.md 1-4", "a.md 5-7"}},
		{"not what says little", "how is a parcel sent by balloon", map[string]string{"a.go": "package a\n\n// sendParcel sends a parcel by balloon.\nfunc sendParcel() {}\n\nfunc step(parcel int) {}\n"},
			[]string{"a.go 3-4", "a.go 6-6"}},
		{"of a long one the best lines", "where is the zebra counted", map[string]string{"long.go": long}, []string{"long.go 3-99, best 64-77"}},
	} {
		r, _ := tree(t, c.files)
		d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: c.question})
		var got []string
		for _, h := range d.Hits {
			place := fmt.Sprintf("%s %d-%d", h.Path, h.Start, h.End)
			if h.From != h.Start || h.To != h.End {
				place += fmt.Sprintf(", best %d-%d", h.From, h.To)
			}
			got = append(got, place)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", c.why, got, c.want)
		}
	}
}
