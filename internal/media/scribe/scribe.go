// Package scribe writes down what is said in an audio file, by whatever transcriber is set.
//
// Guarantees:
//   - What the transcriber can't take is converted, and what is too large or too long is split, its times put back;
//     where the machine can't do that, the error says what would help.
//   - Silence is not sent: neither a file nor a part in which nobody speaks. What is doubtful in a transcript stays in
//     it, and is flagged.
//   - Errors are *model.Error. None holds the path of a temporary file; a transcriber's own words are as it gives them.
//   - A part is sent again as model.RetryPolicy says, and the others are not. Cancelling ends all that goes on.
//   - What is made on the way lies in a folder that nobody else can read, and is removed before Transcribe returns.
//   - A Scribe is safe for concurrent use.
package scribe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sibyl/internal/files"
	"sibyl/internal/media/audio"
	"sibyl/internal/model"
	"sibyl/internal/text"
)

// Audio looks into audio files and changes them, as audio.Tools does.
type Audio interface {
	Probe(ctx context.Context, file string) (audio.Info, error)
	Convert(ctx context.Context, file, out string) error
	Split(ctx context.Context, file, folder string, seconds int) ([]audio.Part, error)
}

// Config is what a Scribe is made of. Only Audio is needed.
type Config struct {
	Transcriber model.Transcriber // nil: nothing is set
	By          string            // who that is, as "openai:whisper-1"; it stands in transcripts and errors
	Limits      Limits            // what it takes
	Language    string            // for files of which nobody says one, as "pt"; "": the transcriber finds out
	Retry       model.RetryPolicy

	// Problem says why what is set can't be used, as for want of a key, and Offers which programs of this machine would
	// do. Missing tells both.
	Problem string
	Offers  []string

	Audio Audio

	Folder string // for what is made on the way; "": the system's own
}

// Transcript is what is said in a file. Language is as "pt", and "" where it is not known; By is "" where nobody had to
// be asked.
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
	Silence       = "silence"        // nobody speaks there, and it was not sent
	Ghost         = "ghost"          // likely the transcriber's own invention
	LowConfidence = "low_confidence" // the transcriber, or the pace of the words, casts doubt on it
)

// Flag marks what is doubtful. Text stands in the transcript, perhaps shortened; Start and End are in seconds, both 0
// where no times are known.
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
	message := cmp.Or(s.Problem,
		"set transcription.model to a model that transcribes, such as openai:whisper-1, transcription.server to the "+
			"address of a "+
			"whisper.cpp server, or transcription.command to a program that prints what is said in a file")
	if len(s.Offers) > 0 {
		message += "; this machine has " + strings.Join(s.Offers, ", or ")
	}
	return message
}

// Listener hears how a transcription goes on. Either may be nil.
type Listener struct {
	Progress func(done, of int) // how many parts are done, at first and after each
	Wait     func(model.Wait)   // a part is sent again after a pause
}

// Transcribe writes down what is said in a file, given by its path. language is as "pt"; "": that of the Config.
func (s *Scribe) Transcribe(ctx context.Context, file, language string, l Listener) (Transcript, error) {
	if l.Progress == nil {
		l.Progress = func(int, int) {}
	}
	if l.Wait == nil {
		l.Wait = func(model.Wait) {}
	}
	j := job{Scribe: s, Listener: l, file: file, language: cmp.Or(baseLanguage(language), baseLanguage(s.Language))}
	if s.Transcriber == nil {
		return Transcript{}, j.refusal("%s", s.Missing())
	}
	info, err := s.Audio.Probe(ctx, file)
	if err != nil {
		return Transcript{}, j.stepError(ctx, fmt.Errorf("the audio can't be read: %w", err))
	}
	seconds := secondsOrZero(info.Seconds)
	if info.Silent != nil && *info.Silent {
		l.Progress(1, 1)
		return Transcript{Seconds: seconds, Flags: []Flag{{Kind: Silence, End: seconds}}}, nil
	}
	if j.folder, err = os.MkdirTemp(s.Folder, "sibyl-audio-*"); err != nil {
		return Transcript{}, &model.Error{Kind: model.Server, Model: s.By,
			Message: "there is no room for what is made on the way: " + files.Cause(err).Error()}
	}
	defer func() { _ = os.RemoveAll(j.folder) }()
	pieces, err := j.prepare(ctx, info)
	if err != nil {
		return Transcript{}, err
	}
	return j.transcribeAll(ctx, pieces, seconds)
}

// job is the transcription of one file.
type job struct {
	*Scribe
	Listener
	file     string
	language string
	folder   string // of what is made on the way
}

// transcribeAll transcribes the pieces, in order.
func (j *job) transcribeAll(ctx context.Context, pieces []piece, seconds float64) (Transcript, error) {
	j.Progress(0, len(pieces))
	var whole draft
	for i, p := range pieces {
		if p.silent {
			whole.addSilence(p)
		} else {
			said, err := j.transcribePiece(ctx, p)
			if err != nil {
				return Transcript{}, partError(err, i+1, len(pieces))
			}
			whole.addPart(p, said)
		}
		j.Progress(i+1, len(pieces))
	}
	t := Transcript{Text: whole.text.String(), Language: whole.language, By: j.By, Seconds: cmp.Or(seconds, whole.end),
		Flags: whole.flags(), Times: whole.times}
	if t.Language == "" && t.Text != "" {
		t.Language = j.language
	}
	return t, nil
}

// transcribePiece transcribes a piece.
func (j *job) transcribePiece(ctx context.Context, p piece) (transcript model.Transcript, err error) {
	err = j.Retry.Do(ctx, j.By, func() error {
		f, err := os.Open(p.file)
		if err != nil {
			return j.refusal("the audio can't be opened: %v", files.Cause(err))
		}
		defer func() { _ = f.Close() }() // opened for reading only
		// The name tells a server the format, and nobody how the file is called here.
		transcript, err = j.Transcriber.Transcribe(ctx, model.Audio{Name: "audio." + p.format, Content: f,
			Language: j.language})
		return err
	}, func(w model.Wait) error {
		j.Wait(w)
		return nil
	})
	if failed := (*model.Error)(nil); err != nil && !errors.As(err, &failed) {
		err = &model.Error{Kind: model.KindOf(err), Model: j.By, Message: j.cleanMessage(err)}
	}
	return transcript, err
}

// stepError is the error of a step on the way.
func (j *job) stepError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &model.Error{Kind: model.KindOf(ctx.Err()), Model: j.By, Err: ctx.Err()}
	}
	return j.refusal("%s", j.cleanMessage(err))
}

// refusal is the error for a file that is not transcribed.
func (j *job) refusal(format string, args ...any) *model.Error {
	return &model.Error{Kind: model.Invalid, Model: cmp.Or(j.By, "transcription"),
		Message: fmt.Sprintf(format, args...)}
}

// maxMessage bounds what an error repeats of another's, in characters.
const maxMessage = 500

// cleanMessage is what err says on one line, without the folders of this machine.
func (j *job) cleanMessage(err error) string {
	said := err.Error()
	for _, folder := range []string{j.folder, filepath.Dir(j.file)} {
		if len(folder) > 1 {
			said = strings.ReplaceAll(said, folder+string(filepath.Separator), "")
		}
	}
	return text.Brief(said, maxMessage)
}

// partError is the error of a part, if there are several.
func partError(err error, part, of int) error {
	var failed *model.Error
	if of == 1 || !errors.As(err, &failed) {
		return err
	}
	copied := *failed
	if copied.Message == "" && copied.Err != nil {
		copied.Message = copied.Err.Error()
	}
	copied.Message = fmt.Sprintf("part %d of %d: %s", part, of, copied.Message)
	return &copied
}

func secondsOrZero(seconds *float64) float64 {
	if seconds == nil || *seconds < 0 {
		return 0
	}
	return *seconds
}

// baseLanguage is the language of a tag: "pt" of "pt-BR".
func baseLanguage(tag string) string {
	language, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(tag)), "_", "-"), "-")
	return language
}
