package kubeapi

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// signed is a certificate of loopback, and the PEM of the authority that has signed it: itself.
func signed(t *testing.T) (tls.Certificate, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// TestRotation: a token and an authority that Kubernetes replaces are used from then on.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var a Account
	var client *http.Client
	get := func() error {
		t.Helper()
		r, err := client.Get(a.Address)
		if err != nil {
			return err
		}
		return r.Body.Close()
	}
	for i := range 2 {
		certificate, authority := signed(t)
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
		server.StartTLS()
		defer server.Close()
		a.Address, a.Directory = server.URL, dir
		if client == nil {
			transport := a.Transport()
			transport.DisableKeepAlives = true
			client = &http.Client{Transport: transport}
		}
		if err := get(); err == nil {
			t.Errorf("server %d is trusted without its authority", i)
		}
		write("ca.crt", authority)
		write("token", []byte{'t', byte('0' + i), '\n'})
		if err := get(); err != nil {
			t.Errorf("server %d: %v", i, err)
		}
		if token, err := a.Token(); err != nil || token != "t"+string(rune('0'+i)) {
			t.Errorf("token %q: %v", token, err)
		}
	}
	write("ca.crt", []byte("not a certificate"))
	if err := get(); err == nil {
		t.Error("without a certificate: no error")
	}
}

func TestInCluster(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if _, in := InCluster(); in {
		t.Error("in a cluster")
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	if a, in := InCluster(); !in || a.Address != "https://[fd00::1]:443" || a.Directory == "" {
		t.Errorf("%+v, %v", a, in)
	}
}
