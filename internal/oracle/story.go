package oracle

import (
	"encoding/json"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/model"
	"sibyl/internal/run"
)

// How the story of a run begins and ends; its events tell what lies between.
const (
	storyAsking   bt.Reason = "story.asking: Asking {model}"
	storyGuided   bt.Reason = "story.asking.guided: Asking {model}, guided by {guides}"
	storyGuides   bt.Reason = "story.guides: It was guided by {guides}"
	storyKnown    bt.Reason = "story.known: What was known of {model}: it {about}"
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
	return []bt.Reason{guideLeftOut, tooManyGuides, storyAsking, storyGuided, storyGuides, storyKnown, storyAnswered,
		storyFound, storyNothing, storyPartial, storyBudget, storyTurns, storyTokens, storySeconds,
		storyStuck, storyLooped, storyNeedsUser}
}

// begunStory says which model is asked, and what guides it.
func begunStory(start *run.StartRecord) bt.Why {
	var env Env
	if json.Unmarshal(start.Env, &env) != nil || env.Model == "" {
		return bt.Why{}
	}
	if len(env.Guides) > 0 {
		return storyGuided.With(env.Model, strings.Join(env.Guides, ", "))
	}
	return storyAsking.With(env.Model)
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
	all = append(all, a.reasons()...)
	if len(a.Guides) > 0 {
		all = append(all, storyGuides.With(strings.Join(a.Guides, ", ")))
	}
	if a.About != "" {
		all = append(all, storyKnown.With(a.Model, a.About))
	}
	return all
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
