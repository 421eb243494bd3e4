package oracle

import (
	"encoding/json"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/run"
	"sibyl/internal/service/assistant"
	"sibyl/internal/tool"
)

// denied extends the rule's sentence: the call was denied at once, after its host name was resolved, or at a redirect.
const denied bt.Reason = "left.denied: {why}; denied, possibly in transit"

// sentOut says what an effect, according to its record, sent out of the machine: to a model, or with a call. Calls that
// were denied count, since a part may have been sent.
func sentOut(c *run.CompletionRecord) []assistant.Left {
	switch c.Kind {
	case agent.EffectTurn, agent.EffectNotes:
		var p agent.TurnPayload
		_ = json.Unmarshal(c.Payload, &p) // a damaged one has no labels
		all := assistant.SentToModels(c)
		for i := range all {
			all[i].Labels = p.Labels.String()
		}
		return all
	case agent.EffectCall:
		var p agent.CallPayload
		var r agent.CallReceipt
		if json.Unmarshal(c.Payload, &p) != nil || p.To == "" || json.Unmarshal(c.Result, &r) != nil || r.Held != "" {
			return nil
		}
		by := p.Rule.Why()
		if r.Error != nil && r.Error.Kind == tool.Denied {
			by = denied.With(by)
		}
		return []assistant.Left{{Kind: string(p.To), Bytes: len(r.Arguments),
			To:   waitingCall(agent.Waiting{Tool: r.Tool, Arguments: r.Arguments}).Exact(),
			Rule: by.Text, Coded: by.Coded, Labels: p.Labels.String()}}
	}
	return assistant.SentToModels(c)
}
