package agent_test

import (
	"fmt"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/bt"
	"sibyl/internal/tool"
)

// calling plays three turns that call read with these arguments, and says in which turn a same call was found: 0 is
// never. gives is what the nth call gives.
func calling(t *testing.T, gives func(n int) tool.Result, args [3]string) int {
	t.Helper()
	b := set(t, `<Sequence>`+runTools+
		`<GoesRound ledger="{ledger}" reasons="0" calls="3" errors="0" rounds="0" idle="0"/></Sequence>`)
	for i, a := range args {
		if b.turn(false, call{tool: "read", args: a, gives: gives(i + 1)}) == bt.Success {
			return i + 1
		}
	}
	return 0
}

// answers gives the same text each time.
func answers(text string) func(int) tool.Result {
	return func(int) tool.Result { return tool.Result{Text: text, Items: 1} }
}

func TestWhatIsVolatileInArgumentsIsMasked(t *testing.T) {
	for name, args := range map[string][3]string{
		"a date": {`{"since":"2026-01-08"}`, `{"since":"2026-01-09"}`, `{"since":"2027-11-30"}`},
		"a time stamp": {`{"since":"2026-01-08T10:00:00Z"}`, `{"since":"2026-01-08t11:30:00.250+01:00"}`,
			`{"since":"2026-01-09 10:00"}`},
		"a time of day": {`{"since":"10:00"}`, `{"since":"11:30:05"}`, `{"since":"9:00 AM"}`},
		"unix seconds":  {`{"since":1767866400}`, `{"since":1767866401}`, `{"since":1767866400123}`},
		"a duration":    {`{"wait":"250 ms"}`, `{"wait":"1.5s"}`, `{"wait":"3 minutes"}`},
		"a day in words": {`{"since":"Thu, 08 Jan 2026"}`, `{"since":"Fri, 9 Jan 2026"}`,
			`{"since":"Saturday 10 January 2026"}`},
		"a uuid": {`{"of":"0199a3c4-aaaa-7bbb-8ccc-ddddeeee0001"}`,
			`{"of":"0199A3C4-AAAA-7BBB-8CCC-DDDDEEEE0002"}`, `{"of":"deadbeef-aaaa-4bbb-accc-ddddeeeeffff"}`},
		"a hash": {`{"of":"4f2a9c0b1d3e4f5a6b7c"}`, `{"of":"9a8b7c6d5e4f3a2b1c0d"}`,
			`{"of":"0x1f2e3d4c5b6a7988aabb"}`},
		"a counter":           {`{"page":1}`, `{"page":2}`, `{"page":31}`},
		"a counter in a text": {`{"q":"part 1 of it"}`, `{"q":"part 2 of it"}`, `{"q":"part 13 of it"}`},
		"a nonce":             {`{"q":"it","nonce":"alpha"}`, `{"q":"it","nonce":"beta"}`, `{"q":"it"}`},
		"the id of a request": {`{"q":"it","Request_ID":"alpha"}`, `{"q":"it","request_id":"beta"}`,
			`{"q":"it","requestId":"gamma"}`},
		"an attempt": {`{"q":"it","attempt":"first"}`, `{"q":"it","attempt":"second"}`,
			`{"q":"it","retry":true}`},
		"the order of names": {`{"q":"it","in":"a","deep":{"x":1,"y":2}}`,
			`{"in":"a","deep":{"y":2,"x":1},"q":"it"}`, `{"deep":{"x":1,"y":2},"in":"a","q":"it"}`},
		"blanks":                 {`{"q":"it is"}`, "{\n  \"q\" : \"it is\"\n}", `{"q":"it   is"}`},
		"capitals":               {`{"q":"Auth"}`, `{"q":"auth"}`, `{"q":"AUTH"}`},
		"escapes":                {`{"q":"a\/b"}`, `{"q":"a/b"}`, `{"q":"\u0061/b"}`},
		"what is no JSON at all": {`{"q": page 1`, `{"q":  page 2`, `{"q": PAGE 3`},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "the turn in which the same call is found", calling(t, answers("always the same"), args), 3)
		})
	}
}

// An id has no place where its first digit must stand.
func TestHexIDIsMaskedWhereverItsDigitsStand(t *testing.T) {
	for name, args := range map[string][3]string{
		"late":     {`{"of":"abcdefab12ff"}`, `{"of":"fedcbafe34aa"}`, `{"of":"4f2a9c0b1d3e"}`},
		"sixteen":  {`{"of":"abcdefab12345678"}`, `{"of":"1234567890abcdef"}`, `{"of":"deadbeefcafe0001"}`},
		"the last": {`{"of":"abcdefabcdefabcdef1"}`, `{"of":"fedcbafedcbafedcba2"}`, `{"of":"deadbeefdeadbeef3"}`},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "the turn in which the same call is found", calling(t, answers("always the same"), args), 3)
		})
	}
}

func TestWhatIsAskedForIsNotMasked(t *testing.T) {
	for name, args := range map[string][3]string{
		"other words":         {`{"q":"auth"}`, `{"q":"token"}`, `{"q":"session"}`},
		"other files":         {`{"path":"a.go"}`, `{"path":"b.go"}`, `{"path":"c.go"}`},
		"another name":        {`{"path":"a"}`, `{"file":"a"}`, `{"folder":"a"}`},
		"a word of hex marks": {`{"q":"facade"}`, `{"q":"decade"}`, `{"q":"deface"}`},
		"another kind":        {`{"q":"a"}`, `{"q":["a"]}`, `{"q":{"a":"a"}}`},
		"true and false":      {`{"deep":true}`, `{"deep":false}`, `{"deep":null}`},
		"twice in three":      {`{"q":"auth"}`, `{"q":"auth"}`, `{"q":"token"}`},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, "the turn in which the same call is found", calling(t, answers("always the same"), args), 0)
		})
	}
}

func TestPagesAndLinesThatBringSomethingNewAreNoLoop(t *testing.T) {
	page := func(n int) tool.Result { return tool.Result{Text: fmt.Sprintf("part %d", n), Items: 1} }
	opened := func(n int) tool.Result {
		return tool.Result{Text: "the same text", Items: 1,
			Refs: []tool.Ref{{Source: tool.Code, Path: "a.go", Start: 10 * n, End: 10*n + 9, Opened: true}}}
	}
	same(t, "pages", calling(t, page, [3]string{`{"page":1}`, `{"page":2}`, `{"page":3}`}), 0)
	same(t, "lines", calling(t, opened, [3]string{`{"start":10}`, `{"start":20}`, `{"start":30}`}), 0)
	same(t, "pages that come again", calling(t, func(int) tool.Result {
		return page(1)
	}, [3]string{`{"page":1}`, `{"page":1}`, `{"page":1}`}), 3)
}

func TestResultThatDiffersOnlyInTimesAndIDsIsNothingNew(t *testing.T) {
	for name, c := range map[string]struct {
		text func(n int) string
		news bool
	}{
		"the time": {func(n int) string {
			return fmt.Sprintf("as of 2026-01-08T10:0%d:00Z, 3 tests fail", n)
		}, false},
		"the time it took": {func(n int) string { return fmt.Sprintf("3 tests fail (took %d.5 ms)", n) }, false},
		"an id": {func(n int) string {
			return fmt.Sprintf("job 0199a3c4-aaaa-7bbb-8ccc-ddddeeee000%d: 3 tests fail", n)
		}, false},
		"a count":       {func(n int) string { return fmt.Sprintf("%d tests fail", n) }, true},
		"a word":        {func(n int) string { return fmt.Sprintf("the test %c fails", 'a'+n) }, true},
		"a line number": {func(n int) string { return fmt.Sprintf("fails in line %d", n) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			at := calling(t, func(n int) tool.Result {
				return tool.Result{Text: c.text(n), Items: 1}
			}, [3]string{`{"q":"a"}`, `{"q":"a"}`, `{"q":"a"}`})
			same(t, "is a loop", at == 3, !c.news)
		})
	}
}

func TestNothingNewIsWhatNoResultHeldBefore(t *testing.T) {
	found := func(opened bool, names ...string) tool.Result {
		r := tool.Result{Text: fmt.Sprint(names), Items: len(names)}
		for _, n := range names {
			r.Refs = append(r.Refs, tool.Ref{Source: tool.Code, Path: n + ".go", Start: 1, Opened: opened})
		}
		return r
	}
	hits := func(names ...string) tool.Result { return found(false, names...) }
	for name, c := range map[string]struct {
		turns [3]tool.Result
		news  [3]bool
	}{
		"the same hits in another order": {[3]tool.Result{hits("a", "b"), hits("b", "a"), hits("a", "b")},
			[3]bool{true, false, false}},
		"one more hit": {[3]tool.Result{hits("a"), hits("a", "b"), hits("a", "b")},
			[3]bool{true, true, false}},
		"no hit":           {[3]tool.Result{hits(), hits(), hits()}, [3]bool{false, false, false}},
		"no hit after one": {[3]tool.Result{hits("a"), hits(), hits()}, [3]bool{true, false, false}},
		"a hit that is opened": {[3]tool.Result{hits("a"), found(true, "a"), found(true, "a")},
			[3]bool{true, true, false}},
	} {
		t.Run(name, func(t *testing.T) {
			b := set(t, `<Sequence>`+runTools+
				`<GoesRound ledger="{ledger}" reasons="0" calls="0" errors="0" rounds="0" idle="1"/></Sequence>`)
			for i, r := range c.turns {
				vain := b.turn(false, call{tool: "search", args: fmt.Sprintf(`{"query":"%c"}`, 'a'+i),
					gives: r}) == bt.Success
				same(t, fmt.Sprintf("turn %d brings something new", i+1), !vain, c.news[i])
			}
		})
	}
}

func TestCycleOfParallelCallsIsFoundInWhateverOrderTheyEnd(t *testing.T) {
	b := set(t, `<Sequence>`+runTools+
		`<GoesRound ledger="{ledger}" reasons="0" calls="0" errors="0" longest="4" rounds="2" idle="0"/></Sequence>`)
	here, there := []call{reads("a"), reads("b")}, []call{reads("c"), reads("d"), reads("e")}
	for i, turn := range []struct {
		lastFirst bool
		calls     []call
		want      bt.Status
	}{{false, here, bt.Failure}, {false, there, bt.Failure}, {true, here, bt.Failure}, {true, there, bt.Success}} {
		assert.Equalf(t, b.turn(turn.lastFirst, turn.calls...), turn.want, "turn %d", i+1)
	}
}

func TestNonceInsideAnArgumentIsMaskedLikeOneBesideIt(t *testing.T) {
	args := [3]string{`{"of":{"q":"it","nonce":"alpha"}}`, `{"of":{"q":"it","nonce":"beta"}}`,
		`{"of":{"q":"it","nonce":"gamma"}}`}
	same(t, "the turn in which the same call is found", calling(t, answers("always the same"), args), 3)
}
