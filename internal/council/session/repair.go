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

// Finding is something that Repair found.
type Finding struct {
	Mend Mend   `json:"mend"`
	File string `json:"file,omitempty"` // in the session's folder
	Text string `json:"text"`           // in words
}

// Report is what Repair found. Without findings the session is whole.
type Report struct {
	Findings []Finding `json:"findings"`
	Changed  bool      `json:"changed"` // something was written or removed
}

// repairing is a repair in progress.
type repairing struct {
	*held
	store   *Store
	ctx     context.Context
	report  Report
	changed bool // metadata.json is to be written
	added   bool // something was taken in that was said
}

// Repair makes a session whole: files that metadata.json does not tell of are taken in, those that are missing are named, temporary files older than an
// hour and recordings that nobody has gone on with for a week go, and a metadata.json that can't be read is kept aside and rebuilt. A healthy session stays as it is, to the byte.
func (s *Store) Repair(ctx context.Context, id string) (Report, error) {
	if err := ctx.Err(); err != nil {
		return Report{}, err
	}
	root, err := s.find(id)
	if err != nil {
		return Report{}, err
	}
	unlock, err := s.lock(ctx, root, id, "repairing it")
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	if root, err = s.find(id); err != nil {
		return Report{}, err
	}
	m, before, err := s.load(root, id)
	damaged, isDamaged := errors.AsType[*Damaged](err)
	if err != nil && !isDamaged {
		return Report{}, err
	}
	r := &repairing{held: &held{Session: &m, root: root}, store: s, ctx: ctx}
	if isDamaged {
		if err := r.begin(id, damaged); err != nil {
			return Report{}, fmt.Errorf("repairing session %s: %w", id, err)
		}
	}
	for _, mend := range []func() error{r.values, r.leftovers, r.audio, r.transcripts, r.responses, r.missing} {
		if err := errors.Join(ctx.Err(), mend()); err != nil {
			return Report{}, fmt.Errorf("repairing session %s: %w", id, err)
		}
	}
	r.settle(isDamaged)
	if !r.changed {
		return r.report, nil
	}
	r.report.Changed = true
	if err := s.save(r.held, before); err != nil {
		return Report{}, fmt.Errorf("repairing session %s: %w", id, err)
	}
	return r.report, nil
}

func (r *repairing) found(mend Mend, file, format string, args ...any) {
	r.report.Findings = append(r.report.Findings, Finding{mend, file, fmt.Sprintf(format, args...)})
}

// begin keeps a damaged metadata.json aside and begins another.
func (r *repairing) begin(id string, damaged *Damaged) error {
	at, _, _ := parseID(id)
	*r.Session = Session{ID: id, State: Collecting, CreatedAt: at}
	r.Defaults()
	r.changed = true
	if _, err := r.root.Lstat(r.in(metadataFile)); errors.Is(err, fs.ErrNotExist) {
		r.found(Rebuilt, metadataFile, "it was missing, and is made anew from the files")
		return nil
	}
	aside := "metadata.damaged.json"
	for n := 2; ; n++ {
		if _, err := r.root.Lstat(r.in(aside)); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return err
		}
		aside = fmt.Sprintf("metadata.damaged_%02d.json", n)
	}
	if err := r.store.at("keep aside"); err != nil {
		return err
	}
	if err := r.root.Rename(r.in(metadataFile), r.in(aside)); err != nil {
		return err
	}
	r.found(Rebuilt, metadataFile, "it %s; it is kept as %s, and made anew from the files", damaged.Reason, aside)
	return syncFolder(r.root, r.ID)
}

// values corrects what can't be: an id that is not the folder's, sequences that are no sequences or another's.
func (r *repairing) values() error {
	if r.other {
		r.found(Corrected, metadataFile, "session_id was “%s”, which is not the name of the folder", short(r.said))
		r.changed = true
	}
	next, err := r.nextEntry()
	if err != nil {
		return err
	}
	seen := map[int]bool{}
	for i := range r.Audio {
		if e := &r.Audio[i]; e.Sequence < 1 || seen[e.Sequence] {
			r.found(Corrected, metadataFile, "entry %d of the list had the sequence %d, and has %d", i+1, e.Sequence, next)
			e.Sequence, r.changed = next, true
			next++
		}
		seen[r.Audio[i].Sequence] = true
	}
	if next, err = r.nextAnswer(); err != nil {
		return err
	}
	seen = map[int]bool{}
	for i := range r.Answers {
		if e := &r.Answers[i]; e.Sequence < 1 || seen[e.Sequence] {
			r.found(Corrected, metadataFile, "answer %d of the list had the sequence %d, and has %d", i+1, e.Sequence, next)
			e.Sequence, r.changed = next, true
			next++
		}
		seen[r.Answers[i].Sequence] = true
	}
	return nil
}

// leftovers removes temporary files that are too old to be somebody's.
func (r *repairing) leftovers() error {
	for _, folder := range []string{".", audioFolder, transcriptFolder, responseFolder} {
		infos, err := files.List(r.root, r.in(folder))
		if ifThere(err) != nil {
			return err
		}
		for _, info := range infos {
			name := info.Name()
			if !strings.HasPrefix(name, ".") || !strings.HasSuffix(name, tempSuffix) || !info.Mode().IsRegular() ||
				r.store.c.Now().Sub(info.ModTime()) <= leftover {
				continue
			}
			if err := ifThere(r.root.Remove(r.in(folder, name))); err != nil {
				return err
			}
			r.report.Changed = true
			r.found(Removed, path.Join(folder, name), "it was left by a write that a crash cut short")
		}
	}
	r.store.clearDeliveries(r.root, r.ID, func(d Delivery) {
		r.report.Changed = true
		r.found(Removed, path.Join(audioFolder, deliveryFolder, d.ID), "nobody has gone on with this recording for a week")
	})
	return nil
}

// strangers are the files of a folder that metadata.json does not tell of. What is no file is left.
func (r *repairing) strangers(folder string) (all []fs.FileInfo, err error) {
	infos, err := r.list(folder)
	for _, info := range infos {
		switch {
		case r.known(folder, info.Name()):
		case info.Mode().IsRegular():
			all = append(all, info)
		default:
			r.found(Left, path.Join(folder, info.Name()), "it is no file")
		}
	}
	return all, err
}

// audio takes in audio files.
func (r *repairing) audio() error {
	infos, err := r.strangers(audioFolder)
	if err != nil {
		return err
	}
	for _, info := range infos {
		if err := r.takeAudio(info); err != nil {
			return err
		}
	}
	return nil
}

func (r *repairing) takeAudio(info fs.FileInfo) error {
	name, file := info.Name(), path.Join(audioFolder, info.Name())
	if info.Size() == 0 {
		r.found(Left, file, "it is empty")
		return nil
	}
	sum, err := hashFile(r.root, r.in(file))
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(r.Audio, func(e AudioEntry) bool { return e.File != "" && e.Checksum == sum }); i >= 0 {
		r.found(Left, file, "entry %d has the same content", r.Audio[i].Sequence)
		return nil
	}
	u := &upload{store: r.store, root: r.root, temp: r.in(file), label: name}
	err = u.probe(r.ctx)
	if refused, ok := errors.AsType[*Invalid](err); ok {
		r.found(Left, file, "%v", refused)
		return nil
	}
	if err != nil {
		return err
	}
	e := AudioEntry{
		ReceivedAt: info.ModTime().UTC().Truncate(time.Millisecond), File: name, Size: info.Size(), Seconds: u.facts.Seconds,
		Status: Pending, Checksum: sum, Silent: u.facts.Silent,
	}
	sequence, rest, ok := numberOf(name)
	if ok && strings.HasPrefix(rest, "audio.") && r.entry(sequence) == nil {
		e.Sequence = sequence
	} else {
		e.Original = label(name)
		if e.Sequence, err = r.nextEntry(); err != nil {
			return err
		}
		e.File = fmt.Sprintf("%03d_audio.%s", e.Sequence, u.facts.Ending)
		if err := rename(r.root, r.in(file), r.in(audioFolder, e.File)); err != nil {
			return err
		}
		if err := syncFolder(r.root, r.in(audioFolder)); err != nil {
			return err
		}
	}
	r.take(e)
	r.found(TakenIn, path.Join(audioFolder, e.File), "it is entry %d, and waits to be transcribed", e.Sequence)
	return nil
}

// take adds an entry in the order of sequences.
func (r *repairing) take(e AudioEntry) {
	at := slices.IndexFunc(r.Audio, func(o AudioEntry) bool { return o.Sequence > e.Sequence })
	if at < 0 {
		at = len(r.Audio)
	}
	r.Audio = slices.Insert(r.Audio, at, e)
	r.changed, r.added = true, true
}

// transcripts gives transcripts to the entries of their sequence. One without an entry is words that were typed in.
func (r *repairing) transcripts() error {
	infos, err := r.strangers(transcriptFolder)
	if err != nil {
		return err
	}
	for _, info := range infos {
		file := path.Join(transcriptFolder, info.Name())
		sequence, rest, ok := numberOf(info.Name())
		if !ok || !strings.HasPrefix(rest, "audio") || !strings.HasSuffix(rest, ".txt") {
			r.found(Left, file, "its name does not look like 001_audio.txt")
			continue
		}
		text, err := readText(r.root, r.in(file))
		if err != nil {
			r.found(Left, file, "it can't be read as a text")
			continue
		}
		e := r.entry(sequence)
		switch {
		case e == nil:
			r.take(AudioEntry{
				Sequence: sequence, ReceivedAt: info.ModTime().UTC().Truncate(time.Millisecond), Size: info.Size(), Status: Success,
				Transcript: info.Name(), Checksum: files.Hash([]byte(text)),
			})
			r.found(TakenIn, file, "it is entry %d: words without audio", sequence)
		case e.Transcript != "":
			r.found(Left, file, "entry %d has a transcript, %s", sequence, short(e.Transcript))
			continue
		default:
			e.Transcript, e.Status, e.Error, r.changed = info.Name(), Success, "", true
			r.found(TakenIn, file, "it is the transcript of entry %d", sequence)
		}
		r.nameFrom(text)
	}
	return nil
}

// responses takes in answers whose names tell their sequence and oracle.
func (r *repairing) responses() error {
	infos, err := r.strangers(responseFolder)
	if err != nil {
		return err
	}
	for _, info := range infos {
		file := path.Join(responseFolder, info.Name())
		sequence, rest, ok := numberOf(info.Name())
		slug, isText := strings.CutSuffix(rest, ".txt")
		switch {
		case !ok || !isText || slug == "" || !utf8.ValidString(slug):
			r.found(Left, file, "its name does not look like 001_cetico.txt")
			continue
		case r.answer(sequence) != nil:
			r.found(Left, file, "there is another answer %d", sequence)
			continue
		}
		e := LlmEntry{Sequence: sequence, CreatedAt: info.ModTime().UTC().Truncate(time.Millisecond), OracleName: slug, File: info.Name()}
		at := slices.IndexFunc(r.Answers, func(o LlmEntry) bool { return o.Sequence > sequence })
		if at < 0 {
			at = len(r.Answers)
		}
		r.Answers = slices.Insert(r.Answers, at, e)
		r.changed = true
		r.found(TakenIn, file, "it is answer %d, of “%s”; what it was told is not known", sequence, short(slug))
	}
	return nil
}

// missing names the files that entries tell of and that are not there.
func (r *repairing) missing() error {
	look := func(folder, name, whose string, sequence int) error {
		if name == "" {
			return nil
		}
		if err := checkFile(name); err != nil {
			r.found(Missing, folder, "%s %d: %v", whose, sequence, err)
			return nil
		}
		_, err := r.root.Lstat(r.in(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			r.found(Missing, path.Join(folder, name), "%s %d tells of it", whose, sequence)
			return nil
		}
		return err
	}
	for _, e := range r.Audio {
		if err := errors.Join(look(audioFolder, e.File, "entry", e.Sequence), look(transcriptFolder, e.Transcript, "entry", e.Sequence)); err != nil {
			return err
		}
	}
	for _, e := range r.Answers {
		if err := look(responseFolder, e.File, "answer", e.Sequence); err != nil {
			return err
		}
	}
	return nil
}

// settle gives the session a state that fits what it holds.
func (r *repairing) settle(rebuilt bool) {
	_, known := transitions[r.State]
	switch {
	case !known || rebuilt:
		was := r.State
		r.State = r.fitting()
		if !known {
			r.found(Corrected, metadataFile, "the state was “%s”, which is not known; it is %s", short(string(was)), r.State)
			r.changed = true
		}
	case r.added:
		r.follow(Add)
	}
}

// fitting is the state of a session that holds what this one does.
func (s *Session) fitting() State {
	transcribed := slices.ContainsFunc(s.Audio, func(e AudioEntry) bool { return e.Status == Success })
	switch {
	case s.pending() || !transcribed && len(s.Answers) == 0:
		return Collecting
	case slices.ContainsFunc(s.Audio, func(e AudioEntry) bool { return e.Status == Failure }):
		return Failed
	case len(s.Answers) > 0 && len(s.beside(s.Answers[len(s.Answers)-1].Context)) == 0:
		return Ready
	}
	return Transcribed
}
