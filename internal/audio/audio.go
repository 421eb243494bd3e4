// Package audio says what an audio file is, whatever its name, and has the machine's programs convert, split and record.
//
// Guarantees:
//   - By content. Ogg, WebM and Matroska, WAV, MP3, MP4 and FLAC are told by their bytes. A name is never trusted, and never taken for an option.
//   - Without programs. Duration and silence of Opus in Ogg and WebM and of WAV are found here, and so are the durations of Vorbis, FLAC and MP4.
//     The rest is asked of ffprobe and ffmpeg where they are; else it is not known, which is nil.
//   - Silent means silent from the beginning to the end: no fifth of a second is louder than a quiet room. What could not be heard out is not
//     known: Opus is decoded here as long as it is silent, for ten minutes at most, and what is longer is heard out by ffmpeg.
//   - Bounded. Files are read as streams, in memory that does not grow with them, and no length is believed that the bytes do not bear out. Time
//     grows with the bytes of a file, not with what they claim.
//   - Hostile bytes give an *Error with its Reason; never a panic, and never a wait without end.
//   - A program that is started has a process group of its own, and ends with its context; the end of what it complained of is in the error. It
//     is told which format it reads and may open files alone, so that a file can't make it fetch others.
//   - What is converted or split takes its name when it is whole. After an error nothing is left. A recording alone is written in its place as it
//     comes, so that a crash loses seconds at most.
package audio

import (
	"errors"
	"fmt"
	"path/filepath"
)

// Info is what is known of an audio file.
type Info struct {
	Format  string   // "ogg", "webm", "mkv", "wav", "mp3", "m4a" or "flac": also the right ending of its name
	Codec   string   // "opus", "vorbis", "pcm_s16", "mp3", "aac", …; "" not known
	Seconds *float64 // nil: not known
	Silent  *bool    // nil: not known
}

// Reason says why a file or a request was refused.
type Reason string

// The reasons. What the file system itself refuses keeps its own error.
const (
	NotAudio    Reason = "not_audio"   // it is none of the formats
	NoSound     Reason = "no_sound"    // it is one of the formats, without a sound track
	Empty       Reason = "empty"       // there is nothing in it, or no sound yet
	CutOff      Reason = "cut_off"     // it ends before its end
	Damaged     Reason = "damaged"     // it contradicts itself
	Unsupported Reason = "unsupported" // that can't be made of it
	NoProgram   Reason = "no_program"  // no program on this machine can do that
	Failed      Reason = "failed"      // a program could not do it, and says why
	TimedOut    Reason = "timed_out"   // a program took too long
	BrokeOff    Reason = "broke_off"   // a recording ended early; what was recorded is kept
)

// Error is a refusal. Its text names the file, without its folder, and what would help.
type Error struct {
	Reason Reason
	File   string // the base of its name
	text   string
	err    error
}

func (e *Error) Error() string {
	if e.File == "" {
		return e.text
	}
	return e.File + ": " + e.text
}

func (e *Error) Unwrap() error { return e.err }

// Unnamed is the refusal without the name of the file, for who knows it by another.
func (e *Error) Unnamed() *Error {
	other := *e
	other.File = ""
	return &other
}

func refuse(reason Reason, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Reason: reason, text: err.Error(), err: errors.Unwrap(err)}
}

// of makes a refusal name its file. Other errors are as they were.
func of(file string, err error) error {
	var e *Error
	if errors.As(err, &e) && e.File == "" {
		named := *e
		named.File = filepath.Base(file)
		return &named
	}
	return err
}

// reasonOf is the reason of a refusal, or "".
func reasonOf(err error) Reason {
	var e *Error
	if errors.As(err, &e) {
		return e.Reason
	}
	return ""
}
