package internal

import (
	"io/fs"
	"os"
	"strings"
	"testing"
)

// budgets are how many lines of Go, without tests, each room may have. A number may only be lowered: a room that needs more has to drop something else
// first, or the house grows to what nobody can read. A folder counts to the longest name that it is under.
var budgets = map[string]int{
	"cmd":                 98,
	"docs":                10,
	"eval":                33,
	"internal/agent":      4075,
	"internal/api":        6342,
	"internal/app":        2367,
	"internal/assistant":  375,
	"internal/audio":      914,
	"internal/bert":       1293,
	"internal/bt":         4823,
	"internal/childtest":  106,
	"internal/cleartext":  93,
	"internal/cli":        11732,
	"internal/config":     4282,
	"internal/council":    6998,
	"internal/document":   1409,
	"internal/eval":       3345,
	"internal/files":      1350,
	"internal/inquiry":    5638,
	"internal/journal":    3091,
	"internal/jsonobject": 311,
	"internal/keys":       590,
	"internal/lineartest": 117,
	"internal/mcp":        2023,
	"internal/model":      7780,
	"internal/node":       452,
	"internal/oracle":     7226,
	"internal/redact":     1189,
	"internal/release":    457,
	"internal/render":     1281,
	"internal/run":        5535,
	"internal/schema":     495,
	"internal/scribe":     766,
	"internal/server":     209,
	"internal/service":    2736,
	"internal/signal":     2133,
	"internal/store":      4156,
	"internal/task":       1648,
	"internal/taskchat":   4224,
	"internal/telemetry":  909,
	"internal/text":       1789,
	"internal/tool":       9869,
	"internal/user":       975,
	"prompts":             107,
	"trees":               93,
	"web":                 10,
}

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
	t.Logf("%d lines of Go without tests", all)
}

// linesByRoom counts lines of Go, without tests, by the rooms that have a budget; a folder without one counts by its own name.
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
