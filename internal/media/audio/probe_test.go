package audio

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
)

// form is how ffmpeg writes speech.
type form struct {
	name, format string
	own          bool // its length is found without programs
	args         string
}

// forms are those of all formats; the names of their files say nothing.
var forms = []form{
	{"opus", "ogg", true, "-c:a libopus -b:a 12k -application voip -f ogg"},
	{"opus, stereo", "ogg", true, "-ac 2 -c:a libopus -b:a 48k -f ogg"},
	{"opus, long packets over pages", "ogg", true,
		"-ar 48000 -ac 2 -c:a libopus -vbr off -b:a 300k -frame_duration 60 -page_duration 60000 -f ogg"},
	{"vorbis", "ogg", false, "-c:a libvorbis -f ogg"},
	{"webm", "webm", false, "-c:a libopus -f webm"},
	{"webm of a browser", "webm", false, "-c:a libopus -f webm -live 1 -dash 0"},
	{"matroska, flac", "mkv", false, "-c:a flac -f matroska"},
	{"wav", "wav", true, "-c:a pcm_s16le -f wav"},
	{"wav, float", "wav", true, "-c:a pcm_f32le -ac 2 -f wav"},
	{"wav, over 4 GB in form", "wav", true, "-c:a pcm_s16le -rf64 always -f wav"},
	{"wav, mu-law", "wav", true, "-c:a pcm_mulaw -ar 8000 -f wav"},
	{"mp3", "mp3", false, "-c:a libmp3lame -id3v2_version 0 -write_xing 0 -f mp3"},
	{"mp3 with a title", "mp3", false, "-metadata title=x -c:a libmp3lame -f mp3"},
	{"m4a", "m4a", false, "-c:a aac -f ipod"},
	{"m4a in fragments", "m4a", false, "-c:a aac -movflags frag_keyframe+empty_moov -f mp4"},
	{"flac", "flac", false, "-c:a flac -f flac"},
}

func TestEveryFormatIsToldByItsContentWithItsDuration(t *testing.T) {
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			file := form.file(t)
			seconds := lengthOf(t, file)
			own, err := Tools{}.Probe(t.Context(), file)
			assert.Require(t, err == nil && own.Format == form.format && own.Silent == nil,
				"without programs it is %+v, %v", own, err)
			if form.own {
				wantNear(t, "the duration found here", own.Seconds, seconds, 0.02)
			} else if own.Seconds != nil {
				t.Errorf("the duration is %v without programs", *own.Seconds)
			}
			all, err := FindTools().Probe(t.Context(), file)
			assert.Require(t, err == nil && all.Format == form.format && all.Silent != nil && !*all.Silent,
				"it is %+v, %v", all, err)
			// MP3 and AAC have samples before and after the sound in their frames.
			wantNear(t, "the duration", all.Seconds, seconds, 0.15)
		})
	}
}

func TestOnlyWhatIsSilentThroughoutIsSilent(t *testing.T) {
	const late = "aevalsrc=if(between(t\\,5.1\\,5.3)\\,0.2*sin(2*PI*300*t)\\,0):s=16000:d=5.35"
	for _, args := range []string{"-c:a libopus -f ogg", "-c:a libopus -f webm", "-f wav", "-f mp3", "-c:a aac -f ipod",
		"-f flac"} {
		for source, want := range map[string]bool{
			"anullsrc=r=16000:cl=mono:d=3":    true,
			"anoisesrc=r=16000:a=0.00075:d=3": true, // a root mean square of 14
			late:                              false,
		} {
			t.Run(args+" "+source, func(t *testing.T) {
				t.Parallel()
				info, err := FindTools().Probe(t.Context(), madeSound(t, "file", source, strings.Fields(args)...))
				assert.That(t, err == nil && info.Silent != nil && *info.Silent == want, "it is %+v, %v", info, err)
			})
		}
	}
}

func TestWhatCanNotAllBeHeardIsNotKnownToBeSilent(t *testing.T) {
	for _, args := range []string{"-c:a libopus -f ogg", "-f mp3", "-f flac"} {
		hurt := read(t, madeSound(t, "file", "anullsrc=r=16000:cl=mono:d=20", strings.Fields(args)...))
		for at := len(hurt) / 2; at < len(hurt)*3/4; at++ {
			hurt[at] ^= 0x55
		}
		info, err := FindTools().Probe(t.Context(), write(t, hurt))
		assert.That(t, err == nil && info.Silent == nil, "%s: it is %+v, %v", args, info, err)
	}
}

func TestWhatIsNoAudioIsRefused(t *testing.T) {
	_, err := FindTools().Probe(t.Context(), write(t, []byte("%PDF-1.7 and so on")))
	wantRefusal(t, err, "ogg, webm, wav, mp3, m4a and flac")
	_, err = FindTools().Probe(t.Context(), t.TempDir())
	wantRefusal(t, err, "not a file")
	_, err = FindTools().Probe(t.Context(), os.DevNull)
	wantRefusal(t, err, "not a file")
	_, err = FindTools().Probe(t.Context(), write(t, nil))
	wantRefusal(t, err, "empty")
	for _, args := range []string{"-c:v libvpx -f webm", "-c:v mpeg4 -f mp4", "-c:v libtheora -f ogg"} {
		_, err = FindTools().Probe(t.Context(), madeSound(t, "film", "testsrc=d=1", strings.Fields(args)...))
		wantRefusal(t, err, "no sound track")
	}
	_, err = FindTools().Probe(t.Context(), strings.Repeat("x", 10))
	assert.That(t, errors.Is(err, os.ErrNotExist), "the error is %v", err)
}

func TestSoundIsFoundBesidePictures(t *testing.T) {
	for _, args := range []string{"-c:v libvpx -c:a libopus -f webm", "-c:v libtheora -c:a libvorbis -f ogg",
		"-c:v mpeg4 -c:a aac -f mp4"} {
		file := spoken(t, "film", append([]string{"-f", "lavfi", "-i", "testsrc=d=6.425:s=64x64", "-map", "1:v", "-map",
			"0:a"}, strings.Fields(args)...)...)
		info, err := FindTools().Probe(t.Context(), file)
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		wantNear(t, "the duration of "+args, info.Seconds, 6.425, 0.2)
	}
}

// wavOf is a file of silent samples of 16 bits at 16 kHz, which says that it has so many bytes of them.
func wavOf(there int, says uint32) []byte {
	b := []byte("RIFF\x00\x00\x00\x00WAVEfmt " +
		"\x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data")
	binary.LittleEndian.PutUint32(b[4:], says+36)
	return append(binary.LittleEndian.AppendUint32(b, says), make([]byte, there)...)
}

func TestWAVIsAsLongAsItsBytes(t *testing.T) {
	for name, says := range map[string]uint32{"right": 32000, "not yet": 0, "unknown": 0xffffffff,
		"of arecord": 0x7fffffff, "more than there is": 64000} {
		info, err := Tools{}.Probe(t.Context(), write(t, wavOf(32001, says)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantNear(t, "the duration where the size is "+name, info.Seconds, 1, 1e-9)
	}
}

// What is cut off or damaged is refused, or lasts no longer than its bytes can, and ends no reader.
func TestDamagedFilesAreReadOrRefused(t *testing.T) {
	opus := read(t, forms[0].file(t))
	r := rand.New(rand.NewPCG(7, 7))
	for _, whole := range [][]byte{wavOf(2000, 2000), opus} {
		for range 300 {
			b := bytes.Clone(whole[:r.IntN(len(whole)+1)])
			for range r.IntN(5) {
				if len(b) > 0 {
					b[r.IntN(min(len(b), 100))] = byte(r.IntN(256))
				}
			}
			info, err := Tools{}.Probe(t.Context(), write(t, b))
			if err == nil && info.Seconds != nil && (*info.Seconds <= 0 || *info.Seconds > 1e10) {
				t.Errorf("%d bytes last %v seconds", len(b), *info.Seconds)
			}
		}
	}
	_, err := Tools{}.Probe(t.Context(), write(t, wavOf(0, 0)))
	wantRefusal(t, err, "no sound")
	for _, size := range []int{20, 28, 44} {
		_, err := (Tools{}).Probe(t.Context(), write(t, opus[:size]))
		assert.That(t, err != nil || size >= 28, "%d bytes of a file are taken for a recording", size)
	}
	info, err := FindTools().Probe(t.Context(), write(t, opus[:len(opus)/2]))
	assert.That(t, err == nil && info.Seconds != nil && *info.Seconds >= 2 && *info.Seconds <= 5,
		"half of a recording is %+v, %v", info, err)
}

func TestReadingEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := FindTools().Probe(ctx, forms[0].file(t))
	assert.That(t, errors.Is(err, context.Canceled), "the error is %v", err)
}

// A file that a program would take for a list of other files is refused before any program sees it.
func TestListsOfFilesReachNoProgram(t *testing.T) {
	for _, list := range []string{"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
		"ffconcat version 1.0\nfile /etc/passwd\n"} {
		file := write(t, []byte(list))
		_, err := FindTools().Probe(t.Context(), file)
		wantRefusal(t, err, "no audio file")
		wantRefusal(t, FindTools().Convert(t.Context(), file, file+".wav"), "no audio file")
	}
}

func TestErrorsNameNoFolder(t *testing.T) {
	needs.Program(t, "ffmpeg")
	file := write(t, append([]byte("fLaC"), bytes.Repeat([]byte{0}, 200)...))
	_, err := FindTools().Probe(t.Context(), file)
	wantRefusal(t, err, "can't be read")
	assert.That(t, !strings.Contains(err.Error(), filepath.Dir(file)), "the error tells the folder: %v", err)
}
