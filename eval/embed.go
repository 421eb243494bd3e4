// Package evaldata embeds the labelled sets of this folder; README.md says how they were made and how to read them. No
// program of a release imports it.
package evaldata

import "embed"

// Names of the sets in Files.
const (
	Queries         = "queries.jsonl"
	PersonaQueries  = "queries_personas.jsonl"
	EverydayQueries = "queries_everyday.jsonl"
	HeldQueries     = "training/held" // a folder of lessons that nothing is learned from
	TaskDialogues   = "tasks.jsonl"
	TasksOfAnother  = "tasks/tasks-x.jsonl" // all of them may be looked at
	Inquiries       = "inquiries.jsonl"
	Sittings        = "sittings.jsonl"
	OracleQuestions = "oracle/questions.jsonl"
	Misbehaving     = "oracle/misbehaving.jsonl"
	OracleGolden    = "oracle/golden.txt"
	OracleVault     = "oracle/vault" // a folder of notes
	FindSets        = "find/*.jsonl"
	FindOpen        = "find/open/*.jsonl" // all of their questions may be looked at
	FindNotes       = "find"              // the folder that holds folders of notes
	Lessons         = "training"          // what the classifier learns from
)

// The repository that the Oracle's questions are about, as Go's module cache has it.
const (
	OracleModule  = "github.com/pressly/goose/v3"
	OracleVersion = "v3.28.0"
)

// Files holds the sets, and what the classifier learns from.
//
//go:embed *.jsonl find oracle tasks training
var Files embed.FS
