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
	Model    string        // "provider:model", of a provider of OpenAI's kind; "" for none
	Server   string        // address of a whisper.cpp server; "" for none
	Local    bool          // the Server is on this machine
	Command  []string      // a program and its arguments, one of which holds {file}, run without a shell; it prints what is said
	Language string        // of sessions that say none, as "pt"; "": it is found out
	Formats  []string      // that it takes, as "wav", in place of the usual ones; nil: the usual ones
	Timeout  time.Duration // of one file or part of it, 10 s to 6 h; 0: the usual, as Limit says
}

// Limit is how long one file or part of it may take, on this machine or elsewhere.
func (t Transcription) Limit(local bool) time.Duration {
	switch {
	case t.Timeout != 0:
		return t.Timeout
	case local:
		return time.Hour
	}
	return 10 * time.Minute
}

// AudioFormats are the formats of audio files that have a name here.
func AudioFormats() []string { return []string{"wav", "ogg", "webm", "mp3", "m4a", "flac"} }

const (
	transcriptionModel   = "transcription.model"
	transcriptionServer  = "transcription.server"
	transcriptionCommand = "transcription.command"
	transcriberExample   = `[whisper-cli, -m, ~/models/ggml-small.bin, -f, "{file}", -l, "{language}"]`
)

func transcriptionSettings() []setting[Config] {
	return []setting[Config]{
		field(transcriptionModel, "SIBYL_TRANSCRIPTION_MODEL", func(c *Config) *string { return &c.Transcription.Model }, value.wholeModel).naming(takesModel),
		field(transcriptionServer, "SIBYL_TRANSCRIPTION_SERVER", func(c *Config) *Transcription { return &c.Transcription }, value.whisper).
			shown(func(c *Config) any { return plain(c.Transcription.Server) }),
		field(transcriptionCommand, "", func(c *Config) *[]string { return &c.Transcription.Command }, value.onFile).taking(transcriberExample).
			shown(func(c *Config) any { return plain(withoutCredentials(c.Transcription.Command)) }),
		field("transcription.language", "SIBYL_TRANSCRIPTION_LANGUAGE", func(c *Config) *string { return &c.Transcription.Language }, value.language),
		field("transcription.formats", "", func(c *Config) *[]string { return &c.Transcription.Formats }, value.audioFormats).taking("[wav, mp3, ogg]"),
		field("transcription.timeout", "", func(c *Config) *time.Duration { return &c.Transcription.Timeout }, duration(minWait, 6*time.Hour)),
	}
}

// whisper takes the address of a server that is sent what people say: it has to be on this machine, or encrypted on its way.
func (v value) whisper(into *Transcription) error {
	u, err := v.address()
	switch {
	case err != nil:
		return err
	case u.User != nil:
		return errors.New("contains a user or password: use an address without them")
	case u.Scheme == "http" && !isLoopback(u.String()):
		return errors.New("sends audio to another machine over plain http, where it can be intercepted: use https, or a tunnel to 127.0.0.1")
	}
	into.Server, into.Local = u.String(), isLoopback(u.String())
	return nil
}

// onFile takes a command for a file. A path of the program, and an argument that begins with ~/, are made absolute, since no shell does.
func (v value) onFile(into *[]string) error {
	var command []string
	if (value{raw: v.raw}).command(&command) != nil {
		return errors.New("must be a list of a program and its arguments, such as " + transcriberExample)
	}
	if !slices.ContainsFunc(command[1:], func(arg string) bool { return strings.Contains(arg, "{file}") }) {
		return errors.New("must have an argument with {file}, which is replaced by the audio's path, such as " + transcriberExample)
	}
	for i, word := range command {
		if !strings.HasPrefix(word, "~/") && (i > 0 || !strings.Contains(word, "/")) {
			continue
		}
		path, err := v.places.absolute(word, v.base)
		if err != nil {
			return fmt.Errorf("entry %d %w", i+1, err)
		}
		command[i] = path
	}
	*into = command
	return nil
}

// withoutCredentials is a command as it may be shown.
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

// language takes the code of a language, of a region or not, and keeps that of the language.
func (v value) language(into *string) error {
	var text string
	if err := v.line(&text); err != nil {
		return err
	}
	code, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(text, "_", "-")), "-")
	if len(code) < 2 || len(code) > 3 || strings.Trim(code, letters) != "" {
		return fmt.Errorf("is %s; it must be the code of a language, such as pt, en or de", v.quoted())
	}
	*into = code
	return nil
}

// audioFormats takes the names of some.
func (v value) audioFormats(into *[]string) error {
	if err := listOf("formats, such as [wav, mp3, ogg]", oneOf(AudioFormats()...))(v, into); err != nil {
		return err
	}
	if len(*into) == 0 {
		return errors.New("must be a list of formats, such as [wav, mp3, ogg]")
	}
	return nil
}

// finishTranscription refuses several at once, and a model of nobody who transcribes. Whether the provider has its key is not asked.
func (s source) finishTranscription(t Transcription, providers map[string]Provider) error {
	var set []string
	for path, is := range map[string]bool{transcriptionModel: t.Model != "", transcriptionServer: t.Server != "", transcriptionCommand: len(t.Command) > 0} {
		if is {
			set = append(set, fmt.Sprintf("%s (%s)", path, s.origins[path]))
		}
	}
	if len(set) > 1 {
		slices.Sort(set)
		return fmt.Errorf("only one of these can be set: %s", strings.Join(set, ", "))
	}
	if t.Model == "" {
		return nil
	}
	where := s.origins[transcriptionModel]
	if where != "SIBYL_TRANSCRIPTION_MODEL" {
		where = s.at(transcriptionModel)
	}
	name, _, _ := strings.Cut(t.Model, ":")
	kind := providers[name].Kind
	switch {
	case kind == KindOpenAI || kind == "" && name == "openai":
		return nil
	case kind == "" && vendorOf(name).name == "" && name != "ollama" && name != "offline":
		known := append(sortedNames(providers), "openai")
		return fmt.Errorf("%s: there is no provider %s%s", where, quote(name), DidYouMean(name, known))
	}
	return fmt.Errorf("%s: %s does not transcribe; name a provider of the kind openai, as openai:whisper-1, or set %s or %s", where, name, transcriptionServer, transcriptionCommand)
}
