package bt

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// doubling is a tree whose text doubles in each round.
const doubling = `<Sequence><Script code="t := 'x'; done := false"/><Loop max="64" until="{done}"><Script code="t := t .. t"/></Loop></Sequence>`

func TestTextThatDoublesBreaksTheStepAndNamesItsKeyAndTheBound(t *testing.T) {
	for name, body := range map[string]string{
		"joined":         doubling,
		"added":          strings.ReplaceAll(doubling, "t := t .. t", "t += t"),
		"by another key": strings.ReplaceAll(doubling, "t := t .. t", "a := t; t := a .. t"),
		"in a condition": strings.ReplaceAll(doubling, `<Script code="t := t .. t"/>`,
			`<AlwaysSuccess _post="t = t + t"/>`),
	} {
		t.Run(name, func(t *testing.T) {
			tr := load(t, someLeaves(t), file(body), Options{})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := tr.Step(tr.NewState(), Input{}, nil)
			runtime.ReadMemStats(&after)
			assert.That(t, errors.Is(err, ErrBound) && strings.Contains(err.Error(), "key {t}") &&
				strings.Contains(err.Error(), fmt.Sprint(MaxText)), "error: %v", err)
			used := after.TotalAlloc - before.TotalAlloc
			assert.That(t, used <= 8*MaxText, "%d bytes were used", used)
		})
	}
}

func TestTextsOfAllKeysTogetherAreBounded(t *testing.T) {
	b := &strings.Builder{}
	b.WriteString(`<Sequence><Script code="t := 'x'; done := false; n := 0"/><Loop max="22" until="{done}"><Script code="t := t .. t; n += 1; done := n == 22"/></Loop>`)
	for k := range 8 {
		fmt.Fprintf(b, `<Script code="k%d := t"/>`, k)
	}
	tr := load(t, someLeaves(t), file(b.String()+`</Sequence>`), Options{})
	s := tr.NewState()
	_, err := tr.Step(s, Input{}, nil)
	assert.That(t, errors.Is(err, ErrBound) && strings.Contains(err.Error(), "key {k3}") &&
		strings.Contains(err.Error(), fmt.Sprint(MaxTexts)), "error: %v", err)
	assert.That(t, s.texts == totalTextBytes(s.Slots) && s.texts <= MaxTexts,
		"%d bytes are counted, and %d held", s.texts, totalTextBytes(s.Slots))
}

func TestTextOfALeafAndOneThatIsGivenAreBoundedToo(t *testing.T) {
	v := &values{Text: strings.Repeat("x", MaxText+1)}
	r := registry(t, emitLeaf(v), needLeaf())
	tr := load(t, r, file(`<Sequence><Emit text="{said}"/><Need text="{said}"/></Sequence>`), Options{})
	_, err := tr.Step(tr.NewState(), Input{}, nil)
	assert.That(t, errors.Is(err, ErrBound) && strings.Contains(err.Error(), "key {said}"), "leaf: %v", err)
	tr = load(t, r, file(`<Need text="{words}"/>`),
		Options{Given: []Port{{Name: "words", Type: reflect.TypeFor[string]()}}})
	err = tr.Set(tr.NewState(), "words", v.Text)
	assert.That(t, errors.Is(err, ErrBound) && strings.Contains(err.Error(), "key {words}"), "given: %v", err)
}

func TestScriptsOfAStepDoBoundedWork(t *testing.T) {
	long := strings.Repeat("b := t == u; ", 300)
	for name, body := range map[string]string{
		"over long texts": `<Sequence><Script code="t := 'x'; u := 'y'; done := false; n := 0"/>
			<Loop max="20" until="{done}"><Script code="t := t .. t; u := u .. u; n += 1; done := n == 20"/></Loop>
			<Repeat num_cycles="500"><Script code="` + long + `"/></Repeat></Sequence>`,
		"of many operations": `<Sequence><Script code="t := 1; u := 2"/><Repeat num_cycles="4000"><Script code="` +
			long + `"/></Repeat></Sequence>`,
		"by comparing cases": `<Sequence><Script code="t := '1'; done := false; n := 0"/>
			<Loop max="20" until="{done}"><Script code="t := t .. t; n += 1; done := n == 20"/></Loop>
			<Repeat num_cycles="3000"><Switch2 variable="{t}" case_1="a" case_2="b"><AlwaysSuccess/><AlwaysSuccess/><AlwaysSuccess/></Switch2></Repeat></Sequence>`,
	} {
		t.Run(name, func(t *testing.T) {
			tr := load(t, someLeaves(t), file(body), Options{})
			_, err := tr.Step(tr.NewState(), Input{}, nil)
			assert.That(t, errors.Is(err, ErrBound) && strings.Contains(err.Error(), "units of work"), "error: %v", err)
		})
	}
}

func TestMessageQuotesOnlyTheBeginningOfALongText(t *testing.T) {
	grow := `<Sequence><Script code="t := 'x'; done := false; n := 0"/><Loop max="20" until="{done}"><Script code="t := t .. t; n += 1; done := n == 20"/></Loop>`
	for _, code := range []string{"b := t * 2", "b := -t", "b := t &amp;&amp; true", "n := t"} {
		tr := load(t, someLeaves(t),
			file(grow+`<Script code="`+code+`"/><Loop max="{n}" until="{done}"><AlwaysSuccess/></Loop></Sequence>`),
			Options{})
		_, err := tr.Step(tr.NewState(), Input{}, nil)
		assert.That(t, err != nil && len(err.Error()) <= 1000, "%s: %.2000v", code, err)
	}
}

func TestWhatWillGoBeyondABoundIsWarnedOf(t *testing.T) {
	looped := func(code string) string {
		return `<Sequence><Script code="t := 'x'; n := 1; done := false"/><Loop max="9" until="{done}"><Script code="` +
			code + `"/></Loop></Sequence>`
	}
	doubles := "key {t} doubles with each round of the Loop"
	for _, c := range []struct{ body, warning string }{
		{looped("t := t .. t"), doubles},
		{looped("t := (t .. ' ') .. t"), doubles},
		{looped("t += t"), doubles},
		{looped("t = done ? t : t + t"), doubles},
		{looped("t := t .. 'x'"), ""},
		{looped("t := done ? t : t"), ""},
		{looped("n := n + n"), ""},
		{looped("n += n"), ""},
		{`<Script code="t := 'x'; t := t .. t"/>`, ""},
		{`<Repeat num_cycles="20000"><AlwaysSuccess/></Repeat>`, "20000 rounds of a Repeat in which nothing waits"},
		{`<Sequence><Script code="done := false"/><Loop max="10000" until="{done}"><Sequence><AlwaysSuccess/></Sequence></Loop></Sequence>`, "10000 rounds of a Loop"},
		{`<Repeat num_cycles="20000"><Ask question="why?"/></Repeat>`, ""},
		{`<Repeat num_cycles="20000"><Delay delay_msec="1"><AlwaysSuccess/></Delay></Repeat>`, ""},
		{`<Repeat num_cycles="9"><AlwaysSuccess/></Repeat>`, ""},
	} {
		var found []string
		for _, p := range load(t, someLeaves(t), file(c.body), Options{}).Warnings {
			if strings.Contains(p.Message, "doubles") || strings.Contains(p.Message, "rounds") {
				found = append(found, p.Message)
			}
		}
		assert.That(t, (c.warning != "" || found == nil) && (c.warning == "" || (len(found) == 1 &&
			strings.HasPrefix(found[0], c.warning))), "%s: %q, want %q", c.body, found, c.warning)
	}
}

func TestWhatAnEffectIsAskedWithIsBounded(t *testing.T) {
	tr := load(t, someLeaves(t), file(`<Ask question="{words}"/>`),
		Options{Given: []Port{{Name: "words", Type: reflect.TypeFor[string]()}}})
	s := tr.NewState()
	set(t, tr, s, "words", strings.Repeat("\x01", MaxPayload/4))
	_, err := tr.Step(s, Input{}, nil)
	assert.That(t, errors.Is(err, ErrBound) && strings.Contains(err.Error(), "request model has "), "error: %v", err)
}
