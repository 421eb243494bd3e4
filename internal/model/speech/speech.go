// Package speech transcribes with a command of the person's choice, which prints what is said in a file, or with
// whisper.cpp's server.
//
// Guarantees of the command besides those of package model; the server's are those of package wire:
//   - No shell: an argument is what the settings say, and what replaces a placeholder can't be an option.
//   - The audio lies in a folder that nobody else can read, in which the command runs, and which is gone when
//     Transcribe returns, with all that the command left there.
//   - The command and all that it started in its group are killed when the context ends, when it takes too long or
//     prints too much.
//   - Of what it prints, escape sequences and control characters are left out. It has to be UTF-8; more than 8 MB is
//     Garbled.
//   - An error holds no path of the private folder. It holds the end of the command's complaints, without tokens that
//     can be recognised by their shape.
package speech

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/redact"
	"sibyl/internal/text"
)

// The defaults of a Config.
const (
	defaultTimeout  = time.Hour
	defaultMaxAudio = 1 << 30
)

// Config says which command transcribes.
type Config struct {
	// Command is a program and its arguments. In the arguments, {file} stands for the path of the audio and is
	// required, {language} for the language or "auto", {language:NAME} for the language or NAME, and {prompt} for words
	// that are likely to be heard.
	Command []string

	Environ  []string      // as NAME=value; nil: that of this process
	Folder   string        // for the audio while the command runs; "": the system's own
	Timeout  time.Duration // of one run; 0: 1 h
	MaxAudio int64         // in bytes; 0: 1 GB
}

// Command is a model.Transcriber. It is safe for concurrent use: each call runs a command of its own.
type Command struct{ config Config }

// New returns the command that c describes. It runs nothing; a wrong command is reported by the first call.
func New(c Config) *Command {
	c.Timeout, c.MaxAudio = cmp.Or(c.Timeout, defaultTimeout), cmp.Or(c.MaxAudio, defaultMaxAudio)
	return &Command{c}
}

// By is the name in transcripts and errors: "command:whisper-cli".
func (c *Command) By() string {
	if len(c.config.Command) == 0 {
		return "command"
	}
	return "command:" + filepath.Base(c.config.Command[0])
}

// Transcribe transcribes audio. A command that reports a failure is Invalid, since it would fail again; one that
// somebody else killed is Server.
func (c *Command) Transcribe(ctx context.Context, audio model.Audio) (model.Transcript, error) {
	if err := ctx.Err(); err != nil {
		return model.Transcript{}, c.newError(model.KindOf(err), err.Error(), err)
	}
	folder, err := os.MkdirTemp(c.config.Folder, "sibyl-speech-*")
	if err == nil {
		defer func() { _ = os.RemoveAll(folder) }()
		folder, err = filepath.Abs(folder) // a relative one might begin like an option
	}
	if err != nil {
		return model.Transcript{}, c.newError(model.Server, "there is no room for the audio: "+withoutPath(err), nil)
	}
	file := filepath.Join(folder, fileName(audio.Name))
	args, err := c.arguments(file, audio)
	if err == nil {
		err = c.saveAudio(file, audio.Content)
	}
	if err != nil {
		return model.Transcript{}, err
	}
	complaints := &text.Tail{}
	printed, err := c.runCommand(ctx, folder, args, complaints)
	if err != nil {
		return model.Transcript{}, err
	}
	t, err := readTranscript(printed)
	if err != nil {
		return t, c.newError(model.Garbled, err.Error(), nil)
	}
	if t.Text == "" && tellsFailure(complaints.String()) {
		return t, c.newError(model.Invalid, "the command printed no words, and ended as if it had succeeded"+
			complaintText(complaints, folder), nil)
	}
	return t, nil
}

func (c *Command) newError(kind model.Kind, message string, err error) *model.Error {
	return &model.Error{Kind: kind, Model: c.By(), Message: message, Err: err}
}

// saveAudio writes the audio to a new file.
func (c *Command) saveAudio(path string, content io.Reader) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return c.newError(model.Server, "the audio can't be kept for the command: "+withoutPath(err), nil)
	}
	n, err := io.Copy(file, io.LimitReader(content, c.config.MaxAudio+1))
	err = cmp.Or(err, file.Close())
	var own *fs.PathError
	switch {
	case errors.As(err, &own) && own.Path == path:
		return c.newError(model.Server, "the audio can't be kept for the command: "+withoutPath(err), nil)
	case err != nil:
		return c.newError(model.Invalid, "the audio can't be read: "+err.Error(), err)
	case n > c.config.MaxAudio:
		return c.newError(model.Invalid, fmt.Sprintf("the audio is larger than %d MB: cut it into parts",
			c.config.MaxAudio>>20), nil)
	}
	return nil
}

var harmlessName = regexp.MustCompile(`^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,59}$`)

// fileName returns the name of the audio in the private folder: its own if that is harmless, since its ending says the
// format.
func fileName(name string) string {
	if name = filepath.Base(filepath.ToSlash(name)); harmlessName.MatchString(name) {
		return name
	}
	return "audio"
}

var (
	languageTag         = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]{0,34}$`)
	languageWithDefault = regexp.MustCompile(`\{language:([^}]*)\}`)
)

// arguments returns the command's arguments with the placeholders replaced.
func (c *Command) arguments(file string, audio model.Audio) ([]string, error) {
	if audio.Language != "" && !languageTag.MatchString(audio.Language) {
		return nil, c.newError(model.Invalid, fmt.Sprintf("%.40q is no language; it must be such as pt or pt-BR",
			audio.Language), nil)
	}
	if len(c.config.Command) == 0 {
		return nil, c.newError(model.Invalid, "no command is set", nil)
	}
	language := "$1"
	if audio.Language != "" {
		language = audio.Language
	}
	placeholders := strings.NewReplacer("{file}", file, "{language}", cmp.Or(audio.Language, "auto"),
		"{prompt}", strings.ReplaceAll(strings.TrimLeft(audio.Prompt, " -"), "\x00", ""))
	var args []string
	hasFile := false
	for _, arg := range c.config.Command[1:] {
		hasFile = hasFile || strings.Contains(arg, "{file}")
		args = append(args, placeholders.Replace(languageWithDefault.ReplaceAllString(arg, language)))
	}
	if !hasFile {
		return nil, c.newError(model.Invalid, "no argument of the command holds {file}, the place of the audio", nil)
	}
	return args, nil
}

// withoutPath returns the text of err without its path.
func withoutPath(err error) string {
	if of, is := errors.AsType[*fs.PathError](err); is {
		err = of.Err
	}
	return err.Error()
}

// outputTimeout is how long the output of a command may stay open after its end: a busy machine reads it late.
const outputTimeout = 10 * time.Second

var errTooMuch = errors.New("the command printed more than 8 MB")

// runCommand runs the command in the private folder, and returns its output.
func (c *Command) runCommand(
	ctx context.Context, folder string, args []string, complaints *text.Tail,
) (string, error) {
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	running, stop := context.WithTimeoutCause(running, c.config.Timeout, model.ErrEndless)
	defer stop()
	cmd := exec.CommandContext(running, c.config.Command[0], args...) //nolint:gosec // the person's own settings name it
	cmd.Dir, cmd.Env, cmd.WaitDelay = folder, c.config.Environ, outputTimeout
	out := &boundedOutput{onOverflow: func() { end(errTooMuch) }}
	cmd.Stdout, cmd.Stderr = out, complaints
	asGroup(cmd)
	err := cmd.Run()
	if err != nil && cmd.Process != nil {
		endGroup(cmd) // something of it may still be running
	}
	var exit *exec.ExitError
	switch cause := context.Cause(running); {
	case err == nil:
		return out.text.String(), nil
	case ctx.Err() != nil:
		return "", c.newError(model.KindOf(ctx.Err()), ctx.Err().Error(), ctx.Err())
	case errors.Is(cause, errTooMuch):
		return "", c.newError(model.Garbled, errTooMuch.Error()+": it must print what is said, and nothing more", nil)
	case errors.Is(cause, model.ErrEndless):
		return "", c.newError(model.Timeout, fmt.Sprintf("the command did not end within %v", c.config.Timeout),
			model.ErrEndless)
	case errors.Is(err, exec.ErrWaitDelay): // it ended well, but left a child behind
		return out.text.String(), nil
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		return "", c.newError(model.Server, fmt.Sprintf("the command was ended by somebody (%v)%s", exit,
			complaintText(complaints, folder)), nil)
	case errors.As(err, &exit):
		return "", c.newError(model.Invalid, fmt.Sprintf("the command failed (status %d)%s", exit.ExitCode(),
			complaintText(complaints, folder)), nil)
	}
	return "", c.newError(model.Invalid, "the command can't be run: "+strings.ReplaceAll(err.Error(), folder, ""), nil)
}

// tellsFailure says whether complaints tell of an error. Some commands report one and end with the status of a success;
// others print there what they load and how fast they are.
func tellsFailure(complaints string) bool {
	for line := range strings.Lines(strings.ToLower(plainText(strings.ToValidUTF8(complaints, "\uFFFD")))) {
		if !strings.Contains(line, "warn") && failureWords.MatchString(line) {
			return true
		}
	}
	return false
}

// failureWords match what errors are told with, in some languages.
var failureWords = regexp.MustCompile(`\berr(?:or)?\b|[a-z]error\b|\bfail|fatal|exception|traceback|\bpanic|\babort|\bcannot\b|can't|` +
	`can’t|could ?n.t|could not|\bunable|\binvalid|unsupported|not supported|\bunknown|unrecogni|no such|not found|` +
	`(?:does|do) not exist|\bmissing|denied|corrupt|out of memory|^usage:|illegal|segmentation|\bkilled|refused|expired|` +
	`\bquota|unauthori|\bfehler|\berreur|\berro\b|错误|错誤|エラー|ошибк`)

// maxComplaint bounds what an error holds of a command's complaints, in bytes.
const maxComplaint = 500

// complaintText returns the end of a command's complaints, to follow a message.
func complaintText(complaints *text.Tail, folder string) string {
	all := text.OneLine(plainText(strings.ToValidUTF8(complaints.String(), "\uFFFD")))
	all = redact.New().String(strings.ReplaceAll(all, folder+string(filepath.Separator), ""))
	if over := len(all) - maxComplaint; over > 0 {
		all = "…" + strings.TrimLeftFunc(all[over:], func(r rune) bool { return r == '\uFFFD' }) // half a character
	}
	if all == "" {
		return ", and said nothing of why"
	}
	return ": " + all
}

// Suggestions says how to use those known programs that lookPath, such as exec.LookPath, finds. None is run.
func Suggestions(lookPath func(program string) (path string, err error)) (found []string) {
	const whole = "its first use fetches a model"
	for _, o := range []struct{ program, setting, note string }{
		{"whisper-cli", `[whisper-cli, -m, MODEL, -f, "{file}", -l, "{language}", -np]`,
			"of whisper.cpp; MODEL is the path of a model's file"},
		{"whisper-ctranslate2", `[whisper-ctranslate2, "{file}", --model, small]`, whole},
		{"whisper", `[whisper, "{file}", --model, small]`, whole},
		{"pocketsphinx_continuous", `[pocketsphinx_continuous, -infile, "{file}", -logfn, /dev/null]`,
			"a draft, of English alone"},
	} {
		if _, err := lookPath(o.program); err == nil {
			found = append(found, fmt.Sprintf("%s, to be used by transcription.command: %s (%s)",
				o.program, o.setting, o.note))
		}
	}
	return found
}
