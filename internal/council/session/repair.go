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
	Kept      Mend = "left"      // a file that stays as it is, since Repair can't tell what it is
)

// temporaryAge is how old a temporary file is that nobody can be writing any more.
const temporaryAge = time.Hour

// Finding is one thing in a folder that differs from metadata.json.
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

type repairJob struct {
	*lockedSession
	Report
}

// Repair rebuilds a session from its folder. Files that metadata.json does not name become entries, missing ones are
// reported, temporary files older than an hour are removed, and a metadata.json that can't be read is kept aside and
// made anew. A state that is unknown, or Ready though a recording FAILED, and a session_id that is not the folder's are
// corrected. A healthy session stays as it
// is, to the byte.
func (s *Store) Repair(ctx context.Context, id string) (Report, error) {
	root, unlock, err := s.lockSession(ctx, id, "repairing it")
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	m, before, err := s.load(root, id)
	r := &repairJob{lockedSession: &lockedSession{Session: &m, store: s, root: root}}
	damaged, isDamaged := errors.AsType[*Damaged](err)
	if isDamaged {
		err = r.replaceMetadata(id, damaged)
	}
	for _, folder := range []string{".", audioFolder, transcriptFolder, responseFolder} {
		if err == nil {
			err = errors.Join(ctx.Err(), r.removeTemporary(folder), r.adoptFiles(folder))
		}
	}
	if err == nil {
		err = r.reportMissing()
	}
	if was := m.State; err == nil && (isDamaged || !was.isKnown()) {
		m.State = m.stateByContents()
		if !was.isKnown() {
			r.report(Corrected, metadataFile, "the state was “%s”, which is not known; it is %s",
				shortened(string(was)), m.State)
		}
	}
	if err == nil && m.State == Ready && m.hasStatus(Failure) {
		m.State = m.stateByContents()
		r.report(Corrected, metadataFile, "the state was READY, and a recording could not be transcribed; it is %s", m.State)
	}
	if m.misnamed {
		r.report(Corrected, metadataFile, "session_id was “%s”, which is not the name of the folder", shortened(m.namedID))
	}
	written := func(f Finding) bool { return f.Mend == TakenIn || f.Mend == Rebuilt || f.Mend == Corrected }
	if err == nil && slices.ContainsFunc(r.Findings, written) {
		slices.SortStableFunc(m.Audio, func(a, b AudioEntry) int { return a.Sequence - b.Sequence })
		slices.SortStableFunc(m.Answers, func(a, b LlmEntry) int { return a.Sequence - b.Sequence })
		err = r.save(before)
	}
	if err != nil {
		return Report{}, errorWhile(id, "repairing it", err)
	}
	return r.Report, nil
}

func (r *repairJob) report(mend Mend, file, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{mend, file, fmt.Sprintf(format, args...)})
	r.Changed = r.Changed || mend != Missing && mend != Kept
}

// replaceMetadata keeps a damaged metadata.json aside and starts with an empty session.
func (r *repairJob) replaceMetadata(id string, damaged *Damaged) error {
	at, _, _ := ParseID(id)
	*r.Session = Session{}
	r.Defaults()
	r.ID, r.State, r.CreatedAt = id, Collecting, at
	if _, err := r.root.Lstat(r.fileName(metadataFile)); errors.Is(err, fs.ErrNotExist) {
		r.report(Rebuilt, metadataFile, "it was missing, and is made anew from the files")
		return nil
	}
	aside, err := freeName(r.root, r.ID, "metadata.damaged.json", "metadata.damaged_%02d.json")
	if err == nil {
		err = r.store.reachStep("keep aside")
	}
	if err == nil {
		err = r.root.Rename(r.fileName(metadataFile), r.fileName(aside))
	}
	if err != nil {
		return err
	}
	r.report(Rebuilt, metadataFile, "it %s; it is kept as %s, and made anew from the files", damaged.Reason, aside)
	return syncFolder(r.root, r.ID)
}

// removeTemporary removes temporary files that are too old to be in use.
func (r *repairJob) removeTemporary(folder string) error {
	infos, err := files.List(r.root, r.fileName(folder))
	for _, info := range infos {
		name := info.Name()
		old := r.store.c.Now().Sub(info.ModTime()) > temporaryAge
		if !old || !strings.HasPrefix(name, ".") || !strings.HasSuffix(name, tempSuffix) || !info.Mode().IsRegular() {
			continue
		}
		if err := ignoreMissing(r.root.Remove(r.fileName(folder, name))); err != nil {
			return err
		}
		r.report(Removed, path.Join(folder, name), "it was left by a write that a crash cut short")
	}
	return ignoreMissing(err)
}

// adoptFiles makes entries of the files that metadata.json does not name. A file that can't be one stays, and the
// reason is reported.
func (r *repairJob) adoptFiles(folder string) error {
	adopt := map[string]func(info fs.FileInfo, sequence int, rest string) (entry, whyNot string){
		audioFolder: r.adoptAudio, transcriptFolder: r.adoptTranscript, responseFolder: r.adoptResponse}[folder]
	if adopt == nil {
		return nil
	}
	infos, err := r.listFiles(folder)
	for _, info := range infos {
		if r.isListed(folder, info.Name()) {
			continue
		}
		entry, whyNot := "", "it is no file"
		if info.Mode().IsRegular() {
			sequence, rest, _ := splitSequence(info.Name())
			entry, whyNot = adopt(info, sequence, rest)
		}
		if file := path.Join(folder, info.Name()); whyNot != "" {
			r.report(Kept, file, "%s", whyNot)
		} else {
			r.report(TakenIn, file, "it is %s", entry)
		}
	}
	return err
}

// adoptAudio makes an entry of a recording, and says which; or it says why not.
func (r *repairJob) adoptAudio(info fs.FileInfo, sequence int, rest string) (entry, whyNot string) {
	sum, err := hashFile(r.root, r.fileName(audioFolder, info.Name()))
	switch {
	case !strings.HasPrefix(rest, "audio."):
		return "", "its name does not look like 001_audio.ogg; ‘sibyl council add FILE’ adds a recording"
	case info.Size() == 0:
		return "", "it is empty"
	case r.Entry(sequence) != nil:
		return "", fmt.Sprintf("there is another entry %d", sequence)
	case err != nil:
		return "", "it can't be read"
	}
	r.Audio = append(r.Audio, AudioEntry{Sequence: sequence, ReceivedAt: storedTime(info.ModTime()), File: info.Name(),
		Size: info.Size(), Status: Pending, Checksum: sum})
	r.markAdded()
	return fmt.Sprintf("entry %d, and waits to be transcribed", sequence), ""
}

// adoptTranscript gives a text to the entry of its sequence. Without an entry it becomes one: words that were typed in.
func (r *repairJob) adoptTranscript(info fs.FileInfo, sequence int, rest string) (entry, whyNot string) {
	text, err := readText(r.root, r.fileName(transcriptFolder, info.Name()))
	e := r.Entry(sequence)
	switch {
	case !strings.HasPrefix(rest, "audio") || !strings.HasSuffix(rest, ".txt"):
		return "", "its name does not look like 001_audio.txt"
	case err != nil:
		return "", "it can't be read as a text"
	case e != nil && e.Transcript != "":
		return "", fmt.Sprintf("entry %d has a transcript, %s", sequence, shortened(e.Transcript))
	}
	r.nameFrom(text)
	if e != nil {
		e.Transcript, e.Status, e.Error, e.Code = info.Name(), Success, "", ""
		return fmt.Sprintf("the transcript of entry %d", sequence), ""
	}
	r.Audio = append(r.Audio, AudioEntry{Sequence: sequence, ReceivedAt: storedTime(info.ModTime()), Size: info.Size(),
		Status: Success, Transcript: info.Name(), Checksum: files.Hash([]byte(text))})
	r.markAdded()
	return fmt.Sprintf("entry %d: words without audio", sequence), ""
}

// adoptResponse makes an answer of a file whose name gives its sequence and oracle.
func (r *repairJob) adoptResponse(info fs.FileInfo, sequence int, rest string) (entry, whyNot string) {
	slug, isText := strings.CutSuffix(rest, ".txt")
	switch {
	case sequence == 0 || !isText || slug == "" || !utf8.ValidString(slug):
		return "", "its name does not look like 001_cetico.txt"
	case r.Response(sequence) != nil:
		return "", fmt.Sprintf("there is another answer %d", sequence)
	}
	r.Answers = append(r.Answers, LlmEntry{Sequence: sequence, CreatedAt: storedTime(info.ModTime()), OracleName: slug,
		File: info.Name()})
	return fmt.Sprintf("answer %d, of “%s”; what it was told is not known", sequence, shortened(slug)), ""
}

func (r *repairJob) reportMissing() (failed error) {
	check := func(folder, name, whose string, sequence int) {
		if name == "" {
			return
		}
		if err := checkFile(name); err != nil {
			r.report(Missing, folder, "%s %d: %v", whose, sequence, err)
			return
		}
		_, err := r.root.Lstat(r.fileName(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			r.report(Missing, path.Join(folder, name), "%s %d tells of it", whose, sequence)
		}
		failed = errors.Join(failed, ignoreMissing(err))
	}
	for _, e := range r.Audio {
		check(audioFolder, e.File, "entry", e.Sequence)
		check(transcriptFolder, e.Transcript, "entry", e.Sequence)
	}
	for _, e := range r.Answers {
		check(responseFolder, e.File, "answer", e.Sequence)
	}
	return failed
}

// stateByContents is the state that fits the entries and answers.
func (s *Session) stateByContents() State {
	switch {
	case s.hasStatus(Pending) || !s.hasStatus(Success) && len(s.Answers) == 0:
		return Collecting
	case !s.hasStatus(Failure) && len(s.Answers) > 0 && len(s.entriesOutside(s.Answers[len(s.Answers)-1].Context)) == 0:
		return Ready
	}
	return s.Ended()
}
