package server_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

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
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-time.Hour), NotAfter: until}
	if ip := net.ParseIP(name); ip != nil {
		form.IPAddresses = []net.IP{ip}
	} else {
		form.DNSNames = []string{name}
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func TestServerIsReadyIfItSaysSo(t *testing.T) {
	up := answering(t, http.StatusOK, nil)
	_, port, err := net.SplitHostPort(up)
	if err != nil {
		t.Fatal(err)
	}
	for _, listen := range []string{up, "0.0.0.0:" + port, ":" + port} { // the latter two listen to all addresses
		if err := server.Ready(t.Context(), listen, nil); err != nil {
			t.Errorf("%s: %v", listen, err)
		}
	}
	if err := server.Ready(t.Context(), answering(t, http.StatusServiceUnavailable, nil), nil); !errors.Is(err,
		server.ErrNotReady) {
		t.Errorf("a server that stops: %v", err)
	}
	for _, status := range []int{http.StatusNotFound, http.StatusFound} {
		if err := server.Ready(t.Context(), answering(t, status, nil), nil); err == nil ||
			!strings.Contains(err.Error(), "is no server of Sibyl's") {
			t.Errorf("status %d: %v", status, err)
		}
	}
	if err := server.Ready(t.Context(), "127.0.0.1:1", nil); err == nil ||
		!strings.Contains(err.Error(), "nothing answers") {
		t.Errorf("no server: %v", err)
	}
}

func TestReadyServerShowsItsOwnCertificate(t *testing.T) {
	later := time.Now().Add(time.Minute)
	for _, name := range []string{"sibyl.example.org", "*.example.org", "192.0.2.7"} {
		own := certificate(t, name, later)
		if err := server.Ready(t.Context(), answering(t, http.StatusOK, own), own.Leaf); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	own, other := certificate(t, "sibyl.example.org", later), certificate(t, "sibyl.example.org", later)
	if err := server.Ready(t.Context(), answering(t, http.StatusOK, other), own.Leaf); err == nil {
		t.Error("a server with another's certificate was taken for the own")
	}
	old := certificate(t, "sibyl.example.org", time.Now().Add(-time.Minute))
	if err := server.Ready(t.Context(), answering(t, http.StatusOK, old), old.Leaf); err == nil ||
		!strings.Contains(err.Error(), "expired") {
		t.Errorf("a certificate that has expired: %v", err)
	}
}
