package cli

import (
	"context"
	"encoding/json"

	"sibyl/internal/council"
	"sibyl/internal/run"
	"sibyl/internal/service"
)

// gather follows a sitting to its end, and shows the answers as they are finished.
func (s *sitting) gather(ctx context.Context, r *service.Run, oracles int) error {
	p := s.newProgress()
	shown := map[string]bool{} // runs whose answers were printed
	var members []string
	for u := range r.Watch(ctx, 0) {
		if hasAnswered(u.Event) {
			u.Lines = nil // told when the answer came
		}
		p.update(u)
		answer := answerIn(u)
		if answer == nil {
			continue
		}
		members = append(members, answer.Run)
		if !s.asJSON {
			p.screen.answer(answer.Markdown())
			shown[answer.Run] = true
		}
		p.say("%d of %d have answered", len(members), oracles)
	}
	p.end()
	res, err := r.Wait(ctx)
	if err != nil {
		return err
	}
	if res.Answer, err = council.Rest(res.Outcome, shown); err != nil {
		return err
	}
	return s.answer(p, r, s.withUsage(ctx, r, res, members...))
}

// hasAnswered says that an event tells of an oracle that has answered.
func hasAnswered(e *service.Event) bool {
	if e == nil || e.Type != (council.OracleHeard{}).EventType() {
		return false
	}
	var heard council.OracleHeard
	return json.Unmarshal(e.Data, &heard) == nil && heard.Failed == ""
}

// answerIn is the answer of an oracle that an update brings; nil: it brings none.
func answerIn(u service.Update) *council.Answer {
	if u.Record == nil || u.Record.Kind != run.KindCompletion {
		return nil
	}
	body, err := run.Read(*u.Record)
	if err != nil {
		return nil
	}
	receipt := body.(*run.CompletionRecord)
	var given council.MemberReceipt
	if receipt.Kind != council.EffectMember || json.Unmarshal(receipt.Result, &given) != nil {
		return nil
	}
	return given.Answer
}
