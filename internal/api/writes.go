package api

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"sibyl/internal/files"
	"sibyl/internal/journal"
	"sibyl/internal/render"
	"sibyl/internal/tool"
)

// Notes gives what assistants have written into folders of notes, by owner. Undo undoes the write of that id; done is
// false if it was undone before. A note that has changed since is left as it is, with a *files.UndoError.
type Notes struct {
	Writes func(ctx context.Context, owner journal.Owner) ([]files.Replaced, error)
	Undo   func(ctx context.Context, owner journal.Owner, id string) (w files.Replaced, done bool, err error)
	// Written gives what a write replaced, and the note as it is now, without secrets.
	Written func(ctx context.Context, owner journal.Owner, id string) (before, now []byte, err error)
}

// Write is one write of an assistant to a note.
type Write struct {
	ID     string    `json:"id"`
	Run    string    `json:"run,omitempty" doc:"That wrote. Left out: it is not known."`
	At     time.Time `json:"at"`
	Folder string    `json:"folder" doc:"The name of the folder, as options of an assistant name it."`
	Path   string    `json:"path" doc:"Of the note, in the folder."`
	Action string    `json:"action" doc:"The tool that wrote."`
	Made   bool      `json:"made" doc:"There was no such note before."`
	Undone bool      `json:"undone" doc:"It was taken back."`
}

// Writes is a list of writes.
type Writes struct {
	Writes []Write `json:"writes" doc:"The latest first, 200 at most."`
}

// Written is a write with the texts before it and now.
type Written struct {
	Write
	Before string `json:"before" doc:"What it replaced."`
	Now    string `json:"now" doc:"The note as it is now."`
}

// Undone is a write that was undone.
type Undone struct {
	Write
	Done bool `json:"done" doc:"It was taken back by this request, and not before."`
}

// mostWrites bounds the list of writes; a write that is not listed can be undone as well.
const mostWrites = 200

// WritePath is the part of an address that names a write.
type WritePath struct {
	Write string `path:"write" doc:"The id of the write."`
}

func (s *Server) writeRoutes() {
	if s.config.Notes == nil {
		return
	}
	const tag = "notes"
	registerForm(s, route{id: "listWrites", at: "GET /api/writes", tag: tag,
		summary: "What assistants wrote into your notes lately"}, s.listWrites)
	registerForm(s, route{id: "readWrite", at: "GET /api/writes/{write}", tag: tag,
		summary: "What a write replaced, and the note as it is now"}, s.readWrite)
	registerForm(s, route{id: "undoWrite", at: "POST /api/writes/{write}/undo", tag: tag,
		summary: "Put back what a write to a note replaced"}, s.undoWrite)
}

func (s *Server) listWrites(ctx context.Context, in *struct {
	Run string `query:"run" doc:"Only those of this run."`
}) (Writes, error) {
	all, err := s.writesOfUser(ctx)
	if in.Run != "" {
		all = slices.DeleteFunc(all, func(w Write) bool { return w.Run != in.Run })
	}
	return Writes{all[:min(len(all), mostWrites)]}, err
}

// writesOfUser lists the writes of the requesting user, undone ones too, in folders that the user may name.
func (s *Server) writesOfUser(ctx context.Context) (all []Write, err error) {
	x := infoOf(ctx)
	kept, err := s.config.Notes.Writes(ctx, x.owner())
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for name, path := range s.config.Folders(x.token.User) {
		if was, known := names[path]; !known || name < was {
			names[path] = name
		}
	}
	for _, w := range kept {
		if name, may := names[w.Folder]; may && w.Action != files.ActionUndo {
			run, _, _ := strings.Cut(w.Key, "/") // a run and its operation
			all = append(all, Write{ID: w.ID, Run: run, At: w.At, Folder: name, Path: w.Path, Action: w.Action,
				Made: w.Before == "", Undone: w.Undone != ""})
		}
	}
	return all, nil
}

// findWrite finds a write of the requesting user by its id.
func (s *Server) findWrite(ctx context.Context, id string) (w Write, err error) {
	all, err := s.writesOfUser(ctx)
	if err != nil {
		return w, err
	}
	at := slices.IndexFunc(all, func(w Write) bool { return w.ID == id })
	if at < 0 {
		return w, newProblem(http.StatusNotFound, "not_found", "There is no write of that id here.",
			"GET /api/writes lists those that can be taken back.")
	}
	return all[at], nil
}

func (s *Server) readWrite(ctx context.Context, in *WritePath) (none Written, err error) {
	w, err := s.findWrite(ctx, in.Write)
	if err != nil {
		return none, err
	}
	before, now, err := s.config.Notes.Written(ctx, ownerOf(ctx), w.ID)
	if err != nil {
		return none, undoProblem(err)
	}
	return Written{w, render.Clean(string(before)), render.Clean(string(now))}, nil
}

func (s *Server) undoWrite(ctx context.Context, in *WritePath) (none Undone, err error) {
	w, err := s.findWrite(ctx, in.Write)
	if err != nil {
		return none, err
	}
	_, done, err := s.config.Notes.Undo(context.WithoutCancel(ctx), ownerOf(ctx), w.ID)
	if err != nil {
		return none, undoProblem(err)
	}
	w.Undone = true
	return Undone{w, done}, nil
}

// undoProblem is the problem of a write that could not be undone. Other errors are returned unchanged.
func undoProblem(err error) error {
	refused, _ := errors.AsType[*tool.Error](err)
	switch {
	case refused == nil || refused.Kind == tool.Failed:
		return err
	case refused.Kind == tool.Timeout:
		return newProblem(http.StatusServiceUnavailable, "busy", "Another program is writing to these notes.",
			"Try again.").after(time.Second)
	}
	return newProblem(http.StatusConflict, "refused",
		"The note can't be written as things are, so it is left as it is.",
		"It may be a link, a folder or read-only by now, or its folder may be away.")
}
