// Package scribe writes down what is said in an audio file, by whatever transcriber is set.
//
// Guarantees:
//   - What the transcriber can't take is converted, and what is too large or too long is split, its times put back; where the machine
//     can't do that, it is refused by name (ErrFormat, ErrTooLarge), with what would help.
//   - Silence is not sent: neither a file nor a part in which nobody speaks. What is doubtful in a transcript stays in it, and is flagged.
//   - Errors are *model.Error. None holds the path of a temporary file; a transcriber's own words are as it gives them.
//   - A part is sent again as model.RetryPolicy says, and the others are not. Cancelling ends all that goes on.
//   - What is made on the way lies in a folder that nobody else can read, and is removed before Transcribe returns.
//   - A Scribe is safe for concurrent use.
package scribe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sibyl/internal/model"
)

// Why a file is not transcribed: a *model.Error of kind Invalid wraps one of them.
var (
	ErrUnset      = errors.New("nothing is set that transcribes")
	ErrUnreadable = errors.New("the audio can't be read")
	ErrFormat     = errors.New("the transcriber does not take this format")
	ErrTooLarge   = errors.New("the audio is too large for the transcriber")
)

// Audio looks into audio files and changes them. Errors are of the file, unless the context is done.
type Audio interface {
	Probe(ctx context.Context, file string) (Info, error)

	// Convert writes file in the format that the ending of out names: wav (16 kHz, one channel), ogg (Opus) or flac.
	Convert(ctx context.Context, file, out string) error

	// Split writes parts of at most so many seconds, of the same format, into a folder.
	Split(ctx context.Context, file, folder string, seconds int) ([]Part, error)
}

// Info is what an audio file is. Nil: not known.
type Info struct {
	Format  string // "ogg", "webm", "wav", "mp3", "m4a", "flac"
	Codec   string
	Seconds *float64
	Silent  *bool
}

// Part is a piece of an audio file that begins at Start, in seconds.
type Part struct {
	File           string
	Start, Seconds float64
}

// Stretch is from when to when in an audio file, in seconds.
type Stretch struct{ Start, End float64 }

// Config is what a Scribe is made of. Only Audio is needed.
type Config struct {
	Transcriber model.Transcriber // nil: nothing is set
	By          string            // who that is, as "openai:whisper-1"; it stands in transcripts and errors
	Limits      Limits            // what it takes
	Language    string            // for files of which nobody says one, as "pt"; "": the transcriber finds out
	Retry       model.RetryPolicy

	// Problem says why what is set can't be used, as for want of a key, and Offers which programs of this machine would do. Missing
	// tells both.
	Problem string
	Offers  []string

	Audio Audio

	// Silences finds where nobody speaks in a file. Nil: that is not known of parts of one.
	Silences func(ctx context.Context, file string) ([]Stretch, error)

	Folder string // for what is made on the way; "": the system's own
}

// Transcript is what is said in a file. Language is as "pt", and "" where it is not known; By is "" where nobody had to be asked.
type Transcript struct {
	Text, Language, By string
	Seconds            float64 // 0: not known
	Flags              []Flag
	Times              []Time // none: the transcriber told none
}

// Time says when a part of a transcript is said.
type Time struct {
	At      int     // where it begins in Text, in bytes
	Seconds float64 // from the beginning of the file
}

// The kinds of flags.
const (
	Silence       = "silence"        // nobody speaks there, whatever the text says
	Ghost         = "ghost"          // likely the transcriber's own invention
	LowConfidence = "low_confidence" // the transcriber, or the pace of the words, casts doubt on it
)

// Flag marks what is doubtful. Text stands in the transcript, perhaps shortened; Start and End are in seconds, both 0 where no times are
// known.
type Flag struct {
	Kind, Text string
	Start, End float64
}

// Scribe transcribes files.
type Scribe struct{ Config }

// New returns a Scribe.
func New(c Config) *Scribe {
	if c.Limits.Bytes == 0 {
		c.Limits.Bytes = model.MaxAudio
	}
	return &Scribe{c}
}

// Missing says, in words for people, what would have to be set to transcribe; "" if it can.
func (s *Scribe) Missing() string {
	if s.Transcriber != nil {
		return ""
	}
	says := s.Problem
	if says == "" {
		says = "set transcription.model to a model that transcribes, such as openai:whisper-1, transcription.server to the address of a whisper.cpp server, " +
			"or transcription.command to a program that prints what is said in a file"
	}
	if len(s.Offers) > 0 {
		says += "; this machine has " + strings.Join(s.Offers, ", or ")
	}
	return says
}

// Listener hears how a transcription goes on. Either may be nil.
type Listener struct {
	Progress func(done, of int) // how many parts are done, at first and after each
	Wait     func(model.Wait)   // a part is sent again after a pause
}

// Transcribe writes down what is said in a file, given by its path. language is as "pt"; "": that of the Config.
func (s *Scribe) Transcribe(ctx context.Context, file, language string, l Listener) (Transcript, error) {
	progress := l.Progress
	if progress == nil {
		progress = func(int, int) {}
	}
	j := job{Scribe: s, file: file, language: base(language)}
	if l.Wait != nil {
		j.wait = func(w model.Wait) error {
			l.Wait(w)
			return nil
		}
	}
	if j.language == "" {
		j.language = base(s.Language)
	}
	if s.Transcriber == nil {
		return Transcript{}, j.refuse(ErrUnset, s.Missing())
	}
	info, err := s.Audio.Probe(ctx, file)
	if err != nil {
		return Transcript{}, j.failed(ctx, ErrUnreadable, err)
	}
	seconds := known(info.Seconds)
	if info.Silent != nil && *info.Silent {
		progress(1, 1)
		return Transcript{Seconds: seconds, Flags: []Flag{{Kind: Silence, End: seconds}}}, nil
	}
	if j.folder, err = os.MkdirTemp(s.Folder, "sibyl-audio-*"); err != nil {
		return Transcript{}, &model.Error{Kind: model.Server, Model: s.By, Message: "there is no room for what is made on the way: " + bare(err).Error()}
	}
	defer func() { _ = os.RemoveAll(j.folder) }()
	pieces, err := j.prepare(ctx, info)
	if err != nil {
		return Transcript{}, err
	}
	return j.all(ctx, pieces, seconds, progress)
}

// job is the transcription of one file.
type job struct {
	*Scribe
	file     string
	language string
	folder   string // of what is made on the way
	wait     func(model.Wait) error
}

// all transcribes the pieces, in order.
func (j *job) all(ctx context.Context, pieces []piece, seconds float64, progress func(done, of int)) (Transcript, error) {
	progress(0, len(pieces))
	var whole draft
	for i, p := range pieces {
		if p.silent {
			whole.silence(p)
		} else {
			said, err := j.one(ctx, p)
			if err != nil {
				return Transcript{}, partly(err, i+1, len(pieces))
			}
			silences, err := j.silences(ctx, p, said)
			if err != nil {
				return Transcript{}, err
			}
			whole.add(p, said, silences)
		}
		progress(i+1, len(pieces))
	}
	t := Transcript{Text: whole.text.String(), Language: whole.language, By: j.By, Seconds: seconds, Flags: whole.flags(), Times: whole.times}
	if t.Language == "" && t.Text != "" {
		t.Language = j.language
	}
	if t.Seconds == 0 {
		t.Seconds = whole.end
	}
	return t, nil
}

// one transcribes a piece.
func (j *job) one(ctx context.Context, p piece) (said model.Transcript, err error) {
	err = j.Retry.Do(ctx, j.By, func() error {
		f, err := os.Open(p.file)
		if err != nil {
			return &model.Error{Kind: model.Invalid, Model: j.By, Message: "the audio can't be opened: " + bare(err).Error(), Err: ErrUnreadable}
		}
		defer func() { _ = f.Close() }()
		// The name tells a server the format, and nobody how the file is called here.
		said, err = j.Transcriber.Transcribe(ctx, model.Audio{Name: "audio." + p.format, Content: content{f}, Language: j.language})
		return err
	}, j.wait)
	return said, j.ours(err)
}

// silences are the stretches of a piece in which nobody speaks, if any times are there to compare them with.
func (j *job) silences(ctx context.Context, p piece, said model.Transcript) ([]Stretch, error) {
	if j.Silences == nil || len(said.Segments) == 0 {
		return nil, nil
	}
	found, err := j.Silences(ctx, p.file)
	if ctx.Err() != nil {
		return nil, j.failed(ctx, ErrUnreadable, err)
	}
	return found, nil // without them less is flagged, and nothing is lost
}

// ours is err as a *model.Error.
func (j *job) ours(err error) error {
	var failed *model.Error
	if err == nil || errors.As(err, &failed) {
		return err
	}
	return &model.Error{Kind: model.KindOf(err), Model: j.By, Message: j.clean(err)}
}

// failed is the error of a step on the way, for a reason of ours.
func (j *job) failed(ctx context.Context, why, err error) error {
	if ctx.Err() != nil {
		return &model.Error{Kind: model.KindOf(ctx.Err()), Model: j.By, Err: ctx.Err()}
	}
	return j.refuse(why, fmt.Sprintf("%v: %s", why, j.clean(err)))
}

// refuse is the error for a file that is not transcribed.
func (j *job) refuse(why error, message string) error {
	by := j.By
	if by == "" {
		by = "transcription"
	}
	return &model.Error{Kind: model.Invalid, Model: by, Message: message, Err: why}
}

// mostWords bounds what an error repeats of another's, in bytes.
const mostWords = 500

// clean is what err says on one line, without the folders of this machine.
func (j *job) clean(err error) string {
	text := err.Error()
	for _, folder := range []string{j.folder, filepath.Dir(j.file)} {
		if len(folder) > 1 {
			text = strings.ReplaceAll(text, folder+string(filepath.Separator), "")
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > mostWords {
		text = strings.ToValidUTF8(text[:mostWords], "") + "…"
	}
	return text
}

// bare is err without the path that it is of.
func bare(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// partly is the error of a part, if there are several.
func partly(err error, part, of int) error {
	var failed *model.Error
	if of == 1 || !errors.As(err, &failed) {
		return err
	}
	told := *failed
	if told.Message == "" && told.Err != nil {
		told.Message = told.Err.Error()
	}
	told.Message = fmt.Sprintf("part %d of %d: %s", part, of, told.Message)
	return &told
}

// content is a file that names itself in no error.
type content struct{ file *os.File }

func (c content) Read(b []byte) (int, error) {
	n, err := c.file.Read(b)
	return n, bareOrNil(err)
}

func (c content) Seek(offset int64, whence int) (int64, error) {
	n, err := c.file.Seek(offset, whence)
	return n, bareOrNil(err)
}

func bareOrNil(err error) error {
	if err == nil {
		return nil
	}
	return bare(err)
}

func known(seconds *float64) float64 {
	if seconds == nil || *seconds < 0 {
		return 0
	}
	return *seconds
}

// base is the language of a tag: "pt" of "pt-BR".
func base(tag string) string {
	language, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(tag)), "_", "-"), "-")
	return language
}

// lasting is a number of seconds as a time.
func lasting(seconds int) time.Duration { return time.Duration(seconds) * time.Second }
