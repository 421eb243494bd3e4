package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Database says where everything is stored: in a PostgreSQL database or an SQLite file.
type Database struct {
	Postgres Secret // the address of a database, postgres://user:password@host:port/name; the zero Secret for none
	File     string // of SQLite; "" for the one in the data folder
}

// ParseDatabase parses a PostgreSQL address, or sqlite: and a path. Its errors do not repeat it: it may hold a
// password.
func ParseDatabase(text string) (Database, error) {
	text = strings.TrimSpace(text)
	scheme, rest, _ := strings.Cut(text, ":")
	switch scheme {
	case "sqlite":
		path := strings.TrimPrefix(rest, "//")
		if path == "" || strings.ContainsAny(path, "\x00\n") {
			return Database{}, errors.New("names no file: write sqlite:PATH")
		}
		return Database{File: path}, nil
	case "postgres", "postgresql":
		if u, err := url.Parse(text); err != nil || u.Opaque != "" || strings.Trim(u.Path, "/") == "" {
			return Database{}, errors.New(
				"must be an address such as postgres://USER@HOST:5432/NAME, with the name of a database")
		}
		return Database{Postgres: NewSecret(text)}, nil
	}
	return Database{}, errors.New(
		"must be an address of PostgreSQL, such as postgres://USER@HOST:5432/NAME, or sqlite:PATH")
}

// Where names the database without its password.
func (d Database) Where() string {
	if u, err := url.Parse(d.Postgres.Reveal()); err == nil && d.Postgres != (Secret{}) {
		q := u.Query()
		q.Del("password")
		u.RawQuery = q.Encode()
		return u.Redacted()
	}
	if d.File != "" {
		return "sqlite:" + d.File
	}
	return ""
}

// HasPassword says whether its address has a password.
func (d Database) HasPassword() bool { return d.password() != "" }

// password returns the password in the address.
func (d Database) password() string {
	u, err := url.Parse(d.Postgres.Reveal())
	if err != nil {
		return ""
	}
	password, _ := u.User.Password()
	return cmp.Or(password, u.Query().Get("password"))
}

func (v value) database() (Database, error) {
	text, err := v.line()
	if err != nil {
		return Database{}, err
	}
	d, err := ParseDatabase(text)
	switch {
	case err == nil && v.public && d.password() != "":
		err = errors.New("contains a password, which does not belong in this file: put the address in DATABASE_URL, " +
			"or the password in PGPASSWORD or a .pgpass file")
	case err == nil && d.File != "":
		d.File, err = v.places.absolute(d.File, v.base)
	}
	return d, err
}

// databaseOfOthers reads DATABASE_URL, which other programs share, and ignores the addresses of other kinds of
// databases.
func (s source) databaseOfOthers(c *Config) (err error) {
	const variable = "DATABASE_URL"
	text := s.places.get(variable)
	scheme, _, _ := strings.Cut(text, ":")
	if c.Database != (Database{}) || scheme != "sqlite" && scheme != "postgres" && scheme != "postgresql" {
		return nil
	}
	if c.Database, err = (value{Node: textOf(text), places: s.places}).database(); err != nil {
		return fmt.Errorf("%s %w", variable, err)
	}
	s.origins["database"] = variable
	return nil
}
