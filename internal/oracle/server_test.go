package oracle_test

import (
	"sibyl/internal/tool"
)

// withServer adds the tools of an MCP server of others: one that reads, and one that writes.
func withServer(h *harness) {
	h.world.add(tool.Spec{Name: "tracker__search_issues", Source: tool.Server, Foreign: true},
		func(tool.Call) (tool.Result, error) {
			return tool.Result{Text: "issue 7 is open", Items: 1,
				Refs: []tool.Ref{{Source: tool.Server, Path: "tracker/search_issues", Opened: true}}}, nil
		})
	h.world.add(tool.Spec{Name: "tracker__create_issue",
		Source: tool.Server, Foreign: true, Effect: tool.Once, Destructive: true},
		func(tool.Call) (tool.Result, error) { return tool.Result{Text: "created", Items: 1}, nil })
}
