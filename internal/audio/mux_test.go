package audio

import (
	"encoding/binary"
	"math"
	"runtime"
	"testing"
)

// pages writes packets into pages of Ogg that hold so many segments each, so that packets lie across them.
type pages struct {
	serial, number uint32
	perPage        int
	out            []byte
}

// page appends one page.
func (p *pages) page(flags byte, granule int64, lacing, body []byte) {
	h := append([]byte("OggS\x00"), flags)
	h = binary.LittleEndian.AppendUint64(h, uint64(granule))
	h = binary.LittleEndian.AppendUint32(h, p.serial)
	h = binary.LittleEndian.AppendUint32(h, p.number)
	h = append(h, 0, 0, 0, 0, byte(len(lacing)))
	h = append(append(h, lacing...), body...)
	binary.LittleEndian.PutUint32(h[22:], oggSum(0, h))
	p.out = append(p.out, h...)
	p.number++
}

// stream appends a whole stream of packets that are so many samples long each. trim is how many samples the last page leaves out.
func (p *pages) stream(skip uint16, packets [][]byte, samples, trim int64) []byte {
	head := binary.LittleEndian.AppendUint16(append([]byte(opusMagic), 1, 1), skip)
	head = append(head, 0x80, 0x3e, 0, 0, 0, 0, 0)
	p.page(2, 0, []byte{byte(len(head))}, head)
	p.page(0, 0, []byte{16}, []byte("OpusTags\x00\x00\x00\x00\x00\x00\x00\x00"))
	var lacing, body []byte
	ends := map[int]int64{} // segments with which packets end, and the samples until there
	for i, packet := range packets {
		for n := len(packet); ; n -= 255 {
			lacing = append(lacing, byte(min(n, 255)))
			if n < 255 {
				break
			}
		}
		ends[len(lacing)-1] = int64(i+1) * samples
		body = append(body, packet...)
	}
	for at, continued := 0, byte(0); at < len(lacing); {
		n, length, granule := min(p.perPage, len(lacing)-at), 0, int64(-1)
		for i := at; i < at+n; i++ {
			length += int(lacing[i])
			if end, ok := ends[i]; ok {
				granule = end
			}
		}
		flags := continued
		continued = 0
		if lacing[at+n-1] == 255 {
			continued = 1
		}
		if at+n == len(lacing) {
			flags |= 4
			granule -= trim
		}
		p.page(flags, granule, lacing[at:at+n], body[:length])
		at, body = at+n, body[length:]
	}
	return p.out
}

// opusPackets are packets that hold nothing, of 60 ms, the bytes of a decoder that had a loss.
func opusPackets(n, size int) [][]byte {
	packets := make([][]byte, n)
	for i := range packets {
		packets[i] = make([]byte, size)
		packets[i][0] = 11 << 3 // SILK, 16 kHz, 60 ms
	}
	return packets
}

const sixty = 2880 // samples in 60 ms

// ebml is an element of Matroska; of a length that is not told, if it says so.
func ebml(id uint32, content []byte) []byte {
	return append(binary.BigEndian.AppendUint64(ebmlID(id), uint64(len(content))|1<<56), content...)
}

func ebmlOpen(id uint32) []byte { return append(ebmlID(id), 1, 255, 255, 255, 255, 255, 255, 255) }

func ebmlID(id uint32) (b []byte) {
	b = binary.BigEndian.AppendUint32(nil, id)
	for b[0] == 0 {
		b = b[1:]
	}
	return b
}

func join(parts ...[]byte) (all []byte) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// browserHead is how a recording of a browser begins.
func browserHead(scale byte) []byte {
	head := append([]byte(opusMagic), 1, 1, 0, 0, 0x80, 0x3e, 0, 0, 0, 0, 0)
	return join(ebml(idEBML, ebml(idDocType, []byte("webm"))), ebmlOpen(idSegment), ebml(idInfo, ebml(idScale, []byte{scale, 0x42, 0x40})),
		ebml(idTracks, ebml(idTrack, join(ebml(idNumber, []byte{1}), ebml(idType, []byte{2}), ebml(idCodec, []byte("A_OPUS")), ebml(idPrivate, head)))))
}

// cluster holds blocks at these milliseconds.
func cluster(at uint64, blocks ...[]byte) []byte {
	return join(ebmlOpen(idCluster), ebml(idTime, binary.BigEndian.AppendUint64(nil, at)), join(blocks...))
}

func simple(at int16, flags byte, content ...byte) []byte {
	return ebml(idSimple, append([]byte{0x81, byte(at >> 8), byte(at), flags}, content...))
}

func TestOggOfEveryShapeHasTheDurationOfItsPackets(t *testing.T) {
	for _, size := range []int{1, 254, 255, 256, 510, 1275} {
		for _, perPage := range []int{1, 2, 7, 255} {
			p := &pages{serial: 7, perPage: perPage}
			info, err := probed(t, p.stream(312, opusPackets(50, size), sixty, 480))
			if err != nil {
				t.Fatalf("packets of %d bytes, %d segments a page: %v", size, perPage, err)
			}
			near(t, "the duration", info.Seconds, 50*0.06-312.0/48000-0.01, 1e-9)
		}
	}
}

func TestChainedOggIsAsLongAsItsLinks(t *testing.T) {
	a := &pages{serial: 1, perPage: 50}
	b := &pages{serial: 2, perPage: 50, out: a.stream(0, opusPackets(100, 20), sixty, 0)}
	info, err := probed(t, append(b.stream(0, opusPackets(50, 20), sixty, 0), "what follows the end"...))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the duration", info.Seconds, 9, 1e-9)
}

func TestOggIsNotBelievedWhereItsPacketsSayOtherwise(t *testing.T) {
	for what, trim := range map[string]int64{"years": -1 << 60, "before the beginning": 1 << 60, "the middle": 4 * 48000} {
		p := &pages{perPage: 50}
		info, err := probed(t, p.stream(0, opusPackets(100, 20), sixty, trim))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		near(t, "the duration of an end in "+what, info.Seconds, 6, 1e-9)
	}
}

func TestStreamThatWasTakenUpInTheMiddleBeginsThere(t *testing.T) {
	q := &pages{perPage: 255}
	q.stream(0, nil, sixty, 0)
	for i := range int64(10) {
		q.page(0, 1000*48000+(i+1)*sixty, []byte{20}, opusPackets(1, 20)[0])
	}
	info, err := probed(t, q.out)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the duration", info.Seconds, 0.6, 1e-9)
}

func TestSilenceThatIsTooLongToBeHeardOutIsNotKnown(t *testing.T) {
	p := &pages{perPage: 255}
	info, err := probed(t, p.stream(0, opusPackets(10*60*1000/60+1, 1), sixty, 0))
	if err != nil || info.Silent != nil {
		t.Errorf("silent is %v; %v", info.Silent, err)
	}
	p = &pages{perPage: 255}
	info, err = probed(t, p.stream(0, opusPackets(1000, 1), sixty, 0))
	if err != nil || info.Silent == nil || !*info.Silent {
		t.Errorf("a minute: silent is %v; %v", info.Silent, err)
	}
}

func TestTwoHoursAreReadInLittleMemory(t *testing.T) {
	p := &pages{perPage: 50}
	b := p.stream(0, opusPackets(2*60*60*1000/60, 200), sixty, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	info, err := probed(t, b)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the duration", info.Seconds, 7200, 1e-6)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 4<<20 {
		t.Errorf("reading %d bytes took %d bytes of memory", len(b), allocated)
	}
}

func TestBrowserRecordingIsAsLongAsWhatIsThere(t *testing.T) {
	b := browserHead(0x0f)
	packet := opusPackets(1, 30)[0]
	for i := range 100 {
		b = append(b, cluster(uint64(i)*60, simple(0, 0x80, packet...))...)
	}
	whole, err := probed(t, b)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the duration", whole.Seconds, 6, 1e-6)
	if whole.Format != "webm" || whole.Silent == nil || !*whole.Silent {
		t.Errorf("it is %+v", whole)
	}
	last := 0.0
	for n := len(b) / 2; n < len(b)/2+300; n += 7 {
		info, err := probed(t, b[:n])
		if err != nil {
			t.Fatalf("cut off at byte %d: %v", n, err)
		}
		if info.Seconds == nil || *info.Seconds < last || *info.Seconds > 6 {
			t.Fatalf("cut off at byte %d it lasts %v", n, info.Seconds)
		}
		last = *info.Seconds
	}
}

func TestPausesThatABrowserLeavesOutCount(t *testing.T) {
	packet := opusPackets(1, 30)[0]
	info, err := probed(t, join(browserHead(0x0f), cluster(0, simple(0, 0x80, packet...)), cluster(5000, simple(-10, 0x80, packet...))))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the duration", info.Seconds, 5.05, 1e-6)
	info, err = probed(t, join(browserHead(0x0f), cluster(0, simple(0, 0x80, packet...)), cluster(math.MaxUint64, simple(0, 0x80, packet...))))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "the duration with a time that is none", info.Seconds, 0.12, 1e-6)
}

func TestLacedBlocksAreTakenApart(t *testing.T) {
	packet := opusPackets(1, 300)[0]
	three := join(packet, packet[:280], packet)
	for name, block := range map[string][]byte{
		"xiph":  append([]byte{2, 255, 45, 255, 25}, three...),
		"ebml":  append([]byte{2, 0x41, 0x2c, 0x5f, 0xeb}, three...),
		"fixed": append([]byte{2}, join(packet, packet, packet)...),
	} {
		flags := map[string]byte{"xiph": 2, "ebml": 6, "fixed": 4}[name]
		info, err := probed(t, join(browserHead(0x0f), cluster(0, simple(0, flags, block...))))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "the duration with lacing of "+name, info.Seconds, 0.18, 1e-9)
	}
}

func TestNestedElementsAndLyingLengthsOfMatroska(t *testing.T) {
	var nested []byte
	for range 100000 {
		nested = append(nested, ebmlOpen(idEBML)...)
	}
	_, err := probed(t, nested)
	refused(t, err, Damaged)
	_, err = probed(t, join(browserHead(0x0f), ebmlOpen(idCluster), ebmlID(idSimple), []byte{1, 127, 255, 255, 255, 255, 255, 255, 0x81}))
	refused(t, err, Empty)
	_, err = probed(t, join(browserHead(0x0f), cluster(0, simple(0, 0x80, opusPackets(1, 30)[0]...)), []byte("\x00 this is no element at all")))
	refused(t, err, Damaged, "at byte")
}
