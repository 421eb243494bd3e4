package config

import (
	"testing"

	"sibyl/internal/behaviour/assert"
)

func TestServerIsReachedByItsFirstName(t *testing.T) {
	for about, c := range map[string]struct {
		settings, origin string
	}{
		"no name":                         {"server: {listen: '0.0.0.0:8443', tls_cert: c, tls_key: k}", ""},
		"behind a proxy":                  {"server: {hosts: [a.example, b.example], proxies: [127.0.0.1]}", "https://a.example"},
		"behind a proxy at another port":  {"server: {hosts: ['a.example:8443']}", "https://a.example:8443"},
		"behind a proxy, and TLS as well": {"server: {hosts: [a.example], proxies: [127.0.0.1], tls_cert: c, tls_key: k}", "https://a.example"},
		"by itself":                       {"server: {listen: '0.0.0.0:8443', hosts: [a.example], tls_cert: c, tls_key: k}", "https://a.example:8443"},
		"by itself at the usual port":     {"server: {listen: '0.0.0.0:443', hosts: [a.example], tls_cert: c, tls_key: k}", "https://a.example"},
		"without TLS":                     {"server: {hosts: ['http://a.lan']}", "http://a.lan"},
	} {
		cfg, _ := mustLoad(t, c.settings)
		assert.Equalf(t, cfg.Server.Origin(), c.origin, "%s", about)
	}
}
