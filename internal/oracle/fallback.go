package oracle

import (
	"fmt"
	"slices"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/signal"
)

// Cause is why the fallback is consulted (FR-008, FR-019 to FR-021).
type Cause string

// The causes, the graver first.
const (
	CauseStuck      Cause = "stuck"       // the signal says so
	CauseSameReason Cause = "same_reason" // the same need_turn again and again, which is treated as stuck
	CauseSilent     Cause = "silent"      // several turns without a signal
	CauseMalformed  Cause = "malformed"   // a signal that is none
	CauseUnsure     Cause = "unsure"      // a signal of low confidence
)

// Verdict is what the fallback decides.
type Verdict string

// The verdicts. None of them lifts a budget.
const (
	GoOn          Verdict = "go_on"          // the reply is taken as it is
	Retry         Verdict = "retry"          // another turn, with a hint
	OtherStrategy Verdict = "other_strategy" // another source, or other words
	ForceAnswer   Verdict = "force_answer"   // the answer, now
	AskUser       Verdict = "ask_user"       // the reply is a question to the person
)

// Consult is one decision of the fallback.
type Consult struct {
	Turn    int     `json:"turn"`
	Cause   Cause   `json:"cause"`
	Verdict Verdict `json:"verdict"`
	By      string  `json:"by"` // classifier or rules
	Score   float64 `json:"score,omitempty"`
	Because string  `json:"because"`
}

// Why the fallback decides as it does, and why it is consulted.
const (
	asksTools   bt.Reason = "it calls tools"
	hasEnough   bt.Reason = "it has text, and there is enough context for an answer"
	endsAsking  bt.Reason = "it ends with a question to the user"
	asAnyOther  bt.Reason = "what is missing is requested as for any other reply"
	saysTheSame bt.Reason = "it says the same, but the previous turn brought something new"
	wasTold     bt.Reason = "it was told, and the previous turn brought something new"
	moreThere   bt.Reason = "there is a source that was not offered"
	otherWords  bt.Reason = "something was found, so other search words may find more"
	allTried    bt.Reason = "every source has been tried"
	isSupported bt.Reason = "a source was read, or none is needed"
	claimsNone  bt.Reason = "it claims no answer"
	unsupported bt.Reason = "nothing supports it yet"
	hintFailed  bt.Reason = "a hint did not help"
	classified  bt.Reason = "the classifier says so (%.2f)"
	timesSame   bt.Reason = "%d times “%s”"
	turnsSilent bt.Reason = "%d turns without a signal"
	littleSure  bt.Reason = "%s with a confidence of %.2f"
)

// whys are all of them, and those of what the Oracle is made of.
func whys() []bt.Reason {
	return append(agent.Reasons(), denied, asksTools, hasEnough, endsAsking, asAnyOther, saysTheSame, wasTold, moreThere, otherWords, allTried, isSupported, claimsNone, unsupported, hintFailed, classified, timesSame, turnsSilent, littleSure)
}

func causeOfDoubt() bt.Leaf {
	type in struct {
		Report      Report  `port:"report"`
		Reports     Reports `port:"reports"`
		UnsureBelow float64 `port:"unsure_below" default:"0.3" between:"0 1" doc:"a confidence below it is doubted (FR-020)"`
		SilentTurns int     `port:"silent_turns" default:"3" between:"1" doc:"so many turns without a signal are doubted, once in a run (FR-019)"`
		SameReasons int     `port:"same_reasons" default:"3" between:"2" doc:"so many equal reasons in a row count as stuck (FR-008)"`
	}
	type out struct {
		Cause  string     `port:"cause" doc:"stuck, same_reason, silent, malformed or unsure"`
		Events []bt.Typed `port:",events"`
	}
	return bt.Func("CauseOfDoubt", "Finds out why the reply can't be used as it is. FAILURE if it can.", func(i in, o *out) error {
		s, state := i.Report.Signal, i.Reports.Signals
		set := func(c Cause, why string) error {
			o.Cause = string(c)
			o.Events = []bt.Typed{ReplyDoubted{c, why}}
			return nil
		}
		switch {
		case s != nil && s.Type == signal.Stuck:
			return set(CauseStuck, agent.Brief(s.Text("blocker"), 80))
		case s != nil && s.Type == signal.NeedTurn && state.ConsecutiveSameReason >= i.SameReasons:
			return set(CauseSameReason, timesSame.With(state.ConsecutiveSameReason, agent.Brief(s.Text("reason"), 60)))
		case s == nil && state.TurnsWithoutSignal >= i.SilentTurns && !i.Reports.consulted(CauseSilent):
			return set(CauseSilent, turnsSilent.With(state.TurnsWithoutSignal))
		case i.Report.Malformed:
			return set(CauseMalformed, i.Report.Problem)
		case s != nil && s.Confidence < i.UnsureBelow:
			return set(CauseUnsure, littleSure.With(s.Type, s.Confidence))
		}
		o.Cause = ""
		return fmt.Errorf("nothing to doubt")
	})
}

// consulted says whether the fallback was consulted for a cause.
func (r *Reports) consulted(c Cause) bool {
	return slices.ContainsFunc(r.Consults, func(o Consult) bool { return o.Cause == c })
}

// Score is how well a label fits a text, as a classifier says.
type Score struct {
	Label string  `json:"label"`
	Score float64 `json:"score"`
}

// Scores are a classifier's, for the reply of one turn.
type Scores struct {
	Turn int64   `json:"turn"` // the record of the reply
	Best []Score `json:"best"` // the best first
}

// EffectClassify is the kind of effect that asks the classifier.
const EffectClassify = "fallback.classify"

// ClassifyPayload asks for the scores of a reply.
type ClassifyPayload struct {
	Turn  int64 `json:"turn"`
	Cause Cause `json:"cause"`
}

// ClassifyReceipt is what the classifier says.
type ClassifyReceipt struct {
	Scores []Score `json:"scores"`
}

func askClassifier() bt.Leaf {
	type in struct {
		Reply agent.Reply `port:"reply"`
		Cause string      `port:"cause"`
	}
	type out struct {
		Scores Scores       `port:"scores"`
		Ledger agent.Ledger `port:"ledger"`
		Events []bt.Typed   `port:",events"`
	}
	plan := func(i in) ([]bt.Request, error) {
		return []bt.Request{{Kind: EffectClassify, Label: "verdict on: " + i.Cause, Payload: ClassifyPayload{Turn: i.Reply.Ref, Cause: Cause(i.Cause)}}}, nil
	}
	collect := func(i in, done []bt.Completion, o *out) error {
		if err := done[0].Err; err != nil {
			o.Ledger = o.Ledger.Clone()
			o.Ledger.NoticeOnce(NoticeClassifier, agent.Warning, agent.Pairs("reason", err.Reason), "The classifier is not available, so rules decide: %s", err.Reason)
			return err
		}
		r, err := bt.ResultOf[ClassifyReceipt](done[0])
		if err != nil {
			return fmt.Errorf("receipt of the classifier: %w", err)
		}
		o.Scores = Scores{Turn: i.Reply.Ref, Best: r.Scores}
		if len(r.Scores) > 0 {
			o.Events = []bt.Typed{ClassifierAsked(r.Scores[0])}
		}
		return nil
	}
	return bt.Task("AskClassifier", "Asks the classifier (BERT) how to continue after a doubtful reply. FAILURE if it is not available.", plan, collect)
}

// doubt is what a verdict rests on.
type doubt struct {
	Reply    agent.Reply             `port:"reply"`
	Report   Report                  `port:"report"`
	Cause    string                  `port:"cause"`
	Class    classify.Classification `port:"class"`
	Tools    []agent.ToolFact        `port:"tools"`
	Offered  []string                `port:"offered"`
	Scores   Scores                  `port:"scores,optional"`
	MinScore float64                 `port:"min_score" default:"0.5" between:"0 1" doc:"a classifier's score below it is not followed"`
	Retries  int                     `port:"retries" default:"1" between:"0" doc:"so many retries for one cause in a row"`
	Forgive  int                     `port:"forgive" default:"3" between:"1" doc:"so many turns with something new in a row undo the strikes before them"`
	Past     int                     `port:"past_tokens,optional" doc:"tokens of the session's earlier exchanges"`
	Shifted  bool                    `port:"topic_shift"`
}

func decide() bt.Leaf {
	type out struct {
		Ledger  agent.Ledger `port:"ledger"`
		Reports Reports      `port:"reports"`
		Verdict string       `port:"verdict" doc:"go_on, retry, other_strategy, force_answer or ask_user"`
		Events  []bt.Typed   `port:",events"`
	}
	return bt.Func("Decide", "The fallback: decides how to continue after a doubtful reply, by the classifier's scores if they are clear enough, otherwise by rules (FR-022).",
		func(i doubt, o *out) error {
			o.Ledger, o.Reports = o.Ledger.Clone(), o.Reports.clone()
			h := history{&o.Ledger, &o.Reports}
			c := i.byScores(h)
			if c.Verdict == "" {
				verdict, because := i.byRules(h)
				c = Consult{Verdict: verdict, By: "rules", Because: because.With()}
			}
			c.Turn, c.Cause = o.Ledger.Turn, Cause(i.Cause)
			o.Reports.Rephrased = o.Reports.Rephrased || c.Verdict == OtherStrategy && !i.moreSources(h)
			o.Reports.Consults = append(o.Reports.Consults, c)
			if c.Cause == CauseSameReason && c.Verdict != Retry && c.Verdict != GoOn {
				o.Ledger.Nudged(i.Forgive)
			}
			o.Ledger.Notice(NoticeFallback, agent.Info, agent.Pairs("cause", c.Cause, "verdict", c.Verdict, "by", c.By),
				"The fallback was consulted (%s) and decided: %s, since %s.", c.Cause, c.Verdict, c.Because)
			o.Verdict = string(c.Verdict)
			o.Events = []bt.Typed{FallbackDecided{c}}
			return nil
		})
}

// history is what a run has tried and reported so far.
type history struct {
	*agent.Ledger
	*Reports
}

// byScores follows the classifier where it is sure enough and within what the cause allows; else the Verdict is empty.
func (d *doubt) byScores(l history) Consult {
	if d.Scores.Turn != d.Reply.Ref || len(d.Scores.Best) == 0 {
		return Consult{}
	}
	s := d.Scores.Best[0]
	if s.Score < d.MinScore || !d.allowed(Verdict(s.Label), l) {
		return Consult{}
	}
	return Consult{Verdict: Verdict(s.Label), By: "classifier", Score: s.Score, Because: classified.With(s.Score)}
}

// allowed bounds what a classifier may say: what is stuck does not go on as it is, nothing is retried for ever, and only words
// can be an answer or a question.
func (d *doubt) allowed(v Verdict, l history) bool {
	isStuck := Cause(d.Cause) == CauseStuck || Cause(d.Cause) == CauseSameReason
	switch v {
	case GoOn:
		return !isStuck
	case Retry:
		return l.retried(Cause(d.Cause)) < d.Retries
	case OtherStrategy:
		return d.moreSources(l) || !l.Rephrased
	case ForceAnswer:
		return true
	case AskUser:
		return d.Reply.HasText
	}
	return false
}

// retried counts the last verdicts in a row that were retries for this cause.
func (l history) retried(c Cause) (n int) {
	for i := len(l.Consults) - 1; i >= 0 && l.Consults[i].Cause == c && l.Consults[i].Verdict == Retry; i-- {
		n++
	}
	return n
}

// byRules decides without a classifier.
func (d *doubt) byRules(l history) (Verdict, bt.Reason) {
	quiet := len(d.Reply.Calls) == 0
	g := ground{Class: d.Class, Tools: d.Tools, Offered: d.Offered, Ledger: *l.Ledger, Past: d.Past, Shifted: d.Shifted}
	missing, _ := g.missing()
	enough := missing == ""
	asks := quiet && d.Reply.Asks
	switch Cause(d.Cause) {
	case CauseStuck, CauseSameReason:
		return d.whenStuck(l, enough, asks)
	case CauseUnsure:
		return d.whenUnsure(l, quiet, enough, asks)
	}
	switch { // silent or malformed
	case !quiet:
		return GoOn, asksTools
	case enough && d.Reply.HasText && !d.Report.Words.Announces:
		return ForceAnswer, hasEnough
	case asks:
		return AskUser, endsAsking
	}
	return GoOn, asAnyOther
}

func (d *doubt) moreSources(l history) bool {
	_, more := nextSource(d.Class, l.Left(d.Tools), d.Offered)
	return more
}

// productive says whether the turn before this reply brought something new.
func (l history) productive() bool {
	n := len(l.Rounds)
	return n > 1 && l.Rounds[n-2].Novel
}

func (d *doubt) whenStuck(l history, enough, asks bool) (Verdict, bt.Reason) {
	hits := slices.ContainsFunc(l.Sources, func(t agent.Tried) bool { return t.Hits > 0 || t.Opened > 0 })
	switch {
	case asks:
		return AskUser, endsAsking
	case Cause(d.Cause) == CauseSameReason && l.productive() && l.retried(CauseSameReason) < d.Retries:
		return Retry, saysTheSame
	case Cause(d.Cause) == CauseSameReason && l.productive():
		return GoOn, wasTold
	case d.moreSources(l):
		return OtherStrategy, moreThere
	case enough && d.Reply.HasText:
		return ForceAnswer, hasEnough
	case hits && !l.Rephrased:
		return OtherStrategy, otherWords
	}
	return ForceAnswer, allTried
}

func (d *doubt) whenUnsure(l history, quiet, enough, asks bool) (Verdict, bt.Reason) {
	kind := signal.Type("")
	if d.Report.Signal != nil {
		kind = d.Report.Signal.Type
	}
	switch {
	case kind == signal.ContextSufficient && (enough && d.Reply.HasText || !quiet):
		return GoOn, isSupported
	case kind == signal.ContextSufficient:
		return GoOn, asAnyOther
	case kind == signal.NeedTurn && !quiet:
		return GoOn, asksTools
	case kind != signal.NeedTurn:
		return GoOn, claimsNone
	case asks:
		return AskUser, endsAsking
	case l.retried(CauseUnsure) < d.Retries:
		return Retry, unsupported
	}
	return OtherStrategy, hintFailed
}
