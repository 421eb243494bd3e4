package modeltest

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"sibyl/internal/model"
	"sibyl/internal/model/anthropic"
	"sibyl/internal/model/gemini"
	"sibyl/internal/model/ollama"
	"sibyl/internal/model/openai"
	"sibyl/internal/model/speech"
	"sibyl/internal/model/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// config is that of a model for s.
func config(s *Setup) wire.Config {
	return wire.Config{Provider: "house", Model: "m", BaseURL: s.BaseURL, HTTPClient: s.Client, Key: s.Key,
		FirstByte: s.FirstByte, Idle: s.Idle}
}

func newChat(tb testing.TB, s *Setup) *openai.Model {
	c := config(s)
	c.API = openai.Chat
	m := openai.New(c)
	tb.Cleanup(m.Close)
	return m
}

func newResponses(tb testing.TB, s *Setup) model.Model {
	c := config(s)
	c.API = openai.Responses
	m := openai.New(c)
	tb.Cleanup(m.Close)
	return m
}

func newMessages(tb testing.TB, s *Setup) model.Model {
	m := anthropic.New(config(s))
	tb.Cleanup(m.Close)
	return m
}

func newGemini(tb testing.TB, s *Setup) model.Model {
	m := gemini.New(config(s))
	tb.Cleanup(m.Close)
	return m
}

func newOllama(tb testing.TB, s *Setup) *ollama.Model {
	c := config(s)
	c.Provider = ollama.Ollama // whose advice is recorded
	m := ollama.New(c)
	tb.Cleanup(m.Close)
	return m
}

// adapters are those that ask a provider, by the name of their file in testdata.
func adapters() map[string]Factory {
	return map[string]Factory{
		"chat":      func(tb testing.TB, s *Setup) model.Model { return newChat(tb, s) },
		"responses": newResponses,
		"messages":  newMessages,
		"gemini":    newGemini,
		"ollama":    func(tb testing.TB, s *Setup) model.Model { return newOllama(tb, s) },
	}
}

func TestEveryModelKeepsTheContract(t *testing.T) {
	all := adapters()
	all["script"] = func(tb testing.TB, s *Setup) model.Model { return s.Script(tb) }
	all["retry"] = func(tb testing.TB, s *Setup) model.Model {
		return model.Retry(s.Script(tb), model.RetryPolicy{Attempts: 1, Patience: -1})
	}
	all["chain"] = func(tb testing.TB, s *Setup) model.Model {
		// which stands twice, and is asked once
		return model.Chain(model.ChainPolicy{CoolDown: time.Minute}, s.Script(tb), Script(tb))
	}
	for name, build := range all {
		t.Run(name, func(t *testing.T) { Suite(t, build) })
	}
}

func TestRecordedAnswersAreReadAsTheirProvidersMeanThem(t *testing.T) {
	for name, build := range adapters() {
		t.Run(name, func(t *testing.T) { Answers(t, build, "testdata/"+name+".txt") })
	}
}

func TestOpenAIEmbedsAsTheContractSays(t *testing.T) {
	EmbedderSuite(t, func(tb testing.TB, s *Setup) model.Embedder { return newChat(tb, s) })
}

func TestOllamaEmbedsAsTheContractSays(t *testing.T) {
	EmbedderSuite(t, func(tb testing.TB, s *Setup) model.Embedder { return newOllama(tb, s) })
}

func TestOpenAITranscribesAsTheContractSays(t *testing.T) {
	TranscriberSuite(t, func(tb testing.TB, s *Setup) model.Transcriber { return newChat(tb, s) })
}

func TestWhisperTranscribesAsTheContractSays(t *testing.T) {
	TranscriberSuite(t, func(tb testing.TB, s *Setup) model.Transcriber {
		m := speech.NewServer(config(s))
		tb.Cleanup(m.Close)
		return m
	})
}

func FuzzChat(f *testing.F)      { fuzzStream(f, adapters()["chat"], "testdata/chat.txt") }
func FuzzResponses(f *testing.F) { fuzzStream(f, adapters()["responses"], "testdata/responses.txt") }
func FuzzMessages(f *testing.F)  { fuzzStream(f, adapters()["messages"], "testdata/messages.txt") }
func FuzzGemini(f *testing.F)    { fuzzStream(f, adapters()["gemini"], "testdata/gemini.txt") }
func FuzzOllama(f *testing.F)    { fuzzStream(f, adapters()["ollama"], "testdata/ollama.txt") }
