package roles_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// ask sends a request to the handler of a manager.
func ask(m *roles.Manager, method, target string) (code int, body string, header http.Header) {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(method, target, nil))
	return w.Code, strings.TrimSpace(w.Body.String()), w.Result().Header
}

// expect checks one answer.
func (n *node) expect(target string, code int, body string) {
	n.t.Helper()
	if gotCode, got, _ := ask(n.Manager, http.MethodGet, target); gotCode != code || got != body {
		n.t.Errorf("%s %s: %d %q, want %d %q", n.Session().Instance(), target, gotCode, got, code, body)
	}
}

func TestHTTP(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a, b, wa, wb := pair(t, s)
		for _, n := range []*node{a, b} { // followers are as ready as leaders
			n.expect("/livez", 200, "alive")
			n.expect("/readyz", 200, "ready")
			n.expect("/leaderz", 400, "which role? Ask for /leaderz?role=NAME")
			n.expect("/leaderz?role=x", 404, `this instance takes no part in "x"`)
			n.expect("/nothing", 404, "404 page not found")
		}
		a.expect("/leaderz?role=r", 200, "a")
		b.expect("/leaderz?role=r", 503, "a")

		if err := b.Pause("r"); err != nil {
			t.Fatal(err)
		}
		a.link.Cut()
		receive(t, "a's work ends", wa.ended)
		natstest.Eventually(t, "b sees that nobody leads", time.Minute, func() (bool, string) {
			code, body, _ := ask(b.Manager, http.MethodGet, "/leaderz?role=r")
			return code == 503 && body == "nobody leads", body
		})
		a.expect("/livez", 200, "alive")
		a.expect("/leaderz?role=r", 503, "nobody leads")
		if st := a.Status(); st.Roles[0].LeaderID != "" || st.Roles[0].Epoch != 0 || len(st.Leading) > 0 || st.Ready {
			t.Errorf("cut off, and its deadline has passed: %+v", st)
		}
		if code, body, _ := ask(a.Manager, http.MethodGet, "/readyz"); code != 503 ||
			!strings.HasPrefix(body, "not ready: ") {
			t.Errorf("/readyz of a: %d %s", code, body)
		}
		if err := b.Resume("r"); err != nil {
			t.Fatal(err)
		}
		receive(t, "b leads", wb.began)
		natstest.Settle(t)
		b.expect("/leaderz?role=r", 200, "b")
		a.link.Heal()

		if err := b.end(); err != nil {
			t.Error(err)
		}
		b.expect("/readyz", 503, "not ready: has ended")
		b.expect("/livez", 200, "alive")
	})
}

func TestHTTPMethods(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a, _, _, _ := pair(t, s)
		for _, target := range []string{"/livez", "/readyz", "/leaderz?role=r", "/status"} {
			for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch} {
				if code, _, header := ask(a.Manager, method, target); code != http.StatusMethodNotAllowed ||
					header.Get("Allow") != "GET, HEAD" {
					t.Errorf("%s %s: %d, Allow %q", method, target, code, header.Get("Allow"))
				}
			}
			if code, _, header := ask(a.Manager, http.MethodHead, target); code != http.StatusOK ||
				header.Get("Cache-Control") != "no-store" {
				t.Errorf("HEAD %s: %d, %v", target, code, header)
			}
		}
	})
}

// numbers are the values that differ from run to run: revisions, sessions, epochs, durations,
// times.
var numbers = regexp.MustCompile(`\d{9,}|"\d{4}-\d\d-\d\dT[^"]*"|("\w+_seconds": )[\d.]+`)

const golden = `{
  "instance": "a",
  "bucket": "roles",
  "session": N,
  "connection": "CONNECTED",
  "ready": true,
  "leading": [
    "r"
  ],
  "roles": [
    {
      "name": "r",
      "state": "LEADER",
      "leader": "a",
      "successor": "b",
      "is_leader": true,
      "epoch": N,
      "revision": N,
      "priority": 0,
      "last_heartbeat": N,
      "last_transition": N,
      "candidates": [
        {
          "instance": "a",
          "session": N,
          "priority": 0
        },
        {
          "instance": "b",
          "session": N,
          "priority": 0
        }
      ]
    }
  ],
  "members": [
    {
      "instance": "a",
      "session": N,
      "roles": [
        "r"
      ],
      "meta": {
        "zone": "north"
      },
      "described": true,
      "ttl_seconds": N,
      "last_seen_seconds": N
    },
    {
      "instance": "b",
      "session": N,
      "idle": true,
      "roles": [
        "r"
      ],
      "described": true,
      "ttl_seconds": N,
      "last_seen_seconds": N
    }
  ],
  "heartbeat_age_seconds": N,
  "heartbeat_rtt_seconds": N
}`

func TestStatusJSON(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		wa := newWork()
		a := start(t, s, "a", one(wa.role("r")), func(c *roles.Config) { c.Meta = map[string]string{"zone": "north"} })
		receive(t, "a leads", wa.began)
		start(t, s, "b", one(newWork().role("r")))
		time.Sleep(time.Minute) // b has come to rest
		code, body, header := ask(a.Manager, http.MethodGet, "/status")
		if code != 200 || header.Get("Content-Type") != "application/json" {
			t.Errorf("/status: %d %v", code, header)
		}
		if got := numbers.ReplaceAllString(body, "${1}N"); got != golden {
			t.Errorf("/status has changed its shape:\n%s", got)
		}
		var st roles.Status
		if err := json.Unmarshal([]byte(body), &st); err != nil || len(st.Members) != 2 ||
			st.Members[0].TTL != time.Second {
			t.Errorf("%+v, %v", st, err)
		}
	})
}

// Over a real socket, beside a real program's other pages.
func TestHandlerServes(t *testing.T) {
	s := natstest.Server(t)
	w := newWork()
	// nothing ends it on a slow machine
	a := start(t, s, "a", one(w.role("r")), func(c *roles.Config) { c.TTL = time.Minute })
	receive(t, "a leads", w.began)
	web := httptest.NewServer(a.Handler())
	defer web.Close()
	resp, err := web.Client().Get(web.URL + "/leaderz?role=r")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 || string(body) != "a\n" {
		t.Errorf("%d %q %v", resp.StatusCode, body, err)
	}
}
