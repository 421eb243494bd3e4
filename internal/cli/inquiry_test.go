package cli

import (
	"strings"
	"testing"

	"sibyl/internal/render"
)

func TestInquiryEndsInFifteenRowsOfATerminalOfAnyWidth(t *testing.T) {
	notes := []string{"the session is in ~/.local/share/sibyl/" + strings.Repeat("long/", 20),
		"‘sibyl inquiry show’ shows all of it, ‘sibyl inquiry export --html FILE’ writes it with its evidence"}
	for _, width := range widths {
		c := &command{Streams: Streams{OutTTY: true, Width: width}}
		short := "The verdict.\n\n- a finding"
		if got := c.beginningOf(short, notes); got != short {
			t.Errorf("a short one is shown as %q", got)
		}
		got := c.beginningOf("The verdict.\n\n"+
			strings.Repeat("- a finding with more words than stand in a row of a narrow terminal\n", 80), notes)
		rows := len(render.Lines(got, render.Options{Width: width}))
		for _, note := range notes {
			rows += (len([]rune("· "+note)) + width - 1) / width
		}
		if rows+1 > 15 || rows < 10 || !strings.HasPrefix(got, "The verdict.") || !strings.HasSuffix(got, "\n\n…") {
			t.Errorf("at %d columns a long one takes %d rows, with the line of costs one more:\n%s", width, rows, got)
		}
	}
}
