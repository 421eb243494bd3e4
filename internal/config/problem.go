package config

import "strings"

// Problem is an error in one setting.
type Problem struct {
	Setting string // sections and name, with dots between; "" for the file as a whole
	Where   string // file:line, or the variable
	text    string
}

// Error returns the place and the problem.
func (p *Problem) Error() string { return p.text }

// Says returns the problem without its place in the file.
func (p *Problem) Says() string { return strings.TrimPrefix(p.text, p.Where+": ") }

// problem returns an error about a setting of the file or a variable. says follows its name.
func (s source) problem(path, says string) *Problem {
	where := s.origins[path]
	if where == "" || where == s.line(path) {
		return &Problem{Setting: path, Where: where, text: s.at(path) + says}
	}
	return &Problem{Setting: path, Where: where, text: where + says}
}

// problemsOf splits a joined error into problems. Errors that concern no setting give none.
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
