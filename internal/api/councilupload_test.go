package api_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/api"
	"sibyl/internal/files"
	"sibyl/internal/journal"
)

// recorded is the recording of the tests that arrives in pieces.
const recorded = "6f1c0c2e-7a3b-4b7e-9a55-0123456789ab"

func uploadPath(session string) string { return councils + "/" + session + "/uploads/" + recorded }

// sends is a piece of a recording.
func sends(session string, number int, text string) question {
	return question{method: "PUT", path: fmt.Sprintf("%s/pieces/%d?checksum=%s", uploadPath(session), number, files.Hash([]byte(text))), body: strings.NewReader(text),
		header: map[string]string{"Content-Type": "application/octet-stream"}}
}

// finishes makes a recording of pieces.
func finishes(session string, pieces int) question {
	return question{method: "POST", path: uploadPath(session), body: map[string]any{"pieces": pieces, "name": "memo.webm"}}
}

func TestRecordingArrivesInPiecesAndIsMadeAndWrittenDownOnce(t *testing.T) {
	h := withCouncil(t)
	var heard []string
	h.transcribe = func(_ context.Context, file string) (string, error) {
		content, err := os.ReadFile(file)
		heard = append(heard, string(content))
		return "What was said.", err
	}
	h.open()
	conforms := h.described()
	s := h.sitting("")
	var u api.CouncilUpload
	for n, text := range []string{"\x1aE\xdf\xa3 one", " two", " three"} {
		for range 2 { // the answer was lost
			conforms("a piece", "CouncilUpload", h.get(sends(s.ID, n+1, text), &u))
			same(t, "pieces", u.Pieces, n+1)
		}
	}
	var all api.CouncilUploads
	conforms("on its way", "CouncilUploads", h.get(question{path: councils + "/" + s.ID + "/uploads", token: adasReader}, &all))
	conforms("on its way", "CouncilUpload", h.get(question{path: uploadPath(s.ID), token: adasReader}, &u))
	if len(all.Uploads) != 1 || all.Uploads[0] != u || u.Pieces != 3 || u.Bytes != 18 || u.ID != recorded || u.Entry != 0 {
		t.Errorf("%+v %+v", all, u)
	}
	var first, again api.CouncilAdded
	a := h.get(finishes(s.ID, 3), &first)
	conforms("made", "CouncilAdded", a)
	if a.status != 201 || first.Transcription == nil || a.header.Get("Location") != "/api/runs/"+first.Transcription.Run || first.Entry.Original != "memo.webm" {
		t.Fatalf("%d %v %+v", a.status, a.header, first)
	}
	if r := h.ended("", first.Transcription.Run); r.Status != journal.Done {
		t.Errorf("%+v", r.Run)
	}
	if a := h.get(finishes(s.ID, 3), &again); again.Entry.Sequence != 1 || again.Transcription != nil || a.header.Get("Location") != "" {
		t.Errorf("made again: %v %+v", a.header, again)
	}
	h.get(sends(s.ID, 4, "late"), &u)
	same(t, "what late pieces are told", []int{u.Entry, u.Pieces}, []int{1, 0})
	h.get(question{path: councils + "/" + s.ID + "/uploads"}, &all)
	same(t, "on their way at the end", len(all.Uploads), 0)
	same(t, "what was written down", strings.Join(heard, "|"), "\x1aE\xdf\xa3 one two three")
	if h.get(question{path: councils + "/" + s.ID}, &s); len(s.Entries) != 1 {
		t.Errorf("%+v", s.Entries)
	}
}

func TestPiecesOfARecordingAreDiscarded(t *testing.T) {
	h := newHouse(t).open()
	s := h.sitting("")
	h.get(sends(s.ID, 1, "OggS"), nil)
	for range 2 {
		if a := h.ask(question{method: "DELETE", path: uploadPath(s.ID)}); a.status != 204 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	var u api.CouncilUpload
	h.get(question{path: uploadPath(s.ID)}, &u)
	same(t, "what is left", u, api.CouncilUpload{ID: recorded})
	h.holdsNothing(s.ID)
}

func TestPieceOrEndOfARecordingThatIsWrongIsRefused(t *testing.T) {
	h := newHouse(t)
	h.config.Limits.Upload = 10
	h.open()
	s := h.sitting("")
	h.get(sends(s.ID, 1, "OggS"), nil)
	with := func(q question, change func(*question)) question {
		change(&q)
		return q
	}
	at := func(old, other string) func(*question) {
		return func(q *question) { q.path = strings.Replace(q.path, old, other, 1) }
	}
	for about, c := range map[string]struct {
		question question
		status   int
		kind     string
	}{
		"of another user's session": {with(sends(s.ID, 2, "x"), func(q *question) { q.token = evesToken }), 404, "not_found"},
		"list of another user":      {question{path: councils + "/" + s.ID + "/uploads", token: evesToken}, 404, "not_found"},
		"state for another user":    {question{path: uploadPath(s.ID), token: evesToken}, 404, "not_found"},
		"made by another user":      {with(finishes(s.ID, 1), func(q *question) { q.token = evesToken }), 404, "not_found"},
		"discarded by another user": {question{method: "DELETE", path: uploadPath(s.ID), token: evesToken}, 404, "not_found"},
		"by who may only read":      {with(sends(s.ID, 2, "x"), func(q *question) { q.token = adasReader }), 403, "scope"},
		"made by who may only read": {with(finishes(s.ID, 1), func(q *question) { q.token = adasReader }), 403, "scope"},
		"of no session":             {sends("2020-01-01_00-00-00", 1, "x"), 404, "not_found"},
		"another in its place":      {sends(s.ID, 1, "hunter2"), 409, "pieces"},
		"after a gap":               {sends(s.ID, 3, "x"), 409, "pieces"},
		"the piece 0":               {with(sends(s.ID, 2, "x"), at("pieces/2", "pieces/0")), 400, "invalid_request"},
		"nothing":                   {sends(s.ID, 2, ""), 400, "invalid_request"},
		"of another checksum":       {with(sends(s.ID, 2, "x"), func(q *question) { q.body = strings.NewReader("y") }), 400, "broken_body"},
		"without a checksum":        {with(sends(s.ID, 2, "x"), at("checksum=sha256:", "checksum=")), 400, "invalid_request"},
		"of no UUID":                {with(sends(s.ID, 1, "x"), at(recorded, "hunter2")), 400, "invalid_request"},
		"of a path":                 {with(sends(s.ID, 1, "x"), at(recorded, "..%2F..%2Fhunter2")), 400, "invalid_request"},
		"more than may be":          {sends(s.ID, 2, "1234567"), 413, "too_large"},
		"more than a piece has":     {sends(s.ID, 2, strings.Repeat("x", 1<<20+1)), 413, "too_large"},
		"more, in chunks":           {with(sends(s.ID, 2, ""), func(q *question) { q.body = io.LimitReader(zeros{}, 1<<20+1) }), 413, "too_large"},
		"made of too many":          {finishes(s.ID, 2), 409, "pieces"},
		"made of none":              {finishes(s.ID, 0), 400, "invalid_request"},
		"made of what is not there": {with(finishes(s.ID, 1), at(recorded, strings.Replace(recorded, "6f", "7f", 1))), 409, "pieces"},
		"state of no UUID":          {with(question{path: uploadPath(s.ID)}, at(recorded, "hunter2")), 400, "invalid_request"},
	} {
		if a := h.refused(about, c.question, c.status, c.kind); strings.Contains(string(a.body), "hunter2") {
			t.Errorf("%s: the answer repeats what was sent: %s", about, a.body)
		}
	}
	left, err := filepath.Glob(filepath.Join(h.folder, "ada", s.ID, "audio", ".pieces", "*", "*"))
	if err != nil || len(left) != 1 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
	if log := h.log.text(); strings.Contains(log, "hunter2") {
		t.Errorf("the log repeats what was sent:\n%s", log)
	}
}

func TestRecordingsThatAreNotFinishedAreBounded(t *testing.T) {
	h := newHouse(t).open()
	s := h.sitting("")
	for n := range 9 {
		q := sends(s.ID, 1, "OggS")
		q.path = strings.Replace(q.path, recorded, fmt.Sprintf("00000000-0000-4000-8000-%012x", n), 1)
		if n < 8 {
			h.get(q, nil)
		} else {
			h.refused("one too many", q, 409, "too_many_uploads")
		}
	}
}
