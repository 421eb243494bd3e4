package agent

import (
	"fmt"
	"slices"
	"strings"

	"sibyl/internal/bt"
	"sibyl/internal/redact"
	"sibyl/internal/tool"
)

// Ledger is what the control layer keeps of a run.
type Ledger struct {
	Turn    int           `json:"turn"` // replies so far
	Sources []SourceCalls `json:"sources,omitempty"`
	Opened  []string      `json:"opened,omitempty"` // places read, as they are cited
	Fresh   bool          `json:"fresh,omitempty"`  // the last round of calls opened something not read before
	Errors  int           `json:"errors,omitempty"`
	Labels  Labels        `json:"labels,omitempty"`  // of all that the model has seen
	Notices []Notice      `json:"notices,omitempty"` // shown to the user beside the answer
	Writes  Writes        `json:"writes,omitzero"`   // what became of the changes that were asked for

	Addresses []string `json:"addresses,omitempty"` // that a search engine returned, as Address names them

	Turns    []TurnFact `json:"rounds,omitempty"` // the latest
	Known    []string   `json:"known,omitempty"`  // digests of what tools have brought
	Strikes  int        `json:"strikes,omitempty"`
	StruckAt int        `json:"struck_at,omitempty"`
	Taken    []string   `json:"taken,omitempty"` // tools that were taken away for good

	Tokens    int      `json:"tokens,omitempty"`    // spent so far
	Warned    []string `json:"warned,omitempty"`    // kinds of budget that the user was warned about
	Exhausted *Spent   `json:"exhausted,omitempty"` // the budget that made a turn the last one
	History   int      `json:"history,omitempty"`   // tokens of the conversation, estimated
	Prompt    int      `json:"prompt,omitempty"`    // tokens of the system prompt
	NotedAt   int      `json:"noted_at,omitempty"`  // the turn before which notes were taken
	Sent      int      `json:"sent,omitempty"`      // tokens of the last request, estimated
	Counted   int      `json:"counted,omitempty"`   // the same as the provider counted them
}

// SourceCalls counts the calls to the tools of one source, and what their results have shown: an answer can rest on
// nothing else.
type SourceCalls struct {
	Source tool.Source `json:"source"`
	Calls  int         `json:"calls"`
	Hits   int         `json:"hits"`             // places of which a search showed an excerpt
	Empty  int         `json:"empty"`            // searches that were completed and found nothing
	Partly int         `json:"partly,omitempty"` // of these, the ones that did not look at everything
	Listed int         `json:"listed,omitempty"` // lists, maps and histories
	Opened int         `json:"opened"`           // places that were read
	Errors int         `json:"errors"`
}

// Total adds up the counts of sources.
func Total(all []SourceCalls) (t SourceCalls) {
	for _, o := range all {
		t.Calls, t.Hits, t.Empty, t.Partly = t.Calls+o.Calls, t.Hits+o.Hits, t.Empty+o.Empty, t.Partly+o.Partly
		t.Listed, t.Opened, t.Errors = t.Listed+o.Listed, t.Opened+o.Opened, t.Errors+o.Errors
	}
	return t
}

// Shows says whether a result has shown anything, be it that nothing was found.
func (t SourceCalls) Shows() bool { return t.Hits+t.Empty+t.Listed+t.Opened > 0 }

func (l *Ledger) countsOf(s tool.Source) *SourceCalls {
	for i := range l.Sources {
		if l.Sources[i].Source == s {
			return &l.Sources[i]
		}
	}
	l.Sources = append(l.Sources, SourceCalls{Source: s})
	return &l.Sources[len(l.Sources)-1]
}

// HasWritten says whether a write was done, according to its receipt.
func (l *Ledger) HasWritten() bool {
	return slices.ContainsFunc(l.Turns, func(r TurnFact) bool { return r.Wrote })
}

// Offerable are the tools that may still be offered.
func (l *Ledger) Offerable(tools []ToolFact) []ToolFact {
	return slices.DeleteFunc(slices.Clone(tools), func(t ToolFact) bool { return slices.Contains(l.Taken, t.Name) })
}

// Clone is a copy to which a leaf may append. Its slices share their elements, which must not be changed.
func (l Ledger) Clone() Ledger {
	l.Sources, l.Turns, l.Opened, l.Taken = slices.Clip(l.Sources), slices.Clip(l.Turns), slices.Clip(l.Opened),
		slices.Clip(l.Taken)
	l.Addresses = slices.Clip(l.Addresses)
	l.Notices, l.Known, l.Warned = slices.Clip(l.Notices), slices.Clip(l.Known), slices.Clip(l.Warned)
	return l
}

// cloneCounts is Clone for a leaf that counts calls: sources and rounds are copied, so they may be changed.
func (l Ledger) cloneCounts() Ledger {
	l = l.Clone()
	l.Sources, l.Turns = slices.Clone(l.Sources), slices.Clone(l.Turns)
	return l
}

// EnterReply enters a reply: its costs, the round that it opens, and a model that answered in another's place.
func (l *Ledger) EnterReply(r Reply) {
	l.openTurn()
	l.Tokens += r.Tokens
	l.History, l.Prompt = r.History, r.Prompt
	l.noticeTruncated(r)
	if r.Cut {
		l.NoticeOncePerType(NoticeTooLong, Warning, nil, resultsCut.With())
	}
	if r.Instead != "" {
		l.Notice(NoticeOtherModel, Warning, Pairs("answered", r.Model, "reason", r.Instead),
			otherModel.With(r.Model, r.Instead))
	}
	if names := strings.Join(r.Refused, ", "); names != "" {
		l.NoticeOncePerType(NoticeToolRefused, Warning, Pairs("tools", names), toolRefused.With(names))
	}
	l.Fresh = false // until tools open something anew
}

// leastCounted is a part of the estimated tokens of a request. A provider that counts fewer has left out the rest.
const leastCounted = 0.5

// windowStep is a number of tokens that divides the windows of models.
const windowStep = 256

// noticeTruncated tells the user that the server read only a part of a request: it counts far fewer tokens than were
// sent, or the same multiple of windowStep as before although more was sent.
func (l *Ledger) noticeTruncated(r Reply) {
	short := float64(r.Counted) < leastCounted*float64(r.Sent)
	same := r.Counted == l.Counted && r.Counted%windowStep == 0 && r.Counted < r.Sent && r.Sent > l.Sent
	if r.Counted > 0 && !r.Cut && (short || same) {
		l.NoticeOncePerType(NoticeTruncated, Warning, Pairs("sent", r.Sent, "counted", r.Counted),
			readInPart.With(r.Counted, r.Sent))
	}
	l.Sent, l.Counted = r.Sent, r.Counted
}

// NoticeUnsure tells the user of a write that may have taken effect.
func (l *Ledger) NoticeUnsure(name string, f *bt.Fault) {
	l.Notice(NoticeUnsureWrite, Warning, Pairs("tool", name, "reason", f.Reason), unsureWrite.With(name, f.Reason))
}

// enterRefused enters a call that is not performed, and returns its event.
func (l *Ledger) enterRefused(t ToolFact, c CallFact, why bt.Why) CallRefused {
	l.Errors++
	l.enterMade(MadeCall{Tool: c.Name, Key: c.Key, Error: Digest(c.Name, why.Text)})
	if t.Once {
		l.Writes.countCall(t, c.Brief, l.Turn, WriteRefused, why.Text)
	}
	return CallRefused{Tool: c.Name, Arguments: c.Brief, Why: forPerson(why)}
}

// enterCall counts a call that was performed: at its source, in the last round, among the writes if it is one, with
// what it opened. It returns the event. c.Err is an effect that was lost, so a write may have been done; r.Error is a
// tool that refused, so it was not. Held calls go to enterRefused instead.
func (l *Ledger) enterCall(t ToolFact, call CallFact, c bt.Completion) (done CallDone, err error) {
	tried := l.countsOf(t.Source)
	tried.Calls++
	m := MadeCall{Tool: t.Name, Key: call.Key}
	defer func() { l.enterMade(m) }()
	l.Labels = l.Labels.Join(labelsOf(t.Source, t.Foreign)) // the text of an error has them as well
	done = CallDone{Tool: t.Name, Arguments: call.Brief, TookMS: c.Took}
	if c.Err != nil {
		tried.Errors++
		l.Errors++
		done.Error = c.Err.Reason
		m.Error = Digest(t.Name, c.Err.Kind, maskAll(c.Err.Reason))
		if t.Once {
			l.NoticeUnsure(t.Name, c.Err)
			l.Writes.countCall(t, call.Brief, l.Turn, WriteUnsure, c.Err.Reason)
		}
		return done, nil
	}
	r, err := bt.ResultOf[CallReceipt](c)
	if err != nil {
		return done, fmt.Errorf("receipt of %s: %w", t.Name, err)
	}
	if r.Result == nil {
		tried.Errors++
		l.Errors++
		if r.Error != nil {
			done.Error = r.Error.Message
			m.Error = Digest(t.Name, string(r.Error.Kind), maskAll(r.Error.Message))
		}
		if t.Once {
			l.Writes.countCall(t, r.Arguments, l.Turn, WriteFailed, done.Error)
		}
		return done, nil
	}
	done.Items, done.Bytes = r.Result.Items, len(r.Result.Text)
	l.History += Tokens(r.Result.Text)
	m.Novel = l.learnResult(t, r.Result)
	if t.Once {
		l.Turns[len(l.Turns)-1].Wrote, m.Novel = true, true
		l.Writes.countCall(t, r.Arguments, l.Turn, WriteDone, "")
		if strings.Contains(r.Arguments, redact.Mark) {
			target := changeOf(t, r.Arguments, l.Turn).target
			l.Notice(NoticeRedacted, Warning, Pairs("target", target), redacted.With(target, redact.Mark))
		}
	}
	opened := slices.ContainsFunc(r.Result.Refs, func(ref tool.Ref) bool { return ref.Opened })
	switch {
	case t.Search && r.Result.Items == 0:
		tried.Empty++
		if len(r.Result.Uncovered) > 0 {
			tried.Partly++
		}
	case t.Search:
		tried.Hits += r.Result.Items
	case !t.Once && !opened:
		tried.Listed++
	}
	for _, ref := range r.Result.Refs {
		if t.Out.To == tool.ToEngine {
			l.LearnAddresses(Address(ref.URL))
		}
		if ref.Opened {
			tried.Opened++
			if cite := ref.String(); !slices.Contains(l.Opened, cite) {
				l.Opened = append(l.Opened, cite)
			}
		}
	}
	return done, nil
}
