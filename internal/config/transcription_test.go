package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTranscriptionIsReadFromTheEnvironmentToo(t *testing.T) {
	cfg, _ := mustLoad(t, "transcription: {server: 'http://localhost:8080/'}", "SIBYL_TRANSCRIPTION_SERVER=https://whisper.test/", "SIBYL_TRANSCRIPTION_LANGUAGE=DE_at")
	if diff := cmp.Diff(Transcription{Server: "https://whisper.test", Language: "de"}, cfg.Transcription); diff != "" {
		t.Error(diff)
	}
	cfg, _ = mustLoad(t, "", "SIBYL_TRANSCRIPTION_SERVER=http://[::1]:8080")
	if !cfg.Transcription.Local {
		t.Error("a server on this machine is not taken for one")
	}
	for _, model := range []string{"openai:whisper-1", "groq:whisper-large-v3-turbo"} {
		cfg, _ = mustLoad(t, "providers: {groq: {base_url: 'https://api.groq.test/openai/v1'}}", "SIBYL_TRANSCRIPTION_MODEL="+model)
		if cfg.Transcription.Model != model {
			t.Errorf("the model is %q", cfg.Transcription.Model)
		}
	}
}

func TestWhatCannotTranscribeIsRefused(t *testing.T) {
	for _, c := range []struct{ name, file, variable, want string }{
		{"two at once", "transcription:\n  server: http://127.0.0.1:8080\n  command: [t, '{file}']", "SIBYL_TRANSCRIPTION_MODEL=openai:whisper-1",
			"only one of these can be set: transcription.command ("},
		{"two at once, with their places", "transcription: {server: 'http://127.0.0.1:8080'}", "SIBYL_TRANSCRIPTION_MODEL=openai:whisper-1",
			"transcription.model (SIBYL_TRANSCRIPTION_MODEL), transcription.server ("},
		{"provider alone", "transcription: {model: openai}", "", `:1: transcription.model is "openai", a provider without a model; write openai:MODEL`},
		{"provider of nobody", "", "SIBYL_TRANSCRIPTION_MODEL=opennai:whisper-1", `SIBYL_TRANSCRIPTION_MODEL: there is no provider "opennai"; did you mean openai?`},
		{"provider of another kind", "transcription: {model: 'anthropic:claude'}", "", ":1: transcription.model: anthropic does not transcribe"},
		{"Ollama", "transcription: {model: 'ollama:whisper'}", "", "ollama does not transcribe"},
		{"own provider of another kind", "transcription: {model: 'box:w'}\nproviders: {box: {kind: ollama, base_url: 'http://127.0.0.1:1'}}", "", "box does not transcribe"},
		{"in the open", "transcription: {server: 'http://gpu.lan:8080'}", "", ":1: transcription.server sends audio to another machine over plain http"},
		{"with a password", "", "SIBYL_TRANSCRIPTION_SERVER=https://me:" + canary + "@w.test", "SIBYL_TRANSCRIPTION_SERVER contains a user or password"},
		{"no address", "transcription: {server: '127.0.0.1:8080'}", "", "transcription.server must be a web address"},
		{"command without a file", "transcription: {command: [whisper-cli, -nt]}", "", "transcription.command must have an argument with {file}"},
		{"file as the program", "transcription: {command: ['{file}']}", "", "transcription.command must have an argument with {file}"},
		{"command as a line", "transcription: {command: 'whisper-cli {file}'}", "", "transcription.command takes a list, such as [whisper-cli,"},
		{"command of numbers", "transcription: {command: [t, '{file}', 5]}", "", "transcription.command must be a list of a program and its arguments"},
		{"language in words", "transcription: {language: portuguese}", "", `transcription.language is "portuguese"; it must be the code of a language`},
		{"no formats", "transcription: {formats: []}", "", "transcription.formats must be a list with an entry, such as [wav"},
		{"format that there is not", "transcription: {formats: [wav, mp4]}", "", `transcription.formats entry 2 is "mp4"; it must be wav, ogg,`},
		{"no time", "transcription: {timeout: 1s}", "", "transcription.timeout is"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newSetup(t, c.file, c.variable).load()
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), canary) {
				t.Errorf("error = %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestCommandIsShownWithoutItsCredentials(t *testing.T) {
	_, lines, _ := explain(t, `transcription: {command: [transcribe, --api-key, hunter2, --token=hunter3, --model, small, "{file}", sk-Zq8vT2nB7yH4mK9w1xR5c3Zq8vT2nB7y]}`)
	text, err := lines.YAML()
	if err != nil || strings.Contains(string(text), "hunter") || strings.Contains(string(text), "Zq8v") {
		t.Errorf("shown, with error %v: %s", err, text)
	}
	if !strings.Contains(string(text), `--model, small, '{file}'`) {
		t.Errorf("not all that may be shown is: %s", text)
	}
}

func TestTimeOfATranscriptionDependsOnWhereItIsMade(t *testing.T) {
	if here, there := (Transcription{}).Limit(true), (Transcription{}).Limit(false); here != time.Hour || there != 10*time.Minute {
		t.Errorf("%v here, %v elsewhere", here, there)
	}
	if set := (Transcription{Timeout: time.Minute}); set.Limit(true) != time.Minute || set.Limit(false) != time.Minute {
		t.Error("a time that is set does not win")
	}
}
