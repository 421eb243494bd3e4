//go:build unix

package speech_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/childtest"
	"sibyl/internal/model"
	"sibyl/internal/model/speech"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func noteAudio() model.Audio {
	return model.Audio{Name: "note.wav", Content: strings.NewReader("RIFF")}
}

// shellCommand is a command that runs a script, which finds the audio as $1 and the language as $2. Nothing may be left
// of it.
func shellCommand(t *testing.T, script string, adjust func(*speech.Config)) *speech.Command {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
	file := filepath.Join(t.TempDir(), "transcribe")
	assert.NoError(t, os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o700))
	c := speech.Config{Command: []string{file, "{file}", "{language}"}, Folder: t.TempDir()}
	if adjust != nil {
		adjust(&c)
	}
	t.Cleanup(func() {
		left, err := os.ReadDir(c.Folder)
		assert.That(t, err == nil && len(left) == 0, "left behind: %v, %v", left, err)
	})
	return speech.New(c)
}

func TestAudioIsPrivateWhileTheCommandRuns(t *testing.T) {
	got, err := shellCommand(t, `ls -ld . "$1" | cut -c 1-10`, nil).Transcribe(t.Context(), noteAudio())
	lines := strings.Fields(got.Text)
	assert.That(t, err == nil && len(lines) == 2 && slices.Contains(lines, "drwx------") &&
		slices.Contains(lines, "-rw-------"), "got %q, %v", got.Text, err)
}

func TestScriptTranscribesInAFolderOfItsOwn(t *testing.T) {
	c := shellCommand(t, `echo left >behind.txt; printf '%s %s %s' "$(cat "$1")" "$2" "$(ls)"`, nil)
	got, err := c.Transcribe(t.Context(), noteAudio())
	assert.That(t, err == nil && got.Text == "RIFF auto behind.txt\nnote.wav", "got %+v, %v", got, err)
}

func TestOfSeveralAtOnceEachHasItsOwnAudio(t *testing.T) {
	c := shellCommand(t, `cat "$1"`, nil)
	got := make(chan string)
	for _, said := range []string{"one", "two", "three"} {
		go func() {
			t, err := c.Transcribe(t.Context(), model.Audio{Name: "a.wav", Content: strings.NewReader(said)})
			if err != nil {
				t.Text = err.Error()
			}
			got <- t.Text
		}()
	}
	all := []string{<-got, <-got, <-got}
	slices.Sort(all)
	assert.Same(t, []string{"one", "three", "two"}, all)
}

func TestPlaceholdersStandForTheirValuesAndAreNoOptions(t *testing.T) {
	for _, c := range []struct {
		arg   string
		audio model.Audio
		want  string
	}{
		{arg: "--language={language}", audio: model.Audio{Language: "pt"}, want: "--language=pt"},
		{arg: "--language={language}", want: "--language=auto"},
		{arg: "{language:en}", want: "en"},
		{arg: "{language:en}+{language:de}", audio: model.Audio{Language: "pt"}, want: "pt+pt"},
		{arg: "{prompt}", audio: model.Audio{Prompt: "--model=/etc/passwd"}, want: "model=/etc/passwd"},
		{arg: "{other}", want: "{other}"},
	} {
		c.audio.Name, c.audio.Content = "a.wav", strings.NewReader("RIFF")
		got, err := shellCommand(t, `printf %s "$2"`, func(config *speech.Config) {
			config.Command[2] = c.arg
		}).Transcribe(t.Context(), c.audio)
		assert.That(t, err == nil && got.Text == c.want, "%s of %+v: got %q, %v", c.arg, c.audio, got.Text, err)
	}
}

func TestNameOfTheAudioIsKeptOnlyIfItIsHarmless(t *testing.T) {
	for name, want := range map[string]string{"001_audio.ogg": "001_audio.ogg", "../../etc/x.wav": "x.wav",
		"-rf.wav": "audio", ".wav": "audio",
		"caf\u00e9.wav": "audio", "": "audio", "a\nb.wav": "audio", strings.Repeat("a", 61): "audio"} {
		got, err := shellCommand(t, `basename "$1"`, nil).Transcribe(t.Context(),
			model.Audio{Name: name, Content: strings.NewReader("RIFF")})
		assert.That(t, err == nil && got.Text == want, "%q is called %q, %v; want %q", name, got.Text, err, want)
	}
}

func TestFailureHasItsKindAndIsNotRepeated(t *testing.T) {
	gone := errors.New("the disk is gone")
	for name, c := range map[string]struct {
		script string
		adjust func(*speech.Config)
		audio  model.Audio
		kind   model.Kind
		says   string
	}{
		"a status": {script: "echo no such model >&2; exit 1", kind: model.Invalid,
			says: "(status 1): no such model"},
		"nothing said": {script: "exit 2", kind: model.Invalid, says: "said nothing of why"},
		"killed":       {script: "echo half; kill -9 $$", kind: model.Server, says: "ended by somebody"},
		"no UTF-8":     {script: `printf 'caf\351'`, kind: model.Garbled, says: "LC_ALL"},
		"too much":     {script: "yes", kind: model.Garbled, says: "8 MB"},
		"no such program": {adjust: func(c *speech.Config) {
			c.Command[0] = "no-such-program-of-sibyl"
		}, kind: model.Invalid, says: "no-such-program-of-sibyl"},
		"no place of the audio": {adjust: func(c *speech.Config) {
			c.Command[1] = "file"
		}, kind: model.Invalid, says: "{file}"},
		"no command": {adjust: func(c *speech.Config) {
			c.Command = nil
		}, kind: model.Invalid, says: "no command is set"},
		"an option": {audio: model.Audio{Language: "--help"}, kind: model.Invalid, says: "is no language"},
		"too large": {audio: model.Audio{Content: bytes.NewReader(make([]byte, 1<<20+1))},
			kind: model.Invalid, says: "larger than 1 MB"},
		"unreadable": {audio: model.Audio{Content: io.MultiReader(strings.NewReader("RIFF"),
			iotest.ErrReader(gone))}, kind: model.Invalid, says: "the disk is gone"},
	} {
		if c.audio.Content == nil {
			c.audio.Content = strings.NewReader("RIFF")
		}
		_, err := shellCommand(t, c.script, func(config *speech.Config) {
			config.MaxAudio = 1 << 20
			if c.adjust != nil {
				c.adjust(config)
			}
		}).Transcribe(t.Context(), c.audio)
		var failed *model.Error
		assert.That(t, errors.As(err, &failed) && failed.Kind == c.kind && strings.Contains(err.Error(), c.says),
			"%s: got %v; want kind %s, saying %q", name, err, c.kind, c.says)
	}
}

func TestFailureTellsTheEndOfWhatTheCommandComplainedOf(t *testing.T) {
	key := "sk-" + strings.Repeat("c0ffee", 8)
	c := shellCommand(t, `for i in $(seq 300); do echo "loading $i" >&2; done; printf '\033[31mcannot read %s with `+key+
		`\033[0m\n' "$1" >&2; exit 3`, nil)
	_, err := c.Transcribe(t.Context(), noteAudio())
	text := err.Error()
	assert.That(t, model.KindOf(err) == model.Invalid &&
		strings.Contains(text, "command:transcribe: the command failed (status 3): …") &&
		strings.Contains(text, "cannot read note.wav with") && len(text) <= 700, "got %v", err)
	assert.That(t, !strings.Contains(text, key) && !strings.Contains(text, "sibyl-speech") &&
		!strings.ContainsAny(text, "\x1b\n"), "it shows what it must not: %q", text)
}

func TestCommandThatTakesTooLongIsEnded(t *testing.T) {
	c := shellCommand(t, "sleep 3600", func(c *speech.Config) { c.Timeout = 300 * time.Millisecond })
	_, err := c.Transcribe(t.Context(), noteAudio())
	assert.That(t, model.KindOf(err) == model.Timeout && errors.Is(err, model.ErrEndless), "got %v", err)
}

// patience is how long is waited for what must happen.
const patience = time.Minute

// The script's child holds a pipe open, and would go on for an hour.
func TestGroupOfACommandEndsWithTheContext(t *testing.T) {
	child := childtest.New(t)
	c := shellCommand(t, child.Open+"sleep 3600 &\n"+child.Tell+"wait", nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := c.Transcribe(ctx, noteAudio())
		done <- err
	}()
	child.Told(t)
	cancel()
	select {
	case err := <-done:
		assert.That(t, model.KindOf(err) == model.Cancelled, "got %v", err)
	case <-time.After(patience):
		t.Fatal("waited in vain for the call to return")
	}
	child.Ended(t)
}

func TestCommandThatLeavesAChildBehindHasTranscribed(t *testing.T) {
	child := childtest.New(t)
	c := shellCommand(t, child.Open+"sleep 3600 &\necho done", nil)
	got, err := c.Transcribe(t.Context(), noteAudio())
	assert.That(t, err == nil && got.Text == "done", "got %+v, %v", got, err)
	child.Ended(t)
}

func TestOutputIsTakenAsATranscript(t *testing.T) {
	for name, c := range map[string]struct {
		printed string
		want    model.Transcript
	}{
		"colours and bells": {"\x1b[32mOlá\x1b[0m, \x07mundo\x00.\x1b]0;title\x07\n",
			model.Transcript{Text: "Olá, mundo."}},
		"progress":         {" 10%\r 50%\r100%\rdone\n\n", model.Transcript{Text: "done"}},
		"lines of Windows": {"one\r\ntwo\r\n", model.Transcript{Text: "one\ntwo"}},
		"times of whisper": {"Detected language: English\n[00:00.000 --> 00:02.500]  one\n[01:00:02.500 --> " +
			"01:00:04.000] two\nthree\n",
			model.Transcript{Text: "one two three", Segments: []model.Segment{{End: 2.5, Text: "one"},
				{Start: 3602.5, End: 3604, Text: "two three"}}}},
		"times of another": {"[0.00s -> 2.50s] one\n[2.50s -> 3.00s] \n",
			model.Transcript{Text: "one", Segments: []model.Segment{{End: 2.5, Text: "one"}, {Start: 2.5, End: 3}}}},
		"brackets in a text":  {"[laughs] one [1 -> x] two", model.Transcript{Text: "[laughs] one [1 -> x] two"}},
		"nothing":             {" \n\n", model.Transcript{}},
		"a paragraph between": {"one\n\ntwo", model.Transcript{Text: "one\n\ntwo"}},
	} {
		got, err := shellCommand(t, `cat "$1"`, nil).Transcribe(t.Context(),
			model.Audio{Name: "a.wav", Content: strings.NewReader(c.printed)})
		diff := cmp.Diff(c.want, got)
		assert.That(t, err == nil && diff == "", "%s: %v (-want +got):\n%s", name, err, diff)
	}
}

func TestProgramsThatAreThereAreOffered(t *testing.T) {
	found := speech.Suggestions(func(program string) (string, error) {
		if program == "pocketsphinx_continuous" || program == "whisper-cli" {
			return "/bin/" + program, nil
		}
		return "", exec.ErrNotFound
	})
	assert.That(t, len(found) == 2 &&
		strings.HasPrefix(found[0], "whisper-cli, to be used by transcription.command: [whisper-cli,") &&
		strings.Contains(found[1], `"{file}"`) && strings.Contains(found[1], "a draft, of English alone"), "found %v", found)
}

func TestLetterThatIsCutByTheEndOfASegmentIsKept(t *testing.T) {
	const first, second = "[00:00:00.000 --> 00:00:01.000]   ", "[00:00:01.000 --> 00:00:02.000]   "
	for name, c := range map[string]struct{ printed, want string }{
		"between two":          {first + "caf\xc3\n" + second + "\xa9 au lait\n", "café au lait"},
		"between three":        {first + "\xe4\n" + second + "\xbd\n" + second + "\xa0好\n", "你 好"},
		"an emoji":             {first + "so \xf0\x9f\n" + second + "\x98\x80 yes\n", "so 😀 yes"},
		"without times":        {"caf\xc3\n\xa9 au lait\n", "café\n au lait"},
		"half of it is lost":   {first + "you \xc3\n" + second + "and I\n", "you \uFFFD and I"},
		"the other half alone": {first + "you\n" + second + "\x98\n" + second + "and I\n", "you \uFFFD and I"},
		"one of many":          {"schön grün für \xc3 mich\n", "schön grün für \uFFFD mich"},
	} {
		script := "printf '"
		for _, b := range []byte(c.printed) {
			script += fmt.Sprintf(`\%03o`, b)
		}
		got, err := shellCommand(t, script+"'", nil).Transcribe(t.Context(), noteAudio())
		assert.That(t, err == nil && got.Text == c.want, "%s: %q, %v; want %q", name, got.Text, err, c.want)
	}
	for _, other := range []string{`printf '\303\050 f\374r gr\374n'`, `printf '[00:01.000 --> 00:02.000] gr\374n f\374r dich\n'`} {
		_, err := shellCommand(t, other, nil).Transcribe(t.Context(), noteAudio())
		assert.That(t, model.KindOf(err) == model.Garbled, "%s: %v", other, err)
	}
}

func TestErrorWithTheStatusOfASuccessIsAFailure(t *testing.T) {
	for _, said := range []string{"error: failed to open model.bin", "whisper_init: failed to load", "Traceback (most recent call last):",
		"RuntimeError: CUDA out of memory", "usage: whisper FILE", "Fehler: Modell fehlt", "could not read the audio", "Killed"} {
		_, err := shellCommand(t, "echo 'loading model' >&2; echo '"+said+"' >&2", nil).Transcribe(t.Context(), noteAudio())
		assert.That(t, model.KindOf(err) == model.Invalid && strings.Contains(err.Error(), said), "%s: %v", said, err)
	}
	for _, said := range []string{"loading model", "100%|####| 10/10", "UserWarning: FP16 is not supported on CPU; using FP32 instead"} {
		got, err := shellCommand(t, "echo '"+said+"' >&2", nil).Transcribe(t.Context(), noteAudio())
		assert.That(t, err == nil && got.Text == "", "%s: %q, %v", said, got.Text, err)
	}
	got, err := shellCommand(t, "echo 'error: no GPU' >&2; echo heard", nil).Transcribe(t.Context(), noteAudio())
	assert.That(t, err == nil && got.Text == "heard", "words beside a complaint: %q, %v", got.Text, err)
}
