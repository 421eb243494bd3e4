package audio

import (
	"bytes"
	"context"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Recorder is a program of this machine that records from a microphone.
type Recorder struct {
	Name    string // "arecord", "ffmpeg (pulse)", …
	program string
	args    string        // with the placeholders {file}, {seconds} and {microphone}
	grace   time.Duration // in which it has to end after it was asked to
}

// Each recorder writes samples of 16 bits at 16 kHz in one channel, while the sound comes.
const (
	arecordArgs = "-q -t wav -f S16_LE -r 16000 -c 1 -d {seconds} {file}"
	soxArgs     = "-q -d -t wav -b 16 -e signed-integer -r 16000 -c 1 {file} trim 0 {seconds}"
	ffmpegArgs  = " -t {seconds} -ac 1 -ar 16000 -c:a pcm_s16le -flush_packets 1 -v error -y -f wav file:{file}"
)

// recordersOf returns the recorders of a system, the best first. ffmpeg is its path, or "".
func recordersOf(system, ffmpeg string, located func(name string) string) []Recorder {
	all := []Recorder{{Name: "arecord", program: located("arecord"), args: arecordArgs}}
	switch system {
	case "linux":
		all = append(all, Recorder{Name: "ffmpeg (pulse)", program: ffmpeg, args: "-f pulse -i default" + ffmpegArgs},
			Recorder{Name: "ffmpeg (alsa)", program: ffmpeg, args: "-f alsa -i default" + ffmpegArgs})
	case "darwin":
		all = append(all, Recorder{Name: "ffmpeg", program: ffmpeg, args: "-f avfoundation -i :default" + ffmpegArgs})
	case "windows":
		all = append(all, Recorder{Name: "ffmpeg", program: ffmpeg, args: "-f dshow -i audio={microphone}" +
			ffmpegArgs})
	}
	all = append(all, Recorder{Name: "sox", program: located("sox"), args: soxArgs})
	all = slices.DeleteFunc(all, func(r Recorder) bool { return r.program == "" })
	for i := range all {
		all[i].grace = exitGrace
	}
	return all
}

// arguments returns the arguments with which it records to a file.
func (r Recorder) arguments(ctx context.Context, file string, seconds int) ([]string, error) {
	microphone := ""
	if strings.Contains(r.args, "{microphone}") {
		var err error
		if microphone, err = firstMicrophone(ctx, r.program); err != nil {
			return nil, err
		}
	}
	placeholders := strings.NewReplacer("{file}", file, "{seconds}", strconv.Itoa(seconds), "{microphone}", microphone)
	args := strings.Fields(r.args)
	for i := range args {
		args[i] = placeholders.Replace(args[i])
	}
	return args, nil
}

// firstMicrophone asks ffmpeg for the name of a microphone, on Windows, where there is no default.
func firstMicrophone(ctx context.Context, ffmpeg string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd, _ := newCommand(ctx, ffmpeg, "-hide_banner", "-list_devices", "true", "-f", "dshow", "-i", "dummy")
	var listed bytes.Buffer
	cmd.Stderr = &listed
	_ = cmd.Run() // it always fails, since there is no such input, but it lists the devices
	if microphone := microphoneIn(listed.Bytes()); microphone != "" {
		return microphone, nil
	}
	return "", errors.New("ffmpeg sees no microphone")
}

// microphoneIn returns the first microphone in ffmpeg's list of devices.
func microphoneIn(listed []byte) string {
	found := regexp.MustCompile(`"([^"]+)" \(audio\)`).FindSubmatch(listed)
	if found == nil {
		return ""
	}
	return string(bytes.TrimSpace(found[1]))
}

// How often a running recording is synced to the disk, and how long its program may take to end.
const (
	syncEvery = 5 * time.Second
	exitGrace = 5 * time.Second
)
