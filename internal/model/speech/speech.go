// Package speech transcribes by a command of the person's choice, which prints what is said in a file.
//
// Guarantees beside those of package model:
//   - No shell: an argument is what the settings say, and what stands in a placeholder's place is no option.
//   - The audio lies in a folder that nobody else can read, in which the command runs, and which is gone when Transcribe returns, with all
//     that the command left there.
//   - The command and all that it started in its group are killed when the context ends, when it takes too long or prints too much.
//   - Of what it prints, escape sequences and control characters are left out. It has to be UTF-8; more than 8 MB is Garbled.
//   - An error holds no path of the private folder, and the end of what the command complained of, with tokens that can be told by their
//     shape taken out.
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
	"strings"
	"time"

	"sibyl/internal/model"
	"sibyl/internal/text"
)

// What a Config's zero fields stand for.
const (
	usualTimeout = time.Hour
	usualMax     = 1 << 30
)

// Config says which command transcribes.
type Config struct {
	// Command is a program and its arguments. In those, {file} stands for the path of the audio, which has to be there, {language} for
	// the language, "auto" where none is said, {language:NAME} for the language, NAME where none is said, and {prompt} for words that are
	// likely to be heard.
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
	c.Timeout, c.MaxAudio = cmp.Or(c.Timeout, usualTimeout), cmp.Or(c.MaxAudio, usualMax)
	return &Command{c}
}

// By is what stands in transcripts and errors: "command:whisper-cli".
func (c *Command) By() string {
	if len(c.config.Command) == 0 {
		return "command"
	}
	return "command:" + filepath.Base(c.config.Command[0])
}

// Transcribe writes down audio. A command that reports a failure is Invalid, since it would fail again; one that was killed by somebody
// else is Server.
func (c *Command) Transcribe(ctx context.Context, audio model.Audio) (model.Transcript, error) {
	if err := ctx.Err(); err != nil {
		return model.Transcript{}, c.fail(model.KindOf(err), err.Error(), err)
	}
	r := run{Command: c}
	folder, err := os.MkdirTemp(c.config.Folder, "sibyl-speech-*")
	if err == nil {
		r.folder, err = filepath.Abs(folder) // a relative one might begin like an option
	}
	if err != nil {
		return model.Transcript{}, c.fail(model.Server, "there is no room for the audio: "+bare(err).Error(), nil)
	}
	defer func() { _ = os.RemoveAll(r.folder) }()
	file, err := r.save(audio)
	if err != nil {
		return model.Transcript{}, err
	}
	args, err := c.arguments(file, audio)
	if err != nil {
		return model.Transcript{}, err
	}
	printed, err := r.perform(ctx, args)
	if err != nil {
		return model.Transcript{}, err
	}
	t, err := read(printed)
	if err != nil {
		return t, c.fail(model.Garbled, err.Error(), nil)
	}
	return t, nil
}

func (c *Command) fail(kind model.Kind, message string, err error) *model.Error {
	return &model.Error{Kind: kind, Model: c.By(), Message: message, Err: err}
}

// run is one run of a command.
type run struct {
	*Command
	folder string
}

// save puts the audio into the private folder.
func (r run) save(audio model.Audio) (path string, err error) {
	path = filepath.Join(r.folder, fileName(audio.Name))
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", r.fail(model.Server, "the audio can't be kept for the command: "+bare(err).Error(), nil)
	}
	content := &watched{Reader: audio.Content}
	n, err := io.Copy(file, io.LimitReader(content, r.config.MaxAudio+1))
	err = errors.Join(err, file.Close())
	switch {
	case content.failed != nil:
		return "", r.fail(model.Invalid, "the audio can't be read: "+content.failed.Error(), content.failed)
	case err != nil:
		return "", r.fail(model.Server, "the audio can't be kept for the command: "+bare(err).Error(), nil)
	case n > r.config.MaxAudio:
		return "", r.fail(model.Invalid, fmt.Sprintf("the audio is larger than %d MB: cut it into parts", r.config.MaxAudio>>20), nil)
	}
	return path, nil
}

// watched tells its own failures from those of who reads it.
type watched struct {
	io.Reader
	failed error
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Reader.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		w.failed = err
	}
	return n, err
}

// mostName bounds the name of the file, in bytes.
const mostName = 60

// fileName is the name that the audio has in the private folder: its own, if that is a harmless one, since its ending says the format.
func fileName(name string) string {
	name = filepath.Base(filepath.ToSlash(name))
	harmless := strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
	if !harmless || len(name) > mostName || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") {
		return "audio"
	}
	return name
}

// arguments are those of the command, with what their placeholders stand for.
func (c *Command) arguments(file string, audio model.Audio) ([]string, error) {
	if audio.Language != "" && !isTag(audio.Language) {
		return nil, c.fail(model.Invalid, fmt.Sprintf("%.40q is no language; it must be such as pt or pt-BR", audio.Language), nil)
	}
	if len(c.config.Command) == 0 {
		return nil, c.fail(model.Invalid, "no command is set", nil)
	}
	stands := strings.NewReplacer("{file}", file, "{language}", cmp.Or(audio.Language, "auto"),
		"{prompt}", strings.ReplaceAll(strings.TrimLeft(audio.Prompt, " -"), "\x00", ""))
	args, named := make([]string, 0, len(c.config.Command)-1), false
	for _, arg := range c.config.Command[1:] {
		named = named || strings.Contains(arg, "{file}")
		args = append(args, stands.Replace(withLanguage(arg, audio.Language)))
	}
	if !named {
		return nil, c.fail(model.Invalid, "no argument of the command holds {file}, the place of the audio", nil)
	}
	return args, nil
}

// withLanguage puts the language, or the name behind the colon, in the place of {language:NAME}.
func withLanguage(arg, language string) string {
	before, rest, found := strings.Cut(arg, "{language:")
	otherwise, after, closed := strings.Cut(rest, "}")
	if !found || !closed {
		return arg
	}
	return before + cmp.Or(language, otherwise) + withLanguage(after, language)
}

// isTag says whether text can be the tag of a language.
func isTag(text string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return strings.Contains(letters, text[:1]) && len(text) <= 35 && strings.Trim(text, letters+"0123456789-") == ""
}

// bare is err without the path that it is of.
func bare(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}

// endTime is how long the output of a command may be held open after its end.
const endTime = 2 * time.Second

var errTooMuch = errors.New("the command printed more than 8 MB")

// perform runs the command, and returns what it prints.
func (r run) perform(ctx context.Context, args []string) (string, error) {
	running, end := context.WithCancelCause(ctx)
	defer end(nil)
	running, stop := context.WithTimeoutCause(running, r.config.Timeout, model.ErrEndless)
	defer stop()
	cmd := exec.CommandContext(running, r.config.Command[0], args...) //nolint:gosec // the person's own settings name it
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.folder, r.config.Environ, endTime
	out, complaints := &bounded{full: func() { end(errTooMuch) }}, &text.Tail{}
	cmd.Stdout, cmd.Stderr = out, complaints
	asGroup(cmd)
	err := cmd.Run()
	if err != nil && cmd.Process != nil {
		endGroup(cmd) // of which something may go on
	}
	var exit *exec.ExitError
	switch cause := context.Cause(running); {
	case err == nil:
		return out.text.String(), nil
	case ctx.Err() != nil:
		return "", r.fail(model.KindOf(ctx.Err()), ctx.Err().Error(), ctx.Err())
	case errors.Is(cause, errTooMuch):
		return "", r.fail(model.Garbled, errTooMuch.Error()+": it must print what is said, and nothing more", nil)
	case errors.Is(cause, model.ErrEndless):
		return "", r.fail(model.Timeout, fmt.Sprintf("the command did not end within %v", r.config.Timeout), model.ErrEndless)
	case errors.Is(err, exec.ErrWaitDelay): // it ended well, but left a child behind
		return out.text.String(), nil
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		return "", r.fail(model.Server, fmt.Sprintf("the command was ended by somebody (%v)%s", exit, r.said(complaints)), nil)
	case errors.As(err, &exit):
		return "", r.fail(model.Invalid, fmt.Sprintf("the command failed (status %d)%s", exit.ExitCode(), r.said(complaints)), nil)
	}
	return "", r.fail(model.Invalid, "the command can't be run: "+strings.ReplaceAll(err.Error(), r.folder, ""), nil)
}
