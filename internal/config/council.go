package config

import "time"

// Council is how the Council is set up (requirement 2, Configuration).
type Council struct {
	Sessions    string // the folder of sessions; "": sessions in the folder for data
	Oracles     string // the folder of oracles; "": those that are built in
	Placeholder string // what stands for the context in an oracle's file
	CacheTTL    int    // for how many seconds the list of oracles is taken for what it was, 0 to 86,400
	Timeout     int    // how many seconds an oracle's answer may take to begin, and be silent, 1 to 3600; 0: not set
}

// usualOracleTimeout is how long a hosted model may take to begin, and be silent, where nothing is set (requirement 2).
const usualOracleTimeout = 30 * time.Second

func defaultCouncil() Council { return Council{Placeholder: "{{CONTEXT}}", CacheTTL: 10} }

// SessionsOf is the folder of the sessions of the Council that belong to an owner: of the person at this machine the set one itself.
func (c Config) SessionsOf(owner string, person bool) string {
	return c.folderOf(c.Council.Sessions, "sessions", owner, person)
}

// OracleTimeouts are the waits for models that answer as oracles. A value that is set wins; else those of local models stay as they are.
func (c Config) OracleTimeouts() Timeouts {
	t := c.Timeouts
	if set := time.Duration(c.Council.Timeout) * time.Second; set > 0 {
		t.Start, t.Silence, t.LocalStart, t.LocalSilence = set, set, set, set
		return t
	}
	t.Start, t.Silence = usualOracleTimeout, usualOracleTimeout
	return t
}

func councilSettings() []setting[Config] {
	of := func(c *Config) *Council { return &c.Council }
	return []setting[Config]{
		path("council.sessions", "SIBYL_SESSIONS", func(c *Config) *string { return &of(c).Sessions }),
		path("council.oracles", "ORACLES_DIR", func(c *Config) *string { return &of(c).Oracles }),
		field("council.placeholder", "ORACLE_PLACEHOLDER", func(c *Config) *string { return &of(c).Placeholder }, value.line),
		field("council.cache_ttl", "ORACLE_CACHE_TTL", func(c *Config) *int { return &of(c).CacheTTL }, number(0, 86_400)),
		field("council.timeout", "LLM_TIMEOUT_SECONDS", func(c *Config) *int { return &of(c).Timeout }, number(0, 3600)),
	}
}
