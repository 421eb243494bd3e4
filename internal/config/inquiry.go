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
	Sessions string // the folder of the sessions' files; "": inquiries/sessions in the folder for data
	Limit    int    // how many questions are put where nobody says, 5 to 20
	Witness  string // provider:model, the witness where nobody names one; "" for none
}

const (
	fallbackModels = "fallback.models"
	inquiryLimit   = "inquiry.limit"
	inquiryWitness = "inquiry.witness"
)

func inquirySettings() []setting[Config] {
	return []setting[Config]{
		field("inquiry.sessions", "SIBYL_INQUIRIES", func(c *Config) *string { return &c.Inquiry.Sessions }, value.path),
		field(inquiryLimit, "SIBYL_INQUIRY_LIMIT", func(c *Config) *int { return &c.Inquiry.Limit }, number(leastQuestions, mostQuestions)),
		field(inquiryWitness, "SIBYL_WITNESS", func(c *Config) *string { return &c.Inquiry.Witness }, value.witness),
	}
}

func (v value) witness(into *string) error {
	if err := v.model(into); err != nil {
		return err
	}
	if provider, name, _ := strings.Cut(*into, ":"); name == "" {
		return fmt.Errorf("is %s, a provider alone; write %s:MODEL, such as ollama:llama3.1:8b", v.quoted(), provider)
	}
	return nil
}

// finishInquiry refuses a witness that nobody serves. Whether it answers is not asked.
func (s source) finishInquiry(i Inquiry, providers map[string]Provider) error {
	name, _, _ := strings.Cut(i.Witness, ":")
	known := s.providerNames(providers)
	switch {
	case name == "":
		return nil
	case name == offlineName:
		return s.problem(inquiryWitness, errors.New(" names the offline rules, which know nothing to testify: name a model, such as ollama:llama3.1:8b"))
	case !slices.Contains(known, name):
		return s.problem(inquiryWitness, fmt.Errorf(": there is no provider %s%s", quote(name), DidYouMean(name, known)))
	}
	return nil
}

// InquiriesOf is the folder of the inquiries of an owner: of the person at this machine the set one itself.
func (c Config) InquiriesOf(owner string, person bool) string {
	set := c.Inquiry.Sessions
	switch {
	case set == "" && person:
		return filepath.Join(c.DataDir, "inquiries", "sessions")
	case set == "":
		return filepath.Join(c.DataDir, "users", owner, "inquiries", "sessions")
	case person:
		return set
	}
	return filepath.Join(set, ".users", owner)
}
