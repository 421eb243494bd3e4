package council

import (
	"context"
	"io"
	"os"

	"sibyl/internal/council/session"
	"sibyl/internal/journal"
)

// on does something in the folder of an owner's sessions.
func on[T any](d *Desk, owner journal.Owner, do func(*session.Store) (T, error)) (none T, err error) {
	folder, err := d.Sessions(owner)
	if err != nil {
		return none, err
	}
	return do(folder)
}

// List gives the sessions, the latest first, and those that can't be read. Their states are as they stand; nothing is written.
func (d *Desk) List(ctx context.Context, owner journal.Owner) (all []session.Session, skipped []session.Skipped, err error) {
	all, err = on(d, owner, func(s *session.Store) (all []session.Session, err error) {
		all, skipped, err = s.List(ctx)
		for i := 0; i < len(all) && err == nil; i++ {
			all[i], err = d.asItStands(ctx, owner, all[i])
		}
		return all, err
	})
	return all, skipped, err
}

// asItStands is a session whose transcription, if it has died, has ended as Open would end it.
func (d *Desk) asItStands(ctx context.Context, owner journal.Owner, s session.Session) (session.Session, error) {
	if s.State != session.Transcribing {
		return s, nil
	}
	runs, err := d.JournalSession(ctx, owner, s.ID)
	if err != nil {
		return s, err
	}
	died, err := d.died(ctx, owner, s, runs)
	if died {
		s.State, err = s.Ended()
	}
	return s, err
}

// Find gives the sessions of this id, or whose ids begin so, or whose names have this part, the best first; none is no error.
func (d *Desk) Find(ctx context.Context, owner journal.Owner, query string) ([]session.Session, error) {
	return on(d, owner, func(s *session.Store) ([]session.Session, error) { return s.Find(ctx, query) })
}

// Folder is where the sessions of an owner lie.
func (d *Desk) Folder(owner journal.Owner) (string, error) {
	return on(d, owner, func(s *session.Store) (string, error) { return s.Path(""), nil })
}

// New begins a session. Name and language may be empty: they are found out.
func (d *Desk) New(ctx context.Context, owner journal.Owner, name, language string) (session.Session, error) {
	return on(d, owner, func(s *session.Store) (session.Session, error) { return s.New(ctx, name, language) })
}

// Get gives the session of an id, which is whole, in the state in which it stands; nothing is written.
func (d *Desk) Get(ctx context.Context, owner journal.Owner, id string) (session.Session, error) {
	return on(d, owner, func(s *session.Store) (session.Session, error) {
		found, err := s.Get(ctx, id)
		if err != nil {
			return found, err
		}
		return d.asItStands(ctx, owner, found)
	})
}

// Say adds words, as if they had been said.
func (d *Desk) Say(ctx context.Context, owner journal.Owner, id, text string) (session.AudioEntry, error) {
	return on(d, owner, func(s *session.Store) (session.AudioEntry, error) { return s.AddText(ctx, id, text) })
}

// Add adds a recording, or a text that is a file. original is a label, and never a path.
func (d *Desk) Add(ctx context.Context, owner journal.Owner, id, original string, content io.Reader) (session.Added, error) {
	return on(d, owner, func(s *session.Store) (session.Added, error) { return s.AddAudio(ctx, id, original, content) })
}

// AddPiece keeps a piece of a recording that arrives while it is made.
func (d *Desk) AddPiece(ctx context.Context, owner journal.Owner, id string, p session.Piece) (session.Delivery, error) {
	return on(d, owner, func(s *session.Store) (session.Delivery, error) { return s.AddPiece(ctx, id, p) })
}

// Deliveries are the recordings of a session that have not arrived whole.
func (d *Desk) Deliveries(ctx context.Context, owner journal.Owner, id string) ([]session.Delivery, error) {
	return on(d, owner, func(s *session.Store) ([]session.Delivery, error) { return s.Deliveries(ctx, id) })
}

// Delivery says how far one of them has arrived.
func (d *Desk) Delivery(ctx context.Context, owner journal.Owner, id, delivery string) (session.Delivery, error) {
	return on(d, owner, func(s *session.Store) (session.Delivery, error) { return s.Delivery(ctx, id, delivery) })
}

// Assemble makes a recording of its first pieces, once.
func (d *Desk) Assemble(ctx context.Context, owner journal.Owner, id, delivery string, pieces int, original string) (session.Added, error) {
	return on(d, owner, func(s *session.Store) (session.Added, error) { return s.Assemble(ctx, id, delivery, pieces, original) })
}

// Discard removes its pieces.
func (d *Desk) Discard(ctx context.Context, owner journal.Owner, id, delivery string) error {
	_, err := on(d, owner, func(s *session.Store) (struct{}, error) { return struct{}{}, s.Discard(ctx, id, delivery) })
	return err
}

// Rename gives a session a name by hand, which no other replaces.
func (d *Desk) Rename(ctx context.Context, owner journal.Owner, id, name string) (session.Session, error) {
	return on(d, owner, func(s *session.Store) (session.Session, error) { return s.Rename(ctx, id, name, session.ByPerson) })
}

// Settings are what a person sets of a session. Nil: as it is.
type Settings struct {
	Language          *string // "pt", "en", "de" and so on; "": it is found out
	IncludeLLMHistory *bool
	SimplifiedButtons *bool
}

// Set changes settings of a session.
func (d *Desk) Set(ctx context.Context, owner journal.Owner, id string, set Settings) (session.Session, error) {
	return on(d, owner, func(s *session.Store) (now session.Session, err error) {
		if set.Language != nil {
			if _, err := s.SetLanguage(ctx, id, *set.Language); err != nil {
				return now, err
			}
		}
		if set.IncludeLLMHistory == nil && set.SimplifiedButtons == nil {
			return s.Get(ctx, id)
		}
		return s.Prefer(ctx, id, func(p *session.Preferences) {
			if set.IncludeLLMHistory != nil {
				p.IncludeLLMHistory = *set.IncludeLLMHistory
			}
			if set.SimplifiedButtons != nil {
				p.SimplifiedButtons = *set.SimplifiedButtons
			}
		})
	})
}

// Delete moves a session to the trash folder, and says where that is.
func (d *Desk) Delete(ctx context.Context, owner journal.Owner, id string) (where string, err error) {
	return on(d, owner, func(s *session.Store) (string, error) { return s.Delete(ctx, id) })
}

// TakeBack removes a session in which there is nothing.
func (d *Desk) TakeBack(ctx context.Context, owner journal.Owner, id string) error {
	_, err := on(d, owner, func(s *session.Store) (struct{}, error) { return struct{}{}, s.TakeBack(ctx, id) })
	return err
}

// Search finds words in all that was said and answered.
func (d *Desk) Search(ctx context.Context, owner journal.Owner, words string, most int) ([]session.Hit, error) {
	return on(d, owner, func(s *session.Store) ([]session.Hit, error) { return s.Search(ctx, words, most) })
}

// Transcript is what was heard in a recording, or typed in.
func (d *Desk) Transcript(ctx context.Context, owner journal.Owner, id string, sequence int) (string, error) {
	return on(d, owner, func(s *session.Store) (string, error) { return s.Transcript(ctx, id, sequence) })
}

// Anew has a recording wait that has its transcript, which stays until there is another, unless it was transcribed more often than attempts says.
func (d *Desk) Anew(ctx context.Context, owner journal.Owner, id string, sequence, attempts int) error {
	_, err := on(d, owner, func(s *session.Store) (session.Session, error) { return s.Anew(ctx, id, sequence, attempts) })
	return err
}

// Response is an answer.
func (d *Desk) Response(ctx context.Context, owner journal.Owner, id string, sequence int) (string, error) {
	return on(d, owner, func(s *session.Store) (string, error) { return s.ResponseText(ctx, id, sequence) })
}

// Recording opens a recording. The file is to be closed.
func (d *Desk) Recording(ctx context.Context, owner journal.Owner, id string, sequence int) (f *os.File, e session.AudioEntry, err error) {
	f, err = on(d, owner, func(s *session.Store) (f *os.File, err error) {
		f, e, err = s.OpenAudio(ctx, id, sequence)
		return f, err
	})
	return f, e, err
}
