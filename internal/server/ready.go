package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// ErrNotReady means that a server runs but takes no requests now: it is stopping, or can't use its database.
var ErrNotReady = errors.New("it takes no requests now: it stops, or its database can't be used; its log says which")

// Ready returns nil if the server on this machine that listens to an address takes requests; ErrNotReady if it doesn't
// for now. own is its certificate, the only one that is trusted; nil: ask without TLS.
func Ready(ctx context.Context, listen string, own *x509.Certificate) error {
	transport := &http.Transport{DisableKeepAlives: true}
	scheme := "http"
	if own != nil {
		scheme = "https"
		trusted := x509.NewCertPool()
		trusted.AddCert(own)
		transport.TLSClientConfig = &tls.Config{RootCAs: trusted, ServerName: certName(own), MinVersion: tls.VersionTLS12}
	}
	address := localAddress(listen)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+address+"/readyz", nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("nothing answers at %s: %w", address, err)
	}
	_ = resp.Body.Close() // only the status matters
	switch resp.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusServiceUnavailable:
		return fmt.Errorf("the server at %s: %w", address, ErrNotReady)
	}
	return fmt.Errorf("what answers at %s is no server of Sibyl's: HTTP %d", address, resp.StatusCode)
}

// localAddress returns the address at which this machine reaches a server that listens to an address.
func localAddress(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	if a, err := netip.ParseAddr(host); host == "" || err == nil && a.IsUnspecified() {
		host = "127.0.0.1"
		if a.Is6() {
			host = "::1"
		}
	}
	return net.JoinHostPort(host, port)
}

// certName returns a host name or IP address that a certificate is valid for; "" if it has none.
func certName(c *x509.Certificate) string {
	switch {
	case len(c.DNSNames) > 0:
		return strings.Replace(c.DNSNames[0], "*", "any", 1)
	case len(c.IPAddresses) > 0:
		return c.IPAddresses[0].String()
	}
	return ""
}
