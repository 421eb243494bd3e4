package oracle

import (
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/oracle/classify"
)

// What the story of a run says: how the question was understood, what the model was asked, how replies were judged.
const (
	storyIsCode     bt.Reason = "story.understood.code: Took it for a question about the code"
	storyIsNotes    bt.Reason = "story.understood.documentation: Took it for a question about notes or documents"
	storyIsResearch bt.Reason = "story.understood.research: Took it for a question to look up on the web"
	storyIsTalk     bt.Reason = "story.understood.talk: Took it for talk that needs nothing looked up"
	storyIsAction   bt.Reason = "story.understood.action: Took it for something to do"

	storyReplied bt.Reason = "story.thought.replied: Asked {model}, which replied"
	storyLooks   bt.Reason = "story.thought.looks: Asked {model}, which wanted to look something up"

	storyAccepted   bt.Reason = "story.checked.accepted: Checked the reply, and took it as the answer"
	storyEarlier    bt.Reason = "story.checked.earlier: Checked the reply, and took an earlier one as the answer"
	storyDoubt      bt.Reason = "story.checked.doubt: Doubted the reply: {why}"
	storyGoOn       bt.Reason = "story.checked.go_on: Took the reply as it was: {why}"
	storyRetry      bt.Reason = "story.checked.retry: Had the model try again: {why}"
	storyOther      bt.Reason = "story.checked.other: Had the model try another way: {why}"
	storyForce      bt.Reason = "story.checked.force: Had the model answer with what it had: {why}"
	storyAskUser    bt.Reason = "story.checked.ask: Decided to ask you: {why}"
	storyWidened    bt.Reason = "story.widened: Let the model use more: {tools}"
	storyCapability bt.Reason = "story.lacked: Lacked something that is not there: {what}"

	storyAnswered bt.Reason = "story.answered: Answered"
	storyFound    bt.Reason = "story.answered.found: Showed what was found; no " +
		"language model is in use, so nothing was judged"
	storyNothing   bt.Reason = "story.answered.nothing: Found nothing; no language model is in use"
	storyPartial   bt.Reason = "story.part: Answered in part"
	storyBudget    bt.Reason = "story.part.budget: Answered with what it had, because a limit was reached"
	storyTurns     bt.Reason = "story.limit.turns: The limit: {limit} turns of the model"
	storyTokens    bt.Reason = "story.limit.tokens: The limit: {limit} tokens"
	storySeconds   bt.Reason = "story.limit.seconds: The limit: {limit} seconds"
	storyStuck     bt.Reason = "story.part.stuck: Answered with what it had, because it got no further"
	storyLooped    bt.Reason = "story.part.loop: Answered with what it had, because it kept doing the same"
	storyNeedsUser bt.Reason = "story.asks: Asked you, and waits for what you say"
)

func storyReasons() []bt.Reason {
	return []bt.Reason{storyIsCode, storyIsNotes, storyIsResearch, storyIsTalk, storyIsAction, storyReplied, storyLooks,
		storyAccepted, storyEarlier, storyDoubt, storyGoOn,
		storyRetry, storyOther, storyForce, storyAskUser, storyWidened, storyCapability, storyAnswered, storyFound,
		storyNothing, storyPartial, storyBudget,
		storyTurns, storyTokens, storySeconds, storyStuck, storyLooped, storyNeedsUser}
}

// Story implements bt.Narrated.
func (e ClassChosen) Story() bt.Why {
	switch e.Type {
	case classify.Code:
		return storyIsCode.With()
	case classify.Documentation:
		return storyIsNotes.With()
	case classify.Research:
		return storyIsResearch.With()
	case classify.Conversational:
		return storyIsTalk.With()
	case classify.Action:
		return storyIsAction.With()
	}
	return bt.Why{}
}

// Story implements bt.Narrated. It is empty for the offline rules: their calls tell enough.
func (e TurnTaken) Story() bt.Why {
	switch {
	case e.Model == model.OfflineRules:
		return bt.Why{}
	case e.Calls > 0:
		return storyLooks.With(e.Model)
	}
	return storyReplied.With(e.Model)
}

// Story implements bt.Narrated.
func (e ReplyDoubted) Story() bt.Why { return storyDoubt.With(e.Why) }

// Story implements bt.Narrated.
func (e FallbackDecided) Story() bt.Why {
	why := bt.Why{Text: e.Because, Coded: e.Coded}
	switch e.Verdict {
	case GoOn:
		return storyGoOn.With(why)
	case Retry:
		return storyRetry.With(why)
	case OtherStrategy:
		return storyOther.With(why)
	case ForceAnswer:
		return storyForce.With(why)
	case AskUser:
		return storyAskUser.With(why)
	}
	return bt.Why{}
}

// Story implements bt.Narrated.
func (e ToolsAdded) Story() bt.Why {
	if len(e.Added) == 0 {
		return bt.Why{}
	}
	return storyWidened.With(strings.Join(e.Added, ", "))
}

// Story implements bt.Narrated.
func (e CapabilityMissing) Story() bt.Why { return storyCapability.With(e.Capability) }

// Story implements bt.Narrated.
func (e AnswerAccepted) Story() bt.Why {
	if e.Earlier {
		return storyEarlier.With()
	}
	return storyAccepted.With()
}

// endingStory says how the run ended, and why the answer is not complete.
func (a *Answer) endingStory() (all []bt.Why) {
	switch a.StopReason {
	case StopSatisfied, StopPartial, StopStuck:
		all = []bt.Why{a.answerStory()}
	case StopBudget:
		all = []bt.Why{storyBudget.With()}
	case StopLoop:
		all = []bt.Why{storyLooped.With()}
	case StopNeedsUser:
		all = []bt.Why{storyNeedsUser.With()}
	default: // failures are told in the same way for every assistant
		return nil
	}
	if b := a.Budget; b != nil && a.Partial() {
		limit := map[string]bt.Reason{"turns": storyTurns, "tokens": storyTokens, "seconds": storySeconds}[b.Kind]
		all = append(all, limit.With(b.Limit))
	}
	return append(all, a.reasons()...)
}

func (a *Answer) answerStory() bt.Why {
	cited, _ := a.placesRead()
	switch {
	case a.Model == model.OfflineRules && cited != nil:
		return storyFound.With()
	case a.Model == model.OfflineRules && len(a.Tried) > 0:
		return storyNothing.With()
	case a.StopReason == StopPartial:
		return storyPartial.With()
	case a.StopReason == StopStuck:
		return storyStuck.With()
	}
	return storyAnswered.With()
}
