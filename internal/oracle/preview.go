package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/service/assistant"
)

// Preview is the prompt of the first turn of a question, as its tree decides.
type Preview struct {
	Class    classify.Classification `json:"classification"`
	Offered  []string                `json:"offered"`
	Segments []prompt.Included       `json:"segments"`
	LeftOut  []prompt.LeftOut        `json:"left_out"`
	Tokens   int                     `json:"tokens"` // of Prompt
	// of the tool lines in it, which do not count towards the limit
	Tools  int    `json:"tool_tokens"`
	Limit  int    `json:"limit"`
	Prompt string `json:"prompt"`
	// what is said after the first call that failed, where it was asked for
	Recovery string `json:"recovery,omitempty"`
}

// PreviewTurn composes the prompt of the first turn of a question under a tree, without asking a model. large assumes a
// long conversation. failed adds the message that follows the first failed call; the system prompt stays the same.
func (s Surroundings) PreviewTurn(
	ctx context.Context, file string, text []byte, words string, o Options, large, failed bool,
) (Preview, error) {
	r := assistant.Request{Words: strings.TrimSpace(words)}
	if err := checkQuestion(r.Words, ""); err != nil {
		return Preview{}, err
	}
	texts, err := s.Prompts()
	if err != nil {
		return Preview{}, err
	}
	env := s.newEnv(o)
	set, closeTools, err := s.Tools(ctx, env)
	if err != nil {
		return Preview{}, err
	}
	tools := set.Specs()
	closeTools()
	leaves, opt, err := Leaves()
	if err != nil {
		return Preview{}, err
	}
	tree, err := leaves.Load(file, text, opt)
	if err != nil {
		return Preview{}, err
	}
	state := tree.NewState()
	given, err := bt.EncodePorts(s.newGiven(r, o, env, tools))
	if err != nil {
		return Preview{}, err
	}
	for key, v := range given {
		if err := tree.SetJSON(state, key, v); err != nil {
			return Preview{}, err
		}
	}
	step, err := tree.Step(state, bt.Input{}, nil)
	if err != nil {
		return Preview{}, err
	}
	at := slices.IndexFunc(step.Start, func(e bt.Effect) bool { return e.Kind == agent.EffectTurn })
	if at < 0 {
		return Preview{}, fmt.Errorf("%s does not start with a model turn: it ends with %s", file, step.Status)
	}
	var turn agent.TurnPayload
	if err := json.Unmarshal(step.Start[at].Payload, &turn); err != nil {
		return Preview{}, fmt.Errorf("first turn: %w", err)
	}
	of, err := turnSituation(turn)
	if err != nil {
		return Preview{}, err
	}
	situation := promptSituation(of, turn, env, agent.OfferedSpecs(turn, tools))
	if large {
		situation.HistoryTokens = 1 << 20
	}
	c, err := texts.Compose(situation)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Offered: []string{}, Segments: c.Segments, LeftOut: c.LeftOut, Tokens: c.Tokens, Tools: c.ToolTokens,
		Limit: prompt.Limit, Prompt: c.Text}
	if failed {
		p.Recovery = agent.Control(texts.Content(recoverySegment))
	}
	for _, t := range situation.Tools {
		p.Offered = append(p.Offered, t.Name)
	}
	if v, ok := tree.Get(state, "class"); ok {
		p.Class, _ = v.(classify.Classification)
	}
	return p, nil
}
