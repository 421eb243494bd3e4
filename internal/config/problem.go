package config

import "strings"

// Problem is what is wrong with one setting.
type Problem struct {
	Setting string // sections and name, with dots between; "" for the file as a whole
	Where   string // file:line, or the variable
	text    string
}

// Error says where it is and what is wrong.
func (p *Problem) Error() string { return p.text }

// Says is what is wrong, without the place in the file.
func (p *Problem) Says() string { return strings.TrimPrefix(p.text, p.Where+": ") }

// problem is an error of a setting of the file or of a variable. What is said goes on behind its name.
func (s source) problem(path, says string) *Problem {
	where := s.origins[path]
	if where == "" || where == s.line(path) {
		return &Problem{Setting: path, Where: where, text: s.at(path) + says}
	}
	return &Problem{Setting: path, Where: where, text: where + says}
}

// problemsOf takes a joined error apart. One that is of no setting has none.
func problemsOf(err error) (all []*Problem) {
	switch e := err.(type) { //nolint:errorlint // it is taken apart here
	case nil:
	case *Problem:
		all = append(all, e)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, problemsOf(one)...)
		}
	default:
		all = append(all, &Problem{text: err.Error()})
	}
	return all
}
