package api

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"sibyl/internal/council/session"
)

// CouncilUpload is a recording that arrives in pieces while it is made.
type CouncilUpload struct {
	ID     string    `json:"upload"`
	Pieces int       `json:"pieces" doc:"The first so many are here. None, once the recording is made."`
	Bytes  int64     `json:"bytes" doc:"That these have."`
	At     time.Time `json:"at,omitzero" doc:"When the last of them came."`
	Entry  int       `json:"entry,omitempty" doc:"The sequence of the recording that was made of them. Left out until it is."`
}

// CouncilUploads are the recordings of a session that have not arrived whole.
type CouncilUploads struct {
	Uploads []CouncilUpload `json:"uploads" doc:"The latest first."`
}

// CouncilUploadPath is in the address of whatever is about a recording that arrives in pieces.
type CouncilUploadPath struct {
	CouncilPath
	Upload string `path:"upload" maxLength:"36" doc:"A UUID in lower case, which whoever sends it has chosen."`
}

// councilPiece is a piece of a recording.
type councilPiece struct {
	CouncilUploadPath
	Number   int    `path:"number" minimum:"1" doc:"From 1 on, in order."`
	Checksum string `query:"checksum" required:"true" pattern:"^sha256:[0-9a-f]{64}$" patternDescription:"sha256: and 64 hex digits" doc:"Of the piece."`
}

// CouncilWhole says of what a recording is to be made.
type CouncilWhole struct {
	Pieces int    `json:"pieces" minimum:"1" doc:"Of how many pieces, from the first on."`
	Name   string `json:"name,omitempty" maxLength:"1000" doc:"What the recording is called."`
}

// addedAt is what was added to a session, with the address of the run that writes it down.
type addedAt struct {
	Location string `header:"Location"`
	Body     CouncilAdded
}

func (s *Server) councilUploadRoutes(tag string) {
	const uploads, one = councilSession + "/uploads", councilSession + "/uploads/{upload}"
	const piece = one + "/pieces/{number}"
	kept := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[CouncilUpload](), true, "")
	register(s, route{id: "listCouncilUploads", method: http.MethodGet, path: uploads, tag: tag, summary: "The recordings of a session that have not arrived whole", problems: councilReads}, s.councilUploads)
	register(s, route{id: "getCouncilUpload", method: http.MethodGet, path: one, tag: tag, summary: "How far a recording has arrived", problems: councilReads}, s.councilUpload)
	register(s, route{id: "addCouncilPiece", method: http.MethodPut, path: piece, tag: tag, summary: "Add a piece of a recording, which may be sent again", takesFiles: true,
		problems: append([]int{http.StatusRequestTimeout}, councilWrites...), content: []mediaType{{jsonType, schemaOf(kept), ""}}}, s.addPiece)
	s.api.OpenAPI().Paths[piece].Put.RequestBody = &huma.RequestBody{Required: true, Description: "The piece as it is, 1 MiB at most.",
		Content: map[string]*huma.MediaType{octets: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}
	register(s, route{id: "finishCouncilUpload", method: http.MethodPost, path: one, tag: tag, summary: "Make a recording of the pieces, once", status: http.StatusCreated, problems: councilWrites}, s.finishUpload)
	register(s, route{id: "discardCouncilUpload", method: http.MethodDelete, path: one, tag: tag, summary: "Remove the pieces of a recording that is not to be made", problems: councilWrites}, s.discardUpload)
}

func schemaOf(s *huma.Schema) string { return s.Ref[len(schemasRef):] }

func councilUploadForm(d session.Delivery) CouncilUpload {
	return CouncilUpload{ID: d.ID, Pieces: d.Pieces, Bytes: d.Bytes, At: d.At, Entry: d.Entry}
}

func (s *Server) councilUploads(ctx context.Context, in *CouncilPath) (*of[CouncilUploads], error) {
	id, err := known(in.Session)
	if err != nil {
		return nil, err
	}
	all, err := s.config.Council.Deliveries(ctx, exchangeOf(ctx).owner(), id)
	return &of[CouncilUploads]{CouncilUploads{forms(all, councilUploadForm)}}, err
}

func (s *Server) councilUpload(ctx context.Context, in *CouncilUploadPath) (*of[CouncilUpload], error) {
	id, err := known(in.Session)
	if err != nil {
		return nil, err
	}
	d, err := s.config.Council.Delivery(ctx, exchangeOf(ctx).owner(), id, in.Upload)
	return &of[CouncilUpload]{councilUploadForm(d)}, err
}

// addPiece takes in a piece. It is in memory before the session is held for it, so that who sends slowly keeps nobody waiting.
func (s *Server) addPiece(ctx context.Context, in *councilPiece) (*huma.StreamResponse, error) {
	id, err := known(in.Session)
	if err != nil {
		return nil, s.problem(ctx, err).closing()
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		r, w := humago.Unwrap(c)
		d, err := s.takePiece(w, r, id, in)
		if err != nil {
			err = wordless{err}
		}
		s.end(w, r, http.StatusOK, councilUploadForm(d), err)
	}}, nil
}

func (s *Server) takePiece(w http.ResponseWriter, r *http.Request, id string, in *councilPiece) (d session.Delivery, err error) {
	body := s.newIntake(w, r)
	body.most = session.MaxPiece
	if p := body.announced(r.ContentLength); p != nil {
		return d, p
	}
	content, err := io.ReadAll(body)
	if err != nil {
		return d, cmp.Or(body.failure(), err)
	}
	return s.config.Council.AddPiece(r.Context(), exchangeOf(r.Context()).owner(), id,
		session.Piece{Delivery: in.Upload, Number: in.Number, Checksum: in.Checksum, Content: content, Most: s.config.Limits.Upload})
}

func (s *Server) finishUpload(ctx context.Context, in *struct {
	CouncilUploadPath
	Body CouncilWhole
}) (*addedAt, error) {
	o, tell, err := s.opened(ctx, in.Session)
	if err != nil {
		return nil, err
	}
	added, err := s.config.Council.Assemble(ctx, exchangeOf(ctx).owner(), o.ID, in.Upload, in.Body.Pieces, cmp.Or(in.Body.Name, "recording"))
	if err != nil {
		return nil, wordless{err}
	}
	out := &addedAt{Body: s.writeDown(ctx, o, added, tell)}
	if t := out.Body.Transcription; t != nil {
		out.Location = runPath(t.Run)
	}
	return out, nil
}

func (s *Server) discardUpload(ctx context.Context, in *CouncilUploadPath) (*struct{}, error) {
	id, err := known(in.Session)
	if err != nil {
		return nil, err
	}
	return nil, s.config.Council.Discard(ctx, exchangeOf(ctx).owner(), id, in.Upload)
}
