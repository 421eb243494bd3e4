package model

import "context"

// Learning returns m, which tells what its answers show of it: that it calls tools or its server takes none, and the
// forms that it has kept to.
func Learning(m Model, learn func(found ...Finding)) Model { return &learning{m, learn} }

type learning struct {
	Model
	learn func(found ...Finding)
}

func (l *learning) Chat(ctx context.Context, req Request, emit func(Delta) error) (Response, error) {
	resp, err := l.Model.Chat(ctx, req, emit)
	if err == nil {
		if found := lessons(req, resp); found != nil {
			l.learn(found...)
		}
	}
	return resp, err
}

// The size from which on a schema counts as of a medium and of a large form, in bytes.
const (
	mediumForm = 300
	largeForm  = 1000
)

// lessons are what an answer shows of its model. That one answer lacks a call, or breaks a form, shows nothing.
func lessons(req Request, resp Response) (found []Finding) {
	switch {
	case len(req.Tools) == 0:
	case len(resp.LeftOut) == len(req.Tools):
		found = append(found, Finding{Skill: SkillCall, Result: Wrong, Reason: "its server takes no tools for it"})
	case len(resp.ToolCalls) > 0:
		found = append(found, Finding{Skill: SkillCall, Result: Right, Form: FormNative},
			Finding{Skill: SkillFull, Result: Right, Form: FormNative})
	}
	if req.Schema == nil {
		return found
	}
	var value any
	if req.Schema.Read(resp.Text, &value) != nil {
		return found
	}
	skill := SkillSmall
	switch size := len(req.Schema.JSON); {
	case size >= largeForm:
		skill = SkillLarge
	case size >= mediumForm:
		skill = SkillMedium
	}
	return append(found, Finding{Skill: skill, Result: Right, Form: FormEnforced})
}

// WithoutForms returns m, of which no form of an answer is enforced: the words of the request describe it.
func WithoutForms(m Model) Model { return &formless{m} }

type formless struct{ Model }

func (f *formless) Chat(ctx context.Context, req Request, emit func(Delta) error) (Response, error) {
	if req.Schema != nil {
		req = withInstruction(req, *req.Schema)
		req.Schema = nil
	}
	return f.Model.Chat(ctx, req, emit)
}
