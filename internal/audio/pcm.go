package audio

import (
	"bufio"
	"context"
	"errors"
	"math"
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
	return errors.Join(newPCMWriter(f).convert(s, f), f.Close())
}

// convert reads the file twice: its end says how much of its packets is not to be heard, and whether they are too many.
func (w *pcmWriter) convert(s *source, f *os.File) error {
	seconds, err := readOpus(s, counting{})
	if err != nil {
		return err
	}
	if seconds > longestSound.Seconds() {
		return tooLong()
	}
	w.most = int64(math.Round(seconds * decodedRate))
	if err := s.seek(0); err != nil {
		return err
	}
	if _, err := w.to.Write(wavHead(decodedRate, 1, 16, 1, 0)); err != nil {
		return err
	}
	if _, err := readOpus(s, w); err != nil {
		return err
	}
	if err := w.to.Flush(); err != nil {
		return err
	}
	_, err = f.WriteAt(wavHead(decodedRate, 1, 16, 1, 2*w.samples), 0)
	return err
}

// readOpus reads the Opus in a file. What is there of a damaged one is enough.
func readOpus(s *source, sink opusSink) (seconds float64, err error) {
	format, err := sniff(s)
	if err != nil {
		return 0, err
	}
	codec := ""
	if format == "ogg" {
		var found oggFile
		found, err = readOgg(s, sink)
		codec, seconds = found.codec, found.seconds
	} else {
		var found *webmFile
		if found, err = readWebM(s, sink); found.opus {
			codec, seconds = "opus", *found.seconds()
		}
	}
	switch {
	case err != nil && reasonOf(err) != Damaged:
		return 0, err
	case codec != "opus" || seconds == 0:
		return 0, errNoOpus
	}
	return seconds, nil
}

// counting is a sink that decodes nothing.
type counting struct{}

func (counting) head(opusHead) error { return nil }

func (counting) packet([]byte, int64) error { return nil }

// pcmWriter is a sink that writes what packets decode to, in one channel. A packet that can't be decoded is as long a silence.
type pcmWriter struct {
	to      *bufio.Writer
	decoder *opusDecoder
	skip    int64 // samples that are not to be heard yet
	samples int64 // that were written, of at most most
	most    int64
}

func newPCMWriter(f *os.File) *pcmWriter { return &pcmWriter{to: bufio.NewWriterSize(f, 64<<10)} }

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
	passed := min(int64(len(out)), w.skip)
	w.skip -= passed
	out = out[passed:]
	out = out[:min(int64(len(out)), w.most-w.samples)]
	for _, sample := range out {
		value := int16(max(-1, min(1, sample)) * (1<<15 - 1))
		if err := w.to.WriteByte(byte(value)); err != nil {
			return err
		}
		if err := w.to.WriteByte(byte(uint16(value) >> 8)); err != nil {
			return err
		}
	}
	w.samples += int64(len(out))
	return nil
}
