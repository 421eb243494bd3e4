package main

import (
	"database/sql"
	"encoding"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
	"sibyl/internal/files"
	"sibyl/internal/inquiry"
	"sibyl/internal/inquiry/record"
	"sibyl/internal/journal"
	"sibyl/internal/oracle"
	records "sibyl/internal/run"
	"sibyl/internal/taskchat"
)

// keepJournals has TestThereIsAKeptJournalOfThisFormat write one where it is missing.
var keepJournals = flag.Bool("keep-journals", false,
	"write journals of this build's format to testdata/journals, if there are none")

// formatFile describes the format of the journals beside it. Those of builds that had no such description have none.
const formatFile = "format.txt"

// The kinds of records, with what is kept in each.
var recordTypes = map[string]reflect.Type{
	records.KindStart: reflect.TypeFor[records.StartRecord](), records.KindMark: reflect.TypeFor[records.MarkRecord](),
	records.KindCompletion: reflect.TypeFor[records.CompletionRecord](),
	records.KindTime:       reflect.TypeFor[records.TimeRecord](),
	records.KindCancel:     reflect.TypeFor[records.CancelRecord](),
	records.KindStopped:    reflect.TypeFor[records.StoppedRecord](),
	records.KindSuspend:    reflect.TypeFor[records.SuspendRecord](),
	records.KindLeave:      reflect.TypeFor[records.LeaveRecord](),
	records.KindResume:     reflect.TypeFor[records.ResumeRecord](),
	records.KindTrace:      reflect.TypeFor[records.TraceStep](),
	records.KindEnd:        reflect.TypeFor[records.EndRecord](),
}

// What assistants keep beside receipts: what a run is begun on, what comes of it, what lists show of it, and the files
// that follow from runs.
var keptTypes = map[string]reflect.Type{
	"oracle env": reflect.TypeFor[oracle.Env](), "oracle outcome": reflect.TypeFor[oracle.Answer](),
	"oracle summary": reflect.TypeFor[oracle.Exchange](),
	"council env":    reflect.TypeFor[council.Env](), "council outcome": reflect.TypeFor[council.Outcome](),
	"council summary": reflect.TypeFor[council.Turn](),
	"council file":    reflect.TypeFor[session.Session](),
	"inquiry env":     reflect.TypeFor[inquiry.Env](), "inquiry outcome": reflect.TypeFor[inquiry.Outcome](),
	"inquiry summary": reflect.TypeFor[inquiry.Item](),
	"inquiry file":    reflect.TypeFor[record.Session](),
	"tasks env":       reflect.TypeFor[taskchat.Env](), "tasks outcome": reflect.TypeFor[taskchat.AgentResponse](),
	"tasks summary":  reflect.TypeFor[taskchat.Turn](),
	"tasks question": reflect.TypeFor[taskchat.Question](),
}

// form tells types apart by what their JSON has.
type form struct {
	told map[reflect.Type]bool
	text strings.Builder
}

// root describes what is kept under a name.
func (f *form) root(name string, t reflect.Type) { fmt.Fprintf(&f.text, "%s: %s\n", name, f.of(t)) }

// of is what a type is called. A struct is described once, with its fields.
func (f *form) of(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[json.RawMessage]():
		return "json"
	case t.Kind() == reflect.Pointer:
		return f.of(t.Elem())
	case t.Implements(reflect.TypeFor[json.Marshaler]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()):
		return t.String()
	case t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		return "text"
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "bytes"
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Array:
		return "[]" + f.of(t.Elem())
	case t.Kind() == reflect.Map:
		return "map[" + f.of(t.Key()) + "]" + f.of(t.Elem())
	case t.Kind() == reflect.Struct:
		f.fields(t)
		return t.String()
	}
	return t.Kind().String()
}

// fields describes those of a struct, and of what is embedded in it.
func (f *form) fields(t reflect.Type) {
	if f.told[t] {
		return
	}
	f.told[t] = true
	var lines []string
	for _, field := range reflect.VisibleFields(t) {
		tag := field.Tag.Get("json")
		if field.IsExported() && !field.Anonymous && tag != "-" {
			name, options, _ := strings.Cut(tag, ",")
			if name == "" {
				name = field.Name
			}
			lines = append(lines, fmt.Sprintf("\t%s %s %s\n", name, f.of(field.Type), options))
		}
	}
	fmt.Fprintf(&f.text, "type %s\n%s", t, strings.Join(lines, ""))
}

// comments are what a description leaves out of the statements of tables.
const comments = `--[^\n]*`

// journalFormat describes all that this build writes to a journal, and what a step of the Oracle decides by that no
// record holds, so that two builds with one description read each other's, and replay them alike.
func journalFormat(t *testing.T) string {
	t.Helper()
	data := t.TempDir()
	cfg, err := config.Load(config.Options{Environ: []string{"SIBYL_DATA=" + data, "HOME=" + data, "XDG_CONFIG_HOME=" +
		data}})
	assert.NoError(t, err)
	a := assert.Must(app.Open(t.Context(), cfg, app.Options{Build: "test"}))(t)
	defer func() { assert.Nil(t, a.Close()) }()
	f := &form{told: map[reflect.Type]bool{}}
	for _, t := range []reflect.Type{reflect.TypeFor[journal.Session](), reflect.TypeFor[journal.Run](),
		reflect.TypeFor[journal.Pending](), reflect.TypeFor[journal.Tombstone]()} {
		f.of(t)
	}
	for _, kind := range slices.Sorted(maps.Keys(recordTypes)) {
		f.root("record "+kind, recordTypes[kind])
	}
	all := a.Engine.Assistants()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, kind := range slices.Sorted(maps.Keys(all[name].Effects)) {
			payload, result := all[name].Effects[kind].Types()
			f.root(fmt.Sprintf("%s, payload of %s", name, kind), payload)
			f.root(fmt.Sprintf("%s, receipt of %s", name, kind), result)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(keptTypes)) {
		f.root(name, keptTypes[name])
	}
	weights := assert.Must(os.ReadFile(filepath.FromSlash("../../internal/oracle/classify/classify.weights")))(t)
	return f.text.String() + tablesOf(t, app.DatabaseFile(data)) + "the classifier: " + files.Hash(weights) + "\n"
}

// tablesOf are the statements that make the tables of a database.
func tablesOf(t *testing.T, file string) string {
	t.Helper()
	db := assert.Must(sql.Open("sqlite", "file:"+file))(t)
	defer func() { _ = db.Close() }() // only read
	rows, err := db.QueryContext(t.Context(), `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name`)
	assert.NoError(t, err)
	defer func() { _ = rows.Close() }() // only read
	var all strings.Builder
	for rows.Next() {
		var statement string
		assert.NoError(t, rows.Scan(&statement))
		statement = regexp.MustCompile(comments).ReplaceAllString(statement, "")
		fmt.Fprintln(&all, strings.Join(strings.Fields(statement), " "))
	}
	assert.NoError(t, rows.Err())
	return all.String()
}

// TestThereIsAKeptJournalOfThisFormat fails for a build that writes what no kept journal has: whoever changes the
// format keeps one of it, beside those of earlier formats, which stay as they are.
func TestThereIsAKeptJournalOfThisFormat(t *testing.T) {
	format := journalFormat(t)
	folders := keptFolders(t)
	newest := ""
	for _, folder := range folders {
		text, err := os.ReadFile(filepath.Join(folder, formatFile))
		if err == nil && string(text) == format {
			return
		}
		if err == nil {
			newest = string(text)
		}
	}
	if *keepJournals {
		writeJournals(t, nextFolder(folders), format)
		return
	}
	t.Errorf("the format of the journal has changed, and no journal of it is kept. Commit what it is meant to be, then\n"+
		"\tgo test ./cmd/sibyl -run TestThereIsAKeptJournalOfThisFormat -keep-journals\n"+
		"and commit the folder that this makes in testdata/journals. The folders before it stay: they show that "+
		"earlier journals are read.\n"+
		"What is not as in the last one (-kept +this build):\n%s", cmp.Diff(strings.Split(newest, "\n"),
		strings.Split(format, "\n")))
}

// TestChangeOfAFormatIsNoticed: a field, its name or its type make another format.
func TestChangeOfAFormatIsNoticed(t *testing.T) {
	type inner struct{ A int }
	described := func(typ reflect.Type) string {
		f := &form{told: map[reflect.Type]bool{}}
		f.root("x", typ)
		return strings.ReplaceAll(f.text.String(), typ.String(), "TYPE")
	}
	type one struct {
		A string `json:"a"`
		B inner
	}
	type renamed struct {
		A string `json:"b"`
		B inner
	}
	type retyped struct {
		A int `json:"a"`
		B inner
	}
	type more struct {
		A string `json:"a"`
		B inner
		C io.Reader
	}
	type Part struct{ D int }
	type embedding struct {
		A string `json:"a"`
		B inner
		Part
	}
	first := described(reflect.TypeFor[one]())
	assert.That(t, first == described(reflect.TypeFor[one]()) && strings.Contains(first, "A int"), "it says %q", first)
	for _, other := range []reflect.Type{reflect.TypeFor[renamed](), reflect.TypeFor[retyped](),
		reflect.TypeFor[more](), reflect.TypeFor[embedding]()} {
		assert.That(t, described(other) != first, "%s is taken for the same", other)
	}
}
