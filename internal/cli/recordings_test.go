package cli

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
)

// said is what a model says: recordings by their names, or words, in turn, to requests for text (the form "") and for
// each form of an answer, by its name. The last of a list is said again, as small models do.
type said map[string][]string

// anyForm stands for every form of an answer that is not listed.
const anyForm = "*"

// recordedRow says what a person may read in the end where a small model answers as it did.
type recordedRow struct {
	about  string // the recording
	says   said
	before []string // a command that comes first
	stdin  string
	args   []string
	holds  []string // stand in what is shown
	lacks  []string // don't, beside what never may
	once   string   // stands in it once at most
	exits  []int
	most   int // requests: what is tried again is in them; 0: mostRequests
	acts   recordedAct

	open string // what the product can't do yet
}

// recordedAct is what a command then shows: done, if the answer claims an act, and otherwise undone.
type recordedAct struct {
	command              []string
	claims, done, undone string
}

// mostRequests are those of one question, with all that is tried again.
const mostRequests = 8

// neverShown are words of a model that no answer is: a template's marks, calls, results, and what Sibyl tells a model.
var neverShown = []string{"[control]", "<signal", "</signal", "<example", "</example", "<tool_", "</tool_", "<|im_",
	`"arguments"`, `"intents"`, `"base_hash"`, "The tool failed", "choose by cause", "answer from what you read"}

const (
	tidings = "The harbour office of Aarhus will close its old counter on the first of May. Licences are then checked " +
		"by the new device at the gate; a licence that ran out leads to a warning, not to a refusal, for the first month.\n"
	change = "diff --git a/retry.go b/retry.go\n--- a/retry.go\n+++ b/retry.go\n@@ -4,3 +4,4 @@\n func wait(n int) " +
		"time.Duration {\n-\treturn time.Second\n+\td := time.Second << n\n+\treturn min(d, time.Minute)\n }\n"
	thought = "I wonder whether we should move the office to a smaller town. Rent is 40 percent lower, but three of our " +
		"seven people would have to commute for an hour. We must decide by March."

	minimumGo = "What is the minimum Go version of this module?"
	opensPump = `<signal type="need_turn"><reason>The module is named 'pump' and has a file 'settings.go' in the folder ` +
		`'pump'. I open it to find the minimum Go version.</reason><expected_turns>1</expected_turns>` +
		`<confidence>0.8</confidence></signal>`
	failedPump = `<signal type="need_turn"><reason>Failed: pump does not exist</reason><expected_turns>1</expected_turns>` +
		`<confidence>0.9</confidence></signal>`
	valkeyTwice = "<example>\nWe chose Valkey for sessions because it is the newest firmware and is compatible with the " +
		"pump.\n</example>\n" + `<signal type="need_turn"><reason>What is the choice of Valkey for sessions?</reason>` +
		`<expected_turns>1</expected_turns><confidence>0.8</confidence></signal>`
	saysEach = `{"sentences":[{"oracle":"Skeptic","words":"The rent is lower","text":"Rents fall."},` +
		`{"oracle":"Optimist","words":"the commute is longer","text":"Ways grow."}]}`
	asksWhen = `{"question":"When was the Mill bridge closed?","strategy":"depth","aspect":"when","gaps":[]}`
	// what is recorded, with the field that was added since
	completeAfterOne = `{"evidence":[],"gaps":[],"completenessScore":100,"requiresFollowUp":false,"contradictions":[],` +
		`"retracted":[]}`
	closedTwice = `{"first":{"property":"date the Mill bridge was closed","value":"4 March 2021"},` +
		`"second":{"property":"date the Mill bridge was closed","value":"5 March"},"kind":"date"}`
	closedElse = `{"first":{"property":"state of the cables","value":"light rust"},` +
		`"second":{"property":"date the Mill bridge was closed","value":"5 March"},"kind":"other"}`
	asksWall = `{"question":"Where is the Great Wall of China?","strategy":"depth","aspect":"where","gaps":[]}`
)

// Why a row is open.
const (
	openOwn    = "a model repeats a prompt that is no longer sent"
	openGround = "the tree does not look up itself"
)

func recordedRows() []recordedRow {
	text := func(all ...string) said { return said{"": all} }
	code := func(words string) []string { return []string{"ask", "--no-web", "--in", "code", words} }
	notes := func(words string) []string { return []string{"ask", "--no-web", "--vault", "notes", words} }
	waterPlants, list := []string{"task", "add", "water plants"}, []string{"task", "list"}
	return []recordedRow{
		{about: "qwen1.5b-sum", says: text("qwen1.5b-sum"), args: code("What is 17 times 23?"),
			holds: []string{"The result is 391."}, exits: []int{ExitAnswered}, most: 1},
		{about: "qwen1.5b-sum-hint-repeated", says: text("qwen1.5b-sum", "qwen1.5b-sum-hint-repeated"),
			args: code("What is 17 times 23?"), holds: []string{"The result is 391."}, lacks: []string{"Nothing was opened"},
			exits: []int{ExitAnswered}},
		{about: "qwen1.5b-sum-hint-repeated", says: text("qwen1.5b-sum-hint-repeated"), args: code("What is 17 times 23?"),
			lacks: []string{"Nothing was opened"}, exits: []int{ExitFailed, ExitPartial}, open: openOwn},
		{about: "qwen1.5b-summary", says: text("qwen1.5b-summary"), stdin: tidings,
			args:  []string{"ask", "--no-web", "summarize this in one sentence"},
			holds: []string{"The harbour office in Aarhus will close its counter on May 1st"}, exits: []int{ExitAnswered},
			most: 1},
		{about: "qwen0.5b-control-word", says: text("qwen0.5b-control-word"), stdin: tidings,
			args:  []string{"ask", "--no-web", "summarize this in one sentence"},
			holds: []string{"The harbour office of Aarhus will close its old counter on the first of May."},
			exits: []int{ExitAnswered}},
		{about: "qwen0.5b-example-closed", says: text("qwen0.5b-example-closed"),
			args: code("Translate 'good morning' into French."), exits: []int{ExitFailed, ExitPartial}},
		{about: "qwen1.5b-call-in-fence", says: text(opensPump, "qwen1.5b-call-in-fence"), args: code(minimumGo),
			lacks: []string{"pump/settings.go\",", `"name"`}, holds: []string{"go.mod"}, exits: []int{ExitAnswered, ExitPartial}},
		{about: "qwen1.5b-result-echoed", args: code(minimumGo),
			says:  text(opensPump, "qwen1.5b-call-in-fence", failedPump, "qwen1.5b-result-echoed"),
			holds: []string{"go.mod"}, exits: []int{ExitAnswered, ExitPartial}},
		{about: "qwen1.5b-example-as-answer", says: text("qwen1.5b-example-as-answer"),
			args:  code("Wo wird entschieden, ob eine Migration in einer Transaktion läuft?"),
			holds: []string{"store/tx.go"}, lacks: []string{"Drip irrigation", "bed 5"},
			exits: []int{ExitAnswered, ExitPartial}, open: openGround},
		{about: "qwen1.5b-segment-echoed", says: text("qwen1.5b-segment-echoed"),
			args:  notes("Wann ziehen wir ins neue Rechenzentrum um?"),
			lacks: []string{"Invalid arguments"}, exits: []int{ExitFailed, ExitPartial}, open: openOwn},
		{about: "qwen1.5b-example-tags", says: text(valkeyTwice, "qwen1.5b-example-tags"),
			args:  notes("Write a note about our choice of Valkey for sessions."),
			lacks: []string{"is compatible with the pump"}, exits: []int{ExitFailed, ExitPartial}, open: openOwn},
		{about: "qwen1.5b-write-call-as-commit-message", says: text("qwen1.5b-write-call-as-commit-message"), stdin: change,
			args: notes("write a commit message for this diff"), lacks: []string{`"vault_write"`},
			exits: []int{ExitFailed, ExitPartial}},
		{about: "smollm2-runaway", says: text("smollm2-runaway"), args: []string{"ask", "--no-web", "hi there"},
			once: "welcome to the chat. welcome to the chat. welcome to the chat. ", exits: []int{ExitFailed, ExitPartial}},
		{about: "gemma-base-runaway", says: text("gemma-base-runaway"), args: []string{"ask", "--no-web", "hi there"},
			lacks: []string{"user-agent"}, exits: []int{ExitFailed, ExitPartial}},

		{about: "qwen1.5b-claims-a-rename", says: said{anyForm: {"qwen1.5b-claims-a-rename"}}, before: waterPlants,
			args: []string{"chat", "rename the first task to buy oat milk"}, exits: []int{ExitAnswered},
			acts: recordedAct{list, "renamed 'water plants'", "buy oat milk", ""}},
		{about: "qwen1.5b-endless-choices", says: said{anyForm: {"qwen1.5b-endless-choices"}}, before: waterPlants,
			args: []string{"chat", "what do I have to do?"}, holds: []string{"water plants"},
			lacks: []string{"You have no tasks"}, exits: []int{ExitAnswered}, most: 1},
		{about: "gemma-base-format-runaway", says: said{anyForm: {"gemma-base-format-runaway"}},
			args: []string{"chat", "remind me to call the dentist"}, lacks: []string{"choices", "125"},
			exits: []int{ExitAnswered}, most: 2, acts: recordedAct{list, "call the dentist", "call the dentist", ""}},

		{about: "qwen1.5b-chair-repeats", before: []string{"council", "say", thought},
			says: said{"": {"The rent is lower, and the commute is longer."}, "merged": {"qwen1.5b-chair-repeats"},
				"briefly": {saysEach}},
			args: []string{"council", "ask", "skeptic", "optimist", "--chair", "skeptic"}, once: "408 hours per year",
			holds: []string{"- Rents fall. [Skeptic]", "- Ways grow. [Optimist]"}, exits: []int{ExitAnswered}},

		{about: "qwen1.5b-complete-after-one", args: []string{"investigate", "--witness", "lab:m", "--limit", "5",
			"The Great Wall of China is visible from the Moon"},
			says: said{"": {"The Great Wall of China is in the north of China."}, "question": {asksWall},
				"analysis": {completeAfterOne}},
			lacks: []string{"100 of 100", "support the hypothesis"}, holds: []string{"The hypothesis is open"}, exits: []int{ExitAnswered, ExitPartial}},
		{about: "qwen1.5b-quotations", args: []string{"investigate", "--witness", "papers", "--limit", "5",
			"The Mill bridge was closed because of corrosion"},
			says: said{"": {"It was closed on 5 March."}, "question": {asksWhen}, "quotations": {"qwen1.5b-quotations"},
				"comparison": {closedTwice, closedElse}, "analysis": {completeAfterOne}},
			holds: []string{"The Mill bridge was closed on 5 March", "4 March 2021, 5 March"}, exits: []int{ExitAnswered, ExitPartial},
			acts: recordedAct{[]string{"inquiry", "show"}, "5 March", "news.txt", ""}},
	}
}

// recordedHome is a home with code, notes and documents, and with settings for the model of a server.
func recordedHome(t *testing.T, server *modeltest.Server) string {
	home := t.TempDir()
	for file, text := range map[string]string{
		"config.yaml": "providers: {lab: {base_url: '" + server.BaseURL + "/v1'}}\nmodel: lab:m\n",
		"code/go.mod": "module example.com/gate\n\ngo 1.24.0\n",
		"code/store/tx.go": "package store\n\n// InTransaction says whether a migration runs in a transaction.\n" +
			"func InTransaction(m Migration) bool { return !m.NoTx }\n",
		"notes/people.md": "# People\n\nThe release manager is Ines.\n",
		"papers/2019.txt": "Inspection of the Mill bridge, May 2019.\nThe main cables show light rust on the north side. " +
			"Load limit 20 tonnes. The bridge stays open.\n",
		"papers/2021.txt": "Report of the council, March 2021.\nThe Mill bridge was closed on 4 March 2021 after a lorry " +
			"of 34 tonnes damaged the deck. Corrosion of the cables was found to be minor.\n",
		"papers/news.txt": "Local news, 6 March 2021.\nThe Mill bridge was closed on 5 March because the cables had " +
			"rusted through, a councillor said.\n",
	} {
		write(t, filepath.Join(home, filepath.FromSlash(file)), text)
	}
	return home
}

// speaks has a server answer as a row says.
func speaks(s *modeltest.Server, says said, recordings map[string]modeltest.Recording) {
	var mu sync.Mutex
	asked := map[string]int{}
	s.Play(func(r modeltest.Request) modeltest.Answer {
		mu.Lock()
		defer mu.Unlock()
		form, _ := r.At("response_format", "json_schema", "name").(string)
		all := says[form]
		if all == nil && form != "" {
			all = says[anyForm]
		}
		if all == nil {
			return modeltest.Stream("Nothing is played for the form “" + form + "”.")
		}
		next := all[min(asked[form], len(all)-1)]
		asked[form]++
		if recorded, is := recordings[next]; is {
			return recorded.Raw()
		}
		return modeltest.Stream(next)
	})
}

// wrong lists what is not as the row says.
func (row recordedRow) wrong(t *testing.T, recordings map[string]modeltest.Recording) (all []string) {
	server := modeltest.NewServer(t)
	server.Models = []string{"m"}
	speaks(server, row.says, recordings)
	home := recordedHome(t, server)
	t.Chdir(home)
	run := func(stdin string, args ...string) (int, string) {
		code, out, errs := sibyl(t, home, Streams{In: strings.NewReader(stdin)}, nil,
			slices.Concat([]string{"--config", filepath.Join(home, "config.yaml")}, args)...)
		return code, out + errs
	}
	if row.before != nil {
		code, shown := run("", row.before...)
		assert.Require(t, code == ExitAnswered, "%v: exit %d: %s", row.before, code, shown)
	}
	code, shown := run(row.stdin, row.args...)
	if !slices.Contains(row.exits, code) {
		all = append(all, fmt.Sprintf("it exits with %d, not with one of %v", code, row.exits))
	}
	for _, words := range row.holds {
		if !strings.Contains(shown, words) {
			all = append(all, "it lacks "+words)
		}
	}
	for _, words := range slices.Concat(neverShown, row.lacks) {
		if strings.Contains(shown, words) {
			all = append(all, "it shows "+words)
		}
	}
	if row.once != "" && strings.Count(shown, row.once) > 1 {
		all = append(all, "it repeats "+row.once)
	}
	asked := slices.DeleteFunc(server.Requests(), func(r modeltest.Request) bool { return len(r.Messages) == 0 })
	if n := len(asked); n > cmp.Or(row.most, mostRequests) {
		all = append(all, fmt.Sprintf("the model is asked %d times", n))
	}
	if row.acts.command != nil {
		wanted := row.acts.undone
		if strings.Contains(shown, row.acts.claims) {
			wanted = row.acts.done
		}
		if _, is := run("", row.acts.command...); !strings.Contains(is, wanted) {
			all = append(all, fmt.Sprintf("%s lacks %s: %s", strings.Join(row.acts.command, " "), wanted, is))
		}
	}
	if all != nil {
		all = append(all, fmt.Sprintf("exit %d, and what is shown:\n%s", code, shown[:min(len(shown), 2000)]))
	}
	return all
}

func TestSmallModelsShowNothingThatIsNoAnswer(t *testing.T) {
	recordings := assert.Must(modeltest.Recordings())(t)
	unseen := maps.Clone(recordings)
	for _, row := range recordedRows() {
		delete(unseen, row.about)
		t.Run(row.about, func(t *testing.T) {
			wrong := row.wrong(t, recordings)
			switch {
			case row.open != "" && wrong != nil:
				t.Skipf("open: %s\n%s", row.open, strings.Join(wrong, "\n"))
			case row.open != "":
				t.Errorf("the row holds: remove its mark “%s”", row.open)
			case wrong != nil:
				t.Error(strings.Join(wrong, "\n"))
			}
		})
	}
	assert.That(t, len(unseen) == 0, "no row is about %v", slices.Sorted(maps.Keys(unseen)))
}
