package audio

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
	"time"
)

// The elements of Matroska that matter here. Those of the first group hold others, and are walked through as if they were not there: so it does
// not matter where they say that they end, which a browser does not know while it records.
const (
	idEBML, idSegment, idInfo, idTracks, idTrack, idAudio, idCluster, idGroup = 0x1a45dfa3, 0x18538067, 0x1549a966, 0x1654ae6b, 0xae, 0xe1, 0x1f43b675, 0xa0

	idDocType, idScale, idNumber, idType, idCodec, idPrivate    = 0x4282, 0x2ad7b1, 0xd7, 0x83, 0x86, 0x63a2
	idEncodings, idTime, idSimple, idBlock, idPadding, idLength = 0x6d80, 0xe7, 0xa3, 0xa1, 0x75a2, 0x4489
)

const (
	mostElement = 1 << 20   // bytes of an element that is read
	pause       = time.Hour // between two blocks; longer ones are no pauses but wrong times
	mostTracks  = 100
)

// webmTrack is a track of a file.
type webmTrack struct {
	number, kind uint64
	codec        string
	private      []byte
	encoded      bool // its packets are compressed or encrypted
}

// webmFile is what is found in a file.
type webmFile struct {
	docType string
	scale   uint64 // nanoseconds of a tick
	tracks  []*webmTrack
	sound   *webmTrack // the first track of sound
	opus    bool       // its packets are Opus, and can be counted
	skip    int64
	cluster uint64 // its time, in ticks

	samples, padding int64 // that the packets hold; that are not played at the end
	blocks           int64
	start, end, step time.Duration // of the first block; of the last one, by its packets; between the last two
	length           float64       // as it is announced, in ticks
	wild             bool          // times make no sense
}

// readWebM reads a whole file. sink takes the packets of Opus.
func readWebM(s *source, sink opusSink) (*webmFile, error) {
	f := &webmFile{scale: 1e6}
	for {
		id, size, err := element(s)
		if err == nil {
			err = f.element(s, id, size, sink)
		}
		if ended(err) { // also in the middle of an element: so ends a recording whose browser was closed
			return f, nil
		}
		if err != nil {
			return f, err
		}
	}
}

const unknownSize = math.MaxUint64

// element reads the head of an element.
func element(s *source) (id, size uint64, err error) {
	if id, _, err = vint(s, 4, true); err != nil {
		return 0, 0, err
	}
	size, width, err := vint(s, 8, false)
	if size == 1<<(7*width)-1 {
		size = unknownSize
	}
	return id, size, err
}

// vint reads a number of at most so many bytes; its first one says how many.
func vint(s *source, most int, mark bool) (n uint64, width int, err error) {
	var b [8]byte
	if err := s.read(b[:1]); err != nil {
		return 0, 0, err
	}
	width = bits.LeadingZeros8(b[0]) + 1
	if width > most {
		return 0, 0, refuse(Damaged, "at byte %d there is no element of Matroska", s.pos-1)
	}
	if err := s.read(b[1:width]); err != nil {
		return 0, 0, cut(err)
	}
	if !mark {
		b[0] &^= 0x80 >> (width - 1)
	}
	return binary.BigEndian.Uint64(b[:]) >> (64 - 8*width), width, nil
}

func (f *webmFile) element(s *source, id, size uint64, sink opusSink) error {
	switch id {
	case idTrack:
		if len(f.tracks) >= mostTracks {
			return refuse(Damaged, "it has more than %d tracks", mostTracks)
		}
		f.tracks = append(f.tracks, &webmTrack{})
		return nil
	case idEBML, idSegment, idInfo, idTracks, idAudio, idGroup:
		return nil
	case idCluster:
		return f.choose(sink)
	}
	if size == unknownSize {
		return refuse(Damaged, "at byte %d there is an element of Matroska that does not say where it ends", s.pos)
	}
	if size > math.MaxInt64 || int64(size) > s.left() {
		return s.skip(s.left() + 1)
	}
	wanted := id == idSimple || id == idBlock
	switch id {
	case idDocType, idScale, idNumber, idType, idCodec, idPrivate, idTime, idPadding, idLength:
		wanted = true
	case idEncodings:
		if len(f.tracks) > 0 {
			f.tracks[len(f.tracks)-1].encoded = true
		}
	}
	if !wanted || size > mostElement {
		return s.skip(int64(size))
	}
	content := make([]byte, size)
	if err := s.read(content); err != nil && size > 0 {
		return cut(err)
	}
	if id == idSimple || id == idBlock {
		return f.block(content, sink)
	}
	f.value(id, content)
	return nil
}

// value takes an element that holds one value.
func (f *webmFile) value(id uint64, content []byte) {
	number := uint64(0)
	for _, b := range content[:min(len(content), 8)] {
		number = number<<8 | uint64(b)
	}
	switch id {
	case idDocType:
		f.docType = textOf(content)
	case idScale:
		f.scale = number
	case idTime:
		f.cluster = number
	case idLength:
		switch len(content) {
		case 4:
			f.length = float64(math.Float32frombits(uint32(number)))
		case 8:
			f.length = math.Float64frombits(number)
		}
	case idPadding:
		if n := int64(number << (64 - 8*min(len(content), 8)) >> (64 - 8*min(len(content), 8))); len(content) > 0 && n > 0 && n < int64(time.Second) {
			f.padding = n * opusRate / int64(time.Second)
		}
	}
	if len(f.tracks) == 0 {
		return
	}
	switch t := f.tracks[len(f.tracks)-1]; id {
	case idNumber:
		t.number = number
	case idType:
		t.kind = number
	case idCodec:
		t.codec = textOf(content)
	case idPrivate:
		t.private = content
	}
}

func textOf(content []byte) string {
	return strings.TrimRight(string(content[:min(len(content), 64)]), "\x00")
}

// choose settles which track is the sound, when the first block may come.
func (f *webmFile) choose(sink opusSink) error {
	if f.sound != nil {
		return nil
	}
	for _, t := range f.tracks {
		if t.kind != 2 {
			continue
		}
		f.sound = t
		if t.codec != "A_OPUS" || t.encoded {
			return nil
		}
		head, err := readOpusHead(t.private)
		if err != nil {
			return err
		}
		f.opus, f.skip = true, head.skip
		return sink.head(head)
	}
	return nil
}

// codec is the name of the codec as it is used here.
func (f *webmFile) codec() string {
	if f.sound.codec == "A_MPEG/L3" {
		return "mp3"
	}
	name, _, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(f.sound.codec, "A_")), "/")
	return name
}
