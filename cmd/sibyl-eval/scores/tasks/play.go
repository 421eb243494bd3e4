package tasks

import (
	"context"
	"fmt"
	"slices"

	"sibyl/cmd/sibyl-eval/scores"
)

// Set is which dialogues are played.
type Set struct {
	Dialogues  []Dialogue
	FrozenOnly bool
	Parallel   int    // dialogues at once; 0: one
	Users      string // begins the names of the users, so that a world can play a set twice
}

// Run plays a set and scores it, in the order of the set. A turn that the assistant fails at is a miss; an error of the
// lists ends it.
func Run(ctx context.Context, set Set, world World) (Report, error) {
	var chosen []Dialogue
	for _, d := range set.Dialogues {
		if d.Frozen || !set.FrozenOnly {
			chosen = append(chosen, d)
		}
	}
	outcomes := make([][]outcome, len(chosen))
	err := eval.Each(ctx, len(chosen), set.Parallel, func(ctx context.Context, i int) error {
		p := player{world: world, dialogue: chosen[i], user: set.Users + chosen[i].ID,
			conversations: map[string]string{}, last: map[string]string{}}
		var err error
		if outcomes[i], err = p.play(ctx); err != nil {
			return fmt.Errorf("dialogue %s: %w", chosen[i].ID, err)
		}
		return nil
	})
	if err != nil {
		return Report{}, err
	}
	return report(set, chosen, outcomes), nil
}

// outcome is a turn that was played; those that were not said have none.
type outcome struct {
	number int // from 1
	turn   Turn
	verdict
}

// player plays one dialogue.
type player struct {
	world         World
	dialogue      Dialogue
	user          string
	conversations map[string]string // ids by their names in the set
	last          map[string]string // the last status, by conversation
}

// other is somebody else, with a list of their own.
func (p *player) other() string { return p.user + "-other" }

func (p *player) play(ctx context.Context) ([]outcome, error) {
	if err := p.fill(ctx, p.user, p.dialogue.Tasks); err != nil {
		return nil, err
	}
	if err := p.fill(ctx, p.other(), p.dialogue.Others); err != nil {
		return nil, err
	}
	var all []outcome
	for i, t := range p.dialogue.Turns {
		if len(t.When) > 0 && !slices.Contains(t.When, p.last[t.In]) {
			continue
		}
		v, err := p.turn(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("turn %d: %w", i+1, err)
		}
		all = append(all, outcome{i + 1, t, v})
	}
	return all, nil
}

// fill makes a list what it is before the dialogue.
func (p *player) fill(ctx context.Context, user string, entries []Entry) error {
	for _, e := range entries {
		if err := p.world.Add(ctx, user, e[0]); err != nil {
			return err
		}
	}
	list, err := p.world.Tasks(ctx, user)
	if err != nil {
		return err
	}
	if len(list) != len(entries) {
		return fmt.Errorf("the list of %s has %d tasks where %d were added: the world is not fresh",
			user, len(list), len(entries))
	}
	for i, e := range entries {
		if e[1] != Completed {
			continue
		}
		if err := p.world.Complete(ctx, user, list[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// turn says one thing, and looks at both lists before and after it.
func (p *player) turn(ctx context.Context, t Turn) (verdict, error) {
	for _, c := range t.Meanwhile {
		if err := p.elsewhere(ctx, c); err != nil {
			return verdict{}, err
		}
	}
	var s seen
	var err error
	if s.before, s.othersBefore, err = p.lists(ctx); err != nil {
		return verdict{}, err
	}
	id := p.conversations[t.In]
	if id == "" {
		id = NewConversation
	}
	var failed error
	if s.response, failed = p.world.Say(ctx, p.user, id, t.Say); failed == nil {
		p.conversations[t.In], p.last[t.In] = s.response.ConversationID, s.response.Status
	}
	if err := context.Cause(ctx); err != nil {
		return verdict{}, err
	}
	if s.after, s.othersAfter, err = p.lists(ctx); err != nil {
		return verdict{}, err
	}
	v := judge(t, s)
	if failed != nil {
		v.right, v.answered = false, false
		v.problems = append([]string{"failed: " + failed.Error()}, v.problems...)
	}
	return v, nil
}

func (p *player) lists(ctx context.Context) (own, others []Task, err error) {
	if own, err = p.world.Tasks(ctx, p.user); err != nil {
		return nil, nil, err
	}
	others, err = p.world.Tasks(ctx, p.other())
	return own, others, err
}

// elsewhere makes a change past the assistant. What is not there any more can't be changed, and need not.
func (p *player) elsewhere(ctx context.Context, c Call) error {
	if c.Tool == addTask {
		return p.world.Add(ctx, p.user, c.Args["title"][0])
	}
	list, err := p.world.Tasks(ctx, p.user)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(t Task) bool { return t.Title == c.Args["task"][0] })
	if at < 0 {
		return nil
	}
	switch id := list[at].ID; c.Tool {
	case completeTask:
		return p.world.Complete(ctx, p.user, id)
	case deleteTask:
		return p.world.Delete(ctx, p.user, id)
	default:
		return p.world.Rename(ctx, p.user, id, c.Args["title"][0])
	}
}
