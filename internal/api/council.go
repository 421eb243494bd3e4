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
	"strings"
	"time"

	"sibyl/internal/council"
	"sibyl/internal/council/persona"
	"sibyl/internal/council/session"
)

// The addresses of the Council.
const (
	councilPath     = "/api/council"
	councilSessions = councilPath + "/sessions"
	councilSession  = councilSessions + "/{session}"
)

// What a route about a session of the Council may answer beside its success.
var (
	councilReads  = []int{http.StatusConflict}
	councilWrites = []int{http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusInsufficientStorage}
)

type councilList struct {
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many at most."`
	After string `query:"after" doc:"Where the list goes on: next of the part before, which is the id of its last session."`
	Find  string `query:"find" maxLength:"200" doc:"Only those whose id begins so, or else whose name has this part."`
	Runs  string `query:"runs" maxLength:"200" doc:"Only the one that this session of runs is about: session_id of a run of the Council."`
}

// CouncilBegin is what a session of the Council begins with.
type CouncilBegin struct {
	Name     string `json:"name,omitempty" maxLength:"1000" doc:"Left out: it is called by the first words."`
	Language string `json:"language,omitempty" maxLength:"20" pattern:"^([A-Za-z0-9]{2,3}(-[A-Za-z0-9-]*)?)?$" patternDescription:"a language such as pt, en or de" doc:"What is spoken. Left out: it is found out."`
}

// CouncilChange is what of a session is to be another.
type CouncilChange struct {
	Name        *string                  `json:"name,omitempty" minLength:"1" maxLength:"1000"`
	Language    *string                  `json:"language,omitempty" maxLength:"20" pattern:"^([A-Za-z0-9]{2,3}(-[A-Za-z0-9-]*)?)?$" patternDescription:"a language such as pt, en or de" doc:"Empty: it is found out."`
	Preferences CouncilChangePreferences `json:"ui_preferences,omitempty"`
}

// CouncilChangePreferences are those that are to be others.
type CouncilChangePreferences struct {
	SimplifiedButtons *bool `json:"simplified_buttons,omitempty"`
	IncludeLLMHistory *bool `json:"include_llm_history,omitempty"`
}

// CouncilPath is in the address of whatever is about a session of the Council.
type CouncilPath struct {
	Session string `path:"session" doc:"The id of the session."`
}

// councilRoutes are those of the Council: what the command line can do with it.
func (s *Server) councilRoutes() {
	if s.config.Council == nil {
		return
	}
	const tag = "council"
	s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[CouncilExport](), true, "")
	register(s, route{id: "listCouncilSessions", method: http.MethodGet, path: councilSessions, tag: tag, summary: "The sessions of the Council, the newest first", whole: true, problems: councilReads}, s.councilSessions)
	register(s, route{id: "beginCouncilSession", method: http.MethodPost, path: councilSessions, tag: tag, summary: "Begin a session of the Council", status: http.StatusCreated,
		problems: councilWrites}, s.beginCouncil)
	register(s, route{id: "getCouncilSession", method: http.MethodGet, path: councilSession, tag: tag, summary: "What a session of the Council holds", whole: true, problems: councilReads}, s.getCouncil)
	register(s, route{id: "changeCouncilSession", method: http.MethodPatch, path: councilSession, tag: tag, summary: "Give a session another name, language or preferences", problems: councilWrites}, s.changeCouncil)
	register(s, route{id: "deleteCouncilSession", method: http.MethodDelete, path: councilSession, tag: tag, summary: "Move a session to the trash", problems: []int{http.StatusConflict, http.StatusInsufficientStorage}}, s.deleteCouncil)
	register(s, route{id: "exportCouncilSession", method: http.MethodGet, path: councilSession + "/export", tag: tag, summary: "A session with all its words, as a file", whole: true, problems: councilReads,
		content: []mediaType{{exportTypes["md"], "", "For people."}, {jsonType, "CouncilExport", ""}}}, s.exportCouncil)
	register(s, route{id: "repairCouncilSession", method: http.MethodPost, path: councilSession + "/repair", tag: tag, summary: "Check a session against its folder, and put right what can be",
		problems: []int{http.StatusConflict, http.StatusInsufficientStorage}}, s.repairCouncil)
	register(s, route{id: "searchCouncil", method: http.MethodGet, path: councilPath + "/search", tag: tag, summary: "Find words in all that was said and answered", whole: true}, s.searchCouncil)
	register(s, route{id: "listCouncilOracles", method: http.MethodGet, path: councilPath + "/oracles", tag: tag, summary: "The oracles of this server"}, s.councilOracles)
	register(s, route{id: "getCouncilOracle", method: http.MethodGet, path: councilPath + "/oracles/{oracle}", tag: tag, summary: "An oracle with its text"}, s.councilOracle)
	s.councilEntryRoutes(tag)
	s.councilRunRoutes(tag)
	s.sittingRoutes(tag)
}

// opened is a session of who asks, with the desk that it lies on.
type opened struct {
	council.Opened
	desk *council.Desk
	tell func(string) string // a remark without what is this machine's alone
}

// opened opens a session of who asks; what its runs have left is put right first, if who asks may change anything.
func (s *Server) opened(ctx context.Context, id string) (o opened, err error) {
	if o.desk, o.tell, err = s.desk(ctx, id); err != nil {
		return o, err
	}
	if exchangeOf(ctx).token.Scope.Allows(neededToMend) {
		o.Opened, err = o.desk.OpenID(ctx, id)
	} else {
		o.Session, err = o.desk.Get(ctx, id)
	}
	return o, err
}

// desk opens the sessions of who asks, for a request about all of them or about those of these ids.
func (s *Server) desk(ctx context.Context, ids ...string) (d *council.Desk, tell func(string) string, err error) {
	for _, id := range ids {
		if _, err := known(id); err != nil {
			return nil, nil, err
		}
	}
	if d, err = s.config.Council.Desk(exchangeOf(ctx).owner()); err != nil {
		return nil, nil, err
	}
	return d, withoutFolder(d.Path("")), nil
}

func (s *Server) councilSessions(ctx context.Context, in *councilList) (*of[CouncilSessions], error) {
	if in.After != "" && (len(in.After) < sessionStamp || !isID(in.After)) {
		return nil, newProblem(http.StatusBadRequest, "invalid_request", "The parameter after is no place in a list.", "Take next of the part of the list before, as it is.")
	}
	desk, tell, err := s.desk(ctx)
	if err != nil {
		return nil, err
	}
	all, skipped, err := desk.List(ctx)
	if err != nil {
		return nil, err
	}
	if in.Find != "" {
		found, err := desk.Find(ctx, in.Find)
		if err != nil {
			return nil, err
		}
		all = slices.DeleteFunc(all, func(m session.Session) bool {
			return !slices.ContainsFunc(found, func(f session.Session) bool { return f.ID == m.ID })
		})
	}
	if in.Runs != "" {
		all = slices.DeleteFunc(all, func(m session.Session) bool { return !desk.IsAbout(in.Runs, m.ID) })
	}
	all = slices.DeleteFunc(all, func(m session.Session) bool { return in.After != "" && !olderThan(m.ID, in.After) })
	f := CouncilSessions{Sessions: forms(all[:min(in.Limit, len(all))], councilSummaryForm),
		Skipped: forms(skipped, func(one session.Skipped) CouncilSkipped { return CouncilSkipped{one.ID, tell(one.Reason)} })}
	if len(all) > in.Limit {
		f.Next = all[in.Limit-1].ID
	}
	return &of[CouncilSessions]{f}, nil
}

// sessionStamp is the length of a session's second, with which its id begins: 2025-12-20_10-30-00.
const sessionStamp = len("2025-12-20_10-30-00")

// olderThan says that a session comes after another in a list, which need not be there any more: the number behind the second has no leading
// zeros but those that it needs for two digits.
func olderThan(id, other string) bool {
	second, rest, otherSecond, otherRest := id[:sessionStamp], id[sessionStamp:], other[:sessionStamp], other[sessionStamp:]
	return cmp.Or(strings.Compare(second, otherSecond), cmp.Compare(len(rest), len(otherRest)), strings.Compare(rest, otherRest)) < 0
}

// councilAt is a session of the Council that was begun, with its address.
type councilAt struct {
	Location string `header:"Location"`
	Body     CouncilSession
}

func (s *Server) beginCouncil(ctx context.Context, in *of[CouncilBegin]) (*councilAt, error) {
	desk, tell, err := s.desk(ctx)
	if err != nil {
		return nil, err
	}
	made, err := desk.New(ctx, in.Body.Name, in.Body.Language)
	if err != nil {
		return nil, err
	}
	return &councilAt{Location: councilSessions + "/" + made.ID, Body: councilSessionForm(council.Opened{Session: made}, tell)}, nil
}

func (s *Server) getCouncil(ctx context.Context, in *CouncilPath) (*of[CouncilSession], error) {
	o, err := s.opened(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	return &of[CouncilSession]{councilSessionForm(o.Opened, o.tell)}, nil
}

// changeCouncil checks the language, and then changes the name first: it alone can still be wrong, so that a request is carried out whole or not at all.
func (s *Server) changeCouncil(ctx context.Context, in *struct {
	CouncilPath
	Body CouncilChange
}) (*of[CouncilSession], error) {
	o, err := s.opened(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	b := in.Body
	if b.Language != nil {
		if err := session.CheckLanguage(*b.Language); err != nil {
			return nil, err
		}
	}
	if b.Name != nil {
		if _, err = o.desk.Rename(ctx, o.ID, *b.Name, session.ByPerson); err != nil {
			return nil, err
		}
	}
	set := session.Settings{Language: b.Language, IncludeLLMHistory: b.Preferences.IncludeLLMHistory, SimplifiedButtons: b.Preferences.SimplifiedButtons}
	o.Session, err = o.desk.Set(ctx, o.ID, set)
	return &of[CouncilSession]{councilSessionForm(o.Opened, o.tell)}, err
}

// deleteCouncil also deletes a session that can't be read any more.
func (s *Server) deleteCouncil(ctx context.Context, in *CouncilPath) (*of[CouncilTrashed], error) {
	desk, _, err := s.desk(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	where, err := desk.Delete(ctx, in.Session)
	return &of[CouncilTrashed]{CouncilTrashed{ID: in.Session, Trash: filepath.Base(where)}}, err
}

func (s *Server) exportCouncil(ctx context.Context, in *struct {
	CouncilPath
	Format string `query:"format" enum:"md,json" default:"md"`
}) (*export, error) {
	o, err := s.opened(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	x, err := o.desk.Export(ctx, o.ID)
	if err != nil {
		return nil, err
	}
	text := o.tell(x.Markdown())
	if in.Format == "json" {
		if text, err = encode(councilExportForm(x, o.tell), true); err != nil {
			return nil, err
		}
	}
	return &export{exportTypes[in.Format], `attachment; filename="council-` + o.ID + "." + in.Format + `"`, []byte(text)}, nil
}

// repairCouncil also repairs a session that can't be read any more.
func (s *Server) repairCouncil(ctx context.Context, in *CouncilPath) (*of[CouncilRepaired], error) {
	desk, tell, err := s.desk(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	_, err = desk.Get(ctx, in.Session)
	if _, damaged := errors.AsType[*session.Damaged](err); err != nil && !damaged {
		return nil, err
	}
	all, err := desk.Repair(ctx, []string{in.Session})
	if err != nil || len(all) != 1 {
		return nil, cmp.Or(err, session.ErrNotFound)
	}
	return &of[CouncilRepaired]{councilRepairedForm(all[0], tell)}, nil
}

func (s *Server) searchCouncil(ctx context.Context, in *struct {
	Words string `query:"q" required:"true" minLength:"1" maxLength:"1000" doc:"The words; all must be there."`
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"10" doc:"How many at most."`
}) (*of[CouncilHits], error) {
	desk, _, err := s.desk(ctx)
	if err != nil {
		return nil, err
	}
	hits, err := desk.Search(ctx, in.Words, in.Limit)
	if err != nil {
		return nil, err
	}
	return &of[CouncilHits]{CouncilHits{forms(hits, func(h session.Hit) CouncilHit {
		return CouncilHit{Session: h.Session, Name: h.Name, ID: h.ID, At: h.At, Passage: h.Passage}
	})}}, nil
}

// shelf lists the oracles.
func (s *Server) shelf(ctx context.Context) (persona.Listing, error) {
	list, err := s.config.Council.Oracles.List(ctx)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		_ = s.problem(ctx, err) // whoever runs the server is told
		return list, newProblem(http.StatusServiceUnavailable, "no_oracles", "The oracles of this server can't be read.", "Whoever runs the server has to look after their folder.").after(time.Minute)
	}
	return list, err
}

func (s *Server) councilOracles(ctx context.Context, _ *none) (*of[CouncilOracles], error) {
	all, err := s.shelf(ctx)
	if err != nil {
		return nil, err
	}
	return &of[CouncilOracles]{CouncilOracles{Oracles: forms(all.Oracles, councilOracleForm), Skipped: forms(all.Skipped, func(one persona.Skipped) CouncilSkippedOracle {
		return CouncilSkippedOracle{filepath.Base(one.File), withoutFolder(filepath.Dir(one.File))(one.Reason)}
	})}}, nil
}

func (s *Server) councilOracle(ctx context.Context, in *struct {
	Oracle string `path:"oracle" doc:"The id of the oracle."`
}) (*of[CouncilPersona], error) {
	all, err := s.shelf(ctx)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(all.Oracles, func(p persona.Persona) bool { return p.ID == in.Oracle })
	if at < 0 {
		return nil, persona.ErrNotFound
	}
	p := all.Oracles[at]
	return &of[CouncilPersona]{CouncilPersona{councilOracleForm(p), p.Content}}, nil
}
