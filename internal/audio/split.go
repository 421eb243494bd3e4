package audio

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Part is a piece of a file. Start and Seconds say where in that it lies.
type Part struct {
	File           string
	Start, Seconds float64
}

// shortest is the least that Split takes for the length of a part, in seconds.
const shortest = 5

// Split makes parts of a file of at most so many seconds, in a folder that is there, named part-001, part-002 and so on. It cuts in the quietest
// place of the last quarter of a part, and of its last half minute. What is not longer is its own only part, where it lies. WAV and what is Opus in
// Ogg or WebM is split without a program, the latter into WAV; with ffmpeg, Opus, MP3 and AAC are cut without being coded again. After an error
// no part is left.
func (t Tools) Split(ctx context.Context, file, folder string, seconds int) (parts []Part, err error) {
	if seconds < shortest {
		return nil, of(file, refuse(Unsupported, "parts of %d seconds are too short; %d is the least", seconds, shortest))
	}
	defer func() {
		if err == nil {
			return
		}
		for _, p := range parts {
			if p.File != file {
				err = errors.Join(err, os.Remove(p.File))
			}
		}
		parts, err = nil, of(file, err)
	}()
	format, err := formatAt(ctx, file)
	if err != nil {
		return nil, err
	}
	if format == "wav" {
		parts, err = splitWAV(ctx, file, folder, seconds)
		if !errors.Is(err, errNotPlain) {
			return parts, err
		}
	}
	if t.FFmpeg != "" {
		return t.splitCoded(ctx, file, folder, format, seconds)
	}
	if format == "ogg" || format == "webm" {
		parts, err = splitOpus(ctx, file, folder, seconds)
		if !errors.Is(err, errNoOpus) {
			return parts, err
		}
	}
	return nil, refuse(NoProgram, "it takes ffmpeg to split it, and that is not on the PATH")
}

var errNotPlain = errors.New("samples of a kind that is not read here")

// splitWAV copies the samples of a WAV file.
func splitWAV(ctx context.Context, file, folder string, seconds int) (parts []Part, err error) {
	f, err := open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading only
	s, err := newSource(ctx, f)
	if err != nil {
		return nil, err
	}
	w, err := readWAV(s)
	if err == nil && !w.plain() {
		err = errNotPlain
	}
	if err != nil {
		return nil, err
	}
	levels := newLevels(w.rate, w.channels)
	all := func(samples []float64) bool {
		for _, sample := range samples {
			levels.add(sample)
		}
		return true
	}
	if err := w.hear(s, w.length, all); err != nil {
		return nil, err
	}
	cuts := levels.cuts(seconds)
	if len(cuts) == 0 {
		return []Part{{File: file, Seconds: w.seconds()}}, nil
	}
	if err := s.seek(w.data); err != nil {
		return nil, err
	}
	perWindow := int64(levels.perWindow / w.channels)
	at := int64(0) // in frames
	for i := range len(cuts) + 1 {
		end := w.length / w.perFrame
		if i < len(cuts) {
			end = int64(cuts[i]) * perWindow
		}
		name := partName(folder, i, ".wav")
		if err := replaced(name, func(temporary string) error { return w.copy(s, temporary, (end-at)*w.perFrame) }); err != nil {
			return parts, err
		}
		parts = append(parts, Part{File: name, Start: float64(at) / float64(w.rate), Seconds: float64(end-at) / float64(w.rate)})
		at = end
	}
	return parts, nil
}

func partName(folder string, i int, ending string) string {
	return filepath.Join(folder, fmt.Sprintf("part-%03d%s", i+1, ending))
}

// copy writes the next bytes of samples to a file of their own.
func (f *wavFormat) copy(r io.Reader, file string, length int64) error {
	to, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(to, 64<<10)
	_, err = w.Write(wavHead(f.rate, f.channels, f.bits, int(f.kind), length))
	if err == nil {
		_, err = io.CopyN(w, r, length)
	}
	return errors.Join(err, w.Flush(), to.Close())
}

// splitOpus decodes a file to WAV, and splits that.
func splitOpus(ctx context.Context, file, folder string, seconds int) ([]Part, error) {
	whole := filepath.Join(folder, "."+rand.Text()+".tmp")
	err := convertOpus(ctx, file, whole)
	var parts []Part
	if err == nil {
		parts, err = splitWAV(ctx, whole, folder, seconds)
	}
	if len(parts) == 1 && parts[0].File == whole {
		parts[0].File = file
	}
	return parts, errors.Join(err, os.RemoveAll(whole))
}

// splitCoded has ffmpeg find out how loud a file is where, and cut it.
func (t Tools) splitCoded(ctx context.Context, file, folder, format string, length int) (parts []Part, err error) {
	in, err := input(file, format)
	if err != nil {
		return nil, err
	}
	levels := newLevels(decodedRate, 2)
	if err := run(ctx, longestConversion, &ear{meter: levels.meter, whole: true}, t.FFmpeg, decoding(in)...); err != nil {
		return nil, err
	}
	cuts, total := levels.cuts(length), levels.all/2/decodedRate
	if len(cuts) == 0 {
		return []Part{{File: file, Seconds: total}}, nil
	}
	codec, err := t.codecOf(ctx, file)
	if err != nil {
		return nil, err
	}
	encoder, ending := kept(codec)
	at := 0.0
	for i := range len(cuts) + 1 {
		end := total
		if i < len(cuts) {
			end = float64(cuts[i]) / windows
		}
		args := []string{"-nostdin", "-v", "error", "-y", "-ss", fmt.Sprintf("%.3f", at), "-t", fmt.Sprintf("%.3f", end-at)}
		args = append(append(args, in...), "-map", "0:a:0", "-map_metadata", "-1")
		name := partName(folder, i, ending)
		err := replaced(name, func(temporary string) error {
			return run(ctx, longestConversion, nil, t.FFmpeg, append(append(args, encoder...), "file:"+temporary)...)
		})
		if err != nil {
			return parts, err
		}
		parts = append(parts, Part{File: name, Start: at, Seconds: end - at})
		at = end
	}
	return parts, nil
}

func (t Tools) codecOf(ctx context.Context, file string) (string, error) {
	info, err := Tools{FFprobe: t.FFprobe}.Probe(ctx, file)
	if err != nil && info.Format == "" {
		return "", err
	}
	return info.Codec, nil
}

// kept is how ffmpeg keeps the sound of a codec in a file that it cuts out, and how that ends: as it is if that can be, else without loss, else well.
func kept(codec string) (encoder []string, ending string) {
	switch codec {
	case "opus":
		return []string{"-c", "copy", "-copypriorss", "0", "-f", "ogg"}, ".ogg"
	case "mp3":
		return []string{"-c", "copy", "-copypriorss", "0", "-f", "mp3"}, ".mp3"
	case "aac":
		return []string{"-c", "copy", "-copypriorss", "0", "-f", "ipod"}, ".m4a"
	case "flac", "alac":
		return []string{"-c:a", "flac", "-f", "flac"}, ".flac"
	}
	return []string{"-c:a", "libopus", "-b:a", "48k", "-f", "ogg"}, ".ogg"
}

// levels are how loud a file is, window by window.
type levels struct {
	*meter
	each []float64 // mean squares
}

func newLevels(rate, channels int) *levels {
	l := &levels{meter: newMeter(rate, channels)}
	l.closed = func(square float64) { l.each = append(l.each, square) }
	return l
}

// cuts are the windows before which it is to be cut, so that no part is longer than so many seconds.
func (l *levels) cuts(seconds int) (cuts []int) {
	l.close()
	const quarter, halfMinute = 4, 30 * windows
	most := seconds * windows
	for start := 0; len(l.each)-start > most; {
		limit := start + most
		best := limit
		for at := limit - 1; at >= limit-min(most/quarter, halfMinute); at-- {
			if l.around(at) < l.around(best) {
				best = at
			}
		}
		cuts = append(cuts, best)
		start = best
	}
	return cuts
}

// around is how loud it is on both sides of a cut. What is silent is equally good.
func (l *levels) around(at int) float64 {
	return max(l.each[at-1], l.each[at], quiet*quiet/(fullest*fullest))
}
