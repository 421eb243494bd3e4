package audio

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strconv"
	"time"
)

const (
	longestProbe = 30 * time.Second // of ffprobe
	longestHear  = 2 * time.Minute  // of ffmpeg, that decodes to hear whether something is silent
)

// input are the arguments by which ffmpeg and ffprobe open a file: as what it is, by a whole path, and without following what it may name.
func input(file, format string) ([]string, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	demuxer := map[string]string{"webm": "matroska", "mkv": "matroska", "m4a": "mov"}[format]
	if demuxer == "" {
		demuxer = format
	}
	return []string{"-protocol_whitelist", "file,pipe", "-f", demuxer, "-i", "file:" + path}, nil
}

// complete asks the programs for what is not known yet. What they don't know, or take too long for, stays unknown.
func (t Tools) complete(ctx context.Context, file string, info *Info) {
	in, err := input(file, info.Format)
	if err != nil {
		return
	}
	if info.Seconds == nil && t.FFprobe != "" {
		t.measure(ctx, in, info)
	}
	if info.Silent == nil && t.FFmpeg != "" {
		info.Silent = t.hear(ctx, in)
	}
}

// measure asks ffprobe for the duration.
func (t Tools) measure(ctx context.Context, in []string, info *Info) {
	args := append([]string{"-v", "error", "-select_streams", "a:0", "-show_entries", "format=duration:stream=codec_name", "-of", "json"}, in...)
	out := &bounded{most: 64 << 10}
	if err := run(ctx, longestProbe, out, t.FFprobe, args...); err != nil {
		return
	}
	var said struct {
		Streams []struct {
			Codec string `json:"codec_name"`
		}
		Format struct{ Duration string }
	}
	if json.Unmarshal(out.Bytes(), &said) != nil {
		return
	}
	if info.Codec == "" && len(said.Streams) > 0 {
		info.Codec = said.Streams[0].Codec
	}
	if seconds, err := strconv.ParseFloat(said.Format.Duration, 64); err == nil && seconds > 0 && !math.IsInf(seconds, 0) {
		info.Seconds = &seconds
	}
}

// decoding are the arguments that have ffmpeg print the first sound track as samples of 16 bits in two channels.
func decoding(in []string) []string {
	args := append([]string{"-nostdin", "-v", "error", "-xerror"}, in...)
	return append(args, "-map", "0:a:0", "-f", "s16le", "-ac", "2", "-ar", strconv.Itoa(decodedRate), "-")
}

// hear has ffmpeg decode a file until something is not silent.
func (t Tools) hear(ctx context.Context, in []string) *bool {
	listener := &ear{meter: newMeter(decodedRate, 2)}
	err := run(ctx, longestHear, listener, t.FFmpeg, decoding(in)...)
	if err != nil && !errors.Is(err, errEnough) {
		return nil
	}
	return listener.meter.silent()
}

// ear is written samples of 16 bits. It wants no more when it has heard something.
type ear struct {
	meter *meter
	odd   []byte
	whole bool // it wants all of them
}

func (e *ear) Write(p []byte) (int, error) {
	b := append(e.odd, p...)
	for ; len(b) >= 2; b = b[2:] {
		e.meter.add(float64(int16(binary.LittleEndian.Uint16(b))) / fullest)
	}
	e.odd = append(e.odd[:0], b...)
	if e.meter.heard() && !e.whole {
		return 0, errEnough
	}
	return len(p), nil
}
