package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/cli"
	"sibyl/internal/model/modeltest"
)

// keyOfSettings is a secret of the settings that nothing but these gives away.
const keyOfSettings = "grey-harbour-lantern"

// keptSecrets are one that is known by its shape, one by its name, and one by the settings.
func keptSecrets() []string {
	return []string{"ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "Xq7Lm2vR9zTb4", keyOfSettings}
}

// confided is a text with these secrets, and with a word that is none.
func confided(word string) string {
	s := keptSecrets()
	return fmt.Sprintf("%s: rotate %s, password=%s, and %s", word, s[0], s[1], s[2])
}

// holdsSecret looks for the secrets and for a word in all files of folders.
func holdsSecret(t *testing.T, word string, folders ...string) (secrets []string, isThere bool) {
	t.Helper()
	for _, folder := range folders {
		assert.NoError(t, filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(file)
			isThere = isThere || bytes.Contains(content, []byte(word))
			for _, secret := range keptSecrets() {
				if bytes.Contains(content, []byte(secret)) {
					secrets = append(secrets, filepath.Base(file)+": "+secret)
				}
			}
			return err
		}))
	}
	return secrets, isThere
}

// TestSecretIsStoredOnNoWayIn has a text with secrets stored on every way in, and looks for them in all files.
func TestSecretIsStoredOnNoWayIn(t *testing.T) {
	needs.All(t, "many processes")
	t.Setenv("OPENAI_API_KEY", keyOfSettings)
	s := newServed(t)
	s.server.Play(func(r modeltest.Request) modeltest.Answer {
		question := r.Messages[len(r.Messages)-1].Content
		if strings.Contains(question, "Add a note") {
			content := assert.Must(json.Marshal(map[string]string{"path": "kept.md", "mode": "create", "content": confided("invault")}))(t)
			return call("vault_write", string(content))
		}
		return modeltest.Answer{Chunks: []string{confided("inanswer") + " ", sure}}
	})
	outside := t.TempDir() // where the texts come from
	file := func(name, word string) string {
		path := filepath.Join(outside, name)
		write(t, path, confided(word)+"\n")
		return path
	}
	said := "" // what the last way in was answered
	sibyl := func(in string, args ...string) {
		cmd := exec.CommandContext(t.Context(), "sibyl", args...)
		cmd.Env, cmd.Stdin = s.environ(), strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		said = string(out)
		assert.That(t, cmd.ProcessState.ExitCode() < cli.ExitUsage || cmd.ProcessState.ExitCode() == cli.ExitPartial,
			"sibyl %v: %v %s", args, err, out)
	}
	ada := func(method, path string, body any) (answer map[string]any) {
		r := s.asks("ada", method, path, body)
		said = r.body
		assert.That(t, r.status < 400, "%s %s: %d %s", method, path, r.status, r.body)
		_ = json.Unmarshal([]byte(r.body), &answer) // some are lists
		return answer
	}
	type object = map[string]any
	const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
		`"clientInfo":{"name":"x","version":"1"}}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	tool := func(name string, arguments object) string {
		call := assert.Must(json.Marshal(object{"jsonrpc": "2.0", "id": 2, "method": "tools/call",
			"params": object{"name": name, "arguments": arguments}}))(t)
		return initialize + string(call) + "\n"
	}
	sessions := "/api/council/sessions"
	var council, task string
	for _, way := range []struct {
		word string
		do   func(word string)
	}{
		{"byadd", func(w string) { sibyl("", "task", "add", confided(w), "--description", confided(w)) }},
		{"byedit", func(w string) { sibyl("", "task", "edit", "1", "--title", confided(w), "--description", confided(w)) }},
		{"bychat", func(w string) { sibyl("", "chat", "-m", "offline:rules", "add "+confided(w)) }},
		{"byask", func(w string) { sibyl("", "ask", "--no-web", confided(w)) }},
		{"bypipe", func(w string) { sibyl(confided(w), "ask", "--no-web", "What is this?") }},
		{"bytitle", func(w string) { sibyl("", "session", "rename", "last", confided(w)) }},
		{"bynew", func(w string) { sibyl("", "council", "new", confided(w)) }},
		{"bysay", func(w string) { sibyl("", "council", "say", confided(w)) }},
		{"bystdin", func(w string) { sibyl(confided(w), "council", "say", "-") }},
		{"byfile", func(w string) { sibyl("", "council", "add", file("said.txt", w)) }},
		{"inanswer", func(string) { sibyl("", "council", "ask", "skeptic") }},
		{"byrename", func(w string) { sibyl("", "council", "rename", "bynew", confided(w)) }},
		{"byhypothesis", func(w string) {
			sibyl("", "investigate", confided(w), "--witness", filepath.Dir(file("report.txt", "indocument")), "--limit", "5",
				"--detective", "offline:rules")
		}},
		{"bymcp", func(w string) {
			sibyl(tool("add_task", object{"title": confided(w), "description": confided(w)}), "mcp")
		}},
		{"bymcpedit", func(w string) {
			sibyl(tool("update_task", object{"task_id": 1, "description": confided(w)}), "mcp")
		}},
		{"bymcpask", func(w string) { sibyl(tool("ask", object{"question": confided(w)}), "mcp") }},
		{"byhttp", func(w string) {
			task = fmt.Sprint(ada(http.MethodPost, "/api/tasks", object{"title": confided(w), "description": confided(w)})["id"])
		}},
		{"byhttpedit", func(w string) {
			ada(http.MethodPatch, "/api/tasks/"+task, object{"version": 1, "title": confided(w), "description": confided(w)})
		}},
		{"byhttpchat", func(w string) { ada(http.MethodPost, "/api/chat", object{"message": "add " + confided(w)}) }},
		{"bymaterial", func(w string) {
			ada(http.MethodPost, "/api/ask", object{"question": "What is this?", "options": object{"material": confided(w)}})
		}},
		{"invault", func(string) {
			ada(http.MethodPost, "/api/ask", object{"question": "Add a note to kept.md", "options": object{"vault": "notes"}})
		}},
		{"byhttpname", func(w string) {
			council = fmt.Sprint(ada(http.MethodPost, sessions, object{"name": confided(w)})["session_id"])
		}},
		{"byhttpsay", func(w string) { ada(http.MethodPost, sessions+"/"+council+"/entries", object{"text": confided(w)}) }},
		{"byhttpset", func(w string) { ada(http.MethodPatch, sessions+"/"+council, object{"name": confided(w)}) }},
		{"byinquiry", func(w string) {
			ada(http.MethodPost, "/api/inquiries", object{"hypothesis": confided("byclaim"), "documents": confided(w), "limit": 5})
		}},
	} {
		way.do(way.word)
		secrets, isThere := holdsSecret(t, way.word, s.data, s.vault)
		assert.That(t, isThere, "%s: the text is stored nowhere, so nothing was tested:\n%s", way.word, said)
		assert.Require(t, len(secrets) == 0, "%s: stored are %v", way.word, secrets)
	}
}
