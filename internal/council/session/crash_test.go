package session

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
)

// deed is something that changes a session, as tests do, fail and kill it.
type deed struct {
	before func(t testing.TB, s *Store, id string) // what the session is given first
	do     func(s *Store, id string) error
	// done wants the session as it is when the deed was done once.
	done func(t testing.TB, s *Store, id string)
	// repeats says that doing it again after Repair changes nothing more. Words typed in are other words each time.
	repeats bool
}

func deeds() map[string]deed {
	ctx := background()
	entries := func(n, answers int) func(t testing.TB, s *Store, id string) {
		return func(t testing.TB, s *Store, id string) {
			t.Helper()
			m := assert.Must(s.Get(t.Context(), id))(t)
			same(t, "entries and answers", []int{len(m.Audio), len(m.Answers)}, []int{n, answers})
		}
	}
	none := func(testing.TB, *Store, string) {}
	return map[string]deed{
		"audio": {none, func(s *Store, id string) error {
			_, err := s.AddAudio(ctx, id, "memo.ogg", strings.NewReader("sound"+strings.Repeat("x", 100_000)))
			return err
		}, entries(1, 0), true},
		"text file": {none, func(s *Store, id string) error {
			_, err := s.AddAudio(ctx, id, "memo.txt", strings.NewReader("written words"))
			return err
		}, entries(1, 0), true},
		"text": {none, func(s *Store, id string) error {
			_, err := s.AddText(ctx, id, "words")
			return err
		}, entries(1, 0), false},
		"transcript": {func(t testing.TB, s *Store, id string) {
			add(t, s, id, "sound")
		}, func(s *Store, id string) error {
			_, err := s.SaveTranscript(ctx, id, Transcript{Sequence: 1, Text: "heard", By: "w"})
			return err
		}, func(t testing.TB, s *Store, id string) {
			same(t, "transcript", assert.Must(s.Transcript(t.Context(), id, 1))(t), "heard")
		}, true},
		"failure": {func(t testing.TB, s *Store, id string) {
			add(t, s, id, "sound")
		}, func(s *Store, id string) error {
			_, err := s.FailTranscript(ctx, id, 1, bt.Because("no answer"))
			return err
		}, func(t testing.TB, s *Store, id string) {
			same(t, "attempts", assert.Must(s.Get(t.Context(), id))(t).Audio[0].Attempts, 1)
		}, true},
		"answer": {func(t testing.TB, s *Store, id string) {
			assert.Must(s.AddText(t.Context(), id, "words"))(t)
		}, func(s *Store, id string) error {
			_, err := s.SaveResponse(ctx, id, answer("op", "doubts"))
			return err
		}, entries(1, 1), true},
		"name": {none, func(s *Store, id string) error {
			_, err := s.Rename(ctx, id, "a name", ByPerson)
			return err
		}, func(t testing.TB, s *Store, id string) {
			same(t, "name", assert.Must(s.Get(t.Context(), id))(t).Name, "a name")
		}, true},
		"repair": {func(t testing.TB, s *Store, id string) {
			add(t, s, id, "sound 1")
			put(t, s.path(id, audioFolder, "002_audio.ogg"), "sound by hand")
			put(t, s.path(id, metadataFile), "{")
		}, func(s *Store, id string) error {
			_, err := s.Repair(ctx, id)
			return err
		}, entries(2, 0), true},
	}
}

// stepsOf names the steps of a deed.
func stepsOf(t *testing.T, d deed) (all []string) {
	t.Helper()
	s, id := begun(t)
	d.before(t, s, id)
	s.step = func(name string) error {
		all = append(all, name)
		return nil
	}
	assert.NoError(t, d.do(s, id))
	s.step = nil
	d.done(t, s, id)
	return all
}

func TestADiskThatIsFullAtAnyStepLeavesTheSessionAsItWas(t *testing.T) {
	for name, d := range deeds() {
		for i, step := range stepsOf(t, d) {
			if step == "wrote "+metadataFile { // then it is done
				continue
			}
			failure := []error{syscall.ENOSPC, syscall.EROFS}[i%2]
			t.Run(fmt.Sprintf("%s/%d %s/%v", name, i, step, failure), func(t *testing.T) {
				t.Parallel()
				s, id := begun(t)
				d.before(t, s, id)
				before, n := tree(t, s.path(id)), 0
				s.step = func(string) error {
					if n++; n == i+1 {
						return &os.PathError{Op: "write", Path: "somewhere", Err: failure}
					}
					return nil
				}
				err := d.do(s, id)
				assert.That(t, errors.Is(err, failure) && strings.Contains(err.Error(), id),
					"%v, want one of session %s that says “%v”", err, id, failure)
				s.step = nil
				if name == "repair" { // which has kept metadata.json aside
					assert.Must(s.Repair(t.Context(), id))(t)
				} else {
					same(t, "files", tree(t, s.path(id)), before)
				}
				err = d.do(s, id)
				assert.That(t, err == nil, "when there is room again: %v", err)
				d.done(t, s, id)
			})
		}
	}
}

func TestASessionIsBegunWholeOrNotAtAll(t *testing.T) {
	for i := range 2 {
		s, n := open(t, t.TempDir()), 0
		s.step = func(string) error {
			if n++; n == i+1 {
				return syscall.ENOSPC
			}
			return nil
		}
		_, err := s.New(t.Context(), "", "")
		assert.That(t, errors.Is(err, syscall.ENOSPC), "step %d: %v", i, err)
		same(t, "files", names(tree(t, s.folder)), nil)
		all, skipped, err := s.List(t.Context())
		same(t, "list", []any{len(all), len(skipped), err}, []any{0, 0, nil})
	}
}

func TestADeletionThatFailsLeavesTheSession(t *testing.T) {
	s, id := full(t)
	before := tree(t, s.path(id))
	s.step = func(name string) error {
		if name == "move to trash" {
			return syscall.EROFS
		}
		return nil
	}
	_, err := s.Delete(t.Context(), id)
	assert.That(t, errors.Is(err, syscall.EROFS), "%v", err)
	same(t, "files", tree(t, s.path(id)), before)
}

func TestANewMetadataIsNotLostInTheShadowOfAnOldOne(t *testing.T) {
	// What reads while somebody writes sees the old session or the new one.
	s, id := begun(t)
	done := make(chan error, 1)
	go func() {
		var err error
		for i := range 30 {
			_, one := s.AddText(background(), id, fmt.Sprint("words ", i))
			err = errors.Join(err, one)
		}
		done <- err
	}()
	last := 0
	for {
		select {
		case err := <-done:
			assert.Nil(t, err)
			same(t, "entries", len(wantWhole(t, s, id).Audio), 30)
			return
		default:
		}
		m := assert.Must(s.Get(t.Context(), id))(t)
		assert.Require(t, len(m.Audio) >= last, "%d entries after %d", len(m.Audio), last)
		last = len(m.Audio)
	}
}
