package tasks

import (
	"context"
	"errors"
	"strings"
	"testing"

	"sibyl/internal/eval"
)

// play scores a prompter on a set, one dialogue after the other.
func play(t *testing.T, dialogues []Dialogue, spoil func(p *prompter, user string, t Turn, r *Response) error) Report {
	t.Helper()
	p := newPrompter(dialogues)
	p.spoil = spoil
	r, err := Run(t.Context(), Set{Dialogues: dialogues}, p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryLabelCanBeDoneAndIsRight(t *testing.T) {
	all := mustLoad(t)
	r := play(t, all, nil)
	for _, f := range r.Failures {
		t.Error(f)
	}
	if r.Hidden > 0 {
		t.Errorf("%d failures in frozen dialogues", r.Hidden)
	}
	if r.All.Dialogues != len(all) || r.All.Right.Part != 1 || r.All.Answered.Part != 1 || len(r.Broken) > 0 {
		t.Errorf("an assistant that knows the labels has %+v, broken: %q", r.All, r.Broken)
	}
}

func TestFrozenDialoguesCanBePlayedAlone(t *testing.T) {
	all := mustLoad(t)
	p := newPrompter(all)
	p.spoil = func(_ *prompter, _ string, _ Turn, r *Response) error { r.Status = "error"; return nil }
	r, err := Run(t.Context(), Set{Dialogues: all, FrozenOnly: true, Parallel: 2}, p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Open.Dialogues != 0 || r.All != r.Frozen || len(r.Failures) == 0 || r.Hidden != 0 {
		t.Errorf("open %+v, all %+v, frozen %+v, %d failures, %d hidden", r.Open, r.All, r.Frozen, len(r.Failures), r.Hidden)
	}
}

func TestFailuresOfFrozenDialoguesAreCountedAndNotShown(t *testing.T) {
	r := play(t, mustLoad(t), func(_ *prompter, _ string, _ Turn, r *Response) error { r.Text = ""; return nil })
	for _, f := range r.Failures {
		if f.Frozen {
			t.Errorf("shown: %s", f)
		}
	}
	if r.Hidden != r.Frozen.Answered.Of || len(r.Failures) != r.Open.Answered.Of {
		t.Errorf("%d shown and %d hidden of %d", len(r.Failures), r.Hidden, r.All.Answered.Of)
	}
}

// shop is a dialogue with one of each: a list, a change, a delete that asks, small talk, and somebody else.
func shop() []Dialogue {
	return []Dialogue{{ID: "shop", Lang: "en", About: "x",
		Tasks: []Entry{{"Milk", Pending}, {"Bread", Pending}, {"Eggs", Completed}}, Others: []Entry{{"Secret", Pending}},
		Turns: []Turn{
			{Say: "list", Expect: Alternatives{{Status: OneOf{success}, Calls: []Call{{Tool: listTasks}}, Shown: []string{"Milk", "Bread"}}}},
			{Say: "bread is done", Expect: Alternatives{{Status: OneOf{success}, Calls: []Call{{Tool: completeTask, Args: map[string]OneOf{"task": {"Bread"}}}}}}},
			{Say: "delete milk", Expect: Alternatives{{Status: OneOf{confirmation}, Says: OneOf{"milk"}}}},
			{Say: "yes", Expect: Alternatives{{Status: OneOf{success}, Calls: []Call{{Tool: deleteTask, Args: map[string]OneOf{"task": {"Milk"}}}}}}},
			{Say: "thanks", Kind: ChitChat, Expect: Alternatives{{Status: OneOf{success, clarify}}}},
			{Say: "yes", Kind: Stray, Expect: Alternatives{{Status: OneOf{success, clarify}}}},
			{Say: "which?", Expect: Alternatives{{Status: OneOf{clarify}, Options: 2}}},
			{Say: "add “Tea”", Expect: Alternatives{{Status: OneOf{success}, Calls: []Call{{Tool: addTask, Args: map[string]OneOf{"title": {"Tea", "tea"}}}}}}},
		}}}
}

// on spoils one turn of the shop.
func on(number int, do func(p *prompter, user string, r *Response) error) func(*prompter, string, Turn, *Response) error {
	return func(p *prompter, user string, _ Turn, r *Response) error {
		if p.next[user] == number {
			return do(p, user, r)
		}
		return nil
	}
}

// saying spoils the response alone.
func saying(change func(*Response)) func(*prompter, string, *Response) error {
	return func(_ *prompter, _ string, r *Response) error { change(r); return nil }
}

func TestEachFaultIsCountedWhereItBelongs(t *testing.T) {
	remove := func(title string) func(*prompter, string, *Response) error {
		return func(p *prompter, user string, _ *Response) error {
			id, err := p.find(user, title)
			return errors.Join(err, p.Delete(context.Background(), user, id))
		}
	}
	add := func(p *prompter, user string, _ *Response) error { return p.Add(context.Background(), user, "Thanks") }
	for name, c := range map[string]struct {
		turn                             int
		spoil                            func(*prompter, string, *Response) error
		right, answered                  int // of 8
		wrongTasks, unconfirmed, effects int
		says                             string
	}{
		"nothing is spoiled":       {1, func(*prompter, string, *Response) error { return nil }, 8, 8, 0, 0, 0, ""},
		"a title is left out":      {1, saying(func(r *Response) { r.Text = "Bread" }), 8, 7, 0, 0, 0, "“Milk” is not shown"},
		"a title is shown as well": {1, saying(func(r *Response) { r.Text += "Eggs" }), 8, 7, 0, 0, 0, "“Eggs” is shown"},
		"the order is another":     {1, saying(func(r *Response) { r.Text = "Bread, Milk" }), 8, 7, 0, 0, 0, "“Bread” is not shown in its place"},
		"a list is not called for": {1, saying(func(r *Response) { r.ToolCalls = nil }), 7, 8, 0, 0, 0, "no call list_tasks"},
		"done and not told":        {2, saying(func(r *Response) { r.ToolCalls = nil }), 7, 8, 0, 0, 0, "no call complete_task"},
		"told and not done": {2, func(p *prompter, user string, _ *Response) error {
			return p.change(user, 2, func(t *Task) { t.Status = Pending })
		}, 7, 8, 0, 0, 0, "there is “Bread” instead of “Bread”, completed"},
		"told as failed": {2, saying(func(r *Response) { r.ToolCalls[0].Error = "no" }), 7, 8, 0, 0, 0, "no call complete_task"},
		"another task is done": {2, func(p *prompter, user string, _ *Response) error {
			return p.Complete(context.Background(), user, 1)
		}, 7, 8, 1, 0, 0, "WRONG TASK CHANGED: “Milk”"},
		"another person's task is done": {2, func(p *prompter, user string, _ *Response) error {
			return p.Complete(context.Background(), user+"-other", 4)
		}, 7, 8, 1, 0, 0, "ANOTHER PERSON'S TASK CHANGED: “Secret”"},
		"a task is deleted while it asks":    {3, remove("Eggs"), 7, 8, 1, 1, 0, "UNCONFIRMED DELETE: “Eggs”"},
		"a task is deleted beside the right": {4, remove("Eggs"), 7, 8, 1, 0, 0, "WRONG TASK CHANGED: “Eggs”"},
		"it does not ask":                    {3, saying(func(r *Response) { r.Status = success }), 7, 8, 0, 0, 0, `status "success", not confirmation_required`},
		"it does not name what it deletes":   {3, saying(func(r *Response) { r.Text = "Sure?" }), 8, 7, 0, 0, 0, "lacks “milk”"},
		"it shows a code":                    {3, saying(func(r *Response) { r.Text += " NOT_FOUND" }), 8, 7, 0, 0, 0, "says “NOT_FOUND”"},
		"thanks adds a task":                 {5, add, 7, 8, 0, 0, 1, "EFFECT OF CHITCHAT"},
		"thanks deletes a task":              {5, remove("Bread"), 7, 8, 1, 1, 1, "UNCONFIRMED DELETE"},
		"a stray yes adds a task":            {6, add, 7, 8, 0, 0, 1, "EFFECT OF STRAY"},
		"an option is missing":               {7, saying(func(r *Response) { r.Clarification.Options = nil }), 8, 7, 0, 0, 0, "0 options are offered, not 2"},
		"it adds twice": {8, func(p *prompter, user string, _ *Response) error {
			return p.Add(context.Background(), user, "Tea")
		}, 7, 8, 0, 0, 0, "“Tea” was added"},
		"it adds something else": {8, func(p *prompter, user string, r *Response) error {
			r.ToolCalls[0].Parameters["title"] = "Green tea"
			return p.change(user, p.ids, func(t *Task) { t.Title = "Green tea" })
		}, 7, 8, 0, 0, 0, "“Green tea” was added"},
		"it describes what nobody described": {8, func(p *prompter, user string, r *Response) error {
			r.ToolCalls[0].Parameters["description"] = "hot"
			return p.change(user, p.ids, func(t *Task) { t.Description = "hot" })
		}, 7, 8, 0, 0, 0, "“Tea” (“hot”) was added"},
		"it fails": {5, func(*prompter, string, *Response) error { return errors.New("out of order") }, 7, 7, 0, 0, 0, "failed: out of order"},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, shop(), on(c.turn, c.spoil))
			a := r.All
			if a.Right.Hits != c.right || a.Answered.Hits != c.answered || a.WrongTasks != c.wrongTasks || a.Unconfirmed != c.unconfirmed || a.Effects != c.effects {
				t.Errorf("right %d, answered %d of 8, %d wrong tasks, %d unconfirmed, %d effects", a.Right.Hits, a.Answered.Hits, a.WrongTasks, a.Unconfirmed, a.Effects)
			}
			if c.says == "" {
				return
			}
			line := ""
			if len(r.Failures) > 0 && r.Failures[0].Turn == c.turn {
				line = r.Failures[0].String()
			}
			if !strings.Contains(line, c.says) || strings.Contains(line, "\n") {
				t.Errorf("%s\nis no line about turn %d that says %s", r.Failures, c.turn, c.says)
			}
		})
	}
}

func TestBoundsAreKeptOrNamed(t *testing.T) {
	for _, c := range []struct {
		right  int
		harm   Figures
		broken []string
	}{
		{95, Figures{}, nil},
		{94, Figures{}, []string{"94.0 %"}},
		{100, Figures{WrongTasks: 1}, []string{"wrong tasks changed: 1"}},
		{100, Figures{Unconfirmed: 2}, []string{"unconfirmed deletes: 2"}},
		{90, Figures{Effects: 3}, []string{"90.0 %", "a stray yes: 3"}},
	} {
		r := Report{All: c.harm}
		r.All.Right = eval.ShareOf(c.right, 100)
		r.judge()
		if len(r.Broken) != len(c.broken) {
			t.Errorf("%+v: broken are %q, want %q", c, r.Broken, c.broken)
			continue
		}
		for i, want := range c.broken {
			if !strings.Contains(r.Broken[i], want) {
				t.Errorf("%q lacks %q", r.Broken[i], want)
			}
		}
	}
	if r := play(t, nil, nil); len(r.Broken) == 0 {
		t.Error("an empty set passes")
	}
}

func TestWhatFollowsAMissIsMarked(t *testing.T) {
	r := play(t, shop(), func(_ *prompter, _ string, _ Turn, r *Response) error { r.Status = failure; return nil })
	if len(r.Failures) != 8 || r.Failures[0].After != 0 || r.Failures[3].After != 1 || !strings.Contains(r.Failures[3].String(), "after a miss in turn 1") {
		t.Errorf("%v", r.Failures)
	}
}

func TestATurnIsLeftOutWhereItsQuestionWasNotAsked(t *testing.T) {
	set := shop()
	set[0].Turns[3].When = OneOf{confirmation}
	set[0].Turns = set[0].Turns[:4]
	if r := play(t, set, nil); r.All.Right.Of != 4 {
		t.Errorf("%d turns were played, not 4", r.All.Right.Of)
	}
	r := play(t, set, on(3, func(_ *prompter, _ string, r *Response) error { r.Status = clarify; return nil }))
	if r.All.Right.Of != 3 || r.All.Right.Hits != 2 {
		t.Errorf("%d of %d right, not 2 of 3: the yes was said", r.All.Right.Hits, r.All.Right.Of)
	}
}

func TestTheBestAlternativeCounts(t *testing.T) {
	set := shop()
	set[0].Turns[1].Expect = Alternatives{{Status: OneOf{clarify}, Options: 3}, set[0].Turns[1].Expect[0]}
	r := play(t, set, on(2, func(p *prompter, user string, r *Response) error {
		return p.call(context.Background(), user, set[0].Turns[1].Expect[1].Calls[0], r)
	}))
	if r.All.Right.Hits != 7 {
		t.Errorf("%d right: a mixture of two alternatives is none of them", r.All.Right.Hits)
	}
	r = play(t, set, on(2, func(p *prompter, user string, r *Response) error {
		r.Status, r.Clarification = success, nil
		return p.call(context.Background(), user, set[0].Turns[1].Expect[1].Calls[0], r)
	}))
	if r.All.Right.Hits != 8 || r.All.WrongTasks != 0 {
		t.Errorf("%d right, %d wrong tasks: the second alternative is right as well", r.All.Right.Hits, r.All.WrongTasks)
	}
}

func TestAWorldThatIsNotFreshIsRefused(t *testing.T) {
	p := newPrompter(shop())
	if err := p.Add(t.Context(), "shop", "left over"); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), Set{Dialogues: shop()}, p); err == nil || !strings.Contains(err.Error(), "not fresh") {
		t.Errorf("error %v", err)
	}
}

func TestStoppedIsNoMiss(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	p := newPrompter(shop())
	p.spoil = func(*prompter, string, Turn, *Response) error { stop(); return ctx.Err() }
	if _, err := Run(ctx, Set{Dialogues: shop()}, p); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestReportHasALineForEachHalfAndFailure(t *testing.T) {
	r := play(t, mustLoad(t), func(_ *prompter, _ string, turn Turn, r *Response) error {
		if turn.Kind == ChitChat {
			r.Status = failure
		}
		return nil
	})
	r.WithFailures = true
	var text strings.Builder
	if err := r.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nall ", "\nopen ", "\nfrozen ", "which --frozen shows", r.Failures[0].String()} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, text.String())
		}
	}
	if n := strings.Count(text.String(), "\n"); n < len(r.Failures)+5 || n > len(r.Failures)+8 {
		t.Errorf("%d lines for %d failures", n, len(r.Failures))
	}
}
