package api_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"sibyl/internal/service"
)

func TestWordsAreFoundByWhoSaidThemAlone(t *testing.T) {
	h := newHouse(t)
	h.store = strict{h.store, t}
	h.open()
	if a := h.get(question{path: "/api/find?q=tea"}, nil); strings.TrimSpace(string(a.body)) != `{"hits":[]}` {
		t.Errorf("nothing is %s", a.body)
	}
	for n := range 3 {
		b := h.begin("", fmt.Sprintf("Téa %d, at 100%% <b>?", n))
		h.ended("", b.Run)
	}
	eves := h.begin(evesToken, "Eve's tea?")
	h.ended(evesToken, eves.Run)

	var seen []string
	after := ""
	for range 5 {
		var part service.Hits
		h.get(question{path: "/api/find?limit=2&q=" + url.QueryEscape("TEA 100% <B>") + "&after=" + after}, &part)
		for _, one := range part.Hits {
			seen = append(seen, marked(one))
		}
		if after = part.Next; after == "" {
			break
		}
	}
	if want := "[Téa] 2, at [100%] [<b>]?|[Téa] 1, at [100%] [<b>]?|[Téa] 0, at [100%] [<b>]?"; strings.Join(seen, "|") != want {
		t.Errorf("found %q, want %q", strings.Join(seen, "|"), want)
	}
	for _, q := range []string{"?q=", "", "?q=%20%00", "?q=tea&limit=0", "?q=tea&limit=101", "?q=tea&after=x", "?q=tea&after=t", "?q=tea&from=yesterday",
		"?q=tea&assistant=%22", "?q=" + strings.Repeat("x", 1001)} {
		h.refused("find"+q, question{path: "/api/find" + q}, 400, "invalid_request")
	}
	for _, q := range []string{"?q=%25", "?q=_", "?q=%27", "?q=%22", "?q=tea&to=2020-01-01T00:00:00Z", "?q=tea&assistant=nobody"} {
		var part service.Hits
		if h.get(question{path: "/api/find" + q}, &part); len(part.Hits) > 3 {
			t.Errorf("%s finds %d", q, len(part.Hits))
		}
	}
}

// marked is the title of a hit, with the words that were looked for in brackets.
func marked(h service.Hit) string {
	b := &strings.Builder{}
	for _, s := range h.Title {
		if s.Hit {
			fmt.Fprintf(b, "[%s]", s.Text)
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}
