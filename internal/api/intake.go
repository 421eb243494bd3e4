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

	"sibyl/internal/run"
)

// The content types of files.
const (
	octets   = "application/octet-stream"
	formType = "multipart/form-data"
	pdfType  = "application/pdf"
	docxType = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
)

// fileEnding says whether a body of a content type can be added to a session as a file, and the ending of its name.
func fileEnding(kind string) (ending string, isFile bool) {
	switch kind {
	case "text/plain":
		return "txt", true
	case "text/markdown":
		return "md", true
	case pdfType:
		return "pdf", true
	case docxType:
		return "docx", true
	}
	return recordingEnding(kind)
}

// recordingEnding is fileEnding for what may be a recording.
func recordingEnding(kind string) (ending string, isRecording bool) {
	whole, part, _ := strings.Cut(kind, "/")
	switch {
	case kind == octets:
		return "bin", true
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

// The pace of an upload: intakePace bytes have to arrive within Limits.Read, and intakeRead bytes are read at once.
const (
	intakePace = 32 << 10
	intakeRead = 32 << 10
)

// intake reads the body of a request as it arrives. It ends with a problem if the body is too large, too slow, or
// breaks off. It spends the byte allowance of its user; if that is used up it waits for more, and leaves a quarter of
// it to other requests.
type intake struct {
	s             *Server
	r             *http.Request
	out           *http.ResponseController
	bytes         *allowance
	most          int64 // that it may have
	size          int64
	untilDeadline int // bytes until the next deadline
	problem       *Problem
}

// newIntake makes an intake of at most so many bytes. It refuses a body whose announced length is larger.
func (s *Server) newIntake(w http.ResponseWriter, r *http.Request, most int64) (*intake, error) {
	if r.ContentLength > most {
		return nil, tooLarge(most)
	}
	return &intake{s: s, r: r, out: http.NewResponseController(w),
		bytes: s.people.get(infoOf(r.Context()).owner()).bytes, most: most}, nil
}

// answerUpload lets do answer a request and read its body as it arrives.
func (s *Server) answerUpload(
	ctx context.Context, do func(w http.ResponseWriter, r *http.Request),
) (*huma.StreamResponse, error) {
	release, p := s.startLasting(ownerOf(ctx))
	if p != nil {
		return nil, p.closing()
	}
	return &huma.StreamResponse{Body: func(c huma.Context) {
		defer release()
		r, w := humago.Unwrap(c)
		do(w, r)
	}}, nil
}

// readError is the problem that ended the reading early, else the error that the reader of the body got.
func (in *intake) readError(err error) error {
	switch {
	case in.problem != nil:
		return in.problem
	case errors.Is(err, io.ErrUnexpectedEOF):
		return brokenBody()
	}
	return err
}

func brokenBody() *Problem {
	return newProblem(http.StatusBadRequest, "broken_body", "The body broke off.", "Send it whole.").closing()
}

func (in *intake) Read(p []byte) (int, error) {
	if in.problem != nil {
		return 0, in.problem
	}
	if in.untilDeadline <= 0 {
		// Where it can't be set the server's own bound holds.
		_ = in.out.SetReadDeadline(time.Now().Add(in.s.config.Limits.Read))
		in.untilDeadline = intakePace
	}
	n, err := in.r.Body.Read(p[:min(len(p), intakeRead, in.bytes.portion())])
	in.size += int64(n)
	in.untilDeadline -= n
	var slow net.Error
	switch {
	case in.size > in.most:
		in.problem = tooLarge(in.most)
	case errors.As(err, &slow) && slow.Timeout():
		in.problem = slowBody(fmt.Sprintf("Send at least %d KiB within %s.", intakePace>>10,
			in.s.config.Limits.Read))
	case err != nil && !errors.Is(err, io.EOF):
		in.problem = brokenBody()
	default:
		in.problem = in.spend(n)
	}
	if in.problem != nil {
		return 0, in.problem
	}
	return n, err
}

// bytesPollInterval is how often a waiting upload checks whether its user has bytes to spend again.
const bytesPollInterval = 250 * time.Millisecond

// spend takes bytes from the user's allowance, and waits if it is used up.
func (in *intake) spend(n int) *Problem {
	for {
		wait := in.bytes.spendLeavingReserve(in.s.config.Now(), n)
		if wait <= 0 {
			return nil
		}
		in.untilDeadline = 0 // the sender did not cause this wait: the next read gets a new deadline
		timer := time.NewTimer(min(wait, bytesPollInterval))
		select {
		case <-timer.C:
			continue
		case <-in.s.config.Leaving:
			timer.Stop()
			return problemOf(run.ErrDraining)
		case <-in.r.Context().Done():
			timer.Stop()
			return problemOf(in.r.Context().Err())
		}
	}
}

// fileInForm finds the file in a form, and its name. It skips the fields before it.
func fileInForm(from io.Reader, boundary string) (label string, file io.Reader, err error) {
	if boundary == "" {
		return "", nil, badRequest("The form has no boundary.", "Its content type names one.")
	}
	form := multipart.NewReader(from, boundary)
	for {
		part, err := form.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return "", nil, badRequest("The form has no file.", "It is the field ‘file’.")
		case errors.Is(err, io.ErrUnexpectedEOF):
			return "", nil, brokenBody()
		case err != nil:
			return "", nil, badRequest("The form can't be read.", "Send it as browsers do, or send the file as it is.")
		case part.FormName() == "file":
			return part.FileName(), part, nil
		}
	}
}
