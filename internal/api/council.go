package api

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"sibyl/internal/council"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/session"
)

// The addresses of the Council.
const (
	councilPath         = "/api/council"
	councilSessionsPath = councilPath + "/sessions"
	councilSessionPath  = councilSessionsPath + "/{session}"
)

type councilList struct {
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many at most."`
	After string `query:"after" doc:"Where the list goes on: next of the part before, which is the id of its last session."`
	Find  string `query:"find" maxLength:"200" doc:"Only those whose id begins so, or else whose name has this part."`
	Runs  string `query:"runs" maxLength:"200" doc:"Only the one that this session of runs is about: session_id of a run of the Council."`
}

// CouncilBegin is the body of a request that begins a session of the Council.
type CouncilBegin struct {
	Name     string `json:"name,omitempty" maxLength:"1000" doc:"Left out: it is called by the first words."`
	Language string `json:"language,omitempty" maxLength:"20" pattern:"^([A-Za-z0-9]{2,3}(-[A-Za-z0-9-]*)?)?$" patternDescription:"a language such as pt, en or de" doc:"What is spoken. Left out: it is found out."`
}

// CouncilChange is what is to be changed in a session; what is left out stays.
type CouncilChange struct {
	Name        *string                  `json:"name,omitempty" minLength:"1" maxLength:"1000"`
	Language    *string                  `json:"language,omitempty" maxLength:"20" pattern:"^([A-Za-z0-9]{2,3}(-[A-Za-z0-9-]*)?)?$" patternDescription:"a language such as pt, en or de" doc:"Empty: it is found out."`
	Preferences CouncilChangePreferences `json:"ui_preferences,omitempty"`
}

// CouncilChangePreferences are the preferences that are to be changed.
type CouncilChangePreferences struct {
	SimplifiedButtons *bool `json:"simplified_buttons,omitempty"`
	IncludeLLMHistory *bool `json:"include_llm_history,omitempty"`
}

// CouncilSummary is a session in a list.
type CouncilSummary struct {
	ID        string        `json:"session_id"`
	State     session.State `json:"state" enum:"COLLECTING,TRANSCRIBING,TRANSCRIBED,READY,INTERRUPTED,ERROR"`
	Name      string        `json:"name,omitempty"`
	Language  string        `json:"language,omitempty"`
	CreatedAt time.Time     `json:"created_at,omitzero"`
	Said      int           `json:"said" doc:"How many recordings and texts it has."`
	Waiting   int           `json:"not_transcribed" doc:"How many of them have no transcript."`
	Answered  int           `json:"answered" doc:"How many answers it has."`
	At        time.Time     `json:"answered_at,omitzero" doc:"When the last of them came."`
}

// CouncilSessions is a part of the list of sessions, the newest first.
type CouncilSessions struct {
	Sessions []CouncilSummary  `json:"sessions"`
	Skipped  []session.Skipped `json:"skipped" doc:"What can't be read, and is left out. Repairing a session rebuilds it."`
	Next     string            `json:"next,omitempty" doc:"Where the list goes on: for the parameter after. Left out at its end."`
}

// CouncilTrashed is a session that was deleted.
type CouncilTrashed struct {
	ID    string `json:"session_id"`
	Trash string `json:"trash" doc:"What it is called in the trash folder beside the sessions, from which whoever runs the server can move it back."`
}

// councilRoutes registers the routes of the Council: what the command line can do with it.
func (s *Server) councilRoutes() {
	if s.config.Council == nil {
		return
	}
	const tag = "council"
	s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[council.Export](), true, "")
	registerForm(s, route{id: "listCouncilSessions", at: "GET " + councilSessionsPath, tag: tag,
		summary: "The sessions of the Council, the newest first", whole: true}, s.listCouncilSessions)
	register(s, route{id: "beginCouncilSession", at: "POST " + councilSessionsPath, tag: tag,
		summary: "Begin a session of the Council", status: http.StatusCreated}, s.beginCouncil)
	registerForm(s, route{id: "getCouncilSession", at: "GET " + councilSessionPath, tag: tag,
		summary: "What a session of the Council holds", whole: true}, s.getCouncil)
	registerForm(s, route{id: "changeCouncilSession", at: "PATCH " + councilSessionPath, tag: tag,
		summary: "Give a session another name, language or preferences"}, s.changeCouncil)
	registerForm(s, route{id: "deleteCouncilSession", at: "DELETE " + councilSessionPath, tag: tag,
		summary: "Move a session to the trash"}, s.deleteCouncil)
	register(s, route{id: "exportCouncilSession", at: "GET " + councilSessionPath + "/export", tag: tag,
		summary: "A session with all its words, as a file", whole: true,
		content: []mediaType{{exportTypes["md"], "", "For people."}, {jsonType, "CouncilExport", ""}}}, s.exportCouncil)
	registerForm(s, route{id: "repairCouncilSession", at: "POST " + councilSessionPath + "/repair", tag: tag,
		summary: "Check a session against its folder, and put right what can be"}, s.repairCouncil)
	registerForm(s, route{id: "listCouncilOracles", at: "GET " + councilPath + "/oracles", tag: tag,
		summary: "The oracles of this server"}, s.listCouncilOracles)
	registerForm(s, route{id: "getCouncilOracle", at: "GET " + councilPath + "/oracles/{oracle}", tag: tag,
		summary: "An oracle with its text"}, s.getCouncilOracle)
	s.councilOracleRoutes(tag)
	s.councilEntryRoutes(tag)
	s.councilRunRoutes(tag)
}

// openCouncil opens a session of the requesting user. It first repairs what runs have left, if the user may change it.
func (s *Server) openCouncil(ctx context.Context, id string) (o council.Opened, d *council.Desk, err error) {
	if d, err = s.desk(ctx); err != nil {
		return o, d, err
	}
	if infoOf(ctx).token.Scope.Allows(scopeToRepair) {
		o, err = d.OpenID(ctx, id)
	} else {
		o.Session, err = d.Get(ctx, id)
	}
	return o, d, err
}

// desk opens the sessions of the requesting user, and keeps their folder out of the answer.
func (s *Server) desk(ctx context.Context) (*council.Desk, error) {
	x := infoOf(ctx)
	d, err := s.config.Council.Desk(x.owner())
	if err == nil {
		x.hideFolders = folderRemover(d.Path(""))
	}
	return d, err
}

func (s *Server) listCouncilSessions(ctx context.Context, in *councilList) (f CouncilSessions, err error) {
	if _, _, isID := session.ParseID(in.After); in.After != "" && !isID {
		return f, noPlace()
	}
	desk, err := s.desk(ctx)
	if err != nil {
		return f, err
	}
	all, skipped, err := desk.List(ctx)
	if err != nil {
		return f, err
	}
	if in.Find != "" {
		found, err := desk.Find(ctx, in.Find)
		if err != nil {
			return f, err
		}
		all = slices.DeleteFunc(all, func(m session.Session) bool {
			return !slices.ContainsFunc(found, func(f session.Session) bool { return f.ID == m.ID })
		})
	}
	all = slices.DeleteFunc(all, func(m session.Session) bool {
		return in.Runs != "" && !desk.IsAbout(in.Runs, m.ID) || in.After != "" && !session.Newer(in.After, m.ID)
	})
	f.Skipped = skipped
	f.Sessions = toForms(all[:min(in.Limit, len(all))], councilSummary)
	if len(all) > in.Limit {
		f.Next = all[in.Limit-1].ID
	}
	return f, nil
}

func councilSummary(m session.Session) CouncilSummary {
	c := CouncilSummary{ID: m.ID, State: m.State, Name: m.Name, Language: m.Language, CreatedAt: m.CreatedAt,
		Said: len(m.Audio), Answered: len(m.Answers), Waiting: m.Waiting()}
	for _, a := range m.Answers {
		if a.CreatedAt.After(c.At) {
			c.At = a.CreatedAt
		}
	}
	return c
}

func (s *Server) beginCouncil(ctx context.Context, in *withBody[CouncilBegin]) (*withLocation[council.Opened], error) {
	desk, err := s.desk(ctx)
	if err != nil {
		return nil, err
	}
	made, err := desk.New(ctx, in.Body.Name, in.Body.Language)
	return &withLocation[council.Opened]{councilSessionsPath + "/" + made.ID, council.Opened{Session: made}}, err
}

func (s *Server) getCouncil(ctx context.Context, in *SessionPath) (council.Opened, error) {
	o, _, err := s.openCouncil(ctx, in.Session)
	return o, err
}

// changeCouncil checks the language, and then changes the name first: only the name can still be refused, so a request
// is carried out whole or not at all.
func (s *Server) changeCouncil(ctx context.Context, in *struct {
	SessionPath
	Body CouncilChange
}) (o council.Opened, err error) {
	o, desk, err := s.openCouncil(ctx, in.Session)
	if err != nil {
		return o, err
	}
	b := in.Body
	if b.Language != nil {
		if err := session.CheckLanguage(*b.Language); err != nil {
			return o, err
		}
	}
	if b.Name != nil {
		if _, err = desk.Rename(ctx, o.ID, *b.Name, session.ByPerson); err != nil {
			return o, err
		}
	}
	set := session.Settings{Language: b.Language, IncludeLLMHistory: b.Preferences.IncludeLLMHistory,
		SimplifiedButtons: b.Preferences.SimplifiedButtons}
	o.Session, err = desk.Set(ctx, o.ID, set)
	return o, err
}

// deleteCouncil also deletes a session that can't be read any more.
func (s *Server) deleteCouncil(ctx context.Context, in *SessionPath) (CouncilTrashed, error) {
	desk, err := s.desk(ctx)
	if err != nil {
		return CouncilTrashed{}, err
	}
	where, err := desk.Delete(ctx, in.Session)
	return CouncilTrashed{ID: in.Session, Trash: filepath.Base(where)}, err
}

func (s *Server) exportCouncil(ctx context.Context, in *struct {
	SessionPath
	Format string `query:"format" enum:"md,json" default:"md"`
}) (*export, error) {
	o, desk, err := s.openCouncil(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	x, err := desk.Export(ctx, o.ID)
	if err != nil {
		return nil, err
	}
	tell := infoOf(ctx).hideFolders
	text := tell(x.Markdown())
	if in.Format == "json" {
		text, err = encodeForFile(publicValue(reflect.ValueOf(x), tell).Interface(), true)
	}
	return newExport("council", o.ID, in.Format, []byte(text)), err
}

// repairCouncil also repairs a session that can't be read any more.
func (s *Server) repairCouncil(ctx context.Context, in *SessionPath) (none council.Repaired, err error) {
	desk, err := s.desk(ctx)
	if err != nil {
		return none, err
	}
	_, err = desk.Get(ctx, in.Session)
	if _, damaged := errors.AsType[*session.Damaged](err); err != nil && !damaged {
		return none, err
	}
	all, err := desk.Repair(ctx, []string{in.Session})
	if err != nil || len(all) != 1 {
		return none, cmp.Or(err, session.ErrNotFound)
	}
	return all[0], nil
}

// listCouncilOracles lists the oracles without the folders of their files.
func (s *Server) listCouncilOracles(ctx context.Context, _ *noInput) (persona.Listing, error) {
	list, err := s.readOracles(ctx)
	return list.Brief(), err
}

func (s *Server) getCouncilOracle(ctx context.Context, in *struct {
	Oracle string `path:"oracle" doc:"The id of the oracle."`
}) (persona.Persona, error) {
	list, err := s.readOracles(ctx)
	for _, p := range list.Oracles {
		if p.ID == in.Oracle {
			return p, err
		}
	}
	return persona.Persona{}, cmp.Or(err, persona.ErrNotFound)
}

// readOracles lists the oracles, and keeps the folders of their files out of the answer.
func (s *Server) readOracles(ctx context.Context) (persona.Listing, error) {
	list, err := s.config.Council.Oracles.List(ctx)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		_ = s.problem(ctx, err) // logs it for the operator
		return list, newProblem(http.StatusServiceUnavailable, "no_oracles",
			"The oracles of this server can't be read.",
			"Whoever runs the server has to look after their folder.").after(time.Minute)
	}
	var folders []string
	for _, p := range list.Oracles {
		folders = append(folders, filepath.Dir(p.File))
	}
	for _, one := range list.Skipped {
		folders = append(folders, filepath.Dir(one.File))
	}
	infoOf(ctx).hideFolders = folderRemover(folders...)
	return list, err
}
