package main

import (
	"encoding/json"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
)

// containerfile gives the instructions of deploy/Containerfile by their words, each with its arguments, in order.
func containerfile(t *testing.T) map[string][]string {
	t.Helper()
	text := strings.ReplaceAll(string(read(t, "../../deploy/Containerfile")), "\\\n", " ")
	all := map[string][]string{}
	for line := range strings.Lines(text) {
		if word, rest, found := strings.Cut(strings.TrimSpace(line), " "); found && word == strings.ToUpper(word) && word != "#" {
			all[word] = append(all[word], rest)
		}
	}
	return all
}

// last is the last instruction of a word: it holds for the image.
func last(t *testing.T, all map[string][]string, word string) string {
	t.Helper()
	assert.Require(t, len(all[word]) != 0, "the Containerfile has no %s", word)
	return all[word][len(all[word])-1]
}

func TestImageIsWhatItsFileSays(t *testing.T) {
	all := containerfile(t)
	environment := map[string]string{}
	for _, one := range strings.Fields(last(t, all, "ENV")) {
		name, value, _ := strings.Cut(one, "=")
		environment[name] = value
	}
	data, owner := last(t, all, "VOLUME"), last(t, all, "USER")
	assert.That(t, environment["HOME"] == data && environment["SIBYL_DATA"] == data, "the data is at %s, and the volume at %s", environment, data)
	_, port, err := net.SplitHostPort(environment["SIBYL_LISTEN"])
	assert.That(t, err == nil && port == last(t, all, "EXPOSE"), "it listens to %s, and shows %s", environment["SIBYL_LISTEN"], last(t, all, "EXPOSE"))
	copied := strings.Join(all["COPY"], "\n")
	assert.Contains(t, "what is copied", copied, "--chown="+owner+" ", " "+data)
	assert.That(t, regexp.MustCompile(`^[1-9]\d*:[1-9]\d*$`).MatchString(owner), "it runs as %s: the image knows no names", owner)
	built := strings.Join(all["RUN"], "\n")
	for _, m := range regexp.MustCompile(`--from=build.* /out/(\w+)`).FindAllStringSubmatch(copied, -1) {
		assert.Contains(t, "what is built", built, "/out/"+m[1])
	}
	for _, program := range regexp.MustCompile(`\./cmd/[\w-]+`).FindAllString(built, -1) {
		_, err := os.Stat(filepath.Join("../..", program))
		assert.NoError(t, err)
	}
	module := regexp.MustCompile(`(?m)^go ([\d.]+)$`).FindStringSubmatch(string(read(t, "../../go.mod")))
	assert.Contains(t, "what it is built with", all["FROM"][0], "golang:"+module[1])
}

// What the image asks to know of its health, in its environment and in nothing else.
func TestHealthCheckOfTheImageIsPassedByAServerAlone(t *testing.T) {
	all := containerfile(t)
	_, words, found := strings.Cut(last(t, all, "HEALTHCHECK"), "CMD ")
	var check []string
	assert.Require(t, found && json.Unmarshal([]byte(words), &check) == nil && check[0] == "/sibyl", "it is checked by %s", words)
	s := newServed(t)
	ask := func(address string) error {
		u := assert.Must(url.Parse(address))(t)
		cmd := exec.CommandContext(t.Context(), "sibyl", check[1:]...)
		cmd.Env = []string{"HOME=" + s.data, "SIBYL_DATA=" + s.data, "SIBYL_LISTEN=0.0.0.0:" + u.Port()}
		return cmd.Run()
	}
	assert.NoError(t, ask(s.url))
	err := ask("http://" + freeAddress(t))
	assert.That(t, err != nil, "nothing listens, and the check passes")
}

// composed is the folder of the Compose file.
const composed = "../../deploy"

// composition is what is read of the Compose file.
type composition struct {
	Services map[string]struct {
		Image       string
		Build       struct{ Context, Dockerfile string }
		EnvFile     []string `yaml:"env_file"`
		Environment map[string]string
		Volumes     []string
		Ports       []string
		DependsOn   map[string]any `yaml:"depends_on"`
	}
	Volumes map[string]any
}

// compositionOf reads the Compose file, and the variables in the files for the environment of its services.
func compositionOf(t *testing.T) (file composition, settings map[string]string) {
	t.Helper()
	assert.NoError(t, yaml.Unmarshal(read(t, composed+"/compose.yaml"), &file))
	assert.Require(t, len(file.Services) >= 3, "only %d services were read", len(file.Services))
	settings = map[string]string{}
	for _, s := range file.Services {
		for _, env := range s.EnvFile {
			for line := range strings.Lines(string(read(t, filepath.Join(composed, env+".example")))) {
				if variable, value, found := strings.Cut(strings.TrimSpace(line), "="); found && !strings.HasPrefix(line, "#") {
					settings[variable] = value
				}
			}
		}
	}
	return file, settings
}

func TestComposedServicesHaveWhatTheyName(t *testing.T) {
	file, settings := compositionOf(t)
	used := map[string]bool{}
	for name, s := range file.Services {
		for _, volume := range s.Volumes {
			from, to, _ := strings.Cut(volume, ":")
			if !strings.HasPrefix(from, ".") {
				_, there := file.Volumes[from]
				assert.That(t, there, "%s names the volume %s, which there is not", name, from)
				used[from] = true
				continue
			}
			_, err := os.Stat(filepath.Join(composed, from))
			assert.NoError(t, err)
			to, _, _ = strings.Cut(to, ":")
			assert.Equalf(t, s.Environment["SIBYL_CONFIG"], to, "where %s looks for %s", name, from)
		}
		for dependency := range s.DependsOn {
			_, there := file.Services[dependency]
			assert.That(t, there, "%s depends on %s, which there is not", name, dependency)
		}
		if s.Build.Context != "" {
			_, err := os.Stat(filepath.Join(composed, s.Build.Context, path.Clean(s.Build.Dockerfile)))
			assert.NoError(t, err)
		}
		for _, port := range s.Ports {
			_, listens, err := net.SplitHostPort(s.Environment["SIBYL_LISTEN"])
			assert.That(t, err == nil && port == "127.0.0.1:"+listens+":"+listens, "%s listens to %s, and shows %s", name,
				s.Environment["SIBYL_LISTEN"], port)
		}
	}
	for volume := range file.Volumes {
		assert.That(t, used[volume], "no service has the volume %s", volume)
	}
	database := assert.Must(url.Parse(settings["DATABASE_URL"]))(t)
	password, _ := database.User.Password()
	server := file.Services[database.Hostname()].Environment
	assert.That(t, slices.Equal([]string{database.User.Username(), strings.Trim(database.Path, "/"), password},
		[]string{server["POSTGRES_USER"], server["POSTGRES_DB"], settings["POSTGRES_PASSWORD"]}),
		"the nodes ask the database by %s, and it has %v", database.Redacted(), server)
}

// mountOf is the volume in which a path of a service lies, the path in that volume, and whether it can be written to.
func mountOf(volumes []string, path string) (volume, within string, writable bool) {
	for _, v := range volumes {
		source, at, _ := strings.Cut(v, ":")
		at, mode, _ := strings.Cut(at, ":")
		if rest, inside := strings.CutPrefix(path+"/", at+"/"); inside {
			return source, rest, mode != "ro"
		}
	}
	return "", "", false
}

// The Compose file is a service of several nodes: its settings are accepted, and all nodes have one database, and one
// place for what the Council keeps, in a volume that outlives them.
func TestNodesOfTheComposeFileShareADatabaseAndTheFolderOfTheCouncil(t *testing.T) {
	file, given := compositionOf(t)
	places, databases, nodes := map[string]bool{}, map[string]bool{}, 0
	for name, s := range file.Services {
		if s.Image != "sibyl" {
			continue
		}
		nodes++
		environ := strings.Fields(last(t, containerfile(t), "ENV"))
		for _, of := range []map[string]string{given, s.Environment} {
			for key, value := range of {
				environ = append(environ, key+"="+value)
			}
		}
		settings, _, _ := mountOf(s.Volumes, s.Environment["SIBYL_CONFIG"])
		assert.Require(t, settings != "", "%s: its settings are in no volume", name)
		cfg, err := config.Load(config.Options{Environ: append(environ, "SIBYL_CONFIG="+filepath.Join(composed, settings))})
		assert.NoErrorf(t, err, "the settings of %s", name)
		folder, _ := cfg.CouncilFolder()
		volume, within, writable := mountOf(s.Volumes, folder)
		_, kept := file.Volumes[volume]
		assert.That(t, kept && writable, "%s: the Council's folder %s lies in %q, which is no named volume to write to", name,
			folder, volume)
		places[volume+":"+within], databases[cfg.Database.Where()] = true, true
	}
	assert.That(t, nodes > 1 && len(places) == 1 && len(databases) == 1 && !databases[""],
		"%d nodes keep the sessions of the Council in %v, and all else in %v", nodes, places, databases)
}
