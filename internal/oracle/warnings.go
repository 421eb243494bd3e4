package oracle

import (
	"fmt"
	"strings"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/run"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// What an answer lacks, and what is shown to the person besides it.
const (
	nothingWritten bt.Reason = "lacks.written: Nothing was written."
	noneRead       bt.Reason = "lacks.citations: None of the answer's citations were read."
	cutAtLimit     bt.Reason = "lacks.length: The answer was cut off at the model's output limit."
	cutRepeating   bt.Reason = "lacks.repeated: The model repeated itself and was stopped."
	isMissing      bt.Reason = "lacks.missing: Missing: {what}"

	webOff   bt.Reason = "notice.web_off: The web is off, so it was not searched."
	noEngine bt.Reason = "notice.no_engine: No search engine is set up, so the " +
		"web was not searched: ‘sibyl doctor’ says how."
	noVault bt.Reason = "notice.no_vault: No folder of notes is set, " +
		"so none were searched: name one with --vault."
	noCode       bt.Reason = "notice.no_code: No folder of code is there, so none was searched: name one with --in."
	notSearched  bt.Reason = "notice.not_searched: The model could have searched {sources}, and no search there succeeded."
	noCapability bt.Reason = "notice.no_capability: The model requested a " +
		"capability that is not available here: {capability}"
	noClassifier bt.Reason = "notice.no_classifier: The classifier is not available, so rules decide: {reason}"
	notSure      bt.Reason = "notice.not_sure: The model is not sure of this " +
		"answer: it gives it a confidence of {confidence}."
	delegating     bt.Reason = "notice.delegating: The model recommends delegating: {scope} ({reason})"
	severalSignals bt.Reason = "notice.several_signals: Turn {turn} had several signals: only the first counts."
	modelsOwn      bt.Reason = "notice.own_words: Of the model's own, and in no place that was found: {words}."
	notCovered     bt.Reason = "notice.not_covered: Not looked at: {what}."
	also           bt.Reason = "uncovered.and: {one}; {more}"
	// they stand in exports, which name no folder
	sourceBarred  bt.Reason = "notice.source_barred: This session searched a folder ({source}) that is not available here."
	sourceChanged bt.Reason = "notice.source_changed: From here on this session searches another folder ({source})."
	sourceDropped bt.Reason = "notice.source_dropped: From here on this session searches no folder ({source})."

	partsLeft bt.Reason = "notice.parts_left: Of what was attached earlier, the parts with most words of the " +
		"question were read. Left out for want of room: {n}."
	approvalLapsed bt.Reason = "notice.approval_lapsed: What waited for your yes was not done, and waits no longer."
	topicChanged   bt.Reason = "notice.topic_changed: The topic has changed: all " +
		"earlier exchanges except the last were left out."

	modelDecides bt.Reason = "ground.model_decides: only the model decides when it is done"
	hasReceipt   bt.Reason = "ground.receipt: a change has a receipt"
	noneWritten  bt.Reason = "ground.not_written: nothing was written"
	needsNone    bt.Reason = "ground.needs_none: a {kind} question may need no source"
	placesRead   bt.Reason = "ground.read: places read: {n}"
	buildsOn     bt.Reason = "ground.builds_on: the conversation builds on earlier answers"
	resultsSeen  bt.Reason = "ground.results: a source other than the web was searched or listed"
	noWord       bt.Reason = "ground.no_word: it has no word that could be looked up"
	noTool       bt.Reason = "ground.no_tool: no tool can read one"
	noneReadYet  bt.Reason = "ground.not_read: nothing was read yet"

	notWhole    bt.Reason = "answer.not_whole: not the whole answer: {why}"
	blocked     bt.Reason = "answer.blocked: what blocked it: {what}"
	wouldHelp   bt.Reason = "answer.would_help: what would help: {what}"
	citedUnread bt.Reason = "answer.cited_unread: cited, but not read: {place}"
)

// What is wrong with a request.
const (
	wrongQuestion bt.Reason = "request.question: the Oracle can't take this question: it needs some words, at most " +
		"{most} bytes"
	wrongPictures bt.Reason = "request.pictures: {why}"
	otherNotes    bt.Reason = "request.notes: you approved a write to a different folder of notes"
	sourceGone    bt.Reason = "request.source_gone: this session searches {name} ({source}), a folder that " +
		"no longer exists"
)

// Why the tools of an MCP server are left out of a run, as in Surroundings.LeftOut.
const (
	ServerFailed bt.Reason = "server.failed: The tools of {server} are left out: {why}. ‘sibyl mcp servers’ says more."
	ServerStarts bt.Reason = "server.starts: The tools of {server} are left out: it has not started yet; ‘sibyl " +
		"mcp servers’ waits longer for it."
	ServerToolsLeft bt.Reason = "server.tools_left: Tools of {server} are left out: {tools}."
	ServerChanged   bt.Reason = "server.changed: its tools have changed since they were trusted"
	ServerLate      bt.Reason = "server.late: it does not answer in time"
	ServerSilent    bt.Reason = "server.silent: it does not answer"
	ServerUnusable  bt.Reason = "server.unusable: it can't be used"
)

func warningReasons() []bt.Reason {
	var left []bt.Reason
	for _, r := range tool.Reasons() {
		left = append(left, leftFor(r))
	}
	return append(left,
		nothingWritten, noneRead, cutAtLimit, cutRepeating, isMissing, webOff, noEngine, noVault, notSearched,
		noCode, noCapability, noClassifier, notSure, delegating, severalSignals, modelsOwn, topicChanged, ServerFailed,
		ServerStarts, ServerToolsLeft,
		ServerChanged, ServerLate, ServerSilent, ServerUnusable, modelDecides, hasReceipt, noneWritten,
		needsNone, placesRead, resultsSeen, noWord, buildsOn, noTool, noneReadYet, notWhole, blocked, wouldHelp,
		citedUnread, wrongQuestion,
		wrongPictures, otherNotes, sourceGone, sourceBarred, sourceChanged, sourceDropped, partsLeft, approvalLapsed,
		notCovered, also)
}

// leftFor is the sentence for what was not looked at for a reason.
func leftFor(r tool.Reason) bt.Reason {
	return bt.Reason(fmt.Sprintf("uncovered.%s: {n} × %s{which}", r, r.Words()))
}

// warnOfUncovered tells the person what was not looked at, of what was handed over and by the calls: whether an answer
// says that something is not there can't be told by rules, so it stands beside each.
func (a *Answer) warnOfUncovered(v *run.View, env Env) {
	all := tool.Result{Uncovered: uncoveredOf(env.Parts)}
	for _, c := range v.Receipts() {
		if r, ok := c.Value.(agent.CallReceipt); ok && r.Result != nil {
			all.Merge(r.Result.Uncovered)
		}
	}
	if len(all.Uncovered) == 0 {
		return
	}
	var what bt.Why
	for _, u := range all.Uncovered {
		one := leftFor(u.Reason).With(u.Count, signal.Neutralise(u.Named()))
		if what.Text == "" {
			what = one
		} else {
			what = also.With(what, one)
		}
	}
	why := notCovered.With(what)
	a.Notices = append(a.Notices, agent.Notice{Type: NoticeNotCovered, Severity: agent.Warning, Text: why.Text,
		Coded: why.Coded})
}

// reasons say why the answer is not complete, in the words of the rules and of the model.
func (a *Answer) reasons() (all []bt.Why) {
	if a.Caveat != "" {
		all = append(all, notWhole.With(bt.Why{Text: a.Caveat, Coded: a.CaveatCode}))
	}
	if a.Blocker != "" {
		all = append(all, blocked.With(a.Blocker))
	}
	if help := strings.Join(a.Suggestions, "; "); help != "" {
		all = append(all, wouldHelp.With(help))
	}
	return all
}

func (a *Answer) warnings() (all []bt.Why) {
	for _, u := range a.Unsupported {
		all = append(all, citedUnread.With(u))
	}
	for _, n := range a.Notices {
		if n.Severity != agent.Info {
			all = append(all, bt.Why{Text: n.Text, Coded: n.Coded})
		}
	}
	return all
}

func textsOf(whys []bt.Why) (all []string) {
	for _, why := range whys {
		all = append(all, why.Text)
	}
	return all
}
