package cli

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestOwnHosts: a name that somebody else has pointed at this machine is refused, also to look.
func TestOwnHosts(t *testing.T) {
	t.Parallel()
	h := OwnHosts("ops.internal:80", []string{"roles.example.org"}, http.NotFoundHandler())
	server := httptest.NewServer(h)
	defer server.Close()
	for host, want := range map[string]int{
		"localhost": 404, "LOCALHOST:8223": 404, "localhost.": 404, "127.0.0.1:8223": 404, "127.9.9.9": 404,
		"[::1]:8223": 404, "[::1]": 404, "ops.internal": 404, "Ops.Internal:80": 404, "roles.example.org:443": 404,
		"rebound.example": 421, "rebound.example:8223": 421, "192.0.2.1": 421, "0.0.0.0:8223": 421, "[2001:db8::1]:1": 421,
		"127.0.0.1.rebound.example": 421, "localhost.rebound.example": 421, "roles.example.org.rebound.example": 421,
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r, err := http.NewRequestWithContext(t.Context(), method, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = host
			answer, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s for %s: %s, want %d", method, host, answer.Status, want)
			}
		}
	}
}
