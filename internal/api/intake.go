package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
)

// The content types of files.
const (
	octets   = "application/octet-stream"
	formType = "multipart/form-data"
	pdfType  = "application/pdf"
	docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
)

// fileEnding says whether a body of a content type is a file that can be added to a session, and the ending of one that
// has no name.
func fileEnding(kind string) (ending string, isFile bool) {
	whole, part, _ := strings.Cut(kind, "/")
	switch {
	case kind == "text/plain":
		return "txt", true
	case kind == "text/markdown":
		return "md", true
	case kind == octets:
		return "bin", true
	case kind == pdfType:
		return "pdf", true
	case kind == docxType:
		return "docx", true
	case whole != "audio" && whole != "video" && kind != "application/ogg" || part == "":
		return "", false
	}
	part = strings.TrimPrefix(part, "x-")
	switch part {
	case "mpeg":
		return "mp3", true
	case "mp4":
		return "m4a", true
	case "wave", "vnd.wave":
		return "wav", true
	}
	return part, true
}

// The pace of a file that is taken in: so much of it has to arrive within Limits.Read, and so much is read at once.
const (
	intakePace = 32 << 10
	intakeRead = 32 << 10
)

// intake reads the body of a request as it arrives. It ends with a problem if it is too large, too slow, or breaks off.
// Its bytes are counted as those of its user; where they are used up it waits for more, and leaves a quarter of them to
// other requests.
type intake struct {
	s      *Server
	r      *http.Request
	out    *http.ResponseController
	bytes  *allowance
	most   int64 // that it may have
	size   int64
	due    int // bytes until the next deadline
	failed *Problem
}

// newIntake takes in so many bytes at most. It refuses what says beforehand that it is too large.
func (s *Server) newIntake(w http.ResponseWriter, r *http.Request, most int64) (*intake, error) {
	if r.ContentLength > most {
		return nil, tooLarge(most)
	}
	return &intake{s: s, r: r, out: http.NewResponseController(w),
		bytes: s.people.get(infoOf(r.Context()).owner()).bytes, most: most}, nil
}

// uploaded has do answer a request, and read its body as it arrives.
func (s *Server) uploaded(
	ctx context.Context, do func(w http.ResponseWriter, r *http.Request),
) (*huma.StreamResponse, error) {
	closed, p := s.openStream(ownerOf(ctx)) // an upload lasts, too
	if p != nil {
		return nil, p.closing()
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		defer closed()
		r, w := humago.Unwrap(c)
		do(w, r)
	}}, nil
}

// failure is why it ended early, else what whoever read it met.
func (in *intake) failure(err error) error {
	switch {
	case in.failed != nil:
		return in.failed
	case errors.Is(err, io.ErrUnexpectedEOF):
		return brokenBody()
	}
	return err
}

func brokenBody() *Problem {
	return newProblem(http.StatusBadRequest, "broken_body", "The body broke off.", "Send it whole.").closing()
}

func (in *intake) Read(p []byte) (int, error) {
	if in.failed != nil {
		return 0, in.failed
	}
	if in.due <= 0 {
		// Where it can't be set the server's own bound holds.
		_ = in.out.SetReadDeadline(time.Now().Add(in.s.config.Limits.Read))
		in.due = intakePace
	}
	n, err := in.r.Body.Read(p[:min(len(p), intakeRead, in.bytes.portion())])
	in.size += int64(n)
	in.due -= n
	var slow net.Error
	switch {
	case in.size > in.most:
		in.failed = tooLarge(in.most)
	case errors.As(err, &slow) && slow.Timeout():
		in.failed = newProblem(http.StatusRequestTimeout, "slow_body", "The body took too long to arrive.",
			fmt.Sprintf("Send at least %d KiB within %s.", intakePace>>10, in.s.config.Limits.Read)).closing()
	case err != nil && !errors.Is(err, io.EOF):
		in.failed = brokenBody()
	default:
		in.failed = in.spend(n)
	}
	if in.failed != nil {
		return 0, in.failed
	}
	return n, err
}

// bytesLook is how often it is looked, while a file waits, whether there are bytes again.
const bytesLook = 250 * time.Millisecond

// spend counts bytes, and waits where they are used up.
func (in *intake) spend(n int) *Problem {
	for {
		wait := in.bytes.spendLeavingReserve(in.s.config.Now(), n)
		if wait <= 0 {
			return nil
		}
		in.due = 0 // what it waited for was not who sends it
		again := time.NewTimer(min(wait, bytesLook))
		select {
		case <-again.C:
			continue
		case <-in.s.config.Leaving:
			again.Stop()
			return draining()
		case <-in.r.Context().Done():
			again.Stop()
			return problemOf(in.r.Context().Err())
		}
	}
}

// fileOf finds the file of a form, and what it is called. What comes before it is passed over.
func fileOf(from io.Reader, boundary string) (label string, file io.Reader, err error) {
	if boundary == "" {
		return "", nil, newProblem(http.StatusBadRequest, "invalid_request", "The form has no boundary.",
			"Its content type names one.")
	}
	form := multipart.NewReader(from, boundary)
	for {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return "", nil, newProblem(http.StatusBadRequest, "invalid_request", "The form has no file.",
				"It is the field ‘file’.")
		case errors.Is(err, io.ErrUnexpectedEOF):
			return "", nil, brokenBody()
		case err != nil:
			return "", nil, newProblem(http.StatusBadRequest, "invalid_request", "The form can't be read.",
				"Send it as browsers do, or send the file as it is.")
		case part.FormName() == "file":
			return part.FileName(), part, nil
		}
	}
}
