package jsonobject

import (
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
)

type outer struct {
	Name  string     `json:"name"`
	End   *time.Time `json:"end,omitempty"`
	Inner *inner     `json:"inner,omitempty"`
	All   []inner    `json:"all"`
	Words []string   `json:"words,omitempty"`
	Two   [2]int     `json:"two,omitzero"`

	Kept
}

type inner struct {
	Number int `json:"number"`

	Kept
}

func read1(t *testing.T, text string) *outer {
	t.Helper()
	var o outer
	assert.NoError(t, Decode([]byte(text), &o))
	return &o
}

func wantText(t *testing.T, o *outer, want string) {
	t.Helper()
	out := assert.Must(Encode(o))(t)
	got := strings.Join(strings.Fields(string(out)), "")
	assert.That(t, got == want, "it is written as\n%s, want\n%s", got, want)
}

func TestWhatIsNotKnownIsWrittenAgainAtEveryLevel(t *testing.T) {
	o := read1(t, `{"x":1,"inner":{"y":[2.50],"number":3},"end":"2025-12-20T12:31:05+02:00","all":[{"number":1,"z":"<b>"}],"Name":null}`)
	assert.That(t, o.End != nil && o.End.Equal(time.Date(2025, 12, 20, 10, 31, 5, 0, time.UTC)) && o.Inner != nil &&
		o.Inner.Number == 3, "it is read as %+v", o)
	const rest = `"inner":{"number":4,"y":[2.50]},"all":[{"number":1,"z":"<b>"}],"words":["a"],"two":[1,5],"Name":null,"x":1}`
	o.Inner.Number, o.Words, o.Two = 4, []string{"a"}, [2]int{1, 5}
	wantText(t, o, `{"name":"","end":"2025-12-20T10:31:05Z",`+rest)
	o.Inner, o.End, o.All = nil, nil, nil
	wantText(t, o, `{"name":"","all":[],"words":["a"],"two":[1,5],"Name":null,"x":1}`)
}

func TestAPointerIsNilWhereNothingIsSaid(t *testing.T) {
	for _, text := range []string{`{}`, `{"inner":null,"end":null}`} {
		o := read1(t, text)
		assert.That(t, o.Inner == nil && o.End == nil, "%s is read as %+v", text, o)
	}
}

func TestAValueThatWasNeverReadIsWrittenWithoutWhatIsEmpty(t *testing.T) {
	wantText(t, &outer{Name: "<é>"}, `{"name":"<é>","all":[]}`)
}

func TestAnErrorNamesThePlaceBehindAPointer(t *testing.T) {
	for text, want := range map[string]string{
		`{"inner":{"number":"x"}}`: "can't be read: inner.number: a JSON string stands where a whole number is " +
			"expected",
		`{"inner":[]}`:                "inner: a JSON array stands where an object is expected",
		`{"end":"soon"}`:              "end: “soon” is no time",
		`{"end":7}`:                   "end: a JSON number stands where a text is expected",
		`{"all":[{"number":1},true]}`: "all[1]: a JSON bool stands where an object is expected",
	} {
		err := Decode([]byte(text), &outer{})
		assert.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %v, want “%s”", text, err, want)
	}
}
