package discovery

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// apiServer speaks the documented protocol of an API server for the EndpointSlices of one Service
// (kubernetes.io/docs/reference/using-api/api-concepts): a list has a resourceVersion, and a watch
// from there sends each change as a line, or an event of an error if the version is too old.
type apiServer struct {
	*httptest.Server

	mu       sync.Mutex
	version  int
	oldest   int // version that can be watched from
	items    []any
	changed  chan struct{}
	token    string
	onList   http.HandlerFunc // in place of an answer
	onWatch  http.HandlerFunc
	lists    int
	watches  int
	watching int
}

func serveKubernetes(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{version: 7, changed: make(chan struct{}), token: "a-token"}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// source is that of this server.
func (s *apiServer) source() Kubernetes {
	return Kubernetes{
		Address: s.URL, Namespace: "prod", Service: "nats",
		Token: func() (string, error) { return s.token, nil },
	}
}

// set changes what is answered.
func (s *apiServer) set(change func(*apiServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
	s.version++
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *apiServer) count() (lists, watches, watching int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists, s.watches, s.watching
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	watch := r.FormValue("watch") != ""
	handle := s.onList
	if watch {
		handle = s.onWatch
		s.watches++
	} else {
		s.lists++
	}
	switch {
	case handle != nil:
		s.mu.Unlock()
		handle(w, r)
		s.mu.Lock()
	case r.Header.Get("Authorization") != "Bearer "+s.token:
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"kind":"Status","message":"Unauthorized"}`)
	case r.URL.Path != "/apis/discovery.k8s.io/v1/namespaces/prod/endpointslices",
		r.FormValue("labelSelector") != "kubernetes.io/service-name=nats":
		http.NotFound(w, r)
	case watch:
		s.watch(w, r)
	default:
		_ = json.NewEncoder(w).Encode(map[string]any{
			"kind": "EndpointSliceList", "metadata": map[string]any{"resourceVersion": strconv.Itoa(s.version)},
			"items": s.items,
		})
	}
}

// watch answers to one. s.mu is held.
func (s *apiServer) watch(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.Atoi(r.FormValue("resourceVersion"))
	if err != nil || from < s.oldest {
		_, _ = io.WriteString(w, `{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}`+"\n")
		return
	}
	w.(http.Flusher).Flush()
	s.watching++
	defer func() { s.watching-- }()
	for s.version == from {
		changed := s.changed
		s.mu.Unlock()
		select {
		case <-changed:
		case <-r.Context().Done():
		}
		s.mu.Lock()
		if r.Context().Err() != nil {
			return
		}
	}
	_, _ = io.WriteString(w, `{"type":"MODIFIED","object":{"kind":"EndpointSlice"}}`+"\n")
}

// sliced is a slice with ports, such as nats=4222, and endpoints.
func sliced(ports string, endpoints ...any) any {
	var all []any
	for p := range strings.SplitSeq(ports, ",") {
		name, number, _ := strings.Cut(p, "=")
		n, err := strconv.Atoi(number)
		if err != nil {
			panic(err)
		}
		all = append(all, map[string]any{"name": name, "port": n, "protocol": "TCP"})
	}
	return map[string]any{"addressType": "IPv4", "ports": all, "endpoints": endpoints}
}

// pod is an endpoint; each condition is set as written, such as "ready !serving".
func pod(ip, zone, conditions string) any {
	all := map[string]bool{}
	for c := range strings.FieldsSeq(conditions) {
		name, not := strings.CutPrefix(c, "!")
		all[name] = !not
	}
	return map[string]any{
		"addresses": []string{ip}, "zone": zone, "conditions": all, "hostname": "nats-" + ip[len(ip)-1:],
	}
}

func TestKubernetes(t *testing.T) {
	t.Parallel()
	server := serveKubernetes(t)
	server.set(func(s *apiServer) {
		s.items = []any{
			sliced("monitor=8222,nats=4222", pod("10.0.0.1", "west", "ready serving"), pod("10.0.0.2", "east", "")),
			sliced("nats=4223", pod("10.0.0.3", "", "ready"), pod("10.0.0.1", "west", "ready !serving terminating"),
				pod("10.0.0.4", "", "!ready"), pod("10.0.0.5", "", "ready !serving"), pod("10.0.0.6", "", "ready terminating")),
			sliced("monitor=8222", pod("10.0.0.7", "", "ready")),
		}
	})
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a-token")
	source, err := Parse("k8s://prod/nats?tokenfile=" + file + "&api=" + server.URL)
	if err != nil {
		t.Fatal(err)
	}
	list := look(t, source, nil)
	expects(t, list, Server{"nats://10.0.0.1:4222", "west"}, Server{"nats://10.0.0.2:4222", "east"},
		Server{"nats://10.0.0.3:4223", ""})
	named := source.(Kubernetes)
	named.Domain, named.Scheme, named.Port = "svc.cluster.local", "tls", "4223"
	expects(t, look(t, named, nil), Server{"tls://nats-3.nats.prod.svc.cluster.local:4223", ""})

	watching := func(n int) {
		t.Helper()
		eventually(t, "it watches", func() bool { _, _, watching := server.count(); return watching == n })
	}
	changed := waits(t, source, list)
	watching(1)
	lists, watches, _ := server.count()
	server.set(func(*apiServer) {}) // the list is the same
	eventually(t, "it watches again", func() bool {
		_, n, watching := server.count()
		return n == watches+1 && watching == 1
	})
	if n, _, _ := server.count(); n != lists+1 {
		t.Errorf("listed %d times", n-lists)
	}
	write("another") // as Kubernetes replaces it
	server.set(func(s *apiServer) { s.token, s.items = "another", s.items[1:] })
	expects(t, changed.result(t), Server{"nats://10.0.0.3:4223", ""})
}

// TestKubernetesThatHasForgotten: a watch from a version that is too old leads to another list.
func TestKubernetesThatHasForgotten(t *testing.T) {
	t.Parallel()
	for what, onWatch := range map[string]http.HandlerFunc{
		"an event": nil, "a status": says(http.StatusGone, `{"message":"too old resource version"}`),
	} {
		server := serveKubernetes(t)
		server.set(func(s *apiServer) {
			s.onWatch, s.oldest = onWatch, 1<<30
			s.items = []any{sliced("=4222", pod("10.0.0.1", "", ""))}
		})
		source := server.source()
		changed := waits(t, source, look(t, source, nil))
		eventually(t, what, func() bool { _, watches, _ := server.count(); return watches > 0 })
		server.set(func(s *apiServer) { s.items = []any{sliced("=4222", pod("10.0.0.2", "", ""))} })
		expects(t, changed.result(t), Server{"nats://10.0.0.2:4222", ""})
	}
}

func TestKubernetesThatHasNoList(t *testing.T) {
	server := serveKubernetes(t)
	source := server.source()
	last := []Server{{"nats://10.0.0.1:4222", ""}}
	list := func(slices ...any) http.HandlerFunc {
		text, err := json.Marshal(map[string]any{
			"kind": "EndpointSliceList", "metadata": map[string]any{"resourceVersion": "7"}, "items": slices,
		})
		if err != nil {
			t.Fatal(err)
		}
		return says(http.StatusOK, string(text))
	}
	var many []any
	for i := range MostServers + 1 {
		many = append(many, pod(fmt.Sprintf("10.0.%d.%d", i/250, i%250), "", ""))
	}
	for what, test := range map[string]struct {
		handle http.HandlerFunc
		want   string
	}{
		"no slice":    {list(), ErrEmpty.Error()},
		"none ready":  {list(sliced("nats=4222", pod("10.0.0.1", "", "!ready"))), ErrEmpty.Error()},
		"other ports": {list(sliced("a=1,b=2", pod("10.0.0.1", "", ""))), `the Service has no port "nats", and has "a", "b"`},
		"no address":  {list(sliced("nats=4222", map[string]any{})), ErrEmpty.Error()},
		"bad address": {list(sliced("nats=4222", pod("a b", "", ""))), "it is not a URL"},
		"bad port":    {list(sliced("nats=70000", pod("10.0.0.1", "", ""))), "the port is not one"},
		"too many":    {list(sliced("nats=4222", many...)), ErrTooMany.Error()},
		"other kind":  {says(http.StatusOK, `{"kind":"PodList"}`), "check the address"},
		"other text":  {says(http.StatusOK, "<html>"), "read the answer of the API server"},
		"endless":     {says(http.StatusOK, strings.Repeat(" ", mostBytes+1)), ErrTooLarge.Error()},
		"forbidden": {
			says(http.StatusForbidden, `{"message":"endpointslices is forbidden"}`),
			`403 "endpointslices is forbidden": give a token or a role that may read this: it needs list and watch`,
		},
	} {
		server.set(func(s *apiServer) { s.onList = test.handle })
		_, err := source.Next(bound(t), last)
		if !errors.As(err, new(*LookupError)) || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 700 ||
			strings.Contains(err.Error(), server.token) {
			t.Errorf("%s: %v, want %s", what, err, test.want)
		}
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for _, bad := range []Kubernetes{{}, {Service: "a"}, {Service: "a", Address: "http://a"}, {
		Namespace: "b", Service: "a", Address: "ftp://a",
	}} {
		if _, err := bad.Next(bound(t), nil); !errors.As(err, new(*ConfigError)) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestKubernetesThatDoesNotWatch: a watch that lies or ends is reported if it never works.
func TestKubernetesThatDoesNotWatch(t *testing.T) {
	t.Parallel()
	server := serveKubernetes(t)
	source := server.source()
	server.set(func(s *apiServer) { s.items = []any{sliced("=4222", pod("10.0.0.1", "", ""))} })
	list := look(t, source, nil)
	for what, handle := range map[string]http.HandlerFunc{
		"ends": says(http.StatusOK, ""), "garbage": says(http.StatusOK, "<html>\n"), "other": says(http.StatusOK, "{}\n"),
		"forbidden": says(http.StatusForbidden, `{"message":"may not watch"}`),
	} {
		server.set(func(s *apiServer) { s.onWatch = handle })
		_, err := source.Next(bound(t), list)
		if !errors.As(err, new(*LookupError)) || !strings.Contains(err.Error(), "watch: ") || len(err.Error()) > 700 {
			t.Errorf("%s: %v", what, err)
		}
	}
}
