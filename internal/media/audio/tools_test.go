package audio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/childtest"
)

// wantOnly fails if a folder holds anything but these names.
func wantOnly(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries := assert.Must(os.ReadDir(folder))(t)
	var there []string
	for _, e := range entries {
		there = append(there, e.Name())
	}
	assert.That(t, fmt.Sprint(there) == fmt.Sprint(names), "there is %v, and not %v", there, names)
}

// script makes a program of a shell script, which has its arguments in a file beside it.
func script(t *testing.T, lines string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there is no shell")
	}
	file := filepath.Join(t.TempDir(), "program")
	assert.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\nhere=$(dirname \"$0\")\necho \"$@\" > \"$here/args\"\n"+lines),
		0o700))
	return file
}

func TestConversionMakesWhatTheNameSays(t *testing.T) {
	tools := FindTools()
	folder := t.TempDir()
	t.Chdir(folder)
	assert.NoError(t, os.WriteFile("-i.ogg", read(t, spoken(t, "a", "-ac", "2", "-ar", "48000", "-c:a", "libvorbis", "-f",
		"ogg")), 0o600))
	for _, out := range []string{"-y.wav", "b.ogg", "-d.flac"} {
		assert.NoError(t, tools.Convert(t.Context(), "-i.ogg", out))
		info, err := tools.Probe(t.Context(), out)
		assert.Require(t, err == nil && "."+info.Format == filepath.Ext(out), "%s is %+v, %v", out, info, err)
		wantNear(t, "the duration of "+out, info.Seconds, 6.425, 0.02)
	}
	wantOnly(t, folder, "-d.flac", "-i.ogg", "-y.wav", "b.ogg")
	b := read(t, "-y.wav")
	assert.That(t, b[22] == 1 && b[24] == 0x80 && b[25] == 0x3e, "the WAV file begins with % x", b[:44])
}

func TestConversionThatCanNotBeLeavesNothing(t *testing.T) {
	mp3 := spoken(t, "a", "-f", "mp3")
	folder := t.TempDir()
	out := filepath.Join(folder, "out.wav")
	wantRefusal(t, Tools{}.Convert(t.Context(), mp3, out), "ffmpeg", InstallCommand())
	wantRefusal(t, FindTools().Convert(t.Context(), mp3, out+".mp3"), ".wav, .ogg or .flac")
	wantRefusal(t, FindTools().Convert(t.Context(), write(t, []byte("no sound")), out), "no audio file")
	program := script(t, "for last; do :; done; echo half > \"${last#file:}\"; printf 'one\\ntwo\\033[1m\\nthree\\n' "+
		">&2; exit 3\n")
	wantRefusal(t, Tools{FFmpeg: program, FFprobe: program}.Convert(t.Context(), mp3, out),
		"program: exit status 3: two[1m; three")
	wantRefusal(t, FindTools().Convert(t.Context(), write(t, read(t, mp3)[:200]), out))
	wantOnly(t, folder)
}

// A few bytes of Opus can stand for hours of silence.
func TestMoreThanTwelveHoursOfSamplesAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.wav")
	assert.NoError(t, os.WriteFile(file, wavOf(0, 0), 0o600))
	for hours, want := range map[int64]bool{11: true, 13: false} {
		if err := os.Truncate(file, 44+hours*3600*32000); err != nil { // a file with a hole
			t.Fatal(err)
		}
		err := checkSound(file)
		assert.That(t, (err == nil) == want, "%d hours: %v", hours, err)
	}
}

// A program that hangs, and one that it started, end with the context.
func TestProgramsEndWithTheirContextAndAllTheyStarted(t *testing.T) {
	child := childtest.New(t)
	program := script(t, child.Open+"sleep 1000 &\ntrap '' INT TERM\n"+child.Tell+"wait; wait\n")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	folder := t.TempDir()
	mp3 := spoken(t, "a", "-f", "mp3")
	go func() {
		done <- Tools{FFmpeg: program, FFprobe: program}.Convert(ctx, mp3, filepath.Join(folder, "out.wav"))
	}()
	child.Told(t)
	cancel()
	select {
	case err := <-done:
		assert.That(t, errors.Is(err, context.Canceled), "the error is %v", err)
	case <-time.After(patience):
		t.Fatal("the conversion goes on")
	}
	child.Ended(t)
	wantOnly(t, folder)
}

const patience = time.Minute

// talkFile is a WAV file of words with pauses: a tone for two seconds, and silence for one, ten times.
func talkFile(t *testing.T, args ...string) string {
	t.Helper()
	return madeSound(t, "talk", "aevalsrc=if(lt(mod(t\\,3)\\,2)\\,0.3*sin(2*PI*300*t)\\,0):s=16000:d=30", args...)
}

func TestPartsAreCutWhereItIsQuiet(t *testing.T) {
	for _, form := range []struct{ name, args, ending string }{
		{"wav", "-c:a pcm_s24le -ac 2 -f wav", ".wav"},
		{"opus", "-c:a libopus -f ogg", ".ogg"},
		{"webm", "-c:a libopus -f webm", ".ogg"},
		{"vorbis", "-c:a libvorbis -f ogg", ".ogg"},
		{"mp3", "-f mp3", ".mp3"},
		{"m4a", "-c:a aac -f ipod", ".m4a"},
		{"flac", "-f flac", ".flac"},
		{"mu-law", "-c:a pcm_mulaw -f wav", ".wav"},
	} {
		t.Run(form.name, func(t *testing.T) {
			t.Parallel()
			file, folder := talkFile(t, strings.Fields(form.args)...), t.TempDir()
			parts := assert.Must(FindTools().Split(t.Context(), file, folder, 13))(t)
			at := 0.0
			var names []string
			for i, p := range parts {
				wantNear(t, "the start", &p.Start, at, 1e-6)
				at += p.Seconds
				into := at - float64(int(at/3)*3)
				assert.That(t, (i >= len(parts)-1 || (into >= 2.1 && into <= 2.95)) && p.Seconds <= 13,
					"it is cut at %.2f s, where it is loud, after %.2f s", at, p.Seconds)
				info := assert.Must(FindTools().Probe(t.Context(), p.File))(t)
				wantNear(t, "the duration of a part", info.Seconds, p.Seconds, 0.3)
				names = append(names, fmt.Sprintf("part-%03d%s", i+1, form.ending))
			}
			wantNear(t, "all parts", &at, 30, 0.3)
			assert.That(t, len(parts) == 3, "there are %d parts", len(parts))
			wantOnly(t, folder, names...)
		})
	}
}

func TestWAVIsSplitWithoutLosingASample(t *testing.T) {
	file, folder := talkFile(t, "-c:a", "pcm_s16le", "-ac", "2", "-bitexact", "-f", "wav"), t.TempDir()
	parts := assert.Must(FindTools().Split(t.Context(), file, folder, 7))(t)
	var all []byte
	for _, p := range parts {
		b := read(t, p.File)
		all = append(all, b[bytes.Index(b, []byte("data"))+8:]...)
	}
	if whole := read(t, file); !bytes.Equal(all, whole[44:]) {
		t.Errorf("%d parts have %d bytes, and not the %d of the whole", len(parts), len(all), len(whole)-44)
	}
}

func TestWhatIsShortEnoughIsItsOnlyPart(t *testing.T) {
	file, folder := talkFile(t, "-f", "wav"), t.TempDir()
	parts, err := FindTools().Split(t.Context(), file, folder, 31)
	assert.Require(t, err == nil && len(parts) == 1 && parts[0].File == file, "the parts are %v, %v", parts, err)
	wantOnly(t, folder)
}

func TestASplitThatCanNotBeSaysWhy(t *testing.T) {
	mp3, folder := talkFile(t, "-f", "mp3"), t.TempDir()
	_, err := Tools{}.Split(t.Context(), mp3, folder, 13)
	wantRefusal(t, err, "ffmpeg", InstallCommand())
	_, err = FindTools().Split(t.Context(), mp3, folder, 1)
	wantRefusal(t, err, "5 is the least")
}
