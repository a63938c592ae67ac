package kubeapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// directory is where the service account is mounted.
const directory = "/var/run/secrets/kubernetes.io/serviceaccount"

// most is how much of a file is read.
const most = 1 << 20

// Account is the service account of a pod.
type Account struct {
	// Address of the API server, such as https://10.96.0.1:443.
	Address string
	// Directory has the files token, ca.crt and namespace.
	Directory string
}

// InCluster is the account of this pod. It is false outside of a cluster.
func InCluster() (Account, bool) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return Account{}, false
	}
	return Account{"https://" + net.JoinHostPort(host, port), directory}, true
}

// Token is the present bearer token.
func (a Account) Token() (string, error) { return a.read("token") }

// Namespace is that of the pod.
func (a Account) Namespace() (string, error) { return a.read("namespace") }

// Authorities are the present ones of the API server.
func (a Account) Authorities() (*x509.CertPool, error) {
	text, err := a.read("ca.crt")
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(text)) {
		return nil, fmt.Errorf("%s holds no certificate", filepath.Join(a.Directory, "ca.crt"))
	}
	return pool, nil
}

// Transport connects to the API server. Each connection is verified by the authorities of its time.
func (a Account) Transport() *http.Transport {
	return &http.Transport{
		IdleConnTimeout: time.Minute,
		DialTLSContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			pool, err := a.Authorities()
			if err != nil {
				return nil, fmt.Errorf("read the authority of the API server: %w", err)
			}
			d := tls.Dialer{
				NetDialer: &net.Dialer{Timeout: 10 * time.Second},
				Config:    &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
			}
			return d.DialContext(ctx, network, address)
		},
	}
}

// read is the content of a file, without spaces around it.
func (a Account) read(name string) (string, error) {
	file, err := os.Open(filepath.Join(a.Directory, name))
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was read only
	text, err := io.ReadAll(io.LimitReader(file, most))
	return strings.TrimSpace(string(text)), err
}
