package stores

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	coordination "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kubeServer is as much of a Kubernetes API server as leader election asks for: Leases, read and
// written by compare-and-swap on their resource version, in memory. It counts what a real one would
// receive; what a real one costs it cannot say.
type kubeServer struct {
	l                                     net.Listener
	in, out, bytesIn, bytesOut, writesSum atomic.Uint64

	mu      sync.Mutex
	version int
	leases  map[string]*coordination.Lease
}

func serveKube() (server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	cert, err := selfSigned()
	if err != nil {
		return nil, err
	}
	k := &kubeServer{l: l, leases: map[string]*coordination.Lease{}}
	// With TLS there is HTTP/2, as with a real one: all requests of a client share a connection.
	s := &http.Server{Handler: k, TLSConfig: &tls.Config{Certificates: []tls.Certificate{cert}}}
	go func() { _ = s.ServeTLS(l, "", "") }() // ends with the process
	return k, nil
}

// selfSigned is a certificate that nobody checks.
func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

func (k *kubeServer) addr() string { return k.l.Addr().String() }

func (k *kubeServer) traffic() (Traffic, error) {
	return Traffic{k.in.Load(), k.out.Load(), k.bytesIn.Load(), k.bytesOut.Load(), k.writesSum.Load(), k.writesSum.Load()},
		nil
}

// ServeHTTP answers /apis/coordination.k8s.io/v1/namespaces/<namespace>/leases[/<name>].
func (k *kubeServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	k.in.Add(1)
	k.bytesIn.Add(uint64(len(body)))
	code, v := k.do(r.Method, r.URL.Path, body)
	text, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = w.Write(text) // the client may be gone
	k.out.Add(1)
	k.bytesOut.Add(uint64(len(text)))
}

func (k *kubeServer) do(verb, path string, body []byte) (int, any) {
	fault := func(code int, reason meta.StatusReason) (int, any) {
		return code, &meta.Status{
			TypeMeta: meta.TypeMeta{Kind: "Status", APIVersion: "v1"},
			Status:   meta.StatusFailure, Reason: reason, Code: int32(code),
		}
	}
	_, name, _ := strings.Cut(path, "/leases/")
	k.mu.Lock()
	defer k.mu.Unlock()
	if verb == http.MethodGet {
		if l := k.leases[name]; l != nil {
			return http.StatusOK, l
		}
		return fault(http.StatusNotFound, meta.StatusReasonNotFound)
	}
	k.writesSum.Add(1)
	l := &coordination.Lease{}
	if err := json.Unmarshal(body, l); err != nil {
		return fault(http.StatusBadRequest, meta.StatusReasonBadRequest)
	}
	now := k.leases[l.Name]
	switch {
	case verb == http.MethodPost && now != nil:
		return fault(http.StatusConflict, meta.StatusReasonAlreadyExists)
	case verb == http.MethodPut && now == nil:
		return fault(http.StatusNotFound, meta.StatusReasonNotFound)
	case verb == http.MethodPut && l.ResourceVersion != now.ResourceVersion:
		return fault(http.StatusConflict, meta.StatusReasonConflict)
	}
	k.version++
	l.ResourceVersion = strconv.Itoa(k.version)
	l.TypeMeta = meta.TypeMeta{Kind: "Lease", APIVersion: "coordination.k8s.io/v1"}
	k.leases[l.Name] = l
	return http.StatusOK, l
}
