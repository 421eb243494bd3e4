package code

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// firstOf gives the path and the symbol of the best hit.
func firstOf(t *testing.T, r *Root, question string) string {
	t.Helper()
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: question})
	if len(d.Hits) == 0 {
		return "nothing"
	}
	return d.Hits[0].Path + " " + d.Hits[0].Symbol
}

func TestDefinitionsOutrankTheirUses(t *testing.T) {
	r, _ := tree(t, map[string]string{"header.go": `package p

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
`})
	if got := firstOf(t, r, "How is the header MAC computed?"); got != "header.go headerMAC" {
		t.Errorf("first is %s", got)
	}
}

func TestACommentAboveSaysMoreThanABody(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"a.go": "package p\n\n// first shrinks the arena when the pressure falls.\nfunc first() {\n\trun()\n}\n",
		"b.go": "package p\n\n// second runs.\nfunc second() {\n\tshrinks(arena, pressure, falls)\n}\n",
	})
	if got := firstOf(t, r, "what shrinks the arena when pressure falls"); got != "a.go first" {
		t.Errorf("first is %s", got)
	}
}

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

func TestConstantsAndFieldsAreFoundThemselves(t *testing.T) {
	r, _ := tree(t, map[string]string{"limited.go": limited})
	for question, want := range map[string]string{
		"how many stanzas can a header hold at most?": "limited.go maxStanzas",
		"how often is a stanza tried again":           "limited.go Options.Retries",
	} {
		if got := firstOf(t, r, question); got != want {
			t.Errorf("%s: first is %s, want %s", question, got, want)
		}
	}
}

func TestUsersOfADefinitionComeFirstWhereTheyAreAskedFor(t *testing.T) {
	r, _ := tree(t, map[string]string{"a.go": "package p\n\n// sealBox seals a box.\nfunc sealBox() {\n}\n\nfunc ship() {\n\tprepare()\n\tsealBox()\n}\n"})
	for question, want := range map[string]string{
		"who calls sealBox?": "a.go ship", "where is sealBox used": "a.go ship", "Wer ruft sealBox auf?": "a.go ship", "what does sealBox do": "a.go sealBox",
	} {
		if got := firstOf(t, r, question); got != want {
			t.Errorf("%s: first is %s, want %s", question, got, want)
		}
	}
}

func TestWordsOfClosedClassesDecideNothing(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"a.go": "package p\n\n// again is tried once, and then put off, until it is given up, whatever is left.\nfunc again() {\n}\n",
		"b.go": "package p\n\n// retire ends a worker.\nfunc retire() {\n}\n",
	})
	if got := firstOf(t, r, "once it is given up and put off, whatever is left: is the worker retired?"); got != "b.go retire" {
		t.Errorf("first is %s", got)
	}
}

func TestQuestionsInOtherLanguagesFindEnglishCode(t *testing.T) {
	r, _ := tree(t, map[string]string{"a.go": `package p

// order sorts what runs by name.
func order() {
}

// closeConn closes a connection.
func closeConn() {
}

// passes asserts.
func passes() {
}
`})
	for question, want := range map[string]string{
		"In welcher Reihenfolge wird das gemacht?":  "a.go order",
		"Was passiert mit einer Verbindung am Ende": "a.go closeConn",
		"como é que a conexão é fechada?":           "a.go closeConn",
	} {
		if got := firstOf(t, r, question); got != want {
			t.Errorf("%s: first is %s, want %s", question, got, want)
		}
	}
}

func TestCopiesOfATextFillOneSlot(t *testing.T) {
	page := "# Manual\n\nThe frobnicator frobnicates.\n\nIt is never idle.\n"
	r, _ := tree(t, map[string]string{"a/page.md": page, "b/page.md": page, "c/page.md": page, "d/other.md": "# Other\n\nA frobnicator may be idle.\n"})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "is the frobnicator idle?"})
	paths := hitPaths(d)
	if len(paths) != 2 || !slices.Contains(paths, "d/other.md") {
		t.Errorf("hits in %q", paths)
	}
}

func TestAFieldAndItsTypeFillOneSlot(t *testing.T) {
	r, _ := tree(t, map[string]string{"limited.go": limited})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "how often is a stanza tried again"})
	for i, h := range d.Hits {
		for _, o := range d.Hits[:i] {
			if h.Start <= o.Start && o.End <= h.End || o.Start <= h.Start && h.End <= o.End {
				t.Errorf("%s, lines %d-%d, and %s, lines %d-%d, are both shown", o.Symbol, o.Start, o.End, h.Symbol, h.Start, h.End)
			}
		}
	}
}

func TestLinesThatNoPersonWritesAreNoAnswer(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"words.go": "package p\n\nvar words = \"" + strings.Repeat("zebra badger walrus otter ", 40) + "\"\n",
		"zoo.go":   "package p\n\n// feed gives the otter its fish.\nfunc feed() {\n}\n",
	})
	if got := firstOf(t, r, "is the otter fed with a walrus?"); got != "zoo.go feed" {
		t.Errorf("first is %s", got)
	}
}

func TestTestsComeFirstWhereOneIsAskedFor(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"pool.go":      "package p\n\n// reuse reuses a failed connection of the pool.\nfunc reuse() {\n}\n",
		"pool_test.go": "package p\n\nfunc TestFailedConnectionIsNotReused(t *T) {\n\tpool()\n}\n",
	})
	if got := firstOf(t, r, "which test makes sure that a failed connection is not reused?"); got != "pool_test.go TestFailedConnectionIsNotReused" {
		t.Errorf("first is %s", got)
	}
	if got := firstOf(t, r, "is a failed connection reused?"); got != "pool.go reuse" {
		t.Errorf("first is %s", got)
	}
}

func TestALongDefinitionIsShownByItsHeadAndItsBestLines(t *testing.T) {
	long := "package p\n\n// long is long.\nfunc long(\n\tname string,\n) {\n" + strings.Repeat("\tstep()\n", 60) + "\t// here the zebra is counted\n\tcount()\n" + strings.Repeat("\tstep()\n", 30) + "}\n"
	r, _ := tree(t, map[string]string{"long.go": long, "short.go": "package p\n\n// short counts.\nfunc short() {\n}\n"})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "where is the zebra counted"})
	h := d.Hits[0]
	if got := fmt.Sprint(h.Path, h.Start, h.Head, h.From <= 67 && 67 <= h.To, h.To-h.From+1); got != fmt.Sprint("long.go", 3, 4, true, windowLines) {
		t.Errorf("%s of %+v", got, h)
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
		"draw.go": b.String(), "a.go": "package p\n\n// paint paints a frame.\nfunc paint() {\n}\n",
		"b.go": "package p\n\n// align moves a cursor.\nfunc align() {\n}\n", "c.go": "package p\n\n// blink shows a cursor.\nfunc blink() {\n}\n",
	})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "frame cursor"})
	if got := d.Hits[0].Path; got != "b.go" && got != "c.go" {
		t.Errorf("first is %s", got)
	}
}

func TestANameThatTheQuestionSaysOutranksAComment(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"a.go": "package p\n\nfunc drainQueue() {\n\trun()\n\tstep()\n\tstep()\n}\n",
		"b.go": "package p\n\n// other waits; to drain a queue, drain the queue, then drain any queue, and drain its queue again.\nfunc other() {\n}\n",
	})
	if got := firstOf(t, r, "how to drain the queue"); got != "a.go drainQueue" {
		t.Errorf("first is %s", got)
	}
}

func TestAConstantComesFirstWhereANumberIsAskedFor(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"a.go": "package p\n\n// retries of a request.\nfunc retryRun() {}\n",
		"b.go": "package p\n\n// retries of a request.\nvar retrySum = 3\n",
	})
	if number, other := shareOf(t, r, "how many retries of a request", "b.go", "a.go"), shareOf(t, r, "retries of a request", "b.go", "a.go"); number < 1.2*other {
		t.Errorf("the constant counts %.2f of the function where a number is asked for, else %.2f", number, other)
	}
}

func TestWhatDoesItComesBeforeWhatPromisesIt(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"a.go": "package p\n\ntype wax interface {\n\t// seal closes a box.\n\tseal()\n}\n",
		"b.go": "package p\n\n// seal closes a box.\nfunc seal() {\n" + strings.Repeat("\tstep()\n", 5) + "}\n",
	})
	if got := firstOf(t, r, "where is a box closed?"); got != "b.go seal" {
		t.Errorf("first is %s", got)
	}
}

func TestACallOutranksACommentWhereCallersAreAskedFor(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"a.go": "package p\n\n// note tells of sealBox.\nfunc note() {\n}\n",
		"b.go": "package p\n\nfunc ship() {\n\tprepare()\n\tstep()\n\tstep()\n\tstep()\n\tsealBox()\n}\n",
		"c.go": "package p\n\nfunc sealBox() {\n}\n",
	})
	if got := firstOf(t, r, "who calls sealBox?"); got != "b.go ship" {
		t.Errorf("first is %s", got)
	}
}

func TestAVerbIsFoundInAllItsForms(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"a.go": "package p\n\n// post sends a parcel.\nfunc post() {\n}\n",
		"b.go": "package p\n\n// lose drops a parcel.\nfunc lose() {\n}\n",
	})
	for question, want := range map[string]string{"when is a parcel sent?": "a.go post", "when was a parcel lost?": "b.go lose"} {
		if got := firstOf(t, r, question); got != want {
			t.Errorf("%s: first is %s, want %s", question, got, want)
		}
	}
}

func TestATypeHoldsTheWordsOfAllThatIsInItAndCountsLess(t *testing.T) {
	r, _ := tree(t, map[string]string{
		"a.go": "package p\n\n// A parcel is sent by balloon.\ntype parcel struct {\n}\n",
		"b.go": "package p\n\n// A parcel is sent by balloon.\nfunc parcels() {\n}\n",
	})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "is it sent by balloon?"})
	if d.Hits[0].Kind != "func" || d.Hits[1].Score > 0.9 {
		t.Errorf("%+v", d.Hits)
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

func TestAListOfChangesIsNoManual(t *testing.T) {
	text := "# Parcels\n\nA parcel is sent by balloon"
	r, _ := tree(t, map[string]string{"CHANGELOG.md": text + ", at last.\n", "MANUAL.md": text + ", as ever.\n"})
	if share := shareOf(t, r, "how is a parcel sent by balloon?", "CHANGELOG.md", "MANUAL.md"); share > 0.5 {
		t.Errorf("the list of changes counts %.2f of the manual", share)
	}
}

func TestWordsOfAPathCountForWhatIsInIt(t *testing.T) {
	text := "package %s\n\n// post sends a parcel.\nfunc post%s() {\n\tstep()\n}\n"
	r, _ := tree(t, map[string]string{"a/post.go": fmt.Sprintf(text, "a", "Now"), "balloon/post.go": fmt.Sprintf(text, "balloon", "All")})
	if share := shareOf(t, r, "how does a balloon post a parcel?", "a/post.go", "balloon/post.go"); share > 0.65 {
		t.Errorf("without the word in its path it counts %.2f", share)
	}
}

func TestPassagesBesideEachOtherAreShownAsOne(t *testing.T) {
	apart := strings.Repeat("\nfunc step() {}\n", 3)
	r, _ := tree(t, map[string]string{"a.go": "package a\n\n// How long a parcel by balloon may take.\nconst parcelBalloonTime = 3\n\n// What a parcel by balloon costs.\nconst parcelBalloonCost = 4\n" +
		apart + "\n// What a parcel by balloon weighs.\nconst parcelBalloonWeight = 5\n"})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "parcel by balloon"})
	var spans []string
	for _, h := range d.Hits {
		spans = append(spans, fmt.Sprint(h.Start, "-", h.End, " shows ", h.From, "-", h.To))
	}
	want := []string{"3-7 shows 3-7", "15-16 shows 15-16"}
	if slices.Sort(spans); !slices.Equal(spans, want) && !slices.Equal(spans, []string{want[1], want[0]}) {
		t.Errorf("%q, not %q", spans, want)
	}
}

func TestWhatLiesAroundAPassageIsShownWithItWhileItIsShort(t *testing.T) {
	const head, field = "package a\n\n// Parcel is what a balloon carries.\ntype Parcel struct {\n", "\tLimit int // how heavy a parcel for a balloon may be at most\n}\n"
	for others, want := range map[int]string{3: "3-9", 60: "65-65"} {
		r, _ := tree(t, map[string]string{"a.go": head + strings.Repeat("\t_ int\n", others) + field})
		d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "how heavy may a parcel be at most for a balloon?"})
		if got := fmt.Sprint(d.Hits[0].Start, "-", d.Hits[0].End); got != want {
			t.Errorf("of a type with %d other fields, lines %s are shown, not %s", others, got, want)
		}
	}
}

func TestSectionsBesideEachOtherAreShownApart(t *testing.T) {
	r, _ := tree(t, map[string]string{"a.md": "# Sending a parcel\n\nA balloon takes it.\n\n# Weighing a parcel\n\nA balloon can't lift all.\n"})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "parcel by balloon"})
	if len(d.Hits) != 2 {
		t.Errorf("%d passages, not both sections", len(d.Hits))
	}
}

func TestWhatSaysLittleIsNotShownWithWhatStandsBesideIt(t *testing.T) {
	r, _ := tree(t, map[string]string{"a.go": "package a\n\n// sendParcel sends a parcel by balloon.\nfunc sendParcel() {}\n\nfunc step(parcel int) {}\n"})
	d, _ := data[SearchData](t, r, "code_search", SearchArgs{Query: "how is a parcel sent by balloon"})
	if h := d.Hits[0]; h.Start != 3 || h.End != 4 {
		t.Errorf("lines %d-%d are shown", h.Start, h.End)
	}
}
