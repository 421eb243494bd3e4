// Package evaldata embeds the labelled sets of this folder; README.md says how they were made and how to read them.
package evaldata

import "embed"

// Names of the sets of labelled queries in Files.
const (
	Queries        = "queries.jsonl"
	PersonaQueries = "queries_personas.jsonl"
)

// Files holds the sets.
//
//go:embed *.jsonl
var Files embed.FS
