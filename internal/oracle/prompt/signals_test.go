package prompt_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/signal"
	"sibyl/prompts"
)

// signalSections returns the body of each second-level heading of signals.md, and the headings in their order.
func signalSections(t *testing.T) (bodies map[string]string, order []string) {
	t.Helper()
	data := assert.Must(fs.ReadFile(prompts.FS, "oracle/signals.md"))(t)
	bodies = map[string]string{}
	for _, section := range strings.Split(string(data), "\n## ")[1:] {
		heading, body, _ := strings.Cut(section, "\n")
		bodies[heading] = body
		order = append(order, heading)
	}
	return bodies, order
}

func TestSignalInstructionsHoldTheFiveRequiredParts(t *testing.T) {
	bodies, order := signalSections(t)
	assert.NoDiff(t, cmp.Diff([]string{"Format", "When to emit each signal", "Confidence", "Examples", "Anti-patterns"},
		order), "headings (-want +got)")
	for heading, wants := range map[string][]string{
		"Format":        {"`type`", "<confidence>", "JSON array"},
		"Confidence":    {"**0.3**", "**0.7**", "**0.9**"},
		"Examples":      {`<signal type="context_sufficient">`, "<confidence>", "</signal>"},
		"Anti-patterns": {"Multiple signals", "inline signal", "code fence", "Invented", "always 0.9"},
	} {
		assert.Contains(t, heading, bodies[heading], wants...)
	}
}

// The optional fields that a person is shown are named, too.
func TestFieldsOfTheInstructionsAreThoseOfTheParser(t *testing.T) {
	kinds := map[signal.FieldKind]string{signal.Text: "text", signal.Int: "whole number", signal.List: "list"}
	shown := map[string]bool{"caveat": true, "suggestions": true}
	bodies, _ := signalSections(t)
	for _, spec := range signal.Specs() {
		var required, optional []string
		for _, field := range spec.Fields {
			cell := "`" + field.Name + "` " + kinds[field.Kind]
			switch {
			case field.Required:
				required = append(required, cell)
			case shown[field.Name]:
				optional = append(optional, "; optional "+cell)
			}
		}
		want := fmt.Sprintf(". `%s` (%s%s): ", spec.Type, strings.Join(required, ", "), strings.Join(optional, ""))
		assert.That(t, strings.Contains(bodies["When to emit each signal"], want), "there is no trigger that reads %q", want)
	}
}

// A question over code is the usual one: a local model reads its prompt at 60 tokens a second.
func TestPromptOfAQuestionOverCodeHasAtMost4KB(t *testing.T) {
	s := situation("code")
	s.Missing = []string{"vault", "web search (no search engine is set up)"}
	c := compose(t, embedded(t), s)
	assert.That(t, len(c.Text)+len(c.Note) <= 4_000, "it has %d and %d bytes", len(c.Text), len(c.Note))
}

func TestEveryExampleIsAResponseThatEndsInASignalWhichParses(t *testing.T) {
	bodies, _ := signalSections(t)
	replies := strings.SplitAfter(strings.TrimSpace(bodies["Examples"]), "</signal>")
	assert.That(t, len(replies) == 3 && replies[2] == "", "%d examples, want two: %q", len(replies)-1, replies)
	confidences := map[float64]bool{}
	for _, reply := range replies[:len(replies)-1] {
		text, raw, found := strings.Cut(strings.TrimSpace(reply), "\n\n<signal ")
		assert.That(t, found && text != "", "no text, a blank line and one signal at the end:\n%s", reply)
		parsed := assert.Must(signal.Parse("<signal " + raw))(t)
		written := strings.Count(raw, "</") - 2 // without signal and confidence
		assert.That(t, len(parsed.Fields) == written, "%d fields of %d were read in\n%s", len(parsed.Fields), written, raw)
		for name := range parsed.Fields {
			assert.That(t, isField(parsed.Type, name), "%s has no field %q", parsed.Type, name)
		}
		confidences[parsed.Confidence] = true
	}
	assert.That(t, len(confidences) == 2, "the examples teach the confidences %v: too much alike", confidences)
}

func isField(signalType signal.Type, name string) bool {
	for _, spec := range signal.Specs() {
		for _, field := range spec.Fields {
			if spec.Type == signalType && field.Name == name {
				return true
			}
		}
	}
	return false
}
