package audio

import (
	"bytes"
	"testing"

	"sibyl/internal/lineartest"
)

// worst are files of about so many parts, that a careless reader takes quadratic time or memory for.
var worst = map[string]func(n int) []byte{
	"pages that are none": func(n int) []byte { return bytes.Repeat([]byte("OggS\x00"), n) },
	"large pages that are none": func(n int) []byte {
		return bytes.Repeat(append([]byte("OggS\x00"), bytes.Repeat([]byte{255}, 300)...), n)
	},
	"empty pages": func(n int) []byte {
		p := &pages{perPage: 1}
		p.stream(0, nil, sixty, 0)
		for range n {
			p.page(0, -1, nil, nil)
		}
		return p.out
	},
	"short packets": func(n int) []byte { return (&pages{perPage: 255}).stream(0, opusPackets(n, 1), sixty, 0) },
	"a long packet": func(n int) []byte { return (&pages{perPage: 255}).stream(0, opusPackets(1, n), sixty, 0) },
	"streams one after the other": func(n int) []byte {
		var b []byte
		for range n / 100 {
			b = (&pages{perPage: 50, out: b}).stream(0, opusPackets(1, 1), sixty, 0)
		}
		return b
	},
	"nested elements": func(n int) []byte { return bytes.Repeat(ebmlOpen(idGroup), n) },
	"clusters":        func(n int) []byte { return append(browserHead(0x0f), bytes.Repeat(ebmlOpen(idCluster), n)...) },
	"empty elements":  func(n int) []byte { return append(browserHead(0x0f), bytes.Repeat(ebml(idPrivate, nil), n)...) },
	"headers of Opus": func(n int) []byte {
		return append(browserHead(0x0f), bytes.Repeat(ebml(idPrivate, make([]byte, 100)), n)...)
	},
	"laced blocks": func(n int) []byte {
		return append(append(browserHead(0x0f), ebmlOpen(idCluster)...), bytes.Repeat(simple(0, 2, append([]byte{255}, make([]byte, 300)...)...), n)...)
	},
	"chunks of WAV": func(n int) []byte {
		return append([]byte("RIFF\x00\x00\x00\x00WAVE"), bytes.Repeat([]byte("junk\x00\x00\x00\x00"), n)...)
	},
	"boxes of MP4": func(n int) []byte {
		return append([]byte("\x00\x00\x00\x08ftyp"), bytes.Repeat([]byte("\x00\x00\x00\x08moov"), n)...)
	},
	"heads of MP4": func(n int) []byte {
		return append([]byte("\x00\x00\x00\x08ftyp"), bytes.Repeat(append([]byte("\x00\x00\x00\x28mvhd"), make([]byte, 32)...), n)...)
	},
}

func TestFilesAreProbedInLinearTimeAndMemory(t *testing.T) {
	for name, make := range worst {
		t.Run(name, func(t *testing.T) {
			t.Log(lineartest.Check(t, 20, func(n int) func() {
				b := make(n)
				return func() {
					if _, err := probed(t, b); err != nil && reasonOf(err) == "" {
						t.Error(err)
					}
				}
			}))
		})
	}
}

func TestOggOfPagesThatAreNoneIsRefusedBeforeTheyAreAllLookedAt(t *testing.T) {
	_, err := probed(t, worst["pages that are none"](2*mostBad))
	refused(t, err, Damaged, "5000 pages")
	hurt := (&pages{perPage: 3}).stream(0, opusPackets(200, 300), sixty, 0)
	for at := len(hurt) / 4; at < len(hurt)/2; at += 100 {
		hurt[at] ^= 1
	}
	_, err = probed(t, hurt)
	refused(t, err, Damaged, "parts of it are missing")
}
