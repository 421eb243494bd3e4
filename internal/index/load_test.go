package index

import (
	"bytes"
	"testing"
)

func TestWhatIsLoadedIsNotReadFromTheFileAgain(t *testing.T) {
	c := cacheIn(t, t.TempDir())
	build(t, c, "one", "idle conn idle", "conn")
	build(t, c, "two", "idle")
	must(t, c.Read(t.Context(), func(v *View) error { return v.Load() }))
	must(t, c.Read(t.Context(), func(v *View) error {
		v.tx = nil // whoever asks for a row panics
		if err := v.Load(); err != nil {
			return err
		}
		words, places := 0, 0
		if err := v.Words(func(_ uint32, _ int, text []byte) { words += bytes.Count(text, []byte{'\n'}) }); err != nil {
			return err
		}
		for segment, numbers := range map[uint32][]int{1: {0, 1}, 2: {0}} {
			if err := v.Places(segment, numbers, func(int, uint32, uint32) { places++ }); err != nil {
				return err
			}
		}
		if words != 3 || places != 4 {
			t.Errorf("%d words in %d places, want 3 in 4", words, places)
		}
		return nil
	}))
}
