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

	"sibyl/internal/behaviour/assert"
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
		assert.NoDiff(t, cmp.Diff(c.mentions, formsOf(r)), "%s: forms of the mentions", c.name)
		for _, m := range r.Mentions {
			at := int(m.Offset)
			assert.That(t, strings.HasPrefix(c.text[at:], m.Raw), "%s: at %d stands %q, not %q", c.name, at, c.text[at:], m.Raw)
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
	assert.That(t, len(r.Mentions) == maxMentions && r.Signal != nil,
		"%d mentions are kept, signal %v", len(r.Mentions), r.Signal)
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
		text := assert.Must(json.MarshalIndent(vectors, "", "  "))(t)
		assert.NoError(t, os.WriteFile(vectorsFile, append(text, '\n'), 0o644))
	}
	raw := assert.Must(os.ReadFile(vectorsFile))(t)
	var vectors []vector
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	assert.NoError(t, d.Decode(&vectors))
	for _, v := range vectors {
		for _, size := range []int{MaxHeld, 7, 1} {
			assert.NoDiff(t, cmp.Diff(v, extractInPieces(v.Name, v.Text, size)), "%s, in pieces of %d bytes", v.Name, size)
		}
	}
	assert.That(t, len(vectors) >= 100, "only %d vectors", len(vectors))
}
