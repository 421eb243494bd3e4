package council_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/council"
	"sibyl/internal/council/session"
)

func TestWhatIsNoSessionKeepsNoOtherFromBeingRepaired(t *testing.T) {
	h := houseOf(t, "Hm.")
	p := h.process("one", h.journal)
	made := func(err error) {
		t.Helper()
		assert.NoError(t, err)
	}
	damaged := "2020-01-02_00-00-00"
	made(os.Mkdir(filepath.Join(h.folder, damaged), 0o700))
	made(os.Mkdir(filepath.Join(h.folder, "notes"), 0o700))
	made(os.Symlink(t.TempDir(), filepath.Join(h.folder, "2020-01-03_00-00-00")))
	all := assert.Must(p.desk().Repair(t.Context(), nil))(t)
	var repaired []string
	for _, one := range all {
		repaired = append(repaired, one.Session)
	}
	same(t, "sessions", sorted(repaired), []string{damaged, h.id})
}

func TestSessionThatCantBeRepairedKeepsNoOtherFromIt(t *testing.T) {
	h := houseOf(t, "Hm.")
	p := h.process("one", h.journal)
	first, last := "2999-01-02_00-00-00", "2020-01-02_00-00-00"
	for _, id := range []string{first, last} {
		assert.NoError(t, os.Mkdir(filepath.Join(h.folder, id), 0o700))
	}
	assert.NoError(t, os.WriteFile(filepath.Join(h.folder, first, "audio"), []byte("no folder"), 0o600))
	all, err := p.desk().Repair(t.Context(), nil)
	assert.Require(t, err != nil, "it is repaired: %+v", all)
	contains(t, err.Error(), first)
	lacks(t, err.Error(), last)
	same(t, "sessions", len(all), 2)
	same(t, "the damaged one", []any{all[1].Session, all[1].Changed}, []any{last, true})
}

func TestSessionWhoseWholeNameIsTypedIsMeant(t *testing.T) {
	h := newHouse(t)
	p := h.process("one", h.journal)
	office := assert.Must(p.desk().New(t.Context(), "Office", ""))(t)
	assert.Must(p.desk().New(t.Context(), "The new office", ""))(t)
	same(t, "session", assert.Must(p.desk().Open(t.Context(), "office"))(t).ID, office.ID)
	var many *council.AmbiguousError
	_, err := p.desk().Open(t.Context(), "offic")
	assert.That(t, errors.As(err, &many) && len(many.Sessions) == 2, "a part of both names gives %v", err)
}

func TestLatestSessionThatCantBeReadIsNotPassedOver(t *testing.T) {
	h := houseOf(t, "Hm.")
	p := h.process("one", h.journal)
	older, latest := "2020-01-02_00-00-00", "2999-01-02_00-00-00"
	opens := func(id string) error {
		t.Helper()
		assert.NoError(t, os.Mkdir(filepath.Join(h.folder, id), 0o700))
		o, err := p.desk().Open(t.Context(), "")
		if err == nil {
			same(t, "session", o.ID, h.id)
		}
		return err
	}
	err := opens(older)
	assert.That(t, err == nil, "an older one that can't be read: %v", err)
	err = opens("2999-not-a-session")
	assert.That(t, err == nil, "a folder that is no session: %v", err)
	var damaged *session.Damaged
	err = opens(latest)
	assert.That(t, errors.As(err, &damaged) && damaged.ID == latest, "the latest can't be read: %v", err)
}
