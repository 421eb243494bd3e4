package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/server"
)

// answering is a server that answers /readyz with a status, over TLS if it has a certificate, and the address that it
// listens to.
func answering(t *testing.T, status int, own *tls.Certificate) (address string) {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" {
			status = http.StatusTeapot
		}
		w.Header().Set("Location", "http://127.0.0.1:1/")
		w.WriteHeader(status)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are to fail
	if own == nil {
		s.Start()
	} else {
		s.TLS = &tls.Config{Certificates: []tls.Certificate{*own}}
		s.StartTLS()
	}
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// certificate is one for a name, good until a moment.
func certificate(t *testing.T, name string, until time.Time) *tls.Certificate {
	t.Helper()
	key := assert.Must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-time.Hour), NotAfter: until}
	if ip := net.ParseIP(name); ip != nil {
		form.IPAddresses = []net.IP{ip}
	} else {
		form.DNSNames = []string{name}
	}
	der := assert.Must(x509.CreateCertificate(rand.Reader, form, form, key.Public(), key))(t)
	leaf := assert.Must(x509.ParseCertificate(der))(t)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func TestServerIsReadyIfItSaysSo(t *testing.T) {
	up := answering(t, http.StatusOK, nil)
	_, port, err := net.SplitHostPort(up)
	assert.NoError(t, err)
	for _, listen := range []string{up, "0.0.0.0:" + port, ":" + port} { // the latter two listen to all addresses
		assert.Nilf(t, server.Ready(t.Context(), listen, nil), "%s", listen)
	}
	assert.ErrorIsf(t, server.Ready(t.Context(), answering(t, http.StatusServiceUnavailable, nil), nil),
		server.ErrNotReady, "a server that stops")
	for _, status := range []int{http.StatusNotFound, http.StatusFound} {
		err := server.Ready(t.Context(), answering(t, status, nil), nil)
		assert.That(t, err != nil && strings.Contains(err.Error(), "is no server of Sibyl's"), "status %d: %v", status, err)
	}
	err = server.Ready(t.Context(), "127.0.0.1:1", nil)
	assert.That(t, err != nil && strings.Contains(err.Error(), "nothing answers"), "no server: %v", err)
}

func TestReadyServerShowsItsOwnCertificate(t *testing.T) {
	later := time.Now().Add(time.Minute)
	for _, name := range []string{"sibyl.example.org", "*.example.org", "192.0.2.7"} {
		own := certificate(t, name, later)
		assert.Nilf(t, server.Ready(t.Context(), answering(t, http.StatusOK, own), own.Leaf), "%s", name)
	}
	own, other := certificate(t, "sibyl.example.org", later), certificate(t, "sibyl.example.org", later)
	assert.That(t, server.Ready(t.Context(), answering(t, http.StatusOK, other), own.Leaf) != nil,
		"a server with another's certificate was taken for the own")
	old := certificate(t, "sibyl.example.org", time.Now().Add(-time.Minute))
	err := server.Ready(t.Context(), answering(t, http.StatusOK, old), old.Leaf)
	assert.That(t, err != nil && strings.Contains(err.Error(), "expired"), "a certificate that has expired: %v", err)
}
