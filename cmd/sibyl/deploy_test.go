package main

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/behaviour/needs"
	"sibyl/internal/cli"
	"sibyl/internal/config"
)

// forOperators are the files from which people copy commands, settings and variables, by name.
func forOperators(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../deploy/*")
	assert.Require(t, err == nil && len(files) >= 5, "the files of deploy are not where they were: %v, %v", files, err)
	texts := map[string]string{}
	for _, file := range append(files, "../../docs/server.md", "../../docs/scaling.md") {
		text := assert.Must(os.ReadFile(file))(t)
		texts[strings.TrimPrefix(file, "../../")] = string(text)
	}
	return texts
}

// forEverybody are all documents, beside the files for operators.
func forEverybody(t *testing.T) map[string]string {
	t.Helper()
	texts, operators := map[string]string{}, forOperators(t)
	for _, pattern := range []string{"../../*.md", "../../docs/*.md"} {
		files, err := filepath.Glob(pattern)
		assert.Require(t, err == nil && len(files) >= 3, "the documents are not where they were: %v, %v", files, err)
		for _, file := range files {
			text := assert.Must(os.ReadFile(file))(t)
			texts[strings.TrimPrefix(file, "../../")] = string(text)
		}
	}
	delete(texts, "CHANGELOG.md") // it names what is gone
	maps.Copy(texts, operators)
	return texts
}

// commandsIn finds what is called of the program: the words after its name. Of Markdown only what is marked as code is
// looked at.
func commandsIn(file, text string) (calls []string) {
	if strings.HasSuffix(file, ".md") {
		text = strings.Join(regexp.MustCompile("(?s)```.*?\n```|`[^`\n]+`").FindAllString(text, -1), "\n")
	}
	text = strings.NewReplacer("\\\n", " ", `CMD ["/sibyl", "`, "sibyl ", "add sibyl -- ", "", `CMD ["`, "sibyl ", `"]`,
		"", "run --rm node-1 ", "sibyl ", "‘", "`", "’", "`", "`", " ` ").Replace(text)
	for _, m := range regexp.MustCompile(`(?m)(?:^|[ (]|bin/)sibyl((?: [^\s|;&()]+)+)`).
		FindAllStringSubmatch(text, -1) {
		calls = append(calls, m[1])
	}
	return calls
}

func TestDocumentsNameCommandsAndFlagsThatExist(t *testing.T) {
	word := regexp.MustCompile(`^[a-z][a-z-]*$`)
	found, exist := 0, map[string]bool{"--help": true}
	for file, text := range forEverybody(t) {
		for _, call := range commandsIn(file, text) {
			cmd, rest, err := cli.Commands().Find(strings.Fields(call))
			group := err == nil && cmd.HasAvailableSubCommands() && !takesArguments(cmd)
			assert.That(t, err == nil && !(group && len(rest) > 0 && word.MatchString(rest[0])),
				"%s: sibyl%s: there is no such command (%v)", file, call, err)
			found++
			for _, w := range rest {
				if name, _, _ := strings.Cut(w, "="); strings.HasPrefix(name, "--") && name != "--" && name != "--help" {
					found++
					assert.That(t, cmd.Flag(name[2:]) != nil, "%s: sibyl%s: ‘%s’ has no flag %s", file, call, cmd.CommandPath(), name)
				}
			}
		}
	}
	eachCommand(func(cmd *cobra.Command) {
		for _, flags := range []*pflag.FlagSet{cmd.LocalFlags(), cmd.InheritedFlags()} {
			flags.VisitAll(func(f *pflag.Flag) { exist["--"+f.Name] = true })
		}
	})
	for file, text := range forOperators(t) {
		for _, m := range regexp.MustCompile("`(--[a-z-]+)").FindAllStringSubmatch(text, -1) {
			found++
			assert.That(t, exist[m[1]], "%s names the flag %s, which no command has", file, m[1])
		}
	}
	assert.That(t, found >= 45, "only %d commands and flags were found: the files are read in the wrong way", found)
}

// settingsIn are the pieces of settings files: those that are ones, and in Markdown the blocks that say so.
func settingsIn(file, text string) (blocks []string) {
	if strings.HasSuffix(file, "config.yaml") {
		return []string{text}
	}
	for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

func TestFilesForOperatorsHoldSettingsThatAreTaken(t *testing.T) {
	found := 0
	for file, text := range forOperators(t) {
		for _, block := range settingsIn(file, text) {
			found++
			path := filepath.Join(t.TempDir(), "config.yaml")
			assert.NoError(t, os.WriteFile(path, []byte(block), 0o600))
			_, err := config.Load(config.Options{Path: path, Home: t.TempDir(), Environ: []string{}})
			assert.That(t, err == nil, "%s: %v in\n%s", file, err, block)
		}
	}
	assert.That(t, found >= 2, "only %d settings files were found: the files are read in the wrong way", found)
}

func TestServerGuideHasATableOfAllSettingsForServers(t *testing.T) {
	text := forOperators(t)["docs/server.md"]
	lines := assert.Must(config.Explain(config.Options{Home: t.TempDir(), Environ: []string{}}))(t)
	exist := map[string]bool{}
	for _, l := range lines {
		exist[l.Path] = true
		section, _, _ := strings.Cut(l.Path, ".")
		assert.That(t, (section != "server" && section != "telemetry") || strings.Contains(text, "| `"+l.Path+"` |"),
			"docs/server.md has no row for %s", l.Path)
	}
	for file, text := range forOperators(t) {
		for _, m := range regexp.MustCompile("`((?:server|telemetry)\\.[a-z_.]*[a-z])`").
			FindAllStringSubmatch(text, -1) {
			assert.That(t, exist[m[1]], "%s names the setting %s, which there is not", file, m[1])
		}
	}
}

// reads says whether a variable of the environment changes the settings, or is complained of.
func reads(t *testing.T, variable string) bool {
	t.Helper()
	home := t.TempDir()
	usual := assert.Must(config.Load(config.Options{Home: home, Environ: []string{}}))(t)
	for _, value := range []string{"1", "x", "debug", "/x", "a=b", "127.0.0.1:1", "http://127.0.0.1:1",
		"postgres://a@b/c"} {
		set, err := config.Load(config.Options{Home: home, Environ: []string{variable + "=" + value}})
		if err != nil && strings.Contains(err.Error(), variable) || err == nil && !reflect.DeepEqual(set, usual) {
			return true
		}
	}
	return false
}

func TestFilesForOperatorsNameVariablesThatAreRead(t *testing.T) {
	found := map[string]bool{}
	for file, text := range forOperators(t) {
		for _, variable := range regexp.MustCompile(
			`\b(?:SIBYL|OTEL|OPENAI|ANTHROPIC|GEMINI|OLLAMA|DATABASE)_[A-Z_]*[A-Z]\b`).FindAllString(text, -1) {
			assert.That(t, found[variable] || variable == needs.AllVariable || reads(t, variable),
				"%s names %s, which nothing reads", file, variable)
			found[variable] = true
		}
	}
	assert.That(t, len(found) >= 6 && !reads(t, "SIBYL_NONE"),
		"of %v one is read that there is not, or too few were found", found)
}

func TestServerGuideNamesMetricsThatExist(t *testing.T) {
	// A test of telemetry keeps it in step with the program.
	known := assert.Must(os.ReadFile("../../docs/telemetry.md"))(t)
	all := regexp.MustCompile(`\bsibyl_[a-z_]+[a-z]\b`).FindAllString(forOperators(t)["docs/server.md"], -1)
	for _, name := range all {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		assert.That(t, strings.Contains(string(known), "`"+base),
			"docs/server.md names the metric %s, which there is not", name)
	}
	assert.That(t, len(all) >= 5, "only the metrics %v were found", all)
}
