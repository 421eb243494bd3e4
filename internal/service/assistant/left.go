package assistant

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/journal"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// Left is something that was sent out of this program: to a model, a web page, a search engine or another server.
type Left struct {
	Kind   string `json:"kind" enum:"model,address,engine,server"`
	To     string `json:"to" doc:"The model, or the call whole."`
	Bytes  int    `json:"bytes,omitempty"` // of the texts that were sent; 0: not recorded
	Tokens int    `json:"tokens,omitempty" doc:"As the model's provider counted them."`
	Rule   string `json:"rule" doc:"Why it might."`
	bt.Coded
	Labels string `json:"labels,omitempty" doc:"Of what had been seen: whose words, and whether private."`
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

// Why a model was sent something.
const (
	byChoice   bt.Reason = "left.by_choice: the model of the run"
	byFallback bt.Reason = "left.by_fallback: it was asked before another one and did not answer"
)

// Reasons lists the sentences that say why a model was sent something, and that of ModelError.
func Reasons() []bt.Reason { return []bt.Reason{byChoice, byFallback, noModel} }

// modelReceipt is what receipts of models have in common.
type modelReceipt struct {
	Model string      `json:"model"`
	By    string      `json:"by"`
	Sent  int         `json:"sent_bytes"`
	Usage model.Usage `json:"usage"`
	Tries []model.Try `json:"tries"`
}

// modelReceiptOf reads a receipt, with the model in Model; a zero one if it is of none.
func modelReceiptOf(c *run.CompletionRecord) (r modelReceipt) {
	if json.Unmarshal(c.Result, &r) != nil {
		return modelReceipt{}
	}
	r.Model = cmp.Or(r.Model, r.By)
	return r
}

// UsedBy reads from a receipt the usage of the model in “model” or “by”; false for rules, or without tokens.
func UsedBy(c *run.CompletionRecord) (u journal.Used, used bool) {
	if !bytes.Contains(c.Result, []byte(`"usage"`)) { // most receipts of tools, which may be long
		return u, false
	}
	r := modelReceiptOf(c)
	if !isModel(r.Model) || r.Usage.InputTokens+r.Usage.OutputTokens == 0 {
		return u, false
	}
	return journal.Used{Model: r.Model, Input: r.Usage.InputTokens, Cached: r.Usage.CachedTokens,
		Output: r.Usage.OutputTokens}, true
}

// isModel says whether an id names a model; rules (“offline:”) are none.
func isModel(id string) bool { return strings.Contains(id, ":") && !strings.HasPrefix(id, "offline:") }

// SentToModels reads from a receipt which models were sent something: those in “tries”, then the one in “model”
// or “by”, as provider:model. It leaves out rules, and models to which nothing was sent.
func SentToModels(c *run.CompletionRecord) (all []Left) {
	r := modelReceiptOf(c)
	for _, t := range r.Tries {
		if isModel(t.Model) && !t.Cooling && !t.Unsent {
			all = append(all, Left{Kind: "model", To: t.Model, Bytes: r.Sent, Rule: byFallback.With().Text,
				Coded: byFallback.With().Coded})
		}
	}
	if isModel(r.Model) && (c.Err == nil || !c.Err.Unsent) {
		all = append(all, Left{Kind: "model", To: r.Model, Bytes: r.Sent, Tokens: r.Usage.InputTokens,
			Rule: byChoice.With().Text, Coded: byChoice.With().Coded})
	}
	return all
}
