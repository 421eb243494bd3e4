package behaviour_test

import (
	"cmp"
	"encoding/json"
	"strings"

	"sibyl/internal/model/modeltest"
)

// listen reads a request of any wire.
func listen(lines []line, tools []json.RawMessage, body string) (h heard) {
	asked := false
	for _, l := range lines {
		if l.role == "system" || l.role == "developer" {
			continue
		}
		h.all += l.text + "\n"
		switch l.role {
		case "assistant":
			h.replies++
		case "tool":
			h.results++
		case "user":
			if asked {
				h.told = append(h.told, l.text)
			}
			asked = true
		}
	}
	var choice struct {
		ToolChoice json.RawMessage `json:"tool_choice"`
	}
	if json.Unmarshal([]byte(body), &choice) == nil && strings.Contains(string(choice.ToolChoice), "none") {
		return h
	}
	for _, raw := range tools {
		var t struct {
			Name     string
			Function struct{ Name string }
		}
		if json.Unmarshal(raw, &t) == nil {
			h.offered = append(h.offered, cmp.Or(t.Name, t.Function.Name))
		}
	}
	return h
}

// line is something said: by the user, the assistant, or a tool.
type line struct{ role, text string }

// overTexts plays over the wires whose messages are texts.
func (s *stage) overTexts(r modeltest.Request) modeltest.Answer {
	var lines []line
	for _, m := range r.Messages {
		lines = append(lines, line{m.Role, m.Content})
	}
	return s.perform(r.Model, listen(lines, r.Tools, r.Body))
}

// overAnthropic takes the blocks of a message apart: results of tools and words may stand in one.
func (s *stage) overAnthropic(r modeltest.Request) modeltest.Answer {
	var lines []line
	for _, m := range r.Messages {
		said := line{role: m.Role}
		var blocks []struct {
			Type, Text string
			Content    json.RawMessage
		}
		_ = json.Unmarshal([]byte(m.Content), &blocks) // none in another form
		for _, block := range blocks {
			if block.Type == "tool_result" {
				lines = append(lines, line{"tool", string(block.Content)})
			}
			said.text += block.Text
		}
		if said.role == "assistant" || said.text != "" {
			lines = append(lines, said)
		}
	}
	return s.perform(r.Model, listen(lines, r.Tools, r.Body))
}
