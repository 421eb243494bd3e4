package inquiry

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"sibyl/internal/eval"
)

// The bounds: what a detective records and reports has to be right, and most of what there is has to be found.
const (
	LeastRecordedRight = 0.9  // of the contradictions recorded, those that are some
	LeastGapsRight     = 0.85 // of the gaps reported, those that are some
	LeastGapsFound     = 0.7  // of the gaps there are, those reported
	LeastBelieved      = 0.85 // of the flawless witnesses, those with whom the detective is satisfied in the end
)

// Report is how a detective did on a set.
type Report struct {
	All        Figures            `json:"all"`
	ByLanguage map[string]Figures `json:"by_language"`
	Open       Figures            `json:"open"`
	Frozen     Figures            `json:"frozen"`
	Limit      int                `json:"limit"`  // questions to a witness
	Broken     []string           `json:"broken"` // bounds that do not hold, in words; empty: all hold
	// Failures are cases in which something is wrong. Those of frozen cases are left out unless only these were played: whoever looks for what
	// to mend must not see them.
	Failures []Failure `json:"failures"`
	Hidden   int       `json:"hidden_failures"`

	WithFailures bool `json:"-"` // WriteText writes a line for each
}

// Figures are of some of the cases.
type Figures struct {
	Interviews InterviewFigures `json:"interviews"`
	Witnesses  WitnessFigures   `json:"witnesses"`
}

// InterviewFigures are of finished interviews.
type InterviewFigures struct {
	Cases         int             `json:"cases"`
	RecordedRight eval.Share      `json:"recorded_right"` // precision: of the contradictions recorded, those that are some
	Recorded      eval.Share      `json:"recorded"`       // recall: of the contradictions there are, those recorded
	Abstained     eval.Share      `json:"abstained"`      // of the contradictions there are, those only suspected
	SuspectRight  eval.Share      `json:"suspect_right"`  // of the suspicions, those that are contradictions
	GapsRight     eval.Share      `json:"gaps_right"`     // precision: of the gaps reported, those that are some
	GapsFound     eval.Share      `json:"gaps_found"`     // recall
	AspectsNamed  eval.Share      `json:"aspects_named"`  // of the gaps found that are of an aspect, those reported with it
	SeverityRight eval.Share      `json:"severity_right"` // of the gaps found, those with the severity of the label
	Clean         eval.Share      `json:"clean"`          // of the flawless ones, those in which nothing was found
	Satisfied     eval.Share      `json:"satisfied"`      // of the flawless ones, those the detective is satisfied with
	Hasty         int             `json:"hasty"`          // others it is satisfied with, though something of weight is open
	ByKind        map[string]Kind `json:"by_kind"`        // contradictions
	ByCategory    map[string]Kind `json:"by_category"`    // gaps
	ByTrap        map[string]Kind `json:"by_trap"`        // traps: recorded is wrong
}

// Kind is how many of one kind there are, and what became of them.
type Kind struct {
	Of        int `json:"of"`
	Recorded  int `json:"recorded"`  // or found, of gaps
	Suspected int `json:"suspected"` // and not recorded
	Wrong     int `json:"wrong"`     // gaps reported that no label has
}

// WitnessFigures are of interrogations.
type WitnessFigures struct {
	RecordedRight eval.Share      `json:"recorded_right"` // precision: of the contradictions recorded, those that the witness left standing
	Recorded      eval.Share      `json:"recorded"`       // recall: of those that the witness would leave standing
	Reached       eval.Share      `json:"reached"`        // of the same, those whose two sides were told
	Abstained     eval.Share      `json:"abstained"`      // of the same, those only suspected at the end
	Put           int             `json:"put"`            // questions that named both sides of a clash or of a trap
	Believed      eval.Share      `json:"believed"`       // of the flawless witnesses, those closed as satisfied
	Cleared       eval.Share      `json:"cleared"`        // of the answers that a second question makes better, those asked for again
	LeftRight     eval.Share      `json:"left_right"`     // of the gaps left open, those that the witness left open
	Questions     float64         `json:"questions"`      // to each witness, mean
	Repeated      int             `json:"repeated"`       // questions asked a second time, word for word
	ByKind        map[string]Kind `json:"by_kind"`
	ByTrap        map[string]Kind `json:"by_trap"`
}

// Failure is a case in which something is wrong.
type Failure struct {
	Case     string   `json:"case"`
	Frozen   bool     `json:"frozen"`
	Witness  bool     `json:"witness"` // with the witness, else in the interview
	Problems []string `json:"problems"`
}

// String is a failure in one line.
func (f Failure) String() string {
	of := "interview"
	if f.Witness {
		of = "witness"
	}
	return strings.Join(strings.Fields(fmt.Sprintf("%s, %s: %s", f.Case, of, strings.Join(f.Problems, "; "))), " ")
}

// half is one part of the set: what is counted of its interviews and of its witnesses.
type half struct {
	interviews, witnesses *tally
	session
}

func newHalf() *half { return &half{interviews: newTally(), witnesses: newTally()} }

func (h *half) add(c Case, p played) (interview, witness []string) {
	i, w := trial{c: c, t: h.interviews}, trial{c: c, t: h.witnesses}
	i.analysed(p.found)
	w.interrogated(p.outcome, p.witness, &h.session)
	return i.problems, w.problems
}

func (h *half) figures() Figures {
	i, w, s := h.interviews, h.witnesses, h.session
	f := Figures{
		Interviews: InterviewFigures{Cases: i.cases, RecordedRight: eval.ShareOf(i.recorded, i.recorded+i.wrong), Recorded: eval.ShareOf(i.recorded, i.clashes),
			Abstained: eval.ShareOf(i.suspected, i.clashes), SuspectRight: eval.ShareOf(i.suspicions-i.idle, i.suspicions),
			GapsRight: eval.ShareOf(i.gapsFound, i.gapsFound+i.gapsWrong), GapsFound: eval.ShareOf(i.gapsFound, i.gaps),
			AspectsNamed: eval.ShareOf(i.aspectsRight, i.aspects), SeverityRight: eval.ShareOf(i.severitiesRight, i.gapsFound),
			Clean: eval.ShareOf(i.clean, i.flawless), Satisfied: eval.ShareOf(i.calm, i.flawless), Hasty: i.hasty,
			ByKind: kinds(i.byKind), ByCategory: kinds(i.byCategory), ByTrap: kinds(i.traps)},
		Witnesses: WitnessFigures{RecordedRight: eval.ShareOf(w.recorded, w.recorded+w.wrong), Recorded: eval.ShareOf(w.recorded, w.clashes),
			Reached: eval.ShareOf(s.reached, w.clashes), Abstained: eval.ShareOf(w.suspected, w.clashes), Put: s.put,
			Believed: eval.ShareOf(w.calm, w.flawless), Cleared: eval.ShareOf(s.cleared, s.vague), LeftRight: eval.ShareOf(s.leftRight, s.left),
			Repeated: s.repeated, ByKind: kinds(w.byKind), ByTrap: kinds(w.traps)},
	}
	if w.cases > 0 {
		f.Witnesses.Questions = float64(s.questions) / float64(w.cases)
	}
	return f
}

func kinds(of map[string]hit) map[string]Kind {
	all := map[string]Kind{}
	for kind, h := range of {
		all[kind] = Kind{Of: h.of, Recorded: h.recorded, Suspected: h.suspected, Wrong: h.wrong}
	}
	return all
}

func report(set Set, cases []Case, all []played) Report {
	whole, open, frozen := newHalf(), newHalf(), newHalf()
	languages := map[string]*half{}
	r := Report{ByLanguage: map[string]Figures{}, Limit: set.Limit, Broken: []string{}, Failures: []Failure{}}
	for i, c := range cases {
		if languages[c.Lang] == nil {
			languages[c.Lang] = newHalf()
		}
		part := open
		if c.Frozen {
			part = frozen
		}
		languages[c.Lang].add(c, all[i])
		part.add(c, all[i])
		interview, witness := whole.add(c, all[i])
		r.fail(Failure{c.ID, c.Frozen, false, interview}, set.FrozenOnly)
		r.fail(Failure{c.ID, c.Frozen, true, witness}, set.FrozenOnly)
	}
	r.All, r.Open, r.Frozen = whole.figures(), open.figures(), frozen.figures()
	for lang, h := range languages {
		r.ByLanguage[lang] = h.figures()
	}
	r.judge()
	return r
}

func (r *Report) fail(f Failure, frozenOnly bool) {
	switch {
	case len(f.Problems) == 0:
	case f.Frozen && !frozenOnly:
		r.Hidden++
	default:
		r.Failures = append(r.Failures, f)
	}
}

// judge says which bounds do not hold. A detective that records or reports nothing at all keeps none.
func (r *Report) judge() {
	i, w := r.All.Interviews, r.All.Witnesses
	if i.Cases == 0 {
		r.Broken = append(r.Broken, "no case was played")
		return
	}
	for _, bound := range []struct {
		share eval.Share
		least float64
		what  string
		void  bool // holds if there is nothing to count
	}{
		{i.RecordedRight, LeastRecordedRight, "contradictions recorded in interviews that are some", true},
		{w.RecordedRight, LeastRecordedRight, "contradictions recorded with witnesses that stand", false},
		{i.GapsRight, LeastGapsRight, "gaps reported that are some", false},
		{i.GapsFound, LeastGapsFound, "gaps found", true},
		{w.Believed, LeastBelieved, "flawless witnesses closed as satisfied", true},
	} {
		if bound.share.Part < bound.least && !(bound.void && bound.share.Of == 0) {
			r.Broken = append(r.Broken, fmt.Sprintf("%s: %v, and at least %.0f %% must be", bound.what, bound.share, 100*bound.least))
		}
	}
}

// sorted are the names of kinds in the order in which labels list them, others after them.
func sorted(of map[string]Kind, order []string) []string {
	names := slices.Sorted(maps.Keys(of))
	slices.SortStableFunc(names, func(a, b string) int { return place(order, a) - place(order, b) })
	return names
}

func place(order []string, name string) int {
	if at := slices.Index(order, name); at >= 0 {
		return at
	}
	return len(order)
}
