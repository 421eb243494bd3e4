package signal

import (
	"html"
	"testing"

	"sibyl/internal/behaviour/assert"
)

const (
	lt     = "<"
	asJSON = `{"type": "context_sufficient", "sources_found": 3, "source_types": ["code"], "confidence": 0.9}`
)

func TestWrittenFormsHoldTheSameFields(t *testing.T) {
	for _, text := range []string{asJSON,
		`< SIGNAL Type=context_sufficient confidence=0,9><Sources_Found>3</sources_found><source_types>code</source_types></signal>`,
		html.EscapeString(`<signal type="context_sufficient"><sources_found>3</sources_found><source_types>["code"]</source_types><confidence>0.9</confidence></signal>`)} {
		_, r := Extract(text)
		if r.Signal == nil {
			t.Errorf("%s: no signal, %v", text, r.Problems)
			continue
		}
		types := r.Signal.List("source_types")
		assert.That(t, r.Signal.Text("sources_found") == "3" && len(types) == 1 && types[0] == "code" &&
			r.Signal.Confidence == 0.9, "%s: %+v", text, r.Signal)
		again, err := Parse(r.Signal.RawXML)
		assert.That(t, err == nil && again.Type == r.Signal.Type, "what is kept of it does not parse: %v", err)
	}
}

func TestOrdinaryTextIsShownAtOnce(t *testing.T) {
	var x Extractor
	for _, step := range []struct{ in, out string }{
		{"Si", ""}, {"x", "Six"}, {" s", " s"}, {"\n* ", "\n"}, {"a", "* a"}, {"\n```go\n", "\n"}, {"f", "```go\nf"},
		{"\n```\n{", "\n```\n"}, {`"`, ""}, {"name", `{"name`}, {" & ", " & "},
		{"\n" + lt + "sign", "\n"}, {"s", lt + "signs"},
	} {
		assert.Equalf(t, x.Write(step.in), step.out, "Write(%q)", step.in)
	}
}
