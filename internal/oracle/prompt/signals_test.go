package prompt_test

import (
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/oracle/prompt"
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
		"Format":        {`<signal type="need_turn">`, "</signal>", "<confidence>", "JSON array"},
		"Confidence":    {"**0.3**", "**0.7**", "**0.9**"},
		"Examples":      {"<example>"},
		"Anti-patterns": {"Multiple signals", "inline signal", "code fence", "Invented", "always 0.9"},
	} {
		assert.Contains(t, heading, bodies[heading], wants...)
	}
}

func TestFieldsOfTheInstructionsAreThoseOfTheParser(t *testing.T) {
	kinds := map[signal.FieldKind]string{signal.Text: "text", signal.Int: "whole number", signal.List: "list"}
	bodies, _ := signalSections(t)
	for _, spec := range signal.Specs() {
		var required, optional []string
		for _, field := range spec.Fields {
			cell := "`" + field.Name + "` " + kinds[field.Kind]
			if field.Required {
				required = append(required, cell)
			} else {
				optional = append(optional, cell)
			}
		}
		want := fmt.Sprintf(". `%s` (%s; optional %s): ", spec.Type, strings.Join(required, ", "),
			strings.Join(optional, ", "))
		assert.That(t, strings.Contains(bodies["When to emit each signal"], want), "there is no trigger that reads %q", want)
	}
}

// A question over code is the usual one: its prompt is paid for in every turn.
func TestPromptOfAQuestionOverCodeHasAtMost9KB(t *testing.T) {
	s := situation("code")
	s.Tools, s.Missing = nil, []string{"vault", "web search (no search engine is set up)"}
	for i := range 7 {
		s.Tools = append(s.Tools, prompt.ToolLine{Name: fmt.Sprintf("code_history_%d", i), Source: "code",
			Description: "Finds where a function, method, type, field, constant or heading is defined, and shows the " +
				"text of its definitions. Use it when you know the name."})
	}
	text := compose(t, embedded(t), s).Text
	assert.That(t, len(text) <= 9_000, "it has %d bytes", len(text))
}

func TestEveryExampleIsAResponseThatEndsInItsOnlySignal(t *testing.T) {
	bodies, _ := signalSections(t)
	examples := regexp.MustCompile(`(?s)<example>\n(.*?)\n</example>`).FindAllStringSubmatch(bodies["Examples"], -1)
	assert.That(t, len(examples) >= len(signal.Specs()), "%d examples, want at least one for each type", len(examples))
	for _, example := range examples {
		text, end, found := strings.Cut(example[1], "\n\n<signal ")
		if !found || text == "" || strings.Contains(end, "<signal") || !strings.HasSuffix(end, "\n</signal>") {
			t.Errorf("no text, a blank line and one signal at the end:\n%s", example[1])
		}
		assert.That(t, !strings.Contains(example[1], "```"),
			"a fence in an example invites a signal in a fence:\n%s", example[1])
	}
}

func TestSignalsShownAsRightParseInFullAndCoverAllTypes(t *testing.T) {
	bodies, _ := signalSections(t)
	covered := map[signal.Type]bool{}
	confidences := map[float64]bool{}
	for _, raw := range regexp.MustCompile(`(?s)<signal .*?</signal>`).FindAllString(bodies["Format"]+
		bodies["Examples"], -1) {
		parsed, err := signal.Parse(raw)
		if err != nil {
			t.Errorf("%v in\n%s", err, raw)
			continue
		}
		covered[parsed.Type] = true
		confidences[parsed.Confidence] = true
		written := strings.Count(raw, "</") - 2 // without signal and confidence
		assert.That(t, len(parsed.Fields) == written, "%d fields of %d were read in\n%s", len(parsed.Fields), written, raw)
		for name := range parsed.Fields {
			assert.That(t, isField(parsed.Type, name), "%s has no field %q", parsed.Type, name)
		}
	}
	assert.That(t, len(covered) == len(signal.Specs()), "the examples cover only %v", covered)
	assert.That(t, len(confidences) >= 4, "the examples teach the confidences %v: too much alike", confidences)
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
