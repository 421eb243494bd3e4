package oracle

import (
	"fmt"
	"slices"

	"sibyl/internal/agent"
	"sibyl/internal/bt"
	"sibyl/internal/signal"
)

// Heard is what a reply says of itself: the signal that counts, others beside it, and markup that is none.
type Heard struct {
	Signal    *signal.Signal   `json:"signal,omitempty"`
	Extra     []signal.Signal  `json:"extra,omitempty"`
	Problems  []signal.Problem `json:"problems,omitempty"`
	Malformed bool             `json:"malformed,omitempty"`
}

// Said is the signal as it was written.
func (h Heard) Said() string {
	if h.Signal == nil {
		return ""
	}
	return h.Signal.RawXML
}

// listener takes signals out of a reply.
type listener struct{ x signal.Extractor }

func listen() agent.Listener[Heard] { return &listener{} }

func (l *listener) Write(text string) string { return l.x.Write(text) }

func (l *listener) Close() (string, Heard) {
	rest, r := l.x.Close()
	return rest, Heard{Signal: r.Signal, Extra: r.Extra, Problems: r.Problems, Malformed: r.Malformed()}
}

// Report is what the tree knows of a reply's signal.
type Report struct {
	Signal    *signal.Signal `json:"signal,omitempty"`
	Malformed bool           `json:"malformed,omitempty"`
	Problem   string         `json:"problem,omitempty"` // why a signal is malformed
	Extra     int            `json:"extra,omitempty"`
}

func reportOf(h Heard) Report {
	r := Report{Signal: h.Signal, Malformed: h.Malformed, Extra: len(h.Extra)}
	if h.Malformed {
		r.Problem = h.Problems[0].Reason
	}
	return r
}

// Reports is what is kept of the signals of a run, and what came of them.
type Reports struct {
	Signals   signal.State `json:"signals"`
	AskedFor  bool         `json:"asked_for,omitempty"` // the signal was asked for
	Gaps      []string     `json:"gaps,omitempty"`      // capabilities asked for that do not exist
	Consults  []Consult    `json:"consults,omitempty"`
	Rephrased bool         `json:"rephrased,omitempty"` // other words were asked for, as no other source was left
}

// clone lets a leaf add to the reports without touching what the blackboard holds.
func (r Reports) clone() Reports {
	r.Gaps, r.Consults = slices.Clip(r.Gaps), slices.Clip(r.Consults)
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
		o.Transcript = append(o.Transcript[:len(o.Transcript):len(o.Transcript)], agent.Entry{Turn: i.Reply.Ref})
		o.Events = []bt.Typed{o.Reports.heard(i.Report, fresh, &o.Ledger)}
		return nil
	})
}

// heard enters a signal, and what is to be told of it. fresh says that a source came in since the last one.
func (r *Reports) heard(report Report, fresh bool, l *agent.Ledger) SignalHeard {
	told := SignalHeard{Ignored: report.Extra}
	switch s := report.Signal; {
	case s != nil:
		r.Signals = r.Signals.OnSignal(*s, fresh)
		told.Type, told.Confidence = s.Type, s.Confidence
		if s.Type == signal.DelegationRecommended {
			l.Notice(NoticeDelegation, agent.Warning, agent.Pairs("scope", s.Text("scope"), "reason", s.Text("reason")),
				"The model recommends to delegate: %s (%s)", s.Text("scope"), s.Text("reason"))
		}
	case report.Malformed:
		r.Signals = r.Signals.OnSilentTurn()
		told.Malformed = report.Problem
		l.Notice(NoticeMalformed, agent.Info, agent.Pairs("reason", report.Problem), "A signal was not well-formed and counts as none: %s", report.Problem)
	default:
		r.Signals = r.Signals.OnSilentTurn()
	}
	if report.Extra > 0 {
		l.Notice(NoticeExtra, agent.Info, agent.Pairs("count", report.Extra), "Turn %d had several signals: only the first counts.", l.Turn)
	}
	return told
}

func signalIs() bt.Leaf {
	type in struct {
		Report Report `port:"report"`
		Type   string `port:"type" doc:"need_turn, context_sufficient, stuck, need_capability, partial_answer or delegation_recommended"`
	}
	return bt.EmittingCheck("SignalIs", "Is the reply's signal of this type?", func(i in) (bool, string, bt.Typed) {
		if i.Report.Signal == nil {
			return false, "no signal", nil
		}
		if is := i.Report.Signal.Type; string(is) != i.Type {
			return false, string(is) + ", not " + i.Type, nil
		}
		return true, i.Type, SignalTaken{i.Report.Signal.Type}
	})
}

func sameReason() bt.Leaf {
	type in struct {
		Ledger  agent.Ledger `port:"ledger"`
		Reports Reports      `port:"reports"`
		AtLeast int          `port:"at_least" default:"3" doc:"how often in all"`
	}
	return bt.Check("SameReason", "Did the model want another turn for the same reason that often in a row (FR-008), and bring nothing new with it?", func(i in) (bool, string) {
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
	return bt.Func("FirstTime", "SUCCESS the first time in a run, then FAILURE: the signal is asked for once.", func(_ none, o *out) error {
		if o.Reports.AskedFor {
			return fmt.Errorf("it was asked for before")
		}
		o.Reports = o.Reports.clone()
		o.Reports.AskedFor = true
		return nil
	})
}

// The Oracle's own types of notice.
const (
	NoticeFallback   = "fallback.consulted"     // payload: cause, verdict, by
	NoticeMalformed  = "signal.malformed"       // payload: reason
	NoticeExtra      = "signal.extra"           // payload: count
	NoticeMissing    = "signal.missing"         // the answer came without one
	NoticeUnread     = "signal.unread"          // it claims sources, and none was opened
	NoticeGap        = "capability.gap"         // payload: capability
	NoticeDelegation = "delegation.recommended" // payload: scope, reason
	NoticeClassifier = "classifier.unavailable" // payload: reason
	NoticeShift      = "context.topic_shift"    // earlier exchanges but the last were left out
)
