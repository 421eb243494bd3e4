package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
)

// wav says where the samples of a WAV file are.
type wav struct {
	perFrame, perSecond int64 // bytes
	data, length        int64 // where the samples begin, and how many bytes of them are in the file
	announced           uint32
}

// readWAV reads the head of a WAV file. Of a length beyond the end of the file, only what is there counts.
func readWAV(f *os.File) (w wav, err error) {
	info, err := f.Stat()
	if err != nil {
		return w, err
	}
	for at := int64(12); ; {
		var head [8]byte
		if _, err := f.ReadAt(head[:], at); err != nil {
			return w, notEnd(err)
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		at += int64(len(head))
		switch string(head[:4]) {
		case "fmt ":
			var b [16]byte
			if _, err := f.ReadAt(b[:], at); err != nil {
				return w, notEnd(err)
			}
			w.perSecond = int64(binary.LittleEndian.Uint32(b[8:]))
			w.perFrame = int64(binary.LittleEndian.Uint16(b[12:]))
		case "data":
			if w.perFrame == 0 || w.perSecond == 0 {
				return w, errors.New("it does not say how many bytes a second has")
			}
			w.data, w.announced, w.length = at, uint32(size), info.Size()-at
			// the length is 0 if the recording program was killed before it wrote it
			if size > 0 && size < w.length {
				w.length = size
			}
			w.length -= w.length % w.perFrame
			return w, nil
		}
		at += size + size%2
	}
}

func notEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return errors.New("it ends before its first sample")
	}
	return err
}

func wavSeconds(f *os.File) (*float64, error) {
	w, err := readWAV(f)
	if err != nil {
		return nil, err
	}
	return secondsOf(w.length, w.perSecond)
}

// repairWAV makes the head of a WAV file say how much sound is in it, and returns the seconds. If the head was wrong,
// an incomplete frame at the end and whatever follows the samples are cut off.
func repairWAV(file string) (seconds float64, err error) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := readWAV(f)
	if err != nil {
		return 0, err
	}
	if int64(w.announced) != w.length {
		if err := f.Truncate(w.data + w.length); err != nil {
			return 0, err
		}
		for at, size := range map[int64]int64{4: w.data + w.length - 8, w.data - 4: w.length} {
			if _, err := f.WriteAt(binary.LittleEndian.AppendUint32(nil, uint32(min(size, math.MaxUint32))),
				at); err != nil {
				return 0, err
			}
		}
	}
	return float64(w.length) / float64(w.perSecond), f.Sync()
}

const (
	oggMagic  = "OggS"
	oggHead   = 27       // bytes of a page before its table
	oggLong   = 64 << 10 // bytes in which a page begins, counted from the end of a file
	opusRate  = 48000    // samples a second
	opusMagic = "OpusHead"
)

// opusSeconds is the length of the Opus in an Ogg file, from its first and last page; nil if it holds something else.
func opusSeconds(f *os.File) (*float64, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	first := make([]byte, min(info.Size(), 2*oggHead+20))
	if _, err := f.ReadAt(first, 0); err != nil {
		return nil, err
	}
	at := bytes.Index(first, []byte(opusMagic))
	if at < 0 || len(first) < at+12 {
		if len(first) <= oggHead {
			return nil, errors.New("it ends before its first sample")
		}
		return nil, nil
	}
	skipped := int64(binary.LittleEndian.Uint16(first[at+10:]))
	end := make([]byte, min(info.Size(), oggLong+oggHead))
	if _, err := f.ReadAt(end, info.Size()-int64(len(end))); err != nil {
		return nil, err
	}
	for {
		at := bytes.LastIndex(end, []byte(oggMagic))
		if at < 0 {
			return nil, nil
		}
		// A page says at which sample its last packet ends; -1: no packet ends in it.
		if page := end[at:]; len(page) >= oggHead && bytes.Equal(page[14:18], first[14:18]) {
			if samples := int64(binary.LittleEndian.Uint64(page[6:])); samples >= 0 &&
				samples < math.MaxInt32*opusRate {
				return secondsOf(samples-skipped, opusRate)
			}
		}
		end = end[:at]
	}
}

// secondsOf computes how long a sound is; having none is an error.
func secondsOf(size, perSecond int64) (*float64, error) {
	if size <= 0 {
		return nil, errors.New("there is no sound in it")
	}
	seconds := float64(size) / float64(perSecond)
	return &seconds, nil
}
