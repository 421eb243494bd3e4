package config

// indexSwitch turns the index of code on and off.
const indexSwitch = "index.use"

// Index is where it is kept which words stand in which files of large folders, so that a search need not read them all.
type Index struct {
	Off    bool
	Folder string // "" where there is no place for it: then there is none
}
