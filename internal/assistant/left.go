package assistant

import (
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/run"
)

// Left is something that was sent away: to a model, a page, a search engine or a server of somebody else.
type Left struct {
	Kind   string `json:"kind"`             // "model", "address", "engine" or "server"
	To     string `json:"to"`               // the model, or the call whole
	Bytes  int    `json:"bytes,omitempty"`  // of the texts that were sent; 0: not kept
	Tokens int    `json:"tokens,omitempty"` // as the model's provider counted them
	Rule   string `json:"rule"`             // why it might
	Labels string `json:"labels,omitempty"` // of what had been seen: whose words, and whether private
}

func (l Left) String() string {
	var size []string
	if l.Bytes > 0 {
		size = append(size, fmt.Sprintf("%d bytes", l.Bytes))
	}
	if l.Tokens > 0 {
		size = append(size, fmt.Sprintf("%d tokens", l.Tokens))
	}
	text := l.Kind + " " + l.To
	if len(size) > 0 {
		text += " (" + strings.Join(size, ", ") + ")"
	}
	text += ": " + l.Rule
	if l.Labels != "" {
		text += "; seen: " + l.Labels
	}
	return text
}

// Why a model is sent what it is sent.
const (
	byChoice   = "the model of the run"
	byFallback = "it was asked before another one and did not answer"
)

// ToModel reads from a receipt which models were sent something: the one that answered, as provider:model in “model” or “by”, and those in
// “tries” before it. Rules are no model.
func ToModel(c *run.CompletionRecord) (all []Left) {
	var r struct {
		Model string `json:"model"`
		By    string `json:"by"`
		Sent  int    `json:"sent_bytes"`
		Usage struct {
			Input int `json:"input_tokens"`
		} `json:"usage"`
		Tries []struct {
			Model string `json:"model"`
		} `json:"tries"`
	}
	if json.Unmarshal(c.Result, &r) != nil {
		return nil
	}
	isModel := func(id string) bool { return strings.Contains(id, ":") && !strings.HasPrefix(id, "offline:") }
	for _, t := range r.Tries {
		if isModel(t.Model) {
			all = append(all, Left{Kind: "model", To: t.Model, Bytes: r.Sent, Rule: byFallback})
		}
	}
	id := r.Model
	if id == "" {
		id = r.By
	}
	if isModel(id) {
		all = append(all, Left{Kind: "model", To: id, Bytes: r.Sent, Tokens: r.Usage.Input, Rule: byChoice})
	}
	return all
}
