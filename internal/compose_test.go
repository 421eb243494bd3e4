package internal

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/config"
)

// composition is what these tests read of a Compose file.
type composition struct {
	Services map[string]struct {
		Image       string
		Environment map[string]string
		EnvFile     []string `yaml:"env_file"`
		Volumes     []string
	}
	Volumes map[string]any
}

// environOfImage are the variables that a Containerfile sets.
func environOfImage(t *testing.T, file string) (environ []string) {
	t.Helper()
	for line := range strings.Lines(string(assert.Must(os.ReadFile(file))(t))) {
		if set, is := strings.CutPrefix(line, "ENV "); is {
			environ = append(environ, strings.Fields(set)...)
		}
	}
	return environ
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
	const deploy = "../deploy"
	var c composition
	assert.NoError(t, yaml.Unmarshal(assert.Must(os.ReadFile(filepath.Join(deploy, "compose.yaml")))(t), &c))
	places, databases, nodes := map[string]bool{}, map[string]bool{}, 0
	for _, name := range slices.Sorted(maps.Keys(c.Services)) {
		s := c.Services[name]
		if s.Image != "sibyl" {
			continue
		}
		nodes++
		environ := environOfImage(t, filepath.Join(deploy, "Containerfile"))
		for _, file := range s.EnvFile {
			environ = append(environ, strings.Split(string(assert.Must(os.ReadFile(filepath.Join(deploy,
				file+".example")))(t)), "\n")...)
		}
		for key, value := range s.Environment {
			environ = append(environ, key+"="+value)
		}
		settings, _, _ := mountOf(s.Volumes, s.Environment["SIBYL_CONFIG"])
		assert.Require(t, settings != "", "%s: its settings are in no volume", name)
		environ = append(environ, "SIBYL_CONFIG="+filepath.Join(deploy, settings))
		cfg, err := config.Load(config.Options{Environ: environ})
		assert.NoErrorf(t, err, "the settings of %s", name)
		folder, _ := cfg.CouncilFolder()
		volume, within, writable := mountOf(s.Volumes, folder)
		_, kept := c.Volumes[volume]
		assert.That(t, kept && writable, "%s: the Council's folder %s lies in %q, which is no named volume to write to", name,
			folder, volume)
		places[volume+":"+within], databases[cfg.Database.Where()] = true, true
	}
	assert.That(t, nodes > 1 && len(places) == 1 && len(databases) == 1 && !databases[""],
		"%d nodes keep the sessions of the Council in %v, and all else in %v", nodes, places, databases)
}
