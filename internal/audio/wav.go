package audio

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// wavFormat is how the samples of a file lie in it.
type wavFormat struct {
	kind     uint16 // 1 whole numbers, 3 floating point, others are named by codec
	channels int
	rate     int
	bits     int
	perFrame int64 // bytes of one sample of each channel
	perSec   int64 // bytes, as it says
	data     int64 // where the samples begin
	length   int64 // bytes of samples
	cut      bool  // it announces more of them
	vague    bool  // it does not say how many there are
}

// unsaid is a size from which on it is what programs write that do not know how much will come.
const unsaid = 0x7ffff000

// readWAV reads up to the samples.
func readWAV(s *source) (f wavFormat, err error) {
	var head [12]byte
	if err := s.read(head[:]); err != nil {
		return f, wavCut(err)
	}
	large := int64(-1) // size of the samples in a file over 4 GB
	for {
		var chunk [8]byte
		if err := s.read(chunk[:]); err != nil {
			return f, wavCut(err)
		}
		name, size := string(chunk[:4]), binary.LittleEndian.Uint32(chunk[4:])
		switch name {
		case "data":
			if size == 0 && int64(binary.LittleEndian.Uint32(head[4:]))+8 != s.size {
				size = unsaid // the program was killed before it came back to say it
			}
			return f, f.found(s, size, large)
		case "fmt ", "ds64":
			content := make([]byte, min(size, 64))
			if err := s.read(content); err != nil {
				return f, wavCut(err)
			}
			if name == "ds64" && len(content) >= 16 {
				large = int64(binary.LittleEndian.Uint64(content[8:]) & math.MaxInt64)
			} else if name == "fmt " {
				if err := f.parse(content); err != nil {
					return f, err
				}
			}
			size -= uint32(len(content))
		}
		if err := s.skip(int64(size) + int64(size&1)); err != nil {
			return f, wavCut(err)
		}
	}
}

func wavCut(err error) error {
	if ended(err) {
		return refuse(CutOff, "it ends before its first sample")
	}
	return err
}

func (f *wavFormat) parse(b []byte) error {
	if len(b) < 16 {
		return refuse(Damaged, "its description of the samples is too short")
	}
	f.kind = binary.LittleEndian.Uint16(b)
	f.channels = int(binary.LittleEndian.Uint16(b[2:]))
	f.rate = int(binary.LittleEndian.Uint32(b[4:]))
	f.perSec = int64(binary.LittleEndian.Uint32(b[8:]))
	f.bits = int(binary.LittleEndian.Uint16(b[14:]))
	if f.kind == 0xfffe && len(b) >= 26 {
		f.kind = binary.LittleEndian.Uint16(b[24:])
	}
	if f.channels < 1 || f.channels > 64 || f.rate < 1 || f.rate > 1<<20 {
		return refuse(Damaged, "it says that it has %d channels of %d samples a second, which can't be", f.channels, f.rate)
	}
	f.perFrame = int64(f.channels * ((f.bits + 7) / 8))
	if f.plain() {
		f.perSec = f.perFrame * int64(f.rate)
	}
	if f.perSec == 0 {
		return refuse(Damaged, "it does not say how many bytes a second has")
	}
	return nil
}

// found takes the size of the samples, which follow.
func (f *wavFormat) found(s *source, size uint32, large int64) error {
	if f.perSec == 0 {
		return refuse(Damaged, "its samples come before their description")
	}
	f.data, f.length = s.pos, s.left()
	announced := int64(size)
	if large >= 0 && size == math.MaxUint32 {
		announced = large
	} else if size >= unsaid {
		announced, f.vague = f.length, true
	}
	f.cut = announced > f.length
	f.length = min(f.length, announced)
	if f.plain() {
		f.length -= f.length % f.perFrame
	}
	return nil
}

// plain says that the samples are numbers that are read here.
func (f *wavFormat) plain() bool {
	switch f.bits {
	case 8, 16, 24:
		return f.kind == 1
	case 32:
		return f.kind == 1 || f.kind == 3
	case 64:
		return f.kind == 3
	}
	return false
}

func (f *wavFormat) codec() string {
	if f.plain() {
		kind := map[bool]string{true: "pcm_f", false: "pcm_s"}[f.kind == 3]
		return map[int]string{8: "pcm_u8", 16: kind + "16", 24: kind + "24", 32: kind + "32", 64: kind + "64"}[f.bits]
	}
	return map[uint16]string{2: "adpcm_ms", 6: "alaw", 7: "mulaw", 0x11: "adpcm_ima", 0x31: "gsm", 0x55: "mp3", 0xff: "aac"}[f.kind]
}

func (f *wavFormat) seconds() float64 { return float64(f.length) / float64(f.perSec) }

// hear calls do with the samples from here on, in blocks of whole frames, until it says no or length bytes are read.
func (f *wavFormat) hear(r io.Reader, length int64, do func(samples []float64) bool) error {
	width := f.bits / 8
	raw := make([]byte, f.perFrame*max(1, 32<<10/f.perFrame))
	samples := make([]float64, len(raw)/width)
	for length > 0 {
		n, err := io.ReadFull(r, raw[:min(int64(len(raw)), length)])
		n -= n % int(f.perFrame)
		length -= int64(n)
		for i := range n / width {
			samples[i] = f.sample(raw[i*width:])
		}
		if n > 0 && !do(samples[:n/width]) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *wavFormat) sample(b []byte) float64 {
	switch {
	case f.bits == 8:
		return (float64(b[0]) - 128) / 128
	case f.bits == 16:
		return float64(int16(binary.LittleEndian.Uint16(b))) / (1 << 15)
	case f.bits == 24:
		return float64(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)) / (1 << 31)
	case f.kind == 1:
		return float64(int32(binary.LittleEndian.Uint32(b))) / (1 << 31)
	case f.bits == 32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

// wavHead is the beginning of a file of plain samples, with the bytes of what follows it.
func wavHead(rate, channels, bits, kind int, length int64) []byte {
	size := uint32(min(length, math.MaxUint32-36))
	perFrame := channels * bits / 8
	h := make([]byte, 0, 44)
	h = append(h, "RIFF"...)
	h = binary.LittleEndian.AppendUint32(h, size+36)
	h = append(h, "WAVEfmt "...)
	h = binary.LittleEndian.AppendUint32(h, 16)
	h = binary.LittleEndian.AppendUint16(h, uint16(kind))
	h = binary.LittleEndian.AppendUint16(h, uint16(channels))
	h = binary.LittleEndian.AppendUint32(h, uint32(rate))
	h = binary.LittleEndian.AppendUint32(h, uint32(rate*perFrame))
	h = binary.LittleEndian.AppendUint16(h, uint16(perFrame))
	h = binary.LittleEndian.AppendUint16(h, uint16(bits))
	h = append(h, "data"...)
	return binary.LittleEndian.AppendUint32(h, size)
}
