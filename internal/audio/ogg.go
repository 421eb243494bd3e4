package audio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"sync"
)

const (
	oggMagic = "OggS"
	mostOgg  = 1000 // streams one after the other in a file; each costs a decoder
	mostBad  = 5000 // places that look like a page and are none; each costs a checksum of up to 64 KB
)

// oggTable is that of the checksum of pages, which runs the other way than those of hash/crc32.
var oggTable = sync.OnceValue(func() *[256]uint32 {
	var table [256]uint32
	for i := range table {
		r := uint32(i) << 24
		for range 8 {
			r = r<<1 ^ (r >> 31 * 0x04c11db7)
		}
		table[i] = r
	}
	return &table
})

func oggSum(sum uint32, p []byte) uint32 {
	table := oggTable()
	for _, b := range p {
		sum = sum<<8 ^ table[byte(sum>>24)^b]
	}
	return sum
}

// oggPage is a page of a file. Its slices last until the next one is read.
type oggPage struct {
	continued, first, last bool
	granule                int64 // where the last packet that ends here ends; -1 none does
	serial, number         uint32
	lacing, body           []byte
}

// oggReader reads pages whose checksum is right, and looks for the next one where one is not.
type oggReader struct {
	*source
	head   [27 + 255]byte
	body   [255 * 255]byte
	broken bool // bytes were passed over that belong to no page
	bad    int  // how often
}

var errOggPage = errors.New("no page")

// next returns the next page, io.EOF after the last one, or io.ErrUnexpectedEOF in the middle of one.
func (r *oggReader) next() (oggPage, error) {
	for {
		at := r.pos
		page, err := r.page()
		if !errors.Is(err, errOggPage) {
			return page, err
		}
		r.broken = true
		if r.bad++; r.bad > mostBad {
			return oggPage{}, refuse(Damaged, "more than %d pages of Ogg in it are damaged", mostBad)
		}
		if err := r.seek(at + 1); err != nil {
			return oggPage{}, err
		}
		if err := r.search(); err != nil {
			return oggPage{}, err
		}
	}
}

// search goes to the next bytes that a page could begin with.
func (r *oggReader) search() error {
	for {
		p, err := r.peek(r.buf.Size())
		if err != nil {
			return err
		}
		if len(p) < len(oggMagic) {
			return io.EOF
		}
		if i := bytes.Index(p, []byte(oggMagic)); i >= 0 {
			return r.skip(int64(i))
		}
		if err := r.skip(int64(len(p) - len(oggMagic) + 1)); err != nil {
			return err
		}
	}
}

func (r *oggReader) page() (oggPage, error) {
	h := r.head[:27]
	if err := r.read(h); err != nil {
		return oggPage{}, err
	}
	if string(h[:4]) != oggMagic || h[4] != 0 {
		return oggPage{}, errOggPage
	}
	p := oggPage{continued: h[5]&1 != 0, first: h[5]&2 != 0, last: h[5]&4 != 0, granule: int64(binary.LittleEndian.Uint64(h[6:])),
		serial: binary.LittleEndian.Uint32(h[14:]), number: binary.LittleEndian.Uint32(h[18:])}
	p.lacing = r.head[27 : 27+int(h[26])]
	if err := r.read(p.lacing); err != nil {
		return oggPage{}, cut(err)
	}
	length := 0
	for _, n := range p.lacing {
		length += int(n)
	}
	p.body = r.body[:length]
	if err := r.read(p.body); err != nil {
		return oggPage{}, cut(err)
	}
	sum := binary.LittleEndian.Uint32(h[22:])
	clear(h[22:26])
	if oggSum(oggSum(oggSum(0, h), p.lacing), p.body) != sum {
		return oggPage{}, errOggPage
	}
	return p, nil
}

// cut makes the end of a file one in the middle of something.
func cut(err error) error {
	if ended(err) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// oggPackets joins the packets of one stream, of which it keeps the beginning alone where they are long.
type oggPackets struct {
	part []byte
	open bool // part is the beginning of a packet that goes on
	lost bool // a packet has no beginning or no end
}

// take calls do with each packet that ends on a page.
func (o *oggPackets) take(p oggPage, do func(packet []byte) error) error {
	skip := p.continued && !o.open
	if !p.continued && o.open || skip {
		o.lost = true
		o.part, o.open = o.part[:0], false
	}
	body := p.body
	for _, n := range p.lacing {
		if room := mostPacket - len(o.part); room > 0 && !skip {
			o.part = append(o.part, body[:min(int(n), room)]...)
		}
		body = body[n:]
		if n == 255 {
			continue
		}
		if !skip {
			if err := do(o.part); err != nil {
				return err
			}
		}
		o.part, skip = o.part[:0], false
	}
	o.open = len(p.lacing) > 0 && p.lacing[len(p.lacing)-1] == 255
	if o.open && skip {
		o.open = false
	}
	return nil
}
