package eval

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"sibyl/internal/signal"
)

// OracleGolden is what the offline model's figures are held to: no times and no tokens, which change with the machine and with every
// word of a prompt. Of the test half it keeps sums only, so that a change of it tells that something moved but not what.
type OracleGolden struct {
	Dev          []GoldenScore      `json:"dev"`
	DevTotals    GoldenTotals       `json:"dev_totals"`
	TestTotals   GoldenTotals       `json:"test_totals"`
	DevBaseline  GoldenTotals       `json:"dev_baseline"` // the same questions asked of the baseline tree; zero if they were not
	TestBaseline GoldenTotals       `json:"test_baseline"`
	Transcripts  []GoldenTranscript `json:"transcripts"`
}

// GoldenScore is the part of an OracleScore that is the same on every machine.
type GoldenScore struct {
	ID            string      `json:"id"`
	Got           string      `json:"got"`
	StopReason    string      `json:"stop_reason"`
	Turns         int         `json:"turns"`
	Calls         int         `json:"calls"`
	Unnecessary   int         `json:"unnecessary"`
	Signal        signal.Type `json:"signal"`
	SignalFits    bool        `json:"signal_fits"`
	WithinBudget  bool        `json:"within_budget"`
	Found         bool        `json:"found"`
	Whole         bool        `json:"whole"`
	Cited         int         `json:"cited"`
	CitedLabelled int         `json:"cited_labelled"`
	Honest        bool        `json:"honest"`
}

// GoldenTotals counts hits of the questions of a half.
type GoldenTotals struct {
	Questions    int `json:"questions"`
	Class        int `json:"class_right"`
	SignalFits   int `json:"signal_fits"`
	RepliesFit   int `json:"replies_fit"`
	WithinBudget int `json:"within_budget"`
	Found        int `json:"found"`
	Whole        int `json:"whole"`
	Honest       int `json:"honest"`
	Calls        int `json:"calls"`
	Unnecessary  int `json:"unnecessary"`
}

// GoldenTranscript is the part of a TranscriptScore that is the same on every machine.
type GoldenTranscript struct {
	ID         string `json:"id"`
	StopReason string `json:"stop_reason"`
	Turns      int    `json:"turns"`
	Met        bool   `json:"met"`
}

// Golden takes the lasting figures out of a report on both halves.
func (r OracleReport) Golden() OracleGolden {
	dev, test := halves(r.Ours.Scores)
	g := OracleGolden{DevTotals: goldenTotals(dev), TestTotals: goldenTotals(test)}
	if r.Baseline != nil {
		baseDev, baseTest := halves(r.Baseline.Scores)
		g.DevBaseline, g.TestBaseline = goldenTotals(baseDev), goldenTotals(baseTest)
	}
	for _, s := range dev {
		g.Dev = append(g.Dev, GoldenScore{s.ID, string(s.Got), s.StopReason, s.Turns, s.Calls, s.Unnecessary, s.Signal, s.SignalFits,
			s.WithinBudget, s.Found, s.Whole, s.Cited, s.CitedLabelled, s.Honest})
	}
	if r.Transcripts != nil {
		for _, s := range r.Transcripts.Scores {
			g.Transcripts = append(g.Transcripts, GoldenTranscript{s.ID, s.StopReason, s.Turns, s.Met})
		}
	}
	return g
}

func halves(scores []OracleScore) (dev, test []OracleScore) {
	for _, s := range scores {
		if s.Half == Dev {
			dev = append(dev, s)
		} else {
			test = append(test, s)
		}
	}
	return dev, test
}

func goldenTotals(scores []OracleScore) GoldenTotals {
	t := sumOf(scores)
	return GoldenTotals{t.Questions, t.Class.Hits, t.SignalFits.Hits, t.RepliesFit.Hits, t.WithinBudget.Hits, t.Found.Hits, t.Whole.Hits, t.Honest.Hits, t.Calls, t.Unnecessary}
}

// ReadOracleGolden reads what Write wrote.
func ReadOracleGolden(r io.Reader) (OracleGolden, error) {
	var g OracleGolden
	dec := json.NewDecoder(r)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&g); err != nil {
		return g, fmt.Errorf("golden figures: %w", err)
	}
	return g, nil
}

// Write writes the figures, one line each, so that a difference of two versions reads well.
func (g OracleGolden) Write(w io.Writer) error {
	type line struct {
		key   string
		value any
	}
	lines := []line{{"dev_totals", g.DevTotals}, {"test_totals", g.TestTotals}, {"dev_baseline", g.DevBaseline}, {"test_baseline", g.TestBaseline}}
	out := "{\n"
	for _, l := range lines {
		text, err := json.Marshal(l.value)
		if err != nil {
			return err
		}
		out += fmt.Sprintf("  %q: %s,\n", l.key, text)
	}
	dev, err := goldenLines(g.Dev)
	if err != nil {
		return err
	}
	transcripts, err := goldenLines(g.Transcripts)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s  \"dev\": [\n%s  ],\n  \"transcripts\": [\n%s  ]\n}\n", out, dev, transcripts)
	return err
}

func goldenLines[T any](all []T) (string, error) {
	out := ""
	for i, one := range all {
		text, err := json.Marshal(one)
		if err != nil {
			return "", err
		}
		comma := ","
		if i == len(all)-1 {
			comma = ""
		}
		out += "    " + string(text) + comma + "\n"
	}
	return out, nil
}

// Changes says in one line each which figures differ from those of before, and how.
func (g OracleGolden) Changes(before OracleGolden) []string {
	var all []string
	differ := func(name string, was, is any) {
		if was != is {
			all = append(all, fmt.Sprintf("%s\n   was %+v\n    is %+v", name, was, is))
		}
	}
	differ("sums of the development half", before.DevTotals, g.DevTotals)
	differ("sums of the test half", before.TestTotals, g.TestTotals)
	differ("sums of the development half, by the baseline", before.DevBaseline, g.DevBaseline)
	differ("sums of the test half, by the baseline", before.TestBaseline, g.TestBaseline)
	all = append(all, rowChanges("question", before.Dev, g.Dev, func(s GoldenScore) string { return s.ID })...)
	return append(all, rowChanges("transcript", before.Transcripts, g.Transcripts, func(s GoldenTranscript) string { return s.ID })...)
}

func rowChanges[T comparable](kind string, before, after []T, id func(T) string) []string {
	var all []string
	for _, is := range after {
		at := slices.IndexFunc(before, func(was T) bool { return id(was) == id(is) })
		switch {
		case at < 0:
			all = append(all, fmt.Sprintf("%s %s is new: %+v", kind, id(is), is))
		case before[at] != is:
			all = append(all, fmt.Sprintf("%s %s\n   was %+v\n    is %+v", kind, id(is), before[at], is))
		}
	}
	for _, was := range before {
		if !slices.ContainsFunc(after, func(is T) bool { return id(was) == id(is) }) {
			all = append(all, fmt.Sprintf("%s %s is gone", kind, id(was)))
		}
	}
	return all
}
