package main

import (
	"io"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/crypto/bcrypt"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/election"
)

// TestUI: the page is served at the address that the command prints, shows who leads, and ends when
// the command is told to stop.
func TestUI(t *testing.T) {
	t.Parallel()
	p := at(t)
	contend(t, p.member("a"), election.RoleConfig{Role: "billing"})
	ui := p.start("ui", "--listen", "127.0.0.1:0", "-n", "jobs", "--title", "prod-eu", "-o", "json")
	ui.says(&ui.out, "\n")
	d := document[struct {
		URL, Bucket string
		Namespaces  []string
	}](t, ui.out.String())
	if d.Bucket != "roles" || len(d.Namespaces) != 1 || d.Namespaces[0] != "jobs" {
		t.Errorf("%+v", d)
	}
	r, err := http.Get(d.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(r.Body)
	if text := string(body); err != nil || !strings.Contains(text, "billing") || !strings.Contains(text, "prod-eu") {
		t.Errorf("%v\n%s", err, text)
	}
	refusesForeignHosts(t, d.URL)
	second := p.run("ui", "--listen", r.Request.URL.Host)
	if second.code == 0 || !strings.Contains(second.errors, "give --listen 127.0.0.1:0") {
		t.Errorf("the port is taken: exit %d, %s", second.code, second.errors)
	}
	ui.signal(syscall.SIGTERM)
	if r := ui.wait(); r.code != 0 {
		t.Errorf("told to stop: exit %d, %s", r.code, r.errors)
	}
	for args, says := range map[string]string{
		"ui --colour red":            "#b00",
		"ui --base-path roles":       "BasePath",
		"ui -n a.b":                  "amespace",
		"ui --listen 127.0.0.1:x -n": "flag needs an argument",
	} {
		if r := p.run(strings.Fields(args)...); r.code != cli.ExitUsage || !strings.Contains(r.errors, says) {
			t.Errorf("%s: exit %d, %s", args, r.code, r.errors)
		}
	}
}

// refusesForeignHosts: a page that asks for no password answers only to names of its own.
func refusesForeignHosts(t *testing.T, url string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "rebound.example"
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("%s as %s: %s", url, r.Host, answer.Status)
	}
}

// TestDevUI: "rolectl dev --ui" serves the page about its bucket, where one can steer.
func TestDevUI(t *testing.T) {
	t.Parallel()
	p := &place{t: t, env: clean(t)}
	dev := p.start("dev", "--port", "0", "--ui", "-o", "json")
	dev.says(&dev.out, "\n")
	d := document[struct{ UI string }](t, dev.out.String())
	r, err := http.Get(d.UI + "act?do=step-down&role=x&epoch=1")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	if body, err := io.ReadAll(r.Body); err != nil || !strings.Contains(string(body), "Step down?") {
		t.Errorf("%v\n%s", err, body)
	}
	refusesForeignHosts(t, d.UI)
	dev.signal(syscall.SIGTERM)
	if r := dev.wait(); r.code != 0 {
		t.Errorf("told to stop: exit %d, %s", r.code, r.errors)
	}
}

// TestWhoMaySteer: --steer needs a person, and passwords need TLS, wherever strangers could reach
// the page. With --users a password is asked for where one steers, and nowhere else.
func TestWhoMaySteer(t *testing.T) {
	t.Parallel()
	p := at(t)
	hash, err := bcrypt.GenerateFromPassword([]byte("s3cret"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	people := t.TempDir() + "/people"
	if err := os.WriteFile(people, []byte("# who may\nalice:"+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, says := range map[string]string{
		"ui --steer --listen 0.0.0.0:0":                   "give --users or --proxy-auth-header",
		"ui --steer --listen :0":                          "give --users or --proxy-auth-header",
		"ui --steer --listen 0.0.0.0:0 --users " + people: "give --cert and --key",
		"ui --users " + people:                            "give --steer too",
		"ui --steer --users x --proxy-auth-header X":      "not both",
		"ui --steer --users /dev/null/none":               "--users: open",
		"ui --cert x":                                     "give --cert and --key together",
		"ui --steer --users ../../LICENSE":                "is not name:bcrypt",
	} {
		if r := p.run(strings.Fields(args)...); r.code != cli.ExitUsage || !strings.Contains(r.errors, says) {
			t.Errorf("%s: exit %d, %s", args, r.code, r.errors)
		}
	}
	p.ok("bucket", "create", "roles")
	ui := p.start("ui", "--listen", "127.0.0.1:0", "--steer", "--users", people)
	ui.says(&ui.out, "\n")
	url := strings.TrimSpace(ui.out.String())
	for _, c := range []struct {
		path, name, password string
		status               int
	}{
		{"", "", "", http.StatusOK},
		{"act?do=step-down", "", "", http.StatusUnauthorized},
		{"act?do=step-down", "alice", "guess", http.StatusUnauthorized},
		{"act?do=step-down", "bob", "s3cret", http.StatusUnauthorized},
		{"act?do=step-down", "alice", "s3cret", http.StatusOK},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.name != "" {
			r.SetBasicAuth(c.name, c.password)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != c.status {
			t.Errorf("%s as %q: %s, want %d", c.path, c.name, answer.Status, c.status)
		}
	}
}
