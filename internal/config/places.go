package config

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// places knows where things lie: the environment and the folders it names.
type places struct {
	variables map[string]string
	home      string // "" if unknown
}

// places are those of the options.
func (o Options) places() places {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	p := places{variables: map[string]string{}, home: o.Home}
	for _, entry := range o.Environ {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			p.variables[name] = value
		}
	}
	p.home = cmp.Or(p.home, p.get("HOME"), p.get("USERPROFILE"))
	return p
}

// get returns a variable; "" if it is not set.
func (p places) get(name string) string { return p.variables[name] }

// configDir returns the folder for configuration, or "" where that cannot be told.
func (p places) configDir() string {
	xdg, windows := p.get("XDG_CONFIG_HOME"), p.get("APPDATA")
	switch {
	case filepath.IsAbs(xdg):
		return filepath.Join(xdg, "sibyl")
	case runtime.GOOS == "windows" && windows != "":
		return filepath.Join(windows, "sibyl")
	case p.home == "":
		return ""
	case runtime.GOOS == "darwin":
		return filepath.Join(p.home, "Library", "Application Support", "sibyl")
	}
	return filepath.Join(p.home, ".config", "sibyl")
}

// dataDir returns the folder for data after the XDG base directory specification, which counts a relative path as
// none.
func (p places) dataDir() (string, error) {
	if xdg := p.get("XDG_DATA_HOME"); filepath.IsAbs(xdg) {
		return filepath.Join(xdg, "sibyl"), nil
	}
	if p.home == "" {
		return "", errors.New("the data folder is unknown because HOME is not set: set SIBYL_DATA or HOME")
	}
	return filepath.Join(p.home, ".local", "share", "sibyl"), nil
}

// absolute makes a path absolute: ~ is the home folder, a relative path starts from base.
func (p places) absolute(path, base string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("holds a NUL character")
	}
	if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~`+string(os.PathSeparator)) {
		if p.home == "" {
			return "", errors.New("begins with ~, but the home folder is unknown: set HOME")
		}
		return filepath.Join(p.home, path[1:]), nil
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	return filepath.Abs(filepath.Join(base, path))
}
