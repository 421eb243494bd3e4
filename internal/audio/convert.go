package audio

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	longestConversion = 30 * time.Minute
	longestSound      = 12 * time.Hour // that is written as samples; a few bytes of Opus can stand for hours of silence
)

// tooLong refuses more samples than are written.
func tooLong() error {
	return refuse(Unsupported, "it is longer than %d hours, which would be too large a file", int(longestSound.Hours()))
}

// endings are what Convert makes, by the ending of a name: for speech, in one channel.
var endings = map[string][]string{
	".wav":  {"-c:a", "pcm_s16le", "-ar", "16000", "-f", "wav"},
	".ogg":  {"-c:a", "libopus", "-b:a", "24k", "-application", "voip", "-f", "ogg"},
	".opus": {"-c:a", "libopus", "-b:a", "24k", "-application", "voip", "-f", "ogg"},
	".flac": {"-c:a", "flac", "-ar", "16000", "-sample_fmt", "s16", "-f", "flac"},
}

// Convert makes out of the sound of file, in one channel, by the ending of out: .wav has samples of 16 bits at 16 kHz, .ogg and .opus have Opus at
// 24 kbit/s, .flac is as .wav without loss. A file that is there is replaced; after an error it is as it was. WAV is made of Opus without a
// program, all else needs ffmpeg.
func (t Tools) Convert(ctx context.Context, file, out string) error {
	ending := strings.ToLower(filepath.Ext(out))
	encoder, ok := endings[ending]
	if !ok {
		return of(out, refuse(Unsupported, "what is made has to end in .wav, .ogg, .opus or .flac"))
	}
	format, err := formatAt(ctx, file)
	if err != nil {
		return of(file, err)
	}
	return of(file, replaced(out, func(temporary string) error {
		if ending == ".wav" && (format == "ogg" || format == "webm") {
			if err := convertOpus(ctx, file, temporary); !errors.Is(err, errNoOpus) {
				return err
			}
		}
		if t.FFmpeg == "" {
			return refuse(NoProgram, "it takes ffmpeg to convert it, and that is not on the PATH")
		}
		in, err := input(file, format)
		if err != nil {
			return err
		}
		args := []string{"-nostdin", "-v", "error", "-y"}
		if !t.Salvage {
			args = append(args, "-xerror")
		}
		args = append(args, in...)
		args = append(args, "-map", "0:a:0", "-map_metadata", "-1", "-ac", "1", "-t", seconds(longestSound+time.Second))
		args = append(append(args, encoder...), "file:"+temporary)
		if err := run(ctx, longestConversion, nil, t.FFmpeg, args...); err != nil {
			return err
		}
		made, err := os.Stat(temporary)
		if err == nil && ending == ".wav" && made.Size() > int64(longestSound.Seconds())*2*decodedRate+4096 {
			err = tooLong()
		}
		return err
	}))
}

// seconds is a time as ffmpeg takes it.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) }

// formatAt is the format of a file.
func formatAt(ctx context.Context, file string) (string, error) {
	f, err := open(file)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	s, err := newSource(ctx, f)
	if err != nil {
		return "", err
	}
	return sniff(s)
}

// replaced has do write a file with another name beside out, which takes its place when it is whole and on the disk.
func replaced(out string, do func(temporary string) error) (err error) {
	out, err = filepath.Abs(out)
	if err != nil {
		return err
	}
	temporary := filepath.Join(filepath.Dir(out), "."+rand.Text()+".tmp")
	defer func() {
		if err == nil {
			return
		}
		if gone := os.Remove(temporary); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	if err := do(temporary); err != nil {
		return err
	}
	if err := synced(temporary); err != nil {
		return err
	}
	return os.Rename(temporary, out)
}

// synced waits until a file is on the disk.
func synced(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
