package model

import "strings"

// SplitExamples takes a prompt apart: its instructions, and behind a line of three dashes the examples, as the messages
// that they are sent as. Each example is a line of a message, and a line of its answer.
func SplitExamples(prompt string) (instructions string, examples []Message) {
	instructions, rest, _ := strings.Cut(strings.ReplaceAll(prompt, "\r\n", "\n"), "\n---\n")
	lines := strings.Split(strings.TrimSpace(rest), "\n")
	for n := 0; n+1 < len(lines); n++ {
		if strings.TrimSpace(lines[n]) != "" {
			examples = append(examples, Message{Role: User, Text: lines[n]}, Message{Role: Assistant, Text: lines[n+1]})
			n++
		}
	}
	return strings.TrimSpace(instructions), examples
}
