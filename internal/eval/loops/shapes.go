package loops

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"sibyl/internal/model"
	"sibyl/internal/tool"
)

// Shape is a way in which a model repeats itself. What it does in detail differs with the seed.
type Shape struct {
	Name   string
	Doc    string
	Honest bool // every repetition brings the model on, or may; it ends by itself
	plan   func(*rand.Rand) plan
}

// plan is what a model does, turn by turn.
type plan struct {
	moves []move
	from  int // the loop goes from this move to the last one and back, for ever; -1: there is none
}

// move is one turn: words, a reason for another turn, and calls.
type move struct {
	text   string
	reason string
	calls  []call
}

// call is a call, and what the tool says to it.
type call struct {
	tool, args string
	gives      func(nth int) (tool.Result, error) // nth call of the run, from 0
}

// at gives the move of a turn; ok is false when the plan is done.
func (p plan) at(turn int) (move, bool) {
	switch {
	case turn < len(p.moves):
		return p.moves[turn], true
	case p.from < 0:
		return move{}, false
	}
	return p.moves[p.from+(turn-p.from)%(len(p.moves)-p.from)], true
}

// Shapes lists the loops, then the honest repetitions.
func Shapes() []Shape { return slices.Concat(loopShapes(), askingAgain(), readingOn()) }

func loopShapes() []Shape {
	return []Shape{
		{"same call", "one call, again and again", false, func(r *rand.Rand) plan { return looping(r, always(read(pick(r)))) }},
		{"same text", "the same words, no call, another reason each time", false, func(r *rand.Rand) plan {
			text := "I think that it has to do with " + pick(r) + "."
			return looping(r, func(i int) move { return move{text: text, reason: "thinking about " + word(i)} })
		}},
		{"same reason", "the same reason, another call each time that finds nothing", false, func(r *rand.Rand) plan {
			reason := "I still need the definition of " + pick(r)
			return looping(r, func(i int) move { return move{reason: reason, calls: []call{searchNothing(word(i))}} })
		}},
		{"two-cycle", "two calls in turn", false, func(r *rand.Rand) plan { return looping(r, cycle(read(word(1)), read(word(2)))) }},
		{"three-cycle", "three calls in turn", false, func(r *rand.Rand) plan {
			return looping(r, cycle(read(word(1)), search(word(2)), read(word(3))))
		}},
		{"four-cycle", "four calls in turn", false, func(r *rand.Rand) plan {
			return looping(r, cycle(read(word(1)), search(word(2)), read(word(3)), search(word(4))))
		}},
		{"clock in the output", "one call, whose result differs in the time of day only", false, func(r *rand.Rand) plan {
			c := status(r, func(n int) string {
				return fmt.Sprintf("as of 2026-11-%02d %02d:%02d:%02d: no change", 1+n%28, n%24, n%60, (7*n)%60)
			})
			return looping(r, always(c))
		}},
		{"counter in the arguments", "one call with a counter in it, and the same result", false, func(r *rand.Rand) plan {
			path := pick(r)
			return looping(r, func(i int) move {
				c := read(path)
				c.args = fmt.Sprintf(`{"path":%q,"attempt":%d,"note":"try %d"}`, path+".md", i, i)
				return move{reason: fmt.Sprintf("attempt %d", i), calls: []call{c}}
			})
		}},
		{"one harmless call between", "one call, and every second time another harmless one that brings nothing either", false, func(r *rand.Rand) plan {
			a, harmless := read(word(1)), listing()
			return looping(r, func(i int) move {
				if i%2 == 1 {
					return move{reason: "looking around " + word(i), calls: []call{harmless}}
				}
				return move{reason: "reading " + word(i), calls: []call{a}}
			})
		}},
		{"same error", "another call each time, the same error", false, func(r *rand.Rand) plan {
			return looping(r, func(i int) move { return move{reason: "open " + word(i), calls: []call{denied(word(i))}} })
		}},
		{"other words for nothing", "searches with ever other words that find nothing", false, func(r *rand.Rand) plan {
			return looping(r, func(i int) move { return move{reason: "search " + word(i), calls: []call{searchNothing(word(i))}} })
		}},
	}
}

// askingAgain are honest repetitions that wait, page and retry.
func askingAgain() []Shape {
	return []Shape{
		{"polling", "one call, whose result goes on", true, func(r *rand.Rand) plan {
			n := 4 + r.IntN(8)
			c := status(r, func(n int) string { return fmt.Sprintf("step %d is done", n) })
			return honest(r, n, always(c))
		}},
		{"polling while nothing happens", "one call, whose result stays the same 2 to 6 times and then goes on", true, func(r *rand.Rand) plan {
			waits := 2 + r.IntN(5)
			c := status(r, func(n int) string {
				if n < waits {
					return "waiting"
				}
				return fmt.Sprintf("step %d is done", n)
			})
			return honest(r, waits+3, always(c))
		}},
		{"paging", "page after page of one list", true, func(r *rand.Rand) plan {
			path := pick(r)
			return honest(r, 4+r.IntN(10), func(i int) move {
				return move{reason: "the next page", calls: []call{readLines(path, 1+100*i, 100+100*i)}}
			}).otherReasons()
		}},
		{"paging for one reason", "page after page, and the reason stays the same to the letter", true, func(r *rand.Rand) plan {
			path := pick(r)
			return honest(r, 4+r.IntN(10), func(i int) move {
				return move{reason: "the next page", calls: []call{readLines(path, 1+100*i, 100+100*i)}}
			})
		}},
		{"retry after a change", "a call that fails, a write, the same call again", true, func(r *rand.Rand) plan {
			check := gives("vault_check", `{"path":"."}`, tool.Result{Text: "1 test fails", Items: 1})
			return honest(r, 6+2*r.IntN(4), func(i int) move {
				if i%2 == 1 {
					return move{reason: "change " + word(i), calls: []call{write(word(i))}}
				}
				return move{reason: "check " + word(i), calls: []call{check}}
			})
		}},
		{"retry after a failure", "a call that fails twice and then works", true, func(r *rand.Rand) plan {
			path := pick(r)
			return honest(r, 5, func(i int) move {
				if i < 2 {
					return move{reason: fmt.Sprintf("try %s once more", word(i)), calls: []call{unavailable(path)}}
				}
				return move{reason: "read " + word(i), calls: []call{read(path + word(i))}}
			})
		}},
	}
}

// readingOn are honest repetitions on the way through what there is to read.
func readingOn() []Shape {
	return []Shape{
		{"reading a long file", "range after range, always for the same purpose", true, func(r *rand.Rand) plan {
			path := pick(r)
			return honest(r, 4+r.IntN(8), func(i int) move {
				return move{reason: "what comes after line " + fmt.Sprint(80*i), calls: []call{readLines(path, 1+80*i, 80+80*i)}}
			})
		}},
		{"search and read in turn", "a search, then what it found, with other words each time", true, func(r *rand.Rand) plan {
			return honest(r, 6+r.IntN(8), func(i int) move {
				c := search(word(i))
				if i%2 == 1 {
					c = read(word(i))
				}
				return move{reason: "follow " + word(i), calls: []call{c}}
			})
		}},
		{"looking twice", "some places are read again to compare", true, func(r *rand.Rand) plan {
			return honest(r, 6, func(i int) move { return move{reason: "compare " + word(i), calls: []call{read(word(i % 4))}} })
		}},
		{"thinking aloud", "a few turns of words between calls", true, func(r *rand.Rand) plan {
			return honest(r, 6+r.IntN(4), func(i int) move {
				if i%3 != 0 {
					return move{text: "So " + word(i) + " calls " + word(i+1) + ".", reason: "work out " + word(i)}
				}
				return move{reason: "read " + word(i), calls: []call{read(word(i))}}
			})
		}},
	}
}

// looping does something useful a few times, and then loops.
func looping(r *rand.Rand, loop func(i int) move) plan {
	p := useful(r)
	p.from = len(p.moves)
	for i := range 60 { // more than any run has turns, so that what differs from turn to turn never comes back
		p.moves = append(p.moves, loop(i))
	}
	return p
}

// honest does something useful a few times, and then repeats itself so often for a reason.
func honest(r *rand.Rand, times int, step func(i int) move) plan {
	p := useful(r)
	p.from = -1
	for i := range times {
		p.moves = append(p.moves, step(i))
	}
	return p
}

// otherReasons numbers the reasons, as a model that reports well does.
func (p plan) otherReasons() plan {
	for i := range p.moves {
		p.moves[i].reason += fmt.Sprintf(", after %d", i)
	}
	return p
}

func useful(r *rand.Rand) (p plan) {
	for i := range 1 + r.IntN(3) {
		name := "start" + word(900+i)
		p.moves = append(p.moves, move{reason: "first " + name, calls: []call{read(name)}})
	}
	return p
}

func always(c call) func(int) move {
	return func(i int) move { return move{reason: "once more, for " + spell(i), calls: []call{c}} }
}

func cycle(calls ...call) func(int) move {
	return func(i int) move { return move{reason: "next " + spell(i), calls: []call{calls[i%len(calls)]}} }
}

var syllables = []string{"ba", "de", "fi", "go", "ku", "la", "me", "ni", "po", "ru", "sa", "te", "vi", "wo", "zu"}

// spell writes a number in letters, so that no two turns say the same.
func spell(n int) string {
	b := &strings.Builder{}
	for n++; n > 0; n /= len(syllables) {
		b.WriteString(syllables[n%len(syllables)])
	}
	return b.String()
}

// word is a name that belongs to a number; pick is any.
func word(i int) string        { return "part" + spell(i) }
func pick(r *rand.Rand) string { return word(r.IntN(3000)) }

func read(name string) call { return readLines(name, 1, 40) }

func readLines(name string, from, to int) call {
	ref := tool.Ref{Source: tool.Vault, Path: name + ".md", Start: from, End: to, Opened: true}
	return gives("vault_read", fmt.Sprintf(`{"path":%q,"start":%d,"end":%d}`, name+".md", from, to),
		tool.Result{Text: "lines of " + ref.String(), Items: 1, Refs: []tool.Ref{ref}})
}

func search(name string) call {
	ref := tool.Ref{Source: tool.Vault, Path: name + ".md", Start: 7, End: 9}
	return gives("vault_search", fmt.Sprintf(`{"query":%q}`, name), tool.Result{Text: ref.String(), Items: 1, Refs: []tool.Ref{ref}})
}

func searchNothing(name string) call {
	return gives("vault_search", fmt.Sprintf(`{"query":%q}`, name), tool.Result{Text: "nothing matches " + name})
}

func listing() call { return gives("vault_check", `{}`, tool.Result{Text: "12 files", Items: 12}) }

func write(name string) call {
	return gives("vault_write", fmt.Sprintf(`{"path":%q}`, name), tool.Result{Text: "written " + name, Items: 1})
}

func status(r *rand.Rand, says func(nth int) string) call {
	return call{tool: "vault_check", args: fmt.Sprintf(`{"path":%q}`, pick(r)),
		gives: func(n int) (tool.Result, error) { return tool.Result{Text: says(n), Items: 1}, nil }}
}

func denied(name string) call {
	return fails("../"+name, tool.Errorf(tool.Denied, "stay below the root", "the path leads outside"))
}

func unavailable(name string) call {
	return fails(name, tool.Errorf(tool.Unavailable, "try again", "busy"))
}

// gives is a call that always has this result.
func gives(name, args string, result tool.Result) call {
	return call{tool: name, args: args, gives: func(int) (tool.Result, error) { return result, nil }}
}

// fails is a call to read what can't be read.
func fails(path string, err *tool.Error) call {
	return call{tool: "vault_read", args: fmt.Sprintf(`{"path":%q}`, path), gives: func(int) (tool.Result, error) { return tool.Result{}, err }}
}

// reply is a move as a model would say it.
func (m move) reply() model.Response {
	resp := model.Response{Text: m.text + "\n<signal type=\"need_turn\"><reason>" + m.reason + "</reason><confidence>0.7</confidence></signal>", Finish: model.FinishStop}
	for i, c := range m.calls {
		resp.ToolCalls = append(resp.ToolCalls, model.ToolCall{ID: fmt.Sprintf("call_%d", i), Name: c.tool, Arguments: c.args})
		resp.Finish = model.FinishTools
	}
	return resp
}
