package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sibyl/internal/agent"
	"sibyl/internal/app"
	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/bert/berttest"
	"sibyl/internal/media/document/documenttest"
	"sibyl/internal/model/modeltest"
)

// unitDone is how long anything may take on the machine of the unit.
const unitDone = time.Minute

// unitHeard is what the transcriber of the test hears in anything.
const unitHeard = "We talk about the money."

// unitCall is a call of a tool, with a word of what it has to bring. What is alone waits for what was called before, and
// what follows for it.
type unitCall struct {
	tool, arguments, brings string
	alone                   bool
}

// calledFor is what the model calls for a question.
func calledFor() map[string][]unitCall {
	return map[string][]unitCall{
		"Where does the code greet, and since when?": {
			{tool: "code_search", arguments: `{"query":"Greet"}`, brings: "greet.go"},
			{tool: "code_history", arguments: `{}`, brings: "Say good morning"}},
		"Add a note offices.md with the office of the report": {
			{tool: "vault_search", arguments: `{"query":"harbour"}`, brings: "harbour office"},
			{tool: "vault_read", arguments: `{"path":"report.pdf"}`, brings: "The report names the harbour office", alone: true},
			{tool: "vault_write", arguments: `{"path":"offices.md","mode":"create","content":"# Offices\n\nThe harbour office.\n"}`,
				brings: "Created offices.md", alone: true}},
		"What does the web say about harbours, and http://127.0.0.1/ about them?": {
			{tool: "web_search", arguments: `{"query":"harbours"}`, brings: "Harbours of the world"},
			{tool: "web_fetch", arguments: `{"url":"http://127.0.0.1/"}`, brings: "the address is not public: this machine"}},
		"What do the others have to do?": {
			{tool: "others__list_tasks", arguments: `{}`, brings: "There are no such tasks"}},
	}
}

// TestEveryToolWorksUnderTheFiltersOfTheUnit sets the unit up by the commands of docs/server.md, under a real systemd,
// and has every tool used: what a filter forbids shows in what the tool says.
func TestEveryToolWorksUnderTheFiltersOfTheUnit(t *testing.T) {
	needs.Program(t, "unshare", "pivot_root", "setpriv", "useradd", "systemctl", "git", "ffmpeg", "flite")
	if os.Geteuid() != 0 {
		t.Skip("only root may start systemd in namespaces of its own")
	}
	m := newMachine(t)
	m.start()

	for question, calls := range calledFor() {
		options := map[string]any{"vault": "notes"}
		if strings.Contains(question, "code") {
			options = map[string]any{"code": "code"}
		}
		r := m.asks("ada", http.MethodPost, "/api/ask", map[string]any{"question": question, "options": options})
		told := m.tells()
		for _, c := range calls {
			assert.That(t, strings.Contains(told, c.brings), "%s: %s does not bring %q, but\n%s\n%d %s", question, c.tool, c.brings, told,
				r.status, r.body)
		}
	}
	m.hears()
	m.diagnoses("doctor", []string{"ollama"})
	m.diagnoses("narrow", []string{"ollama", "pages"})
}

// hears has a recording transcribed.
func (m *machine) hears() {
	m.t.Helper()
	var s struct {
		ID string `json:"session_id"`
	}
	r := m.asks("ada", http.MethodPost, "/api/council/sessions", map[string]any{})
	assert.Require(m.t, json.Unmarshal([]byte(r.body), &s) == nil && s.ID != "", "a session: %d %s", r.status, r.body)
	at := "/api/council/sessions/" + s.ID + "/entries"
	req := assert.Must(http.NewRequestWithContext(m.t.Context(), http.MethodPost, m.url+at+"?name=memo.ogg",
		bytes.NewReader(read(m.t, m.at("memo.ogg")))))(m.t)
	req.Header.Set("Authorization", "Bearer "+m.tokens["ada"])
	req.Header.Set("Content-Type", "audio/ogg")
	resp, err := http.DefaultClient.Do(req)
	assert.NoError(m.t, err)
	assert.That(m.t, resp.StatusCode == http.StatusCreated && resp.Body.Close() == nil, "a recording: %s", resp.Status)
	m.until("the recording is transcribed", func() error {
		r := m.asks("ada", http.MethodGet, at+"/1/transcript", nil)
		if !strings.Contains(r.body, unitHeard) {
			return fmt.Errorf("%d %s", r.status, r.body)
		}
		return nil
	})
}

// diagnoses wants ‘sibyl doctor’, as a service with the filters of the unit, to find fault with these alone. What is not
// set up is none.
func (m *machine) diagnoses(service string, faults []string) {
	m.t.Helper()
	var found []struct {
		What, Says string
		OK         bool
	}
	m.until(service+" ends", func() error {
		raw, err := os.ReadFile(m.at(service + ".out"))
		if err == nil {
			err = json.Unmarshal(raw, &found)
		}
		return err
	})
	var got []string
	for _, f := range found {
		if !f.OK && !strings.Contains(f.Says, "not set up") {
			got = append(got, f.What)
		}
	}
	assert.That(m.t, slices.Equal(got, faults), "%s finds fault with %v of %v; want %v", service, got, found, faults)
}

// machine is one on which the unit runs.
type machine struct {
	*served
	work string

	mu   sync.Mutex
	told []string // what tools have brought
}

// tells gives what tools have brought since it was last asked.
func (m *machine) tells() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	told := strings.Join(m.told, "\n")
	m.told = nil
	return told
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{served: &served{t: t, tokens: map[string]string{}}, work: t.TempDir()}
	model := modeltest.NewServer(nil)
	t.Cleanup(model.Close)
	model.Models = []string{"player"}
	model.Play(m.answer)
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"results":[{"url":"https://harbours.example/","title":"Harbours of the world","content":"All of them."}]}`)
	}))
	t.Cleanup(engine.Close)
	heard := newDictaphone(t, func(uploaded, int) (string, int) { return unitHeard, 0 })

	for _, program := range []string{"sibyl", app.ClassifierProgram} {
		file := assert.Must(exec.LookPath(program))(t)
		assert.NoError(t, os.MkdirAll(m.at("bin"), 0o700))
		assert.NoError(t, os.WriteFile(m.at("bin/"+program), read(t, file), 0o700))
	}
	write(t, m.at("code/greet.go"), "package greet\n\nfunc Greet() string { return \"good morning\" }\n")
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=ada", "-c", "user.email=ada@example.org",
		"commit", "-q", "-m", "Say good morning"}} {
		out, err := exec.Command("git", append([]string{"-C", m.at("code")}, args...)...).CombinedOutput()
		assert.Require(t, err == nil, "git %v: %v %s", args, err, out)
	}
	write(t, m.at("notes/report.pdf"), string(documenttest.PDF(true, []string{"The report names the harbour office."})))
	assert.NoError(t, berttest.Write(m.at("bert"), berttest.Classification))
	assert.NoError(t, speak(m.at("memo.wav"), spokenWords))
	assert.NoError(t, remake(m.at("memo.wav"), m.at("memo.ogg"), codecs[".ogg"]...))

	l := assert.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
	m.url = "http://" + l.Addr().String()
	assert.NoError(t, l.Close())
	write(t, m.at("config.yaml"), fmt.Sprintf(`
model: openai:player
server:
  listen: %s
  folders:
    code: /srv/code
    ada/notes: /srv/notes/ada
web: {searxng: %q}
bert: {model: /srv/bert}
transcription: {server: %q}
mcp: {servers: {others: {command: [/usr/local/bin/sibyl, mcp, --user, others], private: true}}}
`, l.Addr(), engine.URL, heard.URL))
	write(t, m.at("env"), "OPENAI_BASE_URL='"+model.BaseURL+"/v1'\nOLLAMA_HOST=127.0.0.1:1\n")
	unit := string(read(t, "../../deploy/sibyl.service"))
	start := regexp.MustCompile(`(?m)^ExecStart=.*$`)
	doctor := start.ReplaceAllString(unit, "ExecStart=/usr/local/bin/sibyl doctor --json")
	for name, text := range map[string]string{"doctor": doctor,
		"narrow": regexp.MustCompile(`(?m)^(RestrictAddressFamilies=.*) AF_NETLINK$`).ReplaceAllString(doctor, "$1")} {
		write(t, m.at(name+".service"), text)
	}
	assert.That(t, doctor != unit && string(read(t, m.at("narrow.service"))) != doctor, "the unit has other lines than it had")
	write(t, m.at("setup.sh"), m.setup())
	return m
}

func (m *machine) at(file string) string { return filepath.Join(m.work, filepath.FromSlash(file)) }

// setup gives the commands that set the unit up: those of the guide, with files of the test.
func (m *machine) setup() string {
	guide := string(read(m.t, "../../docs/server.md"))
	block := func(begins, ends string) string {
		_, from, found := strings.Cut(guide, "```\n"+begins)
		text, _, whole := strings.Cut(from, ends)
		assert.Require(m.t, found && whole, "docs/server.md has no commands from %q to %q any more", begins, ends)
		return text
	}
	return "set -eux\n" + block("CGO_ENABLED=0 go build -trimpath -o sibyl ./cmd/sibyl\n", "\n```") + `
install /mnt/test/bin/sibyl-bert /usr/local/bin/
install -m 0644 /mnt/test/config.yaml /etc/sibyl/config.yaml
install -m 0600 /mnt/test/env /etc/sibyl/env
cp -R /mnt/test/code /mnt/test/bert /srv/
mkdir /srv/notes
cp -R /mnt/test/notes /srv/notes/ada
chmod -R a+rX /srv
chown -R sibyl:sibyl /srv/notes
install -d -o sibyl -g sibyl -m 0700 /var/lib/sibyl
cd /etc/systemd/system
cp /mnt/test/doctor.service /mnt/test/narrow.service .
for unit in sibyl doctor narrow; do
	mkdir $unit.service.d
	printf '[Service]\nReadWritePaths=/srv/notes\nRestart=no\nStandardOutput=file:/mnt/test/%s.out\nStandardError=file:/mnt/test/%s.err\n' $unit $unit >$unit.service.d/test.conf
done
printf '[Unit]\nDefaultDependencies=no\nWants=sibyl.service doctor.service narrow.service\n' >test.target
` + "as_sibyl() {" + block("as_sibyl() {", "\nas_sibyl user add ada") + `
as_sibyl user add ada >/mnt/test/token
`
}

// start starts the machine, and waits until the server answers. The machine ends with the test.
func (m *machine) start() {
	m.t.Helper()
	repository := assert.Must(filepath.Abs("../.."))(m.t)
	said := assert.Must(os.Create(m.at("setup.err")))(m.t)
	cmd := exec.Command("unshare", "--mount", "sh", assert.Must(filepath.Abs("testdata/unit/machine.sh"))(m.t), m.work, repository)
	cmd.Stderr = said
	assert.NoError(m.t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	m.t.Cleanup(func() {
		pid := strconv.Itoa(cmd.Process.Pid)
		children, _ := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children") // none, if it has ended by itself
		for _, first := range strings.Fields(string(children)) {
			if m.t.Failed() {
				status, err := exec.Command("nsenter", "--all", "--target", first, "systemctl", "status", "--no-pager", "sibyl", "doctor", "narrow").CombinedOutput()
				m.t.Logf("%s %v", status, err)
			}
			if n, err := strconv.Atoi(first); err == nil {
				_ = syscall.Kill(n, syscall.SIGKILL) // with its process 1 the whole machine ends
			}
		}
		for _, file := range []string{"setup.err", "sibyl.out", "sibyl.err", "doctor.err", "narrow.err"} {
			if text, err := os.ReadFile(m.at(file)); err == nil && m.t.Failed() {
				m.t.Logf("%s:\n%s", file, text)
			}
		}
		if len(children) == 0 {
			_ = cmd.Process.Kill()
		}
		<-ended
		m.removeGroups()
	})
	m.until("the server answers", func() error {
		select {
		case err := <-ended:
			ended <- err
			m.t.Fatalf("the machine has ended: %v", err)
		default:
		}
		req := assert.Must(http.NewRequestWithContext(m.t.Context(), http.MethodGet, m.url+"/readyz", nil))(m.t)
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	})
	m.tokens["ada"] = strings.TrimSpace(string(read(m.t, m.at("token"))))
}

// until waits until something holds.
func (m *machine) until(what string, holds func() error) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), unitDone)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		err := holds()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			m.t.Fatalf("not within %s: %s: %v", unitDone, what, err)
		case <-again.C:
		}
	}
}

// removeGroups removes the groups of processes that systemd has made. They are free once the kernel is done with the
// last process.
func (m *machine) removeGroups() {
	m.t.Helper()
	const script = `mkdir -p "$1/groups" && mount -t cgroup2 none "$1/groups" && cd "$1/groups"
		group=./$(echo "$1" | tr / -) && { [ ! -d "$group" ] || find "$group" -depth -type d -exec rmdir {} +; }`
	m.until("the groups of processes are gone", func() error {
		out, err := exec.Command("unshare", "--mount", "sh", "-c", script, "sh", m.work).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
}

// answer plays the model: it calls what belongs to a question, and notes what that brings.
func (m *machine) answer(r modeltest.Request) modeltest.Answer {
	question, results := "", 0
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range r.Messages {
		switch {
		case one.Role == "tool":
			results++
			m.told = append(m.told, one.Content)
		case one.Role == "user" && !strings.HasPrefix(one.Content, "[control]"):
			_, question = agent.SplitNote(one.Content)
		}
	}
	var next []string
	for _, c := range calledFor()[question][min(results, len(calledFor()[question])):] {
		if next = append(next, c.tool, c.arguments); c.alone {
			break
		}
	}
	if next == nil || len(r.Tools) == 0 {
		return modeltest.Answer{Chunks: []string{"That is all. ", sure}}
	}
	return call(next...)
}
