package audio

import (
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/childtest"
	"sibyl/internal/behaviour/needs"
)

// microphone is a recorder that is a script, whose last argument is the file.
func microphone(t *testing.T, lines string) Recorder {
	t.Helper()
	program := script(t, "for file; do :; done\n"+lines)
	return Recorder{Name: "microphone", program: program, grace: patience, args: "-q {file}"}
}

// soundLines are lines that write the head of a WAV file that says it holds two gigabytes, and then a second of sound.
func soundLines(t *testing.T) string {
	t.Helper()
	b := write(t, wavOf(32000, 0x7fffff00))
	return "cat '" + b + "' > \"$file\"\n"
}

// startRecording starts a recording, and gives its end.
func startRecording(ctx context.Context, r Recorder, file string, most time.Duration) <-chan error {
	done := make(chan error, 1)
	go func() { done <- r.Record(ctx, file, most) }()
	return done
}

func awaitResult(t *testing.T, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		t.Fatalf("the recording did not end within %v", patience)
		return nil
	}
}

// wantWhole fails if a file is not a second of sound whose head says so.
func wantWhole(t *testing.T, file string) {
	t.Helper()
	b := read(t, file)
	assert.That(t, len(b) == 32044 && binary.LittleEndian.Uint32(b[40:]) == 32000 &&
		binary.LittleEndian.Uint32(b[4:]) == 32036, "the file has %d bytes, and begins with % x", len(b), b[:min(len(b), 44)])
}

func TestRecordingEndsCleanlyWhenItIsCancelled(t *testing.T) {
	child := childtest.New(t)
	r := microphone(t, child.Open+"trap 'printf ab >> \"$file\"; truncate -s -1 \"$file\"; exit 1' INT\n"+soundLines(t)+
		child.Tell+"while :; do sleep 0.01; done\n")
	file := filepath.Join(t.TempDir(), "-a.wav")
	ctx, cancel := context.WithCancel(t.Context())
	done := startRecording(ctx, r, file, time.Hour)
	child.Told(t)
	cancel()
	assert.NoError(t, awaitResult(t, done))
	wantWhole(t, file) // with the half sample of the end cut off
}

func TestRecordingEndsAtItsLongest(t *testing.T) {
	r := microphone(t, "trap 'exit 0' INT\n"+soundLines(t)+"while :; do sleep 0.01; done\n")
	file := filepath.Join(t.TempDir(), "a.WAV")
	err := errors.New("not yet")
	// a busy machine may not have begun sooner
	for most := 100 * time.Millisecond; err != nil && most < patience; most *= 2 {
		err = awaitResult(t, startRecording(t.Context(), r, file, most))
	}
	assert.NoError(t, err)
	wantWhole(t, file)
}

func TestRecorderThatDoesNotEndIsKilledAndItsFileMended(t *testing.T) {
	child := childtest.New(t)
	r := microphone(t, child.Open+"trap '' INT TERM\nsleep 1000 &\n"+soundLines(t)+child.Tell+"wait; wait\n")
	r.grace = 20 * time.Millisecond
	file := filepath.Join(t.TempDir(), "a.wav")
	ctx, cancel := context.WithCancel(t.Context())
	done := startRecording(ctx, r, file, time.Hour)
	child.Told(t)
	cancel()
	assert.NoError(t, awaitResult(t, done))
	wantWhole(t, file)
	child.Ended(t)
}

func TestRecorderThatFailsAtOnceSaysWhy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.wav")
	for name, lines := range map[string]string{
		"no file":     "",
		"only a head": "head -c 44 '" + write(t, wavOf(0, 0)) + "' > \"$file\"\n",
		"half a head": "printf RIFF > \"$file\"\n",
	} {
		r := microphone(t, lines+"echo 'arecord: main:831: audio open error: No such file or directory' >&2; exit 1\n")
		wantRefusal(t, awaitResult(t, startRecording(t.Context(), r, file, time.Hour)), "microphone: exit status 1: ",
			"audio open error")
		_, err := os.Lstat(file)
		assert.That(t, errors.Is(err, fs.ErrNotExist), "%s: a file is left: %v", name, err)
	}
	r := Recorder{Name: "missing", program: "/nowhere/arecord", args: microphone(t, "").args}
	wantRefusal(t, r.Record(t.Context(), file, time.Hour), "missing can't be started")
	wantOnly(t, filepath.Dir(file))
}

func TestRecordingThatBreaksOffIsKept(t *testing.T) {
	r := microphone(t, soundLines(t)+"echo 'the microphone is gone' >&2; exit 1\n")
	file := filepath.Join(t.TempDir(), "a.wav")
	err := awaitResult(t, startRecording(t.Context(), r, file, time.Hour))
	wantRefusal(t, err, "after 1.0 seconds", "the microphone is gone")
	wantWhole(t, file)
}

func TestRecordingThatHeardNothingLeavesNoFile(t *testing.T) {
	child := childtest.New(t)
	r := microphone(t, child.Open+"trap 'exit 0' INT\n"+child.Tell+"while :; do sleep 0.01; done\n")
	file := filepath.Join(t.TempDir(), "a.wav")
	ctx, cancel := context.WithCancel(t.Context())
	done := startRecording(ctx, r, file, time.Hour)
	child.Told(t)
	cancel()
	wantRefusal(t, awaitResult(t, done), "microphone recorded nothing")
	wantOnly(t, filepath.Dir(file))
}

func TestRecordingReplacesNothing(t *testing.T) {
	r := microphone(t, soundLines(t))
	file := write(t, []byte("x"))
	wantRefusal(t, r.Record(t.Context(), file, time.Hour), ".wav")
	assert.NoError(t, os.Rename(file, file+".wav"))
	err := r.Record(t.Context(), file+".wav", time.Hour)
	assert.That(t, errors.Is(err, fs.ErrExist), "the error is %v", err)
	wantRefusal(t, r.Record(t.Context(), file+"2.wav", 0), "at most 12 hours")
	assert.That(t, string(read(t, file+".wav")) == "x", "what was there is gone")
}

func TestRecordersAreThoseOfTheMachineInTheirOrder(t *testing.T) {
	all := func(name string) string { return "/bin/" + name }
	for system, want := range map[string]string{
		"linux":   "arecord, ffmpeg (pulse), ffmpeg (alsa), sox",
		"darwin":  "arecord, ffmpeg, sox",
		"windows": "arecord, ffmpeg, sox",
	} {
		var names []string
		for _, r := range recordersOf(system, "/bin/ffmpeg", all) {
			names = append(names, r.Name)
			if system == "windows" && r.Name == "ffmpeg" {
				continue // it is asked which microphones there are
			}
			args, err := r.arguments(t.Context(), "/tmp/-a b.wav", 61)
			line := strings.Join(args, " ")
			assert.That(t, err == nil && strings.Contains(line, "/tmp/-a b.wav") && strings.Contains(line, "61") &&
				strings.Contains(line, "16000"), "%s is called with %s, %v", r.Name, line, err)
		}
		assert.Equalf(t, strings.Join(names, ", "), want, "on %s there", system)
	}
	r := recordersOf("linux", "", func(string) string { return "" })
	assert.That(t, len(r) == 0, "without programs there are %v", r)
}

func TestTheFirstMicrophoneOfWindowsIsFound(t *testing.T) {
	listed := "[dshow @ 0001] \"Integrated Camera\" (video)\n[dshow @ 0001]   Alternative name \"@device_pnp\"\n" +
		"[dshow @ 0001] \"Microphone (USB Audio)\" (audio)\n[dshow @ 0001] \"Line In\" (audio)\n"
	assert.Equalf(t, microphoneIn([]byte(listed)), "Microphone (USB Audio)", "it")
}

// ffmpeg itself, with a source that is always there in place of a microphone.
func TestFFmpegWritesARecordingThatIsWholeWhenItIsCancelled(t *testing.T) {
	needs.Program(t, "ffmpeg")
	r := Recorder{Name: "ffmpeg", program: FindTools().FFmpeg, grace: patience, args: "-re -f lavfi -i anoisesrc=r=16000" +
		ffmpegArgs}
	file := filepath.Join(t.TempDir(), "a.wav")
	ctx, cancel := context.WithCancel(t.Context())
	changes := changesIn(t, filepath.Dir(file))
	done := startRecording(ctx, r, file, time.Hour)
	late := time.After(patience)
	for size := int64(0); size <= 8000; {
		select {
		case <-changes:
			if info, err := os.Stat(file); err == nil {
				size = info.Size()
			}
		case <-late:
			t.Fatal("nothing is written while it records")
		}
	}
	cancel()
	assert.NoError(t, awaitResult(t, done))
	info, err := FindTools().Probe(t.Context(), file)
	assert.That(t, err == nil && info.Seconds != nil && *info.Seconds >= 0.2 && info.Silent != nil && !*info.Silent,
		"it is %+v, %v", info, err)
}

// changesIn tells of changes in a folder.
func changesIn(t *testing.T, folder string) <-chan fsnotify.Event {
	t.Helper()
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		err = watcher.Add(folder)
	}
	assert.NoError(t, err)
	t.Cleanup(func() { _ = watcher.Close() })
	return watcher.Events
}
