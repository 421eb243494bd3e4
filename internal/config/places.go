package config

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// places holds the environment and the folders it names.
type places struct {
	variables map[string]string
	home      string // "" if unknown
}

// places returns the places of these options.
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

// get returns a variable; "" if it is unset.
func (p places) get(name string) string { return p.variables[name] }

// configDir returns the folder for configuration, or "" if it is unknown.
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

// dataDir returns the data folder by the XDG base directory specification, which ignores relative paths.
func (p places) dataDir() (string, error) {
	if xdg := p.get("XDG_DATA_HOME"); filepath.IsAbs(xdg) {
		return filepath.Join(xdg, "sibyl"), nil
	}
	if p.home == "" {
		return "", errors.New("the data folder is unknown because HOME is not set: set SIBYL_DATA or HOME")
	}
	return filepath.Join(p.home, ".local", "share", "sibyl"), nil
}

// absolute makes a path absolute: ~ is the home folder, and relative paths start at base.
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
