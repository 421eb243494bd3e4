// Package evaldata embeds the labelled sets of this folder; README.md says how they were made and how to read them.
package evaldata

import (
	"archive/zip"
	_ "embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"
)

// Names of the sets in Files.
const (
	Queries         = "queries.jsonl"
	PersonaQueries  = "queries_personas.jsonl"
	EverydayQueries = "queries_everyday.jsonl"
	TaskDialogues   = "tasks.jsonl"
	TasksOfAnother  = "tasks/tasks-x.jsonl" // all of them may be looked at
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
var Files fs.FS = files{}

// packed is an archive of the sets: they are text, and take a fifth of their size in it.
//
//go:generate go test -count=1 -run "^TestTheSetsArePacked$" . -update
//go:embed sets.zip
var packed string

var unpacked = sync.OnceValue(func() *zip.Reader {
	r, err := zip.NewReader(strings.NewReader(packed), int64(len(packed)))
	if err != nil {
		panic(fmt.Sprintf("eval/sets.zip: %v", err)) // a test holds it to be whole
	}
	return r
})

type files struct{}

// Open implements fs.FS.
func (files) Open(name string) (fs.File, error) { return unpacked().Open(name) }
