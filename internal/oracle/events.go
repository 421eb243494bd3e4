package oracle

import (
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/signal"
)

// The typed events of the Oracle's leaves, besides those of package agent, each with its sentences.

// Events lists all events that a run of the Oracle may emit.
func Events() []bt.Typed {
	return append(agent.Events(), ClassChosen{}, ToolsOffered{}, TurnTaken{}, SignalHeard{}, SignalTaken{},
		ReplyWeighed{}, ReplyDoubted{}, ClassifierAsked{},
		FallbackDecided{}, ToolsAdded{}, CapabilityMissing{}, AnswerAccepted{})
}

func eventReasons() []bt.Reason {
	return []bt.Reason{classCode, classNotes, classResearch, classTalk, classAction, modelReplied, modelLooks,
		replyDoubted, decidedGoOn, decidedRetry, decidedOther, decidedForce, decidedAsk, toolsAdded,
		capabilityMissing, answerAccepted, earlierTaken}
}

// ClassChosen is the class of the question.
type ClassChosen struct {
	Type       classify.Type `json:"query_type"`
	Confidence float64       `json:"confidence"`
	Keywords   []string      `json:"keywords,omitempty"`
	TopicShift bool          `json:"topic_shift,omitempty"`
}

const (
	classCode     bt.Reason = "control.understood.code: Took it for a question about the code"
	classNotes    bt.Reason = "control.understood.documentation: Took it for a question about notes or documents"
	classResearch bt.Reason = "control.understood.research: Took it for a question to look up on the web"
	classTalk     bt.Reason = "control.understood.talk: Took it for talk that needs nothing looked up"
	classAction   bt.Reason = "control.understood.action: Took it for something to do"
)

// EventType implements bt.Typed.
func (ClassChosen) EventType() string { return "class.chosen" }

// Story implements bt.Narrated.
func (e ClassChosen) Story() bt.Why {
	switch e.Type {
	case classify.Code:
		return classCode.With()
	case classify.Documentation:
		return classNotes.With()
	case classify.Research:
		return classResearch.With()
	case classify.Conversational:
		return classTalk.With()
	case classify.Action:
		return classAction.With()
	}
	return bt.Why{}
}

// ToolsOffered says which tools the model may call, and which not.
type ToolsOffered struct {
	Offered  []string `json:"offered"`
	Withheld []string `json:"withheld"`
}

// EventType implements bt.Typed.
func (ToolsOffered) EventType() string { return "tools.offered" }

// TurnTaken is a completed turn of the model.
type TurnTaken struct {
	Turn     int         `json:"turn"`
	MaxTurns int         `json:"max_turns"`
	Signal   signal.Type `json:"signal,omitempty"`
	Calls    int         `json:"calls,omitempty"`
	Bytes    int         `json:"bytes"` // of text
	Model    string      `json:"model"`
	Attempts int         `json:"attempts,omitempty"`
	TookMS   int64       `json:"took_ms"`

	// Reported is an impossible usage that the provider reported, and Counted what was counted instead.
	Reported model.Usage `json:"reported_usage,omitzero"`
	Counted  model.Usage `json:"counted_usage,omitzero"`
}

const (
	modelReplied bt.Reason = "control.thought.replied: Asked {model}, which replied"
	modelLooks   bt.Reason = "control.thought.looks: Asked {model}, which wanted to look something up"
)

// EventType implements bt.Typed.
func (TurnTaken) EventType() string { return "turn.taken" }

// Story implements bt.Narrated. It is empty for the offline rules: their calls tell enough.
func (e TurnTaken) Story() bt.Why {
	switch {
	case e.Model == model.OfflineRules:
		return bt.Why{}
	case e.Calls > 0:
		return modelLooks.With(e.Model)
	}
	return modelReplied.With(e.Model)
}

// SignalHeard is the signal of a reply. All empty: it had no signal.
type SignalHeard struct {
	Type       signal.Type `json:"type,omitempty"`
	Confidence float64     `json:"confidence,omitempty"`
	Inferred   bool        `json:"inferred,omitempty"`  // it had none, but calls tools: so it needs another turn
	Malformed  string      `json:"malformed,omitempty"` // why a signal counts as none
	Ignored    int         `json:"ignored,omitempty"`   // further signals
	Mentioned  int         `json:"mentioned,omitempty"` // signals that it quotes
}

// EventType implements bt.Typed.
func (SignalHeard) EventType() string { return "signal.heard" }

// SignalTaken says that a rule of the tree acted on the reply's signal.
type SignalTaken struct {
	Type signal.Type `json:"type"`
}

// EventType implements bt.Typed.
func (SignalTaken) EventType() string { return "signal.taken" }

// ReplyWeighed says whether an answer has enough to stand on.
type ReplyWeighed struct {
	Enough bool `json:"enough"`
	bt.Why
}

// EventType implements bt.Typed.
func (ReplyWeighed) EventType() string { return "reply.weighed" }

// ReplyDoubted says why a reply can't be accepted as it is.
type ReplyDoubted struct {
	Cause Cause `json:"cause"`
	bt.Why
}

const replyDoubted bt.Reason = "control.checked.doubt: Doubted the reply: {why}"

// EventType implements bt.Typed.
func (ReplyDoubted) EventType() string { return "reply.doubted" }

// Story implements bt.Narrated.
func (e ReplyDoubted) Story() bt.Why { return replyDoubted.With(e.Why) }

// ClassifierAsked is what the classifier thinks of a reply that is in doubt.
type ClassifierAsked struct {
	Label string  `json:"label"`
	Score float64 `json:"score"`
}

// EventType implements bt.Typed.
func (ClassifierAsked) EventType() string { return "classifier.asked" }

// FallbackDecided is what is done with a reply that is in doubt.
type FallbackDecided struct {
	Consult
}

const (
	decidedGoOn  bt.Reason = "control.checked.go_on: Took the reply as it was: {why}"
	decidedRetry bt.Reason = "control.checked.retry: Had the model try again: {why}"
	decidedOther bt.Reason = "control.checked.other: Had the model try another way: {why}"
	decidedForce bt.Reason = "control.checked.force: Had the model answer with what it had: {why}"
	decidedAsk   bt.Reason = "control.checked.ask: Decided to ask you: {why}"
)

// EventType implements bt.Typed.
func (FallbackDecided) EventType() string { return "fallback.decided" }

// Story implements bt.Narrated.
func (e FallbackDecided) Story() bt.Why {
	why := bt.Why{Text: e.Because, Coded: e.Coded}
	switch e.Verdict {
	case GoOn:
		return decidedGoOn.With(why)
	case Retry:
		return decidedRetry.With(why)
	case OtherStrategy:
		return decidedOther.With(why)
	case ForceAnswer:
		return decidedForce.With(why)
	case AskUser:
		return decidedAsk.With(why)
	}
	return bt.Why{}
}

// ToolsAdded says which more tools are offered from now on. None: those requested are offered already.
type ToolsAdded struct {
	Added []string `json:"added"`
}

const toolsAdded bt.Reason = "control.widened: Let the model use more: {tools}"

// EventType implements bt.Typed.
func (ToolsAdded) EventType() string { return "tools.added" }

// Story implements bt.Narrated.
func (e ToolsAdded) Story() bt.Why {
	if len(e.Added) == 0 {
		return bt.Why{}
	}
	return toolsAdded.With(strings.Join(e.Added, ", "))
}

// CapabilityMissing is a capability that was requested and does not exist.
type CapabilityMissing struct {
	Capability string `json:"capability"`
}

const capabilityMissing bt.Reason = "control.lacked: Lacked something that is not there: {what}"

// EventType implements bt.Typed.
func (CapabilityMissing) EventType() string { return "capability.missing" }

// Story implements bt.Narrated.
func (e CapabilityMissing) Story() bt.Why { return capabilityMissing.With(e.Capability) }

// AnswerAccepted says which reply is the answer, and why the run stops with it.
type AnswerAccepted struct {
	StopReason string `json:"stop_reason"`
	NoSignal   bool   `json:"no_signal,omitempty"`
	Earlier    bool   `json:"earlier,omitempty"` // the answer is the text of an earlier reply
}

const (
	answerAccepted bt.Reason = "control.checked.accepted: Checked the reply, and took it as the answer"
	earlierTaken   bt.Reason = "control.checked.earlier: Checked the reply, and took an earlier one as the answer"
)

// EventType implements bt.Typed.
func (AnswerAccepted) EventType() string { return "answer.accepted" }

// Story implements bt.Narrated.
func (e AnswerAccepted) Story() bt.Why {
	if e.Earlier {
		return earlierTaken.With()
	}
	return answerAccepted.With()
}
