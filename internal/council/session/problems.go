package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// oracleIDLength is how many characters the id of an oracle has.
const oracleIDLength = 8

// Problems names what in a session breaks the rules of its form, in words. Exists says whether the session has a file ("llm_responses/001_cetico.txt");
// oracle whether there is an oracle of an id. Either may be nil: then that is not asked.
func (s *Session) Problems(exists func(file string) bool, oracle func(id string) bool) []string {
	p := problems{exists: exists, oracle: oracle}
	if _, _, ok := parseID(s.ID); !ok {
		p.add("session_id “%s” is none; it would look like 2025-12-20_10-30-00", short(s.ID))
	}
	if s.other {
		p.add("session_id is “%s” in the file, and the folder is called %s", short(s.said), s.ID)
	}
	if _, known := transitions[s.State]; !known {
		p.add("state “%s” is not known", short(string(s.State)))
	}
	seen := map[int]bool{}
	for i, e := range s.Audio {
		p.entry(fmt.Sprintf("audio_entries[%d]", i), e, seen)
	}
	seen = map[int]bool{}
	for i, e := range s.Answers {
		p.answer(fmt.Sprintf("llm_entries[%d]", i), e, seen)
	}
	return p.all
}

type problems struct {
	exists, oracle func(string) bool
	all            []string
}

func (p *problems) add(format string, args ...any) {
	p.all = append(p.all, fmt.Sprintf(format, args...))
}

func (p *problems) sequence(where string, n int, seen map[int]bool) {
	switch {
	case n < 1:
		p.add("%s.sequence is %d; sequences begin with 1", where, n)
	case seen[n]:
		p.add("%s.sequence is %d, as that of another entry", where, n)
	}
	seen[n] = true
}

// file checks a name, and that there is such a file.
func (p *problems) file(where, folder, name string) {
	if err := checkFile(name); err != nil {
		p.add("%s: %v", where, err)
		return
	}
	if p.exists != nil && !p.exists(path.Join(folder, name)) {
		p.add("%s: %s is missing", where, path.Join(folder, name))
	}
}

func (p *problems) count(where string, n int) {
	if n < 0 {
		p.add("%s is %d; it can't be less than 0", where, n)
	}
}

func (p *problems) entry(where string, e AudioEntry, seen map[int]bool) {
	p.sequence(where, e.Sequence, seen)
	if e.ReceivedAt.IsZero() {
		p.add("%s.received_at is missing", where)
	}
	if e.Size < 0 || e.Seconds != nil && *e.Seconds < 0 {
		p.add("%s: file_size_bytes or duration_seconds is less than nothing", where)
	}
	switch e.Status {
	case Success:
		p.file(where+".transcript_filename", transcriptFolder, e.Transcript)
	case Pending, Failure:
		if e.File == "" {
			p.add("%s has neither audio nor a transcript", where)
		}
	default:
		p.add("%s.transcription_status “%s” is not known", where, short(string(e.Status)))
	}
	if e.File != "" {
		p.file(where+".local_filename", audioFolder, e.File)
	}
}

func (p *problems) answer(where string, e LlmEntry, seen map[int]bool) {
	p.sequence(where, e.Sequence, seen)
	if e.CreatedAt.IsZero() {
		p.add("%s.created_at is missing", where)
	}
	if strings.TrimSpace(e.OracleName) == "" {
		p.add("%s.oracle_name is empty", where)
	}
	switch {
	case e.Kind != "" && e.OracleID == "": // not every comparison is an oracle's
	case utf8.RuneCountInString(e.OracleID) != oracleIDLength:
		p.add("%s.oracle_id “%s” has not %d characters", where, short(e.OracleID), oracleIDLength)
	case p.oracle != nil && !p.oracle(e.OracleID):
		p.add("%s.oracle_id %s is that of no oracle that there is", where, short(e.OracleID))
	}
	if _, rest, ok := numberOf(e.File); !ok || !strings.HasSuffix(rest, ".txt") || rest == ".txt" {
		p.add("%s.response_filename “%s” does not look like 001_cetico.txt", where, short(e.File))
	}
	p.file(where+".response_filename", responseFolder, e.File)
	c := e.Context
	p.count(where+".context_snapshot.transcript_count", c.Transcripts)
	p.count(where+".context_snapshot.llm_response_count", c.Responses)
	if c.TokensEstimate != nil {
		p.count(where+".context_snapshot.total_tokens_estimate", *c.TokensEstimate)
	}
}

// Check names what in a session breaks the rules, its files included. Oracle says whether there is an oracle of an id; nil: that is not asked.
func (s *Store) Check(ctx context.Context, id string, oracle func(id string) bool) ([]string, error) {
	m, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	root, err := s.find(id)
	if err != nil {
		return nil, err
	}
	var broken error
	found := m.Problems(func(file string) bool {
		info, err := root.Lstat(path.Join(id, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			broken = err
		}
		return err == nil && info.Mode().IsRegular()
	}, oracle)
	return found, broken
}
