package wire

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Marks are put together here, so that this file holds none.
const (
	lt   = "<"
	bar  = "<|"
	open = lt + "think>"
	shut = lt + "/think>"
)

func token(name string) string { return bar + name + "|>" }

// replies are what models write, with the answer in it and the thinking that is kept.
var replies = []struct{ name, text, answer, thinking string }{
	{"BeforeTheAnswer", open + "hm" + shut + "\n\nYes.", "Yes.", "hm"},
	{"OtherNames", lt + "Reasoning >x" + lt + "/ reasoning>Two.", "Two.", "x"},
	{"UpperCase", lt + "THINKING>x" + lt + "/THINKING>Yes", "Yes", "x"},
	{"NameOfTheModel", lt + "seed:think>x" + lt + "/seed:think>" + lt + "M2_7think>y" + shut + "Yes", "Yes", "x\ny"},
	{"Reflection", "One.\n" + lt + "reflection>x" + lt + "/reflection>\nTwo.", "One.\n\nTwo.", "x"},
	{"Attributes", lt + `thinking level="1">x` + lt + "/thinking>Yes", "Yes", "x"},
	{"EmptyElement", lt + "think/>Yes", "Yes", ""},
	{"Unclosed", "Yes.\n" + open + "so `it ```", "Yes.\n", "so `it ```"},
	{"UnclosedFromTheBeginning", open + "so it is", "", "so it is"},
	{"ClosingAlone", "so it is." + shut + "\nYes.", "Yes.", "so it is."},
	{"ClosingAloneInMidLine", "so it is." + shut + "Yes.", "Yes.", "so it is."},
	{"ClosingAloneWithBlanks", "so it is 4 " + shut + " It is 4.", "It is 4.", "so it is 4"},
	{"ClosingTwice", open + "a" + shut + "b" + shut + "Yes", "Yes", "a\nb"},
	{"ClosingAloneAfterABlock", "One.\n" + open + "a" + shut + "b" + shut + "Yes", "One.\nYes", "a\nb"},
	{"ClosingAtTheVeryBeginning", shut + "\n\nYes.", "Yes.", ""},
	{"ClosingAtTheEndOfALine", "so it is." + shut + " \nYes.", "Yes.", "so it is."},
	{"ClosingAfterAMentionOfBoth", "Is " + open + " " + shut + " meant?\n" + shut + "\nYes.", "Yes.", "Is " + open + " " +
		shut + " meant?"},
	{"EmptyTwice", open + shut + open + shut + "a", "a", ""},
	{"EndsWithAnyOfTheNames", lt + "thinking>x" + shut + "a", "a", "x"},
	{"MidLine", "Well. " + open + "hm" + shut + "Yes", "Well. Yes", "hm"},
	{"MidLineAfterAWord", "Well " + open + "hm" + shut + " yes", "Well  yes", open + "hm"},
	{"MidLineAndUnclosedIsText", "Vec" + lt + "Thought> x = 1;", "Vec" + lt + "Thought> x = 1;", ""},
	{"Mention", "the tag " + shut + " ends it", "the tag " + shut + " ends it", ""},
	{"MentionOfBoth", "a " + open + " b\nand " + shut + ", too", "a " + open + " b\nand " + shut + ", too", ""},
	{"InAFence", "```\n" + open + "\n" + shut + "\n```\n", "```\n" + open + "\n" + shut + "\n```\n", ""},
	{"InASpan", "the `" + open + "` and `" + shut + "`\ntags", "the `" + open + "` and `" + shut + "`\ntags", ""},
	{"InAQuotedLine", "> " + open + "x" + shut, "> " + open + "x" + shut, ""},
	{"InQuotationMarks", `Write "` + open + `" first.`, `Write "` + open + `" first.`, ""},
	{"BehindABacktickThatClosesNothing", "a ` b. " + open + "x" + shut + "y", "a ` b. y", "x"},
	{"Placeholder", "Use " + lt + "think about it> here", "Use " + lt + "think about it> here", ""},
	{"Brackets", "[THINK]x[/THINK]Yes", "Yes", "x"},
	{"BracketsOfALink", "See [think](a.md)", "See [think](a.md)", ""},
	{"Triangles", "◁think▷x◁/think▷Yes", "Yes", "x"},
	{"Cohere", token("START_THINKING") + "x" + token("END_THINKING") + token("START_RESPONSE") + "Yes" +
		token("END_RESPONSE"), "Yes", "x"},
	{"BeginOfThought", token("begin_of_thought") + "x" + token("end_of_thought") + "\n" + token("begin_of_solution") +
		"Yes" + token("end_of_solution"), "Yes", "x"},
	{"Apertus", token("inner_prefix") + "x" + token("inner_suffix") + "Yes", "Yes", "x"},
	{"Solar", token("think") + "x" + token("end") + token("begin") + "assistant" + token("content") + "Yes", "Yes", "x"},
	{"AnswerInAnElement", open + "x" + shut + "\n" + lt + "answer>Yes" + lt + "/answer>", "Yes", "x"},
	{"ElementOfAnAnswerWithoutThinking", lt + "answer>Yes" + lt + "/answer>", lt + "answer>Yes" + lt + "/answer>", ""},
	{"Harmony", token("channel") + "analysis" + token("message") + "x" + token("end") + token("start") + "assistant" +
		token("channel") + "final" + token("message") + "Yes" + token("return"), "Yes", "x"},
	{"HarmonyWithoutEnd", token("channel") + "analysis" + token("message") + "x", "", "x"},
	{"HarmonyInWords", "analysisWe look.assistantfinalYes", "Yes", "analysisWe look."},
	{"AnalysisAsAWord", "analysis of it", "analysis of it", ""},
	{"HarmonyWithAForm", token("channel") + "final " + token("constrain") + "json" + token("message") + "{}", "{}", ""},
	{"HarmonyWithWordsBeforeTheAnswer", token("channel") + "commentary" + token("message") + "I look." + token("end") +
		token("start") + "assistant" + token("channel") + "final" + token("message") + "Yes", "I look.\n\nYes", ""},
	{"CallOfHarmonyInWords", `commentary to=functions.f json{"a":1}`, token("channel") + "commentary to=functions.f json" +
		token("message") + `{"a":1}`, ""},
	{"CallOfHarmonyInWordsBehindThinking", `analysisWe look.assistantcommentary to=functions.f json{}`, token("channel") +
		"commentary to=functions.f json" + token("message") + "{}", "analysisWe look."},
	{"CommentaryAsAWord", "commentary to come", "commentary to come", ""},
	{"CohereNewer", token("START_THINKING") + "x" + token("END_THINKING") + token("START_TEXT") + "Yes" + token("END_TEXT"),
		"Yes", "x"},
	{"CohereClosingAlone", "x" + token("END_THINKING") + token("START_TEXT") + "Yes" + token("END_TEXT"), "Yes", "x"},
	{"CohereWithRoles", token("START_OF_TURN_TOKEN") + token("CHATBOT_TOKEN") + "Yes" + token("END_OF_TURN_TOKEN"), "Yes", ""},
	{"MiniMaxInChinese", lt + "思考>x" + lt + "/思考>Yes", "Yes", "x"},
	{"LongCat", lt + "longcat_think>x" + lt + "/longcat_think>Yes", "Yes", "x"},
	{"ThinkFast", lt + "think_fast>x" + lt + "/think_fast>Yes", "Yes", "x"},
	{"SeedWithItsBudget", lt + "seed:think>a" + lt + "seed:cot_budget_reflect>b" + lt + "/seed:cot_budget_reflect>" + lt +
		"/seed:think>Yes", "Yes", "a" + lt + "seed:cot_budget_reflect>b" + lt + "/seed:cot_budget_reflect>"},
	{"Nested", open + "a " + open + "b" + shut + " c" + shut + "Yes", "Yes", "a " + open + "b\nc"},
	{"BracketsWithBars", lt + "thought>x" + lt + "/thought>\n\nYes[|endofturn|]", "Yes", "x"},
	{"RoleBehindTheNameOfTheModel", lt + "｜hy_Assistant｜>Yes", "Yes", ""},
	{"RoleTwice", token("im_assistant") + "assistant" + token("im_middle") + "Yes" + token("im_end"), "Yes", ""},
	{"GoesOnAsSomebodyElseOfKimi", "Yes." + token("im_end") + token("im_user") + "user" + token("im_middle") + "More?", "Yes.", ""},
	{"GemmaFour", bar + "channel>thought\nx" + lt + "channel|>Yes" + lt + "turn|>", "Yes", "x"},
	{"KimiThree", token("open") + "think" + token("sep") + "x" + token("close") + "think" + token("sep") + token("open") +
		"response" + token("sep") + "Yes" + token("close") + "response" + token("sep"), "Yes", "x"},
	{"Granite", "Here is my thought process:\nx\nHere is my response:\nYes", "Yes", "Here is my thought process:\nx"},
	{"GraniteWithoutItsEnd", "Here's my thought process: x", "Here's my thought process: x", ""},
	{"EndOfMessage", "Yes." + token("im_end"), "Yes.", ""},
	{"EndsOfMessages", "Yes." + token("eot_id") + "\n" + token("end_of_text") + lt + "end_of_turn>\n", "Yes.\n\n", ""},
	{"WideBars", "Yes." + lt + "｜end▁of▁sentence｜>", "Yes.", ""},
	{"EndOfText", "Yes." + lt + "/s>", "Yes.", ""},
	{"ElementOfThatName", lt + "s>old" + lt + "/s>", lt + "s>old" + lt + "/s>", ""},
	{"MentionOfAnEnd", "The token " + token("im_end") + " ends it.", "The token " + token("im_end") + " ends it.", ""},
	{"OwnRole", token("im_start") + "assistant\nYes." + token("im_end"), "Yes.", ""},
	{"OwnRoleInHeaders", token("start_header_id") + "assistant" + token("end_header_id") + "\n\nYes.", "Yes.", ""},
	{"GoesOnAsSomebodyElse", "Yes." + token("im_end") + "\n" + token("im_start") + "user\nMore?" + token("im_end"),
		"Yes.\n", ""},
	{"GoesOnAsSomebodyElseByInstructions", "Yes." + lt + "/s>[INST] More? [/INST]", "Yes.", ""},
	{"CallOfHarmonyStaysText", token("channel") + "commentary to=functions.f " + token("constrain") + "json" +
		token("message") + "{}" + token("call"), token("channel") + "commentary to=functions.f " + token("constrain") +
		"json" + token("message") + "{}" + token("call"), ""},
	{"CallOfOthersStaysText", open + "x" + shut + token("python_tag") + "{}", token("python_tag") + "{}", "x"},
	{"CallOfDeepSeekStaysText", lt + "｜tool▁calls▁begin｜>f" + lt + "｜tool▁calls▁end｜>", lt + "｜tool▁calls▁begin｜>f" + lt +
		"｜tool▁calls▁end｜>", ""},
	{"Comparison", "a < b and c <| d", "a < b and c <| d", ""},
	{"LongThinking", open + strings.Repeat("so < it {is}\n", 500) + shut + "a", "a",
		strings.TrimSpace(strings.Repeat("so < it {is}\n", 500))},
}

// splitInto splits a text that comes in these chunks.
func splitInto(chunks ...string) (answer, thinking string) {
	var s splitter
	add := func(text string, anew bool) {
		if anew {
			answer = ""
		}
		answer += text
	}
	for _, c := range chunks {
		add(s.write(c))
	}
	add(s.close())
	return answer, strings.TrimSpace(s.thinking.String())
}

func TestThinkingAndMarksOfMessagesAreNoPartOfTheAnswer(t *testing.T) {
	for _, r := range replies {
		t.Run(r.name, func(t *testing.T) {
			for _, chunks := range [][]string{{r.text}, strings.Split(r.text, "")} {
				if answer, thinking := splitInto(chunks...); answer != r.answer || thinking != r.thinking {
					t.Errorf("in %d chunks: answer %q, thinking %q; want %q, %q", len(chunks), answer, thinking, r.answer,
						r.thinking)
				}
			}
		})
	}
}

func TestSplittingDoesNotDependOnChunks(t *testing.T) {
	var parts []string
	for _, r := range replies {
		parts = append(parts, r.text)
	}
	parts = append(parts, open, shut, " ", "\n", "`", "```\n", "a", "A. ", token("im_end"), token("channel"), "> ")
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 8).Draw(t, "parts"), "")
		var chunks []string
		for rest := []rune(text); len(rest) > 0; { // what is decoded from JSON has whole characters
			n := rapid.IntRange(1, min(len(rest), 40)).Draw(t, "n")
			chunks, rest = append(chunks, string(rest[:n])), rest[n:]
		}
		answer, thinking := splitInto(text)
		inParts, thinkingInParts := splitInto(chunks...)
		if answer != inParts || thinking != thinkingInParts {
			t.Fatalf("%q: whole %q and %q, in parts %q and %q", text, answer, thinking, inParts, thinkingInParts)
		}
	})
}

func TestThinkingInTheTextIsGivenAsItComesAndWhatMayBeAMentionIsNot(t *testing.T) {
	for said, want := range map[string]string{
		open + "First the lease." + shut + "It is taken.": "First the lease.",
		open + "No end":                  "No end",
		"It is taken.":                   "",
		"It says " + open + " somewhere": "",
	} {
		for _, size := range []int{1, 3, len(said)} {
			var s splitter
			thought := ""
			for rest := said; rest != ""; {
				n := min(size, len(rest))
				s.write(rest[:n])
				thought, rest = thought+s.takeThought(), rest[n:]
			}
			if thought != want {
				t.Errorf("of %q in pieces of %d the thinking is %q, and not %q", said, size, thought, want)
			}
		}
	}
}
