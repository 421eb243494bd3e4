// Package evaldata embeds the labelled sets of this folder; README.md says how they were made and how to read them.
package evaldata

import "embed"

// Names of the sets in Files.
const (
	Queries         = "queries.jsonl"
	PersonaQueries  = "queries_personas.jsonl"
	EverydayQueries = "queries_everyday.jsonl"
	TaskDialogues   = "tasks.jsonl"
	InquiryCases    = "inquiry.jsonl"
	OracleQuestions = "oracle/questions.jsonl"
	Misbehaving     = "oracle/misbehaving.jsonl"
	OracleGolden    = "oracle/golden.json"
	OracleVault     = "oracle/vault" // a folder of notes
	FindSets        = "find/*.jsonl"
	FindOpen        = "find/open/*.jsonl" // all of their questions may be looked at
	FindNotes       = "find"              // the folder that holds folders of notes
)

// The repository that the Oracle's questions are about, as Go's module cache has it.
const (
	OracleModule  = "github.com/pressly/goose/v3"
	OracleVersion = "v3.28.0"
)

// Files holds the sets.
//
//go:embed *.jsonl oracle find
var Files embed.FS
