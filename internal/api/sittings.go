package api

import (
	"context"
	"net/http"
	"slices"

	"sibyl/internal/council"
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
	Run     Run                `json:"run"`
	Oracles []CouncilSeat      `json:"oracles" doc:"Who were asked."`
	Answers []CouncilSatAnswer `json:"answers"`
	Silent  []CouncilSilent    `json:"without_answer"`
	Chair   *CouncilChair      `json:"chair,omitempty" doc:"What the chair made of the answers. Left out where nobody presided."`
	Skipped []string           `json:"skipped" doc:"What was left out, and why."`
	Failure *Failure           `json:"failure,omitempty"`
}

// CouncilSeat is an oracle that was asked.
type CouncilSeat struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// CouncilSatAnswer is the answer of an oracle.
type CouncilSatAnswer struct {
	Oracle   CouncilSeat `json:"oracle"`
	Run      string      `json:"run"`
	Sequence int         `json:"sequence,omitempty" doc:"Of the answer in the session's folder. Left out until it is there."`
	HTML     string      `json:"html" doc:"In which nothing runs."`
	Model    string      `json:"model"`
	CutOff   bool        `json:"cut_off,omitempty" doc:"The model's limit of output was reached."`
	Unsaved  bool        `json:"unsaved,omitempty" doc:"It is not in the folder of the session yet."`
}

// CouncilChair is what a chair made of all answers.
type CouncilChair struct {
	Oracle     CouncilSeat       `json:"oracle"`
	Sequence   int               `json:"sequence,omitempty" doc:"Of the answer that it is in the session's folder."`
	Sentences  []CouncilSentence `json:"sentences" doc:"The merged answer."`
	Agree      []CouncilSentence `json:"agree" doc:"Where the answers agree."`
	Differ     []CouncilSentence `json:"differ" doc:"Where they differ."`
	Overlooked []CouncilSentence `json:"overlooked" doc:"What the person said that no answer takes up."`
	Unused     []CouncilSeat     `json:"unused" doc:"Of whose answers nothing was taken up."`
}

// CouncilSentence is one of its sentences.
type CouncilSentence struct {
	HTML     string        `json:"html" doc:"In which nothing runs."`
	By       []CouncilSeat `json:"by" doc:"Whose answers hold the words that the chair quotes for it."`
	Unproven []CouncilSeat `json:"unproven" doc:"Whom the chair names as well, though their answers do not hold what it quotes. Nobody here or in by: it is the chair's own."`
	Minority bool          `json:"minority,omitempty"`
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
	o, err := s.opened(ctx, in.Session)
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
			sat, asked, err := council.ReadSat(res.Outcome)
			if err != nil {
				return nil, err
			}
			if !asked {
				continue
			}
			one.take(sat, o.tell)
			if res.Failure != nil {
				one.Failure = &Failure{Kind: res.Failure.Kind, Message: o.tell(res.Failure.Message)}
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
	for _, a := range sat.ByOracles() {
		f.Answers = append(f.Answers, CouncilSatAnswer{Oracle: seat(a.Oracle), Run: a.Run, Sequence: a.Sequence, HTML: render.HTML(a.Text), Model: a.Model, CutOff: a.CutOff, Unsaved: a.Unsaved != ""})
	}
	for _, one := range sat.Silent {
		f.Silent = append(f.Silent, CouncilSilent{seat(one.Oracle), tell(one.Reason)})
	}
	if m := sat.Merged; sat.Chair != nil && m != nil {
		f.Chair = &CouncilChair{Oracle: seat(sat.Chair.Oracle), Sequence: sat.Chair.Sequence, Unused: f.seats(m.Unused),
			Sentences: f.sentences(m.Sentences), Agree: f.sentences(m.Agree), Differ: f.sentences(m.Differ), Overlooked: f.sentences(m.Overlooked)}
	}
	for _, one := range sat.Skipped {
		f.Skipped = append(f.Skipped, tell(one.String()))
	}
}

func (f *CouncilSitting) sentences(all []council.Sentence) []CouncilSentence {
	return forms(all, func(s council.Sentence) CouncilSentence {
		return CouncilSentence{render.HTML(s.Text), f.seats(s.By), f.seats(s.Unproven), s.Minority}
	})
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
