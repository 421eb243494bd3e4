package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Built-in providers that are not vendors.
const (
	offlineName = "offline"
	ollamaName  = "ollama"
)

// Settings whose values are models.
const (
	fallbackModels     = "fallback.models"
	inquiryWitness     = "inquiry.witness"
	inquiryEmbeddings  = "inquiry.embeddings"
	transcriptionModel = "transcription.model"
)

// providerNames returns the names that a model may begin with, set up or not. Names may repeat.
func (c Config) providerNames() []string {
	known := append(sortedNames(c.Providers), ollamaName)
	for _, v := range vendors() {
		known = append(known, v.name)
	}
	return known
}

// providerOfModel returns the provider of a model, by name. One that is not set up has only a Kind, "" if unknown.
func (c Config) providerOfModel(model string) (name string, p Provider) {
	name, _, _ = strings.Cut(model, ":")
	p, set := c.Providers[name]
	if !set {
		p.Kind = Kind(vendorOf(name).name)
	}
	if name == ollamaName {
		p.Kind, p.Local = KindOllama, c.Ollama.Local
	}
	return name, p
}

// checkModels returns an error for each model whose provider is unknown, or that can't do what it is set for. It does
// not check keys, which may be added later.
func (s source) checkModels(c Config) error {
	var problems []error
	check := func(path, id, unfit string) {
		name, _ := c.providerOfModel(id)
		switch {
		case id == "":
		case unfit != "":
			problems = append(problems, s.problem(path, unfit))
		case !slices.Contains(c.providerNames(), name):
			problems = append(problems, s.problem(path, fmt.Sprintf(": there is no provider %s%s", quote(name),
				DidYouMean(name, c.providerNames()))))
		}
	}
	for i, id := range c.Fallback.Models {
		unfit := ""
		if name, _ := c.providerOfModel(id); name == offlineName {
			unfit = " names the offline rules, which never replace a model that failed: leave them out"
		} else if slices.Contains(c.Fallback.Models[:i], id) {
			unfit = fmt.Sprintf(" names %s twice", quote(id))
		}
		check(fallbackModels, id, unfit)
	}
	unfit := ""
	if name, _ := c.providerOfModel(c.Inquiry.Witness); name == offlineName {
		unfit = " names the offline rules, which can't be a witness: name a model, such as ollama:llama3.1:8b"
	}
	check(inquiryWitness, c.Inquiry.Witness, unfit)
	check(inquiryEmbeddings, c.Inquiry.Embeddings, c.cannotEmbed())
	check(transcriptionModel, c.Transcription.Model, c.cannotTranscribe())
	return errors.Join(problems...)
}

// cannotEmbed says why the model for embeddings is refused; "" if it isn't.
func (c Config) cannotEmbed() string {
	switch name, p := c.providerOfModel(c.Inquiry.Embeddings); {
	case name == offlineName || p.Kind == KindAnthropic || p.Kind == KindGemini:
		return fmt.Sprintf(" names %s, which has no embeddings here: name an embedding model, such as "+
			"ollama:nomic-embed-text or openai:text-embedding-3-small", name)
	case p.isPresent() && strings.HasPrefix(p.BaseURL, "http://") && !isLoopback(p.BaseURL):
		return fmt.Sprintf(" would send the key of %s to another machine over plain http, where it can be read on "+
			"the way: use https, or a tunnel to 127.0.0.1", name)
	}
	return ""
}

// cannotTranscribe says why the model for transcription is refused; "" if it isn't.
func (c Config) cannotTranscribe() string {
	name, p := c.providerOfModel(c.Transcription.Model)
	if p.Kind == KindOpenAI || p.Kind == "" && name != offlineName {
		return ""
	}
	return fmt.Sprintf(": %s does not transcribe; name a provider of the kind openai, as openai:whisper-1, or set "+
		"transcription.server or transcription.command", name)
}

// EmbeddingsAway reports whether passages are sent to a provider that is not local to be embedded.
func (c Config) EmbeddingsAway() bool {
	_, p := c.providerOfModel(c.Inquiry.Embeddings)
	return c.Inquiry.Embeddings != "" && !p.Local
}
