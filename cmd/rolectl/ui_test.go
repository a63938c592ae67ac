package main

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

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
