package config

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Inquiry is how the Inquiry is set up (requirement 4, Configuration).
type Inquiry struct {
	Sessions   string // the folder of the sessions' files; "": inquiries/sessions in the folder for data
	Limit      int    // how many questions are put where nobody says, 5 to 20
	Witness    string // provider:model, the witness where nobody names one; "" for none
	Embeddings string // provider:model, which finds passages of documents by their meaning; "": words alone are searched
}

const (
	fallbackModels    = "fallback.models"
	inquiryLimit      = "inquiry.limit"
	inquiryWitness    = "inquiry.witness"
	inquiryEmbeddings = "inquiry.embeddings"
)

func inquirySettings() []setting[Config] {
	return []setting[Config]{
		path("inquiry.sessions", "SIBYL_INQUIRIES", func(c *Config) *string { return &c.Inquiry.Sessions }),
		field(inquiryLimit, "SIBYL_INQUIRY_LIMIT", func(c *Config) *int { return &c.Inquiry.Limit }, number(leastQuestions, mostQuestions)),
		field(inquiryWitness, "SIBYL_WITNESS", func(c *Config) *string { return &c.Inquiry.Witness }, value.wholeModel).naming(takesModel),
		field(inquiryEmbeddings, "SIBYL_INQUIRY_EMBEDDINGS", func(c *Config) *string { return &c.Inquiry.Embeddings }, value.wholeModel).naming(takesModel),
	}
}

// finishInquiry refuses a witness that nobody serves, and what can't embed. Whether they answer is not asked.
func (s source) finishInquiry(c Config) error {
	return errors.Join(s.finishWitness(c.Inquiry, c.Providers), s.finishEmbeddings(c))
}

// finishEmbeddings refuses what has no embeddings, and a key that anybody on its way could read.
func (s source) finishEmbeddings(c Config) error {
	const such = ": name an embedding model, such as ollama:nomic-embed-text or openai:text-embedding-3-small"
	name, _, _ := strings.Cut(c.Inquiry.Embeddings, ":")
	known := s.providerNames(c.Providers)
	p, set := c.Providers[name]
	kind := p.Kind
	if !set {
		kind = Kind(vendorOf(name).name)
	}
	switch {
	case name == "":
		return nil
	case name == offlineName || kind == KindAnthropic || kind == KindGemini:
		return s.problem(inquiryEmbeddings, fmt.Errorf(" names %s, which has no embeddings here%s", name, such))
	case !slices.Contains(known, name):
		return s.noProvider(inquiryEmbeddings, name, known)
	case p.present() && strings.HasPrefix(p.BaseURL, "http://") && !isLoopback(p.BaseURL):
		return s.problem(inquiryEmbeddings, fmt.Errorf(" would send the key of %s to another machine over plain http, where it can be read on the way: use https, or a tunnel to 127.0.0.1", name))
	}
	return nil
}

// EmbeddingsAway says whether the passages that are embedded leave the person's machines.
func (c Config) EmbeddingsAway() bool {
	name, _, _ := strings.Cut(c.Inquiry.Embeddings, ":")
	local := c.Providers[name].Local
	if name == ollamaName {
		local = c.Ollama.Local
	}
	return name != "" && !local
}

func (s source) finishWitness(i Inquiry, providers map[string]Provider) error {
	name, _, _ := strings.Cut(i.Witness, ":")
	known := s.providerNames(providers)
	switch {
	case name == offlineName:
		return s.problem(inquiryWitness, errors.New(" names the offline rules, which can't be a witness: name a model, such as ollama:llama3.1:8b"))
	case name != "" && !slices.Contains(known, name):
		return s.noProvider(inquiryWitness, name, known)
	}
	return nil
}

// InquiriesOf is the folder of the inquiries of an owner: of the person at this machine the set one itself.
func (c Config) InquiriesOf(owner string, person bool) string {
	return c.folderOf(c.Inquiry.Sessions, filepath.Join("inquiries", "sessions"), owner, person)
}

// folderOf is the folder of an owner for what lies in the set folder, or else in the usual one of the data folder.
func (c Config) folderOf(set, usual, owner string, person bool) string {
	switch {
	case set == "" && person:
		return filepath.Join(c.DataDir, usual)
	case set == "":
		return filepath.Join(c.DataDir, "users", owner, usual)
	case person:
		return set
	}
	return filepath.Join(set, ".users", owner)
}
