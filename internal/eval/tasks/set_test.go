package tasks

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	evaldata "sibyl/eval"
)

func mustLoad(t *testing.T) []Dialogue {
	t.Helper()
	all, err := Load(evaldata.Files, evaldata.TaskDialogues)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSetIsLargeHalfFrozenAndInThreeLanguages(t *testing.T) {
	turns, frozen, byLang := 0, 0, map[string]int{}
	all := mustLoad(t)
	for _, d := range all {
		turns += len(d.Turns)
		byLang[d.Lang] += len(d.Turns)
		if d.Frozen {
			frozen += len(d.Turns)
		}
	}
	if len(all) < 140 || turns < 320 {
		t.Errorf("%d turns in %d dialogues; at least 320 in 140 are wanted", turns, len(all))
	}
	if part := float64(frozen) / float64(turns); part < 0.45 || part > 0.55 {
		t.Errorf("%.2f of the turns are frozen, not about half", part)
	}
	for lang, least := range map[string]float64{"en": 0.5, "de": 0.2, "pt": 0.2} {
		if part := float64(byLang[lang]) / float64(turns); part < least {
			t.Errorf("%.2f of the turns are in %s, at least %.2f are wanted", part, lang, least)
		}
	}
}

func TestNoDialogueStandsTwice(t *testing.T) {
	seen := map[string]string{}
	for _, d := range mustLoad(t) {
		var said strings.Builder
		fmt.Fprint(&said, d.Tasks)
		for _, turn := range d.Turns {
			fmt.Fprint(&said, "\n", strings.Trim(strings.ToLower(turn.Say), " .!?"), turn.Meanwhile)
		}
		if other, twice := seen[said.String()]; twice {
			t.Errorf("%s says the same as %s to the same list", d.ID, other)
		}
		seen[said.String()] = d.ID
	}
}

func TestWrongLabelsAreRefusedWithLineAndReason(t *testing.T) {
	line := func(turn string) string {
		return `{"id":"a","lang":"en","frozen":false,"about":"x","turns":[` + turn + `]}`
	}
	for text, want := range map[string]string{
		line(`{"say":"hi","expect":{"status":"fine"}}`):                                                                      `"fine" is no status`,
		line(`{"say":"hi","expect":{"calls":[]}}`):                                                                           `"status" is missing`,
		line(`{"say":"hi"}`):                                                                                                 `it needs "say" and "expect"`,
		line(`{"say":"hi","expect":{"status":"success","calls":[{"tool":"drop"}]}}`):                                         `no tool "drop"`,
		line(`{"say":"hi","expect":{"status":"success","calls":[{"tool":"delete_task"}]}}`):                                  `lacks the argument "task"`,
		line(`{"say":"hi","expect":{"status":"success","calls":[{"tool":"add_task","args":{"title":"x","due":"y"}}]}}`):      `the argument "due"`,
		line(`{"say":"hi","expect":{"status":"success","wants":1}}`):                                                         `"wants"`,
		line(`{"say":"hi","kind":"stray","expect":{"status":"success","calls":[{"tool":"add_task","args":{"title":"x"}}]}}`): "nothing may change",
	} {
		text = strings.Replace(text, `"frozen":false`, fmt.Sprintf(`"frozen":%t`, Dialogue{Turns: []Turn{{Say: "hi"}}}.FrozenBy()), 1)
		_, err := Load(fstest.MapFS{"set.jsonl": {Data: []byte(text)}}, "set.jsonl")
		if err == nil || !strings.Contains(err.Error(), "set.jsonl: line 1") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngives %v, want %q", text, err, want)
		}
	}
}

func TestNobodyChoosesWhatIsFrozen(t *testing.T) {
	frozen := !Dialogue{Turns: []Turn{{Say: "hi"}}}.FrozenBy()
	text := fmt.Sprintf(`{"id":"a","lang":"en","frozen":%t,"about":"x","turns":[{"say":"hi","expect":{"status":"success"}}]}`, frozen)
	if _, err := Load(fstest.MapFS{"s": {Data: []byte(text)}}, "s"); err == nil || !strings.Contains(err.Error(), "the hash") {
		t.Errorf("%v; the hash of what is said was not asked", err)
	}
}
