package jsonobject

import (
	"strings"
	"testing"
	"time"
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
	if err := Decode([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return &o
}

func wantText(t *testing.T, o *outer, want string) {
	t.Helper()
	out, err := Encode(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(string(out)), ""); got != want {
		t.Errorf("it is written as\n%s, want\n%s", got, want)
	}
}

func TestWhatAPointerLeadsToKeepsWhatIsNotKnown(t *testing.T) {
	const text = `{"x":1,"inner":{"y":[2.50],"number":3},"end":"2025-12-20T12:31:05.000+02:00","two":[1,2]}`
	o := read1(t, text)
	if o.End == nil || !o.End.Equal(time.Date(2025, 12, 20, 10, 31, 5, 0, time.UTC)) || o.Inner == nil || o.Inner.Number != 3 {
		t.Errorf("it is read as %+v", o)
	}
	wantText(t, o, text)
	o.Inner.Number, o.Two[1] = 4, 5
	*o.End = o.End.Add(time.Second)
	wantText(t, o, `{"x":1,"inner":{"y":[2.50],"number":4},"end":"2025-12-20T10:31:06Z","two":[1,5]}`)
	o.Inner, o.End = nil, nil
	wantText(t, o, `{"x":1,"two":[1,5]}`)
}

func TestAPointerIsNilWhereNothingIsSaid(t *testing.T) {
	for _, text := range []string{`{}`, `{"inner":null,"end":null}`} {
		o := read1(t, text)
		if o.Inner != nil || o.End != nil {
			t.Errorf("%s is read as %+v", text, o)
		}
		wantText(t, o, text)
		at := time.Date(2025, 12, 20, 10, 31, 5, 0, time.UTC)
		o.Inner, o.End = &inner{Number: 1}, &at
		out, err := Encode(o)
		if err != nil || !strings.Contains(string(out), `"number": 1`) || !strings.Contains(string(out), `"end": "2025-12-20T10:31:05Z"`) {
			t.Errorf("after %s it is written as %s, %v", text, out, err)
		}
	}
}

func TestAListThatIsChangedInPlaceIsWrittenAsItIs(t *testing.T) {
	o := read1(t, `{"words":["a","\u0062"],"all":[{"number":1,"z":0}]}`)
	wantText(t, o, `{"words":["a","\u0062"],"all":[{"number":1,"z":0}]}`)
	o.Words[1], o.All[0].Number = "c", 2
	wantText(t, o, `{"words":["a","c"],"all":[{"number":2,"z":0}]}`)
}

func TestAValueThatWasNeverReadIsWrittenWithoutWhatIsEmpty(t *testing.T) {
	wantText(t, &outer{Name: "<é>"}, `{"name":"<é>","all":[]}`)
}

func TestAnErrorNamesThePlaceBehindAPointer(t *testing.T) {
	for text, want := range map[string]string{
		`{"inner":{"number":"x"}}`:    "can't be read: inner.number: a JSON string stands where a whole number is expected",
		`{"inner":[]}`:                "inner: a JSON array stands where an object is expected",
		`{"end":"soon"}`:              "end: “soon” is no time",
		`{"end":7}`:                   "end: a JSON number stands where a text is expected",
		`{"all":[{"number":1},true]}`: "all[1]: a JSON bool stands where an object is expected",
	} {
		if err := Decode([]byte(text), &outer{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want “%s”", text, err, want)
		}
	}
}
