package config

import "path/filepath"

// Inquiry is how the Inquiry is set up (requirement 4, Configuration).
type Inquiry struct {
	Sessions string // the folder of the sessions' files; "": inquiries/sessions in the folder for data
	Limit    int    // how many questions are put where nobody says, 5 to 20
}

func inquirySettings() []setting[Config] {
	return []setting[Config]{
		field("inquiry.sessions", "SIBYL_INQUIRIES", func(c *Config) *string { return &c.Inquiry.Sessions }, value.path),
		field("inquiry.limit", "SIBYL_INQUIRY_LIMIT", func(c *Config) *int { return &c.Inquiry.Limit }, number(5, 20)),
	}
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
