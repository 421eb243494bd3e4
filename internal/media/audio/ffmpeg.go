package audio

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sibyl/internal/text"
)

const (
	probeTimeout      = 30 * time.Second // of ffprobe
	silenceTimeout    = 2 * time.Minute  // of ffmpeg, when it decodes to find silence
	conversionTimeout = 30 * time.Minute
	maxSound          = 12 * time.Hour // that Convert writes: a few bytes of Opus can stand for hours of silence
)

// inputArgs returns the arguments by which ffmpeg and ffprobe open a file: in its format, by its absolute path, and
// without opening other files that it names.
func inputArgs(file, format string) []string {
	if path, err := filepath.Abs(file); err == nil {
		file = path
	}
	if demuxer := map[string]string{"webm": "matroska", "mkv": "matroska", "m4a": "mov"}[format]; demuxer != "" {
		format = demuxer
	}
	return []string{"-protocol_whitelist", "file,pipe", "-f", format, "-i", "file:" + file}
}

// probeTrack asks ffprobe for the codec and the length of the first sound track. If that is slow, they stay unknown.
func (t Tools) probeTrack(ctx context.Context, file, format string) (codec string, seconds *float64, err error) {
	in := inputArgs(file, format)
	var out bytes.Buffer
	args := []string{"-v", "error", "-select_streams", "a:0", "-show_entries", "format=duration:stream=codec_name",
		"-of", "json"}
	_, err = runProgram(ctx, probeTimeout, &out, t.FFprobe, append(args, in...)...)
	if errors.Is(err, errSlow) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("it can't be read: %w", err)
	}
	var report struct {
		Streams []struct {
			Codec string `json:"codec_name"`
		}
		Format struct{ Duration string }
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		return "", nil, fmt.Errorf("ffprobe does not say what is in it: %w", err)
	}
	if len(report.Streams) == 0 {
		return "", nil, errors.New("it has no sound track")
	}
	if report.Format.Duration == "" { // from a browser, which does not know it while it records
		report.Format.Duration, err = t.lastPacketTime(ctx, in)
	}
	if length, bad := strconv.ParseFloat(report.Format.Duration, 64); bad == nil && length > 0 && !math.IsInf(length, 0) {
		seconds = &length
	}
	return report.Streams[0].Codec, seconds, err
}

// lastPacketTime returns the time at which the last packet begins, a fraction of a second before the end.
func (t Tools) lastPacketTime(ctx context.Context, in []string) (string, error) {
	var end text.Tail
	args := []string{"-v", "error", "-select_streams", "a:0", "-show_entries", "packet=pts_time", "-of", "csv=p=0"}
	if _, err := runProgram(ctx, probeTimeout, &end, t.FFprobe, append(args, in...)...); err != nil && ctx.Err() != nil {
		return "", ctx.Err()
	}
	lines := strings.Fields(end.String())
	if len(lines) == 0 {
		return "", errors.New("there is no sound in it")
	}
	return strings.Trim(lines[len(lines)-1], ","), nil
}

// Loudness is measured for each window.
const (
	sampleRate       = 16000 // to which ffmpeg decodes, in two channels of 16 bits
	windowsPerSecond = 5     // in a second: a short word
	windowSize       = 2 * 2 * sampleRate / windowsPerSecond
	// root mean square below which a window is silent: -56 dB; a converter's noise has 14, speech thousands
	quiet = 50.0
)

// meter is a writer of samples that computes the root mean square of each window.
type meter struct {
	pending []byte
	handle  func(loudness float64) error
}

func (m *meter) Write(p []byte) (int, error) {
	m.pending = append(m.pending, p...)
	for len(m.pending) >= windowSize {
		sum := 0.0
		for b := m.pending[:windowSize]; len(b) > 0; b = b[2:] {
			sample := float64(int16(binary.LittleEndian.Uint16(b)))
			sum += sample * sample
		}
		m.pending = append(m.pending[:0], m.pending[windowSize:]...)
		if err := m.handle(math.Sqrt(sum / (windowSize / 2))); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// measureLoudness has ffmpeg decode a file, and calls handle with the loudness of each window, until that fails.
// complaint is ffmpeg's standard error.
func (t Tools) measureLoudness(
	ctx context.Context, timeout time.Duration, in []string, handle func(loudness float64) error,
) (complaint string, err error) {
	args := append([]string{"-nostdin", "-v", "error"}, in...)
	args = append(args, "-map", "0:a:0", "-af", "apad=pad_dur=0.2", "-f", "s16le", "-ac", "2", "-ar",
		strconv.Itoa(sampleRate), "-")
	return runProgram(ctx, timeout, &meter{handle: handle}, t.FFmpeg, args...)
}

var errNotSilent = errors.New("it is not silent")

// isSilent says whether a file is silent; nil: ffmpeg complains about it, or takes too long.
func (t Tools) isSilent(ctx context.Context, file, format string) *bool {
	complaint, err := t.measureLoudness(ctx, silenceTimeout, inputArgs(file, format), func(loudness float64) error {
		if loudness >= quiet {
			return errNotSilent
		}
		return nil
	})
	silent := err == nil
	if silent && complaint != "" || !silent && !errors.Is(err, errNotSilent) {
		return nil
	}
	return &silent
}

// encoders are Convert's arguments for the formats that it makes, by the ending of a name: for speech, in one channel.
var encoders = map[string][]string{
	".wav":  {"-c:a", "pcm_s16le", "-ar", "16000", "-f", "wav"},
	".ogg":  {"-c:a", "libopus", "-b:a", "24k", "-application", "voip", "-f", "ogg"},
	".flac": {"-c:a", "flac", "-ar", "16000", "-sample_fmt", "s16", "-f", "flac"},
}

// Convert writes the sound of file to out, in one channel and in the format of out's ending: .wav has samples of 16
// bits at 16 kHz, .ogg has Opus at 24 kbit/s, .flac is a compressed .wav without loss. Of a damaged file, it converts
// the rest.
func (t Tools) Convert(ctx context.Context, file, out string) error {
	encoder, ok := encoders[filepath.Ext(out)]
	if !ok {
		return errors.New("what is made has to end in .wav, .ogg or .flac")
	}
	format, err := t.formatToDecode(file)
	if err != nil {
		return err
	}
	args := append([]string{"-nostdin", "-v", "error", "-y"}, inputArgs(file, format)...)
	args = append(args, "-map", "0:a:0", "-map_metadata", "-1", "-ac", "1", "-t",
		strconv.Itoa(int(maxSound.Seconds())+1))
	args = append(append(args, encoder...), "file:"+out)
	if _, err = runProgram(ctx, conversionTimeout, nil, t.FFmpeg, args...); err == nil {
		err = checkSound(out)
	}
	if err != nil {
		_ = os.Remove(out) // it may not exist
	}
	return err
}

// checkSound refuses a WAV file without sound, or with too much.
func checkSound(file string) error {
	if filepath.Ext(file) != ".wav" {
		return nil
	}
	f, err := openRegular(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	seconds, err := wavSeconds(f)
	if err == nil && *seconds > maxSound.Seconds() {
		err = fmt.Errorf("it is longer than %d hours, which would be too large a file", int(maxSound.Hours()))
	}
	return err
}

// formatToDecode returns the format of a file, and an error if there is no ffmpeg to decode it.
func (t Tools) formatToDecode(file string) (string, error) {
	f, err := openRegular(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	format, err := formatOf(f)
	if err == nil && (t.FFmpeg == "" || t.FFprobe == "") {
		err = fmt.Errorf("this takes ffmpeg, which is not installed: %s", InstallCommand())
	}
	return format, err
}

// Part is a piece of a longer recording. Start and Seconds say where in the recording it is.
type Part struct {
	File           string
	Start, Seconds float64
}

const minPartSeconds = 5 // the least length of a part for Split

// Split cuts a file into parts of at most so many seconds, which it writes to an empty folder. A file that is not
// longer is the only part itself. It cuts at the quietest place within the last quarter of a part, but within its last
// half minute. WAV stays WAV; Opus, MP3 and AAC are cut without being encoded again. After an error, parts may be left.
func (t Tools) Split(ctx context.Context, file, folder string, seconds int) ([]Part, error) {
	if seconds < minPartSeconds {
		return nil, fmt.Errorf("parts of %d seconds are too short; %d is the least", seconds, minPartSeconds)
	}
	format, err := t.formatToDecode(file)
	if err != nil {
		return nil, err
	}
	codec, _, err := t.probeTrack(ctx, file, format)
	if err != nil {
		return nil, err
	}
	var loudness []float64
	_, err = t.measureLoudness(ctx, conversionTimeout, inputArgs(file, format), func(window float64) error {
		loudness = append(loudness, window)
		return nil
	})
	if err != nil {
		return nil, err
	}
	ends := append(cutPoints(loudness, seconds), len(loudness))
	if len(ends) == 1 {
		return []Part{{File: file, Seconds: float64(len(loudness)) / windowsPerSecond}}, nil
	}
	encoder, ending := partEncoder(format, codec)
	var parts []Part
	start := 0.0
	for i, end := range ends {
		p := Part{File: filepath.Join(folder, fmt.Sprintf("part-%03d%s", i+1, ending)), Start: start,
			Seconds: float64(end)/windowsPerSecond - start}
		args := []string{"-nostdin", "-v", "error", "-ss", fmt.Sprintf("%.3f", p.Start), "-t",
			fmt.Sprintf("%.3f", p.Seconds)}
		args = append(append(args, inputArgs(file, format)...), "-map", "0:a:0", "-map_metadata", "-1")
		args = append(append(args, encoder...), "file:"+p.File)
		if _, err := runProgram(ctx, conversionTimeout, nil, t.FFmpeg, args...); err != nil {
			return nil, err
		}
		parts = append(parts, p)
		start += p.Seconds
	}
	return parts, nil
}

// partEncoder returns ffmpeg's arguments for a part with sound of that codec, and the ending of its name: a copy if
// possible, or else without loss, or else in good quality.
func partEncoder(format, codec string) (encoder []string, ending string) {
	if format == "wav" {
		return []string{"-c:a", "pcm_s16le"}, ".wav"
	}
	switch codec {
	case "opus":
		return []string{"-c", "copy", "-copypriorss", "0"}, ".ogg"
	case "mp3":
		return []string{"-c", "copy", "-copypriorss", "0"}, ".mp3"
	case "aac":
		return []string{"-c", "copy", "-copypriorss", "0", "-f", "ipod"}, ".m4a"
	case "flac", "alac":
		return []string{"-c:a", "flac"}, ".flac"
	}
	return []string{"-c:a", "libopus", "-b:a", "48k"}, ".ogg"
}

// cutPoints returns the windows before which to cut, so that no part is longer than so many seconds.
func cutPoints(loudness []float64, seconds int) (list []int) {
	const quarter, halfMinute = 4, 30 * windowsPerSecond
	// All silent windows are equally good.
	around := func(at int) float64 { return max(loudness[at-1], loudness[at], quiet) }
	most := seconds * windowsPerSecond
	for start := 0; len(loudness)-start > most; {
		limit := start + most
		best := limit
		for at := limit - 1; at >= limit-min(most/quarter, halfMinute); at-- {
			if around(at) < around(best) {
				best = at
			}
		}
		list = append(list, best)
		start = best
	}
	return list
}
