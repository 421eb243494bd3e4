package origin

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/lineartest"
	"sibyl/internal/behaviour/texttest"
)

// tools are those that each request of a test describes.
func tools() []Tool {
	return []Tool{
		{"code_search", "Searches the source files for several words at once and ranks the places where most of them " +
			`meet, definitions first. {"type":"object","properties":{"query":{"type":"string"}}}`},
		{"code_read", "Reads lines of one file, numbered, up to 400 at a time. Use it to open what code_search found: " +
			`only what was read can be cited. {"type":"object","properties":{"path":{"type":"string"}}}`},
		{"vault_write", `Writes a note. {"type":"object","properties":{"path":{"type":"string"}}}`},
	}
}

// prompts are the texts that a scenario may name as the prompt; "" is the Oracle's.
func prompts(t testing.TB, name string) string {
	file := "testdata/system.txt"
	if name != "" {
		file = "../../../prompts/oracles/" + name + ".md"
	}
	_, text, _ := strings.Cut(string(assert.Must(os.ReadFile(file))(t)), "\n\n")
	_, text, _ = strings.Cut(text, ".") // who answers
	return text
}

func texts(all ...string) Texts { return func() []string { return all } }

// play plays a scenario: what was sent, with more texts of ours, and the reply. Without “gone” and “=”, the reply stays
// as it is.
func play(t *testing.T, lines []texttest.Line, ours ...string) {
	sent := Sent{Ours: ours, Tools: tools(), Mark: "[control] "}
	var reply, left, theirs []string
	prompt, changed := "", false
	for _, l := range lines {
		_, text, _ := strings.Cut(l.Text, l.Words)
		text = strings.TrimPrefix(text, " ")
		switch l.Words {
		case "prompt":
			prompt = l.Rest
		case "asked", "before", "material", "facts":
			theirs = append(theirs, text)
		case "result":
			sent.Results = append(sent.Results, text)
		case "told":
			sent.Told = append(sent.Told, sent.Mark+text)
		case "error":
			sent.Told = append(sent.Told, text)
		case "ours":
			sent.Ours = append(sent.Ours, text)
		case "|":
			reply = append(reply, text)
		case "=":
			left, changed = append(left, text), true
		case "gone":
			changed = true
		default:
			t.Fatalf("line %d says nothing that is known", l.At)
		}
	}
	sent.Ours = append(sent.Ours, prompts(t, prompt))
	sent.Theirs = texts(append(theirs, strings.Join(sent.Results, "\n"))...)
	whole := strings.Join(reply, "\n")
	own, dropped := Of(sent).Own(whole)
	if !changed {
		left = reply
	}
	assert.That(t, own == strings.Join(left, "\n"), "left:\n%s\nand not:\n%s", own, strings.Join(left, "\n"))
	assert.That(t, changed == (dropped != nil), "dropped: %q", dropped)
}

// knownWords are the beginnings of lines of a scenario.
func knownWords() []string {
	return []string{"prompt", "asked", "before", "material", "facts", "result", "told", "error", "ours", "|", "=",
		"gone"}
}

func TestWhatAModelOnlyRepeatsOfWhatItWasSentIsDropped(t *testing.T) {
	texttest.PlayFile(t, "testdata/echo.txt", knownWords(), func(t *testing.T, lines []texttest.Line) {
		play(t, lines)
	})
}

// The prompts and the hints of the tree are those of this build: no change of them may cost an honest answer.
func TestHonestAnswersStayWhole(t *testing.T) {
	var ours []string
	for _, pattern := range []string{"../../../prompts/*/*.md", "../../../trees/*.xml"} {
		for _, file := range assert.Must(filepath.Glob(pattern))(t) {
			_, text, _ := strings.Cut(string(assert.Must(os.ReadFile(file))(t)), ".") // who answers
			if strings.HasSuffix(file, ".xml") {
				text = strings.ReplaceAll(text, "<", " ") // its elements are sent to nobody
			}
			ours = append(ours, text)
		}
	}
	assert.Require(t, len(ours) > 40, "%d prompts and trees: the test looks in the wrong place", len(ours))
	texttest.PlayFile(t, "testdata/honest.txt", knownWords(), func(t *testing.T, lines []texttest.Line) {
		play(t, lines)
		play(t, lines, ours...)
	})
}

func TestReplyThatSharesNoRunWithTheRequestIsNeverChanged(t *testing.T) {
	r := Of(Sent{Ours: []string{prompts(t, "")}, Told: []string{"[control] Go on."}, Tools: tools(), Mark: "[control] "})
	theirs := []string{"harbour", "Brücke", "lançamento", "391", "mötet", "клапан", "x7", "pier's", "näher"}
	ours := []string{"say what", "the answer", "a source", "open it", "never", "nothing", "the tool", "by signal"}
	joints := []string{" ", " ", " ", ", ", ". ", "? ", ": ", "\n", "\n\n", "\n- ", "\n# ", "\n> ", " – ", "; ", "\n```\n",
		" `", "` ", " **", "** ", "\n| ", " | ", "(", ") "}
	rapid.Check(t, func(t *rapid.T) {
		b := &strings.Builder{}
		for range rapid.IntRange(1, 60).Draw(t, "words") {
			b.WriteString(rapid.SampledFrom(theirs).Draw(t, "theirs") + rapid.SampledFrom(joints).Draw(t, "joint"))
			if rapid.Bool().Draw(t, "common") {
				b.WriteString(rapid.SampledFrom(ours).Draw(t, "ours") + " ")
			}
		}
		own, dropped := r.Own(b.String())
		assert.That(t, own == b.String() && dropped == nil, "%q became %q", b.String(), own)
	})
}

func TestDroppedAndLeftAreTheWholeReply(t *testing.T) {
	r := Of(Sent{Ours: []string{prompts(t, "")}, Tools: tools(), Mark: "[control] "})
	rules := slices.DeleteFunc(strings.Split(prompts(t, ""), "\n"), func(line string) bool {
		return strings.Contains(line, "<") // what an element of the prompt holds goes with it
	})
	own := []string{"The harbour closes in May.", "391", "Das Tor bleibt offen.", "`retry.go:12`", "A ponte abriu."}
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		for range rapid.IntRange(1, 12).Draw(t, "lines") {
			lines = append(lines, rapid.SampledFrom(append(rules, own...)).Draw(t, "line"))
		}
		left, dropped := r.Own(strings.Join(lines, "\n"))
		want := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !slices.Contains(own, l) })
		for _, l := range want {
			assert.That(t, strings.Contains(left, l), "%q is lost from %q", l, lines)
		}
		all := slices.Sorted(slices.Values(strings.Fields(wordsOnly(strings.Join(lines, "\n")))))
		got := slices.Sorted(slices.Values(strings.Fields(wordsOnly(left + "\n" + strings.Join(dropped, "\n")))))
		assert.That(t, slices.Equal(all, got), "%q became %q and %q", lines, left, dropped)
	})
}

func TestAnyReplyIsReadTheSameTwice(t *testing.T) {
	r := Of(Sent{Ours: []string{prompts(t, "")}, Told: []string{"[control] Go on."}, Tools: tools(),
		Results: []string{"the plant of the gateway listens on 10.0.4.1"}, Mark: "[control] "})
	parts := []string{"<", ">", "</", "<example>", "</example>", "<tools>", "\n", "\r\n", " ", "`", "```", "```json\n", "{", "}",
		"[", "]", "(", ")", `"`, `\`, ":", "=", "|", "<|", "|>", "[INST]", "[/INST]", "[control] Go on.", "code_search", `"name"`,
		"Action: ", "#", ">", "-", "é", "漢", "\x00", "\xff", "’", "a", "1", "Never invent a path, line, URL, quotation or result."}
	rapid.Check(t, func(t *rapid.T) {
		reply := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 40).Draw(t, "reply"), "")
		own, dropped := r.Own(reply)
		again, droppedAgain := r.Own(reply)
		assert.That(t, own == again && slices.Equal(dropped, droppedAgain), "%q: %q and %q", reply, own, again)
		assert.That(t, dropped != nil || own == reply, "%q lost something that is not told: %q", reply, own)
		assert.That(t, utf8.ValidString(own) || !utf8.ValidString(reply), "%q is cut within a character: %q", reply, own)
	})
}

func TestFieldThatRepeatsWhatTheModelWasToldIsNotItsOwn(t *testing.T) {
	r := Of(Sent{Ours: []string{prompts(t, "")}, Told: []string{"[control] Go on.",
		"Failed: pump does not exist (see repo_map or code_search for what there is)",
		"[control] No source was opened for this answer, and the question needs one."}, Tools: tools(),
		Theirs: texts("Does bed 5 stand only in a draft?", "The log ends in March"), Mark: "[control] "})
	for field, own := range map[string]bool{
		"": true, "Go on.": true, "[control] Go on.": false, "I read the definition of wait": true,
		"Failed: pump does not exist (see repo_map or code_search for what there is)": false,
		"No source was opened for this answer, and the question needs one.":           false,
		"The question needs a source":                                                 true,
		"Need the default of valve_timeout in pump/settings.go":                       false,
		"Need the default of max_sessions in limits.go":                               true,
		"Whether bed 5 was decided":                                                   false,
		"Bed 5 stands only in a draft.":                                               false,
		"The log ends in March":                                                       true,
		"Die Zahl steht in keiner Notiz":                                              true,
		"Nothing was looked up.":                                                      true,
		"web":                                                                         true,
	} {
		assert.That(t, r.IsOwn(field) == own, "%q: own is %v", field, !own)
	}
}

func TestCostIsInProportion(t *testing.T) {
	prompt := prompts(t, "")
	line := "The gateway of the plant listens on 10.0.4.1 <b> {\"a\": [1] and <tool> says [INST] `x`: never invent a path.\n"
	lineartest.Check(t, 40, func(n int) func() {
		sent := Sent{Ours: []string{prompt}, Theirs: texts(strings.Repeat("The plant of the gateway. ", 20*n)),
			Tools: tools(), Mark: "[control] "}
		reply := strings.Repeat(line, n) + prompt[:min(len(prompt), 10*n)] + "\n" + // and all in one line
			strings.ReplaceAll(strings.Repeat(line, n), "\n", " ")
		return func() { Of(sent).Own(reply) }
	})
}

func BenchmarkLongRequest(b *testing.B) {
	sent := Sent{Ours: []string{prompts(b, "")}, Tools: tools(), Mark: "[control] ",
		Theirs: texts(strings.Repeat("The gateway of the plant listens on 10.0.4.1 and nowhere else. ", 2000))}
	reply := strings.Repeat("The gateway is in the plant. ", 50) + sent.Ours[0][:2000]
	for b.Loop() {
		Of(sent).Own(reply)
	}
}
