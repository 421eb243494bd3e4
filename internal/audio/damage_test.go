package audio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestOggThatIsCutOffOrDamagedSaysSoAndWhatIsThere(t *testing.T) {
	whole := (&pages{perPage: 50}).stream(0, opusPackets(100, 20), sixty, 0)
	info, err := probed(t, whole[:len(whole)*3/4])
	refused(t, err, CutOff, "3.0 seconds are there")
	near(t, "the duration", info.Seconds, 3, 1e-9)
	hurt := bytes.Clone(whole)
	hurt[len(hurt)/4] ^= 1
	info, err = probed(t, hurt)
	refused(t, err, Damaged, "3.0 seconds are there")
	if info.Silent != nil {
		t.Error("it is known to be silent, though a part of it is missing")
	}
	_, err = probed(t, []byte("OggS and nothing of it, however long this is"))
	refused(t, err, Damaged)
	_, err = probed(t, (&pages{perPage: 50}).stream(0, nil, sixty, 0))
	refused(t, err, Empty)
}

func TestTooManyChainedStreamsAreRefused(t *testing.T) {
	var b []byte
	for range mostOgg + 1 {
		b = (&pages{perPage: 50, out: b}).stream(0, opusPackets(1, 1), sixty, 0)
	}
	_, err := probed(t, b)
	refused(t, err, Damaged, "1000 streams")
}

// wav is a file of silent samples of 16 bits at 16 kHz, which says that it has so many bytes of them.
func wav(there int, says uint32) []byte {
	b := append(wavHead(16000, 1, 16, 1, int64(there)), make([]byte, there)...)
	binary.LittleEndian.PutUint32(b[40:], says)
	if says != uint32(there) {
		binary.LittleEndian.PutUint32(b[4:], says+36)
	}
	return b
}

func TestWAVIsAsLongAsItsBytes(t *testing.T) {
	for name, says := range map[string]uint32{"right": 32000, "not yet": 0, "unknown": 0xffffffff, "of arecord": 0x7fffffff, "of arecord, even": 0x7ffff000} {
		info, err := probed(t, wav(32000, says))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		near(t, "the duration where the size is "+name, info.Seconds, 1, 1e-9)
	}
	info, err := probed(t, wav(32001, 64000))
	refused(t, err, CutOff, "1.0 seconds are there")
	near(t, "the duration of what is there", info.Seconds, 1, 1e-9)
	info, err = probed(t, append(wav(32000, 32000), bytes.Repeat([]byte{9}, 32000)...))
	if err != nil || info.Silent == nil || !*info.Silent {
		t.Errorf("what follows the samples was heard: %v %v", info.Silent, err)
	}
}

func TestWAVThatContradictsItselfIsRefused(t *testing.T) {
	_, err := probed(t, wav(0, 0))
	refused(t, err, Empty)
	_, err = probed(t, wav(32000, 32000)[:30])
	refused(t, err, CutOff)
	for name, change := range map[string]func(b []byte){
		"no channels": func(b []byte) { b[22] = 0 }, "too many channels": func(b []byte) { b[23] = 9 },
		"no rate":       func(b []byte) { clear(b[24:28]) },
		"no bytes":      func(b []byte) { b[20] = 2; clear(b[28:32]) },
		"short":         func(b []byte) { b[16] = 4 },
		"samples first": func(b []byte) { copy(b[12:], "LIST") },
	} {
		b := wav(32000, 32000)
		change(b)
		_, err := probed(t, b)
		if reasonOf(err) == "" {
			t.Errorf("%s: the error is %v", name, err)
		}
	}
}

func TestUnfinishedMP4AndFLACSaySo(t *testing.T) {
	m4a := read(t, spoken(t, "m4a", "-c:a", "aac", "-f", "ipod"))
	_, err := probed(t, m4a[:len(m4a)/2])
	refused(t, err, CutOff, "index")
	flac := read(t, spoken(t, "flac", "-f", "flac"))
	_, err = probed(t, flac[:42])
	refused(t, err, CutOff, "announces")
	_, err = probed(t, flac[:20])
	refused(t, err, CutOff)
}

func TestReadingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Tools{}).Probe(ctx, write(t, wav(32000, 32000))); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// A file that a program would take for a list of other files is refused before any program sees it.
func TestListsOfFilesReachNoProgram(t *testing.T) {
	for _, list := range []string{"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", "ffconcat version 1.0\nfile /etc/passwd\n"} {
		file := write(t, []byte(list))
		_, err := Find().Probe(t.Context(), file)
		refused(t, err, NotAudio)
		refused(t, Find().Convert(t.Context(), file, file+".wav"), NotAudio)
	}
}

func TestErrorsOfTheFileSystemAreKept(t *testing.T) {
	_, err := Tools{}.Probe(t.Context(), strings.Repeat("x", 10))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v", err)
	}
}
