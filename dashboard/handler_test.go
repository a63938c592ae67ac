package dashboard

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// together is how many tests run beside each other: most of the time they wait.
const together = 8

func TestMain(m *testing.M) {
	natstest.Together(together)
	natstest.Main(m)
}

// patience is how long a test waits for what must come.
const patience = time.Minute

// site is a page on a real server.
type site struct {
	t    *testing.T
	nc   *nats.Conn
	h    *Handler
	http *httptest.Server
}

// open makes a bucket and a page about it.
func open(t *testing.T, s *natsrun.Server, edit func(nc *nats.Conn, o *Options)) *site {
	t.Helper()
	nc := natstest.Connect(t, s)
	if _, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: "roles"}); err != nil {
		t.Fatal(err)
	}
	o, err := election.Observe(t.Context(), nc, "roles", election.WithWorkers())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	options := Options{Observer: o}
	if edit != nil {
		edit(nc, &options)
	}
	h, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Close()
		server.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return &site{t, nc, h, server}
}

// member opens a session that takes part in roles.
func (s *site) member(instance string, roles ...string) *election.Session {
	s.t.Helper()
	session, err := election.NewSession(election.SessionConfig{
		Bucket: "roles", InstanceID: instance, TTL: 20 * time.Second,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, role := range roles {
		e, err := session.Campaign(election.RoleConfig{Role: role, Lead: func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			return nil
		}})
		if err != nil {
			s.t.Fatal(err)
		}
		if err := e.Start(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := session.Open(s.t.Context(), s.nc); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = session.Close(context.Background()) })
	return session
}

// get reads a page, and demands that status.
func (s *site) get(path string, status int) string {
	s.t.Helper()
	r, err := http.Get(s.http.URL + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != status {
		s.t.Fatalf("%s: %s, %v\n%s", path, r.Status, err, body)
	}
	return string(body)
}

// document reads a JSON twin.
func document[T any](s *site, path string) (d T) {
	s.t.Helper()
	if body := s.get(path, http.StatusOK); json.Unmarshal([]byte(body), &d) != nil {
		s.t.Fatalf("%s: %s", path, body)
	}
	return d
}

// firstScreen is what the tests read of it.
type firstScreen struct {
	Led, Unled, Left, Waiting, Dead int
	DeadUnknown                     bool `json:"dead_unknown"`
	Roles                           []roleRow
	Waits                           []waitingKind
}

// led waits until that instance leads a role, as the page shows it.
func (s *site) led(role, instance string) roleData {
	s.t.Helper()
	var d roleData
	natstest.Eventually(s.t, instance+" leads "+role, patience, func() (bool, string) {
		r, err := http.Get(s.http.URL + "/role.json?name=" + url.QueryEscape(role))
		if err != nil {
			return false, err.Error()
		}
		defer func() { _ = r.Body.Close() }()
		d = roleData{}
		err = json.NewDecoder(r.Body).Decode(&d)
		return err == nil && d.Led && d.Leader == instance, d.Leader
	})
	return d
}

// TestFirstScreen: it says who leads, who is next, what nobody leads, and what to do. Every screen
// answers as a page and as JSON.
func TestFirstScreen(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Server(t), nil)
	if body := s.get("/", http.StatusOK); !strings.Contains(body, "This bucket has no roles yet") {
		t.Error(body)
	}
	s.member("a", "billing")
	s.led("billing", "a")
	b := s.member("b", "billing", "reports")
	s.led("reports", "b")
	natstest.Eventually(t, "b is in line", patience, func() (bool, string) {
		d := document[firstScreen](s, "/now.json")
		return len(d.Roles) == 2 && len(d.Roles[1].Cells) == 2 && d.Roles[1].Cells[1].Mark == "1", s.get("/now.json", 200)
	})
	body := s.get("/", http.StatusOK)
	for _, want := range []string{
		`id="r:billing"`, `title="a leads"`, `title="b is number 1 in line"`, `title="a is not a candidate"`,
		"start a second process that contends for it", "nobody would take over reports from b",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %q in\n%s", want, body)
		}
	}
	if strings.Contains(body, "\x00") {
		t.Error("a mark is left in the page")
	}
	if err := b.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "reports was left", patience, func() (bool, string) {
		d := document[firstScreen](s, "/now.json")
		return d.Left == 1 && d.Led == 1 && d.Unled == 0, s.get("/now.json", 200)
	})
	if d := document[roleData](s, "/role.json?name=reports"); len(d.Terms) != 1 || d.Terms[0].Reason == "" ||
		d.Terms[0].Ended.IsZero() {
		t.Errorf("%+v", d.Terms)
	}
	for _, path := range []string{"/", "/role?name=billing", "/members", "/doctor", "/events", "/events?role=reports"} {
		if body := s.get(path, http.StatusOK); !strings.Contains(body, `<main id="main">`) {
			t.Errorf("%s: %s", path, body)
		}
	}
	if d := document[eventsData](s, "/events.json?change=joined"); len(d.Events) != 2 || d.Events[0].Member != "b" {
		t.Errorf("%+v", d)
	}
	if d := document[membersData](s, "/members.json"); len(d.Members) != 1 || d.Members[0].Leads[0] != "billing" {
		t.Errorf("%+v", d)
	}
	s.get("/role?name=none", http.StatusNotFound)
	s.get("/nothing", http.StatusNotFound)
	s.get("/?page=x", http.StatusBadRequest)
	s.get("/tasks", http.StatusNotFound)
}

// stream reads the events of /live until one holds a text.
type stream struct {
	t      *testing.T
	reader *bufio.Reader
	end    context.CancelFunc
}

func (s *site) follow(query, last string) *stream {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	s.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.http.URL+"/live?"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Last-Event-ID", last)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode != http.StatusOK {
		s.t.Fatal(answer, err)
	}
	s.t.Cleanup(func() { _ = answer.Body.Close() })
	return &stream{s.t, bufio.NewReader(answer.Body), cancel}
}

// until reads up to an update that holds the text, and returns its id and the update.
func (s *stream) until(text string) (id string, u update) {
	s.t.Helper()
	for {
		line, err := s.reader.ReadString('\n')
		if err != nil {
			s.t.Fatalf("the stream has ended before %q: %v", text, err)
		}
		if after, ok := strings.CutPrefix(line, "id: "); ok {
			id = strings.TrimSpace(after)
		}
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.Contains(data, text) {
			if err := json.Unmarshal([]byte(data), &u); err != nil {
				s.t.Fatal(err)
			}
			return id, u
		}
	}
}

// TestLive: a stream sends what has changed, and nothing else. A reader that comes back gets what
// it has missed, and one of another process gets everything.
func TestLive(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Server(t), nil)
	s.member("a", "billing")
	s.led("billing", "a")
	live := s.follow("view=/&view=/role%3Fname=billing", "")
	id, first := live.until(`r:billing`)
	if first.View != "/" || len(first.Swaps) != 1 || first.Swaps[0].ID != "main" {
		t.Errorf("the first is not the whole: %+v", first)
	}
	live.until(`"view":"/role?name=billing"`)
	s.member("b", "billing")
	_, next := live.until("number 1 in line")
	for _, w := range next.Swaps {
		if w.ID == "main" {
			t.Errorf("a change sent everything: %+v", next)
		}
	}
	live.end()
	back := s.follow("view=/", id)
	if _, missed := back.until("number 1 in line"); missed.Swaps[0].ID == "main" {
		t.Errorf("a reader that comes back gets everything: %+v", missed)
	}
	other := s.follow("view=/", "elsewhere-99")
	if _, all := other.until("number 1 in line"); all.Swaps[0].ID != "main" {
		t.Errorf("a reader of another process gets %+v", all)
	}
	s.get("/live", http.StatusBadRequest)
	s.get("/live?view=/none", http.StatusNotFound)
}

// TestStreamsAreBounded: a stream above the most is refused.
func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Server(t), nil)
	for range maxStreams {
		s.h.streams <- struct{}{}
	}
	if body := s.get("/live?view=/", http.StatusServiceUnavailable); !strings.Contains(body, "close some") {
		t.Error(body)
	}
}

// TestHeaders: no answer may be framed, and a page may load nothing of another origin. Nothing but
// GET and HEAD is answered.
func TestHeaders(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Server(t), func(_ *nats.Conn, o *Options) { o.BasePath, o.Colour = "/a/b", "#b00" })
	for _, path := range []string{"/a/b/", "/a/b/page.js", "/a/b/now.json", "/a/b/role?name=x", "/elsewhere"} {
		r, err := http.Get(s.http.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		policy := r.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") ||
			!strings.Contains(policy, "frame-ancestors 'none'") || r.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, r.Header)
		}
		if r.Header.Get("X-Frame-Options") != "DENY" { // for browsers that do not know the policy
			t.Errorf("%s may be framed: %v", path, r.Header)
		}
		// With no-referrer a form of the page itself comes with "Origin: null", and is refused.
		if got := r.Header.Get("Referrer-Policy"); got != "same-origin" {
			t.Errorf("%s: Referrer-Policy: %s", path, got)
		}
	}
	if css := s.get("/a/b/page.css", http.StatusOK); !strings.Contains(css, "--edge: #b00;") {
		t.Error("the colour is missing")
	}
	if n := strings.Count(s.get("/a/b/page.js", http.StatusOK), "\n"); n > 200 {
		t.Errorf("the script has %d lines, more than 200", n)
	}
	if body := s.get("/a/b/", http.StatusOK); strings.Contains(body, `href="/"`) || strings.Contains(body, "<script>") {
		t.Errorf("a link leaves the base path, or there is a script in the page:\n%s", body)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		r, err := http.NewRequestWithContext(t.Context(), method, s.http.URL+"/a/b/", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("%s: %s", method, answer.Status)
		}
	}
}

// TestOptions: every fault is named at once.
func TestOptions(t *testing.T) {
	t.Parallel()
	_, err := New(Options{Tasks: []*assign.Client{nil}, Colour: "red;}", BasePath: "x/"})
	for _, field := range []string{"Observer", "Tasks", "Colour", "BasePath"} {
		if err == nil || !strings.Contains(err.Error(), "dashboard: "+field+": ") {
			t.Errorf("%s is missing in %v", field, err)
		}
	}
	for base, valid := range map[string]bool{
		"": true, "/a": true, "/a/b.c": true, "/a..b": true, "/": false, "/.": false, "/..": false,
		"/a/.": false, "/./a": false,
		"/a/../b": false, "a": false, "/a/": false, "//a": false,
	} {
		_, err := New(Options{BasePath: base})
		if strings.Contains(err.Error(), "BasePath") == valid {
			t.Errorf("BasePath %q: %v", base, err)
		}
	}
}
