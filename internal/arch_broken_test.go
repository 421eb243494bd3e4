package internal

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"sibyl/internal/behaviour/assert"
)

// soundModule keeps every rule: an assistant with its description, an adapter, a use case and a way in.
func soundModule() map[string]string {
	return map[string]string{
		"cmd/sibyl/main.go":                      `package main; import _ "sibyl/internal/cli"`,
		"internal/bt/bt.go":                      `package bt; import _ "strings"`,
		"internal/journal/journal.go":            `package journal`,
		"internal/model/model.go":                `package model; import _ "golang.org/x/text/unicode/norm"`,
		"internal/model/wire/wire.go":            `package wire; import _ "net/http"`,
		"internal/model/cloud/cloud.go":          `package cloud; import (_ "sibyl/internal/model"; _ "sibyl/internal/model/wire"; _ "example.org/sdk")`,
		"internal/model/house/house.go":          `package house; import _ "sibyl/internal/model"`,
		"internal/store/disk/disk.go":            `package disk; import _ "sibyl/internal/journal"`,
		"internal/service/assistant/describe.go": `package assistant`,
		"internal/agent/agent.go":                `package agent; import _ "sibyl/internal/model"`,
		"internal/seer/seer.go": `package seer
import ("encoding/json"; _ "sibyl/internal/service/assistant"; _ "sibyl/internal/agent"; _ "sibyl/internal/seer/rules")
type Vision struct{}
type Glimpse struct{}
func show(outcome json.RawMessage) error { var v Vision; return json.Unmarshal(outcome, &v) }
func past(row struct{ Summary []byte }) error { var g Glimpse; return json.Unmarshal(row.Summary, &g) }`,
		"internal/seer/rules/rules.go": `package rules`,
		"internal/service/service.go":  `package service; import _ "sibyl/internal/service/assistant"`,
		"internal/config/config.go":    `package config`,
		"internal/cli/cli.go":          `package cli; import (_ "sibyl/internal/app"; _ "sibyl/internal/seer"; _ "sibyl/internal/config")`,
		"internal/app/app.go": `package app
import (_ "sibyl/internal/model/cloud"; _ "sibyl/internal/store/disk"; _ "sibyl/internal/seer"; _ "sibyl/internal/service")`,
		"internal/taskchat/chat.go": `package taskchat; import _ "sibyl/internal/tool"`,
		"internal/tool/tool.go":     `package tool`,
		"internal/task/task.go":     `package task`,
		"internal/words/words.go": `package words
import ("embed"; "errors"; "regexp"; "sync")
//go:embed a.txt
var FS embed.FS
var ErrNone = errors.New("none")
var form = regexp.MustCompile("a")
var once = sync.OnceValue(func() int { return 1 })
var table = []string{"a", "b"}
func copied() []string { table := append(table[:0:0], table...); table[0] = "c"; return table }`,
		"docs/architecture.md": "`internal/bt` `internal/journal` `internal/model` `internal/service/assistant` " +
			"`internal/agent` `internal/seer` `internal/service` " +
			"`internal/config` `internal/cli` `internal/app` `internal/taskchat` `internal/tool` `internal/task` " +
			"`internal/words`",
	}
}

// breaches lists what the rules say of a module, with their names before them.
func breaches(t *testing.T, files map[string]string) (all []string) {
	t.Helper()
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	m := assert.Must(load(tree))(t)
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		rules[name](m, func(format string, args ...any) { all = append(all, name+": "+fmt.Sprintf(format, args...)) })
	}
	return all
}

func TestRulesHoldInASoundModule(t *testing.T) {
	all := breaches(t, soundModule())
	assert.That(t, len(all) == 0, "the rules refuse what is right:\n%s", strings.Join(all, "\n"))
}

func TestEachRuleFindsWhatBreaksIt(t *testing.T) {
	imports := func(names ...string) string {
		text := "package broken\n"
		for _, name := range names {
			text += fmt.Sprintf("import _ %q\n", name)
		}
		return text
	}
	cases := []struct {
		about, file, text string
		want              string // rule: what it says
	}{
		{"the kernel imports a library", "internal/bt/more.go", imports("example.org/lib"),
			"kernel: internal/bt imports example.org/lib"},
		{"the kernel imports a contract", "internal/signal/more.go", imports("sibyl/internal/model"),
			"kernel: internal/signal imports internal/model"},
		{"a contract imports a driver", "internal/journal/more.go", imports("example.org/driver"),
			"contracts: internal/journal imports example.org/driver"},
		{"a contract imports its adapter", "internal/model/more.go", imports("sibyl/internal/model/house"),
			"contracts: internal/model imports internal/model/house"},
		{"an adapter imports another", "internal/model/house/more.go", imports("sibyl/internal/model/cloud"),
			"adapters: internal/model/house imports the adapter internal/model/cloud"},
		{"a room below an adapter imports another", "internal/model/house/pages/more.go",
			imports("sibyl/internal/store/disk"),
			"adapters: internal/model/house/pages imports the adapter internal/store/disk"},
		{"a new room imports an adapter", "internal/words/more.go", imports("sibyl/internal/tool/files"),
			"adapters: internal/words imports the adapter internal/tool/files"},
		{"an assistant imports an adapter", "internal/seer/more.go", imports("sibyl/internal/model/cloud"),
			"adapters: internal/seer imports the adapter internal/model/cloud"},
		{"an assistant knows the transport", "internal/seer/more.go", imports("sibyl/internal/model/wire"),
			"transport: internal/seer imports internal/model/wire"},
		{"an assistant imports a driver", "internal/seer/rules/more.go", imports("example.org/sdk"),
			"assistants: internal/seer/rules imports example.org/sdk"},
		{"an assistant imports the use cases", "internal/seer/more.go", imports("sibyl/internal/service"),
			"assistants: internal/seer imports internal/service"},
		{"an assistant imports another", "internal/media/scribe/scribe.go", imports("sibyl/internal/service/assistant",
			"sibyl/internal/seer"), "assistants: internal/media/scribe imports internal/seer"},
		{"the use cases know an assistant", "internal/service/more.go", imports("sibyl/internal/seer"),
			"assistants: internal/service imports the assistant internal/seer"},
		{"the use cases know a room of an assistant", "internal/service/more.go", imports("sibyl/internal/seer/rules"),
			"assistants: internal/service imports the assistant internal/seer/rules"},
		{"an outcome is decoded outside", "internal/cli/more.go",
			"package cli\nfunc f() { var v any; json.Unmarshal(end.Outcome, &v) }",
			"outcomes: internal/cli/more.go decodes the outcome of a run"},
		{"a summary is decoded outside", "internal/service/more.go",
			"package service\nfunc f() { var v any; json.Unmarshal(row.Summary, &v) }",
			"outcomes: internal/service/more.go decodes the summary of a run"},
		{"an outcome's type is used outside", "internal/cli/more.go", "package cli\nfunc f(v seer.Vision) {}",
			"outcomes: internal/cli/more.go uses seer.Vision"},
		{"a summary's type is used outside", "internal/app/more.go", "package app\nfunc f(v seer.Glimpse) {}",
			"outcomes: internal/app/more.go uses seer.Glimpse"},
		{"an assistant hides what it decodes", "internal/media/scribe/scribe.go",
			imports("sibyl/internal/service/assistant"), "outcomes: internal/media/scribe decodes no outcome"},
		{"the task agent imports the tasks", "internal/taskchat/more.go", imports("sibyl/internal/task"),
			"task agent: internal/taskchat reaches internal/task by internal/taskchat"},
		{"the task agent reaches the tasks", "internal/tool/more.go", imports("sibyl/internal/task"),
			"task agent: internal/taskchat reaches internal/task by internal/tool"},
		{"a room imports app", "internal/words/more.go", imports("sibyl/internal/app"),
			"ways in: internal/words imports app"},
		{"the core imports a way in", "internal/words/more.go", imports("sibyl/internal/cli"),
			"ways in: internal/words imports internal/cli"},
		{"the core reads settings", "internal/agent/more.go", imports("sibyl/internal/config"),
			"ways in: internal/agent imports config"},
		{"a way in imports a store", "internal/api/api.go", imports("sibyl/internal/store/disk"),
			"ways in: internal/api imports internal/store/disk"},
		{"a way in uses the engine", "internal/mcp/mcp.go", "package mcp\nfunc f() { a.Engine.Start() }",
			"ways in: internal/mcp/mcp.go uses a.Engine"},
		{"a way in uses the store", "internal/cli/more.go", "package cli\nfunc f() { r.app.Store.Runs() }",
			"ways in: internal/cli/more.go uses r.app.Store"},
		{"a package is called helpers", "internal/words/helpers/more.go", "package helpers",
			"names: internal/words/helpers"},
		{"a variable has no value", "internal/words/more.go", "package words\nvar count int",
			"state: internal/words/more.go: the variable count may change"},
		{"a variable is made", "internal/words/more.go", "package words\nvar seen = make(map[string]bool)",
			"state: internal/words/more.go: the variable seen may change"},
		{"a variable is a lock", "internal/words/more.go", "package words\nvar lock = sync.Mutex{}",
			"state: internal/words/more.go: the variable lock may change"},
		{"a variable points", "internal/words/more.go", "package words\nvar all = &list{}",
			"state: internal/words/more.go: the variable all may change"},
		{"a table is written", "internal/words/more.go", `package words; func put() { table[0] = "c" }`,
			"state: internal/words/more.go: put writes the variable table"},
		{"a table is counted up", "internal/words/more.go", "package words\nvar n = [1]int{0}\nfunc up() { n[0]++ }",
			"state: internal/words/more.go: up writes the variable n"},
		{"a table's address is given", "internal/words/more.go",
			"package words\nfunc give() *[]string { return &table }",
			"state: internal/words/more.go: give writes the variable table"},
		{"main is long", "cmd/sibyl/main.go", "package main\n" + strings.Repeat("\n", 60),
			"main: cmd/sibyl/main.go has 61 lines"},
		{"a room is in no picture", "internal/cellar/cellar.go", "package cellar",
			"picture: docs/architecture.md does not name internal/cellar"},
	}
	tested := map[string]bool{}
	for _, c := range cases {
		t.Run(c.about, func(t *testing.T) {
			files := soundModule()
			files[c.file] = c.text
			files["docs/architecture.md"] += "`internal/signal` `internal/media/scribe` `internal/api` `internal/mcp`"
			if path.Dir(c.file) == "internal/media/scribe" && !strings.HasPrefix(c.want, "outcomes") {
				files["internal/media/scribe/show.go"] = "package scribe\nfunc show() { var v int; " +
					"json.Unmarshal(outcome, &v) }"
			}
			all := breaches(t, files)
			assert.That(t, slices.ContainsFunc(all, func(b string) bool { return strings.HasPrefix(b, c.want) }),
				"the rules say %q; want one that begins with %q", all, c.want)
		})
		rule, _, _ := strings.Cut(c.want, ":")
		tested[rule] = true
	}
	for name := range rules {
		assert.That(t, tested[name], "nothing shows that the rule %q can fail", name)
	}
}
