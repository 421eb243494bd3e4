package config

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// address takes a web address. Its errors do not repeat it, since it may hold a password.
func (v value) address() (*url.URL, error) {
	var text string
	if err := v.line(&text); err != nil {
		return nil, errors.New("must be a web address, such as https://host/path")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "":
		return nil, errors.New("must be a web address, such as https://host/path")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("must be an address without ? and #")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

func (v value) endpoint(into *Provider) error {
	u, err := v.address()
	if err != nil {
		return err
	}
	if u.User != nil {
		return errors.New("holds a user or password: use key_env or key_command")
	}
	into.BaseURL = u.String()
	into.Local = isLoopback(into.BaseURL)
	return nil
}

// searxng takes the address of a search server, from the environment with user and password.
func (v value) searxng(into *Web) error {
	u, err := v.address()
	if err != nil {
		return err
	}
	if u.User != nil && v.public {
		return errors.New("holds a user or password, which do not belong in this file: put the address into SIBYL_SEARXNG_URL")
	}
	if u.User != nil {
		password, _ := u.User.Password()
		into.User, into.Password = u.User.Username(), NewSecret(password)
		u.User = nil
	}
	into.SearXNG = u.String()
	return nil
}

// Address is the whole address of the search server, with user and password where there are any: for the connection,
// not for showing.
func (w Web) Address() string {
	u, err := url.Parse(w.SearXNG)
	if err != nil || w.User == "" && w.Password.Reveal() == "" {
		return w.SearXNG
	}
	u.User = url.UserPassword(w.User, w.Password.Reveal())
	return u.String()
}

// ollama takes an address in the forms that Ollama itself takes in OLLAMA_HOST: host, host:port, :port, or a web
// address. One that means "all interfaces" to a server means this machine to us.
func (v value) ollama(into *Ollama) error {
	const form = "must be a host, host:port or web address, such as 127.0.0.1:11434"
	var text string
	if err := v.line(&text); err != nil {
		return errors.New(form)
	}
	scheme, rest, hasScheme := strings.Cut(text, "://")
	port := "11434"
	switch {
	case !hasScheme:
		scheme, rest = "http", text
	case scheme == "http":
		port = "80"
	case scheme == "https":
		port = "443"
	default:
		return errors.New(form)
	}
	rest, path, _ := strings.Cut(rest, "/")
	host := strings.Trim(rest, "[]")
	if h, p, err := net.SplitHostPort(rest); err == nil {
		host, port = h, p
	} else if _, err := netip.ParseAddr(host); err != nil && strings.Contains(rest, ":") {
		return errors.New(form)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || strings.ContainsAny(host, "@ ?#") {
		return errors.New(form)
	}
	switch host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port)}
	if path = strings.Trim(path, "/"); path != "" {
		u.Path = "/" + path
	}
	into.Host, into.Local = u.String(), isLoopback(u.String())
	return nil
}

// isLoopback says whether an address leads to this machine, by what is written and not by what a resolver says.
func isLoopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
