package oracle

import (
	"fmt"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/signal"
	"sibyl/internal/text"
)

// The typed events of the Oracle's leaves, besides those of package agent.

// ClassChosen is the class of the question.
type ClassChosen struct {
	Type       classify.Type `json:"query_type"`
	Confidence float64       `json:"confidence"`
	Keywords   []string      `json:"keywords,omitempty"`
	TopicShift bool          `json:"topic_shift,omitempty"`
}

// ToolsOffered says which tools the model may call, and which not.
type ToolsOffered struct {
	Offered  []string `json:"offered"`
	Withheld []string `json:"withheld"`
}

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

// SignalHeard is the signal of a reply. All empty: it had no signal.
type SignalHeard struct {
	Type       signal.Type `json:"type,omitempty"`
	Confidence float64     `json:"confidence,omitempty"`
	Inferred   bool        `json:"inferred,omitempty"`  // it had none, but calls tools: so it needs another turn
	Malformed  string      `json:"malformed,omitempty"` // why a signal counts as none
	Ignored    int         `json:"ignored,omitempty"`   // further signals
	Mentioned  int         `json:"mentioned,omitempty"` // signals that it quotes
}

// SignalTaken says that a rule of the tree acted on the reply's signal.
type SignalTaken struct {
	Type signal.Type `json:"type"`
}

// ReplyWeighed says whether an answer has enough to stand on.
type ReplyWeighed struct {
	Enough bool `json:"enough"`
	bt.Why
}

// ReplyDoubted says why a reply can't be accepted as it is.
type ReplyDoubted struct {
	Cause Cause `json:"cause"`
	bt.Why
}

// ClassifierAsked is what the classifier thinks of a reply that is in doubt.
type ClassifierAsked struct {
	Label string  `json:"label"`
	Score float64 `json:"score"`
}

// FallbackDecided is what is done with a reply that is in doubt.
type FallbackDecided struct {
	Consult
}

// ToolsAdded says which more tools are offered from now on. None: those requested are offered already.
type ToolsAdded struct {
	Added []string `json:"added"`
}

// CapabilityMissing is a capability that was requested and does not exist.
type CapabilityMissing struct {
	Capability string `json:"capability"`
}

// AnswerAccepted says which reply is the answer, and why the run stops with it.
type AnswerAccepted struct {
	StopReason string `json:"stop_reason"`
	NoSignal   bool   `json:"no_signal,omitempty"`
	Earlier    bool   `json:"earlier,omitempty"` // the answer is the text of an earlier reply
}

// Events lists all events that a run of the Oracle may emit.
func Events() []bt.Typed {
	return append(agent.Events(), ClassChosen{}, ToolsOffered{}, TurnTaken{}, SignalHeard{}, SignalTaken{},
		ReplyWeighed{}, ReplyDoubted{}, ClassifierAsked{},
		FallbackDecided{}, ToolsAdded{}, CapabilityMissing{}, AnswerAccepted{})
}

func (ClassChosen) EventType() string       { return "class.chosen" }
func (ToolsOffered) EventType() string      { return "tools.offered" }
func (TurnTaken) EventType() string         { return "turn.taken" }
func (SignalHeard) EventType() string       { return "signal.heard" }
func (SignalTaken) EventType() string       { return "signal.taken" }
func (ReplyDoubted) EventType() string      { return "reply.doubted" }
func (ReplyWeighed) EventType() string      { return "reply.weighed" }
func (ClassifierAsked) EventType() string   { return "classifier.asked" }
func (FallbackDecided) EventType() string   { return "fallback.decided" }
func (ToolsAdded) EventType() string        { return "tools.added" }
func (CapabilityMissing) EventType() string { return "capability.missing" }
func (AnswerAccepted) EventType() string    { return "answer.accepted" }

func (e ClassChosen) String() string {
	text := fmt.Sprintf("%s (%.2f)", e.Type, e.Confidence)
	if len(e.Keywords) > 0 {
		text += ": " + strings.Join(e.Keywords, ", ")
	}
	if e.TopicShift {
		text += "; a topic shift"
	}
	return text
}

func (e ToolsOffered) String() string {
	return "offered " + joinNames(e.Offered) + "; withheld " + joinNames(e.Withheld)
}

func usageText(u model.Usage) string {
	return fmt.Sprintf("%d tokens in and %d out", u.InputTokens, u.OutputTokens)
}

func (e TurnTaken) String() string {
	said := string(e.Signal)
	switch {
	case said != "":
	case e.Calls > 0:
		said = text.Count(e.Calls, "call") + " without a signal"
	default:
		said = "no signal"
	}
	if e.Attempts > 1 {
		said += fmt.Sprintf(", %d attempts", e.Attempts)
	}
	if e.Reported != (model.Usage{}) {
		said += fmt.Sprintf("; it reports an impossible %s: %s were counted", usageText(e.Reported),
			usageText(e.Counted))
	}
	return fmt.Sprintf("turn %d of %d: %s (%s, %s)", e.Turn, e.MaxTurns, said, e.Model, agent.Seconds(e.TookMS))
}

func (e SignalHeard) String() string {
	text := "no signal"
	switch {
	case e.Malformed != "":
		text = "a malformed signal, ignored: " + e.Malformed
	case e.Inferred:
		text += fmt.Sprintf(": %s, since it calls tools", e.Type)
	case e.Type != "":
		text = fmt.Sprintf("signal %s (%.2f)", e.Type, e.Confidence)
	}
	if e.Ignored > 0 {
		text += fmt.Sprintf("; %d more ignored", e.Ignored)
	}
	if e.Mentioned > 0 {
		text += fmt.Sprintf("; %d only quoted", e.Mentioned)
	}
	return text
}

func (e SignalTaken) String() string { return string(e.Type) }

func (e ReplyWeighed) String() string {
	if e.Enough {
		return "enough for an answer: " + e.Text
	}
	return "not enough for an answer: " + e.Text
}

func (e ReplyDoubted) String() string { return string(e.Cause) + ": " + e.Text }

func (e ClassifierAsked) String() string { return fmt.Sprintf("%s (%.2f)", e.Label, e.Score) }

func (e FallbackDecided) String() string {
	return fmt.Sprintf("%s by %s: %s", e.Verdict, e.By, e.Because)
}

func (e ToolsAdded) String() string {
	if len(e.Added) == 0 {
		return "offered already"
	}
	return "also offered: " + strings.Join(e.Added, ", ")
}

func (e CapabilityMissing) String() string { return "capability gap: " + e.Capability }

func (e AnswerAccepted) String() string {
	text := "stop: " + e.StopReason
	if e.Earlier {
		text += " with the text of an earlier reply"
	}
	if e.NoSignal {
		text += " (signal missing)"
	}
	return text
}
