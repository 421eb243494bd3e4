package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"path"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"sibyl/internal/bt"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/render"
	"sibyl/internal/server/user"
)

// scopeToRepair is the scope that a user needs so that what a crash has left is repaired.
const scopeToRepair = user.Write

// CouncilWords are words that are added to a session as if they had been said.
type CouncilWords struct {
	Text string `json:"text" minLength:"1"`
}

// CouncilAdded is the result of adding an entry to a session.
type CouncilAdded struct {
	Session       string             `json:"session_id"`
	Name          string             `json:"name,omitempty" doc:"Of the session."`
	State         session.State      `json:"state" enum:"COLLECTING,TRANSCRIBING,TRANSCRIBED,READY,INTERRUPTED,ERROR"`
	Entry         session.AudioEntry `json:"entry"`
	Same          int                `json:"same_as,omitempty" doc:"The entry that has this very content already: entry is that one, and nothing was added."`
	Transcription *Begun             `json:"transcription,omitempty" doc:"The run that writes the recording down."`
	Waits         string             `json:"not_transcribed,omitempty" doc:"Why there is no such run. The recording is kept."`
	WaitsKind     string             `json:"not_transcribed_kind,omitempty" doc:"What that is, for programs: a kind of problem."`
	Mended        []bt.Why           `json:"mended,omitempty" doc:"What was put right that a crash, a stop or a full disk had left."`
}

// CouncilTranscript is the text of an entry: heard in a recording, or typed in.
type CouncilTranscript struct {
	Entry  session.AudioEntry `json:"entry"`
	Text   string             `json:"text"`
	Spoken []session.Spoken   `json:"spoken" doc:"The text in parts, with when each is said. Empty where the transcriber told no times."`
}

// CouncilResponse is the answer of an oracle.
type CouncilResponse struct {
	Answer session.LlmEntry `json:"answer"`
	Text   string           `json:"text"`
	HTML   string           `json:"html" doc:"The same, in which nothing runs."`
}

// CouncilItem is the part of an address that names an entry or an answer of a session.
type CouncilItem struct {
	SessionPath
	Sequence int `path:"seq" minimum:"1" doc:"Its sequence in the session."`
}

func (s *Server) councilEntryRoutes(tag string) {
	const entries, entry, audio = councilSessionPath + "/entries", councilSessionPath + "/entries/{seq}", "/audio"
	schemas := s.api.OpenAPI().Components.Schemas
	added := schemas.Schema(reflect.TypeFor[CouncilAdded](), true, "")
	words := schemas.Schema(reflect.TypeFor[CouncilWords](), true, "")
	register(s, route{id: "addCouncilEntry", at: "POST " + entries, tag: tag,
		summary: "Add words, a recording, a text, a PDF or a DOCX to a session", status: http.StatusCreated,
		takesFiles: true,
		content:    []mediaType{{jsonType, "CouncilAdded", "The session has this very content already."}},
		also: []success{{http.StatusCreated, strings.TrimPrefix(added.Ref, schemasRef),
			"It was added. Location has the address of the run that writes it down, if there is one."}}}, s.addEntry)
	s.api.OpenAPI().Paths[entries].Post.RequestBody = fileBody(
		"Words as JSON, or a file: as it is, with its content type, or as the field ‘file’ of a form. It is "+
			"streamed, and may be larger than other bodies.",
		words, octets, "audio/*", "video/*", "text/plain", "text/markdown", pdfType, docxType)
	register(s, route{id: "getCouncilAudio", at: "GET " + entry + audio, tag: tag,
		summary: "A recording, whole or in part (Range)",
		content: []mediaType{{octets, "", "In the type of its content."}},
		also:    []success{{http.StatusPartialContent, "", "The part that was asked for."}}}, s.getCouncilAudio)
	registerForm(s, route{id: "getCouncilTranscript", at: "GET " + entry + "/transcript", tag: tag,
		summary: "What was heard in a recording, or typed in"}, s.getCouncilTranscript)
	registerForm(s, route{id: "getCouncilResponse", at: "GET " + councilSessionPath + "/responses/{seq}", tag: tag,
		summary: "What an oracle has answered"}, s.getCouncilResponse)
}

// FileName is the name of an uploaded file, which its body does not have.
type FileName struct {
	Name        string `query:"name" maxLength:"1000" doc:"What the file is called; else the header Content-Disposition says it."`
	Disposition string `header:"Content-Disposition" maxLength:"4000" doc:"As ‘attachment; filename=\"memo.ogg\"’."`
}

// fileName is the name from the query or the header; "" if neither has one.
func (in *FileName) fileName() string {
	_, params, err := mime.ParseMediaType(in.Disposition)
	if err != nil {
		params = nil
	}
	return cmp.Or(in.Name, params["filename"])
}

// councilUpload is a request that adds a file to a session.
type councilUpload struct {
	SessionPath
	FileName
}

// addEntry adds an entry to a session, and reads its body as it arrives.
func (s *Server) addEntry(ctx context.Context, in *councilUpload) (*huma.StreamResponse, error) {
	o, desk, err := s.openCouncil(ctx, in.Session)
	if err != nil {
		return nil, s.problem(ctx, err).closing()
	}
	return s.answerUpload(ctx, func(w http.ResponseWriter, r *http.Request) {
		added, err := s.addBody(w, r, desk, o.ID, in.fileName())
		if err != nil {
			refuse(w, s.problem(r.Context(), causeOnly{err}).closing())
			return
		}
		s.answerAdded(w, r, desk, o, added)
	})
}

// addBody adds the body of a request to a session: words as JSON, a file as it is, or the file in a form.
func (s *Server) addBody(
	w http.ResponseWriter, r *http.Request, desk *council.Desk, id, label string,
) (added session.Added, err error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	ending, isFile := fileEnding(kind)
	switch {
	case err != nil || r.Header.Get("Content-Encoding") != "" || !isFile && kind != jsonType && kind != formType:
		return added, newProblem(http.StatusUnsupportedMediaType, "not_audio",
			"This is nothing that can be added to a session.",
			"Send words as JSON, or a recording, a text, a PDF or a DOCX as it is, with its content type, not "+
				"compressed.")
	case kind == jsonType:
		return s.addWords(w, r, desk, id)
	}
	in, err := s.newIntake(w, r, s.config.Limits.Upload)
	if err != nil {
		return added, err
	}
	var from io.Reader = in
	if kind == formType {
		if label, from, err = fileInForm(in, params["boundary"]); err != nil {
			return added, in.readError(err)
		}
	}
	// the ending of its name says what it is
	if ext := path.Ext(label); ext == "" || strings.HasPrefix(kind, "text/") && ext != ".txt" && ext != ".md" {
		label = cmp.Or(label, "recording") + "." + ending
	}
	add := desk.AddAudio
	if s.config.AddAudio != nil {
		add = s.config.AddAudio
	}
	added, err = add(r.Context(), id, label, from)
	if err != nil {
		err = in.readError(err)
	}
	return added, err
}

func (s *Server) addWords(
	w http.ResponseWriter, r *http.Request, desk *council.Desk, id string,
) (added session.Added, err error) {
	if p := s.readBody(w, r, &huma.Operation{RequestBody: &huma.RequestBody{}}); p != nil {
		return added, p
	}
	raw, err := io.ReadAll(r.Body) // readBody has it in memory
	if err != nil {
		return added, err
	}
	var words CouncilWords
	if err := decodeStrictly(raw, &words); err != nil {
		return added, badRequest("The body is wrong: "+err.Error()+".", "It is an object with the property text.")
	}
	added.Entry, err = desk.AddText(r.Context(), id, words.Text)
	return added, err
}

// answerAdded begins the transcription of an added recording, and answers with the result of adding it.
func (s *Server) answerAdded(
	w http.ResponseWriter, r *http.Request, desk *council.Desk, o council.Opened, added session.Added,
) {
	ctx := context.WithoutCancel(r.Context()) // it is transcribed even if the client does not wait
	f := CouncilAdded{Session: o.ID, Name: o.Name, State: o.State, Entry: added.Entry, Same: added.Same,
		Mended: o.Fixed}
	if added.Entry.Status == session.Pending {
		begun, err := s.beginTranscription(ctx, o.ID, false, "")
		if err == nil {
			f.Transcription = &begun
			w.Header().Set("Location", runPath(begun.Run))
		} else { // it is added all the same
			p := s.problem(ctx, err)
			f.Waits, f.WaitsKind = p.Detail, p.Kind
		}
	}
	if now, err := desk.Get(ctx, o.ID); err == nil { // it may be deleted by now
		f.Name, f.State = now.Name, now.State
	}
	status := http.StatusCreated
	if added.Same != 0 {
		status = http.StatusOK
	}
	s.writeAnswer(w, r, status, f, nil)
}

// writeAnswer answers a request whose body was read as it arrived: with a form, or with the problem of an error.
func (s *Server) writeAnswer(w http.ResponseWriter, r *http.Request, status int, form any, err error) {
	var raw []byte
	if err == nil {
		raw, err = publicJSON(form, infoOf(r.Context()).hideFolders)
	}
	if err != nil {
		refuse(w, s.problem(r.Context(), err).closing())
		return
	}
	w.Header().Set("Content-Type", jsonType)
	w.WriteHeader(status)
	_, _ = w.Write(raw) // a client that does not wait gets none
}

func (s *Server) getCouncilAudio(ctx context.Context, in *CouncilItem) (*huma.StreamResponse, error) {
	desk, err := s.desk(ctx)
	if err != nil {
		return nil, err
	}
	release, p := s.startLasting(ownerOf(ctx))
	if p != nil {
		return nil, p
	}
	f, e, err := desk.OpenAudio(ctx, in.Session, in.Sequence)
	if err != nil {
		release()
		return nil, fileProblem(err)
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		defer release()
		defer func() { _ = f.Close() }() // opened for reading only
		r, w := humago.Unwrap(c)
		info, err := f.Stat()
		head := make([]byte, 512)
		n, readErr := f.ReadAt(head, 0)
		if err != nil || readErr != nil && !errors.Is(readErr, io.EOF) {
			refuse(w, s.problem(r.Context(), cmp.Or(err, readErr)))
			return
		}
		h := w.Header()
		h.Set("Content-Type", audioType(head[:n]))
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": e.File}))
		h.Set("ETag", strconv.Quote(strconv.FormatInt(info.Size(), 36)+"-"+strconv.FormatInt(info.ModTime().UnixNano(),
			36)))
		http.ServeContent(&timedWriter{w, s.config.Limits.Stall}, r, "", info.ModTime(), f)
	}}, nil
}

// audioType is the content type of a recording, by its first bytes. Anything else is plain bytes, so that no browser
// takes it for a page.
func audioType(head []byte) string {
	switch found := http.DetectContentType(head); {
	case strings.HasPrefix(found, "audio/"):
		return found
	case found == "application/ogg", found == "video/webm", found == "video/mp4":
		_, kind, _ := strings.Cut(found, "/")
		return "audio/" + kind
	case bytes.HasPrefix(head, []byte("fLaC")):
		return "audio/flac"
	case len(head) > 11 && string(head[4:11]) == "ftypM4A":
		return "audio/mp4"
	case len(head) > 1 && head[0] == 0xff && head[1]&0xe6 == 0xe2: // the beginning of a frame of layer III
		return "audio/mpeg"
	}
	return octets
}

func (s *Server) getCouncilTranscript(ctx context.Context, in *CouncilItem) (f CouncilTranscript, err error) {
	o, desk, err := s.openCouncil(ctx, in.Session)
	if err != nil {
		return f, err
	}
	f.Text, err = desk.Transcript(ctx, o.ID, in.Sequence)
	e := o.Entry(in.Sequence)
	if err != nil || e == nil {
		return f, fileProblem(cmp.Or(err, session.ErrNotFound))
	}
	f.Entry, f.Spoken = *e, e.Spoken(f.Text)
	return f, nil
}

func (s *Server) getCouncilResponse(ctx context.Context, in *CouncilItem) (f CouncilResponse, err error) {
	o, desk, err := s.openCouncil(ctx, in.Session)
	if err != nil {
		return f, err
	}
	f.Text, err = desk.ResponseText(ctx, o.ID, in.Sequence)
	a := o.Response(in.Sequence)
	if err != nil || a == nil {
		return f, fileProblem(cmp.Or(err, session.ErrNotFound))
	}
	f.Answer, f.HTML = *a, render.HTML(f.Text)
	return f, nil
}
