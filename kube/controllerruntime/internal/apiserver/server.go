package apiserver

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// The environment variables that name the binaries.
const (
	EnvAPIServer = "ROLEMANAGER_APISERVER"
	EnvEtcd      = "ROLEMANAGER_ETCD"
)

// ErrNoBinary says that no API server was built here.
var ErrNoBinary = errors.New("apiserver: " + EnvAPIServer + " names no kube-apiserver: build one with " +
	"go run ./internal/apiserver/build")

// within is how long the API server may take until it is ready.
const within = 2 * time.Minute

// Server is an API server and its etcd.
type Server struct {
	// Config is that of a client that may do everything.
	Config *rest.Config

	dir     string
	running []*exec.Cmd
}

// Start starts both, and returns when the API server is ready. Stop has to be called. Errors:
// ErrNoBinary, and those of the processes, with the end of what they wrote.
func Start(ctx context.Context) (*Server, error) {
	apiserver, etcd := os.Getenv(EnvAPIServer), cmp.Or(os.Getenv(EnvEtcd), "etcd")
	if apiserver == "" {
		return nil, ErrNoBinary
	}
	dir, err := os.MkdirTemp("", "apiserver")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	if err := s.start(ctx, apiserver, etcd); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Server) start(ctx context.Context, apiserver, etcd string) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ports, err := free(3)
	if err != nil {
		return err
	}
	clients, peers := "http://127.0.0.1:"+ports[0], "http://127.0.0.1:"+ports[1]
	err = s.run(etcd, "--data-dir", filepath.Join(s.dir, "etcd"), "--listen-client-urls", clients,
		"--advertise-client-urls", clients, "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
		"--initial-cluster", "default="+peers)
	if err != nil {
		return err
	}
	token := rand.Text()
	key, tokens := filepath.Join(s.dir, "sa.key"), filepath.Join(s.dir, "tokens.csv")
	err = errors.Join(signer(key), os.WriteFile(tokens, []byte(token+",admin,admin,system:masters\n"), 0o600))
	if err != nil {
		return err
	}
	certs := filepath.Join(s.dir, "certs")
	err = s.run(apiserver, "--etcd-servers", clients, "--secure-port", ports[2], "--bind-address", "127.0.0.1",
		"--advertise-address", "127.0.0.1", "--endpoint-reconciler-type", "none", "--cert-dir", certs,
		"--token-auth-file", tokens, "--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.96.0.0/24",
		"--service-account-key-file", key, "--service-account-signing-key-file", key,
		"--service-account-issuer", "https://kubernetes.default.svc")
	if err != nil {
		return err
	}
	s.Config = &rest.Config{
		Host: "https://127.0.0.1:" + ports[2], BearerToken: token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAFile: filepath.Join(certs, "apiserver.crt")},
	}
	return s.ready(ctx)
}

// ready returns when the API server says that it is.
func (s *Server) ready(ctx context.Context) error {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		client, err := kubernetes.NewForConfig(s.Config) // the certificate may not be written yet
		if err == nil {
			err = client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		}
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("apiserver: not ready: %w; %s", err, s.last())
		case <-again.C:
		}
	}
}

// run starts a process that writes into a file.
func (s *Server) run(name string, args ...string) error {
	out, err := os.Create(filepath.Join(s.dir, filepath.Base(name)+".log"))
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the process has it too
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("apiserver: start %s: %w", name, err)
	}
	s.running = append(s.running, cmd)
	return nil
}

// last is the end of what the last process wrote.
func (s *Server) last() string {
	cmd := s.running[len(s.running)-1]
	text, err := os.ReadFile(filepath.Join(s.dir, filepath.Base(cmd.Path)+".log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-1000):])
}

// Stop kills both, waits for their ends, and removes what they wrote.
func (s *Server) Stop() error {
	for i := len(s.running) - 1; i >= 0; i-- {
		_ = s.running[i].Process.Kill()
		_ = s.running[i].Wait() // it was killed
	}
	return os.RemoveAll(s.dir)
}

// free are ports that nobody listens on now.
func free(n int) (ports []string, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }()
		ports = append(ports, strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
	}
	return ports, nil
}

// signer writes the key that signs the tokens of service accounts.
func signer(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	text, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}), 0o600)
}
