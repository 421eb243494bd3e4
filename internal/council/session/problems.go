package session

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// oracleIDLength is how many characters the id of an oracle has.
const oracleIDLength = 8

// Check describes every inconsistency in a session's metadata and files, for people; it changes nothing. oracle reports
// whether an oracle with this id exists; nil skips that check.
func (s *Store) Check(ctx context.Context, id string, oracle func(id string) bool) ([]string, error) {
	m, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	root, err := s.rootWith(id)
	if err != nil {
		return nil, err
	}
	var broken error
	found := m.problems(func(file string) bool {
		info, err := root.Lstat(path.Join(id, file))
		broken = errors.Join(broken, ignoreMissing(err))
		return err == nil && info.Mode().IsRegular()
	}, oracle)
	return found, broken
}

// problems is Check without the disk. exists reports whether the session has a file ("llm_responses/001_cetico.txt").
func (s *Session) problems(exists, oracle func(string) bool) (all []string) {
	wrong := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	sequence := func(where string, n int, seen map[int]bool) {
		wrong(n < 1, "%s.sequence is %d; sequences begin with 1", where, n)
		wrong(n > 0 && seen[n], "%s.sequence is %d, as that of another entry", where, n)
		seen[n] = true
	}
	file := func(where, folder, name string) {
		err := checkFile(name)
		wrong(err != nil, "%s: %v", where, err)
		wrong(err == nil && !exists(path.Join(folder, name)), "%s: %s is missing", where, path.Join(folder, name))
	}
	wrong(s.misnamed, "session_id is “%s” in the file, and the folder is called %s", shortened(s.namedID), s.ID)
	wrong(!s.State.isKnown(), "state “%s” is not known", shortened(string(s.State)))
	seen := map[int]bool{}
	for i, e := range s.Audio {
		where := fmt.Sprintf("audio_entries[%d]", i)
		waits := e.Status == Pending || e.Status == Failure
		sequence(where, e.Sequence, seen)
		wrong(e.ReceivedAt.IsZero(), "%s.received_at is missing", where)
		wrong(e.Size < 0 || e.Seconds != nil && *e.Seconds < 0,
			"%s: file_size_bytes or duration_seconds is less than nothing", where)
		wrong(!waits && e.Status != Success, "%s.transcription_status “%s” is not known", where,
			shortened(string(e.Status)))
		wrong(waits && e.File == "", "%s has neither audio nor a transcript", where)
		if e.Status == Success {
			file(where+".transcript_filename", transcriptFolder, e.Transcript)
		}
		if e.File != "" {
			file(where+".local_filename", audioFolder, e.File)
		}
	}
	seen = map[int]bool{}
	for i, e := range s.Answers {
		where := fmt.Sprintf("llm_entries[%d]", i)
		c, tokens := e.Context, 0
		if c.TokensEstimate != nil {
			tokens = *c.TokensEstimate
		}
		byOracle := e.Kind == "" || e.OracleID != "" // a chair's answer may have no oracle
		hasForm := utf8.RuneCountInString(e.OracleID) == oracleIDLength
		_, rest, numbered := splitSequence(e.File)
		sequence(where, e.Sequence, seen)
		wrong(e.CreatedAt.IsZero(), "%s.created_at is missing", where)
		wrong(strings.TrimSpace(e.OracleName) == "", "%s.oracle_name is empty", where)
		wrong(byOracle && !hasForm, "%s.oracle_id “%s” has not %d characters", where, shortened(e.OracleID), oracleIDLength)
		wrong(byOracle && hasForm && oracle != nil && !oracle(e.OracleID),
			"%s.oracle_id %s is that of no oracle that there is", where, shortened(e.OracleID))
		wrong(!numbered || !strings.HasSuffix(rest, ".txt") || rest == ".txt",
			"%s.response_filename “%s” does not look like 001_cetico.txt", where, shortened(e.File))
		file(where+".response_filename", responseFolder, e.File)
		wrong(c.Transcripts < 0 || c.Responses < 0 || tokens < 0, "%s.context_snapshot: a count is less than 0", where)
	}
	return all
}
