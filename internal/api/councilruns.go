package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sibyl/internal/council"
	"sibyl/internal/council/persona"
	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/service"
	"sibyl/internal/service/assistant"
)

// CouncilQuestion says which oracles are to answer what was said in a session, and how.
type CouncilQuestion struct{ council.Options }

// Schema implements huma.SchemaProvider.
func (CouncilQuestion) Schema(r huma.Registry) *huma.Schema {
	return optionsSchema[CouncilQuestion](r, "oracles!", "history", "chair", "model")
}

// CouncilTranscribe says which recordings are transcribed besides those that wait.
type CouncilTranscribe struct {
	Again    bool `json:"again,omitempty" doc:"Also those that have failed."`
	Entry    int  `json:"entry,omitempty" minimum:"1" doc:"Also this one, which has a transcript: that stays until there is another."`
	Attempts int  `json:"attempts,omitempty" minimum:"0" doc:"The transcription_attempts of that entry: where there were more by now, its transcript stays."`
}

// CouncilNaming has a model name a session.
type CouncilNaming struct{ council.Options }

// Schema implements huma.SchemaProvider.
func (CouncilNaming) Schema(r huma.Registry) *huma.Schema {
	return optionsSchema[CouncilNaming](r, "model")
}

// CouncilPrompts are the prompts that oracles would be sent.
type CouncilPrompts struct {
	Prompts []council.Preview `json:"prompts"`
}

// sessionRequest is a request that begins a run about a session of the Council.
type sessionRequest[T any] struct {
	SessionPath
	Keyed[T]
}

func (s *Server) councilRunRoutes(tag string) {
	answers := []mediaType{{eventStream, "StreamEvent", ""}, {jsonType, "RunWithResult", ""}}
	waits := []success{{http.StatusAccepted, "Begun", "The run waits; Location has its address."}}
	register(s, route{id: "askCouncil", at: "POST " + councilSessionPath + "/answers", tag: tag,
		summary: "Have oracles answer, as they do, or whole (Accept: application/json)", content: answers, also: waits},
		s.askCouncil)
	register(s, route{id: "nameCouncilSession", at: "POST " + councilSessionPath + "/name", tag: tag,
		summary: "Have a model name a session that no person has named", content: answers, also: waits}, s.nameCouncil)
	register(s, route{id: "transcribeCouncilSession", at: "POST " + councilSessionPath + "/transcription", tag: tag,
		summary: "Have the recordings of a session written down", status: http.StatusAccepted}, s.transcribeCouncil)
	registerForm(s, route{id: "previewCouncil", at: "POST " + councilSessionPath + "/preview", tag: tag,
		summary: "The very prompts of oracles; nobody is asked"}, s.previewCouncil)
	registerForm(s, route{id: "listCouncilSittings", at: "GET " + councilSessionPath + "/sittings", tag: tag,
		summary: "What oracles were asked in a session, and what came of it", whole: true}, s.listSittings)
}

// resolveOracles makes the options of a run from a question, with the ids of the oracles and the chair in place of
// their names. A name that is wrong is reported here, before a run begins.
func (s *Server) resolveOracles(ctx context.Context, session string, q CouncilQuestion) (o council.Options, err error) {
	o = q.Options
	o.Session = session
	for i, name := range q.Oracles {
		p, err := s.config.Council.Oracles.Find(ctx, name)
		if err != nil {
			return o, err
		}
		o.Oracles[i] = p.ID
	}
	if q.Chair == "" {
		return o, nil
	}
	p, err := s.config.Council.Oracles.Find(ctx, q.Chair)
	if errors.Is(err, persona.ErrNotFound) {
		return o, newProblem(http.StatusNotFound, "no_oracle", "There is no such oracle for the chair.",
			"The list of oracles has their names and ids.")
	}
	o.Chair = p.ID
	return o, err
}

func (s *Server) askCouncil(ctx context.Context, in *sessionRequest[CouncilQuestion]) (*huma.StreamResponse, error) {
	o, _, err := s.openCouncil(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	options, err := s.resolveOracles(ctx, o.ID, in.Body)
	if err != nil {
		return nil, err
	}
	return s.beginCouncilRun(ctx, options, in.Key)
}

func (s *Server) nameCouncil(ctx context.Context, in *sessionRequest[CouncilNaming]) (*huma.StreamResponse, error) {
	o, _, err := s.openCouncil(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	return s.beginCouncilRun(ctx, council.Options{Session: o.ID, Name: true, Model: in.Body.Model}, in.Key)
}

// beginCouncilRun begins a run of the Council, and answers with its events or its result, as ask does.
func (s *Server) beginCouncilRun(ctx context.Context, o council.Options, key string) (*huma.StreamResponse, error) {
	return s.beginAndStream(ctx, func() (service.Submitted, error) {
		return s.submitRequest(ctx, service.Request{Assistant: council.Name, Options: assistant.GivenOptions{Base: o},
			Key: key})
	})
}

// requireTranscriber is a problem if nothing is set up that transcribes, else nil.
func (s *Server) requireTranscriber() error {
	if s.config.Council.Missing() == "" {
		return nil
	}
	return newProblem(http.StatusConflict, "no_transcriber",
		"Nothing is set up on this server that transcribes. The recordings are kept, and wait.",
		"Whoever runs the server can set up a model, a server or a command that does.")
}

// transcriptionPatience is how long a new transcription waits for a running one of the same session. One that has
// looked for recordings for the last time ends within it; any other also transcribes what was added meanwhile.
const transcriptionPatience = 500 * time.Millisecond

// beginTranscription begins a run that transcribes the recordings of a session. If one is already running it gives that
// one, unless the failed recordings are wanted again.
func (s *Server) beginTranscription(ctx context.Context, session string, again bool, key string) (Begun, error) {
	if err := s.requireTranscriber(); err != nil {
		return Begun{}, err
	}
	begun, err := s.submitRequest(ctx, service.Request{Assistant: council.TranscriptionName,
		Options: council.Options{Session: session, Again: again}, Key: key, Patience: transcriptionPatience})
	if held, ok := errors.AsType[*journal.ClaimedError](err); ok && !again {
		return s.runState(ctx, held.Run)
	}
	return begunForm(begun), err
}

func (s *Server) transcribeCouncil(
	ctx context.Context, in *sessionRequest[CouncilTranscribe],
) (*withLocation[Begun], error) {
	o, desk, err := s.openCouncil(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	if in.Body.Entry != 0 {
		err := s.requireTranscriber()
		if err == nil {
			_, err = desk.Anew(ctx, o.ID, in.Body.Entry, in.Body.Attempts)
		}
		if err != nil {
			return nil, err
		}
	}
	begun, err := s.beginTranscription(ctx, o.ID, in.Body.Again, in.Key)
	if err != nil {
		return nil, err
	}
	return &withLocation[Begun]{runPath(begun.Run), begun}, nil
}

func (s *Server) previewCouncil(ctx context.Context, in *struct {
	SessionPath
	Body CouncilQuestion
}) (f CouncilPrompts, err error) {
	o, _, err := s.openCouncil(ctx, in.Session)
	if err != nil {
		return f, err
	}
	options, err := s.resolveOracles(ctx, o.ID, in.Body)
	if err != nil {
		return f, err
	}
	f.Prompts, err = s.config.Council.Preview(ctx, assistant.Request{Owner: ownerOf(ctx),
		Sets: func(option string) bool { return option != "model" || options.Model != "" }}, options)
	return f, err
}

// CouncilSittings is a part of the list of sittings of a session, the latest first.
type CouncilSittings struct {
	Journal  string           `json:"session" doc:"The id of the session of the journal that holds the runs about it."`
	Model    string           `json:"model,omitempty" doc:"The model that was chosen for the session. Left out: the usual one."`
	Sittings []CouncilSitting `json:"sittings"`
	Next     string           `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
}

// CouncilSitting is a run in which one or several oracles were asked. While it is running it has only its run: events
// of the type oracle.asked name the runs of its oracles.
type CouncilSitting struct {
	Run     service.Row        `json:"run"`
	Oracles []council.Seat     `json:"oracles" doc:"Who were asked."`
	Answers []CouncilSatAnswer `json:"answers"`
	Silent  []council.Silent   `json:"without_answer"`
	Chair   *CouncilChair      `json:"chair,omitempty" doc:"What the chair made of the answers. Left out where nobody presided."`
	Merges  string             `json:"merges,omitempty" doc:"The run of an earlier sitting, whose answers the chair merged once more: this one shows all of that one."`
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
	Repeated bool         `json:"repeated,omitempty" doc:"The model repeated itself and was stopped."`
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

func (s *Server) listSittings(ctx context.Context, in *struct {
	SessionPath
	Limit int    `query:"limit" minimum:"1" maximum:"20" default:"10"`
	After string `query:"after" doc:"next of the part of the list before."`
}) (f CouncilSittings, err error) {
	after, err := Paging{Limit: in.Limit, After: in.After}.cursor()
	if err != nil {
		return f, err
	}
	o, _, err := s.openCouncil(ctx, in.Session)
	if err != nil {
		return f, err
	}
	owner := ownerOf(ctx)
	if f.Journal, err = s.config.Council.JournalSession(ctx, owner, o.ID); err != nil {
		return f, err
	}
	if f.Model, err = s.config.Council.AskedModel(ctx, owner, o.ID); err != nil {
		return f, err
	}
	rows, err := s.config.Service.Runs(ctx, owner, journal.Filter{Session: f.Journal, Assistant: council.Name,
		Limit: in.Limit, After: after})
	if err != nil {
		return f, err
	}
	f.Next = nextCursor(in.Limit, rows)
	for _, r := range rows {
		one := CouncilSitting{Run: r}
		if r.Status != journal.Running {
			res, err := s.config.Service.Result(ctx, owner, r.ID)
			if err != nil {
				return f, err
			}
			sat, asked, err := council.ReadSittingResult(res.Outcome)
			if err != nil {
				return f, err
			}
			if !asked {
				continue
			}
			one.addOutcome(sat)
			one.Failure = res.Failure
		}
		f.Sittings = append(f.Sittings, one)
	}
	return f, nil
}

// addOutcome fills in the outcome of a sitting.
func (f *CouncilSitting) addOutcome(sat council.SittingResult) {
	f.Oracles, f.Silent, f.LeftOut, f.Merges = sat.Oracles, sat.Silent, sat.Skipped, sat.Merges
	for _, a := range sat.ByOracles() {
		f.Answers = append(f.Answers, CouncilSatAnswer{a.Oracle, a.Run, a.Sequence, render.HTML(a.Text), a.Model,
			a.CutOff, a.Repeated, a.Unsaved != ""})
	}
	if m := sat.MergedAnswers; sat.Chair != nil && m != nil {
		f.Chair = &CouncilChair{Oracle: sat.Chair.Oracle, Sequence: sat.Chair.Sequence, Unused: f.seatsNamed(m.Unused),
			Sentences: f.sentenceForms(m.Sentences), Agree: f.sentenceForms(m.Agree), Differ: f.sentenceForms(m.Differ),
			Overlooked: f.sentenceForms(m.Overlooked)}
	}
	for _, one := range sat.Skipped {
		f.Skipped = append(f.Skipped, one.Story().Text)
	}
}

func (f *CouncilSitting) sentenceForms(all []council.Sentence) []CouncilSentence {
	return toForms(all, func(s council.Sentence) CouncilSentence {
		return CouncilSentence{render.HTML(s.Text), f.seatsNamed(s.By), f.seatsNamed(s.Unproven), s.Minority}
	})
}

// seatsNamed are the seats of the oracles with these names.
func (f *CouncilSitting) seatsNamed(names []string) []council.Seat {
	return toForms(names, func(name string) council.Seat {
		if i := slices.IndexFunc(f.Oracles, func(s council.Seat) bool { return s.Name == name }); i >= 0 {
			return f.Oracles[i]
		}
		return council.Seat{Name: name}
	})
}
