package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A client's settings name either a program that answers, or an address and a token.
func TestSettingsOfClientsInTheDocsWork(t *testing.T) {
	text, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
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
		if err := json.Unmarshal([]byte(block), &settings); err != nil {
			t.Fatalf("%s\n%v", block, err)
		}
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
			if code != ExitAnswered || !strings.Contains(out.String(), `"serverInfo":{"name":"sibyl"`) ||
				errs.Len() > 0 {
				t.Errorf("%v: %d %s %s", s.Args, code, out, errs)
			}
		case s.URL == "http://127.0.0.1:7333/mcp" && strings.HasPrefix(s.Headers["Authorization"], "Bearer $"):
			asked++
		default:
			t.Errorf("these settings name no server:\n%s", block)
		}
	}
	if started < 2 || asked < 3 {
		t.Errorf("%d settings start a program, and %d name an address", started, asked)
	}
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
	if code != ExitAnswered || !strings.Contains(out, `"success":true`) || strings.Contains(out, papers) || errs != "" {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	var all []struct{ ID, Status, Run string }
	list := func() string {
		_, out, errs := run("", "inquiry", "list", "--json")
		if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 1 {
			t.Fatalf("%v in %s %s", err, out, errs)
		}
		return all[0].Status
	}
	if list() == "running" { // it was left in the middle
		if _, out, errs := run("", "run", "resume", all[0].Run); list() == "running" {
			t.Fatalf("resumed, it goes on: %s %s", out, errs)
		}
	}
	if status := list(); status != "completed" && status != "limit-reached" {
		t.Errorf("it ended as %s", status)
	}
	for wrong, why := range map[string]string{papers + "-gone": "--documents: there is no folder",
		filepath.Join(papers, "bridge.txt"): "is not a folder"} {
		if code, _, errs := run("", "mcp", "--documents", wrong); code != ExitUsage || !strings.Contains(errs, why) {
			t.Errorf("%s: %d %s", wrong, code, errs)
		}
	}
}
