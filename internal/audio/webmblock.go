package audio

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"time"
)

var errLacing = errors.New("no lacing")

// block takes a block of the chosen track.
func (f *webmFile) block(b []byte, sink opusSink) error {
	if f.sound == nil || len(b) == 0 {
		return nil
	}
	width := bits.LeadingZeros8(b[0]) + 1
	if width > 8 || len(b) < width+3 {
		return nil
	}
	var track [8]byte
	copy(track[8-width:], b[:width])
	track[8-width] &^= 0x80 >> (width - 1)
	if binary.BigEndian.Uint64(track[:]) != f.sound.number {
		return nil
	}
	at, flags := int16(binary.BigEndian.Uint16(b[width:])), b[width+2]
	f.blocks++
	frames, err := unlace(b[width+3:], flags>>1&3)
	if err != nil {
		f.wild = true
		return nil //nolint:nilerr // one block that makes no sense, of many
	}
	samples := int64(0)
	for _, frame := range frames {
		if !f.opus {
			break
		}
		n := opusSamples(frame)
		samples += n
		if err := sink.packet(frame, n); err != nil {
			return err
		}
	}
	f.samples += samples
	f.place(at, samples)
	return nil
}

// place takes the time of a block. Times tell the pauses, in which a browser may leave packets out.
func (f *webmFile) place(at int16, samples int64) {
	nanoseconds := (float64(f.cluster) + float64(at)) * float64(f.scale)
	if nanoseconds > math.MaxInt64/4 {
		f.wild = true
		return
	}
	start := time.Duration(nanoseconds)
	switch gap := start - f.end; {
	case f.blocks == 1:
		f.start = start
	case gap > pause || gap < -pause:
		f.wild = true
	case !f.opus && gap > 0:
		f.step = gap
	}
	f.end = start + time.Duration(samples)*time.Second/opusRate
}

// seconds is how long the sound is, as far as it is there; nil if that can't be told.
func (f *webmFile) seconds() *float64 {
	span := (f.end - f.start).Seconds()
	switch {
	case f.opus && f.wild:
		span = 0
	case !f.opus && (f.wild || f.blocks == 0):
		return nil
	case !f.opus: // whose packets don't say how long they are
		announced := f.length * float64(f.scale) / float64(time.Second)
		if span += f.step.Seconds(); announced > span-1 && announced < span+1 {
			span = announced
		}
		return &span
	}
	span = max(0, max(float64(f.samples)/opusRate, span)-float64(f.skip+f.padding)/opusRate)
	return &span
}

// unlace takes a block apart into the frames that it holds, by the kind of its lacing.
func unlace(b []byte, kind byte) ([][]byte, error) {
	if kind == 0 {
		return [][]byte{b}, nil
	}
	if len(b) == 0 {
		return nil, errLacing
	}
	count := int(b[0]) + 1
	b = b[1:]
	if kind == 2 {
		if len(b)%count != 0 {
			return nil, errLacing
		}
		frames := make([][]byte, count)
		for i := range frames {
			frames[i] = b[i*len(b)/count : (i+1)*len(b)/count]
		}
		return frames, nil
	}
	sizes, total := make([]int, count), 0
	for i := range count - 1 {
		size, rest, err := laced(b, kind, i, sizes)
		if err != nil {
			return nil, err
		}
		sizes[i], b = size, rest
		total += size
	}
	if total > len(b) {
		return nil, errLacing
	}
	sizes[count-1] = len(b) - total
	frames := make([][]byte, count)
	for i, size := range sizes {
		frames[i], b = b[:size], b[size:]
	}
	return frames, nil
}

// laced reads the size of frame i.
func laced(b []byte, kind byte, i int, sizes []int) (size int, rest []byte, err error) {
	if kind == 1 {
		for n, v := range b {
			size += int(v)
			if v != 255 {
				return size, b[n+1:], nil
			}
		}
		return 0, nil, errLacing
	}
	if len(b) == 0 {
		return 0, nil, errLacing
	}
	width := bits.LeadingZeros8(b[0]) + 1
	if width > 4 || len(b) < width {
		return 0, nil, errLacing
	}
	var n [8]byte
	copy(n[8-width:], b[:width])
	n[8-width] &^= 0x80 >> (width - 1)
	size = int(binary.BigEndian.Uint64(n[:]))
	if i > 0 { // the difference to the one before, around the middle of what fits
		size += sizes[i-1] - (1<<(7*width-1) - 1)
	}
	if size < 0 || size > mostElement {
		return 0, nil, errLacing
	}
	return size, b[width:], nil
}
