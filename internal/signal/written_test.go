package signal

import (
	"html"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

const (
	lt     = "<"
	asJSON = `{"type": "context_sufficient", "sources_found": 3, "source_types": ["code"], "confidence": 0.9}`
	inJSON = `{"signal": {"type": "need_turn", "reason": "read on", "confidence": "0,7"}}`
)

var (
	entities = html.EscapeString(enough)
	long     = strings.Replace(needTurn, "file", strings.Repeat("f", MaxHeld-1-len(needTurn)+len("file")), 1)
)

// written is how real models write signals, and what only looks like one.
var written = []stream{
	{name: "OtherElementsAreText", text: lt + "think>hm" + lt + "/think>Yes. " + enough, clean: lt + "think>hm" + lt +
		"/think>Yes. ", signal: ContextSufficient},
	{name: "SignalInAnotherElementCounts", text: lt + "note>\n" + enough + "\n" + lt + "/note>", clean: lt + "note>\n\n" + lt +
		"/note>", signal: ContextSufficient},
	{name: "SignalAloneInAFenceCounts", text: "```xml\n" + enough + "\n```\n", clean: "\n", signal: ContextSufficient},
	{name: "SignalAloneInASpanCounts", text: "`" + enough + "`", signal: ContextSufficient},
	{name: "SignalAloneInAFenceOfOneLineCounts", text: "```" + enough + "```", signal: ContextSufficient},
	{name: "SignalInAFenceAtTheEndCounts", text: "Yes.\n\n~~~~\n\n " + enough + "\n~~~~", clean: "Yes.\n\n",
		signal: ContextSufficient},
	{name: "SignalInASpanInALineOfItsOwnAtTheEndCounts", text: "Yes.\n`" + enough + "` \n", clean: "Yes.\n \n",
		signal: ContextSufficient},
	{name: "SignalInASpanAtTheEndOfASentenceIsText", text: "Write `" + enough + "`", clean: "Write `" + enough + "`"},
	{name: "SignalInAFenceBeforeTextIsText", text: "```xml\n" + enough + "\n```\nis how.", clean: "```xml\n" + enough +
		"\n```\nis how."},
	{name: "SignalInAFenceBeforeASignalIsText", text: "```\n" + needTurn + "\n```\n" + enough, clean: "```\n" +
		needTurn + "\n```\n", signal: ContextSufficient},
	{name: "SignalInAnOpenFenceGoesWithTheFence", text: "Yes.\n```xml\n" + enough + "\n", clean: "Yes.\n\n",
		signal: ContextSufficient},
	{name: "ElementWithoutTypeInAFenceIsText", text: "```\n<signal>x</signal>\n```",
		clean: "```\n<signal>x</signal>\n```"},
	{name: "TagInAClosedFenceBeforeTextIsText", text: "```\n<signal type='stuck'>\n```\nbegins it.",
		clean: "```\n<signal type='stuck'>\n```\nbegins it."},
	{name: "TagInASpanBeforeTextIsText", text: "`<signal type='stuck'>` begins it.",
		clean: "`<signal type='stuck'>` begins it."},
	{name: "TagInAFenceAtTheEndIsStripped", text: "Yes.\n```\n<signal type='stuck'>\n```\n", clean: "Yes.\n",
		problems: 1},
	{name: "TildeMakesNoSpan", text: "~" + enough + "~", clean: "~~", signal: ContextSufficient},
	{name: "LongerRunEndsNoSpan", text: "`" + enough + "``", clean: "```", signal: ContextSufficient},
	{name: "TwoSignalsInAFenceAreText", text: "```\n" + needTurn + "\n" + enough + "\n```", clean: "```\n" + needTurn +
		"\n" + enough + "\n```"},
	{name: "LongBlanksAroundASignalInAFence", text: "```\n" + strings.Repeat("\n", MaxHeld) + enough + "\n```",
		clean: "```\n" + strings.Repeat("\n", MaxHeld) + enough + "\n```"},
	{name: "CodeInAFenceIsText", text: "```go\nif a < b {\n```\n", clean: "```go\nif a < b {\n```\n"},

	{name: "NamesInAnyCase", text: `<SIGNAL TYPE="NEED_TURN"><Reason>x</reason><CONFIDENCE>0.5</CONFIDENCE></Signal>`,
		signal: NeedTurn},
	{name: "BlanksAfterBrackets",
		text: `< signal type="need_turn">< reason >x</ reason><confidence>0.5</confidence>< / signal >.`, clean: ".",
		signal: NeedTurn},
	{name: "ValuesWithoutQuotes", text: `<signal type=need_turn confidence=0,5><reason>a = "b"</reason></signal>`,
		signal: NeedTurn},
	{name: "DecimalComma", text: `<signal type="need_turn"><reason>x</reason><confidence>0,5</confidence></signal>`,
		signal: NeedTurn},
	{name: "PercentIsRefused", text: `<signal type=need_turn confidence=85%><reason>x</reason></signal>`, problems: 1},
	{name: "FractionIsRefused",
		text: `<signal type="need_turn"><reason>x</reason><confidence>8/10</confidence></signal>`, problems: 1},
	{name: "WordIsRefused", text: `<signal type="need_turn"><reason>x</reason><confidence>high</confidence></signal>`,
		problems: 1},
	{name: "ComparisonIsText", text: "a < signal && b < signal type", clean: "a < signal && b < signal type"},

	{name: "EntitiesAtTheEndCount", text: "Yes. " + entities + "\n", clean: "Yes. \n", signal: ContextSufficient},
	{name: "EntitiesOfOpeningBracketsCount", text: strings.ReplaceAll(enough, "<", "&lt;"), signal: ContextSufficient},
	{name: "EntitiesBeforeTextAreText", text: entities + " is how.", clean: entities + " is how."},
	{name: "EntitiesInASpanAreText", text: "Write `" + entities + "`", clean: "Write `" + entities + "`"},
	{name: "EntitiesInAFenceAtTheEndCount", text: "```\n" + entities + "\n```", signal: ContextSufficient},
	{name: "EntitiesWithoutEndAreText", text: "Begin with &lt;signal type='stuck'&gt; or so.",
		clean: "Begin with &lt;signal type='stuck'&gt; or so."},
	{name: "EntitiesWithoutTypeAreText", text: "the &lt;signal&gt; element", clean: "the &lt;signal&gt; element"},

	{name: "LabelGoesWithTheSignal", text: "Yes.\n\nSignal:\n" + enough, clean: "Yes.\n\n", signal: ContextSufficient},
	{name: "LabelInBold", text: "**Signal:** " + enough, signal: ContextSufficient},
	{name: "LabelAsHeading", text: "Yes.\n### Signal\n\n```xml\n" + enough + "\n```", clean: "Yes.\n",
		signal: ContextSufficient},
	{name: "LabelOverJSON", text: "__signal__:\n" + asJSON, signal: ContextSufficient},
	{name: "LabelAboveTextIsText", text: "Signal: red\n" + enough, clean: "Signal: red\n", signal: ContextSufficient},
	{name: "LabelBeforeAMentionIsText", text: "Signal: `" + enough + "` is it", clean: "Signal: `" + enough +
		"` is it"},
	{name: "WordInALineIsNoLabel", text: "The signal: " + enough, clean: "The signal: ", signal: ContextSufficient},
	{name: "WordWithoutMarksIsNoLabel", text: "Signal " + enough, clean: "Signal ", signal: ContextSufficient},
	{name: "LabelFarAboveIsText", text: "Signal:" + strings.Repeat("\n", 60) + enough, clean: "Signal:" +
		strings.Repeat("\n", 60), signal: ContextSufficient},
	{name: "LabelAtTheEndIsText", text: "Yes.\nSignal:\n", clean: "Yes.\nSignal:\n"},
	{name: "LabelOfASignalThatFillsTheBound", text: "Signal: " + long, clean: "Signal: ", signal: NeedTurn},

	{name: "JSONAtTheEndCounts", text: "Yes.\n" + asJSON + "\n", clean: "Yes.\n\n", signal: ContextSufficient},
	{name: "JSONInAnObjectCounts", text: inJSON, signal: NeedTurn},
	{name: "JSONWithItsTypeAsSignalCounts", text: strings.Replace(asJSON, `"type"`, `"signal"`, 1),
		signal: ContextSufficient},
	{name: "JSONInAFenceAtTheEndCounts", text: "Yes.\n```json\n" + inJSON + "\n```", clean: "Yes.\n", signal: NeedTurn},
	{name: "JSONBeforeTextIsText", text: asJSON + "\nis how.", clean: asJSON + "\nis how."},
	{name: "JSONInALineIsText", text: "Write " + asJSON, clean: "Write " + asJSON},
	{name: "JSONOfAnotherKindIsText", text: `{"type": "object", "properties": {}}`,
		clean: `{"type": "object", "properties": {}}`},
	{name: "JSONWithOtherFieldsIsText", text: `{"type": "stuck", "id": 1}`, clean: `{"type": "stuck", "id": 1}`},
	{name: "JSONWithABadConfidenceIsStripped", text: `{"type": "need_turn", "reason": "x", "confidence": 7}`,
		problems: 1},
	{name: "JSONWithoutEndIsStripped", text: "Yes.\n```json\n" + asJSON[:40], clean: "Yes.\n", problems: 1},
	{name: "BeginningOfJSONInProseIsText", text: `{"type": "stuck" begins it.` + "\nSo.",
		clean: `{"type": "stuck" begins it.` + "\nSo."},
	{name: "JSONInAFenceWithOtherCodeIsText", text: "```js\nx\n" + asJSON + "\n```", clean: "```js\nx\n" + asJSON +
		"\n```"},
}

func TestWrittenFormsHoldTheSameFields(t *testing.T) {
	for _, text := range []string{asJSON,
		`< SIGNAL Type=context_sufficient confidence=0,9><Sources_Found>3</sources_found><source_types>code</source_types></signal>`,
		html.EscapeString(`<signal type="context_sufficient"><sources_found>3</sources_found><source_types>["code"]</source_types><confidence>0.9</confidence></signal>`)} {
		_, r := Extract(text)
		if r.Signal == nil {
			t.Errorf("%s: no signal, %v", text, r.Problems)
			continue
		}
		types := r.Signal.List("source_types")
		assert.That(t, r.Signal.Text("sources_found") == "3" && len(types) == 1 && types[0] == "code" &&
			r.Signal.Confidence == 0.9, "%s: %+v", text, r.Signal)
		again, err := Parse(r.Signal.RawXML)
		assert.That(t, err == nil && again.Type == r.Signal.Type, "what is kept of it does not parse: %v", err)
	}
}

func TestOrdinaryTextIsShownAtOnce(t *testing.T) {
	var x Extractor
	for _, step := range []struct{ in, out string }{
		{"Si", ""}, {"x", "Six"}, {" s", " s"}, {"\n* ", "\n"}, {"a", "* a"}, {"\n```go\n", "\n"}, {"f", "```go\nf"},
		{"\n```\n{", "\n```\n"}, {`"`, ""}, {"name", `{"name`}, {" & ", " & "},
		{"\n" + lt + "sign", "\n"}, {"s", lt + "signs"},
	} {
		assert.Equalf(t, x.Write(step.in), step.out, "Write(%q)", step.in)
	}
}
