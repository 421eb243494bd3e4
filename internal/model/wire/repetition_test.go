package wire_test

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/wire"
)

const paragraph = "The office moves to a smaller town, where the rent is two fifths lower. Three people have a longer way, " +
	"of an hour each. The move is worth it if the three agree, and it should be decided by March, since the lease " +
	"ends then and a new one binds for five years.\n\n"

func TestTextThatRepeatsIsNoticedAndItsBeginningKept(t *testing.T) {
	mixed := rand.New(rand.NewPCG(1, 2))
	ever := func(n int, of ...string) string {
		var b strings.Builder
		for range n {
			b.WriteString(of[mixed.IntN(len(of))])
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		said, kept string
		within     int // bytes
	}{
		"a sign":           {"Well" + strings.Repeat("!", 9000), "Well!!!!!!", 6500},
		"a letter":         {strings.Repeat("a", 9000), "a", 3000},
		"a word":           {"So: " + strings.Repeat("no ", 3000), "So: no", 3250},
		"a sentence":       {"It is 391.\n" + strings.Repeat("It is so. ", 900), "It is 391.\nIt is so.", 3250},
		"only sentences":   {strings.Repeat("It is 391.\n", 900), "It is 391.", 6000},
		"a paragraph":      {"First.\n\n" + strings.Repeat(paragraph, 40), "First.\n\n" + strings.TrimSpace(paragraph), 3500},
		"five paragraphs":  {strings.Repeat(paragraph+"A"+paragraph+"B"+paragraph, 20), "", 6000},
		"Chinese":          {"答案是三百九十一。" + strings.Repeat("欢迎来到对话。", 900), "答案是三百九十一。欢迎来到对话。", 3250},
		"an element":       {`{"all":[` + strings.Repeat(`{"intent":"list","sure":1},`, 900), "", 6250},
		"escaped breaks":   {`{"text":"Done.` + strings.Repeat(`\n`, 9000), `{"text":"Done.\n`, 6250},
		"blanks":           {`{"a":1}` + ever(1500, "\n", "  ", "\t"), `{"a":1}`, 1250},
		"two in any order": {ever(900, "welcome to the chat. ", "welcome to the conversation. "), "", 3250},
		"words mixed":      {"Yes. " + ever(3000, "agent-", "user-agent-"), "", 3500},
	} {
		t.Run(name, func(t *testing.T) {
			kept, at, repeats := wire.Repeats(c.said)
			assert.That(t, repeats && at <= c.within, "noticed: %v, after %d bytes; want at most %d", repeats, at, c.within)
			assert.That(t, strings.HasPrefix(c.said, kept) && len(kept) < 1500, "kept %d bytes: %.200q", len(kept), kept)
			if c.kept != "" {
				assert.Equal(t, kept, c.kept)
			}
		})
	}
}

func TestHonestTextIsNeverTakenForRepetition(t *testing.T) {
	rows := func(n int, format string, args ...func(i int) any) string {
		var b strings.Builder
		for i := range n {
			var all []any
			for _, arg := range args {
				all = append(all, arg(i))
			}
			fmt.Fprintf(&b, format, all...)
		}
		return b.String()
	}
	number := func(i int) any { return i }
	parity := func(i int) any { return i % 2 }
	bytesAtRandom := make([]byte, 9000)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range bytesAtRandom {
		bytesAtRandom[i] = byte(random.IntN(256))
	}
	block := func(i int) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata:\n  name: worker-%d\n  labels:\n    app: worker\n"+
			"spec:\n  type: ClusterIP\n  ports:\n  - name: http\n    port: 8080\n    targetPort: 8080\n    protocol: TCP\n"+
			"  selector:\n    app: worker\n    role: backend\n    tier: internal\n---\n", i)
	}
	var blocks strings.Builder
	for i := range 60 {
		blocks.WriteString(block(i))
	}
	poem := ""
	for i := range 40 {
		poem += fmt.Sprintf("On the %dth day of the feast my true love gave to me,\n", i)
		for j := i; j > 0; j-- {
			poem += fmt.Sprintf("%d birds of the %dth tree,\n", j, j)
		}
		poem += "and a partridge in a pear tree.\n\n"
	}
	for name, said := range map[string]string{
		"a rule":                 "Head\n" + strings.Repeat("-", 2000) + "\n",
		"rules between lines":    rows(300, "-------------------- | --------------------\n%d | yes\n", number),
		"a table to fill in":     "| Day | Who | What |\n|---|---|---|\n" + strings.Repeat("|     |     |      |\n", 200),
		"a table of yes and no":  rows(300, "| %d | yes | no | yes |\n", number),
		"similar rows":           rows(400, "- Room %d is free on all days, with a screen, a board and a table for six.\n", number),
		"rows of JSON":           rows(400, `{"id":%d,"name":"","done":false,"even":%d,"tags":[],"due":null},`+"\n", number, parity),
		"blocks of settings":     blocks.String(),
		"a log":                  rows(400, "2026-11-28T10:00:%02d.%03dZ INFO server: request finished, status 200\n", number, number),
		"equal lines of code":    "x := []bool{\n" + strings.Repeat("\t\ttrue, true, false,\n", 120) + "}\n",
		"zeros":                  "[256]byte{" + strings.Repeat("0x00, ", 256) + "}",
		"a field of dots":        strings.Repeat(strings.Repeat(".", 60)+"\n", 60),
		"a sudoku in HTML":       strings.Repeat(`<td><input type="text" maxlength="1"></td>`, 81),
		"a list that counts":     rows(3000, "%d, ", number),
		"base64":                 base64.StdEncoding.EncodeToString(bytesAtRandom),
		"a sentence a 100 times": strings.Repeat("I will not talk in class.\n", 100),
		"a poem with a refrain":  poem,
		"a text three times":     strings.Repeat(blocks.String(), 3),
		"six paragraphs alike":   strings.Repeat(paragraph, 6),
		"deep indentation":       rows(200, strings.Repeat(" ", 400)+"%d\n", number),
	} {
		t.Run(name, func(t *testing.T) {
			_, at, repeats := wire.Repeats(said)
			assert.That(t, !repeats, "taken for repetition after %d of %d bytes", at, len(said))
		})
	}
}

// TestRowsOfWhichAnyTwoDifferAreNeverTakenForRepetition is what the measures are chosen for.
func TestRowsOfWhichAnyTwoDifferAreNeverTakenForRepetition(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		row := rapid.StringMatching(`[a-z ,|<>{}":0-9-]{0,900}`).Draw(r, "row")
		at := rapid.IntRange(0, len(row)).Draw(r, "place")
		from := rapid.IntRange(0, 5000).Draw(r, "from")
		var b strings.Builder
		for n := from; b.Len() < 14_000; n++ {
			fmt.Fprintf(&b, "%s%d%s\n", row[:at], n, row[at:])
		}
		if _, at, repeats := wire.Repeats(b.String()); repeats {
			r.Fatalf("taken for repetition after %d bytes", at)
		}
	})
}

func TestWhateverIsSaidAgainAndAgainIsNoticedAndChunksDoNotMatter(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		begin := rapid.StringN(0, 300, 600).Draw(r, "beginning")
		again := rapid.StringN(1, 300, 1200).Draw(r, "again")
		said := begin + strings.Repeat(again, 8000/len(again)+1)
		kept, at, repeats := wire.Repeats(said)
		if !repeats || at > len(begin)+6250 {
			r.Fatalf("noticed: %v, after %d bytes of %d", repeats, at, len(said))
		}
		if !strings.HasPrefix(said, strings.TrimSpace(kept)) && !strings.Contains(said, kept) {
			r.Fatalf("kept %q of %q", kept, said)
		}
		size := rapid.IntRange(1, 700).Draw(r, "chunk")
		var chunks []string
		for part := range slices.Chunk([]byte(said), size) {
			chunks = append(chunks, string(part))
		}
		keptOfChunks, atOfChunks, repeats := wire.Repeats(chunks...)
		if !repeats || atOfChunks != at || keptOfChunks != kept {
			r.Fatalf("in chunks of %d: after %d bytes, kept %q; whole: after %d, %q", size, atOfChunks, keptOfChunks, at, kept)
		}
	})
}

// BenchmarkRepetition measures an honest answer of 30 KB that comes word by word.
func BenchmarkRepetition(b *testing.B) {
	var words []string
	for n := 0; len(words) < 6000; n++ {
		words = append(words, fmt.Sprintf("word%d ", n))
	}
	for b.Loop() {
		wire.Repeats(words...)
	}
}
