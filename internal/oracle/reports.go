package oracle

import (
	"fmt"
	"slices"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/oracle/classify"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// Reports are the signals of a run, and what followed from them.
type Reports struct {
	Signals  signal.State `json:"signals"`
	AskedFor bool         `json:"asked_for,omitempty"` // the model was told once what is missing
	Reminded bool         `json:"reminded,omitempty"`  // the model was reminded of its signals
	LookedUp bool         `json:"looked_up,omitempty"` // the tree has looked up what the model did not
	Handed   bool         `json:"handed,omitempty"`    // and the model has replied to it
	ByTree   int          `json:"by_tree,omitempty"`   // places read by then
	Best     Best         `json:"best,omitzero"`       // the text that would be the answer
	// replies in a row that neither called a tool nor said anything new
	Idle      int       `json:"idle,omitempty"`
	Gaps      []string  `json:"gaps,omitempty"` // capabilities asked for that do not exist
	Consults  []Consult `json:"consults,omitempty"`
	Rephrased bool      `json:"rephrased,omitempty"` // the model was told to search other words, as no other source was left

	// offered sources that the model had not searched and was told to
	PointedAt []tool.Source `json:"pointed_at,omitempty"`
}

// clone lets a leaf add to the reports without changing those on the blackboard.
func (r Reports) clone() Reports {
	r.Gaps, r.Consults, r.PointedAt = slices.Clip(r.Gaps), slices.Clip(r.Consults), slices.Clip(r.PointedAt)
	return r
}

func noteReply() bt.Leaf {
	type in struct {
		Reply   agent.Reply             `port:"reply" doc:"what AskModel got"`
		Report  Report                  `port:"report" doc:"its signal"`
		Class   classify.Classification `port:"class,optional"`
		Tools   []agent.ToolFact        `port:"tools,optional"`
		Offered []string                `port:"offered,optional"`
		Past    int                     `port:"past_tokens,optional" doc:"tokens of the session's earlier exchanges"`
		Shifted bool                    `port:"topic_shift,optional"`
	}
	type out struct {
		Calls      bool          `port:"calls" doc:"it calls tools"`
		Answered   bool          `port:"answered" doc:"there is a text that could be the answer, in this reply or an earlier one; beside a wish to delegate in this one"`
		Enough     bool          `port:"enough" doc:"what it rests on can stand: a wanted change has a receipt; an answer that is likely to be about the code or the notes has a result of a tool, or they were looked up for it (FR-018)"`
		Missing    string        `port:"missing" doc:"what the model is told of what is not enough; empty if no offered tool could give it"`
		Ungrounded bool          `port:"ungrounded" doc:"it is likely about the code or the notes, and nothing was looked up"`
		Announces  bool          `port:"announces" doc:"it only announces a step that the model could take"`
		Asks       bool          `port:"asks" doc:"it is a question to the person; a long reply, and one after something was read or written, is an answer that ends with one"`
		Repeats    bool          `port:"repeats" doc:"it calls no tool, and only repeats or refers back to earlier replies"`
		Ends       string        `port:"ends" doc:"the reason to stop that the signal gives; empty if it gives none"`
		Shown      []string      `port:"shown" doc:"names of the tools that it was offered: no other call is made"`
		SameReason int           `port:"same_reason" doc:"how often in a row the same reason was given"`
		Ledger     agent.Ledger  `port:"ledger" doc:"what was spent and tried"`
		Reports    Reports       `port:"reports" doc:"signals so far"`
		Transcript []agent.Entry `port:"transcript" doc:"record numbers of the turns so far"`
		Events     []bt.Typed    `port:",events"`
	}
	return bt.Func("NoteReply",
		"Enters a reply and its signal into the ledger and the transcript, and weighs it: what it is, and whether an "+
			"answer can stand.", func(i in, o *out) error {
			o.Ledger, o.Reports = o.Ledger.Clone(), o.Reports.clone()
			fresh := o.Ledger.Fresh
			o.Ledger.EnterReply(i.Reply)
			o.Reports.updateBest(i.Reply, i.Report, &o.Ledger)
			o.Transcript = append(o.Transcript[:len(o.Transcript):len(o.Transcript)], agent.Entry{Turn: i.Reply.Ref})
			heard := o.Reports.noteSignal(i.Report, len(i.Reply.Calls), fresh, &o.Ledger)
			g := ground{Class: i.Class, Tools: i.Tools, Offered: i.Offered, Ledger: o.Ledger, Past: i.Past,
				Shifted: i.Shifted, LookedUp: o.Reports.LookedUp, Text: o.Reports.Best.Words.Text}
			what, why := g.missing()
			o.Calls, o.Answered = len(i.Reply.Calls) > 0, o.Reports.Best.Ref != 0
			o.Announces, o.Repeats = i.Report.Words.Announces && len(i.Offered) > 0, o.Reports.Idle > 0
			isPromise := o.Announces && !o.Calls && o.Reports.Best.Ref == i.Reply.Ref
			o.Enough, o.Missing, o.Ungrounded = what == "" && !isPromise, g.hintFor(what), what == missingSource
			if s := i.Report.Signal; s != nil && s.Type == signal.DelegationRecommended {
				o.Answered = i.Reply.HasText
			}
			o.Asks = g.mayAsk() && i.Reply.Asks && i.Report.Words.mayBeAsked(what == missingWrite)
			o.Shown = i.Offered
			o.Ends, o.SameReason = i.Report.stopReason(), o.Reports.Signals.ConsecutiveSameReason
			o.Events = []bt.Typed{heard, ReplyWeighed{o.Enough, why}}
			return nil
		})
}

// noteSignal enters the signal of a reply, and returns the event about it. Calls without a signal count as need_turn.
// fresh says that a source was read since the last signal.
func (r *Reports) noteSignal(report Report, calls int, fresh bool, l *agent.Ledger) SignalHeard {
	event := SignalHeard{Ignored: report.Extra, Mentioned: report.Mentioned}
	switch s := report.Signal; {
	case s != nil:
		r.Signals = r.Signals.OnSignal(*s, fresh)
		event.Type, event.Confidence = s.Type, s.Confidence
		if s.Type == signal.DelegationRecommended && s.Text("scope") != "" {
			l.Notice(NoticeDelegation, agent.Warning, agent.Pairs("scope", s.Text("scope"), "reason", s.Text("reason")),
				delegating.With(s.Text("scope"), s.Text("reason")))
		}
	case report.Malformed:
		r.Signals = r.Signals.OnSilentTurn()
		event.Malformed = report.Problem
		l.Notice(NoticeMalformed, agent.Info, agent.Pairs("reason", report.Problem),
			bt.Because("A malformed signal was ignored: "+report.Problem))
	default:
		r.Signals = r.Signals.OnSilentTurn()
		if calls > 0 {
			event.Type, event.Inferred = signal.NeedTurn, true
		}
	}
	if report.Extra > 0 {
		l.Notice(NoticeExtra, agent.Warning, agent.Pairs("count", report.Extra), severalSignals.With(l.Turn))
	}
	return event
}

func signalIs() bt.Leaf {
	type in struct {
		Report Report `port:"report"`
		Type   string `port:"type" oneof:"need_turn context_sufficient stuck need_capability partial_answer delegation_recommended" doc:"of signal"`
		Or     string `port:"or,optional" oneof:"need_turn context_sufficient stuck need_capability partial_answer delegation_recommended" doc:"another type"`
	}
	return bt.EmittingCheck("SignalIs", "Does the reply's signal have this type?", func(i in) (bool, string, bt.Typed) {
		if i.Report.Signal == nil {
			return false, "no signal", nil
		}
		got := string(i.Report.Signal.Type)
		if got != i.Type && got != i.Or {
			return false, got, nil
		}
		return true, "", SignalTaken{i.Report.Signal.Type}
	})
}

func hintOnce() bt.Leaf {
	type in struct {
		Text string `port:"text" doc:"what the model is told; nothing is, if it is empty"`
	}
	type out struct {
		Reports    Reports       `port:"reports"`
		Transcript []agent.Entry `port:"transcript"`
		Events     []bt.Typed    `port:",events"`
	}
	return bt.Func("HintOnce",
		"Tells the model what is missing. FAILURE after the first time in a run, whatever was missing then: what "+
			"then comes stands as it is.", func(i in, o *out) error {
			switch {
			case i.Text == "":
				return fmt.Errorf("nothing is missing that a tool could give")
			case o.Reports.AskedFor:
				return fmt.Errorf("it was told before")
			}
			o.Reports = o.Reports.clone()
			o.Reports.AskedFor = true
			return agent.AddHint(&o.Transcript, &o.Events, i.Text)
		})
}

// The Oracle's own types of notice.
const (
	NoticeFallback   = "fallback.consulted"     // payload: cause, verdict, by
	NoticeMalformed  = "signal.malformed"       // payload: reason
	NoticeExtra      = "signal.extra"           // payload: count
	NoticeMissing    = "signal.missing"         // the answer came without one
	NoticeUnsure     = "signal.unsure"          // payload: confidence; the model doubts its own answer
	NoticeGap        = "capability.gap"         // payload: capability
	NoticeDelegation = "delegation.recommended" // payload: scope, reason
	NoticeClassifier = "classifier.unavailable" // payload: reason
	NoticeNoSource   = "source.not_connected"   // payload: source; where the answer would be
	NoticeNotCovered = "search.not_covered"     // what was handed over or to be searched, and not looked at
	NoticeOwn        = "answer.own_words"       // an answer from a look-up has words of the model's own
	NoticeLeftOut    = "server.left_out"        // an MCP server whose tools were not available
	NoticeSetup      = "session.setup"          // what the session is set up with has changed, or is left out
	NoticeShift      = "context.topic_shift"    // all earlier exchanges except the last were left out
)
