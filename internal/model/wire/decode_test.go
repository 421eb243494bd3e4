package wire

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sent is an answer with a field of each kind; carried is a part of its text.
type (
	sent struct {
		N       int               `json:"n"`
		P       *int              `json:"p"`
		S       string            `json:"s"`
		B       bool              `json:"b"`
		Minor   struct{ N int }   `json:"minor"`
		Names   []string          `json:"names"`
		Entries []struct{ N int } `json:"entries"`
		Raw     json.RawMessage   `json:"raw"`
		Text    Text              `json:"text"`
		Parts   []carried         `json:"parts"`
	}
	carried struct {
		Text Text `json:"text"`
	}
)

func (carried) CarriesText() {}

func TestMinorFieldsAreReadInAnyTypeOrLeftOutAndCounted(t *testing.T) {
	five := 5
	for body, want := range map[string]sent{
		`{"n":5}`: {N: 5}, `{"n":"5"}`: {N: 5}, `{"n":5.0}`: {N: 5}, `{"n":"5.9"}`: {N: 5}, `{"n":5e0}`: {N: 5},
		`{"n":null}`: {}, `{"p":"5"}`: {P: &five}, `{"p":null}`: {}, `{"s":7}`: {S: "7"}, `{"s":true}`: {S: "true"},
		`{"s":false}`: {}, `{"s":null}`: {}, `{"b":"True"}`: {B: true}, `{"b":1}`: {B: true}, `{"b":0}`: {},
		`{"minor":null}`: {}, `{"names":"a"}`: {Names: []string{"a"}}, `{"names":null}`: {},
		`{"entries":{"N":"3"}}`: {Entries: []struct{ N int }{{3}}}, `{"text":null}`: {}, `{"n":1,"n":"2"}`: {N: 2},
		`{"parts":{"text":"a"}}`: {Parts: []carried{{"a"}}}, `{"parts":[null]}`: {Parts: []carried{{}}}, `{"parts":null}`: {},
	} {
		var x Call
		var got sent
		if err := x.Decode([]byte(body), &got); err != nil || x.dropped != 0 || !cmp.Equal(got, want) {
			t.Errorf("%s: %v, %d dropped: %s", body, err, x.dropped, cmp.Diff(want, got))
		}
	}
	for _, body := range []string{`{"n":"many","s":"x"}`, `{"n":[5],"s":"x"}`, `{"n":{},"s":"x"}`, `{"s":"x","b":"perhaps"}`,
		`{"minor":"none","s":"x"}`, `{"minor":[1],"s":"x"}`, `{"names":{"a":1},"s":"x"}`, `{"entries":7,"s":"x"}`,
		`{"entries":["a"],"s":"x"}`, `{"p":"","s":"x"}`} {
		var x Call
		var got sent
		if err := x.Decode([]byte(body), &got); err != nil || x.dropped != 1 || got.S != "x" {
			t.Errorf("%s: %v, %d dropped, %+v; want one dropped, and the rest", body, err, x.dropped, got)
		}
	}
}

func TestTextAndWhatCarriesItHaveToBeWhatTheProtocolPromises(t *testing.T) {
	for _, body := range []string{`{"text":5}`, `{"text":{}}`, `{"text":["a"]}`, `{"parts":"a"}`, `{"parts":["a"]}`,
		`{"parts":[{"text":1}]}`, `{"parts":7}`, `[]`, `"a"`, `{"n":5`, ``} {
		var x Call
		var got sent
		if err := x.Decode([]byte(body), &got); err == nil {
			t.Errorf("%s is read as %+v", body, got)
		}
	}
}
