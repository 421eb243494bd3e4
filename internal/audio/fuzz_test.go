package audio

import (
	"bytes"
	"context"
	"encoding/binary"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/metrics"
	"testing"
)

// lasting is how many seconds a byte of a format may stand for at most.
var lasting = map[string]float64{
	"opus in ogg":   0.12,              // a packet of 120 ms has one at least
	"vorbis in ogg": 1 << 14,           // a segment of 16384 samples, of one a second
	"webm":          pause.Seconds(),   // a block has more, and a pause may stand before each
	"wav":           1,                 // a second of one
	"flac":          1 << 16,           // a frame of 65536 samples has ten at least
	"m4a":           1e7 / float64(28), // where the head of the film is all that is said of it
}

// Reading may take so much memory: for windows and decoders, and for each byte.
const mostFixed, mostPerByte = 8 << 20, 1 << 10

// fuzz has a reader read what is made of real files. It must end within bounds, and its answers must make sense.
func fuzz(f *testing.F, mend func([]byte) []byte, seeds ...[]byte) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		b = mend(b)
		before := allocated()
		info, err := probed(t, b)
		if took := allocated() - before; took > mostFixed+mostPerByte*uint64(len(b)) {
			t.Errorf("%d bytes took %d bytes of memory", len(b), took)
		}
		if err != nil && reasonOf(err) == "" {
			t.Errorf("an error without a reason: %v", err)
		}
		if info.Format == "" && err == nil || info.Format == "" && info.Seconds != nil {
			t.Errorf("%+v, %v", info, err)
		}
		if again, err2 := probed(t, b); reasonOf(err) != reasonOf(err2) || again.Format != info.Format || again.Codec != info.Codec {
			t.Errorf("%+v, %v, and once more %+v, %v", info, err, again, err2)
		}
		if info.Seconds == nil {
			return
		}
		form := info.Format
		switch form {
		case "ogg":
			form = info.Codec + " in ogg"
		case "mkv":
			form = "webm"
		}
		per, known := lasting[form]
		if s := *info.Seconds; !known || !(s >= 0) || math.IsInf(s, 0) || s > per*float64(len(b)) {
			t.Errorf("%d bytes of %s in %s last %v seconds", len(b), info.Codec, info.Format, s)
		}
		if info.Codec == "opus" && info.Format != "m4a" {
			decodes(t, b, *info.Seconds)
		}
	})
}

// allocated is how many bytes of memory were taken so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// decodes wants what a file is decoded to to be a WAV file that is no longer than it is.
func decodes(t *testing.T, b []byte, seconds float64) {
	const longest = 30 // seconds: decoding takes a while
	if seconds > longest {
		return
	}
	s, err := newSource(context.Background(), bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "out.wav"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it has been read
	w := newPCMWriter(f)
	if err := w.convert(s, f); err != nil {
		return
	}
	content, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	info, err := probed(t, content)
	switch {
	case reasonOf(err) == Empty: // all that can be decoded is not to be heard
	case err != nil || info.Format != "wav" || info.Seconds == nil || *info.Seconds > seconds+1.0/decodedRate:
		t.Errorf("of %v seconds comes %+v, %v", seconds, info, err)
	}
}

// summed makes the checksums of pages right, so that what is in them is read.
func summed(b []byte) []byte {
	b = bytes.Clone(b)
	for at := 0; ; at++ {
		next := bytes.Index(b[at:], []byte(oggMagic))
		if next < 0 {
			return b
		}
		at += next
		page := b[at:]
		if len(page) < 27 || len(page) < 27+int(page[26]) {
			return b
		}
		length := 27 + int(page[26])
		for _, n := range page[27:length] {
			length += int(n)
		}
		if length > len(page) {
			continue
		}
		clear(page[22:26])
		binary.LittleEndian.PutUint32(page[22:], oggSum(0, page[:length]))
	}
}

// encoded are files as ffmpeg writes them, none where there is no ffmpeg.
func encoded(f *testing.F, ways ...[]string) (all [][]byte) {
	if _, err := exec.LookPath("ffmpeg"); err != nil {
		return nil
	}
	for i, way := range ways {
		all = append(all, read(f, made(f, string(rune('a'+i)), "sine=d=0.2", way...)))
	}
	return all
}

func FuzzOgg(f *testing.F) {
	fuzz(f, summed, append(encoded(f, []string{"-c:a", "libopus", "-f", "ogg"}, []string{"-c:a", "libvorbis", "-f", "ogg"}),
		(&pages{perPage: 3}).stream(312, opusPackets(20, 300), sixty, 10), bytes.Repeat([]byte("OggS\x00"), 50))...)
}

func FuzzWebM(f *testing.F) {
	fuzz(f, bytes.Clone, append(encoded(f, []string{"-c:a", "libopus", "-f", "webm"}, []string{"-c:a", "libvorbis", "-f", "webm"}),
		join(browserHead(0x0f), cluster(0, simple(0, 0x80, opusPackets(1, 30)[0]...), simple(60, 6, 1, 0x81, 8, 8))))...)
}

func FuzzWAV(f *testing.F) {
	fuzz(f, bytes.Clone, append(encoded(f, []string{"-c:a", "pcm_f32le", "-rf64", "always", "-f", "wav"}, []string{"-c:a", "pcm_mulaw", "-f", "wav"}), wav(100, 100), wav(100, 0))...)
}

// FuzzOthers reads what is known of MP4, FLAC and MP3 by their heads.
func FuzzOthers(f *testing.F) {
	mvhd := append([]byte("\x00\x00\x00\x28mvhd\x00"), make([]byte, 31)...)
	copy(mvhd[20:], "\x00\x00\x00\x0a\x00\x00\x00\x64")
	fuzz(f, bytes.Clone, append(encoded(f, []string{"-c:a", "aac", "-f", "ipod"}, []string{"-f", "flac"}, []string{"-f", "mp3"}),
		join([]byte("\x00\x00\x00\x0cftypM4A \x00\x00\x00\x08moov"), mvhd, []byte("\x00\x00\x00\x14hdlr\x00\x00\x00\x00\x00\x00\x00\x00soun")),
		append([]byte("fLaC\x00\x00\x00\x22\x10\x00\x10\x00\x00\x00\x00\x00\x00\x00\x0a\xc4\x40\xf0\x00\x00\x00\x10"), make([]byte, 60)...))...)
}
