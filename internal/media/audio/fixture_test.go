package audio

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
)

func TestMain(m *testing.M) {
	// as what runs behind a script does; what ignores it from its start can't be interrupted
	if signal.Ignored(os.Interrupt) {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	var err error
	if said.folder, err = os.MkdirTemp("", "sibyl-audio-"); err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(said.folder)
	// a program that was killed may take its time to end
	err = goleak.Find()
	for deadline := time.Now().Add(20 * time.Second); err != nil && time.Now().Before(deadline); {
		err = goleak.Find()
	}
	if err != nil && code == 0 {
		fmt.Println("after 20 s there is still:", err)
		code = 1
	}
	os.Exit(code)
}

// said is what flite spoke once for all tests, and what ffmpeg made of it.
var said struct {
	once   sync.Once
	folder string
	err    error
	forms  sync.Map // of names to func() error, which make them
}

const sentences = "The committee will meet on Tuesday to discuss the new budget. Please bring your notes, and think " +
	"about what we could leave out."

// speech is a WAV file of some six seconds of speech.
func speech(t testing.TB) string {
	t.Helper()
	needs.Program(t, "flite")
	said.once.Do(func() {
		said.err = exec.Command("flite", "-voice", "slt", "-t", sentences, filepath.Join(said.folder, "speech.wav")).
			Run()
	})
	assert.Require(t, said.err == nil, "flite could not speak:  %v", said.err)
	return filepath.Join(said.folder, "speech.wav")
}

// file is speech in a form, made once for all tests.
func (f form) file(t testing.TB) string {
	t.Helper()
	from := speech(t)
	file := filepath.Join(said.folder, f.name+".txt")
	do, _ := said.forms.LoadOrStore(f.name, sync.OnceValue(func() error {
		args := append([]string{"-nostdin", "-v", "error", "-i", from}, strings.Fields(f.args)...)
		if out, err := exec.Command("ffmpeg", append(args, "file:"+file)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ffmpeg could not make it: %w: %s", err, out)
		}
		return nil
	}))
	needs.Program(t, "ffmpeg")
	assert.NoError(t, do.(func() error)())
	return file
}

// ffmpeg makes a file of the name by these arguments, in a folder of the test's own, and returns its path.
func ffmpeg(t testing.TB, name string, args ...string) string {
	t.Helper()
	needs.Program(t, "ffmpeg")
	file := filepath.Join(t.TempDir(), name)
	args = append(append([]string{"-nostdin", "-v", "error", "-y"}, args...), "file:"+file)
	out, err := exec.Command("ffmpeg", args...).CombinedOutput()
	assert.Require(t, err == nil, "ffmpeg %s: %v: %s", strings.Join(args, " "), err, out)
	return file
}

// spoken is speech in another form.
func spoken(t testing.TB, name string, args ...string) string {
	t.Helper()
	return ffmpeg(t, name, append([]string{"-i", speech(t)}, args...)...)
}

// madeSound is silence, and what else ffmpeg makes up, in another form.
func madeSound(t testing.TB, name, source string, args ...string) string {
	t.Helper()
	return ffmpeg(t, name, append([]string{"-f", "lavfi", "-i", source}, args...)...)
}

// lengthOf is what ffmpeg says of a file when it has decoded all of it, in seconds.
func lengthOf(t testing.TB, file string) float64 {
	t.Helper()
	needs.Program(t, "ffmpeg")
	cmd := exec.Command("ffmpeg", "-nostdin", "-hide_banner", "-i", "file:"+file, "-map", "0:a:0", "-ar", "48000",
		"-af", "astats", "-f", "null", "-")
	var out bytes.Buffer
	cmd.Stderr = &out
	err := cmd.Run()
	assert.Require(t, err == nil, "ffmpeg: %v: %s", err, out.Bytes())
	overall := out.Bytes()[bytes.Index(out.Bytes(), []byte("Overall")):]
	samples := regexp.MustCompile(`Number of samples: ([0-9]+)`).FindSubmatch(overall)
	rate := regexp.MustCompile(`Audio: .*?, ([0-9]+) Hz`).FindSubmatch(out.Bytes())
	assert.Require(t, samples != nil && rate != nil, "ffmpeg does not say how many samples there are: %s", out.Bytes())
	n := assert.Must(strconv.ParseFloat(string(samples[1]), 64))(t)
	perSecond := assert.Must(strconv.ParseFloat(string(rate[1]), 64))(t)
	return n / perSecond
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	b := assert.Must(os.ReadFile(file))(t)
	return b
}

func write(t testing.TB, b []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	assert.NoError(t, os.WriteFile(file, b, 0o600))
	return file
}

// wantRefusal fails if an error does not have these words.
func wantRefusal(t testing.TB, err error, words ...string) {
	t.Helper()
	assert.Require(t, err != nil, "there is no error")
	assert.Contains(t, "the error", err.Error(), words...)
}

func wantNear(t testing.TB, what string, got *float64, want, within float64) {
	t.Helper()
	if got == nil {
		t.Errorf("%s is not known, and not %.3f", what, want)
	} else if math.Abs(*got-want) > within {
		t.Errorf("%s is %.4f, and not %.4f", what, *got, want)
	}
}
