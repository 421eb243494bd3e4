package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// oggStream is one stream of a file; a chain has several.
type oggStream struct {
	codec   string
	serial  uint32
	number  uint32 // of the page that was seen last
	headers int    // packets that are still to come before sound
	begun   bool   // pages came that are not the first of a stream
	ended   bool
	packets oggPackets

	rate, skip  int64
	longest     int64 // samples that a packet of Vorbis can have
	samples     int64 // that the packets hold, or can hold at most
	start, last int64 // granules before the first packet and after the last
	tail        int64 // samples of the packets on the last page that has a granule
	timed       bool  // start is known
	wild        bool  // granules make no sense
}

// oggFile is what is found in a file.
type oggFile struct {
	codec   string
	seconds float64
	cut     bool // it ends in the middle of a page
	broken  bool // pages or packets are missing
}

// readOgg reads a whole file. sink takes the packets of Opus.
func readOgg(s *source, sink opusSink) (f oggFile, err error) {
	r := &oggReader{source: s}
	var now *oggStream // nil before the first stream of sound in a link of the chain
	links := 0
	for {
		page, err := r.next()
		if r.broken {
			f.broken, r.broken = f.broken || now == nil || !now.ended, false // what follows an end harms nothing
		}
		if ended(err) {
			f.cut = errors.Is(err, io.ErrUnexpectedEOF) && (now == nil || !now.ended)
			break
		}
		if err != nil {
			return f, err
		}
		if page.first && now != nil && now.begun {
			f.add(now)
			now = nil
		}
		switch {
		case page.first && now == nil:
			if links++; links > mostOgg {
				return f, refuse(Damaged, "more than %d streams follow each other in it", mostOgg)
			}
			if now, err = openOggStream(page, sink); err != nil {
				return f, err
			}
		case now != nil && !page.first:
			if err := now.page(page, sink); err != nil {
				return f, err
			}
		}
	}
	f.add(now)
	if f.codec == "" && links > 0 {
		return f, refuse(NoSound, "it is an Ogg file without a sound track of a kind that is known, which are Opus and Vorbis")
	}
	return f, nil
}

// openOggStream looks at the first page of a stream. It returns nil if that is no sound, or none that is known.
func openOggStream(p oggPage, sink opusSink) (*oggStream, error) {
	o := &oggStream{serial: p.serial, number: p.number}
	switch b := p.body; {
	case bytes.HasPrefix(b, []byte(opusMagic)):
		h, err := readOpusHead(b)
		if err != nil {
			return nil, err
		}
		o.codec, o.headers, o.rate, o.skip = "opus", 1, opusRate, h.skip
		return o, sink.head(h)
	case bytes.HasPrefix(b, []byte("\x01vorbis")) && len(b) >= 30:
		o.codec, o.headers = "vorbis", 2
		o.rate = int64(binary.LittleEndian.Uint32(b[12:]))
		o.longest = 1 << (b[28] >> 4) / 2
		if o.rate == 0 || b[11] == 0 {
			return nil, refuse(Damaged, "the header of Vorbis says nothing that can be")
		}
		return o, nil
	}
	return nil, nil
}

// page takes a page that is not the first of a stream.
func (o *oggStream) page(p oggPage, sink opusSink) error {
	o.begun = true
	if p.serial != o.serial || o.ended {
		return nil
	}
	o.packets.lost = o.packets.lost || p.number != o.number+1
	o.number, o.ended = p.number, p.last
	before := o.samples
	err := o.packets.take(p, func(packet []byte) error {
		switch {
		case o.headers > 0:
			o.headers--
			return nil
		case o.codec == "vorbis":
			o.samples += o.longest
			return nil
		}
		n := opusSamples(packet)
		o.samples += n
		return sink.packet(packet, n)
	})
	if o.samples == before {
		return err
	}
	if o.wild = o.wild || p.granule < 0; o.wild {
		return err
	}
	if !o.timed && o.codec == "opus" && !(p.last && p.granule < o.samples) {
		o.start = max(p.granule-o.samples, 0)
	}
	o.timed, o.last, o.tail = true, p.granule, o.samples-before
	return err
}

// add adds a stream that has ended to what is found. Its packets are believed. Where it ends among those of its last page is what the granules say.
func (f *oggFile) add(o *oggStream) {
	if o == nil {
		return
	}
	if f.codec == "" {
		f.codec = o.codec
	}
	f.broken = f.broken || o.packets.lost
	length := o.samples
	if told := o.last - o.start; o.timed && !o.wild && told < length && (told >= length-o.tail || o.codec == "vorbis") {
		length = told
	}
	if length -= o.skip; length > 0 {
		f.seconds += float64(length) / float64(o.rate)
	}
}
