package agent

import (
	"testing"

	"pgregory.net/rapid"
)

// TestWhatIsVolatileIsLookedForOnlyWhereItMayBe compares masking by lines, with the look before it, to masking the whole text.
func TestWhatIsVolatileIsLookedForOnlyWhereItMayBe(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"12:30", "1:02:03.5 pm", "2024-01-02", "2024-01-02T10:11:12.5+01:00", "1700000000", "1700000000123", "12 ms", "3.5s", "7µs", "8 µs ago",
			"4 minutes ago", "Mon, 3 Jan 2024", "tuesday 12 october 2024", "deadbeef-cafe-babe-face-deadbeefcaf1", "0x0123456789abcdef", "abcdefabcde1", "5 ſ", " ", "\n", "x", "-", ":"}),
		rapid.StringMatching(`[0-9a-f]{1,14}`), rapid.StringMatching(`[0-9]{1,3} ?[a-zA-Z]{1,4}`), rapid.StringMatching(`[ -~]{0,8}`))
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for _, p := range rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces") {
			text += p
		}
		if got, want := maskClock(text), maskLine(text); got != want {
			t.Fatalf("%q became %q, want %q", text, got, want)
		}
	})
}
