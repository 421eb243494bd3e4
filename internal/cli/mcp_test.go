package cli

import (
	"bytes"
	"encoding/json"
	"os"
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
			code := Main(t.Context(), Program{Build: "test"}, append(s.Args, "--data", home), []string{"HOME=" + home, "XDG_CONFIG_HOME=" + home}, Streams{Out: out, Err: errs,
				In: strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n")})
			if code != ExitAnswered || !strings.Contains(out.String(), `"serverInfo":{"name":"sibyl"`) || errs.Len() > 0 {
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
