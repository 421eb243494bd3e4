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
			o.Events = intentEvents(o.Acts)
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
		reading := answerReading{acts: o.Acts, answered: true}
		if i.Open.Row != "" {
			reading = i.Open.readAnswer(o.Acts)
		}
		if !reading.answered && !reading.otherWish && i.Open.answerable() && beginsWithNo(i.Words) {
			reading = i.Open.readAnswer([]Act{{Intent: understand.Decline}})
		}
		o.Acts = reading.acts
		if reading.declined {
			o.Remarks = append(slices.Clip(o.Remarks), Remark{What: sayLeft})
		}
		switch {
		case reading.answered:
		case i.Open.answerable() && !i.Open.Repeated && !reading.otherWish:
			again := i.Open.Question
			again.Repeated = true
			o.Questions = append(slices.Clip(o.Questions), again)
		default:
			o.Remarks = append(slices.Clip(o.Remarks), i.Open.lapsedRemark())
		}
		if len(o.Acts) > mostActs {
			o.Acts = o.Acts[:mostActs]
			o.Remarks = append(slices.Clip(o.Remarks), Remark{What: sayTooMany, N: mostActs})
		}
		return nil
	})
}

// beginsWithNo says that a message begins with a plain no, whatever else it says.
func beginsWithNo(words string) bool {
	first := strings.FieldsFunc(words, func(r rune) bool { return strings.ContainsRune(",.;:!–—", r) })
	return len(first) > 0 && understand.Consent(first[0], "") == understand.No
}

// answerReading is what a message means as the answer to a question.
type answerReading struct {
	acts      []Act
	declined  bool // what was asked about is not to be done
	answered  bool
	otherWish bool // it wants something else
}

// readAnswer sorts the acts that were read. An answer to the question becomes the acts that it stands for, and brings
// back OtherActs; if the question has lapsed, it is dropped. Wishes with work to do stay, unclear ones do not.
func (o *Open) readAnswer(read []Act) (t answerReading) {
	for _, a := range read {
		if o.Lapsed && isAnswer(a.Intent) {
			continue
		}
		if !o.Lapsed {
			if meant, is := o.actsFor(a); is {
				for _, m := range meant { // a model may tell it as the answer and as a wish
					if !slices.ContainsFunc(t.acts, m.sameAs) {
						t.acts = append(t.acts, m)
					}
				}
				t.answered = true
				t.declined = t.declined || a.Intent == understand.Decline
				continue
			}
		}
		if a.Intent == unclear || isAnswer(a.Intent) {
			continue
		}
		t.otherWish = t.otherWish || toolOf(a.Intent) != ""
		t.acts = append(t.acts, a)
	}
	if t.answered { // what else was said to it needs no reply
		t.acts = slices.DeleteFunc(t.acts, func(a Act) bool { return a.Reply != "" })
		t.acts = append(t.acts, o.OtherActs...)
	}
	return t
}

// sameAs says that two acts do the same.
func (a *Act) sameAs(b Act) bool {
	return a.Intent == b.Intent && reflect.DeepEqual(a.Entities, b.Entities) && reflect.DeepEqual(a.Targets, b.Targets)
}

// isAnswer says that an intent only makes sense as the answer to a question.
func isAnswer(i understand.Intent) bool {
	return slices.Contains([]understand.Intent{understand.Confirm, understand.Decline, understand.Choose,
		understand.Value, unclear}, i)
}

// lapsedRemark says that the question can't be answered any more, and what it was about.
func (o *Open) lapsedRemark() Remark {
	r := Remark{What: sayLapsed, Text: string(o.Act.Intent), Items: o.Act.Targets}
	if len(r.Items) == 0 {
		r.What = sayLapsedAll
	}
	return r
}

// actsFor gives the acts that an answer to the question stands for. isAnswer is false if a is no answer to it, or one
// that can't be followed.
func (o *Open) actsFor(a Act) (acts []Act, isAnswer bool) {
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
	case o.isChoice(a):
		acts = o.chosenActs(a.Entities.Reference)
		return acts, len(acts) > 0
	case o.isValue(a):
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

// isChoice says that an act is a choice among the options. The options are the list that was numbered last, so a
// position alone means one of them.
func (o *Open) isChoice(a Act) bool {
	r := a.Entities.Reference
	return o.Kind == understand.KindChoose && (a.Intent == understand.Choose || a.By != "" &&
		a.Intent == o.Act.Intent && r != nil && len(r.Positions) > 0)
}

// isValue says that an act is the text that was asked for. A model may also report it as the wish that it completes.
// Other words for a task that is to be added or changed on a yes count as well.
func (o *Open) isValue(a Act) bool {
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

// chosenActs gives the acts of the options that a reference names. Acts of one intent on several tasks become one.
func (o *Open) chosenActs(r *understand.Reference) (acts []Act) {
	for _, n := range pickOptions(r, o.optionLabels()) {
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

// pickOptions gives the indexes (from 0) of the options that a reference names. It gives none if one of them does not
// exist, or if the reference fits several.
func pickOptions(r *understand.Reference, labels []string) (picked []int) {
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
