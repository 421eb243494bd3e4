package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Server holds the settings of ‘sibyl serve’.
type Server struct {
	Listen string `name:"listen" env:"SIBYL_LISTEN" as:"listen" default:"127.0.0.1:7333"` // host:port
	// of this node, for people; "" for the host's
	Name    string `name:"name" env:"SIBYL_NODE"`
	TLSCert string `name:"tls_cert" as:"path"` // "" for none
	TLSKey  string `name:"tls_key" as:"path"`
	// names of the server besides those of this machine, as origins: https unless they say http
	Hosts []string `name:"hosts" as:"origin" like:"[sibyl.example.org]"`
	// whose headers about the client are trusted
	Proxies  []netip.Prefix `name:"proxies" as:"addresses" like:"[127.0.0.1, 10.0.0.0/8]"`
	MostRuns int            `name:"most_runs" env:"SIBYL_MOST_RUNS" min:"1" max:"1000" default:"16"` // driven at once
	// how long runs may continue when the server stops
	Grace time.Duration `name:"grace" min:"0s" max:"10m" default:"20s"`

	// Folders are those that questions may name; “ada/notes” is ada's alone, and notes to her.
	Folders map[string]string `name:"folders" as:"folders" like:"{code: /srv/code, ada/notes: /home/ada/notes}"`
	Limits  Limits            `name:"limits"`
}

// Limits bound what one user may ask of a node.
type Limits struct {
	Runs     int `name:"runs" min:"1" max:"1000" default:"8"`                     // going on at once
	Requests int `name:"requests" min:"1" max:"100000" default:"600"`             // a minute
	Bytes    int `name:"bytes" min:"1048576" max:"1073741824" default:"67108864"` // sent in a minute
}

// FoldersOf returns the folders that a user may name, with their paths.
func (s Server) FoldersOf(user string) map[string]string {
	all := map[string]string{}
	for name, path := range s.Folders {
		owner, own, owned := strings.Cut(name, "/")
		if owned && owner == user {
			all[own] = path
		}
		if _, shadowed := s.Folders[user+"/"+name]; !owned && !shadowed {
			all[name] = path
		}
	}
	return all
}

// Origin returns the first name of the server as people reach it, such as https://sibyl.example.org; "" if it has none.
// Without a proxy, a name that was given without a port is reached by the one that the server listens on.
func (s Server) Origin() string {
	if len(s.Hosts) == 0 {
		return ""
	}
	u, err := url.Parse(s.Hosts[0])
	_, port, splitErr := net.SplitHostPort(s.Listen)
	byItself := s.TLSCert != "" && len(s.Proxies) == 0
	if err != nil || splitErr != nil || u.Port() != "" || !byItself || port == "443" || port == "0" {
		return s.Hosts[0]
	}
	return s.Hosts[0] + ":" + port
}

// Loopback reports whether the server listens only to this machine.
func (s Server) Loopback() bool {
	host, _, err := net.SplitHostPort(s.Listen)
	ip, ipErr := netip.ParseAddr(host)
	return err == nil && (host == "localhost" || ipErr == nil && ip.IsLoopback())
}

// Check returns an error if these settings can't be served with.
func (s Server) Check() error {
	const mostRuns = 1000
	if _, err := (value{Node: textOf(s.Listen)}).listen(); err != nil {
		return fmt.Errorf("the address to listen to %w", err)
	}
	if s.MostRuns < 1 || s.MostRuns > mostRuns {
		return fmt.Errorf("%d concurrent runs: it must be a number from 1 to %d", s.MostRuns, mostRuns)
	}
	return nil
}

func (s Server) checkTLS() error {
	if (s.TLSCert == "") != (s.TLSKey == "") {
		return errors.New("server.tls_cert and server.tls_key belong together: set both or neither")
	}
	return nil
}

func (v value) folders() (map[string]string, error) {
	named := map[string]string{}
	if err := v.decode(&named); err != nil || noSecret(named) != nil {
		return nil, errors.New("must contain folder names and their paths, each name once")
	}
	for name, text := range named {
		for part := range strings.SplitSeq(name, "/") {
			if strings.Count(name, "/") > 1 || part == "" || strings.Trim(part, letters+digits+"._-") != "" ||
				strings.Contains("._-", part[:1]) {
				return nil, fmt.Errorf("%s is not a valid folder name: use lower-case letters, digits, dots, - and "+
					"_, or USER/NAME for one user's folder", quote(name))
			}
		}
		path, err := v.places.absolute(strings.TrimSpace(text), v.base)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", quote(name), err)
		}
		named[name] = path
	}
	return named, nil
}
