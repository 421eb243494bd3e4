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

	"sibyl/internal/keys/cleartext"
)

// address parses a web address. Its errors do not repeat it, since it may hold a password.
func (v value) address() (*url.URL, error) {
	text, err := v.line()
	u, urlErr := url.Parse(text)
	switch {
	case err != nil || urlErr != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		return nil, errors.New("must be a web address, such as https://host/path")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("must be an address without ? and #")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

// url parses an address without credentials; the tag login says where those belong.
func (v value) url() (string, error) {
	u, err := v.address()
	if err != nil {
		return "", err
	}
	if u.User != nil {
		return "", errors.New("contains a user or password: " + v.tag.Get("login"))
	}
	return u.String(), nil
}

// searxng parses the address of a search server, without user and password, which the environment may hold.
func (v value) searxng() (string, error) {
	u, err := v.address()
	if err != nil {
		return "", err
	}
	if u.User != nil && v.public {
		return "", errors.New("contains a user or password, which do not belong in this " +
			"file: put the address in SIBYL_SEARXNG_URL")
	}
	u.User = nil
	return u.String(), nil
}

// whisper parses the address of a transcription server, which gets audio: it must be local or encrypted.
func (v value) whisper() (string, error) {
	address, err := v.url()
	if err == nil && strings.HasPrefix(address, "http:") && !isLoopback(address) {
		err = errors.New("sends audio to another machine over plain http, where it can be " +
			"intercepted: use https, or a tunnel to 127.0.0.1")
	}
	return address, err
}

// ollama parses the forms of OLLAMA_HOST: host, host:port, :port, or a web address. A server's "all interfaces" becomes
// this machine.
func (v value) ollama() (string, error) {
	wrong := errors.New("must be a host, host:port or web address, such as 127.0.0.1:11434")
	text, err := v.line()
	if err != nil {
		return "", wrong
	}
	scheme, rest, hasScheme := strings.Cut(text, "://")
	if !hasScheme {
		scheme, rest = "", text
	}
	port, known := map[string]string{"": "11434", "http": "80", "https": "443"}[scheme]
	if !known {
		return "", wrong
	}
	rest, path, _ := strings.Cut(rest, "/")
	host := strings.Trim(rest, "[]")
	if h, p, err := net.SplitHostPort(rest); err == nil {
		host, port = h, p
	} else if _, err := netip.ParseAddr(host); err != nil && strings.Contains(rest, ":") {
		return "", wrong
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || strings.ContainsAny(host, "@ ?#") {
		return "", wrong
	}
	switch host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	u := url.URL{Scheme: cmp.Or(scheme, "http"), Host: net.JoinHostPort(host, port)}
	if path = strings.Trim(path, "/"); path != "" {
		u.Path = "/" + path
	}
	return u.String(), nil
}

// isLoopback reports whether an address, as written and not resolved, leads to this machine.
func isLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && cleartext.Local(u)
}

func (v value) listen() (string, error) {
	text, err := v.line()
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(text)
	if n, numErr := strconv.Atoi(port); err != nil || numErr != nil || n < 0 || n > 65535 {
		return "", fmt.Errorf("is %s; it must be host:port, such as 127.0.0.1:7333", quote(text))
	}
	return text, nil
}

func (v value) host() (string, error) {
	text, err := v.line()
	if err != nil || strings.ContainsAny(text, "/:@ *") {
		return "", fmt.Errorf("is %s; it must be just a host name, such as sibyl.example.org", v.quoted())
	}
	return strings.ToLower(text), nil
}

// origin parses the name of a server as people reach it, with its scheme and port as far as they are not the usual
// ones. The result is https://name, http://name or either with :port.
func (v value) origin() (string, error) {
	text, err := v.line()
	if err != nil {
		return "", err
	}
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err == nil && u.Port() != "" {
		_, err = strconv.ParseUint(u.Port(), 10, 16)
	}
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		strings.ContainsAny(u.Host, "* ") || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("is %s; it must be a host name, such as sibyl.example.org or sibyl.example.org:8443",
			v.quoted())
	case strings.Trim(u.Path, "/") != "":
		return "", fmt.Errorf("is %s; the server can't be below a path: give it a name of its own, such as "+
			"sibyl.example.org", v.quoted())
	}
	return u.Scheme + "://" + strings.ToLower(u.Host), nil
}

// hostWithPort parses the name or address of a host, with or without a port.
func (v value) hostWithPort() (string, error) {
	text, err := v.line()
	u, urlErr := url.Parse("http://" + text)
	if err != nil || urlErr != nil || u.Host != text || u.Hostname() == "" || strings.ContainsAny(text, "* ") {
		return "", fmt.Errorf("is %s; it must be a host, such as llm.lan or 192.168.1.5:8000", v.quoted())
	}
	return strings.ToLower(text), nil
}

// prefix parses an address or a range of addresses.
func (v value) prefix() (netip.Prefix, error) {
	text := v.word()
	if ip, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(ip, ip.BitLen()).Masked(), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return prefix, fmt.Errorf("is %s; it must be an address or a range, such as 127.0.0.1 or 10.0.0.0/8",
			v.quoted())
	}
	return prefix.Masked(), nil
}
