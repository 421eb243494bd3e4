package audio

import (
	"encoding/binary"
	"slices"
)

// mp4File is what is found in a file.
type mp4File struct {
	seconds float64 // 0 not said
	codec   string
	sound   bool // it has a track of sound
	index   bool // it has the part that says what is in it
}

// The boxes that hold others, and matter.
var mp4Holds = []string{"moov", "trak", "mdia", "minf", "stbl"}

// readMP4 reads the index of a file, wherever that is. The sound itself is passed over.
func readMP4(s *source) (f mp4File, err error) {
	sound := false // the track that is read is sound
	for {
		var head [16]byte
		if err := s.read(head[:8]); err != nil {
			return f, f.end(err)
		}
		size, name := int64(binary.BigEndian.Uint32(head[:])), string(head[4:8])
		body := size - 8
		switch size {
		case 0:
			body = s.left()
		case 1:
			if err := s.read(head[8:]); err != nil {
				return f, f.end(err)
			}
			body = int64(binary.BigEndian.Uint64(head[8:])) - 16
		}
		if body < 0 {
			return f, refuse(Damaged, "at byte %d there is a box of MP4 that is shorter than its head", s.pos)
		}
		if slices.Contains(mp4Holds, name) {
			f.index = true
			sound = sound && name != "trak"
			continue
		}
		content := make([]byte, min(body, 32))
		if name == "mvhd" || name == "hdlr" || name == "stsd" {
			if err := s.read(content); err != nil {
				return f, f.end(err)
			}
			body -= int64(len(content))
		}
		switch {
		case name == "mvhd" && len(content) == 32:
			f.seconds = mp4Seconds(content)
		case name == "hdlr" && len(content) >= 12 && string(content[8:12]) == "soun":
			f.sound, sound = true, true
		case name == "stsd" && sound && f.codec == "" && len(content) >= 16:
			f.codec = mp4Codec(string(content[12:16]))
		}
		if err := s.skip(body); err != nil {
			return f, f.end(err)
		}
	}
}

func (f *mp4File) end(err error) error {
	switch {
	case !ended(err):
		return err
	case !f.index:
		return refuse(CutOff, "it ends before the index of its sound: the recording was not finished")
	case !f.sound:
		return refuse(NoSound, "it is an MP4 file without a sound track")
	case f.seconds == 0 || err.Error() == "EOF":
		return nil
	}
	return refuse(CutOff, "it ends before its end")
}

// mp4Seconds reads the head of a film: its length, in parts of a second that it names.
func mp4Seconds(b []byte) float64 {
	scale, length := binary.BigEndian.Uint32(b[12:]), uint64(binary.BigEndian.Uint32(b[16:]))
	if b[0] == 1 {
		scale, length = binary.BigEndian.Uint32(b[20:]), binary.BigEndian.Uint64(b[24:])
	}
	const longest = 1e7 // seconds, four months: more is a way to say that it is not known
	if seconds := float64(length) / float64(max(scale, 1)); scale > 0 && seconds < longest {
		return seconds
	}
	return 0
}

func mp4Codec(name string) string {
	switch name {
	case "mp4a":
		return "aac"
	case "Opus":
		return "opus"
	case ".mp3":
		return "mp3"
	case "fLaC":
		return "flac"
	}
	return name
}

// flacSeconds reads the head of a FLAC file, which begins here. 0: it does not say.
func flacSeconds(s *source) (float64, error) {
	var b [42]byte
	if err := s.read(b[:]); err != nil {
		if ended(err) {
			return 0, refuse(CutOff, "it ends before its first sample")
		}
		return 0, err
	}
	packed := binary.BigEndian.Uint64(b[18:])
	rate, samples := packed>>44, packed&(1<<36-1)
	if b[4]&0x7f != 0 || rate == 0 {
		return 0, refuse(Damaged, "the header of FLAC says nothing that can be")
	}
	const fewest, most = 10, 1 << 16 // bytes of a frame, and samples in it
	if samples > uint64(s.left()/fewest+1)*most {
		return 0, refuse(CutOff, "it announces %d samples, and has %d bytes", samples, s.left())
	}
	return float64(samples) / float64(rate), nil
}
