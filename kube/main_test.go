package kube

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// apiServer speaks the documented protocol of an API server for EndpointSlices: a write names the
// resourceVersion that it replaces, and is refused with 409 if that has changed. It is not a real
// API server.
type apiServer struct {
	*httptest.Server

	mu      sync.Mutex
	version int
	stored  map[string]json.RawMessage // by path
	writes  []slice                    // that were accepted, in order
	labels  map[string]any             // of the last patch of a pod
	fate    func(*http.Request) fate   // of a request that comes in
}

// fate is what a network does to a request.
type fate int

const (
	arrives fate = iota
	requestLost
	answerLost
)

func newAPIServer(t *testing.T) *apiServer {
	t.Helper()
	s := &apiServer{stored: map[string]json.RawMessage{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	return s
}

func (s *apiServer) client() *Client {
	return &Client{Address: s.URL, Namespace: "prod", Token: func() (string, error) { return "secret", nil }}
}

func (s *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	meets := arrives
	if s.fate != nil {
		meets = s.fate(r)
	}
	if meets == requestLost {
		panic(http.ErrAbortHandler) // closes the connection
	}
	if meets == answerLost {
		s.answer(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	s.answer(w, r)
}

func (s *apiServer) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	path := r.URL.Path
	switch {
	case r.Header.Get("Authorization") != "Bearer secret":
		refuse(w, http.StatusUnauthorized)
	case r.Method == http.MethodPatch:
		var patch struct {
			Metadata struct {
				Labels map[string]any `json:"labels"`
			} `json:"metadata"`
		}
		if json.Unmarshal(body, &patch) != nil || r.Header.Get("Content-Type") != "application/merge-patch+json" {
			refuse(w, http.StatusBadRequest)
			return
		}
		s.labels = patch.Metadata.Labels
		_, _ = w.Write([]byte(`{}`))
	case r.Method == http.MethodGet && s.stored[path] == nil:
		refuse(w, http.StatusNotFound)
	case r.Method == http.MethodGet:
		_, _ = w.Write(s.stored[path])
	default:
		s.write(w, r.Method, path, body)
	}
}

// write is a create or an update.
func (s *apiServer) write(w http.ResponseWriter, method, path string, body []byte) {
	var next, was slice
	if json.Unmarshal(body, &next) != nil {
		refuse(w, http.StatusBadRequest)
		return
	}
	if method == http.MethodPost {
		path += "/" + next.Metadata.Name
	}
	old, exists := s.stored[path]
	_ = json.Unmarshal(old, &was) // nothing if there is none
	switch {
	case method == http.MethodPost && exists:
		refuse(w, http.StatusConflict)
		return
	case method == http.MethodPut && !exists:
		refuse(w, http.StatusNotFound)
		return
	case method == http.MethodPut && next.Metadata.ResourceVersion != was.Metadata.ResourceVersion:
		refuse(w, http.StatusConflict)
		return
	}
	s.version++
	next.Metadata.ResourceVersion = strconv.Itoa(s.version)
	s.stored[path], _ = json.Marshal(next) // of what was decoded
	s.writes = append(s.writes, next)
	_, _ = w.Write(s.stored[path])
}

// slice is the slice of a Service as it is stored.
func (s *apiServer) slice(service string) (found slice, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, text := range s.stored {
		if strings.HasSuffix(path, "/"+service) {
			return found, json.Unmarshal(text, &found) == nil
		}
	}
	return found, false
}

func refuse(w http.ResponseWriter, status int) {
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`{"kind":"Status","message":"` + http.StatusText(status) + `"}`))
}
