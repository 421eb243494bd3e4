package oracle

import (
	"cmp"
	"fmt"
	"slices"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/signal"
	"sibyl/internal/text"
	"sibyl/internal/tool"
)

// Cause is why the fallback is consulted (docs/requirements.md, FR-008, FR-019 to FR-021).
type Cause string

// The causes, the most serious first.
const (
	CauseStuck      Cause = "stuck"       // the signal says so
	CauseSameReason Cause = "same_reason" // the same need_turn again and again, which is treated as stuck
	CauseSilent     Cause = "silent"      // several turns without a signal
	CauseMalformed  Cause = "malformed"   // a signal that is not valid
	CauseUnsure     Cause = "unsure"      // a signal of low confidence
)

// Verdict is what the fallback decides.
type Verdict string

// The verdicts. None of them lifts a budget.
const (
	GoOn          Verdict = "go_on"          // the reply is accepted as it is
	Retry         Verdict = "retry"          // another turn, with a hint
	OtherStrategy Verdict = "other_strategy" // another source, or other words
	ForceAnswer   Verdict = "force_answer"   // the answer, now
	AskUser       Verdict = "ask_user"       // the reply is a question to the person
)

// Consult is one decision of the fallback.
type Consult struct {
	Turn     int     `json:"turn"`
	Cause    Cause   `json:"cause"`
	Verdict  Verdict `json:"verdict"`
	By       string  `json:"by"` // classifier or rules
	Score    float64 `json:"score,omitempty"`
	Because  string  `json:"because"`
	bt.Coded         // of Because

	Unfollowed Score `json:"unfollowed,omitzero"` // the classifier's verdict, where rules decided all the same
}

// Why the fallback decides as it does, and why it is consulted.
const (
	asksTools   bt.Reason = "reply.asks_tools: it calls tools"
	hasEnough   bt.Reason = "reply.has_enough: it has text, and there is enough context for an answer"
	endsAsking  bt.Reason = "reply.ends_asking: it ends with a question to the user"
	asAnyOther  bt.Reason = "reply.as_any_other: what is missing is requested as for any other reply"
	saysTheSame bt.Reason = "reply.says_the_same: it says the same, but the previous turn brought something new"
	moreThere   bt.Reason = "source.more: there is a source that was not offered"
	otherWords  bt.Reason = "source.other_words: something was found, so other search words may find more"
	notAll      bt.Reason = "source.not_all: something that is offered was not searched yet: {sources}"
	noneLeft    bt.Reason = "source.none_left: no other way is left; not searched: {sources}"
	allTried    bt.Reason = "source.all_tried: every source has been searched"
	isSupported bt.Reason = "reply.supported: what it rests on can stand"
	claimsNone  bt.Reason = "reply.claims_none: it claims no answer"
	unsupported bt.Reason = "reply.unsupported: nothing supports it yet"
	hintFailed  bt.Reason = "reply.hint_failed: a hint did not help"
	classified  bt.Reason = "reply.classified: the classifier says so ({score})"
	timesSame   bt.Reason = "signal.same: {times} times “{reason}”"
	turnsSilent bt.Reason = "signal.silent: {turns} turns without a signal"
	littleSure  bt.Reason = "signal.unsure: {signal} with a confidence of {confidence}"
)

// allReasons lists all reasons of the Oracle, those of its packages included.
func allReasons() []bt.Reason {
	return append(slices.Concat(agent.Reasons(), warningReasons(), eventReasons(), storyReasons()), denied, asksTools,
		hasEnough,
		endsAsking, asAnyOther, saysTheSame, moreThere, notAll, noneLeft, otherWords, allTried, isSupported, claimsNone,
		unsupported, hintFailed, classified, timesSame, turnsSilent, littleSure)
}

func causeOfDoubt() bt.Leaf {
	type in struct {
		Report      Report       `port:"report"`
		Reports     Reports      `port:"reports"`
		Ledger      agent.Ledger `port:"ledger"`
		UnsureBelow float64      `port:"unsure_below" default:"0.3" between:"0 1" doc:"a confidence below it is doubted (FR-020)"`
		SilentTurns int          `port:"silent_turns" default:"3" between:"1" doc:"so many turns in a row without a signal are doubted, once (FR-019)"`
		SameReasons int          `port:"same_reasons" default:"3" between:"2" doc:"so many equal reasons in a row count as stuck (FR-008)"`
	}
	type out struct {
		Cause  string     `port:"cause" doc:"stuck, same_reason, silent, malformed or unsure"`
		Events []bt.Typed `port:",events"`
	}
	return bt.Func("CauseOfDoubt", "Finds out why the reply can't be used as it is. FAILURE if it can.",
		func(i in, o *out) error {
			s, state := i.Report.Signal, i.Reports.Signals
			same, silent, turn := state.ConsecutiveSameReason, state.TurnsWithoutSignal, i.Ledger.Turn
			set := func(c Cause, why bt.Why) error {
				o.Cause = string(c)
				o.Events = []bt.Typed{ReplyDoubted{c, why}}
				return nil
			}
			switch {
			case s != nil && s.Type == signal.Stuck:
				return set(CauseStuck, bt.Because(text.Brief(s.Text("blocker"), 80)))
			case s != nil && s.Type == signal.NeedTurn && same >= i.SameReasons &&
				!(i.Reports.consulted(CauseSameReason, turn-same) && lastTurnWasNovel(&i.Ledger)):
				return set(CauseSameReason, timesSame.With(same, text.Brief(s.Text("reason"), 60)))
			case s == nil && silent >= i.SilentTurns && !i.Reports.consulted(CauseSilent, turn-silent):
				return set(CauseSilent, turnsSilent.With(silent))
			case i.Report.Malformed:
				return set(CauseMalformed, bt.Because(i.Report.Problem))
			case s != nil && s.Confidence < i.UnsureBelow:
				return set(CauseUnsure, littleSure.With(s.Type, s.Confidence))
			}
			o.Cause = ""
			return fmt.Errorf("nothing to doubt")
		})
}

// consulted says whether the fallback was consulted for a cause after a turn, so that each occasion is handled once.
func (r *Reports) consulted(c Cause, after int) bool {
	return slices.ContainsFunc(r.Consults, func(o Consult) bool { return o.Cause == c && o.Turn > after })
}

// Score is how well a label fits a text, as a classifier says.
type Score struct {
	Label string  `json:"label"`
	Score float64 `json:"score"`
}

// EffectClassify is the kind of effect that asks the classifier.
const EffectClassify = "fallback.classify"

// ClassifyPayload asks for the scores of a reply.
type ClassifyPayload struct {
	Turn  int64 `json:"turn"`
	Cause Cause `json:"cause"`
}

// ClassifyReceipt is what the classifier says, the best first.
type ClassifyReceipt struct {
	Scores []Score `json:"scores"`
}

func askClassifier() bt.Leaf {
	type in struct {
		Reply agent.Reply `port:"reply"`
		Cause string      `port:"cause"`
	}
	type out struct {
		Scores []Score      `port:"scores"`
		Ledger agent.Ledger `port:"ledger"`
		Events []bt.Typed   `port:",events"`
	}
	plan := func(i in) ([]bt.Request, error) {
		return []bt.Request{{Kind: EffectClassify, Label: "verdict on: " + i.Cause,
			Payload: ClassifyPayload{Turn: i.Reply.Ref, Cause: Cause(i.Cause)}}}, nil
	}
	collect := func(i in, done []bt.Completion, o *out) error {
		o.Scores = nil // drops those of an earlier reply
		if fault := done[0].Err; fault != nil {
			o.Ledger = o.Ledger.Clone()
			o.Ledger.NoticeOncePerType(NoticeClassifier, agent.Warning, agent.Pairs("reason", fault.Reason),
				noClassifier.With(fault.Reason))
			return nil //nolint:nilerr // rules decide then
		}
		r, err := bt.ResultOf[ClassifyReceipt](done[0])
		if err != nil {
			return fmt.Errorf("receipt of the classifier: %w", err)
		}
		if o.Scores = r.Scores; len(r.Scores) > 0 {
			o.Events = []bt.Typed{ClassifierAsked(r.Scores[0])}
		}
		return nil
	}
	return bt.Task("AskClassifier",
		"Asks the classifier (BERT) how to continue after a doubtful reply. Where it is not available, it gives no "+
			"scores, and rules decide.", plan, collect)
}

// doubtfulReply is what a verdict is based on.
type doubtfulReply struct {
	Reply    agent.Reply             `port:"reply"`
	Report   Report                  `port:"report"`
	Cause    string                  `port:"cause"`
	Class    classify.Classification `port:"class"`
	Tools    []agent.ToolFact        `port:"tools"`
	Offered  []string                `port:"offered"`
	Scores   []Score                 `port:"scores,optional"`
	MinScore float64                 `port:"min_score" default:"0.5" between:"0 1" doc:"a classifier's score below it is not followed"`
	Retries  int                     `port:"retries" default:"1" between:"0" doc:"so many retries for one cause in a run"`
	Forgive  int                     `port:"forgive" default:"3" between:"1" doc:"so many turns with something new in a row undo the strikes before them"`
	Later    []tool.Source           `port:"later,optional"`
	Past     int                     `port:"past_tokens,optional" doc:"tokens of the session's earlier exchanges"`
	Shifted  bool                    `port:"topic_shift"`
	Bare     bool                    `port:"bare_calls,optional" doc:"the model can't write a signal beside a call: it is not reminded"`
}

func decide() bt.Leaf {
	type out struct {
		Ledger  agent.Ledger `port:"ledger"`
		Reports Reports      `port:"reports"`
		Verdict string       `port:"verdict" doc:"go_on, retry, other_strategy, force_answer or ask_user"`
		Remind  bool         `port:"remind" doc:"the model is to be reminded of its signals, once in a run"`
		Stop    string       `port:"stop" doc:"the reason to stop with an answer that stands"`
		Forced  string       `port:"forced" doc:"the reason to stop with one that does not"`
		Events  []bt.Typed   `port:",events"`
	}
	return bt.Func("Decide",
		"The fallback: decides how to continue after a doubtful reply, by the classifier's scores if they are clear "+
			"enough, otherwise by rules (FR-022).",
		func(i doubtfulReply, o *out) error {
			o.Ledger, o.Reports = o.Ledger.Clone(), o.Reports.clone()
			h := runHistory{&o.Ledger, &o.Reports}
			c := i.decideByScores(h)
			if c.Verdict == "" {
				c.By = "rules"
				verdict, why := i.decideByRules(h)
				c.Verdict, c.Because, c.Coded = verdict, why.Text, why.Coded
				if len(i.Scores) > 0 {
					c.Unfollowed = i.Scores[0]
				}
				if why.Code == noneLeft.Code() {
					o.Ledger.Notice(NoticeNoSource, agent.Warning, nil, notSearched.With(why.Values["sources"]))
				}
			}
			c.Turn, c.Cause = o.Ledger.Turn, Cause(i.Cause)
			o.Reports.Rephrased = o.Reports.Rephrased || c.Verdict == OtherStrategy && !i.hasMoreSources(h)
			o.Reports.Consults = append(o.Reports.Consults, c)
			if c.Cause == CauseSameReason && c.Verdict != Retry && c.Verdict != GoOn {
				o.Ledger.EnterNudge(i.Forgive)
			}
			o.Ledger.Notice(NoticeFallback, agent.Info, agent.Pairs("cause", c.Cause, "verdict", c.Verdict, "by", c.By),
				bt.Because(fmt.Sprintf("The fallback was consulted (%s) and decided: %s, since %s.",
					c.Cause, c.Verdict, c.Because)))
			o.Verdict = string(c.Verdict)
			o.Stop, o.Forced = StopSatisfied, StopStuck
			switch c.Cause {
			case CauseSameReason:
				o.Stop, o.Forced = StopPartial, StopLoop
			case CauseStuck:
				o.Stop = StopPartial
			case CauseSilent:
				o.Remind = c.Verdict == GoOn && !o.Reports.Reminded && !i.Bare
				o.Reports.Reminded = o.Reports.Reminded || o.Remind
			}
			o.Events = []bt.Typed{FallbackDecided{c}}
			return nil
		})
}

func hintFor() bt.Leaf {
	type in struct {
		Cause      string `port:"cause"`
		SameReason string `port:"same_reason" doc:"what the model is told that gives one reason again and again"`
		Unsure     string `port:"unsure" doc:"one that is not sure"`
		Stuck      string `port:"stuck" doc:"one that is stuck"`
		Unsigned   string `port:"unsigned" doc:"one whose reply has no valid signal"`
	}
	type out struct {
		Transcript []agent.Entry `port:"transcript"`
		Events     []bt.Typed    `port:",events"`
	}
	return bt.Func("HintFor", "Tells the model what to do better, by the cause of the doubt.",
		func(i in, o *out) error {
			text := cmp.Or(map[Cause]string{CauseSameReason: i.SameReason, CauseUnsure: i.Unsure,
				CauseStuck: i.Stuck}[Cause(i.Cause)], i.Unsigned)
			return agent.AddHint(&o.Transcript, &o.Events, text)
		})
}

// runHistory is what a run has tried and reported so far.
type runHistory struct {
	*agent.Ledger
	*Reports
}

// decideByScores follows the classifier if it is sure enough and its verdict is allowed; otherwise the Verdict is
// empty.
func (d *doubtfulReply) decideByScores(l runHistory) Consult {
	if len(d.Scores) == 0 || d.Scores[0].Score < d.MinScore || !d.allows(Verdict(d.Scores[0].Label), l) {
		return Consult{}
	}
	s := d.Scores[0]
	why := classified.With(s.Score)
	return Consult{Verdict: Verdict(s.Label), By: "classifier", Score: s.Score, Because: why.Text, Coded: why.Coded}
}

// allows bounds the classifier's verdicts: a stuck run does not continue as it is, nothing is retried for ever, and
// only a reply with text can be a question.
func (d *doubtfulReply) allows(v Verdict, l runHistory) bool {
	isStuck := Cause(d.Cause) == CauseStuck || Cause(d.Cause) == CauseSameReason
	switch v {
	case GoOn:
		return !isStuck
	case Retry:
		return l.retriesFor(Cause(d.Cause)) < d.Retries
	case OtherStrategy:
		return d.hasMoreSources(l) || !l.Rephrased
	case ForceAnswer:
		return true
	case AskUser:
		return d.Reply.HasText
	}
	return false
}

func (l runHistory) retriesFor(c Cause) (n int) {
	for _, o := range l.Consults {
		if o.Cause == c && o.Verdict == Retry {
			n++
		}
	}
	return n
}

// decideByRules decides without a classifier.
func (d *doubtfulReply) decideByRules(l runHistory) (Verdict, bt.Why) {
	noCalls := len(d.Reply.Calls) == 0
	g := ground{Class: d.Class, Tools: d.Tools, Offered: d.Offered, Ledger: *l.Ledger, Past: d.Past, Shifted: d.Shifted,
		LookedUp: l.LookedUp, Text: l.Best.Words.Text}
	missing, _ := g.missing()
	enough := missing == ""
	asks := noCalls && d.Reply.Asks
	switch Cause(d.Cause) {
	case CauseStuck, CauseSameReason:
		return d.decideWhenStuck(l, enough, asks)
	case CauseUnsure:
		return d.decideWhenUnsure(l, noCalls, enough, asks)
	}
	switch { // silent or malformed
	case !noCalls:
		return GoOn, asksTools.With()
	case asks && g.mayAsk():
		return AskUser, endsAsking.With()
	case enough && d.Reply.HasText && !d.Report.Words.Announces:
		return ForceAnswer, hasEnough.With()
	}
	return GoOn, asAnyOther.With()
}

func (d *doubtfulReply) hasMoreSources(l runHistory) bool {
	return d.hasUnofferedSource(l) || len(l.withoutPointedAt(sourcesNotCalled(l.Offerable(d.Tools), *l.Ledger))) > 0
}

func (d *doubtfulReply) hasUnofferedSource(l runHistory) bool {
	return nextSource(allSources(d.Class, d.Later), l.Offerable(d.Tools), d.Offered) != nil
}

// lastTurnWasNovel says whether the turn before this reply brought something new.
func lastTurnWasNovel(l *agent.Ledger) bool {
	n := len(l.Turns)
	return n > 1 && l.Turns[n-2].Novel
}

func (d *doubtfulReply) decideWhenStuck(l runHistory, enough, asks bool) (Verdict, bt.Why) {
	all := agent.Total(l.Sources)
	left := sourcePhrase(sourcesNotSearched(l.Offerable(d.Tools), *l.Ledger))
	switch {
	case asks:
		return AskUser, endsAsking.With()
	case Cause(d.Cause) == CauseSameReason && lastTurnWasNovel(l.Ledger) && l.retriesFor(CauseSameReason) < d.Retries:
		return Retry, saysTheSame.With()
	case d.hasUnofferedSource(l):
		return OtherStrategy, moreThere.With()
	case d.hasMoreSources(l):
		return OtherStrategy, notAll.With(sourcePhrase(sourcesNotCalled(l.Offerable(d.Tools), *l.Ledger)))
	case enough && d.Reply.HasText:
		return ForceAnswer, hasEnough.With()
	case all.Hits+all.Opened > 0 && !l.Rephrased:
		return OtherStrategy, otherWords.With()
	case left != "":
		return ForceAnswer, noneLeft.With(left)
	}
	return ForceAnswer, allTried.With()
}

func (d *doubtfulReply) decideWhenUnsure(l runHistory, noCalls, enough, asks bool) (Verdict, bt.Why) {
	kind := signal.Type("")
	if d.Report.Signal != nil {
		kind = d.Report.Signal.Type
	}
	switch {
	case kind == signal.ContextSufficient && (enough && d.Reply.HasText || !noCalls):
		return GoOn, isSupported.With()
	case kind == signal.ContextSufficient:
		return GoOn, asAnyOther.With()
	case kind == signal.NeedTurn && !noCalls:
		return GoOn, asksTools.With()
	case kind != signal.NeedTurn:
		return GoOn, claimsNone.With()
	case asks:
		return AskUser, endsAsking.With()
	case l.retriesFor(CauseUnsure) < d.Retries:
		return Retry, unsupported.With()
	}
	return OtherStrategy, hintFailed.With()
}
