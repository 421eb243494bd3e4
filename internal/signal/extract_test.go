package signal

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"sibyl/internal/behaviour/assert"
)

const (
	needTurn = `<signal type="need_turn"><reason>read the next file</reason><confidence>0.7</confidence></signal>`
	enough   = `<signal type="context_sufficient"><sources_found>3</sources_found><confidence>0.9</confidence></signal>`
)

// markup is in every text that holds a signal.
var markup = regexp.MustCompile(`(?i)signal|type`)

// all is every case of a stream: what the rules are tested on. Every one is also cut at every byte, and seeds the fuzzer.
func all(t testing.TB) []vector {
	fits := strings.Replace(needTurn, "file", strings.Repeat("f", MaxHeld-1-len(needTurn)+len("file")), 1)
	words, code, blanks := strings.Repeat("long ", 2000), strings.Repeat("code\n", 2000), strings.Repeat("\n", MaxHeld)
	return append(readVectors[vector](t, "signals.json"),
		// these are about bounds of this extractor
		vector{Name: "LongUnclosedSignalGivesItsTextBack", Text: `<signal type="stuck">` + words + enough, Clean: words,
			Signal: ContextSufficient, Problems: 1},
		vector{Name: "LongFenceIsText", Text: "```\n" + needTurn + code, Clean: "```\n" + needTurn + code},
		vector{Name: "LongBlanksAroundASignalInAFence", Text: "```\n" + blanks + enough + "\n```",
			Clean: "```\n" + blanks + enough + "\n```"},
		vector{Name: "LabelOfASignalThatFillsTheBound", Text: "Signal: " + fits, Clean: "Signal: ", Signal: NeedTurn})
}

func TestExtract(t *testing.T) {
	for _, c := range all(t) {
		assert.NoDiff(t, cmp.Diff(c, c.extracted(len(c.Text)+1), cmpopts.IgnoreFields(vector{}, "Mentions")), "%s", c.Name)
	}
}

func TestResultIsTheSameWhereverTheStreamIsCut(t *testing.T) {
	for _, c := range all(t) {
		step := 1 + len(c.Text)/100 // long streams are cut at some 100 places
		for at := 0; at <= len(c.Text); at += step {
			sameInPieces(t, c.Text, c.Text[:at], c.Text[at:])
		}
		pieces := make([]string, 0, len(c.Text))
		for i := range len(c.Text) {
			pieces = append(pieces, c.Text[i:i+1])
		}
		sameInPieces(t, c.Text, pieces...)
	}
}

func sameInPieces(t *testing.T, text string, pieces ...string) {
	t.Helper()
	want, wantR := Extract(text)
	var x Extractor
	got := ""
	for _, p := range pieces {
		got += x.Write(p)
		assert.Require(t, len(x.held) < MaxHeld, "%d bytes are held", len(x.held))
	}
	rest, gotR := x.Close()
	if got += rest; got != want {
		t.Fatalf("in %d pieces %q, whole %q", len(pieces), got, want)
	}
	if d := cmp.Diff(wantR, gotR); d != "" {
		t.Fatalf("in %d pieces: %s", len(pieces), d)
	}
}

func TestTextIsShownAsSoonAsItCantBeASignal(t *testing.T) {
	var x Extractor
	for _, step := range []struct{ in, out string }{
		{"a <", "a "}, {"signal", ""}, {" tag is", "<signal tag is"}, {"<sig", ""}, {"n", ""}, {"s", "<signs"},
		{"x `<signal type='", "x `"}, {"a'>` ", "<signal type='a'>` "},
	} {
		assert.Equalf(t, x.Write(step.in), step.out, "Write(%q)", step.in)
	}
}

func TestParseRules(t *testing.T) {
	body := func(kind, inner string) string { return `<signal type="` + kind + `">` + inner + `</signal>` }
	const sure = "<confidence>0.5</confidence>"
	for _, c := range []struct{ name, xml, err string }{
		{"ConfidenceMissing", body("need_turn", "<reason>x</reason>"), "no confidence"},
		{"ConfidenceNaN", body("need_turn", "<reason>x</reason><confidence>nan</confidence>"), "not a number"},
		{"ConfidenceInf", body("need_turn", "<reason>x</reason><confidence>+Inf</confidence>"), "not a number"},
		{"ConfidencePercent", body("need_turn", "<reason>x</reason><confidence>85%</confidence>"), "not a number"},
		{"ConfidenceAboveOne", body("need_turn", "<reason>x</reason><confidence>1.2</confidence>"), "not between"},
		{"ConfidenceBelowZero", body("need_turn", "<reason>x</reason><confidence>-0.1</confidence>"), "not between"},
		{"RequiredFieldMissing", body("stuck", "<blocker>x</blocker>"+sure), "wants the field attempted"},
		{"RequiredFieldEmpty", body("need_turn", "<reason> </reason>"+sure), "reason is empty"},
		{"RequiredNumberInWords", body("context_sufficient", "<sources_found>three</sources_found>"+sure),
			"whole number"},
		{"UnknownType", body("finished", sure), "no signal type"},
		{"NoType", "<signal>" + sure + "</signal>", "no type"},
		{"BrokenXML", body("need_turn", "<reason>x</signal>"), "not well-formed"},
		{"TextTwice", body("need_turn", "<reason>x</reason><reason>y</reason>"+sure), "stands twice"},
		{"NestedElement", body("need_turn", "<reason>a <b>c</b></reason>"+sure), "holds an element"},
		{"Good", body("need_turn", "<reason>x</reason>"+sure), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(c.xml)
			assert.That(t, (c.err != "" || err == nil) && (c.err == "" || (err != nil && strings.Contains(err.Error(), c.err))),
				"error %v, want one with %q", err, c.err)
		})
	}
}

func TestParsedFields(t *testing.T) {
	s, err := Parse(`<signal type="stuck"><attempted>["code_search", "code_read"]</attempted><blocker>12345</blocker>` +
		`<suggestions><item>a &amp; b</item><item>c && d</item></suggestions><confidence>.8</confidence></signal>`)
	assert.NoError(t, err)
	assert.NoDiff(t, cmp.Diff([]string{"code_search", "code_read"}, s.List("attempted")), "a JSON array is a list")
	assert.That(t, s.Text("blocker") == "12345", "a text of digits stays a text, not %q", s.Text("blocker"))
	assert.NoDiff(t, cmp.Diff([]string{"a & b", "c && d"}, s.List("suggestions")),
		"items are a list, entities and bare ampersands are read")
	assert.That(t, s.Confidence == 0.8, "confidence %v, want 0.8", s.Confidence)
	for _, plain := range []string{"x, y", "x\ny", "<attempted>x</attempted><attempted>y</attempted>"} {
		inner := "<attempted>" + plain + "</attempted>"
		if strings.HasPrefix(plain, "<") {
			inner = plain
		}
		s, err := Parse(`<signal type="stuck">` + inner + `<blocker>b</blocker><confidence>1</confidence></signal>`)
		assert.NoError(t, err)
		assert.NoDiff(t, cmp.Diff([]string{"x", "y"}, s.List("attempted")), "list from %q", plain)
	}
}

func TestOptionalFieldThatIsWrongIsDroppedAlone(t *testing.T) {
	s, err := Parse(`<signal type="need_turn"><reason>x</reason><expected_turns>some</expected_turns><confidence>1</confidence></signal>`)
	assert.NoError(t, err)
	assert.That(t, s.Fields["expected_turns"].Kind != Int, "‘some’ became a number")
}

func TestSignalSurvivesJSON(t *testing.T) {
	_, r := Extract(`<signal type="stuck"><attempted>["a"]</attempted><blocker>b</blocker><confidence>0.5</confidence></signal>` + enough)
	data := assert.Must(json.Marshal(r))(t)
	var back Result
	assert.NoError(t, json.Unmarshal(data, &back))
	assert.Same(t, r, back)
	assert.That(t, strings.Contains(string(data), `"sources_found":3`) &&
		strings.Contains(string(data), `"attempted":["a"]`), "numbers and lists are not such in JSON: %s", data)
}

// BenchmarkResponse is one long answer with its signal at the end (SC-008).
func BenchmarkResponse(b *testing.B) {
	text := strings.Repeat("The pool closes a connection (`transport.go:812`) that was idle for `IdleConnTimeout`.\n", 120) +
		"\n" + enough
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		var x Extractor
		for at := 0; at < len(text); at += 64 {
			x.Write(text[at:min(at+64, len(text))])
		}
		x.Close()
	}
}
