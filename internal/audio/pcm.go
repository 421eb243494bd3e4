package audio

import (
	"bufio"
	"context"
	"errors"
	"os"
)

// errNoOpus says that a file holds nothing that can be decoded here.
var errNoOpus = errors.New("no Opus that can be decoded here")

// convertOpus decodes the Opus in an Ogg or WebM file to a WAV file. errNoOpus: it takes ffmpeg.
func convertOpus(ctx context.Context, file, out string) error {
	in, err := open(file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // opened for reading only
	s, err := newSource(ctx, in)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(out, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	w := &pcmWriter{to: bufio.NewWriterSize(f, 64<<10)}
	return errors.Join(w.convert(s, f), f.Close())
}

func (w *pcmWriter) convert(s *source, f *os.File) error {
	if _, err := w.to.Write(wavHead(decodedRate, 1, 16, 1, 0)); err != nil {
		return err
	}
	format, err := sniff(s)
	if err != nil {
		return err
	}
	opus := false
	if format == "ogg" {
		var found oggFile
		found, err = readOgg(s, w)
		opus = found.codec == "opus"
	} else {
		var found *webmFile
		found, err = readWebM(s, w)
		opus = found.opus
	}
	switch {
	case s.ctx.Err() != nil:
		return s.ctx.Err()
	case err != nil && reasonOf(err) != Damaged:
		return err
	case !opus || w.samples == 0:
		return errNoOpus
	}
	if err := w.to.Flush(); err != nil {
		return err
	}
	_, err = f.WriteAt(wavHead(decodedRate, 1, 16, 1, 2*w.samples), 0)
	return err
}

// pcmWriter is a sink that writes what packets decode to, in one channel. A packet that can't be decoded is as long a silence.
type pcmWriter struct {
	to      *bufio.Writer
	decoder *opusDecoder
	skip    int64 // samples that are not to be heard yet
	samples int64 // that were written
}

func (w *pcmWriter) head(h opusHead) (err error) {
	if h.family != 0 || h.channels > 2 {
		return errNoOpus
	}
	w.skip = h.skip * decodedRate / opusRate
	w.decoder, err = newOpusDecoder(h, 1)
	return err
}

func (w *pcmWriter) packet(p []byte, samples int64) error {
	out, err := w.decoder.decode(p)
	if err != nil {
		out = make([]float32, samples*decodedRate/opusRate)
	}
	if w.samples > int64(longestSound.Seconds())*decodedRate {
		return tooLong()
	}
	passed := min(int64(len(out)), w.skip)
	w.skip -= passed
	for _, sample := range out[passed:] {
		value := int16(max(-1, min(1, sample)) * (1<<15 - 1))
		if err := w.to.WriteByte(byte(value)); err != nil {
			return err
		}
		if err := w.to.WriteByte(byte(uint16(value) >> 8)); err != nil {
			return err
		}
	}
	w.samples += int64(len(out)) - passed
	return nil
}
