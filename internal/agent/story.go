package agent

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"

	"sibyl/internal/bt"
)

// The sentences of a run's story about calls and budgets.
const (
	storyCode    bt.Reason = "story.searched.code: Searched the code for “{what}”: {n} found"
	storyNotes   bt.Reason = "story.searched.notes: Searched the notes for “{what}”: {n} found"
	storyThreads bt.Reason = "story.searched.threads: Searched the threads for “{what}”: {n} found"
	storyWeb     bt.Reason = "story.searched.web: Searched the web for “{what}”: {n} found"
	storySymbol  bt.Reason = "story.searched.symbol: Looked “{what}” up in the code: {n} found"
	storyHistory bt.Reason = "story.searched.history: Looked at the history of the code: {n} found"
	storyMap     bt.Reason = "story.searched.map: Looked at how the code is laid out"
	storyRead    bt.Reason = "story.read.file: Read {what}"
	storyOpened  bt.Reason = "story.read.page: Opened {what}"
	storyWrote   bt.Reason = "story.wrote: Wrote {what}"
	storyCalled  bt.Reason = "story.called: Used {call}"
	storyFailed  bt.Reason = "story.failed.call: {call} failed: {why}"
	storyHeld    bt.Reason = "story.held: Did not do this without you: {call}, because {why}"
	storyRefused bt.Reason = "story.refused: Was not allowed to use {tool}, because {why}"
	storyLast    bt.Reason = "story.limit.last: Nearly at a limit, so the next turn had to be the last"
	storyLoop    bt.Reason = "story.checked.loop: Noticed that the model repeats itself"
	storyAway    bt.Reason = "story.checked.away: Took {tool} away from the model"
	storyHint    bt.Reason = "story.checked.hint: Sent the model back with a hint"
	storyNoted   bt.Reason = "story.noted: Took notes on what had been read, to make room for more"
)

func stories() []bt.Reason {
	return []bt.Reason{storyCode, storyNotes, storyThreads, storyWeb, storySymbol, storyHistory, storyMap, storyRead,
		storyOpened, storyWrote, storyCalled, storyFailed, storyHeld, storyRefused, storyLast, storyLoop,
		storyAway, storyHint, storyNoted}
}

// Story implements bt.Narrated.
func (e CallDone) Story() bt.Why {
	what := subjectOf(e.Arguments)
	if e.Error != "" {
		return storyFailed.With(describeCall(e.Tool, e.Arguments), e.Error)
	}
	switch e.Tool {
	case "code_search":
		return storyCode.With(what, e.Items)
	case "vault_search":
		return storyNotes.With(what, e.Items)
	case "thread_seek":
		return storyThreads.With(what, e.Items)
	case "web_search":
		return storyWeb.With(what, e.Items)
	case "code_symbol":
		return storySymbol.With(what, e.Items)
	case "code_history":
		return storyHistory.With(e.Items)
	case "repo_map":
		return storyMap.With()
	case "code_read", "vault_read":
		return storyRead.With(what)
	case "web_fetch":
		return storyOpened.With(what)
	case "vault_write":
		return storyWrote.With(what)
	}
	return storyCalled.With(describeCall(e.Tool, e.Arguments))
}

// Story implements bt.Narrated.
func (e CallHeld) Story() bt.Why { return storyHeld.With(describeCall(e.Tool, e.Arguments), e.Why) }

// Story implements bt.Narrated.
func (e CallRefused) Story() bt.Why { return storyRefused.With(e.Tool, e.Why) }

// Story implements bt.Narrated.
func (e BudgetSeen) Story() bt.Why {
	if !e.Last {
		return bt.Why{}
	}
	return storyLast.With()
}

// Story implements bt.Narrated.
func (HintGiven) Story() bt.Why { return storyHint.With() }

// Story implements bt.Narrated.
func (e LoopFound) Story() bt.Why { return storyLoop.With() }

// Story implements bt.Narrated.
func (e ToolTakenAway) Story() bt.Why { return storyAway.With(e.Tool) }

// Story implements bt.Narrated.
func (e NotesTaken) Story() bt.Why { return storyNoted.With() }

func describeCall(tool, arguments string) string {
	return strings.TrimSpace(tool + " " + subjectOf(arguments))
}

// subjectArgument finds the argument that says what a call is about, in arguments that may be cut short.
var subjectArgument = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`"(?:query|path|note|url|address|symbol|title|name)"\s*:\s*"((?:[^"\\]|\\.)*)("?)`)
})

// subjectOf is what a call is about: the words of a search, a path or an address; "" if none is recognised.
func subjectOf(arguments string) string {
	found := subjectArgument().FindStringSubmatch(arguments)
	if found == nil {
		return ""
	}
	var what string
	if json.Unmarshal([]byte(`"`+found[1]+`"`), &what) != nil {
		what = found[1]
	}
	if found[2] == "" && !strings.HasSuffix(what, "…") {
		what += "…"
	}
	return what
}
