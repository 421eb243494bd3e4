package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
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

// did says whether one of these was done.
func (r *Report) did(mends ...Mend) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return slices.Contains(mends, f.Mend) })
}

// repairing is a repair in progress.
type repairing struct {
	*held
	ctx context.Context
	Report
}

// Repair rebuilds a session from its folder: files that metadata.json does not tell of are taken in, those that are missing are named, temporary files
// older than an hour go, and a metadata.json that can't be read is kept aside and made anew. A healthy session stays as it is, to the byte.
func (s *Store) Repair(ctx context.Context, id string) (Report, error) {
	root, unlock, err := s.hold(ctx, id, "repairing it")
	if err != nil {
		return Report{}, err
	}
	defer unlock()
	m, before, err := s.load(root, id)
	damaged, isDamaged := errors.AsType[*Damaged](err)
	if err != nil && !isDamaged {
		return Report{}, err
	}
	r := &repairing{held: &held{Session: &m, store: s, root: root}, ctx: ctx}
	err = nil
	if isDamaged {
		err = r.begin(id, damaged)
	}
	for _, mend := range []func() error{r.leftovers, r.files, r.missing} {
		if err == nil {
			err = errors.Join(ctx.Err(), mend())
		}
	}
	if err == nil {
		r.settle(isDamaged)
		r.Changed = r.did(TakenIn, Removed, Rebuilt, Corrected)
	}
	if err == nil && r.did(TakenIn, Rebuilt, Corrected) {
		slices.SortStableFunc(r.Audio, func(a, b AudioEntry) int { return a.Sequence - b.Sequence })
		slices.SortStableFunc(r.Answers, func(a, b LlmEntry) int { return a.Sequence - b.Sequence })
		r.made = nil // what has its name keeps it
		err = r.save(before)
	}
	if err != nil {
		return Report{}, doingIn(id, "repairing it", err)
	}
	return r.Report, nil
}

func (r *repairing) found(mend Mend, file, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{mend, file, fmt.Sprintf(format, args...)})
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
	if err != nil {
		return err
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

// leftovers removes temporary files that are too old to be somebody's.
func (r *repairing) leftovers() error {
	for _, folder := range []string{".", audioFolder, transcriptFolder, responseFolder} {
		infos, err := files.List(r.root, r.in(folder))
		if ifThere(err) != nil {
			return err
		}
		for _, info := range infos {
			name, age := info.Name(), r.store.c.Now().Sub(info.ModTime())
			if !strings.HasPrefix(name, ".") || !strings.HasSuffix(name, tempSuffix) || !info.Mode().IsRegular() || age <= leftover {
				continue
			}
			if err := ifThere(r.root.Remove(r.in(folder, name))); err != nil {
				return err
			}
			r.found(Removed, path.Join(folder, name), "it was left by a write that a crash cut short")
		}
	}
	return nil
}

// files takes in what metadata.json does not tell of. What can't be taken in is left, and why is said.
func (r *repairing) files() error {
	for _, of := range []struct {
		folder string
		take   func(file string, info fs.FileInfo, sequence int, rest string) (left string, err error)
	}{{audioFolder, r.audio}, {transcriptFolder, r.transcript}, {responseFolder, r.response}} {
		infos, err := r.list(of.folder)
		if err != nil {
			return err
		}
		for _, info := range infos {
			if r.known(of.folder, info.Name()) {
				continue
			}
			file, left := path.Join(of.folder, info.Name()), "it is no file"
			if info.Mode().IsRegular() {
				sequence, rest, _ := numberOf(info.Name())
				if left, err = of.take(file, info, sequence, rest); err != nil {
					return err
				}
			}
			if left != "" {
				r.found(Left, file, "%s", left)
			}
		}
	}
	return nil
}

func (r *repairing) audio(file string, info fs.FileInfo, sequence int, rest string) (left string, err error) {
	if info.Size() == 0 {
		return "it is empty", nil
	}
	u := &upload{store: r.store, root: r.root, temp: r.in(file), label: info.Name(), size: info.Size()}
	if u.checksum, err = hashFile(r.root, u.temp); err != nil {
		return "", err
	}
	if same, err := r.same(u, false); same != nil || err != nil {
		return fmt.Sprintf("entry %d has the same content", same.Sequence), err
	}
	err = u.probe(r.ctx)
	if refused, ok := errors.AsType[*Invalid](err); ok {
		return refused.Error(), nil
	}
	if err != nil {
		return "", err
	}
	e := AudioEntry{
		Sequence: sequence, ReceivedAt: kept(info.ModTime()), File: info.Name(), Size: u.size, Seconds: u.facts.Seconds,
		Status: Pending, Checksum: u.checksum, Silent: u.facts.Silent,
	}
	if !strings.HasPrefix(rest, "audio.") || r.Entry(sequence) != nil {
		e.Original = label(info.Name())
		if e.Sequence, err = r.next(false); err != nil {
			return "", err
		}
		e.File = fmt.Sprintf("%03d_audio.%s", e.Sequence, u.facts.Ending)
		if err := r.rename(u.temp, e.File); err != nil {
			return "", err
		}
	}
	r.Audio = append(r.Audio, e)
	r.follow(Add)
	r.found(TakenIn, path.Join(audioFolder, e.File), "it is entry %d, and waits to be transcribed", e.Sequence)
	return "", nil
}

// transcript gives a text to the entry of its sequence. Without an entry it is words that were typed in.
func (r *repairing) transcript(file string, info fs.FileInfo, sequence int, rest string) (left string, err error) {
	if !strings.HasPrefix(rest, "audio") || !strings.HasSuffix(rest, ".txt") {
		return "its name does not look like 001_audio.txt", nil
	}
	text, err := readText(r.root, r.in(file))
	if err != nil {
		return "it can't be read as a text", nil //nolint:nilerr // that is told
	}
	switch e := r.Entry(sequence); {
	case e == nil:
		r.Audio = append(r.Audio, AudioEntry{
			Sequence: sequence, ReceivedAt: kept(info.ModTime()), Size: info.Size(), Status: Success,
			Transcript: info.Name(), Checksum: files.Hash([]byte(text)),
		})
		r.follow(Add)
		r.found(TakenIn, file, "it is entry %d: words without audio", sequence)
	case e.Transcript != "":
		return fmt.Sprintf("entry %d has a transcript, %s", sequence, short(e.Transcript)), nil
	default:
		e.Transcript, e.Status, e.Error = info.Name(), Success, ""
		r.found(TakenIn, file, "it is the transcript of entry %d", sequence)
	}
	r.nameFrom(text)
	return "", nil
}

// response takes in an answer whose name tells its sequence and oracle.
func (r *repairing) response(file string, info fs.FileInfo, sequence int, rest string) (left string, err error) {
	slug, isText := strings.CutSuffix(rest, ".txt")
	switch {
	case sequence == 0 || !isText || slug == "" || !utf8.ValidString(slug):
		return "its name does not look like 001_cetico.txt", nil
	case r.Response(sequence) != nil:
		return fmt.Sprintf("there is another answer %d", sequence), nil
	}
	r.Answers = append(r.Answers, LlmEntry{Sequence: sequence, CreatedAt: kept(info.ModTime()), OracleName: slug, File: info.Name()})
	r.found(TakenIn, file, "it is answer %d, of “%s”; what it was told is not known", sequence, short(slug))
	return "", nil
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
		}
		return ifThere(err)
	}
	var failed error
	for _, e := range r.Audio {
		failed = errors.Join(failed, look(audioFolder, e.File, "entry", e.Sequence), look(transcriptFolder, e.Transcript, "entry", e.Sequence))
	}
	for _, e := range r.Answers {
		failed = errors.Join(failed, look(responseFolder, e.File, "answer", e.Sequence))
	}
	return failed
}

// settle gives the session a state that there is, and its id.
func (r *repairing) settle(rebuilt bool) {
	if r.other {
		r.found(Corrected, metadataFile, "session_id was “%s”, which is not the name of the folder", short(r.said))
	}
	was := r.State
	if _, known := transitions[was]; !known || rebuilt {
		r.State = r.fitting()
	}
	if _, known := transitions[was]; !known {
		r.found(Corrected, metadataFile, "the state was “%s”, which is not known; it is %s", short(string(was)), r.State)
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
