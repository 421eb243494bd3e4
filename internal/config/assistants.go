package config

import (
	"path/filepath"
	"time"
)

// Council holds the settings of the Council (requirement 2, Configuration).
type Council struct {
	// the folder of sessions; "": sessions in the folder for data
	Sessions string `name:"sessions" env:"SIBYL_SESSIONS" as:"path"`
	Oracles  string `name:"oracles" env:"ORACLES_DIR" as:"path"` // the folder of oracles; "": those that are built in
	// the text that the context replaces in an oracle's file
	Placeholder string `name:"placeholder" env:"ORACLE_PLACEHOLDER" default:"{{CONTEXT}}"`
	// how many seconds the list of oracles is cached
	CacheTTL int `name:"cache_ttl" env:"ORACLE_CACHE_TTL" min:"0" max:"86400" default:"10"`
	// how many seconds an oracle's answer may take to begin, and be silent; 0: not set
	Timeout int `name:"timeout" env:"LLM_TIMEOUT_SECONDS" min:"0" max:"3600"`
}

// OracleTimeouts returns the timeouts of models that answer as oracles: the set value, else the usual one for local
// models and 30 s for hosted ones (requirement 2).
func (c Config) OracleTimeouts() Timeouts {
	t := c.Timeouts
	t.Start, t.Silence = 30*time.Second, 30*time.Second
	if set := time.Duration(c.Council.Timeout) * time.Second; set > 0 {
		t.Start, t.Silence, t.LocalStart, t.LocalSilence = set, set, set, set
	}
	return t
}

// Inquiry holds the settings of the Inquiry (requirement 4, Configuration).
type Inquiry struct {
	// the folder of the sessions' files; "": inquiries/sessions in the folder for data
	Sessions string `name:"sessions" env:"SIBYL_INQUIRIES" as:"path"`
	// how many questions are asked by default
	Limit   int    `name:"limit" env:"SIBYL_INQUIRY_LIMIT" min:"5" max:"20" default:"10"`
	Witness string `name:"witness" env:"SIBYL_WITNESS" as:"whole model"` // where nobody names one; "" for none
	// finds passages of documents by their meaning; "": words alone are searched
	Embeddings string `name:"embeddings" env:"SIBYL_INQUIRY_EMBEDDINGS" as:"whole model"`
}

// SessionsOf returns an owner's folder of Council sessions; the person at this machine gets the set one itself.
func (c Config) SessionsOf(owner string, person bool) string {
	return c.folderOf(c.Council.Sessions, "sessions", owner, person)
}

// CouncilFolder returns the folder that holds the Council sessions of all owners, and the name of its setting.
func (c Config) CouncilFolder() (folder, setting string) {
	if c.Council.Sessions != "" {
		return c.Council.Sessions, "council.sessions, SIBYL_SESSIONS"
	}
	return c.DataDir, "the data folder, SIBYL_DATA"
}

// InquiriesOf returns an owner's folder of inquiries; the person at this machine gets the set one itself.
func (c Config) InquiriesOf(owner string, person bool) string {
	return c.folderOf(c.Inquiry.Sessions, filepath.Join("inquiries", "sessions"), owner, person)
}

// folderOf returns an owner's folder below the set folder, or else below the usual one in the data folder.
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
