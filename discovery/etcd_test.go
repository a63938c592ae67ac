package discovery

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// etcd speaks the documented protocol of etcd's JSON gateway (etcd.io/docs/v3.6/dev-guide/
// api_grpc_gateway), as far as a source uses it. etcd itself is tried in bench/peers/lookup.
type etcd struct {
	*httptest.Server

	mu        sync.Mutex
	revision  int
	compacted int
	keys      map[string]string
	changed   chan struct{}
	handle    http.HandlerFunc // in place of all this
	asked     []string         // paths, and the keys that were asked for
	watching  int
	password  string
}

func serveEtcd(t *testing.T) *etcd {
	t.Helper()
	e := &etcd{revision: 1, keys: map[string]string{}, changed: make(chan struct{})}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

// set changes what is stored.
func (e *etcd) set(change func(*etcd)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	change(e)
	e.revision++
	close(e.changed)
	e.changed = make(chan struct{})
}

// requests returns the paths of the requests since the last call.
func (e *etcd) requests() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	asked := e.asked
	e.asked = nil
	return asked
}

func (e *etcd) watchers() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.watching
}

// span is which keys a request names.
type span struct {
	Key   []byte `json:"key"`
	End   []byte `json:"range_end"`
	Start int    `json:"start_revision,string"`
}

func (e *etcd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var asked struct {
		span
		Create   span   `json:"create_request"`
		Name     string `json:"name"`
		Password string `json:"password"`
	}
	if err := json.Unmarshal(text, &asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, r.URL.Path)
	header := map[string]any{"header": map[string]any{"revision": fmt.Sprint(e.revision)}}
	switch {
	case e.handle != nil:
		handle := e.handle
		e.mu.Unlock()
		handle(w, r)
		e.mu.Lock()
	case strings.HasSuffix(r.URL.Path, "/authenticate"):
		if asked.Password != e.password {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"message":"etcdserver: authentication failed, invalid user ID or password"}`)
			return
		}
		header["token"] = "t." + asked.Name
		_ = json.NewEncoder(w).Encode(header)
	case e.password != "" && r.Header.Get("Authorization") != "t.root":
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"message":"etcdserver: user name is empty","code":3}`)
	case strings.HasSuffix(r.URL.Path, "/range"):
		var kvs []map[string]string
		for key, value := range e.keys {
			if key >= string(asked.Key) && key < string(asked.End) {
				kvs = append(kvs, map[string]string{"key": b64(key), "value": b64(value)})
			}
		}
		header["kvs"] = kvs
		_ = json.NewEncoder(w).Encode(header)
	default:
		e.watch(w, r, asked.Create.Start)
	}
}

// watch answers to one. e.mu is held.
func (e *etcd) watch(w http.ResponseWriter, r *http.Request, start int) {
	out := json.NewEncoder(w)
	_ = out.Encode(map[string]any{"result": map[string]any{"created": true}})
	w.(http.Flusher).Flush()
	if start <= e.compacted {
		_ = out.Encode(map[string]any{"result": map[string]any{
			"canceled": true, "compact_revision": fmt.Sprint(e.compacted),
		}})
		return
	}
	e.watching++
	for e.revision < start {
		changed := e.changed
		e.mu.Unlock()
		select {
		case <-changed:
		case <-r.Context().Done():
		}
		e.mu.Lock()
		if r.Context().Err() != nil {
			break
		}
	}
	e.watching--
	_ = out.Encode(map[string]any{"result": map[string]any{"events": []any{map[string]any{"kv": map[string]any{}}}}})
}

func b64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func TestEtcd(t *testing.T) {
	t.Parallel()
	server, dead := serveEtcd(t), httptest.NewServer(nil)
	dead.Close()
	server.set(func(e *etcd) {
		e.password = "a-password"
		e.keys = map[string]string{"/nats/a": "nats://a:4222 west", "/nats/b": "b\n", "/nats-old/c": "c", "/other": "d"}
	})
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("a-password\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	host := func(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }
	source, err := Parse("etcd://" + host(dead) + "," + host(server.Server) + "/nats?user=root&passfile=" + file)
	if err != nil {
		t.Fatal(err)
	}
	list := look(t, source, nil)
	expects(t, list, Server{"nats://a:4222", "west"}, Server{"nats://b:4222", ""})

	watching := func(n int) {
		t.Helper()
		eventually(t, "it watches", func() bool { return server.watchers() == n })
	}
	changed := waits(t, source, list)
	watching(1)
	server.requests()
	server.set(func(e *etcd) { e.keys["/nats/b"] = "b" }) // the list is the same
	watching(0)
	watching(1)
	if asked := server.requests(); !slices.Equal(asked, []string{"/v3/auth/authenticate", "/v3/kv/range", "/v3/watch"}) {
		t.Errorf("asked %v", asked)
	}
	server.set(func(e *etcd) { delete(e.keys, "/nats/a") })
	expects(t, changed.result(t), Server{"nats://b:4222", ""})
}

// TestEtcdThatHasForgotten: a change between the reading and a watch that begins behind a
// compaction is seen.
func TestEtcdThatHasForgotten(t *testing.T) {
	t.Parallel()
	server := serveEtcd(t)
	server.set(func(e *etcd) { e.keys["/nats/a"] = "a" })
	source := Etcd{Endpoints: []string{server.URL}, Prefix: "/nats/"}
	list := look(t, source, nil)
	server.set(func(e *etcd) { e.compacted = e.revision + 1 })
	changed := waits(t, source, list)
	eventually(t, "a watch is refused", func() bool { return slices.Contains(server.requests(), "/v3/watch") })
	server.set(func(e *etcd) { e.keys["/nats/a"] = "b" })
	expects(t, changed.result(t), Server{"nats://b:4222", ""})
}

func TestEtcdThatHasNoList(t *testing.T) {
	server := serveEtcd(t)
	source := Etcd{
		Endpoints: []string{server.URL}, Prefix: "/nats/",
		Login: func() (string, string, error) { return "", "", nil },
	}
	last := []Server{{"nats://a:4222", ""}}
	answer := func(values ...string) http.HandlerFunc {
		var kvs []map[string]string
		for i, v := range values {
			kvs = append(kvs, map[string]string{"key": b64(fmt.Sprintf("/nats/\n%d", i)), "value": b64(v)})
		}
		text, err := json.Marshal(map[string]any{"header": map[string]any{"revision": "7"}, "kvs": kvs})
		if err != nil {
			t.Fatal(err)
		}
		return says(http.StatusOK, string(text))
	}
	for what, test := range map[string]struct {
		handle http.HandlerFunc
		want   string
	}{
		"empty":       {answer(), ErrEmpty.Error()},
		"no revision": {says(http.StatusOK, `{}`), "check that this is etcd"},
		"not 64 bits": {says(http.StatusOK, `{"header":{"revision":"99999999999999999999"}}`), "read the answer of etcd"},
		"other text":  {says(http.StatusOK, "<html>"), "read the answer of etcd"},
		"garbage":     {answer("a", "http://b"), `key "/nats/ 1": line 1: discovery: address "http://b": use nats://host:port`},
		"three words": {answer("a b c"), "write the URL and, after a space, the zone"},
		"too many":    {answer(slices.Repeat([]string{"a\n"}, MostServers+1)...), ErrTooMany.Error()},
		"endless":     {says(http.StatusOK, strings.Repeat(" ", mostBytes+1)), ErrTooLarge.Error()},
		"no gateway":  {says(http.StatusNotFound, "404 page not found"), "--enable-grpc-gateway"},
		"no user":     {says(http.StatusBadRequest, `{"message":"etcdserver: user name is empty"}`), "ETCDCTL_USER"},
		"forbidden":   {says(http.StatusForbidden, `permission denied`), "a role that may read this"},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, "302"},
	} {
		server.set(func(e *etcd) { e.handle = test.handle })
		_, err := source.Next(bound(t), last)
		if !errors.As(err, new(*LookupError)) || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 700 {
			t.Errorf("%s: %v, want %s", what, err, test.want)
		}
	}
	for _, bad := range []Etcd{{}, {Prefix: "/nats/", Endpoints: []string{"ftp://a"}}} {
		if _, err := bad.Next(bound(t), nil); !errors.As(err, new(*ConfigError)) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestEtcdThatDoesNotWatch: a watch that hangs, lies or ends costs no more than a reading now and
// then, and is reported if it never works.
func TestEtcdThatDoesNotWatch(t *testing.T) {
	thorough.Only(t, "it waits for seconds of time-outs")
	t.Parallel()
	server := serveEtcd(t)
	source := Etcd{Endpoints: []string{server.URL}, Prefix: "/nats/", Wait: time.Second}
	server.set(func(e *etcd) { e.keys["/nats/a"] = "a" })
	list := look(t, source, nil)
	lies := func(handle http.HandlerFunc) {
		server.set(func(e *etcd) {
			e.handle = func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/watch") {
					handle(w, r)
					return
				}
				answer, err := json.Marshal(map[string]any{
					"header": map[string]any{"revision": "7"}, "kvs": []any{map[string]string{"value": b64("a")}},
				})
				if err != nil {
					t.Error(err)
				}
				_, _ = w.Write(answer)
			}
		})
	}
	for what, handle := range map[string]http.HandlerFunc{
		"ends":        says(http.StatusOK, ""),
		"garbage":     says(http.StatusOK, "<html>\n"),
		"refused":     says(http.StatusOK, `{"result":{"canceled":true,"cancel_reason":"invalid\nauth token"}}`+"\n"),
		"unavailable": says(http.StatusServiceUnavailable, "no leader"),
		"endless": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 64<<10))
			}
		},
	} {
		lies(handle)
		if _, err := source.Next(bound(t), list); !errors.As(err, new(*LookupError)) ||
			!strings.Contains(err.Error(), "watch: ") || len(err.Error()) > 500 {
			t.Errorf("%s: %v", what, err)
		}
	}
	lies(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	changed := waits(t, source, list)
	server.requests()
	eventually(t, "it is read again", func() bool { return slices.Contains(server.requests(), "/v3/kv/range") })
	server.set(func(e *etcd) { e.handle = nil; e.keys["/nats/a"] = "b" })
	expects(t, changed.result(t), Server{"nats://b:4222", ""})
}

// TestEtcdBehindPrefix: the last key is that behind all with the prefix.
func TestEtcdBehindPrefix(t *testing.T) {
	for prefix, want := range map[string]string{"/nats/": "/nats0", "a\xff": "b", "\xff": "\x00"} {
		if got := string(behind(prefix)); got != want {
			t.Errorf("%q: %q, want %q", prefix, got, want)
		}
	}
}
