package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sibyl/internal/redact"
)

// Transcription says what writes down audio: at most one of Model, Server and Command.
type Transcription struct {
	// of a provider of OpenAI's kind; "" for none
	Model string `name:"model" env:"SIBYL_TRANSCRIPTION_MODEL" as:"whole model"`
	// address of a whisper.cpp server; "" for none
	Server string `name:"server" env:"SIBYL_TRANSCRIPTION_SERVER" as:"audio server" login:"use an address without them"`
	Local  bool   // the Server is on this machine
	// Command is a program and its arguments, one of which holds {file}, run without a shell; it prints what is said.
	Command []string `name:"command" as:"transcriber" like:"[whisper-cli, -m, ~/models/ggml-small.bin, -f, \"{file}\", -l, \"{language}\"]"`
	// of sessions that say none, as "pt"; "": it is found out
	Language string `name:"language" env:"SIBYL_TRANSCRIPTION_LANGUAGE" as:"language"`
	// Formats are those that it takes, in place of the usual ones; nil: the usual ones.
	Formats []string      `name:"formats" enum:"wav,ogg,webm,mp3,m4a,flac" min:"1" like:"[wav, mp3, ogg]"`
	Timeout time.Duration `name:"timeout" min:"10s" max:"6h"` // of one file or part of it; 0: the usual, as Limit says
}

// Limit returns the timeout for one file or part, on this machine or elsewhere.
func (t Transcription) Limit(local bool) time.Duration {
	switch {
	case t.Timeout != 0:
		return t.Timeout
	case local:
		return time.Hour
	}
	return 10 * time.Minute
}

// transcriber parses a command for a file. It makes the program's path and arguments that begin with ~/ absolute, since
// no shell does.
func (v value) transcriber() ([]string, error) {
	command, err := v.command()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(command[1:], func(arg string) bool { return strings.Contains(arg, "{file}") }) {
		return nil, errors.New("must have an argument with {file}, which is replaced by the audio's path, such as " +
			v.tag.Get("like"))
	}
	for i, word := range command {
		if !strings.HasPrefix(word, "~/") && (i > 0 || !strings.Contains(word, "/")) {
			continue
		}
		if command[i], err = v.places.absolute(word, v.base); err != nil {
			return nil, fmt.Errorf("entry %d %w", i+1, err)
		}
	}
	return command, nil
}

// withoutCredentials returns a command without its secrets.
func withoutCredentials(command []string) (shown []string) {
	const hidden = "…"
	secret := false // what comes next
	for _, word := range command {
		name, _, assigned := strings.Cut(word, "=")
		named := strings.HasPrefix(name, "-") && looksLikeCredential(strings.TrimLeft(name, "-"))
		switch {
		case secret:
			word = hidden
		case named && assigned:
			word = name + "=" + hidden
		}
		secret = named && !assigned && !secret
		shown = append(shown, redact.New().String(word))
	}
	return shown
}

// checkTranscription rejects more than one transcriber.
func (s source) checkTranscription(t Transcription) error {
	var set []string
	for path, is := range map[string]bool{transcriptionModel: t.Model != "", "transcription.server": t.Server != "",
		"transcription.command": len(t.Command) > 0} {
		if is {
			set = append(set, fmt.Sprintf("%s (%s)", path, s.origins[path]))
		}
	}
	if len(set) > 1 {
		slices.Sort(set)
		return fmt.Errorf("only one of these can be set: %s", strings.Join(set, ", "))
	}
	return nil
}
