package oracle

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/oracle/prompt"
	"sibyl/internal/service/assistant"
	"sibyl/internal/tool"
)

// Preview is what the first turn of a question sends, as its tree decides.
type Preview struct {
	Class    classify.Classification `json:"classification"`
	Offered  []string                `json:"offered"` // tools that may be called
	Segments []prompt.Included       `json:"segments"`
	LeftOut  []prompt.LeftOut        `json:"left_out"`
	Tokens   int                     `json:"tokens"` // of the segments together
	// of the names of tools in them, which do not count towards the limit
	NameTokens int `json:"name_tokens"`
	ToolTokens int `json:"tool_tokens"` // of the descriptions and schemas of the tools
	Limit      int `json:"limit"`

	Prompt   string       `json:"prompt"`   // the system prompt
	Messages []string     `json:"messages"` // of the user
	Tools    []model.Tool `json:"tools"`    // that are sent
	// what is said after what was looked up, to a model that is told of no tools
	Behind string `json:"behind,omitempty"`
	// what is said after the first call that failed, where it was asked for
	Recovery string `json:"recovery,omitempty"`
}

// PreviewTurn composes the first request of a question under a tree, without asking a model. large assumes a long
// conversation. failed adds the message that follows the first failed call; what is sent before stays the same.
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
	env.Date = time.Now().Format(time.DateOnly)
	if id, err := s.Choose(ctx, o.Model); err == nil { // without one, it is what most models are sent
		info := s.Known(ctx, id)
		env.Model = id
		manner, _ := s.mannerOf(id, info)
		env.ask(manner)
		env.WindowTokens, env.BareCalls = info.Window, info.BareCalls
	}
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
	noTools := env.NoTools
	env.NoTools = false // or the tree looked up first
	begun := s.newGiven(r, o, env, tools)
	env.NoTools = noTools
	_, guides, err := s.addGuides(ctx, o, texts, &env, &begun)
	if err != nil {
		return Preview{}, err
	}
	tree, err := leaves.Load(file, text, opt)
	if err != nil {
		return Preview{}, err
	}
	state := tree.NewState()
	given, err := bt.EncodePorts(begun)
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
	var shown []tool.Spec
	if len(turn.Offered) > 0 && !noTools {
		shown = tools
	}
	situation := promptSituation(of, turn, env, guides, shown)
	if large {
		situation.HistoryTokens = 1 << 20
	}
	c, err := texts.Compose(situation)
	if err != nil {
		return Preview{}, err
	}
	p := Preview{Offered: turn.Offered, Segments: c.Segments, LeftOut: c.LeftOut, Tokens: c.Tokens,
		NameTokens: c.ToolTokens, Limit: prompt.Limit, Prompt: c.Text,
		Messages: []string{agent.WithNote(c.Note, agent.WithoutMarks(r.Words))}}
	if noTools && len(turn.Offered) > 0 {
		if p.Behind, err = behindFound(texts, situation, r.Words, of.General); err != nil {
			return Preview{}, err
		}
	}
	if failed && !noTools {
		p.Recovery = agent.Control(texts.Content(recoverySegment))
	}
	p.Tools = agent.SentTools(shown)
	if env.ReportTool {
		p.Tools = append(p.Tools, reportTool())
	}
	for _, t := range p.Tools {
		p.ToolTokens += agent.Tokens(t.Name + t.Description + string(t.Schema))
	}
	if v, ok := tree.Get(state, "class"); ok {
		p.Class, _ = v.(classify.Classification)
	}
	return p, nil
}
