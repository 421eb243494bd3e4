// Package conformance holds the MCP project's own suites against this project's HTTP server: its routes, checks, tokens
// and sessions, in both eras of the protocol. What the suites call by name is mounted by the tests alone; the tools of
// the product are held against what the suites ask of any server, and used with the inspector.
//
// The suites and the Node that they need come from npm: scripts/mcp.sh fetches them and runs the tests, which are
// skipped where they are not.
package conformance
