package signal

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sibyl/internal/behaviour/assert"
)

// hostileTexts are repeated: each makes a careless reader look at the same text again and again.
var hostileTexts = map[string]string{
	"untyped tags":           `<signal>`,
	"typed tags":             `<signal type="stuck">`,
	"tags in tags":           `<signal x="<signal y='`,
	"a tag without an end":   `<signal type="stuck" a="`,
	"tags in a line of code": "`<signal>",
	"tags in lines of code":  "``<signal>\n",
	"open fences":            "```\n<signal>\n",
	"fences of all lengths":  "````\n```xml\n<signal type=\"stuck\">\n",
	"objects":                "{\"type\":\"stuck\",\"a\":[\n",
	"objects in fences":      "```\n{\"type\":\"stuck\",\"a\":\"",
	"escaped tags":           "&lt;signal type=\"stuck\"&gt; ",
	"escaped beginnings":     "&lt;signal a",
	"labels":                 "**Signal:**\n<signal>\n",
	"labels alone":           "Signal:\n",
	"comments":               `<signal type="a"><!-- `,
	"comments in mentions":   `<signal><!--<signal>-->`,
	"brackets":               `<`,
	"blanks":                 ` `,
	"backticks":              "`",
	"marks of all kinds":     "`~&{<#*_s\n",
	"a long value":           `<signal type='` + strings.Repeat("x", 500),
}

// What is looked at is at most so much for each byte that came, and so much for the first looks, which are free.
const mostWork, freeWork = 1300, freeMentions * MaxHeld * 4

// TestWorkIsInProportionToTheText counts what is looked at, at three sizes and in pieces of every size: so many bytes
// for each that came, and what the first looks cost, which are free. Most of these bytes are copied or searched for one
// character.
func TestWorkIsInProportionToTheText(t *testing.T) {
	for name, part := range hostileTexts {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{4 << 10, 64 << 10} {
				text := strings.Repeat(part, size/len(part)+1)
				for _, piece := range []int{1, 7, 64, len(text)} {
					if piece == 1 && size > 16<<10 {
						continue // takes long to write, and differs in nothing
					}
					x := extract(text, piece).x
					assert.That(t, x.work <= mostWork*int64(len(text))+freeWork,
						"%d bytes in pieces of %d: %d were looked at, %d for each", len(text), piece, x.work, x.work/int64(len(text)))
				}
			}
		})
	}
}

type extracted struct {
	x     *Extractor
	clean string
	r     Result
}

func extract(text string, piece int) extracted {
	x := &Extractor{}
	var clean strings.Builder
	for from := 0; from < len(text); from += piece {
		clean.WriteString(x.Write(text[from:min(from+piece, len(text))]))
	}
	rest, r := x.Close()
	return extracted{x, clean.String() + rest, r}
}

func TestHostileTextsGiveTheSameInPiecesOfAnySize(t *testing.T) {
	for name, part := range hostileTexts {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(part, 80<<10/len(part)) + "\nsaid\n" + enough
			want := extract(text, len(text))
			for _, piece := range []int{3, 100, 4000} {
				got := extract(text, piece)
				assert.That(t, got.clean == want.clean && got.x.longMentions == want.x.longMentions,
					"in pieces of %d: %d bytes are shown after %d looks, want %d after %d", piece, len(got.clean), got.x.longMentions,
					len(want.clean), want.x.longMentions)
				assert.NoDiff(t, cmp.Diff(want.r, got.r), "in pieces of %d (-want +got)", piece)
			}
		})
	}
}

func TestSignalIsFoundAfterAnyNumberOfMentions(t *testing.T) {
	text := strings.Repeat("Emit a <signal> at the end.\n", 8_000) + enough
	got := extract(text, 7)
	if got.r.Signal == nil || got.r.Signal.Type != ContextSufficient || got.clean != strings.TrimSuffix(text, enough) {
		t.Errorf("signal %+v, %d bytes of %d are shown", got.r.Signal, len(got.clean), len(text))
	}
}

func TestWhatIsKeptOfAStreamFullOfSignalsIsBounded(t *testing.T) {
	_, r := Extract(strings.Repeat(needTurn+`<signal type="stuck"/>`, 1000))
	assert.That(t, r.Signal != nil && len(r.Extra) == maxFound && len(r.Problems) == maxFound,
		"%d signals and %d problems are kept", len(r.Extra), len(r.Problems))
}

// A piece that ends what is held is shown at the latest when an eighth more has come.
func TestTextAfterAMentionIsNotHeldForLong(t *testing.T) {
	var x Extractor
	written, shown := 0, 0
	for i, piece := range strings.SplitAfter("a <signal of hope. "+strings.Repeat("Words that follow it. ", 50), " ") {
		written += len(piece)
		shown += len(x.Write(piece))
		assert.Require(t, i <= 2 || written-shown <= shortHeld, "after %d bytes %d are shown", written, shown)
	}
}
