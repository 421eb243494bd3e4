package scribe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits are what a transcriber takes.
type Limits struct {
	Formats []string // nil: any
	Bytes   int64    // of one file; 0: model.MaxAudio
	Seconds int      // of one file; 0: any

	// Plain says that WAV is to be of 16 kHz and one channel, where that can be done: programs take another for noise, or refuse it.
	Plain bool
}

// mostSeconds is how long a part for this machine is: parts show progress, and none takes hours.
const mostSeconds = 600

// Hosted are the limits of a model behind OpenAI's protocol.
func Hosted() Limits {
	return Limits{Formats: []string{"flac", "mp3", "m4a", "ogg", "wav", "webm"}}
}

// Local is l for a transcriber of this machine.
func (l Limits) Local() Limits {
	l.Seconds = mostSeconds
	return l
}

// Whisper are the limits of programs that take plain WAV, as whisper.cpp and its server.
func Whisper() Limits { return Limits{Formats: []string{"wav"}, Plain: true}.Local() }

// Taking is l with the formats that somebody says it takes; with none it is l.
func (l Limits) Taking(formats []string) Limits {
	if len(formats) > 0 {
		l.Formats = formats
	}
	return l
}

func (l Limits) takes(format string) bool {
	return l.Formats == nil || slices.Contains(l.Formats, format)
}

func (l Limits) fits(p piece) bool {
	return l.takes(p.format) && p.size <= l.Bytes && (l.Seconds == 0 || p.seconds <= float64(l.Seconds))
}

// piece is a file to send, of the format that its content is; its silence is not sent.
type piece struct {
	file, format   string
	start, seconds float64 // 0 seconds: not known
	size           int64
	silent         bool
}

// prepare makes of the file what the transcriber takes.
func (j *job) prepare(ctx context.Context, info Info) ([]piece, error) {
	p, err := j.piece(j.file, info)
	if err != nil {
		return nil, err
	}
	l := j.Limits
	if !l.takes(p.format) || p.size > l.Bytes || l.Plain && p.format == "wav" {
		if p, err = j.convert(ctx, p); err != nil {
			return nil, err
		}
	}
	if l.fits(p) {
		return []piece{p}, nil
	}
	return j.split(ctx, p)
}

func (j *job) piece(file string, info Info) (piece, error) {
	about, err := os.Stat(file)
	if err != nil {
		return piece{}, j.refuse(ErrUnreadable, fmt.Sprintf("%v: %v", ErrUnreadable, bare(err)))
	}
	return piece{file: file, format: info.Format, seconds: known(info.Seconds), size: about.Size()}, nil
}

// written are the formats that audio is converted to, the best first, with the bytes that a second takes at most.
var written = [...]struct {
	format string
	bytes  float64
}{{"wav", 32_000}, {"flac", 24_000}, {"ogg", 4_500}}

// targets are the formats that p may be converted to: those in which all of it fits into one file, or else the smallest.
func (l Limits) targets(p piece) (formats []string) {
	smallest := ""
	for _, w := range written {
		if !l.takes(w.format) {
			continue
		}
		if smallest = w.format; p.seconds*w.bytes <= float64(l.Bytes) {
			formats = append(formats, w.format)
		}
	}
	if formats == nil && smallest != "" {
		formats = []string{smallest}
	}
	return formats
}

// convert is p in a format that the transcriber takes, the first in which it fits, if there is one. What it takes already stays as it is where
// the machine can't convert it.
func (j *job) convert(ctx context.Context, p piece) (piece, error) {
	best, why := piece{}, error(nil)
	if j.Limits.takes(p.format) {
		best = p
	}
	for _, format := range j.Limits.targets(p) {
		out := filepath.Join(j.folder, "audio."+format)
		if why = j.Audio.Convert(ctx, p.file, out); why != nil {
			if ctx.Err() != nil {
				return p, j.failed(ctx, ErrFormat, why)
			}
			break // for want of a program, or for the file's sake: the next would fail as well
		}
		about := Info{Format: format, Seconds: &p.seconds}
		if p.seconds == 0 {
			if found, err := j.Audio.Probe(ctx, out); err == nil {
				about.Seconds = found.Seconds
			}
		}
		got, err := j.piece(out, about)
		if err != nil {
			return p, err
		}
		if best = got; got.size <= j.Limits.Bytes {
			break
		}
	}
	if best.file != "" {
		return best, nil
	}
	message := fmt.Sprintf("it takes %s, and not %s", strings.Join(j.Limits.Formats, ", "), p.format)
	if why == nil {
		return p, j.refuse(ErrFormat, message+", nor what can be made of it here: set transcription.formats to what it takes, with wav, flac or ogg")
	}
	return p, j.refuse(ErrFormat, fmt.Sprintf("%s, which can't be converted here (%s): ffmpeg does that where it is installed; if it takes %s, name that in transcription.formats",
		message, j.clean(why), p.format))
}

// slack is how much of the limit a part is to have: no format has as many bytes in every second.
const slack = 0.9

// split is p in parts that the transcriber takes. One that is only long is sent whole where the machine can't cut it.
func (j *job) split(ctx context.Context, p piece) ([]piece, error) {
	l := j.Limits
	length := p.seconds
	if l.Seconds > 0 {
		length = min(length, float64(l.Seconds))
	}
	if p.size > l.Bytes {
		length = min(length, slack*float64(l.Bytes)*p.seconds/float64(p.size))
	}
	if length < 1 {
		return nil, j.tooLarge(p, "how long it lasts can't be found out without ffprobe")
	}
	pieces, err := j.cut(ctx, p, int(length))
	if errors.Is(err, ErrTooLarge) && l.takes(p.format) && p.size <= l.Bytes {
		return []piece{p}, nil
	}
	return pieces, err
}

// mostCuts is how often a file is cut anew, into parts half as long, where one was too large still.
const mostCuts = 3

// cut is p in parts of at most so many seconds, or fewer.
func (j *job) cut(ctx context.Context, p piece, length int) ([]piece, error) {
	for range mostCuts {
		folder, err := os.MkdirTemp(j.folder, "parts-*")
		if err != nil {
			return nil, j.failed(ctx, ErrTooLarge, bare(err))
		}
		parts, err := j.Audio.Split(ctx, p.file, folder, max(length, 1))
		switch {
		case ctx.Err() != nil:
			return nil, j.failed(ctx, ErrTooLarge, err)
		case err != nil:
			return nil, j.tooLarge(p, j.clean(err))
		}
		pieces, fit, err := j.parts(ctx, p, parts)
		if err != nil || fit {
			return pieces, err
		}
		_ = os.RemoveAll(folder) // which goes with the rest at the end in any case
		length /= 2
	}
	return nil, j.tooLarge(p, "its parts are too large still")
}

// parts are parts of p as pieces, and whether all of them fit.
func (j *job) parts(ctx context.Context, p piece, parts []Part) (pieces []piece, fit bool, err error) {
	for _, part := range parts {
		one, err := j.part(ctx, p, part)
		if err != nil || one.size > j.Limits.Bytes {
			return nil, false, err
		}
		pieces = append(pieces, one)
	}
	return pieces, len(pieces) > 0, nil
}

// part is a part of p as a piece.
func (j *job) part(ctx context.Context, p piece, part Part) (piece, error) {
	info, err := j.Audio.Probe(ctx, part.File)
	if ctx.Err() != nil {
		return p, j.failed(ctx, ErrUnreadable, err)
	}
	if err != nil { // the transcriber may know better what to do with it
		info = Info{Format: p.format}
	}
	one, err := j.piece(part.File, info)
	if err != nil {
		return p, err
	}
	one.format, one.start, one.seconds = p.format, part.Start, part.Seconds
	one.silent = info.Silent != nil && *info.Silent
	return one, nil
}

// tooLarge is the error for what could not be split.
func (j *job) tooLarge(p piece, why string) error {
	const mega = 1 << 20
	return j.refuse(ErrTooLarge, fmt.Sprintf("it takes %s at once, and this is %d MB; it can't be cut here (%s): ffmpeg does that where it is installed, or record shorter parts",
		j.Limits.most(), (p.size+mega-1)/mega, why))
}

// most is how much fits into one file, in words.
func (l Limits) most() string {
	most := fmt.Sprintf("%d MB", l.Bytes>>20)
	if l.Seconds > 0 {
		most += fmt.Sprintf(" or %v", lasting(l.Seconds))
	}
	return most
}
