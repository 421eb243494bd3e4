package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"sibyl/internal/files"
)

// Mend says what Repair did about a finding.
type Mend string

// What Repair does.
const (
	TakenIn   Mend = "taken in"  // a file became an entry, or the transcript of one
	Missing   Mend = "missing"   // the file of an entry is gone; the entry stays
	Removed   Mend = "removed"   // a temporary file that nobody writes any more
	Rebuilt   Mend = "rebuilt"   // metadata.json was kept aside, and made anew
	Corrected Mend = "corrected" // a value of metadata.json that can't be
	Left      Mend = "left"      // Repair can't tell what it is
)

// leftover is how old a temporary file is that nobody can be writing any more.
const leftover = time.Hour

// Finding is one thing in a folder that is not as metadata.json has it.
type Finding struct {
	Mend Mend   `json:"mend" doc:"What was done about it, in a word."`
	File string `json:"file,omitempty"` // in the session's folder
	Text string `json:"text"`           // in words
}

// Report has no findings if the session is whole.
type Report struct {
	Findings []Finding `json:"findings"`
	Changed  bool      `json:"changed"` // something was written or removed
}

// repairing is a repair in progress.
type repairing struct {
	*held
	Report
}

// Repair rebuilds a session from its folder: files that metadata.json does not tell of are taken in, those that are
// missing are named, temporary files older than an hour go, and a metadata.json that can't be read is kept aside and
// made anew. A state that is not known and a session_id that is not the folder's are corrected. A healthy session stays
// as it is, to the byte.
func (s *Store) Repair(ctx context.Context, id string) (Report, error) {
	root, unlock, err := s.hold(ctx, id, "repairing it")
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	m, before, err := s.load(root, id)
	r := &repairing{held: &held{Session: &m, store: s, root: root}}
	damaged, isDamaged := errors.AsType[*Damaged](err)
	if isDamaged {
		err = r.begin(id, damaged)
	}
	for _, folder := range []string{".", audioFolder, transcriptFolder, responseFolder} {
		if err == nil {
			err = errors.Join(ctx.Err(), r.sweep(folder), r.takeIn(folder))
		}
	}
	if err == nil {
		err = r.missing()
	}
	if was := m.State; err == nil && (isDamaged || !was.known()) {
		m.State = m.fitting()
		if !was.known() {
			r.found(Corrected, metadataFile, "the state was “%s”, which is not known; it is %s",
				short(string(was)), m.State)
		}
	}
	if m.misnamed {
		r.found(Corrected, metadataFile, "session_id was “%s”, which is not the name of the folder", short(m.namedID))
	}
	written := func(f Finding) bool { return f.Mend == TakenIn || f.Mend == Rebuilt || f.Mend == Corrected }
	if err == nil && slices.ContainsFunc(r.Findings, written) {
		slices.SortStableFunc(m.Audio, func(a, b AudioEntry) int { return a.Sequence - b.Sequence })
		slices.SortStableFunc(m.Answers, func(a, b LlmEntry) int { return a.Sequence - b.Sequence })
		err = r.save(before)
	}
	if err != nil {
		return Report{}, doingIn(id, "repairing it", err)
	}
	return r.Report, nil
}

func (r *repairing) found(mend Mend, file, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{mend, file, fmt.Sprintf(format, args...)})
	r.Changed = r.Changed || mend != Missing && mend != Left
}

// begin keeps a damaged metadata.json aside and begins another.
func (r *repairing) begin(id string, damaged *Damaged) error {
	at, _, _ := parseID(id)
	*r.Session = Session{}
	r.Defaults()
	r.ID, r.State, r.CreatedAt = id, Collecting, at
	if _, err := r.root.Lstat(r.in(metadataFile)); errors.Is(err, fs.ErrNotExist) {
		r.found(Rebuilt, metadataFile, "it was missing, and is made anew from the files")
		return nil
	}
	aside, err := unused(r.root, r.ID, "metadata.damaged.json", "metadata.damaged_%02d.json")
	if err == nil {
		err = r.store.at("keep aside")
	}
	if err == nil {
		err = r.root.Rename(r.in(metadataFile), r.in(aside))
	}
	if err != nil {
		return err
	}
	r.found(Rebuilt, metadataFile, "it %s; it is kept as %s, and made anew from the files", damaged.Reason, aside)
	return syncFolder(r.root, r.ID)
}

// sweep removes temporary files that are too old to be somebody's.
func (r *repairing) sweep(folder string) error {
	infos, err := files.List(r.root, r.in(folder))
	for _, info := range infos {
		name := info.Name()
		old := r.store.c.Now().Sub(info.ModTime()) > leftover
		if !old || !strings.HasPrefix(name, ".") || !strings.HasSuffix(name, tempSuffix) || !info.Mode().IsRegular() {
			continue
		}
		if err := ifThere(r.root.Remove(r.in(folder, name))); err != nil {
			return err
		}
		r.found(Removed, path.Join(folder, name), "it was left by a write that a crash cut short")
	}
	return ifThere(err)
}

// takeIn takes in the files of a folder that metadata.json does not tell of. What can't be is left, and why is said.
func (r *repairing) takeIn(folder string) error {
	take := map[string]func(info fs.FileInfo, sequence int, rest string) (what, left string){
		audioFolder: r.audio, transcriptFolder: r.transcript, responseFolder: r.response}[folder]
	if take == nil {
		return nil
	}
	infos, err := r.list(folder)
	for _, info := range infos {
		if r.known(folder, info.Name()) {
			continue
		}
		what, left := "", "it is no file"
		if info.Mode().IsRegular() {
			sequence, rest, _ := numberOf(info.Name())
			what, left = take(info, sequence, rest)
		}
		if file := path.Join(folder, info.Name()); left != "" {
			r.found(Left, file, "%s", left)
		} else {
			r.found(TakenIn, file, "it is %s", what)
		}
	}
	return err
}

func (r *repairing) audio(info fs.FileInfo, sequence int, rest string) (what, left string) {
	sum, err := hashFile(r.root, r.in(audioFolder, info.Name()))
	switch {
	case !strings.HasPrefix(rest, "audio."):
		return "", "its name does not look like 001_audio.ogg; ‘sibyl council add’ adds a recording"
	case info.Size() == 0:
		return "", "it is empty"
	case r.Entry(sequence) != nil:
		return "", fmt.Sprintf("there is another entry %d", sequence)
	case err != nil:
		return "", "it can't be read"
	}
	r.Audio = append(r.Audio, AudioEntry{Sequence: sequence, ReceivedAt: kept(info.ModTime()), File: info.Name(),
		Size: info.Size(), Status: Pending, Checksum: sum})
	r.taken()
	return fmt.Sprintf("entry %d, and waits to be transcribed", sequence), ""
}

// transcript gives a text to the entry of its sequence. Without an entry it is words that were typed in.
func (r *repairing) transcript(info fs.FileInfo, sequence int, rest string) (what, left string) {
	text, err := readText(r.root, r.in(transcriptFolder, info.Name()))
	e := r.Entry(sequence)
	switch {
	case !strings.HasPrefix(rest, "audio") || !strings.HasSuffix(rest, ".txt"):
		return "", "its name does not look like 001_audio.txt"
	case err != nil:
		return "", "it can't be read as a text"
	case e != nil && e.Transcript != "":
		return "", fmt.Sprintf("entry %d has a transcript, %s", sequence, short(e.Transcript))
	}
	r.nameFrom(text)
	if e != nil {
		e.Transcript, e.Status, e.Error, e.Code = info.Name(), Success, "", ""
		return fmt.Sprintf("the transcript of entry %d", sequence), ""
	}
	r.Audio = append(r.Audio, AudioEntry{Sequence: sequence, ReceivedAt: kept(info.ModTime()), Size: info.Size(),
		Status: Success, Transcript: info.Name(), Checksum: files.Hash([]byte(text))})
	r.taken()
	return fmt.Sprintf("entry %d: words without audio", sequence), ""
}

// response takes in an answer whose name tells its sequence and oracle.
func (r *repairing) response(info fs.FileInfo, sequence int, rest string) (what, left string) {
	slug, isText := strings.CutSuffix(rest, ".txt")
	switch {
	case sequence == 0 || !isText || slug == "" || !utf8.ValidString(slug):
		return "", "its name does not look like 001_cetico.txt"
	case r.Response(sequence) != nil:
		return "", fmt.Sprintf("there is another answer %d", sequence)
	}
	r.Answers = append(r.Answers, LlmEntry{Sequence: sequence, CreatedAt: kept(info.ModTime()), OracleName: slug,
		File: info.Name()})
	return fmt.Sprintf("answer %d, of “%s”; what it was told is not known", sequence, short(slug)), ""
}

// missing names the files that entries tell of and that are not there.
func (r *repairing) missing() (failed error) {
	look := func(folder, name, whose string, sequence int) {
		if name == "" {
			return
		}
		if err := checkFile(name); err != nil {
			r.found(Missing, folder, "%s %d: %v", whose, sequence, err)
			return
		}
		_, err := r.root.Lstat(r.in(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			r.found(Missing, path.Join(folder, name), "%s %d tells of it", whose, sequence)
		}
		failed = errors.Join(failed, ifThere(err))
	}
	for _, e := range r.Audio {
		look(audioFolder, e.File, "entry", e.Sequence)
		look(transcriptFolder, e.Transcript, "entry", e.Sequence)
	}
	for _, e := range r.Answers {
		look(responseFolder, e.File, "answer", e.Sequence)
	}
	return failed
}

// fitting is the state of a session that holds what this one does.
func (s *Session) fitting() State {
	switch {
	case s.has(Pending) || !s.has(Success) && len(s.Answers) == 0:
		return Collecting
	case !s.has(Failure) && len(s.Answers) > 0 && len(s.beside(s.Answers[len(s.Answers)-1].Context)) == 0:
		return Ready
	}
	return s.Ended()
}
