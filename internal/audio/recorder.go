package audio

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strconv"
	"time"
)

// Recorder is a program of this machine that records from a microphone.
type Recorder struct {
	Name    string // "arecord", "ffmpeg (pulse)", …
	program string
	grace   time.Duration // in which it has to end when it was asked to
	args    func(ctx context.Context, program, file string, seconds int) ([]string, error)
}

// recordersOf are the recorders of a system, of which ffmpeg was looked for already.
func recordersOf(system, ffmpeg string, located func(name string) string) (all []Recorder) {
	add := func(name, program string, args func(context.Context, string, string, int) ([]string, error)) {
		if program != "" {
			all = append(all, Recorder{Name: name, program: program, grace: lastWords, args: args})
		}
	}
	add("arecord", located("arecord"), func(_ context.Context, _, file string, seconds int) ([]string, error) {
		return []string{"-q", "-t", "wav", "-f", "S16_LE", "-r", "16000", "-c", "1", "-d", strconv.Itoa(seconds), file}, nil
	})
	switch system {
	case "linux":
		add("ffmpeg (pulse)", ffmpeg, ffmpegFrom("pulse", "default"))
		add("ffmpeg (alsa)", ffmpeg, ffmpegFrom("alsa", "default"))
	case "darwin":
		add("ffmpeg", ffmpeg, ffmpegFrom("avfoundation", ":default"))
	case "windows":
		add("ffmpeg", ffmpeg, func(ctx context.Context, program, file string, seconds int) ([]string, error) {
			device, err := firstDevice(ctx, program)
			if err != nil {
				return nil, err
			}
			return ffmpegArgs("dshow", "audio="+device, file, seconds), nil
		})
	}
	sox := func(_ context.Context, _, file string, seconds int) ([]string, error) {
		return []string{"-q", "-d", "-t", "wav", "-b", "16", "-e", "signed-integer", "-r", "16000", "-c", "1", file, "trim", "0", strconv.Itoa(seconds)}, nil
	}
	add("sox", located("sox"), sox)
	add("rec", located("rec"), func(ctx context.Context, program, file string, seconds int) ([]string, error) {
		args, err := sox(ctx, program, file, seconds)
		return append(args[:1], args[2:]...), err // which has the device by itself
	})
	return all
}

func ffmpegFrom(system, device string) func(context.Context, string, string, int) ([]string, error) {
	return func(_ context.Context, _, file string, seconds int) ([]string, error) {
		return ffmpegArgs(system, device, file, seconds), nil
	}
}

// ffmpegArgs have ffmpeg record to a file, which it writes as the sound comes.
func ffmpegArgs(system, device, file string, seconds int) []string {
	return []string{"-v", "error", "-y", "-f", system, "-i", device, "-t", strconv.Itoa(seconds), "-ac", "1", "-ar", "16000", "-c:a", "pcm_s16le",
		"-flush_packets", "1", "-f", "wav", "file:" + file}
}

// firstDevice asks ffmpeg on Windows, where there is no default, for a microphone.
func firstDevice(ctx context.Context, ffmpeg string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, longestProbe)
	defer cancel()
	cmd, _ := command(ctx, ffmpeg, "-hide_banner", "-list_devices", "true", "-f", "dshow", "-i", "dummy")
	listed := &bounded{most: 64 << 10}
	cmd.Stderr = listed
	_ = cmd.Run() // it fails always, since there is no such input; what it lists is what counts
	if device := deviceIn(listed.Bytes()); device != "" {
		return device, nil
	}
	return "", refuse(Failed, "ffmpeg sees no microphone")
}

// deviceIn is the first microphone in what ffmpeg lists.
func deviceIn(listed []byte) string {
	found := regexp.MustCompile(`"([^"]+)" \(audio\)`).FindSubmatch(listed)
	if found == nil {
		return ""
	}
	return string(bytes.TrimSpace(found[1]))
}

// mend makes the head of a WAV file say how much sound is in it, and returns how many seconds that is.
func mend(ctx context.Context, file string) (seconds float64, err error) {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	s, err := newSource(ctx, f)
	if err != nil {
		return 0, err
	}
	w, err := readWAV(s)
	if err != nil {
		return 0, err
	}
	if w.cut || w.vague {
		if err := w.settle(f); err != nil {
			return 0, err
		}
	}
	return w.seconds(), f.Sync()
}

// settle writes the sizes into the head of a file, and cuts a sample off that is not whole.
func (f *wavFormat) settle(file *os.File) error {
	end := f.data + f.length
	if err := file.Truncate(end); err != nil {
		return err
	}
	for at, size := range map[int64]int64{4: end - 8, f.data - 4: f.length} {
		n := uint32(min(size, unsaid))
		if _, err := file.WriteAt([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}, at); err != nil {
			return err
		}
	}
	return nil
}

// How often a recording is put on the disk while it goes on, and how long its program has to end.
const (
	syncEvery = 5 * time.Second
	lastWords = 5 * time.Second
)
