package oracle

import (
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/oracle/classify"
)

// Given is what a run of the Oracle begins with.
type Given struct {
	Question     string     `port:"question"`
	Previous     []string   `port:"previous,optional"`
	PreviousType string     `port:"previous_type,optional"`
	Tools        []ToolFact `port:"tools"`
	MaxTurns     int        `port:"max_turns"`
	MaxTokens    int        `port:"max_tokens,optional"`
	MaxSeconds   int        `port:"max_seconds,optional"`
	PastTokens   int        `port:"past_tokens,optional"` // of the session's earlier exchanges, estimated
	LastTokens   int        `port:"last_tokens,optional"` // of the last of them, which a topic shift leaves
	Window       int        `port:"window,optional"`      // of the model, in tokens; 0: unknown
	Classifier   bool       `port:"classifier,optional"`  // one is configured
}

// wanted is what the answer is made of; a run that fails early has none of it.
type wanted struct {
	Class      classify.Classification `port:"class,optional"`
	Ledger     Ledger                  `port:"ledger,optional"`
	Accepted   Accepted                `port:"accepted,optional"`
	Transcript []Entry                 `port:"transcript,optional"`
	TopicShift bool                    `port:"topic_shift,optional"`
}

// Registry has the Oracle's leaves; Options say what its trees are given and what is read from them.
func Registry() (*bt.Registry, bt.Options, error) {
	reg, err := bt.NewRegistry(classifyLeaf(), offerTools(), askModel(), noteReply(), signalIs(), hasText(), hasToolCalls(),
		sufficient(), searchesEmpty(), firstTime(), accept(), hint(), widen(), offerCapability(), noteGap(), runTools(), takeAway(),
		budget(), causeOfDoubt(), askClassifier(), decide(), sameReason(), sameCall(), cycle(), sameError(), noNewSource(), strike(),
		historyIsLong(), takeNotes(), offerEverything(), identicalCalls(), timeIsUp(), noteCut())
	if err != nil {
		return nil, bt.Options{}, err
	}
	given, err := bt.Ports[Given]()
	if err != nil {
		return nil, bt.Options{}, err
	}
	want, err := bt.Ports[wanted]()
	return reg, bt.Options{Given: given, Wanted: want}, err
}

func classifyLeaf() bt.Leaf {
	type in struct {
		Question     string   `port:"question" doc:"the person's words"`
		Previous     []string `port:"previous,optional" doc:"earlier questions of the session, oldest first"`
		PreviousType string   `port:"previous_type,optional" doc:"type of the last question that was not conversational"`
	}
	type out struct {
		Class      classify.Classification `port:"class" doc:"type, sources needed, confidence"`
		TopicShift bool                    `port:"topic_shift" doc:"the question leaves the subject of those before"`
		Note       string                  `port:",note"`
	}
	return bt.Func("Classify", "Finds out what kind of question it is (FR-015).", func(i in, o *out) error {
		o.Class = classify.Classify(classify.Query{Text: i.Question, Previous: i.Previous, PreviousType: classify.Type(i.PreviousType)})
		o.TopicShift = len(i.Previous) > 0 && classify.TopicShift(i.Previous, i.Question)
		o.Note = fmt.Sprintf("%s (%.2f)", o.Class.QueryType, o.Class.Confidence)
		if len(o.Class.KeywordsMatched) > 0 {
			o.Note += ": " + strings.Join(o.Class.KeywordsMatched, ", ")
		}
		if o.TopicShift {
			o.Note += "; a topic shift"
		}
		return nil
	})
}

func firstTime() bt.Leaf {
	type none struct{}
	type out struct {
		Ledger Ledger `port:"ledger"`
	}
	return bt.Func("FirstTime", "SUCCESS the first time in a run, then FAILURE: the signal is asked for once.", func(_ none, o *out) error {
		if o.Ledger.AskedFor {
			return fmt.Errorf("it was asked for before")
		}
		o.Ledger = o.Ledger.clone()
		o.Ledger.AskedFor = true
		return nil
	})
}

func accept() bt.Leaf {
	type in struct {
		Reply      Reply  `port:"reply"`
		StopReason string `port:"stop_reason" doc:"satisfied, partial, budget, stuck, loop or needs_user"`
	}
	type out struct {
		Accepted Accepted `port:"accepted" doc:"the reply that is the answer"`
		Ledger   Ledger   `port:"ledger"`
		Done     bool     `port:"done"`
		Note     string   `port:",note"`
	}
	return bt.Func("Accept", "Makes the reply the answer and ends the loop.", func(i in, o *out) error {
		o.Accepted, o.Done = Accepted{Ref: i.Reply.Ref, StopReason: i.StopReason}, true
		o.Note = "stop: " + i.StopReason
		o.Ledger = o.Ledger.clone()
		if i.Reply.Signal == nil {
			o.Note += " (signal missing)"
			o.Ledger.notice(NoticeMissing, Warning, nil, "The answer came without a signal.")
		}
		o.Ledger.exhausted(map[bool]Severity{true: Info, false: Warning}[i.StopReason == StopSatisfied])
		return nil
	})
}

func hint() bt.Leaf {
	type in struct {
		Text string `port:"text" doc:"what the control layer tells the model before its next turn"`
	}
	type out struct {
		Transcript []Entry `port:"transcript"`
		Note       string  `port:",note"`
	}
	return bt.Func("Hint", "Adds a word of the control layer to the last turn of the transcript.", func(i in, o *out) error {
		if len(o.Transcript) == 0 {
			return fmt.Errorf("there is no turn yet to add a hint to")
		}
		o.Transcript = slices.Clone(o.Transcript)
		last := &o.Transcript[len(o.Transcript)-1]
		if last.Hint != "" {
			last.Hint += " "
		}
		last.Hint += i.Text
		o.Note = i.Text
		return nil
	})
}
