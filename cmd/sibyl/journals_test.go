package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/cli"
	runs "sibyl/internal/run"
)

// journalsFolder holds journals that builds of Sibyl have written: a folder for each format, in the order of their
// numbers, and in it an archive for each play.
const journalsFolder = "testdata/journals"

// The folders of a story that writes a kept journal: prompts name them, so they are the same on every machine.
const (
	keptRoot  = "/tmp/sibyl-kept-journals"
	keptData  = keptRoot + "/data"
	keptVault = keptRoot + "/vault"
)

// play is a story that leaves a journal with runs in several states. The server of its models is there again when the
// journal is read.
type play struct {
	begin func(t *testing.T) *story
	tell  func(t *testing.T, s *story)
}

func allPlays() map[string]play {
	council := func(t *testing.T) *story { return newThinking(t).story }
	busy := func(t *testing.T) *story {
		d := newDrama(t)
		d.set(t, "{}\n") // with no other model, and no classifier
		return d.story
	}
	return map[string]play{
		"oracle":             {newStory, tellOracle},
		"oracle-long":        {func(t *testing.T) *story { return newDrama(t).story }, tellLong},
		"oracle-suspended":   {busy, tellSuspended},
		"tasks":              {newStory, tellTasks},
		"council":            {council, tellCouncil},
		"inquiry":            {newStory, tellInquiry},
		"inquiry-and-others": {newStory, tellMixed},
	}
}

// tellOracle leaves a run that ended, one that wrote a note, one that was cancelled, and one that a crash interrupted
// before its write.
func tellOracle(t *testing.T, s *story) {
	s.note(t, "greet.go", "package greet\n\n// Greet greets.\nfunc Greet() {}\n")
	s.run(t, "", cli.ExitAnswered, []string{"ask", "--in", s.vault, "How does the Greet function work?"})
	s.run(t, "", cli.ExitAnswered, s.question())
	s.sibyl(t, "3", "ask", "--in", s.vault, "How does the other function work?")
	s.run(t, "", cli.ExitAnswered, []string{"run", "stop", "last"})
	s.sibyl(t, "-4", s.question()...)
}

// tellLong leaves a run with notes, loops and fallbacks that ends with a question, and its shadow.
func tellLong(t *testing.T, s *story) {
	s.run(t, "", cli.ExitPartial, (&drama{story: s}).ask(true))
}

// tellSuspended leaves a run that waits for a model that is down.
func tellSuspended(t *testing.T, s *story) { s.begin(t, "", (&drama{story: s}).ask(false)...)() }

// tellTasks leaves a list, a deletion that was confirmed, one that is asked about, and a message that a crash
// interrupted.
func tellTasks(t *testing.T, s *story) {
	for _, words := range []string{"add buy milk", "add call Ada", "show my tasks", "delete task 1", "yes",
		"delete call Ada"} {
		s.begin(t, "", "chat", "-m", "offline:rules", words)()
	}
	s.sibyl(t, "-1", "chat", "-m", "offline:rules", "--conversation", "new", "add water the plants")
}

// tellCouncil leaves a session with words, a transcript, an answer and a sitting, and a sitting that a crash
// interrupted.
func tellCouncil(t *testing.T, s *story) {
	s.note(t, "memo.wav", string(tone()))
	s.run(t, "", cli.ExitAnswered, []string{"council", "say", "The rent is 3000 euros."})
	s.run(t, "", cli.ExitAnswered, []string{"council", "add", filepath.Join(s.vault, "memo.wav")})
	s.run(t, "", cli.ExitAnswered, []string{"council", "ask", "skeptic"})
	s.run(t, "", cli.ExitAnswered, []string{"council", "ask", "skeptic", "optimist"})
	s.sibyl(t, "-3", "council", "ask", "skeptic", "pragmatist")
}

// tellInquiry leaves an inquiry that ended, and one that a crash interrupted.
func tellInquiry(t *testing.T, s *story) {
	s.note(t, "reports/closure.txt",
		"The bridge was closed on 4 March 2021 because of corrosion. Ada Miller of the city council ordered the "+
			"closure.\n")
	s.note(t, "reports/repair.md", "# Repair\n\nThe repair of the bridge began in May 2021. It cost 40000 euros.\n")
	investigate := []string{"investigate", "--detective", "offline:rules",
		"The bridge was closed because of corrosion.", "--witness", filepath.Join(s.vault, "reports"), "--limit", "6"}
	s.begin(t, "", investigate...)()
	s.begin(t, crashAt+"=-9", investigate...)()
}

// tellMixed leaves a session that was removed, one that was renamed, and runs of several owners.
func tellMixed(t *testing.T, s *story) {
	s.note(t, "greet.go", "package greet\n\n// Greet greets.\nfunc Greet() {}\n")
	s.run(t, "", cli.ExitAnswered, []string{"ask", "--in", s.vault, "How does the Greet function work?"})
	s.run(t, "", cli.ExitAnswered, []string{"session", "rename", "last", "A title"})
	s.run(t, "", cli.ExitAnswered, []string{"chat", "-m", "offline:rules", "--user", "ada", "add buy milk"})
	s.run(t, "", cli.ExitAnswered, []string{"chat", "-m", "offline:rules", "add buy milk"})
	s.run(t, "", cli.ExitAnswered, []string{"session", "delete", "last", "--yes"})
}

// keptFolders are those of all formats, the earliest first.
func keptFolders(t *testing.T) []string {
	t.Helper()
	folders := assert.Must(filepath.Glob(filepath.Join(journalsFolder, "[0-9]*-*")))(t)
	slices.Sort(folders)
	return folders
}

// nextFolder is the folder of a format that comes after these.
func nextFolder(folders []string) string {
	number := 0
	for _, folder := range folders {
		if _, err := fmt.Sscanf(filepath.Base(folder), "%d", &number); err != nil {
			panic(err)
		}
	}
	return filepath.Join(journalsFolder, fmt.Sprintf("%03d-%s", number+1, time.Now().UTC().Format(time.DateOnly)))
}

// writeJournals has every play tell its story, and keeps what it leaves.
func writeJournals(t *testing.T, folder, format string) {
	t.Helper()
	assert.NoError(t, os.MkdirAll(folder, 0o755))
	for name, p := range allPlays() {
		s := p.begin(t)
		for from, to := range map[string]string{s.data: keptData, s.vault: keptVault} {
			assert.NoError(t, os.CopyFS(to, os.DirFS(from)))
		}
		was := s.data
		s.data, s.vault = keptData, keptVault
		s.settings(t, was)
		p.tell(t, s)
		s.settled(t)
		content := packed(t, map[string]string{keptData: s.data, keptVault: s.vault})
		assert.NoError(t, os.RemoveAll(keptRoot))
		assert.NoError(t, os.WriteFile(filepath.Join(folder, name+".tar.gz"), content, 0o644))
	}
	if format == "" {
		return
	}
	assert.NoError(t, os.WriteFile(filepath.Join(folder, formatFile), []byte(format), 0o644))
}

// moves gives the runs that have not ended the folders of this story, so that they can go on. Those that ended are left
// as they are.
func (s *story) moves(t *testing.T) {
	t.Helper()
	db := assert.Must(sql.Open("sqlite", "file:"+app.DatabaseFile(s.data)))(t)
	for from, to := range map[string]string{keptData: s.data, keptVault: s.vault} {
		assert.Must(db.ExecContext(t.Context(), `UPDATE record SET data = CAST(replace(CAST(data AS TEXT), ?, ?) AS BLOB)
			WHERE key >> 24 IN (SELECT no FROM run WHERE status = 'running')`, from, to))(t)
	}
	assert.NoError(t, db.Close())
}

// settled leaves the journal in one file, as small as it can be.
func (s *story) settled(t *testing.T) {
	t.Helper()
	db := assert.Must(sql.Open("sqlite", "file:"+app.DatabaseFile(s.data)))(t)
	for _, statement := range []string{`PRAGMA wal_checkpoint(TRUNCATE)`, `VACUUM`, `PRAGMA wal_checkpoint(TRUNCATE)`} {
		assert.Must(db.ExecContext(t.Context(), statement))(t)
	}
	assert.NoError(t, db.Close())
}

// settings has the settings name the folder for data that the story has, where they named another.
func (s *story) settings(t *testing.T, was string) {
	t.Helper()
	text, err := os.ReadFile(s.settingsFile())
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	assert.NoError(t, err)
	write(t, s.settingsFile(), strings.ReplaceAll(string(text), was, s.data))
}

// packed is an archive of these folders, without settings and what is only for programs that run.
func packed(t *testing.T, folders map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := assert.Must(gzip.NewWriterLevel(&out, gzip.BestCompression))(t)
	archive := tar.NewWriter(zip)
	for to, from := range folders {
		assert.NoError(t, filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
			rel, relErr := filepath.Rel(from, name)
			if err = errors.Join(err, relErr); err != nil || entry.IsDir() ||
				leftOut().MatchString(filepath.ToSlash(rel)) {
				return err
			}
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			head := &tar.Header{Name: path.Join(to, filepath.ToSlash(rel)), Mode: 0o600, Size: int64(len(content))}
			if err := archive.WriteHeader(head); err != nil {
				return err
			}
			_, err = archive.Write(content)
			return err
		}))
	}
	assert.NoError(t, errors.Join(archive.Close(), zip.Close()))
	return out.Bytes()
}

// leftOut are the files that belong to a machine and to programs that run.
var leftOut = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^sibyl/config\.yaml$|-(wal|shm)$|^witness|^oracle\.xml$|(^|/)\.?lock$|^sessions/\.locks/|^\.cache/`)
})

// unpack gives a story the folders of an archive.
func (s *story) unpack(t *testing.T, file string) {
	t.Helper()
	f := assert.Must(os.Open(file))(t)
	defer func() { _ = f.Close() }() // only read
	zip := assert.Must(gzip.NewReader(f))(t)
	for archive := tar.NewReader(zip); ; {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		assert.NoError(t, err)
		content, err := io.ReadAll(archive)
		to := filepath.Join(s.data, strings.TrimPrefix(head.Name, keptData))
		if rel, inVault := strings.CutPrefix(head.Name, keptVault); inVault {
			to = filepath.Join(s.vault, rel)
		}
		assert.NoError(t, errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, content, 0o600)))
	}
	s.moves(t)
}

// reading is what a command said of a kept journal.
type reading struct {
	command  string
	code     int
	out, err string
}

func (r reading) String() string {
	return fmt.Sprintf("sibyl %s exits %d\n%s%s", r.command, r.code, clipped(r.out), r.err)
}

func clipped(text string) string { return text[:min(len(text), 2000)] }

// internals are words of the machinery: of Go, of its libraries and of the database. No person can do anything about
// them.
var internals = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?m)panic|goroutine \d|runtime error|0xc0|%!|\*\w+\.\w+Error\b|cannot unmarshal|(^|[:;] )(unexpected )?EOF$|no such (table|column)|SQL logic|nil pointer|sql:`)
})

// look runs the command line in this process.
func (s *story) look(t *testing.T, args ...string) reading {
	t.Helper()
	var out, errText bytes.Buffer
	ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, fmt.Errorf("sibyl %s has not ended in time",
		strings.Join(args, " ")))
	defer cancel()
	code := cli.Main(ctx, cli.Program{Build: "test"}, args, s.environ(), cli.Streams{In: strings.NewReader(""),
		Out: &out, Err: &errText})
	r := reading{strings.Join(args, " "), code, out.String(), errText.String()}
	assert.That(t, ctx.Err() == nil, "%v: %s", context.Cause(ctx), r)
	found := internals().FindString(r.err)
	assert.That(t, found == "", "“%s” is no word for a person: %s", found, r)
	assert.That(t, code == cli.ExitAnswered || code == cli.ExitPartial || strings.TrimSpace(r.err) != "",
		"it does not say why: %s", r)
	return r
}

// refused says that a command did not do its work, and said so.
func (r reading) refused() bool { return r.code != cli.ExitAnswered && r.code != cli.ExitPartial }

// keptStates are those of runs that must be among the journals of a format.
var keptStates = []string{"oracle satisfied", "oracle needs_user", "oracle cancelled", "oracle interrupted",
	"oracle.shadow satisfied",
	"tasks success", "tasks confirmation_required", "tasks interrupted", "council answered", "council interrupted",
	"council.member interrupted",
	"council.transcription transcribed", "inquiry collected", "inquiry interrupted"}

// TestKeptJournalsAreReadOrRefusedWithAClearMessage looks at the journals of all formats in every way there is, and
// goes on with what was interrupted. Those of this build's format are all read; of those of earlier ones, what this
// build can't fold is refused, by its build.
func TestKeptJournalsAreReadOrRefusedWithAClearMessage(t *testing.T) {
	needs.All(t, "many journals")
	format, ofThis := journalFormat(t), 0
	var mu sync.Mutex
	states := map[string]bool{} // of runs of this format, by assistant
	defer func() {              // when all have been read
		for _, want := range keptStates {
			assert.That(t, t.Failed() || states[want],
				"no journal of this format has a run of %s; there are %q", want, slices.Sorted(maps.Keys(states)))
		}
	}()
	t.Run("of", func(t *testing.T) {
		for _, folder := range keptFolders(t) {
			text, err := os.ReadFile(filepath.Join(folder, formatFile))
			same := err == nil && string(text) == format
			archives, err := filepath.Glob(filepath.Join(folder, "*.tar.gz"))
			assert.Require(t, err == nil && len(archives) != 0, "%s holds no journal: %v", folder, err)
			for _, archive := range archives {
				name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz")
				if same {
					ofThis++
				}
				t.Run(filepath.Base(folder)+"/"+name, func(t *testing.T) {
					t.Parallel()
					p, known := allPlays()[name]
					assert.Require(t, known, "there is no play %q", name)
					s := p.begin(t)
					s.unpack(t, archive)
					for _, r := range s.readWhole(t, same) {
						mu.Lock()
						states[r.Assistant+" "+r.Cause] = states[r.Assistant+" "+r.Cause] || same
						mu.Unlock()
					}
				})
			}
		}
	})
	assert.That(t, ofThis == len(allPlays()),
		"of %d plays, the journals of %d are of this format", len(allPlays()), ofThis)
}

// listed is a run as ‘run list’ has it.
type listed struct {
	ID        string `json:"id"`
	Session   string `json:"session_id"`
	Assistant string `json:"assistant"`
	State     string `json:"state"`
	Cause     string `json:"cause"`
}

func (r listed) ended() bool { return r.State == runs.StateEnded || r.State == runs.StateWaiting }

// readWhole looks at each run and session of a story, resumes what was interrupted, and looks again.
func (s *story) readWhole(t *testing.T, all bool) []listed {
	t.Helper()
	list := s.look(t, "run", "list", "--json", "--limit", "100")
	var runs []listed
	if list.refused() {
		assert.That(t, !all, "it is refused: %s", list)
		t.Logf("refused: %s", strings.TrimSpace(list.err))
		return nil
	}
	err := json.Unmarshal([]byte(list.out), &runs)
	assert.Require(t, err == nil && len(runs) != 0, "%v: %s", err, list)
	s.readRuns(t, runs, all)
	var open []listed
	for _, r := range runs {
		if !r.ended() {
			open = append(open, r)
		}
	}
	if again := s.look(t, "run", "resume"); again.refused() && again.code != cli.ExitFailed || all && len(open) > 0 &&
		strings.Contains(again.err, "no paused runs") {
		t.Errorf("going on: %s", again)
	} else if !all && strings.Contains(again.err, "no paused runs") && len(open) > 0 &&
		!wrongBuild().MatchString(again.err) {
		t.Errorf("going on, it does not say why not: %s", again)
	}
	s.readRuns(t, open, all)
	return runs
}

// wrongBuild is how it is said that this build can't go on with what another one wrote.
var wrongBuild = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`build .* wrote (it|run)|does not load in this build`)
})

// readRuns shows, explains, audits, replays and exports runs.
func (s *story) readRuns(t *testing.T, runs []listed, all bool) {
	t.Helper()
	sessions := map[string]bool{}
	for _, r := range runs {
		commands := [][]string{{"explain", r.ID}, {"replay", r.ID}}
		if r.ended() {
			commands = append(commands, []string{"run", "watch", "--json", r.ID})
		}
		if !sessions[r.Session] {
			sessions[r.Session] = true
			commands = append(commands, []string{"session", "show", r.Session}, []string{"session", "audit", r.Session},
				[]string{"session", "export", "--format", "json", r.Session})
		}
		for _, command := range commands {
			seen := s.look(t, command...)
			what := fmt.Sprintf("run of %s, %s", r.Assistant, r.Cause)
			switch {
			case seen.refused() && all:
				t.Errorf("%s: %s", what, seen)
			case seen.refused() && !wrongBuild().MatchString(seen.err):
				t.Errorf("%s: it does not say that another build wrote it: %s", what, seen)
			case !seen.refused() && seen.out == "":
				t.Errorf("%s: nothing is shown: %s", what, seen)
			case all && command[0] == "replay" && r.ended() && !strings.Contains(seen.out, "all as recorded"):
				t.Errorf("%s: it is replayed otherwise: %s", what, seen)
			}
		}
	}
}
