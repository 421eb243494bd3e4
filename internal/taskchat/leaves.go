package taskchat

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/taskchat/understand"
)

// Given is what a run begins with: one message, and what its conversation remembers.
type Given struct {
	Words    string   `port:"words"`
	Metadata Metadata `port:"metadata"`
	Open     Open     `port:"open"`  // the question that was left to the person; none: its row is empty
	Asked    bool     `port:"asked"` // that question can be answered still
	Model    bool     `port:"model"` // one is to be asked
	Said     string   `port:"said"`  // what the person said before in the conversation, where a model is asked
	Zone     int      `port:"zone"`  // of the times that the person is told, in seconds east of UTC
}

// treeResult is what the tree leaves, of which the response is composed.
type treeResult struct {
	Language   string         `port:"language,optional"`
	Remarks    []Remark       `port:"remarks,optional"`
	Questions  []Question     `port:"questions,optional"`
	Shown      []Item         `port:"shown,optional"`
	ListsShown int            `port:"lists,optional"` // how many were shown
	Metadata   Metadata       `port:"metadata,optional"`
	Reported   int            `port:"told,optional"` // of how many writes the remarks tell
	Intents    []IntentResult `port:"intents,optional"`
	Worded     []Worded       `port:"worded,optional"`

	Selected []ToolSelectionResult `port:"selected,optional"`
}

// Leaves are the task assistant's leaves; Options say what its trees are given and what is read from them.
func Leaves() (*bt.Leaves, bt.Options, error) {
	return bt.Declare[Given, treeResult](plainAnswer(), plainCommand(), understandLeaf(), askModel(), takeAnswer(),
		nextAct(), intentIs(),
		confident(), said(), askWhich(), lookUp(), resolveLeaf(),
		has(), askValueLeaf(), askConfirmation(), lastChange(), callTool(), listTasks(), say(), word())
}

// mostActs bounds what one message may ask for.
const mostActs = 32

func understandLeaf() bt.Leaf {
	type in struct {
		Words    string   `port:"words" doc:"the person's message"`
		Metadata Metadata `port:"metadata" doc:"what the conversation remembers"`
		Open     Open     `port:"open" doc:"the question that the person was left with"`
	}
	type out struct {
		Acts     []Act      `port:"acts" doc:"what is wanted, in the order in which it was said"`
		Language string     `port:"language"`
		Events   []bt.Typed `port:",events"`
	}
	return bt.Func("Understand", "Reads what a message asks for, by rules.", func(i in, o *out) error {
		r := understand.Read(i.Words, i.Metadata.rulesContext(i.Open))
		o.Language, o.Acts = r.Language, actsByRules(r)
		o.Events = intentEvents(o.Acts)
		return nil
	})
}

// actsByRules are the acts that a reading by rules stands for.
func actsByRules(r understand.Reading) (acts []Act) {
	for _, one := range r.Results {
		acts = append(acts, Act{Intent: one.Intent, Confidence: one.Confidence, Alternatives: one.Alternatives,
			Entities: one.Entities, Reasoning: one.Reasoning})
	}
	return acts
}

func plainCommand() bt.Leaf {
	type in struct {
		Words    string   `port:"words" doc:"the person's message"`
		Metadata Metadata `port:"metadata" doc:"what the conversation remembers"`
		Open     Open     `port:"open" doc:"the question that the person was left with"`
	}
	type out struct {
		Acts     []Act      `port:"acts" doc:"what is wanted, in the order in which it was said"`
		Language string     `port:"language"`
		Events   []bt.Typed `port:",events"`
	}
	const doc = "Reads a message that is commands to its last word, by rules: no model has to be asked what it means. " +
		"FAILURE if it is anything else, may answer the question, or names a task by words that are no title of the last " +
		"list."
	return bt.Func("PlainCommand", doc, func(i in, o *out) error {
		r, is := understand.Command(i.Words, i.Metadata.rulesContext(i.Open))
		if !is {
			return errors.New("it is more than plain commands")
		}
		for _, one := range r.Results {
			ref := one.Entities.Reference
			if ref != nil && ref.Title != "" && !isTitleOf(ref.Title, i.Metadata.AgentContext.Shown) {
				return fmt.Errorf("the last list has no task called %q", ref.Title)
			}
		}
		o.Language, o.Acts = r.Language, actsByRules(r)
		o.Events = intentEvents(o.Acts)
		return nil
	})
}

func intentEvents(acts []Act) (events []bt.Typed) {
	for _, a := range acts {
		events = append(events, IntentRead{a.result()})
	}
	return events
}

// rulesContext is what the rules of package understand need of the conversation.
func (m *Metadata) rulesContext(o Open) understand.Context {
	c := understand.Context{Language: m.AgentContext.Language, Previous: writeIntentOf(m.LastToolUsed)}
	if o.answerable() {
		c.Open = &understand.Open{Kind: o.Kind, Intent: o.Act.Intent}
	}
	return c
}

func nextAct() bt.Leaf {
	type in struct {
		Acts []Act `port:"acts"`
	}
	type out struct {
		Left     []Act          `port:"left" doc:"what is left after it"`
		Act      Act            `port:"act"`
		Intents  []IntentResult `port:"intents" doc:"what was wanted so far, as it was read"`
		Metadata Metadata       `port:"metadata" doc:"without what was spoken of, if the act is about something else"`
		Done     bool           `port:"done" doc:"there was none left"`
	}
	return bt.Func("NextAct", "Takes the first of what is wanted.", func(i in, o *out) error {
		if len(i.Acts) == 0 {
			o.Done = true
			return nil
		}
		o.Act, o.Left, o.Done = i.Acts[0], i.Acts[1:], false
		o.Intents = append(slices.Clip(o.Intents), o.Act.result())
		if o.Act.namesTaskAnew() {
			o.Metadata.AgentContext.LastTask = 0
		}
		return nil
	})
}

func intentIs() bt.Leaf {
	type in struct {
		Act Act    `port:"act"`
		Any string `port:"any" doc:"intents, with ; between them"`
	}
	return bt.Check("IntentIs", "Whether the act is one of these.", func(i in) (bool, string) {
		is := slices.Contains(strings.Split(i.Any, ";"), string(i.Act.Intent))
		if !is {
			return false, fmt.Sprintf("it is %s, not %s", i.Act.Intent, strings.ReplaceAll(i.Any, ";", " or "))
		}
		return true, "it is " + string(i.Act.Intent)
	})
}

func confident() bt.Leaf {
	type in struct {
		Act      Act     `port:"act"`
		List     float64 `port:"list" between:"0 1" doc:"the least confidence for a list; each of these is inclusive"`
		Create   float64 `port:"create" between:"0 1" doc:"… for a new task"`
		Complete float64 `port:"complete" between:"0 1" doc:"… to complete one"`
		Update   float64 `port:"update" between:"0 1" doc:"… to change one, or to undo"`
		Delete   float64 `port:"delete" between:"0 1" doc:"… to delete one"`
	}
	return bt.Check("Confident", "Whether it is sure enough that this is meant. What the person chose when asked, is.",
		func(i in) (bool, string) {
			least := map[understand.Intent]float64{understand.List: i.List, understand.Create: i.Create,
				understand.Complete: i.Complete,
				understand.Update:   i.Update, understand.Undo: i.Update, understand.Delete: i.Delete}[i.Act.Intent]
			if i.Act.Chosen {
				return true, "the person said so"
			}
			return i.Act.Confidence >= least, fmt.Sprintf("%s with %.2f, wanted are %.2f", i.Act.Intent,
				i.Act.Confidence, least)
		})
}

func has() bt.Leaf {
	type in struct {
		Act  Act    `port:"act"`
		What string `port:"what" doc:"title: what a new task is called; value: what an update changes; yes: the person's, to exactly this"`
	}
	return bt.Check("Has", "Whether what an act needs is known.", func(i in) (bool, string) {
		switch i.What {
		case "title":
			return i.Act.Entities.Title != "", "a title"
		case "value":
			return i.Act.hasValue(), "a new title, description or status"
		}
		return i.Act.Row != "", "a yes, by the pending row " + i.Act.Row
	})
}

// actIn is the input of a leaf that handles one act.
type actIn struct {
	Act Act `port:"act"`
}

// askingOut is the output of a leaf that asks the person.
type askingOut struct {
	Questions []Question `port:"questions"`
	Events    []bt.Typed `port:",events"`
}

func (o *askingOut) ask(q Question) {
	o.Questions = append(slices.Clip(o.Questions), q)
	o.Events = append(o.Events, Asked{Kind: q.Kind, Intent: string(q.Act.Intent), Options: q.optionLabels()})
}

func (q *Question) optionLabels() (labels []string) {
	for _, o := range q.Options {
		labels = append(labels, o.Label)
	}
	return labels
}

func askValueLeaf() bt.Leaf {
	return bt.Func("AskValue", "Asks what a task is to be called.", func(i actIn, o *askingOut) error {
		text := Remark{What: sayNoTitle}
		if len(i.Act.Targets) > 0 {
			text = Remark{What: sayNoValue, Items: i.Act.Targets}
		}
		o.ask(Question{Kind: understand.KindValue, Text: text, Act: i.Act})
		return nil
	})
}

func askConfirmation() bt.Leaf {
	type out struct {
		Questions []Question            `port:"questions"`
		Selected  []ToolSelectionResult `port:"selected" doc:"with the calls that are asked about"`
		Events    []bt.Typed            `port:",events"`
	}
	return bt.Func("AskConfirmation", "Asks for a yes to what can't be taken back.", func(i actIn, o *out) error {
		asking := askingOut{Questions: o.Questions}
		asking.ask(Question{Kind: understand.KindConfirm, Text: Remark{What: sayConfirmDelete, Items: i.Act.Targets},
			Act: i.Act})
		selected := i.Act.selections()
		o.Questions, o.Selected = asking.Questions, slices.Concat(o.Selected, selected)
		o.Events = append(selectionEvents(selected), asking.Events...)
		return nil
	})
}

func askWhich() bt.Leaf {
	type in struct {
		Act      Act    `port:"act"`
		Language string `port:"language"`
	}
	const doc = "Asks what was meant, with the likeliest wish first. FAILURE if there is nothing to choose, or a " +
		"deletion alone, which is asked about later."
	return bt.Func("AskWhich", doc, func(i in, o *askingOut) error {
		q := Question{Kind: understand.KindChoose, Text: Remark{What: sayUnsure}, Act: i.Act}
		add := func(a Act) {
			a.Chosen, a.Agreed, a.Alternatives = true, true, nil
			label := describeAct(phrasesOf(i.Language), a)
			if label != "" && !slices.Contains(q.optionLabels(), label) {
				q.Options = append(q.Options, Option{label, a})
			}
		}
		add(i.Act)
		for _, other := range i.Act.Alternatives {
			a := i.Act
			a.Intent, a.Confidence, a.Entities = other.Intent, other.Confidence, other.Entities
			if r := a.Entities.Reference; r != nil && i.Act.Entities.Reference != nil &&
				r.Words != i.Act.Entities.Reference.Words {
				a.Targets = nil // it is about another task, that nobody has looked for
			}
			add(a)
		}
		switch {
		case len(q.Options) == 0:
			return errors.New("there is nothing to choose from")
		case len(q.Options) == 1 && i.Act.Intent == understand.Delete:
			return errors.New("it is asked before a deletion anyway, with the task's title")
		case len(q.Options) == 1:
			q = Question{Kind: understand.KindConfirm, Text: Remark{What: sayMeant, Text: q.Options[0].Label,
				Items: i.Act.Targets, Title: i.Act.Entities.Title}, Act: q.Options[0].Act}
		}
		o.ask(q)
		return nil
	})
}

func lastChange() bt.Leaf {
	type in struct {
		Metadata Metadata `port:"metadata"`
	}
	type out struct {
		Act     Act      `port:"act" doc:"with the changes that it takes back"`
		Remarks []Remark `port:"remarks"`
	}
	return bt.Func("LastChange",
		"Finds what the last message that changed anything did. FAILURE if that is nothing, which is told.",
		func(i in, o *out) error {
			all := i.Metadata.AgentContext.Changes
			if len(all) == 0 {
				o.Remarks = append(slices.Clip(o.Remarks), Remark{What: sayNothingToUndo})
				return errors.New("nothing was changed in this conversation")
			}
			o.Act.Undoes = slices.Clone(all[len(all)-1])
			slices.Reverse(o.Act.Undoes)
			return nil
		})
}

func say() bt.Leaf {
	type out struct {
		Remarks []Remark `port:"remarks"`
	}
	type in struct {
		Act      Act    `port:"act"`
		Words    string `port:"words" doc:"the person's message"`
		Language string `port:"language"`
	}
	const doc = "Answers what is no matter of tasks, and a yes or no to nothing. A model's reply that takes up words of " +
		"the message, other than a courtesy, a yes or a no, speaks of what was wanted, and nothing was done: it is not said."
	return bt.Func("Say", doc,
		func(i in, o *out) error {
			asksNothing := understand.IsCourtesy(i.Words) || understand.Consent(i.Words, i.Language) != understand.Unclear
			r := Remark{What: sayHello}
			switch {
			case i.Act.Reply != "" && (asksNothing || !speaksOf(i.Act.Reply, i.Words, i.Language)):
				r = Remark{What: sayReply, Text: i.Act.Reply}
			case i.Act.Intent == understand.Decline:
				r.What = sayFine
			case i.Act.Intent == understand.Help:
				r.What = sayHelp
			case isAnswer(i.Act.Intent):
				r.What = sayNothingOpen
			}
			o.Remarks = append(slices.Clip(o.Remarks), r)
			return nil
		})
}
