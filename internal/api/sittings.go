package api

import (
	"context"
	"net/http"
	"slices"

	"sibyl/internal/council"
	"sibyl/internal/council/digest"
	"sibyl/internal/journal"
	"sibyl/internal/render"
)

// CouncilSittings is a part of what oracles were asked in a session, the latest first.
type CouncilSittings struct {
	Journal  string           `json:"session" doc:"The id of the session of the journal that holds the runs about it."`
	Sittings []CouncilSitting `json:"sittings"`
	Next     string           `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
}

// CouncilSitting is one time that oracles were asked, or one was. While it goes on there is only its run: events of the type oracle.asked name the runs of
// its oracles.
type CouncilSitting struct {
	Run        Run                `json:"run"`
	Oracles    []CouncilSeat      `json:"oracles" doc:"Who were asked."`
	Answers    []CouncilSatAnswer `json:"answers"`
	Silent     []CouncilSilent    `json:"without_answer"`
	Comparison *CouncilComparison `json:"comparison,omitempty" doc:"Where the answers agree and differ. Left out where they were not compared."`
	Review     *CouncilReview     `json:"review,omitempty" doc:"How the oracles ranked each other. Left out where they did not."`
	Chair      *CouncilChair      `json:"chair,omitempty" doc:"What the chair made of the answers. Left out where nobody presided."`
	Skipped    []string           `json:"skipped" doc:"What was left out, and why."`
	Failure    *Failure           `json:"failure,omitempty"`
}

// CouncilSeat is an oracle that was asked.
type CouncilSeat struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// CouncilSatAnswer is the last answer of an oracle.
type CouncilSatAnswer struct {
	Oracle   CouncilSeat `json:"oracle"`
	Run      string      `json:"run"`
	Sequence int         `json:"sequence,omitempty" doc:"Of the answer in the session's folder. Left out until it is there."`
	Round    int         `json:"round,omitempty"`
	HTML     string      `json:"html" doc:"In which nothing runs."`
	Model    string      `json:"model"`
	CutOff   bool        `json:"cut_off,omitempty" doc:"The model's limit of output was reached."`
	Unsaved  bool        `json:"unsaved,omitempty" doc:"It is not in the folder of the session yet."`
}

// CouncilComparison is what several answers have in common, and what not.
type CouncilComparison struct {
	By         string         `json:"by" doc:"Who compared: a model, or offline:rules."`
	Agree      []CouncilPoint `json:"agree"`
	Differ     []CouncilPoint `json:"differ"`
	Overlooked []CouncilPoint `json:"overlooked" doc:"What all answers leave out."`
}

// CouncilPoint is one of its points.
type CouncilPoint struct {
	HTML    string        `json:"html" doc:"In which nothing runs."`
	By      []CouncilSeat `json:"by" doc:"Whose answers it is from."`
	Sources []string      `json:"sources" doc:"What it is about: t1 is transcript 1, r2 answer 2."`
}

// CouncilReview is how oracles ranked each other's answers, without knowing whose they were.
type CouncilReview struct {
	Ranks   []CouncilRank     `json:"ranks" doc:"The best first."`
	Remarks []CouncilReviewed `json:"remarks"`
}

// CouncilRank is how an answer was ranked by the others.
type CouncilRank struct {
	Oracle CouncilSeat        `json:"oracle"`
	Mean   float64            `json:"mean" doc:"From 1, the best."`
	By     []CouncilGivenRank `json:"by"`
}

// CouncilGivenRank is the rank that one of them gave.
type CouncilGivenRank struct {
	Reviewer CouncilSeat `json:"reviewer"`
	Rank     int         `json:"rank"`
}

// CouncilReviewed is what an oracle says of the answer of another.
type CouncilReviewed struct {
	Reviewer  CouncilSeat `json:"reviewer"`
	Oracle    CouncilSeat `json:"oracle"`
	Strength  string      `json:"strength"`
	Criticism string      `json:"criticism"`
}

// CouncilChair is what a chair made of all answers.
type CouncilChair struct {
	Oracle    CouncilSeat       `json:"oracle"`
	Sequence  int               `json:"sequence,omitempty" doc:"Of the answer that it is in the session's folder."`
	Sentences []CouncilSentence `json:"sentences"`
	Unused    []CouncilSeat     `json:"unused" doc:"Of whose answers nothing was taken up."`
}

// CouncilSentence is one of its sentences.
type CouncilSentence struct {
	HTML     string        `json:"html" doc:"In which nothing runs."`
	By       []CouncilSeat `json:"by" doc:"Whose answers say it. Nobody: it is the chair's own."`
	Minority bool          `json:"minority,omitempty"`
	Doubted  []CouncilSeat `json:"doubted" doc:"Whom the chair named for it, though their answers do not say it."`
}

// CouncilSilent is an oracle that gave no answer.
type CouncilSilent struct {
	Oracle CouncilSeat `json:"oracle"`
	Reason string      `json:"reason"`
}

func (s *Server) sittingRoutes(tag string) {
	register(s, route{id: "listCouncilSittings", method: http.MethodGet, path: councilSession + "/sittings", tag: tag, summary: "What oracles were asked in a session, and what came of it", whole: true,
		problems: councilReads}, s.sittings)
}

func (s *Server) sittings(ctx context.Context, in *struct {
	CouncilPath
	Limit int    `query:"limit" minimum:"1" maximum:"20" default:"10"`
	After string `query:"after" doc:"next of the part of the list before."`
}) (*of[CouncilSittings], error) {
	after, err := Paging{Limit: in.Limit, After: in.After}.cursor()
	if err != nil {
		return nil, err
	}
	o, tell, err := s.opened(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	owner := exchangeOf(ctx).owner()
	id, err := s.config.Council.JournalSession(ctx, owner, o.ID)
	if err != nil {
		return nil, err
	}
	rows, err := s.config.Service.Runs(ctx, owner, journal.Filter{Session: id, Assistant: council.Name, Limit: in.Limit, After: after})
	if err != nil {
		return nil, err
	}
	f := CouncilSittings{Journal: id, Sittings: []CouncilSitting{}, Next: Paging{Limit: in.Limit}.next(len(rows), func() journal.Cursor { return rows[len(rows)-1].Cursor() })}
	for _, r := range rows {
		one := CouncilSitting{Run: s.form(r), Oracles: []CouncilSeat{}, Answers: []CouncilSatAnswer{}, Silent: []CouncilSilent{}, Skipped: []string{}}
		if r.Status != journal.Running {
			res, err := s.config.Service.Result(ctx, owner, r.ID)
			if err != nil {
				return nil, err
			}
			sat, asked, err := s.config.Council.Sat(res.Outcome)
			if err != nil {
				return nil, err
			}
			if !asked {
				continue
			}
			one.take(sat, tell)
			if res.Failure != nil {
				one.Failure = &Failure{Kind: res.Failure.Kind, Message: tell(res.Failure.Message)}
			}
		}
		f.Sittings = append(f.Sittings, one)
	}
	return &of[CouncilSittings]{f}, nil
}

// take takes in what came of a sitting.
func (f *CouncilSitting) take(sat council.Sat, tell func(string) string) {
	seat := func(s council.Seat) CouncilSeat { return CouncilSeat{s.ID, s.Name} }
	for _, one := range sat.Oracles {
		f.Oracles = append(f.Oracles, seat(one))
	}
	for _, a := range sat.Answers {
		f.Answers = append(f.Answers, CouncilSatAnswer{Oracle: seat(a.Oracle), Run: a.Run, Sequence: a.Sequence, Round: a.Round, HTML: render.HTML(a.Text), Model: a.Model, CutOff: a.CutOff, Unsaved: a.Unsaved != ""})
	}
	for _, one := range sat.Silent {
		f.Silent = append(f.Silent, CouncilSilent{seat(one.Oracle), tell(one.Reason)})
	}
	if c := sat.Comparison; c != nil {
		f.Comparison = &CouncilComparison{c.By, f.points(c.Agree), f.points(c.Differ), f.points(c.Overlooked)}
	}
	if len(sat.Ranks) > 0 {
		f.Review = f.reviewed(sat)
	}
	if c := sat.Chair; c != nil {
		f.Chair = &CouncilChair{Oracle: seat(c.Oracle), Sequence: c.Sequence, Unused: f.seats(c.Unused), Sentences: forms(c.Sentences, func(one council.Sentence) CouncilSentence {
			return CouncilSentence{render.HTML(one.Text), f.seats(one.By), one.Minority, f.seats(one.Doubted)}
		})}
	}
	f.Skipped = append(f.Skipped, told(sat.Skipped, tell)...)
}

// seats are those of oracles of the sitting, by their names.
func (f *CouncilSitting) seats(names []string) []CouncilSeat {
	return forms(names, f.seat)
}

func (f *CouncilSitting) seat(name string) CouncilSeat {
	if i := slices.IndexFunc(f.Oracles, func(s CouncilSeat) bool { return s.Name == name }); i >= 0 {
		return f.Oracles[i]
	}
	return CouncilSeat{Name: name}
}

func (f *CouncilSitting) points(all []digest.Point) []CouncilPoint {
	return forms(all, func(p digest.Point) CouncilPoint {
		return CouncilPoint{render.HTML(p.Text), f.seats(p.By), list(p.Sources)}
	})
}

func (f *CouncilSitting) reviewed(sat council.Sat) *CouncilReview {
	r := &CouncilReview{Ranks: []CouncilRank{}, Remarks: []CouncilReviewed{}}
	for _, one := range sat.Ranks {
		rank := CouncilRank{f.seat(one.Oracle), one.Mean, []CouncilGivenRank{}}
		for _, by := range sat.Reviews {
			if given, gave := one.By[by.By]; gave {
				rank.By = append(rank.By, CouncilGivenRank{f.seat(by.By), given})
			}
		}
		r.Ranks = append(r.Ranks, rank)
	}
	for _, by := range sat.Reviews {
		for _, one := range by.Reviews {
			r.Remarks = append(r.Remarks, CouncilReviewed{f.seat(by.By), f.seat(one.Oracle), one.Strength, one.Criticism})
		}
	}
	return r
}
