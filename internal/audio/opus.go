package audio

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/pion/opus"
)

const (
	opusRate    = 48000          // in which Opus counts its samples
	opusLongest = 5760           // samples of a packet: 120 ms
	decodedRate = 16000          // in which packets are decoded: that of speech
	hearOut     = 600 * opusRate // samples of silence that are decoded before it is left to ffmpeg
	mostPacket  = 64 << 10       // bytes of a packet that are kept; a packet of Opus is shorter
	opusMagic   = "OpusHead"
	badOpusHead = "the header of Opus says nothing that can be"
)

// opusFrames are the samples of one frame, by the configuration in the first byte of a packet.
var opusFrames = [32]int{
	480, 960, 1920, 2880, 480, 960, 1920, 2880, 480, 960, 1920, 2880, 480, 960, 480, 960,
	120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960,
}

// opusSamples is how many samples a packet holds; 0 if it is none.
func opusSamples(packet []byte) int64 {
	if len(packet) == 0 {
		return 0
	}
	frames := 1
	switch packet[0] & 3 {
	case 1, 2:
		frames = 2
	case 3:
		if len(packet) < 2 {
			return 0
		}
		frames = int(packet[1] & 0x3f)
	}
	samples := frames * opusFrames[packet[0]>>3]
	if samples > opusLongest {
		return 0
	}
	return int64(samples)
}

// opusHead is the header of a stream of Opus.
type opusHead struct {
	channels int
	skip     int64 // samples at its beginning that are not played
	gain     float64
	family   byte // 0: mono or stereo; others have several streams in a packet
}

func readOpusHead(packet []byte) (opusHead, error) {
	if len(packet) < 19 || string(packet[:8]) != opusMagic || packet[8]&0xf0 != 0 || packet[9] == 0 {
		return opusHead{}, refuse(Damaged, badOpusHead)
	}
	gain := int16(binary.LittleEndian.Uint16(packet[16:]))
	return opusHead{channels: int(packet[9]), skip: int64(binary.LittleEndian.Uint16(packet[10:])), gain: math.Pow(10, float64(gain)/256/20),
		family: packet[18]}, nil
}

// opusSink takes the packets of a stream of Opus in their order. head comes before the packets of each stream of a chain.
type opusSink interface {
	head(opusHead) error
	packet(p []byte, samples int64) error
}

// opusDecoder decodes the packets of one stream.
type opusDecoder struct {
	opusHead
	decoder opus.Decoder
	out     []float32
}

func newOpusDecoder(h opusHead, channels int) (*opusDecoder, error) {
	d := &opusDecoder{opusHead: h, out: make([]float32, opusLongest*channels*decodedRate/opusRate)}
	decoder, err := opus.NewDecoderWithOutput(decodedRate, channels)
	d.decoder = decoder
	return d, err
}

// decode returns the samples of a packet, of all channels in turn. They last until the next call.
func (d *opusDecoder) decode(packet []byte) (out []float32, err error) {
	defer func() {
		if p := recover(); p != nil { // the decoder meets bytes of strangers
			out, err = nil, fmt.Errorf("a packet of Opus can't be decoded: %v", p)
		}
	}()
	n, err := d.decoder.DecodeToFloat32(packet, d.out)
	if err != nil {
		return nil, fmt.Errorf("a packet of Opus can't be decoded: %w", err)
	}
	channels := len(d.out) * opusRate / decodedRate / opusLongest
	out = d.out[:min(n*channels, len(d.out))]
	if d.gain != 1 {
		for i := range out {
			out[i] = float32(float64(out[i]) * d.gain)
		}
	}
	return out, nil
}

// hearing is a sink that listens for something that is not silent, and then no more.
type hearing struct {
	meter   *meter
	decoder *opusDecoder
	left    int64 // samples that may still be decoded; what comes after them is not heard
	whole   bool  // listen to all of it, loud or not
}

func newHearing() *hearing { return &hearing{meter: newMeter(decodedRate, 1), left: hearOut} }

func (h *hearing) head(o opusHead) (err error) {
	h.decoder = nil
	if o.family != 0 || o.channels > 2 {
		h.meter.deaf = true
		return nil
	}
	h.meter.close()
	h.meter.perWindow = newMeter(decodedRate, o.channels).perWindow
	h.decoder, err = newOpusDecoder(o, o.channels)
	return err
}

func (h *hearing) packet(p []byte, samples int64) error {
	if h.decoder == nil || h.meter.heard() && !h.whole {
		return nil
	}
	if h.left -= samples; h.left < 0 || samples == 0 {
		h.meter.deaf = true
		return nil
	}
	out, err := h.decoder.decode(p)
	if err != nil {
		h.meter.deaf = true
		return nil //nolint:nilerr // what can't be decoded is not heard, and the rest may be
	}
	for _, sample := range out {
		h.meter.add(float64(sample))
	}
	return nil
}
