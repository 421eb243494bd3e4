package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"sibyl/internal/redact"
)

const maxFileBytes = 1 << 20

// configFile is a configuration file with checked names.
type configFile struct {
	path   string                // "" where there is none
	values map[string]*yaml.Node // of the settings in it that are not null, by path
	lines  map[string]int        // of the settings and sections
}

// readSettingsFile finds and reads the configuration file. A named file must exist; without the usual one the content
// is empty, and so is the path if it is unknown.
func readSettingsFile(opts Options) (path string, content []byte, err error) {
	path, namedBy, err := opts.places().findFile(opts.Path)
	if err != nil || path == "" {
		return "", nil, err
	}
	content, err = contentOf(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
		if namedBy != "" {
			err = fmt.Errorf("the configuration file %s, named by %s, does not exist", path, namedBy)
		}
	}
	return path, content, err
}

// findFile returns the path of the configuration file and what names it: "" for the usual one.
func (p places) findFile(path string) (found, namedBy string, err error) {
	namedBy = "the option"
	if path == "" {
		path, namedBy = p.get("SIBYL_CONFIG"), "SIBYL_CONFIG"
	}
	if path != "" {
		if found, err = p.absolute(path, ""); err != nil {
			return "", "", fmt.Errorf("the path of the configuration file %w", err)
		}
		return found, namedBy, nil
	}
	if folder := p.configDir(); folder != "" {
		found = filepath.Join(folder, "config.yaml")
	}
	return found, "", nil
}

// contentOf reads a possible settings file; the result is nil only if there is none.
func contentOf(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > maxFileBytes) {
		return nil, fmt.Errorf("%s is not a configuration file: it must be a file of at most %d KB",
			path, maxFileBytes>>10)
	}
	var content []byte
	if err == nil {
		content, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("the configuration file cannot be read: %w", err)
	}
	return content, nil
}

func parse(path string, content []byte) (configFile, error) {
	w := walker{file: configFile{path: path, values: map[string]*yaml.Node{}, lines: map[string]int{}}}
	var doc, second yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(content))
	if err := documents.Decode(&doc); errors.Is(err, io.EOF) {
		return w.file, nil
	} else if err != nil {
		return configFile{}, fmt.Errorf("%s: %s", path, redact.New().String(err.Error()))
	}
	if err := documents.Decode(&second); !errors.Is(err, io.EOF) {
		return configFile{}, fmt.Errorf("%s contains more than one YAML document: keep only one", path)
	}
	w.section(doc.Content[0], "")
	return w.file, errors.Join(w.problems...)
}

// names maps paths to settings. A star replaces the name of a provider or an MCP server.
type names map[string]setting

var knownNames = sync.OnceValue(func() names {
	known := names{}
	for _, section := range sections() {
		for _, one := range section.settings {
			known[section.pattern(one)] = one
		}
	}
	return known
})

func (n names) has(path string) bool { _, is := n[path]; return is }

func (n names) isSection(path string) bool {
	for name := range n {
		if strings.HasPrefix(name, path+".") {
			return true
		}
	}
	return false
}

// patternOf returns the path with a star for the name of a provider or server, and that name, "" for none.
func patternOf(path string) (pattern, name string) {
	for _, section := range []string{providersSection, mcpSection} {
		if rest, ok := strings.CutPrefix(path, section); ok {
			name, rest, _ := strings.Cut(rest, ".")
			return strings.TrimSuffix(section+"*."+rest, "."), name
		}
	}
	return path, ""
}

// walker checks the names in a file.
type walker struct {
	file     configFile
	problems []error
}

func (w *walker) problem(path string, node *yaml.Node, format string, args ...any) {
	where := fmt.Sprintf("%s:%d", w.file.path, node.Line)
	w.problems = append(w.problems, &Problem{Setting: path, Where: where, text: where + ": " +
		fmt.Sprintf(format, args...)})
}

// section checks the names under path, "" for the whole file.
func (w *walker) section(node *yaml.Node, path string) {
	if isNull(node) {
		return
	}
	if node.Kind != yaml.MappingNode {
		w.problem(path, node, "%s must contain names and values, as name: value", cmp.Or(path, "the file"))
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, content := node.Content[i], node.Content[i+1]
		full := strings.TrimPrefix(path+"."+name.Value, ".")
		wrong := ""
		switch {
		case seen[name.Value]:
			wrong = full + " is set twice"
		case isAlias(content) || name.Kind != yaml.ScalarNode || content.Kind == yaml.SequenceNode &&
			slices.ContainsFunc(content.Content, isAlias):
			wrong = full + ": YAML references are not supported: write out the value"
		case path+"." == providersSection:
			wrong = wrongProviderName(name.Value)
		case path+"." == mcpSection:
			wrong = wrongServerName(name.Value)
		case strings.Contains(name.Value, "."):
			wrong = full + ": put a section and its settings on separate, indented lines"
		}
		if wrong != "" {
			w.problem(full, name, "%s", wrong)
			continue
		}
		seen[name.Value] = true
		w.entry(name, content, full)
	}
}

func (w *walker) entry(name, content *yaml.Node, path string) {
	pattern, _ := patternOf(path)
	set, isSetting := knownNames()[pattern]
	switch {
	case isSetting:
		w.file.lines[path] = name.Line
		form, takes := set.form()
		switch {
		case isNull(content):
		case content.Kind != form:
			w.problem(path, content, "%s takes %s", path, takes)
		default:
			w.file.values[path] = content
		}
	case path == "web" && isSwitch(content):
		w.entry(name, content, webSwitch)
	case knownNames().isSection(pattern):
		w.file.lines[path] = name.Line
		w.section(content, path)
	default:
		w.problem(path, name, "%s", knownNames().unknownSetting(path))
	}
}

// form returns a setting's kind in YAML, and a description of what it takes.
func (s setting) form() (kind yaml.Kind, takes string) {
	switch like := s.tag.Get("like"); {
	case strings.HasPrefix(like, "["):
		return yaml.SequenceNode, "a list, such as " + like
	case like != "":
		return yaml.MappingNode, "names and values, such as " + like
	}
	return yaml.ScalarNode, "one value"
}

// isSwitch reports whether a section's place holds on or off.
func isSwitch(content *yaml.Node) bool {
	return content.Kind == yaml.ScalarNode && slices.Contains([]string{"on", "off", "true", "false"},
		strings.ToLower(content.Value))
}

// unknownSetting explains why no setting has this name, and proposes an existing one.
func (n names) unknownSetting(path string) string {
	if looksLikeKey(lastName(path)) {
		return path + ": keys don't belong in this file: name an environment variable with key_env, " +
			"or a command that prints the key with key_command, or store it with ‘sibyl config set-key NAME’"
	}
	tops := map[string]bool{}
	for known := range n {
		top, _, _ := strings.Cut(known, ".")
		tops[top] = true
	}
	pattern, name := patternOf(path)
	last := lastName(pattern)
	best := nearest(append(sortedNames(tops), sortedNames(n)...), func(known string) int {
		if last == lastName(known) {
			return 0
		}
		return min(editDistance(pattern, known), editDistance(last, lastName(known))+1)
	})
	if best == "" {
		return fmt.Sprintf("unknown setting %s; available: %s", path, strings.Join(sortedNames(tops), ", "))
	}
	return fmt.Sprintf("unknown setting %s; did you mean %s?", path, strings.Replace(best, "*",
		cmp.Or(name, "<name>"), 1))
}

// wrongProviderName says why a provider can't have a name; "" if it can.
func wrongProviderName(name string) string {
	switch {
	case name == offlineName || name == ollamaName:
		return "providers." + name + ": this name is built in; choose another"
	case !isProviderName(name):
		return fmt.Sprintf("providers: the name %s may contain only lower-case letters, digits, - and _", quote(name))
	}
	return ""
}

// wrongServerName says why an MCP server can't have a name, which must be able to prefix a tool's name with __.
func wrongServerName(name string) string {
	const longest = 20
	if !isProviderName(name) || len(name) > longest || strings.Contains(name, "__") {
		return fmt.Sprintf("mcp.servers: the name %s may contain only lower-case letters, digits, - and single _, at "+
			"most %d of them", quote(name), longest)
	}
	return ""
}

// nearest returns the first name with the least distance; "" if none is near.
func nearest(names []string, distance func(string) int) string {
	best, least := "", 3
	for _, name := range names {
		if d := distance(name); d < least {
			best, least = name, d
		}
	}
	return best
}

// DidYouMean proposes the nearest known name in words, or else lists them all.
func DidYouMean(name string, known []string) string {
	best := nearest(known, func(k string) int { return editDistance(name, k) })
	if best == "" {
		known = slices.Compact(slices.Sorted(slices.Values(known)))
		return "; available: " + strings.Join(known, ", ")
	}
	return fmt.Sprintf("; did you mean %s?", best)
}

func lastName(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// editDistance counts the letters to insert, delete or change to make b of a (Levenshtein).
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// looksLikeKey reports whether an unknown setting's name is one that people give to keys.
func looksLikeKey(name string) bool {
	name = strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	for _, ending := range []string{"key", "token", "secret", "password"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return false
}

func isAlias(node *yaml.Node) bool { return node.Kind == yaml.AliasNode }

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.Tag == "!!null" }
