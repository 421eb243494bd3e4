package config

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Database is where everything is kept: a PostgreSQL database, or an SQLite file.
type Database struct {
	Postgres Secret // the address of a database, postgres://user:password@host:port/name; the zero Secret for none
	File     string // of SQLite; "" for the one in the data folder
}

// ParseDatabase reads an address of PostgreSQL, or sqlite: and the path of a file.
func ParseDatabase(text string) (Database, error) {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(text), ":")
	switch scheme {
	case "sqlite":
		path := strings.TrimPrefix(rest, "//")
		if path == "" || strings.ContainsAny(path, "\x00\n") {
			return Database{}, errors.New("names no file: write sqlite:PATH")
		}
		return Database{File: path}, nil
	case "postgres", "postgresql":
		if u, err := url.Parse(strings.TrimSpace(text)); err != nil || u.Opaque != "" || strings.Trim(u.Path, "/") == "" {
			return Database{}, errors.New("must be an address such as postgres://USER@HOST:5432/NAME, with the name of a database") // not repeated: it may hold a password
		}
		return Database{Postgres: NewSecret(strings.TrimSpace(text))}, nil
	}
	return Database{}, errors.New("must be an address of PostgreSQL, such as postgres://USER@HOST:5432/NAME, or sqlite:PATH")
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

// password is the part of the address that nobody is to see.
func (d Database) password() string {
	u, err := url.Parse(d.Postgres.Reveal())
	if err != nil {
		return ""
	}
	password, _ := u.User.Password()
	return cmp.Or(password, u.Query().Get("password"))
}

func (v value) database(into *Database) error {
	var text string
	if err := v.line(&text); err != nil {
		return err
	}
	d, err := ParseDatabase(text)
	if err != nil {
		return err
	}
	if v.public && d.password() != "" {
		return errors.New("contains a password, which does not belong in this file: put the address in DATABASE_URL, or the password in PGPASSWORD or a .pgpass file")
	}
	if d.File != "" {
		if d.File, err = v.places.absolute(d.File, v.base); err != nil {
			return err
		}
	}
	*into = d
	return nil
}

// databaseOfOthers takes the variable that other programs use too: an address of another kind of database is not meant for us.
func (s source) databaseOfOthers(c *Config) error {
	const variable = "DATABASE_URL"
	text := s.places.get(variable)
	if text == "" || c.Database != (Database{}) {
		return nil
	}
	if scheme, _, _ := strings.Cut(text, ":"); scheme != "sqlite" && scheme != "postgres" && scheme != "postgresql" {
		return nil
	}
	if err := (value{raw: text, places: s.places}).database(&c.Database); err != nil {
		return fmt.Errorf("%s %w", variable, err)
	}
	s.origins["database"] = variable
	return nil
}

// Server is how ‘sibyl serve’ serves.
type Server struct {
	Listen          string            // host:port
	Name            string            // of this node, for people; "" for the host's
	TLSCert, TLSKey string            // files; "" for none
	Hosts           []string          // names under which it is reached beside those of this machine
	Proxies         []netip.Prefix    // whose word on who asks is believed
	MostRuns        int               // driven at once, 1 to mostRuns
	Grace           time.Duration     // how long runs may go on when it stops, 0 s to 10 min
	Folders         map[string]string // that questions may name; “ada/notes” is ada's alone, and notes to her
	Limits          Limits
}

// Limits are what one user may ask of a node.
type Limits struct {
	Runs     int // going on at once, 1 to 1000
	Requests int // a minute, 1 to 100,000
	Bytes    int // sent in a minute, 1 MiB to 1 GiB
}

// FoldersOf are the folders that a user may name, with their paths.
func (s Server) FoldersOf(user string) map[string]string {
	all := map[string]string{}
	for name, path := range s.Folders {
		if !strings.Contains(name, "/") {
			all[name] = path
		}
	}
	for name, path := range s.Folders {
		if own, ok := strings.CutPrefix(name, user+"/"); ok {
			all[own] = path
		}
	}
	return all
}

// Loopback says whether it listens to this machine alone.
func (s Server) Loopback() bool {
	host, _, err := net.SplitHostPort(s.Listen)
	ip, ipErr := netip.ParseAddr(host)
	return err == nil && (host == "localhost" || ipErr == nil && ip.IsLoopback())
}

const mostRuns = 1000

func serverSettings() []setting[Config] {
	of := func(c *Config) *Server { return &c.Server }
	return []setting[Config]{
		field("server.listen", "SIBYL_LISTEN", func(c *Config) *string { return &of(c).Listen }, value.listen),
		field("server.name", "SIBYL_NODE", func(c *Config) *string { return &of(c).Name }, value.line),
		path("server.tls_cert", "", func(c *Config) *string { return &of(c).TLSCert }),
		path("server.tls_key", "", func(c *Config) *string { return &of(c).TLSKey }),
		field("server.hosts", "", func(c *Config) *[]string { return &of(c).Hosts }, listOf("hosts", value.host)).taking("[sibyl.example.org]"),
		field("server.proxies", "", func(c *Config) *[]netip.Prefix { return &of(c).Proxies }, listOf("addresses", value.prefix)).taking("[127.0.0.1, 10.0.0.0/8]").
			shown(func(c *Config) any { return texts(of(c).Proxies) }),
		field("server.most_runs", "SIBYL_MOST_RUNS", func(c *Config) *int { return &of(c).MostRuns }, number(1, mostRuns)),
		field("server.grace", "", func(c *Config) *time.Duration { return &of(c).Grace }, duration(0, 10*time.Minute)),
		field("server.folders", "", func(c *Config) *map[string]string { return &of(c).Folders }, value.folders).taking("{code: /srv/code, ada/notes: /home/ada/notes}"),
		field("server.limits.runs", "", func(c *Config) *int { return &of(c).Limits.Runs }, number(1, 1000)),
		field("server.limits.requests", "", func(c *Config) *int { return &of(c).Limits.Requests }, number(1, 100_000)),
		field("server.limits.bytes", "", func(c *Config) *int { return &of(c).Limits.Bytes }, number(1<<20, 1<<30)),
	}
}

func texts[T fmt.Stringer](all []T) any {
	var out []string
	for _, one := range all {
		out = append(out, one.String())
	}
	return plain(out)
}

func (v value) listen(into *string) error {
	var text string
	if err := v.line(&text); err != nil {
		return err
	}
	_, port, err := net.SplitHostPort(text)
	if n, numErr := strconv.Atoi(port); err != nil || numErr != nil || n < 0 || n > 65535 {
		return fmt.Errorf("is %s; it must be host:port, such as 127.0.0.1:7333", quote(text))
	}
	*into = text
	return nil
}

func (v value) host(into *string) error {
	if err := v.line(into); err != nil || strings.ContainsAny(*into, "/:@ *") {
		return fmt.Errorf("is %s; it must be just a host name, such as sibyl.example.org", v.quoted())
	}
	*into = strings.ToLower(*into)
	return nil
}

// hostWithPort takes the name or address of a host, with a port or without.
func (v value) hostWithPort(into *string) error {
	err := v.line(into)
	u, urlErr := url.Parse("http://" + *into)
	if err != nil || urlErr != nil || u.Host != *into || u.Hostname() == "" || strings.ContainsAny(*into, "* ") {
		return fmt.Errorf("is %s; it must be a host, such as llm.lan or 192.168.1.5:8000", v.quoted())
	}
	*into = strings.ToLower(*into)
	return nil
}

func (v value) prefix(into *netip.Prefix) error {
	text := strings.TrimSpace(fmt.Sprint(v.raw))
	prefix, err := netip.ParsePrefix(text)
	if ip, ipErr := netip.ParseAddr(text); ipErr == nil {
		prefix, err = netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	if err != nil {
		return fmt.Errorf("is %s; it must be an address or a range, such as 127.0.0.1 or 10.0.0.0/8", v.quoted())
	}
	*into = prefix.Masked()
	return nil
}

func (v value) folders(into *map[string]string) error {
	named := map[string]string{}
	if err := v.names(&named); err != nil {
		return errors.New("must contain folder names and their paths, each name once")
	}
	for name, text := range named {
		for part := range strings.SplitSeq(name, "/") {
			if strings.Count(name, "/") > 1 || part == "" || strings.Trim(part, letters+digits+"._-") != "" || strings.Contains("._-", part[:1]) {
				return fmt.Errorf("%s is not a valid folder name: use lower-case letters, digits, dots, - and _, or USER/NAME for one user's folder", quote(name))
			}
		}
		path, err := v.places.absolute(strings.TrimSpace(text), v.base)
		if err != nil {
			return fmt.Errorf("%s: %w", quote(name), err)
		}
		named[name] = path
	}
	*into = named
	return nil
}

// Check says what can't be served with.
func (s Server) Check() error {
	var ok string
	if err := (value{raw: s.Listen}).listen(&ok); err != nil {
		return fmt.Errorf("the address to listen to %w", err)
	}
	if s.MostRuns < 1 || s.MostRuns > mostRuns {
		return fmt.Errorf("%d concurrent runs: it must be a number from 1 to %d", s.MostRuns, mostRuns)
	}
	return nil
}

// finishServer checks what only makes sense together.
func (s source) finishServer(c Server) error {
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return errors.New("server.tls_cert and server.tls_key belong together: set both or neither")
	}
	return nil
}
