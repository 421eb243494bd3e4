// Package audio probes audio files, converts and splits them with ffmpeg, and records with programs of this machine.
//
// Guarantees:
//   - By content. The format is recognised by the first bytes. A name is never trusted, and never taken for an option.
//   - Without programs. The length of WAV and of Opus in Ogg is computed here. Other lengths come from ffprobe, and
//     silence from ffmpeg; without them these are unknown, which is nil. Errors for want of a program name the command
//     that installs it.
//   - Silent means silent from the beginning to the end: no fifth of a second is louder than a quiet room.
//   - A program is told which format it reads, and may open only files, so that a file can't make it fetch others. It
//     has a process group of its own and a timeout, and ends with its context. The end of its complaints is in the
//     error.
//   - A failed conversion leaves no file. A recording is written while it runs: a crash loses seconds at most.
package audio

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Info holds the known properties of an audio file.
type Info struct {
	Format  string   // "ogg", "webm", "mkv", "wav", "mp3", "m4a" or "flac": also the right ending of its name
	Seconds *float64 // nil: not known
	Silent  *bool    // nil: not known
}

// Tools are the audio programs of this machine. The zero Tools are none.
type Tools struct {
	FFmpeg, FFprobe string // paths; "": not found
	recorders       []Recorder
}

// FindTools looks for ffmpeg, ffprobe, arecord and sox on the PATH.
func FindTools() Tools {
	t := Tools{FFmpeg: lookPath("ffmpeg"), FFprobe: lookPath("ffprobe")}
	t.recorders = recordersOf(runtime.GOOS, t.FFmpeg, lookPath)
	return t
}

// Recorders returns the programs that can record here, the one to try first at the front.
func (t Tools) Recorders() []Recorder { return t.recorders }

// lookPath returns the absolute path of a program; "" if it is not found.
func lookPath(name string) string {
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return ""
	}
	return path
}

// InstallCommand returns the command that installs ffmpeg, and ffprobe with it, on this system.
func InstallCommand() string {
	switch runtime.GOOS {
	case "darwin":
		return "brew install ffmpeg"
	case "windows":
		return "winget install ffmpeg"
	}
	return "sudo apt install ffmpeg"
}

// Probe returns the properties of a file. If it is cut off or partly damaged, they describe the rest; an error means
// that nothing can be heard in it.
func (t Tools) Probe(ctx context.Context, file string) (Info, error) {
	f, err := openRegular(file)
	if err != nil {
		return Info{}, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	format, err := formatOf(f)
	if err != nil {
		return Info{}, err
	}
	info := Info{Format: format}
	switch {
	case format == "wav":
		info.Seconds, err = wavSeconds(f)
	case t.FFprobe != "":
		_, info.Seconds, err = t.probeTrack(ctx, file, format)
	case format == "ogg":
		info.Seconds, err = opusSeconds(f)
	}
	if err == nil && t.FFmpeg != "" {
		info.Silent = t.isSilent(ctx, file, format)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		return Info{}, err
	}
	return info, nil
}

// openRegular opens a regular file, and nothing else: a pipe would block its reader.
func openRegular(file string) (*os.File, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a file")
	}
	return os.Open(file)
}

// formatOf recognises the format by the beginning of a file.
func formatOf(f *os.File) (string, error) {
	var head [64]byte
	n, err := f.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	b := head[:n]
	hasMagic := func(at int, magic string) bool { return len(b) >= at && bytes.HasPrefix(b[at:], []byte(magic)) }
	switch {
	case n == 0:
		return "", errors.New("it is empty")
	case hasMagic(0, oggMagic):
		return "ogg", nil
	case hasMagic(0, "\x1a\x45\xdf\xa3"):
		if bytes.Contains(b, []byte("webm")) {
			return "webm", nil
		}
		return "mkv", nil
	case hasMagic(8, "WAVE") && (hasMagic(0, "RIFF") || hasMagic(0, "RF64") || hasMagic(0, "BW64")):
		return "wav", nil
	case hasMagic(0, "fLaC"):
		return "flac", nil
	case hasMagic(4, "ftyp"):
		return "m4a", nil
	case hasMagic(0, "ID3"), isMP3(b):
		return "mp3", nil
	}
	return "", errors.New("it is no audio file of a kind that is known, which are ogg, webm, wav, mp3, m4a and flac")
}

// isMP3 says whether a frame of MPEG audio, layer 3, begins here.
func isMP3(b []byte) bool {
	return len(b) >= 3 && b[0] == 0xff && b[1]&0xe6 == 0xe2 && b[1]&0x18 != 0x08 && b[2]>>4 > 0 && b[2]>>4 < 15 &&
		b[2]>>2&3 != 3
}
