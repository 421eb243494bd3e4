package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sibyl/internal/files"
)

const (
	// maxSession bounds a session file, in bytes.
	maxSession = 16 << 20
	// stamp is the format of the start time in a file's name: UTC, to the second.
	stamp    = "20060102T150405Z"
	lockFile = ".lock"
	// lockWait is how long a write waits for another one. A write takes milliseconds.
	lockWait = 10 * time.Second
)

// FileName is the name of the file of a session: "session_{id}_{start}.json".
func FileName(s Session) string {
	return filePrefix(s.ID) + s.StartTime.UTC().Format(stamp) + ".json"
}

func filePrefix(id string) string { return "session_" + strings.ToLower(id) + "_" }

// parseName reads the session's id from a file's name; ok says whether it is a session file's name.
func parseName(name string) (id string, ok bool) {
	rest, found := strings.CutPrefix(name, "session_")
	rest, isJSON := strings.CutSuffix(rest, ".json")
	id, start, parts := strings.Cut(rest, "_")
	at, err := time.Parse(stamp, start)
	return id, found && isJSON && parts && isUUID(id) && id == strings.ToLower(id) && err == nil &&
		at.Format(stamp) == start
}

// Invalid is the error of a session that breaks rules.
type Invalid struct {
	ID         string
	Violations []Violation
}

func (e *Invalid) Error() string {
	return fmt.Sprintf("session %s breaks %d of its rules; %s", short(e.ID), len(e.Violations), describe(e.Violations))
}

// describe puts the first violations into words.
func describe(violations []Violation) string {
	const most = 5
	var words []string
	for _, v := range violations[:min(len(violations), most)] {
		words = append(words, v.String())
	}
	if more := len(violations) - most; more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, "; ")
}

// Stale is the error of a write whose state of the session is earlier than the file's.
type Stale struct{ ID, Problem string }

func (e *Stale) Error() string {
	return fmt.Sprintf("session %s is not written: %s; another process has gone on with it", e.ID, e.Problem)
}

// Folder holds the session files of one owner. It is safe for concurrent use, and several processes may use it.
type Folder struct{ path string }

// Open returns the folder at dir. It creates nothing; Write creates the folder.
func Open(dir string) (*Folder, error) {
	if dir == "" {
		return nil, errors.New("no folder is given for the sessions of inquiries")
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("the folder of the sessions of inquiries: %w", err)
	}
	return &Folder{path}, nil
}

// Path is the path of a session's file, for people.
func (f *Folder) Path(s Session) string { return filepath.Join(f.path, FileName(s)) }

// Write writes a session to its file, atomically. Writing the same state again changes nothing. A file that is
// unreadable or invalid is replaced. The error is an *Invalid for a session that breaks rules, and a *Stale if the file
// has a later state; then the file is unchanged.
func (f *Folder) Write(ctx context.Context, s Session) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if broken := s.Validate(); len(broken) > 0 {
		return &Invalid{ID: s.ID, Violations: broken}
	}
	content, err := Marshal(s)
	if err != nil {
		return err
	}
	if len(content) > maxSession {
		return &Invalid{ID: s.ID,
			Violations: []Violation{{Rule: RuleForm, Problem: fmt.Sprintf("it has %d bytes, and a file has %d at most",
				len(content), maxSession)}}}
	}
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return fmt.Errorf("make the folder of the sessions: %w", err)
	}
	root, err := os.OpenRoot(f.path)
	if err != nil {
		return fmt.Errorf("open the folder of the sessions: %w", err)
	}
	defer func() { _ = root.Close() }() // what was written is synced
	unlock, err := files.Lock(ctx, root, lockFile, lockWait)
	if err != nil {
		return fmt.Errorf("write session %s: %w", s.ID, err)
	}
	defer unlock()
	name := FileName(s)
	var before files.File
	if err = files.NoLinks(root, name); err == nil {
		before, err = files.Read(root, name, maxSession)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = checkOnlyFile(root, s.ID, name)
	}
	if err != nil {
		return fmt.Errorf("write session %s: %w", s.ID, err)
	}
	if bytes.Equal(before.Content, content) {
		return nil
	}
	if err := checkNotStale(before, s); err != nil {
		return err
	}
	if err := files.Write(root, name, content, 0o600); err != nil {
		return fmt.Errorf("write session %s: %w", s.ID, err)
	}
	return nil
}

// checkNotStale returns a *Stale if a file holds a later state of the session.
func checkNotStale(before files.File, s Session) error {
	if !before.Exists() || before.Cut {
		return nil
	}
	was, err := Unmarshal(before.Content)
	if err != nil || len(was.Validate()) > 0 {
		return nil //nolint:nilerr // what can't be used is replaced
	}
	switch {
	case len(was.Pairs) > len(s.Pairs):
		return &Stale{s.ID, fmt.Sprintf("its file has %d pairs, and this state has %d", len(was.Pairs), len(s.Pairs))}
	case was.Status != Running && !was.Resumable && was.Status != s.Status:
		return &Stale{s.ID, fmt.Sprintf("its file says that it is %s, and this state says %s", was.Status, s.Status)}
	}
	return nil
}

// checkOnlyFile fails if the session already has a file with another name.
func checkOnlyFile(root *os.Root, id, name string) error {
	names, err := sessionFiles(root, id)
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("it has a file already, %s, which says that it began at another time than %s", names[0], name)
	}
	return err
}

// sessionFiles lists the files of a session, in order.
func sessionFiles(root *os.Root, id string) ([]string, error) {
	folder, err := root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	defer func() { _ = folder.Close() }() // nothing was written through it
	entries, err := folder.ReadDir(-1)    // which asks nothing of the files themselves
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if of, ok := parseName(entry.Name()); ok && entry.Type().IsRegular() && of == strings.ToLower(id) {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}
