package ui

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/crypto/bcrypt"
)

// TestProxyNamesOnePerson: a request in which somebody has added to the header may not steer. The
// first value may be the browser's own.
func TestProxyNamesOnePerson(t *testing.T) {
	t.Parallel()
	steer := (&rights{on: true, header: "x-forwarded-user"}).steer()
	for _, c := range []struct {
		values []string
		who    string
	}{
		{nil, ""},
		{[]string{""}, ""},
		{[]string{"alice"}, "alice"},
		{[]string{"mallory", "alice"}, ""},
		{[]string{"alice", "alice"}, ""},
		{[]string{"", "alice"}, ""},
	} {
		r := httptest.NewRequest(http.MethodPost, "/act", nil)
		for _, v := range c.values {
			r.Header.Add("X-Forwarded-User", v)
		}
		if who, ok := steer(r); who != c.who || ok != (c.who != "") {
			t.Errorf("%q: %q, %t", c.values, who, ok)
		}
	}
}

// TestPasswordsTakeTurns: passwords are compared for acts only, two at a time.
func TestPasswordsTakeTurns(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	g := &rights{on: true, file: "people", users: map[string]string{"alice": string(hash)}}
	steer := g.steer()
	h := g.around("", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if who, ok := steer(r); ok {
			_, _ = w.Write([]byte(who))
		}
	}))
	get := func(ctx context.Context, path string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
		r.SetBasicAuth("alice", "s3cret")
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r)
		return answer
	}
	for range cap(turns) {
		turns <- struct{}{}
	}
	if answer := get(t.Context(), "/"); answer.Code != http.StatusOK || answer.Body.String() != "" {
		t.Errorf("a page that needs no password: %d, %s", answer.Code, answer.Body)
	}
	left, leave := context.WithCancel(t.Context())
	leave()
	if answer := get(left, "/act"); answer.Code != http.StatusUnauthorized {
		t.Errorf("a third password is compared at once: %d, %s", answer.Code, answer.Body)
	}
	for range cap(turns) {
		<-turns
	}
	for range 2 * cap(turns) { // a turn is given back
		if answer := get(t.Context(), "/act"); answer.Body.String() != "alice" {
			t.Errorf("in its turn: %d, %s", answer.Code, answer.Body)
		}
	}
}

// TestHostsAreChecked: the page is for its own hosts where nothing else tells who looks.
func TestHostsAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rights rights
		status int
	}{
		{rights{}, http.StatusMisdirectedRequest},
		{rights{on: true}, http.StatusMisdirectedRequest},
		{rights{on: true, file: "people"}, http.StatusMisdirectedRequest},
		{rights{on: true, header: "X-Forwarded-User"}, http.StatusNotFound},
		{rights{cert: "c", key: "k"}, http.StatusNotFound},
	} {
		p := &pageServer{listen: "127.0.0.1:8223", hosts: []string{"roles.example.org"}, rights: c.rights}
		for host, status := range map[string]int{
			"rebound.example:8223": c.status, "127.0.0.1:8223": http.StatusNotFound, "roles.example.org": http.StatusNotFound,
		} {
			answer := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host = host
			p.guarded(http.NotFoundHandler()).ServeHTTP(answer, r)
			if answer.Code != status {
				t.Errorf("%+v, %s: %d, want %d", c.rights, host, answer.Code, status)
			}
		}
	}
}
