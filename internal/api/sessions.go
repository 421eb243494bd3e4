package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"sibyl/internal/journal"
	"sibyl/internal/service"
)

// Paging bounds a list, and says where it continues.
type Paging struct {
	Limit int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"How many at most."`
	After string `query:"after" doc:"Where the list goes on: next of the part before."`
}

// cursor reads where a list continues.
func (p Paging) cursor() (journal.Cursor, error) {
	c, err := journal.ParseCursor(p.After)
	if err != nil || !c.IsZero() && !isID(c.ID) {
		return c, noPlace()
	}
	return c, nil
}

func noPlace() *Problem {
	return badRequest("The parameter after is no place in a list.", "Take next of the part of the list before, as it is.")
}

// nextCursor says where a list continues after its last entry; "" if there are fewer entries than were asked for.
func nextCursor[T interface{ Cursor() journal.Cursor }](limit int, all []T) string {
	if len(all) < limit {
		return ""
	}
	return all[len(all)-1].Cursor().String()
}

// isID says whether a text can be an id or a name. Anything else is not looked up.
func isID(text string) bool {
	for _, r := range text {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.' {
			return false
		}
	}
	return text != "" && len(text) <= 64
}

// checkFilters refuses a filter that can't select anything, as it is no id or name.
func checkFilters(names ...string) error {
	for _, name := range names {
		if name != "" && !isID(name) {
			return badRequest("A list can't be filtered so.", "Ids and names are of ASCII letters, digits, ‘-’, ‘_’ and ‘.’.")
		}
	}
	return nil
}

type sessionList struct {
	Paging
	Assistant string `query:"assistant" doc:"Only those of this assistant."`
	Talks     bool   `query:"talks" doc:"Without those whose words lie elsewhere: the Council lists its sessions itself."`
	Find      string `query:"find" maxLength:"200" doc:"Only those with this in their title, whatever the case of its letters from A to Z."`
}

// SessionPath is the part of an address that names a session. Like Paging and RunPath it has a capital letter because
// huma looks for no parameters in embedded types that have none.
type SessionPath struct {
	Session string `path:"session" doc:"The id of the session."`
}

// BranchOf names a branch of a session by a run of it.
type BranchOf struct {
	Of string `query:"of" doc:"The id of a run: the branch that it is of, with what was last said there. Left out: the branch of the latest run."`
}

// Title is the name of a session.
type Title struct {
	Title string `json:"title" minLength:"1" maxLength:"1000" doc:"What is beyond 72 characters is cut off."`
}

func (s *Server) sessionRoutes() {
	const all, one, tag = "/api/sessions", "/api/sessions/{session}", "sessions"
	registerForm(s, route{id: "listSessions", at: "GET " + all, tag: tag, summary: "The sessions, the last used first"},
		s.listSessions)
	registerForm(s, route{id: "getSession", at: "GET " + one, tag: tag, summary: "A session with what came of its runs",
		whole: true}, s.getSession)
	registerForm(s, route{id: "listBranch", at: "GET " + one + "/branch", tag: tag,
		summary: "The runs of a branch of a session, the latest first, with their versions"}, s.listBranch)
	registerForm(s, route{id: "renameSession", at: "PATCH " + one, tag: tag, summary: "Give a session another title"},
		s.renameSession)
	register(s, route{id: "deleteSession", at: "DELETE " + one, tag: tag,
		summary: "Delete a session with its runs and records"}, s.deleteSession)
	register(s, route{id: "exportSession", at: "GET " + one + "/export", tag: tag, summary: "A session as a file",
		whole: true, content: []mediaType{
			{exportTypes["md"], "", "For people."},
			{exportTypes["html"], "", "For people: one page, which leads back to no server."},
			{exportTypes["json"], "Conversation", ""},
			{exportTypes["jsonl"], "", "The outcomes of its runs, one a line."}}}, s.exportSession)
	registerForm(s, route{id: "auditSession", at: "GET " + one + "/audit", tag: tag,
		summary: "All that was decided and done in a session", whole: true}, s.auditSession)
	registerForm(s, route{id: "costsByDay", at: "GET /api/costs", tag: tag,
		summary: "What models took and cost, by day and model"}, s.costsByDay)
	registerForm(s, route{id: "sessionCosts", at: "GET " + one + "/costs", tag: tag,
		summary: "What the runs of a session cost, where models have prices", whole: true}, s.sessionCosts)
	registerForm(s, route{id: "find", at: "GET /api/find", tag: tag, whole: true,
		summary: "Find words in titles, and in all that was asked, said and answered"}, s.find)
}

func (s *Server) listSessions(ctx context.Context, in *sessionList) (f Sessions, err error) {
	after, err := in.cursor()
	if err == nil {
		err = checkFilters(in.Assistant)
	}
	if err != nil {
		return f, err
	}
	wanted := journal.SessionFilter{Assistant: in.Assistant, Title: in.Find, Limit: in.Limit, After: after}
	list := s.config.Service.Sessions
	if in.Talks {
		list = s.config.Service.Talks
	}
	f.Sessions, err = list(ctx, ownerOf(ctx), wanted)
	f.Next = nextCursor(in.Limit, f.Sessions)
	return f, err
}

func (s *Server) getSession(ctx context.Context, in *struct {
	SessionPath
	BranchOf
	Brief bool `query:"brief" doc:"Without its exchanges."`
}) (c service.Conversation, err error) {
	if in.Brief {
		c.Session, err = s.config.Service.Session(ctx, ownerOf(ctx), in.Session)
	} else {
		c, err = s.config.Service.Show(ctx, ownerOf(ctx), in.Session, in.Of)
	}
	if err != nil {
		return c, err
	}
	if c.Setup, err = s.config.Service.Setup(ctx, c.Session, in.Of); errors.Is(err, journal.ErrCorrupt) {
		err = nil // what was said can be read without it
	}
	if err == nil && c.Setup != nil {
		t := infoOf(ctx).token
		c.Setup.Code, c.Setup.Vault = s.folderName(t, c.Setup.Code), s.folderName(t, c.Setup.Vault)
	}
	return c, err
}

func (s *Server) listBranch(ctx context.Context, in *struct {
	SessionPath
	BranchOf
	Paging
}) (f Branch, err error) {
	after, err := in.cursor()
	if err != nil {
		return f, err
	}
	f.Runs, err = s.config.Service.Branch(ctx, ownerOf(ctx), in.Session, in.Of, in.Limit, after)
	f.Next = nextCursor(in.Limit, f.Runs)
	return f, err
}

func (s *Server) renameSession(ctx context.Context, in *struct {
	SessionPath
	Body Title
}) (none journal.Session, err error) {
	owner := ownerOf(ctx)
	if err := s.config.Service.Rename(ctx, owner, in.Session, in.Body.Title); err != nil {
		return none, err
	}
	return s.config.Service.Session(ctx, owner, in.Session)
}

func (s *Server) deleteSession(ctx context.Context, in *SessionPath) (*noInput, error) {
	return nil, s.config.Service.Delete(ctx, ownerOf(ctx), in.Session)
}

// exportTypes are the content types of exports.
var exportTypes = map[string]string{"md": "text/markdown; charset=utf-8", "html": "text/html; charset=utf-8",
	"json": jsonType, "jsonl": "application/jsonl"}

// export is an answer that is a file.
type export struct {
	ContentType        string `header:"Content-Type" hidden:"true"`
	ContentDisposition string `header:"Content-Disposition"`
	Policy             string `header:"Content-Security-Policy" hidden:"true"` // empty: as all answers have it
	Body               []byte
}

func newExport(what, id, format string, text []byte) *export {
	return &export{ContentType: exportTypes[format], ContentDisposition: `attachment; filename="` + what + "-" + id +
		"." + format + `"`, Body: text}
}

func (s *Server) exportSession(ctx context.Context, in *struct {
	SessionPath
	BranchOf
	Format string `query:"format" enum:"md,html,json,jsonl" default:"md"`
}) (*export, error) {
	c, err := s.config.Service.Show(ctx, ownerOf(ctx), in.Session, in.Of)
	if err != nil {
		return nil, err
	}
	text, err := c.Export(in.Format, encodeForFile)
	return newExport("session", in.Session, in.Format, []byte(text)), err
}

// encodeForFile encodes a value as JSON for a file.
func encodeForFile(v any, indent bool) (string, error) {
	b := &bytes.Buffer{}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if indent {
		enc.SetIndent("", "  ")
	}
	err := enc.Encode(v)
	return b.String(), err
}

func (s *Server) auditSession(ctx context.Context, in *SessionPath) (service.SessionAudit, error) {
	return s.config.Service.Audit(ctx, ownerOf(ctx), in.Session)
}

func (s *Server) sessionCosts(ctx context.Context, in *SessionPath) (service.Costs, error) {
	return s.config.Service.Costs(ctx, ownerOf(ctx), in.Session)
}
