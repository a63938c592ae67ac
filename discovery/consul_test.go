package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// consul speaks the documented protocol of Consul's /v1/health/service with blocking queries
// (developer.hashicorp.com/consul/api-docs/features/blocking): an index above 0 in each answer, and
// a question with an index waits until that has grown, or until its wait is over. Consul itself is
// tried by TestRealConsulServers.
type consul struct {
	*httptest.Server

	mu       sync.Mutex
	index    uint64
	entries  []map[string]any
	changed  chan struct{}
	handle   http.HandlerFunc // in place of all this
	asked    []*http.Request
	blocking int
}

func serveConsul(t *testing.T) *consul {
	t.Helper()
	c := &consul{index: 7, changed: make(chan struct{})}
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

// set changes what is answered.
func (c *consul) set(change func(*consul)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(c)
	c.index++
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *consul) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.asked = append(c.asked, r)
	handle := c.handle
	index, err := strconv.ParseUint(r.FormValue("index"), 10, 64)
	if err == nil && index >= c.index && handle == nil {
		wait, err := time.ParseDuration(r.FormValue("wait"))
		if err != nil {
			http.Error(w, "Invalid wait time", http.StatusBadRequest)
		}
		c.blocking++
		changed := c.changed
		c.mu.Unlock()
		select {
		case <-changed:
		case <-time.After(wait):
		case <-r.Context().Done():
		}
		c.mu.Lock()
		c.blocking--
	}
	defer c.mu.Unlock()
	if handle != nil {
		handle(w, r)
		return
	}
	w.Header().Set("X-Consul-Index", strconv.FormatUint(c.index, 10))
	_ = json.NewEncoder(w).Encode(c.entries)
}

// instance is one of a service, as Consul writes it.
func instance(node, host string, port int, zone string) map[string]any {
	return map[string]any{
		"Node":    map[string]any{"Node": "n", "Address": node, "Meta": map[string]string{"zone": "of the node"}},
		"Service": map[string]any{"Service": "nats", "Address": host, "Port": port, "Meta": map[string]string{"zone": zone}},
		"Checks":  []any{map[string]any{"Status": "passing"}},
	}
}

func TestConsul(t *testing.T) {
	server := serveConsul(t)
	server.set(func(c *consul) {
		c.entries = []map[string]any{instance("10.0.0.1", "", 4222, ""), instance("x", "b.example.org", 4223, "west")}
	})
	t.Setenv("CONSUL_HTTP_TOKEN", "a-token")
	source, err := Parse("consul://" + strings.TrimPrefix(server.URL, "http://") + "/nats?dc=dc1&tag=prod&scheme=tls")
	if err != nil {
		t.Fatal(err)
	}
	list := look(t, source, nil)
	expects(t, list, Server{"tls://10.0.0.1:4222", "of the node"}, Server{"tls://b.example.org:4223", "west"})
	r := server.asked[0]
	if r.URL.Path != "/v1/health/service/nats" || r.FormValue("passing") != "1" || r.FormValue("dc") != "dc1" ||
		r.FormValue("tag") != "prod" || r.Header.Get("X-Consul-Token") != "a-token" {
		t.Errorf("asked %v with %v", r.URL, r.Header)
	}

	changed := waits(t, source, list)
	eventually(t, "it blocks", func() bool {
		server.mu.Lock()
		defer server.mu.Unlock()
		return server.blocking == 1
	})
	server.set(func(*consul) {}) // the index grows, and the list is the same
	eventually(t, "it blocks again", func() bool {
		server.mu.Lock()
		defer server.mu.Unlock()
		return server.blocking == 1 && server.asked[len(server.asked)-1].FormValue("index") == fmt.Sprint(server.index)
	})
	server.set(func(c *consul) { c.entries = c.entries[:1] })
	expects(t, changed.result(t), Server{"tls://10.0.0.1:4222", "of the node"})
}

// TestConsulThatBeginsAgain: an index that goes back, as after a restore, does not block for ever.
func TestConsulThatBeginsAgain(t *testing.T) {
	t.Parallel()
	server := serveConsul(t)
	server.set(func(c *consul) { c.entries, c.index = []map[string]any{instance("a", "", 1, "")}, 1000 })
	source := Consul{Address: server.URL, Service: "nats", Wait: time.Second}
	changed := waits(t, source, look(t, source, nil))
	eventually(t, "it blocks", func() bool {
		server.mu.Lock()
		defer server.mu.Unlock()
		return server.blocking == 1
	})
	server.set(func(c *consul) { c.index = 2 })
	server.set(func(c *consul) { c.entries = []map[string]any{instance("b", "", 1, "")} })
	expects(t, changed.result(t), Server{"nats://b:1", "of the node"})
}

func TestConsulThatHasNoList(t *testing.T) {
	server := serveConsul(t)
	source := Consul{Address: server.URL, Service: "nats", Token: func() (string, error) { return "a-token", nil }}
	last := []Server{{"nats://a:4222", ""}}
	for what, test := range map[string]struct {
		handle http.HandlerFunc
		want   string
	}{
		"empty": {says(http.StatusOK, "[]"), ErrEmpty.Error()},
		"forbidden": {
			says(http.StatusForbidden, "ACL\nnot found"), `403 "ACL not found": give a token`,
		},
		"broken":     {says(http.StatusInternalServerError, strings.Repeat("x", 1e6)), "500"},
		"other text": {says(http.StatusOK, "<html>"), "read the answer of Consul"},
		"no port": {func(w http.ResponseWriter, _ *http.Request) {
			_ = json.NewEncoder(w).Encode([]any{instance("a", "", 0, "")})
		}, "has no address or no port"},
		"endless": {says(http.StatusOK, strings.Repeat(" ", mostBytes+1)), ErrTooLarge.Error()},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, "302"},
	} {
		server.set(func(c *consul) { c.handle = test.handle })
		_, err := source.Next(bound(t), last)
		if !errors.As(err, new(*LookupError)) || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 500 ||
			strings.Contains(err.Error(), "a-token") {
			t.Errorf("%s: %v, want %s", what, err, test.want)
		}
	}
	server.set(func(c *consul) { c.handle = nil })
	ctx, cancel := context.WithCancel(t.Context())
	server.set(func(c *consul) {
		c.handle = func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done() // never answers
		}
	})
	if _, err := source.Next(ctx, last); !errors.Is(err, context.Canceled) {
		t.Errorf("hangs: %v", err)
	}
	server.Close()
	if _, err := source.Next(bound(t), last); err == nil {
		t.Error("gone: no error")
	}
}

// says is a service that answers with a text.
func says(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}
