package taskchat

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/taskchat/understand"
)

func plainAnswer() bt.Leaf {
	type in struct {
		Words    string   `port:"words"`
		Open     Open     `port:"open"`
		Metadata Metadata `port:"metadata"`
	}
	type out struct {
		Acts     []Act      `port:"acts"`
		Language string     `port:"language"`
		Events   []bt.Typed `port:",events"`
	}
	return bt.Func("PlainAnswer",
		"Reads a plain yes or no to a question, from closed lists. A yes comes from nowhere else. FAILURE if it is none.",
		func(i in, o *out) error {
			intents := map[understand.Answer]understand.Intent{understand.Yes: understand.Confirm,
				understand.No: understand.Decline}
			intent, plain := intents[understand.Consent(i.Words, i.Metadata.AgentContext.Language)]
			switch {
			case i.Open.Row == "":
				return errors.New("nothing was asked")
			case !plain:
				return errors.New("it is no plain yes or no")
			}
			o.Acts = []Act{{Intent: intent, Confidence: 1, Reasoning: "nothing but a " +
				map[understand.Intent]string{understand.Confirm: "yes", understand.Decline: "no"}[intent]}}
			o.Language = i.Metadata.AgentContext.Language
			o.Events = intentsRead(o.Acts)
			return nil
		})
}

func takeAnswer() bt.Leaf {
	type in struct {
		Words string `port:"words"`
		Open  Open   `port:"open"`
	}
	type out struct {
		Acts      []Act      `port:"acts"`
		Remarks   []Remark   `port:"remarks"`
		Questions []Question `port:"questions"`
	}
	const doc = "Puts what an answer stands for in its place, and bounds what is done at once. What is unclear is " +
		"asked once more; what lapses is told."
	return bt.Func("TakeAnswer", doc, func(i in, o *out) error {
		took := taken{acts: o.Acts, answered: true}
		if i.Open.Row != "" {
			took = i.Open.take(o.Acts)
		}
		if !took.answered && !took.other && i.Open.waits() && refuses(i.Words) {
			took = i.Open.take([]Act{{Intent: understand.Decline}})
		}
		o.Acts = took.acts
		if took.left {
			o.Remarks = append(slices.Clip(o.Remarks), Remark{What: sayLeft})
		}
		switch {
		case took.answered:
		case i.Open.waits() && !i.Open.Again && !took.other:
			again := i.Open.Question
			again.Again = true
			o.Questions = append(slices.Clip(o.Questions), again)
		default:
			o.Remarks = append(slices.Clip(o.Remarks), i.Open.lapse())
		}
		if len(o.Acts) > mostActs {
			o.Acts = o.Acts[:mostActs]
			o.Remarks = append(slices.Clip(o.Remarks), Remark{What: sayTooMany, N: mostActs})
		}
		return nil
	})
}

// refuses says that a message begins with a plain no, whatever else it says.
func refuses(words string) bool {
	first := strings.FieldsFunc(words, func(r rune) bool { return strings.ContainsRune(",.;:!–—", r) })
	return len(first) > 0 && understand.Consent(first[0], "") == understand.No
}

// taken is what a message comes to, as the answer to a question.
type taken struct {
	acts     []Act
	left     bool // what was asked about is not to be done
	answered bool
	other    bool // it wants something else
}

// take goes through what was read as what may be the answer to the question.
func (o *Open) take(read []Act) (t taken) {
	for _, a := range read {
		if o.Lapsed && answers(a.Intent) {
			continue
		}
		if !o.Lapsed {
			if meant, is := o.answered(a); is {
				for _, m := range meant { // a model may tell it as the answer and as a wish
					if !slices.ContainsFunc(t.acts, m.sameAs) {
						t.acts = append(t.acts, m)
					}
				}
				t.answered = true
				t.left = t.left || a.Intent == understand.Decline
				continue
			}
		}
		if a.Intent == unclear || answers(a.Intent) {
			continue
		}
		t.other = t.other || toolOf(a.Intent) != ""
		t.acts = append(t.acts, a)
	}
	if t.answered { // what else was said to it needs no reply
		t.acts = slices.DeleteFunc(t.acts, func(a Act) bool { return a.Reply != "" })
		t.acts = append(t.acts, o.Rest...)
	}
	return t
}

// sameAs says that two acts do the same.
func (a *Act) sameAs(b Act) bool {
	return a.Intent == b.Intent && reflect.DeepEqual(a.Entities, b.Entities) && reflect.DeepEqual(a.Targets, b.Targets)
}

// answers says that an intent is one of answers.
func answers(i understand.Intent) bool {
	return slices.Contains([]understand.Intent{understand.Confirm, understand.Decline, understand.Choose,
		understand.Value, unclear}, i)
}

// lapse says that the question can't be answered any more, and what it was about.
func (o *Open) lapse() Remark {
	r := Remark{What: sayLapsed, Text: string(o.Act.Intent), Items: o.Act.Targets}
	if len(r.Items) == 0 {
		r.What = sayLapsedAll
	}
	return r
}

// answered is what an answer to the question means. is is false for what is none, and for one that can't be followed.
func (o *Open) answered(a Act) (meant []Act, is bool) {
	act := o.Act
	switch {
	case a.Intent == understand.Decline:
		return nil, true
	case a.Intent == understand.Confirm && o.Kind == understand.KindConfirm:
		act.Chosen, act.Agreed = true, true
		if act.Intent == understand.Delete && len(act.Targets) > 0 {
			act.Row = o.Row
		}
		return []Act{act}, true
	case a.Intent == understand.Confirm && o.Kind == understand.KindChoose && len(o.Options) == 1:
		return []Act{o.Options[0].Act}, true
	case o.chooses(a):
		meant = o.chosen(a.Entities.Reference)
		return meant, len(meant) > 0
	case o.values(a):
		act.Chosen = act.Chosen || o.Kind == understand.KindConfirm
		if act.Agreed = a.By == ""; a.Entities.Title != "" {
			act.Entities.Title = a.Entities.Title
		}
		if a.Entities.HasDescription {
			act.Entities.Description, act.Entities.HasDescription = a.Entities.Description, true
		}
		return []Act{act}, true
	}
	return nil, false
}

// chooses says that an act is a choice among the options. They are the last that was numbered, so that a position alone
// means one of them.
func (o *Open) chooses(a Act) bool {
	r := a.Entities.Reference
	return o.Kind == understand.KindChoose && (a.Intent == understand.Choose || a.By != "" &&
		a.Intent == o.Act.Intent && r != nil && len(r.Positions) > 0)
}

// values says that an act is the text that was asked for: also where a model tells it as the wish that it completes,
// and other words than those of a task that is to be added or changed if the person agrees.
func (o *Open) values(a Act) bool {
	switch {
	case a.Entities.Title == "" && !a.Entities.HasDescription, o.Kind == understand.KindChoose:
		return false
	case o.Kind == understand.KindConfirm:
		return a.Intent == understand.Value && (o.Act.Intent == understand.Create || o.Act.Intent == understand.Update)
	}
	r := a.Entities.Reference
	return a.Intent == understand.Value || a.By != "" && a.Intent == o.Act.Intent &&
		(r == nil || r.It || a.Intent == understand.Create)
}

// chosen are the acts of the options that a reference names; those of one intent on tasks become one.
func (o *Open) chosen(r *understand.Reference) (acts []Act) {
	for _, n := range pick(r, o.labels()) {
		a := o.Options[n].Act
		a.Chosen = true
		if k := len(acts) - 1; k >= 0 && acts[k].Intent == a.Intent && len(a.Targets) > 0 {
			acts[k].Targets = append(slices.Clip(acts[k].Targets), a.Targets...)
			continue
		}
		acts = append(acts, a)
	}
	return acts
}

// pick are the options, from 0, that a reference names; none if it names one that is not there, or does not tell them
// apart.
func pick(r *understand.Reference, labels []string) (picked []int) {
	if r == nil {
		return nil
	}
	switch {
	case r.Except != nil, r.Both && len(labels) != 2:
		return nil
	case r.All:
		for n := range labels {
			picked = append(picked, n)
		}
	case len(r.Positions) > 0:
		for _, p := range r.Positions {
			if p < 0 {
				p += len(labels) + 1
			}
			if p < 1 || p > len(labels) {
				return nil
			}
			if !slices.Contains(picked, p-1) {
				picked = append(picked, p-1)
			}
		}
	case r.Title != "":
		if best := titlesMatching(r.Title, labels); len(best) == 1 {
			return best
		}
	}
	return picked
}
