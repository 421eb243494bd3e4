package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
)

// A client's settings name either a program that answers, or an address and a token.
func TestSettingsOfClientsInTheDocsWork(t *testing.T) {
	text := assert.Must(os.ReadFile("../../docs/mcp.md"))(t)
	started, asked := 0, 0
	for _, block := range strings.Split(string(text), "```json\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		type server struct {
			Command, URL string
			Args         []string
			Headers      map[string]string
		}
		var settings struct {
			MCPServers, Servers map[string]server
		}
		err := json.Unmarshal([]byte(block), &settings)
		assert.Require(t, err == nil, "%s\n%v", block, err)
		s := settings.Servers["sibyl"]
		if settings.MCPServers != nil {
			s = settings.MCPServers["sibyl"]
		}
		switch {
		case s.Command == "sibyl":
			started++
			out, errs := &bytes.Buffer{}, &bytes.Buffer{}
			home := t.TempDir()
			code := Main(t.Context(), Program{Build: "test"}, append(s.Args, "--data", home),
				[]string{"HOME=" + home, "XDG_CONFIG_HOME=" + home}, Streams{Out: out, Err: errs,
					In: strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n")})
			assert.That(t, code == ExitAnswered && strings.Contains(out.String(), `"serverInfo":{"name":"sibyl"`) &&
				errs.Len() == 0, "%v: %d %s %s", s.Args, code, out, errs)
		case s.URL == "http://127.0.0.1:7333/mcp" && strings.HasPrefix(s.Headers["Authorization"], "Bearer $"):
			asked++
		default:
			t.Errorf("these settings name no server:\n%s", block)
		}
	}
	assert.That(t, started >= 2 && asked >= 3, "%d settings start a program, and %d name an address", started, asked)
}

// An inquiry that a program begins over standard streams is not lost when its input ends.
func TestInquiryBegunOverStandardStreamsGoesOnAfterTheirEnd(t *testing.T) {
	home, papers := t.TempDir(), filepath.Join(t.TempDir(), "papers")
	write(t, filepath.Join(papers, "bridge.txt"),
		"The Oder bridge was closed on 3 May 2021. It was closed because of corrosion.\n")
	run := func(in string, args ...string) (int, string, string) {
		out, errs := &bytes.Buffer{}, &bytes.Buffer{}
		code := Main(t.Context(), Program{Build: "test"}, append(args, "--data", home),
			[]string{"HOME=" + home, "XDG_CONFIG_HOME=" + home, "SIBYL_MODEL=offline"},
			Streams{Out: out, Err: errs, In: strings.NewReader(in)})
		return code, out.String(), errs.String()
	}
	code, out, errs := run(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"investigate","arguments":{"hypothesis":"The bridge was closed because of corrosion","witness":"papers","limit":5}}}`+"\n", "mcp", "--documents", papers)
	assert.Require(t, code == ExitAnswered && strings.Contains(out, `"success":true`) && !strings.Contains(out, papers) &&
		errs == "", "%d %s %s", code, out, errs)
	var all []struct{ ID, Status, Run string }
	list := func() string {
		_, out, errs := run("", "inquiry", "list", "--json")
		err := json.Unmarshal([]byte(out), &all)
		assert.Require(t, err == nil && len(all) == 1, "%v in %s %s", err, out, errs)
		return all[0].Status
	}
	if list() == "running" { // it was left in the middle
		_, out, errs := run("", "run", "resume", all[0].Run)
		assert.Require(t, list() != "running", "resumed, it goes on: %s %s", out, errs)
	}
	status := list()
	assert.That(t, status == "completed" || status == "limit-reached", "it ended as %s", status)
	for wrong, why := range map[string]string{papers + "-gone": "--documents: there is no folder",
		filepath.Join(papers, "bridge.txt"): "is not a folder"} {
		code, _, errs := run("", "mcp", "--documents", wrong)
		assert.That(t, code == ExitUsage && strings.Contains(errs, why), "%s: %d %s", wrong, code, errs)
	}
}
