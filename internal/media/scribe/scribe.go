// Package scribe transcribes audio files with any transcriber.
//
// Guarantees:
//   - What the transcriber does not accept is converted, and what is too large or too long is split, and its times are
//     corrected; if the machine can't do that, the error says what would help.
//   - Silence is not sent: neither a file nor a part in which nobody speaks. Doubtful passages are flagged.
//   - Errors are *model.Error. None holds the path of a temporary file; a transcriber's own words are unchanged.
//   - A failed part is sent again as model.RetryPolicy says, and the others are not. Cancelling ends everything that is
//     running.
//   - Temporary files lie in a folder that nobody else can read, and are removed before Transcribe returns.
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

// Audio probes, converts and splits audio files, as audio.Tools does.
type Audio interface {
	Probe(ctx context.Context, file string) (audio.Info, error)
	Convert(ctx context.Context, file, out string) error
	Split(ctx context.Context, file, folder string, seconds int) ([]audio.Part, error)
}

// Config sets a Scribe up. Only Audio is required.
type Config struct {
	Transcriber model.Transcriber // nil: nothing is set
	By          string            // the transcriber's name in transcripts and errors: "openai:whisper-1"
	Host        string            // where recordings are sent; "": they stay on this machine
	Limits      Limits            // what it accepts
	Language    string            // of files without a language of their own: "pt"; "": the transcriber detects it
	Retry       model.RetryPolicy

	// Problem says why the transcriber that is set can't be used, such as a missing key. Offers are programs of this
	// machine that could be used. Missing returns both.
	Problem string
	Offers  []string

	Audio Audio

	Folder string // for temporary files; "": the system's own
}

// Transcript is what is said in a file. Language is a code such as "pt", or "" if it is unknown; By is "" if no
// transcriber was asked.
type Transcript struct {
	Text, Language, By string
	Seconds            float64 // 0: not known
	Flags              []Flag
	Times              []Time // none: the transcriber gave none
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
	LowConfidence = "low_confidence" // doubtful by the transcriber's confidence or the pace of the words
	OtherLanguage = "other_language" // all of it: it was heard in a language that nobody expects
)

// Flag marks a doubtful passage. Text is from the transcript, perhaps shortened; Start and End are seconds, both 0 if
// unknown.
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

// Missing tells people what has to be set to transcribe; "" if nothing is missing.
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

// Listener gets the progress of a transcription. Either may be nil.
type Listener struct {
	Progress func(done, of int) // how many parts are done, at first and after each
	Wait     func(model.Wait)   // a part is sent again after a pause
}

// Spoken is in which language a file is, as a code such as "pt"; "": that of the Config, or else the transcriber
// detects it. Expected are the languages that it may then be in, the likeliest first; none: any.
type Spoken struct {
	Language string
	Expected []string
}

// Transcribe transcribes the file at a path. Where a language is detected that is not expected, the likeliest one is
// tried, too, and what the transcriber is surer of is kept.
func (s *Scribe) Transcribe(ctx context.Context, file string, in Spoken, l Listener) (Transcript, error) {
	if l.Progress == nil {
		l.Progress = func(int, int) {}
	}
	if l.Wait == nil {
		l.Wait = func(model.Wait) {}
	}
	j := job{Scribe: s, Listener: l, file: file, language: cmp.Or(baseLanguage(in.Language), baseLanguage(s.Language)),
		expected: in.Expected}
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
	expected []string // languages, if it has none
	folder   string   // of temporary files
}

// transcribeAll transcribes the pieces, in order.
func (j *job) transcribeAll(ctx context.Context, pieces []piece, seconds float64) (Transcript, error) {
	j.Progress(0, len(pieces))
	var whole draft
	for i, p := range pieces {
		if p.silent {
			whole.addSilence(p)
		} else {
			transcript, err := j.transcribePiece(ctx, p)
			if err != nil {
				return Transcript{}, partError(err, i+1, len(pieces))
			}
			if whole.text.Len() == 0 {
				transcript, whole.other = j.inExpectedLanguage(ctx, p, transcript)
			}
			whole.addPart(p, transcript)
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

// transcribePiece transcribes a piece, with retries.
func (j *job) transcribePiece(ctx context.Context, p piece) (transcript model.Transcript, err error) {
	err = j.Retry.Do(ctx, j.By, func() error {
		f, err := os.Open(p.file)
		if err != nil {
			return j.refusal("the audio can't be opened: %v", files.Cause(err))
		}
		defer func() { _ = f.Close() }() // opened for reading only
		// The name tells a server the format, but not the file's real name.
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
	return withoutMarks(transcript), err
}

// stepError returns the error for a failed step, or that of ctx.
func (j *job) stepError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &model.Error{Kind: model.KindOf(ctx.Err()), Model: j.By, Err: ctx.Err()}
	}
	return j.refusal("%s", j.cleanMessage(err))
}

// refusal returns the error for a file that is not transcribed.
func (j *job) refusal(format string, args ...any) *model.Error {
	return &model.Error{Kind: model.Invalid, Model: cmp.Or(j.By, "transcription"),
		Message: fmt.Sprintf(format, args...)}
}

// maxMessage bounds what an error repeats of another, in characters.
const maxMessage = 500

// cleanMessage returns the text of err on one line, without the folders of this machine.
func (j *job) cleanMessage(err error) string {
	message := err.Error()
	for _, folder := range []string{j.folder, filepath.Dir(j.file)} {
		if len(folder) > 1 {
			message = strings.ReplaceAll(message, folder+string(filepath.Separator), "")
		}
	}
	return text.Brief(message, maxMessage)
}

// partError adds the number of the part to its error, if there are several.
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

// baseLanguage returns the language of a tag: "pt" of "pt-BR".
func baseLanguage(tag string) string {
	language, _, _ := strings.Cut(strings.ReplaceAll(strings.ToLower(strings.TrimSpace(tag)), "_", "-"), "-")
	return language
}
