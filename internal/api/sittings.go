package api

import (
	"context"
	"slices"

	"sibyl/internal/assistant"
	"sibyl/internal/council"
	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/service"
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
	Run     service.Row        `json:"run"`
	Oracles []council.Seat     `json:"oracles" doc:"Who were asked."`
	Answers []CouncilSatAnswer `json:"answers"`
	Silent  []council.Silent   `json:"without_answer"`
	Chair   *CouncilChair      `json:"chair,omitempty" doc:"What the chair made of the answers. Left out where nobody presided."`
	Skipped []string           `json:"skipped" doc:"What was left out, and why."`
	LeftOut []council.Skipped  `json:"left_out" doc:"The same in parts."`
	Failure *assistant.Failure `json:"failure,omitempty"`
}

// CouncilSatAnswer is the answer of an oracle.
type CouncilSatAnswer struct {
	Oracle   council.Seat `json:"oracle"`
	Run      string       `json:"run"`
	Sequence int          `json:"sequence,omitempty" doc:"Of the answer in the session's folder. Left out until it is there."`
	HTML     string       `json:"html" doc:"In which nothing runs."`
	Model    string       `json:"model"`
	CutOff   bool         `json:"cut_off,omitempty" doc:"The model's limit of output was reached."`
	Unsaved  bool         `json:"unsaved,omitempty" doc:"It is not in the folder of the session yet."`
}

// CouncilChair is what a chair made of all answers.
type CouncilChair struct {
	Oracle     council.Seat      `json:"oracle"`
	Sequence   int               `json:"sequence,omitempty" doc:"Of the answer that it is in the session's folder."`
	Sentences  []CouncilSentence `json:"sentences" doc:"The merged answer."`
	Agree      []CouncilSentence `json:"agree" doc:"Where the answers agree."`
	Differ     []CouncilSentence `json:"differ" doc:"Where they differ."`
	Overlooked []CouncilSentence `json:"overlooked" doc:"What the person said that no answer takes up."`
	Unused     []council.Seat    `json:"unused" doc:"Of whose answers nothing was taken up."`
}

// CouncilSentence is one of its sentences.
type CouncilSentence struct {
	HTML     string         `json:"html" doc:"In which nothing runs."`
	By       []council.Seat `json:"by" doc:"Whose answers hold the words that the chair quotes for it."`
	Unproven []council.Seat `json:"unproven" doc:"Whom the chair names as well, though their answers do not hold what it quotes. Nobody here or in by: it is the chair's own."`
	Minority bool           `json:"minority,omitempty"`
}

func (s *Server) sittingRoutes(tag string) {
	answer(s, route{id: "listCouncilSittings", at: "GET " + councilSession + "/sittings", tag: tag, summary: "What oracles were asked in a session, and what came of it", whole: true}, s.sittings)
}

func (s *Server) sittings(ctx context.Context, in *struct {
	CouncilPath
	Limit int    `query:"limit" minimum:"1" maximum:"20" default:"10"`
	After string `query:"after" doc:"next of the part of the list before."`
}) (f CouncilSittings, err error) {
	after, err := Paging{Limit: in.Limit, After: in.After}.cursor()
	if err != nil {
		return f, err
	}
	o, _, err := s.opened(ctx, in.Session)
	if err != nil {
		return f, err
	}
	owner := exchangeOf(ctx).owner()
	if f.Journal, err = s.config.Council.JournalSession(ctx, owner, o.ID); err != nil {
		return f, err
	}
	rows, err := s.config.Service.Runs(ctx, owner, journal.Filter{Session: f.Journal, Assistant: council.Name, Limit: in.Limit, After: after})
	if err != nil {
		return f, err
	}
	f.Next = next(in.Limit, rows)
	for _, r := range rows {
		one := CouncilSitting{Run: r}
		if r.Status != journal.Running {
			res, err := s.config.Service.Result(ctx, owner, r.ID)
			if err != nil {
				return f, err
			}
			sat, asked, err := council.ReadSat(res.Outcome)
			if err != nil {
				return f, err
			}
			if !asked {
				continue
			}
			one.take(sat)
			one.Failure = res.Failure
		}
		f.Sittings = append(f.Sittings, one)
	}
	return f, nil
}

// take takes in what came of a sitting.
func (f *CouncilSitting) take(sat council.Sat) {
	f.Oracles, f.Silent, f.LeftOut = sat.Oracles, sat.Silent, sat.Skipped
	for _, a := range sat.ByOracles() {
		f.Answers = append(f.Answers, CouncilSatAnswer{a.Oracle, a.Run, a.Sequence, render.HTML(a.Text), a.Model, a.CutOff, a.Unsaved != ""})
	}
	if m := sat.Merged; sat.Chair != nil && m != nil {
		f.Chair = &CouncilChair{Oracle: sat.Chair.Oracle, Sequence: sat.Chair.Sequence, Unused: f.seats(m.Unused),
			Sentences: f.sentences(m.Sentences), Agree: f.sentences(m.Agree), Differ: f.sentences(m.Differ), Overlooked: f.sentences(m.Overlooked)}
	}
	for _, one := range sat.Skipped {
		f.Skipped = append(f.Skipped, one.String())
	}
}

func (f *CouncilSitting) sentences(all []council.Sentence) []CouncilSentence {
	return forms(all, func(s council.Sentence) CouncilSentence {
		return CouncilSentence{render.HTML(s.Text), f.seats(s.By), f.seats(s.Unproven), s.Minority}
	})
}

// seats are those of oracles of the sitting, by their names.
func (f *CouncilSitting) seats(names []string) []council.Seat {
	return forms(names, func(name string) council.Seat {
		if i := slices.IndexFunc(f.Oracles, func(s council.Seat) bool { return s.Name == name }); i >= 0 {
			return f.Oracles[i]
		}
		return council.Seat{Name: name}
	})
}
