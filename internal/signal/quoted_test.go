package signal

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write testdata/vectors/signals.json anew")

// quotations mention a signal, most of them before the reply's own.
var quotations = []stream{
	{name: "SignalInABlockquoteIsAMention", text: "It ends so:\n\n> " + needTurn + "\n\nThat is all.\n" + enough,
		clean: "It ends so:\n\n> \n\nThat is all.\n", signal: ContextSufficient, mentions: []Form{Blockquote}},
	{name: "SignalInABlockquoteAtTheEndIsAMention", text: "It ends so:\n> > " + needTurn, clean: "It ends so:\n> > ",
		mentions: []Form{Blockquote}},
	{name: "SignalOverLinesOfABlockquoteIsAMention", text: "> " + strings.ReplaceAll(needTurn, "><", ">\n> <") + "\n" +
		enough, clean: "> \n", signal: ContextSufficient, mentions: []Form{Blockquote}},
	{name: "FenceInABlockquoteIsText", text: "> ```\n> " + needTurn + "\n> ```\n\nx " + enough, clean: "> ```\n> " +
		needTurn + "\n> ```\n\nx ", signal: ContextSufficient, mentions: []Form{Code}},
	{name: "FenceOfABlockquoteEndsWithIt", text: "> ```\n> x\n\nDone.\n" + enough + "\n```\ny\n```\n",
		clean: "> ```\n> x\n\nDone.\n\n```\ny\n```\n", signal: ContextSufficient},
	{name: "SignalInIndentedCodeIsAMention", text: "It ends so:\n\n    " + needTurn + "\n\nThat is all.\n" + enough,
		clean: "It ends so:\n\n    \n\nThat is all.\n", signal: ContextSufficient, mentions: []Form{Indented}},
	{name: "SignalBehindATabIsAMention", text: "\t" + needTurn + "\n" + enough, clean: "\t\n",
		signal: ContextSufficient, mentions: []Form{Indented}},
	{name: "IndentedLineOfAParagraphCounts", text: "Yes, and\n     " + enough, clean: "Yes, and\n     ",
		signal: ContextSufficient},
	{name: "IndentedLineOfAListCounts", text: "- one\n- two\n\n   " + enough, clean: "- one\n- two\n\n   ",
		signal: ContextSufficient},
	{name: "IndentedCodeOfAListIsAMention", text: "1. one\n\n       " + needTurn + "\n\nx " + enough,
		clean: "1. one\n\n       \n\nx ", signal: ContextSufficient, mentions: []Form{Indented}},
	{name: "FenceInANumberedListIsText", text: "1. So:\n   ```xml\n   " + needTurn + "\n   ```\n2. x\n\n" + enough,
		clean: "1. So:\n   ```xml\n   " + needTurn + "\n   ```\n2. x\n\n", signal: ContextSufficient,
		mentions: []Form{Code}},
	{name: "FenceDeepInAListIsText", text: "10. So:\n\n     ~~~\n     " + needTurn + "\n     ~~~\n\n" + enough,
		clean: "10. So:\n\n     ~~~\n     " + needTurn + "\n     ~~~\n\n", signal: ContextSufficient,
		mentions: []Form{Code}},
	{name: "FenceBehindTheMarkOfAnItemIsText", text: "- ```\n  " + needTurn + "\n  ```\n" + enough, clean: "- ```\n  " +
		needTurn + "\n  ```\n", signal: ContextSufficient, mentions: []Form{Code}},
	{name: "ItemOfAListThatIsASignalCounts", text: "- read\n- " + enough, clean: "- read\n- ",
		signal: ContextSufficient},
	{name: "EntitiesInABlockquoteAreAMention", text: "> " + entities, clean: "> ", mentions: []Form{Blockquote}},
	{name: "MalformedSignalInAQuotationIsAMention", text: "> <signal type='x'></signal>\n" + enough, clean: "> \n",
		signal: ContextSufficient, mentions: []Form{Blockquote}},
	{name: "EverySignalInCodeIsLogged", text: "```\n" + needTurn + enough + "\n```\n" + enough, clean: "```\n" +
		needTurn + enough + "\n```\n", signal: ContextSufficient, mentions: []Form{Code, Code}},
}

// all is every case of a stream.
func all() []stream { return slices.Concat(streams, written, quotations) }

func TestQuotedSignalIsLoggedAndNotActedOn(t *testing.T) {
	for _, c := range quotations {
		_, r := Extract(c.text)
		if d := cmp.Diff(c.mentions, formsOf(r)); d != "" {
			t.Errorf("%s: forms of the mentions: %s", c.name, d)
		}
		for _, m := range r.Mentions {
			if at := int(m.Offset); !strings.HasPrefix(c.text[at:], m.Raw) {
				t.Errorf("%s: at %d stands %q, not %q", c.name, at, c.text[at:], m.Raw)
			}
		}
	}
}

func formsOf(r Result) (forms []Form) {
	for _, m := range r.Mentions {
		forms = append(forms, m.Form)
	}
	return forms
}

func TestMentionsAreBounded(t *testing.T) {
	_, r := Extract(strings.Repeat("> "+needTurn+"\n", 100) + enough)
	if len(r.Mentions) != maxMentions || r.Signal == nil {
		t.Errorf("%d mentions are kept, signal %v", len(r.Mentions), r.Signal)
	}
}

const vectorsFile = "../../testdata/vectors/signals.json"

// vector is a case as docs/vectors.md describes it.
type vector struct {
	Name     string   `json:"name"`
	Text     string   `json:"text"`
	Clean    string   `json:"clean"`
	Signal   Type     `json:"signal"`
	Extra    []Type   `json:"extra,omitempty"`
	Problems int      `json:"problems,omitempty"`
	Mentions []quoted `json:"mentions,omitempty"`
}

type quoted struct {
	Type Type `json:"type"`
	Form Form `json:"form"`
}

// extractInPieces is what an extractor says of a vector's text, cut into pieces of so many bytes.
func extractInPieces(name, text string, size int) vector {
	var x Extractor
	var clean string
	for piece := range slices.Chunk([]byte(text), size) {
		clean += x.Write(string(piece))
	}
	rest, r := x.Close()
	v := vector{Name: name, Text: text, Clean: clean + rest, Problems: len(r.Problems)}
	if r.Signal != nil {
		v.Signal = r.Signal.Type
	}
	for _, s := range r.Extra {
		v.Extra = append(v.Extra, s.Type)
	}
	for _, m := range r.Mentions {
		v.Mentions = append(v.Mentions, quoted{m.Type, m.Form})
	}
	return v
}

func TestSignalsOfTheVectors(t *testing.T) {
	if *update {
		var vectors []vector
		for _, c := range all() {
			if len(c.text) < 4000 { // the long ones are about bounds of this extractor
				vectors = append(vectors, extractInPieces(c.name, c.text, MaxHeld))
			}
		}
		text, err := json.MarshalIndent(vectors, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(vectorsFile, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := os.ReadFile(vectorsFile)
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		for _, size := range []int{MaxHeld, 7, 1} {
			if d := cmp.Diff(v, extractInPieces(v.Name, v.Text, size)); d != "" {
				t.Errorf("%s, in pieces of %d bytes: %s", v.Name, size, d)
			}
		}
	}
	if len(vectors) < 100 {
		t.Errorf("only %d vectors", len(vectors))
	}
}
