package journal

import "time"

// Search selects sessions or runs by words. Zero fields but Words select all; Limit 0 means 100.
type Search struct {
	Words []string // all must occur in what KeepWords stored
	// sessions by their titles; else runs by their words, but for those of sessions whose titles have them all
	Titles    bool
	Assistant string
	From, To  time.Time // when the session was last used, or the run started: not before, and before
	After     Cursor
	Limit     int
}

// Found is a session, or with Run a run of it.
type Found struct {
	Session   string
	Run       string
	Assistant string
	Title     string // of the session or the run
	At        time.Time
}

// Wording is the words by which a session or run is found, in the form in which they are searched.
type Wording struct {
	Found
	Words string
}
