package audio

import (
	"bytes"
	"context"
	"os"
)

// sniffed are the bytes that are looked at to tell a format.
const sniffed = 16 << 10

// Probe says what a file is. The error is an *Error where the file is to blame; with CutOff and Damaged Info says what is there all the same, and
// its Format is "" if that is nothing. The codec, Seconds and Silent of formats that are not read here are those of ffprobe and ffmpeg, if they are
// there and answer.
func (t Tools) Probe(ctx context.Context, file string) (Info, error) {
	f, err := open(file)
	if err != nil {
		return Info{}, of(file, err)
	}
	defer func() { _ = f.Close() }() // opened for reading only
	s, err := newSource(ctx, f)
	if err != nil {
		return Info{}, err
	}
	info, err := probe(s)
	if err == nil || reasonOf(err) == Damaged && info.Format != "" {
		t.complete(ctx, file, &info)
	}
	if ctx.Err() != nil {
		return Info{}, ctx.Err()
	}
	return info, of(file, err)
}

// open opens a file, and nothing else: a pipe would keep its reader waiting.
func open(file string) (*os.File, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, refuse(NotAudio, "it is not a file")
	}
	return os.Open(file)
}

// probe finds what can be found without programs.
func probe(s *source) (Info, error) {
	format, err := sniff(s)
	if err != nil {
		return Info{}, err
	}
	switch format {
	case "ogg":
		return probeOgg(s)
	case "webm":
		return probeWebM(s)
	case "wav":
		return probeWAV(s)
	case "m4a":
		found, err := readMP4(s)
		info := Info{Format: format, Codec: found.codec}
		if found.seconds > 0 {
			info.Seconds = &found.seconds
		}
		return info, err
	case "flac":
		seconds, err := flacSeconds(s)
		info := Info{Format: format, Codec: format}
		if seconds > 0 {
			info.Seconds = &seconds
		}
		return info, err
	}
	return Info{Format: format, Codec: format}, nil
}

// sniff tells the format by the beginning of a file, to which it returns; of FLAC also behind a tag of ID3.
func sniff(s *source) (string, error) {
	b, err := s.peek(sniffed)
	if err != nil {
		return "", err
	}
	if len(b) == 0 {
		return "", refuse(Empty, "it is empty")
	}
	if len(b) >= 10 && string(b[:3]) == "ID3" {
		return sniffTagged(s, 10+int64(b[6]&0x7f)<<21+int64(b[7]&0x7f)<<14+int64(b[8]&0x7f)<<7+int64(b[9]&0x7f))
	}
	if format := formatOf(b); format != "" {
		return format, nil
	}
	return "", refuse(NotAudio, "it is no audio file of a kind that is known, which are ogg, webm, wav, mp3, m4a and flac")
}

func sniffTagged(s *source, tag int64) (string, error) {
	if err := s.skip(tag); ended(err) {
		return "", refuse(CutOff, "it ends in its title, before its sound")
	} else if err != nil {
		return "", err
	}
	b, err := s.peek(4)
	if err == nil && string(b) == "fLaC" {
		return "flac", nil
	}
	if err == nil {
		err = s.seek(0)
	}
	return "mp3", err
}

func formatOf(b []byte) string {
	at := func(i int, magic string) bool { return len(b) >= i && bytes.HasPrefix(b[i:], []byte(magic)) }
	switch {
	case at(0, oggMagic):
		return "ogg"
	case at(0, "\x1a\x45\xdf\xa3"):
		return "webm"
	case at(8, "WAVE") && (at(0, "RIFF") || at(0, "RF64") || at(0, "BW64")):
		return "wav"
	case at(0, "fLaC"):
		return "flac"
	case at(4, "ftyp"):
		return "m4a"
	case mp3Frames(b):
		return "mp3"
	}
	return ""
}

// mp3Frames says that MP3 begins here: a frame, and another one where the first says that it ends.
func mp3Frames(b []byte) bool {
	length := mp3Frame(b)
	return length > 0 && (length == len(b) || length < len(b) && mp3Frame(b[length:]) > 0)
}

// mp3Frame is the length of the frame of MPEG audio, layer 3, that begins here; 0 if none does.
func mp3Frame(b []byte) int {
	if len(b) < 4 || b[0] != 0xff || b[1]&0xe6 != 0xe2 || b[1]&0x18 == 0x08 {
		return 0
	}
	rates := [15]int{0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}
	perFrame, divide := 144000, map[byte]int{0x18: 1, 0x10: 2, 0x00: 4}[b[1]&0x18]
	if divide > 1 {
		rates = [15]int{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160}
		perFrame = 72000
	}
	if b[2]>>4 == 15 || b[2]>>4 == 0 || b[2]>>2&3 == 3 {
		return 0
	}
	rate := [3]int{44100, 48000, 32000}[b[2]>>2&3] / divide
	return perFrame*rates[b[2]>>4]/rate + int(b[2]>>1&1)
}

func probeOgg(s *source) (Info, error) {
	h := newHearing()
	found, err := readOgg(s, h)
	if err != nil || found.codec == "" {
		if err == nil {
			err = refuse(Damaged, "no page of Ogg in it is whole")
		}
		return Info{}, err
	}
	info := Info{Format: "ogg", Codec: found.codec, Seconds: &found.seconds}
	if found.codec == "opus" {
		h.meter.deaf = h.meter.deaf || found.broken || found.cut
		info.Silent = h.meter.silent()
	}
	switch {
	case found.cut:
		err = refuse(CutOff, "it ends in the middle of a page; %.1f seconds are there", found.seconds)
	case found.broken:
		err = refuse(Damaged, "parts of it are missing; %.1f seconds are there", found.seconds)
	case found.seconds == 0:
		return Info{}, refuse(Empty, "there is no sound in it")
	}
	return info, err
}

func probeWebM(s *source) (Info, error) {
	h := newHearing()
	found, err := readWebM(s, h)
	if found.sound == nil || found.blocks == 0 {
		switch {
		case err != nil:
		case found.docType == "":
			err = refuse(Damaged, "it begins as a WebM file, and is none")
		case len(found.tracks) > 0 && found.sound == nil:
			err = refuse(NoSound, "it is a WebM file without a sound track")
		default:
			err = refuse(Empty, "there is no sound in it")
		}
		return Info{}, err
	}
	info := Info{Format: "webm", Codec: found.codec(), Seconds: found.seconds()}
	if found.docType != "webm" {
		info.Format = "mkv"
	}
	if found.opus {
		h.meter.deaf = h.meter.deaf || err != nil
		info.Silent = h.meter.silent()
	}
	return info, err
}

func probeWAV(s *source) (Info, error) {
	w, err := readWAV(s)
	if err != nil {
		return Info{}, err
	}
	if w.length == 0 {
		return Info{}, refuse(Empty, "there is no sound in it")
	}
	seconds := w.seconds()
	info := Info{Format: "wav", Codec: w.codec(), Seconds: &seconds}
	if w.plain() {
		m := newMeter(w.rate, w.channels)
		err = w.hear(s, w.length, func(samples []float64) bool {
			for _, sample := range samples {
				m.add(sample)
			}
			return !m.heard()
		})
		if err != nil {
			return Info{}, err
		}
		info.Silent = m.silent()
	}
	if w.cut {
		err = refuse(CutOff, "it ends before its end; %.1f seconds are there", seconds)
	}
	return info, err
}
