package scribe

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sibyl/internal/files"
	"sibyl/internal/media/audio"
)

// Limits say what a transcriber accepts.
type Limits struct {
	Formats []string // nil: any
	Bytes   int64    // of one file; 0: model.MaxAudio
	Seconds int      // of one file; 0: any

	// PlainWAV says that WAV is converted to 16 kHz and one channel, if possible: programs misread other WAV, or refuse
	// it.
	PlainWAV bool
}

// localPartSeconds is the longest part for a transcriber of this machine: parts show progress, and none takes hours.
const localPartSeconds = 600

// HostedLimits returns the limits of a model behind OpenAI's protocol.
func HostedLimits() Limits {
	return Limits{Formats: []string{"flac", "mp3", "m4a", "ogg", "wav", "webm"}}
}

// ForLocal returns l for a transcriber of this machine.
func (l Limits) ForLocal() Limits {
	l.Seconds = localPartSeconds
	return l
}

// WhisperLimits returns the limits of programs that accept plain WAV, such as whisper.cpp and its server.
func WhisperLimits() Limits { return Limits{Formats: []string{"wav"}, PlainWAV: true}.ForLocal() }

// WithFormats returns l with these formats, or unchanged if there are none.
func (l Limits) WithFormats(formats []string) Limits {
	if len(formats) > 0 {
		l.Formats = formats
	}
	return l
}

func (l Limits) accepts(format string) bool {
	return l.Formats == nil || slices.Contains(l.Formats, format)
}

// piece is a file to send, with the format of its content. A silent one is not sent.
type piece struct {
	file, format   string
	start, seconds float64 // 0 seconds: not known
	size           int64
	silent         bool
}

func (j *job) newPiece(file, format string, start, seconds float64) (piece, error) {
	about, err := os.Stat(file)
	if err != nil {
		return piece{}, j.refusal("the audio can't be read: %v", files.Cause(err))
	}
	return piece{file: file, format: format, start: start, seconds: seconds, size: about.Size()}, nil
}

// prepare converts and splits the file into pieces that the transcriber accepts.
func (j *job) prepare(ctx context.Context, info audio.Info) ([]piece, error) {
	p, err := j.newPiece(j.file, info.Format, 0, secondsOrZero(info.Seconds))
	l := j.Limits
	if err == nil && (!l.accepts(p.format) || p.size > l.Bytes || l.PlainWAV && p.format == "wav") {
		p, err = j.convert(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	if p.size <= l.Bytes && (l.Seconds == 0 || p.seconds <= float64(l.Seconds)) {
		return []piece{p}, nil
	}
	pieces, err := j.split(ctx, p)
	if errors.Is(err, errUncut) && p.size <= l.Bytes { // it is only too long
		return []piece{p}, nil
	}
	return pieces, err
}

// outputFormat is a format, and the bytes that a second takes at most.
type outputFormat struct {
	format string
	bytes  float64
}

// outputFormats are the formats that audio is converted to, the best first.
var outputFormats = [...]outputFormat{{"wav", 32_000}, {"flac", 24_000}, {"ogg", 4_500}}

// convert converts p to a format that the transcriber accepts: the first in which it fits, or else the smallest. A
// piece that is accepted already stays as it is if this machine can't convert it.
func (j *job) convert(ctx context.Context, p piece) (best piece, err error) {
	l := j.Limits
	if l.accepts(p.format) {
		best = p
	}
	why := errors.New("it takes nothing that can be made here")
	for i, w := range outputFormats {
		isLast := !slices.ContainsFunc(outputFormats[i+1:], func(next outputFormat) bool { return l.accepts(next.format) })
		if !l.accepts(w.format) || p.seconds*w.bytes > float64(l.Bytes) && !isLast {
			continue
		}
		out := filepath.Join(j.folder, "audio."+w.format)
		if why = j.Audio.Convert(ctx, p.file, out); why != nil {
			break // a program is missing, or the file is bad: the next format would fail as well
		}
		seconds := p.seconds
		if found, err := j.Audio.Probe(ctx, out); err == nil && seconds == 0 {
			seconds = secondsOrZero(found.Seconds)
		}
		if best, err = j.newPiece(out, w.format, 0, seconds); err != nil || best.size <= l.Bytes {
			break
		}
	}
	if ctx.Err() != nil {
		return p, j.stepError(ctx, ctx.Err())
	}
	if err == nil && best.file == "" {
		err = j.refusal("it takes %s, and not %s, which can't be converted (%s); if it takes that after all, name it "+
			"in transcription.formats", strings.Join(j.Limits.Formats, ", "), p.format, j.cleanMessage(why))
	}
	return best, err
}

const (
	sizeMargin = 0.9 // of the limit: no format has as many bytes in every second
	maxSplits  = 3   // how often a file is cut again, into parts half as long, if one was still too large
)

var errUncut = errors.New("the audio is too large for the transcriber")

// split cuts p into pieces that the transcriber accepts; errUncut if that fails.
func (j *job) split(ctx context.Context, p piece) ([]piece, error) {
	l := j.Limits
	length := p.seconds
	if l.Seconds > 0 {
		length = min(length, float64(l.Seconds))
	}
	if p.size > l.Bytes {
		length = min(length, sizeMargin*float64(l.Bytes)*p.seconds/float64(p.size))
	}
	if length < 1 {
		return nil, j.tooLargeError(p, "how long it lasts is not known without ffprobe: "+audio.InstallCommand())
	}
	for range maxSplits {
		folder, err := os.MkdirTemp(j.folder, "parts-*")
		if err != nil {
			return nil, j.stepError(ctx, files.Cause(err))
		}
		parts, err := j.Audio.Split(ctx, p.file, folder, int(length))
		if ctx.Err() != nil {
			return nil, j.stepError(ctx, ctx.Err())
		}
		if err != nil {
			return nil, j.tooLargeError(p, j.cleanMessage(err))
		}
		pieces, fit, err := j.fittingPieces(ctx, p, parts)
		if err != nil || fit {
			return pieces, err
		}
		_ = os.RemoveAll(folder) // if this fails, it is removed with the rest at the end
		length /= 2
	}
	return nil, j.tooLargeError(p, "its parts are too large still")
}

// fittingPieces makes pieces of the parts of p, and says whether all of them fit.
func (j *job) fittingPieces(ctx context.Context, p piece, parts []audio.Part) (pieces []piece, fit bool, err error) {
	for _, part := range parts {
		info, err := j.Audio.Probe(ctx, part.File)
		if ctx.Err() != nil {
			return nil, false, j.stepError(ctx, ctx.Err())
		}
		if err != nil { // the transcriber may be able to read it
			info = audio.Info{Format: p.format}
		}
		one, err := j.newPiece(part.File, info.Format, part.Start, part.Seconds)
		if err != nil || one.size > j.Limits.Bytes {
			return nil, false, err
		}
		one.silent = info.Silent != nil && *info.Silent
		pieces = append(pieces, one)
	}
	return pieces, len(pieces) > 0, nil
}

// tooLargeError wraps errUncut, and says why p can't be cut.
func (j *job) tooLargeError(p piece, why string) error {
	most := fmt.Sprintf("%d MB", j.Limits.Bytes>>20)
	if j.Limits.Seconds > 0 {
		most += fmt.Sprintf(" or %v", time.Duration(j.Limits.Seconds)*time.Second)
	}
	const mega = 1 << 20
	refused := j.refusal("it takes %s at once, and this is %d MB; it can't be cut here (%s)",
		most, (p.size+mega-1)/mega, why)
	refused.Err = errUncut
	return refused
}
