package audio

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// form is how ffmpeg writes speech.
type form struct {
	name, format, codec string
	own                 bool // all of it is found without programs
	args                string
}

// forms are those of all formats; the names of their files say nothing.
var forms = []form{
	{"opus, SILK", "ogg", "opus", true, "-c:a libopus -b:a 12k -application voip -f ogg"},
	{"opus, hybrid", "ogg", "opus", true, "-ar 48000 -c:a libopus -b:a 28k -application voip -f ogg"},
	{"opus, CELT", "ogg", "opus", true, "-ar 48000 -c:a libopus -b:a 128k -application lowdelay -f ogg"},
	{"opus, stereo", "ogg", "opus", true, "-ac 2 -c:a libopus -b:a 48k -f ogg"},
	{"opus, long packets over pages", "ogg", "opus", true, "-ar 48000 -ac 2 -c:a libopus -vbr off -b:a 300k -frame_duration 60 -page_duration 60000 -f ogg"},
	{"opus, short packets", "ogg", "opus", true, "-c:a libopus -application lowdelay -frame_duration 2.5 -f ogg"},
	{"vorbis", "ogg", "vorbis", false, "-c:a libvorbis -f ogg"},
	{"webm", "webm", "opus", true, "-c:a libopus -f webm"},
	{"webm of a browser", "webm", "opus", true, "-c:a libopus -f webm -live 1 -dash 0"},
	{"webm, vorbis", "webm", "vorbis", false, "-c:a libvorbis -f webm"},
	{"matroska", "mkv", "opus", true, "-c:a libopus -f matroska"},
	{"matroska, flac", "mkv", "flac", false, "-c:a flac -f matroska"},
	{"wav, 8", "wav", "pcm_u8", true, "-c:a pcm_u8 -f wav"},
	{"wav, 16", "wav", "pcm_s16", true, "-c:a pcm_s16le -f wav"},
	{"wav, 24, three channels", "wav", "pcm_s24", true, "-ac 3 -c:a pcm_s24le -f wav"},
	{"wav, 32", "wav", "pcm_s32", true, "-c:a pcm_s32le -ar 11025 -f wav"},
	{"wav, float", "wav", "pcm_f32", true, "-c:a pcm_f32le -ac 2 -f wav"},
	{"wav, double", "wav", "pcm_f64", true, "-c:a pcm_f64le -f wav"},
	{"wav, over 4 GB in form", "wav", "pcm_s16", true, "-c:a pcm_s16le -rf64 always -f wav"},
	{"wav, mu-law", "wav", "mulaw", false, "-c:a pcm_mulaw -ar 8000 -f wav"},
	{"mp3", "mp3", "mp3", false, "-c:a libmp3lame -id3v2_version 0 -write_xing 0 -f mp3"},
	{"mp3 with a title", "mp3", "mp3", false, "-metadata title=x -c:a libmp3lame -f mp3"},
	{"mp3, 44.1 kHz", "mp3", "mp3", false, "-ar 44100 -id3v2_version 0 -c:a libmp3lame -f mp3"},
	{"m4a", "m4a", "aac", false, "-c:a aac -f ipod"},
	{"m4a, index first", "m4a", "aac", false, "-c:a aac -movflags faststart -f ipod"},
	{"m4a in fragments", "m4a", "aac", false, "-c:a aac -movflags frag_keyframe+empty_moov -f mp4"},
	{"flac", "flac", "flac", false, "-c:a flac -f flac"},
}

func TestEveryFormatIsToldByItsContentWithItsDuration(t *testing.T) {
	tools := Find()
	for _, form := range forms {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			file := form.file(t)
			seconds, _ := figures(t, file, "")
			own, err := Tools{}.Probe(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			if own.Format != form.format || own.Codec != form.codec {
				t.Errorf("it is %s with %s", own.Format, own.Codec)
			}
			if form.own || own.Seconds != nil {
				near(t, "the duration found here", own.Seconds, seconds, within(form.codec))
			}
			if form.own != (own.Silent != nil) || own.Silent != nil && *own.Silent {
				t.Errorf("without programs, silent is %v", own.Silent)
			}
			all, err := tools.Probe(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "the duration", all.Seconds, seconds, within(form.codec))
			if all.Silent == nil || *all.Silent {
				t.Errorf("silent is %v", all.Silent)
			}
		})
	}
}

// within is how far a duration may be from that of the decoded samples: MP3 and AAC have samples before and after the sound in their frames.
func within(codec string) float64 {
	switch codec {
	case "mp3", "aac":
		return 0.15
	}
	return 0.02
}

func TestOwnDecodersAreAsLoudAsThoseOfFFmpeg(t *testing.T) {
	for _, form := range forms {
		if !form.own {
			continue
		}
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			file := form.file(t)
			_, want := figures(t, file, "")
			if got := levelOf(t, file); math.Abs(got-want) > 0.03*want {
				t.Errorf("the level is %.1f, and not %.1f", got, want)
			}
		})
	}
}

// levelOf is the root mean square of a file as it is decoded here.
func levelOf(t *testing.T, file string) float64 {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	s, err := newSource(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	format, err := sniff(s)
	h := newHearing()
	h.whole = true
	switch {
	case err != nil:
	case format == "ogg":
		_, err = readOgg(s, h)
	case format == "webm":
		_, err = readWebM(s, h)
	default:
		var w wavFormat
		if w, err = readWAV(s); err == nil {
			h.meter = newMeter(w.rate, w.channels)
			err = w.hear(s, w.length, func(samples []float64) bool {
				for _, sample := range samples {
					h.meter.add(sample)
				}
				return true
			})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if h.meter.deaf {
		t.Error("something could not be decoded")
	}
	h.meter.close()
	return h.meter.level()
}

func TestOnlyWhatIsSilentThroughoutIsSilent(t *testing.T) {
	tools := Find()
	const noise = "anoisesrc=r=16000:a=0.00075:d=3"
	const late = "aevalsrc=if(between(t\\,5.1\\,5.3)\\,0.2*sin(2*PI*300*t)\\,0):s=16000:d=6"
	for _, form := range []struct {
		name string
		own  bool
		args string
	}{
		{"ogg", true, "-c:a libopus -f ogg"}, {"webm", true, "-c:a libopus -f webm"}, {"wav", true, "-f wav"},
		{"mp3", false, "-f mp3"}, {"m4a", false, "-c:a aac -f ipod"}, {"flac", false, "-f flac"}, {"vorbis", false, "-c:a libvorbis -f ogg"},
	} {
		for source, want := range map[string]bool{
			"anullsrc=r=16000:cl=mono:d=3":    true,
			"anoisesrc=r=16000:a=0.00075:d=3": true, // a root mean square of 14
			late:                              false,
		} {
			if source == noise && !form.own {
				continue // the threshold is the same
			}
			t.Run(form.name+" "+source, func(t *testing.T) {
				t.Parallel()
				file := made(t, "file", source, strings.Fields(form.args)...)
				for _, tools := range []Tools{{}, tools} {
					info, err := tools.Probe(t.Context(), file)
					if err != nil {
						t.Fatal(err)
					}
					switch {
					case info.Silent == nil && (form.own || tools.FFmpeg != ""):
						t.Error("it is not known whether it is silent")
					case info.Silent != nil && *info.Silent != want:
						t.Errorf("silent is %v", *info.Silent)
					}
				}
			})
		}
	}
}

func TestWhatIsNoAudioIsRefusedByName(t *testing.T) {
	pdf := filepath.Join(t.TempDir(), "song.mp3")
	if err := os.WriteFile(pdf, []byte("%PDF-1.7 and so on"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Tools{}.Probe(t.Context(), pdf)
	refused(t, err, NotAudio, "song.mp3: ", "ogg, webm, wav, mp3, m4a and flac")
	if strings.Contains(err.Error(), filepath.Dir(pdf)) {
		t.Errorf("the error tells the folder: %v", err)
	}
	_, err = Tools{}.Probe(t.Context(), t.TempDir())
	refused(t, err, NotAudio, "not a file")
	_, err = Tools{}.Probe(t.Context(), write(t, nil))
	refused(t, err, Empty)
	_, err = Tools{}.Probe(t.Context(), made(t, "film", "testsrc=d=1", "-c:v", "libvpx", "-f", "webm"))
	refused(t, err, NoSound)
	_, err = Tools{}.Probe(t.Context(), made(t, "film", "testsrc=d=1", "-c:v", "mpeg4", "-f", "mp4"))
	refused(t, err, NoSound)
	_, err = Tools{}.Probe(t.Context(), made(t, "film", "testsrc=d=1", "-c:v", "libtheora", "-f", "ogg"))
	refused(t, err, NoSound)
}

func TestSoundIsFoundBesidePictures(t *testing.T) {
	for _, args := range []string{"-c:v libvpx -c:a libopus -f webm", "-c:v libtheora -c:a libvorbis -f ogg", "-c:v mpeg4 -c:a aac -f mp4"} {
		file := spoken(t, "film", append([]string{"-f", "lavfi", "-i", "testsrc=d=6.425:s=64x64", "-map", "1:v", "-map", "0:a"}, strings.Fields(args)...)...)
		info, err := Tools{}.Probe(t.Context(), file)
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		near(t, "the duration of "+args, info.Seconds, 6.425, 0.07)
	}
}

func TestAPipeIsNotWaitedFor(t *testing.T) {
	_, err := Tools{}.Probe(t.Context(), os.DevNull)
	refused(t, err, NotAudio, "not a file")
}
