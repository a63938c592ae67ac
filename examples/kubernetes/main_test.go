package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// operator makes this test binary the program.
const operator = "ROLEMANAGER_EXAMPLE_OPERATOR"

func TestMain(m *testing.M) {
	if os.Getenv(operator) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestOperator: two processes lead one controller each. When one ends the other leads both. Their
// API server answers as one does, and is not a real one.
func TestOperator(t *testing.T) {
	nats := natstest.Server(t, natstest.Listen)
	api := httptest.NewServer(http.HandlerFunc(answer))
	defer api.Close()
	config := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "test",
		"clusters": [{"name": "test", "cluster": {"server": %q}}],
		"contexts": [{"name": "test", "context": {"cluster": "test", "user": ""}}]}`, api.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(name string) *process {
		p := &process{Cmd: exec.Command(os.Args[0])}
		p.Env = append(os.Environ(), operator+"=1", "NATS_URL="+nats.URL(), "KUBECONFIG="+config, "POD_NAME="+name)
		p.Stdout, p.Stderr = p, p
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Process.Kill() }) // it may have ended
		return p
	}
	first, second := start("first"), start("second")
	natstest.Eventually(t, "each leads one", time.Minute, func() (bool, string) {
		a, b := first.reconciled(), second.reconciled()
		return a != "" && b != "" && a+b != "configs quotas configs quotas ", a + "and " + b
	})
	if err := first.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := first.Wait(); err != nil {
		t.Errorf("the first has ended with %v:\n%s", err, first.output())
	}
	natstest.Eventually(t, "the other leads both", time.Minute, func() (bool, string) {
		return second.reconciled() == "configs quotas ", second.output()
	})
	if err := second.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := second.Wait(); err != nil {
		t.Errorf("the second has ended with %v:\n%s", err, second.output())
	}
}

// process keeps what a process writes.
type process struct {
	*exec.Cmd
	mu      sync.Mutex
	written bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written.Write(b)
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.written.String()
}

// reconciled names the controllers that have run in the process.
func (p *process) reconciled() (names string) {
	for _, name := range []string{"configs", "quotas"} {
		if strings.Contains(p.output(), name+" reconciles prod/one") {
			names += name + " "
		}
	}
	return names
}

// answer is what an API server with one object of each kind answers.
func answer(w http.ResponseWriter, r *http.Request) {
	kind := map[string]string{"/api/v1/configmaps": "ConfigMap", "/api/v1/resourcequotas": "ResourceQuota"}[r.URL.Path]
	object := `{"kind": "` + kind + `", "apiVersion": "v1",
		"metadata": {"name": "one", "namespace": "prod", "resourceVersion": "1"}}`
	w.Header().Set("Content-Type", "application/json")
	says := func(text string) { _, _ = io.WriteString(w, text) } // the client may be gone
	switch {
	case r.URL.Path == "/api":
		says(`{"kind": "APIVersions", "versions": ["v1"]}`)
	case r.URL.Path == "/apis":
		says(`{"kind": "APIGroupList", "apiVersion": "v1", "groups": []}`)
	case r.URL.Path == "/api/v1":
		says(`{"kind": "APIResourceList", "groupVersion": "v1", "resources": [
			{"name": "configmaps", "kind": "ConfigMap", "namespaced": true, "verbs": ["list", "watch"]},
			{"name": "resourcequotas", "kind": "ResourceQuota", "namespaced": true, "verbs": ["list", "watch"]}]}`)
	case kind == "":
		w.WriteHeader(http.StatusNotFound)
	case r.URL.Query().Get("watch") == "":
		says(`{"kind": "` + kind + `List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": [` + object + `]}`)
	default:
		if r.URL.Query().Get("sendInitialEvents") == "true" {
			says(`{"type": "ADDED", "object": ` + object + `}
				{"type": "BOOKMARK", "object": {"kind": "` + kind + `", "apiVersion": "v1", "metadata": {
					"resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}}}`)
		}
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}
