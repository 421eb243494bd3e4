package oracle

import (
	"fmt"
	"slices"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/signal"
	"sibyl/internal/tool"
)

// Reports is what is kept of the signals of a run, and what came of them.
type Reports struct {
	Signals   signal.State `json:"signals"`
	AskedFor  bool         `json:"asked_for,omitempty"` // what was missing was asked for
	Reminded  bool         `json:"reminded,omitempty"`  // the model was reminded of its signals
	Best      Best         `json:"best,omitzero"`       // the text that would be the answer
	Idle      int          `json:"idle,omitempty"`      // replies in a row that neither called a tool nor said anything new
	Gaps      []string     `json:"gaps,omitempty"`      // capabilities asked for that do not exist
	Consults  []Consult    `json:"consults,omitempty"`
	Rephrased bool         `json:"rephrased,omitempty"` // other words were asked for, as no other source was left

	PointedAt []tool.Source `json:"pointed_at,omitempty"` // offered sources that the model was told to search, as it had not
}

// clone lets a leaf add to the reports without touching what the blackboard holds.
func (r Reports) clone() Reports {
	r.Gaps, r.Consults, r.PointedAt = slices.Clip(r.Gaps), slices.Clip(r.Consults), slices.Clip(r.PointedAt)
	return r
}

func noteReply() bt.Leaf {
	type in struct {
		Reply  agent.Reply `port:"reply" doc:"what AskModel got"`
		Report Report      `port:"report" doc:"its signal"`
	}
	type out struct {
		Ledger     agent.Ledger  `port:"ledger" doc:"what was spent and tried"`
		Reports    Reports       `port:"reports" doc:"signals so far"`
		Transcript []agent.Entry `port:"transcript" doc:"record numbers of the turns so far"`
		Events     []bt.Typed    `port:",events"`
	}
	return bt.Func("NoteReply", "Enters a reply and its signal into the ledger and the transcript.", func(i in, o *out) error {
		o.Ledger, o.Reports = o.Ledger.Clone(), o.Reports.clone()
		fresh := o.Ledger.Fresh
		o.Ledger.Replied(i.Reply)
		o.Reports.said(i.Reply, i.Report, &o.Ledger)
		o.Transcript = append(o.Transcript[:len(o.Transcript):len(o.Transcript)], agent.Entry{Turn: i.Reply.Ref})
		o.Events = []bt.Typed{o.Reports.heard(i.Report, len(i.Reply.Calls), fresh, &o.Ledger)}
		return nil
	})
}

// heard enters a signal, and what is to be told of it; calls without one mean that the turn goes on. fresh says that a source came in
// since the last one.
func (r *Reports) heard(report Report, calls int, fresh bool, l *agent.Ledger) SignalHeard {
	told := SignalHeard{Ignored: report.Extra, Mentioned: report.Mentioned}
	switch s := report.Signal; {
	case s != nil:
		r.Signals = r.Signals.OnSignal(*s, fresh)
		told.Type, told.Confidence = s.Type, s.Confidence
		if s.Type == signal.DelegationRecommended {
			l.Notice(NoticeDelegation, agent.Warning, agent.Pairs("scope", s.Text("scope"), "reason", s.Text("reason")),
				"The model recommends delegating: %s (%s)", s.Text("scope"), s.Text("reason"))
		}
	case report.Malformed:
		r.Signals = r.Signals.OnSilentTurn()
		told.Malformed = report.Problem
		l.Notice(NoticeMalformed, agent.Info, agent.Pairs("reason", report.Problem), "A malformed signal was ignored: %s", report.Problem)
	default:
		r.Signals = r.Signals.OnSilentTurn()
		if calls > 0 {
			told.Type, told.Inferred = signal.NeedTurn, true
		}
	}
	if report.Extra > 0 {
		l.Notice(NoticeExtra, agent.Warning, agent.Pairs("count", report.Extra), "Turn %d had several signals: only the first counts.", l.Turn)
	}
	return told
}

func signalIs() bt.Leaf {
	type in struct {
		Report Report `port:"report"`
		Type   string `port:"type" oneof:"need_turn context_sufficient stuck need_capability partial_answer delegation_recommended" doc:"of signal"`
	}
	return bt.EmittingCheck("SignalIs", "Does the reply's signal have this type?", func(i in) (bool, string, bt.Typed) {
		if i.Report.Signal == nil {
			return false, "no signal", nil
		}
		if is := i.Report.Signal.Type; string(is) != i.Type {
			return false, string(is) + ", not " + i.Type, nil
		}
		return true, i.Type, SignalTaken{i.Report.Signal.Type}
	})
}

func hasSignal() bt.Leaf {
	type in struct {
		Report Report `port:"report"`
	}
	return bt.Check("HasSignal", "Does the reply have a signal that counts?", func(i in) (bool, string) {
		if i.Report.Signal == nil {
			return false, "no signal"
		}
		return true, string(i.Report.Signal.Type)
	})
}

func sameReason() bt.Leaf {
	type in struct {
		Ledger  agent.Ledger `port:"ledger"`
		Reports Reports      `port:"reports"`
		AtLeast int          `port:"at_least" default:"3" doc:"how often in all"`
	}
	return bt.Check("SameReason", "Has the model requested another turn for the same reason this many times in a row (FR-008) without bringing anything new?", func(i in) (bool, string) {
		n := i.Reports.Signals.ConsecutiveSameReason
		switch last := i.Ledger.LastRound(); {
		case n < i.AtLeast:
			return false, fmt.Sprintf("%d of %d", n, i.AtLeast)
		case last.Novel:
			return false, fmt.Sprintf("%d of %d, but the last turn brought something new", n, i.AtLeast)
		}
		return true, fmt.Sprintf("%d times: %s", n, agent.Brief(i.Reports.Signals.LastSignal.Text("reason"), 80))
	})
}

func firstTime() bt.Leaf {
	type none struct{}
	type out struct {
		Reports Reports `port:"reports"`
	}
	return bt.Func("FirstTime", "SUCCESS the first time in a run, then FAILURE: what is missing is requested once.", func(_ none, o *out) error {
		if o.Reports.AskedFor {
			return fmt.Errorf("it was requested before")
		}
		o.Reports = o.Reports.clone()
		o.Reports.AskedFor = true
		return nil
	})
}

func remind() bt.Leaf {
	type in struct {
		Bare bool `port:"bare_calls,optional" doc:"the model can't write a signal beside a call"`
	}
	type out struct {
		Reports Reports `port:"reports"`
	}
	return bt.Func("Remind", "SUCCESS the first time in a run, then FAILURE: a model is reminded of its signals once, and not next to calls if it can't write one there.",
		func(i in, o *out) error {
			if o.Reports.Reminded || i.Bare {
				return fmt.Errorf("it was already reminded, or can't do it")
			}
			o.Reports = o.Reports.clone()
			o.Reports.Reminded = true
			return nil
		})
}

// The Oracle's own types of notice.
const (
	NoticeFallback   = "fallback.consulted"     // payload: cause, verdict, by
	NoticeMalformed  = "signal.malformed"       // payload: reason
	NoticeExtra      = "signal.extra"           // payload: count
	NoticeMissing    = "signal.missing"         // the answer came without one
	NoticeUnread     = "signal.unread"          // no source was opened, and none could be
	NoticeUnsure     = "signal.unsure"          // payload: confidence; the model doubts its own answer
	NoticeGap        = "capability.gap"         // payload: capability
	NoticeDelegation = "delegation.recommended" // payload: scope, reason
	NoticeClassifier = "classifier.unavailable" // payload: reason
	NoticeNoSource   = "source.not_connected"   // payload: source; the one in which the answer would stand
	NoticeLeftOut    = "server.left_out"        // an MCP server whose tools could not be had
	NoticeShift      = "context.topic_shift"    // earlier exchanges but the last were left out
)
