package inquiry

import (
	"fmt"
	"io"
	"text/tabwriter"

	"sibyl/internal/eval"
)

// WriteText writes the report for people, precision first.
func (r Report) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	r.writeInterviews(tw)
	r.writeWitnesses(tw)
	r.writeKinds(tw)
	if r.WithFailures {
		eval.WriteFailures(tw, r.Failures, r.Hidden, "cases")
	}
	eval.WriteBounds(tw, r.Broken)
	return tw.Flush()
}

// rows calls write for each part of the set that has cases.
func (r Report) rows(write func(name string, f Figures)) {
	each := func(name string, f Figures) {
		if f.Interviews.Cases > 0 {
			write(name, f)
		}
	}
	each("all", r.All)
	for _, lang := range Languages() {
		each(lang, r.ByLanguage[lang])
	}
	each("open", r.Open)
	each("frozen", r.Frozen)
}

func short(s eval.Share) string {
	if s.Of == 0 {
		return "–"
	}
	return fmt.Sprintf("%d of %d, %.1f %%", s.Hits, s.Of, 100*s.Part)
}

func (r Report) writeInterviews(w io.Writer) {
	fmt.Fprint(w, "interviews\tcases\trecorded and right\tof all contradictions\tonly suspected\tsuspected and right\tflawless: nothing found\tsatisfied\thasty\n")
	r.rows(func(name string, f Figures) {
		i := f.Interviews
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%d\n", name, i.Cases, short(i.RecordedRight), short(i.Recorded), short(i.Abstained), short(i.SuspectRight),
			short(i.Clean), short(i.Satisfied), i.Hasty)
	})
	fmt.Fprint(w, "\ngaps\treported and right\tof all gaps\taspect named\tseverity right\n")
	r.rows(func(name string, f Figures) {
		i := f.Interviews
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", name, short(i.GapsRight), short(i.GapsFound), short(i.AspectsNamed), short(i.SeverityRight))
	})
}

func (r Report) writeWitnesses(w io.Writer) {
	fmt.Fprintf(w, "\nwitnesses, at most %d questions\trecorded and standing\tof those that stand\tboth sides heard\tonly suspected\tflawless: satisfied\tasked again where it helps\tleft open and right\tquestions\trepeated\n", r.Limit)
	r.rows(func(name string, f Figures) {
		i := f.Witnesses
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%.1f\t%d\n", name, short(i.RecordedRight), short(i.Recorded), short(i.Reached), short(i.Abstained), short(i.Believed),
			short(i.Cleared), short(i.LeftRight), i.Questions, i.Repeated)
	})
}

func (r Report) writeKinds(w io.Writer) {
	i, s := r.All.Interviews, r.All.Witnesses
	fmt.Fprint(w, "\ncontradictions by kind\tinterviews\trecorded\tsuspected\twitnesses\trecorded\tsuspected\n")
	for _, kind := range sorted(i.ByKind, ClashKinds()) {
		a, b := i.ByKind[kind], s.ByKind[kind]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", kind, a.Of, a.Recorded, a.Suspected, b.Of, b.Recorded, b.Suspected)
	}
	fmt.Fprint(w, "\ntraps by kind\tinterviews\tfell for\tsuspected\twitnesses\tfell for\tsuspected\n")
	for _, kind := range sorted(i.ByTrap, TrapKinds()) {
		a, b := i.ByTrap[kind], s.ByTrap[kind]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", kind, a.Of, a.Recorded, a.Suspected, b.Of, b.Recorded, b.Suspected)
	}
	fmt.Fprint(w, "\ngaps by category\tthere are\tfound\twrongly reported\n")
	for _, category := range sorted(i.ByCategory, Categories()) {
		a := i.ByCategory[category]
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", category, a.Of, a.Recorded, a.Wrong)
	}
}
