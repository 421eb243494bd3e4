package oracle_test

import (
	"fmt"
	"testing"

	"sibyl/internal/agent"
	"sibyl/internal/model/modeltest"
	"sibyl/internal/tool"
)

// calling plays three turns that call code_read with these arguments, and says in which turn a same call was found: 0 is never.
func calling(t *testing.T, does does, args [3]string) int {
	t.Helper()
	var script []modeltest.Turn
	for i, a := range args {
		script = append(script, modeltest.SayAndCall(needTurn("look for "+spelled[i]), "code_read", a))
	}
	h := setUp(t, append(script, theEnd)...)
	h.alone("the same call", 3)
	h.world.on("code_read", does)
	for _, n := range notices(h.ask(auth), agent.NoticeLoop) {
		return n.Turn
	}
	return 0
}

func TestWhatIsVolatileInArgumentsIsMasked(t *testing.T) {
	for name, args := range map[string][3]string{
		"a date":                 {`{"since":"2026-01-08"}`, `{"since":"2026-01-09"}`, `{"since":"2027-11-30"}`},
		"a time stamp":           {`{"since":"2026-01-08T10:00:00Z"}`, `{"since":"2026-01-08t11:30:00.250+01:00"}`, `{"since":"2026-01-09 10:00"}`},
		"a time of day":          {`{"since":"10:00"}`, `{"since":"11:30:05"}`, `{"since":"9:00 AM"}`},
		"unix seconds":           {`{"since":1767866400}`, `{"since":1767866401}`, `{"since":1767866400123}`},
		"a duration":             {`{"wait":"250 ms"}`, `{"wait":"1.5s"}`, `{"wait":"3 minutes"}`},
		"a day in words":         {`{"since":"Thu, 08 Jan 2026"}`, `{"since":"Fri, 9 Jan 2026"}`, `{"since":"Saturday 10 January 2026"}`},
		"a uuid":                 {`{"of":"0199a3c4-aaaa-7bbb-8ccc-ddddeeee0001"}`, `{"of":"0199A3C4-AAAA-7BBB-8CCC-DDDDEEEE0002"}`, `{"of":"deadbeef-aaaa-4bbb-accc-ddddeeeeffff"}`},
		"a hash":                 {`{"of":"4f2a9c0b1d3e4f5a6b7c"}`, `{"of":"9a8b7c6d5e4f3a2b1c0d"}`, `{"of":"0x1f2e3d4c5b6a7988aabb"}`},
		"a counter":              {`{"page":1}`, `{"page":2}`, `{"page":31}`},
		"a counter in a text":    {`{"q":"part 1 of it"}`, `{"q":"part 2 of it"}`, `{"q":"part 13 of it"}`},
		"a nonce":                {`{"q":"it","nonce":"alpha"}`, `{"q":"it","nonce":"beta"}`, `{"q":"it"}`},
		"the id of a request":    {`{"q":"it","Request_ID":"alpha"}`, `{"q":"it","request_id":"beta"}`, `{"q":"it","requestId":"gamma"}`},
		"an attempt":             {`{"q":"it","attempt":"first"}`, `{"q":"it","attempt":"second"}`, `{"q":"it","retry":true}`},
		"the order of names":     {`{"q":"it","in":"a","deep":{"x":1,"y":2}}`, `{"in":"a","deep":{"y":2,"x":1},"q":"it"}`, `{"deep":{"x":1,"y":2},"in":"a","q":"it"}`},
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

func TestNonceInsideAnArgumentIsMaskedLikeOneBesideIt(t *testing.T) {
	args := [3]string{`{"of":{"q":"it","nonce":"alpha"}}`, `{"of":{"q":"it","nonce":"beta"}}`, `{"of":{"q":"it","nonce":"gamma"}}`}
	same(t, "the turn in which the same call is found", calling(t, answers("always the same"), args), 3)
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
	paged := func(c tool.Call) (tool.Result, error) {
		return tool.Result{Text: "part " + string(c.Args), Items: 1}, nil
	}
	same(t, "pages", calling(t, paged, [3]string{`{"page":1}`, `{"page":2}`, `{"page":3}`}), 0)
	same(t, "lines", calling(t, opens(tool.Code, "the same text"), [3]string{lines("a.go", 1, 9), lines("a.go", 10, 19), lines("a.go", 20, 29)}), 0)
	same(t, "pages that come again", calling(t, paged, [3]string{`{"page":1}`, `{"page":1}`, `{"page":1}`}), 3)
}

func TestResultThatDiffersOnlyInTimesAndIDsIsNothingNew(t *testing.T) {
	for name, c := range map[string]struct {
		text func(n int) string
		news bool
	}{
		"the time":         {func(n int) string { return fmt.Sprintf("as of 2026-01-08T10:0%d:00Z, 3 tests fail", n) }, false},
		"the time it took": {func(n int) string { return fmt.Sprintf("3 tests fail (took %d.5 ms)", n) }, false},
		"an id":            {func(n int) string { return fmt.Sprintf("job 0199a3c4-aaaa-7bbb-8ccc-ddddeeee000%d: 3 tests fail", n) }, false},
		"a count":          {func(n int) string { return fmt.Sprintf("%d tests fail", n) }, true},
		"a word":           {func(n int) string { return "the test " + spelled[n] + " fails" }, true},
		"a line number":    {func(n int) string { return fmt.Sprintf("fails in line %d", n) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			at := calling(t, func(tool.Call) (tool.Result, error) {
				n++
				return tool.Result{Text: c.text(n), Items: 1}, nil
			}, [3]string{`{"q":"a"}`, `{"q":"a"}`, `{"q":"a"}`})
			same(t, "is a loop", at == 3, !c.news)
		})
	}
}

func TestNothingNewIsWhatNoResultHeldBefore(t *testing.T) {
	hit := func(names ...string) does {
		var refs []tool.Ref
		for _, n := range names {
			refs = append(refs, tool.Ref{Source: tool.Code, Path: n + ".go", Start: 1})
		}
		return finds(refs...)
	}
	for name, c := range map[string]struct {
		turns [3]does // of code_search
		loop  bool
	}{
		"the same hits in another order": {[3]does{hit("a", "b"), hit("b", "a"), hit("a", "b")}, true},
		"one more hit":                   {[3]does{hit("a"), hit("a", "b"), hit("a", "b")}, false},
		"no hit":                         {[3]does{hit(), hit(), hit()}, false}, // two turns in vain after none that was not
		"no hit after one":               {[3]does{hit("a"), hit(), hit()}, true},
	} {
		t.Run(name, func(t *testing.T) {
			var script []modeltest.Turn
			for i := range 3 {
				script = append(script, modeltest.SayAndCall(needTurn("look for "+spelled[i]), "code_search", `{"query":"`+spelled[i]+`"}`))
			}
			h := setUp(t, append(script, theEnd)...)
			h.alone("nothing new", 2)
			n := 0
			h.world.on("code_search", func(call tool.Call) (tool.Result, error) {
				n++
				return c.turns[n-1](call)
			})
			found := notices(h.ask(auth), agent.NoticeLoop)
			same(t, "is found in the third turn", len(found) == 1 && found[0].Turn == 3, c.loop)
		})
	}
}

func TestHitThatIsOpenedIsNews(t *testing.T) {
	place := tool.Ref{Source: tool.Code, Path: "a.go", Start: 1, End: 9}
	h := setUp(t, modeltest.SayAndCall(needTurn("search"), "code_search", `{}`), modeltest.SayAndCall(needTurn("open"), "code_read", lines("a.go", 1, 9)),
		modeltest.SayAndCall(needTurn("again"), "code_read", lines("a.go", 1, 9)), theEnd)
	h.alone("nothing new", 1)
	h.world.on("code_search", finds(place))
	same(t, "loops found", loops(h.ask(auth)), []string{"3: nothing new, step 1"})
}
