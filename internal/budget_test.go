package internal

import (
	"io/fs"
	"os"
	"strings"
	"testing"
)

// budgets are how many lines of Go, without tests, each room may have. A number may only be lowered: a room that needs
// more has to drop something else first, or the house grows to what nobody can read. A folder counts to the longest
// name that it is under.
var budgets = map[string]int{
	"cmd":                145,
	"cmd/sibyl-eval":     3392,
	"eval":               34,
	"internal/agent":     4179,
	"internal/api":       5846,
	"internal/app":       2342,
	"internal/behaviour": 361,
	"internal/bert":      1061,
	"internal/bt":        4969,
	"internal/cli":       12965,
	"internal/config":    3984,
	"internal/council":   6943,
	"internal/files":     1389,
	"internal/inquiry":   5593,
	"internal/journal":   950,
	"internal/keys":      682,
	"internal/mcp":       1713,
	"internal/media":     3760,
	"internal/model":     7901,
	"internal/oracle":    7694,
	"internal/problem":   302,
	"internal/redact":    1197,
	"internal/render":    1660,
	"internal/run":       5331,
	"internal/schema":    594,
	"internal/server":    1805,
	"internal/service":   4382,
	"internal/signal":    1815,
	"internal/store":     4214,
	"internal/task":      746,
	"internal/taskchat":  4492,
	"internal/text":      2294,
	"internal/tool":      10178,
	"prompts":            109,
	"trees":              93,
	"web":                10,
}

// mostRooms is how many rooms the house may have.
const mostRooms = 30

// slack is how far a room may stay below its number before that has to be lowered, so that what was saved stays saved.
const slack = 100

func TestEveryRoomKeepsToItsBudgetOfLines(t *testing.T) {
	lines, err := linesByRoom(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	for room, most := range budgets {
		all += lines[room]
		switch n := lines[room]; {
		case n > most:
			t.Errorf("%s has %d lines of Go, and %d are allowed: take something out, there or in a room that it can use", room, n, most)
		case n == 0:
			t.Errorf("%s is not there any more: take it out of the budgets", room)
		case n+slack < most:
			t.Errorf("%s has %d lines of Go, and its number says %d: lower it", room, n, most)
		}
		delete(lines, room)
	}
	for room, n := range lines {
		t.Errorf("%s has %d lines of Go and no budget", room, n)
	}
	rooms := 0
	for room := range budgets {
		if strings.HasPrefix(room, "internal/") {
			rooms++
		}
	}
	if rooms > mostRooms {
		t.Errorf("there are %d rooms, and %d are allowed: a new package has a place in one of them", rooms, mostRooms)
	}
	t.Logf("%d lines of Go without tests, in %d rooms", all, rooms)
}

// linesByRoom counts lines of Go, without tests, by the rooms that have a budget; a folder without one counts by its
// own name.
func linesByRoom(files fs.FS) (map[string]int, error) {
	lines := map[string]int{}
	m, err := load(files)
	if err != nil {
		return nil, err
	}
	for pkg, p := range m.packages {
		room := pkg
		for name := pkg; name != "."; name = parent(name) {
			if budgets[name] > 0 {
				room = name
				break
			}
		}
		for file := range p.files {
			text, err := fs.ReadFile(files, file)
			if err != nil {
				return nil, err
			}
			lines[room] += strings.Count(string(text), "\n")
		}
	}
	return lines, nil
}

// parent is the folder that a folder lies in; "." of one at the top.
func parent(name string) string {
	if at := strings.LastIndexByte(name, '/'); at > 0 {
		return name[:at]
	}
	return "."
}
